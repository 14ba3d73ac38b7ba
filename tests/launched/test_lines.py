"""Which of the lines in question a program executed: recorded on Python 3.12 and newer."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dllint.observation import Line
from dllint.runtime.run import Command, Options, run

PROGRAM = """\
def scaled(value):
    if value:
        factor = 2
    else:
        factor = 3
    return value * factor


for number in range(3):
    scaled(0)
import inner
"""
INNER = """\
def unused():
    return 1
made = 3
"""


def _recording() -> str:
    """An interpreter that can record lines; "" where there is none."""
    if sys.version_info >= (3, 12):
        return sys.executable
    for name in ("python3.12", "python3.13", "python3.14"):
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    return ""


def test_lines_that_are_executed_are_recorded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = _recording()
    if not python:
        pytest.skip("no Python from 3.12 on")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "inner.py").write_text(INNER)
    asked = [(str(tmp_path / "train.py"), number) for number in range(1, 12)]
    asked += [(str(tmp_path / "inner.py"), number) for number in (2, 3)]
    options = Options(Command("command", (python, "train.py")), lines=tuple(asked), in_place=True, progress=False)
    seen = run(options).observation
    executed = sorted((Path(one.path).name, one.line) for one in seen.of(Line))
    assert executed == [("inner.py", 3), *(("train.py", number) for number in (1, 2, 5, 6, 9, 10, 11))]
    assert all(one.lines for one in seen.processes.values())
