"""CUDA across a fork: how workers and forked processes use it, and which call initialized it in their parent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute
from dllint.inference.values import Frame, Function, Instance, const
from dllint.libraries.facets import CudaApi
from dllint.libraries.index import LAUNCHERS
from dllint.linking.conditions import in_other_halves, render
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import loops
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.project.recorded_processes import Recorded
from dllint.project.same_process import Reached, reach, runs_when_imported, stepped, ways_to
from dllint.project.worker_code import called_names
from dllint.rules.start_methods.ancestors import Ancestor, Ancestors
from dllint.rules.start_methods.cuda import Cuda
from dllint.rules.start_methods.cuda_conditions import without_gpu
from dllint.rules.start_methods.default_device import DefaultDevice, Setting
from dllint.rules.start_methods.loaded_modules import loaded_by
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_FROM_GPU = frozenset({"cpu", "numpy", "tolist", "item"})
"""Methods after which a worker may send something else than the tensor on the GPU."""


def error_text(unnoticed: bool) -> str:
    """The error in a forked process: the driver's own where PyTorch noticed no initialization."""
    if unnoticed:
        return "CUDA error: initialization error"
    return "RuntimeError: Cannot re-initialize CUDA in forked subprocess"


@dataclass(frozen=True)
class CudaUse:
    """A function that a worker or a forked process runs, with the first of its calls that use CUDA. `target` is the
    function that a launch runs and that leads to it."""

    reached: Reached
    call: int
    entry: str
    certain: bool
    unnoticed: bool = False
    target: Function | None = None

    @property
    def span(self) -> Span:
        return self.reached.file.calls[self.call].span


class Poison(NamedTuple):
    """A call that initializes CUDA in a process before it forks.

    Attributes:
        certain: it does so on every machine with a GPU.
        unnoticed: PyTorch does not notice it, see `CudaApi`.
    """

    file: SourceFile
    span: Span
    text: str
    certain: bool = True
    unnoticed: bool = False


