"""The report of a run, as plain data: times in seconds from the start, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dllint.finding import Finding, Place

RUN_VERSION = 1
"""Version of the JSON report of a run: `dllint check --with-run` reads no other."""

Ending = Literal["finished", "shortened", "failed", "killed", "hung", "interrupted"]
"""How the program ended: by itself, shortened by dllint (it had seen enough, or time was up), with an error, by a
signal, not at all, or by Ctrl-C."""


@dataclass(frozen=True)
class Exit:
    """How the program ended.

    Attributes:
        code: its exit code; negative for the signal that ended it, `None` if dllint ended it.
        explained: code of the finding that explains the failure or hang, "" if none does.
        message: the last line of its error output.
        cause: the cause of the failure, in a sentence.
        stacks: for a hang, the stack of each process, by process id.
        out_of_time: the time limit ended it before the other limits were reached.
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
    """Measurements of a process at one moment; `None` for what could not be read."""

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
        site: the call that started it.
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
    """One batch: how long the loop waited for it, and how long it then worked on it (`None` at the end of an epoch)."""

    at_s: float
    wait_s: float
    step_s: float | None = None


@dataclass(frozen=True)
class Prediction:
    """Which limit would be reached first, and when: "fails at 245 storages; the dataset has 300".

    Attributes:
        limit: name of the limit: "SCM_MAX_FD", "RLIMIT_NOFILE", "vm.max_map_count", "/dev/shm", "memory".
        method: the start method that it applies to; "" for all.
        need: how much the program needs, in `unit`.
        available: how much there is, in `unit`.
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
    """One loader, identified by the call that creates it.

    Attributes:
        arguments: its arguments, as the report shows them.
        start_method: the one in effect; "" without workers.
        storages: what pickling for one worker takes: storages, arrays, bytes; empty if nothing was counted.
        workers: for each worker its id, process id, start time, and memory after the first batch and at the end of each
            epoch.
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
    """A file that the program wrote behind the overlay: its path, how it changed, its size in bytes."""

    path: str
    how: Literal["new", "changed", "deleted", "moved"]
    size: int = 0


@dataclass(frozen=True)
class Isolation:
    """How the user's files were protected from the program.

    Attributes:
        kind: "overlay": no write reached them. "hooks": only checkpoints that Python writes are redirected. "none": the
            program wrote in place, as requested.
        reason: why there was no overlay although one was wanted.
        read_only: mounts that an overlay cannot cover; the program could not write to them.
        in_memory: its writes were kept in memory because no disk could take them.
        network: whether it had access to the network.
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
        environment: this machine's limits and versions, named as in `dllint doctor`.
        uninstrumented: processes that could not be observed, each with the reason.
        redirected: checkpoint writes that went to the run's scratch directory: intended path → actual path.
        written: what the program wrote behind the overlay. `kept_in` is the directory of a copy, if one was requested.
        signal: number of the signal that asked dllint to end; `None` if there was none.
        notes: remarks about the run itself, one line each.
        sources: texts of the files that findings and their traces refer to.
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
        """Exit code of `dllint run`: 128 + signal if one ended it, 3 if the program failed or hung for a reason that is
        not a finding, 1 if a finding is confirmed or latent, else 0."""
        if self.signal is not None:
            return 128 + self.signal
        if self.exit.failed and not self.exit.explained:
            return 3
        return int(any(finding.verdict in ("confirmed", "latent") for finding in self.findings))
