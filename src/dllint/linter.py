"""The pipeline: paths → files → facts → project → rules → findings.

Everything above goes through `check` (files on disk) or `check_sources` (texts in memory).
"""

from __future__ import annotations

import contextvars
import gc
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dllint import config, files, notebooks, registry, roots, screen, suppressions
from dllint.cache_directory import default_directory
from dllint.config import Settings
from dllint.files import Unreadable
from dllint.finding import SEVERITIES, Finding, shown_only
from dllint.kept_reports import Edits, Kept, KeptReports, content_digest, digest_of
from dllint.modules import ModuleIndex
from dllint.notebooks import CellText, NotANotebook
from dllint.profiling import Profile, current, profiled
from dllint.readiness import Survival, judge
from dllint.reading import Lookups, lookups
from dllint.registry import Rule
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.facts.schema import FileFacts
    from dllint.project.model import Project

UNREADABLE = "DLL001"
FRAMES = 4000
EDITED_FILES = 20
"""Files that are parsed to learn whether their edits matter; with more of them they do."""
DEEP_FRAMES = 60_000
DEEP_STACK_BYTES = 512 * 2**20
"""For a rule that met the limit of `FRAMES`. Address space only: pages that are not touched cost nothing."""
TOP_FILES = ("setup.py", "setup.cfg", "requirements.txt", "environment.yml", "LICENSE", "README.md", "README.rst")
"""Files that usually stand at the top of a project."""


