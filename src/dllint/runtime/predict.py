"""Predict which resource runs out first in the real run: descriptors, maps, shared memory or memory.

There are two ways to count memory. What a control group cannot reclaim is anonymous and shared memory, which PSS adds
up over processes without counting a page twice. A scheduler that sums RSS (SLURM's jobacct_gather/linux) counts each
page in each process: there a mapped store grows to its size times the number of workers, although no memory is used up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dllint.evidence.loader_runs import LoaderRun
from dllint.evidence.memory_trend import trend
from dllint.evidence.storage_limits import STARTING_METHODS, STRATEGIES, Wall, prefetched, storages_sent, walls
from dllint.evidence.wording import counted
from dllint.observation import Sample
from dllint.run_report import Prediction
from dllint.runtime.limits import Limits

NOTICEABLE = 10 << 20
"""Bytes of growth per worker that are ignored: a healthy forked worker gains up to 7 MiB."""

_NEAR = 0.5


def predictions(
    run: LoaderRun,
    limits: Limits,
    methods: Iterable[str],
    epochs: int | None = None,
    workers: int | None = None,
    ranks: Sequence[LoaderRun] = (),
) -> tuple[Prediction, ...]:
    """Return all predictions for a loader that its records allow.

    Args:
        methods: start methods that the targets allow, in addition to that of the run.
        ranks: the same loader in other processes of the program, which use memory at the same time.
        epochs, workers: those of the real run, if different from this one.
    """
    count = workers or run.count
    if not count:
        return ()
    under = dict.fromkeys([*([run.method] if run.method else []), *methods])
    return (
        *_of_storages(run, under, count),
        *_of_shared_memory(run, limits, under, count, 1 + len(ranks)),
        *_of_copies(run, limits, under, count),
        *_of_memory((run, *ranks), limits, epochs, workers),
    )


# --- Storages


def _of_storages(run: LoaderRun, methods: Iterable[str], workers: int) -> Iterator[Prediction]:
    storages = run.storages
    if storages is None or storages.exception or not storages.storages:
        return
    values = run.limits.values if run.limits is not None else {}
    known = {name: values.get(name) for name in ("nofile", "fds", "max_map_count", "maps")}
    own = storages.strategy or STRATEGIES[0]
    for method in methods:
        pressing = False
        for strategy in (own, *(one for one in STRATEGIES if one != own)):
            bounds = walls(storages, method, strategy, workers=workers, **known)
            if not bounds:
                continue
            wall = max(bounds, key=lambda one: storages_sent(storages, strategy, one.limit) / max(one.most, 1))
            have = storages_sent(storages, strategy, wall.limit)
            # The other strategy matters only if the current one is near its limit.
            if strategy != own and not pressing:
                continue
            pressing = have >= _NEAR * wall.most
            yield Prediction(
                wall.limit,
                _storages_said(wall, have, method, strategy),
                have > wall.most,
                have,
                wall.most,
                "storages",
                method,
            )


def _storages_said(wall: Wall, have: int, method: str, strategy: str) -> str:
    said = f"{method} with {strategy} fails at {wall.most + 1:,} tensors; you have {have:,}"
    if wall.most - wall.uncertain < have <= wall.most:
        said += ": so near to the limit it starts, fails or hangs by chance"
    return said


# --- Shared memory


def _of_shared_memory(
    run: LoaderRun, limits: Limits, methods: Iterable[str], workers: int, ranks: int
) -> Iterator[Prediction]:
    values = run.limits.values if run.limits is not None else {}
    free = values.get("shm_free", limits.shm_free)
    if not isinstance(free, int):
        return
    ahead = ranks * prefetched(run, workers)
    each = f" in each of {ranks} processes" if ranks > 1 else ""
    if ahead:
        yield Prediction(
            "/dev/shm",
            f"prefetched batches take up to {size(ahead)} of shared memory: {counted(workers, 'worker')} × "
            f"{run.prefetch_factor} batches, and two in use{each}; {size(free)} are free",
            ahead > free,
            ahead,
            free,
            "bytes",
        )
    moved = ranks * run.storages.shm if run.storages is not None else 0
    if not moved:
        return
    for method in methods:
        if method in STARTING_METHODS:
            yield Prediction(
                "/dev/shm",
                f"{method} moves the dataset's tensors to shared memory, once for all workers{each}: {size(moved)}"
                f"{f' and {size(ahead)} for batches' if ahead else ''}; {size(free)} are free",
                moved + ahead > free,
                moved + ahead,
                free,
                "bytes",
                method,
            )


# --- Memory


@dataclass(frozen=True)
class Forecast:
    """Memory of the iterating process and its workers, in bytes.

    `private` cannot be reclaimed: anonymous memory by PSS, and shared memory. `rss` is the sum of RSS. Both are of this
    run; `…_end` are those at the end of the real run, with its workers. `mapped` is the part of the growth of RSS that
    is pages of mapped files, which are counted in each worker.
    """

    epochs: int
    workers: int
    private: int
    private_end: int
    rss: int
    rss_end: int
    mapped: int


def forecast(run: LoaderRun, epochs: int | None = None, workers: int | None = None) -> Forecast | None:
    """Return the memory at the size of the real run; `None` if workers were not measured at the end of an epoch.

    Growth is extrapolated per batch, over all epochs if workers persist and within one if they do not. It is bounded:
    copies of a parent's pages by the parent's memory, pages of files by the files. Less than 10 MiB per worker is
    ignored.
    """
    series = _series(run)
    if not series:
        return None
    count = workers or len(series)
    last = [samples[-1] for _, samples in series]
    own = [one for one in run.samples if one.worker is None and one.moment == "epoch end"]
    first = next((one for one in run.samples if one.moment == "before workers"), None)
    persistent = any(one.persistent for one in run.iterations)
    total = max((epoch.total or 0 for epoch in run.epochs), default=0)
    longest = max((epoch.batches for epoch in run.epochs), default=0)
    an_epoch = max(total, longest)
    real = epochs or max(len(run.epochs), 1)
    scale = count / len(series)
    seen = _until_the_last_sample(run, persistent, max(one.epoch or 0 for one in last))
    covered = max(seen - 1, 1)
    remaining = max(an_epoch * (real if persistent else 1) - seen, 0)
    further = remaining / covered if seen else 0.0

    def gained(of: str) -> int:
        gains = [(getattr(samples[-1], of) or 0) - (getattr(samples[0], of) or 0) for _, samples in series]
        return sum(gains) if sum(gains) >= NOTICEABLE * len(gains) else 0

    anonymous, resident = gained("pss_anon"), gained("rss")
    forked = run.forked and first is not None and first.pss_anon is not None
    copies = len(series) * (first.pss_anon or 0) if forked and first is not None else None
    more_private = 0.0 if _levels_off(run) else _bounded(anonymous * further, copies)
    files = sum(one.mapped_files or 0 for one in last)
    more_mapped = _bounded(max(resident - anonymous, 0) * further, files)
    private = sum((one.pss_anon or 0) + (one.shm or 0) for one in (*last, *own[-1:]))
    rss = sum(one.rss or 0 for one in (*last, *own[-1:]))
    # An additional worker adds its own pages; a forked one shares the others.
    each = sum(min(one.pss_anon or 0, one.uss or 0) for one in last) / len(last)
    more = count - len(last)
    return Forecast(
        real,
        count,
        private,
        round(private + more * each + more_private * scale),
        rss,
        round(rss + more * (sum(one.rss or 0 for one in last) / len(last)) + (more_private + more_mapped) * scale),
        round((max(resident - anonymous, 0) + more_mapped) * scale),
    )


def _series(run: LoaderRun) -> list[tuple[int, list[Sample]]]:
    """Return, by worker, the samples at the first batch and epoch ends, of the process with the most samples."""
    by_pid: dict[int, list[Sample]] = {}
    for sample in run.samples:
        if sample.worker is not None and sample.moment in ("first batch", "epoch end") and sample.rss is not None:
            by_pid.setdefault(sample.pid, []).append(sample)
    best: dict[int, list[Sample]] = {}
    for samples in by_pid.values():
        worker = samples[0].worker or 0
        if samples[-1].moment == "epoch end" and len(samples) >= len(best.get(worker, ())):
            best[worker] = samples
    return sorted(best.items())


def _levels_off(run: LoaderRun) -> bool:
    """Whether the workers were seen to stop growing: an allocator's first steps do not predict later batches."""
    seen = trend(run)
    return seen is not None and not (seen.growing and seen.most >= NOTICEABLE)


