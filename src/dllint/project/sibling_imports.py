"""Chains that lead from one folder of the project into a package beside it, which an import finds only if somebody has
put its folder on the path: the import may mean an installed package of the same name."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name
from dllint.finding import Finding
from dllint.modules import encloses
from dllint.reading import is_file

if TYPE_CHECKING:
    from dllint.project.model import Project

_PATH = Attribute(Name("sys"), "path")
_EXTENDING = ("append", "insert", "extend")
_INSTALLING = ("setup.py", "setup.cfg", "pyproject.toml")


class SiblingImports:
    """Decides whether a finding rests on an import across folders that nothing in the project connects."""

    def __init__(self, project: Project) -> None:
        self.world = project.world

    def crossed(self, finding: Finding) -> bool:
        """Whether the places of a finding lie below two folders, neither inside the other, while neither is
        a distribution of its own, and no code changes `sys.path`."""
        paths = {finding.path, *(one.path for one in finding.trace), *(one.path for one in finding.related)}
        pairs = combinations(sorted({self.world.index.root_of(path) for path in paths}), 2)
        apart = {root for pair in pairs if not encloses(*pair) for root in pair}
        if not apart or self._changes_path:
            return False
        return not any(is_file(os.path.join(root, name)) for root in apart for name in _INSTALLING)

    @cached_property
    def _changes_path(self) -> bool:
        return any(
            isinstance(func := file.calls[index].func, Attribute) and func.value == _PATH
            for name in _EXTENDING
            for file, index in self.world.called(name)
        )
