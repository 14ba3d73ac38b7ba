"""Narrowing: the values of a name or attribute that remain after a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath

from dllint.facts.nodes import BoolOp, CallRef, Compare, Constant, Name, Not, Tuple
from dllint.facts.schema import Event, Expr
from dllint.inference.interface import Engine
from dllint.inference.values import (
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Partial,
    Site,
    Value,
    Values,
    const,
)
from dllint.linking.arithmetic import OPERATORS, combined
from dllint.linking.bindings import Binding
from dllint.linking.conditions import may_change, render
from dllint.linking.source import SourceFile
from dllint.span import Span

_LOOPS = ("for", "while")


def not_functions(values: Values) -> Values:
    """Return the values without functions, classes and partials."""
    return tuple(value for value in values if not isinstance(value, (Class, Function, Partial)))


def tests_callable(expr: Expr | None, file: SourceFile) -> Expr | None:
    """Return the argument of a call of `callable`: `rows` in `callable(rows)`; None for any other expression."""
    if expr is None or not isinstance(expr, CallRef) or file.calls[expr.index].func != Name("callable"):
        return None
    args = file.calls[expr.index].args
    return args[0].value if len(args) == 1 and args[0].keyword is None else None


def called_before(expr: Expr, site: Site) -> bool:
    """Whether the function has replaced a callable `expr` by its result: `if callable(rows): rows = rows()`."""
    file = site.file
    if site.at == (0, 0) or not file.asks_callable:
        return False
    for event, index in _replacements(file, site.scope):
        if event.span.start >= site.at:
            return False
        if event.target == expr:
            parent = file.facts.regions[index].parent
            return index not in file.regions(site.region) and file.encloses(parent, site.region)
    return False


def _replacements(file: SourceFile, scope: int) -> list[tuple[Event, int]]:
    """Return the assignments of a scope that replace the argument of a `callable` test by the result of a call, each
    with the region of the test."""
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


def of_tests(world: Engine, subject: Expr, site: Site, values: Values) -> Values:
    """Narrow the values of a name or attribute by the tests around the place.

    After `if rows is None: return` None is excluded; after `if isinstance(rows, Stream): return rows` all objects of
    that class.
    """
    file = site.file
    if not site.region or len(values) < 2:
        return values
    key = (site.scope, site.region, site.at, subject)
    tests = file.standing_tests.get(key)
    if tests is None:
        tests = file.standing_tests[key] = list(_standing(subject, site))
    left = values
    for test, holds, region in tests:
        start = file.facts.regions[region].span
        where = Site(file, site.scope, region, start.start, site.frame)
        left = tuple(value for value in left if passes(world, value, subject, test, holds, where))
    return left or values


def _standing(subject: Expr, site: Site) -> Iterator[tuple[Expr, bool, int]]:
    """Yield those of the tests around a place after which nothing changes what they read, in any activation."""
    file = site.file
    key = (site.scope, site.region, subject)
    tests = file.tests.get(key)
    if tests is None:
        tests = file.tests[key] = list(_tests(subject, file, site.region))
    for test in tests:
        start = file.facts.regions[test[2]].span
        if not may_change(render(subject, file), file, site.scope, _between(start, site)):
            yield test


def passing(world: Engine, subject: Expr, test: Expr, holds: bool, site: Site, values: Values) -> Values:
    """Return the values with which a test of a name or attribute evaluates to `holds`; all values if there are none."""
    return tuple(value for value in values if passes(world, value, subject, test, holds, site)) or values


def replaced_by_test(binding: Binding, name: str, site: Site) -> Iterator[tuple[Expr, bool]]:
    """Yield the tests that a binding's value has failed at a place, since each replaces the values that pass it: for
    the first 0, `size is None` in `if size is None: size = 8`."""
    file = site.file
    key = (site.scope, name)
    replacing = file.replacing_tests.get(key)
    if replacing is None:
        replacing = file.replacing_tests[key] = list(_replacing(name, file, site.scope))
    start = binding.event.span.start if binding.event is not None else (0, 0)
    for event, region in replacing:
        entry = file.facts.regions[region]
        passed = start < entry.span.start and event.span.start < site.at
        around = passed and file.encloses(entry.parent, site.region) and not file.encloses(region, site.region)
        if around and event is not binding.event and entry.expr is not None:
            yield entry.expr, not entry.holds


def _replacing(name: str, file: SourceFile, scope: int) -> Iterator[tuple[Event, int]]:
    """Yield the assignments to a name under a test of that name, each with the region guarded by the test."""
    for binding in file.bindings(scope).get(name, ()):
        event = binding.event
        if event is not None and event.region:
            entry = file.facts.regions[event.region]
            if entry.kind == "if" and entry.expr is not None and _about(entry.expr, Name(name), file):
                yield event, event.region


def _between(test: Span, site: Site) -> Callable[[Event], bool]:
    """Return a predicate for the statements that may run between a test and the place that it guards."""
    loops = {index for index in site.file.regions(site.region) if site.file.facts.regions[index].kind in _LOOPS}

    def passed(event: Event) -> bool:
        at = event.span.start
        if at <= test.start:
            return False
        return not site.at > (0, 0) or at < site.at or not loops.isdisjoint(site.file.regions(event.region))

    return passed


def _tests(subject: Expr, file: SourceFile, region: int) -> Iterator[tuple[Expr, bool, int]]:
    """Yield the tests of a name or attribute in force in a region, their outcome, and the region that each guards."""
    for index in file.regions(region):
        entry = file.facts.regions[index]
        if entry.kind == "if" and entry.expr is not None and _about(entry.expr, subject, file):
            yield entry.expr, entry.holds, index


def _about(test: Expr, subject: Expr, file: SourceFile) -> bool:
    """Whether a test narrows a name or attribute."""
    if isinstance(test, Not):
        return _about(test.operand, subject, file)
    if isinstance(test, BoolOp):
        return any(_about(part, subject, file) for part in test.values)
    if isinstance(test, Compare):
        return test.left == subject and len(test.comparisons) == 1
    if isinstance(test, CallRef):
        call = file.calls[test.index]
        return call.func == Name("isinstance") and len(call.args) == 2 and call.args[0].value == subject
    return test == subject


def passes(world: Engine, value: Value, subject: Expr, test: Expr, holds: bool, site: Site) -> bool:
    """Whether a test of a name or attribute may evaluate to `holds` with this value."""
    found: bool | None = None
    if isinstance(test, Not):
        return passes(world, value, subject, test.operand, not holds, site)
    if isinstance(test, BoolOp):
        decided = holds == (test.op == "and")
        return not decided or all(passes(world, value, subject, part, holds, site) for part in test.values)
    if isinstance(test, Compare) and test.left == subject and len(test.comparisons) == 1:
        op, right = test.comparisons[0]
        if isinstance(right, Constant):
            if isinstance(value, Const):
                result = combined(op, value.value, right.value) if op in OPERATORS else None
                found = result if isinstance(result, bool) else None
            else:
                found = world.values.truth(world.values.compared(op, (value,), (const(right.value),)))
    elif isinstance(test, CallRef) and _about(test, subject, site.file):
        wanted = listed_classes(world, site.file.calls[test.index].args[1].value, site)
        found = is_instance(world, value, wanted)
    elif test == subject:
        found = world.values.truth((value,))
    return found is None or found is holds


def listed_classes(world: Engine, classes: Expr, site: Site) -> Values:
    """Return the classes in the second argument of `isinstance`, including Unknown if one is unknown."""
    parts = classes.elements if isinstance(classes, Tuple) else [classes]
    return tuple(value for part in parts for value in world.values.evaluate(part, site))


def is_instance(world: Engine, value: Value, wanted: Values) -> bool | None:
    """Whether a value is an instance of one of the classes; None if unknown."""
    if isinstance(value, Const):
        return _is_constant_of(value, wanted)
    if isinstance(value, Display):
        # A list may be one of a class that resembles a list.
        others = all(isinstance(one, External) and one.name in _PLAIN and one.name != value.kind for one in wanted)
        return False if others and wanted else None
    if not isinstance(value, Instance):
        return None
    canonical = world.knowledge.canonical
    if isinstance(value.of, External):
        if canonical(value.of.name) in {canonical(one.name) for one in wanted if isinstance(one, External)}:
            return True
        plain = bool(wanted) and all(isinstance(one, External) and one.name in _PLAIN for one in wanted)
        return False if plain and world.knowledge.is_record(value.of.name) else None
    line = world.hierarchy.line(value.of)
    names = {canonical(one.name) for one in line if isinstance(one, External)}
    if any(one in line or (isinstance(one, External) and canonical(one.name) in names) for one in wanted):
        return True
    own = all(isinstance(one, Class) for one in line)
    exact = value.call >= 0 and all(isinstance(one, Class) or (own and _is_concrete(one)) for one in wanted)
    return False if exact and wanted else None


def _is_constant_of(value: Const, wanted: Values) -> bool | None:
    """Whether a constant is an instance of one of the classes; None if unknown."""
    own = {base.__name__ for base in type(value.value).__mro__}
    if any(isinstance(one, External) and one.name in own for one in wanted):
        return True
    if isinstance(value.value, PurePath) and any(isinstance(one, External) and one.name in _PATHS for one in wanted):
        return True
    # An external name may stand for several classes (`six.string_types`) or an abstract one, but hardly for None's.
    others = (
        isinstance(one, Class) or one.name in _PLAIN or (value.value is None and _is_concrete(one))
        for one in wanted
        if isinstance(one, (Class, External))
    )
    known = all(isinstance(one, (Class, External)) for one in wanted)
    return False if wanted and known and all(others) else None


def _is_concrete(cls: Value) -> bool:
    """Whether `isinstance` of an external class requires inheritance: those of `collections.abc` and others recognize
    objects by their methods."""
    return isinstance(cls, External) and not cls.name.startswith(_BY_METHODS)


_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "os.PathLike"})
_PLAIN = frozenset({"list", "tuple", "set", "dict", "str", "bytes", "int", "float", "bool"})
_BY_METHODS = ("abc.", "collections.abc.", "numbers.", "typing.", "typing_extensions.")
