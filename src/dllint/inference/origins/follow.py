"""Where a value comes from: which default, assignment, option or configuration file gives it, and why it is not known.

Follows an expression the way `Evaluator` does, and keeps the place of every step that ends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from dllint.facts.nodes import Attribute
from dllint.facts.schema import Expr
from dllint.inference.edges import Given
from dllint.inference.interface import Engine
from dllint.inference.origins.containers import Containers
from dllint.inference.origins.sources import Here, Source, at_run_time, either, known, line_at, unknown
from dllint.inference.values import (
    UNKNOWN,
    Actual,
    Class,
    Const,
    Data,
    Frame,
    Function,
    Instance,
    Keywords,
    Mapping,
    Module,
    Parsed,
    Site,
    Unknown,
)
from dllint.linking.conditions import render
from dllint.linking.source import Binding

DEEPEST = 14
"""Steps that are followed from one expression."""
MOST = 40
"""Sources that are told apart; a parameter may be filled by hundreds of calls."""
MOST_STEPS = 4000
"""Steps that one question may take."""


class Origins:
    """Answers where values come from in a linked project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self.containers = Containers(self)
        self._followed: dict[tuple[int, Site, Here, int], tuple[Source, ...]] = {}
        self._steps_left = MOST_STEPS

    def of_actual(self, actual: Actual) -> list[Source]:
        """The sources of an argument."""
        self._steps_left = MOST_STEPS
        return list(dict.fromkeys(islice(self.actual(actual, DEEPEST), MOST)))

    def of_key(self, mapping: Actual, key: str) -> list[Source]:
        """The sources of what an unpacked mapping holds under a key."""
        if mapping.expr is None or mapping.site is None:
            return []
        self._steps_left = MOST_STEPS
        here = Here(mapping.site.file, mapping.span or line_at(mapping.site.at))
        found = self.containers.key(mapping.expr, mapping.site, key, here, DEEPEST)
        return list(dict.fromkeys(islice(found, MOST)))

    # Expressions

    def follow(self, expr: Expr | None, site: Site, here: Here, left: int) -> tuple[Source, ...]:
        """The sources of an expression: one at least, since what gives none is not known."""
        key = (id(expr), site, here, left)
        found = self._followed.get(key)
        if found is None:
            self._steps_left -= 1
            steps = self._steps(expr, site, here, left) if self._steps_left > 0 else iter(())
            found = tuple(dict.fromkeys(islice(steps, MOST)))
            if not found:
                found = (unknown(here, at_run_time(expr, site.file)),)
            self._followed[key] = found
        return found

    def _steps(self, expr: Expr | None, site: Site, here: Here, left: int) -> Iterator[Source]:
        tag = expr[0] if expr is not None and left > 0 else ""
        if expr is None:
            yield unknown(here, "no value is written there")
        elif tag == "name":
            yield from self._name(expr, site, here, left - 1)
        elif tag == "attr" and isinstance(expr, Attribute):
            yield from self._attribute(expr, site, here, left - 1)
        elif tag == "item" and expr[2][0] == "const":
            yield from self.containers.key(expr[1], site, expr[2][1], here, left - 1)
        elif tag == "ifexp":
            decided = self.world.values.truth(self.world.values.evaluate(expr[1], site))
            for part, holds in ((expr[2], True), (expr[3], False)):
                if decided is None or decided is holds:
                    yield from self.follow(part, site, here, left - 1)
        elif tag in ("and", "or"):
            for part in expr[1]:
                yield from self.follow(part, site, here, left - 1)
        elif tag == "call":
            yield from self._call(expr, site, here, left - 1)
        elif tag in ("walrus", "await"):
            yield from self.follow(expr[-1], site, here, left - 1)
        else:
            yield from self._leaf(expr, site, here, left - 1)

    def _leaf(self, expr: Expr, site: Site, here: Here, left: int) -> Iterator[Source]:
        values = self.world.values.evaluate(expr, site)
        for value in values:
            if not isinstance(value, Unknown):
                yield known(value, here)
        if values and not any(isinstance(value, Unknown) for value in values):
            return
        parts = [one for part in _operands(expr) for one in self.follow(part, site, here, left)] if left > 0 else []
        reasons = [one for one in parts if not one.known]
        for one in parts:
            if one.caveat:
                why = f"`{render(expr, site.file)}` depends on a command line option"
                reasons.append(replace(one, text=why, how="", caveat="", known=False))
        yield from reasons or [unknown(here, at_run_time(expr, site.file))]

    # Names and parameters

    def _name(self, expr: Expr, site: Site, here: Here, left: int) -> Iterator[Source]:
        found = self.world.symbols.lookup(expr[1], site)
        if not found:
            yield from self._leaf(expr, site, here, 0)
        for binding, where in found:
            yield from self._binding(expr[1], binding, where, here, left)

    def _binding(self, name: str, binding: Binding, where: Site, here: Here, left: int) -> Iterator[Source]:
        event = binding.event
        if binding.kind == "param":
            yield from self._parameter(Function(where.file, where.scope), name, where.frame, here, left)
        elif binding.kind == "value" and event is not None:
            there = Here(where.file, event.value_span or event.span, here.how, here.caveat)
            yield from self.follow(binding.expr, where, there, left)
        elif binding.kind == "import" and event is not None:
            module, member, _, level = event.detail
            path = self.world.imports.find(where.file, module, level) if member not in (None, "*") else None
            inner = self.world.files[path].bindings(0).get(member) if path in self.world.files else None
            if path is None or not inner:
                for value in self.world.values.binding(name, binding, where):
                    yield either(value, here, f"what `{name}` imports is outside of the project")
                return
            target = self.world.files[path]
            for one in inner:
                yield from self._binding(member, one, self.world.symbols.binding_site(one, target, 0), here, left - 1)
        else:
            for value in self.world.values.binding(name, binding, where):
                yield either(value, here, f"what `{name}` is there is not known")

    def _parameter(self, function: Function, name: str, frame: Frame | None, here: Here, left: int) -> Iterator[Source]:
        world = self.world
        params = function.file.scopes[function.scope].params
        if world.hierarchy.receiver_kind(function) and params[0].name == name:
            for value in world.parameters.values(function, name, frame):
                yield known(value, here)
            return
        if frame is not None and frame.actuals is not None:
            yield from self._filled(function, name, frame, left)
            return
        frames = [caller.frame for caller in world.calls.callers(function) if caller.frame.actuals is not None]
        for one in frames:
            yield from self._filled(function, name, one, left)
        if not frames:
            yield from self._default(function, name, left)
            called = function.file.qualified_name(function.scope)
            span = next((param.span for param in params if param.name == name), here.span)
            yield Source(
                f"`{name}` is a parameter of {called}, of which no call is known",
                "",
                function.file.path,
                span,
                known=False,
            )

    def _filled(self, function: Function, name: str, frame: Frame, left: int) -> Iterator[Source]:
        actuals = frame.actuals
        assert actuals is not None
        bound = self.world.parameters.bound(function, name, frame)
        called = function.file.qualified_name(function.scope)
        if bound.case == "actual" and bound.actual is not None:
            if bound.actual.expr is None:
                yield unknown(self._entry(function), f"the launcher fills `{name}` of {called}")
            else:
                yield from self.actual(bound.actual, left)
        elif bound.case in ("keywords", "star"):
            for star in actuals.stars if bound.case == "star" else ():
                yield from self._unpacked(star, bound.offset, f"`{name}` of {called}")
            yield from self.containers.in_actuals(actuals, name, left)
            yield from self._default(function, name, left)
        elif bound.case == "rest":
            yield Source(f"what calls of {called} pass", "", function.file.path, self._entry(function).span)
        else:
            yield from self._default(function, name, left)

    def _unpacked(self, star: Actual, offset: int, what: str) -> Iterator[Source]:
        if star.expr is None or star.site is None:
            return
        here = Here(star.site.file, star.span or line_at(star.site.at))
        text = render(star.expr, star.site.file)
        for value in self.world.values.evaluate(star.expr, star.site):
            for item in self.world.values.item_of(value, Const(offset, "int")):
                yield either(item, here, f"{what} comes out of `*{text}`, which is not known")

    def _entry(self, function: Function) -> Here:
        return Here(function.file, function.file.scopes[function.scope].header)

    def _default(self, function: Function, name: str, left: int) -> Iterator[Source]:
        scope = function.file.scopes[function.scope]
        for param in scope.params:
            if param.name == name and param.default is not None:
                where = Site(function.file, max(scope.parent, 0), scope.region, (0, 0), None)
                how = f"default of `{name}` of {function.file.qualified_name(function.scope)}"
                yield from self.follow(param.default, where, Here(function.file, param.span, how), left)

    def actual(self, actual: Actual, left: int) -> Iterator[Source]:
        if actual.expr is not None and actual.site is not None:
            here = Here(actual.site.file, actual.span or line_at(actual.site.at))
            yield from self.follow(actual.expr, actual.site, here, left)

    # Attributes

    def _attribute(self, expr: Attribute, site: Site, here: Here, left: int) -> Iterator[Source]:
        name = expr.attr
        if self.world.objects.reassigned(expr, site) is not None:
            for store in reversed(site.file.stores(site.scope)):
                at = (store.event.span.line, store.event.span.column)
                if store.key == name and store.base == expr.value and at < site.at:
                    where = Site(site.file, site.scope, store.event.region, at, site.frame)
                    span = store.event.value_span or store.event.span
                    yield from self.follow(store.value, where, Here(site.file, span), left)
                    return
        values = self.world.values.evaluate(expr.value, site)
        if not values:
            yield from self.unknown_base(expr.value, site, here, left)
        for value in values:
            if isinstance(value, (Parsed, Data, Keywords, Mapping)):
                yield from self.containers.contained(value, name, here, left)
            elif isinstance(value, Instance) and isinstance(value.of, Class):
                yield from self._of_object(value, name, here, left)
            elif isinstance(value, Module) and value.path in self.world.files:
                target = self.world.files[value.path]
                for one in target.bindings(0).get(name, ()):
                    where = self.world.symbols.binding_site(one, target, 0)
                    yield from self._binding(name, one, where, here, left)
            elif isinstance(value, Unknown):
                yield from self.unknown_base(expr.value, site, here, left)
            else:
                for gives in self.world.values.attribute(value, name, site):
                    yield either(gives, here, at_run_time(expr, site.file))

    def unknown_base(self, base: Expr, site: Site, here: Here, left: int) -> Iterator[Source]:
        reasons = [one for one in self.follow(base, site, here, left) if not one.known] if left > 0 else []
        if reasons:
            yield reasons[0]
        else:
            yield unknown(here, f"what `{render(base, site.file)}` holds is not known")

    def _of_object(self, value: Instance, name: str, here: Here, left: int) -> Iterator[Source]:
        assert isinstance(value.of, Class)
        owners = [owner for owner in self.world.hierarchy.line(value.of) if isinstance(owner, Class)]
        stored = [(owner, store) for owner in owners for store in self.world.stores.own_stores(owner).get(name, ())]
        for owner, store in stored:
            there = Here(owner.file, store.event.value_span or store.event.span)
            yield from self.follow(store.value, self.world.stores.store_site(value, owner, store), there, left)
        if stored:
            return
        for owner in owners:
            for one in owner.file.bindings(owner.scope).get(name, ()):
                if one.kind == "value":
                    where = self.world.symbols.binding_site(one, owner.file, owner.scope)
                    yield from self._binding(
                        name, one, where, here._replace(how=f"attribute of class {owner.name}"), left
                    )
                    return
        for found in self.world.values.attribute(value, name) or (UNKNOWN,):
            yield either(found, here, f"nothing that is known sets `{name}` of {value.of.name}")

    # Calls

    def _call(self, expr: Expr, site: Site, here: Here, left: int) -> Iterator[Source]:
        file, index = site.file, expr[1]
        for callee in self.world.calls.callees(file, index, site.frame):
            if isinstance(callee, Function):
                frame = self.world.frame(file, index, site.frame, callee)
                scope = callee.file.scopes[callee.scope]
                returns = [event for event in scope.events if event.kind == "return" and event.value is not None]
                for event in () if scope.is_generator else returns:
                    where = Site(callee.file, callee.scope, event.region, (event.span.line, event.span.column), frame)
                    if not self.world.impossible(where):
                        yield from self.follow(event.value, where, Here(callee.file, event.span), left)
            elif isinstance(callee, Unknown):
                text = render(file.calls[index].func, file)
                yield unknown(here, f"what `{text}` calls is not known")
            else:
                for value in self.world.values.result(callee, Given(file, index, site.frame)):
                    why = f"what `{render(expr, file)}` gives is known only when the program runs"
                    yield either(value, here, why)


def _operands(expr: Expr) -> Iterator[Expr]:
    if expr[0] == "binop":
        yield from expr[2:4]
    elif expr[0] == "compare":
        yield expr[1]
        yield from (right for _, right in expr[2])
    elif expr[0] in ("not", "star", "element", "entered"):
        yield expr[1]
    elif expr[0] == "unary":
        yield expr[2]
    elif expr[0] == "item":
        yield expr[1]
