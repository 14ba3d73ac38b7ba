"""Batches with one tensor per item: a `collate_fn` that returns lists of tensors instead of stacking them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Comprehension, Constant, Dict, List, Name, Subscript, Tuple
from dllint.facts.schema import Event, Expr
from dllint.inference.values import Class, Display, Function, Instance, Mapping, Site, Value
from dllint.libraries.torch.tensors import OPEN_FILES
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.rules.memory.prefetched_batches import PREFETCH_FACTOR, argument_number
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_OTHERS = 24
"""Descriptors that a process has open besides those of tensors; 15 to 17 were measured."""
_COPIES = frozenset({"list", "tuple"})
Key = int | str
"""The position, or the key, of a field of an item."""


@dataclass(frozen=True)
class SplitBatch:
    """A collate function whose batches need more file descriptors than a process may usually open.

    Attributes:
        span: of the first list with one tensor per item.
        tensors: the number of tensors in the lists of a batch.
        total: the number of descriptors that are open in one process when workers are ahead.
    """

    loader: Loader
    function: Function
    span: Span
    statement: Span
    tensors: int
    total: int


def split_batches(project: Project, loader: Loader) -> Iterator[SplitBatch]:
    """The collate functions of a loader that return so many separate tensors that descriptors run out.

    A worker has the descriptors of each batch that it has made in advance, and twice those of the batch that it sends.
    The main process has those of all batches that arrived before the one that it waits for: about half of the first
    ones. Measured with `ulimit -n 1024`: 2 workers failed from 336 tensors on, 8 workers with 248.
    """
    items = argument_number(loader, "batch_size", 1)
    factor = argument_number(loader, "prefetch_factor", PREFETCH_FACTOR)
    if not items or items < 2 or factor is None:
        return
    workers = loader.workers().count or 1
    waiting = 1 if loader.flag("pin_memory") is not False else max(factor, workers // 2)
    for function in project.callables(loader, "collate_fn"):
        if not isinstance(function, Function):
            continue
        found = _Collate(project, function).lists()
        kinds = _tensor_fields(project, loader) if found else frozenset()
        lists = [(event, field) for event, field in found if field in kinds]
        tensors = items * len(lists)
        if tensors * (waiting + 1) > OPEN_FILES - _OTHERS:
            event = lists[0][0]
            total = tensors * (max(factor, workers) + 1 if waiting > 1 else 2)
            span = event.value_span or event.span
            yield SplitBatch(loader, function, span, event.span, tensors, total)


def _tensor_fields(project: Project, loader: Loader) -> frozenset[Key]:
    """The fields of the items of a loader's datasets that are surely tensors, each with its own storage."""
    fields: set[Key] = set()
    for dataset in project.dataset_objects(loader):
        for item in items_of(project, dataset):
            if not isinstance(item, (Display, Mapping)):
                continue
            expr, site = item.written.expr, item.written.site
            parts: list[tuple[Key, Expr]] = []
            if isinstance(expr, (Tuple, List)):
                parts += enumerate(expr.elements)
            elif isinstance(expr, Dict):
                parts += ((key.value, one) for key, one in expr.items if isinstance(key, Constant))
            for key, part in parts:
                values = project.world.values.evaluate(part, site)
                if values and all(isinstance(one, Instance) and project.tensors.owns_storage(one) for one in values):
                    fields.add(key)
    return frozenset(fields)


def items_of(project: Project, dataset: Instance) -> Iterator[Value]:
    """What `__getitem__` of a dataset returns, or what its `__iter__` yields."""
    if not isinstance(dataset.of, Class):
        return
    world = project.world
    frame = world.receiver_frame(dataset)
    method = world.hierarchy.method(dataset.of, "__getitem__")
    if method is not None:
        yield from world.values.returned(method, frame)
    method = world.hierarchy.method(dataset.of, "__iter__")
    if method is None:
        return
    for event in method.file.scopes[method.scope].events_of("yield"):
        if event.value is not None:
            at = event.span.start
            yield from world.values.evaluate(event.value, Site(method.file, method.scope, event.region, at, frame))


