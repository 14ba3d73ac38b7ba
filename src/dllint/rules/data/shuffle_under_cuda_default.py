"""DLL611: a loader that shuffles with a CPU generator while CUDA is the default device of new tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.finding import Finding, Place
from dllint.inference.values import Const, External, Instance, Values
from dllint.libraries.index import canonical
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.data.declared_versions import DeclaredVersions
from dllint.rules.data.samplers import DISTRIBUTED, RANDOM, SUBSET, WEIGHTED, argument, samplers, shuffles
from dllint.rules.start_methods.default_device import DefaultDevice, Setting

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL611"
SPLIT = "torch.utils.data.random_split"
_REFUSING = (1, 9)
"""The first torch whose `randperm` refuses a generator of another device than the default one
(github.com/webis-de/small-text/issues/2)."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    default = project.ask(DefaultDevice)
    if not any(setting.cuda for setting in default.settings):
        return
    versions = DeclaredVersions(project)
    old = versions.below("torch", _REFUSING)
    if old is not None and not old.unsure:
        return
    sure = old is None and versions.also_below("torch", _REFUSING) is None
    for loader in project.loaders:
        if loader.api.names or loader.api.dataset != "dataset":
            continue
        kind, sampler = _cpu_generator(project, loader)
        setting = default.cuda_at(loader.file, loader.call) if kind else None
        if setting is not None:
            names = {"name": loader.name, "sampler": sampler}
            yield _finding(project, loader.file, loader.call, kind, names, setting, sure)
    for file, index, name in project.external_calls("random_split", "torch."):
        setting = default.cuda_at(file, index) if canonical(name) == SPLIT else None
        if setting is not None and _comes_first(setting, file, index) and _draws_on_cpu(project, file, index):
            names = {"call": render(file.calls[index].func, file)}
            yield _finding(project, file, index, "split", names, setting, sure)


def _finding(
    project: Project, file: SourceFile, index: int, message: str, names: dict[str, str], setting: Setting, sure: bool
) -> Finding:
    call = setting.file.calls[setting.call]
    return Finding(
        CODE,
        file.path,
        file.calls[index].span,
        message,
        {
            **names,
            "setting": render(call.func, setting.file),
            "where": project.where(setting.file, call.span),
        },
        severity="error" if setting.unconditional and sure else "warning",
        related=(Place(setting.file.path, call.span, "from here on, new tensors are on CUDA"),),
        statement=file.calls[index].statement,
    )


# random_split


def _comes_first(setting: Setting, file: SourceFile, index: int) -> bool:
    """Whether the default device is set when a call runs: above it in the same function, or when its file is
    imported."""
    scope = setting.file.calls[setting.call].scope
    if (setting.file.path, scope) == (file.path, file.calls[index].scope):
        return setting.span.line < file.calls[index].span.line
    return scope == 0


def _draws_on_cpu(project: Project, file: SourceFile, index: int) -> bool:
    if any(argument.keyword in ("*", "**") for argument in file.calls[index].args):
        return False
    return _on_cpu(project, project.evaluate_argument(file, index, 2, "generator"))


# What shuffles


def _cpu_generator(project: Project, loader: Loader) -> tuple[str, str]:
    """How the loader draws with a CPU generator, and by which sampler: "main" by its own one, "random" or
    "distributed" by a sampler passed to it, "seed" only the seed of its workers, "" if it does not."""
    if any(shuffles(project, sampler) for sampler in samplers(project, loader, DISTRIBUTED)):
        return "distributed", "DistributedSampler"
    for sampler in samplers(project, loader, RANDOM):
        if _on_cpu(project, argument(project, sampler, RANDOM, "generator")):
            return "random", "RandomSampler"
    for kind in (SUBSET, WEIGHTED):
        for sampler in samplers(project, loader, kind):
            given = argument(project, sampler, kind, "generator")
            if given is not None and _is_cpu_generator(project, given):
                return "random", kind.rpartition(".")[2]
    generator = loader.argument("generator")
    given = (*loader.argument("sampler").values, *loader.argument("batch_sampler").values)
    plain = all(isinstance(value, Const) for value in given)
    if plain and loader.flag("shuffle") and _on_cpu(project, generator.values if generator.values else None):
        return "main", ""
    return ("seed", "") if generator.values and _is_cpu_generator(project, generator.values) else ("", "")


def _is_cpu_generator(project: Project, values: Values) -> bool:
    """Whether a generator is given, and provably on the CPU."""
    return _on_cpu(project, values) and all(isinstance(value, Instance) for value in values)


def _on_cpu(project: Project, values: Values | None) -> bool:
    """Whether a generator is provably on the CPU: none is given, or one without a device."""
    return values is None or all(
        (isinstance(value, Const) and value.value is None)
        or (
            isinstance(value, Instance)
            and value.of == External("torch.Generator")
            and value.call >= 0
            and not project.world.made_with(value).names_any()
            and not project.world.made_with(value).positional
        )
        for value in values
    )


def judge(case: Case) -> Judgement:
    """Did the loop over the loader end with the error about the generator?"""
    if case.died_here is not None:
        return case.confirmed(case.died_here)
    if case.finding.message == "split":
        ran = case.seen.executed_in(case.finding)
        return case.refuted("the line ran without an error") if ran else case.not_reached("the line did not run")
    if not case.runs:
        return case.not_reached("this loader was never built")
    if any(run.epochs for run in case.runs):
        return case.refuted("its batches were read")
    return case.inconclusive("it was never iterated")