class CudaForks:
    """Finds the processes that are forked after CUDA was initialized, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.cuda = project.ask(Cuda)
        self._ancestors = Ancestors(project)
        self._used: dict[tuple[str, int, Frame | None, bool], list[tuple[Reached, int, CudaApi]]] = {}
        self._poisons: dict[tuple[str, int], Poison | None] = {}
        self._launch_poisons: dict[object, Poison | None] = {}

    # Children

    def worker_uses(self, loader: Loader, default: Setting | None = None) -> Iterator[CudaUse]:
        """Uses of CUDA in code that the loader's workers run, one per function, evaluated for the loader's own
        datasets.

        `default`: the call that makes CUDA the default device, which forked workers inherit.
        """
        runs = list(self.project.worker_runs(loader))
        if default is None and not any(self.cuda.may_use(run.file, run.scope, run.frame) for run in runs):
            return
        objects = self.project.dataset_objects(loader)
        recorded = Recorded(self.world, lambda: ((run.file.path, run.scope) for run in runs))
        seen: set[tuple[str, int]] = set()
        for run in runs:
            if run.hops:
                continue
            receiver = run.frame.receiver if run.frame is not None else None
            same = [value for value in objects if isinstance(receiver, Instance) and value.of == receiver.of]
            frames: list[Frame | None] = [*(self.world.receiver_frame(value) for value in same)]
            if not same or (isinstance(receiver, Instance) and receiver.call < 0):
                frames.append(run.frame)
            for frame in frames:
                yield from self._uses(Reached(run.file, run.scope, frame), run.entry, seen, recorded, default)

    def target_uses(self, launch: Launch) -> Iterator[CudaUse]:
        """Uses of CUDA in code that the processes of a launch run."""
        seen: set[tuple[str, int]] = set()
        for target in launch.targets:
            start = Reached(target.function.file, target.function.scope, target.frame)
            for use in self._uses(
                start, target.function.name, seen, Recorded(self.world, partial(self._run_by, start))
            ):
                yield replace(use, target=target.function)

    def _run_by(self, start: Reached) -> Iterator[tuple[str, int]]:
        return ((one.file.path, one.scope) for one in reach(self.world, [start]))

    def _uses(
        self,
        start: Reached,
        entry: str,
        seen: set[tuple[str, int]],
        recorded: Recorded,
        default: Setting | None = None,
    ) -> Iterator[CudaUse]:
        key = (start.file.path, start.scope, start.frame, default is not None)
        if key not in self._used:
            self._used[key] = [
                (reached, index, api)
                for reached in reach(self.world, [start], partial(self._followed, recorded), guesses=False)
                for index, api in islice(self._own_uses(recorded, reached, key[-1]), 1)
            ]
        for reached, index, api in self._used[key]:
            if (reached.file.path, reached.scope) not in seen:
                seen.add((reached.file.path, reached.scope))
                certain = self.cuda.is_certain(reached.file, index, reached.frame)
                yield CudaUse(reached, index, entry, certain, api.unnoticed)

    def _own_uses(self, recorded: Recorded, reached: Reached, on_default: bool) -> Iterator[tuple[int, CudaApi]]:
        for index, api in self.cuda.all_uses(reached.file, reached.scope, reached.frame, on_default):
            if not recorded.only(reached.file, index, reached.frame):
                yield index, api

    def _followed(self, recorded: Recorded, reached: Reached, index: int) -> bool:
        # The call of a module on the GPU fails itself.
        file, frame = reached.file, reached.frame
        return (
            self.cuda.wanted(file, index, frame)
            and self.cuda.modules.used_by(file, index, frame) is None
            and not recorded.only(file, index, frame)
        )

    # The parent

    def forks(self, loader: Loader) -> bool:
        """Whether the loader's workers can be forked.

        The default start method does not count if the loader is only reached in processes launched by another method.
        """
        regimes = [regime for regime in self.project.regimes(loader) if regime.method == "fork"]
        if self._without_gpu(loader.file, loader.call):
            return False
        if not regimes or any(regime.shown for regime in regimes):
            return bool(regimes)
        if not any(regime.source == "inherited" for regime in self.project.regimes(loader)):
            return True
        call = loader.file.calls[loader.call]
        return any(ancestor.scope == 0 for ancestor in self._ancestors.of(loader.file, call.scope, loader.call, None))

    def launch_forks(self, launch: Launch) -> bool:
        """Whether the processes of a launch are forked, and not by one of several methods that the program selects
        from.

        A program that selects a method forks only if it does not use the GPU: that is why programs select one.
        Processes that another library starts for its own devices, such as TPUs, do not use CUDA either.
        """
        api = LAUNCHERS.get(launch.api)
        if (api is not None and not api.cuda) or self._without_gpu(launch.file, launch.call):
            return False
        forking = [one for one in self.project.ask(Starting).methods(launch) if one.name == "fork"]
        scope = launch.file.calls[launch.call].scope
        # Processes that launches start by spawn start their own in the same way.
        by_default = bool(forking) and "fork" not in launch.methods and all(one.arrival is None for one in forking)
        if not forking or (by_default and self._ancestors.is_only_spawned(launch.file, scope)):
            return False
        there = self._launches.get((launch.file.path, launch.call), [])
        same = [one for one in there if (one.through, one.frame) == (launch.through, launch.frame)]
        if len({method for one in same for method in one.methods}) > 1:
            return False
        return len({method for one in there for method in one.methods}) < 2 or self._is_told_to_fork(launch.frame)

    def _without_gpu(self, file: SourceFile, index: int) -> bool:
        call = file.calls[index]
        return without_gpu(self.world.symbols.atoms(file, call.scope, call.region))

    @cached_property
    def _launches(self) -> dict[tuple[str, int], list[Launch]]:
        found: dict[tuple[str, int], list[Launch]] = {}
        for one in self.project.launches.all():
            found.setdefault((one.file.path, one.call), []).append(one)
        return found

    def _is_told_to_fork(self, frame: Frame | None) -> bool:
        """Whether a call passes "fork" as an argument; for any other argument, the function selects the method
        itself."""
        while frame is not None:
            if frame.actuals is not None:
                given = (*frame.actuals.positional, *frame.actuals.keywords.values())
                if any(const("fork") in self.world.values.passed(actual) for actual in given):
                    return True
            frame = frame.parent
        return False

    def default_device(self, loader: Loader) -> Setting | None:
        """The call that makes CUDA the default device in the process that starts the loader's workers."""
        return self.project.ask(DefaultDevice).cuda_at(loader.file, loader.call)

    def poison_of_loader(self, loader: Loader) -> Poison | None:
        """The call that has initialized CUDA in the process that starts the loader's workers, before it starts them."""
        key = (loader.file.path, loader.call)
        if key not in self._poisons:
            self._poisons[key] = self._of_loader(loader)
        return self._poisons[key]

    def _of_loader(self, loader: Loader) -> Poison | None:
        call = loader.file.calls[loader.call]
        ancestors = list(self._ancestors.of(loader.file, call.scope, loader.call, loader))
        chosen = (
            one.source in ("explicit", "inherited") for one in self.project.regimes(loader) if one.method == "fork"
        )
        if not any(chosen):
            # What runs only in spawned processes is not in the one that forks: the loader's workers are spawned there.
            ancestors = [one for one in ancestors if not self._ancestors.is_only_spawned(one.file, one.scope)]
        found = self._poison(ancestors)
        default = self.default_device(loader) if found is None else None
        if default is not None:
            # torch/utils/data/dataloader.py, `_BaseDataLoaderIter.__init__`: `torch.empty(()).random_()`
            text = "this makes CUDA the default device, and iterating the DataLoader draws a seed on it"
            return Poison(default.file, default.span, text, default.unconditional)
        if found is None and loader.flag("pin_memory"):
            # torch/utils/data/dataloader.py, `_BaseDataLoaderIter.__init__`, before it starts the workers
            return Poison(loader.file, loader.span, "iterating it initializes CUDA, because of `pin_memory=True`")
        return self._by_batches(loader, ancestors) if found is None else found

    def _by_batches(self, loader: Loader, ancestors: list[Ancestor]) -> Poison | None:
        """The first epoch of a loader whose workers send tensors on the GPU, where a loop forks them again: receiving
        one initializes CUDA in the parent (torch/multiprocessing/reductions.py, `rebuild_cuda_tensor`)."""
        if not any(loops(one.file, one.again) for one in ancestors):
            return None
        runs = self.project.worker_runs(loader)
        if called_names(runs) & _FROM_GPU:
            return None
        for run in runs:
            for index in run.file.calls_of(run.scope) if not run.hops else ():
                if self.cuda.judge(run.file, index, run.frame).places and self.cuda.wanted(run.file, index, run.frame):
                    text = "its workers send tensors on the GPU, and the first one initializes CUDA here"
                    return Poison(loader.file, loader.span, text, self.cuda.is_certain(run.file, index, run.frame))
        return None

    def poison_of_launch(self, launch: Launch, target: Function | None = None) -> Poison | None:
        """The call that has initialized CUDA in the process that makes a launch, before it does.

        Where the launch runs one of several functions, as in a class around a pool, a `target` is one of them: only
        those programs count that give it to the launch.
        """
        shared = target is not None and len({one.function.key for one in launch.targets}) > 1
        key = (launch.file.path, launch.call, launch.through, target if shared else None)
        if key not in self._launch_poisons:
            above = self._above(launch)
            if target is not None and shared:
                above = self._giving(target, above)
            self._launch_poisons[key] = self._poison(above)
        return self._launch_poisons[key]

    def _giving(self, target: Function, above: list[Ancestor]) -> list[Ancestor]:
        """Those of the scopes around a launch that lead to a call which is given the target, or that it leads to."""
        giving: set[tuple[str, int]] = set()
        for file in self.project.files:
            for index, call in enumerate(file.calls):
                if any(last_name(one.value) == target.name for one in call.args):
                    giving |= ways_to(self.world, file, index).keys()
        if not giving:
            return above
        kept = []
        for one in above:
            inside = next(iter(one.file.calls_of(one.scope)), None)
            around = (
                ways_to(self.world, one.file, inside).keys() if inside is not None else {(one.file.path, one.scope)}
            )
            if not giving.isdisjoint(around):
                kept.append(one)
        return kept

    def runs_of(self, launch: Launch) -> list[Reached]:
        """The functions that the processes of a launch run."""
        starts = [Reached(one.function.file, one.function.scope, one.frame) for one in launch.targets]
        return list(reach(self.world, starts, guesses=False))

    def calls_before(self, launch: Launch) -> Iterator[tuple[Reached, int]]:
        """The calls that a process makes before a launch forks it: those around the launch, nearest first, then those
        of the functions that they call."""
        ancestors = self._above(launch)
        for ancestor in ancestors:
            here = Reached(ancestor.file, ancestor.scope, None)
            yield from (
                (here, index) for index in here.file.calls_of(here.scope) if self._ancestors.before(ancestor, index)
            )
        for reached in reach(self.world, self._steps(ancestors), guesses=False):
            yield from ((reached, index) for index in reached.file.calls_of(reached.scope))

    def _above(self, launch: Launch) -> list[Ancestor]:
        index = self._forking_call(launch)
        scope = launch.file.calls[index].scope
        made = tuple(self.world.symbols.atoms(launch.file, scope, launch.file.calls[launch.call].region))
        return list(self._ancestors.of(launch.file, scope, index, None, launch.through, made))

    def _forking_call(self, launch: Launch) -> int:
        """The call in the launch's file at which its processes fork: `start()` of a Process, or the construction of
        a pool."""
        started = [index for file, index in self.project.ask(Starting).started(launch) if file is launch.file]
        if launch.api.endswith("Process") and started:
            return max(started)
        func = launch.file.calls[launch.call].func
        if isinstance(func, Attribute):
            site = self.world.call_site(launch.file, launch.call, launch.frame)
            for value in self.world.values.evaluate(func.value, site):
                if isinstance(value, Instance) and value.file is launch.file and value.call >= 0:
                    return value.call
        return launch.call

    def _poison(self, ancestors: list[Ancestor]) -> Poison | None:
        """The first certain poisoning call; if none is certain, the first one."""
        first: Poison | None = None
        ancestors = [one for one in ancestors if not without_gpu(one.conditions)]
        for one in chain(self._near(ancestors), self._called(ancestors), self._imported(ancestors)):
            if one.certain:
                return one
            first = first or one
        return first

    def _near(self, ancestors: list[Ancestor]) -> Iterator[Poison]:
        """The poisoning calls in the ancestors themselves, before their positions."""
        for ancestor in ancestors:
            for index, api in self.cuda.calls(ancestor.file, ancestor.scope, None):
                if api.poisons and self._ancestors.before(ancestor, index):
                    yield self._described(ancestor.file, index, None, api)

    def _called(self, ancestors: list[Ancestor]) -> Iterator[Poison]:
        """The poisoning calls in functions that the ancestors call before their positions."""
        forking = {(one.file.path, one.scope) for one in ancestors}
        for reached in reach(self.world, self._steps(ancestors)):
            if any(self._is_choice(file, index, forking) for file, index, _ in reached.calls):
                continue
            for index, api in self.cuda.calls(reached.file, reached.scope, reached.frame):
                if api.poisons:
                    yield self._described(reached.file, index, reached.frame, api)

    def _is_choice(self, file: SourceFile, index: int, forking: set[tuple[str, int]]) -> bool:
        """Whether a call of several functions, or the one in the other half of an `if`, runs instead what forks: a
        configuration names one of several classes, and the object of one run is not that of another."""
        call = file.calls[index]
        for other in file.calls_of(call.scope):
            keys = (
                self.world.calls.targets(file, other).keys
                if other == index or self._excludes(file, index, other)
                else ()
            )
            if not forking.isdisjoint(keys) and (other != index or not forking.issuperset(keys)):
                return True
        return False

    @staticmethod
    def _excludes(file: SourceFile, one: int, other: int) -> bool:
        return in_other_halves(file, file.calls[one].region, file.calls[other].region)

    def _steps(self, ancestors: list[Ancestor]) -> Iterator[Reached]:
        """The functions that the ancestors call before their positions."""
        for ancestor in ancestors:
            here = Reached(ancestor.file, ancestor.scope, None)
            for index in ancestor.file.calls_of(ancestor.scope):
                if self._ancestors.before(ancestor, index):
                    for target in self.world.calls.targets(ancestor.file, index):
                        yield stepped(here, index, target)

    def _imported(self, ancestors: list[Ancestor]) -> Iterator[Poison]:
        """The poisoning calls at the top level of files that the program imports."""
        tops: dict[str, None] = {}
        for ancestor in ancestors:
            tops.update(
                dict.fromkeys((ancestor.file.path, *self.project.programs.above(ancestor.file, ancestor.scope)))
            )
        closed = (self.world.files.get(one) for one in sorted(self.project.import_graph.import_closure(tops)))
        found = [
            (file, index, api)
            for file in closed
            if file is not None
            for index, api in self.cuda.calls(file, 0, None)
            if api.poisons and runs_when_imported(file, file.calls[index].region)
        ]
        here = [Reached(one.file, one.scope, None) for one in ancestors]
        loaded = loaded_by(self.world, tops, [*here, *reach(self.world, self._steps(ancestors))]) if found else set()
        for file, index, api in found:
            if file.path in loaded:
                yield self._described(file, index, None, api)

    def _described(self, file: SourceFile, index: int, frame: Frame | None, api: CudaApi) -> Poison:
        call = file.calls[index]
        text = f"`{render(call.func, file)}` initializes CUDA here"
        return Poison(file, call.span, text, self.cuda.is_certain(file, index, frame), api.unnoticed)
