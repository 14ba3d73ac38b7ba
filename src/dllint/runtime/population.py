"""Find all processes of a run, including those that were re-parented or moved to another session.

On Linux every process of the machine is examined in procfs: the run's are those that descend from the launcher, which
adopts orphans (PR_SET_CHILD_SUBREAPER), those in the program's session, and those with the run's mark in their
environment. Elsewhere psutil, if installed, lists descendants; without it only the process group is known.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_TIDYING = ("multiprocessing.resource_tracker", "torch_shm_manager")


@dataclass(frozen=True)
class Member:
    """A process of the run; `started` distinguishes it from a later one with the same pid."""

    pid: int
    started: str
    ppid: int
    session: int
    command: tuple[str, ...] = ()
    executable: str = ""

    @property
    def is_python(self) -> bool:
        return Path(self.executable).name.startswith(("python", "pypy"))

    @property
    def is_tracker(self) -> bool:
        """Whether this is a resource tracker, or torch's manager of shared memory. These end by themselves once all
        their users have ended, and unlink what those left behind."""
        return any(name in one for one in self.command for name in _TIDYING)


def adopt(wanted: bool) -> None:
    """Make this process adopt orphaned descendants, or leave them to init again. Linux only."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


class Population:
    """The processes of one run.

    Args:
        mark: an entry in the environment of its processes, `NAME=value`.
        before: earlier children of the launcher, which do not belong to the run.
    """

    def __init__(self, mark: str, before: Iterable[int] = ()) -> None:
        self.mark = mark
        self.main = -1
        self._before = frozenset(before)
        self._known: dict[int, str] = {}

    def leave_alone(self, pid: int) -> None:
        """Exclude a child of the launcher that does not belong to the run."""
        self._before |= {pid}

    def know(self, pid: int) -> None:
        """Add a process to the run, and with it its descendants."""
        member = look(pid)
        if member is not None:
            self._known[pid] = member.started

    def members(self, thorough: bool = False) -> list[Member]:
        """Return the living processes of the run. A thorough search reads every environment: it is slower, and finds
        processes without any other connection."""
        if not os.path.isdir("/proc/self"):
            return _by_psutil(self.main)
        found = {one.pid: one for one in _all()}
        ours = os.getpid()
        inside = {pid: True for pid, started in self._known.items() if pid in found and found[pid].started == started}
        inside |= {self.main: True, ours: False, **dict.fromkeys(self._before, False)}
        taken = []
        for member in found.values():
            if member.pid == ours or member.pid in self._before:
                continue
            inherited = member.session == self.main or _descends(member.pid, found, inside, ours)
            if inherited or (thorough and _marked(member.pid, self.mark)):
                taken.append(_described(member))
                self._known[member.pid] = member.started
        return taken

    def end(self, patience: float) -> list[Member]:
        """End all living processes after a moment to end by themselves: first SIGTERM, then SIGKILL. Returns them.

        Resource trackers may end by themselves within `patience` seconds.
        """
        self._wait(min(patience, 1.0))
        ended: dict[int, Member] = {}
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
            group = self.members(thorough=True)
            if not group:
                break
            others = [one for one in group if not one.is_tracker]
            ended.update((one.pid, one) for one in others)
            if others or number == signal.SIGKILL:
                send(others or group, number)
            self._wait(patience)
        return list(ended.values())

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        self.reap()
        while time.monotonic() < until and self.members():
            time.sleep(0.05)
            self.reap()

    def reap(self) -> None:
        """Reap adopted processes that have ended, except the program itself, which its starter waits for."""
        for pid in children():
            if pid != self.main and pid not in self._before:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)


def _descends(pid: int, found: dict[int, Member], inside: dict[int, bool], ours: int) -> bool:
    way = []
    current = pid
    while current not in inside:
        way.append(current)
        member = found.get(current)
        if member is None or member.ppid == 0:
            break
        # The launcher's own children are the program and the orphans that it adopted.
        if member.ppid == ours:
            inside[current] = True
            break
        current = member.ppid
    answer = inside.get(current, False)
    inside.update(dict.fromkeys(way, answer))
    return answer


def _all() -> Iterable[Member]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            member = look(int(name))
            if member is not None:
                yield member


def look(pid: int) -> Member | None:
    """Return a living process, without its command line; `None` if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # Fields after the name (proc_pid_stat(5)): state, ppid, pgrp, session, …; starttime is field 22 of all.
        if fields[0] in (b"Z", b"X"):
            return None
        return Member(pid, fields[19].decode(), int(fields[1]), int(fields[3]))
    except (OSError, IndexError, ValueError):
        return None


def _described(member: Member) -> Member:
    return Member(
        member.pid, member.started, member.ppid, member.session, _command(member.pid), executable_of(member.pid)
    )


def _command(pid: int) -> tuple[str, ...]:
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ()
    return tuple(os.fsdecode(one) for one in text.rstrip(b"\0").split(b"\0")) if text else ()


def executable_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def _marked(pid: int, mark: str) -> bool:
    try:
        return os.fsencode(mark) in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _by_psutil(main: int) -> list[Member]:
    try:
        import psutil
    except ImportError:
        return []
    found = []
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(main)
        for one in [root, *root.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                if one.status() != psutil.STATUS_ZOMBIE:
                    found.append(
                        Member(one.pid, str(one.create_time()), one.ppid(), 0, tuple(one.cmdline()), one.exe())
                    )
    return found


def send(group: Iterable[Member], number: int) -> None:
    """Send a signal to each process that is still alive and not another one with the same pid."""
    for member in group:
        if is_alive(member):
            with contextlib.suppress(OSError):
                os.kill(member.pid, number)


def is_alive(member: Member) -> bool:
    if not os.path.isdir("/proc/self"):
        with contextlib.suppress(OSError):
            os.kill(member.pid, 0)
            return True
        return False
    now = look(member.pid)
    return now is not None and now.started == member.started


def children() -> list[int]:
    """Return the pids of this process's children, including ended ones; Linux only."""
    found = []
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(one) for one in task.read_text().split()]
    return found
