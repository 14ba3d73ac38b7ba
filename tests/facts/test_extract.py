"""Given this code, these facts."""

from __future__ import annotations

import pytest

from dllint.facts.extract import extract
from dllint.facts.nodes import (
    Attribute,
    BinOp,
    BoolOp,
    Bytes,
    CallRef,
    Clause,
    Compare,
    Comprehension,
    Constant,
    Dict,
    FString,
    IfExp,
    LambdaRef,
    List,
    Name,
    Not,
    Opaque,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
    UnaryOp,
    Walrus,
    Yield,
)
from dllint.facts.schema import Annotation, Event, FileFacts, ImportedName, Operator


def value(code: str) -> object:
    """The expression that `code` becomes as the value of an assignment."""
    return extract(f"x = {code}\n").scopes[0].events[-1].value


def events(facts: FileFacts, scope: int = 0) -> list[Event]:
    return facts.scopes[scope].events


def guards(facts: FileFacts, name: str) -> list[tuple[str, object, bool]]:
    """The regions around the call of `name`, innermost first."""
    at = facts.calls[facts.called[name][0]].region
    found = []
    while at:
        region = facts.regions[at]
        found.append((region.kind, region.expr, region.holds))
        at = region.parent
    return found


A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("None", Constant(None)),
        ("True", Constant(True)),
        ("0x1F", Constant(31)),
        ("1_000", Constant(1000)),
        ("-3", Constant(-3)),
        ("1e3", Constant(1000.0)),
        ("2j", Opaque()),
        ("...", Opaque()),
        ("10 ** 9", BinOp("**", Constant(10), Constant(9))),
        ("'a' \"b\"", Constant("ab")),
        (r"'\x41\u00e9\n\q\101'", Constant("Aé\n\\qA")),
        (r"'\N{BULLET}'", Constant("•")),
        (r"r'\n'", Constant(r"\n")),
        ("'''a\r\nb'''", Constant("a\nb")),
        ("''", Constant("")),
        ("''''''", Constant("")),
        (r"b'a\x00' rb'\n'", Bytes(4)),
        ("f'{a}-{b!r:>{c}}'", FString((A, Constant("-"), B, C))),
        ("'x' f'{{{a}'", FString((Constant("x"), Constant("{"), A))),
        ("a.b", Attribute(A, "b")),
        ("a[b]", Subscript(A, B)),
        ("a[b, c]", Subscript(A, Tuple((B, C)))),
        ("a[b,]", Subscript(A, Tuple((B,)))),
        ("a[:b, ::c]", Subscript(A, Tuple((Slice(None, B, None), Slice(None, None, C))))),
        ("[a, *b]", List((A, Starred(B)))),
        ("(a,)", Tuple((A,))),
        ("()", Tuple(())),
        ("{a}", Set((A,))),
        ("{a: b, **c}", Dict(((A, B), (None, C)))),
        ("a if b else c", IfExp(B, A, C)),
        ("a and b and c", BoolOp("and", (A, B, C))),
        ("a and (b and c)", BoolOp("and", (A, B, C))),
        ("a or b and c", BoolOp("or", (A, BoolOp("and", (B, C))))),
        ("not a", Not(A)),
        ("~a", UnaryOp("~", A)),
        ("a < b is not c", Compare(A, (("<", B), ("is not", C)))),
        ("a not in b", Compare(A, (("not in", B),))),
        ("[a for a in b if c]", Comprehension("list", None, A, (Clause(A, B, (C,)),))),
        ("{a: b for a, b in c}", Comprehension("dict", A, B, (Clause(Tuple((A, B)), C, ()),))),
        ("(a for a in b for c in a)", Comprehension("generator", None, A, (Clause(A, B, ()), Clause(C, A, ())))),
        ("(a := b)", Walrus("a", B)),
        ("lambda: a", LambdaRef(1)),
        ("a(b)", CallRef(0)),
        ("((a))", A),
    ],
)
def test_expressions(code: str, expected: object) -> None:
    assert value(code) == expected


