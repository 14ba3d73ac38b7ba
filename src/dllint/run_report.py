"""The report of a run, as plain data: times in seconds from the start, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dllint.finding import Finding, Place

RUN_VERSION = 1
"""Version of the JSON report of a run: `dllint check --with-run` reads no other."""

Ending = Literal["finished", "shortened", "failed", "killed", "hung", "interrupted"]
"""How the program ended: by itself, as we had seen enough or its time was up, failed, by a signal, never, by Ctrl-C."""


@dataclass(frozen=True)
class Exit:
    """How the program ended.

    Attributes:
        code: its exit code; negative is the signal that ended it, `None` where we ended it.
        explained: the finding's code that the failure or hang comes from, "" where none fits.
        message: the last line of its failure.
        cause: what it comes from, in a sentence.
        stacks: of a hang, the stack of each process, by process id.
        out_of_time: it was shortened by the time limit, before all was seen that the other limits leave.
    """

    ending: Ending
    code: int | None = None
    duration_s: float = 0.0
    message: str = ""
    explained: str = ""
    cause: str = ""
    stacks: Mapping[int, str] = field(default_factory=dict)
    out_of_time: bool = False

    @property
    def failed(self) -> bool:
        return self.ending in ("failed", "killed", "hung")


@dataclass(frozen=True)
class Sample:
    """A process at one moment; `None` is what could not be read."""

    at_s: float
    uss: int | None = None
    pss: int | None = None
    rss: int | None = None
    threads: int | None = None
    descriptors: int | None = None


@dataclass(frozen=True)
class ProcessReport:
    """One process of the program.

    Attributes:
        name: its role: "main", "worker 0 of train.py:12", "process of launch.py:8".
        site: the call that launched it.
    """

    pid: int
    name: str
    method: str = ""
    parent: int | None = None
    daemon: bool = False
    site: Place | None = None
    exit: int | None = None
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True)
class Wait:
    """One batch: how long the loop waited for it, and how long it then worked on it (`None` at an epoch's end)."""

    at_s: float
    wait_s: float
    step_s: float | None = None


@dataclass(frozen=True)
class Prediction:
    """What would run out first, and when: "fails at 245 storages; the dataset has 300".

    Attributes:
        limit: name of the limit: "SCM_MAX_FD", "RLIMIT_NOFILE", "vm.max_map_count", "/dev/shm", "memory".
        method: the start method that it holds under; "" for all.
        need: what the program needs of it, in `unit`.
        available: what there is of it.
    """

    limit: str
    message: str
    fails: bool
    need: float | None = None
    available: float | None = None
    unit: str = ""
    method: str = ""


@dataclass(frozen=True)
class LoaderReport:
    """One loader, by the call that makes it.

    Attributes:
        arguments: what it was given, as the report shows it.
        start_method: the one in effect; "" with no workers.
        storages: what pickling for one worker takes: storages, arrays, bytes; empty where nothing was counted.
        workers: of each worker its id, process id, start time and memory after the first batch and at each epoch's end.
    """

    site: Place
    name: str
    dataset: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    start_method: str = ""
    storages: Mapping[str, Any] = field(default_factory=dict)
    predictions: tuple[Prediction, ...] = ()
    workers: tuple[Mapping[str, Any], ...] = ()
    waits: tuple[Wait, ...] = ()
    summary: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """A file that the program wrote into the run's layer: its path, whether it is new or changed, its size in bytes."""

    path: str
    how: Literal["new", "changed", "deleted", "moved"]
    size: int = 0


@dataclass(frozen=True)
class Isolation:
    """How the user's files were kept from the program.

    Attributes:
        kind: "overlay": nothing reached them. "hooks": only checkpoints that Python writes are redirected.
            "none": the program wrote in place, as it was asked to.
        reason: why there was no overlay, where one was wanted.
        read_only: mounts that an overlay cannot cover, which the program could not write to.
        in_memory: what it wrote was kept in memory, since no disk could take it.
        network: whether it could reach the network.
    """

    kind: Literal["overlay", "hooks", "none"] = "none"
    reason: str = ""
    read_only: tuple[str, ...] = ()
    in_memory: bool = False
    network: bool = True


@dataclass(frozen=True)
class RunReport:
    """The report of one run.

    Attributes:
        directory: where the program was started.
        environment: this machine's limits and versions, as `dllint doctor` names them.
        uninstrumented: processes that could not be watched, each with the reason.
        redirected: checkpoint writes that went to the run's scratch directory: path meant → path written.
        written: what the program wrote behind the overlay; kept_in is where a copy of it is, if one was asked for.
        signal: what asked dllint to end, as a number; `None` where nothing did.
        notes: what a person should know of the run itself, one line each.
        sources: texts of the files that findings and their traces name.
    """

    command: tuple[str, ...]
    directory: str
    exit: Exit
    environment: Mapping[str, Any] = field(default_factory=dict)
    loaders: tuple[LoaderReport, ...] = ()
    processes: tuple[ProcessReport, ...] = ()
    uninstrumented: tuple[str, ...] = ()
    redirected: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    isolation: Isolation = field(default_factory=Isolation)
    written: tuple[Written, ...] = ()
    kept_in: str = ""
    signal: int | None = None

    @property
    def status(self) -> int:
        """Exit code of `dllint run`: 128 and the signal that asked it to end, 3 where the program failed or hung for a
        reason that is no finding, 1 where something is confirmed or latent, else 0."""
        if self.signal is not None:
            return 128 + self.signal
        if self.exit.failed and not self.exit.explained:
            return 3
        return int(any(finding.verdict in ("confirmed", "latent") for finding in self.findings))
