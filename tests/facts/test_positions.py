"""Given this code, calls, arguments, lambdas and definitions stand where Python's own parser sees them."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from dllint.facts import extract as extraction
from dllint.facts.extract import extract
from dllint.facts.extract.tokens import Tokens
from dllint.facts.nodes import Name
from dllint.span import Span

CODE = {
    "parentheses": "x = ((a))((b), (c)(d))\ny = (f)(((1)))\n(g(1))\n",
    "chains": "a.b(c).d[e(1)](f)(g())\n(a\n .b(1)\n .c(2))\n",
    "keywords": "f(a, *b, k=c(d), **e(f))\nf(\n    a=1,\n    b=(2),\n)\n",
    "generators": "f(x(y) for y in z(1))\nf((x for x in y), k=(x for x in y))\nsum((i(j) for j in k), 0)\n",
    "tuples": "f((1, 2), (), ((3, 4)), (5,))\nreturn_ = g((a, b)[0])\n",
    "lambdas": "f(lambda: 0, lambda x, *y, z=g(1), **w: h(x))\nk = (lambda a, /, b: (a))\n",
    "comments": "f( # one )\n  a, # two (\n  # three\n  b)  # four\n",
    "continued": "x = f(a) \\\n  + g(b)\nif a and \\\n   h(c): pass\n",
    "strings": "f('(', \"'\", '''a\n\"b''', r'\\\\', b'\\'', u'x', Rb'\\n')\ng('a' 'b'\n  'c')\n",
    "tight": (
        "print((1)if a else(2),'1'or f(x),1_0.e5,.5,1..real,[0x0f]or f(1))\nx = g(1)if a else[h(2)]\ndel(a)\n"
        "assert(k(1))\n"
    ),
    "operators": "f(a<<b,c>>d,e**g,h//i,j->0 if 0 else 1)\n".replace("j->0", "j-0") + "x=f(-1,+2,~3,not g(4))\n",
    "walrus": "f(a:=g(1))\nx[b:=1:h(2)]\nif (n := len(a)) > k(n): pass\n".replace("x[b:=1:h(2)]", "x[(b:=1):h(2)]"),
    "slices": "a[f(1):g(2):h(3), ..., k(4):]\na[:]\na[::]\n",
    "displays": "x = [f(1), *g(2)]\ny = {h(3): k(4), **m(5)}\nz = {n(6), *o(7)}\n",
    "comprehensions": (
        "x = [f(a) for a in g(b) if h(a) for c in k(a) if m(c) if n(c)]\ny = {f(a): g(b) for a, b in h(c)}\n"
    ),
    "defs": (
        "@d(1)\n@e\nasync def f(a: g(1) = h(2), *, b=k(3)) -> m(4):\n    await n(5)\n\n"
        "class A(B(1), metaclass=M(2)):\n    def g(self): return o(6)\n"
    ),
    "control": (
        "for a, (b, *c) in f(1):\n    if g(2): h(3)\n    elif k(4): pass\n    else: m(5)\nelse:\n"
        "    n(6)\nwhile o(7): break\nelse: p(8)\n"
    ),
    "contexts": (
        "with f(1) as a, g(2) as (b, c): h(3)\nwith (open(d) as e, k(4)): pass\nwith (m(5)): pass\n"
        "with (n(6)), o(7): pass\n"
    ),
    "tries": "try: f(1)\nexcept (g(2), h(3)) as e: raise k(4) from m(5)\nexcept: n(6)\nelse: o(7)\nfinally: p(8)\n",
    "simple": "a = b = f(1); c: g(2) = h(3); d += k(4)\nassert m(5), n(6)\nx, *y = o(7),\n",
    "matches": (
        "match f(1), a:\n    case (P(x=[1, *_]), {'k': -1, **r}) if g(2): h(3)\n"
        "    case 'a' | 'b.c' | a.b: k(4)\nmatch = case = m(5)\n"
    ),
    "yields": "def f():\n    x = yield g(1)\n    y = yield from h(2)\n    (yield)\n    return k((yield m(3)))\n",
    "unicode": "größe = f('ä', naïve(é))\nx = '日本'; g(x, k='語')\nλ = lambda μ: h(μ)\n",
    "form feed": "f(1)\n\x0c\ndef g():\n\tx = 1;\x0c h(2)\n",
    "crlf": "f(\r\n  a,\r\n  '''b\r\nc''')\r\ng(1)\r\n",
    "cr": "f(\r  a)\rg(1)\r",
    "mixed": "f(a,\n b)\r\ng(1)\rh(2)\n",
    "no last newline": "if a:\n    f(b)",
    "async": (
        "async def f():\n    async with g(1) as a, h(2): pass\n    async for b in k(3): m(4)\n"
        "    return [n(c) async for c in o(5)]\n"
    ),
    "stars": "print(*f(1), sep=g(2))\nx = *h(3), *k(4)\nfor y in *m(5), n(6): pass\na[(b, *c(7))]\n",
    "imports": "from . import (a, b as c,)\nfrom ...d.e import f\nimport g.h as i, j\nf(1)\n",
    "prefixes": "rb = f; br = rb(1); F = br(u, b=2)\nx = g(f'', rf'{a}', F'{b}', h(1))\n",
}
FSTRINGS = {
    "plain": "f(f'{a}', g(1))\n",
    "quotes": "f(f'{a[\"b\"]}', f\"{a['b']}\", g(1))\n",
    "format": "f(f'{a:>{b}}{{c}}{d!r:{e}.{f}}', g(1))\n",
    "triple": "f(f'''{a}\n'{b}' \"{\n c}\"''', g(1))\n",
    "escapes": "f(f'\\'{a}\\n', rf'\\{a}', g(1))\n",
    "calls": "x = f'{f(1)} {g(lambda: h(2))}'\ny = k(1)\n",
    "dicts": "f(f'{ {1: 2}[1] }', f'{(lambda x: x)(1)}', g(1))\n",
    "adjacent": "f('a' f'{b}' 'c', f'{d}' f'{e}', g(1))\n",
}


def columns(lines: list[str], line: int, offset: int) -> int:
    return len(lines[line - 1].encode()[:offset].decode()) + 1


def span(lines: list[str], node: ast.AST) -> Span:
    line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    start, stop = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
    return Span(line, columns(lines, line, start), end, columns(lines, end, stop))


def check_against_ast(code: str) -> None:
    """Everything outside of f-strings stands where `ast` says, and every call is there once."""
    facts = extract(code)
    lines = re.split(r"\r\n|\r|\n", code)
    tree = ast.parse(code)
    inner = {id(node) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for node in ast.walk(one)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    outer = [node for node in calls if id(node) not in inner]
    found = Counter(call.span for call in facts.calls)
    assert len(facts.calls) == len(calls)
    assert not Counter(span(lines, node) for node in outer) - found

    arguments = Counter(
        (span(lines, call), keyword, span(lines, node))
        for call in outer
        for keyword, node in (
            *((None, one) for one in call.args if not isinstance(one, ast.Starred)),
            *(("*", one.value) for one in call.args if isinstance(one, ast.Starred)),
            *((one.arg or "**", one.value) for one in call.keywords),
        )
        # A generator that is the only argument shares its parentheses with the call in ast's eyes.
        if not (isinstance(node, ast.GeneratorExp) and len(call.args) == 1 and not call.keywords)
    )
    assert not arguments - Counter(
        (call.span, one.keyword, one.value_span) for call in facts.calls for one in call.args
    )
    keywords = Counter((span(lines, one)) for call in outer for one in call.keywords)
    assert not keywords - Counter(one.span for call in facts.calls for one in call.args if one.keyword)

    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and id(node) not in inner]
    assert not Counter(span(lines, node) for node in lambdas) - Counter(
        scope.span for scope in facts.scopes if scope.kind == "lambda"
    )
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert Counter(
        (node.name, *span(lines, node)) for node in ast.walk(tree) if isinstance(node, definitions)
    ) == Counter(
        (one.name, *one.header[:2], *one.span[2:]) for one in facts.scopes if one.kind in ("function", "class")
    )
    statements = (
        ast.Assign,
        ast.AugAssign,
        ast.AnnAssign,
        ast.Return,
        ast.Raise,
        ast.Assert,
        ast.Import,
        ast.ImportFrom,
    )
    assert {span(lines, node) for node in ast.walk(tree) if isinstance(node, statements)} <= {
        event.span for scope in facts.scopes for event in scope.events
    }
    values = {span(lines, node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    assert values <= {event.value_span for scope in facts.scopes for event in scope.events}


@pytest.mark.parametrize("name", CODE)
def test_python_agrees(name: str) -> None:
    check_against_ast(CODE[name])


@pytest.mark.parametrize("name", FSTRINGS)
def test_python_agrees_around_fstrings(name: str) -> None:
    check_against_ast(FSTRINGS[name])


@pytest.mark.parametrize("name", [*CODE, *FSTRINGS])
def test_the_tokens_are_in_step(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "_tokens_by_libcst", None)
    extract((CODE | FSTRINGS)[name])


@pytest.mark.parametrize("name", [*CODE, *FSTRINGS])
def test_libcst_gives_the_same_tokens_more_slowly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (CODE | FSTRINGS)[name]
    expected = extract(code)
    by_libcst = extraction._tokens_by_libcst
    called = []

    class NoTokens(Tokens):
        def _read(self, source: str) -> None:
            self.texts = ["never"] * 9

    def slow(*args: object) -> Tokens:
        called.append(args)
        return by_libcst(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(extraction, "Tokens", NoTokens)
    monkeypatch.setattr(extraction, "_tokens_by_libcst", slow)
    assert extract(code) == expected
    assert called


def test_a_call_in_an_fstring_stands_where_the_fstring_does() -> None:
    facts = extract("x = 1\ny = f'{f(1)}' + g(2)\n")
    assert [call.span for call in facts.calls] == [(2, 5, 2, 14), (2, 17, 2, 21)]


@pytest.mark.parametrize(
    "code",
    [
        "x = f'{a['b']}' + g(1)\n",
        "x = f'{f'{f'{1}'}'}' + g(1)\n",
        "x = f'{'\\n'.join(a)}' + g(1)\n",
        "x = f'{a # }\n}' + g(1)\n".replace("f'{", "f'''{").replace("}' +", "}''' +"),
        "x = f'{a:{b['c']}}' + g(1)\n",
    ],
)
def test_nested_quotes_of_newer_pythons(code: str) -> None:
    call = next(call for call in extract(code).calls if call.func == Name("g"))
    last = code.splitlines()[-1]
    assert call.span == (code.count("\n"), last.index("g(") + 1, code.count("\n"), len(last) + 1)


@pytest.mark.parametrize(
    ("code", "places"),
    [
        ("def f[T: g(1), *Ts, **P](a: T) -> T: return h(2)\n", [(1, 10, 1, 14), (1, 45, 1, 49)]),
        ("type A[T] = f(T)\nclass B[T](C): g(1)\n", [(1, 13, 1, 17), (2, 16, 2, 20)]),
        ("try: pass\nexcept* f(1) as e: g(2)\n", [(2, 9, 2, 13), (2, 20, 2, 24)]),
        ("def f(*a: *b): g(1)\nx[*c, 1] = h(2)\n", [(1, 16, 1, 20), (2, 12, 2, 16)]),
    ],
)
def test_syntax_of_newer_pythons(code: str, places: list[tuple[int, ...]]) -> None:
    assert [call.span for call in extract(code).calls] == places


def test_a_byte_order_mark_is_no_column() -> None:
    assert extract("\ufefff(1)\n").calls[0].span == (1, 1, 1, 5)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_numbers_that_touch_words() -> None:
    check_against_ast("x = 1if a else 2,1or f(x),0xfor g(1),1_0.e5if h(2)else .5\n")
