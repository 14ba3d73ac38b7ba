"""The functions that the workers of a loader run."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.inference import limits
from dllint.inference.engine import World
from dllint.inference.values import Class, Function, Instance, Partial, Value, Values
from dllint.libraries.contents import held_by
from dllint.linking.source import SourceFile
from dllint.project.datasets import Datasets
from dllint.project.loader_contents import LoaderContents
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerCode, WorkerRun


class WorkerFunctions:
    """Queries about the functions that workers run, each computed once."""

    def __init__(self, world: World, workers: WorkerCode, datasets: Datasets, contents: LoaderContents) -> None:
        self.world = world
        self.workers = workers
        self.datasets = datasets
        self.contents = contents
        self._runs: dict[tuple[str, int], list[WorkerRun]] = {}
        self._scopes: dict[tuple[str, int], set[tuple[str, int]]] = {}

    def of_loader(self, loader: Loader) -> list[WorkerRun]:
        """Every function that the loader's workers run, by entry point; per entry point the nearest come first."""
        key = (loader.file.path, loader.call)
        found = self._runs.get(key)
        if found is None:
            found = self._runs[key] = [
                run
                for run in self._find(loader)
                if not self.world.import_graph.leaves_out(loader.file.path, run.file.path)
            ]
        return found

    def runs(self, loader: Loader, file: SourceFile, scope: int) -> bool:
        """Whether the loader's workers run a function."""
        key = (loader.file.path, loader.call)
        found = self._scopes.get(key)
        if found is None:
            found = self._scopes[key] = {(run.file.path, run.scope) for run in self.of_loader(loader)}
        return (file.path, scope) in found

    def _find(self, loader: Loader) -> Iterator[WorkerRun]:
        outside: list[Instance] = [
            one for given in self.contents.served(loader) for one in self.contents.external(given, 0, set())
        ]
        for value in self.contents.dataset_objects(loader):
            yield from self.workers.of_dataset(value)
            outside.append(value)
        seen: set[Value] = set()
        for one in outside:
            for held in (*held_by(self.world, one), *self.datasets.assigned.of_object(one)):
                for part in self._callable_parts(held, 0, seen):
                    yield from self.workers.of_callable(part, "transform")
        for argument in ("collate_fn", "worker_init_fn"):
            functions = self.contents.callables(loader, argument)
            for function in (*functions, *self._of_any(functions)):
                yield from self.workers.of_callable(function, argument)
        cls = loader.cls
        if cls is not None and loader.argument("collate_fn").absent:
            yield from self._own_collate(cls)

    @staticmethod
    def _of_any(functions: Values) -> Iterator[Function]:
        """The methods among `functions`, rebound to an unspecified object of their class.

        Only where the number of functions reached its bound, so that objects were merged: then the attributes of all
        objects of the class count.
        """
        if len(functions) >= limits.VALUES.most:
            for one in dict.fromkeys(functions):
                if isinstance(one, Function) and isinstance(one.receiver, Instance) and one.receiver.call >= 0:
                    yield Function(one.file, one.scope, Instance(one.receiver.of))

    def _own_collate(self, cls: Class) -> Iterator[WorkerRun]:
        """The `collate_fn` of a loader class of the project that passes one of its own methods to the base class."""
        method = self.world.hierarchy.method(cls, "collate_fn")
        if method is not None:
            yield from self.workers.of_callable(method, "collate_fn")

    def _callable_parts(self, value: Value, depth: int, seen: set[Value]) -> Iterator[Value]:
        """The callables among all values inside `value` that are not in `seen` yet."""
        if limits.EXTERNAL_DEPTH.exceeded(depth):
            return
        for one in self.world.mappings.flattened(value):
            if one in seen:
                continue
            seen.add(one)
            if isinstance(one, (Function, Partial)) or (isinstance(one, Instance) and isinstance(one.of, Class)):
                yield one
            if isinstance(one, Instance):
                for inner in held_by(self.world, one):
                    yield from self._callable_parts(inner, depth + 1, seen)
