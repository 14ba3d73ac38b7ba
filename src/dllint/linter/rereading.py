"""What an analysis read of the files: stored with its report, and compared with an edited file."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dllint.config import Settings
from dllint.facts.schema import FileFacts
from dllint.inference.reread import Reread
from dllint.libraries.index import ITERATES
from dllint.linking.implicit_calls import Common
from dllint.linking.reads import ReadOfProject, Reads
from dllint.linking.recorded import RecordedFile
from dllint.linking.source import SourceFile
from dllint.linking.target_conditions import TargetConditions
from dllint.linter.moved import Elsewhere, Move

if TYPE_CHECKING:
    from dllint.project.model import Project

_OF_FILE = ("calls", "callees", "shapes", "values", "regions", "headers", "extents", "called", "loaded")
_BY_SCOPE = ("events", "names")
_OF_PROJECT = ("called", "loaded", "aliases", "aliased", "stored_under", "keys", "defined", "places")


@dataclass(frozen=True)
class ReadByAnalysis:
    """What an analysis read: of all files at once, and of each, as JSON until it is needed."""

    project: ReadOfProject
    files: Mapping[str, Reads | str]

    @classmethod
    def of(cls, project: Project) -> ReadByAnalysis:
        """Return what was read of a project."""
        files = project.world.files.items()
        return cls(project.world.reads, {path: file.reads for path, file in files if isinstance(file, RecordedFile)})

    def after(
        self, path: str, facts: tuple[FileFacts, FileFacts], move: Move, settings: Settings
    ) -> ReadByAnalysis | None:
        """Return what the analysis would read after an edit of a file; `None` if that may change its result.

        Args:
            path: the file.
            facts: those before and after.
            move: maps the places in the text.
        """
        reads = self.files.get(path)
        if reads is None:
            return None
        if isinstance(reads, str):
            reads = _reads(json.loads(reads))
        targets = TargetConditions(settings.targets)
        old, new = (targets.reached(SourceFile(path, one)) for one in facts)
        reread = Reread(old, new, move, Elsewhere, ITERATES)
        after = reread.reads_the_same(reads, self.project)
        if after is None:
            return None
        project = ReadOfProject()
        project.__dict__.update(self.project.__dict__)
        project.places = reread.places_moved(self.project.places)
        project.defined = reread.defined_after(self.project.defined)
        return ReadByAnalysis(project, {**self.files, path: after})

    def to_json(self) -> str:
        """Return the text that `from_json` reads."""
        project = {name: sorted(getattr(self.project, name), key=repr) for name in _OF_PROJECT}
        files = {path: one if isinstance(one, str) else json.dumps(_plain(one)) for path, one in self.files.items()}
        return json.dumps([[sorted(one) for one in self.project.common], project, files])

    @classmethod
    def from_json(cls, text: str) -> ReadByAnalysis:
        """Return what `to_json` wrote."""
        common, project, files = json.loads(text)
        found = ReadOfProject()
        found.common = Common(*common)
        for name in _OF_PROJECT:
            setattr(found, name, {_hashable(one) for one in project[name]})
        return cls(found, files)


def _plain(reads: Reads) -> dict[str, Any]:
    plain: dict[str, Any] = {name: sorted(getattr(reads, name)) for name in _OF_FILE}
    for name in (*_BY_SCOPE, "asked"):
        plain[name] = [[key, sorted(one, key=repr)] for key, one in sorted(getattr(reads, name).items()) if one]
    return plain


def _reads(plain: dict[str, Any]) -> Reads:
    reads = Reads()
    for name in _OF_FILE:
        setattr(reads, name, {*map(_hashable, plain[name])})
    for name in (*_BY_SCOPE, "asked"):
        setattr(reads, name, defaultdict(set, {key: {*map(_hashable, one)} for key, one in plain[name]}))
    return reads


def _hashable(one: Any) -> Any:
    return tuple(one) if isinstance(one, list) else one