def test_a_template_string_is_unknown_and_its_calls_are_not_lost() -> None:
    facts = extract("x = t'{f()}'\n")
    assert events(facts)[0].value == Opaque()
    assert len(facts.calls) == 1


def test_numbers_too_long_to_write_down_are_unknown() -> None:
    assert value("0x" + "f" * 5000) == Opaque()
    assert value("9" * 5000) == Opaque()


def test_calls_know_their_arguments() -> None:
    call = extract("f(1, *a, k=2, **b)\n").calls[0]
    assert call.func == Name("f")
    assert [(one.keyword, one.value) for one in call.args] == [
        (None, Constant(1)),
        ("*", A),
        ("k", Constant(2)),
        ("**", B),
    ]
    assert call.args[2].span == (1, 10, 1, 13)
    assert call.args[2].value_span == (1, 12, 1, 13)
    assert call.args[1].span == (1, 6, 1, 8)


def test_calls_are_numbered_as_they_start() -> None:
    facts = extract("f(g(), h)(k())\n")
    assert [call.func for call in facts.calls] == [Name("f"), Name("g"), CallRef(0), Name("k")]
    assert facts.called == {"f": [0], "g": [1], "": [2], "k": [3]}


def test_an_assignment_to_two_targets_is_two_events() -> None:
    found = events(extract("a = b.c = 1\n"))
    assert [(one.kind, one.target, one.value) for one in found] == [
        ("assign", A, Constant(1)),
        ("assign", Attribute(B, "c"), Constant(1)),
    ]


def test_augmented_and_annotated_assignments() -> None:
    found = events(extract("a += 1\nb: int\nc: int = 2\n"))
    assert [(one.value, one.detail) for one in found] == [
        (Constant(1), Operator("+")),
        (None, Annotation(Name("int"))),
        (Constant(2), Annotation(Name("int"))),
    ]


def test_imports_are_one_event_a_name() -> None:
    code = "import a.b as c, d\nfrom ..m import (n, o as p,)\nfrom . import *\nfrom ... import q\nfrom .r import s\n"
    assert [one.detail for one in events(extract(code))] == [
        ImportedName("a.b", None, "c", 0),
        ImportedName("d", None, None, 0),
        ImportedName("m", "n", None, 2),
        ImportedName("m", "o", "p", 2),
        ImportedName("", "*", None, 1),
        ImportedName("", "q", None, 3),
        ImportedName("r", "s", None, 1),
    ]


def test_loops_handlers_and_contexts_bind_names() -> None:
    code = """\
async def f():
    async for a in b: pass
    with b as (a, c), c: pass
    try: pass
    except (A, B) as e: pass
    del a, b.c
    global g, h
    x = [a for a in b]
"""
    found = events(extract(code), 1)
    assert [(one.kind, one.target, one.value, one.detail) for one in found] == [
        ("for", A, B, "async"),
        ("with", Tuple((A, C)), B, None),
        ("with", None, C, None),
        ("except", Name("e"), Tuple((Name("A"), Name("B"))), None),
        ("delete", A, None, None),
        ("delete", Attribute(B, "c"), None, None),
        ("global", None, None, ["g", "h"]),
        ("for", A, B, "comp"),
        ("assign", Name("x"), Comprehension("list", None, A, (Clause(A, B, ()),)), None),
    ]


def test_a_match_binds_names_without_a_known_value() -> None:
    code = "match a:\n    case [1, *rest] if b: f()\n    case P(x=q) | {'k': q, **others}: g()\n"
    facts = extract(code)
    assert [(one.kind, one.target) for one in events(facts)[:4]] == [
        ("assign", Name("rest")),
        ("expr", None),
        ("assign", Name("q")),
        ("assign", Name("q")),
    ]
    assert guards(facts, "f") == [("if", B, True), ("case", A, True)]
    assert guards(facts, "g") == [("case", A, True)]
    assert "P" in facts.loaded


