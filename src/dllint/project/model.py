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
from dllint.facts.schema import FileFacts
from dllint.finding import Place
from dllint.inference.engine import World
from dllint.inference.values import (
    Display,
    External,
    Frame,
    Instance,
    Values,
)
from dllint.libraries.knowledge import Libraries
from dllint.linking.conditions import under_main_guard
from dllint.linking.source import SourceFile
from dllint.notebooks import CellText
from dllint.project.arrays import Arrays
from dllint.project.arrivals import Arrival, Hop
from dllint.project.assumed_datasets import assumed_loaders
from dllint.project.collected_arrays import CollectedArrays
from dllint.project.dataset_and_workers import has_workers_in
from dllint.project.datasets import Datasets
from dllint.project.item_code import ItemCode
from dllint.project.kept_values import Piece
from dllint.project.launches import Launches
from dllint.project.loader_calls import find_loaders
from dllint.project.loader_contents import LoaderContents
from dllint.project.loaders import Loader
from dllint.project.programs import Programs
from dllint.project.regimes import Chains, find_regimes, without
from dllint.project.regimes import Regime as Regime
from dllint.project.start_methods import StartMethods
from dllint.project.tensors import Tensors
from dllint.project.worker_code import WorkerCode, WorkerRun
from dllint.project.worker_functions import WorkerFunctions
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
        self.datasets = Datasets(world, lambda: self._measures)
        self.workers = WorkerCode(world, self.datasets.construction.in_workers)
        self.programs = Programs(world)
        self.import_graph = world.import_graph
        self.item_code = ItemCode(world, self.workers, lambda value: self._readers.get(value, ()))
        self.arrays = Arrays(world)
        self.collected = CollectedArrays(self.arrays, self.datasets)
        self.tensors = Tensors(world, self.datasets)
        self._forget_loaders()

    def _forget_loaders(self) -> None:
        """Empty the memo tables of all that depends on the loaders."""
        self._contents = LoaderContents(self.world, self.datasets, self.programs)
        self._worker_functions = WorkerFunctions(self.world, self.workers, self.datasets, self._contents)
        self._answers: dict[Callable[[Project], Any], Any] = {}
        self._regimes: dict[tuple[str, int], list[Regime]] = {}
        self._working: dict[tuple[str, int, str], bool] = {}
        self._chains = Chains(self.world, self.datasets, self._contents.dataset_objects)

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
    def _measures(self) -> bool:
        """Whether some loader asks its dataset for the length before workers start, as samplers do. Lists of indices
        do not."""
        return any(
            all(
                found.absent or not all(isinstance(one, Display) for one in found.values)
                for found in map(loader.argument, ("sampler", "batch_sampler"))
            )
            for loader in self.loaders
        )

    @cached_property
    def _readers(self) -> dict[Instance, tuple[Instance, ...]]:
        """By dataset, the datasets that hold it."""
        found: dict[Instance, dict[Instance, None]] = {}
        outermost = dict.fromkeys(one for loader in self.loaders for one in self.dataset_objects(loader))
        for outer in outermost:
            for inner in self.datasets.expand((outer,)):
                if inner != outer:
                    found.setdefault(inner, {})[outer] = None
        return {inner: tuple(outer) for inner, outer in found.items()}

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

    def scripts(self, suffixes: tuple[str, ...], *markers: bytes) -> Iterator[str]:
        """Yield the files at most three directories below the root that have one of the suffixes and one of the markers
        in their first 4 KiB."""
        for directory, folders, names in walk(self.world.settings.root):
            inside = os.path.relpath(directory, self.world.settings.root)
            depth = 0 if inside == "." else inside.count(os.sep) + 1
            folders[:] = sorted(name for name in folders if depth < 3 and not name.startswith("."))
            for name in sorted(names):
                if name.endswith(suffixes):
                    path = os.path.join(directory, name)
                    try:
                        text = read(path, 4096, within=self.world.settings.root or None, cut=True)
                    except CannotRead:
                        continue
                    if any(marker in text for marker in markers):
                        yield path

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

    # What workers receive, and what they run

    def dataset_objects(self, loader: Loader) -> list[Instance]:
        """The project's own dataset objects that a loader reads from, also those inside wrappers."""
        return self._contents.dataset_objects(loader)

    def read_objects(self, loader: Loader) -> list[Instance]:
        """The project's own dataset objects that a loader reads from, also if it never has workers."""
        return self.dataset_objects(loader) or self.datasets.expand(loader.datasets())

    def served(self, loader: Loader) -> Values:
        """The loader's dataset values, without those that never have workers."""
        return self._contents.served(loader)

    def dataset_pieces(self, loader: Loader) -> list[tuple[str, Piece]]:
        """All values inside the loader's datasets, each with the name of the dataset's class."""
        return self._contents.dataset_pieces(loader)

    def shipped_objects(self, loader: Loader) -> list[Instance]:
        """The project's objects that are sent to workers."""
        return self._contents.shipped_objects(loader)

    def callable_pieces(self, loader: Loader) -> Iterator[tuple[str, Piece]]:
        """The values inside the objects used as a loader's `collate_fn` or `worker_init_fn`."""
        return self._contents.callable_pieces(loader)

    def shipped_pieces(self, loader: Loader) -> list[tuple[str, Piece]]:
        """All values that objects keep which are sent to workers."""
        return self._contents.shipped_pieces(loader)

    def callables(self, loader: Loader, argument: str) -> Values:
        """The values that a loader's `collate_fn` or `worker_init_fn` can have."""
        return self._contents.callables(loader, argument)

    def worker_runs(self, loader: Loader) -> list[WorkerRun]:
        """Every function that the loader's workers run, by entry point; per entry point the nearest come first."""
        return self._worker_functions.of_loader(loader)

    def runs_in_worker(self, loader: Loader, file: SourceFile, scope: int) -> bool:
        """Whether the loader's workers run a function."""
        return self._worker_functions.runs(loader, file, scope)

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

    def at_module_level(self, file: SourceFile, index: int) -> bool:
        """Whether a call runs whenever its module is imported: at the top level and not under the `__main__` guard."""
        call = file.calls[index]
        return call.scope == 0 and not under_main_guard(file, call.region)
