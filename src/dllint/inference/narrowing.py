"""What tests by `callable` and `isinstance` leave of the values of a name or attribute."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import BoolOp, CallRef, Name, Not, Tuple
from dllint.facts.schema import Event, Expr
from dllint.inference.interface import Engine
from dllint.inference.values import Class, External, Function, Instance, Partial, Site, Value, Values
from dllint.linking.source import SourceFile


def not_functions(values: Values) -> Values:
    """The values without functions, classes and partials."""
    return tuple(value for value in values if not isinstance(value, (Class, Function, Partial)))


def tests_callable(expr: Expr | None, file: SourceFile) -> Expr | None:
    """What an expression asks `callable` about: the argument in `callable(rows)`."""
    if expr is None or not isinstance(expr, CallRef) or file.calls[expr.index].func != Name("callable"):
        return None
    args = file.calls[expr.index].args
    return args[0].value if len(args) == 1 and args[0].keyword is None else None


def called_before(expr: Expr, site: Site) -> bool:
    """Whether the function has replaced what `expr` names by its result, wherever it was a function:
    `if callable(rows): rows = rows()`."""
    file = site.file
    if site.at == (0, 0) or not file.asks_callable:
        return False
    for event, index in _replacements(file, site.scope):
        if (event.span.line, event.span.column) >= site.at:
            return False
        if event.target == expr:
            parent = file.facts.regions[index].parent
            return index not in file.regions(site.region) and file.encloses(parent, site.region)
    return False


def _replacements(file: SourceFile, scope: int) -> list[tuple[Event, int]]:
    """The assignments of a scope that replace what `callable` is asked about by what a call gives, each with the region
    of the test."""
    found = file.replacements.get(scope)
    if found is None:
        found = file.replacements[scope] = []
        for event in file.scopes[scope].events:
            if event.kind == "assign" and event.target and event.value and isinstance(event.value, CallRef):
                for index in file.regions(event.region):
                    entry = file.facts.regions[index]
                    if entry.kind == "if" and entry.holds and tests_callable(entry.expr, file) == event.target:
                        found.append((event, index))
                        break
    return found


def of_tested_classes(world: Engine, name: str, site: Site, values: Values) -> Values:
    """The values without the objects that an `isinstance` around the place excludes: what follows
    `if isinstance(rows, Stream): return rows` gets none of that class."""
    file = site.file
    if not site.region or len(values) < 2 or not file.facts.called.get("isinstance"):
        return values
    key = (site.scope, site.region, name)
    tests = file.tested_classes.get(key)
    if tests is None:
        tests = file.tested_classes[key] = list(_tests(name, file, site.scope, site.region))
    left = values
    for classes, holds, region, at in tests:
        wanted = _listed(world, classes, Site(file, site.scope, region, at, site.frame))
        left = tuple(value for value in left if _is_one(world, value, wanted) is not (not holds))
    return left or values


def _tests(name: str, file: SourceFile, scope: int, region: int) -> Iterator[tuple[Expr, bool, int, tuple[int, int]]]:
    """The classes of each `isinstance(name, …)` in force in a region, whether it holds, and where it stands; without
    tests after which the function binds the name again."""
    bindings = file.bindings(scope).get(name, ())
    for index in file.regions(region) if bindings else ():
        entry = file.facts.regions[index]
        if entry.kind != "if" or entry.expr is None:
            continue
        test, holds = entry.expr, entry.holds
        while isinstance(test, Not):
            test, holds = test.operand, not holds
        for part in test.values if isinstance(test, BoolOp) and (test.op == "and") == holds else (test,):
            call = file.calls[part.index] if isinstance(part, CallRef) else None
            if call is None or call.func != Name("isinstance") or len(call.args) != 2:
                continue
            at = (call.span.line, call.span.column)
            late = any(one.event is not None and (one.event.span.line, one.event.span.column) > at for one in bindings)
            if call.args[0].value == Name(name) and not late:
                yield call.args[1].value, holds, entry.parent, at


def _listed(world: Engine, classes: Expr, site: Site) -> Values:
    """The classes that the second argument of `isinstance` comes to; Unknown among them where one is not known."""
    parts = classes.elements if isinstance(classes, Tuple) else [classes]
    return tuple(value for part in parts for value in world.values.evaluate(part, site))


def _is_one(world: Engine, value: Value, wanted: Values) -> bool | None:
    """Whether a value is an object of one of the classes; None where that is not known."""
    if not isinstance(value, Instance) or not isinstance(value.of, Class):
        return None
    line = world.hierarchy.line(value.of)
    canonical = world.knowledge.canonical
    names = {canonical(one.name) for one in line if isinstance(one, External)}
    if any(one in line or (isinstance(one, External) and canonical(one.name) in names) for one in wanted):
        return True
    exact = value.call >= 0 and all(isinstance(one, Class) for one in wanted)
    return False if exact and wanted else None
