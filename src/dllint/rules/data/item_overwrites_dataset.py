"""DLL614: reading an item changes what the dataset keeps, so that the next epoch reads another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.finding import Finding, Place, Severity
from dllint.inference.values import NONE
from dllint.linking.conditions import render
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.causes import Causes
from dllint.rules.data.overwrites import Overwrite, Overwrites
from dllint.rules.stores.mapped_stores import Stores
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL614"


class _Use(NamedTuple):
    """A statement that overwrites what a dataset keeps, and one of the loaders that read the dataset.

    `when` is the condition under which a later epoch reads the changed values; empty if none does.
    """

    overwrite: Overwrite
    loader: Loader
    when: str
    methods: tuple[str, ...] = ()


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[_Use] = Causes()
    for loader in project.loaders:
        if _may_ask_for_several(loader):
            continue
        for value in project.read_objects(loader):
            for overwrite in project.ask(Overwrites).of(value):
                use = _judged(project, loader, overwrite)
                if use is not None:
                    causes.add(use, _place(overwrite))
    for found in causes:
        yield _finding(project, found)


def _may_ask_for_several(loader: Loader) -> bool:
    """Whether the index of an item may be a list, by which arrays are copied: a sampler gives it, and nothing makes
    batches."""
    return loader.argument("batch_size").values == (NONE,) and not loader.argument("sampler").absent


def _judged(project: Project, loader: Loader, overwrite: Overwrite) -> _Use | None:
    """What a statement does with the workers of a loader; None if each epoch begins with the values that were read
    first, and the workers share nothing."""
    workers = loader.workers()
    if workers.kind in ("none", "opaque"):
        return _Use(overwrite, loader, "Without workers")
    if project.ask(Stores).persistent(loader) is not None:
        return _Use(overwrite, loader, "With persistent workers")
    regimes = project.regimes(loader)
    if not loader.has_workers:
        return _Use(overwrite, loader, f"If `{workers.text}` is 0")
    if loader.flag("persistent_workers") is None:
        return _Use(overwrite, loader, "If the workers are persistent")
    shared = [one for one in regimes if one.method != "fork"] if overwrite.part.in_tensor else []
    if shared:
        return _Use(overwrite, loader, f"Under {shared[0].described}", tuple(one.method for one in shared))
    if overwrite.part.kind == "container" and not overwrite.of_array:
        # Reading a list or dict copies its memory too: DLL302.
        return None
    if any(one.method == "fork" for one in regimes):
        return _Use(overwrite, loader, "", ("fork",))
    return None


def _place(overwrite: Overwrite) -> tuple[str, Span]:
    """Where item code takes the part, and could take a copy of it."""
    taken = overwrite.part.taken
    return (overwrite.run.file.path, overwrite.span) if taken is None else (taken.file.path, taken.event.span)


def _finding(project: Project, uses: list[_Use]) -> Finding:
    first = max(uses, key=lambda use: bool(use.when))
    overwrite = uses[0].overwrite
    path, span = _place(overwrite)
    taken = overwrite.part.taken
    file, expr = (overwrite.run.file, None) if taken is None else (taken.file, taken.expr)
    statements = dict.fromkeys((use.overwrite.run.file, use.overwrite.span) for use in uses)
    here = {(path, span)}
    changes = tuple(
        Place(file.path, span, "this changes it in place") for file, span in statements if (file.path, span) not in here
    )
    severity: Severity = "warning" if first.when else "info"
    return Finding(
        CODE,
        path,
        span,
        "pages" if not first.when else "gone" if overwrite.takes_out else "main",
        {
            "kept": f"{overwrite.part.holder.name}.{overwrite.part.attr}",
            "write": overwrite.text,
            "where": project.where(overwrite.run.file, overwrite.span),
            "when": first.when,
            "view": render(expr, file, 40) if expr is not None else overwrite.text,
            "copied": _copied([use.overwrite for use in uses]),
        },
        severity=severity,
        start_methods=first.methods,
        trace=project.trace(overwrite.run.run.hops),
        related=(*changes, *dict.fromkeys(_reader(project, use.loader) for use in uses)),
        statement=span,
    )


def _copied(overwrites: list[Overwrite]) -> str:
    """What makes a copy of the part."""
    kinds = {one.part.kind for one in overwrites}
    if "tensor" in kinds:
        return "`.clone()`"
    return "`.copy()`" if "array" in kinds or any(one.of_array for one in overwrites) else "`copy.deepcopy`"


def _reader(project: Project, loader: Loader) -> Place:
    return Place(loader.file.path, loader.span, f"this {loader.name} reads the dataset")


def judge(case: Case) -> Judgement:
    """A run does not compare the items of two epochs."""
    return case.inconclusive("its items were read; the run does not compare them between epochs")
