"""Run the rules over a linked project. A rule that crashes is reported, and the others still run."""

from __future__ import annotations

import functools
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dllint import registry
from dllint.finding import Finding, Severity, shown_only
from dllint.linter.frames import with_more_frames
from dllint.linter.inputs import Run
from dllint.profiling import current
from dllint.registry import Rule
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


def step(name: str) -> AbstractContextManager[None]:
    """Measure a step or a rule if a profile was requested."""
    profile = current()
    return nullcontext() if profile is None else profile.step(name)


def found_by_rules(run: Run, project: Project) -> Iterator[Finding]:
    """Yield the findings of the enabled rules. A rule that crashes is added to the problems; the others still run.

    The rules run again for the datasets that loaders are only assumed to read. What this adds is info.
    """
    enabled = [
        rule
        for rule in registry.rules()
        if run.settings.selects(rule.code, rule.page.preview) and rule.check is not None
    ]
    known: set[tuple[str, str, Span]] = set()
    for rule in enabled:
        for finding in _found_by(rule, run, project):
            known.add((finding.code, finding.path, finding.span))
            yield finding
    assuming = _assuming(run, project) if any(rule.page.about_datasets for rule in enabled) else None
    for rule in enabled if assuming is not None else ():
        assert assuming is not None
        if rule.page.about_datasets:
            for finding in _found_by(rule, run, assuming):
                place = (finding.code, finding.path, finding.span)
                if place not in known:
                    known.add(place)
                    yield _assumed(finding, assuming)


def _assuming(run: Run, project: Project) -> Project | None:
    """Return the project with the loaders that are assumed to read some datasets, as `Project.assuming`; if looking for
    them crashes, `None`, and add that to the problems."""
    try:
        return with_more_frames(lambda: project.assuming)
    except Exception as error:
        if os.environ.get("DLLINT_DEBUG"):
            traceback.print_exc()
        told = " ".join(f"{type(error).__name__}: {error}".split())
        run.problems.append(
            f"internal error in looking for datasets that no loader reads: {told}; findings about them may be missing"
        )
        return None


def _found_by(rule: Rule, run: Run, project: Project) -> list[Finding]:
    """Return the findings of a rule; if it crashes, none, and add that to the problems."""
    found: list[Finding] = []
    options = rule.options(run.settings.rules.get(rule.code, {}))
    try:
        with step(rule.code):
            with_more_frames(functools.partial(_find, found, rule, project, options))
    except Exception as error:
        if os.environ.get("DLLINT_DEBUG"):
            traceback.print_exc()
        run.problems.append(_internal_error(rule.code, error))
    return found


def _assumed(finding: Finding, project: Project) -> Finding:
    """Return a finding that assumes which dataset a loader reads: as info, in words that say so, with no fix to apply
    unseen."""
    places = {(place.path, place.span) for place in finding.related}
    loaders = [loader for loader in project.loaders if (loader.file.path, loader.span) in places] or project.loaders
    loader = loaders[0]
    return replace(
        finding,
        severity="info",
        text=f"{finding.text}. This assumes that the {loader.name} at {project.where(loader.file, loader.span)} reads "
        "such a dataset: no call in the project shows which it reads",
        fixes=tuple(map(shown_only, finding.fixes)),
        related=tuple(dict.fromkeys((*finding.related, project.loader_place(loader)))),
    )


def _find(found: list[Finding], rule: Rule, project: Project, options: Mapping[str, Any]) -> None:
    """Collect the findings of a rule, discarding those of an aborted attempt."""
    assert rule.check is not None
    found.clear()
    found.extend(_weighed(told(finding, rule), project) for finding in rule.check(project, options))


def _weighed(finding: Finding, project: Project) -> Finding:
    """Return the finding with the next lower severity if its code runs only with an option that is off by default: an
    error, or a warning that rests on the start method of a newer Python besides, which nobody has chosen either. An
    error whose way leads over an import that may mean another package is a warning, and so is one that needs a value
    which nothing in the project shows."""
    if finding.severity != "error" and not (finding.severity == "warning" and _is_of_newer_python(finding, project)):
        return finding
    from dllint.project.sibling_imports import SiblingImports
    from dllint.project.unchosen_paths import UnchosenPaths
    from dllint.project.unshown_values import UnshownValues

    if finding.severity == "error" and project.ask(SiblingImports).crossed(finding):
        return replace(finding, severity="warning")
    condition = project.ask(UnchosenPaths).condition(finding)
    if condition is None and finding.severity == "error":
        condition = project.ask(UnshownValues).condition(finding)
    if condition is None:
        return finding
    lower: Severity = "warning" if finding.severity == "error" else "info"
    return replace(finding, severity=lower, related=(*finding.related, condition))


def _is_of_newer_python(finding: Finding, project: Project) -> bool:
    """Whether a finding rests on the default start method of the newest Python alone."""
    defaults = project.targets.default_start_methods()
    where = defaults.get("forkserver", "") if len(defaults) > 1 else ""
    return bool(where) and any(isinstance(one, str) and where in one for one in finding.values.values())


def _internal_error(code: str, error: Exception) -> str:
    """Return one line with the rule, the file that it was reading, and how to continue."""
    from dllint.linking.source import SourceFile

    path = None
    frame = error.__traceback__
    while frame is not None:
        files = (one.path for one in frame.tb_frame.f_locals.values() if isinstance(one, SourceFile))
        path = next(files, path)
        frame = frame.tb_next
    where = f" at {os.path.relpath(path)}" if path else ""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    leave = f"`--extend-exclude {os.path.relpath(path)}` or " if path else ""
    return (
        f"internal error in {code}{where}: {told}; it may miss findings, those of other rules stand. "
        f"To go on, leave it out with {leave}`--ignore {code}`"
    )


def told(finding: Finding, rule: Rule) -> Finding:
    """Return the finding with the name, severity, text, help and URL from its rule's page. If its trace depends on a
    method resolved by name alone, an error becomes a warning."""
    page = rule.page
    severity = finding.severity or page.severity
    if severity == "error" and any(place.guessed for place in finding.trace):
        severity = "warning"
    return replace(
        finding,
        name=page.name,
        severity=severity,
        text=page.render(finding.message, finding.values),
        help=page.remedy(finding.message, finding.values),
        url=finding.url or Path(page.path).as_uri(),
    )
