"""The options that change files: `--fix`, `--diff` and `--add-ignore`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from dllint import files, linter, notebooks, suppressions
from dllint.commands.conclusion import Check, Request, conclude, tell_beside
from dllint.commands.exits import CLEAN, FAILED, FOUND
from dllint.commands.output import is_terminal, tell
from dllint.finding import Finding, shown_only
from dllint.fixes.diff import file_diff
from dllint.fixes.offers import offered
from dllint.fixes.passes import Applied, FixRun, fix_until_stable
from dllint.fixes.write import WriteError, encode, fixed_content, write_fixed
from dllint.linter import Execution, Report
from dllint.reporters.source import counted, plain, shown_path, split_lines


def mend(check: Check, report: Report) -> int:
    """Apply the fixes that the request allows, report what remains and return the exit code."""
    request, execution = check.request, check.execution
    if request.add_ignore:
        return _write_suppressions(check, report, _reader(report, execution))
    reports = [report]

    def findings(texts: Mapping[str, str]) -> tuple[Finding, ...]:
        # Without texts, after a fix was tried and refused, the files are again as the first report has them.
        reports.append(_checked(check, replace(execution, edited=texts)) if texts else report)
        return reports[-1].findings

    refused: dict[str, str] = {}
    while True:
        run = fix_until_stable(findings, _reader(report, execution, refused), request.unsafe_fixes)
        texts, refusals = _by_file(run.texts, report, execution)
        if not (request.stdin or request.diff):
            refusals |= _refusals(texts, check.settings.root)
        if not refusals:
            break
        # A fix that spans several files is applied to all of them or to none, so fixes of unwritable files are dropped
        # before anything is written.
        refused |= refusals
        del reports[1:]
    for failed in run.failed:
        if _file_of(failed.path, report) not in refused:
            where = f"{shown_path(failed.finding.path, os.getcwd())}:{failed.finding.span.line}"
            _say(f"warning: {where}: {failed.finding.code} was not fixed: {failed.reason}", request)
    if request.diff:
        return _print_diffs(request, run, replace(report, problems=(*report.problems, *refused.values())))
    late = _write_stdout(request, execution, texts) if request.stdin else _write(texts, check.settings.root)
    applied, final = run.applied, reports[-1]
    if late:
        applied = tuple(
            one for one in applied if not any(_file_of(edit.path, report) in late for edit in one.fix.edits)
        )
        final = _checked(check, execution)
    problems = (*final.problems, *refused.values(), *late.values())
    left = tuple(_not_applicable(one, {*refused, *late}, report) for one in final.findings)
    status = conclude(check, replace(final, findings=left, problems=problems), mended=len(applied))
    if applied:
        _summarize(request, applied, report)
    return status


def _checked(check: Check, execution: Execution) -> Report:
    return offered(linter.check(check.request.paths, check.settings, execution), check.settings)


def _not_applicable(finding: Finding, unwritable: Collection[str], report: Report) -> Finding:
    """Return a finding whose fixes in files that cannot be written are only shown: `--fix` would refuse them again."""
    fixes = tuple(
        shown_only(fix) if any(_file_of(edit.path, report) in unwritable for edit in fix.edits) else fix
        for fix in finding.fixes
    )
    return replace(finding, fixes=fixes)


def _file_of(path: str, report: Report) -> str:
    """Return the file that a source belongs to: itself, or the notebook whose cells it consists of."""
    return report.notebooks[path].notebook if path in report.notebooks else path


def _refusals(texts: Mapping[str, tuple[str, str]], root: str) -> dict[str, str]:
    """Return one line, by path, for each file that cannot be written."""
    found = {}
    for path, (old, new) in sorted(texts.items()):
        try:
            fixed_content(path, old, new, root)
        except WriteError as error:
            found[path] = str(error)
    return found


def _by_file(
    texts: Mapping[str, tuple[str, str]], report: Report, execution: Execution
) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Return the old and new contents of the files, with the texts of notebook cells merged into their notebooks, and
    one line for each notebook that cannot be changed."""
    found = {path: text for path, text in texts.items() if path not in report.notebooks}
    problems = {}
    for path in sorted({report.notebooks[path].notebook for path in texts if path in report.notebooks}):
        given = execution.unsaved.get(path)
        try:
            data = files.read(path) if given is None else given if isinstance(given, bytes) else given.encode()
            notebook = notebooks.read(path, data)
            inside = {name: text for name, text in texts.items() if name in notebook.texts}
            found[path] = notebook.document, notebooks.with_texts(notebook, inside)
        except (files.CannotRead, notebooks.NotANotebook, notebooks.CannotPlace) as error:
            problems[path] = f"{path}: not fixed: {error.reason}"
    return found, problems


def _write(texts: Mapping[str, tuple[str, str]], root: str) -> dict[str, str]:
    """Write each text to its file; return one line for each file that could not be written."""
    problems = {}
    for path, (old, new) in sorted(texts.items()):
        try:
            write_fixed(path, old, new, root)
        except WriteError as error:
            problems[path] = str(error)
    return problems


