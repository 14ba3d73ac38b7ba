"""Programs that are run as a user would run them, and what was recorded of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dllint import observation
from dllint.observation import Observation
from dllint.runtime.isolation.starting import FORBIDDEN

NO_OVERLAY = "warning: no overlay can be made here"
SOURCES = str(Path(__file__).parents[2] / "src")


@dataclass(frozen=True)
class Ran:
    """What a `dllint run` gave."""

    status: int
    out: str
    err: str
    seen: Observation
    scratch: Path
    report: dict[str, Any]

    @property
    def main(self) -> observation.Process:
        return next(one for one in self.seen.processes.values() if one.role == "main")


Start = Callable[..., Ran]


def _start(interpreter: str, directory: Path) -> Start:
    """Runs a program, of which the first argument is the text; the words stand on the command line after options.

    `hooks` has the run do without namespaces, as it does where the machine allows none.
    """

    def start(
        program: str,
        *words: str,
        options: tuple[str, ...] = (),
        files: dict[str, str] | None = None,
        stdin: str = "",
        hooks: bool = False,
    ) -> Ran:
        for name, text in {"train.py": program, **(files or {})}.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
        scratch = directory / "scratch"
        ours = ("-m", "dllint", "run", "--isolated", "--try", "none", "--output-format", "json", "-o", "report.json")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        if hooks:
            environment[FORBIDDEN] = "1"
            options = ("--in-place", *options)
        done = subprocess.run(
            [interpreter, *ours, "--scratch", str(scratch), *options, *(words or ("train.py",))],
            cwd=directory,
            env={**environment, "PYTHONPATH": SOURCES},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        # No traceback of ours, nor our frames in the program's; Python 3.10 cannot hide those.
        err = "".join(line for line in done.stderr.splitlines(True) if not line.startswith(NO_OVERLAY))
        assert f"{SOURCES}/dllint/" not in done.stderr or sys.version_info < (3, 11), done.stderr
        written = directory / "report.json"
        report = json.loads(written.read_text()) if written.exists() else {}
        seen = observation.read(str(scratch / "records"))
        return Ran(done.returncode, done.stdout, err, seen, scratch, report)

    return start


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Runs programs that need no torch."""
    return _start(sys.executable, tmp_path)


@pytest.fixture
def train(tmp_path: Path) -> Start:
    """Runs programs that need torch; skips where no interpreter has it."""
    interpreter = os.environ.get("DLLINT_TORCH_PYTHON", "")
    if not interpreter:
        pytest.skip("DLLINT_TORCH_PYTHON names no interpreter")
    return _start(interpreter, tmp_path)
