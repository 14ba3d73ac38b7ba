"""Near copies of one script: findings that they share are reported once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from dllint.finding import Finding, Fix, Place

ALIKE = 0.6
"""Minimum share of common lines for two files to count as copies (Jaccard index of their distinct lines)."""
FEW_LINES = 12
"""Number of distinct lines below which two files may be similar by chance."""


def said_once(findings: Iterable[Finding], sources: Mapping[str, str]) -> list[Finding]:
    """The findings, with equal ones in near copies merged into the first, which has the others as related places.

    Copies are files in one folder or in sibling folders, or with the same name, that share most of their lines. The
    statement that is found must be the same too.
    """
    alike: dict[Hashable, dict[str, list[list[Finding]]]] = {}
    joined: Counter[tuple[Hashable, str, str]] = Counter()
    groups: list[list[Finding]] = []
    copies = _Copies(sources)
    lines: dict[str, list[str]] = {}
    for finding in findings:
        if finding.path not in lines:
            lines[finding.path] = sources.get(finding.path, "").splitlines()
        key = _key(finding, lines[finding.path])
        by_file = alike.setdefault(key, {})
        group: list[Finding] = []
        for path, started in by_file.items():
            # Each group takes one finding per copy: the n-th of one file joins the n-th of the other.
            taken = joined[key, path, finding.path]
            if path != finding.path and taken < len(started) and copies.are_copies(path, finding.path):
                group = started[taken]
                joined[key, path, finding.path] += 1
                break
        else:
            groups.append(group)
            by_file.setdefault(finding.path, []).append(group)
        group.append(finding)
    return [_merged(group) for group in groups]


def _key(finding: Finding, lines: Sequence[str]) -> Hashable:
    said = "\n".join(line.strip() for line in lines[finding.span.line - 1 : finding.span.end_line])
    return finding.code, finding.severity, finding.message, said


class _Copies:
    """Which files are near copies of each other."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._texts: dict[str, frozenset[str]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def are_copies(self, first: str, other: str) -> bool:
        if (first, other) not in self._known:
            self._known[first, other] = self._are_copies(first, other)
        return self._known[first, other]

    def _are_copies(self, first: str, other: str) -> bool:
        above, others = (os.path.dirname(os.path.dirname(path)) for path in (first, other))
        if above != others and os.path.basename(first) != os.path.basename(other):
            return False
        left, right = self._lines(first), self._lines(other)
        if min(len(left), len(right)) < FEW_LINES:
            return False
        return len(left & right) >= ALIKE * len(left | right)

    def _lines(self, path: str) -> frozenset[str]:
        found = self._texts.get(path)
        if found is None:
            lines = self._sources.get(path, "").splitlines()
            found = self._texts[path] = frozenset(filter(None, (line.strip() for line in lines)))
        return found


def _merged(group: list[Finding]) -> Finding:
    first, *others = group
    if not others:
        return first
    places: list[Place] = []
    for one in others:
        places.append(Place(one.path, one.span, "the same in a near copy of this file", alike=True))
        # Its further loaders have to be changed as well.
        places += (other for other in one.related if other.path == one.path)
    fixes = tuple(
        replace(fix, edits=(*fix.edits, *(edit for one in others for same in _like(fix, one) for edit in same.edits)))
        for fix in first.fixes
    )
    return replace(first, related=tuple(dict.fromkeys((*first.related, *places))), fixes=fixes)


def _like(fix: Fix, finding: Finding) -> Iterable[Fix]:
    """The equivalent fix of another finding, in a list; empty if it has none."""
    return [one for one in finding.fixes if (one.title, one.applicability) == (fix.title, fix.applicability)][:1]
