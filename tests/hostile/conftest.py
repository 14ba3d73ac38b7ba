"""Runs dllint on a hostile project, as users do, with 5 seconds of processor time and 1 GiB of memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SECONDS = 5
MEMORY = 1 << 30
PATIENCE_S = 60
"""Wall clock: other tests share the processors."""


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _dllint(
    project: Path, *arguments: str, given: bytes = b"", home: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """What a check of a project gives. A process that exceeds its limits ends by a signal or a MemoryError.

    Args:
        given: standard input.
        home: where the user's cache is kept; by default beside the project.
    """
    cache = str(home or project.parent / f"home of {project.name}")
    variables = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "dllint", *arguments],
            cwd=project,
            env=variables,
            input=given,
            capture_output=True,
            timeout=PATIENCE_S,
            preexec_fn=_limit,
        )
    except subprocess.TimeoutExpired:
        pytest.fail("it hangs")
    told = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode in (0, 1, 2), f"ended by {done.returncode}: {told[-2000:]}"
    assert "Traceback" not in told and "MemoryError" not in told and "internal error" not in told, told[-2000:]
    return done


def _check(project: Path, *arguments: str, **others: Any) -> subprocess.CompletedProcess[bytes]:
    return _dllint(project, "check", ".", "--jobs", "1", *arguments, **others)


@pytest.fixture
def dllint() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    return _dllint


@pytest.fixture
def check() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    return _check
