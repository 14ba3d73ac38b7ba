"""Starts the user's program under instrumentation, watches it, and ends it when the time is up.

The program runs in its own session, with the interpreter that dllint runs in. Few variables of its environment change:
PYTHONPATH, which brings the probe's sitecustomize to every Python process, those that name the scratch directory and
the launcher, and those that keep experiment trackers offline (`trackers`).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dllint import probe
from dllint.observation import (
    End,
    Enough,
    Epoch,
    Feeder,
    Iteration,
    Launch,
    Loader,
    Process,
    Progress,
    Storages,
    Throwaway,
    Trial,
    Worker,
)
from dllint.probe import plan, procfs
from dllint.runtime import population
from dllint.runtime.isolation.starting import Program
from dllint.runtime.population import Member, Population
from dllint.runtime.progress import Shown
from dllint.runtime.sample import Sampler
from dllint.runtime.signals import Signals
from dllint.runtime.tailing import Tail

Ended = Literal["itself", "max-epochs", "time-limit", "interrupt"]

SITE = str(Path(probe.__file__ or "").parent / "site")
_TICK = 0.1
_AFTER_ENOUGH = 20.0
_AFTER_RAISED = 3
_PATIENCE = 3.0
_AFTER_SIGNAL, _HURRIED = 1.5, 0.5
_STALLED = 20.0
_AFTER_LOST = 10.0
"""Seconds without progress after which a loader whose worker could not send an item is considered to hang."""


_MOVING = (Feeder, Loader, Iteration, Epoch, Progress, Launch, Worker, Throwaway, Storages, Trial, End)
"""The records that show progress, of the program or of what is counted and tried before its workers start."""


class LaunchError(Exception):
    """The program cannot be started; the message is one line for the user."""


@dataclass(frozen=True)
class Command:
    """The command to run: a script, a module, or any command, each with its arguments."""

    kind: Literal["script", "module", "command"]
    words: tuple[str, ...]

    def argv(self) -> list[str]:
        """Return the argument list of the process to start.

        Raises:
            LaunchError: there is no such script.
        """
        if not self.words:
            raise LaunchError("nothing to run: name a script, -m MODULE, or a command after --")
        if self.kind == "command":
            return list(self.words)
        if self.kind == "module":
            return [sys.executable, "-m", *self.words]
        if self.words[0] != "-" and not os.path.exists(self.words[0]):
            raise LaunchError(f"no such script: {self.words[0]}")
        return [sys.executable, *self.words]


@dataclass
class Watched:
    """How a program ended, as its launcher saw it."""

    main: int
    exit: int | None = None
    signal: int | None = None
    ended: Ended = "itself"
    seconds: float = 0.0
    stalled: bool = False
    seen: dict[int, Member] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=dict)
    killed: tuple[Member, ...] = ()
    records: str = ""


def mark(scratch: str) -> str:
    """Return the entry in the environment of every process of the run."""
    return f"{plan.VARIABLE}={scratch}"


def environment(scratch: str, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of the program: the user's, with the probe in PYTHONPATH and the scratch directory."""
    old = base.get("PYTHONPATH")
    return {
        **base,
        "PYTHONPATH": SITE + (os.pathsep + old if old else ""),
        plan.VARIABLE: scratch,
        plan.LAUNCHER: str(os.getpid()),
    }


