"""Batches of a loader that a program keeps beyond the iteration in which they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Compare,
    Comprehension,
    Constant,
    Dict,
    List,
    Name,
    Slice,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr, Operator
from dllint.inference import limits
from dllint.inference.values import Const, Display, External, Instance, Site, Value
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import AROUND_ITERABLES, ATTRIBUTES, FUNCTIONS, METHODS, canonical
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_COLLECTING = {"list": "list", "tuple": "tuple", "itertools.cycle": "cycle"}
_TENSOR_ONLY = frozenset(
    {*METHODS, *ATTRIBUTES, "size", "shape", "dtype", "device", "dim", "ndim", "cuda", "numel", "nelement", "is_cuda"}
) - {"data", "copy", "real", "imag", "split", "index_select", "sort", "max", "min", "sum", "repeat", "to"}
"""Attributes that only tensors have."""
_JOINING = frozenset({"cat", "concat", "stack", "hstack", "vstack"})
_BOUNDS = frozenset({"<", ">", "<=", ">="})
_REMOVING = frozenset({"clear", "pop", "popleft", "popitem"})


@dataclass(frozen=True)
class KeptBatch:
    """A call that keeps batches.

    Attributes:
        how: "list", "tuple", "cycle", "comprehension", or "append" and "extend".
        span: of the call or comprehension.
        expr: what is kept of a batch; None where it is all of it.
        value_span: of `expr`.
    """

    loader: Loader
    file: SourceFile
    how: str
    span: Span
    statement: Span
    expr: Expr | None = None
    value_span: Span | None = None


class Batches:
    """Answers about kept batches for one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def kept(self) -> Iterator[KeptBatch]:
        """Every place that keeps all batches of a loader, or a part of each that holds a storage."""
        self._by_call = {(loader.file.path, loader.call): loader for loader in self.project.loaders}
        if not self._by_call:
            return
        for name, how in _COLLECTING.items():
            last = name.rsplit(".", 1)[-1]
            for one in sorted({last, *self.world.aliases(last)}):
                for file, index in self.world.called(one):
                    if file.calls[index].args and self._calls(file, index, name):
                        yield from self._collected(file, index, how)
        for file in self.world.files.values():
            for scope, entry in enumerate(file.scopes):
                for event in entry.events:
                    if event.kind == "for" and event.detail != "comp" and event.target is not None:
                        yield from _Loop(self, file, scope, event).kept()
                yield from self._comprehensions(file, scope)

    def _calls(self, file: SourceFile, index: int, name: str) -> bool:
        site = self.world.call_site(file, index, None)
        return External(name) in self.world.values.evaluate(file.calls[index].func, site)

    def _collected(self, file: SourceFile, index: int, how: str) -> Iterator[KeptBatch]:
        call = file.calls[index]
        for loader in self.loaders(call.args[0].value, self.world.call_site(file, index, None)):
            yield KeptBatch(loader, file, how, call.span, call.statement)

    def _comprehensions(self, file: SourceFile, scope: int) -> Iterator[KeptBatch]:
        """`[batch for batch in loader]`, and `torch.cat([y for x, y in loader])`."""
        for event in file.scopes[scope].events:
            if event.value is None or event.kind not in ("assign", "expr", "return") or event.value_span is None:
                continue
            joined = False
            for expr in walk(event.value, file):
                if isinstance(expr, CallRef):
                    joined = joined or last_name(file.calls[expr.index].func) in _JOINING
                if isinstance(expr, (List, Tuple)):
                    yield from self._unpacked(expr, file, scope, event)
                if not isinstance(expr, Comprehension) or expr.kind != "list":
                    continue
                if len(expr.clauses) != 1 or expr.clauses[0].ifs:
                    continue
                target, iterable, _ = expr.clauses[0]
                element = expr.element
                parts = target.elements if isinstance(target, (Tuple, List)) and isinstance(element, Name) else ()
                if element != target and not (joined and element in parts):
                    continue
                site = Site(file, scope, event.region, (event.span.line, event.span.column), None)
                for loader in self.loaders(iterable, site):
                    if element == target or not self._is_counter(iterable, file, element, target):
                        yield KeptBatch(loader, file, "comprehension", event.value_span, event.span)

    def _unpacked(self, expr: List | Tuple, file: SourceFile, scope: int, event: Event) -> Iterator[KeptBatch]:
        """`[*loader]`"""
        assert event.value_span is not None
        how = "list" if isinstance(expr, List) else "tuple"
        site = Site(file, scope, event.region, (event.span.line, event.span.column), None)
        for one in expr.elements:
            for loader in self.loaders(one.value, site) if isinstance(one, Starred) else ():
                yield KeptBatch(loader, file, how, event.value_span, event.span)

    @staticmethod
    def _is_counter(iterable: Expr, file: SourceFile, element: Expr, target: Expr) -> bool:
        counted = isinstance(iterable, CallRef) and last_name(file.calls[iterable.index].func) == "enumerate"
        return counted and isinstance(target, (Tuple, List)) and target.elements[0] == element

    def loaders(self, expr: Expr, site: Site, depth: int = 0) -> list[Loader]:
        """The loaders whose batches iterating an expression gives."""
        found: dict[tuple[str, int], Loader] = {}
        if limits.COUNTING_DEPTH.exceeded(depth):
            return []
        if isinstance(expr, CallRef) and last_name(site.file.calls[expr.index].func) in AROUND_ITERABLES:
            for argument in site.file.calls[expr.index].args:
                if argument.keyword is None:
                    for loader in self.loaders(argument.value, site, depth + 1):
                        found[loader.file.path, loader.call] = loader
            return list(found.values())
        for value in self.world.values.evaluate(expr, site):
            for loader in self._of_value(value, depth):
                found[loader.file.path, loader.call] = loader
        return list(found.values())

    def _of_value(self, value: Value, depth: int) -> list[Loader]:
        if not isinstance(value, Instance) or value.file is None:
            return []
        loader = self._by_call.get((value.file.path, value.call))
        if loader is not None:
            whole = not isinstance(value.of, External) or ("()" not in value.of.name and "[" not in value.of.name)
            return [loader] if whole and loader.workers(value.frame).kind != "none" else []
        if isinstance(value.of, External) and value.of.name.rsplit(".", 1)[-1] in AROUND_ITERABLES:
            site = self.world.call_site(value.file, value.call, value.frame)
            return self.loaders(CallRef(value.call), site, depth + 1)
        return []


