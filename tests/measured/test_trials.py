"""Loaders tried under other start methods in a throwaway fork: the stage at which each fails, and what is left."""

from __future__ import annotations

from typing import Any

import pytest

STAGES = {
    "sound:spawn": ("started", ""),
    "sound:forkserver": ("started", ""),
    "iterated:spawn": ("started", ""),
    "lambda:spawn": ("iter", "AttributeError"),
    "lambda:forkserver": ("iter", "AttributeError"),
    "246 tensors:forkserver": ("iter", "OSError"),
    "246 tensors:spawn": ("started", ""),
    "raising:spawn": ("next", "ValueError"),
    "generator:spawn": ("crash", "RuntimeError"),
    "generator:forkserver": ("crash", "RuntimeError"),
    "dying:spawn": ("crash", "RuntimeError"),
    "hanging:spawn": ("timeout", ""),
}


@pytest.fixture(scope="module")
def told(program: Any) -> dict[str, Any]:
    found: dict[str, Any] = program("trying.py", *STAGES, seconds=240)
    return found


@pytest.mark.parametrize("case", STAGES)
def test_stage_and_exception(told: dict[str, Any], case: str) -> None:
    stage, exception = STAGES[case]
    assert told[case]["stage"] == stage
    # Python 3.14 raises PicklingError for what is local, too.
    assert told[case]["exception"].rpartition(".")[2].replace("PicklingError", "AttributeError") == exception


def test_what_the_exceptions_say(told: dict[str, Any]) -> None:
    assert "<lambda>" in told["lambda:spawn"]["text"]
    assert "Invalid argument" in told["246 tensors:forkserver"]["text"]
    assert "broken item" in told["raising:spawn"]["text"]
    assert "exited unexpectedly" in told["generator:spawn"]["text"]
    # A worker that dies says why on its stderr alone.
    assert "unable to resize file" in told["generator:spawn"]["stderr"]
    assert "no answer within 4 s" in told["hanging:spawn"]["text"]


def test_nothing_is_left(told: dict[str, Any]) -> None:
    assert {case: told[case]["alive"] for case in STAGES} == {case: [] for case in STAGES}
    descriptors, threads = told["left"]
    # Threads that importing torch started may end meanwhile.
    assert descriptors == 0
    assert threads <= 0
    assert told["names"] == []
