"""Runs a program under instrumentation, and returns all that was seen of it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass

from dllint import observation
from dllint.observation import Launch, Observation, Process, Site, Throwaway
from dllint.probe import plan
from dllint.runtime.launch import Command, Ended, LaunchError, Watch, Watched
from dllint.runtime.progress import shown

__all__ = ["Command", "Ended", "LaunchError", "Options", "Run", "Uninstrumented", "run"]


@dataclass(frozen=True)
class Options:
    """How to run a program.

    Attributes:
        max_batches: of one iteration of a loader; None for all.
        max_epochs: how often a loader is iterated before the run ends; None for as often as the program does.
        time_limit: seconds; None for none.
        allow_saves: results are written where the program says, not to the scratch directory.
        trials: start methods under which loaders are tried.
        scratch: a directory for records and redirected saves, which stays; None for a temporary one, which goes.
        progress: whether to show a bar; None where stderr is a terminal.
        program_to_stderr: the program's standard output goes to stderr, since ours holds a report for machines.
    """

    command: Command
    max_batches: int | None = 16
    max_epochs: int | None = 3
    time_limit: float | None = 120.0
    allow_saves: bool = False
    trials: tuple[str, ...] = ()
    scratch: str | None = None
    progress: bool | None = None
    program_to_stderr: bool = False


@dataclass(frozen=True)
class Uninstrumented:
    """A Python process of the run of which there are no records, and why, as far as its command line tells."""

    pid: int
    command: tuple[str, ...]
    why: str
    site: Site | None = None


@dataclass(frozen=True)
class Run:
    """What was seen of a program.

    Attributes:
        main: the pid of the program itself.
        exit, signal: how it ended; the other one is None.
        ended: by what.
        stalled: it was at the time limit, and nothing had moved for a while.
        killed: pids of processes that it left behind.
        problems: what could not be recorded, in words.
        scratch: the directory, where it stays.
    """

    command: tuple[str, ...]
    observation: Observation
    main: int
    exit: int | None
    signal: int | None
    ended: Ended
    seconds: float
    stalled: bool = False
    uninstrumented: tuple[Uninstrumented, ...] = ()
    killed: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()
    scratch: str | None = None


def _ending(limit: float) -> float:
    """Seconds before the limit at which the program is told to come to its end: its last measures take a few."""
    return min(max(limit / 20, 5), limit / 2)


def run(options: Options) -> Run:
    """Runs a program to its end or to its limits.

    Raises:
        LaunchError: it cannot be started, or the scratch directory cannot be written to.
    """
    argv = options.command.argv()
    scratch = _scratch(options.scratch)
    try:
        now = time.time()
        _prepare(
            scratch,
            max_batches=options.max_batches,
            max_epochs=options.max_epochs,
            deadline=None if options.time_limit is None else now + options.time_limit - _ending(options.time_limit),
            allow_saves=options.allow_saves,
            trials=options.trials,
        )
        bar = shown(options.progress, options.max_batches, options.max_epochs)
        watch = Watch(scratch, options.time_limit, bar)
        watched = watch.run(argv, options.program_to_stderr)
        seen = observation.read(watched.records)
    finally:
        if options.scratch is None:
            shutil.rmtree(scratch, ignore_errors=True)
    return Run(
        command=tuple(argv),
        observation=seen,
        main=watched.main,
        exit=watched.exit,
        signal=watched.signal,
        ended=watched.ended,
        seconds=watched.seconds,
        stalled=watched.stalled,
        uninstrumented=_uninstrumented(watched, seen),
        killed=tuple(one.pid for one in watched.killed),
        problems=tuple(_problems(watched, seen)),
        scratch=options.scratch,
    )


def _scratch(wanted: str | None) -> str:
    try:
        if wanted is None:
            return os.path.realpath(tempfile.mkdtemp(prefix="dllint-"))
        path = os.path.realpath(wanted)
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise LaunchError(f"cannot make a scratch directory: {error.strerror or error}: {wanted or ''}") from None
    return path


def _prepare(scratch: str, **values: object) -> None:
    try:
        records = os.path.join(scratch, plan.RECORDS)
        shutil.rmtree(records, ignore_errors=True)
        os.makedirs(records)
        os.makedirs(os.path.join(scratch, plan.SAVES), exist_ok=True)
        plan.write(scratch, **values)
    except OSError as error:
        raise LaunchError(f"cannot write to the scratch directory {scratch}: {error.strerror or error}") from None


def _uninstrumented(watched: Watched, seen: Observation) -> tuple[Uninstrumented, ...]:
    """Python processes that were seen, or that the program says to have started, and that recorded nothing."""
    recorded = {record.pid for record in seen.of(Process)}
    found: dict[int, Uninstrumented] = {}
    for launch in seen.of(Launch):
        if launch.child is None or launch.child in recorded:
            continue
        name = os.path.basename(launch.executable)
        if launch.api != "subprocess" or name.startswith(("python", "pypy")):
            command = launch.argv or (launch.target,)
            found[launch.child] = Uninstrumented(launch.child, command, _why(command), launch.site)
    throwaway = {record.session for record in seen.of(Throwaway)}
    for member in watched.seen.values():
        if member.session in throwaway or member.pid in throwaway:
            continue
        if member.pid not in recorded and member.pid not in found and member.is_python and len(member.command) > 0:
            found[member.pid] = Uninstrumented(member.pid, member.command, _why(member.command))
    return tuple(found.values())


def _why(command: tuple[str, ...]) -> str:
    for word in command[1:]:
        if not word.startswith("-") or word in ("-c", "-m"):
            break
        for letter in "ISE":
            if not word.startswith("--") and letter in word:
                return f"started with -{letter}, which keeps the instrumentation out"
    return "its environment does not have the PYTHONPATH of the run"


def _problems(watched: Watched, seen: Observation) -> list[str]:
    said = []
    if watched.main not in {record.pid for record in seen.of(Process)}:
        said.append("the program itself could not be instrumented: nothing was recorded")
    if seen.cut:
        said.append(f"{seen.cut} records are incomplete and were skipped")
    if seen.malformed:
        said.append(f"{seen.malformed} records are invalid and were skipped")
    if sys.platform != "linux":
        said.append("memory, file descriptors and memory maps are measured on Linux only")
    return said
