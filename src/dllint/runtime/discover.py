"""Hazards that only the run found: the judges asked about loaders that no finding concerns.

A hazard of which the static check already speaks at the same loader is not told again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dllint import registry
from dllint.finding import Finding, Place
from dllint.observation import Site
from dllint.runtime.judges import JUDGES
from dllint.runtime.judges.case import MIB, NEAR, NOTICEABLE, Case
from dllint.runtime.judges.memory import COPIES, growth
from dllint.runtime.judges.pickling import errors
from dllint.runtime.judges.threads import OWN
from dllint.runtime.sites import LoaderRun, Seen
from dllint.span import Span

TEXT: Mapping[str, str] = {
    "DLL101": "The workers of this DataLoader start by the method that launched the process they belong to",
    "DLL102": "A process was started while the main module was imported again",
    "DLL103": "A forked worker of this DataLoader uses CUDA",
    "DLL104": "This DataLoader has workers and runs in a daemonic process, which may start none",
    "DLL105": "The start method was already fixed here",
    "DLL106": "A child of the forkserver uses CUDA that the server has initialized",
    "DLL107": "Forked workers of this DataLoader wait for what only their parent had",
    "DLL201": "A lambda reaches the workers of this DataLoader, which cannot be pickled",
    "DLL202": "A local function, class or an instance of one reaches the workers of this DataLoader",
    "DLL203": "An object that cannot be pickled reaches the workers of this DataLoader",
    "DLL204": "A function that is given to this DataLoader cannot be pickled",
    "DLL205": "Items of this DataLoader's workers cannot be pickled, so that they never arrive",
    "DLL206": "Pickling for the workers of this DataLoader makes tensors that are gone before they arrive",
    "DLL207": "A function that is sent to a process cannot be pickled",
    "DLL301": "Each worker of this DataLoader that is not forked gets a copy of the arrays of its dataset",
    "DLL302": "The forked workers of this DataLoader copy the memory of its dataset, page by page",
    "DLL303": "The dataset of this DataLoader holds about as many tensor storages as can be sent to workers",
    "DLL304": "The workers of this DataLoader grow with every epoch",
    "DLL306": "Batches of this DataLoader are kept, and each holds descriptors",
    "DLL307": "The batches of this DataLoader fill /dev/shm",
    "DLL401": "The workers of this DataLoader map the same pages, and RSS counts them in each",
    "DLL402": "The workers of this DataLoader read by a handle that their parent opened",
    "DLL501": "The workers of this DataLoader start a pool of threads each",
    "DLL601": "The workers of this DataLoader deliver the same items",
    "DLL602": "The workers of this DataLoader draw the same random numbers",
    "DLL603": "The workers of this DataLoader are seeded alike",
    "DLL604": "The workers of this DataLoader are started for a batch at a time",
    "DLL605": "This DataLoader has options for workers, and no workers",
    "DLL607": "An epoch of this DataLoader ends before its data",
    "DLL608": "This object of multiprocessing has no such member",
}
ALIKE = (
    {"DLL103", "DLL106"},
    {"DLL301", "DLL404"},
    {"DLL302", "DLL304"},
    {"DLL501", "DLL502", "DLL503"},
    {"DLL602", "DLL603"},
    {"DLL206", "DLL203"},
)
"""Rules between which a run cannot tell: a finding of one speaks for the others."""
MANY_MAPPED = 64 * MIB
MANY_THREADS = 2


def _inherits(run: LoaderRun) -> bool:
    process = run.process
    nonfork = run.method in ("spawn", "forkserver")
    return nonfork and run.loader.method is None and process is not None and process.start_method == run.method


def _grown(run: LoaderRun, kind: str) -> bool:
    grown = growth(run)
    return grown is not None and grown.most_own >= NOTICEABLE and grown.kind == kind


def _mapped(run: LoaderRun) -> bool:
    grown = growth(run)
    return grown is not None and grown.workers > 1 and grown.rss_last - grown.rss_first >= MANY_MAPPED


ASKED: Mapping[str, Callable[[LoaderRun], bool]] = {
    "DLL101": _inherits,
    "DLL103": lambda run: bool(run.cuda),
    "DLL104": lambda run: bool(run.failures),
    **{
        code: lambda run, code=code: any(one.code == code for one in errors(run))  # type: ignore[misc]
        for code in ("DLL201", "DLL202", "DLL203", "DLL204")
    },
    "DLL205": lambda run: bool(run.feeders),
    "DLL206": lambda run: run.storages is not None and run.storages.temporary > 0,
    "DLL301": lambda run: run.storages is not None and run.storages.array_bytes * run.count >= NEAR * COPIES,
    "DLL302": lambda run: run.forked and _grown(run, "copied"),
    "DLL303": lambda run: run.storages is not None and run.storages.storages > 0,
    "DLL304": lambda run: _grown(run, "allocated"),
    "DLL306": lambda run: bool(run.kept),
    "DLL307": lambda run: run.loader.arguments.get("batch_size", 1) is None and run.first_batch is not None,
    "DLL401": _mapped,
    "DLL402": lambda run: any(one.shared and one.moved and one.used for one in run.handles),
    "DLL501": lambda run: any(
        "cv2" in one.libraries and one.after - one.start - OWN >= MANY_THREADS for one in run.threads
    ),
    "DLL601": lambda run: run.loader.iterable,
    "DLL602": lambda run: bool(run.draws),
    "DLL603": lambda run: bool(run.draws),
    "DLL604": lambda run: len(run.iterations) > 1,
    "DLL607": lambda run: not run.loader.iterable,
}
"""The rules that a run is asked for, each with what a loader must have shown for it."""


def discover(seen: Seen, told: Sequence[Finding], allowed: Mapping[str, str]) -> Iterator[Finding]:
    """Hazards at loaders that no finding in `told` speaks of, confirmed or latent."""
    spoken = [(finding.code, {id(run) for run in seen.matching(finding)}) for finding in told]
    for site, runs in _by_site(seen.runs):
        here = {id(run) for run in runs}
        for code, asked in ASKED.items():
            group = next((codes for codes in ALIKE if code in codes), {code})
            if any(other in group and here & matched for other, matched in spoken):
                continue
            asked_of = tuple(run for run in runs if run.count and asked(run))
            if not asked_of:
                continue
            finding = found_by_run(code, _place(code, site, asked_of), asked_of[0])
            judgement = JUDGES[code](Case(finding, asked_of, seen, allowed))
            if judgement.verdict in ("confirmed", "latent"):
                spoken.append((code, here))
                yield replace(finding, verdict=judgement.verdict, evidence=judgement.evidence)


def _by_site(runs: Iterable[LoaderRun]) -> list[tuple[Site, list[LoaderRun]]]:
    found: dict[Site, list[LoaderRun]] = {}
    for run in runs:
        if run.loader.site is not None:
            found.setdefault(run.loader.site, []).append(run)
    return list(found.items())


def _place(code: str, site: Site, runs: Sequence[LoaderRun]) -> Site:
    """Batches are kept where the loader is iterated; all else is a matter of where it is built."""
    if code == "DLL306":
        return next((one.site for run in runs for one in run.iterations if one.site is not None), site)
    return site


def found_by_run(code: str, site: Site, run: LoaderRun | None = None) -> Finding:
    """A finding of a hazard that was seen at a place, as its rule would tell it."""
    span = site.span or Span(site.line, 1, site.line, 1)
    related: tuple[Place, ...] = ()
    if run is not None and run.loader.site is not None and run.loader.site != site:
        built = run.loader.site
        related = (Place(built.path, built.span or Span(built.line, 1, built.line, 1), "this DataLoader"),)
    rule = registry.find(code)
    if rule is None:
        return Finding(code, site.path, span, severity="warning", text=TEXT[code], related=related, origin="runtime")
    page = rule.page
    plain = [text for text in (page.help.get("main"), *page.help.values()) if text and not re.search(r"\{\w", text)]
    return Finding(
        code,
        site.path,
        span,
        severity=page.severity,
        related=related,
        name=page.name,
        text=TEXT.get(code, page.summary),
        help=plain[0] if plain else "",
        url=Path(page.path).as_uri(),
        origin="runtime",
    )
