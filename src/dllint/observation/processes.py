"""Records about processes: how they start, save, fail and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dllint.observation.record import Record, Site

Role = Literal["main", "child", "worker", "server", "resource_tracker", "command"]
"""The role of a process: the user's program itself, a process started by multiprocessing, a loader's worker, the
forkserver, the resource tracker, or a Python program started as a command (torchrun's ranks, subprocess)."""


@dataclass(frozen=True)
class Process(Record, kind="process"):
    """An instrumented process. It writes this again when more is known (its torch, its role); the last one counts.

    `parent` is the instrumented process that launched it, which under forkserver is not `ppid`, the server. `held` is
    the descriptor that the instrumentation keeps open in it. `lines` says whether execution of the lines with findings
    is recorded. `start_method` is how multiprocessing started it; `None` for commands and for a bare `os.fork()`.
    """

    ppid: int = 0
    parent: int | None = None
    role: Role = "command"
    start_method: str | None = None
    name: str = ""
    daemon: bool | None = None
    argv: tuple[str, ...] = ()
    executable: str = ""
    python: str = ""
    torch: str | None = None
    cwd: str = ""
    held: int = -1
    lines: bool = False


@dataclass(frozen=True)
class Line(Record, kind="line"):
    """A line with a finding was executed for the first time in this process or its parent."""

    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Blind(Record, kind="blind"):
    """Lines with findings whose execution this process cannot detect."""

    path: str = ""
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Launch(Record, kind="launch"):
    """The process started another one. `api` is what the user's code called: `Process`, `mp.spawn`, `Pool`,
    `DataLoader`, `ProcessPoolExecutor`, `subprocess`, `os.fork`, `os.exec`. `child` is `None` if the start failed
    (`error` has the exception)."""

    api: str = ""
    site: Site | None = None
    chain: tuple[Site, ...] = ()
    method: str | None = None
    daemon: bool | None = None
    child: int | None = None
    name: str = ""
    target: str = ""
    argv: tuple[str, ...] = ()
    executable: str = ""
    error: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Throwaway(Record, kind="throwaway"):
    """The process made a fork to count or try something; nothing in that fork's session belongs to the program."""

    session: int = -1


@dataclass(frozen=True)
class Feeder(Record, kind="feeder"):
    """A queue's feeder thread could not send an object, so its receiver waits forever."""

    exception: str = ""
    text: str = ""
    traceback: str = ""
    obj: str = ""
    loader: str | None = None


@dataclass(frozen=True)
class Save(Record, kind="save"):
    """A write of results, redirected from `path` to `to` in the scratch directory. If `to` is empty, the program tried
    to remove a file that existed before the run, and the file was kept."""

    api: str = ""
    path: str = ""
    to: str | None = None
    site: Site | None = None


@dataclass(frozen=True)
class Uploader(Record, kind="uploader"):
    """The process imported an experiment tracker, which sends results to a server."""

    name: str = ""


@dataclass(frozen=True)
class Upload(Record, kind="upload"):
    """The process sent data to a server over HTTP; recorded once per method and server."""

    method: str = ""
    host: str = ""


@dataclass(frozen=True)
class Stack(Record, kind="stack"):
    """The stacks of all threads of a process, as written by faulthandler."""

    text: str = ""


@dataclass(frozen=True)
class Enough(Record, kind="enough"):
    """The run had seen enough (`by` is `max-epochs` or `time-limit`), and an exception was raised to end it. More than
    one from a process means that the program caught and ignored it."""

    by: str = ""
    loader: str = ""
    number: int = 0


@dataclass(frozen=True)
class End(Record, kind="end"):
    """A process ended, if it could record this. `site` is the innermost user frame, `frames` all, outermost first.

    `by` is what ended it: `itself`, `os._exit`, `max-epochs` (the run had seen enough).
    """

    exit: int | None = None
    signal: int | None = None
    exception: str | None = None
    text: str = ""
    site: Site | None = None
    frames: tuple[Site, ...] = ()
    traceback: str = ""
    by: str = "itself"


@dataclass(frozen=True)
class Trouble(Record, kind="trouble"):
    """The instrumentation itself failed; the program continued without that measurement."""

    where: str = ""
    text: str = ""
