"""Loaders whose class keeps one iterator for all epochs, so that workers start only once.

Those of timm (`MultiEpochsDataLoader`) and YOLO (`InfiniteDataLoader`) do so: torch's `iter(loader)` is called once,
and each epoch is a call of the class's own `__iter__`, a generator that takes as many batches as an epoch has. The
epoch is shortened at that generator's output, because the generator fails if its iterator ends early.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator
from types import FrameType, GeneratorType
from typing import Any

from dllint.probe import recorder, sites

_hooked: set[type] = set()


def hook(loader: Any, base: type, goes_on: Callable[[Any, FrameType], bool], most: Callable[[], int]) -> None:
    """Replace the `__iter__` that a loader's class defines itself, if it does.

    Args:
        base: torch's class.
        goes_on: called when an epoch begins; returns whether it continues with an existing iterator.
        most: returns the number of batches after which an epoch ends; negative for no limit.
    """
    holder = next((one for one in type(loader).__mro__ if one is base or "__iter__" in one.__dict__), base)
    if holder is base or holder in _hooked:
        return
    _hooked.add(holder)
    original = holder.__dict__["__iter__"]

    @functools.wraps(original)
    def __iter__(self: Any) -> Any:
        with sites.transparent:
            found = original(self)
        if recorder.silent or not isinstance(found, GeneratorType):
            return found
        return _epoch(self, found, sys._getframe(1))

    def _epoch(self: Any, batches: Generator[Any], frame: FrameType) -> Generator[Any]:
        left = most() if goes_on(self, frame) else -1
        with sites.transparent:
            for one in batches:
                yield one
                left -= 1
                if left == 0:
                    return

    holder.__iter__ = __iter__  # type: ignore[attr-defined]
