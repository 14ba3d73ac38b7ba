"""The open files that a forked process inherits from its parent: whether both share one offset."""

from __future__ import annotations

import os
import platform
import stat

from dllint.probe import recorder

_MANY = 64

# linux/kcmp.h; the numbers of the system call: arch/x86/entry/syscalls/syscall_64.tbl, uapi/asm-generic/unistd.h
_KCMP_FILE = 0
_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}.get(platform.machine())


def listed() -> dict[int, str]:
    """Return the readable regular files that are open when the process begins, by descriptor: all are inherited."""
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


def position(fd: int) -> int | None:
    try:
        return os.lseek(fd, 0, os.SEEK_CUR)
    except OSError:
        return None


def read_so_far() -> int:
    """Return the bytes that this process has read so far, including those read by this function; -1 if unknown."""
    try:
        with open("/proc/self/io", "rb", buffering=0) as file:
            text = file.read(4096)
    except OSError:
        return -1
    return int(text.split()[1]) + len(text)


def is_shared(parent: int | None, fd: int) -> bool | None:
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


class Watch:
    """The inherited files of a process that is no worker of a loader, from its start until its work is done.

    Records each file at most once, when its offset has moved.
    """

    def __init__(self, parent: int) -> None:
        self.parent = parent
        self.files = {fd: (path, position(fd)) for fd, path in listed().items()}

    def look(self) -> None:
        """Record the files whose offset has moved since the process started."""
        for fd, (path, start) in list(self.files.items()):
            now = position(fd)
            if now is None or now == start:
                continue
            del self.files[fd]
            if os.path.exists(f"/proc/self/fd/{fd}") and os.readlink(f"/proc/self/fd/{fd}") == path:
                recorder.record(
                    "handle", path=path, fd=fd, parent=self.parent, shared=is_shared(self.parent, fd), moved=True
                )
