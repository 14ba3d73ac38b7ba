"""The findings of the last check, moved along with later edits.

A check queries the whole project, which takes seconds for a large one. Four kinds of edits need none: those that
change only comments and whitespace, after which findings move; those that change nothing that the check read; those
after which a file does not parse, as while typing most words; and those of a file that cannot matter, before or after.
If a file does not parse, only its syntax error is reported for it, and findings in other files stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from dllint import linter, suppressions
from dllint.config import Settings
from dllint.facts.parse import Older, Outcome, is_plainly_valid, parse
from dllint.facts.schema import FileFacts
from dllint.files import Unreadable
from dllint.finding import Finding
from dllint.fixes.offers import edits_of
from dllint.linter.edited import moved_report
from dllint.linter.inputs import Run, screened
from dllint.linter.memory import Input, Memory
from dllint.linter.moved import Elsewhere, Move, words_moved
from dllint.linter.rereading import ReadByAnalysis
from dllint.reporters.cells import by_cell
from dllint.server.analysis import Lens, Place, Result
from dllint.server.editing import OpenFile

_DEFINED = re.compile(r"\bdef[ \t]+(\w+)")
_facts = lru_cache(maxsize=8)(parse)


@dataclass(frozen=True)
class Standing:
    """A result, and the open files that it applies to.

    Attributes:
        settings: the settings of the project.
        opened: by path, each in its last state that parsed.
        result: the findings in them.
        memory: what the check left in memory, and later ones too.
        input: what the check read.
    """

    settings: Settings
    opened: Mapping[str, OpenFile]
    result: Result
    memory: Memory = field(default_factory=Memory)
    input: Input | None = None

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
            if self._never_matters(old, new, now):
                standing = standing._with(new)
                continue
            outcome = _facts(new.pieces[0].text)
            if isinstance(outcome, Older):
                return None
            if isinstance(outcome, Unreadable):
                if outcome.values["reason"].startswith("internal error"):
                    return None
                broken[path] = new
            else:
                try:
                    standing = standing._moved(old, new, outcome, now)
                except Elsewhere:
                    return None
        return standing, standing._without(broken)

    def _never_matters(self, old: OpenFile, new: OpenFile, now: Mapping[str, OpenFile]) -> bool:
        """Whether the check did not look into a file, and would not look into it or any other one after its edit."""
        path, before, after = new.path, old.pieces[0].text, new.pieces[0].text
        if self.input is None or path in self.input.mattering or path not in self.input.contents:
            return False
        if path in self.result.raw.sources or any(map(suppressions.could_suppress, (before, after))):
            return False
        # A call by a rare method name is resolved only if no file that its own imports defines a function so named.
        named = {*_DEFINED.findall(before)} ^ {*_DEFINED.findall(after)}
        methods = re.compile(rb"\bdef[ \t]+(?:%s)\b" % b"|".join(one.encode() for one in sorted(named)))
        if named and any(methods.search(self.input.contents[one]) for one in self.input.mattering):
            return False
        if not is_plainly_valid(after):
            return False
        return self._selects_the_same(now)

    def _selects_the_same(self, now: Mapping[str, OpenFile]) -> bool:
        """Whether the check would look into the same files."""
        if self.input is None:
            return False
        texts = {path: one.pieces[0].text for path, one in now.items() if not one.notebook}
        run = Run(self.settings, set())
        run.contents = {
            **self.input.contents,
            **{path: text.encode("utf-8", "replace") for path, text in texts.items()},
        }
        return screened(run, self.memory.screened).paths == self.input.mattering

    def _with(self, new: OpenFile) -> Standing:
        return replace(self, opened={**self.opened, new.path: new})

    def _moved(self, old: OpenFile, new: OpenFile, outcome: Outcome, now: Mapping[str, OpenFile]) -> Standing:
        before, after, path = old.pieces[0].text, new.pieces[0].text, new.path
        was = _facts(before)
        if not isinstance(was, FileFacts) or not isinstance(outcome, FileFacts):
            raise Elsewhere
        shown = self.result.names[path]
        facts = (was, outcome)

        def reads() -> ReadByAnalysis | None:
            return self.input.reads if self.input is not None and self._selects_the_same(now) else None

        raw, read = moved_report(self.result.raw, path, shown, (before, after), facts, edits_of, reads, self.settings)
        move = Move(before, after)
        words = words_moved(shown, move)
        lenses = {
            place: tuple(_lens(one, place, path, move, words(one.text)) for one in here)
            for place, here in self.result.lenses.items()
        }
        input = self.input._replace(reads=read) if self.input is not None and read is not None else self.input
        return replace(self._with(new), result=Result(raw, by_cell(raw), lenses, self.result.names), input=input)

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
