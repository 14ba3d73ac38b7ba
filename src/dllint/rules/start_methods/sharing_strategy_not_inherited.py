"""DLL108: a sharing strategy that only the parent sets, with workers that do not inherit it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.evidence.wording import listed
from dllint.finding import Finding
from dllint.inference.values import Const
from dllint.linking.conditions import main_guards
from dllint.linking.contradictions import contradict
from dllint.linking.source import SourceFile
from dllint.project import Project, Regime
from dllint.project.loaders import Loader
from dllint.project.same_process import in_one_run, runs_when_imported, ways_to
from dllint.rules.causes import Causes

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL108"


class Setting(NamedTuple):
    """A call of `set_sharing_strategy("file_system")`."""

    file: SourceFile
    call: int


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    settings = list(_settings(project))
    missed: Causes[tuple[Setting, Loader, Regime]] = Causes()
    in_workers: set[Setting] = set()
    for loader in project.loaders if settings else ():
        regimes = [regime for regime in project.regimes(loader) if regime.method != "fork"]
        if not regimes:
            continue
        program = project.programs.loaded(loader.file, loader.call)
        own = [one for one in settings if one.file.path in program and not _of_other_tests(project, one, loader)]
        runs = {(run.file.path, run.scope) for run in project.worker_runs(loader)} if own else set()
        reaching = {setting for setting in own if _reaches_workers(setting, runs)}
        in_workers |= reaching
        for setting in own if not reaching else ():
            # A loader in processes that programs launch themselves is not judged by a target's default alone.
            shown = [regime for regime in regimes if regime.shown] or regimes
            met = [regime for regime in shown if _launched_with(project, setting, regime)]
            if (
                met
                and not _in_other_runs(project, setting, regimes)
                and in_one_run(project.world, (setting.file, setting.call), (loader.file, loader.call))
            ):
                missed.add((setting, loader, met[0]), setting)
    for found in missed:
        if found[0][0] not in in_workers:
            yield _finding(project, found[0][0], [(loader, regime) for _, loader, regime in found])


def _settings(project: Project) -> Iterator[Setting]:
    for file, index, _ in project.external_calls("set_sharing_strategy", "torch.multiprocessing"):
        values = project.evaluate_argument(file, index, 0, "new_strategy")
        if values and all(isinstance(value, Const) and value.value == "file_system" for value in values):
            yield Setting(file, index)


def _reaches_workers(setting: Setting, runs: set[tuple[str, int]]) -> bool:
    """Whether workers make the call themselves: in code that they run, or when they import the program's modules."""
    call = setting.file.calls[setting.call]
    if call.scope == 0:
        return runs_when_imported(setting.file, call.region)
    return (setting.file.path, call.scope) in runs


def _of_other_tests(project: Project, setting: Setting, loader: Loader) -> bool:
    """Whether a test, or what tests alone import, makes the loader, and nothing that they call makes the call."""
    around, todo = {loader.file.path}, [loader.file]
    tests = 0
    while todo:
        file = todo.pop()
        if project.import_graph.is_test(file.path):
            tests += 1
            continue
        importers = [importer for importer, _ in project.world.imports.importers(file)]
        if not importers or main_guards(file):
            return False
        todo += [one for one in importers if one.path not in around]
        around |= {one.path for one in importers}
    return tests > 0 and around.isdisjoint({setting.file.path, *(path for path, _ in ways_to(project.world, *setting))})


def _launched_with(project: Project, setting: Setting, regime: Regime) -> bool:
    """Whether the process that starts the workers makes the call, or is launched by a run that does.

    Other programs may start other workers of the same loader.
    """
    launch = regime.arrival.origin.launch if regime.arrival is not None else None
    if launch is None:
        return True
    launching = (launch.file, launch.call)
    if any(launching in ways for ways in ways_to(project.world, setting.file, setting.call).values()):
        return True
    return in_one_run(project.world, (setting.file, setting.call), launching)


def _in_other_runs(project: Project, setting: Setting, regimes: list[Regime]) -> bool:
    """Whether the call and the code that leads to the loader's start method are in exclusive branches, so that no
    run executes both."""
    call = setting.file.calls[setting.call]
    here = project.world.symbols.atoms(setting.file, call.scope, call.region)
    return any(regime.arrival is not None and contradict(regime.arrival.conditions, here) for regime in regimes)


def _finding(project: Project, setting: Setting, loaders: list[tuple[Loader, Regime]]) -> Finding:
    loaders = sorted(loaders, key=lambda pair: (not pair[1].shown, pair[1].unchosen))
    loader, regime = loaders[0]
    call = setting.file.calls[setting.call]
    return Finding(
        CODE,
        setting.file.path,
        call.span,
        "main" if regime.shown else "latent",
        {"loader": project.where(loader.file, loader.span), "method": regime.method, "where": regime.where},
        severity=regime.weighed("warning"),
        start_methods=tuple(dict.fromkeys(other.method for _, other in loaders)),
        trace=project.chain(regime.arrival),
        related=tuple(dict.fromkeys(project.loader_place(other) for other, _ in loaders)),
        statement=call.statement,
    )


def judge(case: Case) -> Judgement:
    """Would the workers have inherited the strategy?"""
    if case.methods == ["fork"]:
        return case.refuted("its workers were forked and inherit the strategy")
    return case.inconclusive(f"its workers started by {listed(case.methods)}; the run does not record their strategy")
