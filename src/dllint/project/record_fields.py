"""The fields of the records that workers look up: how many they take, and what they do with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Constant, List, Name, Slice, Starred, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Instance
from dllint.libraries.copies import copied
from dllint.linking.expressions import walk
from dllint.project.item_expressions import bound

if TYPE_CHECKING:
    from dllint.project.item_code import ItemCode
    from dllint.project.item_run import ItemRun

_PARTS_OF_DICTS = frozenset({"keys", "values", "items"})
"""Methods that return all keys or entries of a dict."""

_SEARCHING = frozenset({"index", "count"})
"""Methods that go through a list."""

_Key = tuple[object, ...]
"""The keys that lead from a record to a field: `("boxes", 0)`."""


def fields_taken(code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> set[tuple[object, ...]]:
    """The keys of the fields of `self.attr[index]` that workers take: `path, (start, end) = self.rows[index]` takes
    (0,), (1, 0) and (1, 1)."""
    taken: set[_Key] = set()
    for run, items in code.items(value, attr, holder):
        known: dict[Expr, _Key] = dict.fromkeys((*items, *bound(run, items)), ())
        for event in run.events:
            if event.kind == "assign" and event.target is not None and event.value in known:
                taken.update(_unpacked(event.target, known[event.value]))
        taken.update(key for expr in run.expressions if (key := _field(expr, known)))
    return {key for key in taken if not any(len(other) > len(key) and other[: len(key)] == key for other in taken)}


def _unpacked(target: Expr, key: _Key) -> Iterator[_Key]:
    for position, part in enumerate(target.elements if isinstance(target, (Tuple, List)) else ()):
        if isinstance(part, (Tuple, List)):
            yield from _unpacked(part, (*key, position))
        elif not isinstance(part, Starred):
            yield *key, position


def _field(expr: Expr, known: dict[Expr, _Key]) -> _Key | None:
    """The keys by which an expression takes a field of a record; None for another expression."""
    if expr in known:
        return known[expr]
    if not isinstance(expr, Subscript) or not isinstance(expr.index, Constant):
        return None
    base = _field(expr.value, known)
    return None if base is None else (*base, expr.index.value)


def goes_into_fields(
    code: ItemCode, value: Instance, attr: str, holder: Class | None = None, numbered: bool = False
) -> bool:
    """Whether workers iterate, search, slice or copy a named field of `self.attr[key]`, where `key` is a field of an
    item's record: then each record holds a collection of its own, as the annotations of an image do and the name of a
    class does not.

    With `numbered`, taking an element of it by a number that varies counts too: an array has elements as well.
    """
    return any(
        _iterates_fields(run, known, numbered)
        for reader, items in code.items(value, attr, holder, "key")
        for run, known in ((reader, items), *code.handed_on(value, reader, items))
    )


def _iterates_fields(run: ItemRun, items: list[Expr], numbered: bool) -> bool:
    """Whether a function iterates a named field of one of the items, `for box in record["boxes"]`, searches it,
    `record["boxes"].index(box)`, takes a part of it, `record["boxes"][:9]`, copies it, `record["boxes"].copy()`, or
    with `numbered` takes an element of it, `record["boxes"][number]`."""
    records = [*items, *bound(run, items)]
    fields = [
        expr
        for expr in run.expressions
        if isinstance(expr, Subscript) and expr.value in records and run.names_field(expr.index)
    ]
    known = [*fields, *bound(run, fields)]
    if any(
        copied(run.file, expr) in known if isinstance(expr, CallRef) else _is_part(expr, known, numbered)
        for expr in (run.expressions if known else ())
    ):
        return True
    iterated = [event.value for event in run.events if event.kind == "for" and event.value is not None]
    for expr in run.expressions if known else ():
        if isinstance(expr, Comprehension):
            iterated += [clause.iterable for clause in expr.clauses]
        elif isinstance(expr, CallRef):
            func = run.file.calls[expr.index].func
            if isinstance(func, Attribute) and func.attr in _PARTS_OF_DICTS | _SEARCHING:
                iterated.append(func.value)
    return any(part in known for expr in iterated for part in walk(expr, run.file))


def _is_part(expr: Expr, known: list[Expr], numbered: bool) -> bool:
    """Whether an expression slices one of these, along one axis or several: `boxes[:, :4]`. With `numbered`, whether it
    takes an element by a number that varies."""
    if not isinstance(expr, Subscript) or expr.value not in known:
        return False
    axes = expr.index.elements if isinstance(expr.index, Tuple) else (expr.index,)
    return any(isinstance(one, Slice) for one in axes) or (numbered and isinstance(expr.index, Name))