def test_yields_make_a_generator() -> None:
    facts = extract("def f():\n    x = yield a\n    yield from b\n    return g(lambda: (yield))\n")
    assert facts.scopes[1].is_generator
    assert [(one.kind, one.value) for one in events(facts, 1)] == [
        ("yield", A),
        ("assign", Yield(A)),
        ("yield", Starred(B)),
        ("return", CallRef(0)),
    ]
    assert [one.kind for one in events(facts, 2)] == ["yield", "return"]


def test_scopes_nest() -> None:
    code = """\
@deco
class A(Base, metaclass=Meta):
    def f(self, a, /, b=1, *args, c: int = 2, **kw):
        return lambda x: x
async def g(*, d): pass
"""
    facts = extract(code)
    assert [(one.kind, one.name, one.parent) for one in facts.scopes] == [
        ("module", "<module>", -1),
        ("class", "A", 0),
        ("function", "f", 1),
        ("lambda", "<lambda>", 2),
        ("function", "g", 0),
    ]
    assert [(one.keyword, one.value) for one in facts.scopes[1].bases] == [
        (None, Name("Base")),
        ("metaclass", Name("Meta")),
    ]
    assert [(one.name, one.kind, one.default, one.annotation) for one in facts.scopes[2].params] == [
        ("self", "positional", None, None),
        ("a", "positional", None, None),
        ("b", "normal", Constant(1), None),
        ("args", "var", None, None),
        ("c", "keyword", Constant(2), Name("int")),
        ("kw", "kw", None, None),
    ]
    assert facts.scopes[1].decorators[0].expr == Name("deco")
    assert facts.scopes[1].span == (1, 1, 4, 27)
    assert facts.scopes[1].header == (2, 1, 2, 8)
    assert facts.scopes[4].is_async
    assert events(facts, 3)[0].value == Name("x")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("if a: f()", [("if", A, True)]),
        ("if a: pass\nelse: f()", [("if", A, False)]),
        ("if a: pass\nelif b: f()", [("if", B, True), ("if", A, False)]),
        ("if a: pass\nelif b: pass\nelse: f()", [("if", B, False), ("if", A, False)]),
        ("while a: f()", [("while", A, True)]),
        ("while a: pass\nelse: f()", [("loopelse", None, True)]),
        ("for a in b: f()", [("for", B, True)]),
        ("for a in f(): pass", []),
        ("with a, b: f()", [("with", B, True), ("with", A, True)]),
        ("try: f()\nfinally: pass", [("try", None, True)]),
        ("try: pass\nexcept a: f()", [("handler", A, True)]),
        ("try: pass\nexcept a: pass\nelse: f()", [("tryelse", None, True)]),
        ("try: pass\nfinally: f()", [("finally", None, True)]),
        ("x = f() if a else b", [("if", A, True)]),
        ("x = b if a else f()", [("if", A, False)]),
        ("x = b if f() else a", []),
        ("x = a and f()", [("if", A, True)]),
        ("x = a or b or f()", [("if", B, False), ("if", A, False)]),
        ("x = f() and a", []),
        ("x = [f() for a in b if c]", [("if", C, True), ("for", B, True)]),
        ("x = [a for a in f()]", []),
        ("x = [a for a in b for c in f()]", [("for", B, True)]),
    ],
)
def test_regions(code: str, expected: list[object]) -> None:
    assert guards(extract(code + "\n"), "f") == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("if a: return", [("if", A, False)]),
        ("if a: raise E", [("if", A, False)]),
        ("if a: sys.exit(1)", [("if", A, False)]),
        ("if a: pass", []),
        ("if a: pass\n    else: return", [("if", A, True)]),
        ("if a: return\n    else: pass", [("if", A, False)]),
        ("if a: return\n    elif b: return", [("if", B, False), ("if", A, False)]),
        ("if a: return\n    elif b: pass", [("if", A, False)]),
        ("if a: pass\n    elif b: return", []),
        ("if a: pass\n    elif b: return\n    else: return", [("if", A, True)]),
        ("if a: return\n    if b: return", [("if", B, False), ("if", A, False)]),
        ("if a:\n        with b: return", [("if", A, False)]),
        ("if a:\n        try: return\n        except E: raise", [("if", A, False)]),
        ("if a:\n        try: return\n        except E: pass", []),
        ("while b:\n        if a: break", []),
        ("if a:\n        with suppress(E): return", []),
        ("if a:\n        with pytest.raises(E): return", []),
    ],
)
def test_what_follows_a_branch_that_leaves(before: str, expected: list[object]) -> None:
    assert guards(extract(f"def g():\n    {before}\n    f()\n"), "f") == expected


