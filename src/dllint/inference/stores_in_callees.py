"""Attributes that a called function sets on its argument: `fix(args)`, where `fix` sets `args.workers = 0`."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, Name
from dllint.inference.edges import Target
from dllint.inference.interface import Engine
from dllint.inference.values import Site, Values


def set_by_callee(world: Engine, expr: Attribute, site: Site, since: tuple[int, int]) -> Values | None:
    """Return the values of `name.attr` if a call that certainly ran, after `since` and before the site, has set it;
    None if no call has, or if the name may be bound to another object by then."""
    base = expr.value
    if not isinstance(base, Name) or site.at == (0, 0):
        return None
    file = site.file
    for index in reversed(file.calls_given(site.scope, base.id)):
        call = file.calls[index]
        at = call.statement.start
        if not since < at < site.at or not isinstance(call.func, (Name, Attribute)):
            continue
        if not file.encloses(call.region, site.region):
            return None
        targets = world.calls.targets(file, index, site.frame)
        if len(targets) != 1 or targets[0].guessed:
            continue
        for name in _parameters(world, targets[0], base):
            if not _still_held(base, name, targets[0], site, at):
                return None
            values = _set_in(world, targets[0], name, expr.attr)
            if values is not None:
                return values
    return None


def _parameters(world: Engine, target: Target, given: Name) -> Iterator[str]:
    """Yield the parameters through which a function receives the value of its caller's name."""
    function = target.function
    for param in function.file.scopes[function.scope].params:
        if param.kind not in ("var", "kw"):
            actual = world.parameters.bound(function, param.name, target.frame).actual
            if actual is not None and actual.expr == given:
                yield param.name


def _still_held(base: Name, name: str, target: Target, site: Site, at: tuple[int, int]) -> bool:
    """Whether the name still refers to the same object after the call: not rebound, or rebound to the function's
    argument."""
    function = target.function
    for binding in site.file.bindings(site.scope).get(base.id, ()):
        if binding.event is not None and at <= binding.event.span.start < site.at:
            returned = function.file.scopes[function.scope].events_of("return")
            if binding.event.span.start != at or not returned:
                return False
            if any(event.value != Name(name) for event in returned):
                return False
    return True


def _set_in(world: Engine, target: Target, name: str, attr: str) -> Values | None:
    """Return the values that a function assigns to an attribute of its parameter on every path; None if it does not."""
    function = target.function
    file = function.file
    if len(file.bindings(function.scope).get(name, ())) != 1:
        return None
    stores = [store for store in file.stores(function.scope) if store.key == attr and store.base == Name(name)]
    if not stores or stores[-1].event.region:
        return None
    event = stores[-1].event
    where = Site(file, function.scope, event.region, event.span.start, target.frame)
    return world.values.evaluate(stores[-1].value, where)
