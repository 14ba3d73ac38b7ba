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
    """What a process holds at a moment. Memory as in `/proc/PID/smaps_rollup`; `shm` is what it maps of shared memory
    (`Pss_Shmem`), `maps` the count of mappings, `fds` of open descriptors, `mapped_files` the bytes of data files
    that are mapped, which bound what page cache can add to RSS. At the moment "trend" a worker has made `batches`, and
    has returned the memory that it freed. `by` is who looked: the process or the launcher."""

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
    """What bounds the process that iterates a loader: values and the room that is left, by name (`nofile`, `fds`,
    `maps`, …)."""

    loader: str | None = None
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cuda(Record, kind="cuda"):
    """CUDA in a process: `poisoned` where a forked child cannot use it, `used` where it was used, `site` the call
    that did."""

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
    """An open file that a worker inherited from its parent: whether both share one offset (`kcmp`; `None` if it
    cannot be told), whether the worker used it while it fetched, and whether its offset moved meanwhile."""

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
    """Random draws that a worker made for a batch: digests of the generator's state before and `after` them, so that
    repeats across workers and epochs are seen. What has the same state before, and another one after, was seeded
    again meanwhile, or drew more."""

    loader: str = ""
    epoch: int = 0
    worker: int = 0
    index: str = ""
    source: str = ""
    digest: str = ""
    after: str = ""


@dataclass(frozen=True)
class Item(Record, kind="item"):
    """A digest of an item that a worker produced, the `position`-th of its epoch, to see repeats across workers."""

    loader: str = ""
    epoch: int = 0
    worker: int = 0
    position: int = 0
    index: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Threads(Record, kind="threads"):
    """Threads of a worker at its start and after its first item, by `/proc/PID/task`, and which of the libraries that
    start threads of their own (`cv2`) it had loaded."""

    loader: str = ""
    worker: int = 0
    start: int = 0
    after: int = 0
    names: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attributes(Record, kind="attributes"):
    """Plain attributes of a loader's dataset when an epoch began, by their path ("transform.probability"): in the
    process that iterates, where `worker` is None, or in a worker. Only persistent workers are told of by the former."""

    loader: str = ""
    epoch: int = 0
    worker: int | None = None
    values: dict[str, str] = field(default_factory=dict)
