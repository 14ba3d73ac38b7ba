"""Objects on the GPU that datasets keep, or that launches hand to processes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count, islice
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import CallRef, IfExp, Name
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.origins import Origins
from dllint.inference.values import Actual, External, Instance, Site, Value, Values
from dllint.libraries.contents import held_by
from dllint.libraries.index import WRAPPERS, canonical
from dllint.linking.conditions import render
from dllint.linking.derivations import names_read
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.rules.start_methods.cuda import Cuda
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

TENSOR_DATASET = "torch.utils.data.TensorDataset"


class OnGpu(NamedTuple):
    """An object on the GPU that forked processes read: an attribute of a dataset, or an argument as written."""

    name: str
    file: SourceFile
    span: Span
    statement: Span
    hops: tuple[Hop, ...] = ()


class ObjectsOnGpu:
    """Finds objects on the GPU, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.origins = Origins(project.world)
        self.cuda = project.ask(Cuda)
        self._read: dict[tuple[str, int], set[str]] = {}

    def kept_on_gpu(self, loader: Loader) -> Iterator[OnGpu]:
        """The attributes that the loader's datasets keep on the GPU (`self.rows = rows.cuda()`) and worker code
        reads."""
        scopes = {(run.file, run.scope) for run in self.project.worker_runs(loader)}
        read = {name for file, scope in scopes for name in self._read_in(file, scope)}
        for value in self.project.dataset_objects(loader):
            for kept in self.project.datasets.kept(value):
                if kept.attr in read and kept.store.value is not None and self._on_gpu(kept.store.value, kept.site):
                    event = kept.store.event
                    yield OnGpu(kept.attr, kept.file, event.value_span or event.span, event.span, kept.hops)
        yield from self.tensor_datasets(loader.datasets())

    def tensor_datasets(self, values: Values) -> Iterator[OnGpu]:
        """The first tensor on the GPU of each TensorDataset, also inside wrappers."""
        todo, seen = [*values], set[Value]()
        while todo:
            value = todo.pop(0)
            if not isinstance(value, Instance) or not isinstance(value.of, External) or value in seen:
                continue
            seen.add(value)
            name = canonical(value.of.name)
            if name in WRAPPERS:
                todo += held_by(self.world, value)
            elif name == TENSOR_DATASET and value.file is not None and value.call >= 0:
                statement = value.file.calls[value.call].statement
                given = (self._given(one, value.file, statement) for one in self.world.made_with(value).positional)
                # Each item is read from all of the tensors, so the first one already fails.
                yield from islice(chain.from_iterable(given), 1)

    def handed_to(self, launch: Launch) -> Iterator[OnGpu]:
        """The arguments on the GPU that a launch passes to forked processes.

        Through a pool they are unpickled there, which fails by itself; the target of a Process fails when it reads
        them.
        """
        statement = launch.file.calls[launch.call].statement
        for target in launch.targets:
            function = target.function
            read = self._read_in(function.file, function.scope)
            for param in function.file.scopes[function.scope].params:
                one = self.world.parameters.bound(function, param.name, target.frame).actual
                if one is not None and ("()." in launch.api or param.name in read):
                    yield from self._given(one, launch.file, statement)

    def _given(self, one: Actual, file: SourceFile, statement: Span) -> Iterator[OnGpu]:
        if one.expr is not None and one.site is not None and self._on_gpu(one.expr, one.site):
            yield OnGpu(render(one.expr, one.site.file), file, one.span or statement, statement)

    def _read_in(self, file: SourceFile, scope: int) -> set[str]:
        """The names and attribute names that a function reads, or calls a part of."""
        found = self._read.get((file.path, scope))
        if found is None:
            found = self._read[file.path, scope] = {*file.derived(names_read, scope)}
        return found

    def _on_gpu(self, expr: Expr, site: Site) -> bool:
        return self.moved_by(expr, site) is not None

    def moved_by(self, expr: Expr, site: Site) -> tuple[CallRef, Site] | None:
        """The call that the value of an expression comes from and that puts it on the GPU; None if there is none.

        The kind of value does not matter: a model of an unknown class is moved there like any other.
        """
        steps, seen = [(expr, site)], {(id(expr), site)}
        for depth in count():
            if not steps or limits.DEVICE_DEPTH.exceeded(depth):
                return None
            for one, where in steps:
                if isinstance(one, CallRef) and self._puts_on_gpu(one, where):
                    return one, where
            found = (
                (step.expr, step.site)
                for one, where in steps
                if isinstance(one, (Name, IfExp))
                for step in self.origins.expressions(one, where)
            )
            steps = []
            for step in found:
                # Functions that call one another in circles pass a value on in very many ways.
                if limits.DEVICE_PLACES.reached(len(seen)):
                    break
                if (id(step[0]), step[1]) not in seen:
                    seen.add((id(step[0]), step[1]))
                    steps.append(step)
        return None

    def _puts_on_gpu(self, expr: CallRef, site: Site) -> bool:
        judged = self.cuda.judge(site.file, expr.index, site.frame)
        return judged.places and self.cuda.wanted(site.file, expr.index, site.frame)
