"""Pauses the garbage collector while many objects are made that stay alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the garbage collector: facts and syntax trees are many small objects that stay alive, and scanning them for
    cycles again and again takes up to half of the time to make them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
