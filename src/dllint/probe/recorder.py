"""Append records to this process's file at once, whatever the program does to its descriptors.

The file is opened for each record, so that the program may close all descriptors, fork, or change the directory. One
descriptor is kept open for faulthandler, which needs it when the process hangs; if no more can be opened, records go
there too (`<pid>-<start>.stack`). A full or read-only directory loses records, but never breaks the program.
"""

from __future__ import annotations

import os
import sys
import time
from os import O_APPEND, O_CLOEXEC, O_CREAT, O_WRONLY, close, fstat, getpid, open, write

try:
    # Every process pays for these imports: json imports re and enum, 5 to 10 ms.
    from _json import encode_basestring_ascii as quoted
except ImportError:
    from json.encoder import py_encode_basestring_ascii as quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_HELD_FROM = 900  # Above the descriptor numbers that the program itself gets.

directory = ""
"""Directory of the records; "" to record nothing."""

silent = False
"""If true, nothing is recorded and nothing is shortened. Code that makes a throwaway fork sets this before, and resets
it in the parent afterwards; in the fork it also removes `plan.VARIABLE` from the environment, so that processes started
there are not instrumented."""

about: dict[str, Any] = {}
"""The known facts about this process, as the fields of its record."""

_pid = 0
_path = ""
_held = -1
_held_file: tuple[int, int] | None = None
_broken = False


def begin(where: str) -> None:
    """Start the file of this process, which is new or was just forked."""
    global directory, _pid, _path, _broken
    directory = where
    _pid = getpid()
    _path = f"{directory}/{_pid}-{time.time_ns()}"
    _broken = False


def record(kind: str, **fields: Any) -> None:
    """Append a record. `pid` and `t` default to this process and the current time; fields as in `observation`."""
    if silent or not directory:
        return
    if getpid() != _pid:
        begin(directory)
    told = {"kind": kind, "pid": _pid, "t": time.time(), **fields}
    _append(as_json(told).encode("ascii") + b"\n")


def tell() -> None:
    """Record the known facts about this process."""
    record("process", **about)


def as_json(value: object) -> str:
    """Return plain values as JSON; non-finite numbers become null, and other objects strings."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if -1e308 < value < 1e308 else "null"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([as_json(one) for one in value]) + "]"
    if isinstance(value, dict):
        return "{" + ",".join([f"{quoted(str(key))}:{as_json(one)}" for key, one in value.items()]) + "}"
    return quoted(str(value))


def trouble(where: str, error: BaseException) -> None:
    """Record that instrumentation failed: the program continues without that measurement."""
    record("trouble", where=where, text=f"{type(error).__name__}: {error}"[:500])


def guarded(work: Callable[..., object], *values: object) -> None:
    """Call instrumentation code; its exceptions are recorded and never reach the program."""
    try:
        work(*values)
    except Exception as error:
        trouble(getattr(work, "__name__", ""), error)


def _append(line: bytes) -> None:
    global _broken
    if _broken:
        line = b"\n" + line
    try:
        descriptor = open(_path + ".jsonl", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    except OSError:
        if held() >= 0:
            try:
                write(_held, line)
            except OSError:
                return
        return
    try:
        _broken = write(descriptor, line) != len(line)
    except OSError:
        pass
    finally:
        close(descriptor)


def hold() -> int:
    """Return the descriptor of this process's file for stacks, reopened after a fork; -1 on failure."""
    global _held, _held_file
    previous = held()
    try:
        descriptor = open(_path + ".stack", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    except OSError:
        _held = -1
        return -1
    try:
        if previous >= 0:
            os.dup2(descriptor, previous, inheritable=False)
            _held = previous
        else:
            _held = _moved_up(descriptor)
        found = fstat(_held)
        _held_file = (found.st_dev, found.st_ino)
    except OSError:
        _held = -1
    finally:
        close(descriptor)
    return _held


def held() -> int:
    """Return the descriptor from `hold`; -1 if the program has closed it, even if it has reused the number."""
    if _held < 0:
        return -1
    try:
        found = fstat(_held)
    except OSError:
        return -1
    return _held if (found.st_dev, found.st_ino) == _held_file else -1


def _moved_up(descriptor: int) -> int:
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lowest = _HELD_FROM if limit == resource.RLIM_INFINITY else min(_HELD_FROM, limit - 16)
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(lowest, 3))


def pid() -> int:
    """Return the id of this process."""
    return getpid()
