"""Given what is not Python, or hardly, one line says so and nothing crashes."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import pytest

from dllint.facts.cache import decode, encode
from dllint.facts.extract import SyntaxProblem, extract
from dllint.facts.nodes import List, Opaque


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("print 'a'\n", 1, 1),
        ("x = 1\nexec 'a' in b\n", 2, 1),
        ("x = 1\ny = $\n", 2, 5),
        ("if x:\n   y\n  z\n", 3, 3),
        ("x = 'abc\n", 1, 5),
        ("x = (\n", 1, 5),
        ("x = )\n", 1, 5),
        ("é = 'ü'; x = §\n", 1, 14),
        ("a = 1\nb\0 = 2\n", 2, 2),
        ("def f(:\n  pass\n", 1, 7),
        ("if True:\n", 1, 8),
        ("raise E, 'x'\n", 1, 8),
    ],
)
def test_what_is_not_python(code: str, line: int, column: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        extract(code)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.message
    assert "\n" not in caught.value.message


def test_the_message_is_pythons() -> None:
    with pytest.raises(SyntaxProblem, match=r"'\(' was never closed \(line 1, column 5\)"):
        extract("x = (\n")


def test_what_only_libcst_refuses_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dllint.facts.extract.respelled", lambda source, tokens: None)
    with pytest.raises(SyntaxProblem, match="valid Python, but the parser libcst cannot read it"):
        extract("x = a if b else.5\n")


DEEP = {
    "parentheses": "x = " + "(" * 1000 + "1" + ")" * 1000,
    "lists": "x = " + "[" * 1000 + "]" * 1000,
    "calls": "x = " + "f(" * 1000 + ")" * 1000,
    "dictionaries": "x = " + "{1: " * 1000 + "1" + "}" * 1000,
    "ifs": "".join(" " * depth + "if x:\n" for depth in range(1000)) + " " * 1000 + "pass\n",
    "unclosed": "x = " + "(" * 100_000,
    "fstrings": "x = " + "f'{" * 1000,
    "brackets in fstrings": "x = f'{" + "(" * 1000 + ")" * 1000 + "}'",
    "long fields": "x = f'{" + "-" * 10_000 + "1}'",
    "minus": "x = " + "-" * 20_000 + "1",
    "operators": "x = a" + " + a" * 20_000,
    "formats": "x = f'" + "{a:" * 1000 + "}" * 1000 + "'",
}


READ = """\
import sys
from dllint.facts.extract import SyntaxProblem, extract
try:
    extract(sys.stdin.read())
except SyntaxProblem as problem:
    print(problem)
"""


@pytest.mark.parametrize("name", DEEP)
def test_too_deep_is_refused(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", READ], input=DEEP[name], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert "too " in done.stdout


LONG = {
    "operators": "x = 'a'" + " + 'a'" * 400,
    "elifs": "if a:\n pass\n" + "elif b:\n pass\n" * 1000,
    "attributes": "x = a" + ".b" * 400,
    "calls": "x = a" + ".b()" * 150,
    "adjacent strings": "x = (" + "'a'\n" * 1000 + ")",
    "parentheses": "x = " + "(" * 190 + "1" + ")" * 190,
    "lists": "x = " + "[" * 190 + "f()" + "]" * 190,
    "ifs": "".join(" " * depth + "if x:\n" for depth in range(95)) + " " * 95 + "f()\n",
    "lambdas": "x = " + "lambda: " * 200 + "f()",
    "walruses": "x = " + "(a := " * 150 + "f()" + ")" * 150,
    "elements": "x = [" + "{'a': (1, 2)}, " * 500 + "]",
}


@pytest.mark.parametrize("name", LONG)
def test_what_python_accepts_is_read_and_can_be_kept(name: str) -> None:
    before = sys.getrecursionlimit(), threading.stack_size()
    facts = extract(LONG[name] + "\n")
    assert (sys.getrecursionlimit(), threading.stack_size()) == before
    assert len(facts.calls) == LONG[name].count("()")
    assert decode(encode(facts, b""), b"") == facts


def test_deep_expressions_are_cut() -> None:
    value = extract("x = " + "[" * 190 + "]" * 190 + "\n").scopes[0].events[0].value
    depth = 0
    while isinstance(value, List):
        value = value.elements[0]
        depth += 1
    assert value == Opaque()
    assert 20 < depth < 60


def test_other_threads_get_a_stack_of_their_own() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(extract("f(" * 30 + ")" * 30)))
    thread.start()
    thread.join()
    assert len(found[0].calls) == 30


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_as_it_was(collecting: bool) -> None:
    try:
        (gc.enable if collecting else gc.disable)()
        extract("x = 1\n")
        assert gc.isenabled() is collecting
        with pytest.raises(SyntaxProblem):
            extract("x = \n")
        assert gc.isenabled() is collecting
    finally:
        gc.enable()


def test_a_large_file() -> None:
    facts = extract("def f(a):\n    return g(a, k=[1, 2])\n\n\n" * 500)
    assert facts.lines == 2000
    assert len(facts.calls) == 500


def test_a_comment_at_the_very_end_needs_no_line_end() -> None:
    assert extract("x = 1\n# c").lines == 2
    assert extract("def f():\n    pass\n\n# c\n# d").lines == 5
