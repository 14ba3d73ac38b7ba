"""Verdicts: judge each static finding by the run, and turn hazards that only the run saw into findings.

confirmed     the run showed it
latent        harmless under the start method of this run, but fails under another one that the targets allow
refuted       it was reached, and measured to be absent
inconclusive  it was reached, and a clean run proves nothing, as with races
not reached   its loader was not built or not iterated, or ran without workers
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from dllint import registry
from dllint.evidence.definitions import loader_calls
from dllint.evidence.judgement import Case, Judgement
from dllint.evidence.loader_runs import Seen
from dllint.evidence.places import is_at
from dllint.evidence.wording import describe
from dllint.finding import Finding
from dllint.observation import Observation
from dllint.runtime.death import Death, explain
from dllint.runtime.discover import discover

DECIDED = ("confirmed", "latent")


@dataclass(frozen=True)
class Confirmed:
    """The findings with their verdicts, and the one that ended the program; `None` if none did."""

    findings: tuple[Finding, ...]
    death: Death | None = None


def confirm(
    findings: Iterable[Finding],
    observation: Observation,
    *,
    allowed: Mapping[str, str],
    hung: bool = False,
    failed: bool = False,
    selects: Callable[[str], bool] = lambda code: True,
) -> Confirmed:
    """Judge findings by a run.

    Args:
        allowed: the start methods that are a default on some target, with a description of the targets.
        hung: the program was ended because it made no progress any more.
        failed: the program ended with a failure, or was killed.
        selects: whether a rule is enabled; hazards that only the run saw are reported for enabled rules.
    """
    seen = Seen(observation, hung, allowed)
    judged = [_told(finding, _with_places(finding, judge(finding, seen, allowed), seen)) for finding in findings]
    judged += [one for one in discover(seen, judged, allowed) if selects(one.code)]
    death = explain(seen, judged) if hung or failed else None
    if death is not None and selects(death.finding.code):
        judged = [*_blamed(judged, death)]
    else:
        death = None
    return Confirmed(tuple(judged), death)


def judge(finding: Finding, seen: Seen, allowed: Mapping[str, str]) -> Judgement:
    """Judge one finding by the run; "not reached" if neither its line nor one with the same defect was executed."""
    executed = seen.where_executed(finding)
    if executed is None:
        return Case.not_reached(f"line {finding.span.line} was not executed in this run")
    judgement = _judged(executed, seen, allowed)
    if executed is finding or judgement.verdict == "not reached":
        return judgement
    ran, found = f"line {executed.span.line}", f"line {finding.span.line}"
    if executed.path != finding.path:
        ran, found = (f"{os.path.basename(one.path)}:{one.span.line}" for one in (executed, finding))
    return replace(judgement, evidence=(*judgement.evidence, f"this run executed {ran}, not {found}"))


def _judged(finding: Finding, seen: Seen, allowed: Mapping[str, str]) -> Judgement:
    runs = seen.matching(finding)
    rule = registry.find(finding.code)
    judge = rule.judge if rule is not None else None
    subject = rule.page.run.subject_of(finding.message) if rule is not None else "workers"
    if subject != "workers":
        if not runs and not seen.died_at(finding) and not seen.launched_at(finding) and judge is not None:
            told = judge(Case(finding, (), seen, allowed))
            by_line = subject == "line" and seen.executed_in(finding)
            return told if by_line else _unseen_line(told, seen.executed(finding))
        return judge(Case(finding, tuple(runs), seen, allowed)) if judge is not None else Case.inconclusive()
    if not runs:
        return Case.not_reached("this run did not build the DataLoader")
    iterated = [run for run in runs if run.iterated or run.loader.error]
    if not iterated:
        return Case.not_reached(f"the loader of {describe(runs[0].loader.site)} was built, and never iterated")
    with_workers = tuple(run for run in iterated if run.count)
    if not with_workers:
        return Case.not_reached(f"the loader of {describe(iterated[0].loader.site)} ran with 0 workers")
    if judge is None:
        return Case.inconclusive(
            f"the loader of {describe(with_workers[0].loader.site)} ran, but no measurement covers this"
        )
    return judge(Case(finding, with_workers, seen, allowed))


def _unseen_line(judgement: Judgement, executed: bool | None) -> Judgement:
    """Return a decided judgement unchanged; otherwise one for a line that ran unmeasured, or was not reached."""
    if judgement.verdict in DECIDED:
        return judgement
    if executed:
        return Case.inconclusive("the line ran, but the run measured nothing about it")
    return Case.not_reached("this run recorded nothing from there")


def _with_places(finding: Finding, judgement: Judgement, seen: Seen) -> Judgement:
    """Add the loader that was judged, if the finding names another one, and the launcher of its process."""
    return _with_launcher(finding, _with_loader(finding, judgement, seen), seen)


def _with_loader(finding: Finding, judgement: Judgement, seen: Seen) -> Judgement:
    """Add the place of the run's loader, where the first loader that the finding names was not built."""
    named = [one for one in finding.related if one.span in loader_calls(one.path)]
    runs = [run for run in seen.matching(finding) if run.iterated and run.loader.site is not None]
    if judgement.verdict == "not reached" or not named or not runs:
        return judgement
    if any(is_at(run.loader.site, named[0].path, named[0].span) for run in runs):
        return judgement
    line = f"in this run, the DataLoader is that of {describe(runs[0].loader.site)}"
    return replace(judgement, evidence=(*judgement.evidence, line))


def _with_launcher(finding: Finding, judgement: Judgement, seen: Seen) -> Judgement:
    """Add the launcher of the loader's process, as the run recorded it, to a decided judgement."""
    if judgement.verdict not in DECIDED:
        return judgement
    pids = {run.process.pid for run in seen.matching(finding) if run.process is not None}
    launch = next((one for one in seen.launches if one.child in pids and one.site is not None and one.method), None)
    if launch is None or launch.api == "DataLoader":
        return judgement
    line = f"the DataLoader is in a process that {launch.api} at {describe(launch.site)} started by {launch.method}"
    return replace(judgement, evidence=(*judgement.evidence, line))


def _told(finding: Finding, judgement: Judgement) -> Finding:
    return replace(finding, verdict=judgement.verdict, evidence=judgement.evidence)


def _adds(evidence: str, death: Death) -> bool:
    """Whether a line of evidence adds to the exception that ended the program."""
    return evidence.replace(death.message, "").strip() not in ("", "iter() raised", "the constructor raised")


def _blamed(findings: Iterable[Finding], death: Death) -> Iterator[Finding]:
    """Yield the findings, with the one that ended the program confirmed; it may be a new one."""
    line = f"the program {death.how}: {death.message}" if death.message else f"the program {death.how}"
    met = False
    for finding in findings:
        if finding is death.finding:
            met = True
            more = finding.evidence if finding.verdict in DECIDED else ()
            told = [one.removesuffix(f": {death.message}") for one in more if _adds(one, death)]
            yield replace(finding, verdict="confirmed", evidence=(line, *told))
        else:
            yield finding
    if not met:
        yield replace(death.finding, verdict="confirmed", evidence=(line,))
