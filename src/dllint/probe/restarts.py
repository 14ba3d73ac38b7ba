"""Loaders whose class keeps one iterator for all epochs, so that workers start only once.

Those of timm (`MultiEpochsDataLoader`) and YOLO (`InfiniteDataLoader`) do: `iter(loader)` of torch is called once, and
each epoch is a call of the class's own `__iter__`, a generator that takes as many batches as an epoch has. The epoch is
shortened where it is handed out, since a generator fails when an iterator ends before it expects so.
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
    """Replace the `__iter__` that the class of a loader defines itself, where it does.

    Args:
        base: torch's class.
        goes_on: called when an epoch begins: whether it goes on with an iterator that is there already.
        most: the number of batches after which an epoch ends; below 0 for none.
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
