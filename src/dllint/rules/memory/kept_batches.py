"""Batches of a loader that a program keeps beyond the iteration in which they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    List,
    Name,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr
from dllint.inference import limits
from dllint.inference.values import Class, External, Function, Instance, Site, Value
from dllint.libraries.index import AROUND_ITERABLES
from dllint.linking.expressions import names_in
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.project.prepared_loaders import prepared_loaders, rebatched_loaders
from dllint.rules.memory.batch_bodies import ADDING, Body
from dllint.rules.memory.batch_containers import Kept
from dllint.rules.memory.batch_loops import extending, gathering, looping, taking
from dllint.rules.memory.default_batches import gives_only_tensors, is_tensor, known_batches, may_have_tensors
from dllint.rules.memory.item_dimensions import least_dimensions
from dllint.rules.memory.item_fields import may_be_text
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_COLLECTING = {"list": "list", "tuple": "tuple", "itertools.cycle": "cycle"}


@dataclass(frozen=True)
class KeptBatch:
    """A place that keeps batches.

    Attributes:
        how: "list", "tuple", "cycle", "comprehension", or "append", "extend" and "+=".
        span: of the call, comprehension or statement.
        expr: the part of a batch that is kept; None if all of it is.
        value_span: of `expr`; None where it was put before into what is kept.
        on_cpu: whether it holds the batch only if no option selects another device.
    """

    loader: Loader
    file: SourceFile
    how: str
    span: Span
    statement: Span
    expr: Expr | None = None
    value_span: Span | None = None
    on_cpu: bool = False


_MANY = 900
"""Batches from which on one descriptor of each, with those that are open anyway, may be too many for the usual limit of
1024."""


class Batches:
    """Finds the kept batches of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._keeping: dict[str, list[int]] = {}
        self._all: dict[tuple[str, int], Loader] = {}
        self._by_call: dict[tuple[str, int], Loader] = {}
        self._any_workers = False

    def kept(self) -> Iterator[KeptBatch]:
        """Every place that keeps all batches of a loader with workers, or a part of each that holds a storage. A
        cycle keeps those of any loader."""
        project = self.project
        self._all = {(one.file.path, one.call): one for one in project.loaders}
        with_workers = {key: one for key, one in self._all.items() if project.regimes(one)}
        # What moves every batch to a device, or makes another of it, keeps no descriptors.
        for made in (*prepared_loaders(self.world), *rebatched_loaders(self.world)) if with_workers else ():
            with_workers.pop(made, None)
        for name, how in _COLLECTING.items():
            self._any_workers = how == "cycle"
            self._by_call = self._all if self._any_workers else with_workers
            last = name.rsplit(".", 1)[-1]
            for one in sorted({last, *self.world.aliases(last)}):
                for file, index in self.world.called(one):
                    if file.calls[index].args and self._calls(file, index, name):
                        yield from self._collected(file, index, how)
        self._any_workers, self._by_call = False, with_workers
        if not with_workers:
            return
        self.keepers = self._find_keepers()
        for file in self.world.files.values():
            keeping = sorted({last_name(file.callee(index)) for index in self.keeping_calls(file)})
            loops, takings = dict(file.each(looping, *keeping)), dict(file.each(taking))
            gatherings = dict(file.each(gathering))
            for scope in sorted({*loops, *takings, *gatherings}):
                for event, loop in loops.get(scope, ()):
                    yield from _Loop(self, file, scope, event, loop.number).kept_batches()
                for event, loop, taken in takings.get(scope, ()):
                    yield from _Loop(self, file, scope, event, loop.number, taken).kept_batches()
                yield from self._comprehensions(file, scope, gatherings.get(scope, ()))

    def keeping_calls(self, file: SourceFile) -> list[int]:
        """The calls in a file of functions that may keep their arguments."""
        found = self._keeping.get(file.path)
        if found is None:
            called = file.facts.called
            implicit = range(len(file.raw.facts.calls), len(file.raw.calls))
            found = self._keeping[file.path] = [
                *sorted(index for name in self.keepers if name in called for index in called[name]),
                *(index for index in implicit if last_name(file.raw.calls[index].func) in self.keepers),
            ]
        return found

    def _find_keepers(self) -> frozenset[str]:
        """The names of functions and methods that add to something that exists before they are called."""
        found: set[str] = set()
        for file in self.world.files.values():
            for name in ("append", "extend"):
                for index in file.facts.called.get(name, ()):
                    call = file.calls[index]
                    base = call.func.value if isinstance(call.func, Attribute) else None
                    while isinstance(base, (Attribute, Subscript)):
                        base = base.value
                    scope = file.scopes[call.scope]
                    if isinstance(base, Name) and any(one.name == base.id for one in scope.params):
                        found.add(scope.name)
        return frozenset(found) - {"__init__"}

    def _calls(self, file: SourceFile, index: int, name: str) -> bool:
        site = self.world.call_site(file, index, None)
        found = self.world.values.evaluate(file.calls[index].func, site)
        return External(name) in found and not any(isinstance(value, Function) for value in found)

    def _collected(self, file: SourceFile, index: int, how: str) -> Iterator[KeptBatch]:
        call = file.calls[index]
        for loader in self.loaders(call.args[0].value, self.world.call_site(file, index, None)):
            if how == "cycle" or may_have_tensors(self.project, loader):
                yield KeptBatch(loader, file, how, call.span, call.statement)

    def _comprehensions(
        self, file: SourceFile, scope: int, gatherings: Iterable[tuple[Event, list[tuple[Expr, bool]]]]
    ) -> Iterator[KeptBatch]:
        """The batches kept by `[batch for batch in loader]` or `torch.cat([y for x, y in loader])`."""
        for event, gathered in gatherings:
            assert event.value_span is not None
            for expr, joined in gathered:
                if not isinstance(expr, Comprehension):
                    yield from self._unpacked(expr, file, scope, event)
                    continue
                target, iterable, _ = expr.clauses[0]
                body = Body(self.world, file, scope)
                bind(body, target, iterable)
                if not body.holds(expr.element):
                    continue
                site = Site(file, scope, event.region, event.span.start, None)
                # Another part of a batch may be a number or a text, and a data set may be what is gone through.
                whole = isinstance(expr.element, Name) and expr.element.id in body.whole
                unclear = not joined and not whole and not isinstance(expr.element, CallRef)
                for loader in self.loaders(iterable, site):
                    if whole and not joined and not may_have_tensors(self.project, loader):
                        continue
                    if not unclear or gives_only_tensors(self.project, loader):
                        yield KeptBatch(loader, file, "comprehension", event.value_span, event.span)

    def _unpacked(self, expr: Expr, file: SourceFile, scope: int, event: Event) -> Iterator[KeptBatch]:
        """The batches kept by `[*loader]`."""
        assert event.value_span is not None
        how = "list" if isinstance(expr, List) else "tuple"
        site = Site(file, scope, event.region, event.span.start, None)
        for one in expr.elements if isinstance(expr, (List, Tuple)) else ():
            for loader in self.loaders(one.value, site) if isinstance(one, Starred) else ():
                if may_have_tensors(self.project, loader):
                    yield KeptBatch(loader, file, how, event.value_span, event.span)

    def loaders(self, expr: Expr, site: Site, depth: int = 0) -> list[Loader]:
        """The loaders whose batches iterating an expression yields."""
        found: dict[tuple[str, int], Loader] = {}
        if limits.COUNTING_DEPTH.exceeded(depth):
            return []
        if isinstance(expr, CallRef) and last_name(site.file.calls[expr.index].func) in AROUND_ITERABLES:
            for argument in site.file.calls[expr.index].args:
                if argument.keyword is None:
                    for loader in self.loaders(argument.value, site, depth + 1):
                        found[loader.file.path, loader.call] = loader
            return list(found.values())
        call = site.file.calls[expr.index] if isinstance(expr, CallRef) else None
        if call is not None and call.func == Name("iter") and len(call.args) == 1:
            return self.loaders(call.args[0].value, site, depth + 1)
        if call is not None and isinstance(call.func, Attribute) and call.func.attr == "__iter__":
            own = self._of_own_class(call.func.value, site)
            return own or self.loaders(call.func.value, site, depth + 1)
        for value in self.world.values.evaluate(expr, site):
            for loader in self._of_value(value, depth):
                found[loader.file.path, loader.call] = loader
        return list(found.values())

    def _of_own_class(self, base: Expr, site: Site) -> list[Loader]:
        """The loaders whose own class, or a base class of theirs, contains `super().__iter__()`."""
        parent = isinstance(base, CallRef) and site.file.calls[base.index].func == Name("super")
        owner = site.file.method_of(site.scope) if parent else None
        if owner is None:
            return []
        cls = Class(site.file, owner)
        line = self.world.hierarchy.line
        return [one for one in self._by_call.values() if one.cls is not None and cls in line(one.cls)]

    def _of_value(self, value: Value, depth: int) -> list[Loader]:
        if not isinstance(value, Instance) or value.file is None:
            return []
        loader = self._by_call.get((value.file.path, value.call))
        if loader is not None:
            whole = not isinstance(value.of, External) or ("()" not in value.of.name and "[" not in value.of.name)
            wanted = self._any_workers or loader.workers(value.frame).kind != "none"
            return [loader] if whole and wanted else []
        if isinstance(value.of, External) and value.of.name.rsplit(".", 1)[-1] in AROUND_ITERABLES:
            site = self.world.call_site(value.file, value.call, value.frame)
            return self.loaders(CallRef(value.call), site, depth + 1)
        return []


