"""Ends the processes of a run and removes its directories if dllint itself was killed."""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DONE = b"done"
NAMESPACE = "namespace"
_PATIENCE = 3.0
_GENTLE = 1.0
_ENDS_ITSELF = (b"multiprocessing.resource_tracker", b"torch_shm_manager")
"""Processes that clean up after others have ended, and then end by themselves."""


def start(life: int, kept: int, session: int, mark: str, directories: Sequence[str]) -> int:
    """Start the guard, as a process that is not a child of this one.

    Args:
        life: the reading end of a pipe that dllint holds open; dllint writes lines to it: `<pid> <start>` for processes
            that it has seen, `namespace <name>` for the run's mounts, and `done` if nothing is left to do.
        kept: a descriptor that the guard must close.
        session: the session of the program.
        mark: an entry in the environment of all processes of the run, `NAME=value`.
        directories: the directories to remove.

    Returns:
        The pid of the guard.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            inner = os.fork()
            if inner:
                os.write(writing, str(inner).encode())
                os._exit(0)
            os.close(kept)
            _guard(life, session, mark, directories)
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    guard = int(os.read(reading, 20) or b"0")
    os.close(reading)
    return guard


def _guard(life: int, session: int, mark: str, directories: Sequence[str]) -> None:
    os.setsid()
    os.chdir("/")
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    known: dict[int, bytes] = {}
    namespace = ""
    pending = b""
    while data := os.read(life, 65536):
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            if line == DONE:
                return
            word, _, rest = line.partition(b" ")
            if word == NAMESPACE.encode():
                namespace = rest.decode()
            else:
                known[int(word)] = rest
    end(session, os.fsencode(mark), known, namespace)
    for directory in directories:
        remove(directory)


def end(session: int, mark: bytes, known: dict[int, bytes], namespace: str) -> None:
    """Kill all processes of the run: those known, in its session or namespace, or with its mark; and descendants."""
    since = time.monotonic()
    while time.monotonic() - since < _PATIENCE:
        found = _living(session, mark, known, namespace)
        late = time.monotonic() - since > _GENTLE
        for pid, tidies in found.items():
            if late or not tidies:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue
        if not found:
            return
        time.sleep(0.02)


def _living(session: int, mark: bytes, known: dict[int, bytes], namespace: str) -> dict[int, bool]:
    """Return the run's living processes, and for each whether it will end by itself."""
    parents: dict[int, int] = {}
    found: dict[int, bool] = {}
    ours = os.getpid()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == ours:
            continue
        pid = int(name)
        try:
            fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                continue
            parents[pid] = int(fields[1])
            marked = known.get(pid) == fields[19] or int(fields[3]) == session
            marked = marked or (namespace != "" and os.readlink(f"/proc/{pid}/ns/mnt") == namespace)
            if marked or mark in _read(f"/proc/{pid}/environ").split(b"\0"):
                found[pid] = False
        except (OSError, IndexError, ValueError):
            continue
    grown = True
    while grown:
        more = [pid for pid, parent in parents.items() if parent in found and pid not in found]
        found.update(dict.fromkeys(more, False))
        grown = bool(more)
    for pid in found:
        try:
            command = _read(f"/proc/{pid}/cmdline")
        except OSError:
            continue
        found[pid] = any(one in command for one in _ENDS_ITSELF)
    return found


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def remove(directory: str) -> None:
    """Remove a directory recursively; overlayfs leaves directories without any permissions in its uppers."""
    for place, directories, files in os.walk(directory, topdown=True):
        for name in directories:
            inner = os.path.join(place, name)
            if not os.path.islink(inner):
                _try(os.chmod, inner, 0o700)
        for name in files:
            _try(os.unlink, os.path.join(place, name))
    for place, directories, _ in os.walk(directory, topdown=False):
        for name in directories:
            inner = os.path.join(place, name)
            _try(os.unlink if os.path.islink(inner) else os.rmdir, inner)
    _try(os.rmdir, directory)


def _try(work: object, *values: object) -> None:
    try:
        work(*values)  # type: ignore[operator]
    except OSError:
        return
