"""The package versions that a project requires in its requirements files, or names in its README."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint import project_requirements

if TYPE_CHECKING:
    from dllint.project.model import Project

_Minors = Mapping[tuple[int, ...], int]

_COMPANIONS: Mapping[str, _Minors] = {
    "torchvision": {(0, 4): 2, **{(0, minor): minor - 1 for minor in range(5, 15)}},
    "torchaudio": {(0, minor): minor for minor in range(4, 14)},
}
"""For packages that are built for one version of torch: the minor version of torch 1 by their own
(github.com/pytorch/vision and github.com/pytorch/audio, README)."""
_NEWEST: Mapping[str, _Minors] = {
    "cudatoolkit": {(8, 0): 0, (9, 0): 1, (9, 2): 7, (10, 0): 2, (10, 1): 8, (10, 2): 12},
    "python": {(2, 7): 4, (3, 5): 5, (3, 6): 10},
}
"""The newest minor version of torch 1 that is built for a version of CUDA or Python (pytorch.org, "Previous PyTorch
Versions", and the wheels of torch on PyPI)."""
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
    """A version that a project runs with, as text: "torch 1.4 in README.md"; `unsure` if only words name it, or other
    requirements allow others."""

    text: str
    unsure: bool


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
        return Old(self._text(found[0][0], limit), found[0][0].kind == "words")

    def also_below(self, package: str, limit: tuple[int, ...]) -> Old | None:
        """What one way to install the project gives of a package, if that is below the version `limit` and another
        requirement allows that version; None if there is none.

        That is a file that lists packages, whatever others say, or anything that names versions beside lower bounds
        alone.
        """
        found = [(one, self._parts(one)) for one in self._all if one.package == package and one.versions]
        closed = [(one, parts) for one, parts in found if not all(operator in (">", ">=") for operator, _ in parts)]
        below = [one for one, parts in closed if any(_excludes(*part, limit) for part in parts)]
        if len(below) < len(closed):
            below = [one for one in below if one.kind in ("environment", "list")]
        if not below:
            return None
        others = [
            f"{_shown(max(version for _, version in parts))} in {self.project.shown(one.path)}"
            for one, parts in found
            if one not in below and max((version for _, version in parts), default=()) >= limit
        ]
        text = self._text(below[0], limit)
        return Old(f"{text} (but {others[0]})" if others else text, True)

    def _text(self, one: project_requirements.Declared, limit: tuple[int, ...]) -> str:
        """How messages show a requirement: "torch 1.4 in README.md"; one of several parts by the limit."""
        parts = self._parts(one)
        operator, version = parts[0]
        exact = len(parts) == 1 and operator not in ("<", "<=")
        shown = _shown(version if exact else limit)
        return f"{one.package} {shown if exact else f'below {shown}'} in {self.project.shown(one.path)}"

    def _implied(self, limit: tuple[int, ...]) -> Old | None:
        """What packages need that are built for one version of torch, if all of them need one below `limit`. Without
        such packages, what there is for the versions of CUDA and Python that the project names."""
        needed: dict[tuple[int, ...], Old] = {}
        for one, minor in self._that_need(_COMPANIONS):
            if minor is None:
                return None
            shown = f"{one.package} {_shown(self._parts(one)[0][1])} in {self.project.shown(one.path)}"
            needed.setdefault((1, minor), Old(f"torch 1.{minor}, which {shown} needs,", one.kind == "words"))
        if not needed:
            return self._newest(limit)
        return needed[min(needed)] if max(needed) < limit else None

    def _newest(self, limit: tuple[int, ...]) -> Old | None:
        """The newest torch for the version of CUDA or Python that the project names, if that is below `limit`."""
        for package in _NEWEST:
            needed = list(self._that_need({package: _NEWEST[package]}))
            if needed and all(minor is not None and (1, minor) < limit for _, minor in needed):
                one, minor = needed[0]
                shown = f"{one.package} {_shown(self._parts(one)[0][1])} in {self.project.shown(one.path)}"
                return Old(f"torch 1.{minor}, the newest for {shown},", True)
        return None

    def _that_need(self, packages: Mapping[str, _Minors]) -> Iterator[tuple[project_requirements.Declared, int | None]]:
        """The requirements for some packages, with the minor version of torch 1 that these need; None if unknown."""
        for one in self._all:
            if one.package in packages:
                for operator, version in self._parts(one):
                    exact = operator in ("==", "~=")
                    yield one, packages[one.package].get(version[:2]) if exact else None

    @staticmethod
    def _parts(one: project_requirements.Declared) -> list[tuple[str, tuple[int, ...]]]:
        return [(operator, _numbers(version)) for operator, version in _PART.findall(one.versions)]

    @cached_property
    def _all(self) -> list[project_requirements.Declared]:
        return project_requirements.declared(self.project.settings.root)


def _shown(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version[:2]))


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
