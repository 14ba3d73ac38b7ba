"""Docstrings and comments of src/, as prose: no words in a private sense, and "one per line", not "one a line"."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src" / "dllint"
PRIVATE = re.compile(
    r"\btold apart\b|\btell(?:s|ing)? \w+ apart\b|\b(?:its|their|the) like\b|\b(?:is|are) meant\b|"
    r"\b(?:is|are|was|were) to be\b|\bof one's own\b|\bbec(?:omes?|ame) of\b|\bsa(?:ys?|id) that\b|\bsurvives? that\b|"
    r"\bleads? here too\b|\bthat it is kept of\b|\bhad from\b|\bat hand\b|\bfor ever\b|\banew\b|\bthat is to say\b|"
    r"\bof which\b(?= (?:is|are|no|one|the|a)\b)|\bon and on\b|\bends? so\b|\bcomes? of\b|"
    r"\b(?:object|file|line|module|tensor|one|copy|finding|table|class) an? "
    r"(?:item|worker|epoch|batch|process|tensor|line|file|finding|format|class|rule|library|program)\b(?= )|"
    r"\ba (?:item|worker|epoch|batch|process|tensor|line|file|finding|format|class|rule|module) each\b"
)
"""Phrases that a reader would have to read twice."""


def prose(source: str) -> Iterator[tuple[int, str]]:
    """The docstrings (of values too) and comments of a module, each with its first line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def private(source: str) -> list[str]:
    """The phrases of a module that are not plain, as "12: told apart"; code in backticks does not count."""
    plain = ((line, re.sub(r"`[^`]*`", "`code`", re.sub(r"\s+", " ", text))) for line, text in prose(source))
    return [f"{line}: {match[0]}" for line, text in plain for match in PRIVATE.finditer(text)]


@pytest.mark.parametrize("package", sorted({path.relative_to(SOURCES).parts[0] for path in SOURCES.rglob("*.py")}))
def test_docstrings_and_comments_are_plain(package: str) -> None:
    top = SOURCES / package
    files = [top] if top.is_file() else sorted(top.rglob("*.py"))

    found = [f"{path.relative_to(SOURCES)}:{phrase}" for path in files for phrase in private(path.read_text("utf-8"))]

    assert found == []


@pytest.mark.parametrize(
    ("source", "phrases"),
    [
        ('"""Activations that are told apart."""', ["1: told apart"]),
        ('A = 1\n"""What\nbecomes of it."""', ["2: becomes of"]),
        ("x = 1  # one object a line in the file", ["1: object a line"]),
        ('"""`told apart` is code, and `x = "anew"` too."""', []),
        ('x = "told apart"', []),
    ],
)
def test_private_words_are_seen(source: str, phrases: list[str]) -> None:
    assert private(source) == phrases
