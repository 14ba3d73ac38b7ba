"""Which conditions around a place are certainly false: the one answer to whether code can be reached."""

from __future__ import annotations

from collections.abc import Set as AnySet
from typing import Any

from dllint.facts.nodes import (
    Attribute,
    BoolOp,
    CallRef,
    Compare,
    Comprehension,
    Constant,
    Dict,
    List,
    Name,
    Not,
    Set,
    Tuple,
)
from dllint.facts.schema import Expr, Region
from dllint.inference.answers import Table
from dllint.inference.enumerations import plain
from dllint.inference.folding import binary, is_member
from dllint.inference.interface import Engine
from dllint.inference.program_options import assigned_alone, set_by_programs
from dllint.inference.receiver_attributes import stored_by_caller
from dllint.inference.stability import is_handed_out, is_stable
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    Display,
    Function,
    Instance,
    Mapping,
    Parsed,
    Site,
    Value,
    Values,
    const,
)
from dllint.linking.arithmetic import ANY, OPERATORS
from dllint.linking.closed_values import ClosedValues, iterates, never_met, truth
from dllint.linking.conditions import tested_at
from dllint.linking.derivations import stores_by_name, stores_of_methods
from dllint.linking.partly_known import VAGUE, Member, Present

_TESTED = ("if", "while", "for")


