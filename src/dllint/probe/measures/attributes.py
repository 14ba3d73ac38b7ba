"""Plain attributes of a dataset, in the iterating process and its workers: shows whether changes reach the workers.

Records numbers, strings, arrays and lists of the dataset and of the objects inside it, as they are when an epoch
begins. Of large ones the size and a digest of some elements are recorded. Nothing is called on them except the
representation of plain values.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any

from dllint.probe import events, recorder

EPOCHS = 4
MOST = 48
"""Maximum number of recorded attributes per epoch."""
_DEPTH = 3
_OBJECTS = 200
_ELEMENTS = 16
_CHARACTERS = 60
_SAMPLED = 64
"""Elements of a large array or list that are compared."""
_PLAIN = (bool, int, float, str)

_epoch = -1


@events.iterating.listen
def in_parent(loader: Any, iteration: events.Iteration) -> None:
    # Workers that are restarted receive the dataset in its current state.
    if iteration.workers and iteration.persistent and iteration.number < EPOCHS:
        values = dict(_plain(loader.dataset))
        recorder.record("attributes", loader=iteration.loader, epoch=iteration.number, values=values)


@events.worker_started.listen
def start(state: events.WorkerState) -> None:
    global _epoch
    _epoch = -1
    state.watch(1, EPOCHS)


@events.fetching.listen
def in_worker(state: events.WorkerState, index: object) -> None:
    global _epoch
    if state.epoch == _epoch or state.epoch >= EPOCHS:
        return
    _epoch = state.epoch
    values = dict(_plain(state.dataset))
    recorder.record("attributes", loader=state.loader, epoch=state.epoch, worker=state.worker, values=values)


def _plain(dataset: object) -> Iterator[tuple[str, str]]:
    """Yield the attributes by path, such as "transform.probability", those of the dataset itself first."""
    told = 0
    seen: set[int] = set()
    waiting: list[tuple[str, object, int]] = [("", dataset, 0)]
    while waiting and told < MOST and len(seen) < _OBJECTS:
        path, value, depth = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        for name, one in list(getattr(value, "__dict__", {}).items())[:MOST]:
            text = _text(one)
            if text is not None and told < MOST:
                told += 1
                yield path + name, text
            elif depth < _DEPTH and hasattr(one, "__dict__") and not isinstance(one, (type, type(sys))):
                waiting.append((f"{path}{name}.", one, depth + 1))


def _text(value: Any) -> str | None:
    """Return a value as text; `None` if it is not plain, or too large."""
    if value is None or isinstance(value, _PLAIN):
        return repr(value)[:_CHARACTERS]
    if type(value) in (list, tuple):
        return _listed(value)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if value.device.type != "cpu" or value.layout != torch.strided:
            return None
        if value.numel() <= _ELEMENTS:
            return repr(value.tolist())[:_CHARACTERS]
        value = value.detach()
        some = value.view(-1)[:: value.numel() // _SAMPLED + 1].tolist() if value.is_contiguous() else []
        return _large(tuple(value.shape), some)
    if numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject:
        if value.size <= _ELEMENTS:
            return repr(value.tolist())[:_CHARACTERS]
        some = value.reshape(-1)[:: value.size // _SAMPLED + 1].tolist() if value.flags.c_contiguous else []
        return _large(value.shape, some)
    synchronized = sys.modules.get("multiprocessing.sharedctypes")
    if synchronized is not None and isinstance(value, synchronized.Synchronized):
        return repr(value.get_obj().value)[:_CHARACTERS]
    return None


def _listed(value: Any) -> str | None:
    """Return a list as text; of elements that are not plain, only their number counts."""
    some = value[:: len(value) // _SAMPLED + 1]
    plain = all(one is None or isinstance(one, _PLAIN) for one in some)
    if plain and len(value) <= _ELEMENTS and len(text := repr(value)) <= _CHARACTERS:
        return text
    return _large((len(value),), some if plain else [])


def _large(shape: tuple[int, ...], some: Any) -> str:
    """Return the shape of a large value, and a digest of some of its elements."""
    size = "x".join(map(str, shape))
    digest = hashlib.blake2b(repr(some).encode("utf-8", "backslashreplace"), digest_size=3).hexdigest()
    return f"{size} elements ({digest})" if len(some) else f"{size} elements"
