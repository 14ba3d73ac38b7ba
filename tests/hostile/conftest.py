"""Runs dllint on a hostile project with 5 seconds of processor time and 1 GiB of memory, in a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.pace import slowness

PATIENCE_S = 60
"""Wall clock: other tests share the processors."""


class Done(NamedTuple):
    """How a command ended, its output, and what it took."""

    returncode: int
    stdout: bytes
    stderr: bytes
    seconds: float
    mebibytes: int


Run = Callable[..., Done]


class _Forking:
    """The process that forks for each command; a new one follows when a command hangs."""

    def __init__(self) -> None:
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        program = str(Path(__file__).with_name("forking.py"))
        return subprocess.Popen(
            [sys.executable, program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip

    def ask(self, order: dict[str, object]) -> list[Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S * slowness())
        if not ready:
            self.end()
            self.process = self._start()
            pytest.fail("it hangs")
        answer: list[Any] = json.loads(self.process.stdout.readline())
        return answer

    def end(self) -> None:
        # The child that hangs is of the same group.
        os.killpg(self.process.pid, 9)
        self.process.communicate()


@pytest.fixture(scope="session")
def _forking() -> Iterator[_Forking]:
    forking = _Forking()
    yield forking
    forking.end()


@pytest.fixture
def dllint(_forking: _Forking, tmp_path_factory: pytest.TempPathFactory) -> Run:
    def run(
        project: Path,
        *arguments: str,
        given: bytes = b"",
        home: Path | None = None,
        patch: str = "",
        **environment: str,
    ) -> Done:
        """What a command gives. One that exceeds its limits ends by a signal or a MemoryError.

        Args:
            given: standard input.
            home: where the user's cache is kept; by default beside the project.
            patch: code that is run before, in the same process.
        """
        cache = str(home or project.parent / f"home of {project.name}")
        streams = [tmp_path_factory.mktemp("streams") / name for name in ("in", "out", "err")]
        for stream in streams:
            stream.write_bytes(given if stream.name == "in" else b"")
        variables = {"XDG_CACHE_HOME": cache, **environment}
        order = {"arguments": arguments, "directory": str(project), "environment": variables, "patch": patch}
        status, seconds, size = _forking.ask({**order, "streams": list(map(str, streams))})
        out, err = (stream.read_bytes() for stream in streams[1:])
        told = (out + err).decode("utf-8", "replace")
        assert status in (0, 1, 2), f"ended by {status}: {told[-2000:]}"
        assert "Traceback" not in told and "MemoryError" not in told and "internal error" not in told, told[-2000:]
        return Done(status, out, err, seconds, size)

    return run


@pytest.fixture
def check(dllint: Run) -> Run:
    def check(project: Path, *arguments: str, **others: Any) -> Done:
        return dllint(project, "check", ".", "--jobs", "1", *arguments, **others)

    return check
