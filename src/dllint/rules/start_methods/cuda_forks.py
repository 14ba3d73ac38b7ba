"""CUDA across a fork: how workers and forked processes use it, and which call initialized it in their parent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, islice
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, IfExp, Name
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.edges import Caller
from dllint.inference.origins import Origins
from dllint.inference.values import Actual, External, Frame, Function, Instance, Site, Value, Values, const
from dllint.libraries.contents import held_by
from dllint.libraries.facets import CudaApi
from dllint.libraries.index import LAUNCHERS, WRAPPERS, canonical
from dllint.linking.conditions import Atom, contradict, render
from dllint.linking.derivations import names_read
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop
from dllint.project.counting import loops
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.project.same_process import Reached, reach, runs_when_imported, stepped
from dllint.rules.start_methods.cuda import Cuda
from dllint.rules.start_methods.default_device import DefaultDevice, Setting
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_END = (1 << 30, 0)
_FROM_GPU = frozenset({"cpu", "numpy", "tolist", "item"})
"""Methods after which a worker may send something else than the tensor on the GPU."""
TENSOR_DATASET = "torch.utils.data.TensorDataset"


def error_text(unnoticed: bool) -> str:
    """The error in a forked process: the driver's own where PyTorch noticed no initialization."""
    if unnoticed:
        return "CUDA error: initialization error"
    return "RuntimeError: Cannot re-initialize CUDA in forked subprocess"


@dataclass(frozen=True)
class CudaUse:
    """A function that a worker or a forked process runs, with the first of its calls that use CUDA."""

    reached: Reached
    call: int
    entry: str
    certain: bool
    unnoticed: bool = False

    @property
    def span(self) -> Span:
        return self.reached.file.calls[self.call].span


class OnGpu(NamedTuple):
    """An object on the GPU that forked processes read: an attribute of a dataset, or an argument as written."""

    name: str
    file: SourceFile
    span: Span
    statement: Span
    hops: tuple[Hop, ...] = ()


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


@dataclass(frozen=True)
class _Ancestor:
    """A scope that runs in the forking process, up to the position `until` (line, column).

    `region` is the region of that position, and `conditions` are those on the path from there to the fork. Whatever is
    inside `call` is evaluated before the call. `again` is the region whose loops repeat the fork: persistent workers
    are forked once, however often their loader is iterated.
    """

    file: SourceFile
    scope: int
    until: tuple[int, int]
    region: int
    call: Span
    again: int
    conditions: tuple[Atom, ...] = ()


