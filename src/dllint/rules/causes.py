"""Groups the findings of a rule by cause, so that everything that one edit fixes is one finding."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from dllint.finding import Finding, Place

T = TypeVar("T")


class Causes(Generic[T]):
    """A collection grouped by cause; causes and elements keep the order in which they were added."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, list[T]] = {}

    def add(self, found: T, *causes: Hashable) -> None:
        """Add an element to the group of its first known cause; its other causes then belong to that group too."""
        group = next((self._groups[cause] for cause in causes if cause in self._groups), [])
        group.append(found)
        self._groups.update(dict.fromkeys(causes, group))

    def __iter__(self) -> Iterator[list[T]]:
        return iter({id(group): group for group in self._groups.values()}.values())


@dataclass(frozen=True)
class Use:
    """A finding with its severity and values for one of the loaders that cause it.

    Attributes:
        finding: its related places are shown only if it is the worst of its cause.
        loader: the place of the loader, or of whatever else causes the hazard.
        rank: how severe it is, compared with the others of its cause.
        made: places that are shown for all findings of a cause.
        methods: start methods under which the hazard occurs; None for those of the finding.
    """

    finding: Finding
    loader: Place
    rank: Any = 0
    made: tuple[Place, ...] = ()
    methods: tuple[str, ...] | None = None


def worst(uses: Sequence[Use]) -> Finding:
    """The worst finding of one cause (the first of equals), with the places and start methods of all others."""
    finding = max(uses, key=lambda use: use.rank).finding
    made = (place for use in uses for place in use.made if (place.path, place.span) != (finding.path, finding.span))
    related = (*finding.related, *made, *(use.loader for use in uses))
    methods = finding.start_methods
    if methods:
        given = (use.finding.start_methods if use.methods is None else use.methods for use in uses)
        methods = (*methods, *(method for one in given for method in one))
    return replace(finding, related=tuple(dict.fromkeys(related)), start_methods=tuple(dict.fromkeys(methods)))
