"""Memory, threads and descriptors of workers, and the batches that the program keeps.

A worker measures itself after its first batch. At the end of an epoch the iterating process measures all workers at
once while they are still alive, because a process's proportional memory (PSS) grows when others that share its pages
end.

The kernel needs about 5 ms to add up the memory of a process that has imported torch. So a worker is measured after 1,
2, 4, …, 64, 256, 1024, … batches. The ends of the first and the last epoch are measured; others as long as that takes
a small part of the time. Workers that start again in each epoch are measured in epochs 1, 4, 16, 64, … and the last.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any

from dllint.probe import events, plan, procfs, recorder
from dllint.probe.storages import page_bytes

_MANY_MAPS = 20_000
_POINTS = 16
_PART = 0.005
"""The part of the time that measuring the ends of epochs may take."""
_FIRST = 3
"""Batches after which a worker's threads are recorded."""
_CLOSE = 64
"""Batches up to which a worker is measured whenever their number has doubled; then, whenever it is four times that."""
_PER_BATCH = 0.25
"""Descriptors gained per batch below which no batches are kept, and the maps need not be read."""


def _is_last(number: int) -> bool:
    """Whether an epoch, counted from 0, is the last that the run allows."""
    return number + 1 == plan.max_epochs


def _is_power(number: int, base: int) -> bool:
    """Whether a number is 1, 2, 4, 8, …, or of those 1, 4, 16, … if the base is 4."""
    return number & (number - 1) == 0 and (base == 2 or number.bit_length() % 2 == 1)


def _sample(moment: str, pid: procfs.Process, loader: str, epoch: int, worker: int | None) -> None:
    held = procfs.held(pid, files=worker is not None)
    if "rss" in held:
        own = {} if pid == "self" else {"pid": pid}
        recorder.record("sample", **own, moment=moment, loader=loader, epoch=epoch, worker=worker, **held)


# --- In a worker

_threads_at_start = 0
_threads_told = False
_measured = True
"""Whether this worker's memory is measured: not in most epochs of workers that start again in each."""


@events.worker_started.listen
def start(state: events.WorkerState) -> None:
    global _threads_at_start, _threads_told, _measured
    _threads_at_start = procfs.threads() or 0
    _threads_told = False
    _measured = _is_power(state.number + 1, 4) or _is_last(state.number)
    state.watch(_FIRST)


@events.fetched.listen
def after(state: events.WorkerState, index: object, batch: object) -> None:
    count = state.batches
    if _measured and _is_power(count, 2 if count <= _CLOSE else 4):
        if count == 1:
            _sample("first batch", "self", state.loader, state.epoch, state.worker)
        _look_for_trend(state)
    # Only after the first batch has been sent do the queue's feeder thread and torch's resource sharer certainly run.
    if count == _FIRST and not _threads_told:
        _tell_threads(state)


def _look_for_trend(state: events.WorkerState) -> None:
    """Sample the worker's memory after returning freed memory to the system, so that only memory in use is counted."""
    import ctypes

    # C libraries other than glibc lack malloc_trim, and retain less.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    held = procfs.memory()
    if held is not None:
        recorder.record(
            "sample",
            moment="trend",
            loader=state.loader,
            epoch=state.epoch,
            worker=state.worker,
            batches=state.batches,
            **held,
        )


@events.worker_epoch_ended.listen
def worker_epoch_end(state: events.WorkerState) -> None:
    if not state.batches:
        return
    if not _threads_told:
        _tell_threads(state)
    # Only the worker knows when an epoch of an IterableDataset ends.
    data = sys.modules.get("torch.utils.data")
    if data is not None and isinstance(state.dataset, data.IterableDataset):
        _sample("epoch end", "self", state.loader, state.epoch, state.worker)


def _tell_threads(state: events.WorkerState) -> None:
    global _threads_told
    _threads_told = True
    if not _threads_at_start:
        return
    recorder.record(
        "threads",
        loader=state.loader,
        worker=state.worker,
        start=_threads_at_start,
        after=procfs.threads() or 0,
        names=procfs.thread_names(),
        libraries=[name for name in ("cv2",) if name in sys.modules],
    )


# --- In the iterating process

_points: dict[tuple[str, int], list[tuple[int, int, int | None]]] = {}
_looked_at: set[tuple[str, int]] = set()
_since = _spent = _took = 0.0
"""When the first epoch began, the seconds that ends of epochs have taken to measure, and those of the latest one."""


@events.forked.listen
def forget(parent: int) -> None:
    """Forget the parent's iterations in a forked child."""
    global _since, _spent
    _points.clear()
    _looked_at.clear()
    _since = _spent = 0.0