def _until_the_last_sample(run: LoaderRun, persistent: bool, last: int) -> int:
    """Return the number of batches that the workers had made when they were measured last, at the end of an epoch."""
    batches = [epoch.batches for epoch in run.epochs if epoch.number <= last]
    return sum(batches) if persistent else max(batches[-1:], default=0)


def _bounded(value: float, bound: int | None) -> float:
    return value if bound is None else min(value, bound)


def _of_copies(run: LoaderRun, limits: Limits, methods: Iterable[str], workers: int) -> Iterator[Prediction]:
    """Predict memory for pickled data, which is copied to each worker whenever workers start."""
    storages = run.storages
    available, whose = _available(limits)
    if storages is None or storages.exception or available is None or storages.pickled < NOTICEABLE:
        return
    copies = storages.pickled * workers
    for method in methods:
        if method in STARTING_METHODS:
            yield Prediction(
                "memory",
                f"{method} sends each worker a copy of {size(storages.pickled)}, {size(copies)} to "
                f"{counted(workers, 'worker')}; {whose} {size(available)}",
                copies > available,
                copies,
                available,
                "bytes",
                method,
            )


def _of_memory(
    runs: Sequence[LoaderRun], limits: Limits, epochs: int | None, workers: int | None
) -> Iterator[Prediction]:
    forecasts = [one for one in (forecast(run, epochs, workers or run.count) for run in runs) if one is not None]
    if not forecasts:
        return
    found = _sum(forecasts)
    when = f"after {counted(found.epochs, 'epoch')} with {counted(found.workers, 'worker')}"
    if len(forecasts) > 1:
        when += f" in {len(forecasts)} processes"
    available, whose = _available(limits)
    if available is not None:
        yield Prediction(
            "memory",
            f"memory that cannot be reclaimed, as control groups count before they kill: {size(found.private)} in this "
            f"run, {_at_most(found.private, found.private_end)} {when}; {whose} {size(available)}",
            found.private_end > available,
            found.private_end,
            available,
            "bytes",
        )
    slurm = limits.slurm
    if slurm is None and found.mapped < NOTICEABLE:
        return
    said = (
        f"RSS summed over processes, as SLURM's jobacct_gather/linux counts: {size(found.rss)} in this run, "
        f"{_at_most(found.rss, found.rss_end)} {when}"
    )
    if found.mapped >= NOTICEABLE:
        said += f"; {size(found.mapped)} of the growth are pages of mapped files, counted in each worker: no leak"
    bound = slurm.memory if slurm is not None else None
    sums = slurm is not None and (slurm.gather or "jobacct_gather/linux") == "jobacct_gather/linux"
    if bound is not None:
        said += f"; the job has {size(bound)}"
        if slurm is not None and slurm.over_memory_kill is False:
            said += ", and the scheduler does not kill by it"
    over = bound is not None and sums and found.rss_end > bound
    killed = over and (slurm is None or slurm.over_memory_kill is not False)
    yield Prediction("memory (summed RSS)", said, killed, found.rss_end, bound, "bytes")


def _sum(forecasts: Sequence[Forecast]) -> Forecast:
    """Sum the forecasts of a program's processes: PSS and shared memory count nothing twice."""
    return Forecast(
        max(one.epochs for one in forecasts),
        sum(one.workers for one in forecasts),
        *(
            sum(getattr(one, name) for one in forecasts)
            for name in ("private", "private_end", "rss", "rss_end", "mapped")
        ),
    )


def _available(limits: Limits) -> tuple[int | None, str]:
    group = limits.cgroup.limit if limits.cgroup is not None else None
    job = limits.slurm.memory if limits.slurm is not None else None
    said = [(group, "the control group allows"), (job, "the job has"), (limits.memory_total, "the machine has")]
    known = [(one, whose) for one, whose in said if one is not None]
    return min(known) if known else (None, "")


def _at_most(now: int, end: int) -> str:
    return f"at most {size(end)}" if end > now else size(end)


def size(value: float) -> str:
    """Format bytes for people: "1.5 GiB"."""
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= step:
            return f"{value / step:,.1f} {unit}" if value < 10 * step else f"{value / step:,.0f} {unit}"
    return f"{value:,.0f} bytes"
