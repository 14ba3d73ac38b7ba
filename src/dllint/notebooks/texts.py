"""The cells of a notebook as Python texts: map positions to cells, and write a new text back into the cells."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import NamedTuple

from dllint.notebooks import document
from dllint.notebooks.document import Cell
from dllint.notebooks.magics import cell_magic, masked
from dllint.span import Span

MARK = "# %% dllint: cell "
"""Start of the marker line above each cell. A fix must not move code across such a line."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PYTHON = frozenset({"", "python", "ipython", "python3"})


class CannotPlace(Exception):
    """A new text cannot be divided among the cells of the old one. `reason` is a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InCell(NamedTuple):
    """A place in a notebook: the file, the cell and the range inside it."""

    path: str
    cell: int
    span: Span


class Part(NamedTuple):
    """A cell within a text: its first line there, and the number of lines of the cell that precede that line."""

    first: int
    cell: Cell
    above: int


@dataclass(frozen=True)
class CellText:
    """A text joined from the cells of a notebook.

    Attributes:
        path: the notebook's own path, or that of a file which a cell writes.
        notebook: the path of the notebook.
        text: Python source.
        parts: the cells, in order.
        masked: lines, from 1, that differ from those of the cell.
        document: the JSON document; empty if the cells come from an editor.
    """

    path: str
    notebook: str
    text: str
    parts: tuple[Part, ...]
    masked: frozenset[int]
    document: str = field(default="", repr=False)

    def place(self, span: Span) -> InCell | None:
        """Convert a range of the text to a place in a cell; `None` above the first cell."""
        part = self._part(span.line)
        if part is None:
            return None
        shift = part.above - part.first + 1
        lines = _LINE_END.split(part.cell.source)
        line, end_line, end_column = max(span.line + shift, 1), span.end_line + shift, span.end_column
        if end_line > len(lines):
            end_line, end_column = len(lines), len(lines[-1]) + 1
        return InCell(self.notebook, part.cell.number, Span(line, span.column, max(end_line, line), end_column))

    def source(self, cell: int) -> str:
        """Return the text of a cell, with masked lines as in the notebook."""
        return self._cell(cell).source

    def document_line(self, cell: int, line: int) -> int:
        """Return the line of the JSON document, from 1, that contains a line of a cell."""
        return document.document_line(self.document, self._cell(cell), line)

    def changed_cells(self, new: str) -> dict[Cell, str]:
        """Return the new source of each cell that a new text changes.

        Raises:
            CannotPlace: the new text moves code between cells, or changes a masked line.
        """
        before, after = _bodies(self.text), _bodies(new)
        if [mark for mark, _ in before] != [mark for mark, _ in after]:
            raise CannotPlace("it would move code from one cell to another")
        bodies = zip(self.parts, before, after, strict=True)
        found = {part.cell: _restored(part, old, new) for part, (_, old), (_, new) in bodies if old != new}
        return {cell: source for cell, source in found.items() if source != cell.source}

    def _part(self, line: int) -> Part | None:
        index = bisect_right(self.parts, line, key=lambda part: part.first - 1) - 1
        return self.parts[index] if index >= 0 else None

    def _cell(self, number: int) -> Cell:
        return next(part.cell for part in self.parts if part.cell.number == number)


@dataclass(frozen=True)
class Notebook:
    """A parsed notebook: its document, and the texts of its cells.

    Attributes:
        language: language of its kernel, in lower case; "" if unknown.
        texts: Python texts by path: its own, then those of the files that its cells write. Empty if the language is not
            Python.
    """

    path: str
    document: str
    language: str
    texts: Mapping[str, CellText]


def read(path: str, data: bytes) -> Notebook:
    """Parse a notebook.

    Raises:
        NotANotebook: it is not a JSON document, or not a notebook of format 4.
    """
    text, (cells, language) = document.read(data)
    return Notebook(path, text, language, of_cells(path, cells, text) if language in _PYTHON else {})


def of_cells(path: str, cells: Iterable[Cell], text: str = "") -> dict[str, CellText]:
    """Return the Python texts of cells, by path; `text` is the JSON document, if there is one."""
    own = _Builder(path)
    written: dict[str, _Builder] = {}
    for cell in cells:
        if cell.language not in _PYTHON:
            continue
        source = _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", cell.source)
        magic = cell_magic(source)
        if magic.writes is None:
            own.add(cell, masked(source, magic))
        elif magic.writes.endswith(".py"):
            parts = magic.writes.replace("\\", "/").split("/")
            target = os.path.join(path, *(part for part in parts if part not in ("", "~", ".", "..")))
            if target in written and not magic.appends:
                # A file that a later cell overwrites may have been used before.
                earlier = written.pop(target)
                earlier.path = os.path.join(path, f"cell {earlier.parts[0].cell.number}", os.path.basename(target))
                written[earlier.path] = earlier
            written.setdefault(target, _Builder(target)).add(cell, source, magic.line)
    return {one.path: one.built(path, text) for one in (own, *written.values())}


def with_texts(notebook: Notebook, texts: Mapping[str, tuple[str, str]]) -> str:
    """Return the JSON document with new texts in its cells. Only changed lines of cells differ.

    Args:
        texts: the old and the new text, by path as in `notebook.texts`.

    Raises:
        CannotPlace: as for `CellText.changed_cells`, or the notebook no longer contains an old text.
    """
    changed: dict[Cell, str] = {}
    for path, (old, new) in texts.items():
        here = notebook.texts.get(path)
        if here is None or here.text != old:
            raise CannotPlace("it changed after it was checked")
        changed |= here.changed_cells(new)
    return document.with_sources(notebook.document, changed)


class _Builder:
    def __init__(self, path: str) -> None:
        self.path = path
        self.parts: list[Part] = []
        self._pieces: list[str] = []
        self._masked: set[int] = set()
        self._lines = 0

    def add(self, cell: Cell, source: str, above: int = 0) -> None:
        """Append a cell below the others, without its first `above` lines."""
        lines, original = _with_ends(source)[above:], _with_ends(cell.source)[above:]
        # Masking may have removed a last line without a line end.
        lines += [""] * (len(original) - len(lines))
        first = self._lines + 2
        pairs = enumerate(zip(lines, original, strict=True), first)
        self._masked.update(number for number, (one, other) in pairs if one != other)
        self.parts.append(Part(first, cell, above))
        if lines and not lines[-1].endswith(("\n", "\r")):
            lines[-1] += "\n"
        self._pieces += (f"{MARK}{cell.number}\n", *lines)
        self._lines += 1 + len(lines)

    def built(self, notebook: str, text: str) -> CellText:
        return CellText(self.path, notebook, "".join(self._pieces), tuple(self.parts), frozenset(self._masked), text)


def _restored(part: Part, before: Sequence[str], after: Sequence[str]) -> str:
    """Return the new source of a cell whose lines `before` became `after`. Unchanged lines are those of the cell."""
    original = _with_ends(part.cell.source)
    lead, original = original[: part.above], original[part.above :]
    plain, wanted = [_bare(line) for line in before], [_bare(line) for line in after]
    # Drop blank lines around a new function at the edges of a cell.
    first, last = 0, len(wanted)
    while first < last and not wanted[first] and (not plain or plain[0]):
        first += 1
    while last > first and not wanted[last - 1] and (not plain or plain[-1]):
        last -= 1
    pieces: list[str] = []
    matcher = SequenceMatcher(None, plain, wanted[first:last], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            pieces += original[i:j]
            continue
        if any(_bare(original[at]) != plain[at] for at in range(i, j)):
            raise CannotPlace("it would change a line that is not Python")
        pieces += after[first + k : first + m]
    if pieces and not (original and original[-1] != _bare(original[-1])):
        pieces[-1] = _bare(pieces[-1])
    pieces[:-1] = [line if line != _bare(line) else f"{line}\n" for line in pieces[:-1]]
    return "".join([*lead, *pieces])


def _bodies(text: str) -> list[tuple[str, list[str]]]:
    """Return the lines below each marker line of a cell."""
    found: list[tuple[str, list[str]]] = []
    for line in _with_ends(text):
        if line.startswith(MARK):
            found.append((_bare(line), []))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise CannotPlace("it would add code above the first cell")
    return found


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _with_ends(text: str) -> list[str]:
    return list(_lines(text))


def _lines(text: str) -> Iterator[str]:
    done = 0
    for end in _LINE_END.finditer(text):
        yield text[done : end.end()]
        done = end.end()
    if done < len(text):
        yield text[done:]
