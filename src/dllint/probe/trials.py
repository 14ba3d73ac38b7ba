"""Runs trials in a throwaway fork of the user's process, so that the process itself does not notice.

A fork has the user's objects without a copy of their memory, and whatever happens to them there is gone with it:
`counted` runs the counting pickler (and with it the user's `__getstate__`), `attempt` starts a real loader with one
worker under another start method, so that a lambda that fork hides shows the exception that spawn would raise.

The fork is the leader of a session of its own. At the end, or at the time limit, all of that session is killed, since
a hung worker outlives its parent; only the resource tracker is let go by itself, because it unlinks the semaphores
that the others left behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import gc
import json
import multiprocessing
import os
import select
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, Literal

from dllint.probe import plan, procfs, storages

Stage = Literal["started", "iter", "next", "crash", "timeout", "skipped"]

# A worker that dies under forkserver is no child: the loader itself looks every 5 s
# (torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL).
SECONDS = 30.0

_KEPT = 4000
_LONGEST = 70
_GRACE = 1.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial.

    `stage` is `started` when the first batch came; `iter` when the parent failed (pickling, starting), `next` when
    the worker reported an exception, `crash` when it died, `timeout` when neither came in time, `skipped` when it
    was not tried. `exception` is a class with its module, `text` what it says, `stderr` both ends of what it wrote.
    """

    method: str
    stage: Stage
    exception: str = ""
    text: str = ""
    stderr: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return self.stage not in ("started", "skipped")


@dataclass(frozen=True)
class Uncounted:
    """Why the objects could not be counted: what pickling them raised, or, with no `exception`, why it did not end."""

    exception: str
    text: str


Prepare = Callable[[], object]
Born = Callable[[int], object]


def counted(objects: object, seconds: float = SECONDS, born: Born | None = None) -> storages.Storages | Uncounted:
    """`storages.count`, run where the user's objects cannot feel it; `born` is told the pid of the fork."""

    def work(report: Callable[[str], None]) -> dict[str, Any]:
        return dataclasses.asdict(storages.count(objects))

    ended = _in_fork(work, seconds, None, born)
    if ended.result is not None:
        return storages.Storages(**ended.result)
    if ended.error is not None:
        return Uncounted(**ended.error)
    return Uncounted("", ended.reason)


def attempt(
    loader: Any,
    method: str,
    seconds: float = SECONDS,
    prepare: Prepare | None = None,
    born: Born | None = None,
) -> Outcome:
    """Whether the loader would start under `method`: two indices, one worker, the loader's own functions.

    Args:
        loader: a `torch.utils.data.DataLoader`; it is only read.
        method: fork, spawn or forkserver.
        seconds: when to give up.
        prepare: run first in the fork.
        born: told the pid of the fork, which is that of its session.
    """
    began = time.monotonic()

    def work(report: Callable[[str], None]) -> str:
        # As where this method is the default: a main module without a guard is refused in the worker only then.
        multiprocessing.set_start_method(method, force=True)
        trial = _trial_loader(loader, method)
        report("iter")
        batches = iter(trial)
        report("next")
        with contextlib.suppress(StopIteration):
            next(batches)
        return "started"

    ended = _in_fork(work, seconds, prepare, born)
    taken = round(time.monotonic() - began, 3)
    if ended.result is not None:
        return Outcome(method, "started", stderr=ended.stderr, seconds=taken)
    if ended.error is None:
        return Outcome(method, "timeout" if ended.late else "crash", "", ended.reason, ended.stderr, taken)
    stage: Stage = "iter" if ended.stage != "next" else "next"
    if "exited unexpectedly" in ended.error["text"] or "is killed by signal" in ended.error["text"]:
        stage = "crash"
    return Outcome(method, stage, ended.error["exception"], ended.error["text"], ended.stderr, taken)


def _trial_loader(loader: Any, method: str) -> Any:
    from torch.utils.data import DataLoader, IterableDataset

    arguments: dict[str, Any] = {
        "collate_fn": loader.collate_fn,
        "worker_init_fn": loader.worker_init_fn,
        "num_workers": 1,
        "multiprocessing_context": method,
    }
    if isinstance(loader.dataset, IterableDataset):
        arguments["batch_size"] = loader.batch_size
    elif loader.batch_sampler is not None:
        arguments["batch_sampler"] = _first(loader.batch_sampler, [[0]])
    else:
        arguments |= {"batch_size": None, "sampler": _first(loader.sampler, [0])}
    return DataLoader(loader.dataset, **arguments)


def _first(sampler: Any, otherwise: list[Any]) -> list[Any]:
    """What the loader's own sampler gives first: keys need not be numbers. A batch is cut to two."""
    try:
        found = list(islice(iter(sampler), 1))
    except Exception:
        return otherwise
    return [one[:2] if isinstance(one, list) else one for one in found] or otherwise


# --- The fork


@dataclass
class _Ended:
    result: Any = None
    error: dict[str, str] | None = None
    stage: str = ""
    reason: str = ""
    late: bool = False
    stderr: str = ""