@dataclass(frozen=True)
class Execution:
    """How a check is run; nothing here changes what is found.

    Attributes:
        jobs: processes that parse; `None` takes as many as there are processors.
        cache: keep facts from one run to the next.
        respect_gitignore: leave out what git ignores.
        force_exclude: excluded paths stay out even when they are named.
        progress: called with the number of files read so far and of all.
        visit: called with the linked project when its rules have run.
        unsaved: contents by absolute path, in the place of what the disk has.
        edited: Python texts by path, in the place of what their files hold; for a notebook, the text of its cells.
        last: the process ends after this check, so that nothing of it needs to be given back.
        edits_of: what the edits of a report's fixes change in the texts, where that is to be kept with it.
        profile: count where the time goes; nothing is answered from an earlier report.
    """

    jobs: int | None = None
    cache: bool = True
    respect_gitignore: bool = True
    force_exclude: bool = False
    progress: Callable[[int, int], None] | None = None
    visit: Callable[[Project], None] | None = None
    unsaved: Mapping[str, str | bytes] = field(default_factory=dict)
    edited: Mapping[str, str] = field(default_factory=dict)
    last: bool = False
    edits_of: Callable[[Report], Edits] | None = None
    profile: bool = False


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes:
        findings: by path and place.
        files_checked: number of requested files that were checked.
        files_skipped: number of requested files that could not be read, decoded or parsed.
        problems: errors that are not findings, one line each: something was not checked.
        warnings: remarks that are not failures, one line each.
        notes: how the project's root was found, where no file marks it, one line each.
        asked: the files that the check is about.
        sources: texts of the files that findings, their traces and their fixes name.
        notebooks: texts that are made of cells, by path. Places are lines of that text, and its `place` gives the cell.
        survival: whether the project works under forkserver, where that is the only default of the targets.
        limits: how often each limit of the analysis was met, by its name; values beyond a limit count as unknown.
        known: findings that a baseline lists, which `findings` are without; None where no baseline was asked.
        edits: what the edits of a fix change in the texts, for those that can be carried out; empty unless asked for.
        profile: where the time went; None unless asked for.
    """

    findings: tuple[Finding, ...] = ()
    files_checked: int = 0
    files_skipped: int = 0
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()
    sources: Mapping[str, str] = field(default_factory=dict)
    notebooks: Mapping[str, CellText] = field(default_factory=dict)
    survival: Survival | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    known: tuple[Finding, ...] | None = None
    edits: Edits = field(default_factory=dict)
    profile: Profile | None = None

    @property
    def incomplete(self) -> bool:
        """Whether something was not checked."""
        return bool(self.problems) or self.files_skipped > 0


def check(paths: Sequence[str], settings: Settings, execution: Execution = Execution()) -> Report:
    """Check files and directories.

    The rest of their project is read too, since hazards cross files. A finding is reported when its place, a hop of
    its trace or a related place lies in a file that was asked for.
    """
    selection = select(paths, settings, execution)
    if selection.files and not config.has_project_mark(settings.root):
        named = [path for path in map(os.path.abspath, paths) if os.path.isdir(path)]
        settings = replace(settings, root=roots.by_imports(selection.files, execution.unsaved, named))
        if settings.root not in map(os.path.abspath, paths):
            selection.notes.append(
                f"no pyproject.toml or .git marks the project; {settings.root} is taken as its root, "
                "the topmost directory that imports resolve from"
            )
    run = _Run(settings, set(selection.files), selection.problems, selection.warnings, selection.notes)
    around = _around(selection.files, settings, execution)
    run.problems += [one for one in around.problems if one not in run.problems]
    _read(run, {*selection.files, *around.files}, execution.unsaved, execution.edited)
    return _kept_or_found(run, execution)


def _kept_or_found(run: _Run, execution: Execution) -> Report:
    """The report of the last check where nothing has changed since, else what a new one finds."""
    anew = execution.unsaved or execution.edited or execution.visit or execution.profile
    if not execution.cache or anew or run.notebooks:
        return _with_edits(_check(run, execution), execution)
    kept_reports = KeptReports(cache_directory(run.settings))
    unreadable = {path: repr((why.message, why.values)) for path, why in run.unreadable.items()}
    digest = digest_of(run.settings, run.asked, run.contents, run.texts, unreadable)
    kept = kept_reports.get(digest)
    if kept is not None and (kept.edits is not None or execution.edits_of is None):
        return _as_kept(run, kept)
    problems = list(run.problems)
    noted: Lookups = {}
    if kept is None:
        # The contents have changed, but perhaps nothing that the analysis or the report reads of them.
        seen = _digest_of_facts(run, execution, EDITED_FILES)
        kept = kept_reports.get(seen) if seen is not None else None
        if kept is not None and kept.digests != {path: content_digest(run.contents[path]) for path in kept.named}:
            kept = None
    report = _check(run, execution, noted) if kept is None else _as_kept(run, kept)
    if kept is None or kept.edits is None:
        report = _with_edits(report, execution)
    # A rule that crashed says nothing of what it would have found the next time.
    if run.problems == problems:
        worth = _worth_keeping(run, report, noted if kept is None else kept.lookups, execution)
        for name in (digest, _digest_of_facts(run, execution)):
            if name is not None:
                kept_reports.put(name, worth)
    return report


def _digest_of_facts(run: _Run, execution: Execution, most: int | None = None) -> str | None:
    """The name of a report by what the analysis and the report read of the files: facts, which are equal where an edit
    moves nothing, comments with suppressions, and of files that do not matter only that they are there.

    `most` is how many files may have to be parsed for it. None where there are more, or where facts are not kept.
    """
    from dllint.facts.cache import Cache
    from dllint.facts.parse import parse_all

    cache = Cache(cache_directory(run.settings))
    texts = _texts_to_parse(run)
    facts = {path: cache.digest(text) for path, text in texts.items() if path not in run.unreadable}
    missing = {path: texts[path] for path, digest in facts.items() if digest is None}
    if missing and (most is None or len(missing) > most):
        return None
    parsed = parse_all(missing, cache, execution.jobs)
    run.unreadable.update(parsed.unreadable)
    for path in missing:
        facts[path] = b"" if path in parsed.unreadable else cache.digest(texts[path])
    seen = {path: facts.get(path, b"") for path in run.contents}
    for path, text in run.texts.items():
        if path in seen and suppressions.could_suppress(text):
            seen[path] = (seen[path] or b"") + run.contents[path]
    known = {path: one for path, one in seen.items() if one is not None}
    unreadable = {path: repr((why.message, why.values, why.span)) for path, why in run.unreadable.items()}
    return digest_of(run.settings, run.asked, known, {"by facts": ""}, unreadable) if len(known) == len(seen) else None


def _worth_keeping(run: _Run, report: Report, noted: Lookups, execution: Execution) -> Kept:
    return Kept(
        report.findings,
        report.files_checked,
        report.files_skipped,
        tuple(report.sources),
        report.survival,
        report.limits,
        report.edits if execution.edits_of is not None else None,
        noted,
        {path: content_digest(run.contents[path]) for path in report.sources},
    )


def _as_kept(run: _Run, kept: Kept) -> Report:
    _decode(run, kept.named)
    return Report(
        kept.findings,
        kept.files_checked,
        kept.files_skipped,
        tuple(run.problems),
        tuple(run.warnings),
        tuple(run.notes),
        asked=frozenset(run.asked),
        sources={path: run.texts[path] for path in kept.named},
        survival=kept.survival,
        limits=kept.limits,
        edits=kept.edits or {},
    )


def _with_edits(report: Report, execution: Execution) -> Report:
    return replace(report, edits=execution.edits_of(report)) if execution.edits_of is not None else report


def check_sources(sources: Mapping[str, str | bytes], settings: Settings = Settings(root="")) -> Report:
    """Check texts by path, which need not exist on disk."""
    run = _Run(settings, set(sources))
    _read(run, sources, sources)
    return _check(run, Execution(jobs=1, cache=False))


@dataclass(frozen=True)
class Linked:
    """The project around a file. `unreadable` holds files that gave no facts, each with the line and the reason."""

    project: Project
    unreadable: Mapping[str, tuple[int, str]]


def link(path: str, settings: Settings, execution: Execution = Execution()) -> Linked:
    """The project around a file, whatever the file holds.

    All files from the project's top directory on are parsed, since launchers stand upstream. Where nothing marks that
    directory, it is the nearest one with a file that usually stands there.
    """
    path = os.path.abspath(path)
    if not config.has_project_mark(settings.root):
        settings = replace(settings, root=_likely_top(os.path.dirname(path)))
    inside = files.discover([settings.root], settings, respect_gitignore=execution.respect_gitignore).files
    run = _Run(settings, {path})
    _read(run, {path, *inside}, execution.unsaved)
    project = _project(run, _facts(run, execution, everything=True))
    reasons = {
        one: (why.span.line, str(why.values.get("reason") or why.values.get("encoding", "")))
        for one, why in run.unreadable.items()
    }
    return Linked(project, reasons)


def _likely_top(directory: str) -> str:
    home = os.path.expanduser("~")
    here = directory
    while here not in (home, os.path.dirname(here)):
        if any(os.path.exists(os.path.join(here, name)) for name in TOP_FILES):
            return here
        here = os.path.dirname(here)
    return directory


def select(paths: Sequence[str], settings: Settings, execution: Execution = Execution()) -> files.Discovery:
    """The files that a check of `paths` is about."""
    unsaved = [path for path in map(os.path.abspath, paths) if path in execution.unsaved]
    found = files.discover(
        [path for path in paths if os.path.abspath(path) not in execution.unsaved],
        settings,
        respect_gitignore=execution.respect_gitignore,
        force_exclude=execution.force_exclude,
    )
    found.files = sorted({*found.files, *unsaved})
    return found


@dataclass
class _Run:
    """What is known while a check runs."""

    settings: Settings
    asked: set[str]
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)
    notebooks: dict[str, CellText] = field(default_factory=dict)
    to_parse: dict[str, str] | None = None


def _around(asked: Sequence[str], settings: Settings, execution: Execution) -> files.Discovery:
    """The other files of the project, so that a file is judged alike alone and with its project."""
    if not asked:
        return files.Discovery()
    if roots.is_crowded(settings.root):
        return files.Discovery(roots.imported(asked, settings.root, execution.unsaved))
    return files.discover([settings.root], settings, respect_gitignore=execution.respect_gitignore)


def cache_directory(settings: Settings) -> str:
    """Where the facts of the project's files are kept between runs."""
    return settings.cache_dir or default_directory()


