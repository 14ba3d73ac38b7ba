"""Given a fix and sources, these text edits come out."""

import random
import re
import time

import pytest
from tests.pace import slowness

from dllint.finding import AddImport, Fix, InsertStatement, ReplaceComment, ReplaceExpression, SetArgument
from dllint.fixes.resolve import resolve
from dllint.fixes.text import TextEdit, Unresolvable, apply
from dllint.span import Span

EXPRESSIONS = {
    "argument": ("f(«lambda x: x»)\n", "g", "f(g)\n"),
    "the same": ("f(«g»)\n", "g", "f(g)\n"),
    "weaker than its place": ("x = «a».b\n", "a or c", "x = (a or c).b\n"),
    "number with an attribute": ("x = «a».b\n", "1", "x = (1).b\n"),
    "weaker in an argument": ("f(«a», k=b)\n", "a or c", "f(a or c, k=b)\n"),
    "unpacked": ("f(*«a»)\n", "a or c", "f(*(a or c))\n"),
    "operand": ("x = 1 - «a»\n", "b - c", "x = 1 - (b - c)\n"),
    "own parentheses stay": ("x = 1 - («a»)\n", "b - c", "x = 1 - (b - c)\n"),
    "own parentheses go": ("x = 1 - «(a)»\n", "b - c", "x = 1 - (b - c)\n"),
    "tuple": ("f(«a»)\n", "1, 2", "f((1, 2))\n"),
    "over lines": ("x = «a»\r\n", "[\n    1,\n]", "x = [\r\n    1,\r\n]\r\n"),
    "at a keyword": ("def f(): return«(a)»\n", "b", "def f(): return b\n"),
    "between keywords": ("x = 1 if«(a)»else 2\n", "b", "x = 1 if b else 2\n"),
    "in a string": ("x = f'{«a»!r}'\n", "b if c else d", "x = f'{(b if c else d)!r}'\n"),
    "after a form feed": ("\x0cf(\x0c«a»)\n", "b", "\x0cf(\x0cb)\n"),
}

COMMENTS = {
    "text": ("x  «# a»\n", "# b", "x  # b\n"),
    "with the blanks before": ("x = 1 \t «# a»\ny\n", "", "x = 1\ny\n"),
    "with its line": ("def f():\n    «# a»\n    x\n", "", "def f():\n    x\n"),
    "last line": ("x\n«# a»", "", "x\n"),
    "part": ("x  # type: ignore  «# noqa»\r\n", "", "x  # type: ignore\r\n"),
    "first part": ("x  «# type: ignore  »# noqa\n", "", "x# noqa\n"),
    "middle": ("x  # noqa: «A,» B\n", "C", "x  # noqa: C B\n"),
}


@pytest.mark.parametrize(("before", "code", "after"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_replace_expression(before, code, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, ReplaceExpression("a.py", span, code)) == after


@pytest.mark.parametrize(("before", "new", "after"), COMMENTS.values(), ids=COMMENTS)
def test_replace_comment(before, new, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, ReplaceComment("a.py", span, new)) == after


@pytest.mark.parametrize(
    ("before", "edit", "reason"),
    [
        ("x = «'# a'»\n", lambda span: ReplaceComment("a.py", span, ""), "no comment at line 1 column 5"),
        ("x  «# a» b\n", lambda span: ReplaceComment("a.py", span, ""), "what remains is no comment"),
        ("x  «# a»\n", lambda span: ReplaceComment("a.py", span, "# b\nc"), "what remains is no comment"),
        ("x = «a » + 1\n", lambda span: ReplaceExpression("a.py", span, "b"), "no expression at line 1 column 5"),
        ("x = «a»\n", lambda span: ReplaceExpression("a.py", span, "b c"), "the new expression does not parse"),
        ("x = 'a' «'b'»\n", lambda span: ReplaceExpression("a.py", span, "b"), "the expression is a piece of a string"),
        (
            "x = f'{«a»}'\n",
            lambda span: ReplaceExpression("a.py", span, "'b'"),
            "an expression in a string takes no quotes",
        ),
        ("x = «a»\n", lambda span: ReplaceExpression("b.py", span, "c"), "no such source"),
        (
            "x = «a»\n",
            lambda _: ReplaceExpression("a.py", Span(3, 1, 3, 2), "c"),
            "line 3 column 1 is outside of the text",
        ),
        (
            "x = «a»\n",
            lambda _: ReplaceExpression("a.py", Span(1, 5, 1, 9), "c"),
            "line 1 column 9 is outside of the text",
        ),
        ("x = (\n«a»\n", lambda span: ReplaceExpression("a.py", span, "c"), "the text does not parse: line 2"),
        (
            "def f():\n    a\n\\\nx = «a»\n",
            lambda span: ReplaceExpression("a.py", span, "c"),
            "line 4 cannot be placed in the syntax tree",
        ),
        ("x = «a»\0\n", lambda span: ReplaceExpression("a.py", span, "c"), "the text does not parse"),
    ],
)
def test_nothing_is_guessed(before, edit, reason, marked):
    text, span = marked(before)
    wanted = edit(span)
    with pytest.raises(Unresolvable) as raised:
        resolve(Fix("", "safe", (wanted,)), {"a.py": text})
    assert raised.value.path == wanted.path
    assert raised.value.reason.startswith(reason)


def test_edits_that_contradict_each_other(marked):
    text, span = marked("f(«a»)\n")
    edits = ReplaceExpression("a.py", span, "b"), ReplaceExpression("a.py", span, "c")
    with pytest.raises(Unresolvable, match="two edits of one place"):
        resolve(Fix("", "safe", edits), {"a.py": text})


def test_text_edits_are_minimal_and_sorted(marked):
    text, span = marked("\ufeffimport a\n\n\nx = '𝄞', «f(b)»\n")
    edits = SetArgument("a.py", span, "k", "1"), AddImport("a.py", "m")
    assert resolve(Fix("", "safe", edits), {"a.py": text}) == [
        TextEdit("a.py", Span(2, 1, 2, 1), "import m\n"),
        TextEdit("a.py", Span(4, 13, 4, 13), ", k=1"),
    ]


def test_a_fix_of_two_files(marked):
    one, first = marked("«f()»\n")
    two, second = marked("x\n«g()»\n")
    edits = SetArgument("a.py", first, "k", "1"), SetArgument("b.py", second, "k", "2")
    assert resolve(Fix("", "safe", edits), {"a.py": one, "b.py": two}.__getitem__) == [
        TextEdit("a.py", Span(1, 3, 1, 3), "k=1"),
        TextEdit("b.py", Span(2, 3, 2, 3), "k=2"),
    ]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied"), "cannot be read: Permission denied"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "cannot be decoded"),
    ],
)
def test_sources_that_cannot_be_read(error, reason):
    def read(path):
        raise error

    with pytest.raises(Unresolvable) as raised:
        resolve(Fix("", "safe", (AddImport("a.py", "m"),)), read)
    assert (raised.value.path, raised.value.reason) == ("a.py", reason)


