"""Near copies of one script: reports what they have in common once."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from dllint.finding import Finding, Fix, Place

ALIKE = 0.6
"""Share of the lines of two files that both have, from which on they count as copies."""
FEW_LINES = 12
"""Distinct lines below which two files are alike by chance."""


def said_once(findings: Iterable[Finding], sources: Mapping[str, str]) -> list[Finding]:
    """The findings, those alike in near copies as one: the first, with the others as related places. Copies lie in one
    folder or in sibling folders, or have the same name; most of their lines are the same, and so is the statement that
    is found."""
    alike: dict[Hashable, list[list[Finding]]] = {}
    groups: list[list[Finding]] = []
    texts: dict[str, frozenset[str]] = {}
    for finding in findings:
        key = _key(finding, sources)
        group = next((one for one in alike.get(key, ()) if _copied(one, finding, sources, texts)), None)
        if group is None:
            group = []
            groups.append(group)
            alike.setdefault(key, []).append(group)
        group.append(finding)
    return [_merged(group) for group in groups]


def _key(finding: Finding, sources: Mapping[str, str]) -> Hashable:
    lines = sources.get(finding.path, "").splitlines()[finding.span.line - 1 : finding.span.end_line]
    said = "\n".join(line.strip() for line in lines)
    return finding.code, finding.severity, finding.message, said


def _copied(
    group: list[Finding], finding: Finding, sources: Mapping[str, str], texts: dict[str, frozenset[str]]
) -> bool:
    """Whether a finding stands in a near copy of the file of a group, which has none of that copy yet."""
    first = group[0].path
    above, others = (os.path.dirname(os.path.dirname(path)) for path in (first, finding.path))
    if above != others and os.path.basename(first) != os.path.basename(finding.path):
        return False
    if any(one.path == finding.path for one in group):
        return False
    left, right = (_lines(path, sources, texts) for path in (first, finding.path))
    if min(len(left), len(right)) < FEW_LINES:
        return False
    return len(left & right) >= ALIKE * len(left | right)


def _lines(path: str, sources: Mapping[str, str], texts: dict[str, frozenset[str]]) -> frozenset[str]:
    found = texts.get(path)
    if found is None:
        found = texts[path] = frozenset(filter(None, (line.strip() for line in sources.get(path, "").splitlines())))
    return found


def _merged(group: list[Finding]) -> Finding:
    first, *others = group
    if not others:
        return first
    places = (Place(one.path, one.span, "the same in a near copy of this file") for one in others)
    fixes = tuple(
        replace(fix, edits=(*fix.edits, *(edit for one in others for same in _like(fix, one) for edit in same.edits)))
        for fix in first.fixes
    )
    return replace(first, related=tuple(dict.fromkeys((*first.related, *places))), fixes=fixes)


def _like(fix: Fix, finding: Finding) -> Iterable[Fix]:
    """The fix of another finding that does the same."""
    return [one for one in finding.fixes if (one.title, one.applicability) == (fix.title, fix.applicability)][:1]
