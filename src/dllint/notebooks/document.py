"""A notebook's JSON document: locates the source of each code cell, and replaces it.

Only the value of a `source` is ever rewritten: ids, outputs, metadata and whitespace are preserved byte for byte, which
no JSON library guarantees. Format: nbformat.readthedocs.io, "The Jupyter Notebook Format", version 4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

SUFFIX = ".ipynb"
_BLANK = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_DECODER = json.JSONDecoder()


def is_notebook(path: str) -> bool:
    """Whether a path names a notebook, in any case: macOS and Windows open `A.IPYNB` as they do `a.ipynb`."""
    return path[-len(SUFFIX) :].lower() == SUFFIX


_POINTER = b"version https://git-lfs.github.com/spec/"
"""How the text begins that stands for a file until Git LFS fetches it (git-lfs, docs/spec.md)."""


class NotANotebook(Exception):
    """A file that is not a notebook of format 4. `reason` is a few words; `line` counts from 1."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True)
class Cell:
    """A code cell.

    Attributes:
        number: its position among all cells, from 1.
        source: its text, as Jupyter shows it.
        start, end: offsets of the JSON value of `source` in the document.
        language: the language in its own metadata, "" for that of the notebook.
    """

    number: int
    source: str
    start: int = 0
    end: int = 0
    language: str = ""


class Document(NamedTuple):
    """The content of a document: its code cells, and the language of its kernel ("" if unknown)."""

    cells: tuple[Cell, ...]
    language: str


class _Token(NamedTuple):
    """A string of the document: its offsets, including quotes, and its value."""

    start: int
    end: int
    value: str


def read(data: bytes) -> tuple[str, Document]:
    """Parse a notebook file into its text and its document.

    Raises:
        NotANotebook: it is not a JSON document, or not a notebook of format 4.
    """
    if data.startswith(_POINTER):
        raise NotANotebook("only a Git LFS pointer is here; `git lfs pull` fetches the file", 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NotANotebook(f"not valid UTF-8: byte 0x{data[error.start]:02x}", line) from None
    try:
        return text, _Walk(text).document()
    except json.JSONDecodeError as error:
        raise NotANotebook(f"not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise NotANotebook("its JSON nests too deeply") from None
    except (ValueError, IndexError):
        raise NotANotebook("not JSON") from None


class _Walk:
    """A parser that reads a document from start to end; `at` is the current offset."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0

    def document(self) -> Document:
        cells: list[Cell] = []
        found: dict[str, Any] = {}
        if self._next() != "{":
            self._value()
            raise NotANotebook("a notebook is a JSON object")
        for key in self._members():
            if key == "cells" and self._next() == "[":
                cells = [cell for number, _ in enumerate(self._items(), 1) if (cell := self._cell(number)) is not None]
                found[key] = True
            else:
                found[key] = self._value()
        if self._next():
            raise json.JSONDecodeError("Extra data", self.text, self.at)
        if not found.get("cells"):
            older = "worksheets" in found
            raise NotANotebook(
                "a notebook of format 3; `jupyter nbconvert` makes one of format 4" if older else "no cells"
            )
        metadata = found.get("metadata")
        language = _inside(metadata, "language_info", "name") or _inside(metadata, "kernelspec", "language")
        return Document(tuple(cells), language.lower())

    def _cell(self, number: int) -> Cell | None:
        """Parse the cell at the current offset; `None` if it contains no code."""
        if self._next() != "{":
            self._value()
            return None
        start = end = -1
        members: dict[str, Any] = {}
        for key in self._members():
            self._next()
            before = self.at
            members[key] = self._value()
            if key == "source":
                start, end = before, self.at
        source = members.get("source")
        if isinstance(source, list):
            source = "".join(map(str, source)) if all(isinstance(one, str) for one in source) else None
        if members.get("cell_type") != "code" or not isinstance(source, str):
            return None
        language = _inside(members.get("metadata"), "vscode", "languageId")
        return Cell(number, source, start, end, language.lower())

    def _next(self) -> str:
        """Skip whitespace and return the next character; "" at the end."""
        blank = _BLANK.match(self.text, self.at)
        assert blank is not None
        self.at = blank.end()
        return self.text[self.at : self.at + 1]

    def _value(self) -> Any:
        self._next()
        value, self.at = _DECODER.raw_decode(self.text, self.at)
        return value

    def _members(self) -> Iterator[str]:
        """Yield the keys of the object at the current offset; the caller must read the value of each."""
        self.at += 1
        if self._next() == "}":
            self.at += 1
            return
        while True:
            if self._next() != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self.text, self.at)
            key, self.at = scanstring(self.text, self.at + 1, True)
            if self._next() != ":":
                raise json.JSONDecodeError("Expecting ':' delimiter", self.text, self.at)
            self.at += 1
            yield key
            if self._ends("}"):
                return

    def _items(self) -> Iterator[None]:
        """Stop at each item of the array at the current offset; the caller must read it."""
        self.at += 1
        if self._next() == "]":
            self.at += 1
            return
        while True:
            yield
            if self._ends("]"):
                return

    def _ends(self, bracket: str) -> bool:
        here = self._next()
        if here not in (",", bracket):
            raise json.JSONDecodeError("Expecting ',' delimiter", self.text, self.at)
        self.at += 1
        return here == bracket


def document_line(text: str, cell: Cell, line: int) -> int:
    """Return the line of the document, from 1, that contains a line of a cell."""
    at, wanted = cell.start, line - 1
    for token in _tokens(text, cell):
        at = token.start
        ends = len(re.findall(r"\r\n|\r|\n", token.value))
        if wanted < max(ends, 1):
            break
        wanted -= ends
    return text.count("\n", 0, at) + 1


def with_sources(text: str, sources: Mapping[Cell, str]) -> str:
    """Return the document with new sources in some cells."""
    for cell in sorted(sources, key=lambda one: -one.start):
        text = text[: cell.start] + _encoded(text, cell, sources[cell]) + text[cell.end :]
    return text


def _encoded(text: str, cell: Cell, source: str) -> str:
    """Return the JSON value of a new source, formatted like the old one; unchanged lines keep their bytes."""
    ascii_only = text.isascii() and "\\u" in text
    if text[cell.start] == '"':
        return json.dumps(source, ensure_ascii=ascii_only)
    tokens = _tokens(text, cell)
    lines = [match.group() for match in _LINE.finditer(source)]
    pieces: list[str] = []
    matcher = SequenceMatcher(None, [token.value for token in tokens], lines, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            pieces += (text[token.start : token.end] for token in tokens[i:j])
        else:
            pieces += (json.dumps(line, ensure_ascii=ascii_only) for line in lines[k:m])
    lead = text[cell.start + 1 : tokens[0].start] if tokens else ""
    tail = text[tokens[-1].end : cell.end - 1] if tokens else ""
    between = text[tokens[0].end : tokens[1].start] if len(tokens) > 1 else f",{lead or ' '}"
    return f"[{lead}{between.join(pieces)}{tail}]"


def _tokens(text: str, cell: Cell) -> list[_Token]:
    """Return the strings of a cell's source."""
    found: list[_Token] = []
    at = text.find('"', cell.start, cell.end)
    while at >= 0:
        value, end = scanstring(text, at + 1, True)
        found.append(_Token(at, end, value))
        at = text.find('"', end, cell.end)
    return found


def _inside(value: object, *keys: str) -> str:
    """Return a string in nested objects, "" if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
