"""Room on Python's stack for deeply nested queries."""

from __future__ import annotations

import contextvars
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from dllint.facts.collector import collection_paused

T = TypeVar("T")

FRAMES = 4000
DEEP_FRAMES = 60_000
DEEP_STACK_BYTES = 512 * 2**20
"""Stack size for work that exceeds `FRAMES`. This is address space only: untouched pages cost nothing."""
PIECE_SLOTS = 2**20 + 1
"""The size of the frame of `in_one_piece`, in pointers: just above 8 MiB, so that its piece of memory has 16 MiB and
leaves 8 MiB for other frames. This is address space only, too."""


@contextmanager
def room_for_questions(last: bool) -> Iterator[None]:
    """Raise the recursion limit and pause the garbage collector.

    Queries make further queries; the model bounds their depth above Python's default limit. All facts and answers live
    until the end, so the collector would scan them repeatedly and free nothing. With `last`, they are also exempt from
    the final collection, which would take a tenth of the time; the end of the process frees them at once.
    """
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, FRAMES))
    with collection_paused():
        try:
            yield
        finally:
            if last and not gc.get_freeze_count():
                gc.freeze()
            sys.setrecursionlimit(frames)


def in_one_piece(work: Callable[[], T]) -> T:
    """Return the result of `work`, with the frames of its Python functions in one piece of memory.

    CPython takes the memory of frames from the system in pieces of 16 KiB (`DATA_STACK_CHUNK_SIZE` of its pystate.c,
    since 3.11) and returns a piece as soon as no frame is left in it. Nested queries cross the end of a piece again and
    again: 212,000 times in a check of 50,000 lines, an eighth of its time. A piece is as large as the frame that it is
    taken for needs, therefore the frame of this function is large.
    """
    return work()


if sys.version_info >= (3, 11):
    in_one_piece.__code__ = in_one_piece.__code__.replace(co_stacksize=PIECE_SLOTS)


def with_more_frames(work: Callable[[], T]) -> T:
    """Return the result of `work`. If it exceeds the recursion limit, because code nests unusually deep, repeat it in a
    thread with a much larger stack.

    Raises:
        RecursionError: the larger stack is too small as well.
    """
    try:
        return in_one_piece(work)
    except RecursionError:
        pass
    outcome: list[T] = []
    failed: list[BaseException] = []

    def again() -> None:
        try:
            outcome.append(in_one_piece(work))
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
    """Return the result of `work`, run as in a check but by a process that continues afterwards."""
    with room_for_questions(last=False):
        return with_more_frames(work)
