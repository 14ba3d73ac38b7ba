"""DLL310: a training loop keeps the loss of every step together with its graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Attribute, Name
from dllint.finding import Finding, Fix, Place, ReplaceExpression
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.kept_graphs import KeptGraph, KeptGraphs

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL310"


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for kept in project.ask(KeptGraphs).kept():
        also = Place(kept.file.path, kept.span, "this keeps the graph of every step too", alike=True)
        file, region = kept.loop
        loop = Place(file.path, file.facts.regions[region].span, "the loop over the steps")
        causes.add(Use(_finding(project, kept), loop, made=(also,)), (file.path, region))
    yield from map(worst, causes)


def _finding(project: Project, kept: KeptGraph) -> Finding:
    what = render(kept.what, kept.file)
    container = kept.container if kept.inner is None else kept.inner.method
    values = {"container": render(container, kept.file), "what": what}
    related: tuple[Place, ...] = ()
    if kept.inner is not None:
        file, span = kept.inner.file, kept.inner.span
        attribute = render(kept.inner.container, file)
        values |= {"attribute": attribute, "where": project.where(file, span)}
        related = (Place(file.path, span, f"`{attribute}` keeps it"),)
    fixes: tuple[Fix, ...] = ()
    if kept.what_span is not None and isinstance(kept.what, (Name, Attribute)):
        edit = ReplaceExpression(kept.file.path, kept.what_span, f"{what}.detach()")
        fixes = (Fix(f"Keep the value without its graph: `{what}.detach()`", "safe", (edit,)),)
    return Finding(
        CODE,
        kept.file.path,
        kept.span,
        "main" if kept.inner is None else "inner",
        values,
        related=related,
        fixes=fixes,
        statement=kept.statement,
    )


def judge(case: Case) -> Judgement:
    """A run does not count graphs."""
    return case.inconclusive("graphs are not counted")
