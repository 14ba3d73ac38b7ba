"""Comments that silence findings, and findings about comments that silence nothing.

    # dllint: ignore[DLL201] reason      findings whose place, or whose statement's first or last line, is here
    # dllint: ignore[DLL201, DLL5]       a prefix stands for all codes that start with it
    # dllint: ignore                     every finding here
    # dllint: ignore-file[DLL5]          the findings of the whole file
    # noqa: DLL201                       like `ignore[DLL201]`; codes of other tools are left alone

A `# noqa` without codes silences nothing: it is written for a project's other tools, which know nothing about workers
(`load = lambda path: …  # noqa` for E731).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from dllint.config import nearest_code
from dllint.finding import Finding, Fix, ReplaceComment
from dllint.span import Span

ABOUT_SUPPRESSIONS = ("DLL002", "DLL003")
NEVER_SUPPRESSED = "DLL001"

# Strings are matched as a whole, so that `#` inside one starts no comment; an unclosed one ends with its line or the
# file.
_STRING_OR_COMMENT = re.compile(
    r"""(?P<string>\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:\"{3}|\\?\Z)"""
    r"""|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\\?\Z)"""
    r"""|"(?:[^"\\\r\n]|\\(?:\r\n|.))*"?|'(?:[^'\\\r\n]|\\(?:\r\n|.))*'?)|(?P<comment>\#[^\r\n]*)""",
    re.DOTALL,
)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_DIRECTIVE = re.compile(
    r"#\s*(?:dllint:\s*(?P<kind>ignore-file|ignore)(?![\w-])[ \t]*"
    r"(?:\[(?P<listed>[^\]#]*)\]?|(?P<bare>DLL\w+(?:[ \t]*,[ \t]*DLL\w+)*))?(?:[^#]|#(?=\d))*"
    r"|noqa[ \t]*:[ \t]*(?P<noqa>[A-Z]+[0-9]\w*(?:(?:[ \t]*,[ \t]*|[ \t]+)[A-Z]+[0-9]\w*)*)[^#]*)",
    re.IGNORECASE,
)
_MARKER = re.compile("dllint:|noqa", re.IGNORECASE)
_CODE = re.compile(r"[^\s,]+")
_MOST_DIRECTIVES, _MOST_CODES = 50, 200
"""Directives of one comment, and codes of one directive, that are read; further ones silence nothing."""


