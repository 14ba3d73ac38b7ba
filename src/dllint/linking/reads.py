"""What the analysis read: of one file, and of all files at once (`recorded`)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from dllint.linking.implicit_calls import Common

WHOLE = -1
"""Stands for all calls, or all regions, and for how many there are."""
ALL = "<all>"
"""Stands for all names, or for the statements of all kinds."""
STORING = "="
"""Stands for the statements that assign to attributes and items."""


class RegionRef(NamedTuple):
    """A region in the result of a function that `SourceFile.derived` calls."""

    number: int


class ScopeRef(int):
    """A scope in the result of such a function."""

    __slots__ = ()


class Reads:
    """What the analysis read of one file.

    Attributes:
        calls: by number, those whose position was read; or `WHOLE`: everything of all calls.
        callees: the calls whose callee was read.
        shapes: the calls whose number of arguments and keywords was read.
        values: the arguments whose values were read, by call and position.
        regions: by number, or `WHOLE`.
        headers: the scopes whose headers were read; `WHOLE`: how many scopes there are.
        extents: the scopes whose end was read.
        called, loaded: the last names looked up in the facts of these names.
        events: scope → kinds of statements.
        names: scope → names looked up among its bindings.
        asked: what else was asked, by the name of the query and its argument.
    """

    def __init__(self) -> None:
        self.calls: set[int] = set()
        self.callees: set[int] = set()
        self.shapes: set[int] = set()
        self.values: set[tuple[int, int]] = set()
        self.regions: set[int] = set()
        self.headers: set[int] = set()
        self.extents: set[int] = set()
        self.called: set[str] = set()
        self.loaded: set[str] = set()
        self.events: defaultdict[int, set[str]] = defaultdict(set)
        self.names: defaultdict[int, set[str]] = defaultdict(set)
        self.asked: defaultdict[str, set[Any]] = defaultdict(set)


class ReadOfProject:
    """What the analysis read of all files at once.

    Attributes:
        common: what the implicit calls of each file depend on.
        called, loaded, aliases, aliased, stored_under, keys, defined: the names that were looked up, by the query.
        places: the locations of objects from which flows were followed.
    """

    def __init__(self) -> None:
        self.common = Common((), (), (), ())
        self.called: set[str] = set()
        self.loaded: set[str] = set()
        self.aliases: set[str] = set()
        self.aliased: set[str] = set()
        self.stored_under: set[str] = set()
        self.keys: set[str] = set()
        self.defined: set[str] = set()
        self.places: set[tuple[Any, ...]] = set()
