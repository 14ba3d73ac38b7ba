"""Training loops: each iteration is one epoch, which iterates a loader once.

The loop may be that of a generator which goes on without end, while the function that trains takes its batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name, Starred, Subscript
from dllint.facts.schema import Event, Expr, Region
from dllint.inference import limits
from dllint.inference.values import Frame, Function, Site
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import iterations
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.project.same_process import ways_to
from dllint.rules.data.epoch_numbers import EPOCH, tells_epoch
from dllint.rules.data.training_calls import TrainingCalls
from dllint.rules.memory.backward_passes import STARTS

if TYPE_CHECKING:
    from dllint.project.model import Project

_COUNTING = frozenset({"range", "trange", "count"})
_LOOPS = ("for", "while")
Ways = Mapping[tuple[str, int], Sequence[tuple[SourceFile, int]]]
"""By scope, its calls that lead to the construction of a loader."""


@dataclass(frozen=True)
class BatchLoop:
    """A `for` statement over the batches of a loader, or `batches = iter(loader)` for a loop that takes them by `next`.

    Attributes:
        region: where the batches are taken.
        around: the region whose loops repeat the reading.
        iterable: the loader, as written.
    """

    file: SourceFile
    scope: int
    region: int
    event: Event
    around: int
    iterable: Expr


@dataclass(frozen=True)
class EpochLoop:
    """A training loop that iterates a loader in every iteration.

    Attributes:
        scope: the function that contains the loop.
        region: the loop.
        batches: the loop over the batches inside it, or in a function that it calls.
    """

    file: SourceFile
    scope: int
    region: int
    batches: BatchLoop

    @property
    def loop(self) -> Region:
        return self.file.facts.regions[self.region]

    @property
    def variable(self) -> str:
        """The variable that counts the epochs, as written; "epoch" if there is none."""
        begun = self.batches.event
        here = self.file is self.batches.file and self.scope == self.batches.scope
        if begun.kind != "for" and begun.region != (self.region if here else 0):
            return "epoch"  # The loop counts steps, and takes a new iterator when the last one has ended.
        found = [
            render(event.target, self.file)
            for event in self.file.scopes[self.scope].events
            if event.kind == "for" and event.value == self.loop.expr and event.target is not None
        ]
        return found[0] if found and found[0].isidentifier() and found[0] != "_" else "epoch"


class TrainingLoops:
    """Finds the training loops of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.starting = project.ask(Starting)
        self.calls = project.ask(TrainingCalls)

    def of(self, loader: Loader) -> Iterator[EpochLoop]:
        """The loops over epochs that train with the batches of a loader made before them."""
        made = (loader.file.path, loader.call)
        for loop, frame in self._around_batches(loader, remade=False):
            if self._trains(loop.batches, frame):
                yield loop
        for batches in self._kept.get(made, ()):
            for loop, _ in self._around(loader, batches):
                if self._trains(replace(batches, file=loop.file, scope=loop.scope, region=loop.region), None):
                    yield loop
        ways = ways_to(self.world, loader.file, loader.call)
        for batches, taken in self._endless.get(made, ()):
            region, _ = self._epochs(ways, batches.file, batches.scope, batches.around)
            if region is not None and self._trains(taken, None):
                yield EpochLoop(batches.file, batches.scope, region, batches)

    def remaking(self, loader: Loader) -> Iterator[EpochLoop]:
        """The loops over epochs that make a loader in each epoch, in the same way, and train with its batches."""
        for loop, frame in self._around_batches(loader, remade=True):
            if self._trains(loop.batches, frame) and not tells_epoch(
                self.world, loader, loop.file, loop.scope, loop.loop
            ):
                yield loop

    def _around_batches(self, loader: Loader, remade: bool) -> Iterator[tuple[EpochLoop, Frame | None]]:
        made = (loader.file.path, loader.call)
        for batches in (*self._batch_loops.get(made, ()), *self._iterators.get(made, ())):
            yield from self._around(loader, batches, remade)

    @cached_property
    def _batch_loops(self) -> dict[tuple[str, int], list[BatchLoop]]:
        found: dict[tuple[str, int], list[BatchLoop]] = {}
        for (path, scope), calls in self.calls.by_scope.items():
            file = self.world.files[path]
            around = {region for index in calls for region in file.regions(file.calls[index].region)}
            for event in file.scopes[scope].events_of("for"):
                region = next((one for one in around if self._is_of(file, one, event)), None)
                if region is None or event.value is None:
                    continue
                parent = file.facts.regions[region].parent
                self._add(found, BatchLoop(file, scope, region, event, parent, event.value))
        return found

    @cached_property
    def _iterators(self) -> dict[tuple[str, int], list[BatchLoop]]:
        found: dict[tuple[str, int], list[BatchLoop]] = {}
        for path, scope in self.calls.by_scope:
            file = self.world.files[path]
            for event in file.derived(iterators_made, scope):
                if event.target is None or not self._taken(file, scope, event.target):
                    continue
                loops = (one for one in file.regions(event.region) if file.facts.regions[one].kind in _LOOPS)
                region = next(loops, 0)
                assert isinstance(event.value, CallRef)
                given = file.calls[event.value.index].args[0].value
                self._add(found, BatchLoop(file, scope, region, event, event.region, given))
        return found

    @cached_property
    def _kept(self) -> dict[tuple[str, int], list[BatchLoop]]:
        """The iterators that outlive the function that makes them: `self.batches = iter(self.loader)` for
        `next(self.batches)` in another method, and `batches[task] = iter(loaders[task])` with a parameter `batches`."""
        found: dict[tuple[str, int], list[BatchLoop]] = {}
        making = dict.fromkeys((file, file.calls[index].scope) for file, index in self.world.called("iter"))
        for file, scope in making if self.calls.by_scope else ():
            params = [param.name for param in file.scopes[scope].params]
            cls = file.method_of(scope)
            for event in file.derived(iterators_made, scope):
                kept = event.target
                if not isinstance(kept, (Attribute, Subscript)) or not isinstance(kept.value, Name):
                    continue
                if isinstance(kept, Attribute) and cls is not None and kept.value.id in params[:1]:
                    takers = [one for one in file.children.get(cls, ()) if file.scopes[one].kind == "function"]
                elif isinstance(kept, Subscript) and kept.value.id in params:
                    takers = [scope]
                else:
                    continue
                if any(self._taken(file, one, kept) for one in takers):
                    assert isinstance(event.value, CallRef)
                    given = file.calls[event.value.index].args[0].value
                    self._add(found, BatchLoop(file, scope, event.region, event, event.region, given))
        return found

    @cached_property
    def _endless(self) -> dict[tuple[str, int], list[tuple[BatchLoop, BatchLoop]]]:
        """The loops over batches in generators that a training function takes from, each with the loop that takes."""
        found: dict[tuple[str, int], list[tuple[BatchLoop, BatchLoop]]] = {}
        for (path, scope), calls in self.calls.by_scope.items():
            file = self.world.files[path]
            around = {region for index in calls for region in file.regions(file.calls[index].region)}
            for taken, site in self._taking(file, scope, around):
                for function, frame in self.starting.iterating(taken.iterable, site):
                    for batches, inner in self._repeating(function, frame):
                        for loader, _ in self.starting.gone_through(batches.iterable, inner):
                            found.setdefault((loader.file.path, loader.call), []).append((batches, taken))
        return found

    def _taking(self, file: SourceFile, scope: int, around: set[int]) -> Iterator[tuple[BatchLoop, Site]]:
        """The loops among the regions `around` that take the elements of an iterable, by `for` or by `next`."""
        for event in file.scopes[scope].events_of("for"):
            region = next((one for one in around if self._is_of(file, one, event)), None)
            if region is not None and event.value is not None:
                site = Site(file, scope, event.region, event.span.start, None)
                yield BatchLoop(file, scope, region, event, event.region, event.value), site
        for index in file.calls_of(scope):
            call = file.calls[index]
            if call.func != Name("next") or not call.args:
                continue
            region = next((one for one in file.regions(call.region) if file.facts.regions[one].kind in _LOOPS), None)
            if region in around and region is not None:
                event = Event("for", call.span, call.region, None, call.args[0].value, None, None)
                taken = BatchLoop(file, scope, region, event, file.facts.regions[region].parent, call.args[0].value)
                yield taken, self.world.call_site(file, index, None)

    def _repeating(self, function: Function, frame: Frame | None) -> Iterator[tuple[BatchLoop, Site]]:
        """The loops of a generator function that yield what they read, inside another loop."""
        file, scope = function.file, function.scope
        events = file.scopes[scope].events
        yields = [event for event in events if event.kind == "yield"]
        made = file.derived(iterators_made, scope) if yields else ()
        for event in events:
            if not any(file.facts.regions[one].kind in _LOOPS for one in file.regions(event.region)):
                continue
            site = Site(file, scope, event.region, event.span.start, frame)
            if event in made and event.target is not None and self._taken(file, scope, event.target):
                assert isinstance(event.value, CallRef)
                given = file.calls[event.value.index].args[0].value
                yield BatchLoop(file, scope, event.region, event, event.region, given), site
            if event.kind == "yield" and isinstance(event.value, Starred):
                yield BatchLoop(file, scope, event.region, event, event.region, event.value.value), site
            elif event.kind == "for" and event.value is not None and event.detail != "comp":
                inside = (one for given in yields for one in file.regions(given.region))
                region = next((one for one in inside if self._is_of(file, one, event)), None)
                if region is not None:
                    yield BatchLoop(file, scope, region, event, event.region, event.value), site

    @staticmethod
    def _taken(file: SourceFile, scope: int, iterator: Expr) -> bool:
        """Whether a function takes the elements of an iterator by `next(iterator)` or `iterator.next()`."""
        for index in file.calls_of(scope):
            call = file.calls[index]
            taken = call.func == Name("next") and bool(call.args) and call.args[0].value == iterator
            if taken or call.func == Attribute(iterator, "next"):
                return True
        return False

    def _add(self, found: dict[tuple[str, int], list[BatchLoop]], batches: BatchLoop) -> None:
        event = batches.event
        site = Site(batches.file, batches.scope, event.region, event.span.start, None)
        through = {(one.file.path, one.call) for one, _ in self.starting.gone_through(batches.iterable, site)}
        for loader in sorted(through):
            found.setdefault(loader, []).append(batches)

    @staticmethod
    def _is_of(file: SourceFile, region: int, event: Event) -> bool:
        entry = file.facts.regions[region]
        return (
            entry.kind == "for" and (entry.parent, entry.span) == (event.region, event.span) and event.detail != "comp"
        )

    def _around(
        self, loader: Loader, batches: BatchLoop, remade: bool = False
    ) -> Iterator[tuple[EpochLoop, Frame | None]]:
        """The loops over epochs around a loop over batches, also in callers, each with the activation of the
        function that iterates the batches. `remade`: those that make the loader in each epoch, instead of the others.
        """
        file, scope = batches.file, batches.scope
        made = ways_to(self.world, loader.file, loader.call, self._frames(loader, batches) or (None,))
        region, stop = self._epochs(made, file, scope, batches.around, remade)
        if region is not None:
            yield EpochLoop(file, scope, region, batches), None
        if stop or file.scopes[scope].kind != "function":
            return
        for caller in self.world.calls.callers(Function(file, scope)):
            if caller.call < 0 or caller.guessed or not self._goes_through(loader, batches, caller.frame):
                continue
            for where, around, outer in self._upward(made, caller.file, caller.call, 0, remade):
                yield EpochLoop(where, around, outer, batches), caller.frame

    def _upward(
        self, made: Ways, file: SourceFile, index: int, depth: int, remade: bool
    ) -> Iterator[tuple[SourceFile, int, int]]:
        call = file.calls[index]
        region, stop = self._epochs(made, file, call.scope, call.region, remade)
        if region is not None:
            yield file, call.scope, region
        if stop or limits.TRAINING_DEPTH.exceeded(depth) or file.scopes[call.scope].kind != "function":
            return
        for caller in self.world.calls.callers(Function(file, call.scope)):
            if caller.call >= 0 and not caller.guessed:
                yield from self._upward(made, caller.file, caller.call, depth + 1, remade)

    def _epochs(
        self, made: Ways, file: SourceFile, scope: int, region: int, remade: bool = False
    ) -> tuple[int | None, bool]:
        """The innermost loop over epochs around a region, and whether to stop the search.

        The search stops when a loop is found, or when the code around makes a new loader each time by one of the calls
        `made`. With `remade`, it looks for the loop that does.
        """
        calls = [where.calls[index] for where, index in made.get((file.path, scope), ()) if where is file]
        for index in file.regions(region):
            loop = file.facts.regions[index]
            if loop.kind not in _LOOPS:
                continue
            within = [call.region for call in calls if file.encloses(index, call.region)]
            inside = bool(within)
            if inside and not remade:
                # What only some epochs make replaces a loader that others keep.
                if len(within) == len(calls) or any(self._is_always(file, one, index) for one in within):
                    return None, True
                inside = False
            if self._counts(file, scope, loop):
                # Another loop may make a loader of other data each time: one for each part, or each task.
                if inside is not remade or (remade and not self._names_epochs(file, scope, loop)):
                    return None, True
                site = Site(file, scope, loop.parent, loop.span.start, None)
                once = loop.expr is not None and iterations(self.project.datasets, loop.expr, site) == 1
                return None if once else index, True
        return None, bool(calls) and not remade

    @staticmethod
    def _is_always(file: SourceFile, region: int, loop: int) -> bool:
        """Whether no condition stands between a region and the loop around it."""
        return all(file.facts.regions[one].kind != "if" for one in file.regions(region) if file.encloses(loop, one))

    @classmethod
    def _counts(cls, file: SourceFile, scope: int, loop: Region) -> bool:
        """Whether a loop repeats its body: over epochs by name, over numbers, or while a condition is true."""
        if loop.kind == "while" or loop.expr is None:
            return True
        kept = [event.value for event in file.scopes[scope].events_of("assign") if event.target == loop.expr]
        for part in (part for one in (loop.expr, *kept) if one is not None for part in walk(one, file)):
            if isinstance(part, CallRef) and last_name(file.calls[part.index].func) in _COUNTING:
                return True
        return cls._names_epochs(file, scope, loop)

    @staticmethod
    def _names_epochs(file: SourceFile, scope: int, loop: Region) -> bool:
        """Whether what a `for` loop counts, or the number up to which it counts, is named after epochs."""
        if loop.kind != "for" or loop.expr is None:
            return False
        counted = isinstance(loop.expr, CallRef) and last_name(file.calls[loop.expr.index].func) in _COUNTING
        counting = (
            event.target
            for event in file.scopes[scope].events_of("for")
            if event.target is not None and event.value == loop.expr and event.detail != "comp"
        )
        named = (*counting, loop.expr) if counted else counting
        return any(EPOCH.search(render(one, file)) for one in named)

    def _frames(self, loader: Loader, batches: BatchLoop) -> set[Frame | None]:
        """The activations that make the objects of a loader whose batches a loop takes."""
        event = batches.event
        site = Site(batches.file, batches.scope, event.region, event.span.start, None)
        found = self.starting.gone_through(batches.iterable, site)
        return {frame for one, frame in found if one.call == loader.call and one.file is loader.file}

    def _goes_through(self, loader: Loader, batches: BatchLoop, frame: Frame) -> bool:
        event = batches.event
        site = Site(batches.file, batches.scope, event.region, event.span.start, frame)
        return any(
            one.call == loader.call and one.file is loader.file
            for one, _ in self.starting.gone_through(batches.iterable, site)
        )

    def _trains(self, batches: BatchLoop, frame: Frame | None) -> bool:
        """Whether the loop over the batches, or a function that it calls, computes gradients."""
        seen: set[tuple[str, int]] = set()
        todo: list[tuple[SourceFile, int, int, Frame | None, int]] = [
            (batches.file, batches.scope, batches.region, frame, 0)
        ]
        while todo:
            file, scope, region, activation, depth = todo.pop(0)
            for index in file.calls_of(scope):
                call = file.calls[index]
                if not file.encloses(region, call.region):
                    continue
                if self.world.impossible(self.world.call_site(file, index, activation)):
                    continue
                if last_name(call.func) in STARTS:
                    return True
                if limits.TRAINING_DEPTH.exceeded(depth) or limits.TRAINING_FUNCTIONS.reached(len(seen)):
                    continue
                for target in self.world.calls.targets(file, index, activation):
                    if not target.guessed and target.function.key not in seen:
                        seen.add(target.function.key)
                        todo.append((target.function.file, target.function.scope, 0, target.frame, depth + 1))
        return False


def iterators_made(file: SourceFile, scope: int) -> list[Event]:
    """Return the assignments of `iter(rows)` in a scope."""
    found = []
    for event in file.scopes[scope].events_of("assign"):
        call = file.calls[event.value.index] if isinstance(event.value, CallRef) else None
        if call is not None and call.func == Name("iter") and len(call.args) == 1:
            found.append(event)
    return found
