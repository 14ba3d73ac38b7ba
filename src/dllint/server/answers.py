"""Findings in terms of the protocol: diagnostics, code actions, hovers, code lenses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lsprotocol import types

from dllint import registry, suppressions
from dllint.finding import Finding, Fix
from dllint.fixes.cells import in_cells, whole_lines
from dllint.fixes.passes import fix_files
from dllint.fixes.text import TextEdit, Unresolvable
from dllint.reporters.cells import source_of
from dllint.reporters.edits import text_edits
from dllint.reporters.source import message, split_lines
from dllint.server.analysis import Result
from dllint.server.editing import Encoding, OpenFile, holds, place, position
from dllint.span import Span

SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
FIX_ALL = "source.fixAll.dllint"
REASON = "TODO: reason"
_CODE = re.compile(r"\bDLL\d{3}\b")
_PARENTHESIS = re.compile(r" \([^()]*\)$")


@dataclass(frozen=True)
class Offer:
    """A code action, with the edits that this server computed for it."""

    title: str
    kind: str
    edits: tuple[TextEdit, ...]
    diagnostics: tuple[types.Diagnostic, ...] = ()
    preferred: bool = False


class Answers:
    """The answers about the open files after a check of them.

    Args:
        opened: the files as they were checked, by path.
        encoding: the column units negotiated between client and server.
    """

    def __init__(self, opened: Mapping[str, OpenFile], result: Result, encoding: Encoding) -> None:
        self._opened = opened
        self._result = result
        self._encoding = encoding

    # Places

    def _lines(self, path: str, cell: int | None) -> list[str]:
        opened = self._opened.get(path)
        piece = opened.piece(cell) if opened is not None else None
        if piece is not None:
            return piece.lines
        return split_lines(source_of(self._result.shown, path, cell) or "")

    def _uri(self, path: str, cell: int | None) -> str:
        opened = self._opened.get(path)
        piece = opened.piece(cell) if opened is not None else None
        return Path(path).as_uri() if piece is None else piece.uri

    def _range(self, path: str, cell: int | None, span: Span) -> types.Range:
        lines = self._lines(path, cell)
        start = position(lines, span.line, span.column, self._encoding)
        end = position(lines, span.end_line, span.end_column, self._encoding)
        return types.Range(types.Position(*start), types.Position(*end))

    # Diagnostics

    def diagnostics(self, path: str, cell: int | None) -> list[types.Diagnostic]:
        return [self._diagnostic(shown) for shown, _ in self._result.at(path, cell)]

    def _diagnostic(self, finding: Finding) -> types.Diagnostic:
        return types.Diagnostic(
            range=self._range(finding.path, finding.cell, finding.span),
            message=message(finding),
            severity=SEVERITY[finding.severity or "warning"],
            code=finding.code,
            code_description=types.CodeDescription(finding.url) if finding.url else None,
            source="dllint",
            tags=[types.DiagnosticTag.Unnecessary] if finding.code == "DLL002" else None,
            related_information=[
                types.DiagnosticRelatedInformation(
                    types.Location(self._uri(one.path, one.cell), self._range(one.path, one.cell, one.span)),
                    one.message,
                )
                for one in (*finding.trace, *finding.related)
            ],
        )

    # Code actions

    def offers(self, path: str, cell: int | None, wanted: types.Range) -> Iterator[Offer]:
        """Yield the actions for the findings on the lines of a range."""
        for shown, raw in self._result.at(path, cell):
            if shown.span.line - 1 > wanted.end.line or shown.span.end_line - 1 < wanted.start.line:
                continue
            diagnostic = (self._diagnostic(shown),)
            for fix in raw.fixes:
                edits = tuple(text_edits(fix, self._result.raw))
                if edits:
                    title = _title(fix)
                    preferred = fix is raw.fixes[0] and fix.applicability == "safe"
                    yield Offer(title, types.CodeActionKind.QuickFix, edits, diagnostic, preferred)
            if edit := self._suppression(shown, raw):
                yield Offer(f"Ignore {shown.code} on this line", types.CodeActionKind.QuickFix, (edit,), diagnostic)

    def fix_all(self, path: str) -> Offer | None:
        """Return all safe fixes of a file that can be applied at once; `None` if there is none."""
        raw = self._result.raw
        names = {path} | {name for name, cells in raw.notebooks.items() if cells.notebook == path}
        findings = [one for one in raw.findings if one.path in names]
        texts = fix_files(findings, raw.sources.__getitem__).texts
        edits = tuple(self._edits_to(texts))
        return Offer("Fix all that is safe to fix (dllint)", FIX_ALL, edits) if edits else None

    def _edits_to(self, texts: Mapping[str, str]) -> Iterator[TextEdit]:
        """Yield the edits that turn the checked texts into new ones."""
        raw = self._result.raw
        for path, new in texts.items():
            whole = whole_lines(path, raw.sources[path], new)
            yield from in_cells([whole], raw.sources, raw.notebooks)

    def _suppression(self, shown: Finding, raw: Finding) -> TextEdit | None:
        """Return an edit that adds a suppression comment with room for a reason; `None` if the line cannot take one."""
        report = self._result.raw
        if raw.code in (suppressions.NEVER_SUPPRESSED, *suppressions.ABOUT_SUPPRESSIONS):
            return None
        old = report.sources.get(raw.path)
        if old is None:
            return None
        line = (raw.statement or raw.span).end_line
        new = suppressions.add(old, {line: [raw.code]})
        if new == old:
            return None
        after = whole_lines(raw.path, old, new)
        if not after.content.rstrip("\r\n").endswith("# dllint: ignore[" + raw.code + "]"):
            edits = [after]
        else:
            bare = after.content.rstrip("\r\n")
            edits = [replace(after, content=f"{bare} {REASON}{after.content[len(bare) :]}")]
        try:
            return in_cells(edits, report.sources, report.notebooks)[0]
        except (Unresolvable, IndexError):
            return None

    def edit(self, edits: Iterable[TextEdit], versioned: bool) -> types.WorkspaceEdit:
        """Return the edits as a workspace edit for the documents in their checked state."""
        by_place: dict[tuple[str, int | None], list[types.TextEdit]] = {}
        for one in edits:
            changed = types.TextEdit(self._range(one.path, one.cell, one.span), one.content)
            by_place.setdefault((one.path, one.cell), []).append(changed)
        if not versioned:
            return types.WorkspaceEdit(changes={self._uri(*key): found for key, found in by_place.items()})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(self._uri(*key), self._version(*key)), list(found)
                )
                for key, found in by_place.items()
            ]
        )

    def _version(self, path: str, cell: int | None) -> int | None:
        opened = self._opened.get(path)
        piece = opened.piece(cell) if opened is not None else None
        return piece.version if piece is not None else None

    # Hover and lenses

    def hover(self, path: str, cell: int | None, at: types.Position) -> types.Hover | None:
        """Return the page of the rule that reports a finding here, or whose code is written here."""
        lines = self._lines(path, cell)
        here = place(lines, at.line, at.character, self._encoding)
        for shown, _ in self._result.at(path, cell):
            if holds(shown.span, here):
                return _page(shown.code, self._range(path, cell, shown.span))
        line = lines[here[0] - 1] if here[0] <= len(lines) else ""
        for code in _CODE.finditer(line):
            span = Span(here[0], code.start() + 1, here[0], code.end() + 1)
            if holds(span, here):
                return _page(code.group(), self._range(path, cell, span))
        return None

    def lenses(self, path: str, cell: int | None) -> list[types.CodeLens]:
        return [
            types.CodeLens(self._range(path, cell, lens.span), types.Command(lens.text, ""))
            for lens in self._result.lenses.get((path, cell), ())
        ]


def _title(fix: Fix) -> str:
    """Return the title of a fix with its kind, in the parenthesis at its end if there is one."""
    if fix.applicability == "safe":
        return fix.title
    if _PARENTHESIS.search(fix.title):
        return f"{fix.title[:-1]}; {fix.applicability})"
    return f"{fix.title} ({fix.applicability})"


def _page(code: str, where: types.Range) -> types.Hover | None:
    for rule in registry.rules():
        if rule.code == code:
            text = f"# {code} {rule.page.name}\n\n{rule.page.summary}\n\n{rule.page.body}"
            return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
    return None
