"""Make shared memory private in a throwaway fork, so that what it writes there never reaches the user's processes.

A dataset may keep a cache, a counter or a lock in shared memory. An item that a trial fetches would fill the cache, and
a trial that is killed would keep the lock locked.
"""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MOST = 512 << 20
"""Bytes that are copied; what is beyond stays shared."""

# asm-generic/mman-common.h, linux/mman.h
_READ_WRITE, _PRIVATE, _FIXED, _ANONYMOUS = 3, 0x02, 0x10, 0x20
_MAY_MOVE, _MOVE_TO = 1, 2


def separate() -> None:
    """Replace the writable shared maps of this process by private ones with the same content."""
    if sys.platform != "linux":
        return
    shared = sorted(_shared(), key=lambda one: one[1])
    if not shared:
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
    left = MOST
    for start, size, offset, inode, path in shared:
        if _maps_anew(libc, start, size, offset, inode, path) or size > left:
            continue
        copy = libc.mmap(None, size, _READ_WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
        if copy in (None, ctypes.c_void_p(-1).value):
            continue
        ctypes.memmove(copy, start, size)
        libc.mremap(copy, size, size, _MAY_MOVE | _MOVE_TO, start)
        left -= size


def _shared() -> Iterator[tuple[int, int, int, int, str]]:
    """Yield the maps that this process shares and can write to, except those of devices: start, size, offset in the
    file, inode and path."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) < 6 or not fields[1].startswith("rw") or not fields[1].endswith("s"):
                continue
            path = fields[5]
            if path.startswith("/dev/") and not path.startswith(("/dev/shm/", "/dev/zero")):
                continue
            start, _, end = fields[0].partition("-")
            yield int(start, 16), int(end, 16) - int(start, 16), int(fields[2], 16), int(fields[4]), path


def _maps_anew(libc: Any, start: int, size: int, offset: int, inode: int, path: str) -> bool:
    """Map a file that still has its name again, which copies nothing; returns False if there is none."""
    if path.startswith("/dev/") or not os.path.isfile(path):
        return False
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            same = os.fstat(file).st_ino == inode
            return same and libc.mmap(start, size, _READ_WRITE, _PRIVATE | _FIXED, file, offset) == start
        finally:
            os.close(file)
    return False
