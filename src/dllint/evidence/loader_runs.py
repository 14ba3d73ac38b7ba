"""The records of a run, grouped by loader and by place in the user's code.

A *loader run* consists of all records of one DataLoader object: where it was built, how it was iterated, what its
workers did. A finding is matched to the loader runs whose call site is its place, or one of its related places, or
whose dataset's class contains one of its places.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dllint.evidence.definitions import classes_around, function_at, loader_calls, same_file
from dllint.evidence.failures import timed_out
from dllint.evidence.places import follows, is_at, is_module, of_another_class, touches
from dllint.evidence.stacks import users_frames
from dllint.finding import Finding, Place
from dllint.observation import (
    Attributes,
    Batch,
    Blind,
    Cuda,
    Draw,
    End,
    Epoch,
    Feeder,
    Handle,
    Item,
    Iteration,
    Kept,
    Launch,
    Limits,
    Line,
    Loader,
    Observation,
    Process,
    Record,
    Replica,
    Sample,
    Site,
    Stack,
    Storages,
    Threads,
    Trial,
    Worker,
)
from dllint.span import Span

_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGILL, signal.SIGFPE)

PREFETCH = 2
"""DataLoader's default prefetch_factor."""


@dataclass
class LoaderRun:
    """All records of one DataLoader object.

    `process` is the one that iterated it; `others` are the start methods that its workers may have on other targets by
    default; empty if the loader or a launcher sets the method.
    """

    loader: Loader
    process: Process | None = None
    others: tuple[str, ...] = ()
    iterations: list[Iteration] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    storages: Storages | None = None
    limits: Limits | None = None
    first_batch: Batch | None = None
    trials: list[Trial] = field(default_factory=list)
    handles: list[Handle] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    attributes: list[Attributes] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    threads: list[Threads] = field(default_factory=list)
    cuda: list[Cuda] = field(default_factory=list)
    feeders: list[Feeder] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)

    @property
    def iterated(self) -> bool:
        return bool(self.iterations)

    @property
    def count(self) -> int:
        """The number of workers that it runs with."""
        return max((one.workers for one in self.iterations), default=self.loader.workers)

    @property
    def prefetch_factor(self) -> int:
        """The number of batches that each worker prefetches."""
        given = self.loader.arguments.get("prefetch_factor")
        return given if isinstance(given, int) and given > 0 else PREFETCH

    @property
    def method(self) -> str | None:
        """The start method of its workers, whether or not they started."""
        return next((one.method for one in self.iterations if one.method), self.loader.method)

    @property
    def forked(self) -> bool:
        return self.method == "fork"

    @property
    def fixed(self) -> bool:
        """Whether its start method is set: by its own argument, by the launcher of its process, or for the whole
        program, which is visible only if it differs from the default of this Python."""
        launched = self.process.start_method if self.process is not None else None
        return self.loader.method is not None or launched in ("spawn", "forkserver") or self._is_set

    @property
    def _is_set(self) -> bool:
        version = self.process.python.split(".") if self.process is not None else []
        if sys.platform != "linux" or not self.method or len(version) < 2:
            return False
        newer = (int(version[0]), int(version[1])) >= (3, 14)
        return self.method != ("forkserver" if newer else "fork")

    @property
    def restarted(self) -> bool:
        """Whether later iterations started workers again, so that none lived through all epochs."""
        return sum(one.fresh and one.workers > 0 and not one.error for one in self.iterations) > 1

    @property
    def failures(self) -> list[tuple[str, str]]:
        """The exceptions of iter() and of epochs: class and text."""
        raised = [(one.error, one.text) for one in self.iterations if one.error]
        return raised + [(one.error, one.text) for one in self.epochs if one.error]

    @property
    def batches(self) -> int:
        return sum(epoch.batches for epoch in self.epochs)

    @property
    def array_bytes(self) -> int:
        """Bytes of arrays that pickling for a worker copies; 0 if not counted."""
        return self.storages.array_bytes if self.storages is not None else 0

    @property
    def start_seconds(self) -> float:
        """The longest time that a worker took to reach its loop, in seconds."""
        return max((one.seconds for one in self.workers if one.seconds is not None), default=0.0)

    @property
    def gave_up(self) -> bool:
        """Whether the loader's `timeout` expired."""
        return any(timed_out(text) for _, text in self.failures)


