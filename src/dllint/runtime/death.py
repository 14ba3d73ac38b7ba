"""Why the program died or hung: match the last failure to the finding that caused it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dllint import registry
from dllint.evidence.failures import is_pickling, meaning, out_of_descriptors, passed_on, timed_out, worker_died
from dllint.evidence.loader_runs import LoaderRun, Seen
from dllint.evidence.places import touches
from dllint.evidence.storage_limits import walls_of
from dllint.evidence.thresholds import NEAR
from dllint.evidence.wording import describe, said
from dllint.finding import Finding
from dllint.observation import End
from dllint.rules.pickling.pickling_verdict import KINDS, pickling_code
from dllint.runtime.discover import found_by_run

ENDINGS = ("SystemExit", "KeyboardInterrupt", "EnoughSeen")
PICKLING = "an object that is sent to workers cannot be pickled"
NO_ITEM = "an item from a worker cannot be pickled: it never arrives, and the loader waits forever"

NO_DESCRIPTOR = "a worker had no file descriptor left to send a batch: it never arrives, and the loader waits forever"

THREADS_GONE = "a forked worker used native threads that only its parent has"


@dataclass(frozen=True)
class Death:
    """Why the program ended, and the finding that explains it.

    Attributes:
        finding: one of the judged findings, or a new one.
        how: "died" or "hung".
        message: the exception in a line, "" for a hang without one.
        cause: its cause, in a sentence.
    """

    finding: Finding
    how: str
    message: str
    cause: str


@dataclass(frozen=True)
class _Failure:
    """A failure with the rules whose hazard can cause it, most likely first."""

    message: str
    codes: tuple[str, ...]
    cause: str
    end: End | None
    runs: tuple[LoaderRun, ...]


_SENT, _KEPT = "DLL303", "DLL306"
"""The rules about tensors that workers are sent, and about batches that a program keeps. Any program can run out of
descriptors, of maps or of threads: these rules are to blame only with what the run counted."""


def explain(seen: Seen, findings: Sequence[Finding]) -> Death | None:
    """Return the finding that ended the program; `None` if its failure is unrelated to data loading."""
    for failure in _failures(seen, findings):
        codes = tuple(code for code in failure.codes if _is_possible(code, failure, seen, findings))
        if not codes:
            continue
        failure = replace(failure, codes=codes)
        blamed = _blame(failure, seen, findings)
        if blamed is not None:
            how = "hung" if seen.hung else "died"
            return Death(blamed, how, failure.message, failure.cause)
    return None


def _is_possible(code: str, failure: _Failure, seen: Seen, findings: Sequence[Finding]) -> bool:
    """Whether what the run counted allows a rule to be the cause of a failure."""
    if code == _KEPT:
        return any(finding.code == code and finding.verdict in ("confirmed", "inconclusive") for finding in findings)
    if code != _SENT:
        return True
    runs = [run for run in failure.runs or seen.runs if run.count and run.method and not run.forked]
    return any(run.storages is None or run.storages.exception or _is_crowded(run) for run in runs)


def _failures(seen: Seen, findings: Sequence[Finding]) -> Iterator[_Failure]:
    """Yield what may have ended the program: hangs, the main process's own failure, then failures of its children,
    which the main process may have passed on only as an exit code."""
    main = seen.main.pid if seen.main is not None else None
    ends = [end for end in seen.ends if end.exception and end.exception.rpartition(".")[2] not in ENDINGS]
    first = [end for end in reversed(ends) if end.pid == main]
    others = [end for end in reversed(ends) if end.pid != main]
    if seen.hung:
        yield from _hangs(seen, "")
    for end in first[:1]:
        text = f"{end.exception}: {end.text}\n{end.traceback}"
        failure = _classified(text, said(end.exception, end.text), end, seen)
        if timed_out(text):
            yield from _hangs(seen, said(end.exception, end.text))
        elif failure is not None:
            yield failure
        elif not (worker_died(text) or passed_on(text)):
            return
    for end in others:
        told = said(end.exception, end.text)
        failure = _classified(f"{end.exception}: {end.text}\n{end.traceback}", told, end, seen)
        if failure is not None:
            yield failure
    if first and worker_died(f"{first[0].exception}: {first[0].text}"):
        # Any package can crash. Only a judge that knows the line says whose crash it is.
        for finding in findings:
            runs = tuple(run for run in seen.matching(finding) if seen.crashes(run, finding))
            if finding.code == "DLL109" and finding.verdict == "confirmed" and runs:
                message = said(first[0].exception, first[0].text)
                yield _Failure(message, ("DLL109",), THREADS_GONE, first[0], runs)
        runs = tuple(run for run in seen.runs if run.storages is not None and run.storages.temporary)
        if runs:
            cause = "pickling made a tensor that is gone before the worker receives it"
            yield _Failure(said(first[0].exception, first[0].text), ("DLL206",), cause, first[0], runs)


def _classified(text: str, message: str, end: End, seen: Seen) -> _Failure | None:
    sign = meaning(text)
    failing = tuple(run for run in seen.runs if run.failures)
    if sign is not None:
        return _Failure(message, sign.codes, sign.cause, end, failing)
    if not is_pickling(text):
        return None
    if any(is_pickling(f"{error}: {told}") for run in failing for error, told in run.failures):
        code = pickling_code(text, failing[-1].loader)
        return _Failure(message, (code, *(one for one in KINDS if one != code)), PICKLING, end, failing)
    return _Failure(message, ("DLL207",), "a function that is sent to a process cannot be pickled", end, ())


def _hangs(seen: Seen, message: str) -> Iterator[_Failure]:
    """Yield possible reasons for a hang; `message` is the program's error when it gave up, "" if it did not."""
    for run in seen.runs:
        for feeder in run.feeders:
            told = said(feeder.exception, feeder.text)
            if out_of_descriptors(f"{feeder.exception}: {feeder.text}"):
                yield _Failure(told, ("DLL306", "DLL303"), NO_DESCRIPTOR, None, (run,))
            else:
                yield _Failure(told, ("DLL205",), NO_ITEM, None, (run,))
    stuck = tuple(run for run in seen.runs if run.forked and run.count and run.iterated and not run.batches)
    if stuck:
        where = describe(stuck[0].loader.site)
        cause = f"the forked workers of {where} wait for a thread or a lock that only their parent had"
        yield _Failure(message, ("DLL107", "DLL402", "DLL205"), cause, None, stuck)
    crowded = tuple(run for run in seen.runs if run.iterated and run.count and _is_crowded(run))
    if crowded:
        cause = (
            "near the limit of file descriptors, sending a tensor to a worker fails in a background thread, "
            "and the loader waits forever"
        )
        yield _Failure(message, ("DLL303",), cause, None, crowded)


