"""DLL102: processes start by spawn or forkserver at the top level of a script, without a `__main__` guard."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.failures import meaning
from dllint.evidence.wording import listed, said
from dllint.facts.nodes import Attribute, CallRef, Name, Subscript
from dllint.facts.schema import Event
from dllint.finding import Applicability, Finding, Fix, GuardStatements, Place
from dllint.linking.expressions import names_in
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.rules.start_methods.top_level_starts import TopLevelStart, runs_on_until, top_level_starts
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL102"
_DEFINING = ("def", "class", "import", "global")


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    for file in project.files:
        starts = top_level_starts(project, file)
        if starts:
            yield _finding(project, starts)


def _finding(project: Project, starts: list[TopLevelStart]) -> Finding:
    """One finding per file: its first statement that starts processes, by a start method that the project sets if
    there is one."""
    shown = [start for start in starts if start.method.shown]
    # A test that a function makes out of sight of the statement may keep it from starting.
    sure = [start for start in shown if not start.tested]
    first = (sure or shown or starts)[0]
    values = {"statement": first.text, "method": first.method.name, "where": first.method.where}
    others = [start for start in starts if start.span != first.span]
    places = [
        *(project.loader_place(start.loader) for start in starts if start.loader is not None),
        *(Place(start.file.path, start.span, "this starts processes too", alike=True) for start in others),
    ]
    arrival = first.method.arrival
    return Finding(
        CODE,
        first.file.path,
        first.span,
        "main" if first.method.shown else "latent",
        values,
        severity="error" if sure else "warning",
        start_methods=tuple(dict.fromkeys(start.method.name for start in starts)),
        trace=project.chain(arrival, first.hops),
        related=tuple(dict.fromkeys(places)),
        fixes=_fixes(project, starts),
        statement=first.statement,
    )


def _fixes(project: Project, starts: list[TopLevelStart]) -> tuple[Fix, ...]:
    """The fixes that put a guard around everything from the first such statement to the last, or to the end of the file
    if what follows has an effect.

    The guard is safe if it contains only calls that certainly start processes, and no other file imports this one. The
    first fix also includes the preceding statements that create what the guarded ones use, since each worker would
    repeat them.

    There is no fix for a start in a block if calls remain above the guard: a script that trains in its loops prepares
    much there, which each worker would repeat. Nor is there one if a function of the file, or possibly a file that
    imports it, reads a name bound under the guard: workers would miss it.
    """
    file = starts[0].file
    first, last = _outermost(starts[0]), runs_on_until(file, starts[-1].statement)
    if first is None or any(start.region < 0 for start in starts):
        return ()
    moved = _events(file, first, last)
    if any(event.kind in _DEFINING for event in moved):
        return ()
    imported = any(file.path in project.import_graph.imports(other.path) for other in project.files)
    if not all(_stays_inside(file, event, imported) for event in moved):
        return ()
    calls = all(event.kind == "expr" and isinstance(event.value, CallRef) for event in moved)
    certain = all(start.certain for start in starts) and not _may_end(file, first)
    nested = any(start.region > 0 for start in starts)
    kind: Applicability = "safe" if calls and certain and not imported and not nested else "unsafe"
    title = 'Put it under `if __name__ == "__main__":`'
    narrow = Fix(title, kind, (GuardStatements(file.path, first, last),))
    makers = _makers(file, first, imported)
    if nested and any(file.calls[index].span < (makers or first) for index in file.calls_of(0)):
        return ()
    if makers is None:
        return (narrow,)
    wide = Fix(
        'Move it, and the statements that it needs, under `if __name__ == "__main__":`',
        "unsafe",
        (GuardStatements(file.path, makers, last),),
    )
    return (wide, narrow) if kind == "safe" else (wide,)


def _outermost(start: TopLevelStart) -> Span | None:
    """The statement of the module that contains a start; None if it begins above the clause that contains it."""
    file, header = start.file, start.statement
    for index in file.regions(max(start.region, 0)):
        region = file.facts.regions[index]
        if region.kind not in ("for", "while", "with", "if", "try"):
            return None
        header = region.span._replace(column=1) if not region.parent else region.span
    return header


def _may_end(file: SourceFile, first: Span) -> bool:
    """Whether a statement of the module above may end the program."""
    ends = any(event.span < first for event in file.scopes[0].events_of("raise", "assert"))
    leaving = (file.calls[index] for name in ("exit", "_exit", "quit") for index in file.facts.called.get(name, ()))
    return ends or any(call.scope == 0 and call.span < first for call in leaving)


def _events(file: SourceFile, first: Span, last: Span) -> list[Event]:
    """The top-level statements between two statements, including those in the block of the last one."""
    events = [event for event in file.scopes[0].events if event.detail != "comp"]
    below = (event.span for event in events if event.span.line > last.end_line and event.span.column == 1)
    end = min(((span.line, 0) for span in below), default=(sys.maxsize, 0))
    return [event for event in events if first.start <= event.span.start < end]


def _stays_inside(file: SourceFile, event: Event, imported: bool) -> bool:
    """Whether no function of the file, and no other file, reads a name that a top-level statement binds."""
    if event.kind == "expr" or event.target is None:
        return True
    names = names_in(event.target, file)
    if imported and event.kind == "assign" and any(not name.startswith("_") for name in names):
        return False
    return all(
        scope == 0 or name in file.bindings(scope) for name in names for scope in file.facts.loaded.get(name, ())
    )


def _makers(file: SourceFile, first: Span, imported: bool) -> Span | None:
    """The first of the calling assignments above a statement; None if there is none.

    Between the two nothing is defined or imported, and only names are bound that only the top level reads. A setting of
    an imported module (`Image.MAX_IMAGE_PIXELS = None`) stays where workers get it too.
    """
    above = [event for event in file.scopes[0].events if event.detail != "comp" and event.span < first]
    found = None
    for event in reversed(above):
        if event.kind in _DEFINING or not _stays_inside(file, event, imported) or _sets_a_module(file, event):
            break
        if event.region or event.kind != "assign" or not isinstance(event.target, Name):
            continue
        if any(call.statement == event.span for call in (file.calls[index] for index in file.calls_of(0))):
            found = event.span
    return found


def _sets_a_module(file: SourceFile, event: Event) -> bool:
    root = event.target
    while isinstance(root, (Attribute, Subscript)):
        root = root.value
    bound = file.bindings(0).get(root.id, []) if isinstance(root, Name) and root is not event.target else []
    return any(one.event is not None and one.event.kind == "import" for one in bound)


def judge(case: Case) -> Judgement:
    """Did a child start processes while it imported the main module?"""
    if case.died is not None:
        end, sign = case.died
        return case.confirmed(f"process {end.pid} died of {said(end.exception, end.text)}: {sign.cause}")
    if case.raised:
        return case.confirmed(case.raised[0])
    for trial in case.failed_trials:
        meant = meaning(f"{trial.text}\n{trial.stderr}")
        if meant is not None and CODE in meant.codes:
            return case.latent(f"fails under {case.where(trial.method)}: {meant.cause}")
    launched = case.seen.launched_at(case.finding)
    under = list(dict.fromkeys([*case.methods, *(one.method for one in launched if one.method)]))
    if not under:
        return case.not_reached("nothing started from there")
    if set(under) == {"fork"}:
        late = [f"a trial under {one.method} gave no answer" for one in case.failed_trials if one.stage == "timeout"]
        return case.inconclusive("it ran by fork, which needs no `__main__` guard", *dict.fromkeys(late))
    return case.refuted(f"it started by {listed(under)} and no process failed")
