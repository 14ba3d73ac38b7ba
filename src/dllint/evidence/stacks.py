"""The stacks that faulthandler wrote for a process: which of the user's lines it was at, thread by thread."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from dllint.observation import Site

_FRAME = re.compile(r'^  File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<function>.+)$')
_THREADS = re.compile(r"\n(?=(?:Current thread|Thread) 0x)")
_OWN = "/dllint/probe/"
_NOT_THE_USERS = re.compile(rf"/lib/python3\.\d+/(?!site-packages|dist-packages)|/site-packages/torch/|{_OWN}|^<")
_PACKAGES = ("/site-packages/", "/dist-packages/")
_STARTED = ("/multiprocessing/process.py", "_bootstrap")
"""Where a forked process begins: what follows is the stack of its parent at the fork."""
_INNERMOST = 3


class _Frame(NamedTuple):
    site: Site
    line: str

    @property
    def is_users(self) -> bool:
        return not _NOT_THE_USERS.search(self.site.path)


class _Thread(NamedTuple):
    head: str
    frames: tuple[_Frame, ...]

    @property
    def users(self) -> list[Site]:
        """The user's frames, innermost first; those of packages come last."""
        found = [one.site for one in self.frames if one.is_users]
        return sorted(found, key=lambda site: any(part in site.path for part in _PACKAGES))


def users_frames(text: str) -> Iterator[Site]:
    """Yield the user's frames in a process's stacks, those of each thread innermost first."""
    for thread in _threads(text):
        yield from thread.users


def where_first(text: str) -> str:
    """Return the stacks of the threads that run the user's code, each with its line first; otherwise all stacks.

    Of the frames of libraries, the innermost ones of each thread are kept.
    """
    busy = [thread for thread in _threads(text) if thread.users]
    if not busy:
        return text
    lines: list[str] = []
    for thread in busy:
        site = thread.users[0]
        lines.append(f"waits in {site.function} at {os.path.basename(site.path)}:{site.line}")
        cut = False
        for number, frame in enumerate(thread.frames):
            if frame.is_users or number < _INNERMOST:
                lines.append(frame.line)
                cut = False
            elif not cut:
                lines.append("  …")
                cut = True
    return "\n".join(lines)


def _threads(text: str) -> Iterator[_Thread]:
    for part in _THREADS.split(text):
        head, _, rest = part.partition("\n")
        frames = []
        for line in rest.splitlines():
            one = _FRAME.match(line)
            if one is None or _OWN in one["path"]:
                continue
            if one["path"].endswith(_STARTED[0]) and one["function"] == _STARTED[1]:
                break
            frames.append(_Frame(Site(one["path"], int(one["line"]), function=one["function"]), line))
        yield _Thread(head, tuple(frames))
