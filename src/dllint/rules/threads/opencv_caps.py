"""The caps of OpenCV's threads in a project, and the workers that they reach."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.inference import limits
from dllint.inference.values import Class, Const, Function, Instance
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.project.regimes import Regime
from dllint.project.worker_code import WorkerRun

if TYPE_CHECKING:
    from dllint.project.model import Project

VARIABLE = "OPENCV_FOR_THREADS_NUM"


@dataclass(frozen=True)
class Cap:
    """A call of `cv2.setNumThreads` with 0, 1, or a number that nothing shows.

    `imported`: it runs whenever its module is imported. `keys` are the functions that run it, directly or through
    calls.
    """

    file: SourceFile
    call: int
    imported: bool
    keys: frozenset[tuple[str, int]]


class Caps:
    """Finds the caps of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    @cached_property
    def all(self) -> list[Cap]:
        """Every cap in the project, with the functions that run it, directly or through calls."""
        found: list[Cap] = []
        for file, index, _ in self.project.external_calls("setNumThreads", "cv2."):
            values = self.project.evaluate_argument(file, index, 0, "nthreads")
            counts = [value.value for value in values or () if isinstance(value, Const)]
            # A count that nothing shows is somebody's decision: `cv2.setNumThreads(cfg.get("opencv_num_threads", 0))`.
            if values and all(isinstance(count, int) and 0 <= count <= 1 for count in counts):
                found.append(self._cap(file, index))
        return found

    @cached_property
    def variable_files(self) -> set[str]:
        """Files that set OpenCV's environment variable at their top level, outside of the main guard."""
        return {
            assignment.file.path
            for assignment in self.project.programs.environment()
            if assignment.name == VARIABLE and assignment.at_import and assignment.value in ("0", "1")
        }

    def _cap(self, file: SourceFile, index: int) -> Cap:
        call = file.calls[index]
        keys: set[tuple[str, int]] = set()
        todo = [(file, call.scope)]
        while todo and not limits.CAP_CALLERS.reached(len(keys)):
            where, scope = todo.pop()
            if (where.path, scope) in keys:
                continue
            keys.add((where.path, scope))
            if scope > 0:
                todo.extend(
                    (caller.file, caller.file.calls[caller.call].scope)
                    for caller in self.world.calls.callers(Function(where, scope))
                    if caller.call >= 0
                )
        return Cap(file, index, self.project.at_module_level(file, index), frozenset(keys))

    def reach(self, loader: Loader, regime: Regime, runs: list[WorkerRun]) -> bool:
        """Whether a cap reaches the loader's workers under a start method.

        A cap that the workers run themselves, or at the top level of a module that they import, always counts; one that
        runs only in the parent is inherited by fork alone.
        """
        run_here = {(run.file.path, run.scope) for run in runs}
        imported = self._imported_by(runs, loader, regime)
        for cap in self.all:
            if cap.keys & run_here:
                return True
            if cap.imported and cap.file.path in imported:
                return True
            if any(scope == 0 and path in imported and self._unguarded(cap, path) for path, scope in cap.keys):
                return True
        if self.variable_files & imported:
            return True
        if regime.method == "fork":
            return self._capped_in_parent(loader)
        return False

    def staying_in_parent(self, loader: Loader) -> Cap | None:
        """The first cap that provably runs in the process that makes the loader, or in one of its parents.

        It runs by calls from the top of a program that leads to the loader, or while the loader's dataset is
        constructed.
        """
        tops = {(path, 0) for path in self.above(loader)}
        making = {key for value in self.project.dataset_objects(loader) for key in self._making(value)}
        return next((cap for cap in self.all if cap.keys & tops or cap.keys & making), None)

    def _making(self, value: Instance) -> Iterable[tuple[str, int]]:
        return self.project.datasets.construction.of(value) if isinstance(value.of, Class) else ()

    def _unguarded(self, cap: Cap, path: str) -> bool:
        """Whether the module at `path` reaches the cap from its top level, outside of the main guard."""
        file = self.world.files[path]
        for index in file.calls_of(0):
            if self.project.at_module_level(file, index):
                if file is cap.file and index == cap.call:
                    return True
                for target in self.world.calls.targets(file, index):
                    if target.function.key in cap.keys:
                        return True
        return False

    def _imported_by(self, runs: list[WorkerRun], loader: Loader, regime: Regime) -> set[str]:
        """Modules whose top level runs in a worker: those that define what it runs, and all that they import.

        Forked workers also have what the program imported; others import the program's module again.
        """
        start = {run.file.path for run in runs}
        if regime.method == "fork":
            start.add(loader.file.path)
        start |= set(self.above(loader))
        return self.project.import_graph.import_closure(start)

    def above(self, loader: Loader) -> list[str]:
        """The files whose module level leads to the loader."""
        return self.project.programs.above(loader.file, loader.file.calls[loader.call].scope)

    def by_framework(self, loader: Loader) -> bool:
        """Whether a framework caps the threads before it makes a loader: always, or because a program calls it to."""
        api = loader.api
        if not api.forks or not api.set_up_by:
            return bool(api.forks)
        own_program = any(True for _ in self.world.called("fromfile"))
        return not own_program or any(True for _ in self.world.called(api.set_up_by))

    def _capped_in_parent(self, loader: Loader) -> bool:
        """Whether a cap is anywhere in the program that contains the loader."""
        around = self.project.programs.loaded(loader.file, loader.call)
        return any(cap.file.path in around for cap in self.all) or bool(self.variable_files & around)
