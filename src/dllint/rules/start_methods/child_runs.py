"""The functions that run in child processes: in the workers of a loader, or in the processes that a launch starts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.inference.values import Frame
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.project.same_process import Reached, reach

if TYPE_CHECKING:
    from dllint.project.launches import Launch
    from dllint.project.loaders import Loader
    from dllint.project.model import Project

PICKLING = ("multiprocessing.", "torch.multiprocessing.", "concurrent.futures.", "pebble.")
"""The launchers that pickle a function by its name; others, such as loky and multiprocess, send functions of the main
program whole."""


class Run(NamedTuple):
    """A function that runs in a child process, with the calls that lead to it."""

    file: SourceFile
    scope: int
    frame: Frame | None
    hops: tuple[Hop, ...]


class Children(NamedTuple):
    """Child processes of one kind.

    Attributes:
        runs: the functions that they run.
        own: the functions that may run in them or, for processes, in others beside them, such as the pool's
            initializer: what these set needs no change from the main program.
        loaded: the files that their programs import.
        start: the file and the call of their loader or launch.
        started_by_call: whether a call of the function with that call starts them; workers start where a loop begins.
    """

    runs: list[Run]
    own: frozenset[tuple[str, int]]
    loaded: frozenset[str]
    start: tuple[SourceFile, int]
    started_by_call: bool = True


class ChildRuns:
    """Finds the functions that run in child processes of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._of_launches: dict[int, list[Run]] = {}

    def of_loader(self, loader: Loader) -> Children:
        """The workers of a loader."""
        runs = [Run(one.file, one.scope, one.frame, one.hops) for one in self.project.worker_runs(loader)]
        own = frozenset((run.file.path, run.scope) for run in runs)
        return Children(runs, own, self._loaded(loader.file, loader.call), (loader.file, loader.call), False)

    def of_launch(self, launch: Launch) -> Children:
        """The processes that a launch starts; they run nothing that only a guess leads to."""
        start, runs = (launch.file, launch.call), self._runs(launch)
        # Among many launches, the walk through the processes of all of them may end before it comes to these.
        own = self._in_processes.union((run.file.path, run.scope) for run in runs)
        return Children(runs, own, self._loaded(*start), start)

    def _runs(self, launch: Launch) -> list[Run]:
        found = self._of_launches.get(id(launch))
        if found is None:
            starts = [Reached(one.function.file, one.function.scope, one.frame) for one in launch.targets]
            by_name = launch.api.startswith(PICKLING) and not launch.package
            known = by_name and not any(one.guessed for one in launch.targets)
            reached = reach(self.world, starts, guesses=False) if known else ()
            found = [Run(one.file, one.scope, one.frame, one.hops()) for one in reached]
            self._of_launches[id(launch)] = found
        return found

    @cached_property
    def _in_processes(self) -> frozenset[tuple[str, int]]:
        """The functions that may run in the processes of any launch, by a guess too."""
        launches = self.project.launches.all()
        starts = [Reached(one.function.file, one.function.scope, None) for launch in launches for one in launch.targets]
        return frozenset((one.file.path, one.scope) for one in reach(self.world, starts))

    def _loaded(self, file: SourceFile, index: int) -> frozenset[str]:
        return frozenset(self.project.programs.loaded(file, index))
