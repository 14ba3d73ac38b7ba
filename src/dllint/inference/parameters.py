"""Values of parameters: in one call, or over all known calls."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Tuple
from dllint.facts.schema import Param
from dllint.inference.answers import KeptTable
from dllint.inference.arguments import Bound, bind, passed
from dllint.inference.entries import ABSENT, Found
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    UNKNOWN,
    Actual,
    Actuals,
    Class,
    Display,
    Frame,
    Function,
    Instance,
    Keywords,
    Site,
    Value,
    Values,
    Written,
    const,
)


class Parameters:
    """Computes the values of parameters from the arguments of calls."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._rests: dict[tuple[object, ...], Values] = {}
        self._anywhere: KeptTable[Values] = {}

    def values(self, function: Function, name: str, frame: Frame | None) -> Values:
        """Return the values of a parameter: in the call of `frame`, or in all known calls."""
        hierarchy = self.world.hierarchy
        scope = function.file.scopes[function.scope]
        receiver = hierarchy.receiver_kind(function)
        if (
            receiver
            and scope.params
            and scope.params[0].name == name
            and scope.params[0].kind in ("normal", "positional")
        ):
            if frame is not None and frame.receiver is not None:
                return (frame.receiver,)
            cls = Class(function.file, scope.parent)
            if receiver == "class":
                return hierarchy.called_on(function, cls)
            return hierarchy.created_by(cls) or (Instance(cls),)
        commanded = self.world.knowledge.parameter(function, name)
        if commanded is not None:
            return commanded
        if frame is not None and frame.actuals is not None:
            return self._or_annotated(function, name, self._filled(function, name, frame))
        # What an activation knows besides its arguments does not tell which call it is of.
        closure = self.world.decorating(frame.closure if frame is not None else None)
        memory = self.world.memory
        if not memory.enter():
            return union([self.default(function, name), (UNKNOWN,)])
        memory.leave()
        key = (function.key, name, closure)
        return memory.keep(self._anywhere, key, lambda: self._given_anywhere(function, name, closure))

    def _given_anywhere(self, function: Function, name: str, closure: Frame | None) -> Values:
        """Return the values of a parameter in all known calls; in those of one definition, for a decorator's
        wrapper."""
        self.world.memory.enter()
        try:
            frames = self._activations(function, closure)
            groups = [(UNKNOWN,) if one.actuals is None else self._filled(function, name, one) for one in frames]
            if frames and self.world.calls.called_later(function):
                groups.append((UNKNOWN,))
            if frames and self.world.calls.only_tested(function):
                groups += (self.default(function, name), (UNKNOWN,))
        finally:
            self.world.memory.leave()
        if any(one.actuals is not None for one in frames):
            given = tuple(value for value in union(groups) if not self._foreign(value, function))
            return self._or_annotated(function, name, given)
        return self.world.hierarchy.annotation(function, name) or union([self.default(function, name), (UNKNOWN,)])

    def bound(self, function: Function, name: str, frame: Frame) -> Bound:
        """Return how the call of an activation binds a parameter."""
        if frame.actuals is None:
            return Bound("unknown")
        skip = 1 if self.world.hierarchy.receiver_kind(function) else 0
        return bind(frame.actuals, function.file.scopes[function.scope].params, name, skip)

    def actuals_of(self, function: Function, name: str, frame: Frame | None) -> Iterator[Actual | None]:
        """Yield the arguments bound to a parameter in the call of `frame`, or in all known calls; None if none is bound
        directly.

        Yields nothing for the receiver.
        """
        params = function.file.scopes[function.scope].params
        if params and params[0].name == name and self.world.hierarchy.receiver_kind(function):
            return
        frames: list[Frame] = []
        if frame is not None and frame.actuals is not None:
            frames = [frame]
        elif self.world.memory.enter():
            closure = self.world.decorating(frame.closure if frame is not None else None)
            try:
                frames = self._activations(function, closure)
            finally:
                self.world.memory.leave()
        for one in frames:
            if one.actuals is not None:
                yield self.bound(function, name, one).actual

    def _activations(self, function: Function, closure: Frame | None) -> list[Frame]:
        """Return the activations of a function, one per known call; for a decorator's wrapper, those of the definition
        that `closure` decorates. A function called by external code has an activation without arguments."""
        function = Function(function.file, function.scope, None, closure)
        return [
            self.world.told_apart(caller.file, caller.call, function.bound_to(caller.frame.receiver), caller.frame)
            for caller in self.world.calls.callers(function)
        ]

    def default(self, function: Function, name: str) -> Values:
        """Return the value of an omitted parameter: its default, or an unknown `**kwargs`; empty if it has none."""
        scope = function.file.scopes[function.scope]
        for param in scope.params:
            if param.name == name:
                if param.kind == "kw":
                    return (Keywords(function, None),)
                if param.default is None:
                    return ()
                site = Site(function.file, max(scope.parent, 0), scope.region, (0, 0), None)
                return self.world.values.evaluate(param.default, site)
        return ()

    def given(self, actuals: Actuals, params: list[Param], name: str, skip: int) -> Found:
        """Return the values that a call passes to a parameter other than `*args` and `**kwargs`; absent if it may be
        omitted."""
        return self._given(actuals, bind(actuals, params, name, skip), name)

    def _given(self, actuals: Actuals, bound: Bound, name: str) -> Found:
        if bound.case == "actual" and bound.actual is not None:
            return Found(self.world.values.passed(bound.actual), False)
        found = self._unpacked(actuals, bound.offset) if bound.case == "star" else ABSENT
        if not found.absent or not actuals.mappings or bound.case == "default":
            return found
        named = self.world.mappings.from_unpacked(actuals, name)
        return Found(union([found.values, named.values]), named.absent, found.written or named.written)

    def _filled(self, function: Function, name: str, frame: Frame) -> Values:
        """Return the values of a parameter in an activation whose arguments are known."""
        assert frame.actuals is not None
        bound = self.bound(function, name, frame)
        if bound.case == "rest":
            kind = next(one.kind for one in function.file.scopes[function.scope].params if one.name == name)
            return (Keywords(function, frame),) if kind == "kw" else self._rest(function, bound.offset, frame)
        if function.file.scopes[function.scope].decorators and frame.actuals.positional:
            # An external decorator may take the first argument for itself: a configuration.
            first = bound.actual is frame.actuals.positional[0] and not self.world.hierarchy.receiver_kind(function)
            taken = self.world.knowledge.parameter(function, name, frame) if first else None
            if taken:
                return taken
        found = self._given(frame.actuals, bound, name)
        if not found.absent:
            return found.values
        # A parameter without default that the call omits is filled by an external decorator.
        filled = self.world.knowledge.parameter(function, name, frame)
        return union([found.values, filled or self.default(function, name)]) or (UNKNOWN,)

    def _rest(self, function: Function, offset: int, frame: Frame) -> Values:
        """Return the value of a `*args` parameter: the positional arguments from `offset` on."""
        key = (function.key, frame)
        if key not in self._rests:
            assert frame.actuals is not None
            left = [*frame.actuals.positional[offset:], *frame.actuals.rest]
            site = next((actual.site for actual in left if actual.site is not None), None)
            if site is None:
                self._rests[key] = (UNKNOWN,)
            else:
                parts = tuple(passed(one) for one in left)
                self._rests[key] = (Display("tuple", Written(Tuple(parts), site)),)
        return self._rests[key]

    def _unpacked(self, actuals: Actuals, offset: int) -> Found:
        """Look up the argument `offset` positions after the start of the first unpacked sequence, as far as lengths are
        known."""
        groups: list[Values] = []
        offsets = {offset}
        for actual in actuals.rest:
            values = self.world.values.passed(actual)
            if not actual.starred:
                if 0 in offsets:
                    groups.append(values)
                offsets = {one - 1 for one in offsets if one}
            else:
                # The calls of a function may pass sequences of different lengths.
                lengths = [self.world.mappings.length((value,)) for value in values]
                sized = list(zip(values, lengths, strict=True))
                groups += [
                    self.world.mappings.item(value, const(one))
                    for value, length in sized
                    for one in offsets
                    if length is None or one < length
                ]
                if not values or None in lengths:
                    return Found(union([*groups, *map(self.world.values.passed, _plain(actuals))]), True)
                offsets = {
                    one - length for _, length in sized if length is not None for one in offsets if one >= length
                }
            if not offsets:
                return Found(union(groups), False)
        return Found(union(groups), True)

    def _foreign(self, value: Value, function: Function) -> bool:
        """Whether an object is created in a file that no program loads together with the function's. Two programs that
        call one base-class method pass objects to each other only in the over-approximation."""
        if not isinstance(value, Instance) or value.file is None or value.file is function.file:
            return False
        return not self.world.import_graph.together((function.file.path,), (value.file.path,))

    def _or_annotated(self, function: Function, name: str, found: Values) -> Values:
        """Return the values; an unknown one is replaced by an instance of the parameter's annotated class."""
        if UNKNOWN not in found:
            return found
        annotated = self.world.hierarchy.annotation(function, name)
        return union([tuple(value for value in found if value != UNKNOWN), annotated]) if annotated else found


def _plain(actuals: Actuals) -> list[Actual]:
    """Return the plain positional arguments after the first unpacked sequence."""
    return [actual for actual in actuals.rest if not actual.starred]
