"""DLL602: a random number generator created with the dataset, which all workers inherit in the same state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dllint.finding import Finding, Place
from dllint.inference.values import Function, Instance
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.project.regimes import decisive, own_process
from dllint.project.unchosen_paths import UnchosenPaths
from dllint.project.worker_code import WorkerRun
from dllint.rules.causes import Causes
from dllint.rules.data.declared_versions import DeclaredVersions, Old
from dllint.rules.data.draws_verdict import concerns, judge
from dllint.rules.data.inherited_generators import InheritedGenerator, InheritedGenerators
from dllint.rules.data.optional_starts import OptionalStarts
from dllint.rules.data.shared_generators import Generators, SharedGenerator
from dllint.rules.data.unseeded_draws import UnseededDraw, UnseededDraws
from dllint.span import Span

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL602"


class _Held(NamedTuple):
    """A generator that workers inherit: its name in messages, the API that created it, and where. `place` is the
    code to change."""

    held: str
    api: str
    remedy: str
    path: str
    place: Span
    statement: Span
    draws: tuple[Place, ...]


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    versions = DeclaredVersions(project)
    generators, inherited = Generators(project, versions), InheritedGenerators(project)
    unseeded = UnseededDraws(project, versions)
    kept: Causes[tuple[_Held, Loader]] = Causes()
    drawn: Causes[tuple[list[tuple[WorkerRun, int]], Loader]] = Causes()
    applied: Causes[tuple[UnseededDraw, Loader]] = Causes()
    for loader in project.loaders:
        regimes = project.regimes(loader)
        workers = loader.workers()
        if not regimes or (workers.count == 1 and loader.flag("persistent_workers")):
            continue
        methods = {regime.method for regime in decisive(regimes)}
        for shared in generators.shared(loader):
            # DLL206 reports a torch.Generator that is pickled to workers: it never arrives there.
            if "fork" in methods or not (shared.forked or shared.api.family == "torch"):
                kept.add((_kept(project, shared), loader), (shared.kept.file.path, shared.kept.span), shared.made)
        left_out = set() if "fork" in methods else generators.left_out(loader)
        for one in inherited.of_loader(loader):
            if "fork" in methods or (one.shared and (one.file.path, one.call) not in left_out):
                kept.add((_inherited(one), loader), (one.file.path, one.call))
        for draw in unseeded.of_loader(loader, methods):
            # One function that seeds the library in a loader's workers fixes all their draws from it.
            seeding = (loader.file.path, loader.call, draw.library.prefix)
            applied.add((draw, loader), (draw.file.path, draw.statement), seeding)
        # Spawned workers import NumPy again, and its generator then takes a seed from the system.
        if workers.count != 1 and "fork" in methods and generators.old_torch(loader) is not None:
            # One function that seeds NumPy in a loader's workers fixes all of their draws; the one to show is one that
            # every run reaches.
            asked = project.ask(UnchosenPaths).runs_unasked
            draws = sorted(generators.global_draws(loader), key=lambda one: not asked(one[0].file, one[1]))
            if draws:
                drawn.add((draws, loader), (draws[0][0].file.path, draws[0][1]))
    for held in kept:
        yield _of_object(project, held[0][0], [loader for _, loader in held])
    for group in applied:
        yield _of_library(project, [draw for draw, _ in group], [loader for _, loader in group])
    for found in drawn:
        every = list(dict.fromkeys((run.file, index) for draws, _ in found for run, index in draws))
        old = generators.old_torch(found[0][1])
        if old is not None:
            yield _of_numpy(project, found[0][0][0][0], every, [loader for _, loader in found], old)


def _kept(project: Project, shared: SharedGenerator) -> _Held:
    kept = shared.kept
    path, index = shared.made
    created: tuple[Place, ...] = ()
    if index >= 0 and path in project.world.files:
        call = project.world.files[path].calls[index]
        if (path, call.statement) != (kept.file.path, kept.store.event.span):
            created = (Place(path, call.span, "created here"),)
    return _Held(
        shared.held,
        shared.api.label,
        _remedy(shared.api.family),
        kept.file.path,
        kept.span,
        kept.store.event.span,
        (*created, *_places(shared.draws)),
    )


def _inherited(one: InheritedGenerator) -> _Held:
    call = one.file.calls[one.call]
    return _Held(
        one.held,
        one.api.label,
        _remedy(one.api.family),
        one.file.path,
        call.span,
        call.statement,
        _places(one.draws),
    )


def _started(project: Project, loader: Loader) -> Place:
    if project.ask(OptionalStarts).optional(loader):
        text = f"this {loader.name} starts workers without its `worker_init_fn` on some paths"
        return Place(loader.file.path, loader.span, text)
    return project.loader_place(loader)


def _remedy(family: str) -> str:
    return "main" if family == "numpy" else family


def _places(draws: tuple[tuple[SourceFile, Span], ...]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(Place(file.path, span, "workers draw from it here") for file, span in draws))


def _repeats(loaders: list[Loader]) -> str:
    """The message key: "epochs" (a single worker repeats itself), "lasting" (workers repeat one another) or "main"
    (they do so in every epoch)."""
    if all(loader.workers().count == 1 for loader in loaders):
        return "epochs"
    return "lasting" if all(loader.flag("persistent_workers") for loader in loaders) else "main"


def _of_object(project: Project, one: _Held, loaders: list[Loader]) -> Finding:
    return Finding(
        CODE,
        one.path,
        one.place,
        _repeats(loaders),
        {
            "held": one.held,
            "api": one.api,
            "loader": project.where(loaders[0].file, loaders[0].span),
            "remedy": one.remedy,
        },
        related=(*one.draws, *dict.fromkeys(_started(project, loader) for loader in loaders)),
        statement=one.statement,
    )


def _of_library(project: Project, draws: list[UnseededDraw], loaders: list[Loader]) -> Finding:
    first = min(draws, key=lambda draw: (draw.file.path, draw.span))
    places = dict.fromkeys(draw.draw for draw in draws if draw.draw is not None)
    others = dict.fromkeys(
        Place(draw.file.path, draw.span, f"so does this `{draw.held}`", alike=True)
        for draw in draws
        if (draw.file.path, draw.statement) != (first.file.path, first.statement)
    )
    return Finding(
        CODE,
        first.file.path,
        first.span,
        "library",
        {
            "held": first.held,
            "library": first.library.label,
            "loader": project.where(loaders[0].file, loaders[0].span),
            "remedy": first.library.remedy,
        },
        related=(
            *places,
            *dict.fromkeys(_keepers(project, draws, loaders)),
            *others,
            *dict.fromkeys(_started(project, loader) for loader in loaders),
        ),
        statement=first.statement,
    )


def _keepers(project: Project, draws: list[UnseededDraw], loaders: list[Loader]) -> Iterator[Place]:
    """Where datasets keep what another function creates for them."""
    created = {(draw.file.path, draw.span) for draw in draws}
    for loader in loaders:
        for dataset in project.dataset_objects(loader):
            for kept in (keeping.kept for keeping in project.datasets.keeps(dataset)):
                for one in kept.values:
                    if not isinstance(one, Instance) or one.file is None or one.call < 0:
                        continue
                    call = one.file.calls[one.call]
                    apart = (one.file.path, call.statement) != (kept.file.path, kept.store.event.span)
                    if apart and (one.file.path, call.span) in created:
                        yield Place(kept.file.path, kept.store.event.span, "the dataset keeps it here")


def _of_numpy(
    project: Project, run: WorkerRun, draws: list[tuple[SourceFile, int]], loaders: list[Loader], old: Old
) -> Finding:
    call = run.file.calls[draws[0][1]]
    beside = [own_process(project.regimes(loader)) for loader in loaders]
    forks = (project.place(hop) for hops in beside for hop in hops)
    minor = old.unsure or all(hops or not _is_reached(project, one) for hops, one in zip(beside, loaders, strict=True))
    others = (Place(file.path, file.calls[index].span, "workers draw from it here too") for file, index in draws[1:])
    values = {
        "call": render(call.func, run.file),
        "loader": project.where(loaders[0].file, loaders[0].span),
        "old": old.text,
    }
    return Finding(
        CODE,
        run.file.path,
        call.span,
        "global",
        values,
        trace=project.trace(run.hops),
        related=tuple(dict.fromkeys((*others, *(_started(project, loader) for loader in loaders), *forks))),
        statement=call.statement,
        severity="info" if minor else "warning",
    )


def _is_reached(project: Project, loader: Loader) -> bool:
    """Whether the project has code that comes to a loader: a program, a call of its function, or an import."""
    file, scope = loader.file, loader.site.scope
    if scope == 0 or project.import_graph.is_program(file.path) or project.import_graph.roots(file.path) != {file.path}:
        return True
    return bool(project.world.calls.callers(Function(file, scope)))
