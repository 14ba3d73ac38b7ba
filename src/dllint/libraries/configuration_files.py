"""The project's JSON, YAML and TOML files: a list of them, and quick tests of their bytes before any is parsed.

This is the one place that reads them. What a file says under a key is answered by `yaml_json`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from dllint import reading
from dllint.files import DEFAULT_EXCLUDE
from dllint.inference import limits
from dllint.reading import CONFIG_BYTES

SEARCHED = 100_000
"""Bytes; the same for a file that nothing in the code names."""
SUFFIXES = (".json", ".toml", ".yaml", ".yml")
_NAME = re.compile(rb"""[:=][ \t]*["']?((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)["']?[ \t\r]*(?:[,}#]|$)""", re.MULTILINE)
"""The value of an entry that is a dotted name and nothing else: `_target_: data.Rows`, `"class_path": "data.Rows"`."""


class ConfigurationFiles:
    """The configuration files below the project's top directory, each read once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._contents: dict[str, bytes] | None = None
        self._keys: dict[str, bool] = {}
        self._names: frozenset[str] | None = None

    def have_key(self, key: str) -> bool:
        """Whether one of them has an entry of that name, at any depth."""
        found = self._keys.get(key)
        if found is None:
            entry = re.compile(rb"""(?:^|[\s"'{,])%s["']?[ \t]*[:=]""" % re.escape(key.encode()))
            found = self._keys[key] = any(entry.search(data) for data in self._searched().values())
        return found

    def names(self) -> frozenset[str]:
        """The dotted names that stand as values in them: of classes and functions, among others."""
        if self._names is None:
            found = {name.decode() for data in self._searched().values() for name in _NAME.findall(data)}
            self._names = frozenset(found)
        return self._names

    def below(self, directory: str) -> list[tuple[str, bytes]]:
        """Those in a directory, at any depth, by path and content."""
        return [(path, data) for path, data in self._searched().items() if path.startswith(directory + os.sep)]

    def _searched(self) -> dict[str, bytes]:
        """Their contents by path."""
        if self._contents is None:
            self._contents = {
                path: data for path in self._paths() if (data := read(path, SEARCHED, self.root)) is not None
            }
        return self._contents

    def _paths(self) -> Iterator[str]:
        count = 0
        for directory, folders, names in reading.walk(self.root):
            inside = os.path.relpath(directory, self.root)
            depth = 0 if inside == os.curdir else inside.count(os.sep) + 1
            deeper = not limits.CONFIGURATION_DEPTH.reached(depth) if folders else False
            folders[:] = sorted(
                name for name in folders if deeper and name not in DEFAULT_EXCLUDE and not name.startswith(".")
            )
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    if limits.CONFIGURATION_FILES.reached(count):
                        return
                    count += 1
                    yield os.path.join(directory, name)


def read(path: str, most: int = CONFIG_BYTES, within: str = "") -> bytes | None:
    """The bytes of a file that lies `within` a directory; None where it cannot be read or has more than `most`."""
    try:
        return reading.read(path, most, within=within or None)
    except reading.CannotRead:
        return None
