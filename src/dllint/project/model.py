"""The project as rules see it: read-only queries, each computed once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

from dllint import roots
from dllint.config import Settings, Targets
from dllint.facts.schema import Call, FileFacts
from dllint.finding import Place
from dllint.inference import limits
from dllint.inference.engine import World
from dllint.inference.values import (
    CHOSEN,
    Class,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Site,
    Value,
    Values,
)
from dllint.libraries.contents import bound_by, contents, held_by
from dllint.libraries.index import PICKLE_BY_VALUE, REFUSALS, canonical
from dllint.libraries.knowledge import Libraries
from dllint.linking.conditions import render, under_main_guard
from dllint.linking.source import SourceFile, last_name
from dllint.notebooks import CellText
from dllint.project.arrays import Arrays
from dllint.project.assumed_datasets import assumed_loaders
from dllint.project.collected_arrays import CollectedArrays
from dllint.project.dataset_and_workers import goes_with_workers, has_workers_in, of_test
from dllint.project.datasets import Datasets, Piece
from dllint.project.item_code import ItemCode
from dllint.project.launches import Launches
from dllint.project.loader_search import find_loaders
from dllint.project.loaders import Loader
from dllint.project.programs import Programs
from dllint.project.regimes import Chains, find_regimes, without
from dllint.project.regimes import Regime as Regime
from dllint.project.start_methods import Arrival, Hop, StartMethods
from dllint.project.tensors import Tensors
from dllint.project.worker_code import WorkerCode, WorkerRun
from dllint.reading import CannotRead, read, walk
from dllint.span import Span

T = TypeVar("T")


class Project:
    """All files of a project, linked."""

    def __init__(self, world: World, notebooks: Mapping[str, CellText] = MappingProxyType({})) -> None:
        self.world = world
        self._notebooks = notebooks
        assert isinstance(world.knowledge, Libraries)
        self.libraries = world.knowledge
        self.launches = Launches(world)
        self.launches.all()
        self.datasets = Datasets(world)
        self.workers = WorkerCode(world)
        self.programs = Programs(world)
        self.import_graph = world.import_graph
        self.item_code = ItemCode(world, self.workers)
        self.arrays = Arrays(world)
        self.collected = CollectedArrays(self.arrays, self.datasets)
        self.tensors = Tensors(world, self.datasets)
        self._forget_loaders()

    def _forget_loaders(self) -> None:
        """Empty the memo tables of all that depends on the loaders."""
        self._answers: dict[Callable[[Project], Any], Any] = {}
        self._objects: dict[tuple[str, int], list[Instance]] = {}
        self._pieces: dict[tuple[str, int], list[tuple[str, Piece]]] = {}
        self._callables: dict[tuple[str, int, str], Values] = {}
        self._worker_runs: dict[tuple[str, int], list[WorkerRun]] = {}
        self._worker_scopes: dict[tuple[str, int], set[tuple[str, int]]] = {}
        self._regimes: dict[tuple[str, int], list[Regime]] = {}
        self._working: dict[tuple[str, int, str], bool] = {}
        self._chains = Chains(self.world, self.datasets, self.dataset_objects)

    @classmethod
    def load(
        cls,
        facts: Mapping[str, FileFacts],
        settings: Settings,
        paths: Iterable[str] | None = None,
        notebooks: Mapping[str, CellText] = MappingProxyType({}),
        recording: bool = False,
    ) -> Project:
        """Link the facts of files, given by path.

        `paths` names all files of the project if some of them were not parsed. `notebooks` maps the paths of notebooks
        to the text of their cells. With `recording`, `world.reads` and the files say what was read.
        """
        return cls(World(facts, settings, Libraries, paths, recording), notebooks)

    def ask(self, question: Callable[[Project], T]) -> T:
        """Return the project's single instance of a query class, `question(self)`; it memoizes its answers."""
        found: T | None = self._answers.get(question)
        if found is None:
            found = self._answers[question] = question(self)
        return found

    @property
    def targets(self) -> Targets:
        return self.world.settings.targets

    @property
    def settings(self) -> Settings:
        return self.world.settings

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        return tuple(self.world.files.values())

    @cached_property
    def loaders(self) -> tuple[Loader, ...]:
        """Every construction of a DataLoader, in the order of files and lines."""
        return tuple(find_loaders(self.world))

    @cached_property
    def assuming(self) -> Project | None:
        """The same project with other loaders: those that may read the datasets which no loader is seen to read, each
        with these datasets alone; None if there are no such pairs."""
        loaders = tuple(assumed_loaders(self.world, self.datasets, self.loaders))
        if not loaders:
            return None
        assert self.methods
        other = copy(self)
        other._forget_loaders()
        vars(other)["loaders"] = loaders
        return other

    @cached_property
    def methods(self) -> StartMethods:
        """The start methods in force wherever a loader is made or a process is launched with the default start
        method."""
        places = [(loader.file, loader.file.calls[loader.call].scope) for loader in self.loaders]
        places += [
            (launch.file, launch.file.calls[launch.call].scope)
            for launch in (*self.launches.all(), *self.launches.blind())
            if "default" in launch.methods
        ]
        return StartMethods(self.world, self.launches, places)

    # Places

    def shown(self, path: str) -> str:
        """A path as messages show it."""
        return roots.shown(path, self.world.settings.root)

    def where(self, file: SourceFile, span: Span) -> str:
        """ "train.py:12" """
        return self.line_shown(file.path, span)

    def line_shown(self, path: str, span: Span) -> str:
        """ "train.py:12", or "train.ipynb:cell 3:12" in a notebook."""
        inside, cell, span = self.in_cell(path, span)
        return f"{self.shown(inside)}:{span.line}" if cell is None else f"{self.shown(inside)}:cell {cell}:{span.line}"

    def in_cell(self, path: str, span: Span) -> tuple[str, int | None, Span]:
        """The position in terms of the notebook: its path, the cell number and the range inside the cell.

        For a file that is no notebook: the path and span unchanged, and None as the cell.
        """
        place = self._notebooks[path].place(span) if path in self._notebooks else None
        return (path, None, span) if place is None else place

    def place(self, hop: Hop) -> Place:
        return Place(hop.file.path, hop.span, hop.text, hop.guessed)

    def trace(self, hops: Iterable[Hop]) -> tuple[Place, ...]:
        return tuple(self.place(hop) for hop in hops)

    def loader_place(self, loader: Loader) -> Place:
        return Place(loader.file.path, loader.span, f"this {loader.name} starts the workers")

    def scripts(self, suffixes: tuple[str, ...], marker: bytes) -> Iterator[str]:
        """Yield the files at most three directories below the root that have one of the suffixes and `marker` in
        their first 4 KiB."""
        for directory, folders, names in walk(self.world.settings.root):
            inside = os.path.relpath(directory, self.world.settings.root)
            depth = 0 if inside == "." else inside.count(os.sep) + 1
            folders[:] = sorted(name for name in folders if depth < 3 and not name.startswith("."))
            for name in sorted(names):
                if name.endswith(suffixes):
                    path = os.path.join(directory, name)
                    try:
                        if marker in read(path, 4096, within=self.world.settings.root or None, cut=True):
                            yield path
                    except CannotRead:
                        continue

    # Start methods

    def regimes(self, loader: Loader, beside: Iterable[str] = (), holder: str = "") -> list[Regime]:
        """The start methods under which the loader's workers can run; those that the project itself sets come first.

        Start methods of programs that do not include the files `beside`, which create what the loader reads, are
        omitted. If `holder` is given ("Faces.transform"), so are those of calls that pass the loader a dataset of
        another class.
        """
        key = (loader.file.path, loader.call)
        found = self._regimes.get(key)
        if found is None:
            found = self._regimes[key] = list(find_regimes(self.world, self.methods, loader))
        if beside and (others := set(beside) - {loader.file.path}):
            # What a test creates exists only while that test runs, and reaches only loaders that the test's code calls.
            tests = {path for path in others if self.import_graph.is_test(path)}
            if tests and not tests <= self.programs.leading(loader.file, loader.site.scope):
                return []
            # What a program defines for itself reaches only the loaders that this program makes.
            if any(not self._works_in(loader, path) for path in others if self.import_graph.is_program(path)):
                return []
            left = [one for one in found if self.import_graph.together(self._way(loader, one), others)]
            found = without(self.world, self.methods, loader, found, left)
        return self._chains.giving(loader, holder.partition(".")[0], found) if holder else found

    def _works_in(self, loader: Loader, program: str) -> bool:
        """Whether a loader can have workers in a program, which no other one imports."""
        if self.import_graph.roots(program) != {program}:
            return True
        key = (loader.file.path, loader.call, program)
        found = self._working.get(key)
        if found is None:
            found = self._working[key] = has_workers_in(self.world, loader, program)
        return found

    def regimes_in(self, loader: Loader, script: SourceFile) -> list[Regime]:
        """The start methods of the loader's workers where the top level of a script starts them."""
        found = self.regimes(loader)
        left = [one for one in found if one.arrival is None or self.in_force(one.arrival, script)]
        return without(self.world, self.methods, loader, found, left)

    def in_force(self, arrival: Arrival, script: SourceFile) -> bool:
        """Whether a start method can be in force where the top level of a script runs.

        What stands under the `__main__` guard of another file runs only in programs of that file.
        """
        hops = list(arrival.chain())
        guarded = {hop.file.path for hop in hops if hop.file is not script and hop.is_guarded()}
        if any(script.path not in self.import_graph.import_closure((path,)) for path in guarded):
            return False
        return self.import_graph.runs_with(script.path, [hop.file.path for hop in hops])

    @staticmethod
    def _way(loader: Loader, regime: Regime) -> set[str]:
        chain = regime.arrival.chain() if regime.arrival is not None else ()
        return {loader.file.path, *(hop.file.path for hop in chain)}

    def chain(self, arrival: Arrival | None, hops: Iterable[Hop] = ()) -> tuple[Place, ...]:
        """The trace of a start method: its origin, every call site from there, then `hops`."""
        return (*(self.trace(arrival.chain()) if arrival is not None else ()), *self.trace(hops))

    # Datasets

    def dataset_values(self, loader: Loader) -> Values:
        """The values of a loader's dataset argument, including wrappers such as Subset."""
        return loader.datasets()

    def dataset_objects(self, loader: Loader) -> list[Instance]:
        """The project's own dataset objects that a loader reads from, also those inside wrappers.

        Objects that only arise in programs without the loader are excluded: a function that both programs call would
        otherwise merge them.
        """
        key = (loader.file.path, loader.call)
        found = self._objects.get(key)
        if found is None:
            found = self._objects[key] = self.datasets.expand(
                self.served(loader), lambda value: self._can_be_read(loader, value)
            )
        return found

    def _can_be_read(self, loader: Loader, value: Instance) -> bool:
        """Whether a program with a loader can make an object."""
        assert isinstance(value.of, Class)
        if not loader.assumed and self.import_graph.leaves_out(loader.file.path, value.of.file.path):
            return False
        return self.import_graph.together((loader.file.path,), self.programs.behind(value))

    def served(self, loader: Loader) -> Values:
        """The loader's dataset values, without those that only arrive on call paths with zero workers or with
        another dataset."""
        values = self._with_workers(loader, loader.datasets)
        return self.datasets.possible(tuple(value for value in values if self._may_serve(loader, value)))

    def _with_workers(self, loader: Loader, given: Callable[[Frame | None], Values]) -> Values:
        """The values passed to a loader, without those from callers of the enclosing function that set the number of
        workers to 0."""
        call = loader.file.calls[loader.call]
        if loader.file.scopes[call.scope].kind != "function":
            return given(None)
        function = Function(loader.file, call.scope)
        callers = self.world.calls.callers(function)
        frames = [self.world.told_apart(one.file, one.call, function, one.frame) for one in callers]
        served = [frame for frame in frames if loader.workers(frame).kind != "none"]
        if len(served) == len(frames):
            return given(None)
        values = [value for frame in served for value in given(frame)]
        if self.world.calls.only_tested(function):
            values += (value for value in given(None) if not of_test(self.world, value))
        return tuple(dict.fromkeys(values))

    def _may_serve(self, loader: Loader, value: Value) -> bool:
        if not isinstance(value, Instance) or value.file is None:
            return True
        return goes_with_workers(self.world, loader, value) is not False

    def rests_on_guess(self, loader: Loader, regime: Regime, holder: str = "") -> bool:
        """Whether the finding depends on a guess: the worker count may come only from an unpacked mapping, or the
        class of the dataset ("Faces" of holder "Faces.rows.crop"), or of an object inside it that is on the way to the
        holder, is only one of those that a name can refer to."""
        if regime.workers.kind == "opaque" or CHOSEN in loader.datasets():
            return True
        name, _, way = holder.partition(".")
        found = [value for value in self.dataset_objects(loader) if isinstance(value.of, Class)]
        meant = [value for value in self.shipped_objects(loader) if value.of.name == name] or found
        meant = [value for value in meant if self._inside(value, way)[way]] or meant
        return bool(meant) and all(self._guessed(value, way) for value in meant)

    def _guessed(self, value: Instance, way: str) -> bool:
        """Whether a guess is the class of a dataset, or of all objects at one place of a path of attributes in it.

        Guessed are classes that a name chooses, and subclasses of the one whose method makes the dataset.
        """
        groups = [[one for one in values if isinstance(one, Instance)] for values in self._inside(value, way).values()]
        return self.world.chosen_by_name(value) or any(
            all(self.world.chosen_by_name(one) or self.datasets.is_open(one) for one in group)
            for group in groups
            if group
        )

    def _inside(self, value: Instance, way: str) -> dict[str, list[Value]]:
        """The values at each place of a path of attributes inside a dataset: for "rows.crop", those of "rows", too."""
        parts = way.split(".")
        found: dict[str, list[Value]] = {".".join(parts[:count]): [] for count in range(1, len(parts) + 1)}
        for piece in self.datasets.pieces(value):
            if piece.path in found:
                found[piece.path].append(piece.value)
        return found

    def dataset_pieces(self, loader: Loader) -> list[tuple[str, Piece]]:
        """All values inside the loader's datasets, each with the name of the dataset's class."""
        key = (loader.file.path, loader.call)
        found = self._pieces.get(key)
        if found is None:
            found = self._pieces[key] = list(self._find_pieces(loader))
        return found

    def _find_pieces(self, loader: Loader) -> Iterator[tuple[str, Piece]]:
        for value in self.dataset_objects(loader):
            if isinstance(value.of, Class):
                for piece in self.datasets.pieces(value):
                    yield value.of.name, piece
        for given in self.served(loader):
            for one in self._external(given, 0, set()):
                name = one.of.name.partition("()")[0].rsplit(".", 1)[-1] if isinstance(one.of, External) else ""
                if isinstance(one.of, External) and canonical(one.of.name) in REFUSALS:
                    yield name, Piece("", one, None)
                inside = contents(self.world, one)
                seen: set[tuple[Value, str]] = set()
                for held in inside.values:
                    yield from self._pieces_of(held, name, inside.given, 0, seen)
                for held in self.datasets.assigned.of_object(one):
                    yield from self._pieces_of(held, name, "", 0, seen)

    def _external(self, value: Value, depth: int, seen: set[Value]) -> Iterator[Instance]:
        """The objects of external classes that a value is or contains, each once, by the first path that reaches it:
        chained methods reach the same object in many ways."""
        if limits.EXTERNAL_DEPTH.exceeded(depth):
            return
        for one in self.world.mappings.flattened(value):
            if isinstance(one, Instance) and isinstance(one.of, External) and one not in seen:
                seen.add(one)
                yield one
                for inner in held_by(self.world, one):
                    if (
                        isinstance(inner, Instance)
                        and isinstance(inner.of, External)
                        and "dataset" in inner.of.name.lower()
                    ):
                        yield from self._external(inner, depth + 1, seen)

    def _pieces_of(
        self, value: Value, name: str, given: str, depth: int, seen: set[tuple[Value, str]]
    ) -> Iterator[tuple[str, Piece]]:
        if limits.EXTERNAL_DEPTH.exceeded(depth):
            return
        for one in self.world.mappings.flattened(value):
            if (one, given) in seen:
                continue
            seen.add((one, given))
            yield name, Piece("", one, None, given)
            if isinstance(one, Instance) and isinstance(one.of, External):
                inside = contents(self.world, one)
                for inner in inside.values:
                    yield from self._pieces_of(inner, name, given or inside.given, depth + 1, seen)
            elif isinstance(one, Instance) and isinstance(one.of, Class) and not self.datasets.is_dataset(one.of):
                for piece in self.datasets.pieces(one):
                    yield name, piece._replace(given=given) if given in PICKLE_BY_VALUE else piece

    def shipped_objects(self, loader: Loader) -> list[Instance]:
        """The project's objects that are sent to workers: the datasets, and the objects used as `collate_fn` or
        `worker_init_fn` or whose methods are."""
        found = dict.fromkeys(self.dataset_objects(loader))
        for _, value, _ in self._called_by_workers(loader):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                found[value] = None
        return list(found)

    def callable_pieces(self, loader: Loader) -> Iterator[tuple[str, Piece]]:
        """The values inside the objects used as a loader's `collate_fn` or `worker_init_fn`, or whose bound methods
        are, each with the name of the object's class; those bound by a partial with the name of the argument."""
        for argument, value, bound in self._called_by_workers(loader):
            if bound:
                yield argument, Piece("", value, None)
            if isinstance(value, Instance) and isinstance(value.of, Class):
                # A task or a module that passes its own method also keeps what methods of other classes put into it.
                own = self.world.hierarchy.method(value.of, "__call__") is None
                for piece in self.datasets.pieces(value):
                    if not own or "." not in piece.path:
                        yield value.of.name, piece

    def _called_by_workers(self, loader: Loader) -> Iterator[tuple[str, Value, bool]]:
        """The callables of a loader, each with its argument: "collate_fn". Instead of a bound method its object; with a
        partial the values that it binds, which are marked by True."""
        for argument in ("collate_fn", "worker_init_fn"):
            todo: list[tuple[Value, int, bool]] = [(value, 0, False) for value in self.callables(loader, argument)]
            while todo:
                value, depth, bound = todo.pop()
                given = value
                if isinstance(value, Function) and value.receiver is not None:
                    value = value.receiver
                if bound and given is not value:
                    yield argument, given, True
                yield argument, value, bound and given is value
                if isinstance(value, Partial) and not limits.COUNTING_DEPTH.reached(depth + 1):
                    todo.append((value.function, depth + 1, False))
                    todo += ((one, depth + 1, True) for one in bound_by(self.world, value))

    def shipped_pieces(self, loader: Loader) -> list[tuple[str, Piece]]:
        """All values that objects keep which are sent to workers: inside the datasets, and inside the objects used as
        `collate_fn` or `worker_init_fn`, or whose bound methods are."""
        callables = ((name, piece) for name, piece in self.callable_pieces(loader) if piece.path)
        return [*self.dataset_pieces(loader), *callables]

    def callables(self, loader: Loader, argument: str) -> Values:
        """The values that a loader's `collate_fn` or `worker_init_fn` can have, passed to the constructor or
        assigned afterwards."""
        key = (loader.file.path, loader.call, argument)
        values = self._callables.get(key)
        if values is None:
            values = self._callables[key] = self._find_callables(loader, argument)
        return values

    def _find_callables(self, loader: Loader, argument: str) -> Values:
        known = self._with_workers(loader, lambda frame: loader.argument(argument, frame).values)
        # If no known call asks for workers, an unknown one must.
        found = dict.fromkeys(known or loader.argument(argument).values)
        for file, store in self.world.stores.outside_stores(argument):
            site = Site(file, store.scope, store.event.region, (store.event.span.line, store.event.span.column), None)
            if any(self._is_made_by(base, loader) for base in self.world.values.evaluate(store.base, site)):
                found.update(dict.fromkeys(self.world.values.evaluate(store.value, site)))
        return tuple(found)

    @staticmethod
    def _is_made_by(value: Value, loader: Loader) -> bool:
        return isinstance(value, Instance) and value.file is loader.file and value.call == loader.call

    # Code that runs in workers

    def worker_runs(self, loader: Loader) -> list[WorkerRun]:
        """Every function that the loader's workers run, by entry point; per entry point the nearest come first."""
        key = (loader.file.path, loader.call)
        found = self._worker_runs.get(key)
        if found is None:
            found = self._worker_runs[key] = [
                run
                for run in self._find_worker_runs(loader)
                if not self.import_graph.leaves_out(loader.file.path, run.file.path)
            ]
        return found

    def runs_in_worker(self, loader: Loader, file: SourceFile, scope: int) -> bool:
        """Whether the loader's workers run a function."""
        key = (loader.file.path, loader.call)
        found = self._worker_scopes.get(key)
        if found is None:
            found = self._worker_scopes[key] = {(run.file.path, run.scope) for run in self.worker_runs(loader)}
        return (file.path, scope) in found

    def _find_worker_runs(self, loader: Loader) -> Iterator[WorkerRun]:
        outside: list[Instance] = [one for given in self.served(loader) for one in self._external(given, 0, set())]
        for value in self.dataset_objects(loader):
            yield from self.workers.of_dataset(value)
            outside.append(value)
        seen: set[Value] = set()
        for one in outside:
            for held in (*held_by(self.world, one), *self.datasets.assigned.of_object(one)):
                for part in self._callable_parts(held, 0, seen):
                    yield from self.workers.of_callable(part, "transform")
        for argument in ("collate_fn", "worker_init_fn"):
            functions = self.callables(loader, argument)
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

    def starts_threads_before(self, loader: Loader) -> bool:
        """Whether the function that makes the loader starts a thread before it."""
        call = loader.file.calls[loader.call]
        for index in loader.file.calls_of(call.scope):
            other = loader.file.calls[index]
            if other.span < call.span and last_name(other.func) in ("Thread", "ThreadPoolExecutor"):
                site = self.world.call_site(loader.file, index, None)
                values = self.world.values.evaluate(other.func, site)
                if any(
                    isinstance(v, External) and v.name.startswith(("threading.", "concurrent.futures.")) for v in values
                ):
                    return True
        return False

    # Calls

    def external_calls(self, name: str, prefix: str) -> Iterator[tuple[SourceFile, int, str]]:
        """Calls of external APIs whose last name is `name` and whose full name begins with `prefix`, each as file,
        call and full name."""
        names = {name, *self.world.aliases(name)}
        for one in sorted(names):
            for file, index in self.world.called(one):
                site = self.world.call_site(file, index, None)
                for value in self.world.values.evaluate(file.calls[index].func, site):
                    if isinstance(value, External) and value.name.startswith(prefix):
                        yield file, index, value.name
                        break

    def external_name(self, file: SourceFile, index: int) -> str | None:
        """The full name of the external API that a call calls; None if it calls none."""
        site = self.world.call_site(file, index, None)
        for value in self.world.values.evaluate(file.calls[index].func, site):
            if isinstance(value, External):
                return value.name
        return None

    def evaluate_argument(
        self, file: SourceFile, index: int, position: int, keyword: str, frame: Frame | None = None
    ) -> Values | None:
        """The values of an argument of a call of any API; None if the argument is not given."""
        actuals = self.world.actuals(file, index, frame)
        actual = actuals.keywords.get(keyword) if keyword else None
        if actual is None and 0 <= position < len(actuals.positional):
            actual = actuals.positional[position]
        if actual is None or actual.expr is None or actual.site is None:
            return None
        return self.world.values.evaluate(actual.expr, actual.site)

    def text(self, file: SourceFile, call: Call) -> str:
        """The callee as written in the source."""
        return render(call.func, file)

    def at_module_level(self, file: SourceFile, index: int) -> bool:
        """Whether a call runs whenever its module is imported: at the top level and not under the `__main__` guard."""
        call = file.calls[index]
        return call.scope == 0 and not under_main_guard(file, call.region)
