"""Code for Python 2, and for versions below 3.7, is read line for line."""

from __future__ import annotations

import ast
import time

import pytest

from dllint.facts.extract.older import as_python3
from dllint.facts.parse import Older, parse
from dllint.files import Unreadable


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print 'a'", "print('a')"),
        ("print", None),
        ("print 'a', b,", "print('a', b,)"),
        ("print'a'", "print('a')"),
        ("print 'a' % (b,\n    c)  # d", "print('a' % (b,\n    c))  # d"),
        ("print 'a' + \\\n    b", "print('a' + \\\n    b)"),
        ("print >>f, a", "print(  f, a)"),
        ("if a: print b; print c", "if a: print(b); print(c)"),
        ("if a[1:2]: print b", "if a[1:2]: print(b)"),
        ("if a:\n    b\nelse: print c", "if a:\n    b\nelse: print(c)"),
        ("exec a in b", "exec(a in b)"),
        ("print(a)", None),
        ("print = a", None),
        ("print.a(b)", None),
        ("x = {'print': 1}", None),
        ("x = 'print 1'  # print 2", None),
        ("try:\n    a\nexcept E, e:\n    b", "try:\n    a\nexcept E as  e:\n    b"),
        ("try:\n    a\nexcept (E, F), e:\n    b", "try:\n    a\nexcept (E, F) as  e:\n    b"),
        ("try:\n    a\nexcept (E, F):\n    b", None),
        ("raise E, 'a'", "raise E( 'a')"),
        ("raise E, f(a, b)  # c", "raise E( f(a, b))  # c"),
        ("raise E(a, b)", None),
        ("a <> b", "a != b"),
        ("f(0777, 0, 00, 10L, 0xFFL)", "f( 777, 0, 00, 10 , 0xFF )"),
        ("x = ur'a'", "x =  r'a'"),
        ("f(async=True)", "f(Async=True)"),
        ("async = a.async", "Async = a.Async"),
        ("async def f():\n    async with a:\n        pass", None),
        ("f(lambda (a, b): a)", "f(lambda  a, b : a)"),
        ("f(lambda: (a, b))", None),
    ],
)
def test_what_older_versions_wrote(old: str, new: str | None) -> None:
    found = as_python3(old + "\n")

    assert found == (None if new is None else new + "\n")
    if found is not None:
        ast.parse(found)


def test_facts_of_an_older_file_stand_on_its_lines() -> None:
    text = "import torch\nfor x in rows:\n    print 'a', f(x)\n    y = x.cuda(async=True)\nz = g(0)\n"

    found = parse(text)

    assert isinstance(found, Older)
    assert (found.why.message, found.why.span.line) == ("older", 3)
    calls = sorted((call.span.line, call.span.column) for call in found.facts.calls)
    assert calls == [(3, 5), (3, 16), (4, 9), (5, 5)]


@pytest.mark.parametrize("text", ["print 'a'\ny = $\n", "print (\n", "def f(:\n    print 'a'\n"])
def test_what_no_python_reads_stays_unreadable(text: str) -> None:
    found = parse(text)

    assert isinstance(found, Unreadable)
    assert found.message == "main"


@pytest.mark.parametrize("piece", ["lambda (", "raise a, (", "print (", "except a, b: ", "print 'a'; ", "async ("])
def test_long_texts_take_linear_time(piece: str) -> None:
    took = []
    for times in (1_000, 16_000):
        started = time.process_time()
        as_python3(piece * times)
        took.append(time.process_time() - started)

    assert took[1] < 64 * took[0] + 0.5
