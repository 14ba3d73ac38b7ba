"""Programs whose workers find another state of NumPy's global generator in each epoch."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dllint.libraries.torch import NUMPY_RESEEDED
from dllint.project.loaders import Loader
from dllint.project.regimes import decisive
from dllint.rules.data.declared_versions import DeclaredVersions, Old
from dllint.rules.data.old_idioms import OldIdioms
from dllint.rules.data.training_loops import TrainingLoops
from dllint.rules.data.worker_seeds import WorkerSeeds

if TYPE_CHECKING:
    from dllint.project.model import Project

_LASTING = ("constant", "worker")
"""The constancy of seeds that a process has in all epochs."""


class ParentStates:
    """Finds the state that NumPy has in the new workers of a loader.

    Since torch 1.9, torch seeds NumPy in each worker. Before, a forked worker has the state of the process that starts
    it, and the import of NumPy in a spawned one takes a seed from the system.
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    def differ(self, loader: Loader, among_workers: bool) -> Old | None:
        """The version of torch that the project runs with, if NumPy then has another state in a loader's workers in
        each epoch, and if asked in each worker, too: those are spawned, or each epoch seeds NumPy with another number
        before it starts them. None if the state does not differ, or if that is not known."""
        old = self._required or self.project.ask(OldIdioms).torch(loader)
        if old is None:
            return None
        forked = any(one.method == "fork" for one in decisive(self.project.regimes(loader)))
        differs = not forked or (not among_workers and self._seeds_in_each_epoch(loader))
        return old if differs else None

    @cached_property
    def _required(self) -> Old | None:
        return self.project.ask(DeclaredVersions).below("torch", NUMPY_RESEEDED)

    def _seeds_in_each_epoch(self, loader: Loader) -> bool:
        loops = self.project.ask(TrainingLoops)
        seeds = self.project.ask(WorkerSeeds)
        around = [*loops.of(loader), *loops.remaking(loader)]
        return bool(around) and all(
            any("numpy" in one.seeder.families and one.constancy not in _LASTING for one in seeds.in_iteration(loop))
            for loop in around
        )
