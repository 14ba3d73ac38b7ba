"""Records which of the lines that the check has findings on were executed, on Python 3.12 and newer.

`sys.monitoring` calls back once for each line of the files in question, and is then told to be silent about it, so that
a loop runs at its own speed. Older interpreters have nothing that costs as little: there nothing is recorded.
"""

from __future__ import annotations

import os
import sys

from dllint.probe import plan, recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_TOOLS = (4, 3, 5)
"""Ids that neither debuggers nor profilers nor coverage have by convention, and then one that may be free."""

_wanted: dict[str, set[int]] = {}
_files: dict[str, set[int]] = {}


def watch(directory: str) -> bool:
    """Have the lines recorded that the launcher asked for; whether that can be done in this process."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        return False
    _read(os.path.join(directory, plan.LINES))
    tool = next((one for one in _TOOLS if monitoring.get_tool(one) is None), None)
    if not _wanted or tool is None:
        return False
    events = monitoring.events
    monitoring.use_tool_id(tool, "dllint")

    def started(code: CodeType, offset: int) -> Any:
        if _lines_of(code.co_filename):
            monitoring.set_local_events(tool, code, events.LINE)
        return monitoring.DISABLE

    def executed(code: CodeType, line: int) -> Any:
        wanted = _lines_of(code.co_filename)
        if line in wanted:
            # A line with several beginnings, as that of a loop, is told of once.
            wanted.discard(line)
            recorder.record("line", path=os.path.realpath(code.co_filename), line=line)
        return monitoring.DISABLE

    monitoring.register_callback(tool, events.PY_START, started)
    monitoring.register_callback(tool, events.LINE, executed)
    monitoring.set_events(tool, events.PY_START)
    return True


def _read(path: str) -> None:
    """The file has a line `<line number> <path>` for each."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for text in file:
                number, _, place = text.rstrip("\n").partition(" ")
                _wanted.setdefault(place, set()).add(int(number))
    except (OSError, ValueError):
        return


def _lines_of(filename: str) -> set[int]:
    found = _files.get(filename)
    if found is None:
        found = _files[filename] = _wanted.get(os.path.realpath(filename), set())
    return found