def test_a_branch_that_leaves_narrows_only_its_own_block() -> None:
    code = "for a in b:\n    if c: continue\n    f()\ng()\n"
    facts = extract(code)
    assert guards(facts, "f") == [("if", C, False), ("for", B, True)]
    assert guards(facts, "g") == []


UNREACHED = ("unreached", None, True)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        *((f"{leaves}", [UNREACHED]) for leaves in ("return", "raise E", "sys.exit()", "os._exit(0)", "assert False")),
        *((f"{leaves}", []) for leaves in ("exit()", "quit()", "assert a", "exits()", "a.exit()", "return_()")),
        ("return; g()", [UNREACHED]),
        ("while True: pass", [UNREACHED]),
        ("while 1:\n        if a: break", []),
        ("while a: pass", []),
        ("while True:\n        for a in b: break", [UNREACHED]),
        ("with a: return", []),
        ("for a in b: continue", []),
        ("try: return\n    except E: pass", []),
        ("if a: return\n    return", [UNREACHED, ("if", A, False)]),
        ("def h(): return", []),
    ],
)
def test_what_follows_a_statement_that_always_leaves(before: str, expected: list[object]) -> None:
    assert guards(extract(f"def g():\n    {before}\n    f()\n"), "f") == expected


def test_only_the_rest_of_the_block_is_unreached() -> None:
    facts = extract("for a in b:\n    continue\n    f()\ng()\nif a:\n    sys.exit(); h()\n    f()\nk()\n")
    assert guards(facts, "f")[0] == UNREACHED
    assert guards(facts, "h") == [UNREACHED, ("if", A, True)]
    assert guards(facts, "g") == []
    assert UNREACHED not in guards(facts, "k")


def test_tests_without_calls_leave_no_regions_behind() -> None:
    assert len(extract("x = a and b or c if a else b\n").regions) == 1


def test_calls_in_a_function_start_from_no_region() -> None:
    facts = extract("if a:\n    def g():\n        f()\n")
    assert guards(facts, "f") == []
    assert facts.regions[facts.scopes[1].region].expr == A


def test_names_that_are_read_and_names_that_are_called() -> None:
    code = "def g(p: T = q):\n    a.b = f(c.d)\n    for i in r: del s\n    t += 1\n"
    facts = extract(code)
    assert facts.loaded == {"q": [0], "a": [1], "c": [1], "d": [1], "r": [1], "t": [1]}
    assert facts.called == {"f": [0]}


def test_statements_of_calls() -> None:
    code = "x = [\n    f(),\n]\nif g():\n    pass\n@d()\ndef k(a=h()): pass\n"
    facts = extract(code)
    assert {name: facts.calls[found[0]].statement for name, found in facts.called.items()} == {
        "f": (1, 1, 3, 2),
        "g": (4, 1, 4, 8),
        "d": (6, 1, 6, 5),
        "h": (7, 1, 7, 14),
    }


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\r\nb\rc", 3), ("\n\n", 2)])
def test_lines_are_counted(text: str, lines: int) -> None:
    assert extract(text).lines == lines
