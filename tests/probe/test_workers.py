"""What the probe takes from the arguments of torch's worker loop, and which batches it watches."""

from __future__ import annotations

from dllint.probe import events
from dllint.probe.events import Iteration, WorkerState
from dllint.probe.workers import dataset_of


def test_the_dataset_of_each_torch() -> None:
    dataset = [1, 2, 3]
    assert dataset_of({"dataset_kind": 0, "dataset": dataset}) is dataset
    holder = [dataset]
    assert dataset_of({"dataset_kind": 0, "dataset_holder": holder}) is dataset
    assert holder == [dataset]


def watched(state: WorkerState, batches: int) -> list[int]:
    """Fetch some batches; return the numbers of those that are watched, counted from 0 over all epochs."""
    found = []
    for _ in range(batches):
        is_watched = state.batches >= state.watched
        found += [state.batches] * is_watched
        state.batches += 1
        if is_watched:
            state.look_on()
    return found


def test_batches_are_watched_where_a_measure_asks_and_seldom_later() -> None:
    state = WorkerState(None, 0, 1)
    state.watch(1)
    state.watch(4, epochs=2)
    state.begin_epoch()
    assert watched(state, 20) == [0, 1, 2, 3, 7, 15]
    state.epoch += 1
    state.begin_epoch()
    assert watched(state, 20) == [20, 21, 22, 23, 31]
    state.epoch += 1
    state.begin_epoch()
    assert watched(state, 30) == [40, 63]


def test_batches_that_arrive_are_shown_when_their_number_has_doubled() -> None:
    shown: list[int] = []
    listeners = events.batch.listeners[:]
    events.batch.listeners[:] = [lambda iteration, data: shown.append(iteration.batches)]
    try:
        for total, count in ((11, 11), (None, 9), (3, 9)):
            iteration = Iteration("70.1", 0)
            iteration.workers, iteration.total = 2, total
            for _ in range(count):
                iteration.batches += 1
                if iteration.batches == iteration._shown_at:
                    events.show(iteration, None)
    finally:
        events.batch.listeners[:] = listeners
    assert shown == [1, 2, 4, 8, 11, 1, 2, 4, 8, 1, 2, 3, 4, 8]
