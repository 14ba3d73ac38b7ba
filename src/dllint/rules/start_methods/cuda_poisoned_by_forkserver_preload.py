"""DLL106: importing the main module initializes CUDA in the forkserver of Python 3.14."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.arrivals import Arrival
from dllint.project.process_starts import Starting
from dllint.project.same_process import runs_when_imported
from dllint.rules.start_methods.cuda import Cuda
from dllint.rules.start_methods.cuda_forks import CudaForks, CudaUse, error_text
from dllint.rules.start_methods.cuda_verdict import judge as judge_cuda
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL106"
PRELOADS = (3, 14)
"""The first Python whose forkserver actually imports the main module (CPython, `multiprocessing/forkserver.py`)."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    if max(project.targets.pythons) < PRELOADS or set(project.targets.platforms) == {"windows"}:
        return
    seen: set[tuple[str, Span]] = set()
    for file, index, uses, arrival, text in _children(project):
        for poisoner, call, unnoticed in _poisons(project, file, index) if uses else ():
            place = (poisoner.path, poisoner.calls[call].span)
            if place not in seen:
                seen.add(place)
                origin = Place(file.path, file.calls[index].span, text)
                error = error_text(unnoticed or uses[0].unnoticed)
                yield _finding(project, poisoner, call, uses[0], origin, arrival, error)


def _children(project: Project) -> Iterator[tuple[SourceFile, int, list[CudaUse], Arrival | None, str]]:
    """The processes that a forkserver starts: file and call, their uses of CUDA, the arrival of the start method,
    and a text for the call."""
    for launch in project.launches.all():
        for method in project.ask(Starting).methods(launch):
            if method.name == "forkserver" and (method.shown or _only_default(project)):
                uses = list(project.ask(CudaForks).target_uses(launch))
                yield launch.file, launch.call, uses, method.arrival, "this launches the process"
                break
    for loader in project.loaders:
        for regime in project.regimes(loader):
            if regime.method == "forkserver" and (regime.shown or regime.only):
                uses = list(project.ask(CudaForks).worker_uses(loader))
                yield loader.file, loader.call, uses, regime.arrival, f"this {loader.name} starts the workers"
                break


def _only_default(project: Project) -> bool:
    """Whether no target forks by default; if one does, DLL103 reports the same program."""
    return "fork" not in project.targets.default_start_methods()


def _poisons(project: Project, file: SourceFile, index: int) -> Iterator[tuple[SourceFile, int, bool]]:
    """The first call per program that initializes CUDA on import, in its main module or in a file that it imports, and
    whether PyTorch does not notice it."""
    for top in project.programs.above(file, file.calls[index].scope):
        others = sorted(project.import_graph.import_closure([top]) - {top})
        for path in (top, *others):
            module = project.world.files.get(path)
            calls = project.ask(Cuda).calls(module, 0, None) if module is not None else ()
            found = next(
                (
                    (module, call, api.unnoticed)
                    for call, api in calls
                    if module is not None and api.poisons and runs_when_imported(module, module.calls[call].region)
                ),
                None,
            )
            if found is not None:
                yield found
                break


def _finding(
    project: Project, file: SourceFile, index: int, use: CudaUse, origin: Place, arrival: Arrival | None, error: str
) -> Finding:
    call = file.calls[index]
    used = Place(use.reached.file.path, use.span, "this uses CUDA in the process")
    return Finding(
        CODE,
        file.path,
        call.span,
        "main",
        {
            "call": render(call.func, file),
            "error": error,
            "use": project.where(use.reached.file, use.span),
            "where": project.line_shown(origin.path, origin.span),
        },
        start_methods=("forkserver",),
        trace=(*project.chain(arrival), origin, *project.trace(use.reached.hops())),
        related=(used,),
        statement=call.statement,
    )


def judge(case: Case) -> Judgement:
    """Did a process of a forkserver that imports the main module fail?"""
    version = case.seen.main.python.split(".")[:2] if case.seen.main is not None else []
    if case.failure is None and len(version) == 2 and (int(version[0]), int(version[1])) < PRELOADS:
        return case.inconclusive(f"the forkserver of Python {'.'.join(version)} does not import the main module")
    return judge_cuda(case)
