"""Lists, tuples and sets: their elements by position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from dllint.facts.nodes import (
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    Element,
    List,
    Name,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
    UnaryOp,
)
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.answers import Table
from dllint.inference.changes import Changes
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Const, Display, Site, Value, Values, const
from dllint.linking.contradictions import contradict
from dllint.linking.source import last_name

Slot = tuple[Expr, Site]
"""An element: its expression and site."""
_KEEPING_PLACES = frozenset({"add", "extend", "set"})


class Sequences:
    """Lookup by position. A reader is the site where a list is read, after the mutations before it."""

    def __init__(self, world: Engine, changes: Changes) -> None:
        self.world = world
        self.changes = changes
        self._every_element: Table[Values] = {}
        self._slots: Table[list[Slot] | None] = {}
        self._placed: Table[Values] = {}
        self._led: Table[Values] = {}

    def item(self, value: Display, key: Const, reader: Site | None = None) -> Values:
        """Return the values at a position; at all positions if unknown."""
        if not isinstance(key.value, int):
            return self.elements(value)
        at = key.value
        slots = self.slots(value, reader)
        if slots is not None:
            return self._at(slots[at]) if -len(slots) <= at < len(slots) else self.elements(value)
        first = self._written(value)
        if first is None and at >= 0 and not self.changes.of(value):
            return self.world.memory.remember(self._led, (value, at), lambda: self._behind_known(value, at), ())
        if first is None or not 0 <= at < len(first) or not all(map(_keeps_places, self.changes.of(value))):
            return self.elements(value)
        slot = first[at]
        # The value set may be read from the same list: `rows[i] = rows[j]`.
        return self.world.memory.remember(self._placed, (value, at), lambda: self._ever_at(value, at, slot), ())

    def _behind_known(self, value: Display, at: int) -> Values:
        """Return the values at a position of a sequence whose beginning alone has a known length: `[a, b] + rest`,
        `[a, b, *rest]`."""
        if value.made is not None and isinstance(value.made.expr, BinOp) and value.made.expr.op == "+":
            for number, part in enumerate(value.parts):
                slots = self.slots(part, value.made.site)
                if slots is None:
                    later = map(self.elements, value.parts[number + 1 :])
                    return union([self.item(part, const(at), value.made.site), *later], limits.ITEMS)
                if at < len(slots):
                    return self._at(slots[at])
                at -= len(slots)
        expr, site = value.written.expr, value.written.site
        if value.made is None and isinstance(expr, (List, Tuple)):
            known = next(number for number, one in enumerate(expr.elements) if isinstance(one, Starred))
            if at < known:
                return self._at((expr.elements[at], site))
            rest = (Element(one.value) if isinstance(one, Starred) else one for one in expr.elements[known:])
            return union([self._at((one, site)) for one in rest], limits.ITEMS)
        return self.elements(value)

    def _ever_at(self, value: Display, at: int, first: Slot) -> Values:
        """Return the initial values at a position, and those assigned there."""
        groups = [self._at(first)]
        for change in self.changes.of(value):
            if change.kind == "set" and (not isinstance(change.key, Constant) or change.key.value in (at, -1)):
                groups += [self.world.values.evaluate(change.value, one) for one in self.changes.runs(change, value)]
        return union(groups)

    def length(self, values: Values) -> int | None:
        """Return the length that all of the sequences share; None if unknown."""
        lengths = {len(slots) if (slots := self._fixed(value)) is not None else None for value in values}
        return lengths.pop() if len(lengths) == 1 else None

    def _fixed(self, value: Value) -> list[Slot] | None:
        whole = value if isinstance(value, Display) else self.world.named_tuples.view(value)
        return self.slots(whole) if whole is not None else None

    def _at(self, slot: Slot) -> Values:
        return self.world.values.evaluate(*slot)

    def slots(self, value: Display, reader: Site | None = None) -> list[Slot] | None:
        """Return all elements in order; None if unknown."""
        place = reader and (reader.file.path, reader.scope, reader.region, reader.at)
        return self.world.memory.remember(self._slots, (value, place), lambda: self._find_slots(value, reader), None)

    def _find_slots(self, value: Display, reader: Site | None) -> list[Slot] | None:
        slots = self._written(value)
        if slots is None:
            return None
        changes = self._before(value, reader)
        for change in changes or ():
            slots = self._applied(change, slots)
            if slots is None:
                return None
        return slots if changes is not None else None

    def _before(self, value: Display, reader: Site | None) -> list[Change] | None:
        """Return the mutations that certainly happen before a list is read, in order; None if there may be others."""
        changes = self.changes.of(value)
        if not changes:
            return []
        home = (value.made or value.written).site
        if reader is None or reader.at == (0, 0):
            return None
        symbols = self.world.symbols
        here = symbols.atoms(reader.file, reader.scope, reader.region)
        found: list[Change] = []
        for change in sorted(changes, key=lambda one: one.at):
            if not (change.file is home.file is reader.file and change.scope == home.scope == reader.scope):
                return None
            loops = [one for one in _loops(change) if not home.file.encloses(one, home.region)]
            if change.at >= reader.at:
                if loops and symbols.shared_loop(change.file, change.region, reader.region):
                    return None
                continue
            if here and contradict(here, symbols.atoms(change.file, change.scope, change.region)):
                continue
            if loops or not change.file.encloses(change.region, reader.region):
                return None
            found.append(change)
        return found

    def _written(self, value: Display) -> list[Slot] | None:
        """Return the initial elements of a sequence; None if unknown."""
        if value.made is not None:
            return self._made(value)
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, CallRef) and not site.file.calls[expr.index].args:
            return []
        if not isinstance(expr, (List, Tuple, Set)) or any(isinstance(one, Starred) for one in expr.elements):
            return None
        return [(one, site) for one in expr.elements]

    def _made(self, value: Display) -> list[Slot] | None:
        """Return the elements of a copy, a slice or a concatenation."""
        assert value.made is not None
        expr, site = value.made.expr, value.made.site
        found: list[Slot] = []
        for part in value.parts:
            slots = self.slots(part, site)
            if slots is None:
                return None
            found += slots
        if isinstance(expr, BinOp):
            return found if expr.op == "+" else self._repeated(expr, found, site)
        if isinstance(expr, Subscript):
            steps = _steps(expr.index)
            return found[steps] if steps is not None else None
        assert isinstance(expr, CallRef)
        call = site.file.calls[expr.index]
        if len(call.args) != 1:
            return None
        name = last_name(call.func)
        return found[::-1] if name == "reversed" else self._sorted(found) if name == "sorted" else found

    def _repeated(self, expr: BinOp, slots: list[Slot], site: Site) -> list[Slot] | None:
        """Return the elements of `[None] * size` if the size is known and small."""
        sizes = [self._position(side, site) for side in (expr.right, expr.left)]
        size = next((one for one in sizes if one is not None), None)
        if size is None or len(slots) * size > limits.ITEMS.most:
            return None
        return slots * size

    def _sorted(self, slots: list[Slot]) -> list[Slot] | None:
        keys = [self._at(slot) for slot in slots]
        plain = [values[0].value for values in keys if len(values) == 1 and isinstance(values[0], Const)]
        if len(plain) < len(slots):
            return None
        try:
            return [slots[number] for number in sorted(range(len(slots)), key=plain.__getitem__)]
        except TypeError:
            return None

    def _applied(self, change: Change, slots: list[Slot]) -> list[Slot] | None:
        """Return the elements after a mutation; None if unknown."""
        frames = change.site(slots[0][1].frame if slots else None)
        where = frames if not slots or slots[0][1].scope == change.scope else change.site(None)
        at = self._position(change.key, where)
        if change.kind == "reverse":
            return slots[::-1]
        if change.kind == "sort":
            return self._sorted(slots)
        if change.kind == "clear":
            return []
        if change.kind == "add" and change.value is not None:
            if change.key is not None and at is None:
                return None
            end = len(slots) if at is None else at
            return [*slots[:end], (change.value, where), *slots[end:]]
        if change.kind == "extend":
            more = self._more(change.value, where)
            return None if more is None else slots + more
        if change.kind == "discard":
            wanted = self.world.values.evaluate(change.key, where) if not isinstance(change.key, str) else ()
            for number, slot in enumerate(slots):
                values = self._at(slot)
                if len(values) != 1 or len(wanted) != 1 or not isinstance(wanted[0], Const):
                    return None
                if values == wanted:
                    return slots[:number] + slots[number + 1 :]
                if not isinstance(values[0], Const):
                    return None
            return None
        if isinstance(change.key, Slice):
            return self._respliced(change, change.key, slots, where)
        if change.kind == "remove" and change.key is None:
            at = -1
        if at is None or not -len(slots) <= at < len(slots):
            return None
        at %= len(slots)
        if change.kind == "remove":
            return slots[:at] + slots[at + 1 :]
        return [*slots[:at], (change.value, where), *slots[at + 1 :]] if change.kind == "set" and change.value else None

    def _respliced(self, change: Change, index: Slice, slots: list[Slot], where: Site) -> list[Slot] | None:
        steps = _steps(index)
        more = self._more(change.value, where) if change.kind == "set" else []
        if steps is None or steps.step is not None or more is None:
            return None
        found = list(slots)
        found[steps] = more
        return found

    def _more(self, expr: Expr | None, where: Site) -> list[Slot] | None:
        values = self.world.values.evaluate(expr, where)
        return self.slots(values[0], where) if len(values) == 1 and isinstance(values[0], Display) else None

    def _position(self, key: Expr | str | None, where: Site) -> int | None:
        if key is None or isinstance(key, (str, Slice)):
            return None
        values = self.world.values.evaluate(key, where)
        found = values[0].value if len(values) == 1 and isinstance(values[0], Const) else None
        return found if isinstance(found, int) else None

    # Elements

    def elements(self, value: Display) -> Values:
        """Return the values at all positions, at any time."""
        return self.world.memory.remember(self._every_element, value, lambda: self._elements(value), ())

    def _elements(self, value: Display) -> Values:
        groups: list[Values] = []
        evaluate = self.world.values.evaluate
        sliced = self._written(value) if value.made is not None and isinstance(value.made.expr, Subscript) else None
        if sliced is not None:
            groups += map(self._at, sliced)
        elif value.parts:
            groups += map(self.elements, value.parts)
        else:
            groups += self._displayed(value)
        for change in self.changes.of(value):
            for where in self.changes.runs(change, value):
                if change.kind == "extend" or isinstance(change.key, Slice):
                    groups.extend(self.world.values.element_of(one) for one in evaluate(change.value, where))
                elif change.kind in ("add", "set") and change.value is not None:
                    groups.append(evaluate(change.value, where))
        return union(groups, limits.ITEMS)

    def _displayed(self, value: Display) -> Iterator[Values]:
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Comprehension):
            yield self.world.values.evaluate(expr.key or expr.element, inside(expr, site))
        elif isinstance(expr, (List, Tuple, Set)):
            for element in expr.elements:
                if isinstance(element, Starred):
                    yield self.world.values.evaluate(Element(element.value), site)
                else:
                    yield self.world.values.evaluate(element, site)
        elif isinstance(expr, CallRef):
            for argument in site.file.calls[expr.index].args[:1]:
                yield from map(self.world.values.element_of, self.world.values.evaluate(argument.value, site))

    def pairs(self, expr: Expr, site: Site) -> list[tuple[Values, Values]] | None:
        """Return the keys and values of a sequence of pairs, or of `zip(keys, values)`; None if unknown."""
        if isinstance(expr, CallRef):
            call = site.file.calls[expr.index]
            if call.func == Name("zip") and len(call.args) == 2 and not any(one.keyword for one in call.args):
                sides = [self._more(one.value, site) for one in call.args]
                if sides[0] is None or sides[1] is None:
                    return None
                return [(self._at(key), self._at(value)) for key, value in zip(sides[0], sides[1], strict=False)]
        found: list[tuple[Values, Values]] = []
        for pair, where in self._more(expr, site) or ():
            both = self._more(pair, where)
            if both is None or len(both) != 2:
                return None
            found.append((self._at(both[0]), self._at(both[1])))
        return found or None


def _keeps_places(change: Change) -> bool:
    return change.kind in _KEEPING_PLACES and (change.kind == "set" or change.key is None)


def _loops(change: Change) -> list[int]:
    regions = change.file.facts.regions
    return [one for one in change.file.regions(change.region) if regions[one].kind in ("for", "while")]


def _steps(index: Expr) -> slice | None:
    """Return the slice object of a slice with constant bounds; None for any other index."""
    if not isinstance(index, Slice):
        return None
    bounds: list[Optional[int]] = []
    for part in (index.lower, index.upper, index.step):
        sign = -1 if isinstance(part, UnaryOp) and part.op == "-" else 1
        plain = part.operand if isinstance(part, UnaryOp) else part
        if plain is None:
            bounds.append(None)
        elif isinstance(plain, Constant) and isinstance(plain.value, int):
            bounds.append(sign * plain.value)
        else:
            return None
    return slice(*bounds) if bounds[2] != 0 else None


def cut(value: Const, index: Expr) -> Value:
    """Return a slice of a string."""
    steps = _steps(index)
    if steps is None or not isinstance(value.value, str):
        return UNKNOWN
    return const(value.value[steps])
