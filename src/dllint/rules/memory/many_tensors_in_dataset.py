"""DLL303: a dataset keeps many separate tensors; without fork, each needs a file descriptor and a memory map in
every worker."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.evidence.storage_limits import walls_of
from dllint.evidence.thresholds import FAR, NEAR
from dllint.evidence.wording import counted
from dllint.facts.nodes import Attribute, Subscript
from dllint.finding import Finding, Place, Severity
from dllint.inference.values import Class, Display, Instance
from dllint.inference.values import Mapping as Container
from dllint.libraries.torch.tensors import DESCRIPTORS_IN_A_MESSAGE, MEMORY_MAPS, OPEN_FILES
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project, Regime
from dllint.project.arrivals import Hop
from dllint.project.counting import loops
from dllint.project.loaders import Loader
from dllint.project.tensors import Collected, ManyTensors
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.lists_as_datasets import dataset_argument, shuffles, unwrapped
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL303"
_REFUSED = 248
"""Number of descriptors from which Python itself refuses a message to the forkserver (multiprocessing/reduction.py)."""
_RANKS = ("network", "many", "counted", "descriptors", "maps", "forkserver")
"""Message keys from the mildest to the most severe."""
_COSTS = ("network", "many", "counted")
"""Message keys about the cost per tensor: a small number of tensors does not refute them."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for loader in project.loaders:
        for value in project.shipped_objects(loader) if project.regimes(loader) else ():
            assert isinstance(value.of, Class)
            beside = project.programs.behind(value)
            regimes = [regime for regime in project.regimes(loader, beside, value.of.name) if regime.method != "fork"]
            gives_items = value in project.dataset_objects(loader)
            for many in (*project.tensors.many(value), *project.tensors.networks(value)):
                judged = [(message, regime) for regime in regimes if (message := _message(options, many, regime))]
                if not judged:
                    continue
                items_unknown = gives_items and many.count is None and not many.network
                if items_unknown and not _by_item(project, value, many):
                    continue
                kept = many.kept
                held = _Held(
                    f"{value.of.name}.{many.network or kept.attr}",
                    kept.file,
                    kept.span,
                    kept.store.event.span,
                    kept.hops,
                )
                finding, rank = _worst(project, held, many, judged)
                methods = tuple(other.method for _, other in judged)
                kept_too = () if many.network else (Place(kept.file.path, kept.span, f"kept here as `{kept.attr}`"),)
                use = Use(finding, project.loader_place(loader), rank, kept_too, methods)
                causes.add(use, *_caused_by(many))
        for use, *keys in _given(project, options, loader):
            causes.add(use, *keys)
    yield from map(worst, causes)


class _Held(NamedTuple):
    """Tensors that a finding is about: their name, where they are kept, and how the program gets there."""

    name: str
    file: SourceFile
    span: Span
    statement: Span
    hops: tuple[Hop, ...] = ()


def _given(project: Project, options: Mapping[str, Any], loader: Loader) -> Iterator[tuple[Use, Hashable, Hashable]]:
    """The finding for a list of tensors, or of records with tensors, that is a loader's dataset itself: one of each
    list it may be, whose causes are where the list is written and the argument that gives it."""
    argument = dataset_argument(loader)
    for value in unwrapped(project, project.served(loader)) if argument is not None else ():
        many = project.tensors.given(value)
        # A list that is gone through once, in order, may be the few inputs of a prediction.
        if many is None or (many.count is None and not shuffles(loader)):
            continue
        regimes = (regime for regime in project.regimes(loader) if regime.method != "fork")
        judged = [(message, regime) for regime in regimes if (message := _message(options, many, regime))]
        if judged:
            assert argument is not None and isinstance(value, (Display, Container))
            call = loader.file.calls[loader.call]
            held = _Held(render(argument.value, loader.file, 40), loader.file, argument.value_span, call.statement)
            finding, rank = _worst(project, held, many, judged)
            methods = tuple(other.method for _, other in judged)
            yield (
                Use(finding, project.loader_place(loader), rank, methods=methods),
                value.written,
                (loader.file.path, argument.value_span),
            )


def _caused_by(many: ManyTensors) -> Iterator[Hashable]:
    """What an attribute has in common with others of one cause: the statement, or the method that fills them all."""
    kept = many.kept
    yield kept.file.path, kept.store.event.span
    if not many.network:
        yield kept.file.path, kept.owner, kept.scope


def _by_item(project: Project, value: Instance, many: ManyTensors) -> bool:
    """Whether an attribute holds something per item. What workers do not look up by item may be few: classes, for
    example."""
    code, attr = project.item_code, many.kept.attr
    if any(ask(value, attr) for ask in (code.iterated, code.drawn, code.measured)):
        return True
    found = code.indexed(value, attr) or code.keyed(value, attr)
    if found and _are_columns(project, value, many):
        return False
    return found and not any(_per_group(project, file, span) for file, span in many.put)


def _are_columns(project: Project, value: Instance, many: ManyTensors) -> bool:
    """Whether an attribute is a dict of tensors, and workers look items up in its tensors, not in the dict: in
    `{key: column[index] for key, column in self.columns.items()}`."""
    kept = many.kept
    held = [project.world.mappings.values_of(one) for one in kept.values if isinstance(one, Container)]
    if (
        not held
        or len(held) < len(kept.values)
        or any(isinstance(one, (Display, Container)) for each in held for one in each or ())
    ):
        return False
    looked_up = [(run, one) for run, found in project.item_code.items(value, kept.attr) for one in found]
    return bool(looked_up) and not any(
        isinstance(one, Subscript) and run.is_attribute(one.value, kept.attr) for run, one in looked_up
    )


