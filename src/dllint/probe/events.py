"""The events in the user's processes that measuring code can subscribe to.

The modules of `measures` are imported in each process that loads `torch.utils.data`, before the first loader is built,
and subscribe when they are imported:

    @events.iterating.listen
    def count_storages(loader, iteration):
        recorder.record("storages", loader=iteration.loader, …)

An exception in a listener only loses its own measurement, and is recorded as trouble. Listeners run in the thread that
caused the event, and their time is taken from the user's program: they must be quick, and must not modify the objects
that they receive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dllint.probe import recorder


class Event:
    """Calls all subscribers, in order of subscription."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.listeners: list[Callable[..., object]] = []

    def listen(self, listener: Callable[..., object]) -> Callable[..., object]:
        """Subscribe a function; used as a decorator."""
        self.listeners.append(listener)
        return listener

    def __call__(self, *values: Any) -> None:
        for listener in self.listeners:
            try:
                listener(*values)
            except Exception as error:
                recorder.trouble(f"{self.name}: {listener.__module__}.{listener.__qualname__}", error)


class Iteration:
    """One `iter(loader)`, in the iterating process, from before its workers start until its end.

    Attributes:
        loader: the name of the loader in the records.
        number: counts the iterations of the loader from 0.
        method: the start method of the workers (before they start, the one that they will use); `None` without workers.
        workers: number of workers.
        fresh: whether workers start for this iteration; persistent ones only do for the first.
        batches: number of batches delivered so far.
        pids: process ids of the workers, once they run.
        site: where the program iterates, as in the records.
    """

    __slots__ = (
        "_asked",
        "_cut_at",
        "_deadline",
        "_first",
        "_got",
        "_look_at",
        "_sampled",
        "_second",
        "_shown_at",
        "_step",
        "_steps",
        "_tell_at",
        "_wait",
        "_waits",
        "batches",
        "counter",
        "fresh",
        "loader",
        "method",
        "number",
        "open",
        "persistent",
        "pids",
        "site",
        "total",
        "workers",
    )

    def __init__(self, loader: str, number: int) -> None:
        self.loader = loader
        self.number = number
        self.method: str | None = None
        self.workers = 0
        self.persistent = False
        self.fresh = True
        self.batches = 0
        self.total: int | None = None
        self.pids: tuple[int, ...] = ()
        self.site: dict[str, Any] | None = None
        self.counter: Any = None
        self.open = True
        self._cut_at = -1
        self._look_at = 0
        self._shown_at = 1
        self._sampled = self._second = False
        self._deadline = self._asked = self._got = self._wait = self._step = self._tell_at = 0.0
        self._first: float | None = None
        self._waits: list[float] = []
        self._steps: list[float] = []


class WorkerState:
    """A loader's worker, in its own process.

    Attributes:
        loader: the name of the loader in the records; "" if unknown.
        number: number of the iteration that started the worker.
        epoch: number of the iteration that it currently works for, which differs only with persistent workers.
        worker, workers: its index, and the number of workers.
        method: its start method.
        parent: the pid of the iterating process.
        batches: fetched so far, in all epochs.
        dataset: the user's dataset; must not be modified.
        watched: the number of batches at which the next one is watched.
    """

    __slots__ = (
        "_began",
        "_wanted",
        "batches",
        "dataset",
        "epoch",
        "loader",
        "method",
        "number",
        "parent",
        "watched",
        "worker",
        "workers",
    )

    def __init__(self, dataset: Any, worker: int, workers: int) -> None:
        self.dataset = dataset
        self.worker = worker
        self.workers = workers
        self.loader = ""
        self.number = 0
        self.epoch = 0
        self.method: str | None = None
        self.parent: int | None = None
        self.batches = 0
        self.watched = 0
        self._began = 0
        self._wanted: list[tuple[int, float]] = []

    def watch(self, batches: int, epochs: float = float("inf")) -> None:
        """Have so many first batches of an epoch watched, in the epochs below a number."""
        self._wanted.append((batches, epochs))

    def begin_epoch(self) -> None:
        self._began = self.batches
        self.look_on()

    def look_on(self) -> None:
        """Set which batch is watched next: one that was asked for, or else the 1st, 2nd, 4th, 8th, … of all epochs."""
        fetched = self.batches
        closely = max((batches for batches, epochs in self._wanted if self.epoch < epochs), default=0)
        self.watched = fetched if fetched - self._began < closely else (1 << fetched.bit_length()) - 1


# Events in the process that builds and iterates loaders.
loader_built = Event("loader built")
"""(loader: DataLoader, name: str)"""
iterating = Event("iterating")
"""(loader: DataLoader, iteration: Iteration), before its workers start"""
iterated = Event("iterated")
"""(loader: DataLoader, iteration: Iteration), when they have been started"""
batch = Event("batch")
"""(iteration: Iteration, batch: object), for the 1st, 2nd, 4th, 8th, … batch that comes from workers, and the last of
an epoch whose length is known: keep no reference to it"""
epoch_ended = Event("epoch ended")
"""(iteration: Iteration), at the end of the data, at the limit of batches, or when the program abandons it"""

# Events in a worker. Those of a batch happen for watched batches only, because each costs a worker's caches several
# microseconds: which these are is asked for by `WorkerState.watch`, when a worker starts.
worker_started = Event("worker started")
"""(state: WorkerState), before the dataset's first item and before worker_init_fn"""
fetching = Event("fetching")
"""(state: WorkerState, index: object), before a batch is fetched"""
collating = Event("collating")
"""(state: WorkerState, items: object), the dataset's items for a batch, before collate_fn"""
fetched = Event("fetched")
"""(state: WorkerState, index: object, batch: object), after a batch was fetched and collated"""
worker_epoch_ended = Event("worker epoch ended")
"""(state: WorkerState), when a worker is told to start the next epoch, or to end"""

# Events in any process.
forked = Event("forked")
"""(parent: int), in the child of any fork"""
process_ending = Event("process ending")
"""(), on a best-effort basis"""


def show(iteration: Iteration, data: object) -> None:
    """Tell of a batch whose number is that of the next one to show, and set which follows."""
    count, total = iteration.batches, iteration.total
    following = 1 << count.bit_length()
    iteration._shown_at = following if total is None or total <= count else min(following, total)
    if iteration.workers:
        batch(iteration, data)