class WorkerCrash(NamedTuple):
    """A worker that crashed: by which signal, at which of the user's lines (`None` if unknown), and whether the finding
    has that line."""

    worker: int
    signal: str
    site: Site | None
    in_finding: bool


class Seen:
    """The records of a run, grouped by loader.

    Attributes:
        runs: every loader that was built, oldest first.
        main: the user's program itself, `None` if nothing was recorded.
        hung: the run was ended at the time limit while batches had stopped arriving.

    For a loader with a fixed start method, trials count only if they were requested, not if they were made because the
    start method is a default of the targets, which are `allowed`.
    """

    def __init__(self, observation: Observation, hung: bool = False, allowed: Iterable[str] = ()) -> None:
        self.observation = observation
        self.hung = hung
        self.processes: Mapping[int, Process] = observation.processes
        self.launches = list(observation.of(Launch))
        self.ends = list(observation.of(End))
        self.cuda = list(observation.of(Cuda))
        self.main = next((one for one in self.processes.values() if one.role == "main"), None)
        by_name: dict[str, LoaderRun] = {}
        for loader in observation.of(Loader):
            by_name.setdefault(loader.loader, LoaderRun(loader))
        self._join(by_name)
        self.runs = list(by_name.values())
        defaults = tuple(allowed)
        for run in self.runs:
            if run.fixed:
                run.trials = [trial for trial in run.trials if trial.method not in defaults]
            else:
                run.others = tuple(method for method in defaults if method != run.method)

    def _join(self, runs: dict[str, LoaderRun]) -> None:
        of_worker: dict[int, LoaderRun] = {}
        for record in self.observation.records:
            run = runs.get(getattr(record, "loader", None) or "")
            if run is None and record.pid in of_worker and isinstance(record, (Feeder, End)):
                run = of_worker[record.pid]
            if run is None:
                continue
            if isinstance(record, Worker):
                of_worker[record.pid] = run
            _put(run, record)
        for run in runs.values():
            pid = run.iterations[0].pid if run.iterations else run.loader.pid
            run.process = self.processes.get(pid)

    def matching(self, finding: Finding) -> list[LoaderRun]:
        """Return the loader runs that a finding is about: by call site, else by the dataset's class."""
        places = [
            (finding.path, finding.span),
            *((place.path, place.span) for place in (*finding.related, *finding.trace)),
        ]
        found = [run for run in self.runs if any(is_at(run.loader.site, path, span) for path, span in places)]
        if found:
            # The class around the loader's own call, a trainer for example, says nothing of the dataset's.
            return [
                run
                for run in found
                if is_at(run.loader.site, finding.path, finding.span)
                or not of_another_class(run.loader.dataset, finding)
            ]
        if finding.span in loader_calls(finding.path):
            # The records of other loaders do not concern it.
            return []
        classes = [(path, name) for path, span in places for name in classes_around(path, span)]
        return [run for run in self.runs if any(self._is_class(run, path, name) for path, name in classes)]

    def _is_class(self, run: LoaderRun, path: str, name: str) -> bool:
        """Whether the loader's dataset has a class with this name that a file defines."""
        qualified = run.loader.dataset
        if qualified.rpartition(".")[2] != name:
            return False
        if qualified.startswith(("__main__.", "__mp_main__.")):
            return any(same_file(script, path) for script in self._scripts) or is_module(path, self._modules)
        return is_module(path, [qualified.rpartition(".")[0], qualified.partition(".<locals>.")[0].rpartition(".")[0]])

    @functools.cached_property
    def _scripts(self) -> list[str]:
        """The files that ran as `__main__`, from the command lines of the processes."""
        return [
            os.path.join(one.cwd, word) for one in self.processes.values() for word in one.argv if word.endswith(".py")
        ]

    @functools.cached_property
    def _modules(self) -> list[str]:
        """The modules that ran as `__main__` with `-m`."""
        return [
            name
            for one in self.processes.values()
            for option, name in zip(one.argv, one.argv[1:], strict=False)
            if option == "-m"
        ]

    def at(self, path: str, span: Span) -> list[LoaderRun]:
        """Return the loader runs built by the call at a place."""
        return [run for run in self.runs if is_at(run.loader.site, path, span)]

    def executed(self, finding: Finding) -> bool | None:
        """Whether any process executed a line of the finding; `None` if unknown."""
        if not finding.path.endswith(".py") or self.main is None:
            return None
        if not all(one.lines for one in self.processes.values() if one.role != "resource_tracker"):
            return None
        if self.at(finding.path, finding.span) or self.launched_at(finding) or self.died_at(finding):
            return True
        if any(touches(Site(one.path, one.line), finding) for one in self._lines):
            return True
        return None if any(touches(site, finding) for site in self._blind) else False

    def where_executed(self, finding: Finding) -> Finding | None:
        """Return a finding at a place that was executed: its own, or else one that has the same defect.

        The finding itself where its execution is unknown, and `None` if none of its places was executed.
        """
        if self.executed(finding) is not False:
            return finding
        others = (
            replace(finding, path=place.path, span=place.span, statement=None)
            for place in finding.related
            if place.alike
        )
        return next((one for one in others if self.executed(one) is not False), None)

    def executed_in(self, finding: Finding) -> list[int]:
        """Return the pids of the processes known to have executed a line of the finding."""
        return sorted({one.pid for one in self._lines if touches(Site(one.path, one.line), finding)})

    def samples_of(self, pid: int) -> list[Sample]:
        """Return all samples of a process."""
        return [one for one in self.observation.of(Sample) if one.pid == pid]

    @functools.cached_property
    def _blind(self) -> set[Site]:
        return {Site(one.path, line) for one in self.observation.of(Blind) for line in one.lines}

    @functools.cached_property
    def _lines(self) -> list[Line]:
        return list(self.observation.of(Line))

    def crashes(self, run: LoaderRun, finding: Finding) -> list[WorkerCrash]:
        """Return the workers of a loader that a crash in native code ended, as far as signals tell."""
        stacks = {one.pid: one.text for one in self.observation.of(Stack)}
        numbers = {worker.pid: worker.worker for worker in run.workers}
        found = []
        for end in run.ends:
            if end.signal in _CRASHES and end.pid in numbers:
                site = next(users_frames(stacks.get(end.pid, "")), None)
                name = signal.Signals(end.signal).name
                found.append(WorkerCrash(numbers[end.pid], name, site, touches(site, finding)))
        return found

    def launched_at(self, finding: Finding) -> list[Launch]:
        """Return the launches by the call at the finding's place, or by a later start() in the same function."""
        here = [one for one in self.launches if touches(one.site, finding)]
        return here or [one for one in self.launches if one.api == "Process" and follows(one.site, finding)]

    def launched_by(self, place: Place) -> list[Launch]:
        """Return the launches by a call at a place, or by a later start() in the same function."""
        finding = Finding("", place.path, place.span)
        # The processes of a pool start with the pool, before it is given any task.
        pools = [one for one in self.launches if one.api == "Pool" and one.site is not None]
        return self.launched_at(finding) or [
            one
            for one in pools
            if one.site is not None
            and same_file(one.site.path, place.path)
            and function_at(place.path, one.site.line) in (None, function_at(place.path, place.span.line))
        ]

    @functools.cached_property
    def replicas(self) -> set[int]:
        """The pids of the processes that train a replica of one model."""
        return {one.pid for one in self.observation.of(Replica)}

    @functools.cached_property
    def process_handles(self) -> list[Handle]:
        """The inherited files whose position moved in processes that are not workers."""
        return [one for one in self.observation.of(Handle) if not one.loader]

    def died_at(self, finding: Finding) -> list[End]:
        """Return the processes whose failure's traceback contains the finding's place."""
        return [
            end
            for end in self.ends
            if end.exception and any(touches(site, finding) for site in (end.site, *end.frames))
        ]


_LISTS = {
    "iteration": "iterations",
    "worker": "workers",
    "sample": "samples",
    "epoch": "epochs",
    "trial": "trials",
    "handle": "handles",
    "draw": "draws",
    "item": "items",
    "attributes": "attributes",
    "kept": "kept",
    "threads": "threads",
    "cuda": "cuda",
    "feeder": "feeders",
    "end": "ends",
}
"""For record kinds with several records per loader run, the attribute that lists them."""


def _put(run: LoaderRun, record: Record) -> None:
    if isinstance(record, Storages):
        run.storages = record
    elif isinstance(record, Limits):
        run.limits = record
    elif isinstance(record, Batch):
        run.first_batch = record
    elif record.kind in _LISTS:
        getattr(run, _LISTS[record.kind]).append(record)
