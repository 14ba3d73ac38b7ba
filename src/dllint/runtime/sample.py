"""Sample the processes of a run from outside, at intervals: memory, descriptors, maps and threads."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from typing import cast

from dllint.observation import Sample
from dllint.probe import procfs
from dllint.runtime.population import Member


class Sampler:
    """Writes samples to its own file among the records. Sampling takes at most a twentieth of the time."""

    def __init__(self, directory: str, interval: float = 0.5) -> None:
        self.path = os.path.join(directory, f"{os.getpid()}-launcher.jsonl")
        self.interval = interval
        self.memory = 0
        """The sum of the proportional set sizes of all processes at the last sampling."""
        self._next = 0.0

    def look(self, group: Iterable[Member]) -> None:
        """Sample each process, if the interval has passed."""
        since = time.monotonic()
        if since < self._next:
            return
        samples = [one for member in group if (one := sample(member.pid)) is not None]
        self.memory = sum(one.pss or one.rss or 0 for one in samples)
        self._append(samples)
        took = time.monotonic() - since
        self._next = since + max(self.interval, 20 * took)

    def _append(self, samples: list[Sample]) -> None:
        text = "".join(json.dumps(one.to_json()) + "\n" for one in samples)
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            return


def sample(pid: int) -> Sample | None:
    """Return a sample of a process; `None` if it has ended, or cannot be measured."""
    now = time.time()
    held = procfs.held(pid)
    return Sample(pid, now, **held, by="launcher") if "rss" in held else _by_psutil(pid, now)


def _by_psutil(pid: int, now: float) -> Sample | None:
    if os.path.isdir("/proc/self"):
        return None
    try:
        import psutil
    except ImportError:
        return None
    try:
        process = psutil.Process(pid)
        rss = cast("int", process.memory_info().rss)
        return Sample(pid, now, rss=rss, threads=process.num_threads(), by="launcher")
    except psutil.Error:
        return None