class Decisions:
    """Decides the conditions that hold around places. Results are memoized."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._false: Table[bool] = {}
        self._offered: Table[Values] = {}

    def impossible(self, site: Site) -> bool:
        """Whether a condition around the site is certainly false in its activation."""
        file = site.file
        for index in file.regions(site.region):
            if never_met(file, index):
                return True
            if self._never_holds(index, site):
                return True
        return False

    def untaken(self, site: Site) -> bool:
        """The same without loops over nothing: what an empty list is passed for may be filled later."""
        file = site.file
        around = (index for index in file.regions(site.region) if file.facts.regions[index].kind != "for")
        return any(never_met(file, index) or self._never_holds(index, site) for index in around)

    def refused(self, site: Site) -> bool:
        """Whether a condition around the site asks for a choice that the command line refuses, in every activation.
        Other tests of an unknown activation are hardly ever decided, and costly to evaluate."""
        for index in site.file.regions(site.region):
            entry = site.file.facts.regions[index]
            if entry.kind == "if" and entry.expr is not None:
                where = Site(site.file, site.scope, entry.parent, tested_at(entry, site.at), site.frame)
                if self._chosen(entry.expr, where) is (not entry.holds):
                    return True
        return False

    def _chosen(self, test: Expr, where: Site) -> bool | None:
        """Return the outcome of a test of an option that accepts only listed choices, or that every program sets, or of
        an attribute that the calling method has set; None if it is not known."""
        if isinstance(test, Not):
            outcome = self._chosen(test.operand, where)
            return None if outcome is None else not outcome
        if isinstance(test, BoolOp):
            outcomes = {self._chosen(part, where) for part in test.values}
            deciding = test.op == "or"
            return deciding if deciding in outcomes else None if None in outcomes else not deciding
        if isinstance(test, Attribute):
            stored = stored_by_caller(self.world, test, where)
            if stored is not None:
                return truth(Known(self.world, stored[1]).value(stored[0]))
            fixed = set_by_programs(self.world, test, where)
            return None if fixed is None else bool(fixed.value)
        if not isinstance(test, Compare) or len(test.comparisons) != 1 or not isinstance(test.left, Attribute):
            return None
        (op, right), option, name = test.comparisons[0], test.left, test.left.attr
        compared = _outcome(op, assigned_alone(self.world, option, where), right)
        if compared is not None:
            return compared
        wanted = _constants(right if op in ("in", "not in") else List((right,)))
        if op not in ("==", "!=", "in", "not in") or wanted is None or not self.world.knowledge.chooses(name):
            return None
        if self.world.stores.outside_stores(name) or self.world.stores.outside_spreads():
            return None
        key = (where.file.path, where.scope, option, where.frame)
        offered = self.world.memory.remember(self._offered, key, lambda: self._choices(option, where), ())
        if not offered or not all(isinstance(one, Const) for one in offered):
            return None
        hits = {isinstance(one, Const) and one.value in wanted for one in offered}
        return None if len(hits) > 1 else hits.pop() is (op in ("==", "in"))

    def _choices(self, option: Attribute, where: Site) -> Values:
        parsed = self.world.values.evaluate(option.value, where)
        found = [
            self.world.knowledge.in_parsed(one, option.attr).values if isinstance(one, Parsed) else (UNKNOWN,)
            for one in parsed
        ]
        # More than the limit of an expression's values are still few to compare a text with.
        return tuple(dict.fromkeys(value for values in found for value in values))

    def _never_holds(self, index: int, site: Site) -> bool:
        """Whether the test of a region around a site is certainly false there."""
        entry = site.file.facts.regions[index]
        if entry.kind not in _TESTED or entry.expr is None:
            return False
        at = tested_at(entry, site.at)
        key = (site.file.path, site.scope, index, at, site.frame)
        known = self._false.get(key)
        if known is not None and known.final:
            return known.value
        where = Site(site.file, site.scope, entry.parent, at, site.frame)
        return self.world.memory.remember(self._false, key, lambda: self._is_false(entry, where), False)

    def _is_false(self, entry: Region, where: Site) -> bool:
        assert entry.expr is not None
        if entry.kind == "for":
            return iterates(Known(self.world, where).value(entry.expr)) is False
        test = _with_stored(self.world, entry.expr, where)
        decided = truth(Known(self.world, where).value(test))
        if decided is None and is_stable(self.world, test, where):
            decided = self.world.values.truth(self.world.values.evaluate(test, where))
        if decided is None:
            decided = self._chosen(entry.expr, where)
        return decided is not None and decided is not entry.holds


def _outcome(op: str, values: AnySet[object], right: Expr) -> bool | None:
    """Return what comparing each of several constants with another one gives; None if they do not agree."""
    if not isinstance(right, Constant) or op not in OPERATORS or not values:
        return None
    found = {one for value in values for one in binary(op, (const(value),), (const(right.value),))}
    return const(True) in found if found in ({const(True)}, {const(False)}) else None


_CONTAINERS = (List, Tuple, Set, Dict, Comprehension, CallRef)
"""Expressions that create something that may change; a name for it may stand for its later contents."""


_CHANGING = (list, dict, set)
"""Types of values that may have changed since."""


def _constants(expr: Expr) -> list[object] | None:
    """Return the constants that a list or tuple displays; None for anything else."""
    if not isinstance(expr, (List, Tuple, Set)) or not all(isinstance(one, Constant) for one in expr.elements):
        return None
    return [one.value for one in expr.elements if isinstance(one, Constant)]


class Known(ClosedValues):
    """Closed values, and the names, attributes and calls for which the interpreter knows a single constant, or a
    container that nothing changes."""

    def __init__(self, world: Engine, site: Site) -> None:
        super().__init__(site.file)
        self.world = world
        self.site = site

    def named(self, expr: Name | Attribute, depth: int) -> Any:
        known = super().named(expr, depth)
        if known is not ANY:
            return known
        if isinstance(expr, Name):
            found = self.world.symbols.lookup(expr.id, self.site)
            alone = len(found) == 1 and "*" not in found[0][1].file.bindings(0)
            binding, where = found[0] if alone else (None, self.site)
            if binding is not None and binding.kind == "value" and not isinstance(binding.expr, _CONTAINERS):
                value = ANY if binding.expr is None else self._at(binding.expr, where, depth)
                if not isinstance(value, _CHANGING):
                    return value
        elif not is_stable(self.world, expr, self.site):
            return ANY
        else:
            stored = self._stored(expr, depth)
            if stored is not ANY:
                return stored
        return self._concrete(self.world.values.evaluate(expr, self.site), depth)

    def _stored(self, expr: Attribute, depth: int) -> Any:
        """Return what a test gives that an object keeps in an attribute: `self.train = mode == "train"`."""
        holders = self.world.values.evaluate(expr.value, self.site)
        if len(holders) != 1 or depth == 0:
            return ANY
        holder = holders[0]
        if not isinstance(holder, Instance) or not isinstance(holder.of, Class):
            return ANY
        line = (one for one in self.world.hierarchy.line(holder.of) if isinstance(one, Class))
        stores = [(one, store) for one in line for store in self.world.stores.own_stores(one).get(expr.attr, ())]
        if len(stores) != 1 or not isinstance(stores[0][1].value, (Compare, BoolOp, Not)):
            return ANY
        value = self._at(stores[0][1].value, self.world.stores.store_site(holder, *stores[0]), depth)
        return ANY if isinstance(value, _CHANGING) else value

    def returned(self, scope: int, depth: int) -> Any:
        # The names in the function are not those at the site.
        return ClosedValues(self.file).returned(scope, depth)

    def called(self, number: int, depth: int) -> Any:
        known = super().called(number, depth)
        if known is not ANY:
            return known
        if not is_stable(self.world, CallRef(number), self.site):
            return ANY
        return self._concrete(self.world.values.evaluate(CallRef(number), self.site), depth)

    def _concrete(self, values: Values, depth: int) -> Any:
        """Return the value that the interpreter knows, if it is the only one."""
        if len(values) != 1 or depth == 0:
            return ANY
        value = plain(self.world, values)[0]
        if isinstance(value, Const):
            return value.value
        if is_member(value):
            return self._member(value)
        if isinstance(value, Display):
            return self._elements(value, depth)
        if isinstance(value, Mapping):
            return self._entries(value, depth)
        if isinstance(value, (Class, Function)) or (
            isinstance(value, Instance)
            and isinstance(value.of, Class)
            and self.world.hierarchy.method(value.of, "__eq__") is None
        ):
            return Present(self.world.values.truth(values))
        return ANY

    def _member(self, value: Value) -> Any:
        """Return the member of an enumeration: two names of equal values are one."""
        assert isinstance(value, Instance) and value.file is not None
        parts = tuple(one.value for one in value.file.calls[value.call].args)
        return Member(value.of, parts)

    def _elements(self, value: Display, depth: int) -> Any:
        slots = self.world.mappings.slots(value)
        if (
            slots is None
            or value.kind not in ("list", "tuple")
            or (value.kind == "list" and is_handed_out(self.world, value, self.file))
        ):
            return ANY
        found = [self._at(expr, site, depth) for expr, site in slots]
        if any(one is ANY or isinstance(one, VAGUE) for one in found):
            return ANY
        return tuple(found) if value.kind == "tuple" else found

    def _entries(self, value: Mapping, depth: int) -> Any:
        expr, site = value.written.expr, value.written.site
        if not isinstance(expr, Dict) or value.made is not None or any(self.world.mappings.changes_of(value)):
            return ANY
        if is_handed_out(self.world, value, self.file):
            return ANY
        return self._at(expr, site, depth)

    def _at(self, expr: Expr, site: Site, depth: int) -> Any:
        return Known(self.world, site).value(expr, depth - 1)


def _with_stored(world: Engine, test: Expr, where: Site) -> Expr:
    """Return a test with the name or constant instead of an attribute that only the function itself sets, before the
    test on every way to it: `readonly` for `self.readonly`."""
    if isinstance(test, Not):
        return Not(_with_stored(world, test.operand, where))
    if isinstance(test, BoolOp):
        return BoolOp(test.op, tuple(_with_stored(world, part, where) for part in test.values))
    if not isinstance(test, Attribute) or not isinstance(test.value, Name):
        return test
    file, scope = where.file, where.scope
    owner = file.method_of(scope)
    named = file.named(stores_by_name, scope) if owner is None else file.named(stores_of_methods, owner)
    stores = [one for one in named.get(test.attr, ()) if one.base == test.value]
    if len(stores) != 1 or stores[0].scope != scope:
        return test
    event, value = stores[0].event, stores[0].value
    before = event.span.start < where.at and file.encloses(event.region, where.region)
    if not before or not isinstance(value, (Name, Constant)):
        return test
    # A function that is called in between may set it too.
    elsewhere = world.stores.outside_stores(test.attr)
    return value if all(one.value == value for _, one in elsewhere) else test
