"""The package versions that a project requires in its requirements files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.reading import SETTINGS_BYTES, CannotRead, read, walk

if TYPE_CHECKING:
    from dllint.project.model import Project

_LISTS = re.compile(r"(?:requirements|environment|env|conda)[\w.-]*\.(?:txt|ya?ml)\Z|setup\.py\Z|pyproject\.toml\Z")
_YAML = re.compile(r"[\w.-]+\.ya?ml\Z")
_CONDA = re.compile(r"^dependencies:", re.MULTILINE)
_VERSION = r"\s*(==?|<=?|~=|>=?|\^)\s*(\d+(?:\.\d+)+)"


class Declared(NamedTuple):
    """A version requirement in a file.

    Attributes:
        operator: "==", "=", "<", "<=", "~=", ">", ">=" or "^".
        version: its numbers, such as (2, 0, 8).
        path: the file, as messages show it.
    """

    operator: str
    version: tuple[int, ...]
    path: str


class DeclaredVersions:
    """Finds the version requirements of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._texts: list[tuple[str, str]] | None = None

    def of(self, package: str) -> list[Declared]:
        """The requirements for a package (a regular expression). Poetry's form `package = "^2.0"` is recognized too."""
        found = re.compile(rf"(?<![\w-]){package}(?:\s*=\s*['\"])?{_VERSION}")
        if self._texts is None:
            self._texts = list(self._read())
        return [
            Declared(operator, tuple(map(int, version.split("."))), path)
            for text, path in self._texts
            for operator, version in found.findall(text)
        ]

    def _read(self) -> Iterator[tuple[str, str]]:
        root = self.project.settings.root
        for folder in (root, os.path.join(root, "requirements")):
            _, folders, names = next(walk(folder), ("", [], []))
            for name in sorted((*folders, *names)):
                listed = bool(_LISTS.match(name))
                if not listed and not _YAML.match(name):
                    continue
                try:
                    data = read(os.path.join(folder, name), SETTINGS_BYTES, within=root or None, cut=True)
                except CannotRead:
                    continue
                text = data.decode("utf-8", "replace")
                # `conda env export > project.yml`: an environment under any name
                if listed or _CONDA.search(text):
                    yield text, self.project.shown(os.path.join(folder, name))
