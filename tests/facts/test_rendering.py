"""Expressions as messages show them: text that means the same."""

from __future__ import annotations

import ast

import pytest

from dllint.facts.extract import extract
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile

EXPRESSIONS = [
    "(a + b) * c",
    "a + b * c",
    "a - (b - c)",
    "a - b - c",
    "(a ** b) ** c",
    "a ** b ** c",
    "-(a + b)",
    "-a + b",
    "(a + b).mean()",
    "(a or b)[0]",
    "not (a and b)",
    "not a or b",
    "(a or b) and c",
    "a or b and c",
    "(a if b else c) + 1",
    "a if b else c",
    "(a < b) == c",
    "a < b + c",
    "f(a or b, *c, key=a if b else c)",
    "self.seed + (self.epoch - 1) * self.workers",
    "(a | b) & c",
    "rows[a - 1:b + 1]",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_it_means_the_same(text: str) -> None:
    file = SourceFile("a.py", extract(f"value = {text}\n"))
    (event,) = file.scopes[0].events

    assert ast.dump(ast.parse(render(event.value, file, 200))) == ast.dump(ast.parse(text))