def _per_group(project: Project, file: SourceFile, put: Span) -> bool:
    """Whether a loop puts in one tensor for each of its passes, and several items into another container: a tensor per
    folder of images."""
    changes = project.world.mappings.changes_in(file)
    one = next((change for change in changes if change.statement() == put), None)
    around = loops(file, one.region) if one is not None else []
    if one is None or not around:
        return False
    beside = [other for other in changes if other.scope == one.scope and around[0] in file.regions(other.region)]
    return any(
        other.kind == "extend" or (other.kind == "add" and loops(file, other.region)[0] != around[0])
        for other in beside
        if isinstance(other.base, (Attribute, Subscript)) and other.base != one.base
    )


def _message(options: Mapping[str, Any], many: Collected, regime: Regime) -> str | None:
    """The message key for the tensors under one start method; None if they are few."""
    if many.network:
        return "network"
    if many.count is None:
        return "many"
    if many.count <= options["few"]:
        return None
    if regime.method == "forkserver" and many.count > DESCRIPTORS_IN_A_MESSAGE:
        return "forkserver"
    if many.count > MEMORY_MAPS:
        return "maps"
    reserved = 7 + 4 * (regime.workers.count or 1)
    return "descriptors" if many.count > OPEN_FILES - reserved else "counted"


def _worst(
    project: Project, held: _Held, many: Collected, judged: list[tuple[str, Regime]]
) -> tuple[Finding, tuple[bool, int, bool]]:
    """The finding for the most severe of the messages under different start methods, and its rank."""
    message, regime = max(judged, key=lambda pair: (_RANKS.index(pair[0]), pair[1].shown))
    fails = message == "forkserver" and (regime.shown or regime.only)
    # Many networks stay below the limit, and one that is trained on a GPU is sent differently.
    severity: Severity = "info" if many.network else regime.weighed("error" if fails else "warning")
    values: dict[str, str | int] = {
        "kept": held.name,
        "method": regime.described,
        "remedy": "network" if many.network else "main",
    }
    values |= _end(regime.method, many.count)
    if many.count is not None:
        values["count"] = many.count
    finding = Finding(
        CODE,
        held.file.path,
        held.span,
        message,
        values,
        severity=severity,
        start_methods=(regime.method,),
        trace=project.chain(regime.arrival, held.hops),
        related=tuple(Place(file.path, span, "a tensor is put in here") for file, span in many.put),
        statement=held.statement,
    )
    return finding, (not regime.unchosen, _RANKS.index(message), regime.shown)


def _end(method: str, count: int | None) -> dict[str, str]:
    """The number of tensors above which no worker starts, and the error that the program then shows."""
    if method != "forkserver":
        return {"limit": f"about {OPEN_FILES - 24} tensors (`ulimit -n` {OPEN_FILES})", "error": "Too many open files"}
    few = count is not None and DESCRIPTORS_IN_A_MESSAGE < count < _REFUSED
    error = "OSError: [Errno 22] Invalid argument" if few else "ValueError: too many fds"
    return {"limit": f"{DESCRIPTORS_IN_A_MESSAGE} tensors", "error": error}


def judge(case: Case) -> Judgement:
    """How close is the number of storages to a limit of this run's start method, or else of the targets'?"""
    # Forked workers are sent no tensors, so that batches or other files took the descriptors.
    failed = replace(case, runs=tuple(run for run in case.runs if not run.forked)).raised
    counted_runs = [run for run in case.runs if run.storages is not None and not run.storages.exception]
    bounds = [bound for run in counted_runs for bound in _bounds(run)]
    if failed and not bounds:
        return case.confirmed(failed[0])
    if not bounds:
        if not counted_runs:
            return case.inconclusive("the run did not count the tensors")
        return case.refuted("forked workers receive no tensors, and every target forks")
    tightest = max(bounds, key=lambda one: one.part)
    of_this_run = max((one for one in bounds if one.method == one.run.method), key=lambda one: one.part, default=None)
    if failed:
        return case.confirmed(f"{tightest.told(case)}: {failed[0]}")
    if of_this_run is not None and of_this_run.part >= NEAR:
        return case.confirmed(of_this_run.told(case))
    both = tightest.told(case)
    if tightest.part >= NEAR:
        run = tightest.run
        tried = [f"a trial under {one.method} failed" for one in run.trials if one.outcome == "failed"]
        return case.latent(both, *tried[:1], f"harmless under {run.method}, which this run used")
    if tightest.part >= FAR:
        return case.inconclusive(both)
    if tightest.have > len(case.runs) and case.finding.message in _COSTS:
        return case.inconclusive(f"{both}: true, and far from the limit with the data of this run")
    return case.refuted(both)


class _Bound(NamedTuple):
    """How many storages a loader has or sends, and how many a start method allows because of a limit."""

    run: LoaderRun
    method: str
    limit: str
    have: int
    most: int

    @property
    def part(self) -> float:
        return self.have / max(self.most, 1)

    def told(self, case: Case) -> str:
        return f"{counted(self.have, 'storage')} of at most {self.most:,} ({case.where(self.method)}: {self.limit})"


def _bounds(run: LoaderRun) -> list[_Bound]:
    """Return the bounds of a loader, by this run's start method and by those of the targets."""
    return [
        _Bound(run, method, wall.limit, sent, wall.most)
        for method in [*([run.method] if run.method else []), *run.others]
        for wall, sent in walls_of(run, method)
    ]


def concerns(run: LoaderRun) -> bool:
    return run.storages is not None and run.storages.storages > 0
