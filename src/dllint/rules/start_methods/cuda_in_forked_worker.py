"""DLL103: worker code uses CUDA in a process forked from one that has already initialized it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Place
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.start_methods.cuda import Cuda
from dllint.rules.start_methods.cuda_forks import CudaForks, CudaUse, Poison, error_text
from dllint.rules.start_methods.cuda_verdict import judge
from dllint.rules.start_methods.objects_on_gpu import ObjectsOnGpu, OnGpu
from dllint.rules.start_methods.prepared_files import are_prepared, only_without_file
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.loader_runs import LoaderRun

__all__ = ["CODE", "check", "concerns", "judge"]
CODE = "DLL103"
_TOO = "this fails there too"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for loader in project.loaders:
        if not project.ask(CudaForks).forks(loader):
            continue
        uses = list(project.ask(CudaForks).worker_uses(loader, project.ask(CudaForks).default_device(loader)))
        if any(map(only_without_file, uses)) and are_prepared(project, loader):
            uses = [use for use in uses if not only_without_file(use)]
        kept = list(project.ask(ObjectsOnGpu).kept_on_gpu(loader))
        if kept:
            # Reading the attribute already fails.
            uses = [use for use in uses if not _runs_module(project, use)]
        poison = project.ask(CudaForks).poison_of_loader(loader) if uses or kept else None
        # A device that an option selects is one cause, however many calls of the workers use it.
        selected = {(use.reached.file.path, use.reached.file.calls[use.call].span) for use in uses if not use.certain}
        found = {(one.path, one.span): one for one in _of_loader(project, loader, uses, kept, poison)}
        leads = _leads(uses)
        for own, finding in sorted(found.items(), key=lambda one: one[0] in leads):
            keys: list[Hashable] = [own]
            lead = leads.get(own)
            if lead in found and found[lead].severity == finding.severity:
                keys.append(lead)
            if own in selected:
                keys.append((loader.file.path, loader.call))
            also = Place(finding.path, finding.span, _TOO, alike=True)
            causes.add(Use(finding, project.loader_place(loader), made=(also,)), *keys)
    for launch in project.launches.all():
        if project.ask(CudaForks).launch_forks(launch):
            place = Place(launch.file.path, launch.file.calls[launch.call].span, "this launches the forked process")
            process = f"the process launched at {project.where(launch.file, place.span)}"
            handed = list(project.ask(ObjectsOnGpu).handed_to(launch))
            uses = list(project.ask(CudaForks).target_uses(launch))
            if handed:
                # Reading the argument already fails.
                uses = [use for use in uses if not _runs_module(project, use)]
            for use in uses:
                poison = project.ask(CudaForks).poison_of_launch(launch, use.target)
                if poison is not None:
                    finding = _use(project, use, process, poison, (), "process", "process")
                    also = Place(finding.path, finding.span, _TOO, alike=True)
                    # One edit, another start method, fixes every use in the process.
                    one_edit = (launch.file.path, launch.call)
                    causes.add(Use(finding, place, made=(also,)), (finding.path, finding.span), one_edit)
            if not uses:
                for one in handed:
                    finding = _read(project, one, process, "process", _received(launch))
                    causes.add(Use(finding, place), (finding.path, finding.span))
    for cause in causes:
        finding = worst(cause)
        others = (
            one for one in finding.related if (one.path, one.span, one.message) != (finding.path, finding.span, _TOO)
        )
        yield replace(finding, related=tuple(others))


def _leads(uses: list[CudaUse]) -> dict[tuple[str, Span], tuple[str, Span]]:
    """Of each place that uses CUDA, that in the first function on the way to it which uses CUDA as well: one edit there
    fixes both. Workers that move a batch to the GPU and call a model there do not reach what the model does."""
    functions = {(use.reached.file.path, use.reached.scope): use for use in reversed(uses)}
    found = {}
    for use in uses:
        around = ((file.path, file.calls[index].scope) for file, index, _ in use.reached.calls)
        lead = next((functions[one] for one in around if one in functions), None)
        if lead is not None and lead is not use:
            found[use.reached.file.path, use.span] = (lead.reached.file.path, lead.span)
    return found


def _of_loader(
    project: Project, loader: Loader, uses: list[CudaUse], kept: list[OnGpu], poison: Poison | None
) -> Iterator[Finding]:
    process = f"the workers of the DataLoader at {project.where(loader.file, loader.span)}"
    sure = any(one.method == "fork" and one.workers.kind == "some" for one in project.regimes(loader))
    held = [Place(one.file.path, one.span, f"the dataset keeps `{one.name}` on the GPU") for one in kept]
    if poison is not None:
        for use in uses:
            finding = _use(project, use, process, poison, tuple(held))
            yield finding if sure and _is_loaded(project, loader, use) else replace(finding, severity="warning")
    if not uses:
        # The parent put the object on the GPU, so it has initialized CUDA.
        for one in kept:
            finding = _read(project, one, process)
            yield finding if sure else replace(finding, severity="warning")


def _is_loaded(project: Project, loader: Loader, use: CudaUse) -> bool:
    """Whether import statements lead from the programs with a loader to the code of its workers. A registry or a
    configuration may name it without."""
    return use.reached.file.path in project.programs.loaded(loader.file, loader.call)


def _runs_module(project: Project, use: CudaUse) -> bool:
    return project.ask(Cuda).runs_module(use.reached.file, use.call, use.reached.frame)


def _received(launch: Launch) -> str:
    """The message about an argument on the GPU: pools pickle it, and their processes die while they unpickle it."""
    if "()." not in launch.api:
        return "read"
    return "executor" if "Executor" in launch.api else "pool"


def _read(project: Project, one: OnGpu, process: str, remedy: str = "kept", message: str = "kept") -> Finding:
    return Finding(
        CODE,
        one.file.path,
        one.span,
        message,
        {"attr": one.name, "process": process, "remedy": remedy},
        start_methods=("fork",),
        trace=project.trace(one.hops),
        statement=one.statement,
    )


def _use(
    project: Project,
    use: CudaUse,
    process: str,
    poison: Poison,
    held: tuple[Place, ...],
    remedy: str = "main",
    message: str = "main",
) -> Finding:
    file = use.reached.file
    call = file.calls[use.call]
    return Finding(
        CODE,
        file.path,
        call.span,
        message,
        {
            "call": render(call.func, file),
            "process": process,
            "poison": project.where(poison.file, poison.span),
            "error": error_text(use.unnoticed or poison.unnoticed),
            "remedy": remedy,
        },
        start_methods=("fork",),
        trace=project.trace(use.reached.hops()),
        related=(Place(poison.file.path, poison.span, poison.text), *held),
        statement=call.statement,
        severity="error" if use.certain and poison.certain else "warning",
    )


def concerns(run: LoaderRun) -> bool:
    return bool(run.cuda)
