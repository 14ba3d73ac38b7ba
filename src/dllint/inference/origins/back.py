"""One step of provenance: from an expression to the expressions and sources of its value, with their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dllint.facts.nodes import (
    Attribute,
    Await,
    BinOp,
    BoolOp,
    CallRef,
    Compare,
    Constant,
    Element,
    Entered,
    IfExp,
    Name,
    Not,
    Opaque,
    Starred,
    Subscript,
    UnaryOp,
    Walrus,
)
from dllint.facts.schema import Expr, ImportedName
from dllint.inference import fields
from dllint.inference.edges import Given as Called
from dllint.inference.interface import Engine
from dllint.inference.origins.containers import Containers, Steps, written
from dllint.inference.origins.sources import Given, Here, Source, Step, computed, either, known, line_at, unknown
from dllint.inference.values import (
    NONE,
    UNKNOWN,
    Actual,
    Class,
    Const,
    Data,
    External,
    Frame,
    Function,
    Instance,
    Keywords,
    Mapping,
    Module,
    Parsed,
    Site,
    Unknown,
    const,
)
from dllint.linking.bindings import Binding
from dllint.linking.conditions import render

Explain = Callable[[Expr, Site, list[Step]], list[Source]]
"""Returns the sources of the operands of an expression; empty while they are already being searched for."""


class Back:
    """Computes one step of provenance."""

    def __init__(self, world: Engine, explain: Explain) -> None:
        self.world = world
        self.containers = Containers(world, self._why_not)
        self._explain = explain

    def steps(self, step: Step) -> Steps:
        """Yield the origins of a step's value: other expressions, or sources where the chain ends. Empty if the reason
        is unknown."""
        if step.key is not None:
            return self.containers.under(step.expr, step.site, step.key, step.here)
        return self._steps(step.expr, step.site, step.here)

    def _steps(self, expr: Expr, site: Site, here: Here) -> Steps:
        match expr:
            case Name():
                yield from self._name(expr, site, here)
            case Attribute():
                yield from self._attribute(expr, site, here)
            case Subscript(base, Constant(key)) if key is not None:
                yield Step(base, site, here, key)
            case IfExp():
                decided = self.world.values.truth(self.world.values.evaluate(expr.test, site))
                for part, holds in ((expr.body, True), (expr.orelse, False)):
                    if decided is None or decided is holds:
                        yield Step(part, site, here)
            case BoolOp():
                for part in expr.values:
                    yield Step(part, site, here)
            case CallRef():
                yield from self._call(expr, site, here)
            case Walrus() | Await():
                yield Step(expr.value, site, here)
            case _:
                yield from self._ends(expr, site, here)

    def _ends(self, expr: Expr, site: Site, here: Here) -> Iterator[Source]:
        """Yield the values of a computed expression or, if it is unknown, the reasons in its operands."""
        values = self.world.values.evaluate(expr, site)
        for value in values:
            if not isinstance(value, Unknown):
                yield known(value, here)
        if values and not any(isinstance(value, Unknown) for value in values):
            return
        found = self._explain(expr, site, [Step(part, site, here) for part in operands(expr)])
        option = ("option", render(expr, site.file))
        reasons = [one for one in found if not one.known]
        reasons += [replace(one, value=UNKNOWN, given=None, reason=option) for one in found if one.caveat]
        yield from reasons or [computed(expr, here, site.file)]

    # Names and parameters

    def _name(self, expr: Name, site: Site, here: Here) -> Steps:
        found = self.world.symbols.lookup(expr.id, site)
        if not found:
            yield from self._ends(expr, site, here)
        for binding, where in found:
            yield from self._binding(expr.id, binding, where, here)

    def _binding(self, name: str, binding: Binding, where: Site, here: Here) -> Steps:
        event = binding.event
        if binding.kind == "param":
            yield from self._parameter(Function(where.file, where.scope), name, where.frame, here)
        elif binding.kind == "value" and event is not None and binding.expr is not None:
            yield Step(binding.expr, where, here.moved(where.file, event.value_span or event.span))
        elif event is not None and isinstance(event.detail, ImportedName):
            module, member, _, level = event.detail
            path = self.world.imports.find(where.file, module, level) if member and member != "*" else None
            if member and path in self.world.files and self.world.files[path].bindings(0).get(member):
                site = Site(self.world.files[path], 0, 0, (0, 0), None)
                yield Step(Name(member), site, here)
                return
            for value in self.world.values.binding(name, binding, where):
                yield either(value, here, "outside", name)
        else:
            for value in self.world.values.binding(name, binding, where):
                yield either(value, here, "bound", name)

    def _parameter(self, function: Function, name: str, frame: Frame | None, here: Here) -> Steps:
        world = self.world
        params = function.file.scopes[function.scope].params
        if world.hierarchy.receiver_kind(function) and params[0].name == name:
            for value in world.parameters.values(function, name, frame):
                yield known(value, here)
            return
        frames = [frame] if frame is not None and frame.actuals is not None else []
        frames = frames or [one.frame for one in world.calls.callers(function) if one.frame.actuals is not None]
        for one in frames:
            yield from self._filled(function, name, one)
        if not frames:
            yield from self._default(function, name)
            span = next((param.span for param in params if param.name == name), here.span)
            yield unknown(Here(function.file, span), "uncalled", name, _called(function))

    def _filled(self, function: Function, name: str, frame: Frame) -> Steps:
        actuals = frame.actuals
        assert actuals is not None
        world, scope = self.world, function.file.scopes[function.scope]
        entry = Here(function.file, scope.header)
        bound = world.parameters.bound(function, name, frame)
        if bound.case == "actual" and bound.actual is not None:
            if bound.actual.expr is None:
                yield unknown(entry, "launched", name, _called(function))
            yield from written(bound.actual)
        elif bound.case in ("keywords", "star"):
            for star in actuals.stars if bound.case == "star" else ():
                yield from self._unpacked(star, bound.offset, name, _called(function))
            yield from self.containers.in_actuals(actuals, name)
            skip = 1 if world.hierarchy.receiver_kind(function) else 0
            if world.parameters.given(actuals, scope.params, name, skip).absent:
                yield from self._default(function, name)
        elif bound.case == "rest":
            for value in world.parameters.values(function, name, frame):
                yield known(value, entry)
        else:
            yield from self._default(function, name)

    def _unpacked(self, star: Actual, offset: int, name: str, called: str) -> Iterator[Source]:
        if star.expr is None or star.site is None:
            return
        here = Here(star.site.file, star.span or line_at(star.site.at))
        for value in self.world.values.evaluate(star.expr, star.site):
            for item in self.world.values.item_of(value, const(offset)):
                yield either(item, here, "unpacked", name, called, render(star.expr, star.site.file))

    def _default(self, function: Function, name: str) -> Iterator[Step]:
        scope = function.file.scopes[function.scope]
        for param in scope.params:
            if param.name == name and param.default is not None:
                where = Site(function.file, max(scope.parent, 0), scope.region, (0, 0), None)
                here = Here(function.file, param.span).by("parameter", name, _called(function))
                yield Step(param.default, where, here)

    # Attributes

    def _attribute(self, expr: Attribute, site: Site, here: Here) -> Steps:
        name = expr.attr
        if self.world.objects.reassigned(expr, site) is not None:
            for store in reversed(site.file.stores(site.scope)):
                at = store.event.span.start
                if store.key == name and store.base == expr.value and at < site.at and store.value is not None:
                    where = Site(site.file, site.scope, store.event.region, at, site.frame)
                    yield Step(store.value, where, Here(site.file, store.event.value_span or store.event.span))
                    return
        if self.world.objects.handed_over(expr, site) is not None:
            yield from self._handed_over(expr, site)
            return
        for value in self.world.values.evaluate(expr.value, site) or (UNKNOWN,):
            if isinstance(value, (Parsed, Data, Keywords, Mapping)):
                yield from self.containers.contained(value, name, here)
            elif isinstance(value, Instance) and isinstance(value.of, Class):
                yield from self._of_object(value, value.of, name, here)
            elif isinstance(value, Class) and (found := list(self._of_class(value, name, here))):
                yield from found
            elif isinstance(value, Module) and value.path in self.world.files:
                target = self.world.files[value.path]
                for one in target.bindings(0).get(name, ()):
                    yield from self._binding(name, one, self.world.symbols.binding_site(one, target, 0), here)
            elif isinstance(value, Unknown):
                yield self._why_not(expr.value, site, here)
            else:
                for gives in self.world.values.attribute(value, name, site):
                    yield computed(expr, here, site.file) if isinstance(gives, Unknown) else known(gives, here)

    def _handed_over(self, expr: Attribute, site: Site) -> Iterator[Step]:
        """Yield the values that callers assign to the attribute before they pass the object."""
        assert isinstance(expr.value, Name)
        _, where = self.world.symbols.lookup(expr.value.id, site)[0]
        function = Function(where.file, where.scope)
        for actual in self.world.parameters.actuals_of(function, expr.value.id, where.frame):
            if actual is not None and actual.expr is not None:
                yield from written(actual._replace(expr=Attribute(actual.expr, expr.attr)))

    def _why_not(self, base: Expr, site: Site, here: Here) -> Source:
        """Return the reason why the contents of an object are unknown: the first reason for the object itself."""
        reasons = (one for one in self._explain(base, site, [Step(base, site, here)]) if not one.known)
        return next(reasons, unknown(here, "held", render(base, site.file)))

    def _of_object(self, value: Instance, cls: Class, name: str, here: Here) -> Steps:
        hierarchy = self.world.hierarchy
        properties = [one for one in hierarchy.meant(value, name) if hierarchy.is_property(one)]
        for method in properties:
            yield from self.returns(method, self.world.receiver_frame(value), here)
        stored = list(self.kept(value, name, here.given))
        yield from stored
        field = fields.argument(self.world, value, name)
        if field is not None:
            yield from written(field)
        if properties or stored or field is not None:
            return
        found = list(self._of_class(cls, name, here))
        yield from found
        for one in () if found else self.world.values.attribute(value, name) or (UNKNOWN,):
            yield either(one, here, "unset", name, cls.name)

    def kept(self, value: Instance, name: str, given: Given | None = None) -> Iterator[Step]:
        """Yield the assignments to an attribute in the methods of an object's classes."""
        assert isinstance(value.of, Class)
        stores = self.world.stores
        for owner in self.world.hierarchy.line(value.of):
            for store in stores.own_stores(owner).get(name, ()) if isinstance(owner, Class) else ():
                if isinstance(owner, Class) and not stores.overridden(value, owner, store):
                    here = Here(owner.file, store.event.value_span or store.event.span, given)
                    yield Step(store.value or Opaque(), stores.store_site(value, owner, store), here)

    def _of_class(self, cls: Class, name: str, here: Here) -> Steps:
        for owner in self.world.hierarchy.line(cls):
            for one in owner.file.bindings(owner.scope).get(name, ()) if isinstance(owner, Class) else ():
                if one.kind == "value" and isinstance(owner, Class):
                    where = self.world.symbols.binding_site(one, owner.file, owner.scope)
                    there = here.moved(owner.file, one.event.span if one.event is not None else here.span)
                    yield from self._binding(name, one, where, there.by("class", owner.name, name))
                    return

    # Calls

    def _call(self, expr: CallRef, site: Site, here: Here) -> Steps:
        file, index = site.file, expr.index
        for callee in self.world.calls.callees(file, index, site.frame):
            if isinstance(callee, Function):
                yield from self.returns(callee, self.world.frame(file, index, site.frame, callee), here)
            elif isinstance(callee, Unknown):
                yield unknown(here, "callee", render(file.calls[index].func, file))
            elif callee == External("dict().get"):
                yield from self._got(expr, site, here)
            else:
                for value in self.world.values.result(callee, Called(file, index, site.frame)):
                    yield either(value, here, "result", render(expr, file))

    def _got(self, expr: CallRef, site: Site, here: Here) -> Steps:
        """Yield the origins of `options.get(key, default)`."""
        call = site.file.calls[expr.index]
        plain = [argument.value for argument in call.args if argument.keyword is None]
        keys = self.world.values.evaluate(plain[0], site) if plain else ()
        if not isinstance(call.func, Attribute) or len(keys) != 1 or not isinstance(keys[0], Const):
            yield from self._ends(expr, site, here)
            return
        found = self.world.mappings.lookup(call.func.value, site, keys[0].value)
        yield Step(call.func.value, site, here, keys[0].value)
        if found is None or found.absent:
            yield Step(plain[1] if len(plain) > 1 else Constant(None), site, here)

    def returns(self, function: Function, frame: Frame | None, here: Here) -> Steps:
        """Yield the origins of a function's result: the expressions of its `return` statements."""
        scope = function.file.scopes[function.scope]
        returns = [event for event in scope.events if event.kind == "return" and not scope.is_generator]
        for event in returns:
            where = Site(function.file, function.scope, event.region, event.span.start, frame)
            there = here.moved(function.file, event.span)
            if not self.world.impossible(where):
                yield known(NONE, there) if event.value is None else Step(event.value, where, there)
        if not returns and not scope.is_generator:
            yield known(NONE, here)


def _called(function: Function) -> str:
    return function.file.qualified_name(function.scope)


def operands(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands that a computed expression depends on."""
    if isinstance(expr, Subscript):
        return (expr.value,)
    computing = (BinOp, Compare, Not, Starred, Element, Entered, UnaryOp)
    return expr.children() if isinstance(expr, computing) else ()
