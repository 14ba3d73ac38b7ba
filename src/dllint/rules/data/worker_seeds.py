"""What `worker_init_fn` functions seed random number generators with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, CallRef, Constant, Name, Subscript
from dllint.facts.schema import Argument, Call, Expr
from dllint.inference import limits
from dllint.inference.edges import Given, Target
from dllint.inference.origins import Origins
from dllint.inference.values import Actual, Actuals, External, Frame, Function, Instance, Value
from dllint.libraries.facets import Seeder
from dllint.libraries.index import GENERATORS, SEEDERS, canonical
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop
from dllint.project.loaders import Loader
from dllint.rules.data.training_loops import EpochLoop
from dllint.rules.data.worker_dependence import Constancy, Constants
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


_NAMES = frozenset(name.rpartition(".")[2] for name in (*SEEDERS, *GENERATORS))


@dataclass(frozen=True)
class Seeding:
    """A call that seeds generators of a worker.

    Attributes:
        argument: the seed as written; None if there is none.
        constancy: how it varies among workers and epochs.
        root: the `worker_init_fn` that runs it.
        hops: the calls from there to this one.
        made: whether it makes a new generator.
    """

    file: SourceFile
    call: int
    argument: Argument | None
    seeder: Seeder
    constancy: Constancy
    root: Function
    hops: tuple[Hop, ...]
    frame: Frame | None = None
    made: bool = False

    @property
    def written(self) -> Call:
        return self.file.calls[self.call]

    @property
    def span(self) -> Span:
        return self.written.span


class WorkerSeeds:
    """Finds the seeds that `worker_init_fn` functions set, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.constants = Constants(project.world)
        self._with_state = Constants(project.world, first_word="varies")
        self.origins = Origins(project.world)

    def of_loader(self, loader: Loader) -> Iterator[list[Seeding]]:
        """The seedings of each function that can be the loader's `worker_init_fn`."""
        for value in self.project.callables(loader, "worker_init_fn"):
            started = self._started(value)
            if started is not None:
                yield list(self._seedings(started.function, started.frame, (), started.function, set()))

    def of_items(self, loader: Loader) -> Iterator[Seeding]:
        """The seedings that reading an item runs, made of constants and the number of the worker, or of the time
        in whole seconds. The seed of a new generator is one, too."""
        for value in self.project.dataset_objects(loader):
            for run in self.project.workers.of_dataset(value):
                if run.entry not in ("__getitem__", "__getitems__"):
                    continue
                root = Function(run.file if not run.hops else run.hops[0].file, run.root[1])
                for index in run.file.calls_of(run.scope):
                    if str(last_name(run.file.calls[index].func)) in _NAMES:
                        one = self._seeding(run.file, index, run.frame, root, run.hops, in_item=True)
                        if one is None or one.constancy not in ("worker", "second"):
                            continue
                        if one.constancy == "second" or not one.made:
                            yield one

    def in_iteration(self, loop: EpochLoop) -> Iterator[Seeding]:
        """The seedings that each iteration of a loop runs in the process that starts the workers."""
        file, root = loop.file, Function(loop.file, loop.scope)
        seen = {root.key}
        for index in file.calls_of(loop.scope):
            if file.encloses(loop.region, file.calls[index].region):
                yield from self._of_call(file, index, None, (), root, seen)

    def is_of_state(self, seeding: Seeding) -> bool:
        """Whether a seed is made of the first word of the state that NumPy has in a new worker."""
        if seeding.argument is None:
            return False
        site = self.world.call_site(seeding.file, seeding.call, seeding.frame)
        return seeding.constancy != "varies" and self._with_state.of(seeding.argument.value, site) == "varies"

    def seeds_itself(self, loader: Loader) -> str | None:
        """The name of a seeding function used directly as `worker_init_fn`, so that the worker's number is the seed;
        None if there is none."""
        for value in self.project.callables(loader, "worker_init_fn"):
            if isinstance(value, External) and canonical(value.name) in SEEDERS:
                return value.name
        return None

    def _started(self, value: Value) -> Target | None:
        """The function that a worker calls with its number, and its activation; None if unknown."""
        given = Given(self.project.files[0], -1, None, Actuals([Actual(None, None, None)]), ("seeds", value))
        if isinstance(value, Instance) and isinstance(value.of, External):
            return None
        return next(iter(self.world.calls.run_by(value, given)), None)

    def _seedings(
        self, function: Function, frame: Frame | None, hops: tuple[Hop, ...], root: Function, seen: set[tuple[str, int]]
    ) -> Iterator[Seeding]:
        seen.add(function.key)
        for index in function.file.calls_of(function.scope):
            yield from self._of_call(function.file, index, frame, hops, root, seen)

    def _of_call(
        self,
        file: SourceFile,
        index: int,
        frame: Frame | None,
        hops: tuple[Hop, ...],
        root: Function,
        seen: set[tuple[str, int]],
    ) -> Iterator[Seeding]:
        seeding = self._seeding(file, index, frame, root, hops)
        if seeding is not None:
            yield seeding
        elif not limits.SEEDING_DEPTH.reached(len(hops)):
            for target in self.world.calls.targets(file, index, frame):
                if target.function.key not in seen:
                    hop = Hop(file, file.calls[index].span, f"calls {target.function.name}", target.guessed)
                    yield from self._seedings(target.function, target.frame, (*hops, hop), root, seen)

    def _seeding(
        self,
        file: SourceFile,
        index: int,
        frame: Frame | None,
        root: Function,
        hops: tuple[Hop, ...],
        in_item: bool = False,
    ) -> Seeding | None:
        """What a call seeds, and with what; `in_item`: a new generator, too."""
        name = self._external(file, index, frame)
        seeder = SEEDERS.get(canonical(name)) if name is not None else None
        made = seeder is None and name is not None and canonical(name) in GENERATORS and in_item
        if made and name is not None:
            seeder = Seeder((GENERATORS[canonical(name)].family,))
        if seeder is None:
            return None
        given = next((one for one in file.calls[index].args if one.keyword in (None, seeder.keyword)), None)
        site = self.world.call_site(file, index, frame)
        constancy: Constancy = "varies" if given is None else self.constants.of(given.value, site)
        return Seeding(file, index, given, seeder, constancy, root, hops, frame, made)

    def _external(self, file: SourceFile, index: int, frame: Frame | None) -> str | None:
        site = self.world.call_site(file, index, frame)
        for value in self.world.values.evaluate(file.calls[index].func, site):
            if isinstance(value, External):
                return value.name
        return None