def _key(iteration: events.Iteration) -> tuple[str, int]:
    return iteration.loader, iteration.number


@events.iterated.listen
def begun(loader: Any, iteration: events.Iteration) -> None:
    global _since
    if iteration.workers and not _since:
        _since = time.monotonic()


@events.batch.listen
def batch_came(iteration: events.Iteration, batch: object) -> None:
    count = iteration.batches
    if _is_power(count, 2) and iteration.workers:
        _look(iteration, count)
        if count == 1 and not iteration.number:
            _tell_size(iteration, batch)
    if count == iteration.total and iteration.workers:
        _epoch_end(iteration)


def _look(iteration: events.Iteration, count: int) -> None:
    """Count descriptors and maps of shared tensors after 1, 2, 4, 8, … batches. Other maps are ignored, because
    training maps memory as well."""
    points = _points.setdefault(_key(iteration), [])
    if len(points) >= _POINTS:
        return
    fds = procfs.descriptors() or 0
    many = any((maps or 0) > _MANY_MAPS for _, _, maps in points)
    # The first batches fill the prefetch queue.
    first = next((point for point in points if point[0] >= 2), None)
    # Each shared tensor has a descriptor: without more descriptors there are no more tensors.
    more = first is not None and fds - first[1] >= _PER_BATCH * (count - first[0])
    if not many and (more or _by_files() or not iteration.number):
        points.append((count, fds, procfs.shared_tensors()))
    else:
        points.append((count, fds, None))


def _by_files() -> bool:
    """Whether tensors are shared without descriptors."""
    module = sys.modules.get("torch.multiprocessing")
    return module is not None and module.get_sharing_strategy() == "file_system"


def _tell_size(iteration: events.Iteration, batch: object) -> None:
    seen: dict[int, int] = {}
    _tensors(batch, seen, 4)
    torch = sys.modules.get("torch")
    recorder.record(
        "batch",
        loader=iteration.loader,
        number=iteration.number,
        storages=len(seen),
        bytes=sum(seen.values()),
        shm=sum(page_bytes(size) for size in seen.values()),
        grad=torch.is_grad_enabled() if torch is not None else None,
    )


def _tensors(value: Any, seen: dict[int, int], depth: int) -> None:
    torch = sys.modules.get("torch")
    if torch is None or depth < 0:
        return
    if isinstance(value, torch.Tensor):
        if value.device.type != "cpu":
            return
        try:
            storage = value.untyped_storage()
            seen[storage._cdata] = storage.nbytes()
        except (RuntimeError, NotImplementedError):
            return  # Sparse and other tensors without storage.
    elif isinstance(value, dict):
        for one in value.values():
            _tensors(one, seen, depth - 1)
    elif isinstance(value, (list, tuple)):
        for one in value:
            _tensors(one, seen, depth - 1)


@events.epoch_ended.listen
def epoch_ended(iteration: events.Iteration) -> None:
    if iteration.workers and _key(iteration) not in _looked_at:
        _epoch_end(iteration)
    _looked_at.discard(_key(iteration))
    points = _points.pop(_key(iteration), [])
    points = [point for point in points if point[0] >= 2]
    if len(points) < 2:
        return
    fds = _slope([(count, fds) for count, fds, _ in points])
    tensors = [(count, maps) for count, _, maps in points if maps is not None]
    if fds < _PER_BATCH and not _by_files():
        # Batches that wait for their turn come and go.
        tensors = []
    recorder.record(
        "kept",
        loader=iteration.loader,
        number=iteration.number,
        batches=points[-1][0],
        fds_a_batch=fds,
        maps_a_batch=_slope(tensors),
        gained=tensors[-1][1] - min(maps for _, maps in tensors) if tensors else 0,
    )


def _epoch_end(iteration: events.Iteration) -> None:
    global _took, _spent
    _looked_at.add(_key(iteration))
    now = time.monotonic()
    is_due = _spent + _took <= _PART * (now - _since)
    if iteration.number and not is_due and not _is_last(iteration.number):
        return
    for worker, pid in enumerate(iteration.pids):
        if pid:
            _sample("epoch end", pid, iteration.loader, iteration.number, worker)
    _sample("epoch end", os.getpid(), iteration.loader, iteration.number, None)
    _took = time.monotonic() - now
    _spent += _took


def _slope(points: list[tuple[int, int]]) -> float:
    """Return the slope of the least-squares line through the points."""
    if len(points) < 2:
        return 0.0
    middle = sum(x for x, _ in points) / len(points)
    height = sum(y for _, y in points) / len(points)
    spread = sum((x - middle) ** 2 for x, _ in points)
    return round(sum((x - middle) * (y - height) for x, y in points) / spread, 4)
