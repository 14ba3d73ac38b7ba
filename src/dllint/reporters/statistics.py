"""The number of findings per rule, most frequent first; as text or JSON."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from dllint.reporters import Style, fixable

if TYPE_CHECKING:
    from dllint.linter import Report


def statistics(name: str, report: Report, style: Style) -> str:
    """Return the counts as JSON if `name` is "json", else as text."""
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    offered = Counter(finding.code for finding in report.findings if fixable(finding, style.unsafe_fixes))
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    if name == "json":
        objects = [
            {"code": code, "name": name, "count": count, "fixable_count": offered[code]} for (code, name), count in rows
        ]
        return json.dumps(objects, indent=2) + "\n"
    width = len(str(max(counts.values(), default=0)))
    return "".join(
        f"{count:>{width}}  {code}  [{'*' if offered[code] else ' '}]  {name}\n" for (code, name), count in rows
    )
