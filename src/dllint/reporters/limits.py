"""Where an analysis stopped at one of its limits."""

from __future__ import annotations

from collections.abc import Mapping

from dllint.reporters.source import counted


def limit_lines(limits: Mapping[str, int]) -> list[str]:
    """One line for each limit that was met, the one met most often first."""
    return [
        f"the limit on {name} was met {counted(count, 'time')}; what lies beyond it counts as unknown"
        for name, count in sorted(limits.items(), key=lambda one: (-one[1], one[0]))
        if count
    ]
