"""Watch processes: which process starts which, from which line, by which start method, and its role.

Multiprocessing is hooked at `BaseProcess`, which every context, Pool, executor and `torch.multiprocessing.spawn` uses.
The parent's knowledge travels to the child on the process object, so that it arrives under every start method. A
forkserver's child has the server as its `ppid`, and learns its actual parent that way.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from types import ModuleType
from typing import Any

from dllint.probe import ending, lines, recorder, sites

_TOLD = "_dllint_launch"

launched: dict[str, Any] = {}
"""In a child of multiprocessing: what its parent passed on (`parent`, `asked`, `loader`, `number`, `method`)."""


def hook_process(module: ModuleType) -> None:
    """Replace `start` and `_bootstrap` of `multiprocessing.process.BaseProcess`."""
    base = module.BaseProcess
    start, bootstrap = base.start, base._bootstrap

    @functools.wraps(start)
    def _start(self: Any) -> None:
        if recorder.silent:
            start(self)
            return
        since = time.time()
        loading = sys.modules.get("dllint.probe.loading")
        iteration = getattr(loading.starting, "iteration", None) if loading is not None else None
        told: dict[str, Any] = {"parent": os.getpid(), "asked": since}
        if iteration is not None:
            told.update(loader=iteration.loader, number=iteration.number)
        self.__dict__[_TOLD] = told
        error = None
        try:
            start(self)
        except BaseException as raised:
            error = sites.unseen(raised)
            raise
        finally:
            self.__dict__.pop(_TOLD, None)
            try:
                _launched(self, iteration is not None, sys._getframe(1), since, error)
            except Exception as failure:
                recorder.trouble("start", failure)

    @functools.wraps(bootstrap)
    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        if recorder.silent:
            return bootstrap(self, *args, **kwargs)
        try:
            _arrived(self)
        except Exception as failure:
            recorder.trouble("bootstrap", failure)
        return bootstrap(self, *args, **kwargs)

    base.start, base._bootstrap = _start, _bootstrap


def _launched(process: Any, of_loader: bool, frame: Any, since: float, error: BaseException | None) -> None:
    popen = getattr(process, "_popen", None)
    method = getattr(popen, "method", None) or getattr(process, "_start_method", None)
    target = getattr(process, "_target", None) or getattr(type(process), "run", None)
    chain = sites.chain(frame)
    recorder.record(
        "launch",
        t=since,
        api="DataLoader" if of_loader else _api(frame),
        site=sites.place(chain),
        chain=chain,
        method=method,
        daemon=bool(process.daemon),
        child=getattr(popen, "pid", None),
        name=str(process.name),
        target=f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', type(target).__name__)}",
        error=None if error is None else f"{type(error).__name__}: {error}"[:2000],
        seconds=time.time() - since,
    )


def _api(frame: Any) -> str:
    """Return the API that the user's code called, judged by the modules of the frames in between."""
    found = "Process"
    while frame is not None and not sites.is_users(frame.f_code.co_filename):
        name = frame.f_globals.get("__name__", "")
        if name == "multiprocessing.pool":
            found = "Pool"
        elif name == "multiprocessing.managers":
            found = "Manager"
        elif name == "concurrent.futures.process":
            found = "ProcessPoolExecutor"
        elif name == "torch.multiprocessing.spawn":
            found = "mp.spawn" if frame.f_code.co_name == "spawn" or found == "mp.spawn" else "start_processes"
        elif name.startswith("torch.distributed"):
            found = "elastic"
        frame = frame.f_back
    return found


