"""Whether each iteration of a loop computes the same value of an expression."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Comprehension, LambdaRef, Name, Subscript
from dllint.facts.schema import Event, Expr, Operator
from dllint.inference import limits
from dllint.inference.values import Class, External, Function
from dllint.libraries.contents import keeps_as_it_is
from dllint.libraries.index import canonical
from dllint.libraries.paths import RESULTS as PATHS
from dllint.linking.conditions import render
from dllint.linking.expressions import names_in, walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.rules.data.samplers import CHOOSING

if TYPE_CHECKING:
    from dllint.inference.engine import World

_CONVERSIONS = frozenset(map(Name, ("int", "float", "bool", "str", "len", "max", "min", "round", "range")))
_LIBRARIES = ("torch.utils.data.", "torchvision.datasets.", "torchvision.transforms.")
"""Packages of datasets, samplers and transforms that depend on their arguments alone. They draw numbers only in use."""
_CACHES = re.compile(r"cache|memo", re.IGNORECASE)
_DRAWING = CHOOSING | {
    *("random", "rand", "randn", "randint", "uniform", "normal", "integers", "standard_normal", "now", "time"),
    *("random_split", "train_test_split"),
}
"""Last names of functions whose result differs from call to call."""


class Sameness:
    """Compares the iterations of loops."""

    def __init__(self, world: World) -> None:
        self.world = world

    def stays(self, file: SourceFile, scope: int, loop: int, expr: Expr, depth: int = 0) -> bool:
        """Whether an expression has an equal value in each iteration: the loop does not change what it reads, or makes
        it again from values that it does not change."""
        if limits.SAMENESS_DEPTH.exceeded(depth):
            return False
        match expr:
            case CallRef():
                return self._makes_the_same(file, scope, loop, expr.index, depth + 1)
            case Comprehension():
                return False
            case LambdaRef(inner):
                # What a lambda reads of the loop it reads when it is called.
                body = (one.value for one in file.scopes[inner].events_of("return") if one.value is not None)
                return not any(self.depends(file, scope, loop, one) for one in body)
            case Name():
                if not self.depends(file, scope, loop, expr):
                    return True
                made = self._only_assignment(file, scope, loop, expr)
                return made is not None and self.stays(file, scope, loop, made, depth + 1)
            case Attribute() | Subscript() if self.depends(file, scope, loop, expr):
                return False
        return all(self.stays(file, scope, loop, one, depth + 1) for one in expr.children())

    def tests_variables(self, file: SourceFile, scope: int, loop: int, test: Expr | None) -> bool:
        """Whether a test reads nothing but variables of its function that the loop does not change."""
        if test is None or file.scopes[scope].kind != "function":
            return False
        parts = list(walk(test, file))
        if any(isinstance(one, (CallRef, Attribute, Subscript, Comprehension, LambdaRef)) for one in parts):
            return False
        own = file.bindings(scope)
        names = [one for one in parts if isinstance(one, Name)]
        return bool(names) and all(one.id in own for one in names) and not self.depends(file, scope, loop, test)

    def depends_on_arguments(self, loader: Loader) -> bool:
        """Whether a function builds a loader of nothing but its arguments, and draws no random numbers."""
        file, call = loader.file, loader.file.calls[loader.call]
        scope = file.scopes[call.scope]
        if scope.kind != "function" or self._draws(Function(file, call.scope), set(), 0):
            return False
        if file.method_of(call.scope) is None:
            return True
        receiver = scope.params[0].name if scope.params else ""
        read = (part for one in call.args for part in walk(one.value, file))
        return all(part != Name(receiver) for part in read)

    def depends(self, file: SourceFile, scope: int, loop: int, expr: Expr) -> bool:
        """Whether an expression reads something that the loop sets: a variable, or an attribute or item with the
        same source text."""
        names = names_in(expr, file)
        texts = {render(part, file, 200) for part in walk(expr, file) if isinstance(part, (Attribute, Subscript))}
        outer = file.facts.regions[loop]
        for event in file.scopes[scope].events:
            inside = file.encloses(loop, event.region) or (
                event.kind == "for" and event.value == outer.expr and event.region == outer.parent
            )
            if inside and event.target is not None:
                for part in walk(event.target, file):
                    if (isinstance(part, Name) and part.id in names) or render(part, file, 200) in texts:
                        return True
        # A method of the same object may set its attributes in every iteration.
        return any(text.startswith("self.") for text in texts) and any(
            isinstance(func := file.calls[index].func, Attribute)
            and func.value == Name("self")
            and file.encloses(loop, file.calls[index].region)
            and self._sets(file, index, texts)
            for index in file.calls_of(scope)
        )

    def _sets(self, file: SourceFile, index: int, texts: set[str]) -> bool:
        for target in self.world.calls.targets(file, index):
            function = target.function
            for store in function.file.stores(function.scope):
                if isinstance(store.key, str) and f"{render(store.base, function.file, 200)}.{store.key}" in texts:
                    return True
        return False

    @staticmethod
    def _only_assignment(file: SourceFile, scope: int, loop: int, name: Name) -> Expr | None:
        """The value of a variable that one statement of a loop assigns."""
        found: list[Event] = [
            event
            for event in file.scopes[scope].events
            if event.target is not None
            and (file.encloses(loop, event.region) or event.kind == "for")
            and any(part == name for part in walk(event.target, file))
        ]
        if len(found) != 1 or found[0].kind != "assign" or isinstance(found[0].detail, Operator):
            return None
        return found[0].value if found[0].target == name else None

    def _makes_the_same(self, file: SourceFile, scope: int, loop: int, index: int, depth: int) -> bool:
        """Whether a call computes the same, from arguments that stay the same."""
        stays = all(self.stays(file, scope, loop, one.value, depth) for one in file.calls[index].args)
        return stays and self.repeats(file, index)

    def repeats(self, file: SourceFile, index: int) -> bool:
        """Whether a call has equal results for equal arguments: it converts a number, puts a path together, or creates
        a dataset, sampler or transform without drawing random numbers."""
        call = file.calls[index]
        if call.func in _CONVERSIONS:
            return True
        made = self.world.values.evaluate(call.func, self.world.call_site(file, index, None))
        return bool(made) and all(
            (isinstance(one, External) and _repeats(one.name)) or (isinstance(one, Class) and self._is_fixed(one))
            for one in made
        )

    def _is_fixed(self, cls: Class) -> bool:
        """Whether the constructor of a class draws no random numbers."""
        constructor = self.world.hierarchy.method(cls, "__init__")
        return constructor is not None and not self._draws(constructor, set(), 0)

    def _draws(self, function: Function, seen: set[tuple[str, int]], depth: int) -> bool:
        """Whether a function, or one that it calls, draws random numbers or asks for the time. `seen` are the functions
        that are looked into already: one that calls itself draws only where its own code does."""
        if function.key in seen:
            return False
        if limits.SAMENESS_DEPTH.exceeded(depth):
            return True
        seen.add(function.key)
        for index in function.file.calls_of(function.scope):
            if last_name(function.file.calls[index].func) in _DRAWING:
                return True
            targets = self.world.calls.targets(function.file, index)
            if any(self._draws(one.function, seen, depth + 1) for one in targets):
                return True
        return False


def _repeats(name: str) -> bool:
    """Whether a function or class of a library has equal results for equal arguments."""
    plain = canonical(name)
    made = plain.startswith(_LIBRARIES) or plain in PATHS or keeps_as_it_is(plain)
    return made and plain.rpartition(".")[2] not in _DRAWING


def keeps_results(world: World, function: Function) -> bool:
    """Whether a decorator of a function is named as one that keeps its results: `functools.lru_cache`, `memory.cache`,
    `memoize`."""
    return any(map(_CACHES.search, world.hierarchy.decorators(function)))
