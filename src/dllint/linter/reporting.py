"""Turn the findings of rules into the report: suppressions, ignored paths, lowered severities, near copies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace

from dllint import notebooks, registry, suppressions
from dllint.config import Settings
from dllint.finding import SEVERITIES, Finding, shown_only
from dllint.linter.inputs import Run, file_of
from dllint.linter.report import Report
from dllint.linter.rule_runs import told

UNREADABLE = "DLL001"


def not_silenced(run: Run, found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings that no comment and no pattern silences, and the findings about the comments themselves."""
    known = {rule.code: rule for rule in registry.rules()}
    by_path: dict[str, list[Finding]] = {path: [] for path in run.asked}
    for finding in found:
        by_path.setdefault(finding.path, []).append(finding)
    ignored_in = per_file_ignores(run.settings)
    weighs_less = _in_lower_severity(run.settings)
    for path, here in by_path.items():
        ignored = ignored_in(path)

        def enabled(code: str, ignored: tuple[str, ...] = ignored) -> bool:
            return run.settings.selects(code, known[code].page.preview) and not code.startswith(ignored)

        here = [one for one in here if not one.code.startswith(ignored)]
        if path in run.texts and suppressions.could_suppress(run.texts[path]):
            comments = suppressions.read(run.texts[path], registry.names())
            here = suppressions.apply(here, comments)
            if path in run.asked:
                about = [told(one, known[one.code]) for one in suppressions.review(path, comments, known, enabled)]
                here += suppressions.apply([one for one in about if enabled(one.code)], comments)
        for one in here:
            if _concerns(one, run.asked):
                # A call chain that starts in a test is attributed to the test.
                origin = one.trace[0].path if one.trace else path
                if _rests_on(one, run.settings.targets.later):
                    if run.settings.targets.postpones:
                        run.postponed += 1
                        continue
                    one = replace(one, severity="info")
                yield _lowered(one) if weighs_less(path) or weighs_less(origin) else one


def _rests_on(finding: Finding, later: str) -> bool:
    """Whether a finding rests on a default start method, and the project's pinned packages have no builds for the
    Python that brings it. `later` is where that is the default; "" for other projects."""
    values = finding.values.values() if later and finding.severity is not None else ()
    return any(isinstance(value, str) and later in value for value in values)


def _lowered(finding: Finding) -> Finding:
    """Return the finding with the next lower severity and with fixes as suggestions, because tests and examples are not
    the code to fix. Findings about the check itself are returned unchanged."""
    if finding.code.startswith("DLL0") or finding.severity is None:
        return finding
    severity = SEVERITIES[max(SEVERITIES.index(finding.severity) - 1, 0)]
    return replace(finding, severity=severity, fixes=tuple(map(shown_only, finding.fixes)))


def _concerns(finding: Finding, asked: Set[str]) -> bool:
    places = (*finding.trace, *finding.related)
    return finding.path in asked or any(place.path in asked for place in places)


def per_file_ignores(settings: Settings) -> Callable[[str], tuple[str, ...]]:
    """Return a function from a path to the codes ignored there; patterns start at the configuration's directory."""
    if not settings.per_file_ignores:
        return lambda path: ()
    from dllint.gitignore import Patterns

    base = os.path.dirname(settings.origin) if settings.origin else settings.root
    specs = [(Patterns([pattern]), codes) for pattern, codes in settings.per_file_ignores.items()]

    def ignored(path: str) -> tuple[str, ...]:
        inside = os.path.relpath(path, base).replace(os.sep, "/")
        return tuple(code for spec, codes in specs if spec.covers(inside) for code in codes)

    return ignored


def _in_lower_severity(settings: Settings) -> Callable[[str], bool]:
    """Return a predicate for files whose findings get a lower severity. Patterns match paths below the top of the
    project, so a project whose own folder is called `examples` keeps its severities."""
    if not settings.lower_severity:
        return lambda path: False
    from dllint.gitignore import Patterns

    base = os.path.dirname(settings.origin) if settings.origin else settings.root
    spec = Patterns(settings.lower_severity)

    def matches(path: str) -> bool:
        inside = os.path.relpath(path, base).replace(os.sep, "/")
        return not inside.startswith("../") and spec.covers(inside)

    return matches


def report_of(run: Run, findings: Iterable[Finding]) -> Report:
    from dllint.rules.near_copies import said_once

    unreadable = [
        told(Finding(UNREADABLE, path, why.span, why.message, why.values), rule)
        for rule in registry.rules()
        if rule.code == UNREADABLE
        for path, why in run.unreadable.items()
        # Nothing imports a notebook, so a broken one that was not asked for does not affect this check.
        if path in run.asked or not notebooks.is_notebook(file_of(run, path))
    ]
    by_place = sorted(findings, key=lambda one: (one.path, one.span, one.code, one.text))
    once = said_once(by_place, run.texts)
    ordered = sorted([*unreadable, *once], key=lambda one: (one.path, one.span, one.code, one.text))
    named = {path for one in ordered for path in _paths(one)}
    return Report(
        findings=tuple(ordered),
        files_checked=len({file_of(run, path) for path in run.asked} - run.unreadable.keys()),
        files_skipped=len(unreadable),
        problems=tuple(run.problems),
        warnings=tuple(run.warnings),
        notes=tuple(run.notes),
        asked=frozenset(run.asked),
        sources={path: run.texts[path] for path in named if path in run.texts},
        notebooks={path: run.notebooks[path] for path in named if path in run.notebooks},
    )


def _paths(finding: Finding) -> Iterator[str]:
    yield finding.path
    for place in (*finding.trace, *finding.related):
        yield place.path
    for fix in finding.fixes:
        for edit in fix.edits:
            yield edit.path
