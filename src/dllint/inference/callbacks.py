"""Functions that are passed on: to a parameter that is called, or to something from outside that calls them."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, BoolOp, IfExp, List, Name, Tuple, Walrus
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import Class, Function
from dllint.linking.source import SourceFile, last_name


class Passing:
    """Where functions go as arguments."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._passed: dict[tuple[str, int], dict[str, dict[int, list[Expr]]]] = {}

    def calls_with(self, function: Function) -> Iterator[tuple[SourceFile, int]]:
        """Calls that pass the function (or its class), and those of the parameters that it is passed to."""
        name = function.name
        owner = function.file.method_of(function.scope)
        keys = {function.key}
        if name == "__init__" and owner is not None:
            name = function.file.scopes[owner].name
            keys.add((function.file.path, owner))
        queue = [(file, scope, name, True) for file, scope in self.world.loaded(name)]
        seen: set[tuple[str, int, str]] = set()
        while queue and not limits.PASSED_PARAMETERS.reached(len(seen)):
            file, scope, wanted, check = queue.pop()
            for index, parts in self._passing(file, scope, wanted):
                if check and not any(
                    self._may_hold(part, function, file, index) and self._is_one_of(part, keys, file, index)
                    for part in parts
                ):
                    continue
                if wanted == name:
                    yield file, index
                for target in self._receivers(file, index):
                    for param in target.file.scopes[target.scope].params:
                        key = (target.file.path, target.scope, param.name)
                        if key in seen or param.kind == "kw":
                            continue
                        seen.add(key)
                        for inner in target.file.calls_of(target.scope):
                            if target.file.calls[inner].func == Name(param.name):
                                yield target.file, inner
                        queue.append((target.file, target.scope, param.name, False))

    def _passing(self, file: SourceFile, scope: int, name: str) -> list[tuple[int, list[Expr]]]:
        """The calls in a scope that pass something of that last name, each with the parts of its arguments that are."""
        passed = self._passed.get((file.path, scope))
        if passed is None:
            passed = self._passed[file.path, scope] = {}
            for index in file.calls_of(scope):
                for argument in file.calls[index].args:
                    for part in _parts(argument.value):
                        passed.setdefault(last_name(part), {}).setdefault(index, []).append(part)
        return list(passed.get(name, {}).items())

    def _may_hold(self, part: Expr, function: Function, file: SourceFile, index: int) -> bool:
        """Whether something of the function's last name may be the function, as far as it shows without asking for
        values: a method is written with what it belongs to, so that a bare name holds it only where it was read from
        there. (A parameter that it is passed to is followed from where it is passed.)"""
        if not isinstance(part, Name) or function.file.method_of(function.scope) is None or function.name == "__init__":
            return True
        return any(
            binding.kind != "param" and (binding.expr is None or _hands_on(binding.expr))
            for binding, _ in self.world.symbols.lookup(part.id, self.world.call_site(file, index, None))
        )

    def _is_one_of(self, part: Expr, keys: set[tuple[str, int]], file: SourceFile, index: int) -> bool:
        values = self.world.values.evaluate(part, self.world.call_site(file, index, None))
        return any(isinstance(value, (Function, Class)) and value.key in keys for value in values)

    def _receivers(self, file: SourceFile, index: int) -> list[Function]:
        """The functions whose parameters the arguments of a call (or launch) fill."""
        found = [target.function for target in self.world.calls.targets(file, index)]
        return [*found, *self.world.processes.started_at(file, index)]


def _parts(expr: Expr) -> Iterator[Expr]:
    yield expr
    if isinstance(expr, (Tuple, List)):
        for element in expr.elements:
            yield from _parts(element)


def _hands_on(expr: Expr) -> bool:
    """Whether an expression gives what a name or an attribute holds, as it is."""
    if isinstance(expr, IfExp):
        return _hands_on(expr.body) or _hands_on(expr.orelse)
    if isinstance(expr, BoolOp):
        return any(_hands_on(part) for part in expr.values)
    return isinstance(expr, (Name, Attribute, Walrus))
