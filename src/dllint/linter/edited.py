"""The report of an earlier check, kept after edits that change nothing that the analysis reads.

An edited file is of one of three kinds. The analysis did not look into it, and would not look into it or into any other
file after the edit. Or its facts are the same at other places, so that the places in the report move with the text. Or
other facts changed than those that the analysis read (`rereading`). In all other cases, and when in doubt, the project
is analysed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from dllint import files, roots, screen, suppressions
from dllint.facts.cache import Cache
from dllint.facts.parse import is_plainly_valid, parse_all
from dllint.facts.schema import FileFacts
from dllint.inference import limits
from dllint.kept_reports import Base, Edits, Kept, KeptReports, content_digest
from dllint.linter.inputs import EDITED_FILES, Run, cache_directory, decode, texts_to_parse, words_of
from dllint.linter.moved import Elsewhere, Move, moved, says_the_same, silences_the_same
from dllint.linter.report import Execution, Report
from dllint.rules.near_copies import said_once

if TYPE_CHECKING:
    from dllint.config import Settings
    from dllint.linter.rereading import ReadByAnalysis


def base_of(run: Run, report: str, reads: str) -> Base | None:
    """Return what the next check of the same files compares with; `None` if the files are too large for that.

    Args:
        report: the name of the report of this check.
        reads: the name of what its analysis read.
    """
    parsed, selection = texts_to_parse(run).keys(), run.selection
    if selection.left_out:
        return None
    return Base(
        report,
        {path: content.decode("latin-1") for path, content in run.contents.items() if path not in run.notebooks},
        sorted(parsed),
        sorted(selection.paths),
        sorted(run.texts.keys() - parsed),
        words_of(run.settings).to_json(),
        sorted(selection.packages),
        sorted(name.decode("latin-1") for name in selection.names),
        reads,
    )


def followed(
    run: Run, base: Base, name: str, kept_reports: KeptReports, execution: Execution
) -> tuple[Kept, Base] | None:
    """Return the report of an earlier check, moved along with the edits since, and what the next check compares with;
    `None` if they may change it.

    Args:
        base: what the earlier check read, of the same files.
        name: the name under which the report is stored.
    """
    old = {path: content.encode("latin-1") for path, content in base.contents.items()}
    if old.keys() != run.contents.keys() - run.notebooks.keys():
        return None
    changed = [path for path, content in old.items() if run.contents[path] != content]
    if len(changed) > EDITED_FILES:
        return None
    kept, edits_of = kept_reports.get(base.report), execution.edits_of
    if kept is None or (kept.edits is None and edits_of is not None):
        return None
    words, names = screen.Words.from_json(base.words), [one.encode("latin-1") for one in base.names]
    size = sum(len(run.contents[path]) for path in base.selected)
    if size > limits.CONNECTING_BYTES.most or not all(
        screen.selected_alike(old[path], run.contents[path], words, base.packages, names) for path in changed
    ):
        return None
    before, after = {}, {}
    for path in changed:
        try:
            before[path], after[path] = files.decode(old[path]), files.decode(run.contents[path])
        except files.Undecodable:
            return None
    read = {*base.parsed}
    mentioned = {*(one.path for one in kept.findings), *kept.named, *base.unparsed}
    for path in {*changed} - read:
        if path in mentioned or suppressions.could_suppress(after[path]) or not is_plainly_valid(after[path]):
            return None
    cache = Cache(cache_directory(run.settings))
    was, now = (
        parse_all({path: texts[path] for path in changed if path in read}, cache, 1) for texts in (before, after)
    )
    if was.unreadable or now.unreadable:
        return None
    decode(run, kept.named)
    report = Report(
        kept.findings,
        sources={path: before.get(path, run.texts[path]) for path in kept.named},
        notebooks={path: run.notebooks[path] for path in kept.named if path in run.notebooks},
        edits=kept.edits or {},
    )
    read_now: ReadByAnalysis | None = None

    def earlier() -> ReadByAnalysis | None:
        return read_now or _stored_reads(kept_reports, base.reads)

    try:
        for path, facts in was.facts.items():
            texts, shown = (before[path], after[path]), roots.shown(path, run.settings.root)
            pair = (facts, now.facts[path])
            report, reread = moved_report(report, path, shown, texts, pair, edits_of, earlier, run.settings)
            read_now = reread or read_now
    except Elsewhere:
        return None
    digests = {path: content_digest(run.contents[path]) for path in kept.named}
    edits = report.edits if edits_of is not None else None
    moved_along = replace(kept, findings=report.findings, edits=edits, digests=digests)
    kept_reports.put(name, moved_along)
    if read_now is not None:
        kept_reports.put_reads(name, read_now.to_json())
    contents = {path: run.contents[path].decode("latin-1") for path in base.contents}
    return moved_along, replace(base, report=name, contents=contents, reads=base.reads if read_now is None else name)


def _stored_reads(kept_reports: KeptReports, name: str) -> ReadByAnalysis | None:
    text = kept_reports.reads(name)
    if text is None:
        return None
    from dllint.linter.rereading import ReadByAnalysis

    return ReadByAnalysis.from_json(text)


def moved_report(
    report: Report,
    path: str,
    shown: str,
    texts: tuple[str, str],
    facts: tuple[FileFacts, FileFacts],
    edits_of: Callable[[Report], Edits] | None,
    reads: Callable[[], ReadByAnalysis | None],
    settings: Settings,
) -> tuple[Report, ReadByAnalysis | None]:
    """Return a report after an edit of a file that changes no facts, or none that the analysis reads.

    Args:
        path: the file.
        shown: its path as written in messages.
        texts: the file before and after.
        facts: those of both texts.
        edits_of: turns the fixes of a report into text edits.
        reads: returns what the analysis read, if it is known; if facts changed, what it would read now is returned.
        settings: those of the project.

    Raises:
        Elsewhere: the edit may change the findings.
    """
    move = Move(*texts)
    if not silences_the_same(*texts, move):
        raise Elsewhere
    after = None
    if not says_the_same(*facts, move):
        before = reads()
        after = before.after(path, facts, move, settings) if before is not None else None
        if after is None:
            raise Elsewhere
    if path not in report.sources:
        return report, after
    findings = sorted(
        (moved(one, path, shown, move) for one in report.findings),
        key=lambda one: (one.path, one.span, one.code, one.text),
    )
    sources = {**report.sources, path: texts[1]}
    # Whether two files with findings are near copies depends on their texts.
    copies = {place.path for one in findings for place in one.related if place.alike}
    found = {one.path for one in findings}
    if path in copies or (path in found and (copies or said_once(findings, sources) != findings)):
        raise Elsewhere
    report = replace(report, findings=tuple(findings), sources=sources)
    return (report if edits_of is None else _with_edits(report, path, edits_of)), after


def _with_edits(report: Report, path: str, edits_of: Callable[[Report], Edits]) -> Report:
    """Return the report with the edits of its fixes recomputed for the new text of a file."""
    touching = tuple(
        one for one in report.findings if any(edit.path == path for fix in one.fixes for edit in fix.edits)
    )
    kept = {edits: made for edits, made in report.edits.items() if all(edit.path != path for edit in edits)}
    return replace(report, edits={**kept, **edits_of(replace(report, findings=touching))})
