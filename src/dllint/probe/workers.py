"""Watch a loader's worker from inside: its start, and each batch that it fetches."""

from __future__ import annotations

import functools
import os
import time
from typing import Any

from dllint.probe import events, processes, recorder, sites

state: events.WorkerState | None = None
"""The state of this process, if it is a worker."""


def hook_loop(module: Any) -> None:
    """Replace `_worker_loop` of `torch.utils.data._utils.worker`, the function that every worker runs."""
    original = module._worker_loop
    import inspect

    names = list(inspect.signature(original).parameters)

    @functools.wraps(original)
    def _worker_loop(*args: Any, **kwargs: Any) -> Any:
        global state
        if recorder.silent:
            return original(*args, **kwargs)
        try:
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            state = _arrive(given)
            _watch_fetchers()
            events.worker_started(state)
            state.begin_epoch()
        except Exception as failure:
            recorder.trouble("worker", failure)
        try:
            return original(*args, **kwargs)
        finally:
            if state is not None:
                events.worker_epoch_ended(state)

    module._worker_loop = _worker_loop


def _arrive(given: dict[str, Any]) -> events.WorkerState:
    told = processes.launched
    found = events.WorkerState(dataset_of(given), given.get("worker_id", 0), given.get("num_workers", 0))
    found.loader = told.get("loader", "")
    found.number = found.epoch = told.get("number", 0)
    found.method = told.get("method")
    found.parent = told.get("parent", os.getppid())
    now = time.time()
    recorder.record(
        "worker",
        t=now,
        loader=found.loader,
        worker=found.worker,
        workers=found.workers,
        method=found.method,
        parent=found.parent,
        seconds=now - told["asked"] if "asked" in told else None,
        number=found.number,
        seed=given.get("base_seed"),
    )
    return found


def dataset_of(given: dict[str, Any]) -> Any:
    """Return the dataset among the arguments of `_worker_loop`; torch 2.15 passes it in a list that it empties."""
    holder = given.get("dataset_holder")
    return holder[-1] if holder else given.get("dataset")


def _watch_fetchers() -> None:
    """Replace the functions of `torch.utils.data._utils.fetch` that fetch batches, in workers only."""
    from torch.utils.data._utils import fetch

    base = fetch._BaseDatasetFetcher
    build = base.__init__

    @functools.wraps(build)
    def __init__(self: Any, dataset: Any, auto_collation: Any, collate_fn: Any, *args: Any, **kwargs: Any) -> None:
        if state is not None:
            if state.batches:
                events.worker_epoch_ended(state)
                state.epoch += 1
                state.begin_epoch()
            if events.collating.listeners:
                collate_fn = _collating(collate_fn)
        with sites.transparent:
            build(self, dataset, auto_collation, collate_fn, *args, **kwargs)

    base.__init__ = __init__
    for cls in (fetch._IterableDatasetFetcher, fetch._MapDatasetFetcher):
        cls.fetch = _fetching(cls.fetch)


def _fetching(original: Any) -> Any:
    @functools.wraps(original)
    def fetch(self: Any, possibly_batched_index: Any) -> Any:
        now = state if state is not None and state.batches >= state.watched else None
        if now is not None:
            if not now.batches:
                recorder.guarded(_watch_crashes)
            events.fetching(now, possibly_batched_index)
        with sites.transparent:
            batch = original(self, possibly_batched_index)
        if state is not None:
            state.batches += 1
        if now is not None:
            events.fetched(now, possibly_batched_index, batch)
            now.look_on()
        return batch

    return fetch


def _watch_crashes() -> None:
    """Enable faulthandler again: torch's own handlers, which each worker installs, have replaced it."""
    import faulthandler

    descriptor = recorder.held()
    if descriptor >= 0 and faulthandler.is_enabled():
        faulthandler.disable()
        faulthandler.enable(file=descriptor, all_threads=True)


def _collating(collate: Any) -> Any:
    def collated(items: Any) -> Any:
        if state is not None and state.batches >= state.watched:
            events.collating(state, items)
        with sites.transparent:
            return collate(items)

    return collated
