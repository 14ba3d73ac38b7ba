"""What the arguments of its callers say of a function's parameters: conditions in terms of them, and literals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Constant, Name
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import Actuals, Frame, Function
from dllint.linking.conditions import Atom, render
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.arrivals import Arrival

_NAME = re.compile(r"[A-Za-z_]\w*")


def restated(world: World, atoms: Iterable[Atom], file: SourceFile, scope: int, frame: Frame | None) -> Iterator[Atom]:
    """The conditions on unmodified parameters whose argument in this activation is a name or an attribute of the
    caller."""
    if frame is None or frame.actuals is None or file.scopes[scope].kind != "function":
        return
    function = Function(file, scope)
    for atom in atoms:
        names = list(dict.fromkeys(_NAME.findall(atom.text)))
        if atom.scope != (file.path, scope) or not names or not atom.text.startswith(names[0]):
            continue
        name = names[0]
        if any(binding.kind != "param" for binding in file.bindings(scope).get(name, ())):
            continue
        found = world.parameters.bound(function, name, frame)
        actual = found.actual
        if found.case != "actual" or actual is None or actual.expr is None or actual.site is None:
            continue
        if isinstance(actual.expr, (Name, Attribute)):
            text = render(actual.expr, actual.site.file, 200).removeprefix("self.") + atom.text[len(name) :]
            yield atom._replace(text=text, scope=(actual.site.file.path, actual.site.scope))


def with_same_literals(world: World, arrival: Arrival, others: list[Arrival]) -> list[Arrival]:
    """Those of the other arrivals at a function whose literal arguments lead to the same parts of it."""
    for one in (*others, arrival) if others else ():
        if one.literals is None:
            one.literals = _literals(world, one)
    same = [other for other in others if other.literals == arrival.literals]
    different = {other.literals for other in others}
    return others if not same and limits.LITERAL_ARGUMENTS.reached(len(different)) else same


def _literals(world: World, arrival: Arrival) -> tuple[tuple[str, object], ...]:
    """The parameters that a chain of calls binds to a text, a switch or None, written at one of its calls: `"train"` of
    `make(rows, split="train")`. Tests of such a parameter choose between parts of the function."""
    params = arrival.file.scopes[arrival.scope].params
    actuals = arrival.frame.actuals if arrival.frame is not None else None
    found = [(param.name, _literal(world, arrival, param.name)) for param in params]
    if actuals is not None and any(param.kind == "kw" for param in params):
        found += [(name, _read(world, given.expr, arrival.previous)) for name, given in actuals.keywords.items()]
    return tuple(sorted({name: given.value for name, given in found if given is not None}.items()))


def _literal(world: World, arrival: Arrival, name: str) -> Constant | None:
    frame = arrival.frame
    if frame is None or frame.actuals is None:
        return None
    bound = world.parameters.bound(Function(arrival.file, arrival.scope), name, frame)
    if bound.case == "actual" and bound.actual is not None:
        return _read(world, bound.actual.expr, arrival.previous)
    return _handed_on(world, frame.actuals, name, arrival.previous) if bound.case == "keywords" else None


def _handed_on(world: World, actuals: Actuals, name: str, caller: Arrival | None) -> Constant | None:
    """The literal that comes with the keywords of the caller's own call: `make(rows, **options)`."""
    for mapping in actuals.mappings:
        if caller is None or caller.frame is None or caller.frame.actuals is None:
            return None
        params = caller.file.scopes[caller.scope].params
        if any(isinstance(mapping.expr, Name) and (one.name, one.kind) == (mapping.expr.id, "kw") for one in params):
            given = caller.frame.actuals.keywords.get(name)
            if given is not None:
                return _read(world, given.expr, caller.previous)
            return _handed_on(world, caller.frame.actuals, name, caller.previous)
    return None


def _read(world: World, expr: Expr | None, caller: Arrival | None) -> Constant | None:
    if isinstance(expr, Constant):
        return expr if expr.value is None or isinstance(expr.value, (str, bool)) else None
    if isinstance(expr, Name) and caller is not None:
        bindings = caller.file.bindings(caller.scope).get(expr.id, ())
        if bindings and all(binding.kind == "param" for binding in bindings):
            return _literal(world, caller, expr.id)
    return None
