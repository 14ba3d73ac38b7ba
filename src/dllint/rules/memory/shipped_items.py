"""Items that workers send unchanged, and which of them are views of a larger tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Dict, List, Name, Slice, Subscript, Tuple
from dllint.facts.schema import Event, Expr
from dllint.inference.values import NONE, Class, External, Function, Instance, Partial, Value
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import ATTRIBUTES, METHODS, canonical
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrays import Array
from dllint.project.item_run import ItemRun
from dllint.project.loaders import Loader
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_TENSOR_ATTRIBUTES = frozenset({"shape", "size", "dim", "ndim", "dtype", "numel"})
_WHOLE_FILE = "torch.load"


@dataclass(frozen=True)
class View:
    """An item of a dataset that is a view of the tensor `attr`.

    Attributes:
        size: bytes of the tensor; None if unknown.
        expr: the view. `alone`: the statement at `span` returns nothing else.
    """

    attr: str
    size: int | None
    file: SourceFile
    event: Event
    expr: Expr
    alone: bool

    @property
    def span(self) -> Span:
        return self.event.value_span or self.event.span


class Shipping:
    """Finds the items that workers send as views of a larger tensor, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._views: dict[Instance, list[View]] = {}

    def as_they_are(self, loader: Loader) -> str | None:
        """Why the items of a loader are sent separately or as a list, as text; None if that is uncertain."""
        collates = self.project.callables(loader, "collate_fn")
        given = [value for value in collates if value != NONE]
        if given:
            return (
                "`collate_fn` returns the items unchanged" if all(self._is_identity(value) for value in given) else None
            )
        batch_size = loader.argument("batch_size")
        if batch_size.absent or batch_size.values != (NONE,):
            return None
        for name in ("sampler", "batch_sampler"):
            for value in loader.argument(name).values:
                of = value.of if isinstance(value, Instance) else None
                known = isinstance(of, External) and not canonical(of.name).endswith("BatchSampler")
                if value != NONE and not known:
                    return None
        return "`batch_size=None` turns batching off"

    def _is_identity(self, value: Value) -> bool:
        """Whether a function returns its argument, or the first element of it."""
        while isinstance(value, Partial):
            value = value.function
        if not isinstance(value, Function):
            return False
        scope = value.file.scopes[value.scope]
        skip = 1 if self.world.hierarchy.receiver_kind(value) else 0
        if len(scope.params) != skip + 1:
            return False
        whole = Name(scope.params[skip].name)
        returned = [event.value for event in scope.events if event.kind == "return"]
        others = [event for event in scope.events if event.kind not in ("return", "expr")]
        return bool(returned) and not others and all(one in (whole, Subscript(whole, Constant(0))) for one in returned)

    def views(self, value: Instance) -> list[View]:
        """The items of a dataset that are views of a tensor that it keeps."""
        found = self._views.get(value)
        if found is None:
            tensors = self._tensors(value)
            runs = self.project.item_code.runs(value) if tensors else []
            found = self._views[value] = [
                view for run in runs if not run.run.hops for view in self._views_of(run, tensors)
            ]
        return found

    def _views_of(self, run: ItemRun, tensors: dict[str, int | None]) -> Iterator[View]:
        named: dict[str, Expr] = {}
        counters: set[str] = set()
        for event in run.events:
            if event.kind == "assign" and isinstance(event.target, Name):
                named.pop(event.target.id, None)
                if event.value is not None and event.detail is None:
                    named[event.target.id] = event.value
            elif event.kind == "for" and isinstance(event.target, Name):
                iterable = event.value or Constant(None)
                if isinstance(iterable, CallRef) and last_name(run.file.calls[iterable.index].func) == "range":
                    counters.add(event.target.id)
            elif event.kind in ("return", "yield") and event.value is not None:
                parts = event.value.elements if isinstance(event.value, (Tuple, List)) else (event.value,)
                if isinstance(event.value, Dict):
                    parts = tuple(part for _, part in event.value.items)
                for part in parts:
                    shown = named.get(part.id, part) if isinstance(part, Name) else part
                    attr = self._viewed(run, shown, counters)
                    if attr in tensors:
                        yield View(str(attr), tensors[attr], run.file, event, part, part is event.value)
                        break

    def _viewed(self, run: ItemRun, expr: Expr, counters: set[str]) -> str | None:
        """The attribute that an expression views by a single index or a slice; None if it is no such view."""
        if isinstance(expr, CallRef):
            func = run.file.calls[expr.index].func
            if not isinstance(func, Attribute):
                return None
            operation = METHODS.get(func.attr)
            if operation is None or operation.effect != HOLDS or operation.unless or func.attr == "numpy":
                return None
            return self._viewed(run, func.value, counters)
        if isinstance(expr, Attribute) and expr.attr in ATTRIBUTES:
            return self._viewed(run, expr.value, counters)
        if (
            not isinstance(expr, Subscript)
            or not isinstance(expr.value, Attribute)
            or expr.value.value != Name(run.receiver)
        ):
            return None
        keys = expr.index.elements if isinstance(expr.index, Tuple) else [expr.index]
        single = all(
            isinstance(key, (Slice, Constant)) or run.direct(key) or (isinstance(key, Name) and key.id in counters)
            for key in keys
        )
        return str(expr.value.attr) if single else None

    def _tensors(self, value: Instance) -> dict[str, int | None]:
        """The attributes of a dataset that are one tensor each, with their sizes in bytes."""
        assert isinstance(value.of, Class)
        init_code = self.project.datasets.construction.of(value)
        found: dict[str, int | None] = {}
        for kept in self.project.datasets.kept(value):
            if (kept.file.path, kept.scope) not in init_code:
                continue
            array = self.project.arrays.kept(kept.values, kept.store.value, kept.site)
            if array is not None and array.library == "torch" and self._is_one(value, kept.attr, array):
                found[kept.attr] = array.size
            else:
                found.pop(kept.attr, None)
        return found

    def _is_one(self, value: Instance, attr: str, array: Array) -> bool:
        """Whether an object loaded from a file is used as a tensor: it might be a list or dict of tensors."""
        if self.project.external_name(array.file, array.call) != _WHOLE_FILE:
            return True
        assert isinstance(value.of, Class)
        for cls in self.world.hierarchy.line(value.of):
            if not isinstance(cls, Class):
                continue
            for method in self.world.hierarchy.own_methods(cls).values():
                for event in cls.file.scopes[method].events:
                    for part in walk(event.value, cls.file) if event.value is not None else ():
                        if (
                            isinstance(part, Attribute)
                            and part.attr in _TENSOR_ATTRIBUTES
                            and isinstance(part.value, Attribute)
                            and part.value.attr == attr
                        ):
                            return True
        return False