def _write_stdout(request: Request, execution: Execution, texts: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Write the content of standard input, fixed or unchanged, in its encoding; return a line if it was not fixed."""
    path = request.paths[0]
    given = execution.unsaved[path]
    original = given if isinstance(given, bytes) else given.encode()
    fixed, problems = original, {}
    if path in texts:
        try:
            fixed = encode(texts[path][1], original)
        except UnicodeEncodeError as error:
            lacking = f"its encoding, {error.encoding}, lacks a character of the fix"
            problems[path] = f"{path}: not fixed, because {lacking}"
    sys.stdout.flush()
    sys.stdout.buffer.write(fixed)
    sys.stdout.buffer.flush()
    return problems


def _print_diffs(request: Request, run: FixRun, report: Report) -> int:
    for path, (old, new) in sorted(run.texts.items()):
        cells = report.notebooks.get(path)
        shown = shown_path(path if cells is None else cells.notebook, os.getcwd())
        if cells is None:
            _write_diff(file_diff(shown, old, new))
            continue
        for cell, source in cells.changed_cells(new).items():
            _write_diff(file_diff(f"{shown}:cell {cell.number}", cell.source, source))
    # The diff shows no findings, and without these the exit code 2 would stand there alone.
    unreadable = [one for one in report.findings if one.code == suppressions.NEVER_SUPPRESSED]
    for one in unreadable:
        where = f"{shown_path(_file_of(one.path, report), os.getcwd())}:{one.span.line}"
        tell([f"{where}: {one.code} {one.text}"], "error")
    tell_beside(report, request)
    if run.texts:
        _say(f"Would fix {counted(len(run.applied), 'finding')} in {counted(len(run.texts), 'file')}.", request)
    if report.incomplete:
        return FAILED
    return FOUND if run.texts and not request.exit_zero else CLEAN


def _write_diff(diff: str) -> None:
    """Write a diff: to a terminal without control characters, elsewhere as `git apply` needs it."""
    if is_terminal(sys.stdout):
        lines = split_lines(diff.removesuffix("\n"))
        diff = "".join("\t".join(map(plain, line.split("\t"))) + "\n" for line in lines)
    sys.stdout.write(diff)


def _summarize(request: Request, applied: Sequence[Applied], report: Report) -> None:
    changed = {_file_of(edit.path, report) for one in applied for edit in one.fix.edits}
    _say(f"Fixed {counted(len(applied), 'finding')} in {counted(len(changed), 'file')}.", request)
    if request.show_fixes:
        by_file: dict[str, Counter[tuple[str, str]]] = {}
        for finding, _ in applied:
            by_file.setdefault(finding.path, Counter())[finding.code, finding.name] += 1
        for path, counts in sorted(by_file.items()):
            _say(f"  {shown_path(path, os.getcwd())}", request)
            for (code, name), count in sorted(counts.items()):
                _say(f"    {count} × {code} {name}", request)


def _write_suppressions(check: Check, report: Report, read: Callable[[str], str]) -> int:
    """Add a comment at every finding whose line can take one, and report what a second check still finds."""
    wanted: dict[str, dict[int, list[str]]] = {}
    for finding in report.findings:
        if finding.code not in (suppressions.NEVER_SUPPRESSED, *suppressions.ABOUT_SUPPRESSIONS):
            line = (finding.statement or finding.span).end_line
            if finding.path in report.notebooks and line in report.notebooks[finding.path].masked:
                continue
            codes = wanted.setdefault(finding.path, {}).setdefault(line, [])
            codes.extend({finding.code} - set(codes))
    texts = {}
    for path, lines in wanted.items():
        old = read(path)
        new = suppressions.add(old, lines)
        if new != old:
            texts[path] = old, new
    contents, problems = _by_file(texts, report, check.execution)
    problems |= _write(contents, check.settings.root)
    _say(f"Added suppressions to {counted(len(contents.keys() - problems.keys()), 'file')}.", check.request)
    after = linter.check(check.request.paths, check.settings, check.execution)
    return conclude(check, replace(after, problems=(*after.problems, *problems.values())))


def _reader(report: Report, execution: Execution, refused: Collection[str] = ()) -> Callable[[str], str]:
    """Return a function that reads the texts to fix; it raises OSError for refused files."""

    def read(path: str) -> str:
        if _file_of(path, report) in refused:
            raise OSError("it stays as it is")
        if path in report.notebooks:
            return report.notebooks[path].text
        given = execution.unsaved.get(path)
        try:
            return given if isinstance(given, str) else files.decode(files.read(path) if given is None else given)
        except files.CannotRead as error:
            raise OSError(error.reason) from None
        except files.Undecodable as error:
            raise UnicodeError(str(error)) from None

    return read


def _say(line: str, request: Request) -> None:
    if not request.quiet:
        tell([line])
