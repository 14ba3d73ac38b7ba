"""Calls of cv2 that one cap reaches: they run in workers of the same loader, which import the same module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.rules.threads.opencv import OpenCV, Uncapped

if TYPE_CHECKING:
    from dllint.project.model import Project

_Group = list[Uncapped]
_Key = tuple[str, int, tuple[str, int], str]


def by_cap(project: Project, groups: Sequence[_Group]) -> Iterator[tuple[_Group, list[_Group]]]:
    """Yield groups of calls, each with the other groups that a cap in its module reaches too.

    Each group is the uncapped runs of one call. Groups that share no loader remain apart, though one may import the
    module of another: each has its own program.
    """
    caps = _Caps(project)
    rest = list(groups)
    while rest:
        reached = [[other for other in rest if caps.mends(one, other)] for one in rest]
        most = max(range(len(rest)), key=lambda at: len(reached[at]))
        first = rest[most]
        yield first, [other for other in reached[most] if other is not first]
        rest = [one for one in rest if one is not first and one not in reached[most]]


class _Caps:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.opencv = project.ask(OpenCV)
        self._imported: dict[_Key, set[str]] = {}

    def mends(self, one: _Group, other: _Group) -> bool:
        """Whether a cap in the module of a group reaches all workers that run another one."""
        if one is other:
            return True
        if not {_loader(use) for use in one} & {_loader(use) for use in other}:
            return False
        module = self.opencv.module(one[0].run)
        return all(module in self._imports(use) for use in other)

    def _imports(self, use: Uncapped) -> set[str]:
        """The modules that are imported before a call in all programs that may run it in workers: workers that are not
        forked import the program again."""
        run, loader = use.run, use.loader
        key = (*_loader(use), run.root, run.entry)
        found = self._imported.get(key)
        if found is None:
            closure = self.project.import_graph.import_closure
            runs = self.project.worker_runs(loader)
            files = {one.file.path for one in runs if (one.root, one.entry) == (run.root, run.entry)}
            programs = [closure({path}) for path in self.opencv.caps.above(loader) or [loader.file.path]]
            using = [one for one in programs if run.root[0] in one] or programs
            found = self._imported[key] = set.intersection(*using) | closure(files)
        return found


def _loader(use: Uncapped) -> tuple[str, int]:
    return use.loader.file.path, use.loader.call
