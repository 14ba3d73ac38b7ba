"""Arrays in containers: those that loops put into a list or dict one after another, each alone or in an object of the
project, and those that lie under a key of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Dict, Element, List, Name, Tuple
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.answers import Table
from dllint.inference.iteration import mapped
from dllint.inference.values import UNKNOWN, Class, Display, External, Instance, Mapping, Site, Value, Values
from dllint.linking.source import last_name
from dllint.project.arrays import Array, Arrays
from dllint.project.counting import loops
from dllint.project.repeated_reads import RepeatedReads

if TYPE_CHECKING:
    from dllint.inference.entries import Change
    from dllint.project.datasets import Datasets


_COPYING = frozenset({"array", "copy", "astype", "fromarray", "ascontiguousarray", "tensor", "asarray", "from_numpy"})
"""Last names of functions and methods that give an array or a picture with the elements of an array."""


class CollectedArrays:
    """Finds the arrays in lists and dicts."""

    def __init__(self, arrays: Arrays, datasets: Datasets) -> None:
        self.arrays = arrays
        self.datasets = datasets
        self.world = arrays.world
        self.repeated = RepeatedReads(arrays.world, arrays.origins)
        self._among: Table[Array | None] = {}

    def many(self, values: Values) -> Array | None:
        """An array read from a file that is one of many in a list or dict."""
        containers = [one for one in values if isinstance(one, (Display, Mapping))]
        found = next((found for one in containers if (found := self._many(one, 0)) is not None), None)
        return found or next((each for one in values if (each := self._mapped(one)) is not None), None)

    def _mapped(self, value: Value) -> Array | None:
        """An array read by a function that a pool, or the builtin `map`, calls for each element."""
        results = mapped(self.world, value) if isinstance(value, Instance) else ()
        for one in (part for result in results for part in self.world.mappings.flattened(result)):
            array = self.arrays.of(one)
            if array is not None and array.source == "file" and array.read:
                own = isinstance(value, Instance) and array.file is value.file and array.call == value.call
                return None if own else array
        return None

    def inside(self, values: Values) -> Array | None:
        """A whole array read from a file that is put into a list or dict before workers start, for example under a
        key of its own."""
        for one in values:
            for expr, site in self._put_early(one) if isinstance(one, (Display, Mapping)) else ():
                found = self.arrays.computed(expr, site)
                if found is not None and found.source == "file":
                    return found
            copied = self._copied(one) if isinstance(one, Mapping) else ()
            for part in copied:
                if (found := self.arrays.array(part)) is not None and found.source == "file":
                    return found
        return None

    def _copied(self, value: Mapping) -> Values:
        """The values of the dict, or of the `.npz` archive, that `dict(np.load(path))` copies."""
        expr, site = value.written.expr, value.written.site
        if not isinstance(expr, CallRef):
            return ()
        actuals = self.world.actuals(site.file, expr.index, site.frame)
        given = (one for actual in actuals.positional[:1] for one in self.world.values.passed(actual))
        return tuple(part for one in given for part in self.world.values.item_of(one, UNKNOWN))

    def _put_early(self, value: Display | Mapping) -> Iterator[tuple[Expr, Site]]:
        """The elements that a container is written with, and those added to it before workers start."""
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Dict):
            yield from ((entry, site) for key, entry in expr.items if key is not None)
        elif isinstance(expr, (List, Tuple)):
            yield from ((entry, site) for entry in expr.elements)
        elif isinstance(expr, Comprehension) and expr.kind == "dict":
            yield expr.element, inside(expr, site)
        elif isinstance(expr, CallRef):
            # `dict(images=array)`
            for actual in self.world.actuals(site.file, expr.index, site.frame).keywords.values():
                if actual.expr is not None and actual.site is not None:
                    yield actual.expr, actual.site
        for change in self.datasets.filling(value):
            # Without an owner it is unknown whether the holder is an attribute, which items may fill.
            near = value.owner is not None or (change.file is site.file and change.scope == site.scope)
            if near and change.value is not None and change.kind in ("set", "default", "add"):
                yield change.value, self.world.mappings.changed_at(change, value)

    def _many(self, value: Display | Mapping, depth: int) -> Array | None:
        if limits.ARRAY_DEPTH.exceeded(depth):
            return None
        # Containers that hold one another are reached by many paths.
        search = partial(self._find_many, value, depth)
        return self.world.memory.remember(self._among, (value, depth), search, None)

    def _find_many(self, value: Display | Mapping, depth: int) -> Array | None:
        evaluate = self.world.values.evaluate
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Comprehension):
            within = inside(expr, site)
            turns = [one for one in site.file.regions(within.region) if not site.file.encloses(one, site.region)]
            if (found := self._read(expr.element, within, turns, site)) is not None:
                return found
        inner: list[Value] = []
        for change in self.datasets.filling(value):
            if change.value is None:
                continue
            where = self.world.mappings.changed_at(change, value)
            given = evaluate(change.value, where)
            turns = loops(change.file, change.region)
            if change.kind in ("extend", "merge") and (displayed := _displayed(given)) and turns:
                # `arrays += [array]` adds one like `arrays.append(array)`.
                read = (self._read(one, at, turns, where) for one, at in displayed)
                if (found := next((one for one in read if one is not None), None)) is not None:
                    return put_by(found, change)
            elif change.kind in ("extend", "merge"):
                inner += given
            else:
                if (found := self._read(change.value, where, turns, where)) is not None:
                    return put_by(found, change)
                inner += given
        inner += (one for part in written(expr) for one in evaluate(part, site))
        parts = [*inner, *value.parts] if isinstance(value, Display) else inner
        containers = [one for one in dict.fromkeys(parts) if isinstance(one, (Display, Mapping)) and one != value]
        return next((found for one in containers if (found := self._many(one, depth + 1)) is not None), None)

    def _read(self, expr: Expr, site: Site, turns: list[int], where: Site) -> Array | None:
        """An array that the value of an expression is or contains, and that is read from a file again in every
        iteration of a loop around it, or of an earlier loop that has collected such arrays.

        `turns` are the regions of those loops.
        """
        if not turns:
            return None
        if (rows := self._copied_row(expr, site)) is not None:
            return rows
        flattened, evaluate = self.world.mappings.flattened, self.world.values.evaluate
        parts = [part for one in evaluate(expr, site) for part in flattened(one)]
        found = [(array, part) for part in parts if (array := self.arrays.of(part)) is not None]
        worked_out = None if found else self.arrays.computed(expr, site, many=True)
        whole = [worked_out] if worked_out is not None else [array for array, part in found if not _is_item(part)]
        read = [worked_out] if worked_out is not None else [array for array, _ in found]
        read = [one for one in read if one.source == "file" and one.read]
        for one in read:
            if self.repeated.calls(one.file, one.call, one.frame, where, turns):
                return one
        if read and self.repeated.reads(expr, site, where, turns):
            return read[0]
        for one in read:
            # `[normalized(one) for one in arrays]`
            if one in whole and self.repeated.is_one_of_many(one.file, one.call, one.frame):
                return one
        # An object that a loop constructs has arrays of its own.
        owned = (array for part in parts for array in self._owned(part, where, turns))
        return next(owned, None)

    def _copied_row(self, expr: Expr, site: Site) -> Array | None:
        """The array that a loop goes through, where an expression copies each row of it: `Image.fromarray(row)`."""
        call = site.file.calls[expr.index] if isinstance(expr, CallRef) else None
        if call is None or last_name(call.func) not in _COPYING:
            return None
        method = call.func.value if isinstance(call.func, Attribute) else None
        for part in (method, *(one.value for one in call.args[:1])):
            for binding, where in self.world.symbols.lookup(part.id, site) if isinstance(part, Name) else ():
                whole = binding.expr.value if isinstance(binding.expr, Element) else None
                array = self.arrays.computed(whole, where) if whole is not None else None
                if array is not None and array.source == "file" and array.read:
                    return array
        return None

    def _owned(self, value: Value, where: Site, turns: list[int]) -> Iterator[Array]:
        """The arrays that an object of the project reads, if one of the loops `turns` constructs it."""
        if not isinstance(value, Instance) or not isinstance(value.of, Class) or value.file is None or value.call < 0:
            return
        if not self.repeated.calls(value.file, value.call, value.frame, where, turns):
            return
        made = self.datasets.construction.of(value)
        given = {(one.file, one.call) for one in self._given(value, where, turns)}
        for one in map(self.arrays.of, self._attributes(value)):
            if one is None or one.source != "file" or not one.read:
                continue
            # What another loop has read is only passed on to the object.
            if (one.file.path, one.file.calls[one.call].scope) in made or (one.file, one.call) in given:
                yield one

    def _given(self, value: Instance, where: Site, turns: list[int]) -> Iterator[Array]:
        """The arrays that one of the loops `turns` reads and passes to the constructor of an object."""
        actuals = self.world.made_with(value)
        for actual in (*actuals.positional, *actuals.keywords.values()):
            for one in map(self.arrays.of, self.world.values.passed(actual)):
                if one is not None and self.repeated.calls(one.file, one.call, one.frame, where, turns):
                    yield one

    def _attributes(self, value: Instance) -> Iterator[Value]:
        """What an object of the project keeps from its construction on, in attributes of its own. Datasets are queried
        on their own."""
        assert isinstance(value.of, Class)
        if not self.datasets.derives(value.of):
            dropped = self.datasets.dropped(value)
            for kept in self.datasets.kept(value):
                if kept.initial and kept.sure and kept.attr not in dropped:
                    yield from (part for one in kept.values for part in self.world.mappings.flattened(one))


def put_by(array: Array, change: Change) -> Array:
    """The array with the statement that puts it into a container."""
    span = change.statement()
    return array if span is None else replace(array, put=(change.file, span))


def written(expr: Expr) -> Iterable[Expr]:
    """The elements of a list, tuple or dict display."""
    if isinstance(expr, Dict):
        return [entry for key, entry in expr.items if key is not None]
    return expr.elements if isinstance(expr, (List, Tuple)) else ()


def _displayed(values: Values) -> list[tuple[Expr, Site]]:
    """The elements of list and tuple displays, each with the site where it is evaluated."""
    return [
        (element, value.written.site)
        for value in values
        if isinstance(value, Display) and value.made is None and isinstance(value.written.expr, (List, Tuple))
        for element in value.written.expr.elements
    ]


def _is_item(value: Value) -> bool:
    """Whether a value is an item of what a call returned: of an array, this may be a number."""
    return isinstance(value, Instance) and isinstance(value.of, External) and value.of.name.endswith("]")
