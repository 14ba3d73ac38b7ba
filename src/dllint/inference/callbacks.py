"""Callbacks: functions passed to a parameter that is called, or to external code that calls them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dllint.facts.aliases import lambda_name
from dllint.facts.nodes import Attribute, BoolOp, CallRef, Dict, IfExp, LambdaRef, List, Name, Tuple, Walrus
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.names import replaced_names
from dllint.inference.values import Class, Frame, Function
from dllint.linking.implicit_calls import decorated
from dllint.linking.source import SourceFile, last_name


class Passing:
    """The flow of functions passed as arguments."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._passed: dict[tuple[str, int], dict[str, list[tuple[CallRef, tuple[Expr, ...]]]]] = {}
        self._bound_names: dict[tuple[str, int], dict[str, set[str]]] = {}
        self._kept_under: dict[tuple[str, int, str], tuple[tuple[str, list[tuple[SourceFile, int]]], ...]] = {}

    def calls_with(self, function: Function, closure: Frame | None) -> Iterator[tuple[SourceFile, int, Frame | None]]:
        """Yield the calls that pass the function (or its class), and the calls of the parameters that receive it,
        including those in nested functions; each with its activation if known. A decorator receives the definition
        below it."""
        passing = list(self.given(function, closure))
        seen: set[tuple[object, ...]] = set()
        heard: set[str] = set()
        while passing and not limits.PASSED_PARAMETERS.reached(len(seen)):
            file, index, frame = passing.pop()
            yield file, index, frame
            for target, around in self._receivers(file, index, frame):
                for param in target.file.scopes[target.scope].params:
                    key = (target.key, around, param.name)
                    if key in seen or param.kind == "kw":
                        continue
                    seen.add(key)
                    called = target.file.facts.called.get(param.name, ())
                    inside = dict(self._inside(target, around, param.name))
                    for inner in called:
                        call = target.file.calls[inner]
                        if call.func == Name(param.name) and call.scope in inside:
                            yield target.file, inner, inside[call.scope]
                    for kept, calls in self._kept(target, param.name):
                        # Many parameters are stored under the same name.
                        if kept not in heard:
                            heard.add(kept)
                            for where, inner in limits.KEPT_CALLS.first(calls):
                                yield where, inner, None
                    for scope, one in inside.items():
                        passing += (
                            (target.file, inner, one) for inner, _ in self._passing(target.file, scope, param.name)
                        )

    def given(self, function: Function, closure: Frame | None) -> Iterator[tuple[SourceFile, int, Frame | None]]:
        """Yield the calls that pass the function (or its class) as an argument."""
        name = function.name
        owner = function.file.method_of(function.scope)
        keys = {function.key}
        if name == "__init__" and owner is not None:
            name = function.file.scopes[owner].name
            keys.add((function.file.path, owner))
        yield from self._decorations(function, closure)
        loaded = [(name, *place) for place in self.world.loaded(name)]
        if function.file.scopes[function.scope].kind == "lambda":
            function.file.note("lambdas", function.scope)
            loaded = [(lambda_name(function.scope), function.file, function.file.scopes[function.scope].parent)]
        for other in dict.fromkeys(replaced_names(self.world, function, closure)):
            loaded += ((other, *place) for place in self.world.loaded(other))
        # A variable of the same function may hold it: `load = self.read_cached if cached else self.read`.
        held = [(kept, file, scope) for one, file, scope in loaded for kept in self._held_by(file, scope, one)]
        for known_as, file, scope in dict.fromkeys((*loaded, *held)):
            for index, parts in self._passing(file, scope, known_as):
                if any(
                    self._may_hold(one, function, file, index) and self._is_one_of(one, keys, file, index)
                    for one in parts
                ):
                    yield file, index, None

    def parameters_given(self, name: str) -> Iterator[str]:
        """Yield the names of the parameters that calls bind by position to what has this last name."""
        for file, scope in self.world.loaded(name):
            for index, parts in self._passing(file, scope, name):
                plain = [one.value for one in file.calls[index].args if one.keyword is None]
                positions = [at for at, one in enumerate(plain) if any(part in parts for part in _parts(one, file))]
                for target, _ in self._receivers(file, index, None) if positions else ():
                    params = target.file.scopes[target.scope].params
                    skip = 1 if self.world.hierarchy.receiver_kind(target) else 0
                    for position in positions:
                        found = params[skip + position : skip + position + 1]
                        yield from (one.name for one in found if one.kind in ("positional", "normal"))

    def _kept(self, function: Function, name: str) -> tuple[tuple[str, list[tuple[SourceFile, int]]], ...]:
        """Return the other names under which a function stores a parameter, and so calls it: `self.step = step`, then
        `self.step()`. Each comes with its calls; names without any are left out."""
        key = (*function.key, name)
        found = self._kept_under.get(key)
        if found is None:
            held = self._names_by(function.file, function.scope).get(name, set())
            # A function stored in a list or dict is called through yet another name.
            names = sorted(held.union(*map(self.world.aliases, held)))
            found = tuple((kept, calls) for kept in names if (calls := self.world.called(kept)))
            self._kept_under[key] = found
        return found

    def _names_by(self, file: SourceFile, scope: int) -> dict[str, set[str]]:
        """Return, per name, the other names that a function binds to the same value."""
        found = self._bound_names.get((file.path, scope))
        if found is None:
            found = self._bound_names[file.path, scope] = {}
            for source, kept in file.aliases_in(scope):
                found.setdefault(source, set()).add(kept)
        return found

    def _held_by(self, file: SourceFile, scope: int, name: str) -> Iterator[str]:
        """Yield the variables of a function or module that are assigned the value of a name."""
        bindings = file.bindings(scope)
        for kept in sorted(self._names_by(file, scope).get(name, ())):
            if any(
                one.kind == "value" and one.expr is not None and _hands_on(one.expr) for one in bindings.get(kept, ())
            ):
                yield kept

    def _decorations(self, function: Function, closure: Frame | None) -> Iterator[tuple[SourceFile, int, Frame | None]]:
        """Yield the decorator calls of a function; for a decorator's wrapper, those of the decorators above it."""
        file, scope = function.file, function.scope
        if closure is not None and closure.call is not None:
            file = self.world.files[closure.call[0]]
            scope = decorated(file, closure.call[1])
        for call in file.applied(scope):
            yield file, call, None

    def _inside(self, function: Function, frame: Frame | None, name: str) -> Iterator[tuple[int, Frame | None]]:
        """Yield a function's scope and the nested scopes that see the same variable under a name, each with its
        activation."""
        todo = [(function.scope, frame)]
        while todo:
            scope, known = todo.pop()
            yield scope, known
            inside = self.world.enclosed(known) if known is not None else None
            todo += (
                (inner, inside)
                for inner in function.file.children.get(scope, ())
                if function.file.scopes[inner].kind != "class" and name not in function.file.bindings(inner)
            )

    def _passing(self, file: SourceFile, scope: int, name: str) -> Sequence[tuple[int, tuple[Expr, ...]]]:
        """Return the calls in a scope that pass an argument with that last name, each with the matching parts of its
        arguments."""
        passed = self._passed.get((file.path, scope))
        if passed is None:
            passed = self._passed[file.path, scope] = file.named(passed_in, scope)
        return [(call.index, parts) for call, parts in passed.get(name, ())]

    def _may_hold(self, part: Expr, function: Function, file: SourceFile, index: int) -> bool:
        """Check cheaply, without evaluating, whether an expression with the function's last name may be the function.

        A method is normally written with its object or class, so that a bare name can hold it only if it was read from
        there. (Parameters that receive it are traced from the call that passes it.)
        """
        if not isinstance(part, Name) or function.file.method_of(function.scope) is None or function.name == "__init__":
            return True
        return any(
            binding.kind != "param" and (binding.expr is None or _hands_on(binding.expr))
            for binding, _ in self.world.symbols.lookup(part.id, self.world.call_site(file, index, None))
        )

    def _is_one_of(self, part: Expr, keys: set[tuple[str, int]], file: SourceFile, index: int) -> bool:
        values = self.world.values.evaluate(part, self.world.call_site(file, index, None))
        return any(isinstance(value, (Function, Class)) and value.key in keys for value in values)

    def _receivers(self, file: SourceFile, index: int, frame: Frame | None) -> list[tuple[Function, Frame | None]]:
        """Return the functions whose parameters a call (or launch) binds, with their activations."""
        found: list[tuple[Function, Frame | None]] = [
            (one.function, self.world.told_apart(file, index, one.function, one.frame))
            for one in self.world.calls.targets(file, index, frame)
        ]
        return found + [(one, None) for one in self.world.processes.started_at(file, index)]


