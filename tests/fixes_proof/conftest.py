"""The matrix of what was proven, at the end of the tests' output."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, [])]
    rows = [value for one in reports for name, value in getattr(one, "user_properties", []) if name == "proof"]
    if not rows:
        return
    terminalreporter.section("fixes that were proven by running")
    last = None
    for code, title, variant, done in rows:
        if (code, title) != last:
            terminalreporter.line(f"{code} {title}")
            last = code, title
        terminalreporter.line(f"    {variant:<34}{done}")
