"""Fingerprints that identify a finding across commits: rule, file and the text of its line, not its number."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.finding import Finding
from dllint.reporters.cells import source_of
from dllint.reporters.source import file_path, split_lines

if TYPE_CHECKING:
    from dllint.linter import Report


def fingerprints(findings: Iterable[Finding], report: Report, directory: str) -> list[str]:
    """Return one fingerprint per finding, in hexadecimal digits; findings of one rule on equal lines are numbered."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for finding in findings:
        lines = split_lines(source_of(report, finding.path, finding.cell) or "")
        line = " ".join(lines[finding.span.line - 1].split()) if finding.span.line <= len(lines) else ""
        key = (finding.code, file_path(finding.path, directory), line)
        seen[key] += 1
        text = "\0".join((*key, str(seen[key])))
        found.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return found
