"""A progress line on the terminal while a program runs: epochs and batches, processes and their memory."""

from __future__ import annotations

import contextlib
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from dllint.observation import Epoch, Iteration, Progress, Record

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


class Shown(Protocol):
    """A display of a run's progress."""

    def __enter__(self) -> Shown: ...
    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def record(self, record: Record) -> None: ...
    def state(self, processes: int, memory: int) -> None: ...


class Nothing:
    """A display that shows nothing."""

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def record(self, record: Record) -> None:
        pass

    def state(self, processes: int, memory: int) -> None:
        pass


class Line:
    """A rich progress bar on stderr, removed when the run has ended."""

    def __init__(self, max_batches: int | None, max_epochs: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.max_batches = max_batches
        self.max_epochs = max_epochs
        self.bar: Bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[batches]}"),
            TextColumn("{task.fields[memory]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=4,
        )
        self.task = self.bar.add_task("starting", total=None, batches="", memory="")

    def __enter__(self) -> Line:
        with contextlib.suppress(OSError):
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        # The terminal may have been closed.
        with contextlib.suppress(OSError):
            self.bar.stop()

    def record(self, record: Record) -> None:
        if isinstance(record, Iteration):
            of = f" of {self.max_epochs}" if self.max_epochs and record.number < self.max_epochs else ""
            self.bar.update(self.task, description=f"epoch {record.number + 1}{of}", completed=0, batches="")
        elif isinstance(record, (Progress, Epoch)):
            total = min((one for one in (record.total, self.max_batches) if one), default=None)
            count = f"{record.batches}/{total} batches" if total else f"{record.batches} batches"
            self.bar.update(self.task, completed=record.batches, total=total, batches=count)

    def state(self, processes: int, memory: int) -> None:
        what = "process" if processes == 1 else "processes"
        self.bar.update(self.task, memory=f"{memory / 2**20:,.0f} MiB in {processes} {what}")


def shown(wanted: bool | None, max_batches: int | None, max_epochs: int | None) -> Shown:
    """Return a progress line if it is wanted; with `None`, if stderr is a terminal."""
    if wanted is None:
        wanted = sys.stderr is not None and sys.stderr.isatty()
    return Line(max_batches, max_epochs) if wanted else Nothing()
