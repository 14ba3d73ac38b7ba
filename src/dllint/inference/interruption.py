"""Cancels an analysis whose result is no longer needed: in an editor, when the text changes again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class Interrupted(BaseException):
    """The analysis was asked to stop. Not an Exception: a rule that crashes is reported and the others continue, but
    this must end them all."""


@dataclass
class Stop:
    """A stop request, which another thread can set at any time."""

    wanted: bool = False


_current: ContextVar[Stop | None] = ContextVar("stop", default=None)


def current() -> Stop:
    """Return the stop request of the analysis in this context."""
    return _current.get() or Stop()


@contextmanager
def stopped_by(stop: Stop) -> Iterator[None]:
    """Run analyses that end with Interrupted at their next query once the stop is requested."""
    token = _current.set(stop)
    try:
        yield
    finally:
        _current.reset(token)
