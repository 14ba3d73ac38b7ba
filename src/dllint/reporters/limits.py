"""The limits at which an analysis stopped."""

from __future__ import annotations

from collections.abc import Mapping

from dllint.reporters.source import counted


def limit_lines(limits: Mapping[str, int]) -> list[str]:
    """Return one line per limit that was reached, the most frequent first."""
    return [
        f"the limit on {name} was met {counted(count, 'time')}; what lies beyond it counts as unknown"
        for name, count in sorted(limits.items(), key=lambda one: (-one[1], one[0]))
        if count
    ]