class CudaForks:
    """Finds the processes that are forked after CUDA was initialized, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.origins = Origins(project.world)
        self.cuda = project.ask(Cuda)
        self._read: dict[tuple[str, int], set[str]] = {}
        self._used: dict[tuple[str, int, Frame | None, bool], list[tuple[Reached, int, CudaApi]]] = {}
        self._poisons: dict[tuple[str, int], Poison | None] = {}

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
                yield from self._uses(Reached(run.file, run.scope, frame), run.entry, seen, default)

    def target_uses(self, launch: Launch) -> Iterator[CudaUse]:
        """Uses of CUDA in code that the processes of a launch run."""
        seen: set[tuple[str, int]] = set()
        for target in launch.targets:
            start = Reached(target.function.file, target.function.scope, target.frame)
            yield from self._uses(start, target.function.name, seen)

    def _uses(
        self, start: Reached, entry: str, seen: set[tuple[str, int]], default: Setting | None = None
    ) -> Iterator[CudaUse]:
        key = (start.file.path, start.scope, start.frame, default is not None)
        if key not in self._used:
            self._used[key] = [
                (reached, index, api)
                for reached in reach(self.world, [start], self._followed, guesses=False)
                for index, api in islice(self.cuda.all_uses(reached.file, reached.scope, reached.frame, key[-1]), 1)
            ]
        for reached, index, api in self._used[key]:
            if (reached.file.path, reached.scope) not in seen:
                seen.add((reached.file.path, reached.scope))
                certain = self.cuda.is_certain(reached.file, index, reached.frame)
                yield CudaUse(reached, index, entry, certain, api.unnoticed)

    def _followed(self, reached: Reached, index: int) -> bool:
        # The call of a module on the GPU fails itself.
        file, frame = reached.file, reached.frame
        return self.cuda.wanted(file, index, frame) and self.cuda.modules.used_by(file, index, frame) is None

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

    # The parent

    def forks(self, loader: Loader) -> bool:
        """Whether the loader's workers can be forked.

        The default start method does not count if the loader is only reached in processes launched by another method.
        """
        regimes = [regime for regime in self.project.regimes(loader) if regime.method == "fork"]
        if not regimes or any(regime.shown for regime in regimes):
            return bool(regimes)
        if not any(regime.source == "inherited" for regime in self.project.regimes(loader)):
            return True
        call = loader.file.calls[loader.call]
        return any(ancestor.scope == 0 for ancestor in self._ancestors(loader.file, call.scope, loader.call, None))

    def launch_forks(self, launch: Launch) -> bool:
        """Whether the processes of a launch are forked, and not by one of several methods that the program selects
        from.

        A program that selects a method forks only if it does not use the GPU: that is why programs select one.
        Processes that another library starts for its own devices, such as TPUs, do not use CUDA either.
        """
        api = LAUNCHERS.get(launch.api)
        if api is not None and not api.cuda:
            return False
        if not any(method.name == "fork" for method in self.project.ask(Starting).methods(launch)):
            return False
        there = self._launches.get((launch.file.path, launch.call), [])
        same = [one for one in there if (one.through, one.frame) == (launch.through, launch.frame)]
        if len({method for one in same for method in one.methods}) > 1:
            return False
        return len({method for one in there for method in one.methods}) < 2 or self._is_told_to_fork(launch.frame)

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
        ancestors = list(self._ancestors(loader.file, call.scope, loader.call, loader))
        chosen = (
            one.source in ("explicit", "inherited") for one in self.project.regimes(loader) if one.method == "fork"
        )
        if not any(chosen):
            # What runs only in spawned processes is not in the one that forks: the loader's workers are spawned there.
            ancestors = [one for one in ancestors if not self._is_only_spawned(one.file, one.scope)]
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

    def _by_batches(self, loader: Loader, ancestors: list[_Ancestor]) -> Poison | None:
        """The first epoch of a loader whose workers send tensors on the GPU, where a loop forks them again: receiving
        one initializes CUDA in the parent (torch/multiprocessing/reductions.py, `rebuild_cuda_tensor`)."""
        if not any(loops(one.file, one.again) for one in ancestors):
            return None
        runs = self.project.worker_runs(loader)
        called = {last_name(run.file.calls[index].func) for run in runs for index in run.file.calls_of(run.scope)}
        if called & _FROM_GPU:
            return None
        for run in runs:
            for index in run.file.calls_of(run.scope) if not run.hops else ():
                if self.cuda.judge(run.file, index, run.frame).places and self.cuda.wanted(run.file, index, run.frame):
                    text = "its workers send tensors on the GPU, and the first one initializes CUDA here"
                    return Poison(loader.file, loader.span, text, self.cuda.is_certain(run.file, index, run.frame))
        return None

    def poison_of_launch(self, launch: Launch) -> Poison | None:
        """The call that has initialized CUDA in the process that makes a launch, before it does."""
        return self._poison(self._above(launch))

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
            yield from ((here, index) for index in here.file.calls_of(here.scope) if self._before(ancestor, index))
        for reached in reach(self.world, self._steps(ancestors), guesses=False):
            yield from ((reached, index) for index in reached.file.calls_of(reached.scope))

    def _above(self, launch: Launch) -> list[_Ancestor]:
        index = self._forking_call(launch)
        scope = launch.file.calls[index].scope
        made = tuple(self.world.symbols.atoms(launch.file, scope, launch.file.calls[launch.call].region))
        return list(self._ancestors(launch.file, scope, index, None, launch.through, made))

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

    def _ancestors(
        self,
        file: SourceFile,
        scope: int,
        index: int,
        loader: Loader | None,
        through: tuple[Caller, ...] = (),
        conditions: tuple[Atom, ...] = (),
    ) -> Iterator[_Ancestor]:
        """The scope around a call and those that lead to it in the same process, nearest first.

        The search follows the calls `through` first (given outermost first), if the path to the call is known. It
        starts under `conditions`.
        """
        todo: list[tuple[SourceFile, int, int, tuple[Atom, ...], int]] = []
        todo.append((file, scope, index, conditions, len(through)))
        seen: set[tuple[str, int]] = set()
        iterated = loader is None
        while todo and not limits.ANCESTORS.reached(len(seen)):
            where, inner, at, below, left = todo.pop(0)
            if (where.path, inner) in seen:
                continue
            seen.add((where.path, inner))
            place = where.calls[at]
            until, region = place.statement.start, place.region
            if loader is not None and not iterated:
                found = [
                    one for one in self.project.ask(Starting).iterations(where, inner, None) if one.loader is loader
                ]
                iterated = bool(found)
                until, region = (found[-1].statement.start, found[-1].region) if found else (_END, 0)
            conditions = (*below, *self.world.symbols.atoms(where, inner, region))
            again = place.region if loader is not None and loader.flag("persistent_workers") is True else region
            yield _Ancestor(where, inner, until, region, place.span, again, conditions)
            if where.scopes[inner].kind in ("lambda", "class"):
                todo.append((where, where.scopes[inner].parent, at, conditions, left))
            elif where.scopes[inner].kind == "function":
                callers = self.world.calls.callers(Function(where, inner)) if left <= 0 else [through[left - 1]]
                todo += [
                    (caller.file, caller.file.calls[caller.call].scope, caller.call, conditions, left - 1)
                    for caller in callers
                    if caller.call >= 0 and not self.project.launches.at(caller.file, caller.call)
                ]

    def _is_only_spawned(self, file: SourceFile, scope: int) -> bool:
        """Whether a function runs in no other processes than those that launches start by spawn or forkserver."""
        todo, seen, spawned = [(file, scope)], set[tuple[str, int]](), False
        while todo:
            where, inner = todo.pop()
            if (where.path, inner) in seen:
                continue
            seen.add((where.path, inner))
            if where.scopes[inner].kind != "function" or limits.ANCESTORS.reached(len(seen)):
                return False
            callers = [one for one in self.world.calls.callers(Function(where, inner)) if one.call >= 0]
            inside = [one for one in callers if not self.project.launches.at(one.file, one.call)]
            methods = self._launched_by.get((where.path, inner), set())
            if methods - {"spawn", "forkserver"} or not (methods or inside):
                return False
            spawned = spawned or bool(methods)
            todo += [(one.file, one.file.calls[one.call].scope) for one in inside]
        return spawned

    @cached_property
    def _launched_by(self) -> dict[tuple[str, int], set[str]]:
        """The start methods of the processes that a function is the target of."""
        found: dict[tuple[str, int], set[str]] = {}
        for launch in self.project.launches.all():
            for target in launch.targets:
                found.setdefault(target.function.key, set()).update(launch.methods)
        return found

    def _poison(self, ancestors: list[_Ancestor]) -> Poison | None:
        """The first certain poisoning call; if none is certain, the first one."""
        first: Poison | None = None
        for one in chain(self._near(ancestors), self._called(ancestors), self._imported(ancestors)):
            if one.certain:
                return one
            first = first or one
        return first

    def _near(self, ancestors: list[_Ancestor]) -> Iterator[Poison]:
        """The poisoning calls in the ancestors themselves, before their positions."""
        for ancestor in ancestors:
            for index, api in self.cuda.calls(ancestor.file, ancestor.scope, None):
                if api.poisons and self._before(ancestor, index):
                    yield self._described(ancestor.file, index, None, api)

    def _before(self, ancestor: _Ancestor, index: int) -> bool:
        """Whether a call in the ancestor's scope runs before its position, possibly in an earlier iteration of a
        loop, and in the same runs of the program."""
        call = ancestor.file.calls[index]
        if contradict(ancestor.conditions, self.world.symbols.atoms(ancestor.file, ancestor.scope, call.region)):
            return False
        if call.span.start < ancestor.until or (call.span != ancestor.call and ancestor.call.covers(call.span)):
            return True
        repeating = loops(ancestor.file, ancestor.again)
        return any(region in repeating for region in ancestor.file.regions(call.region))

    def _called(self, ancestors: list[_Ancestor]) -> Iterator[Poison]:
        """The poisoning calls in functions that the ancestors call before their positions."""
        for reached in reach(self.world, self._steps(ancestors)):
            for index, api in self.cuda.calls(reached.file, reached.scope, reached.frame):
                if api.poisons:
                    yield self._described(reached.file, index, reached.frame, api)

    def _steps(self, ancestors: list[_Ancestor]) -> Iterator[Reached]:
        """The functions that the ancestors call before their positions."""
        for ancestor in ancestors:
            here = Reached(ancestor.file, ancestor.scope, None)
            for index in ancestor.file.calls_of(ancestor.scope):
                if self._before(ancestor, index):
                    for target in self.world.calls.targets(ancestor.file, index):
                        yield stepped(here, index, target)

    def _imported(self, ancestors: list[_Ancestor]) -> Iterator[Poison]:
        """The poisoning calls at the top level of files that the program imports."""
        tops: dict[str, None] = {}
        for ancestor in ancestors:
            tops.update(
                dict.fromkeys((ancestor.file.path, *self.project.programs.above(ancestor.file, ancestor.scope)))
            )
        for path in sorted(self.project.import_graph.import_closure(tops)):
            file = self.world.files.get(path)
            if file is None:
                continue
            for index, api in self.cuda.calls(file, 0, None):
                if api.poisons and runs_when_imported(file, file.calls[index].region):
                    yield self._described(file, index, None, api)

    def _described(self, file: SourceFile, index: int, frame: Frame | None, api: CudaApi) -> Poison:
        call = file.calls[index]
        text = f"`{render(call.func, file)}` initializes CUDA here"
        return Poison(file, call.span, text, self.cuda.is_certain(file, index, frame), api.unnoticed)