@dataclass
class Suppression:
    """One directive in a comment.

    Attributes:
        kind: "ignore", "ignore-file" or "noqa".
        line: the line of the comment, from 1.
        comment: the whole comment, which may contain other directives and words.
        comment_column: the column of the comment, from 1.
        start, end: the directive within the comment, as indices.
        codes: the codes as written, with their index within the comment; empty for a blanket directive.
        blanket: whether the directive lists no codes.
        names: rule codes by rule name; names are accepted in place of codes.
        used: the codes of `codes` that silenced something; "" for a blanket directive that did.
    """

    kind: str
    line: int
    comment: str
    comment_column: int
    start: int
    end: int
    codes: tuple[tuple[str, int], ...]
    blanket: bool
    names: Mapping[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def silences(self, finding: Finding) -> bool:
        """Whether the comment applies to the finding's place and code. Records the code that silenced it."""
        if finding.code == NEVER_SUPPRESSED or (self.kind != "ignore-file" and self.line not in _lines(finding)):
            return False
        if self.blanket:
            if finding.code in ABOUT_SUPPRESSIONS:
                return False
            self.used.add("")
            return True
        matching = {code for code, _ in self.codes if self.stands_for(code, finding.code)}
        self.used |= matching
        return bool(matching)

    def stands_for(self, code: str, rule: str) -> bool:
        """Whether a listed code, prefix or name stands for the rule with this code."""
        return rule.startswith(self.names.get(code.lower(), code.upper()))

    def place(self, index: int, text: str) -> Span:
        column = self.comment_column + index
        return Span(self.line, column, self.line, column + len(text))

    @property
    def span(self) -> Span:
        return self.place(self.start, self.comment[self.start : self.end])


def could_suppress(source: str) -> bool:
    """Whether a text may contain a suppression."""
    return _MARKER.search(source) is not None


def read(source: str, names: Mapping[str, str] | None = None) -> list[Suppression]:
    """Return the suppressions in the comments of a source text, in order; `names` maps rule names to codes."""
    found: list[Suppression] = []
    line, line_start, counted = 1, 0, 0
    for token in _STRING_OR_COMMENT.finditer(source):
        if token.lastgroup != "comment":
            continue
        directives = list(islice(_DIRECTIVE.finditer(token.group()), _MOST_DIRECTIVES))
        if not directives:
            continue
        for newline in _NEWLINE.finditer(source, counted, token.start()):
            line, line_start = line + 1, newline.end()
        counted = token.start()
        found += _directives(directives, token.group(), line, counted - line_start + 1, names or {})
    return found


def apply(findings: Iterable[Finding], suppressions: Sequence[Suppression]) -> list[Finding]:
    """Return the findings of one file that no suppression silences. Each suppression records what it silenced."""
    by_line: dict[int, list[Suppression]] = {}
    everywhere: list[Suppression] = []
    for one in suppressions:
        (everywhere if one.kind == "ignore-file" else by_line.setdefault(one.line, [])).append(one)
    kept = []
    for finding in findings:
        near = [one for line in sorted(_lines(finding)) if line in by_line for one in by_line[line]]
        silencing = [one for one in (*near, *everywhere) if one.silences(finding)]
        if not silencing:
            kept.append(finding)
    return kept


def review(
    path: str, suppressions: Sequence[Suppression], known: Collection[str], enabled: Callable[[str], bool]
) -> Iterator[Finding]:
    """Yield DLL002 and DLL003 for the suppressions of one file, after `apply`.

    Args:
        path: the file.
        suppressions: the result of `read` for it.
        known: all existing codes.
        enabled: whether a code is checked in this run and this file; a suppression of a code that is not checked is not
            unused.
    """
    for one in suppressions:
        ours = [pair for pair in one.codes if pair[0].upper().startswith("DLL") or pair[0].lower() in one.names]
        strange = [pair for pair in ours if not any(one.stands_for(pair[0], rule) for rule in known)]
        if one.kind != "noqa":
            strange += [pair for pair in one.codes if pair not in ours]
        for code, index in strange:
            yield _unknown(path, one, code, index, known)
        if one.blanket:
            if not one.used and all(enabled(code) for code in known):
                yield _unused(path, one, [])
            continue
        unused = [
            code
            for code, index in ours
            if (code, index) not in strange
            and code not in one.used
            and all(rule not in ABOUT_SUPPRESSIONS and enabled(rule) for rule in known if one.stands_for(code, rule))
        ]
        if unused:
            yield _unused(path, one, unused)


def add(source: str, codes: Mapping[int, Sequence[str]]) -> str:
    """Return the text with suppression comments for the codes at the ends of the lines (from 1) that can take one.

    A line that ends inside a string or with a backslash cannot. Codes are added to an existing directive.
    """
    there = {one.line: one for one in read(source) if one.kind == "ignore" and one.codes}
    ends = [match.start() for match in _NEWLINE.finditer(source)] + [len(source)]
    closed = {match.start(): match for match in _STRING_OR_COMMENT.finditer(source) if match.lastgroup == "string"}
    inside = {line for match in closed.values() for line in _lines_ended_in(match, ends)}
    pieces, done = [], 0
    for line in sorted(codes):
        if line > len(ends) or line in inside:
            continue
        start = ends[line - 2] if line > 1 else 0
        body = source[start : ends[line - 1]].rstrip(" \t\f")
        if body.endswith("\\") and line not in there:
            continue
        if line in there:
            one = there[line]
            text, index = one.codes[-1]
            at = ends[line - 1] - len(one.comment) + index + len(text)
            new = [code for code in codes[line] if not any(one.stands_for(known, code) for known, _ in one.codes)]
            pieces += [source[done:at], "".join(f", {code}" for code in new)]
            done = at
        else:
            pieces += [source[done:start], body, f"  # dllint: ignore[{', '.join(codes[line])}]"]
            done = ends[line - 1]
    return "".join([*pieces, source[done:]])


def _lines_ended_in(string: re.Match[str], ends: Sequence[int]) -> range:
    """Return the lines, from 1, that end inside a string."""
    return range(bisect_left(ends, string.start()) + 1, bisect_left(ends, string.end()) + 1)


def _lines(finding: Finding) -> set[int]:
    lines = set(range(finding.span.line, finding.span.end_line + 1))
    if finding.statement:
        lines |= {finding.statement.line, finding.statement.end_line}
    return lines


def _directives(
    matches: Iterable[re.Match[str]], comment: str, line: int, column: int, names: Mapping[str, str]
) -> Iterator[Suppression]:
    for match in matches:
        kind = (match["kind"] or "noqa").lower()
        group = next((name for name in ("listed", "bare", "noqa") if match[name] is not None), None)
        codes = (
            tuple(
                (code.group(), code.start())
                for code in islice(_CODE.finditer(comment, match.start(group), match.end(group)), _MOST_CODES)
            )
            if group
            else ()
        )
        if kind == "noqa" and not any(code.upper().startswith("DLL") for code, _ in codes):
            continue
        end = match.start() + len(match.group().rstrip())
        yield Suppression(kind, line, comment, column, match.start(), end, codes, group is None, names)


def _unknown(path: str, one: Suppression, code: str, index: int, known: Collection[str]) -> Finding:
    near = nearest_code(code, [*sorted(known), *one.names])
    return Finding(
        code="DLL003",
        path=path,
        span=one.place(index, code),
        message="main" if near else "no_nearest",
        values={"code": code, "nearest": near} if near else {"code": code},
    )


def _unused(path: str, one: Suppression, codes: Sequence[str]) -> Finding:
    partly = bool(codes) and len(codes) < len(one.codes)
    names = ", ".join(codes) or "any rule"
    if partly:
        kept = ", ".join(code for code, _ in one.codes if code not in codes)
        last, index = one.codes[-1]
        comment = one.comment[: one.codes[0][1]] + kept + one.comment[index + len(last) :]
    else:
        comment = (one.comment[: one.start].rstrip() + "  " + one.comment[one.end :].lstrip()).strip()
        comment = comment if comment.startswith("#") else ""
    whole = Span(one.line, one.comment_column, one.line, one.comment_column + len(one.comment))
    title = f"Remove {names} from the comment" if partly else "Remove the comment"
    return Finding(
        code="DLL002",
        path=path,
        span=one.span,
        message="partly" if partly else "file" if one.kind == "ignore-file" else "main",
        values={"codes": names},
        fixes=(Fix(title, "safe", (ReplaceComment(path, whole, comment),)),),
    )
