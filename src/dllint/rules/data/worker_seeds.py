"""What `worker_init_fn` functions seed random number generators with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, Name
from dllint.facts.schema import Argument, Call, Expr
from dllint.inference import limits
from dllint.inference.edges import Given, Target
from dllint.inference.values import Actual, Actuals, Const, External, Frame, Function, Instance, Site, Value
from dllint.libraries.facets import Seeder
from dllint.libraries.index import SEEDERS, canonical
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.project.start_methods import Hop
from dllint.rules.data.worker_dependence import Constancy, Constants
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class Seeding:
    """A call that seeds generators of a worker.

    Attributes:
        argument: the seed as written; None where there is none.
        constancy: what it is like among workers and epochs.
        root: the `worker_init_fn` that runs it.
        hops: the calls that lead from there to this one.
        plain: whether it is made of numbers that fold, and the worker's, alone.
    """

    file: SourceFile
    call: int
    argument: Argument | None
    seeder: Seeder
    constancy: Constancy
    root: Function
    hops: tuple[Hop, ...]
    plain: bool

    @property
    def written(self) -> Call:
        return self.file.calls[self.call]

    @property
    def span(self) -> Span:
        return self.written.span


class WorkerSeeds:
    """Answers about seeds for one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.constants = Constants(project.world)

    def of_loader(self, loader: Loader) -> Iterator[list[Seeding]]:
        """The seedings of each function that can be the loader's `worker_init_fn`."""
        for value in self.project.callables(loader, "worker_init_fn"):
            started = self._started(value)
            if started is not None:
                yield list(self._seedings(*started, (), started[0], set()))

    def seeds_itself(self, loader: Loader) -> str | None:
        """The name of a seeding function that is the `worker_init_fn` itself: the worker's number is the seed."""
        for value in self.project.callables(loader, "worker_init_fn"):
            if isinstance(value, External) and canonical(value.name) in SEEDERS:
                return value.name
        return None

    def _started(self, value: Value) -> Target | None:
        """The function that a worker calls with its number, and its activation."""
        given = Given(self.project.files[0], -1, None, Actuals([Actual(None, None, None)]), ("seeds", value))
        if isinstance(value, Instance) and isinstance(value.of, External):
            return None
        return next(iter(self.world.calls.run_by(value, given)), None)

    def _seedings(
        self, function: Function, frame: Frame | None, hops: tuple[Hop, ...], root: Function, seen: set[tuple[str, int]]
    ) -> Iterator[Seeding]:
        seen.add(function.key)
        file = function.file
        for index in file.calls_of(function.scope):
            call = file.calls[index]
            name = self._external(file, index, frame)
            seeder = SEEDERS.get(canonical(name)) if name is not None else None
            if seeder is not None:
                given = next((one for one in call.args if one.keyword in (None, seeder.keyword)), None)
                site = self.world.call_site(file, index, frame)
                constancy: Constancy = "varies" if given is None else self.constants.of(given.value, site)
                plain = given is not None and self._plain(given.value, site)
                yield Seeding(file, index, given, seeder, constancy, root, hops, plain)
            elif not limits.SEEDING_DEPTH.reached(len(hops)):
                for target in self.world.calls.targets(file, index, frame):
                    if target.function.key not in seen:
                        hop = Hop(file, call.span, f"calls {target.function.name}")
                        yield from self._seedings(target.function, target.frame, (*hops, hop), root, seen)

    def _plain(self, expr: Expr, site: Site) -> bool:
        if isinstance(expr, BinOp):
            return self._plain(expr.left, site) and self._plain(expr.right, site)
        if (
            isinstance(expr, Name)
            and any(binding.kind == "param" for binding, _ in self.world.symbols.lookup(expr.id, site))
            and self.constants.of(expr, site) == "worker"
        ):
            return True
        return all(isinstance(value, Const) for value in self.world.values.evaluate(expr, site))

    def _external(self, file: SourceFile, index: int, frame: Frame | None) -> str | None:
        site = self.world.call_site(file, index, frame)
        for value in self.world.values.evaluate(file.calls[index].func, site):
            if isinstance(value, External):
                return value.name
        return None


def conditional(file: SourceFile, region: int) -> bool:
    """Whether a place is reached only under a condition of its own function, other than the `__main__` guard."""
    entries = (file.facts.regions[index] for index in file.regions(region))
    return any(
        entry.kind in ("if", "else", "elif", "case", "while", "handler")
        and not (entry.expr is not None and "__name__" in str(entry.expr))
        for entry in entries
    )


def always_starts(loader: Loader) -> bool:
    """Whether every making of the loader gives it one and the same `worker_init_fn`."""
    given = loader.argument("worker_init_fn")
    return (
        len(given.values) == 1
        and not given.absent
        and not conditional(loader.file, loader.file.calls[loader.call].region)
    )
