"""Implementation of `dllint doctor`: examines this machine and an interpreter, and prints the results."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator
from dataclasses import asdict

from dllint.commands.exits import CLEAN, FAILED
from dllint.commands.output import tell
from dllint.runtime.doctor import DoctorError, Examination, examine


def run(python: str | None, *, as_json: bool) -> int:
    """Print an examination of `python`, or of this interpreter; returns 0, or 2 if it could not be queried."""
    try:
        examination = examine(python)
    except DoctorError as error:
        tell([str(error)], "error")
        return FAILED
    if as_json:
        told = asdict(examination)
        print(json.dumps({name: told[name] for name in ("findings", "limits", "interpreter")}, indent=2))
    else:
        columns = os.environ.get("COLUMNS", "")
        print("\n".join(_lines(examination, max(int(columns), 40) if columns.isdigit() else 100)))
    return CLEAN


def _lines(examination: Examination, width: int) -> Iterator[str]:
    """Yield one paragraph per figure, followed by its problem with a mark, and the number of problems at the end."""
    for one in examination.findings:
        yield f"{one.name}: {one.value}"
        yield from _wrapped(one.meaning, "  ", width)
        if one.problem:
            yield from _wrapped(one.problem, "  ! ", width)
    wrong = sum(bool(one.problem) for one in examination.findings)
    yield ""
    yield f"{wrong} of {len(examination.findings)} need attention." if wrong else "Nothing is wrong."


def _wrapped(text: str, mark: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=mark, subsequent_indent=" " * len(mark), break_on_hyphens=False)
