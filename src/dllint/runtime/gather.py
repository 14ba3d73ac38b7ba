"""Turn the records of a run into the data of its report: processes over time, and loaders by call site."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dllint.evidence.loader_runs import LoaderRun, Seen
from dllint.evidence.wording import counted, describe, mebibytes
from dllint.finding import Place
from dllint.observation import Epoch, Launch, Observation, Process, Sample, Save, Site
from dllint.run_report import LoaderReport, ProcessReport, Wait
from dllint.run_report import Sample as Moment
from dllint.span import Span

BOTTLENECK = 0.3
"""Share of the time spent waiting for batches from which on loading counts as the bottleneck."""
NAMES = {
    "main": "main",
    "server": "forkserver",
    "resource_tracker": "resource tracker",
    "child": "process",
    "command": "command",
    "worker": "worker",
}


def place(site: Site, message: str = "") -> Place:
    """Convert a recorded site to a place; without columns it is the start of the line."""
    return Place(site.path, site.span or Span(site.line, 1, site.line, 1), message)


def started_at(observation: Observation) -> float:
    """Return when the run began, in seconds since the epoch."""
    return min((record.t for record in observation.records), default=0.0)


def redirected(observation: Observation) -> dict[str, str]:
    """Return the redirected writes of results: intended path → actual path."""
    return {save.path: save.to for save in observation.of(Save) if save.to is not None}


def processes(observation: Observation, seen: Seen) -> tuple[ProcessReport, ...]:
    """Return every process that was watched, in order of appearance, with its measurements over time."""
    start = started_at(observation)
    samples: dict[int, list[Sample]] = defaultdict(list)
    for sample in observation.of(Sample):
        samples[sample.pid].append(sample)
    launches = {launch.child: launch for launch in seen.launches if launch.child is not None}
    exits = {end.pid: end.exit for end in seen.ends if end.exit is not None}
    workers = {worker.pid: (run, worker) for run in seen.runs for worker in run.workers}
    listed = []
    for pid, process in observation.processes.items():
        if process.role == "resource_tracker" and not samples[pid]:
            continue
        launch = launches.get(pid)
        site = launch.site if launch is not None else None
        name = _name(process, launch)
        if pid in workers:
            run, worker = workers[pid]
            site = run.loader.site
            name = f"worker {worker.worker} of {describe(site)}"
        listed.append(
            ProcessReport(
                pid,
                name,
                process.start_method or "",
                process.parent,
                bool(process.daemon),
                place(site) if site is not None else None,
                exits.get(pid),
                tuple(_moment(sample, start) for sample in samples[pid]),
            )
        )
    return tuple(listed)


def _name(process: Process, launch: Launch | None) -> str:
    name = NAMES.get(process.role, process.role)
    if process.role == "command" and process.argv:
        name = f"command {process.argv[0]}"
    return f"{name} of {describe(launch.site)}" if launch is not None and launch.site is not None else name


def _moment(sample: Sample, start: float) -> Moment:
    return Moment(sample.t - start, sample.uss, sample.pss, sample.rss, sample.threads, sample.fds)


def loaders(observation: Observation, seen: Seen) -> list[tuple[LoaderReport, tuple[LoaderRun, ...]]]:
    """Return every call that built loaders, with its loader runs; predictions are added elsewhere."""
    start = started_at(observation)
    by_site: dict[Site, list[LoaderRun]] = {}
    for run in seen.runs:
        if run.loader.site is not None:
            by_site.setdefault(run.loader.site, []).append(run)
    return [(_loader(site, runs, start), tuple(runs)) for site, runs in by_site.items()]


def _loader(site: Site, runs: Sequence[LoaderRun], start: float) -> LoaderReport:
    shown = next((run for run in runs if run.iterated), runs[0])
    storages = shown.storages
    return LoaderReport(
        place(site),
        shown.loader.cls.rpartition(".")[2] or "DataLoader",
        shown.loader.dataset,
        {**shown.loader.arguments, "num_workers": shown.count},
        shown.method if shown.count and shown.method else "",
        {} if storages is None else _counted(storages.to_json()),
        (),
        tuple(_worker(run, worker.pid) for run in runs for worker in run.workers),
        tuple(wait for run in runs for epoch in run.epochs for wait in _waits(epoch, start)),
        tuple(_summary(runs)),
    )


def _counted(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in ("kind", "pid", "t", "loader")}


def _worker(run: LoaderRun, pid: int) -> dict[str, Any]:
    worker = next(one for one in run.workers if one.pid == pid)
    return {
        "worker": worker.worker,
        "pid": pid,
        "start": worker.seconds,
        "samples": [
            {
                "moment": sample.moment,
                "epoch": sample.epoch,
                "uss": sample.uss,
                "pss": sample.pss,
                "rss": sample.rss,
                "pss_anon": sample.pss_anon,
                "pss_file": sample.pss_file,
                "threads": sample.threads,
                "descriptors": sample.fds,
                "maps": sample.maps,
            }
            for sample in run.samples
            if sample.pid == pid and sample.moment != "interval"
        ],
    }


def _waits(epoch: Epoch, start: float) -> Iterator[Wait]:
    """Yield the batches of an epoch; its record lists only the first ones."""
    at = epoch.t - start - epoch.wait - epoch.step
    for index, wait in enumerate(epoch.waits):
        step = epoch.steps[index] if index < len(epoch.steps) else None
        yield Wait(max(at, 0.0), wait, step)
        at += wait + (step or 0.0)


def _summary(runs: Sequence[LoaderRun]) -> Iterator[str]:
    if len(runs) > 1:
        yield f"built {len(runs)} times"
    epochs = [epoch for run in runs for epoch in run.epochs]
    if epochs:
        batches = sum(epoch.batches for epoch in epochs)
        cut = " (shortened)" if any(epoch.cut for epoch in epochs) else ""
        yield f"{counted(batches, 'batch')} in {counted(len(epochs), 'epoch')}{cut}"
    seconds = max(run.start_seconds for run in runs)
    if seconds:
        yield f"a worker is ready {seconds:.2f} s after it was asked for"
    yield from _memory(runs)
    yield from _bottleneck(epochs)


def _memory(runs: Sequence[LoaderRun]) -> Iterator[str]:
    of_workers = [
        sample for run in runs for sample in run.samples if sample.worker is not None and sample.uss is not None
    ]
    if not of_workers:
        return
    largest = max(of_workers, key=lambda sample: sample.uss or 0)
    sizes = [("USS", largest.uss), ("PSS", largest.pss), ("RSS", largest.rss)]
    told = ", ".join(f"{name} {mebibytes(size)}" for name, size in sizes if size is not None)
    yield f"the largest worker: {told}"


def _bottleneck(epochs: Iterable[Epoch]) -> Iterator[str]:
    """Yield whether loading is the bottleneck, without the first wait of each epoch, in which workers start."""
    waits = [wait for epoch in epochs for wait in epoch.waits[1:]]
    steps = [step for epoch in epochs for step in epoch.steps]
    if len(waits) < 2 or not steps:
        return
    # Workers deliver in bursts, so the median wait would be far below the program's actual waiting time.
    wait, step = statistics.fmean(waits) * 1000, statistics.fmean(steps) * 1000
    part = wait / max(wait + step, 1e-6)
    each = f"the program waits {part:.0%} of its time ({wait:.1f} ms per batch, and {step:.1f} ms of work)"
    if part >= BOTTLENECK:
        yield f"loading is the bottleneck: {each}"
    else:
        yield f"loading is not the bottleneck: {each}"