def _in_fork(
    work: Callable[[Callable[[str], None]], Any], seconds: float, prepare: Prepare | None, born: Born | None
) -> _Ended:
    if not hasattr(os, "fork"):
        return _Ended(reason="this platform cannot fork")
    ended = _Ended()
    with tempfile.TemporaryFile() as written:
        reading, writing = os.pipe()
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of a fork with threads; nothing of this one survives.
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
        except OSError as error:
            os.close(reading)
            os.close(writing)
            return _Ended(reason=f"cannot fork: {error}")
        if not child:
            _run(work, writing, written, prepare)
        os.close(writing)
        try:
            if born is not None:
                born(child)
            _listen(reading, time.monotonic() + seconds, ended)
        finally:
            os.close(reading)
            _end(child, ended)
        lines = _ends(written).decode("utf-8", "replace").splitlines()
        # The tracker says what the killed left behind and it cleaned up.
        ended.stderr = "\n".join(line for line in lines if "resource_tracker" not in line)
    if ended.late:
        ended.reason = f"no answer within {seconds:g} s"
    return ended


def _run(
    work: Callable[[Callable[[str], None]], Any], writing: int, written: IO[bytes], prepare: Prepare | None
) -> None:
    """The child's life. It never returns, and never runs the user's exit handlers."""
    try:
        os.setsid()
        gc.disable()
        _die_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _redirect(written)
        # A crash says where in what is kept of this fork, not in the files of the process.
        faulthandler.enable(file=sys.stderr)
        _own_servers()
        torch = sys.modules.get("torch")
        if torch is not None:
            # A pool of threads does not survive a fork, and copying a large storage would wait for it.
            torch.set_num_threads(1)
        if prepare is not None:
            prepare()

        def say(**message: Any) -> None:
            # Who has its answer ends this process.
            sys.stderr.flush()
            os.write(writing, json.dumps(message).encode() + b"\n")

        try:
            say(result=work(lambda stage: say(stage=stage)))
        except BaseException as error:
            kind = type(error)
            name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
            say(error={"exception": name, "text": str(error)[:_KEPT]})
    finally:
        os._exit(0)


def _redirect(written: IO[bytes]) -> None:
    """The user's streams keep what they have buffered: nothing that the parent will write is written here too."""
    null = os.open(os.devnull, os.O_RDWR)
    for number, target in ((0, null), (1, null), (2, written.fileno())):
        os.dup2(target, number)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _own_servers() -> None:
    """The parent's resource tracker and fork server stay the parent's: what is started here starts its own.

    Sockets go to a directory of the run, since no exit handler of multiprocessing removes them here.
    """
    from multiprocessing import forkserver, process, resource_tracker

    # The path of a socket has at most 107 bytes (unix(7)).
    if len(os.fsencode(plan.directory)) <= _LONGEST:
        with contextlib.suppress(OSError):
            config = process.current_process()._config  # type: ignore[attr-defined]
            config["tempdir"] = tempfile.mkdtemp(prefix="t", dir=plan.directory)

    for server, kept in (
        (resource_tracker._resource_tracker, ()),
        (forkserver._forkserver, ("_preload_modules", "_inherited_fds")),
    ):
        fresh = vars(type(server)())
        vars(server).update({name: value for name, value in fresh.items() if name not in kept})


def _die_with_parent() -> None:
    """So that a run that is killed leaves no trial behind (prctl(2), PR_SET_PDEATHSIG)."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _ends(written: IO[bytes]) -> bytes:
    """The beginning and the end of what was written: a crash is named in the first line, above a stack of any depth."""
    size = written.seek(0, os.SEEK_END)
    written.seek(0)
    if size <= _KEPT:
        return written.read()
    head = written.read(_KEPT // 2)
    written.seek(size - _KEPT // 2)
    return head + b"\n...\n" + written.read()


def _listen(reading: int, deadline: float, ended: _Ended) -> None:
    poll = select.poll()
    poll.register(reading, select.POLLIN | select.POLLHUP)
    pending = b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            if left <= 0:
                ended.late = True
                return
            continue
        data = os.read(reading, 65536)
        if not data:
            ended.reason = "the process died"
            return
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            ended.stage = message.get("stage", ended.stage)
            if "result" in message or "error" in message:
                ended.result, ended.error = message.get("result"), message.get("error")
                return


def _end(leader: int, ended: _Ended) -> None:
    try:
        finished, status = os.waitpid(leader, os.WNOHANG)
        if not finished:
            _kill(leader)
            finished, status = os.waitpid(leader, 0)
        if ended.reason and os.WIFSIGNALED(status):
            ended.reason = f"the process was killed by {signal.Signals(os.WTERMSIG(status)).name}"
    except ChildProcessError:
        pass  # The user's process ignores SIGCHLD: the child is gone without a status.
    began = time.monotonic()
    while (left := procfs.session(leader)) and (taken := time.monotonic() - began) < 5 * _GRACE:
        for process, command in left:
            if taken > _GRACE or "resource_tracker" not in command:
                _kill(process)
        time.sleep(0.01)


def _kill(process: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(process, signal.SIGKILL)