def _is_whole(body: Body, kept: Kept) -> bool:
    return isinstance(kept.expr, Name) and kept.expr.id in body.whole


def bind(body: Body, target: Expr, iterable: Expr, yields: Callable[[Expr], object] | None = None) -> None:
    """Record the names that a loop binds to a batch, or to parts of one.

    `yields` tells which of the arguments of `zip` yields the batches; without it none of them counts.
    """
    call = body.file.calls[iterable.index] if isinstance(iterable, CallRef) else None
    last = last_name(call.func) if call is not None else None
    if last == "enumerate" and isinstance(target, (Tuple, List)) and len(target.elements) == 2:
        if isinstance(target.elements[0], Name):
            body.counters.add(target.elements[0].id)
        counted = call.args[0].value if call is not None and call.args else Name("")
        bind(body, target.elements[1], counted if _zips(counted, body.file) else Name(""), yields)
    elif call is not None and last == "zip":
        parts = target.elements if isinstance(target, (Tuple, List)) else ()
        for part, argument in zip(parts, call.args, strict=False):
            if yields is not None and argument.keyword is None and yields(argument.value):
                bind(body, part, Name(""))
    elif call is not None and last in AROUND_ITERABLES and call.args:
        bind(body, target, call.args[0].value, yields)
    elif isinstance(target, Name):
        body.whole.add(target.id)
    elif isinstance(target, (Tuple, List)):
        body.parts.update(names_in(target, body.file))
        body.positions = {one.id: at for at, one in enumerate(target.elements) if isinstance(one, Name)}


