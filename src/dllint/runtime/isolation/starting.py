"""Starts the user's program through `enter.py`, and communicates with it until the program has begun."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dllint.probe import plan
from dllint.runtime.isolation import guard, mounts

FORBIDDEN = "DLLINT_NO_NAMESPACES"
"""If this environment variable is set, a run uses no namespaces even if the kernel allows them."""
USER = plan.USER_NAMESPACE
"""Set for the program if its layers are in a user namespace."""
_ENTER = str(Path(__file__).with_name("enter.py"))
_PACKAGE = str(Path(__file__).parents[2])
_ANSWER = 20.0
"""Seconds after which an unresponsive process is given up."""


class CannotStart(Exception):
    """The program cannot be started; the message is one line for the user."""


@dataclass(frozen=True)
class Asked:
    """How to start a program.

    Attributes:
        scratch: the directory for records.
        temporary: the scratch directory is created now, and removed at the end of the run.
        network: whether the program keeps the network.
        needed: directories that the program must be able to write to.
        to_stderr: redirect the program's standard output to its standard error.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    mark: str
    scratch: str
    temporary: bool
    network: bool = True
    needed: tuple[str, ...] = ()
    to_stderr: bool = False


class Program:
    """A program that is about to start, with the guard that watches over it.

    Attributes:
        process: the process that becomes the program.
        guard: the pid of the guard, 0 if there is none.
        layers: covered directories, each with an open descriptor of its upper directory.
        read_only: mounts that could not be covered, and cannot be written to.
        in_memory: whether some uppers are in memory.
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.guard = 0
        self.layers: tuple[tuple[str, int], ...] = ()
        self.read_only: tuple[str, ...] = ()
        self.in_memory = False
        self._life = -1
        self._talk: socket.socket | None = None
        self._removed = [*_vaults(), *((asked.scratch,) if asked.temporary else ())]
        try:
            if sys.platform == "linux":
                self.process = self._enter()
            else:
                if asked.temporary:
                    os.mkdir(asked.scratch, 0o700)
                self._removed = [asked.scratch] if asked.temporary else []
        except OSError as error:
            self.done()
            raise CannotStart(f"cannot make a scratch directory: {error.strerror or error}: {asked.scratch}") from None

    @property
    def own(self) -> tuple[str, ...]:
        """Directories of the run itself, whose changes are not writes of the program."""
        return tuple(one + os.sep for one in self._removed)

    def _enter(self) -> subprocess.Popen[bytes]:
        ours, theirs = socket.socketpair()
        reading, self._life = os.pipe()
        self._talk = ours
        ours.settimeout(_ANSWER)
        told = {
            "argv": self.asked.argv,
            "talk": theirs.fileno(),
            "life": reading,
            "launcher": os.getpid(),
            "mark": self.asked.mark,
            "package": _PACKAGE,
            "made": [self.asked.scratch],
            "vaults": [one for one in self._removed if one != self.asked.scratch],
            "removed": self._removed,
            "network": self.asked.network,
            "needed": self.asked.needed,
            "shared": [self.asked.scratch],
            "directory": os.getcwd(),
            "user": USER,
        }
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", _ENTER, json.dumps(told)],
                env={**self.asked.environment},
                stdout=sys.stderr if self.asked.to_stderr else None,
                start_new_session=True,
                pass_fds=(theirs.fileno(), reading),
            )
        os.close(reading)
        self.process = process
        answer = self._heard()
        if "made" not in answer:
            raise OSError(answer.get("failed", "the process for it ended at once"))
        self.guard = int(answer["guard"])
        return process

    def cover(self) -> str:
        """Cover the file system; returns why it cannot be done, "" on success.

        Raises:
            CannotStart: it cannot be done, and no replacement process without layers can be started.
        """
        if sys.platform != "linux":
            return f"{sys.platform} has none"
        if os.environ.get(FORBIDDEN):
            return f"{FORBIDDEN} is set"
        assert self._talk is not None
        with contextlib.suppress(OSError):
            self._talk.sendall(b"cover\n")
        answer = self._heard()
        if "covered" not in answer:
            self._start_again()
            return str(answer.get("failed", "the process that should make them ended"))
        self.layers = tuple(zip(answer["covered"], self._received, strict=False))
        self.read_only = tuple(answer["read_only"])
        self.in_memory = bool(answer["in_memory"])
        with contextlib.suppress(OSError):
            # A process can change its session, parent and environment, but its namespace stays.
            self._tell(f"{guard.NAMESPACE} {os.readlink(f'/proc/{self.process.pid}/ns/mnt')}")
        return ""

    def _start_again(self) -> None:
        """Replace the process: some of its directories may be covered already, including the one for records.

        Raises:
            CannotStart: no other can be started.
        """
        self._end_process()
        self._dismiss_guard()
        for directory in self._removed:
            if directory != self.asked.scratch:
                guard.remove(directory)
        try:
            self.process = self._enter()
        except OSError as error:
            raise CannotStart(f"cannot make a scratch directory: {error.strerror or error}") from None

    def go(self) -> subprocess.Popen[bytes]:
        """Let the program begin.

        Raises:
            CannotStart: there is no such program, or it may not be run.
        """
        name = self.asked.argv[0]
        if self._talk is None:
            try:
                self.process = subprocess.Popen(
                    self.asked.argv,
                    env={**self.asked.environment},
                    stdout=sys.stderr if self.asked.to_stderr else None,
                    start_new_session=True,
                )
            except OSError as error:
                raise CannotStart(f"cannot start {name}: {(error.strerror or str(error)).lower()}") from None
            return self.process
        with contextlib.suppress(OSError):
            self._talk.sendall(b"go\n")
        answer = self._heard()
        self._talk.close()
        if "exec" in answer:
            self.process.wait()
            raise CannotStart(f"cannot start {name}: {answer['exec']}")
        return self.process

    def know(self, pid: int, started: str) -> None:
        """Report a process of the run to the guard."""
        self._tell(f"{pid} {started}")

    def _tell(self, line: str) -> None:
        if self._life >= 0:
            with contextlib.suppress(OSError):
                os.write(self._life, f"{line}\n".encode())

    def done(self) -> None:
        """Remove the run's directories and dismiss the guard, after the caller has ended all processes."""
        self._end_process()
        for _, upper in self.layers:
            os.close(upper)
        self.layers = ()
        for directory in self._removed:
            guard.remove(directory)
        self._dismiss_guard()

    def _end_process(self) -> None:
        if self._talk is not None:
            self._talk.close()
        process: subprocess.Popen[bytes] | None = getattr(self, "process", None)
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()

    def _dismiss_guard(self) -> None:
        if self._life >= 0:
            with contextlib.suppress(OSError):
                os.write(self._life, guard.DONE + b"\n")
            os.close(self._life)
            self._life = -1
            if self.guard:
                with contextlib.suppress(OSError):
                    os.waitpid(self.guard, 0)

    def _heard(self) -> dict[str, Any]:
        """Return the next message of the process; empty if it has ended, or has become the program."""
        assert self._talk is not None
        until = time.monotonic() + _ANSWER
        text, self._received = b"", []
        while not text.endswith(b"\n"):
            if not select.select([self._talk], [], [], max(until - time.monotonic(), 0))[0]:
                break
            try:
                data, descriptors, _, _ = socket.recv_fds(self._talk, 1 << 16, 250)
            except ConnectionError:
                # It ended without reading our last message.
                break
            self._received += descriptors
            if not data:
                break
            text += data
        with contextlib.suppress(ValueError):
            told: dict[str, Any] = json.loads(text)
            return told
        return {}


def scratch_place() -> str:
    """Return the path for a new temporary scratch directory."""
    return os.path.join(os.path.realpath(tempfile.gettempdir()), f"dllint-{os.urandom(6).hex()}")


def _vaults() -> list[str]:
    """Return paths for vaults: below different top-level directories, those on disk before those in memory."""
    if sys.platform != "linux":
        return []
    home = os.path.expanduser("~")
    wanted = (tempfile.gettempdir(), "/var/tmp", os.path.join(home, ".cache"), home, "/tmp")
    found: dict[str, str] = {}
    for place in map(os.path.realpath, wanted):
        top = place.split(os.sep)[1]
        if top and top not in found and os.path.isdir(place) and os.access(place, os.W_OK):
            found[top] = place
    known = mounts.read_mounts()
    name = f"dllint-{os.urandom(6).hex()}"

    def in_memory(place: str) -> bool:
        on = max((one for one in known if mounts.is_below(place, one)), key=len, default="/")
        return on in known and known[on].kind == "tmpfs"

    return [os.path.join(place, name) for place in sorted(found.values(), key=in_memory)]