def _read(
    run: _Run,
    paths: Iterable[str],
    unsaved: Mapping[str, str | bytes],
    edited: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Put the contents of files into the run, or why they cannot be read."""
    for path in sorted(paths):
        try:
            given = unsaved[path] if path in unsaved else files.read(path)
        except files.CannotRead as error:
            run.unreadable[path] = Unreadable("read", {"reason": error.reason})
            continue
        if path.endswith(notebooks.SUFFIX):
            _read_notebook(run, path, given if isinstance(given, bytes) else given.encode("utf-8", "replace"), edited)
            continue
        given = edited.get(path, given)
        if isinstance(given, str):
            run.texts[path] = given
            given = given.encode("utf-8", "replace")
        run.contents[path] = given


def _read_notebook(run: _Run, path: str, data: bytes, edited: Mapping[str, str]) -> None:
    """Put the texts of a notebook into the run: that of its cells, and those of the files that its cells write."""
    try:
        notebook = notebooks.read(path, data)
    except NotANotebook as error:
        run.unreadable[path] = Unreadable("main", {"reason": error.reason}, Span(error.line, 1, error.line, 1))
        return
    if not notebook.texts and path in run.asked:
        run.notes.append(f"{path}: not checked: its language is {notebook.language!r}, not Python")
        run.asked.discard(path)
    for name, cells in notebook.texts.items():
        run.notebooks[name] = cells
        run.texts[name] = edited.get(name, cells.text)
        run.contents[name] = run.texts[name].encode("utf-8", "replace")
        if path in run.asked:
            run.asked.add(name)


def _decode(run: _Run, paths: Iterable[str]) -> None:
    for path in paths:
        if path in run.texts:
            continue
        try:
            run.texts[path] = files.decode(run.contents[path])
        except files.Undecodable as error:
            span = Span(error.line, 1, error.line, 1)
            if error.message.startswith("invalid "):
                what, _, reason = error.message.removeprefix("invalid ").partition(": ")
                run.unreadable[path] = Unreadable("decode", {"encoding": what, "reason": reason}, span)
            else:
                run.unreadable[path] = Unreadable("main", {"reason": error.message}, span)


def _check(run: _Run, execution: Execution, noted: Lookups | None = None) -> Report:
    """What a check finds. `noted` takes what is asked of the disk on the way."""
    with _room(execution.last), profiled(execution.profile) as profile:
        with _step("reading"):
            facts = _facts(run, execution)
        with lookups() as asked:
            report = replace(_found(run, facts, execution), profile=profile)
    if noted is not None:
        noted.update(asked)
    return report


def _found(run: _Run, facts: Mapping[str, FileFacts], execution: Execution) -> Report:
    with _step("linking"):
        project = _project(run, facts)
    report = _report(run, _reported(run, _findings(run, project)))
    if execution.visit is not None:
        execution.visit(project)
    return replace(report, survival=judge(project, report.findings), limits=limits_met(project))


def _step(name: str) -> AbstractContextManager[None]:
    """Counts the time of a step or a rule, where that is wanted."""
    profile = current()
    return nullcontext() if profile is None else profile.step(name)


def limits_met(project: Project) -> Mapping[str, int]:
    """How often each limit of the analysis was met so far, by its name."""
    return project.world.limits


@contextmanager
def _room(last: bool) -> Iterator[None]:
    """Frames for questions that ask questions: the model bounds their depth, at more than Python's default. And no
    collector: facts and answers are all kept to the end, so that looking through them again and again frees nothing.
    In the end it takes a tenth of the time to free them, which the end of a process does at once."""
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, FRAMES))
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last and not gc.get_freeze_count():
            gc.freeze()
        if collecting:
            gc.enable()
        sys.setrecursionlimit(frames)


def _with_more_room(rule: Rule, project: Project, options: Mapping[str, Any]) -> list[Finding]:
    """What a rule finds in a thread whose stack holds many times the frames: code that nests deeper than usual.

    Raises:
        RecursionError: that is not enough either.
    """
    outcome: list[list[Finding] | BaseException] = []

    def work() -> None:
        try:
            assert rule.check is not None
            outcome.append(list(rule.check(project, options)))
        except BaseException as error:
            outcome.append(error)

    frames, stack = sys.getrecursionlimit(), threading.stack_size(DEEP_STACK_BYTES)
    try:
        sys.setrecursionlimit(DEEP_FRAMES)
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(work,), daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _screened(run: _Run) -> set[str]:
    """The files that can matter."""
    from dllint.libraries.index import WORDS

    given = run.settings
    others = (*given.loaders, *given.datasets, *given.mmap_stores, *given.openers, *given.unpicklable)
    words = WORDS.with_names(given.launchers, (*others, *given.cuda_calls))
    return screen.select(run.contents, ModuleIndex(run.contents), words)


def _facts(run: _Run, execution: Execution, everything: bool = False) -> Mapping[str, FileFacts]:
    """What the files say that can matter, or all of them."""
    from dllint.facts.cache import Cache
    from dllint.facts.parse import parse_all

    cache = Cache(cache_directory(run.settings) if execution.cache else None)
    parsed = parse_all(_texts_to_parse(run, everything), cache, execution.jobs, execution.progress)
    run.unreadable.update(parsed.unreadable)
    return parsed.facts


def _texts_to_parse(run: _Run, everything: bool = False) -> Mapping[str, str]:
    """The texts of the files that can matter, or of all, and of those that may be no Python."""
    from dllint.facts.parse import is_plainly_valid

    if run.to_parse is None:
        mattering = set(run.contents) if everything else _screened(run)
        _decode(run, mattering | (run.asked & run.contents.keys()))
        texts = run.texts.items()
        run.to_parse = {path: text for path, text in texts if path in mattering}
        run.to_parse |= {path: text for path, text in texts if path not in mattering and not is_plainly_valid(text)}
    return run.to_parse


def _project(run: _Run, facts: Mapping[str, FileFacts]) -> Project:
    """The files linked."""
    from dllint.project.model import Project

    return Project.load(facts, run.settings, run.contents, run.notebooks)


def _findings(run: _Run, project: Project) -> Iterator[Finding]:
    """What the enabled rules find. A rule that crashes is a problem of its own; the others still run."""
    for rule in registry.rules():
        if not run.settings.selects(rule.code, rule.page.preview):
            continue
        if rule.check is None:
            continue
        found: list[Finding] = []
        options = rule.options(run.settings.rules.get(rule.code, {}))
        try:
            with _step(rule.code):
                try:
                    found.extend(_told(finding, rule) for finding in rule.check(project, options))
                except RecursionError:
                    found = [_told(finding, rule) for finding in _with_more_room(rule, project, options)]
        except Exception as error:
            if os.environ.get("DLLINT_DEBUG"):
                traceback.print_exc()
            run.problems.append(_internal_error(rule.code, error))
        yield from found


def _internal_error(code: str, error: Exception) -> str:
    """One line: the rule, the file that it was reading, and how to go on."""
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


def _told(finding: Finding, rule: Rule) -> Finding:
    """The finding with what its rule's page says: name, severity, text, remedy and address. No error rests on a method
    that is found by its name alone."""
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


def _reported(run: _Run, found: Iterable[Finding]) -> Iterator[Finding]:
    """The findings that no comment and no pattern silences, with those about the comments themselves."""
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
                about = [_told(one, known[one.code]) for one in suppressions.review(path, comments, known, enabled)]
                here += suppressions.apply([one for one in about if enabled(one.code)], comments)
        lower = weighs_less(path)
        yield from (_lowered(one) if lower else one for one in here if _concerns(one, run.asked))


def _lowered(finding: Finding) -> Finding:
    """The finding with the next lower severity, and with fixes that are shown only: nobody asked for other tests and
    examples. Those about the check itself keep theirs."""
    if finding.code.startswith("DLL0") or finding.severity is None:
        return finding
    severity = SEVERITIES[max(SEVERITIES.index(finding.severity) - 1, 0)]
    return replace(finding, severity=severity, fixes=tuple(map(shown_only, finding.fixes)))


def _concerns(finding: Finding, asked: Set[str]) -> bool:
    places = (*finding.trace, *finding.related)
    return finding.path in asked or any(place.path in asked for place in places)


def per_file_ignores(settings: Settings) -> Callable[[str], tuple[str, ...]]:
    """For a path the codes and prefixes left out there. Patterns start from the configuration's directory."""
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
    """Whether findings in a file weigh less, by its path below the top of the project: a project whose own folder is
    called `examples` keeps its severities."""
    if not settings.lower_severity:
        return lambda path: False
    from dllint.gitignore import Patterns

    base = os.path.dirname(settings.origin) if settings.origin else settings.root
    spec = Patterns(settings.lower_severity)

    def matches(path: str) -> bool:
        inside = os.path.relpath(path, base).replace(os.sep, "/")
        return not inside.startswith("../") and spec.covers(inside)

    return matches


def _report(run: _Run, findings: Iterable[Finding]) -> Report:
    from dllint.rules.near_copies import said_once

    unreadable = [
        _told(Finding(UNREADABLE, path, why.span, why.message, why.values), rule)
        for rule in registry.rules()
        if rule.code == UNREADABLE
        for path, why in run.unreadable.items()
        # Nothing imports a notebook: another broken one takes nothing from this check.
        if path in run.asked or not _file_of(run, path).endswith(notebooks.SUFFIX)
    ]
    by_place = sorted(findings, key=lambda one: (one.path, one.span, one.code, one.text))
    once = said_once(by_place, run.texts)
    ordered = sorted([*unreadable, *once], key=lambda one: (one.path, one.span, one.code, one.text))
    named = {path for one in ordered for path in _paths(one)}
    return Report(
        findings=tuple(ordered),
        files_checked=len({_file_of(run, path) for path in run.asked} - run.unreadable.keys()),
        files_skipped=len(unreadable),
        problems=tuple(run.problems),
        warnings=tuple(run.warnings),
        notes=tuple(run.notes),
        asked=frozenset(run.asked),
        sources={path: run.texts[path] for path in named if path in run.texts},
        notebooks={path: run.notebooks[path] for path in named if path in run.notebooks},
    )


def _file_of(run: _Run, path: str) -> str:
    """The file on disk that a text is in."""
    cells = run.notebooks.get(path)
    return path if cells is None else cells.notebook


def _paths(finding: Finding) -> Iterator[str]:
    yield finding.path
    for place in (*finding.trace, *finding.related):
        yield place.path
    for fix in finding.fixes:
        for edit in fix.edits:
            yield edit.path
