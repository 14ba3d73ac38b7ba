"""The project's JSON, YAML and TOML files: a list of them, and quick byte searches before any is parsed.

This is the only module that reads them. `yaml_json` looks up the values under a key.
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
"""The most bytes searched per file; this limit also applies to files that no code names."""
SUFFIXES = (".json", ".toml", ".yaml", ".yml")
_NAME = re.compile(rb"""[:=][ \t]*["']?((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)["']?[ \t\r]*(?:[,}#]|$)""", re.MULTILINE)
"""Matches an entry whose whole value is a dotted name: `_target_: data.Rows`, `"class_path": "data.Rows"`."""
TARGET = "_target_"
"""The entry of hydra's configurations that names the class or function to call."""
_ENTRY = re.compile(rb"""([ \t]*(?:-[ \t]+)*)["']?([A-Za-z_][\w.-]*)["']?[ \t]*:(?:[ \t]+(.*))?$""")
_INLINE = re.compile(rb"""[{,][ \t]*["']?([A-Za-z_]\w*)["']?[ \t]*:[ \t]*["']?((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)""")
_DOTTED = re.compile(rb"""["']?((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)["']?,?[ \t\r]*(?:#.*)?$""")


class ConfigurationFiles:
    """The configuration files below the project's top directory, each read once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._contents: dict[str, bytes] | None = None
        self._keys: dict[str, bool] = {}
        self._names: frozenset[str] | None = None
        self._entries: dict[tuple[str, str], set[str]] | None = None

    def have_key(self, key: str) -> bool:
        """Whether any of the files has an entry of that name, at any depth."""
        found = self._keys.get(key)
        if found is None:
            entry = re.compile(rb"""(?:^|[\s"'{,])%s["']?[ \t]*[:=]""" % re.escape(key.encode()))
            found = self._keys[key] = any(entry.search(data) for data in self._searched().values())
        return found

    def names(self) -> frozenset[str]:
        """Return the dotted names that are values in the files: of classes and functions, among others."""
        if self._names is None:
            found = {name.decode() for data in self._searched().values() for name in _NAME.findall(data)}
            self._names = frozenset(found)
        return self._names

    def named_by(self, entry: str, key: str = TARGET) -> frozenset[str]:
        """Return the dotted names under a key in the entries of a name: `entry: {key: data.Rows}`, in a list too. A
        file whose outermost mapping has the key is an entry of the name of its directory, as hydra composes it
        (hydra.cc, "Config groups")."""
        if self._entries is None:
            self._entries = {}
            for path, data in self._searched().items():
                group = os.path.basename(os.path.dirname(path))
                for outer, inner, name in _entries_of(data, group):
                    self._entries.setdefault((outer, inner), set()).add(name)
        return frozenset(self._entries.get((entry, key), ()))

    def below(self, directory: str) -> list[tuple[str, bytes]]:
        """Return the path and content of each file below a directory, at any depth."""
        return [(path, data) for path, data in self._searched().items() if path.startswith(directory + os.sep)]

    def _searched(self) -> dict[str, bytes]:
        """Return the contents of the files by path."""
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


def _entries_of(data: bytes, group: str) -> Iterator[tuple[str, str, str]]:
    """Yield the entries of a file that have a dotted name under a key, with the key and the name; `group` is the name
    of the outermost one."""
    outer: list[tuple[int, str]] = []
    for line in data.splitlines():
        entry = _ENTRY.match(line)
        if entry is None:
            continue
        indent, key, rest = len(entry[1]), entry[2].decode(), entry[3] or b""
        while outer and outer[-1][0] >= indent:
            outer.pop()
        name = _DOTTED.match(rest)
        if name is not None:
            yield outer[-1][1] if outer else group, key, name[1].decode()
            continue
        for inner, inline in _INLINE.findall(rest):
            yield key, inner.decode(), inline.decode()
        outer.append((indent, key))


def read(path: str, most: int = CONFIG_BYTES, within: str = "") -> bytes | None:
    """Read a file that must lie `within` a directory; None if it cannot be read or is larger than `most` bytes."""
    try:
        return reading.read(path, most, within=within or None)
    except reading.CannotRead:
        return None
