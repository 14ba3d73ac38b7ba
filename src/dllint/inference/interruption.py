"""Cancels an analysis whose result is no longer needed: in an editor, when the text changes again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class Interrupted(BaseException):
    """The analysis was told to stop. No Exception: a rule that crashes is reported, and the others go on."""


@dataclass
class Stop:
    """A stop request, which another thread can set at any time."""

    wanted: bool = False


_current: ContextVar[Stop | None] = ContextVar("stop", default=None)


def current() -> Stop:
    """What tells the analysis of this context to stop."""
    return _current.get() or Stop()


@contextmanager
def stopped_by(stop: Stop) -> Iterator[None]:
    """A context whose analyses end with Interrupted, at their next question, once the stop is wanted."""
    token = _current.set(stop)
    try:
        yield
    finally:
        _current.reset(token)
