"""Run trials in a throwaway fork of the user's process, without affecting the process itself.

A fork has the user's objects without copying their memory, and any change to them is lost with it: `counted` runs the
counting pickler (and the user's `__getstate__`), `attempt` starts a real loader with one worker under another start
method, so that a lambda that works under fork shows the exception that spawn would raise.

The fork is the leader of its own session. At the end, or at the time limit, the whole session is killed, because a hung
worker outlives its parent; only the resource tracker may end by itself, because it unlinks the semaphores that the
others left behind.
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

from dllint.probe import plan, private_memory, procfs, storages

Stage = Literal["started", "iter", "next", "crash", "timeout", "skipped"]

# A worker that dies under forkserver is not a child process, so only the loader notices, every 5 s
# (torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL).
SECONDS = 30.0

_KEPT = 4000
_LONGEST = 70
_GRACE = 1.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial.

    Attributes:
        stage: `started` if the first batch arrived; `iter` if the parent failed (pickling, starting); `next` if the
            worker reported an exception; `crash` if it died; `timeout` if nothing happened in time; `skipped` if it was
            not tried.
        exception: class of the exception, with its module.
        text: message of the exception.
        stderr: beginning and end of its error output.
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
    """Why the objects could not be counted: the exception of pickling or, if that is "", why it did not finish."""

    exception: str
    text: str


Prepare = Callable[[], object]
Born = Callable[[int], object]


def counted(objects: object, seconds: float = SECONDS, born: Born | None = None) -> storages.Storages | Uncounted:
    """Run `storages.count` where it cannot affect the user's objects; `born` receives the pid of the fork."""

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
    """Try whether the loader starts under `method`: two indices, one worker, the loader's own functions.

    Args:
        loader: a `torch.utils.data.DataLoader`; it is only read.
        method: fork, spawn or forkserver.
        seconds: the time limit.
        prepare: called first in the fork.
        born: called with the pid of the fork, which is also its session id.
    """
    began = time.monotonic()

    def work(report: Callable[[str], None]) -> str:
        # Like a default start method: only then does the worker refuse a main module without a guard.
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
    """Return the first output of the loader's own sampler (keys need not be numbers); a batch is cut to two items."""
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
                # Python 3.12 warns about a fork with threads; this one is discarded anyway.
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
        # The tracker reports what the killed processes left behind and it cleaned up.
        ended.stderr = "\n".join(line for line in lines if "resource_tracker" not in line)
    if ended.late:
        ended.reason = f"no answer within {seconds:g} s"
    return ended


def _run(
    work: Callable[[Callable[[str], None]], Any], writing: int, written: IO[bytes], prepare: Prepare | None
) -> None:
    """Run the child. Never returns, and never runs the user's exit handlers."""
    try:
        os.setsid()
        gc.disable()
        _die_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _redirect(written)
        # Report crashes in this fork's output, not in the files of the user's process.
        faulthandler.enable(file=sys.stderr)
        _own_servers()
        torch = sys.modules.get("torch")
        if torch is not None:
            # Thread pools do not survive a fork, so copying a large storage would wait for them forever.
            torch.set_num_threads(1)
        with contextlib.suppress(OSError, ImportError, AttributeError, ValueError):
            private_memory.separate()
        if prepare is not None:
            prepare()

        def say(**message: Any) -> None:
            # The parent kills this process once it has the answer.
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
    """Redirect the standard streams, without flushing the user's buffered output, which the parent will write."""
    null = os.open(os.devnull, os.O_RDWR)
    for number, target in ((0, null), (1, null), (2, written.fileno())):
        os.dup2(target, number)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _own_servers() -> None:
    """Detach from the parent's resource tracker and fork server, so that processes started here use their own.

    Sockets go to a directory of the run, because multiprocessing's exit handlers, which would remove them, do not run
    here.
    """
    from multiprocessing import forkserver, process, resource_tracker

    # A socket path has at most 107 bytes (unix(7)).
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
    """Die with the parent, so that a killed run leaves no trial behind (prctl(2), PR_SET_PDEATHSIG)."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _ends(written: IO[bytes]) -> bytes:
    """Return the beginning and the end of the output: a crash is named in the first line, above a deep stack."""
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
        pass  # The user's process ignores SIGCHLD, so the child is gone without a status.
    began = time.monotonic()
    while (left := procfs.session(leader)) and (taken := time.monotonic() - began) < 5 * _GRACE:
        for process, command in left:
            if taken > _GRACE or "resource_tracker" not in command:
                _kill(process)
        time.sleep(0.01)


def _kill(process: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(process, signal.SIGKILL)
