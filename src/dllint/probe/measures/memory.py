"""Memory, threads and descriptors of workers, and the batches that the program keeps.

A worker measures itself after its first batch. At the end of an epoch the iterating process measures all workers at
once while they are still alive, because a process's proportional memory (PSS) grows when others that share its pages
end.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from dllint.probe import events, procfs, recorder
from dllint.probe.storages import page_bytes

_MANY_MAPS = 20_000
_POINTS = 16


def _sample(
    moment: str, pid: procfs.Process, loader: str, epoch: int, worker: int | None, batches: int | None = None
) -> None:
    held = procfs.held(pid)
    if "rss" not in held:
        return
    recorder.record(
        "sample",
        **({} if pid == "self" else {"pid": pid}),
        moment=moment,
        loader=loader,
        epoch=epoch,
        worker=worker,
        **held,
        mapped_files=procfs.mapped_files(pid),
        batches=batches,
    )


# --- In a worker

_threads_at_start = 0
_threads_told = False


@events.worker_started.listen
def start(state: events.WorkerState) -> None:
    global _threads_at_start, _threads_told
    _threads_at_start = procfs.threads() or 0
    _threads_told = False


@events.fetched.listen
def after(state: events.WorkerState, index: object, batch: object) -> None:
    if state.batches == 1:
        _sample("first batch", "self", state.loader, state.epoch, state.worker)
    if state.batches & (state.batches - 1) == 0:
        _look_for_trend(state)
    # Only after the first batch has been sent do the queue's feeder thread and torch's resource sharer certainly run.
    if state.batches == 3 and not _threads_told:
        _tell_threads(state)


def _look_for_trend(state: events.WorkerState) -> None:
    """Sample the worker's memory after returning freed memory to the system, so that only memory in use is counted."""
    import ctypes

    # C libraries other than glibc lack malloc_trim, and retain less.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    _sample("trend", "self", state.loader, state.epoch, state.worker, state.batches)


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


@events.forked.listen
def forget(parent: int) -> None:
    """Forget the parent's iterations in a forked child."""
    _points.clear()
    _looked_at.clear()


def _key(iteration: events.Iteration) -> tuple[str, int]:
    return iteration.loader, iteration.number


@events.batch.listen
def batch_came(iteration: events.Iteration, batch: object) -> None:
    count = iteration.batches
    if count & (count - 1) == 0 and iteration.workers:
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
    many = bool(points) and (points[-1][2] or 0) > _MANY_MAPS
    points.append((count, procfs.descriptors() or 0, None if many else procfs.shared_tensors()))


def _tell_size(iteration: events.Iteration, batch: object) -> None:
    seen: dict[int, int] = {}
    _tensors(batch, seen, 4)
    recorder.record(
        "batch",
        loader=iteration.loader,
        number=iteration.number,
        storages=len(seen),
        bytes=sum(seen.values()),
        shm=sum(page_bytes(size) for size in seen.values()),
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
    # The first batches fill the prefetch queue.
    points = [point for point in points if point[0] >= 2]
    if len(points) > 1:
        recorder.record(
            "kept",
            loader=iteration.loader,
            number=iteration.number,
            batches=points[-1][0],
            fds_a_batch=_slope([(count, fds) for count, fds, _ in points]),
            maps_a_batch=_slope([(count, maps) for count, _, maps in points if maps is not None]),
        )


def _epoch_end(iteration: events.Iteration) -> None:
    _looked_at.add(_key(iteration))
    for worker, pid in enumerate(iteration.pids):
        if pid:
            _sample("epoch end", pid, iteration.loader, iteration.number, worker)
    _sample("epoch end", os.getpid(), iteration.loader, iteration.number, None)


def _slope(points: list[tuple[int, int]]) -> float:
    """Return the slope of the least-squares line through the points."""
    if len(points) < 2:
        return 0.0
    middle = sum(x for x, _ in points) / len(points)
    height = sum(y for _, y in points) / len(points)
    spread = sum((x - middle) ** 2 for x, _ in points)
    return round(sum((x - middle) * (y - height) for x, y in points) / spread, 4)