def adds_rank_and_worker(seeding: Seeding) -> bool:
    """Whether a seed is the sum of a rank and the worker's number: worker 1 of rank 0 and worker 0 of rank 1 then
    draw the same numbers."""
    if seeding.argument is None or seeding.constancy != "worker" or seeding.hops:
        return False
    parameters = seeding.file.scopes[seeding.root.scope].params
    terms = list(_terms(seeding.argument.value))
    names = [str(last_name(term) or _asked_for(term, seeding.file)) for term in terms]
    number = [bool(parameters) and term == Name(parameters[0].name) for term in terms]
    return any(number) and any("rank" in name.lower() for name in names)


def holds_rank(seeding: Seeding, value: Expr | None) -> bool:
    """Whether a seed includes a rank, which distinguishes the processes of a distributed program."""
    if value is None:
        return False
    parts = list(walk(value, seeding.file))
    names = [str(last_name(part) or _asked_for(part, seeding.file)) for part in parts]
    return any("rank" in name.lower() for name in names)


def conditional(seeding: Seeding) -> bool:
    """Whether the seed is set only under a condition, such as a mode that the user requests."""
    entries = (seeding.file.facts.regions[index] for index in seeding.file.regions(seeding.written.region))
    return any(entry.kind in ("if", "else", "elif", "case", "while", "handler") for entry in entries)


def _terms(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, BinOp) and expr.op == "+":
        yield from _terms(expr.left)
        yield from _terms(expr.right)
    else:
        yield expr


def _asked_for(expr: Expr, file: SourceFile) -> str:
    """The names in `get_rank()`, `int(os.environ["RANK"])` or `args["rank"]`, joined by spaces: "int RANK"."""
    if isinstance(expr, CallRef):
        call = file.calls[expr.index]
        inner = [_asked_for(one.value, file) for one in call.args]
        return " ".join([str(last_name(call.func)), *inner])
    if isinstance(expr, Subscript) and isinstance(expr.index, Constant):
        return str(expr.index.value)
    return ""
