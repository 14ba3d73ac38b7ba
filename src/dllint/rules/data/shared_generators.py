"""Random number generators that all workers of a loader inherit in the same state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Expr
from dllint.inference.values import Class, External, Function, Instance, Partial, Site, Value
from dllint.libraries.facets import Generator
from dllint.libraries.index import GENERATORS, SEEDERS, UNDRAWING, canonical
from dllint.libraries.torch import NUMPY_RESEEDED
from dllint.linking.assignments import Store
from dllint.linking.source import SourceFile
from dllint.project.kept_values import Kept, Piece
from dllint.project.loaders import Loader
from dllint.project.worker_code import ENTRIES, WorkerRun
from dllint.rules.data.declared_versions import DeclaredVersions, Old
from dllint.rules.data.idle_draws import is_idle
from dllint.rules.data.inherited_generators import runs_in_loop
from dllint.rules.data.old_idioms import OldIdioms
from dllint.rules.data.optional_starts import OptionalStarts
from dllint.rules.data.worker_init_functions import any_asks_which_worker, hides_start
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class SharedGenerator:
    """A generator object that a dataset, or an object inside it, creates and its workers draw from.

    Attributes:
        held: "Crops.rng", "Crops.transform.rng".
        api: the API that created it.
        kept: where it is kept.
        made: the file and the call that created it.
        draws: where workers draw from it.
        forked: whether only forked workers have it, because the dataset's pickle omits it.
    """

    held: str
    api: Generator
    kept: Kept
    made: tuple[str, int]
    draws: tuple[tuple[SourceFile, Span], ...]
    forked: bool = False


class _Wanted(NamedTuple):
    """A generator that an object keeps as `attr`.

    `maker` is the function that made it, if workers run that function too: they then have others from the same call.
    """

    attr: str
    value: Value
    maker: tuple[str, int] | None

    @classmethod
    def among(cls, piece: Piece, runs: list[WorkerRun]) -> _Wanted:
        attr, value = piece.path.rsplit(".", 1)[-1], piece.value
        if not isinstance(value, Instance) or value.file is None or value.call < 0:
            return cls(attr, value, None)
        maker = value.file.path, value.file.calls[value.call].scope
        return cls(attr, value, maker if any((run.file.path, run.scope) == maker for run in runs) else None)


class Generators:
    """Finds the generators that all workers of a loader share, in one project."""

    def __init__(self, project: Project, versions: DeclaredVersions) -> None:
        self.project = project
        self.world = project.world
        self.versions = versions
        self.starts = project.ask(OptionalStarts)
        self._omitted: dict[Instance, tuple[Kept, ...]] = {}

    def shared(self, loader: Loader) -> Iterator[SharedGenerator]:
        """The generators that the workers of a loader draw from and that nothing reseeds per worker."""
        every = chain(
            ((name, piece, False) for name, piece in self._pieces(loader)),
            ((name, piece, True) for name, piece in self._left_out(loader)),
        )
        pieces = [(name, piece, api, forked) for name, piece, forked in every if (api := self._api(piece.value))]
        if not pieces:
            return
        runs = self.starts.runs(loader)
        if any_asks_which_worker(runs) or hides_start(self.world, loader):
            return
        for name, piece, api, forked in pieces:
            kept = piece.kept
            if kept is None or kept.owner is None or not self._made_early(kept, runs):
                continue
            wanted = _Wanted.among(piece, runs)
            users = [run for run in runs if (run.file.path, run.scope) != wanted.maker]
            if self._reseeded(wanted, api, users, kept.owner):
                continue
            draws = tuple(self._draws(wanted, api, users))
            if draws:
                yield SharedGenerator(f"{name}.{piece.path}", api, kept, self._made(piece.value), draws, forked)

    @staticmethod
    def _made(value: Value) -> tuple[str, int]:
        assert isinstance(value, Instance)
        return (value.file.path if value.file is not None else "", value.call)

    def _pieces(self, loader: Loader) -> Iterator[tuple[str, Piece]]:
        seen: set[tuple[str, Value]] = set()
        for name, piece in self.project.dataset_pieces(loader):
            if (name, piece.value) not in seen:
                seen.add((name, piece.value))
                yield name, piece

    def _left_out(self, loader: Loader) -> Iterator[tuple[str, Piece]]:
        """The values that the datasets, or objects inside them, keep and omit from their pickles."""
        holders = [(one.of.name, "", one) for one in self.project.dataset_objects(loader) if isinstance(one.of, Class)]
        holders += [
            (name, f"{piece.path}.", piece.value)
            for name, piece in self.project.dataset_pieces(loader)
            if isinstance(piece.value, Instance) and isinstance(piece.value.of, Class)
        ]
        for name, way, holder in holders:
            for kept in self._omitted_by(holder):
                yield from ((name, Piece(f"{way}{kept.attr}", part, kept)) for part in kept.values)

    def _omitted_by(self, holder: Instance) -> tuple[Kept, ...]:
        found = self._omitted.get(holder)
        if found is None:
            dropped = self.project.datasets.dropped(holder)
            kept = self.project.datasets.kept(holder) if dropped else ()
            found = self._omitted[holder] = tuple(one for one in kept if one.attr in dropped)
        return found

    def left_out(self, loader: Loader) -> set[tuple[str, int]]:
        """The file and the call that created each generator which the datasets' pickles omit."""
        return {self._made(piece.value) for _, piece in self._left_out(loader) if self._api(piece.value)}

    @staticmethod
    def _api(value: Value) -> Generator | None:
        if not isinstance(value, Instance) or not isinstance(value.of, External):
            return None
        return GENERATORS.get(canonical(value.of.name).removesuffix("().manual_seed"))

    def _made_early(self, kept: Kept, runs: list[WorkerRun]) -> bool:
        """Whether the generator is created before the workers start, and not by code that they run."""
        assert kept.owner is not None
        if any((run.file.path, run.scope) == (kept.file.path, kept.scope) for run in runs):
            return False
        if (kept.file.path, kept.scope) in self.project.datasets.construction.of_class(kept.owner):
            return True
        return kept.initial and not runs_in_loop(self.world, kept.file, kept.scope)

    def _reseeded(self, wanted: _Wanted, api: Generator, runs: list[WorkerRun], owner: Class) -> bool:
        for run in runs:
            for store in run.file.stores(run.scope):
                if store.key == "state" or (store.key == wanted.attr and self._may_be_of(store, run, owner)):
                    return True
            for index in run.file.calls_of(run.scope):
                func = run.file.calls[index].func
                if isinstance(func, Attribute) and func.attr in api.reseeding and self._is(func.value, wanted, run):
                    return True
        return False

    def _may_be_of(self, store: Store, run: WorkerRun, owner: Class) -> bool:
        """Whether an assignment to an attribute may be to that of an object of a class: not the receiver of a method
        of another class, `self.rng = default_rng(seed)`."""
        scope, method = run.file.scopes[run.scope], run.file.method_of(run.scope)
        own = method is not None and bool(scope.params) and store.base == Name(scope.params[0].name)
        if not own or self.world.hierarchy.receiver_kind(Function(run.file, run.scope)) != "self":
            return True
        assert method is not None
        cls, line = Class(run.file, method), self.world.hierarchy.line
        return cls in line(owner) or owner in line(cls)

    def _draws(self, wanted: _Wanted, api: Generator, runs: list[WorkerRun]) -> Iterator[tuple[SourceFile, Span]]:
        for run in runs:
            for index in run.file.calls_of(run.scope):
                call = run.file.calls[index]
                func = call.func
                drawn = isinstance(func, Attribute) and func.attr not in UNDRAWING and self._is(func.value, wanted, run)
                if not drawn and self._from_outside(run, index):
                    drawn = any(self._is(argument.value, wanted, run) for argument in call.args)
                where = self.world.call_site(run.file, index, run.frame)
                if drawn and not self.world.untaken(where) and not is_idle(self.world, run, index):
                    yield run.file, call.span

    def _from_outside(self, run: WorkerRun, index: int) -> bool:
        """Whether a call is of an external API that may draw from a generator argument."""
        call = run.file.calls[index]
        if not any(isinstance(argument.value, (Name, Attribute)) for argument in call.args):
            return False
        site = self.world.call_site(run.file, index, run.frame)
        return any(isinstance(value, External) for value in self.world.values.evaluate(call.func, site))

    def _is(self, expr: Expr, wanted: _Wanted, run: WorkerRun) -> bool:
        """Whether an expression in worker code evaluates to that generator."""
        value = wanted.value
        if not isinstance(value, Instance) or not (
            isinstance(expr, Name) or (isinstance(expr, Attribute) and expr.attr == wanted.attr)
        ):
            return False
        end = run.file.scopes[run.scope].span
        site = Site(run.file, run.scope, 0, (end.end_line, end.end_column), run.frame)
        return any(
            isinstance(one, Instance)
            and one.file is value.file
            and one.call == value.call
            and (wanted.maker is None or one.frame is value.frame)
            for one in self.world.values.evaluate(expr, site)
        )

    # numpy's global generator before torch 1.9

    def old_torch(self, loader: Loader) -> Old | None:
        """The version of torch that the project requires, that one way to install it gives, or that the code around a
        loader needs, if it is one that does not seed NumPy in workers."""
        return self._required or self.project.ask(OldIdioms).torch(loader)

    @cached_property
    def _required(self) -> Old | None:
        return self.versions.below("torch", NUMPY_RESEEDED) or self.versions.also_below("torch", NUMPY_RESEEDED)

    def global_draws(self, loader: Loader) -> list[tuple[WorkerRun, int]]:
        """Calls in worker code that draw from numpy's global generator, unless worker code seeds it. Python's own is
        seeded by Python itself (random.py: `register_at_fork`; before 3.7 multiprocessing/popen_fork.py)."""
        # A framework that makes the loader seeds the global generators of its workers, as its `worker_init_fn` may.
        if loader.api.seeds or loader.api.forks or any(map(_may_seed, loader.argument("worker_init_fn").values)):
            return []
        if hides_start(self.world, loader):
            return []
        runs = self.starts.runs(loader)
        found: list[tuple[WorkerRun, int]] = []
        seeded: set[tuple[str, int]] = set()
        alternatives = self._alternatives(loader)
        for run in runs:
            for index, name in self.project.workers.external_calls(run, "numpy.random."):
                if canonical(name) in SEEDERS or name.endswith("set_state"):
                    if run.root not in alternatives:
                        return []
                    seeded.add(run.root)
                    continue
                draws = name.count(".") == 2 and canonical(name) not in GENERATORS and "get_state" not in name
                if draws and not is_idle(self.world, run, index):
                    found.append((run, index))
        # What one dataset seeds is not seeded for another that the loader may get instead.
        return [one for one in found if not seeded or one[0].root in alternatives - seeded]

    def _alternatives(self, loader: Loader) -> set[tuple[str, int]]:
        """The entry points of the datasets that the loader gets itself, one or the other."""
        return {
            method.key
            for value in loader.argument("dataset").values
            if isinstance(value, Instance) and isinstance(value.of, Class)
            for name in ENTRIES
            if (method := self.world.hierarchy.method(value.of, name)) is not None
        }


def _may_seed(start: Value) -> bool:
    """Whether a `worker_init_fn` is a function of a library that may seed NumPy."""
    while isinstance(start, Partial):
        start = start.function
    if not isinstance(start, External):
        return False
    seeder = SEEDERS.get(canonical(start.name))
    return seeder is None or "numpy" in seeder.families
