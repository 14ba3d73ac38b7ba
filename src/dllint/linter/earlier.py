"""Reuses the report of an earlier check if nothing that the analysis reads has changed since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dllint import suppressions
from dllint.kept_reports import Kept, KeptReports, content_digest, digest_of
from dllint.linter.inputs import EDITED_FILES, Run, cache_directory, decode, texts_to_parse
from dllint.linter.report import Execution, Report
from dllint.reading import Lookups


def kept_or_found(run: Run, execution: Execution, analysed: Callable[[Lookups | None], Report]) -> Report:
    """Return the stored report of an earlier check if nothing has changed since, else that of a new one.

    `analysed` runs the new check and adds its questions about the disk to the given lookups.
    """
    anew = execution.unsaved or execution.edited or execution.visit or execution.profile
    if not execution.cache or anew:
        return _with_edits(analysed(None), execution)
    kept_reports = KeptReports(cache_directory(run.settings))
    unreadable = {path: repr((why.message, why.values)) for path, why in run.unreadable.items()}
    texts = _given_as_text(run)
    digest = digest_of(run.settings, run.asked, run.contents, texts, unreadable)
    kept = kept_reports.get(digest)
    if kept is not None and (kept.edits is not None or execution.edits_of is None):
        return _as_kept(run, kept)
    problems = list(run.problems)
    noted: Lookups = {}
    facts: str | None = None
    base = digest_of(run.settings, run.asked, dict.fromkeys(run.contents, b""), ["base", *texts], unreadable)
    if kept is None:
        # The contents have changed, but perhaps nothing that the analysis or the report reads, except places.
        kept = _after_edits(run, execution, kept_reports, digest, base)
        if kept is not None:
            return _as_kept(run, kept)
        facts, kept = _by_facts(run, execution, kept_reports)
    report = analysed(noted) if kept is None else _as_kept(run, kept)
    if kept is None or kept.edits is None:
        report = _with_edits(report, execution)
    # After a crash of a rule its findings are missing, so the report is not stored.
    if run.problems == problems:
        from dllint.linter.edited import base_of

        worth = _worth_keeping(run, report, noted if kept is None else kept.lookups, execution)
        facts = _digest_of_facts(run, execution) if kept is None else facts
        reads = (facts or digest) if kept is None or facts else ""
        for name in (digest, facts):
            if name is not None:
                kept_reports.put(name, worth)
        if run.reads is not None:
            kept_reports.put_reads(reads, run.reads.to_json())
        kept_reports.put_base(base, base_of(run, digest, reads))
    return report


def _after_edits(run: Run, execution: Execution, kept_reports: KeptReports, digest: str, base: str) -> Kept | None:
    """Return the report of the last check of the same files, moved along with the edits since; `None` if they may
    change it."""
    before = kept_reports.base(base)
    if before is None:
        return None
    from dllint.linter.edited import followed

    found = followed(run, before, digest, kept_reports, execution)
    if found is None:
        return None
    kept, after = found
    kept_reports.put_base(base, after)
    return kept


def _by_facts(run: Run, execution: Execution, kept_reports: KeptReports) -> tuple[str | None, Kept | None]:
    """Return the report of an earlier check of files with the same facts at the same places, after its name."""
    seen = _digest_of_facts(run, execution, EDITED_FILES)
    kept = kept_reports.get(seen) if seen is not None else None
    if kept is not None and kept.digests != {path: content_digest(run.contents[path]) for path in kept.named}:
        return None, None
    return seen, kept


def _digest_of_facts(run: Run, execution: Execution, most: int | None = None) -> str | None:
    """Return the name of a report by what the analysis and the report read of the files: facts, which are equal if an
    edit moves nothing; comments with suppressions; and for files that do not matter, only their existence.

    `most` is how many files may be parsed to compute it. `None` if it takes more, or if facts are not cached.
    """
    from dllint.facts.cache import Cache
    from dllint.facts.parse import parse_all

    cache = Cache(cache_directory(run.settings))
    texts = texts_to_parse(run)
    facts = {path: cache.digest(text) for path, text in texts.items() if path not in run.unreadable}
    missing = {path: texts[path] for path, digest in facts.items() if digest is None}
    if missing and (most is None or len(missing) > most):
        return None
    parsed = parse_all(missing, cache, execution.jobs)
    run.unreadable.update(parsed.unreadable)
    for path in missing:
        if path in parsed.unreadable:
            facts[path] = texts[path].encode("utf-8", "replace") if path in parsed.facts else b""
        else:
            facts[path] = cache.digest(texts[path])
    seen = {path: facts.get(path, b"") for path in run.contents}
    for path, text in run.texts.items():
        if path in seen and suppressions.could_suppress(text):
            seen[path] = (seen[path] or b"") + run.contents[path]
    known = {path: one for path, one in seen.items() if one is not None}
    unreadable = {path: repr((why.message, why.values, why.span)) for path, why in run.unreadable.items()}
    if len(known) < len(seen):
        return None
    return digest_of(run.settings, run.asked, known, ["by facts", *_given_as_text(run)], unreadable)


def _given_as_text(run: Run) -> list[str]:
    """Return the paths of notebooks, each with what maps the lines of its text to cells; not with their outputs."""
    return [
        repr((path, sorted(cells.masked), [(*part[::2], part.cell.number, part.cell.source) for part in cells.parts]))
        for path, cells in run.notebooks.items()
    ]


def _worth_keeping(run: Run, report: Report, noted: Lookups, execution: Execution) -> Kept:
    return Kept(
        report.findings,
        report.files_checked,
        report.files_skipped,
        tuple(report.sources),
        report.survival,
        report.postponed,
        report.limits,
        report.edits if execution.edits_of is not None else None,
        noted,
        {path: content_digest(run.contents[path]) for path in report.sources},
    )


def _as_kept(run: Run, kept: Kept) -> Report:
    decode(run, kept.named)
    return Report(
        kept.findings,
        kept.files_checked,
        kept.files_skipped,
        tuple(run.problems),
        tuple(run.warnings),
        tuple(run.notes),
        asked=frozenset(run.asked),
        sources={path: run.texts[path] for path in kept.named},
        notebooks={path: run.notebooks[path] for path in kept.named if path in run.notebooks},
        survival=kept.survival,
        postponed=kept.postponed,
        limits=kept.limits,
        edits=kept.edits or {},
    )


def _with_edits(report: Report, execution: Execution) -> Report:
    return replace(report, edits=execution.edits_of(report)) if execution.edits_of is not None else report
