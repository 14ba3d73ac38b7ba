"""DLL306: a program keeps the batches of a loader with workers, and so their file descriptors and memory maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Expr
from dllint.finding import Finding, Fix, ReplaceExpression
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.array_sizes import mib
from dllint.project.loaders import Loader
from dllint.project.sharing import shares_by_file
from dllint.rules.causes import Causes, Use, worst
from dllint.rules.memory.kept_batches import Batches, KeptBatch
from dllint.rules.memory.prefetched_batches import ahead
from dllint.rules.memory.split_batches import SplitBatch, split_batches

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.observation import Kept

CODE = "DLL306"
PER_BATCH = 0.5
"""Descriptors gained per batch from which the program counts as keeping batches."""
_SHOWN = 1 << 20


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Use] = Causes()
    for kept in project.ask(Batches).kept():
        # Without workers, a cycle only repeats the batches; that changes nothing where their order is fixed.
        if not project.regimes(kept.loader) and not (kept.how == "cycle" and kept.loader.flag("shuffle")):
            continue
        place = _place(project, kept.loader)
        if place is not None and kept.how != "cycle":
            continue
        finding = _finding(kept, place, ahead(project, kept.loader))
        causes.add(Use(finding, project.loader_place(kept.loader)), (kept.file.path, kept.span))
    for loader in project.loaders:
        if not project.regimes(loader) or not loader.workers().possible or shares_by_file(project, loader):
            continue
        for split in split_batches(project, loader):
            cause = (split.function.file.path, split.span)
            causes.add(Use(_of_split(split), project.loader_place(loader), split.total), cause)
    yield from map(worst, causes)


def _of_split(split: SplitBatch) -> Finding:
    values: dict[str, str | int] = {"collate": split.function.name, "tensors": split.tensors, "total": split.total}
    return Finding(CODE, split.function.file.path, split.span, "split", values, statement=split.statement)


def _place(project: Project, loader: Loader) -> str | None:
    """Which memory a batch that is kept takes, in words, where it may take no file descriptor; else None."""
    pinned = loader.flag("pin_memory")
    if not project.regimes(loader):
        return "memory"
    if pinned or (pinned is None and loader.named_anywhere("pin_memory")):
        return "page-locked memory" if pinned else "memory"
    return "shared memory" if shares_by_file(project, loader) else None


def _finding(kept: KeptBatch, place: str | None, waiting: int | None) -> Finding:
    if place is not None:
        return Finding(CODE, kept.file.path, kept.span, "repeats", {"place": place}, statement=kept.statement)
    message = {"list": "collected", "tuple": "collected", "cycle": "cycle", "comprehension": "collected"}.get(kept.how)
    values = {"what": render(kept.expr, kept.file) if kept.expr is not None else "", "how": kept.how}
    shown = waiting is not None and waiting >= _SHOWN
    values["ahead"] = f" (plus about {mib(waiting)} of prefetched batches)" if waiting and shown else ""
    if message is None:
        whole, part = ("batch_cpu", "part_cpu") if kept.on_cpu else ("batch", "part")
        message = whole if kept.expr is None else part
    return Finding(
        CODE,
        kept.file.path,
        kept.span,
        message,
        values,
        severity="info" if kept.on_cpu else None,
        fixes=_fixes(kept),
        statement=kept.statement,
    )


def _fixes(kept: KeptBatch) -> tuple[Fix, ...]:
    """The fix that appends a copy, if a plain tensor or array is appended."""
    if kept.how != "append" or kept.expr is None or kept.value_span is None or not _plain(kept.expr, kept.file):
        return ()
    method = "copy" if _is_array(kept.expr, kept.file) else "clone"
    code = f"{render(kept.expr, kept.file, 200)}.{method}()"
    edit = ReplaceExpression(kept.file.path, kept.value_span, code)
    return (Fix(f"Keep a copy instead of the batch: `{code}`", "safe", (edit,)),)


def _plain(expr: Expr, file: SourceFile) -> bool:
    """Whether an expression is a name with attributes and method calls without arguments."""
    if isinstance(expr, Name):
        return True
    if isinstance(expr, Attribute):
        return _plain(expr.value, file)
    if isinstance(expr, CallRef):
        call = file.calls[expr.index]
        return isinstance(call.func, Attribute) and not call.args and _plain(call.func.value, file)
    return False


def _is_array(expr: Expr, file: SourceFile) -> bool:
    return bool(isinstance(expr, CallRef) and last_name(file.calls[expr.index].func) == "numpy")


def judge(case: Case) -> Judgement:
    """Does the loop gain tensors in shared memory, and their descriptors, with every batch?"""
    if case.finding.message == "split":
        failure = case.failure
        return case.confirmed(failure) if failure else case.inconclusive("this run stayed below the limit")
    kept = [(run, one) for run in case.runs for one in run.kept if one.batches > 2]
    if not kept:
        return case.inconclusive("too few batches arrived to see growth")
    kept = [(run, one) for run, one in kept if _more_than_prefetched(run, one)] or kept
    run, most = max(kept, key=lambda pair: pair[1].maps_a_batch)
    if most.maps_a_batch < PER_BATCH and case.finding.message == "repeats":
        return case.inconclusive("batches in page-locked memory are not counted")
    if most.maps_a_batch < PER_BATCH:
        return case.refuted(
            f"{most.maps_a_batch:.1f} more tensors in shared memory per batch, over {most.batches} batches"
        )
    if not _more_than_prefetched(run, most):
        return case.inconclusive(f"over {most.batches} batches, prefetched batches may explain the growth")
    if most.fds_a_batch >= PER_BATCH:
        values = run.limits.values if run.limits is not None else {}
        nofile, count = values.get("nofile"), _batches_until_full(run, most)
        end = f": the limit is {nofile:,}, reached after about {count:,} batches" if count else ""
        return case.confirmed(
            f"{most.fds_a_batch:.1f} more file descriptors per batch, over {most.batches} batches{end}"
        )
    return case.confirmed(f"{most.maps_a_batch:.1f} more memory maps per batch, over {most.batches} batches")


def _batches_until_full(run: LoaderRun, kept: Kept) -> int:
    """The number of batches that can be kept before descriptors run out; 0 if unknown.

    The loader itself needs four descriptors per worker and three more, besides those that were open before it started:
    measured with 2, 4 and 8 workers by keeping batches until the program failed.
    """
    values = run.limits.values if run.limits is not None else {}
    nofile, before = values.get("nofile"), values.get("fds")
    if not isinstance(nofile, int):
        return 0
    # A batch has a whole number of tensors; prefetched batches make the measured slope vary.
    whole = run.first_batch.storages if run.first_batch is not None else 0
    each = whole if whole and abs(kept.fds_a_batch - whole) <= whole / 4 else kept.fds_a_batch
    taken = (before if isinstance(before, int) else 0) + 4 * run.count + 3
    return max(int((nofile - taken) / each), 0)


def _more_than_prefetched(run: LoaderRun, kept: Kept) -> bool:
    """Whether the growth exceeds what prefetched batches, made before their turn, and the one in use can explain."""
    storages = max(1, run.first_batch.storages if run.first_batch is not None else 1)
    gained = kept.maps_a_batch * (kept.batches - 2)
    if kept.gained is not None:
        gained = min(gained, kept.gained)
    return gained > (run.prefetch_factor * run.count + 1) * storages


def concerns(run: LoaderRun) -> bool:
    return bool(run.kept)
