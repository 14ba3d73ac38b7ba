"""What an instrumented run of a program leaves behind: records, one JSON object a line, one file a process.

A process appends each record to `<directory>/<pid>-<start>.jsonl` at once, by a single write, so that whatever ends
it loses nothing that it had seen. Every record says its `kind`, the process (`pid`) and the time (`t`, seconds
since the epoch); the dataclasses below say what else each kind holds, and their defaults are what a record may
leave out. Fields that are `None` were not or could not be known. Sizes are bytes, durations seconds. A site is the
place of a call in the user's own files:

    {"kind": "process", "pid": 70, "t": 1700000000.1, "ppid": 69, "role": "main", "argv": ["train.py"]}
    {"kind": "launch", "pid": 70, "t": 1700000001.2, "api": "DataLoader", "method": "fork", "daemon": true, "child": 83,
     "site": {"path": "/home/me/train.py", "line": 30, "column": 18, "end_line": 30, "end_column": 24}}
    {"kind": "loader", "pid": 70, "t": 1700000001.0, "loader": "70.1", "cls": "torch.utils.data.DataLoader",
     "arguments": {"num_workers": 2, "batch_size": 8}, "dataset": "data.Recordings", "method": null}
    {"kind": "iteration", "pid": 70, "t": 1700000001.1, "loader": "70.1", "number": 0, "method": "fork"}
    {"kind": "worker", "pid": 83, "t": 1700000001.3, "loader": "70.1", "worker": 0, "workers": 2, "seconds": 0.02}
    {"kind": "sample", "pid": 83, "t": 1700000001.9, "moment": "first batch", "loader": "70.1", "uss": 9437184}
    {"kind": "epoch", "pid": 70, "t": 1700000002.5, "loader": "70.1", "number": 0, "batches": 16, "cut": true,
     "wait": 0.4, "step": 1.1}
    {"kind": "save", "pid": 70, "t": 1700000002.6, "api": "torch.save", "path": "/home/me/a.pt", "to": "/tmp/…/a.pt"}
    {"kind": "end", "pid": 70, "t": 1700000002.7, "exit": 1, "exception": "RuntimeError", "by": "itself"}

A loader's name, `"70.1"`, is the process that built it and a count; a forked or spawned process that iterates the
loader keeps the name.

Reading is forgiving, since a run can be killed while it writes: a record that is cut off, whose kind is unknown or
that lacks what it needs is skipped and counted, and fields that are unknown are dropped and counted.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import stat
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, Union

from dllint.span import Span

Role = Literal["main", "child", "worker", "server", "resource_tracker", "command"]
"""What a process is: the user's program itself, one that multiprocessing started, a loader's worker, the
forkserver, the resource tracker, or a Python program started as a command (torchrun's ranks, subprocess)."""

Moment = Literal["start", "loader", "before workers", "first item", "first batch", "epoch end", "interval", "end"]
Stage = Literal["iter", "next", "crash", "timeout"]
Outcome = Literal["started", "failed", "not tried"]

SUFFIX = ".jsonl"
STACKS = ".stack"
"""Of the files of a process: its records, and what faulthandler wrote (with records, where descriptors had run
out)."""

_KINDS: dict[str, type[Record]] = {}


@dataclass(frozen=True)
class Site:
    """Where a call stands, in the user's own code. Lines and columns as in `Span`; no columns before Python 3.11."""

    path: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    function: str = ""

    @property
    def span(self) -> Span | None:
        """The span of the call, equal to what a static finding at the same call has; `None` if only the line is
        known."""
        if self.column is None or self.end_line is None or self.end_column is None:
            return None
        return Span(self.line, self.column, self.end_line, self.end_column)


@dataclass(frozen=True)
class Record:
    """What all records say: the process that it is about (the writer, unless said otherwise) and when."""

    kind: typing.ClassVar[str] = ""
    pid: int
    t: float

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        _KINDS[kind] = cls

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object; fields at their default are left out."""
        told: dict[str, Any] = {"kind": self.kind}
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if one.default is dataclasses.MISSING or value != one.default:
                told[one.name] = _told(value)
        return told


def _told(value: Any) -> Any:
    if isinstance(value, Site):
        return {name: one for name, one in dataclasses.asdict(value).items() if one is not None}
    return [_told(one) for one in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Process(Record, kind="process"):
    """A process that is instrumented. It writes this again whenever it knows more (its torch, its role): the last
    one counts.

    `parent` is the instrumented process that launched it, which under forkserver is not `ppid`, the server. `held`
    is the descriptor that the instrumentation keeps open in it. `start_method` is how multiprocessing started it;
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
class Loader(Record, kind="loader"):
    """A DataLoader was built. `arguments` are as given, those that are no JSON values by class or qualified name.

    `method` is that of an explicit `multiprocessing_context`, else `None`: only iterating decides it. `error` is
    what the constructor raised.
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
    """`iter(loader)` was called: `number` counts a loader's iterations from 0 in this process.

    `method` is the effective start method of its workers (`None` with 0 workers), `fresh` whether workers are
    started for it, `error` and `text` what `iter` raised, `site` the place that iterates.
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
    """A loader's worker came to its loop, `seconds` after its start was asked for."""

    loader: str = ""
    worker: int = 0
    workers: int = 0
    method: str | None = None
    parent: int | None = None
    seconds: float | None = None
    number: int | None = None


@dataclass(frozen=True)
class Sample(Record, kind="sample"):
    """What a process holds at a moment. Memory as in `/proc/PID/smaps_rollup`; `shm` is what it maps of shared memory
    (`Pss_Shmem`), `maps` the count of mappings, `fds` of open descriptors, `mapped_files` the bytes of data files
    that are mapped, which bound what page cache can add to RSS. `by` is who looked: the process or the launcher."""

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
    by: Literal["itself", "launcher"] = "itself"


@dataclass(frozen=True)
class Progress(Record, kind="progress"):
    """How far the current epoch of a loader is; written a few times a second at most."""

    loader: str = ""
    number: int = 0
    batches: int = 0
    total: int | None = None


@dataclass(frozen=True)
class Epoch(Record, kind="epoch"):
    """An iteration over a loader ended: at the end of the data, `cut` by the limit of batches, or left early by the
    program.

    `wait` is the time that the program waited for batches (`first` of it for the first batch), `step` the time
    between getting a batch and asking for the next (of quick batches beyond the first 64, two in 64 stand for
    all); `waits` and `steps` list them batch by batch, up to 64 of each.
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
    """What pickling `(dataset, collate_fn, worker_init_fn)` of a loader to one worker would take, counted without
    doing it.

    `fds`, `maps` and `shm` are what the storages will take under `strategy`, the sharing strategy; `pickled` the
    length of the pickle, `arrays` and `array_bytes` of it the ndarrays, which are copied to every worker. `other_fds`
    are descriptors that the objects carry themselves. Of the storages, `references` counts each as often as it is
    written, `shared` are in shared memory already, `temporary` made by pickling itself and gone with it.
    `exception` and `text` are what pickling raised.
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
class Limits(Record, kind="limits"):
    """What bounds the process that iterates a loader: values and the room that is left, by name (`nofile`, `fds`,
    `maps`, …)."""

    loader: str | None = None
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial(Record, kind="trial"):
    """Whether a loader starts under another start method, tried in a throwaway process.

    `stage` is where it failed: `iter` (pickling), `next` (unpickling, or in the worker), `crash` or `timeout`.
    `stderr` is the end of what the processes of the trial wrote.
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
class Throwaway(Record, kind="throwaway"):
    """The process made a fork to count or to try something, the leader of a session of its own: nothing in that
    session is of the program."""

    session: int = -1


@dataclass(frozen=True)
class Cuda(Record, kind="cuda"):
    """CUDA in a process: `poisoned` where a forked child must not use it, `used` where it was used, `site` the call
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
    """An open file of a worker that it has from its parent: whether both share one offset (`kcmp`; `None` if it
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
    """A digest of random draws that a worker made for an item, to see repeats across workers and epochs."""

    loader: str = ""
    epoch: int = 0
    worker: int = 0
    index: str = ""
    source: str = ""
    digest: str = ""


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
class Batch(Record, kind="batch"):
    """The first batch that came from workers: its storages, their bytes, and the pages that they take in shared
    memory."""

    loader: str = ""
    number: int = 0
    storages: int = 0
    bytes: int = 0
    shm: int = 0


@dataclass(frozen=True)
class Kept(Record, kind="kept"):
    """How many descriptors, and maps of tensors in shared memory, the consuming process gains a batch (least squares
    over `batches`)."""

    loader: str = ""
    number: int = 0
    batches: int = 0
    fds_a_batch: float = 0.0
    maps_a_batch: float = 0.0


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
class Feeder(Record, kind="feeder"):
    """A queue's feeder thread could not send an object: whoever waits for it waits for ever."""

    exception: str = ""
    text: str = ""
    traceback: str = ""
    obj: str = ""
    loader: str | None = None


@dataclass(frozen=True)
class Save(Record, kind="save"):
    """A write of results: to `to` in the scratch directory in the place of `path`. Where `to` is empty, a file that
    was there before the run was to be removed, and was kept."""

    api: str = ""
    path: str = ""
    to: str | None = None
    site: Site | None = None


@dataclass(frozen=True)
class Stack(Record, kind="stack"):
    """The stacks of all threads of a process, as faulthandler writes them."""

    text: str = ""


@dataclass(frozen=True)
class Enough(Record, kind="enough"):
    """The run had seen what it was to see (`by` is `max-epochs` or `time-limit`), and an exception went out to end
    it. More than one from a process says that the program swallowed it."""

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


Kind = TypeVar("Kind", bound=Record)


@dataclass(frozen=True)
class Observation:
    """All records of a run by time, and what could not be read: `cut` off, `malformed`, of unknown kind, fields
    unknown."""

    records: tuple[Record, ...] = ()
    cut: int = 0
    malformed: int = 0
    unknown_kinds: Mapping[str, int] = field(default_factory=dict)
    unknown_fields: Mapping[str, int] = field(default_factory=dict)

    def of(self, kind: type[Kind]) -> Iterator[Kind]:
        """The records of one kind, oldest first."""
        return (record for record in self.records if isinstance(record, kind))

    @functools.cached_property
    def processes(self) -> Mapping[int, Process]:
        """What is known last of each process, by pid."""
        return {record.pid: record for record in self.of(Process)}


def read(directory: str) -> Observation:
    """Reads all records under a directory; one that does not exist or holds nothing gives an empty observation."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith((SUFFIX, STACKS)))
    except OSError:
        names = []
    return read_lines(line for name in names for line in _lines(os.path.join(directory, name)))


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return []
            lines = file.read().split(b"\n")
            changed = found.st_mtime
    except OSError:
        return []
    if path.endswith(SUFFIX):
        return lines
    # Stacks, with records between them where there was no other descriptor to be had.
    records = [line for line in lines if line.startswith(b'{"kind":')]
    text = b"\n".join(line for line in lines if not line.startswith(b'{"kind":')).decode("utf-8", "replace").strip()
    pid = os.path.basename(path).partition("-")[0]
    if text and pid.isdigit():
        records.append(json.dumps(Stack(int(pid), changed, text).to_json()).encode())
    return records


def read_lines(lines: Iterable[bytes]) -> Observation:
    """Reads records, one a line, in any order."""
    records: list[Record] = []
    cut = malformed = 0
    kinds: dict[str, int] = {}
    fields: dict[str, int] = {}
    for line in lines:
        if not line.strip(b" \r\0"):
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            cut += 1
            continue
        if not isinstance(told, dict) or not isinstance(told.get("kind"), str):
            malformed += 1
            continue
        known = _KINDS.get(told["kind"])
        if known is None:
            kinds[told["kind"]] = kinds.get(told["kind"], 0) + 1
            continue
        hints = _hints(known)
        for name in told.keys() - hints.keys() - {"kind"}:
            fields[f"{known.kind}.{name}"] = fields.get(f"{known.kind}.{name}", 0) + 1
        try:
            values = {name: _value(told[name], hint) for name, hint in hints.items() if name in told}
            records.append(known(**values))
        except (TypeError, ValueError):
            malformed += 1
    records.sort(key=lambda record: record.t)
    return Observation(tuple(records), cut, malformed, kinds, fields)


_HINTS: dict[type, dict[str, Any]] = {}


def _hints(cls: Any) -> dict[str, Any]:
    """The types of a dataclass's fields, by name."""
    if cls not in _HINTS:
        hints = typing.get_type_hints(cls)
        _HINTS[cls] = {one.name: hints[one.name] for one in dataclasses.fields(cls)}
    return _HINTS[cls]


def _value(value: Any, hint: Any) -> Any:
    """A JSON value as the type that a field has.

    Raises:
        TypeError: it is something else.
    """
    origin = typing.get_origin(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        if value is None and type(None) in typing.get_args(hint):
            return None
        return _value(value, next(one for one in typing.get_args(hint) if one is not type(None)))
    if origin is Literal:
        if value in typing.get_args(hint):
            return value
    elif origin is tuple:
        if isinstance(value, list):
            return tuple(_value(one, typing.get_args(hint)[0]) for one in value)
    elif origin is dict:
        if isinstance(value, dict):
            return value
    elif dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if isinstance(value, dict):
            inner = _hints(hint)
            return hint(**{name: _value(value[name], inner[name]) for name in inner if name in value})
    elif hint is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise TypeError(f"{value!r} is no {hint}")
