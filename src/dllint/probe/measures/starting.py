"""Measurements before a loader's workers start: the limits, the needs of the start, and trials of other start methods.

Counting and trials run in throwaway forks, so that they do not affect the user's objects.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dllint.probe import events, plan, procfs, recorder, storages, trials

COUNTING = 20.0
"""Maximum number of seconds for counting."""
TRIED_BYTES = 2 << 30
"""Bytes. A trial copies what it pickles; larger loaders are not tried."""

_MIB = 1 << 20


@events.iterating.listen
def before_workers(loader: Any, iteration: events.Iteration) -> None:
    if not iteration.workers or not iteration.fresh or iteration.number:
        return
    _sample(iteration)
    _limits(iteration)
    objects = (loader.dataset, loader.collate_fn, loader.worker_init_fn)
    counted = _counted(objects, iteration)
    for method in plan.trials:
        if method != iteration.method and method in _methods():
            _try(loader, method, iteration, counted)


def _sample(iteration: events.Iteration) -> None:
    recorder.record(
        "sample",
        moment="before workers",
        loader=iteration.loader,
        epoch=iteration.number,
        **procfs.held(files=True),
    )


def _limits(iteration: events.Iteration) -> None:
    values: dict[str, Any] = {"fds": procfs.descriptors(), "maps": procfs.maps(), "workers": iteration.workers}
    try:
        import resource

        values["nofile"], values["nofile_hard"] = resource.getrlimit(resource.RLIMIT_NOFILE)
    except ImportError:
        pass
    try:
        with open("/proc/sys/vm/max_map_count", encoding="ascii") as file:
            values["max_map_count"] = int(file.read())
        usage = shutil.disk_usage("/dev/shm")
        values["shm_free"], values["shm_total"] = usage.free, usage.total
    except (OSError, ValueError):
        pass
    recorder.record("limits", loader=iteration.loader, values=values)


def _strategy() -> storages.Strategy:
    module = sys.modules.get("torch.multiprocessing")
    return module.get_sharing_strategy() if module is not None else "file_descriptor"


def _counted(objects: object, iteration: events.Iteration) -> storages.Storages | None:
    began = time.monotonic()
    with _silent():
        counted = trials.counted(objects, COUNTING, _born)
    seconds = time.monotonic() - began
    strategy = _strategy()
    if isinstance(counted, trials.Uncounted):
        if not counted.exception:
            return None
        recorder.record(
            "storages",
            loader=iteration.loader,
            strategy=strategy,
            seconds=seconds,
            exception=counted.exception,
            text=counted.text,
            complete=False,
        )
        return None
    recorder.record(
        "storages",
        loader=iteration.loader,
        strategy=strategy,
        storages=counted.storages,
        storage_bytes=counted.storage_bytes,
        fds=counted.descriptors(strategy),
        maps=counted.maps(strategy),
        shm=counted.shm_bytes[strategy],
        pickled=counted.pickled_bytes,
        arrays=counted.arrays,
        array_bytes=counted.array_bytes,
        other_fds=counted.handles,
        empty=counted.empty,
        references=counted.references,
        shared=counted.shared,
        temporary=counted.temporary,
        seconds=seconds,
    )
    return counted


def _try(loader: Any, method: str, iteration: events.Iteration, counted: storages.Storages | None) -> None:
    def tell(outcome: str, **fields: Any) -> None:
        recorder.record("trial", loader=iteration.loader, method=method, outcome=outcome, site=iteration.site, **fields)

    copied = 0 if counted is None else counted.pickled_bytes + counted.shm_bytes["file_descriptor"]
    seconds = trials.SECONDS if plan.deadline is None else min(trials.SECONDS, (plan.deadline - time.time()) / 3)
    if copied > TRIED_BYTES:
        tell("not tried", text=f"it would copy {copied // _MIB} MiB")
        return
    if counted is not None and counted.elsewhere:
        tell("not tried", text="it holds tensors on a device, which a fork cannot send")
        return
    if seconds < 3:
        tell("not tried", text="no time was left")
        return
    if not _first(loader, method, iteration):
        tell("not tried", text="another process of this run tries it")
        return
    with _silent(), _elsewhere() as prepare:
        outcome = trials.attempt(loader, method, seconds, prepare, _born)
    if outcome.stage == "started":
        tell("started", seconds=outcome.seconds, stderr=outcome.stderr)
        return
    tell(
        "failed",
        stage=outcome.stage,
        exception=outcome.exception or None,
        text=outcome.text,
        stderr=outcome.stderr,
        seconds=outcome.seconds,
    )


def _methods() -> list[str]:
    import multiprocessing

    return multiprocessing.get_all_start_methods()


def _first(loader: Any, method: str, iteration: events.Iteration) -> bool:
    """Whether this process is the first of several ranks with the same code to try this."""
    if not plan.directory:
        return True
    kind = type(loader.dataset)
    said = repr((iteration.site, kind.__module__, kind.__qualname__, iteration.workers, method))
    mark = os.path.join(plan.directory, f"trial-{hashlib.sha256(said.encode()).hexdigest()[:16]}")
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def _silent() -> Iterator[None]:
    """Record nothing meanwhile: the fork is not a process of the run."""
    before = recorder.silent
    recorder.silent = True
    try:
        yield
    finally:
        recorder.silent = before


def _born(session: int) -> None:
    recorder.silent = False
    try:
        recorder.record("throwaway", session=session)
    finally:
        recorder.silent = True


@contextmanager
def _elsewhere() -> Iterator[Callable[[], object]]:
    """Yield a function that directs a trial to its own directory. What the trial starts stays instrumented, so that it
    is shortened and overwrites nothing, but its records and saves go to a temporary directory, and it makes no trials
    itself."""
    if not plan.directory:
        yield lambda: None
        return
    directory = tempfile.mkdtemp(prefix="trial-", dir=plan.directory)
    try:
        for name in (plan.RECORDS, plan.SAVES):
            os.mkdir(os.path.join(directory, name))
        plan.write(
            directory,
            max_batches=plan.max_batches,
            max_epochs=plan.max_epochs,
            deadline=plan.deadline,
            allow_saves=False,
            launcher=0,
            trials=[],
        )
        yield lambda: os.environ.__setitem__(plan.VARIABLE, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
