"""Watch `os.fork`: the child starts its own file of records, and forks by the program itself are recorded."""

from __future__ import annotations

import os
import sys
import time

from dllint.probe import recorder, sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def watch() -> None:
    """Replace `os.fork`, and listen to all forks, whether or not they go through it."""
    original = getattr(os, "fork", None)
    if original is None:
        return

    def fork() -> int:
        since = time.time()
        with sites.transparent:
            child: int = original()
        if child:
            recorder.guarded(_told, sys._getframe(1), since, child)
        return child

    fork.__module__, fork.__qualname__, fork.__doc__ = original.__module__, "fork", original.__doc__
    os.fork = fork
    os.register_at_fork(after_in_child=_forked)


def _told(frame: FrameType, since: float, child: int) -> None:
    if sites.is_users(frame.f_code.co_filename):
        recorder.record("launch", t=since, api="os.fork", site=sites.caller(frame), method="fork", child=child)


def _forked() -> None:
    if not recorder.silent:
        recorder.guarded(_begun)


def _begun() -> None:
    parent = os.getppid()
    recorder.begin(recorder.directory)
    loading = sys.modules.get("dllint.probe.loading")
    if loading is not None:
        loading.forget()
    recorder.about.update(ppid=parent, parent=parent, role="child", start_method=None, held=recorder.hold())
    recorder.tell()
    events = sys.modules.get("dllint.probe.events")
    if events is not None:
        events.forked(parent)
