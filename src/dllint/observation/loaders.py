"""Records about loaders: their arguments, iterations and batches, and trials of other start methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from dllint.observation.record import Record, Site

Stage = Literal["iter", "next", "crash", "timeout"]
Outcome = Literal["started", "failed", "not tried"]


@dataclass(frozen=True)
class Loader(Record, kind="loader"):
    """A DataLoader was built. `arguments` that are not JSON values are recorded by class or qualified name.

    `method` is that of an explicit `multiprocessing_context`; otherwise `None`, because it is decided only by
    iterating. `error` is the exception of the constructor.
    """

    loader: str = ""
    site: Site | None = None
    chain: tuple[Site, ...] = ()
    cls: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    dataset: str = ""
    iterable: bool = False
    workers: int = 0
    method: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Iteration(Record, kind="iteration"):
    """`iter(loader)` was called; `number` counts a loader's iterations from 0 in this process.

    `method` is the effective start method of its workers (`None` with 0 workers), `fresh` whether workers are started
    for it, `error` and `text` the exception of `iter`, `site` the place that iterates.
    """

    loader: str = ""
    number: int = 0
    site: Site | None = None
    method: str | None = None
    workers: int = 0
    persistent: bool = False
    fresh: bool = True
    error: str | None = None
    text: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Worker(Record, kind="worker"):
    """A loader's worker reached its loop, `seconds` after its start was requested; torch seeds it with `seed` and its
    number."""

    loader: str = ""
    worker: int = 0
    workers: int = 0
    method: str | None = None
    parent: int | None = None
    seconds: float | None = None
    number: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Progress(Record, kind="progress"):
    """The progress of a loader's current epoch; written at most a few times per second."""

    loader: str = ""
    number: int = 0
    batches: int = 0
    total: int | None = None


@dataclass(frozen=True)
class Epoch(Record, kind="epoch"):
    """An iteration over a loader ended: at the end of the data, `cut` by the batch limit, or left by the program.

    `wait` is the time that the program waited for batches (`first` of it for the first batch), `step` the time between
    receiving a batch and requesting the next (of fast batches after the first 64, two in 64 represent all of them);
    `waits` and `steps` list them per batch, up to 64 of each.
    """

    loader: str = ""
    number: int = 0
    batches: int = 0
    total: int | None = None
    cut: bool = False
    natural: bool = False
    wait: float = 0.0
    first: float | None = None
    step: float = 0.0
    waits: tuple[float, ...] = ()
    steps: tuple[float, ...] = ()
    error: str | None = None
    text: str = ""
    site: Site | None = None


@dataclass(frozen=True)
class Storages(Record, kind="storages"):
    """What pickling `(dataset, collate_fn, worker_init_fn)` of a loader to one worker needs, counted without doing it.

    `fds`, `maps` and `shm` are what the storages will take under `strategy`, the sharing strategy; `pickled` is the
    length of the pickle; `arrays` and `array_bytes` are the ndarrays in it, which are copied to every worker.
    `other_fds` are descriptors that the objects carry themselves. `references` counts each storage as often as it is
    written; `shared` ones are already in shared memory; `temporary` ones are created by pickling itself and disappear
    with it. `exception` and `text` are the exception of pickling.
    """

    loader: str = ""
    strategy: str = ""
    storages: int = 0
    storage_bytes: int = 0
    fds: int = 0
    maps: int = 0
    shm: int = 0
    pickled: int = 0
    arrays: int = 0
    array_bytes: int = 0
    other_fds: int = 0
    empty: int = 0
    references: int = 0
    shared: int = 0
    temporary: int = 0
    seconds: float = 0.0
    exception: str | None = None
    text: str = ""
    complete: bool = True


@dataclass(frozen=True)
class Trial(Record, kind="trial"):
    """Whether a loader starts under another start method, tried in a throwaway process.

    `stage` is where it failed: `iter` (pickling), `next` (unpickling, or in the worker), `crash` or `timeout`. `stderr`
    is the beginning and the end of the error output of the trial's processes.
    """

    loader: str = ""
    method: str = ""
    outcome: Outcome = "not tried"
    stage: Stage | None = None
    exception: str | None = None
    text: str = ""
    stderr: str = ""
    seconds: float = 0.0
    site: Site | None = None


@dataclass(frozen=True)
class Batch(Record, kind="batch"):
    """The first batch from workers: its storages, their bytes, and their pages in shared memory; `grad` says whether
    gradients were enabled when it came, as in training."""

    loader: str = ""
    number: int = 0
    storages: int = 0
    bytes: int = 0
    shm: int = 0
    grad: bool | None = None


@dataclass(frozen=True)
class Kept(Record, kind="kept"):
    """Descriptors, and maps of shared tensors, that the consumer gains per batch (least squares over `batches`).

    `gained` is by how many maps the last look exceeds the one with the fewest; `None` if unknown.
    """

    loader: str = ""
    number: int = 0
    batches: int = 0
    fds_a_batch: float = 0.0
    maps_a_batch: float = 0.0
    gained: int | None = None
