"""Follow the records of a run while they are written."""

from __future__ import annotations

import os
from collections.abc import Iterator

from dllint import observation
from dllint.observation import Record


class Tail:
    """Returns the records that were added since the last call; an incomplete line is left for later."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._read: dict[str, int] = {}

    def fresh(self) -> Iterator[Record]:
        try:
            with os.scandir(self.directory) as entries:
                grown = [
                    (entry.path, entry.stat().st_size) for entry in entries if entry.name.endswith(observation.SUFFIX)
                ]
        except OSError:
            return
        for path, size in grown:
            before = self._read.get(path, 0)
            if size > before:
                yield from self._since(path, before)

    def _since(self, path: str, before: int) -> Iterator[Record]:
        try:
            with open(path, "rb") as file:
                file.seek(before)
                text = file.read()
        except OSError:
            return
        whole = text.rfind(b"\n") + 1
        self._read[path] = before + whole
        yield from observation.read_lines(text[:whole].split(b"\n")).records
