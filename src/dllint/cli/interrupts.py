"""What a signal that asks dllint to end does: before a command has begun, while it works, and after.

While modules are imported nothing is there to be undone, and an exception raised in the midst of an import is often
taken for a failure of that import. A command unwinds, so that no process of its own and no file stays behind.
"""

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | signal.Handlers

_DEFAULTS: "Mapping[str, Handler]" = {
    "SIGINT": signal.default_int_handler,
    "SIGTERM": signal.SIG_DFL,
    "SIGHUP": signal.SIG_DFL,
}
_came: "list[int]" = []


def end_at_once() -> None:
    """End this process by the first of these signals, with the exit code that a shell gives: 128 + signal.

    One that is ignored, as with nohup or in a shell's background, stays so.
    """
    for name, default in _DEFAULTS.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == default:
            try:
                signal.signal(number, _leave)
            except ValueError:
                # Only the main thread of a process can set a handler.
                return


def unwind() -> None:
    """From here on each of these signals raises KeyboardInterrupt or SystemExit."""
    for name, number in _held(_leave):
        signal.signal(number, signal.default_int_handler if name == "SIGINT" else _raise)


def give_back(status: int = 0) -> int:
    """From here on Python's own handlers do their work.

    Returns:
        The exit code: 128 + signal where one came, since what unwinds may fail as well (a terminal that was closed
        takes no more output), and else the one that is given.
    """
    for handler in (_leave, _raise):
        for name, number in _held(handler):
            signal.signal(number, _DEFAULTS[name])
    return 128 + _came.pop() if _came else status


def _held(handler: object) -> "list[tuple[str, int]]":
    numbers = [(name, getattr(signal, name, None)) for name in _DEFAULTS]
    return [(name, number) for name, number in numbers if number is not None and signal.getsignal(number) == handler]


def _leave(number: int, _: "FrameType | None") -> None:
    os._exit(128 + number)


def _raise(number: int, _: "FrameType | None") -> None:
    _came[:] = [number]
    raise SystemExit(128 + number)
