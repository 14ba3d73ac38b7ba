"""Convert text edits of a notebook into edits of its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dllint.finding import TextEdit
from dllint.fixes.sources import Sources, texts_after
from dllint.fixes.text import Change, Lines, Unresolvable
from dllint.notebooks import CannotPlace, CellText


def in_cells(edits: Sequence[TextEdit], sources: Sources, notebooks: Mapping[str, CellText]) -> list[TextEdit]:
    """Return the edits, those of notebooks as one edit per cell, from the first changed line to the last.

    Raises:
        Unresolvable: a fix would move code between cells, or change a line that is not Python.
    """
    found = [edit for edit in edits if edit.path not in notebooks]
    if len(found) == len(edits):
        return found
    rest = [edit for edit in edits if edit.path in notebooks]
    for path, (_, new) in texts_after(rest, sources).items():
        cells = notebooks[path]
        try:
            changed = cells.changed_cells(new)
        except CannotPlace as error:
            raise Unresolvable(error.reason, path) from None
        found += [
            replace(whole_lines(cells.notebook, cell.source, source), cell=cell.number)
            for cell, source in changed.items()
        ]
    return found


def whole_lines(path: str, old: str, new: str) -> TextEdit:
    """Return the single edit that turns one text into another, from the first differing line to the last."""
    before, after = Lines(old), Lines(new)
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    head = min(before.starts[before.line(head) - 1], after.starts[after.line(head) - 1])
    most = shorter - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    while tail and len(old) - tail not in before.starts:
        tail -= 1
    return before.edit(path, Change(head, len(old) - tail, new[head : len(new) - tail]))
