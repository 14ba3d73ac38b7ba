"""Given a text before and after, this diff comes out."""

import shutil
import subprocess

import pytest

from dllint.finding import Fix, SetArgument
from dllint.fixes.diff import edits_diff, file_diff, short_diff
from dllint.fixes.resolve import resolve
from dllint.span import Span


def test_file_diff():
    assert file_diff("a.py", "a\nb\nc\n", "a\nd\nc\n") == "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n a\n-b\n+d\n c\n"
    assert file_diff("a.py", "a\n", "a\n") == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb", "a\nc"),
        ("a\nb", "a\nb\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("a\rb\r", "a\rc\r"),
        ("", "a\n"),
        ("x\x0b\u2028\x0cy\nb\n", "x\x0b\u2028\x0cz\nb\n"),
        ("\ufeffa\n", "\ufeffb\n"),
    ],
)
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_applies_a_file_diff(old, new, tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(old.encode())
    command = ["git", "-c", "core.autocrlf=false", "apply", "-p0", "--whitespace=nowarn"]
    subprocess.run(command, input=file_diff("a.py", old, new).encode(), cwd=tmp_path, check=True)
    assert file.read_bytes().decode() == new


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\nb\nc\n", "a\nd\nc\n", ["- b", "+ d"]),
        ("a\r\nb\r\n", "a\r\nb\r\nc\r\n", ["+ c"]),
        ("a\rb\rc\rd\r", "x\rb\rc\ry\r", ["- a", "+ x", "...", "- d", "+ y"]),
        ("a\x0b\nb", "a\x0b\nc", ["- b", "+ c"]),
        ("a\na\n", "a\na\na\n", ["+ a"]),
        ("a\n", "a\n", []),
    ],
)
def test_short_diff(old, new, lines):
    assert short_diff(old, new) == lines


def test_edits_diff():
    edits = tuple(SetArgument(path, Span(2, 1, 2, 4), "k", "1") for path in ("a.py", "b.py"))
    texts = {"a.py": "x\nf()\n", "b.py": "y\ng()\n"}
    assert edits_diff(resolve(Fix("", "safe", edits), texts), texts) == [
        ("a.py", ["- f()", "+ f(k=1)"]),
        ("b.py", ["- g()", "+ g(k=1)"]),
    ]
