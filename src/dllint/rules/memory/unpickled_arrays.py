"""Arrays that a dataset unpickles and keeps: what a pickle contains shows only where workers use it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Comprehension, Constant, List, Name, Slice, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.values import Class, Display, External, Instance, Mapping, Site, Value
from dllint.libraries.index import MAKERS, canonical
from dllint.libraries.records import OPAQUE
from dllint.linking.source import last_name
from dllint.project.arrays import Array
from dllint.project.class_keys import is_of_class
from dllint.project.collected_arrays import put_by, written
from dllint.rules.memory.objects_from_files import Records

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.item_run import ItemRun
    from dllint.project.kept_values import Kept
    from dllint.rules.memory.readings import Reading

_OF_ARRAYS = frozenset({"astype", "shape", "ndim", "dtype", "reshape", "squeeze", "flatten", "nbytes"})
"""Attributes and methods that arrays have, and lists, dicts and strings have not."""
_TAKING_ARRAYS = frozenset({"from_numpy"})
"""Last names of functions that accept nothing but arrays."""

_POSITIONS = frozenset({"permutation", "randperm", "argsort", "flatnonzero"})
"""Last names of functions that return an array of positions."""


class UnpickledArrays:
    """Finds the arrays among what datasets unpickle."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.records = project.ask(Records)

    def kept(self, value: Instance, kept: Kept, holder: Class) -> Array | None:
        """The unpickled array, or list of arrays, that an attribute keeps and that workers index by item."""
        if not self._used_as_arrays(value, kept.attr, holder):
            return None
        found = next((one for part in kept.values if (one := self._unpickled(part, 0)) is not None), None)
        if found is None and kept.store.value is not None:
            found = self._read(self.records.trace(kept.store.value, kept.site))
        return found

    def _used_as_arrays(self, value: Instance, attr: str, holder: Class) -> bool:
        """Whether workers use what they look up by an item, or by a field of it, as an array or as several arrays."""
        code = self.project.item_code
        found = (*code.items(value, attr, holder), *code.items(value, attr, holder, "key"))
        return any(_is_array(run, _of_single_items(run, items)) for run, items in found)

    def _unpickled(self, value: Value, depth: int) -> Array | None:
        """The unpickled array that a value is, contains, or is made of."""
        if limits.ARRAY_STEPS.exceeded(depth):
            return None
        if isinstance(value, Instance):
            return self._read(self.records.of_instance(value)) or self._made_of(value, depth)
        if not isinstance(value, (Display, Mapping)):
            return None
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Comprehension):
            return self._put(expr.element, inside(expr, site), depth)
        for part in written(expr):
            if (found := self._put(part, site, depth)) is not None:
                return found
        changes = limits.CHANGES.first(list(self.project.datasets.filling(value)))
        # An entry may be a list at first, and an array of it in the end.
        for change in sorted(changes, key=lambda one: not isinstance(one.value, CallRef)):
            where = self.world.mappings.changed_at(change, value)
            found = None if change.value is None else self._put(change.value, where, depth)
            if found is not None:
                return found if found.put is not None else put_by(found, change)
        return None

    def _put(self, expr: Expr, site: Site, depth: int) -> Array | None:
        found = self._read(self.records.trace(expr, site))
        parts = () if found is not None else self.world.values.evaluate(expr, site)
        return found or next((one for part in parts if (one := self._unpickled(part, depth + 1)) is not None), None)

    def _made_of(self, value: Instance, depth: int) -> Array | None:
        """The unpickled array, or list of arrays, that an array is made of: `np.asarray(rows)`."""
        maker = MAKERS.get(canonical(value.of.name)) if isinstance(value.of, External) else None
        if maker is None or maker.shape != "same" or value.file is None or value.call < 0:
            return None
        site = self.world.call_site(value.file, value.call, value.frame)
        given = [one.value for one in value.file.calls[value.call].args if one.keyword is None][:1]
        parts = (part for expr in given for part in self.world.values.evaluate(expr, site))
        found = next((one for part in parts if (one := self._unpickled(part, depth + 1)) is not None), None)
        return None if found is None else replace(found, put=None)

    @staticmethod
    def _read(reading: Reading | None) -> Array | None:
        """What a reading is if it may be arrays; tensors are in shared memory, and counted on their own."""
        if reading is None or reading.kind != OPAQUE or reading.opener.startswith("torch."):
            return None
        return Array("numpy", None, "file", reading.file, reading.call, unpickled=True)


def _is_array(run: ItemRun, items: list[Expr]) -> bool:
    """Whether a function uses one of the items of an attribute, or a part of one, as an array: `points.shape` after
    `points, inside = self.shapes[name]`."""
    names: set[str] = set()

    def is_item(expr: Expr) -> bool:
        while isinstance(expr, Subscript) and isinstance(expr.index, Constant) and expr not in items:
            expr = expr.value
        return expr in items or (isinstance(expr, Name) and expr.id in names)

    for event in run.events:
        if event.kind == "assign" and event.target is not None and event.value is not None and is_item(event.value):
            targets = event.target.elements if isinstance(event.target, (Tuple, List)) else (event.target,)
            names.update(one.id for one in targets if isinstance(one, Name))

    drawn = [event.target for event in run.events if event.kind == "assign" and _are_positions(run, event.value)]
    for expr in run.expressions:
        match expr:
            case Attribute(base, attr) if attr in _OF_ARRAYS and is_item(base):
                return True
            case Subscript(base, Tuple(parts)) if is_item(base) and any(isinstance(one, Slice) for one in parts):
                return True
            case Subscript(base, Slice(Name() as first, BinOp("+", left))) if is_item(base) and left == first:
                # a window of so many frames: a text is hardly cut like this
                return True
            case Subscript(base, Name() as positions) if is_item(base) and positions in drawn:
                return True
            case CallRef(index) if last_name(run.file.calls[index].func) in _TAKING_ARRAYS:
                if any(is_item(one.value) for one in run.file.calls[index].args):
                    return True
    return any(
        isinstance(one, Subscript)
        and isinstance(one.index, Tuple)
        and any(isinstance(p, Slice) for p in one.index.elements)
        for one in items
    )


def _of_single_items(run: ItemRun, items: list[Expr]) -> list[Expr]:
    """Of what a function looks up, the entries that belong to one item: also those of a dict per class,
    `self.shapes[category][name]`."""
    of_classes = [one for one in items if is_of_class(run, one)]
    return [one for one in items if one not in of_classes] + [
        one
        for one in run.expressions
        if isinstance(one, Subscript)
        and one.value in of_classes
        and not isinstance(one.index, (Constant, Slice, Tuple))
        and not is_of_class(run, one)
    ]


def _are_positions(run: ItemRun, expr: Expr | None) -> bool:
    """Whether an expression is an array of positions, which only an array can be indexed by."""
    if not isinstance(expr, CallRef):
        return False
    call = run.file.calls[expr.index]
    last = last_name(call.func)
    return last in _POSITIONS or (last == "choice" and len(call.args) > 1)
