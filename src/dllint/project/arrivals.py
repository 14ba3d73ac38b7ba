"""Chains of calls from a launch, or from a setting of the start method, to a function that runs under it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dllint.inference.values import Frame
from dllint.linking.conditions import Atom, under_main_guard
from dllint.linking.source import SourceFile
from dllint.project.launches import Launch
from dllint.span import Span


class Hop(NamedTuple):
    """One step of a chain: a call site and a description. `guessed`: its target was found by the method's name
    alone."""

    file: SourceFile
    span: Span
    text: str
    guessed: bool = False

    def is_guarded(self) -> bool:
        """Whether the call site is at the top level of its file, under `if __name__ == "__main__"`."""
        return any(
            call.span == self.span and call.scope == 0 and under_main_guard(self.file, call.region)
            for call in self.file.calls
        )


@dataclass(frozen=True)
class Origin:
    """Where a start method comes from: a launching call or a `set_start_method`.

    Attributes:
        through: the calls that lead to it.
        package: for whose processes it counts, see `contexts.package_of`.
        regions: for `set_start_method`, the file, scope and region of its call and of each call that leads to it.
    """

    method: str
    file: SourceFile
    span: Span
    text: str
    launch: Launch | None
    through: tuple[Hop, ...] = ()
    guessed: bool = False
    package: str = ""
    regions: tuple[tuple[SourceFile, int, int], ...] = field(default=(), compare=False)


@dataclass
class Arrival:
    """A function, or the rest of one, that runs under a start method.

    `after` and `until` bound that part of the function; `frame` is its activation along this chain, and `literals`
    what it binds to parameters that tests may ask for, if that has been looked up.
    """

    origin: Origin
    file: SourceFile
    scope: int
    frame: Frame | None
    after: tuple[int, int]
    until: tuple[int, int]
    previous: Arrival | None
    hop: Hop | None
    conditions: list[Atom] = field(default_factory=list)
    depth: int = 0
    literals: tuple[tuple[str, object], ...] | None = None

    def chain(self) -> tuple[Hop, ...]:
        """The hops from the origin to this function, the origin first."""
        hops: list[Hop] = []
        step: Arrival | None = self
        while step is not None:
            if step.hop is not None:
                hops.append(step.hop)
            step = step.previous
        hops.append(Hop(self.origin.file, self.origin.span, self.origin.text, self.origin.guessed))
        hops.extend(reversed(self.origin.through))
        return tuple(reversed(hops))
