"""Items and batches that are on the GPU when they leave the dataset or the collate function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Dict, IfExp, List, Name, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import NONE, Class, Frame, Function, Instance, Site
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import METHODS
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project.item_expressions import leaves
from dllint.project.loaders import Loader
from dllint.rules.start_methods.cuda import Cuda
from dllint.rules.start_methods.objects_on_gpu import ObjectsOnGpu
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_COMPUTING = frozenset({"float", "half", "double", "long", "int", "bool", "clone", "mean", "sum", "repeat", "type"})
"""Methods of a tensor, besides those of `METHODS`, whose result is a tensor on the same device."""


_CONVERTING = (Name("tuple"), Name("list"), Name("dict"))


class GpuItem(NamedTuple):
    """A part of an item or batch that is on the GPU: a tensor of a TensorDataset, or what a function returns.

    Attributes:
        text: the tensor, or the call that moves it, as written.
        span: of that call, or of the argument.
        certain: whether it is there on every machine with a GPU.
        moved: whether the text is a call.
    """

    file: SourceFile
    text: str
    span: Span
    statement: Span
    certain: bool = True
    moved: bool = True


class GpuItems:
    """Finds the items on the GPU, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.on_gpu = project.ask(ObjectsOnGpu)
        self.cuda = project.ask(Cuda)

    def of_loader(self, loader: Loader) -> Iterator[GpuItem]:
        """What in the batches of a loader is on the GPU."""
        functions = self.project.callables(loader, "collate_fn")
        if functions and functions != (NONE,):
            for value in functions:
                for run in self.project.workers.of_callable(value, "collate_fn"):
                    if not run.hops:
                        yield from self._returned(Function(run.file, run.scope), run.frame, "return")
            return
        for one in self.on_gpu.tensor_datasets(loader.datasets()):
            yield GpuItem(one.file, one.name, one.span, one.statement, moved=False)
        for value in self.project.datasets.expand(loader.datasets()):
            for name, kind in (("__getitem__", "return"), ("__iter__", "yield")):
                method = self.world.hierarchy.method(value.of, name) if isinstance(value.of, Class) else None
                if method is not None:
                    yield from self._returned(method, self.world.receiver_frame(value), kind, value)

    def _returned(
        self, function: Function, frame: Frame | None, kind: str, dataset: Instance | None = None
    ) -> Iterator[GpuItem]:
        file = function.file
        for event in file.scopes[function.scope].events_of(kind):
            at = event.span.start
            site = Site(file, function.scope, event.region, at, frame)
            for leaf, where in self._parts(event.value, site):
                found = self._moved_by(leaf, where, dataset)
                if found is not None:
                    yield found
                    break

    def _parts(self, item: Expr | None, site: Site) -> Iterator[tuple[Expr, Site]]:
        """The elements that an item is composed of, also in a list or dict that the function fills: `parts.append(x)`,
        `item["x"] = x`."""
        file = site.file
        for leaf in _leaves(item):
            call = file.calls[leaf.index] if isinstance(leaf, CallRef) else None
            converts = call is not None and call.func in _CONVERTING and len(call.args) == 1
            one = call.args[0].value if call is not None and converts else leaf
            yield from ((part, site) for part in _leaves(one))
            for index in file.facts.called.get("append", ()) if isinstance(one, Name) else ():
                filling = file.calls[index]
                if filling.scope == site.scope and isinstance(filling.func, Attribute) and filling.func.value == one:
                    where = self.world.call_site(file, index, site.frame)
                    yield from ((argument.value, where) for argument in filling.args)
            for event in file.scopes[site.scope].events_of("assign") if isinstance(one, Name) else ():
                at = Site(file, site.scope, event.region, event.span.start, site.frame)
                if isinstance(event.target, Subscript) and event.target.value == one and event.value is not None:
                    yield event.value, at
                elif event.target == one and isinstance(event.value, (List, Tuple, Dict, Comprehension)):
                    yield from ((part, at) for part in _leaves(event.value))

    def _moved_by(self, expr: Expr, site: Site, dataset: Instance | None) -> GpuItem | None:
        """The call that puts a part of an item on the GPU."""
        kept = _attribute(expr)
        if kept is not None and dataset is not None:
            for one in self.project.datasets.kept(dataset):
                if one.attr == kept and one.store.value is not None:
                    return self._found(one.store.value, one.site)
            return None
        return self._found(expr, site)

    def _found(self, expr: Expr, site: Site, depth: int = 0) -> GpuItem | None:
        found = self.on_gpu.moved_by(expr, site)
        if found is None:
            inner = self._same_device(expr, site)
            if inner is not None:
                return self._found(inner, site, depth)
            if not isinstance(expr, CallRef) or limits.DEVICE_DEPTH.exceeded(depth):
                return None
            given = self.on_gpu.origins.expressions(expr, site)
            return next(filter(None, (self._found(one.expr, one.site, depth + 1) for one in given)), None)
        call, where = found
        written = where.file.calls[call.index]
        certain = self.cuda.is_certain(where.file, call.index, where.frame)
        return GpuItem(where.file, render(written.func, where.file), written.span, written.statement, certain)

    def _same_device(self, expr: Expr, site: Site) -> Expr | None:
        """The tensor that an operation computes its result from, on the same device."""
        if isinstance(expr, Subscript):
            return expr.value
        func = site.file.calls[expr.index].func if isinstance(expr, CallRef) else None
        if not isinstance(func, Attribute):
            return None
        operation = METHODS.get(func.attr)
        keeps = func.attr not in ("cpu", "to", "numpy") and operation is not None and operation.effect == HOLDS
        return func.value if keeps or func.attr in _COMPUTING else None


def _attribute(expr: Expr) -> str | None:
    """The attribute of the dataset that an item is taken from: `self.rows[index]`."""
    while isinstance(expr, Subscript):
        expr = expr.value
    return expr.attr if isinstance(expr, Attribute) and expr.value == Name("self") else None


def _leaves(expr: Expr | None) -> Iterator[Expr]:
    """An item, or the elements that it is composed of, on both branches of a conditional expression."""
    for leaf in leaves(expr) if expr is not None else ():
        match leaf:
            case IfExp(_, body, orelse):
                yield from (*_leaves(body), *_leaves(orelse))
            case Comprehension(element=element):
                yield from _leaves(element)
            case _:
                yield leaf
