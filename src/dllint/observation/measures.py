"""Records of measurements: memory, limits, CUDA, open files, random draws, items and threads of processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from dllint.observation.record import Record, Site

Moment = Literal[
    "start", "loader", "before workers", "first item", "first batch", "epoch end", "trend", "interval", "end"
]


@dataclass(frozen=True)
class Sample(Record, kind="sample"):
    """Measurements of a process at a moment.

    Memory is as in `/proc/PID/smaps_rollup`; `shm` is the mapped shared memory (`Pss_Shmem`), `maps` the number of
    mappings, `fds` the number of open descriptors, `mapped_files` the bytes of mapped data files, which bound what page
    cache can add to RSS. At the moment "trend" a worker has made `batches`, and has returned its freed memory. `by` is
    who measured: the process or the launcher.
    """

    moment: Moment = "interval"
    loader: str | None = None
    epoch: int | None = None
    worker: int | None = None
    uss: int | None = None
    pss: int | None = None
    rss: int | None = None
    pss_anon: int | None = None
    pss_file: int | None = None
    shm: int | None = None
    threads: int | None = None
    fds: int | None = None
    maps: int | None = None
    mapped_files: int | None = None
    batches: int | None = None
    by: Literal["itself", "launcher"] = "itself"


@dataclass(frozen=True)
class Limits(Record, kind="limits"):
    """The limits of the process that iterates a loader, and their current use, by name (`nofile`, `fds`, `maps`, …)."""

    loader: str | None = None
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cuda(Record, kind="cuda"):
    """CUDA in a process: `poisoned` if a forked child cannot use it, `used` if it was, `site` the call that did."""

    poisoned: bool = False
    used: bool = False
    available: bool | None = None
    call: str = ""
    site: Site | None = None
    loader: str | None = None
    worker: int | None = None
    error: str | None = None


@dataclass(frozen=True)
class Handle(Record, kind="handle"):
    """An open file that a worker inherited from its parent: whether both share one offset (`kcmp`; `None` if unknown),
    whether the worker read during a fetch, and whether the file's offset moved meanwhile."""

    path: str = ""
    fd: int = -1
    loader: str | None = None
    worker: int | None = None
    parent: int | None = None
    shared: bool | None = None
    used: bool | None = None
    moved: bool | None = None
    attribute: str = ""


@dataclass(frozen=True)
class Draw(Record, kind="draw"):
    """Random draws of a worker for a batch: digests of the generator's state before and `after` them, to find repeats
    across workers and epochs. If two draws have the same state before but different ones after, one was reseeded
    meanwhile, or drew more."""

    loader: str = ""
    epoch: int = 0
    worker: int = 0
    index: str = ""
    source: str = ""
    digest: str = ""
    after: str = ""


@dataclass(frozen=True)
class Item(Record, kind="item"):
    """A digest of an item that a worker produced, at `position` in its epoch, to find repeats across workers."""

    loader: str = ""
    epoch: int = 0
    worker: int = 0
    position: int = 0
    index: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Replica(Record, kind="replica"):
    """The process wrapped a model in DistributedDataParallel, over all of its `ranks`."""

    ranks: int = 0


@dataclass(frozen=True)
class Threads(Record, kind="threads"):
    """Threads of a worker at its start and after its first batches, from `/proc/PID/task`, and the imported libraries
    that start threads of their own (`cv2`)."""

    loader: str = ""
    worker: int = 0
    start: int = 0
    after: int = 0
    names: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attributes(Record, kind="attributes"):
    """Plain attributes of a loader's dataset at the start of an epoch, by path ("transform.probability"): in the
    iterating process, where `worker` is `None`, or in a worker. The former records them only for persistent workers."""

    loader: str = ""
    epoch: int = 0
    worker: int | None = None
    values: dict[str, str] = field(default_factory=dict)