@pytest.mark.parametrize(
    "deep",
    ["(" * 199 + "1" + ")" * 199, "a" + ".b" * 400],
    ids=["brackets", "attributes"],
)
def test_a_text_that_nests_deeply(deep, marked, fixed):
    """Either the fix is made, or it is refused: the process lives on."""
    text, span = marked(f"«f()»\nx = {deep}\n")
    try:
        after = fixed(text, SetArgument("a.py", span, "k", "1"))
    except Unresolvable as error:
        assert error.reason in ("the text nests too deeply", "the text does not parse")
    else:
        assert after == text.replace("f()", "f(k=1)")


@pytest.mark.parametrize("deep", ["f" + "()" * 4900, "f" + "[0]" * 4900, "a" + " + a" * 4900])
def test_a_text_that_would_take_minutes_to_parse_is_refused(deep, marked, fixed):
    text, span = marked(f"«f()»\nx = {deep}\n")
    start = time.monotonic()
    with pytest.raises(Unresolvable, match="the text nests too deeply"):
        fixed(text, SetArgument("a.py", span, "k", "1"))
    assert time.monotonic() - start < 5 * slowness()


def test_a_text_that_libcst_stumbles_over_is_refused(marked, fixed):
    text, span = marked("«f()» if(lambda: 0)else 1\n")
    with pytest.raises(Unresolvable, match="the text does not parse"):
        fixed(text, SetArgument("a.py", span, "k", "1"))


PIECES = [
    "import os; x = 1\n",
    "# note\n",
    "\n",
    "\x0c\n",
    "if x: pass\n",
    "    \n",
    "y = '''\n# s\r'''\n",
    "def g():\n\treturn 1\n",
    "z = '𝄞\u2028\x0b'\n",
    "w = [1,  # c\n     2]\n",
    "@d\nclass A:\n    b: int = 1  # é\n",
    "v = 1 + \\\n    2\n",
    "p\n\\\nq\n",
    "\x0cu = f'{x!r:>{y}}'\n",
    "if a:\n  b\n  # end\nelse:\n  c\n",
    "t = 1 ;\n",
]
CALLS = [
    "«f(a)»\n",
    "«f(\n  a,\n)»\n",
    "x = '𝄞', «f()» # c\n",
    "if x: «f(a, **b)»; y\n",
    "def h():\n    «f(a\n     ,b)»\n",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_text_outside_of_the_edits_is_unchanged(newline, marked):
    """In random surroundings: with the new text taken out again, it is the old one."""
    choose = random.Random(newline)
    for _ in range(60):
        above, below = ("".join(choose.choices(PIECES, k=choose.randrange(6))) for _ in range(2))
        source = choose.choice(["", "\ufeff"]) + above + choose.choice(CALLS) + below
        source = re.sub(r"\r?\n", newline, source)
        if choose.random() < 0.3:
            source = source.rstrip("\r\n\\\x0c ")
        text, span = marked(source)
        edits = (
            SetArgument("a.py", span, "num_workers", "1"),
            AddImport("a.py", "torch.utils"),
            InsertStatement("a.py", span, "def new():\n    pass\n", toplevel=True),
        )
        fix = Fix("", "safe", edits[: choose.randint(1, 3)])
        found = resolve(fix, {"a.py": text})
        after = apply(text, found)
        assert len(after) == len(text) + sum(len(edit.content) for edit in found)
        assert all(edit.span[:2] == edit.span[2:] for edit in found)
        rest = after
        for edit in sorted(found, key=lambda edit: edit.span):
            assert edit.content in rest
            rest = rest.replace(edit.content, "", 1)
        assert rest == text
        assert after.count("num_workers=1") == 1
        again = Fix("", "safe", tuple(edit for edit in fix.edits if isinstance(edit, AddImport)))
        assert resolve(again, {"a.py": after}) == []
        if newline != "\n":
            assert re.findall(r"\r\n|\n|\r", after).count("\n") == 0
