"""Which conditions around a place are certainly false: the one answer to whether code can be reached."""

from __future__ import annotations

from typing import Any, NamedTuple

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Constant, Dict, Name, Not, Subscript
from dllint.facts.schema import Call, Expr, Region
from dllint.inference.enumerations import plain
from dllint.inference.folding import is_member
from dllint.inference.interface import Engine
from dllint.inference.memo import Table
from dllint.inference.values import (
    Class,
    Const,
    Display,
    Function,
    Instance,
    Mapping,
    Site,
    Value,
    Values,
)
from dllint.linking.arithmetic import ANY
from dllint.linking.closed_values import ClosedValues, Present, iterates, never_met, truth
from dllint.linking.conditions import tested_at
from dllint.linking.source import SourceFile

_TESTED = ("if", "while", "for")


class Decisions:
    """Decides the conditions that hold around places. Results are memoized."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._false: Table[bool] = {}

    def impossible(self, site: Site) -> bool:
        """Whether a condition around the site is certainly false in its activation."""
        file = site.file
        for index in file.regions(site.region):
            if never_met(file, index):
                return True
            if self._never_holds(index, site):
                return True
        return False

    def _never_holds(self, index: int, site: Site) -> bool:
        """Whether the test of a region around a site is certainly false there."""
        entry = site.file.facts.regions[index]
        if entry.kind not in _TESTED or entry.expr is None:
            return False
        where = Site(site.file, site.scope, entry.parent, tested_at(entry, site.at), site.frame)
        key = (site.file.path, site.scope, index, where.at, site.frame)
        return self.world.memory.remember(self._false, key, lambda: self._is_false(entry, where), False)

    def _is_false(self, entry: Region, where: Site) -> bool:
        assert entry.expr is not None
        if entry.kind == "for":
            return iterates(Known(self.world, where).value(entry.expr)) is False
        test = _with_stored(entry.expr, where.file, where.scope)
        decided = truth(Known(self.world, where).value(test))
        if decided is None:
            decided = self.world.values.truth(self.world.values.evaluate(test, where))
        return decided is not None and decided is not entry.holds


class _Member(NamedTuple):
    of: Value
    value: tuple[Expr, ...]


class Known(ClosedValues):
    """Closed values, and the names, attributes and calls for which the interpreter knows a single constant, or a
    container that nothing changes."""

    def __init__(self, world: Engine, site: Site) -> None:
        super().__init__(site.file)
        self.world = world
        self.site = site

    def named(self, expr: Name | Attribute, depth: int) -> Any:
        known = super().named(expr, depth)
        return known if known is not ANY else self._concrete(self.world.values.evaluate(expr, self.site), depth)

    def returned(self, scope: int, depth: int) -> Any:
        # The names in the function are not those at the site.
        return ClosedValues(self.file).returned(scope, depth)

    def called(self, number: int, depth: int) -> Any:
        known = super().called(number, depth)
        if known is not ANY:
            return known
        variable = self._variable(self.file.calls[number])
        if variable is not None:
            return self._concrete(self.world.values.evaluate(variable, self.site), depth)
        return self._concrete(self.world.values.evaluate(CallRef(number), self.site), depth)

    def _variable(self, call: Call) -> Expr | None:
        """Return the environment variable that a call reads: `os.environ["RANK"]` for `os.environ.get("RANK", "0")`."""
        func = call.func
        if not call.args or not isinstance(call.args[0].value, Constant) or not isinstance(func, Attribute):
            return None
        name = self.dotted(func)
        environ = func.value if name == "os.environ.get" else Attribute(func.value, "environ")
        return Subscript(environ, call.args[0].value) if name in ("os.environ.get", "os.getenv") else None

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
        if isinstance(value, (Class, Function)) or (isinstance(value, Instance) and isinstance(value.of, Class)):
            return Present(self.world.values.truth(values))
        return ANY

    def _member(self, value: Value) -> Any:
        """Return what stands for a member of an enumeration: two names of equal values are one member."""
        assert isinstance(value, Instance) and value.file is not None
        parts = tuple(one.value for one in value.file.calls[value.call].args)
        return _Member(value.of, parts)

    def _elements(self, value: Display, depth: int) -> Any:
        slots = self.world.mappings.slots(value)
        if slots is None or value.kind not in ("list", "tuple"):
            return ANY
        found = [self._at(expr, site, depth) for expr, site in slots]
        return ANY if any(one is ANY or isinstance(one, Present) for one in found) else found

    def _entries(self, value: Mapping, depth: int) -> Any:
        expr, site = value.written.expr, value.written.site
        if not isinstance(expr, Dict) or value.made is not None or any(self.world.mappings.changes_of(value)):
            return ANY
        return self._at(expr, site, depth)

    def _at(self, expr: Expr, site: Site, depth: int) -> Any:
        return Known(self.world, site).value(expr, depth - 1)


def _with_stored(test: Expr, file: SourceFile, scope: int) -> Expr:
    """Return a test with the name or constant instead of an attribute that only the function itself sets, at its top
    level: `readonly` for `self.readonly`."""
    if isinstance(test, Not):
        return Not(_with_stored(test.operand, file, scope))
    if isinstance(test, BoolOp):
        return BoolOp(test.op, tuple(_with_stored(part, file, scope) for part in test.values))
    if not isinstance(test, Attribute) or not isinstance(test.value, Name):
        return test
    owner = file.method_of(scope)
    methods = file.children.get(owner, ()) if owner is not None else (scope,)
    stores = [
        one for method in methods for one in file.stores(method) if (one.base, one.key) == (test.value, test.attr)
    ]
    alone = len(stores) == 1 and stores[0].scope == scope and not stores[0].event.region
    value = stores[0].value if alone else None
    return value if isinstance(value, (Name, Constant)) else test
