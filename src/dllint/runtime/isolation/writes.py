"""The files that a program wrote behind its layers: listed from the upper directories, and copied out of them.

In an upper directory a deleted file is a character device 0/0, and a moved directory names its old place in an extended
attribute (overlayfs.rst, "whiteouts and opaque directories", "redirect_dir").
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import stat
from collections.abc import Iterator, Sequence

from dllint.run_report import Written

_REDIRECT = "trusted.overlay.redirect"
_NOT_RESULTS = ("__pycache__",)
_SEGMENTS = ("/dev/shm/torch_", "/dev/shm/cuda.shm.")
"""What torch and CUDA leave in shared memory where processes are ended: tensors on their way to another one."""
_COMPARED = 64 << 20


def listed(layers: Sequence[tuple[str, int]], without: Sequence[str]) -> tuple[Written, ...]:
    """Return every file written, deleted or moved, sorted by path; `without` lists the run's own directories."""
    found = [one for place, upper in layers for one in _in(place, f"/proc/self/fd/{upper}", tuple(without))]
    return tuple(sorted(found, key=lambda one: one.path))


def _in(place: str, upper: str, without: tuple[str, ...]) -> Iterator[Written]:
    try:
        entries = sorted(os.scandir(upper), key=lambda one: one.name)
    except OSError:
        return
    for entry in entries:
        path = os.path.join(place, entry.name)
        if path.startswith((*without, *_SEGMENTS)) or entry.name in _NOT_RESULTS:
            continue
        about = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(about.st_mode):
            moved = _moved(entry.path)
            if moved:
                yield Written(path, "moved", 0)
            yield from _in(path, entry.path, without)
        elif stat.S_ISCHR(about.st_mode) and about.st_rdev == 0:
            yield Written(path, "deleted", 0)
        elif not stat.S_ISSOCK(about.st_mode):
            if not os.path.lexists(path):
                yield Written(path, "new", about.st_size)
            elif not _is_same(entry.path, path):
                yield Written(path, "changed", about.st_size)


def _is_same(written: str, path: str) -> bool:
    """Whether a file that was opened for writing has unchanged content. Large files count as changed."""
    try:
        if os.path.islink(written) or os.path.islink(path):
            return os.path.islink(path) and os.path.islink(written) and os.readlink(written) == os.readlink(path)
        return os.path.getsize(written) <= _COMPARED and filecmp.cmp(written, path, shallow=False)
    except OSError:
        return False


def _moved(upper: str) -> str:
    try:
        return os.fsdecode(os.getxattr(upper, _REDIRECT))
    except (OSError, AttributeError):
        return ""


def keep(layers: Sequence[tuple[str, int]], without: Sequence[str], target: str) -> None:
    """Copy everything that was written to `target`, each file under its absolute path.

    Raises:
        OSError: `target` cannot be written to.
    """
    os.makedirs(target, exist_ok=True)
    for place, upper in layers:
        _keep(place, f"/proc/self/fd/{upper}", target, place, tuple(without))


def _keep(place: str, upper: str, target: str, layer: str, without: tuple[str, ...]) -> None:
    moved = _moved(upper)
    if moved:
        old = layer + moved if moved.startswith("/") else os.path.join(os.path.dirname(place), moved)
        with contextlib.suppress(OSError):
            shutil.copytree(old, target + place, symlinks=True, dirs_exist_ok=True)
    for entry in os.scandir(upper):
        path = os.path.join(place, entry.name)
        if path.startswith((*without, *_SEGMENTS)) or entry.name in _NOT_RESULTS:
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            _keep(path, entry.path, target, layer, without)
        elif stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            os.makedirs(target + place, exist_ok=True)
            shutil.copy2(entry.path, target + path, follow_symlinks=False)
