"""Options of a command line that every program sets itself before it calls a function: `args.threads = True`."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, Constant
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import External, Function, Instance, Parsed, Site
from dllint.linking.assignments import Store
from dllint.linking.conditions import main_guards, under_main_guard
from dllint.linking.source import SourceFile


def set_by_programs(world: Engine, option: Attribute, where: Site) -> Constant | None:
    """Return the constant to which each program that leads to a place sets an option at its top level before; None if
    one of them does not, or may be unknown."""
    stores = world.stores.outside_stores(option.attr)
    value = stores[0][1].value if stores else None
    if not isinstance(value, Constant) or world.stores.outside_spreads():
        return None
    if any(one.value != value or not _is_at_top(file, one) for file, one in stores):
        return None
    parsed = world.values.evaluate(option.value, where)
    if not parsed or not all(isinstance(one, Parsed) for one in parsed):
        return None
    by_file: dict[str, list[Store]] = {}
    for file, one in stores:
        by_file.setdefault(file.path, []).append(one)
    return value if _always_before(world, where, by_file) else None


def assigned_alone(world: Engine, option: Attribute, where: Site) -> frozenset[object]:
    """The constants that the program assigns to an attribute of its command line, which no option of it has; empty if
    it may have any other value."""
    stores = world.stores.outside_stores(option.attr)
    values = [one.value for _, one in stores]
    if not all(isinstance(one, Constant) for one in values) or not values or world.stores.outside_spreads():
        return frozenset()
    parsed = world.values.evaluate(option.value, where)
    alone = all(
        isinstance(one, Parsed)
        and isinstance(one.parser, Instance)
        and one.parser.of == External("argparse.ArgumentParser")
        and not world.knowledge.options(one, option.attr)
        for one in parsed
    )
    known = frozenset(one.value for one in values if isinstance(one, Constant))
    return known if parsed and alone else frozenset()


def _is_at_top(file: SourceFile, store: Store) -> bool:
    """Whether the top level of a file, or its main guard, always sets an attribute."""
    guards = main_guards(file)
    return store.scope == 0 and all(one in guards for one in file.regions(store.event.region))


def _always_before(world: Engine, where: Site, stores: dict[str, list[Store]]) -> bool:
    """Whether on every way of calls from a top level to a place, one of the files sets the option first."""
    seen: set[tuple[str, int]] = set()
    waiting = [(where.file, where.scope, where.at)]
    while waiting:
        file, scope, at = waiting.pop()
        if any(_precedes(file, scope, at, one) for one in stores.get(file.path, ())):
            continue
        if (file.path, scope) in seen:
            continue
        seen.add((file.path, scope))
        if scope == 0 or limits.PROGRAM_FUNCTIONS.exceeded(len(seen)) or file.scopes[scope].kind != "function":
            return False
        callers = world.calls.callers(Function(file, scope))
        if not callers or any(one.call < 0 for one in callers):
            return False
        for one in callers:
            call = one.file.calls[one.call]
            waiting.append((one.file, call.scope, call.statement.start))
    return True


def _precedes(file: SourceFile, scope: int, at: tuple[int, int], store: Store) -> bool:
    """Whether a file has executed an assignment of its top level when a statement runs: importing the file does, or
    the same program before."""
    guarded = under_main_guard(file, store.event.region)
    if scope != 0:
        return not guarded
    return store.event.span.start < at
