"""Loops over epochs that go through other loaders beside the one that they train with: those of the validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from dllint.inference import limits
from dllint.inference.values import Frame, Site
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.project.same_process import ways_to
from dllint.rules.data.training_loops import BatchLoop, EpochLoop, TrainingLoops


class ValidationLoops:
    """Finds the validation loops of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def of(self, loader: Loader) -> Iterator[EpochLoop]:
        """A loop over epochs that trains with other batches, and goes through this loader in them, too."""
        one = self._found.get((loader.file.path, loader.call))
        if one is not None:
            yield one

    @cached_property
    def _found(self) -> dict[tuple[str, int], EpochLoop]:
        training: dict[tuple[str, int, int], set[tuple[str, int]]] = {}
        loops: dict[tuple[str, int, int], EpochLoop] = {}
        for loader in self.project.loaders:
            for one in self.project.ask(TrainingLoops).of(loader):
                key = (one.file.path, one.scope, one.region)
                training.setdefault(key, set()).add((loader.file.path, loader.call))
                loops.setdefault(key, one)
        found: dict[tuple[str, int], EpochLoop] = {}
        for key, loop in loops.items():
            for batches, read in self._read_in(loop):
                for made in sorted(read - training[key]):
                    if made not in found and not self._is_made_in(loop, made):
                        found[made] = replace(loop, batches=batches)
        return found

    def _read_in(self, loop: EpochLoop) -> Iterator[tuple[BatchLoop, set[tuple[str, int]]]]:
        """The `for` statements that an iteration of a loop runs, each with the loaders that it goes through."""
        for file, scope, region, frame in self._run_in(loop):
            for event in file.scopes[scope].events_of("for"):
                if event.value is not None and event.detail != "comp" and file.encloses(region, event.region):
                    site = Site(file, scope, event.region, event.span.start, frame)
                    through = self.project.ask(Starting).gone_through(event.value, site)
                    batches = BatchLoop(file, scope, event.region, event, event.region, event.value)
                    yield batches, {(one.file.path, one.call) for one, _ in through}

    def _run_in(self, loop: EpochLoop) -> Iterator[tuple[SourceFile, int, int, Frame | None]]:
        """The function of a loop, and those that it calls in each iteration in their activations, each with the region
        that counts."""
        seen: set[tuple[tuple[str, int], Frame]] = set()
        todo: list[tuple[SourceFile, int, int, Frame | None, int]] = [(loop.file, loop.scope, loop.region, None, 0)]
        while todo:
            file, scope, region, frame, depth = todo.pop(0)
            yield file, scope, region, frame
            if limits.TRAINING_DEPTH.exceeded(depth) or limits.TRAINING_FUNCTIONS.reached(len(seen)):
                continue
            for index in file.calls_of(scope):
                if not file.encloses(region, file.calls[index].region):
                    continue
                for target in self.world.calls.targets(file, index, frame):
                    inner = (target.function.key, target.frame)
                    if not target.guessed and inner not in seen:
                        seen.add(inner)
                        todo.append((target.function.file, target.function.scope, 0, target.frame, depth + 1))

    def _is_made_in(self, loop: EpochLoop, made: tuple[str, int]) -> bool:
        """Whether the iterations of a loop make a loader themselves."""
        ways = ways_to(self.world, self.world.files[made[0]], made[1]).get((loop.file.path, loop.scope), ())
        calls = [where.calls[index] for where, index in ways if where is loop.file]
        return any(loop.file.encloses(loop.region, call.region) for call in calls)