class _Collate:
    """One collate function, which receives a list of items."""

    def __init__(self, project: Project, function: Function) -> None:
        self.file: SourceFile = function.file
        self.events = function.file.scopes[function.scope].events
        params = function.file.scopes[function.scope].params
        bound = bool(project.world.hierarchy.receiver_kind(function))
        self.batch = params[1 if bound else 0].name if len(params) > bound else ""
        self.transposed: set[str] = set()
        self.columns: dict[str, tuple[Event, Key]] = {}
        self._bind()

    def lists(self) -> list[tuple[Event, Key]]:
        """The fields that a batch has as lists with one element per item, each with the statement that makes it."""
        returned = [event for event in self.events if event.kind == "return" and event.value is not None]
        if len(returned) != 1 or not self.batch:
            return []
        event = returned[0]
        expr = event.value
        parts: tuple[Expr, ...] = ()
        if isinstance(expr, (Tuple, List)):
            parts = tuple(expr.elements)
        elif isinstance(expr, Dict):
            parts = tuple(part for _, part in expr.items)
        found: dict[Key, Event] = {}
        for part in parts:
            if isinstance(part, Name) and part.id in self.columns:
                made, field = self.columns[part.id]
                found.setdefault(field, made)
            elif (inline := self._field(part)) is not None:
                found.setdefault(inline, event)
        return [(made, field) for field, made in found.items()]

    def _bind(self) -> None:
        """Record the names bound to the items by field, and to one field of all items, and nothing else."""
        bindings: dict[str, int] = {}
        assigned = [event for event in self.events if event.kind in ("assign", "for") and event.value is not None]
        for event in assigned:
            names = [event.target] if isinstance(event.target, Name) else getattr(event.target, "elements", ())
            for name in names:
                if isinstance(name, Name):
                    bindings[name.id] = bindings.get(name.id, 0) + 1
        for event in assigned:
            assert event.value is not None
            if event.kind != "assign":
                continue
            if isinstance(event.target, Name) and bindings[event.target.id] == 1:
                if self._is_transposed(event.value):
                    self.transposed.add(event.target.id)
                elif (field := self._field(event.value)) is not None:
                    self.columns[event.target.id] = (event, field)
            elif isinstance(event.target, (Tuple, List)) and self._is_transposed(event.value):
                for number, name in enumerate(event.target.elements):
                    if isinstance(name, Name) and bindings[name.id] == 1:
                        self.columns[name.id] = (event, number)

    def _is_transposed(self, expr: Expr) -> bool:
        """Whether an expression is `zip(*batch)`, or a list or tuple of it."""
        if isinstance(expr, Name):
            return expr.id in self.transposed
        if not isinstance(expr, CallRef):
            return False
        call = self.file.calls[expr.index]
        args = call.args
        if last_name(call.func) == "zip":
            return len(args) == 1 and args[0].keyword == "*" and args[0].value == Name(self.batch)
        return last_name(call.func) in _COPIES and len(args) == 1 and self._is_transposed(args[0].value)

    def _field(self, expr: Expr) -> Key | None:
        """The field of which an expression is a list with one element per item; None for anything else."""
        match expr:
            case Name(name) if name in self.columns:
                return self.columns[name][1]
            case Subscript(value, Constant(key)) if self._is_transposed(value) and isinstance(key, int):
                return key
            case Comprehension() if expr.kind == "list" and len(expr.clauses) == 1 and not expr.clauses[0].ifs:
                target, iterable, _ = expr.clauses[0]
                match expr.element:
                    case Subscript(value, Constant(key)) if value == target and iterable == Name(self.batch):
                        return key if isinstance(key, (int, str)) else None
            case CallRef(index):
                call = self.file.calls[index]
                if last_name(call.func) in _COPIES and len(call.args) == 1 and call.args[0].keyword is None:
                    return self._field(call.args[0].value)
        return None
