"""Small programs about what datasets keep and what their workers do with it: `what_datasets_keep.md`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SELECT = {"select": ["DLL3", "DLL402", "DLL602", "DLL603", "DLL607"]}
HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

"""
KEPT_TOO = re.compile(r"kept here(?!.*which holds it$)")
FILE = re.compile(r"^# (\w+\.py)\n", re.MULTILINE)
PROGRAM = re.compile(r"^### ([^\n]+)\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = PROGRAM.findall(Path(__file__).with_name("what_datasets_keep.md").read_text(encoding="utf-8"))


def files_of(program: str) -> dict[str, str]:
    first, *rest = FILE.split(program)
    return {name: HEAD + body for name, body in [("main.py", first), *zip(rest[::2], rest[1::2], strict=True)]}


@pytest.mark.parametrize("program", [text for _, text in PROGRAMS], ids=[name for name, _ in PROGRAMS])
def test_findings_are_the_marks(
    told: Callable[..., Any], relative: Callable[[str], str], marks: Callable[..., Any], program: str
) -> None:
    files = files_of(program)

    found = told(files, **SELECT)

    kept = [
        (one, place)
        for one in found
        for place in (one, *(place for place in one.related if KEPT_TOO.match(place.message)))
    ]
    assert {(relative(place.path), place.span.line, one.code) for one, place in kept} == marks(files)


def test_silent_programs_have_no_marks() -> None:
    assert all(("# DLL" in program) is not name.startswith("Silent: ") for name, program in PROGRAMS)