class _Loop:
    """A `for` loop that may go through batches, followed statement by statement."""

    def __init__(self, batches: Batches, file: SourceFile, scope: int, event: Event) -> None:
        self.batches = batches
        self.world = batches.world
        self.file = file
        self.scope = scope
        self.event = event
        self.region = next(
            (
                index
                for index, region in enumerate(file.facts.regions)
                if region.kind == "for" and region.span == event.span and region.parent == event.region
            ),
            -1,
        )
        self.whole: set[str] = set()
        self.parts: set[str] = set()
        self.tensors: set[str] = set()

    def kept(self) -> Iterator[KeptBatch]:
        """What the body keeps of each batch."""
        keeping = self._keeping()
        if not keeping or self.region < 0 or self.event.target is None or self.event.value is None:
            return
        self._bind(self.event.target, self.event.value)
        if not self.whole and not self.parts:
            return
        found: list[tuple[int, Expr, Span]] = []
        todo = list(keeping)
        for event in self.file.scopes[self.scope].events:
            if not self._inside(event.region):
                continue
            for index in [one for one in todo if self.file.calls[one].statement <= event.span]:
                if self.file.calls[index].statement != event.span:
                    continue
                todo.remove(index)
                argument = self.file.calls[index].args[0]
                if self.holds(argument.value):
                    found.append((index, argument.value, argument.value_span))
            self._follow(event)
        if not found:
            return
        site = Site(self.file, self.scope, self.event.region, (self.event.span.line, self.event.span.column), None)
        loaders = self.batches.loaders(self.event.value, site)
        for index, expr, span in found if loaders else ():
            call = self.file.calls[index]
            if (
                not isinstance(call.func, Attribute)
                or not self._collects(call.func.value, index)
                or self._bounded(call.region)
            ):
                continue
            unclear = isinstance(expr, Name) and expr.id in self.parts and not self._is_tensor(expr.id)
            unclear = unclear and not self._joined(call.func.value)
            for loader in loaders:
                if unclear and not loader.gives_only_tensors:
                    continue
                kept = None if isinstance(expr, Name) and expr.id in self.whole else expr
                yield KeptBatch(loader, self.file, call.func.attr, call.span, call.statement, kept, span)

    def _inside(self, region: int) -> bool:
        return self.file.encloses(self.region, region) and region != 0

    def _keeping(self) -> list[int]:
        """The calls of the body that put something into a container."""
        return [
            index
            for name in ("append", "extend")
            for index in self.file.facts.called.get(name, ())
            if self.file.calls[index].scope == self.scope
            and self.region > 0
            and self._inside(self.file.calls[index].region)
            and isinstance(self.file.calls[index].func, Attribute)
            and len(self.file.calls[index].args) == 1
        ]

    def _bind(self, target: Expr, iterable: Expr) -> None:
        """The names that the loop gives to a batch, and those it gives to parts of one."""
        if isinstance(iterable, CallRef):
            call = self.file.calls[iterable.index]
            if last_name(call.func) == "enumerate" and isinstance(target, (Tuple, List)) and len(target.elements) == 2:
                self._bind(target.elements[1], Name(""))
                return
            if last_name(call.func) == "zip":
                return
            if last_name(call.func) in AROUND_ITERABLES and call.args:
                self._bind(target, call.args[0].value)
                return
        if isinstance(target, Name):
            self.whole.add(target.id)
        elif isinstance(target, (Tuple, List)):
            self.parts.update(part.id for part in target.elements if isinstance(part, Name))

    def _follow(self, event: Event) -> None:
        """What an assignment of the body changes about the names."""
        if event.kind != "assign" or event.target is None or event.value is None:
            return
        if isinstance(event.target, Name):
            held = event.detail is None and self.holds(event.value)
            whole = isinstance(event.value, Name) and event.value.id in self.whole
            self._forget(event.target.id)
            if held:
                (self.whole if whole else self.parts).add(event.target.id)
                if (
                    isinstance(event.value, CallRef)
                    and last_name(self.file.calls[event.value.index].func) in _TENSOR_ONLY
                ):
                    self.tensors.add(event.target.id)
        elif isinstance(event.target, (Tuple, List)):
            held = self.holds(event.value) and not isinstance(event.value, (Tuple, List))
            for position, part in enumerate(event.target.elements):
                if not isinstance(part, Name):
                    continue
                own = held
                if isinstance(event.value, (Tuple, List)) and len(event.value.elements) == len(event.target.elements):
                    own = self.holds(event.value.elements[position])
                self._forget(part.id)
                if own:
                    self.parts.add(part.id)

    def _forget(self, name: str) -> None:
        self.whole.discard(name)
        self.parts.discard(name)

    def holds(self, expr: Expr) -> bool:
        """Whether the value of an expression surely holds a storage of the batch, or all that the batch is."""
        match expr:
            case Name(name):
                return name in self.whole or name in self.parts
            case Attribute(value, attr):
                return attr in ATTRIBUTES and self.holds(value)
            case Subscript(value, key):
                plain = isinstance(key, Slice) or (isinstance(key, Constant) and key.value is not None)
                return plain and self.holds(value)
            case Tuple(elements) | List(elements):
                return any(self.holds(part) for part in elements)
            case Dict(items):
                return any(self.holds(part) for _, part in items)
            case CallRef(index):
                return self._call_holds(index)
        return False

    def _call_holds(self, index: int) -> bool:
        call = self.file.calls[index]
        copying = self.world.settings.copying_calls
        if isinstance(call.func, Attribute) and self.holds(call.func.value):
            operation = METHODS.get(call.func.attr)
            if operation is None or operation.effect != HOLDS or operation.unless == "type":
                return False
            if operation.unless == "arguments":
                return all(argument.keyword is None and argument.value == Constant("cpu") for argument in call.args)
            return True
        if not call.args or not self.holds(call.args[0].value):
            return False
        for value in self.world.values.evaluate(call.func, self.world.call_site(self.file, index, None)):
            if isinstance(value, External) and value.name not in copying:
                function = FUNCTIONS.get(canonical(value.name))
                return function is not None and function.effect == HOLDS
        return False

    def _collects(self, container: Expr, index: int) -> bool:
        """Whether the container is a list that lives longer than a turn of the loop and only grows in it."""
        if not isinstance(container, (Name, Attribute)):
            return False
        values = [
            value
            for value in self.world.values.evaluate(container, self.world.call_site(self.file, index, None))
            if not isinstance(value, Const)
        ]
        if not values or not all(isinstance(value, Display) and value.kind == "list" for value in values):
            return False
        for event in self.file.scopes[self.scope].events:
            if not self._inside(event.region) or event.target is None:
                continue
            if event.target == container or (event.kind == "delete" and isinstance(event.target, Subscript)):
                return False
        text = render(container, self.file, 200)
        return not any(
            (call := self.file.calls[other]).scope == self.scope
            and isinstance(call.func, Attribute)
            and self._inside(call.region)
            and render(call.func.value, self.file, 200) == text
            for name in _REMOVING
            for other in self.file.facts.called.get(name, ())
        )

    def _bounded(self, region: int) -> bool:
        """Whether a comparison of the body may end the loop by count, or keeps some batches only."""
        counting = self._counters()
        for index, entry in enumerate(self.file.facts.regions):
            if entry.kind != "if" or entry.expr is None or not self._inside(entry.parent):
                continue
            for part in walk(entry.expr, self.file):
                if not isinstance(part, Compare):
                    continue
                if self.file.encloses(index, region):
                    return True
                operands = [part.left, *(right for _, right in part.comparisons)]
                if any(op in _BOUNDS for op, _ in part.comparisons) and any(
                    self._counts(one, counting) for one in operands
                ):
                    return True
        return False

    def _counters(self) -> set[str]:
        """Names that count turns of the loop: of `enumerate`, and those that the body adds to."""
        found = {
            event.target.id
            for event in self.file.scopes[self.scope].events
            if event.target is not None
            and isinstance(event.target, Name)
            and isinstance(event.detail, Operator)
            and self._inside(event.region)
        }
        target = self.event.target
        if isinstance(target, (Tuple, List)) and isinstance(target.elements[0], Name):
            found.add(target.elements[0].id)
        return found - self.parts - self.whole

    def _counts(self, expr: Expr, counting: set[str]) -> bool:
        """Whether an operand is a counter, or the length of a container that has a name of its own."""
        if isinstance(expr, CallRef):
            call = self.file.calls[expr.index]
            return call.func == Name("len") and bool(call.args) and isinstance(call.args[0].value, Name)
        return isinstance(expr, Name) and expr.id in counting

    def _is_tensor(self, name: str) -> bool:
        """Whether the function uses what a name holds as a tensor."""
        if name in self.tensors:
            return True
        named = Name(name)
        for index in self.file.calls_of(self.scope):
            call = self.file.calls[index]
            if (
                isinstance(call.func, Attribute)
                and call.func.value == named
                and call.func.attr in _TENSOR_ONLY | {"to"}
            ):
                return True
            if any(argument.value == named for argument in call.args) and self._is_torch(index):
                return True
        for event in self.file.scopes[self.scope].events:
            for part in walk(event.value, self.file) if event.value is not None else ():
                if isinstance(part, Attribute) and part.value == named and part.attr in _TENSOR_ONLY:
                    return True
        return False

    def _joined(self, container: Expr) -> bool:
        """Whether the function joins what a list holds by torch, which only tensors can be."""
        return any(
            last_name(self.file.calls[index].func) in _JOINING
            and any(argument.value == container for argument in self.file.calls[index].args)
            and self._is_torch(index)
            for index in self.file.calls_of(self.scope)
        )

    def _is_torch(self, index: int) -> bool:
        site = self.world.call_site(self.file, index, None)
        for value in self.world.values.evaluate(self.file.calls[index].func, site):
            of = value.of if isinstance(value, Instance) else value
            if isinstance(of, External) and of.name.startswith("torch.") and not of.name.startswith("torch.utils"):
                return True
        return False