class Watch:
    """A running program."""

    def __init__(self, scratch: str, limit: float | None, shown: Shown, signals: Signals) -> None:
        self.scratch = scratch
        self.records = os.path.join(scratch, plan.RECORDS)
        self.limit = limit
        self.shown = shown
        self.signals = signals
        self.sampler = Sampler(self.records)
        self.tail = Tail(self.records)
        self.population = Population(mark(scratch), population.children())
        self.told: set[int] = set()
        self.held: dict[int, int] = {}
        self.raised: dict[int, int] = {}
        self.enough_at: float | None = None
        self.by_limit = False
        self.moved_at = time.monotonic()
        self.lost: set[str] = set()
        self.starting: dict[int, int] = {}
        self.arrived: set[int] = set()
        self.open: set[tuple[str, int]] = set()
        self.used = 0
        self.group: list[Member] = []

    def run(self, program: Program) -> Watched:
        """Run a program that is ready to start to its end.

        Raises:
            CannotStart: there is no such program.
        """
        self.population.leave_alone(program.guard)
        since = time.monotonic()
        process = program.go()
        self.program = program
        self.population.main = process.pid
        watched = Watched(process.pid, records=self.records)
        try:
            self._watch(process, watched, since)
        finally:
            ended = self.population.end(_PATIENCE if self.signals.number is None else _HURRIED)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
        watched.killed = tuple(one for one in ended if one.pid != process.pid)
        watched.seconds = time.monotonic() - since
        code = process.returncode
        watched.exit, watched.signal = (code, None) if code is None or code >= 0 else (None, -code)
        self._follow()
        if watched.ended == "itself" and self.enough_at is not None:
            watched.ended = "time-limit" if self.by_limit else "max-epochs"
        return watched

    def _watch(self, process: subprocess.Popen[bytes], watched: Watched, since: float) -> None:
        with self.shown:
            while True:
                if self._tick(process, watched, since):
                    return
                if self.signals.number is not None and watched.ended != "interrupt":
                    watched.ended = "interrupt"
                    self.enough_at = time.monotonic() - _AFTER_ENOUGH + _AFTER_SIGNAL
                    with contextlib.suppress(OSError):
                        os.killpg(process.pid, self.signals.number)

    def _tick(self, process: subprocess.Popen[bytes], watched: Watched, since: float) -> bool:
        """Poll the program once; returns whether it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_TICK)
            return True
        self._follow()
        self.group = self.population.members()
        for member in self.group:
            watched.seen[member.pid] = member
            # A process whose parent ends is reparented, so the first parent counts.
            watched.parents.setdefault(member.pid, member.ppid)
            if member.pid not in self.told:
                self.told.add(member.pid)
                self.program.know(member.pid, member.started)
        if self._workers_are_starting() or self._computes(process.pid):
            self.moved_at = time.monotonic()
        self.sampler.look(self.group)
        self.shown.state(len(self.group), self.sampler.memory)
        now = time.monotonic()
        waits = bool(self.lost) and now - self.moved_at > _AFTER_LOST
        if (waits or (self.limit is not None and now - since > self.limit)) and watched.ended != "interrupt":
            watched.ended = "time-limit"
            watched.stalled = waits or now - self.moved_at > min(_STALLED, (self.limit or _STALLED) / 3)
            self.stacks()
            if self.enough_at is not None and not watched.stalled:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_PATIENCE)
            return True
        if self.enough_at is None:
            return False
        # The exception was raised: the program gets time to end, unless it swallows the exception repeatedly.
        return now - self.enough_at > _AFTER_ENOUGH or max(self.raised.values(), default=0) >= _AFTER_RAISED

    def _workers_are_starting(self) -> bool:
        """Whether a worker that has not reached its loop has used the processor since the last call.

        On a busy machine, new interpreters need much longer than a hang is given to import torch.
        """
        moved = False
        for pid, before in list(self.starting.items()):
            used = procfs.processor_time(pid)
            if used is None:
                del self.starting[pid]
            elif used > before:
                self.starting[pid] = used
                moved = True
        return moved

    def _computes(self, main: int) -> bool:
        """Whether the program, which waits for no batch, has used the processor since the last call.

        It may evaluate or save something, or end: on a busy machine that takes longer than a hang is given.
        """
        before, self.used = self.used, procfs.processor_time(main) or 0
        return not self.open and self.used > before

    def _follow(self) -> None:
        for record in self.tail.fresh():
            self.shown.record(record)
            if isinstance(record, Process):
                self.held[record.pid] = record.held
                self.population.know(record.pid)
            elif isinstance(record, Enough):
                self.raised[record.pid] = self.raised.get(record.pid, 0) + 1
                self.by_limit = self.by_limit or record.by == "time-limit"
                if self.enough_at is None:
                    self.enough_at = time.monotonic()
            if isinstance(record, Feeder) and record.loader:
                self.lost.add(record.loader)
            elif isinstance(record, Epoch):
                self.lost.discard(record.loader)
            if isinstance(record, Iteration) and not record.error:
                self.open.add((record.loader, record.number))
            elif isinstance(record, Epoch):
                self.open.discard((record.loader, record.number))
            elif isinstance(record, Worker):
                self.arrived.add(record.pid)
                self.starting.pop(record.pid, None)
            elif isinstance(record, Launch) and record.api == "DataLoader":
                child = record.child
                # A worker may reach its loop before its parent has recorded that it started it.
                if child is not None and child not in self.arrived:
                    self.starting[child] = 0
            if isinstance(record, _MOVING):
                self.moved_at = time.monotonic()

    def stacks(self) -> None:
        """Make every process that can write its stacks do so, except those that closed the descriptor for it."""
        number = plan.stack_signal()
        if number is None:
            return
        asked = []
        for member in self.group:
            held = self.held.get(member.pid, -1)
            if held < 0 or not population.is_alive(member):
                continue
            with contextlib.suppress(OSError):
                path = os.readlink(f"/proc/{member.pid}/fd/{held}")
                if os.path.basename(path).startswith(f"{member.pid}-") and path.endswith(".stack"):
                    os.kill(member.pid, number)
                    asked.append(path)
        until = time.monotonic() + _PATIENCE / 2
        while time.monotonic() < until and any(_size(path) == 0 for path in asked):
            time.sleep(0.05)
        time.sleep(0.1)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
