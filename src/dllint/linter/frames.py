"""Room on Python's stack for questions that ask questions."""

from __future__ import annotations

import contextvars
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

FRAMES = 4000
DEEP_FRAMES = 60_000
DEEP_STACK_BYTES = 512 * 2**20
"""For work that met the limit of `FRAMES`. Address space only: pages that are not touched cost nothing."""


@contextmanager
def room_for_questions(last: bool) -> Iterator[None]:
    """Frames for questions that ask questions: the model bounds their depth, at more than Python's default. And no
    collector: facts and answers are all kept to the end, so that looking through them again and again frees nothing.
    In the end it takes a tenth of the time to free them, which the end of a process does at once."""
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, FRAMES))
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last and not gc.get_freeze_count():
            gc.freeze()
        if collecting:
            gc.enable()
        sys.setrecursionlimit(frames)


def with_more_frames(work: Callable[[], T]) -> T:
    """What `work` gives. Where it runs out of frames, code nests deeper than usual: it is done once more in a thread
    whose stack holds many times as many.

    Raises:
        RecursionError: that is not enough either.
    """
    try:
        return work()
    except RecursionError:
        pass
    outcome: list[T] = []
    failed: list[BaseException] = []

    def again() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failed.append(error)

    frames, stack = sys.getrecursionlimit(), threading.stack_size(DEEP_STACK_BYTES)
    try:
        sys.setrecursionlimit(DEEP_FRAMES)
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(again,), daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
    if failed:
        raise failed[0]
    return outcome[0]


def with_room(work: Callable[[], T]) -> T:
    """What `work` gives, done as a check does it, by a process that goes on."""
    with room_for_questions(last=False):
        return with_more_frames(work)
