"""Apply fixes in passes: fixes that do not overlap are applied together, the others in the next pass."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dllint.finding import Edit, Finding, Fix, HoistFunction, InsertStatement
from dllint.fixes.resolve import resolve
from dllint.fixes.sources import read as read_source
from dllint.fixes.text import Change, Lines, TextEdit, Unresolvable, apply_changes, stack, whole_lines
from dllint.fixes.tree import parse
from dllint.fixes.unused import without_unused
from dllint.notebooks import is_notebook

PASSES = 10
"""Maximum number of passes."""

_BINDS = re.compile(r"^(?:(?:async )?def|class) +(\w+)|^(\w+)(?: *:[^=\n]+| *)=(?!=)", re.MULTILINE)


class Applied(NamedTuple):
    """A fix that was applied, and the finding that it fixes."""

    finding: Finding
    fix: Fix


class Failed(NamedTuple):
    """A fix that could not be applied, with the reason. `path` is the file that prevented it."""

    finding: Finding
    fix: Fix
    path: str
    reason: str


@dataclass(frozen=True)
class FixResult:
    """The result of one pass of fixes.

    Attributes:
        texts: the new text of each changed file.
        applied: the fixes that were applied.
        waiting: fixes that overlap with applied ones; the next pass may apply them.
        failed: fixes that cannot be applied.
    """

    texts: dict[str, str] = field(default_factory=dict)
    applied: tuple[Applied, ...] = ()
    waiting: tuple[Applied, ...] = ()
    failed: tuple[Failed, ...] = ()


@dataclass(frozen=True)
class FixRun:
    """The result of all passes of fixes.

    Attributes:
        texts: the text before and after of each file that changed in the end.
        applied: the fixes that were applied, in order.
        failed: fixes that could not be applied in the last pass.
        findings: the findings of the last check.
        stable: whether the last pass had nothing left to do.
    """

    texts: dict[str, tuple[str, str]]
    applied: tuple[Applied, ...]
    failed: tuple[Failed, ...]
    findings: tuple[Finding, ...]
    stable: bool


class _Chosen(NamedTuple):
    finding: Finding
    fix: Fix
    edits: list[TextEdit]


def applicable(finding: Finding, unsafe: bool) -> Fix | None:
    """Return the first fix of a finding that may be applied, `None` if there is none; suggestions are never applied."""
    allowed = ("safe", "unsafe") if unsafe else ("safe",)
    return next((fix for fix in finding.fixes if fix.edits and fix.applicability in allowed), None)


def fix_files(findings: Iterable[Finding], read: Callable[[str], str], unsafe: bool = False) -> FixResult:
    """Run one pass: apply the applicable fix of each finding, unless it overlaps with an earlier one.

    Args:
        findings: without the suppressed ones.
        read: returns a file's text with its own line ends; may raise OSError or UnicodeError.
        unsafe: whether to apply unsafe fixes.
    """
    texts = _Texts(read)
    taken = _Taken(texts)
    chosen: list[_Chosen] = []
    waiting: list[Applied] = []
    failed: list[Failed] = []
    for finding in findings:
        fix = applicable(finding, unsafe)
        if fix is None:
            continue
        try:
            edits = resolve(fix, texts)
        except Unresolvable as error:
            failed.append(Failed(finding, fix, error.path, error.reason))
            continue
        if not edits:
            failed.append(Failed(finding, fix, finding.path, "the text is already as the fix wants it"))
        elif taken.take(fix, edits):
            chosen.append(_Chosen(finding, fix, edits))
        else:
            waiting.append(Applied(finding, fix))
    new = _new_texts(texts, chosen)
    while broken := sorted(path for path, text in new.items() if not _parses(text)):
        culprits = [item for item in chosen if _touches(item, broken[0]) and not _alone(texts, item, broken[0])]
        culprits = culprits or [item for item in chosen if _touches(item, broken[0])]
        reason = "the text would no longer parse"
        failed += [Failed(item.finding, item.fix, broken[0], reason) for item in culprits]
        chosen = [item for item in chosen if not any(item is culprit for culprit in culprits)]
        new = _new_texts(texts, chosen)
    new = {path: _tidied(path, texts(path), text) for path, text in new.items()}
    applied = tuple(Applied(item.finding, item.fix) for item in chosen)
    return FixResult(new, applied, tuple(waiting), tuple(failed))


def fix_until_stable(
    check: Callable[[Mapping[str, str]], Sequence[Finding]],
    read: Callable[[str], str],
    unsafe: bool = False,
    passes: int = PASSES,
) -> FixRun:
    """Check and fix in turn until a pass changes nothing. No file is written.

    Args:
        check: returns the findings (without the suppressed ones) when the files in the mapping have the given texts,
            and all others are read from disk.
        read: as for `fix_files`.
        passes: maximum number of passes.
    """
    originals: dict[str, str] = {}
    texts: dict[str, str] = {}
    applied: list[Applied] = []

    def current(path: str) -> str:
        return texts[path] if path in texts else read(path)

    findings = tuple(check({}))
    result = FixResult()
    harmful: dict[tuple[object, ...], Failed] = {}
    stable = False
    for _ in range(passes):
        result = fix_files([one for one in findings if _key(one) not in harmful], current, unsafe)
        stable = not result.texts
        if stable:
            break
        after = tuple(check({**texts, **result.texts}))
        if new := _new_findings(findings, after, result.texts):
            # Apply the fixes one by one to find those that cause the new finding.
            kept: list[Applied] = []
            for one in result.applied:
                tried = fix_files([*(each.finding for each in kept), one.finding], current, unsafe)
                after = tuple(check({**texts, **tried.texts}))
                if new := _new_findings(findings, after, {edit.path for edit in one.fix.edits}):
                    reason = f"it would make {new[0].code} at line {new[0].span.line}"
                    harmful[_key(one.finding)] = Failed(one.finding, one.fix, new[0].path, reason)
                else:
                    kept.append(one)
            result = fix_files([one.finding for one in kept], current, unsafe)
            after = tuple(check({**texts, **result.texts}))
        for path in result.texts:
            originals.setdefault(path, current(path))
        texts.update(result.texts)
        applied += result.applied
        findings = after
    changed = {path: (originals[path], text) for path, text in texts.items() if text != originals[path]}
    return FixRun(changed, tuple(applied), (*result.failed, *harmful.values()), findings, stable)


def _key(finding: Finding) -> tuple[object, ...]:
    """Return what identifies a finding across passes, in which lines move."""
    return (
        finding.code,
        finding.path,
        finding.message,
        finding.span.column,
        tuple(sorted(map(str, finding.values.values()))),
    )


def _new_findings(before: Iterable[Finding], after: Iterable[Finding], changed: Collection[str]) -> list[Finding]:
    """Return the findings that exceed the previous number for the same rule and file.

    What is left of a mended cause may be reported elsewhere. So they do not count if there are fewer findings of the
    rule now, nor, if there are as many, in files without `changed` texts and in those that had the same defect as a
    related place of another.
    """
    before, after = list(before), list(after)
    alike = {(one.code, place.path) for one in before for place in one.related if place.alike}
    rules = Counter(one.code for one in before)
    rules.subtract(one.code for one in after)
    known = Counter((one.code, one.path) for one in before)
    found = []
    for one in after:
        known[one.code, one.path] -= 1
        elsewhere = one.path not in changed or (one.code, one.path) in alike
        if known[one.code, one.path] < 0 and not (rules[one.code] > 0 or (rules[one.code] == 0 and elsewhere)):
            found.append(one)
    return found


class _Texts:
    """Texts by path, each read once."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self._texts: dict[str, str] = {}
        self._lines: dict[str, Lines] = {}

    def __call__(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = read_source(self._read, path)
        return self._texts[path]

    def lines(self, path: str) -> Lines:
        if path not in self._lines:
            self._lines[path] = Lines(self(path))
        return self._lines[path]


class _Taken:
    """The places and names already used by the fixes of this pass."""

    def __init__(self, texts: _Texts) -> None:
        self._texts = texts
        self._changes: dict[str, list[Change]] = {}
        self._names: dict[tuple[str, str], object] = {}

    def take(self, fix: Fix, edits: Sequence[TextEdit]) -> bool:
        """Reserve everything that a fix needs; returns False and reserves nothing if something is taken."""
        names = {(edit.path, name): meaning for edit in fix.edits for name, meaning in _new_names(edit)}
        if any(self._names.get(key, meaning) != meaning for key, meaning in names.items()):
            return False
        wanted = [(edit.path, self._texts.lines(edit.path).change(edit)) for edit in edits]
        for path, change in wanted:
            if any(_collide(self._texts(path), change, other) for other in self._near(path, change)):
                return False
        for path, change in wanted:
            changes = self._changes.setdefault(path, [])
            if change not in self._near(path, change):
                insort(changes, change)
        self._names.update(names)
        return True

    def _near(self, path: str, change: Change) -> list[Change]:
        """Return the reserved changes that touch the given one. They are sorted and do not overlap."""
        changes = self._changes.get(path, [])
        first = last = bisect_left(changes, change)
        while first and changes[first - 1].end >= change.start:
            first -= 1
        while last < len(changes) and changes[last].start <= change.end:
            last += 1
        return changes[first:last]


def _new_names(edit: Edit) -> Iterator[tuple[str, object]]:
    """Yield the names that an edit binds, with their meaning: two fixes must not give one name two meanings."""
    if isinstance(edit, InsertStatement):
        yield from ((first or second, edit.code) for first, second in _BINDS.findall(edit.code))
    elif isinstance(edit, HoistFunction):
        yield edit.name, edit.span


def _collide(text: str, one: Change, other: Change) -> bool:
    """Whether two changes conflict; inserted whole lines and equal changes do not."""
    lines = whole_lines(text, one) + whole_lines(text, other)
    if one == other or lines == 2:
        return False
    insertions = (one.start == one.end) + (other.start == other.end)
    if insertions > lines:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def _new_texts(texts: _Texts, chosen: Iterable[_Chosen]) -> dict[str, str]:
    changes: dict[str, dict[Change, None]] = {}
    for item in chosen:
        for edit in item.edits:
            changes.setdefault(edit.path, {})[texts.lines(edit.path).change(edit)] = None
    found = {path: apply_changes(texts(path), stack(texts(path), group)) for path, group in changes.items()}
    return {path: text for path, text in found.items() if text != texts(path)}


def _tidied(path: str, old: str, new: str) -> str:
    """Return the new text without imports and variables that became unused. `__init__.py` files and notebooks are
    returned unchanged: others may use their names."""
    if path.endswith("__init__.py") or is_notebook(path):
        return new
    tidy = without_unused(old, new)
    return tidy if _parses(tidy) else new


def _touches(item: _Chosen, path: str) -> bool:
    return any(edit.path == path for edit in item.edits)


def _alone(texts: _Texts, item: _Chosen, path: str) -> bool:
    """Whether the file parses when only this fix is applied."""
    return _parses(_new_texts(texts, [item]).get(path, texts(path)))


def _parses(text: str) -> bool:
    try:
        parse(text)
    except Unresolvable:
        return False
    return True
