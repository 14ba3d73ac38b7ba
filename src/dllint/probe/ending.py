"""End a run before the program would end by itself, and record how each process ends."""

from __future__ import annotations

import atexit
import os
import sys

from dllint.probe import lines, recorder, sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, NoReturn

_KEPT = 4000


class EnoughSeen(SystemExit):
    """Raised in the user's program to end it once the run has seen enough.

    It is not an `Exception`, so that broad handlers do not catch it; and it is a `SystemExit`, so that `finally` blocks
    and context managers run, a process started by multiprocessing ends normally, and nothing is printed.
    """


def enough(by: str, loader: str = "", number: int = 0) -> NoReturn:
    """End the program.

    Raises:
        EnoughSeen: always.
    """
    recorder.record("enough", by=by, loader=loader, number=number)
    raise EnoughSeen(0)


def tell_failure(error: BaseException, by: str = "itself") -> None:
    """Record an exception that ends this process."""
    if isinstance(error, EnoughSeen):
        recorder.record("end", exit=0, by="max-epochs")
        return
    if isinstance(error, SystemExit):
        code = error.code
        exit = code if isinstance(code, int) else 0 if code is None else 1
        recorder.record("end", exit=exit, by=by, exception="SystemExit", frames=_frames(error.__traceback__))
        return
    import traceback

    frames = _frames(error.__traceback__)
    recorder.record(
        "end",
        exit=1,
        exception=_name(type(error)),
        text=str(error)[:_KEPT],
        site=frames[-1] if frames else None,
        frames=frames,
        traceback="".join(traceback.format_exception(type(error), error, error.__traceback__))[-4 * _KEPT :],
        by=by,
    )


def _frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if sites.is_users(code.co_filename):
            found.append(sites.site(code, trace.tb_lasti, trace.tb_lineno))
        trace = trace.tb_next
    return found[-40:]


def _name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def at_exit(process: int) -> None:
    """Record the end at interpreter exit: an uncaught exception is known by then, whatever sys.excepthook is."""
    if os.getpid() == process:
        recorder.guarded(_told_at_exit)


def _told_at_exit() -> None:
    loading = sys.modules.get("dllint.probe.loading")
    if loading is not None:
        loading.close_all()
    events = sys.modules.get("dllint.probe.events")
    if events is not None:
        events.process_ending()
    lines.at_end()
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if isinstance(error, BaseException):
        tell_failure(error)
    else:
        recorder.record("end", by="itself")


def watch_exit() -> None:
    """Record the end of this process: by the interpreter, by os._exit or by os.exec."""
    atexit.register(at_exit, os.getpid())
    for name in ("_exit", "execv", "execve"):
        setattr(os, name, _leaving(name, getattr(os, name)))


def _leaving(name: str, original: Any) -> Any:
    def leave(*args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        if name != "_exit":
            argv = args[1] if len(args) > 1 else kwargs.get("argv", ())
            recorder.guarded(_recorded_exec, name, frame, argv)
        elif sites.is_users(frame.f_code.co_filename):
            recorder.guarded(_recorded_exit, args[0] if args else kwargs.get("status"), frame)
        return original(*args, **kwargs)

    leave.__name__ = leave.__qualname__ = name
    leave.__module__ = original.__module__
    leave.__doc__ = original.__doc__
    return leave


def _recorded_exit(status: Any, frame: Any) -> None:
    recorder.record("end", exit=status, by="os._exit", site=sites.caller(frame))


def _recorded_exec(name: str, frame: Any, argv: Any) -> None:
    try:
        listed = [os.fsdecode(one) for one in argv]
    except TypeError:
        listed = []
    recorder.record("launch", api=f"os.{name}", site=sites.caller(frame), child=os.getpid(), argv=listed)
