"""Plain attributes of a dataset, in the iterating process and its workers: shows whether changes reach the workers.

Records numbers, strings and small arrays of the dataset and of the objects inside it, as they are when an epoch begins.
Nothing is called on them except their own representation.
"""

from __future__ import annotations

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
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)[:_CHARACTERS]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        small = value.device.type == "cpu" and value.layout == torch.strided and value.numel() <= _ELEMENTS
        return repr(value.tolist())[:_CHARACTERS] if small else None
    if numpy is not None and isinstance(value, numpy.ndarray):
        return repr(value.tolist())[:_CHARACTERS] if value.size <= _ELEMENTS and not value.dtype.hasobject else None
    synchronized = sys.modules.get("multiprocessing.sharedctypes")
    if synchronized is not None and isinstance(value, synchronized.Synchronized):
        return repr(value.get_obj().value)[:_CHARACTERS]
    return None
