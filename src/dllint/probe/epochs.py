"""Count how much of each loader a run has seen, and decide when that is enough.

Loaders count as the same if they are the same object, or were built by the same calls after the first was used, so that
a loader that is rebuilt every epoch comes to an end as well. An iteration that the program leaves early counts only the
batches that it took. A loader that is iterated inside an epoch of another one waits for that one.
"""

from __future__ import annotations

import weakref
from typing import Any

from dllint.probe import events, plan

opened: weakref.WeakSet[events.Iteration] = weakref.WeakSet()
"""The iterations that have not ended."""
_counts: dict[Any, list[Count]] = {}


class Count:
    """How much of a loader has been seen, in batches; a finished epoch counts as the maximum number per epoch.

    `beside` are the iterations that were open when its first one began, each with its number of batches at that time.
    """

    __slots__ = ("begun", "beside", "replaced", "seen")

    def __init__(self) -> None:
        self.begun = 0
        self.beside: list[tuple[weakref.ref[events.Iteration], int]] = []
        self.seen = 0
        self.replaced = False


def succeeding(identity: Any) -> Count:
    """Return the count of a new loader, continuing that of a used loader built by the same calls, if there is one."""
    known = _counts.setdefault(identity, [])
    for count in known:
        if count.begun and not count.replaced:
            count.replaced = True
            successor = Count()
            successor.begun, successor.seen = count.begun, count.seen
            known.remove(count)
            known.append(successor)
            return successor
    known.append(Count())
    return known[-1]


def seen_of(count: Count) -> int:
    """Return the batches of a loader that were seen, including those of iterations that the program still holds.

    Programs that know the number of batches, such as Lightning, do not request one more, so the end of the data is
    never seen.
    """
    whole = plan.max_batches or 1
    found = count.seen
    for one in list(opened):
        if one.open and one.counter is count and one.batches:
            found += whole if is_whole(one) else min(one.batches, whole) if plan.max_batches else 0
    return found


def is_whole(iteration: events.Iteration) -> bool:
    """Whether an iteration has delivered all existing or all allowed batches."""
    return iteration.batches in (iteration.total, plan.max_batches)


def cut_at(count: Count) -> int:
    """Return after how many batches an epoch ends: 1 if the loader only waits for another one; -1 for no limit."""
    if not plan.max_batches:
        return -1
    return 1 if plan.max_epochs and seen_of(count) >= plan.max_epochs * plan.max_batches else plan.max_batches


def is_enough(count: Count) -> bool:
    if not plan.max_epochs:
        return False
    epoch = plan.max_batches or 1
    if seen_of(count) < plan.max_epochs * epoch:
        return False
    if count.begun >= plan.max_epochs * max(epoch, 16):
        return True
    # An iteration that was open when this loader began and has delivered nothing since was abandoned, so it is not
    # waited for.
    beside = ((seen(), batches) for seen, batches in count.beside)
    left = [one for one, batches in beside if one is not None and one.batches == batches]
    others = (one for one in list(opened) if one.open and one.counter is not count and one not in left)
    return all(seen_of(one.counter) >= plan.max_epochs * epoch for one in others)
