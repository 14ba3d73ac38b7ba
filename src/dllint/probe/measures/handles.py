"""Open files that a forked worker inherits from its parent: whether they share an offset, and whether it moves.

The race itself occurs in only a few of ten thousand reads, so a clean run proves nothing. These facts are exact: parent
and worker hold the same open file description (`kcmp(2)`, KCMP_FILE), and the offset differed after a fetch. A file
that is only written or appended to, such as an inherited log, is harmless.
"""

from __future__ import annotations

import io
import sys
from typing import Any

from dllint.probe import events, inherited_files, recorder

_FETCHES = 4

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
        _files.update(inherited_files.listed())
        if _files:
            state.watch(_FETCHES, state.number + 1)


@events.fetching.listen
def before(state: events.WorkerState, index: object) -> None:
    global _read
    if _files and state.batches < _FETCHES:
        _before.clear()
        _before.update((fd, position) for fd in _files if (position := inherited_files.position(fd)) is not None)
        _read = inherited_files.read_so_far()


@events.fetched.listen
def after(state: events.WorkerState, index: object, batch: object) -> None:
    if not _files or state.batches > _FETCHES:
        return
    # The second figure includes the bytes that reading the first one took.
    used = inherited_files.read_so_far() > _read if _read >= 0 else None
    for fd, path in _files.items():
        moved = fd in _before and inherited_files.position(fd) != _before[fd]
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
        shared=inherited_files.is_shared(state.parent, fd),
        used=used,
        moved=moved,
        attribute=_attribute(state.dataset, fd),
    )


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
