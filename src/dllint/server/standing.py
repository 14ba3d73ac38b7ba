"""The findings of the last check, moved along with later edits.

A check queries the whole project, which takes seconds for a large one. Two kinds of edits need none: those that change
only comments and whitespace, after which findings move, and those after which a file does not parse, as while typing
most words. In the latter case only the syntax error is reported for that file, and findings in other files stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from dllint import linter
from dllint.config import Settings
from dllint.facts.parse import Outcome, parse
from dllint.files import Unreadable
from dllint.finding import Finding
from dllint.fixes.offers import edits_of
from dllint.linter import Report
from dllint.reporters.cells import by_cell
from dllint.server.analysis import Lens, Place, Result
from dllint.server.editing import OpenFile
from dllint.server.moved import Elsewhere, Move, moved, says_the_same, silences_the_same, words_moved

_facts = lru_cache(maxsize=8)(parse)


@dataclass(frozen=True)
class Standing:
    """A result, and the open files that it applies to.

    Attributes:
        settings: the settings of the project.
        opened: by path, each in its last state that parsed.
        result: the findings in them.
    """

    settings: Settings
    opened: Mapping[str, OpenFile]
    result: Result

    def followed(self, opened: Iterable[OpenFile]) -> tuple[Standing, Result] | None:
        """Return the updated state after edits, and the result to show; `None` if a new check is needed."""
        now = {one.path: one for one in opened}
        if now.keys() != self.opened.keys():
            return None
        standing, broken = self, {}
        for path, new in now.items():
            old = self.opened[path]
            if old.content == new.content:
                standing = standing._with(new)
                continue
            if new.notebook or old.notebook:
                return None
            outcome = _facts(new.pieces[0].text)
            if isinstance(outcome, Unreadable):
                if outcome.values["reason"].startswith("internal error"):
                    return None
                broken[path] = new
            else:
                try:
                    standing = standing._moved(old, new, outcome)
                except Elsewhere:
                    return None
        return standing, standing._without(broken)

    def _with(self, new: OpenFile) -> Standing:
        return replace(self, opened={**self.opened, new.path: new})

    def _moved(self, old: OpenFile, new: OpenFile, outcome: Outcome) -> Standing:
        before, after, path = old.pieces[0].text, new.pieces[0].text, new.path
        was = _facts(before)
        if isinstance(was, Unreadable) or isinstance(outcome, Unreadable):
            raise Elsewhere
        move = Move(before, after)
        if not says_the_same(was, outcome, move) or not silences_the_same(before, after, move):
            raise Elsewhere
        raw, shown = self.result.raw, self.result.names[path]
        findings = tuple(moved(one, path, shown, move) for one in raw.findings)
        sources = {**raw.sources, path: after} if path in raw.sources else raw.sources
        raw = _with_edits(replace(raw, findings=findings, sources=sources), path)
        words = words_moved(shown, move)
        lenses = {
            place: tuple(_lens(one, place, path, move, words(one.text)) for one in here)
            for place, here in self.result.lenses.items()
        }
        return replace(self._with(new), result=Result(raw, by_cell(raw), lenses, self.result.names))

    def _without(self, broken: Mapping[str, OpenFile]) -> Result:
        """Return the result where each file that does not parse has only its syntax error."""
        if not broken:
            return self.result
        raw = self.result.raw
        kept = [_unfixed(one, broken) for one in raw.findings if one.path not in broken]
        about = linter.check_sources({path: one.content for path, one in broken.items()}, self.settings)
        findings = sorted(
            [*kept, *(one for one in about.findings if one.code == linter.UNREADABLE)],
            key=lambda one: (one.path, one.span, one.code, one.text),
        )
        raw = replace(raw, findings=tuple(findings), sources={**raw.sources, **about.sources})
        lenses = {place: here for place, here in self.result.lenses.items() if place[0] not in broken}
        return Result(raw, by_cell(raw), lenses, self.result.names)


def _unfixed(finding: Finding, broken: Mapping[str, OpenFile]) -> Finding:
    """Return the finding without fixes for texts that have changed."""
    return replace(
        finding, fixes=tuple(fix for fix in finding.fixes if not any(edit.path in broken for edit in fix.edits))
    )


def _lens(lens: Lens, place: Place, path: str, move: Move, text: str) -> Lens:
    return Lens(move.span(lens.span) if place[0] == path else lens.span, text)


def _with_edits(raw: Report, path: str) -> Report:
    """Return the report with the edits of its fixes recomputed for the new text of a file."""
    touching = tuple(one for one in raw.findings if any(edit.path == path for fix in one.fixes for edit in fix.edits))
    kept = {edits: made for edits, made in raw.edits.items() if all(edit.path != path for edit in edits)}
    return replace(raw, edits={**kept, **edits_of(replace(raw, findings=touching))})