def _parts(expr: Expr, file: SourceFile) -> Iterator[Expr]:
    """Yield an argument, the elements of a list, tuple or dict, and the function that an inline `partial` wraps."""
    yield expr
    if isinstance(expr, (Tuple, List)):
        for element in expr.elements:
            yield from _parts(element, file)
    elif isinstance(expr, Dict):
        for _, value in expr.items:
            yield from _parts(value, file)
    elif isinstance(expr, CallRef):
        call = file.calls[expr.index]
        if last_name(call.func) == "partial" and call.args:
            yield from _parts(call.args[0].value, file)


def passed_in(file: SourceFile, scope: int) -> dict[str, list[tuple[CallRef, tuple[Expr, ...]]]]:
    """Return the calls in a scope by the last names of what they pass, each with the parts of its arguments."""
    found: dict[str, list[tuple[CallRef, tuple[Expr, ...]]]] = {}
    for index in file.calls_of(scope):
        of_call: dict[str, list[Expr]] = {}
        for argument in file.calls[index].args:
            for part in _parts(argument.value, file):
                known_as = lambda_name(part.scope) if isinstance(part, LambdaRef) else last_name(part)
                of_call.setdefault(known_as, []).append(part)
        for known_as, parts in of_call.items():
            found.setdefault(known_as, []).append((CallRef(index), tuple(parts)))
    return found


def _hands_on(expr: Expr) -> bool:
    """Whether an expression evaluates to the unchanged value of a name or an attribute."""
    if isinstance(expr, IfExp):
        return _hands_on(expr.body) or _hands_on(expr.orelse)
    if isinstance(expr, BoolOp):
        return any(_hands_on(part) for part in expr.values)
    return isinstance(expr, (Name, Attribute, Walrus))
