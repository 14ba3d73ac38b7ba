"""Hazards that only the run found: rules applied to loaders that no finding concerns.

A hazard that the static check already reports at the same loader is not reported again, unless the run did not execute
the lines of that finding: then others have the same defect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dllint import registry
from dllint.evidence.judgement import Case
from dllint.evidence.loader_runs import LoaderRun, Seen
from dllint.finding import Finding, Place
from dllint.observation import Site
from dllint.registry import Rule
from dllint.span import Span


def discover(seen: Seen, told: Sequence[Finding], allowed: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the confirmed or latent hazards at loaders for which `told` has no finding of the rule."""
    executed = [finding for finding in told if seen.where_executed(finding) is not None]
    spoken = [(finding.code, {id(run) for run in seen.matching(finding)}) for finding in executed]
    for site, runs in _by_site(seen.runs):
        here = {id(run) for run in runs}
        for rule in registry.rules():
            judge, concerns = rule.judge, rule.concerns
            if judge is None or concerns is None:
                continue
            if any(code in rule.alike and here & matched for code, matched in spoken):
                continue
            concerned = tuple(run for run in runs if run.count and concerns(run))
            if not concerned:
                continue
            finding = found_by_run(rule, _place(rule, site, concerned), concerned[0])
            judgement = judge(Case(finding, concerned, seen, allowed))
            if judgement.verdict in ("confirmed", "latent"):
                spoken.append((rule.code, here))
                yield replace(finding, verdict=judgement.verdict, evidence=judgement.evidence)


def _by_site(runs: Iterable[LoaderRun]) -> list[tuple[Site, list[LoaderRun]]]:
    found: dict[Site, list[LoaderRun]] = {}
    for run in runs:
        if run.loader.site is not None:
            found.setdefault(run.loader.site, []).append(run)
    return list(found.items())


def _place(rule: Rule, site: Site, runs: Sequence[LoaderRun]) -> Site:
    if rule.page.run.place == "iteration":
        return next((one.site for run in runs for one in run.iterations if one.site is not None), site)
    return site


def found_by_run(rule: Rule, site: Site, run: LoaderRun | None = None) -> Finding:
    """Return a finding for a hazard that the run saw at a place, with the texts of the rule's page."""
    related: tuple[Place, ...] = ()
    if run is not None and run.loader.site is not None and run.loader.site != site:
        related = (Place(run.loader.site.path, _span(run.loader.site), "this DataLoader"),)
    page = rule.page
    plain = [text for text in (page.help.get("main"), *page.help.values()) if text and not re.search(r"\{\w", text)]
    return Finding(
        page.code,
        site.path,
        _span(site),
        severity=page.severity,
        related=related,
        name=page.name,
        text=page.run.text or page.summary,
        help=plain[0] if plain else "",
        url=Path(page.path).as_uri(),
        origin="runtime",
    )


def _span(site: Site) -> Span:
    return site.span or Span(site.line, 1, site.line, 1)
