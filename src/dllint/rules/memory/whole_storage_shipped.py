"""DLL307: workers send views of a tensor, and with each view the whole storage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.thresholds import FAR, MIB, NEAR
from dllint.evidence.wording import mebibytes
from dllint.facts.nodes import Name, Subscript
from dllint.finding import Finding, Fix, ReplaceExpression
from dllint.inference.values import Class
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.array_sizes import mib
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.shipped_items import Shipping, View

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun

CODE = "DLL307"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for loader in project.loaders:
        why = project.ask(Shipping).as_they_are(loader)
        forked = [regime for regime in project.regimes(loader) if regime.method == "fork"] if why else []
        for value in project.dataset_objects(loader) if why and forked else ():
            assert isinstance(value.of, Class)
            for view in project.ask(Shipping).views(value):
                if view.size is not None and view.size < options["smallest-mib"] << 20:
                    continue
                values = {"view": render(view.expr, view.file), "kept": f"{value.of.name}.{view.attr}", "why": str(why)}
                message = "main"
                if view.size is not None:
                    count = forked[0].workers.count
                    message = "sized" if count is None else "total"
                    values |= {"size": mib(view.size), "total": mib(view.size * (count or 1))}
                    values["workers"] = forked[0].workers.described
                finding = Finding(
                    CODE,
                    view.file.path,
                    view.span,
                    message,
                    values,
                    start_methods=("fork",),
                    fixes=_fixes(view),
                    statement=view.event.span,
                )
                causes.add(Use(finding, project.loader_place(loader)), (view.file.path, view.span))
    yield from map(worst, causes)


def _fixes(view: View) -> tuple[Fix, ...]:
    if not view.alone or not isinstance(view.expr, (Subscript, Name)):
        return ()
    code = f"{render(view.expr, view.file, 200)}.clone()"
    return (
        Fix(f"Send only the part, as a copy: `{code}`", "safe", (ReplaceExpression(view.file.path, view.span, code),)),
    )


def judge(case: Case) -> Judgement:
    """Does a batch take the whole dataset along?"""
    pairs = [(run.first_batch, run.storages) for run in case.runs if run.first_batch is not None and run.storages]
    known = [
        (batch.bytes, storages.storage_bytes) for batch, storages in pairs if batch and storages.storage_bytes >= MIB
    ]
    if not known:
        return case.inconclusive("the run did not measure the dataset's tensors or its batches")
    shipped, whole = max(known, key=lambda one: one[0] / one[1])
    both = (
        f"the first batch took {mebibytes(shipped)} of shared memory; the tensors of the dataset are {mebibytes(whole)}"
    )
    if shipped >= NEAR * whole:
        return case.confirmed(both)
    return case.refuted(both) if shipped < FAR * whole else case.inconclusive(both)


def concerns(run: LoaderRun) -> bool:
    return run.loader.arguments.get("batch_size", 1) is None and run.first_batch is not None
