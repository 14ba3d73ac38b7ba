"""The package versions that a project requires in its requirements files, or names in its README."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint import project_requirements

if TYPE_CHECKING:
    from dllint.project.model import Project

_COMPANIONS = {
    "torchvision": {4: 2, 5: 4, 6: 5, 7: 6, 8: 7, 9: 8, 10: 9, 11: 10, 12: 11, 13: 12, 14: 13},
    "torchaudio": {minor: minor for minor in range(4, 14)},
}
"""For packages that are built for one version of torch: the minor version of torch 1 by their own of version 0
(github.com/pytorch/vision and github.com/pytorch/audio, README)."""

_PART = re.compile(r"(===?|<=?|~=|>=?)\s*(\d+(?:\.\d+)+)")


class Declared(NamedTuple):
    """A version requirement in a file.

    Attributes:
        operator: "==", "<", "<=", "~=", ">" or ">=".
        version: its numbers, such as (2, 0, 8).
        path: the file, as messages show it.
    """

    operator: str
    version: tuple[int, ...]
    path: str


class Old(NamedTuple):
    """A version that a project runs with, as text: "torch 1.4 in README.md"; `said` if only words name it."""

    text: str
    said: bool


class DeclaredVersions:
    """Finds the version requirements of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def of(self, package: str) -> list[Declared]:
        """The requirements for a package, named as on PyPI."""
        return [
            Declared(operator, version, self.project.shown(one.path))
            for one in self._all
            if one.package == package
            for operator, version in self._parts(one)
        ]

    def below(self, package: str, limit: tuple[int, ...]) -> Old | None:
        """What the project requires of a package if no requirement allows the version `limit`; None if it requires
        nothing of it, or one allows more."""
        found = [(one, self._parts(one)) for one in self._all if one.package == package and one.versions]
        open_ended = all(operator in (">", ">=") for _, parts in found for operator, _ in parts)
        if package == "torch" and open_ended:
            return self._implied(limit)
        if not found or not all(any(_excludes(*part, limit) for part in parts) for _, parts in found):
            return None
        one, parts = found[0]
        operator, version = parts[0]
        exact = len(parts) == 1 and operator not in ("<", "<=")
        shown = ".".join(map(str, (version if exact else limit)[:2]))
        text = f"{package} {shown if exact else f'below {shown}'} in {self.project.shown(one.path)}"
        return Old(text, one.kind == "words")

    def _implied(self, limit: tuple[int, ...]) -> Old | None:
        """What packages need that are built for one version of torch, if all of them need one below `limit`."""
        needed: dict[tuple[int, ...], Old] = {}
        for one in self._all:
            minors = _COMPANIONS.get(one.package, {})
            for operator, version in self._parts(one) if minors and one.versions else ():
                minor = minors.get(version[1]) if operator in ("==", "~=") and version[0] == 0 else None
                if minor is None:
                    return None
                shown = f"{one.package} 0.{version[1]} in {self.project.shown(one.path)}"
                needed.setdefault((1, minor), Old(f"torch 1.{minor}, which {shown} needs,", one.kind == "words"))
        return needed[min(needed)] if needed and max(needed) < limit else None

    @staticmethod
    def _parts(one: project_requirements.Declared) -> list[tuple[str, tuple[int, ...]]]:
        return [(operator, _numbers(version)) for operator, version in _PART.findall(one.versions)]

    @cached_property
    def _all(self) -> list[project_requirements.Declared]:
        return project_requirements.declared(self.project.settings.root)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _excludes(operator: str, version: tuple[int, ...], limit: tuple[int, ...]) -> bool:
    """Whether one part of a specifier (PEP 440) allows no version from `limit` on."""
    if operator == "<":
        size = len(limit)
        return version[:size] < limit or (version[:size] == limit and not any(version[size:]))
    if operator == "~=":
        # The last number may grow: "~=1.8.0" allows no 1.9, "~=1.8" does.
        return (*version[:-2], version[-2] + 1) <= limit
    return operator in ("==", "===", "<=") and version < limit
