"""CPU time of one check by step, rule and kind of query, for `dllint check --profile-rules`."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Questions:
    """The queries of one kind.

    Attributes:
        seconds: processor time spent on them, without the queries that they made in turn.
        times: how often each query was computed, by its argument.
    """

    seconds: float = 0.0
    times: Counter[Hashable] = field(default_factory=Counter)


class Profile:
    """Where the time of a check is spent.

    Attributes:
        steps: seconds of processor time by the name of the step or the code of the rule. A rule pays for memoized
            answers that it is the first to request, even if others share them.
        questions: the queries of the analysis by kind, which is the name of the memoized function.
    """

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}
        self.questions: dict[str, Questions] = defaultdict(Questions)
        self._inner = [0.0]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step or a rule."""
        start = time.process_time()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + time.process_time() - start

    def question(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute an answer and record its time."""
        function = compute.func if isinstance(compute, partial) else compute
        asked = self.questions[function.__qualname__.partition(".<locals>")[0]]
        asked.times[key] += 1
        start = time.process_time()
        self._inner.append(0.0)
        try:
            return compute()
        finally:
            spent = time.process_time() - start
            asked.seconds += spent - self._inner.pop()
            self._inner[-1] += spent


_current: ContextVar[Profile | None] = ContextVar("profile", default=None)


def current() -> Profile | None:
    """Return the profile of the running check; `None` if none was requested."""
    return _current.get()


@contextmanager
def profiled(wanted: bool) -> Iterator[Profile | None]:
    """Profile the code inside the `with` block; yields `None` if that is not wanted."""
    profile = Profile() if wanted else None
    outer = _current.set(profile)
    try:
        yield profile
    finally:
        _current.reset(outer)