def _arrived(process: Any) -> None:
    told = process.__dict__.pop(_TOLD, None) or {}
    launched.clear()
    launched.update(told)
    method = getattr(process, "_start_method", None) or _method()
    launched["method"] = method
    target = getattr(process, "_target", None)
    recorder.about.update(
        parent=told.get("parent", getattr(process, "_parent_pid", None)),
        ppid=os.getppid(),
        role="worker" if getattr(target, "__name__", "") == "_worker_loop" else "child",
        start_method=method,
        name=str(process.name),
        daemon=bool(process.daemon),
    )
    recorder.tell()
    run = process.run
    files = _inherited_files(process) if method == "fork" and recorder.about["role"] == "child" else None

    def recorded() -> Any:
        try:
            result = run()
            if files is not None:
                recorder.guarded(files.look)
        except BaseException as error:
            sites.unseen(error)
            recorder.guarded(_closed)
            recorder.guarded(ending.tell_failure, error)
            raise
        recorder.guarded(_closed)
        recorder.record("end", exit=0, by="itself")
        return result

    process.run = recorded


def _inherited_files(process: Any) -> Any:
    """Return a watch of the files that a forked process shares with its parent; `None` if there are none."""
    from dllint.probe import inherited_files

    watch = inherited_files.Watch(os.getppid())
    if not watch.files:
        return None
    # A pool ends its processes by a signal, so theirs are looked at when they send a result.
    if getattr(process._target, "__module__", "") == "multiprocessing.pool" and len(process._args) > 1:
        results = process._args[1]
        put = results.put

        def sent(result: Any) -> None:
            recorder.guarded(watch.look)
            put(result)

        results.put = sent
    return watch


def _closed() -> None:
    for name, function in (("dllint.probe.loading", "close_all"), ("dllint.probe.events", "process_ending")):
        module = sys.modules.get(name)
        if module is not None:
            getattr(module, function)()
    lines.at_end()


def _method() -> str | None:
    """Return the start method of this process, judged by its command line."""
    if any("--multiprocessing-fork" in one for one in sys.orig_argv):
        return "spawn"
    if any("multiprocessing.forkserver" in one for one in sys.orig_argv):
        return "forkserver"
    return "fork"


def hook_queues(module: ModuleType) -> None:
    """Record objects that a queue's feeder thread could not send: the receiver waits for them forever."""
    queue = module.Queue
    original = queue._on_queue_feeder_error

    def _on_queue_feeder_error(e: BaseException, obj: Any) -> None:
        import traceback

        recorder.record(
            "feeder",
            exception=f"{type(e).__module__}.{type(e).__qualname__}",
            text=str(e)[:2000],
            traceback="".join(traceback.format_exception(type(e), e, e.__traceback__))[-8000:],
            obj=_shape(obj),
            loader=launched.get("loader"),
        )
        original(e, obj)

    queue._on_queue_feeder_error = staticmethod(_on_queue_feeder_error)


def _shape(obj: Any) -> str:
    """Describe an object by its classes alone, without calling its code."""
    if isinstance(obj, (tuple, list)):
        inner = ", ".join(_shape(one) for one in obj[:4])
        return f"{type(obj).__name__}({inner}{', …' if len(obj) > 4 else ''})"[:500]
    if isinstance(obj, dict):
        inner = ", ".join(f"{key!r}: {_shape(one)}" for key, one in list(obj.items())[:6] if isinstance(key, str))
        return f"dict({inner})"[:500]
    return f"{type(obj).__module__}.{type(obj).__qualname__}"


def hook_subprocess(module: ModuleType) -> None:
    """Record commands that the program starts."""
    popen = module.Popen
    original = popen.__init__

    @functools.wraps(original)
    def __init__(self: Any, args: Any, *more: Any, **options: Any) -> None:
        since = time.time()
        with sites.transparent:
            original(self, args, *more, **options)
        if recorder.silent:
            return
        try:
            listed = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
            recorder.record(
                "launch",
                t=since,
                api="subprocess",
                site=sites.caller(sys._getframe(1)),
                child=self.pid,
                argv=[os.fsdecode(one)[:300] for one in listed[:40]],
                executable=_executable(self.pid),
            )
        except Exception as failure:
            recorder.trouble("subprocess", failure)

    popen.__init__ = __init__


def _executable(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""
