"""Record which of the lines with findings were executed.

On Python 3.12 and newer, `sys.monitoring` calls back once per line of the files in question and is then disabled for
that line, so that loops run at full speed. Older interpreters lack it; there, markers are compiled into the code.
"""

from __future__ import annotations

import os
import sys

from dllint.probe import plan, recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

_TOOLS = (4, 3, 5)
"""Tool ids that by convention neither debuggers nor profilers nor coverage use, then one that may be free."""

_importing: Callable[[], None] | None = None

_wanted: dict[str, set[int]] = {}
_files: dict[str, set[int]] = {}


def watch(directory: str) -> bool:
    """Record the lines that the launcher asked for; returns whether this process can do so."""
    _read(os.path.join(directory, plan.LINES))
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        return _watch_by_marks()
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
            # A line with several starts, such as that of a loop, is recorded once.
            wanted.discard(line)
            recorder.record("line", path=os.path.realpath(code.co_filename), line=line)
        return monitoring.DISABLE

    monitoring.register_callback(tool, events.PY_START, started)
    monitoring.register_callback(tool, events.LINE, executed)
    monitoring.set_events(tool, events.PY_START)
    return True


def _watch_by_marks() -> bool:
    global _importing
    if sys.implementation.name != "cpython":
        return False
    if _wanted:
        from dllint.probe import line_marks

        line_marks.watch(_lines_of)
        _importing = lambda: line_marks.exchange(sys._getframe(4), _lines_of)  # noqa: E731
    return True


def importing() -> None:
    """Called when the program imports something, which means that its main file is already being executed."""
    if _importing is not None:
        recorder.guarded(_importing)


def at_end() -> None:
    """Record unmarked files when a process ends by itself."""
    if _importing is not None:
        from dllint.probe import line_marks

        line_marks.tell_unmarked(_lines_of)


def _read(path: str) -> None:
    """Read the file of lines; each of its lines is `<line number> <path>`."""
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
