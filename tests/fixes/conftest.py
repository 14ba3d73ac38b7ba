"""Sources with a marked place: `«f(x)»` stands for the text `f(x)` and its span."""

import re
from collections.abc import Callable

import pytest

from dllint.finding import Edit, Fix
from dllint.fixes.resolve import resolve
from dllint.fixes.text import apply
from dllint.span import Span

Marked = Callable[[str], tuple[str, Span]]
Fixed = Callable[..., str]


def _place(before: str) -> tuple[int, int]:
    lines = re.split(r"\r\n|\r|\n", before.removeprefix("\ufeff"))
    return len(lines), len(lines[-1]) + 1


@pytest.fixture
def marked() -> Marked:
    def read(source: str) -> tuple[str, Span]:
        before, rest = source.split("«")
        inside, after = rest.split("»")
        return before + inside + after, Span(*_place(before), *_place(before + inside))

    return read


@pytest.fixture
def fixed() -> Fixed:
    """The text after a fix with the given edits, all in the file "a.py"."""

    def run(text: str, *edits: Edit) -> str:
        return apply(text, resolve(Fix("", "safe", edits), {"a.py": text}))

    return run