def _is_crowded(run: LoaderRun) -> bool:
    """Whether a loader sends its workers nearly as many tensors as a limit allows."""
    return run.method is not None and any(sent >= NEAR * wall.most for wall, sent in walls_of(run, run.method))


def _blame(failure: _Failure, seen: Seen, findings: Sequence[Finding]) -> Finding | None:
    """Return the best match: a finding of the failing loader, or on a line of the traceback; else `None`."""
    frames = [] if failure.end is None else [failure.end.site, *failure.end.frames]
    ranked: list[tuple[int, int, int, Finding]] = []
    for order, finding in enumerate(findings):
        if finding.code not in failure.codes or (finding.origin == "static" and seen.where_executed(finding) is None):
            continue
        on_line = any(touches(site, finding) for site in frames)
        own = any(run in failure.runs for run in seen.matching(finding))
        if on_line or own or (not failure.runs and _subject(finding.code) == "program"):
            decided = finding.verdict not in ("confirmed", "latent")
            ranked.append((failure.codes.index(finding.code) + 10 * decided, 1 - on_line, order, finding))
    if ranked:
        return min(ranked, key=lambda one: one[:3])[3]
    if failure.end is None and failure.codes[0] != "DLL205":
        return None
    if _subject(failure.codes[0]) == "line":
        # A NameError alone may be any bug.
        return None
    run = failure.runs[-1] if failure.runs else None
    site = run.loader.site if run is not None else failure.end.site if failure.end is not None else None
    if site is None and failure.end is not None and failure.end.frames:
        site = failure.end.frames[-1]
    rule = registry.find(failure.codes[0])
    return found_by_run(rule, site, run) if site is not None and rule is not None else None


def _subject(code: str) -> str:
    rule = registry.find(code)
    return rule.page.run.subject if rule is not None else "workers"
