"""What is predicted and measured, against what really happens. Needs DLLINT_TORCH_PYTHON: an interpreter with torch."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dllint.observation import Observation
from dllint.probe import procfs
from dllint.runtime.run import Command, Options, run

SOURCES = Path(__file__).parents[2] / "src"
PROGRAMS = Path(__file__).parent / "programs"

Program = Callable[..., dict[str, Any]]
Watch = Callable[..., Observation]


@pytest.fixture(scope="session")
def torch_python() -> str:
    found = os.environ.get("DLLINT_TORCH_PYTHON", "")
    if not found:
        pytest.skip("DLLINT_TORCH_PYTHON names no interpreter")
    return found


@pytest.fixture(scope="session")
def program(torch_python: str) -> Program:
    """Runs one of the programs, whose last line is JSON. Nothing of it lives on."""

    def start(name: str, *words: object, seconds: float = 150) -> dict[str, Any]:
        with tempfile.TemporaryFile("w+") as written:
            process = subprocess.Popen(
                [torch_python, "-B", str(PROGRAMS / name), *map(str, words)],
                env={**os.environ, "PYTHONPATH": str(SOURCES), "PYTHONWARNINGS": "ignore"},
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                process.wait(seconds)
            finally:
                for pid, _ in procfs.session(process.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                process.wait()
            written.seek(0)
            text = written.read()
        answers = [line for line in text.splitlines() if line.startswith("{")]
        assert answers, text[-3000:]
        told: dict[str, Any] = json.loads(answers[-1])
        return told

    return start


@pytest.fixture
def watch(torch_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Runs a text as an instrumented program, and gives what was recorded."""

    def start(text: str, trials: tuple[str, ...] = (), batches: int | None = 16, epochs: int = 3) -> Observation:
        script = tmp_path / "train.py"
        script.write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PYTHONWARNINGS", "ignore")
        options = Options(
            command=Command("command", (torch_python, "train.py")),
            max_batches=batches,
            max_epochs=epochs,
            trials=trials,
            progress=False,
        )
        seen = run(options)
        troubles = [record.to_json() for record in seen.observation.records if record.kind == "trouble"]
        assert not troubles
        assert not seen.killed
        assert not [one for one in seen.uninstrumented if "python" in one.command[0]]
        return seen.observation

    return start
