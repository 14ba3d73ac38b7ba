"""Records about processes: how they start, what they save, how they fail, how they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dllint.observation.record import Record, Site

Role = Literal["main", "child", "worker", "server", "resource_tracker", "command"]
"""What a process is: the user's program itself, one that multiprocessing started, a loader's worker, the
forkserver, the resource tracker, or a Python program started as a command (torchrun's ranks, subprocess)."""


@dataclass(frozen=True)
class Process(Record, kind="process"):
    """A process that is instrumented. It writes this again whenever it knows more (its torch, its role): the last
    one counts.

    `parent` is the instrumented process that launched it, which under forkserver is not `ppid`, the server. `held`
    is the descriptor that the instrumentation keeps open in it. `lines` says whether the lines with findings are
    recorded when they are executed. `start_method` is how multiprocessing started it;
    `None` for commands and for a bare `os.fork()`.
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
    """A line on which the check has a finding was executed, for the first time in this process or its parent."""

    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Blind(Record, kind="blind"):
    """Lines of a file on which the check has findings, and whose execution this process cannot tell."""

    path: str = ""
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Launch(Record, kind="launch"):
    """The process started another one. `api` is what the user's code called: `Process`, `mp.spawn`, `Pool`,
    `DataLoader`, `ProcessPoolExecutor`, `subprocess`, `os.fork`, `os.exec`. `child` is `None` where starting failed
    (`error` says how)."""

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
    """The process made a fork to count or to try something, the leader of a session of its own: nothing in that
    session is of the program."""

    session: int = -1


@dataclass(frozen=True)
class Feeder(Record, kind="feeder"):
    """A queue's feeder thread could not send an object: whoever waits for it waits forever."""

    exception: str = ""
    text: str = ""
    traceback: str = ""
    obj: str = ""
    loader: str | None = None


@dataclass(frozen=True)
class Save(Record, kind="save"):
    """A write of results, redirected from `path` to `to` in the scratch directory. Where `to` is empty, the program
    tried to remove a file from before the run, which was kept."""

    api: str = ""
    path: str = ""
    to: str | None = None
    site: Site | None = None


@dataclass(frozen=True)
class Uploader(Record, kind="uploader"):
    """The process imported a library that sends results to a server: an experiment tracker or an HTTP client."""

    name: str = ""


@dataclass(frozen=True)
class Stack(Record, kind="stack"):
    """The stacks of all threads of a process, as faulthandler writes them."""

    text: str = ""


@dataclass(frozen=True)
class Enough(Record, kind="enough"):
    """The run had seen enough (`by` is `max-epochs` or `time-limit`), and an exception went out to end
    it. More than one from a process means that the program caught and ignored it."""

    by: str = ""
    loader: str = ""
    number: int = 0


@dataclass(frozen=True)
class End(Record, kind="end"):
    """A process ended, as far as it could say so. `site` is the innermost frame in the user's code, `frames` all of
    them, outermost first.

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
    """The instrumentation itself failed somewhere; the program went on without that measurement."""

    where: str = ""
    text: str = ""
