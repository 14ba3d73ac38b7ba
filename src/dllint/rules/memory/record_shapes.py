"""What the records that a program makes consist of: their entries, and which of these are collections themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Comprehension, Constant, Dict, List, Name, Starred, Tuple
from dllint.facts.schema import Expr
from dllint.inference.all_entries import inside
from dllint.inference.values import Class, Display, External, Instance, Mapping, Pattern, Site, Value
from dllint.libraries.index import MAKERS, canonical
from dllint.linking.expressions import as_display

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.linking.source import SourceFile

_COLLECTING = tuple(map(Name, ("list", "tuple", "set", "sorted", "dict")))
"""Functions that make a container of the elements of an iterable."""

_OF_FILES = ("glob.", "os.", "pathlib.", "natsort.")
"""Beginnings of the names of functions that return paths."""

Entries = dict[object, list[tuple[Expr, Site]]]
"""What a record has under each of its keys or positions, and where that is written."""


class RecordShapes:
    """Finds the entries of tuples and dicts, whether they are written at once or added one by one.

    `grows` tells whether a container gets as many elements as there are data.
    """

    def __init__(self, world: World, grows: Callable[[Value], bool]) -> None:
        self.world = world
        self.grows = grows

    def entries(self, expr: Expr, site: Site) -> Entries:
        """The entries of a tuple, list or dict: of the one that a copy is made of, too."""
        found: Entries = {}
        written = as_display(expr, site.file)
        if isinstance(written, (Tuple, List, Dict)):
            _add_written(found, written, site)
            return found
        for value in self.world.values.evaluate(expr, site):
            if not isinstance(value, (Display, Mapping)):
                continue
            made = value.written
            _add_written(found, as_display(made.expr, made.site.file), made.site)
            for change in self.world.mappings.history(value) if isinstance(value, Mapping) else ():
                key = change.key.value if isinstance(change.key, Constant) else change.key
                if change.kind == "set" and isinstance(key, str) and change.value is not None:
                    where = self.world.mappings.changed_at(change, value)
                    found.setdefault(key, []).append((change.value, where))
        return found

    def varying(self, expr: Expr, site: Site) -> int:
        """The number of entries of a dict that are more than a constant, which all records share."""
        entries = self.entries(expr, site)
        return sum(
            isinstance(key, str) and not all(isinstance(one, Constant) for one, _ in parts)
            for key, parts in entries.items()
        )

    def collections(self, expr: Expr, site: Site, paths: Set[object]) -> Set[object]:
        """The keys and positions under which a record has a list, dict or array of its own, other than a few numbers.

        What workers use as `paths` counts only if it is a list of numbers that they make paths of.
        """
        return {
            key
            for key, parts in self.entries(expr, site).items()
            if any(
                self._is_collection(one, where) and (key not in paths or _counts(one, where.file))
                for one, where in parts
            )
        }

    def _is_collection(self, expr: Expr, site: Site) -> bool:
        written = as_display(expr, site.file)
        if isinstance(written, Dict):
            return len(written.items) > 1
        if isinstance(written, (Tuple, List, Constant)):
            return False
        if isinstance(written, Comprehension):
            return written.kind != "generator" and not self._are_paths(written.element, inside(written, site))
        values = self.world.values.evaluate(expr, site)
        if isinstance(written, CallRef) and site.file.calls[written.index].func in _COLLECTING:
            return bool(site.file.calls[written.index].args) and not any(map(_is_path, values))
        return any(map(self.is_own, values))

    def _is_array_of_own(self, value: Value) -> bool:
        """Whether a value is an array whose size differs per record: made of a list of its own, `np.array(boxes)`, or
        as long as one, `np.zeros((len(boxes), 5))`."""
        if (
            not isinstance(value, Instance)
            or not isinstance(value.of, External)
            or value.file is None
            or value.call < 0
        ):
            return False
        maker, call = MAKERS.get(canonical(value.of.name)), value.file.calls[value.call]
        given = call.args[0].value if call.args and call.args[0].keyword is None else None
        if maker is None or given is None:
            return False
        if maker.shape == "same":
            return self._is_collection(given, self.world.call_site(value.file, value.call, value.frame))
        rows = given.elements[0] if isinstance(given, Tuple) and given.elements else given
        counted = value.file.calls[rows.index] if isinstance(rows, CallRef) else None
        return maker.shape == "first" and counted is not None and counted.func == Name("len")

    def is_own(self, value: Value) -> bool:
        """Whether a value is a list, dict or array that a record has for itself."""
        if not isinstance(value, (Display, Mapping)):
            return self._is_array_of_own(value)
        made = value.written
        collected = isinstance(made.expr, CallRef) and made.site.file.calls[made.expr.index].func in _COLLECTING
        if collected or isinstance(made.expr, Comprehension):
            return self._is_collection(made.expr, made.site)
        if isinstance(made.expr, Dict) and len(made.expr.items) > 1:
            return True
        return self.grows(value) and not any(
            self._are_paths(change.value, self.world.mappings.changed_at(change, value))
            for change in self.world.mappings.history(value)
            if change.value is not None
        )

    def _are_paths(self, expr: Expr, site: Site) -> bool:
        """Whether an element is a path, or an object that is made of one thing, such as a file."""
        values = self.world.values.evaluate(expr, site)
        return any(_is_path(one) or (isinstance(one, Instance) and _wraps_one(one)) for one in values)


def _add_written(found: Entries, written: Expr, site: Site) -> None:
    for key, entry in _written(written):
        found.setdefault(key, []).append((entry, site))


def _written(written: Expr) -> Iterator[tuple[object, Expr]]:
    if isinstance(written, Dict):
        yield from ((key.value, entry) for key, entry in written.items if isinstance(key, Constant))
    elif isinstance(written, (Tuple, List)) and not any(isinstance(one, Starred) for one in written.elements):
        yield from enumerate(written.elements)


def _counts(expr: Expr, file: SourceFile) -> bool:
    """Whether an expression is a list of the numbers of a range: `list(range(first, last))`."""
    if isinstance(expr, Comprehension):
        numbers = expr.clauses[0].iterable
        return expr.element == expr.clauses[0].target and isinstance(numbers, CallRef) and _counts(numbers, file)
    if not isinstance(expr, CallRef):
        return False
    call = file.calls[expr.index]
    if call.func in _COLLECTING:
        return any(_counts(one.value, file) for one in call.args)
    return call.func == Name("range")


def _wraps_one(value: Instance) -> bool:
    """Whether an object of the project is given one argument alone."""
    if not isinstance(value.of, Class) or value.file is None or value.call < 0:
        return False
    return len(value.file.calls[value.call].args) < 2


def _is_path(value: Value) -> bool:
    """Whether a value is a path, or a list of paths that a library returns."""
    name = value.of.name if isinstance(value, Instance) and isinstance(value.of, External) else ""
    return isinstance(value, Pattern) or name.startswith(_OF_FILES)
