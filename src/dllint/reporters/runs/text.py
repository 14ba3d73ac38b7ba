"""The report of a run for people: findings with verdicts, a summary per loader, how the program ended and why."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable

from dllint.finding import VERDICTS, Finding, Verdict
from dllint.linter import Report
from dllint.reporters import Style
from dllint.reporters.frame import Paint
from dllint.reporters.source import counted, plain, shown_path
from dllint.reporters.text import block, location
from dllint.run_report import Exit, LoaderReport, Prediction, RunReport

SHOWN_WHOLE: tuple[Verdict, ...] = ("confirmed", "latent", "inconclusive")
"""The verdicts of findings that are shown with their source; the others get one line each."""
MOST_UNREACHED = 12
"""Maximum number of shown findings that the run did not reach."""
MOST_WRITTEN = 20
"""Maximum number of written files that are shown."""
_FAR = 0.5
MOST_STACK = 12
"""Maximum number of lines of one process's stack that are shown."""


def render(report: RunReport, style: Style) -> str:
    paint = Paint(style.color)
    ordered = by_verdict(report.findings)
    whole = Report(tuple(ordered), sources=report.sources)
    blocks = [list(block(finding, whole, style)) for finding in ordered if finding.verdict in SHOWN_WHOLE]
    brief = [_brief(finding, paint, style) for finding in ordered if finding.verdict == "refuted"]
    unreached = [finding for finding in ordered if finding.verdict in ("not reached", None)]
    brief += [_brief(finding, paint, style) for finding in unreached[:MOST_UNREACHED]]
    if len(unreached) > MOST_UNREACHED:
        brief.append(f"{paint.label('not reached')} and {len(unreached) - MOST_UNREACHED} more (JSON lists them)")
    blocks += [brief] if brief else []
    if not style.quiet:
        blocks += [list(_loader(one, paint, style)) for one in report.loaders]
        blocks += [list(_others(report, paint, style))]
    blocks += [list(_ending(report, paint, style))]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def by_verdict(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by verdict, those that need fixing first."""
    return sorted(
        findings, key=lambda one: (VERDICTS.index(one.verdict or "not reached"), one.path, one.span, one.code)
    )


def ending_line(end: Exit) -> str:
    """Describe in a sentence how the program ended."""
    took = f" after {end.duration_s:.1f} s"
    if end.ending == "shortened":
        why = "the time limit was reached" if end.out_of_time else "it had seen enough"
        return f"dllint ended the program{took}: {why}."
    if end.ending == "interrupted":
        return f"The program was interrupted{took}."
    if end.ending == "hung":
        return f"The program hung, and dllint ended it{took}."
    if end.ending == "killed" and end.code is not None:
        return f"The program was killed by signal {abs(end.code)}{took}."
    return f"The program ended with exit code {end.code}{took}."


def _brief(finding: Finding, paint: Paint, style: Style) -> str:
    where = location(finding.path, finding.span.line, finding.span.column, finding.cell, style.directory)
    colour = paint.added if finding.verdict == "refuted" else paint.label
    evidence = f": {'; '.join(finding.evidence)}" if finding.evidence else ""
    return f"{colour(finding.verdict or '')} {paint.bold(finding.code)} {finding.name} {where}{evidence}"


def _loader(loader: LoaderReport, paint: Paint, style: Style) -> Iterable[str]:
    where = location(loader.site.path, loader.site.span.line, loader.site.span.column, None, style.directory)
    workers = loader.arguments.get("num_workers")
    how = counted(int(workers), "worker") if workers else "without workers"
    if workers:
        how += f" by {loader.start_method}" if loader.start_method else ", which were never started"
    dataset = f" of {loader.dataset}" if loader.dataset else ""
    yield f"{paint.bold(where)} {paint.label(loader.name)}{dataset}, {how}"
    yield from (f"  {line}" for line in loader.summary)
    far = []
    for prediction in loader.predictions:
        name = prediction.limit + (f" ({prediction.method})" if prediction.method else "")
        if _is_far(prediction):
            far.append(name)
            continue
        said = paint.removed("fails") if prediction.fails else paint.added("holds")
        yield f"  {name} {said}: {prediction.message}"
    if far:
        yield f"  {paint.added('below half of the limit')}: {', '.join(dict.fromkeys(far))}"


def _is_far(prediction: Prediction) -> bool:
    """Whether less than half of a limit is needed, so that it need not be shown."""
    need, available = prediction.need, prediction.available
    return not prediction.fails and need is not None and available is not None and need < _FAR * available


def _others(report: RunReport, paint: Paint, style: Style) -> Iterable[str]:
    if report.uninstrumented:
        yield f"{paint.bold('Not watched')}"
        yield from (f"  {line}" for line in report.uninstrumented)
    if report.redirected:
        yield f"{paint.bold('Written elsewhere')}, to keep your own files (--allow-saves writes in place)"
        yield from (f"  {meant} → {written}" for meant, written in report.redirected.items())
    if report.written:
        kept = f"copies are in {report.kept_in}" if report.kept_in else "--keep-writes DIR keeps copies"
        yield f"{paint.bold('Written by the program')}, and put aside: your files are as they were ({kept})"
        yield from (
            f"  {one.how} {plain(shown_path(one.path, style.directory))}" for one in report.written[:MOST_WRITTEN]
        )
        if len(report.written) > MOST_WRITTEN:
            yield f"  and {len(report.written) - MOST_WRITTEN} more (JSON lists them)"
    yield from (f"{paint.bold('note')}: {line}" for line in report.notes)


def _ending(report: RunReport, paint: Paint, style: Style) -> Iterable[str]:
    end = report.exit
    if not style.quiet:
        yield f"{paint.bold('$')} {shlex.join(report.command)}"
    yield ending_line(end)
    if end.message:
        yield f"  {end.message}"
    if end.cause:
        code = f"{paint.removed(end.explained)}: " if end.explained else ""
        yield f"  {code}{end.cause}"
    if end.ending == "hung":
        for pid, stack in end.stacks.items():
            yield f"  process {pid}:"
            yield from (f"    {line}" for line in stack.splitlines()[:MOST_STACK])
    counts = Counter(finding.verdict for finding in report.findings)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    line = f"{counted(len(report.findings), 'finding')}{': ' if told else ''}{told}."
    # Without a loader, no finding is no good news.
    yield line if report.loaders or told else f"{line[:-1]}, and nothing was judged: the program built no DataLoader."
