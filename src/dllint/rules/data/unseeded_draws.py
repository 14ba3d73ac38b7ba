"""Draws in workers from generators that belong to libraries and that torch does not seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name
from dllint.finding import Place
from dllint.inference import limits
from dllint.inference.values import Class, Const, Display, External, Instance, Site, Unknown, Value
from dllint.libraries.contents import held_by
from dllint.libraries.facets import OwnDraws
from dllint.libraries.index import OWN_DRAWS, WORKER_INFO, canonical
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.project.worker_code import WorkerRun, called_names
from dllint.rules.data.declared_versions import DeclaredVersions
from dllint.rules.data.optional_starts import OptionalStarts
from dllint.rules.data.worker_init_functions import hides_start
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class UnseededDraw:
    """An object or function of a library that workers draw random numbers with.

    Attributes:
        library: the library whose generator it draws from.
        held: the class or function as written: "iaa.Add".
        file, span, statement: where the object is constructed or the function called.
        draw: where workers draw; None for a function, which draws where it is called.
    """

    library: OwnDraws
    held: str
    file: SourceFile
    span: Span
    statement: Span
    draw: Place | None


class UnseededDraws:
    """Finds the unseeded draws of one project."""

    def __init__(self, project: Project, versions: DeclaredVersions) -> None:
        self.project = project
        self.world = project.world
        self.versions = versions

    @cached_property
    def _libraries(self) -> tuple[OwnDraws, ...]:
        """The libraries that the project imports in a version that leaves workers unseeded."""
        imported = self.world.import_graph.packages
        return tuple(row for row in OWN_DRAWS if row.prefix.partition(".")[0] in imported and self._concerned(row))

    def _concerned(self, row: OwnDraws) -> bool:
        if not row.until:
            return True
        # Upper bounds prove nothing. The installed version counts as affected only if every other requirement names an
        # affected one.
        declared = self.versions.of(row.prefix.partition(".")[0])
        lower = [one for one in declared if not one.operator.startswith("<")]
        return bool(lower) and all(row.since <= one.version <= row.until for one in lower)

    def of_loader(self, loader: Loader, methods: set[str]) -> Iterator[UnseededDraw]:
        """The draws of a loader's workers, unless code that they run seeds the library or asks which worker it is."""
        libraries = [row for row in self._libraries if methods & set(row.methods_of_start)]
        start = loader.argument("worker_init_fn").values if libraries else ()
        if not libraries or hides_start(self.world, loader):
            return
        optional = bool(start) and self.project.ask(OptionalStarts).optional(loader)
        seeding = {canonical(value.name) for value in start if isinstance(value, External) and not optional}
        runs = self.project.ask(OptionalStarts).runs(loader)
        called = called_names(runs)
        if called & WORKER_INFO:
            return
        for row in libraries:
            given = any(row.loaders and name.startswith(row.loaders) for name in seeding)
            # MONAI's loader does the seeding itself.
            made_by = self.project.external_name(loader.file, loader.call) or ""
            own_loader = bool(row.loaders) and canonical(made_by).startswith(row.loaders)
            if given or own_loader or (called & row.reseeding and self._reseeded(row, runs)):
                continue
            yield from self._draws(row, runs, loader)

    def _reseeded(self, row: OwnDraws, runs: list[WorkerRun]) -> bool:
        """Whether worker code may seed the library: `numpy.random.seed` seeds another."""
        package = row.prefix.partition(".")[0]

        def is_other(value: Value) -> bool:
            return isinstance(value, External) and canonical(value.name).partition(".")[0] != package

        for run in runs:
            for index in run.file.calls_of(run.scope):
                if last_name(run.file.calls[index].func) in row.reseeding:
                    site = self.world.call_site(run.file, index, run.frame)
                    called = self.world.values.evaluate(run.file.calls[index].func, site)
                    if not called or not all(map(is_other, called)):
                        return True
        return False

    def _draws(self, row: OwnDraws, runs: list[WorkerRun], loader: Loader) -> Iterator[UnseededDraw]:
        for run in runs:
            if row.methods is None:
                for index, name in self.project.workers.external_calls(run, row.prefix):
                    if row.has(name):
                        call = run.file.calls[index]
                        held = render(call.func, run.file)
                        yield UnseededDraw(row, held, run.file, call.span, call.statement, None)
                continue
            for index in run.file.calls_of(run.scope):
                drawing = list(self._drawing_objects(row, run, index))
                for found in (*drawing, *(self._alike(row, run, index, loader) if drawing else ())):
                    if found.file is not None and found.call >= 0:
                        call = found.file.calls[found.call]
                        place = Place(run.file.path, run.file.calls[index].span, "workers draw with it here")
                        held = render(call.func, found.file)
                        yield UnseededDraw(row, held, found.file, call.span, call.statement, place)

    def _drawing_objects(self, row: OwnDraws, run: WorkerRun, index: int) -> Iterator[Instance]:
        """The objects of the library, or of a class derived from one of it, that a call draws with."""
        for value in self._called_objects(row, run, index):
            found = self._drawing(row, value, 0)
            if found is not None:
                yield found
        receiver = run.frame.receiver if run.frame is not None else None
        if isinstance(receiver, Instance) and self._draws_with_own(row, run, index):
            yield receiver

    def _alike(self, row: OwnDraws, run: WorkerRun, index: int, loader: Loader) -> Iterator[Instance]:
        """What other objects of the dataset keep under the attribute whose method a call calls: those of the classes
        that inherit the method with the call."""
        func = run.file.calls[index].func
        base = func.value if isinstance(func, Attribute) else None
        method, params = run.file.method_of(run.scope), run.file.scopes[run.scope].params
        if method is None or not isinstance(base, Attribute) or not params or base.value != Name(params[0].name):
            return
        cls, line = Class(run.file, method), self.world.hierarchy.line
        for _, piece in self.project.dataset_pieces(loader):
            kept = piece.kept
            if kept is not None and kept.attr == base.attr and kept.owner is not None and cls in line(kept.owner):
                found = self._drawing(row, piece.value, 0)
                if found is not None:
                    yield found

    def _called_objects(self, row: OwnDraws, run: WorkerRun, index: int) -> Iterator[Value]:
        """The objects that a call calls, or whose drawing method it calls."""
        func = run.file.calls[index].func
        if not isinstance(func, (Name, Attribute)):
            return
        site = self.world.call_site(run.file, index, run.frame)
        called = self.world.values.evaluate(func, site)
        yield from called
        if not isinstance(func, Attribute) or not row.methods:
            return
        if func.attr.startswith(row.methods):
            yield from self.world.values.evaluate(func.value, site)
        # An attribute that keeps such a method is often named like it: `self.augment_image = sequence.augment_image`.
        if any(isinstance(one, External) and self._is_method(row, one.name) for one in called):
            yield from self._receivers(func, site)

    def _draws_with_own(self, row: OwnDraws, run: WorkerRun, index: int) -> bool:
        """Whether a call draws with the generator that the library gives the objects of its classes, in a method of a
        class derived from one: `self.R.random()`."""
        func = run.file.calls[index].func
        if not row.generator or not isinstance(func, Attribute):
            return False

        def of_library(value: Value) -> bool:
            made, _, rest = canonical(value.name).partition("().") if isinstance(value, External) else ("", "", "")
            return row.has(made) and rest.startswith(f"{row.generator}.")

        called = self.world.values.evaluate(func, self.world.call_site(run.file, index, run.frame))
        return bool(called) and all(of_library(value) for value in called)

    @staticmethod
    def _is_method(row: OwnDraws, name: str) -> bool:
        """Whether a name is that of a bound method that draws: "imgaug.augmenters.Sequential().augment_image"."""
        made, _, method = canonical(name).rpartition("().")
        return made.startswith(row.prefix) and row.methods is not None and method.startswith(row.methods)

    def _receivers(self, func: Attribute, site: Site) -> Iterator[Value]:
        """The objects whose bound method an attribute keeps: `self.augment = sequence.augment_image`."""
        for holder in self.world.values.evaluate(func.value, site):
            if not isinstance(holder, Instance) or not isinstance(holder.of, Class):
                continue
            for kept in self.project.datasets.kept(holder):
                method = kept.store.value
                if kept.attr == func.attr and isinstance(method, Attribute):
                    at = kept.store.event.span
                    where = Site(kept.file, kept.scope, kept.store.event.region, at.start, None)
                    yield from self.world.values.evaluate(method.value, where)

    def _drawing(self, row: OwnDraws, value: Value, depth: int) -> Instance | None:
        """The object of the library that draws: the outermost one that contains it, because one edit there seeds
        all."""
        if not isinstance(value, Instance) or value.call < 0 or limits.EXTERNAL_DEPTH.exceeded(depth):
            return None
        if not isinstance(value.of, External):
            # Calls by the project's own code are separate runs; what a `Compose` calls is examined here.
            kept = self.project.datasets.kept(value) if depth else ()
            parts = (self._drawing(row, part, depth + 1) for one in kept for part in one.values)
            return next((part for part in parts if part is not None), None)
        name = canonical(value.of.name)
        own = name.startswith(row.prefix)
        if row.has(name) and (name.rpartition(".")[2] not in row.ranged or self._ranged(value)):
            return value
        inside = (self._drawing(row, one, depth + 1) for one in held_by(self.world, value))
        found = next((one for one in inside if one is not None), None)
        joins = own and (not row.joining or name.rpartition(".")[2] in row.joining)
        if joins and found is None and row.joining and self._has_unknown_parts(value):
            return value
        return value if joins and found is not None else found

    def _has_unknown_parts(self, value: Instance) -> bool:
        """Whether an object is given a list of parts that only a configuration tells:
        `[getattr(iaa, name)(*args) for name, *args in options]`."""
        given = (
            one for actual in self.world.made_with(value).positional[:1] for one in self.world.values.passed(actual)
        )
        parts = (part for one in given if isinstance(one, Display) for part in self.world.mappings.elements(one))
        return any(isinstance(part, Unknown) for part in parts)

    def _ranged(self, value: Instance) -> bool:
        """Whether an argument is a range, or a probability, to draw from."""
        actuals = self.world.made_with(value)
        for actual in (*actuals.positional, *actuals.keywords.values()):
            if actual.expr is None or actual.site is None:
                continue
            for one in self.world.values.evaluate(actual.expr, actual.site):
                if isinstance(one, Display) and one.kind in ("tuple", "list"):
                    return True
                if isinstance(one, Const) and isinstance(one.value, float) and 0 < one.value < 1:
                    return self._probability(value)
        return False

    @staticmethod
    def _probability(value: Instance) -> bool:
        assert isinstance(value.of, External)
        return value.of.name.rpartition(".")[2] in ("Fliplr", "Flipud", "Sometimes", "Invert", "Solarize")