def _zips(expr: Expr, file: SourceFile) -> bool:
    return isinstance(expr, CallRef) and last_name(file.calls[expr.index].func) == "zip"


class _Loop(Body):
    """A loop that may iterate batches.

    `taken` is the iterator from which it takes them by `next`; None if it is a `for` loop over the loader itself.
    """

    def __init__(
        self, batches: Batches, file: SourceFile, scope: int, event: Event, region: int, taken: Expr | None = None
    ) -> None:
        super().__init__(batches.world, file, scope, region)
        self.batches = batches
        self.event = event
        self.taken = taken
        self.dimensions = self._dimensions

    def _follow(self, event: Event) -> None:
        value = event.value
        call = self.file.calls[value.index] if isinstance(value, CallRef) else None
        taken = self.taken is not None and call is not None and call.func == Name("next")
        if taken and call is not None and call.args[:1] and call.args[0].value == self.taken and event.target:
            bind(self, event.target, Name(""))
        else:
            super()._follow(event)

    def kept_batches(self) -> Iterator[KeptBatch]:
        """The parts of each batch that the body keeps, or that functions called with a batch keep."""
        if self.region == -1 or self.event.target is None or self.event.value is None:
            return
        handing = self._handing()
        if not handing and not self._keeps():
            return
        site = Site(self.file, self.scope, self.event.region, self.event.span.start, None)
        if self.taken is None:
            bind(self, self.event.target, self.event.value, lambda part: self.batches.loaders(part, site))
            if not self.whole and not self.parts:
                return
        self.counters |= self._counters()
        found: list[tuple[Body, Kept]] = []
        for event in self.statements():
            found += ((self, one) for one in self.kept(event))
            for index in handing:
                if self.file.calls[index].statement == event.span:
                    found += self._in_callees(index)
        if not found:
            return
        for body, one in found if self._loaders else ():
            if not body.collects(one.container, one.region, one.statement) or body.bounded(one.region, one.container):
                continue
            unclear, key = body.is_unclear(one), body.entry(one)
            for loader in self._loaders:
                if unclear and not self._is_tensor(loader, body, one):
                    continue
                few = (known_batches(self.batches.project, loader) or _MANY) < _MANY
                if few and not _is_whole(body, one) and self._begins_with_loop(one):
                    continue
                if key is not None and may_be_text(self.batches.project, loader, key):
                    continue
                kept = None if _is_whole(body, one) else one.expr
                if kept is None and not (body.uses_as_tensor(one) or may_have_tensors(self.batches.project, loader)):
                    continue
                inside = body.inside_of(one)
                places = (one.span, one.statement, inside or kept, one.value_span if inside is None else None)
                yield KeptBatch(loader, body.file, one.how, *places, on_cpu=body.on_cpu)

    def _dimensions(self, position: int | str | None) -> int:
        loaders = self._loaders if self.event.value is not None else ()
        return min((least_dimensions(self.batches.project, one, position) for one in loaders), default=0)

    @cached_property
    def _loaders(self) -> list[Loader]:
        assert self.event.value is not None
        site = Site(self.file, self.scope, self.event.region, self.event.span.start, None)
        return self.batches.loaders(self.event.value, site)

    def _is_tensor(self, loader: Loader, body: Body, kept: Kept) -> bool:
        """Whether the items of the loader show that what is kept of a batch is a tensor."""
        project, position = self.batches.project, body.position(kept.expr)
        return gives_only_tensors(project, loader) or (position is not None and is_tensor(project, loader, position))

    def _begins_with_loop(self, kept: Kept) -> bool:
        """Whether each pass over the loader fills a new container."""
        return any(
            event.target == kept.container and event.kind == "assign" and event.region == self.event.region
            for event in self.file.scopes[self.scope].events
        )

    def _keeps(self) -> bool:
        """Whether the body puts anything into a container."""
        calls = (index for name in ADDING for index in self.file.facts.called.get(name, ()))
        return any(
            self.file.calls[index].scope == self.scope and self.inside(self.file.calls[index].region) for index in calls
        ) or any(self.inside(region.number) for region in self.file.derived(extending, self.scope))

    def _handing(self) -> list[int]:
        """The calls in the body of functions that may keep their arguments."""
        return [
            index
            for index in self.batches.keeping_calls(self.file)
            if self.file.place_of(index).scope == self.scope
            and self.inside(self.file.place_of(index).region)
            and self.file.calls[index].args
        ]

    def _in_callees(self, index: int) -> Iterator[tuple[Body, Kept]]:
        """The parts of a batch kept by the functions that a call passes it to."""
        if not any(self.holds(argument.value) for argument in self.file.calls[index].args):
            return
        for target in self.world.calls.targets(self.file, index, None):
            frame = self.world.told_apart(self.file, index, target.function, target.frame)
            body = Body(self.world, target.function.file, target.function.scope, None, frame)
            if self.hand_to(body, target):
                yield from ((body, kept) for event in body.statements() for kept in body.kept(event))

    def _counters(self) -> set[str]:
        """Names that count iterations of the loop: from `enumerate`, and those that the body adds to."""
        found = super()._counters()
        target = self.event.target
        if isinstance(target, (Tuple, List)) and isinstance(target.elements[0], Name):
            found.add(target.elements[0].id)
        return found - self.parts - self.whole
