"""Open files that a forked worker inherits from its parent: whether they share an offset, and whether it moves.

The race itself occurs in only a few of ten thousand reads, so a clean run proves nothing. These facts are exact: parent
and worker hold the same open file description (`kcmp(2)`, KCMP_FILE), and the offset differed after a fetch. A file
that is only written or appended to, such as an inherited log, is harmless.
"""

from __future__ import annotations

import io
import os
import platform
import stat
import sys
from typing import Any

from dllint.probe import events, recorder

_FETCHES = 4
_MANY = 64

# linux/kcmp.h; the numbers of the system call: arch/x86/entry/syscalls/syscall_64.tbl, uapi/asm-generic/unistd.h
_KCMP_FILE = 0
_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}.get(platform.machine())

_files: dict[int, str] = {}
_before: dict[int, int] = {}
_read = 0
_moved: set[int] = set()
_told: set[int] = set()


@events.worker_started.listen
def start(state: events.WorkerState) -> None:
    _files.clear()
    _moved.clear()
    _told.clear()
    if state.method == "fork" and sys.platform == "linux":
        _files.update(_inherited())


@events.fetching.listen
def before(state: events.WorkerState, index: object) -> None:
    global _read
    if _files and state.batches < _FETCHES:
        _before.clear()
        _before.update((fd, position) for fd in _files if (position := _position(fd)) is not None)
        _read = _read_so_far()


@events.fetched.listen
def after(state: events.WorkerState, index: object, batch: object) -> None:
    if not _files or state.batches > _FETCHES:
        return
    # The second figure includes the bytes that reading the first one took.
    used = _read_so_far() > _read if _read >= 0 else None
    for fd, path in _files.items():
        moved = fd in _before and _position(fd) != _before[fd]
        # Record a file when its offset moved, or else after enough fetches.
        if (moved and fd not in _moved) or (state.batches == _FETCHES and fd not in _told):
            if moved:
                _moved.add(fd)
            _tell(state, fd, path, moved, used)


@events.worker_epoch_ended.listen
def end(state: events.WorkerState) -> None:
    """Record the files of a worker that fetched only a few batches."""
    if not _files or not 0 < state.batches < _FETCHES:
        return
    for fd, path in _files.items():
        if fd not in _told:
            _tell(state, fd, path, False)


def _tell(state: events.WorkerState, fd: int, path: str, moved: bool, used: bool | None = None) -> None:
    _told.add(fd)
    recorder.record(
        "handle",
        path=path,
        fd=fd,
        loader=state.loader,
        worker=state.worker,
        parent=state.parent,
        shared=_same(state.parent, fd),
        used=used,
        moved=moved,
        attribute=_attribute(state.dataset, fd),
    )


def _inherited() -> dict[int, str]:
    """Return the readable regular files that are open when the worker begins, by descriptor: all are inherited."""
    import fcntl

    found: dict[int, str] = {}
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        return found
    own = recorder.held()
    for name in names:
        fd = int(name)
        try:
            path = os.readlink(f"/proc/self/fd/{fd}")
            if fd <= 2 or fd == own or not path.startswith("/") or path.startswith(("/dev/", "/proc/", "/memfd:")):
                continue
            flags = fcntl.fcntl(fd, fcntl.F_GETFL)
            if flags & os.O_APPEND or flags & os.O_ACCMODE == os.O_WRONLY:
                continue
            if stat.S_ISREG(os.fstat(fd).st_mode):
                found[fd] = path
        except OSError:
            continue
        if len(found) >= _MANY:
            break
    return found


def _position(fd: int) -> int | None:
    try:
        return os.lseek(fd, 0, os.SEEK_CUR)
    except OSError:
        return None


def _read_so_far() -> int:
    """Return the bytes that this process has read so far, including those read by this function; -1 if unknown."""
    try:
        with open("/proc/self/io", "rb", buffering=0) as file:
            text = file.read(4096)
    except OSError:
        return -1
    return int(text.split()[1]) + len(text)


def _same(parent: int | None, fd: int) -> bool | None:
    """Whether both processes' descriptors refer to one open file description; `None` if that cannot be determined."""
    if parent is None or _KCMP is None:
        return None
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        order = libc.syscall(
            ctypes.c_long(_KCMP),
            ctypes.c_int(parent),
            ctypes.c_int(os.getpid()),
            ctypes.c_int(_KCMP_FILE),
            ctypes.c_ulong(fd),
            ctypes.c_ulong(fd),
        )
    except (ImportError, OSError, AttributeError):
        return None
    return None if order < 0 else order == 0


def _attribute(dataset: Any, fd: int) -> str:
    """Return the dataset's attribute that holds the file, directly or inside an archive object; "" if none is found."""
    for name, value in list(getattr(dataset, "__dict__", {}).items()):
        inner = getattr(value, "__dict__", {})
        for one in (value, *(inner.get(part) for part in ("fp", "fileobj", "file", "_file", "zip"))):
            if _number(getattr(one, "fp", None) if not isinstance(one, io.IOBase) else one) == fd:
                return f"self.{name}"
    return ""


def _number(file: Any) -> int | None:
    if not isinstance(file, io.IOBase):
        return None
    try:
        return file.fileno()
    except (OSError, ValueError):
        return None
