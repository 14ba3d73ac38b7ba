"""A rule page: its title and TOML block, and its body, which is parsed on demand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from dllint.finding import Severity

FixKind = Literal["safe", "unsafe", "suggestion", "none"]
FIX_KINDS: tuple[FixKind, ...] = get_args(FixKind)
Subject = Literal["workers", "loader", "program", "line"]
SUBJECTS: tuple[Subject, ...] = get_args(Subject)
RunPlace = Literal["loader", "iteration"]
RUN_PLACES: tuple[RunPlace, ...] = get_args(RunPlace)
HEADINGS = ("What it does", "Why it is bad", "Examples", "Fixed", "Limits", "See also")
OPTION_TYPES: Mapping[str, type] = {"integer": int, "number": float, "boolean": bool, "string": str, "strings": list}

_MARK = re.compile(r"(?:^|[ \t]+)# (DLL\d{3}(?: DLL\d{3})*)$")
_EXAMPLE = re.compile(r"### (Bad|Good): (\S.*)\Z")
_PATH_LINE = re.compile(r"`([^`]+)`:?\Z")


class CatalogError(ValueError):
    """A page does not follow the format. Its text is one line, `path:line: what is wrong`."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}")
        self.path, self.line, self.reason = path, line, reason


class Mark(NamedTuple):
    """An expected finding: `line` counts from 1 in the example's file."""

    path: str
    line: int
    code: str


@dataclass(frozen=True)
class Example:
    """A small project that a rule must report (`bad`) or leave alone.

    Attributes:
        title: the words after `Bad:` or `Good:`, unique within the page.
        files: relative POSIX path → text, without the marks.
        marks: every finding of a check of these files, by any rule, in order.
        line: line of the heading in the page, from 1.
    """

    title: str
    bad: bool
    files: Mapping[str, str]
    marks: tuple[Mark, ...]
    line: int


@dataclass(frozen=True)
class Option:
    """A key of `[tool.dllint.rules.<code>]`; `type` is one of `OPTION_TYPES`."""

    name: str
    type: str
    default: Any
    doc: str


@dataclass(frozen=True)
class ErrorText:
    """An error text of programs that fail because of the rule's hazard.

    Attributes:
        text: a regular expression, searched in the exception and its traceback.
        cause: what happened, as a clause.
        also: codes of other rules whose hazard can cause the same error, most likely first.
    """

    text: str
    cause: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunSection:
    """The `[run]` table of a page: how `dllint run` reports the rule.

    Attributes:
        text: the message if only the run saw the hazard; "" for the page's summary.
        subject: what the hazard requires: a loader with workers, any loader, or none ("program"; "line" if the judge
            decides by the processes that executed the line).
        place: where a hazard that only the run saw is reported: where the loader is constructed, or where it is
            iterated.
        alike: codes of rules that a run cannot distinguish from this one: a finding of one covers the others.
        errors: texts of failures that this hazard causes.
        processes: the messages about processes that no loader starts, judged by those that executed the line.
    """

    text: str = ""
    subject: Subject = "workers"
    place: RunPlace = "loader"
    alike: tuple[str, ...] = ()
    errors: tuple[ErrorText, ...] = ()
    processes: tuple[str, ...] = ()

    def subject_of(self, message: str) -> Subject:
        """Return what the hazard of a finding with this message requires."""
        return "line" if message in self.processes else self.subject


@dataclass(frozen=True)
class RulePage:
    """The page of one rule: the values of its TOML block, and its Markdown body.

    Attributes:
        severity: the severity of findings for which the rule does not set another.
        fix: the strongest kind of fix that the rule offers.
        fails: a warning of the rule means that the program fails, not only that it wastes memory or time.
        about_datasets: the rule also looks at datasets which no loader is seen to read.
        since: the first version of dllint that has the rule.
        summary: one sentence.
        apis: pieces of source text that the rule is about.
        messages: key → template of the finding's text.
        help: key → template of the remedy.
        run: how `dllint run` reports the rule.
        path: the file of the page.
        text: the whole page.
    """

    code: str
    name: str
    severity: Severity
    fix: FixKind
    preview: bool
    fails: bool
    about_datasets: bool
    since: str
    summary: str
    apis: tuple[str, ...]
    messages: Mapping[str, str]
    help: Mapping[str, str]
    options: tuple[Option, ...]
    run: RunSection
    path: str
    text: str
    body_line: int

    def render(self, key: str, values: Mapping[str, str | int]) -> str:
        """Return the message `key` filled with `values`; superfluous values are ignored.

        Raises:
            ValueError: the page has no such message, or a placeholder has no value.
        """
        if key not in self.messages:
            raise ValueError(f"{self.code} has no message {key!r}, only {', '.join(self.messages)}")
        return self._fill(self.messages[key], values)

    def remedy(self, key: str, values: Mapping[str, str | int]) -> str:
        """Return the help text of a message: the one named by the value `remedy`, else the message's own, else "main".

        Raises:
            ValueError: `remedy` is not a help text of the page, or a placeholder has no value.
        """
        chosen = str(values.get("remedy", key if key in self.help else "main"))
        if chosen not in self.help:
            raise ValueError(f"{self.code} has no help {chosen!r}, only {', '.join(self.help)}")
        return self._fill(self.help[chosen], values)

    def _fill(self, template: str, values: Mapping[str, str | int]) -> str:
        try:
            return template.format_map(values)
        except KeyError as error:
            raise ValueError(f"{self.code}: no value for {{{error.args[0]}}} in {template!r}") from None

    @property
    def body(self) -> str:
        """The page below its TOML block."""
        return "\n".join(self.text.splitlines()[self.body_line - 1 :]).strip("\n") + "\n"

    @property
    def sections(self) -> dict[str, str]:
        """Heading → the Markdown under it.

        Raises:
            CatalogError: a heading is missing, unknown, out of order or without text.
        """
        return {heading: "\n".join(lines).strip("\n") for heading, (_, lines) in self._sections.items()}

    @cached_property
    def _sections(self) -> dict[str, tuple[int, list[str]]]:
        found: dict[str, tuple[int, list[str]]] = {}
        fence = False
        for number, line in enumerate(self.text.splitlines()[self.body_line - 1 :], self.body_line):
            if line.startswith("```"):
                fence = not fence
            if line.startswith("## ") and not fence:
                heading = line[3:]
                after = list(found)[-1:]
                if heading not in HEADINGS:
                    raise CatalogError(self.path, number, f"unknown heading {heading!r}; known: {', '.join(HEADINGS)}")
                if after and HEADINGS.index(heading) <= HEADINGS.index(after[0]):
                    raise CatalogError(self.path, number, f"heading {heading!r} cannot follow {after[0]!r}")
                found[heading] = (number + 1, [])
            elif found:
                found[next(reversed(found))][1].append(line)
            elif line.strip():
                raise CatalogError(self.path, number, "text before the first heading")
        end = len(self.text.splitlines())
        if fence:
            raise CatalogError(self.path, end, "a fence is not closed")
        wanted = [heading for heading in HEADINGS if heading != "Fixed" or self.fix in ("safe", "unsafe")]
        for heading in wanted:
            if heading not in found:
                raise CatalogError(self.path, end, f"there is no heading {heading!r}")
        for heading, (number, lines) in found.items():
            if not any(line.strip() for line in lines):
                raise CatalogError(self.path, number - 1, f"nothing under {heading!r}")
        return found

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """The examples, in the order of the page.

        Raises:
            CatalogError: an example is malformed, a bad one has no mark of this rule, or a good one has such a mark.
        """
        examples: list[Example] = []
        for number, heading, body in self._parts("Examples"):
            match = _EXAMPLE.match(heading)
            if not match:
                raise CatalogError(self.path, number, "expected '### Bad: …' or '### Good: …'")
            bad, title = match[1] == "Bad", match[2]
            if any(example.title == title for example in examples):
                raise CatalogError(self.path, number, f"a second example is called {title!r}")
            texts, marks = {}, []
            for path, lines in self._files(body, number):
                for index, line in enumerate(lines):
                    if mark := _MARK.search(line):
                        marks += [Mark(path, index + 1, code) for code in mark[1].split()]
                        lines[index] = line[: mark.start()]
                texts[path] = "".join(line + "\n" for line in lines)
            if bad != any(mark.code == self.code for mark in marks):
                raise CatalogError(self.path, number, f"{'no' if bad else 'a'} mark of {self.code} in this example")
            examples.append(Example(title, bad, texts, tuple(sorted(marks)), number))
        return tuple(examples)

    @cached_property
    def fixed(self) -> dict[str, dict[str, str]]:
        """Title of a bad example → path → text of the files that the fix changes.

        Raises:
            CatalogError: a heading is not the title of a bad example, or a file is not part of the example.
        """
        found: dict[str, dict[str, str]] = {}
        for number, heading, body in self._parts("Fixed") if "Fixed" in self._sections else ():
            title = heading[4:]
            example = next((one for one in self.examples if one.bad and one.title == title), None)
            if example is None:
                raise CatalogError(self.path, number, f"no bad example is called {title!r}")
            found[title] = {}
            for path, lines in self._files(body, number):
                if path not in example.files:
                    raise CatalogError(self.path, number, f"the example {title!r} has no file {path!r}")
                found[title][path] = "".join(line + "\n" for line in lines)
        return found

    def _parts(self, section: str) -> Iterator[tuple[int, str, list[tuple[int, str]]]]:
        """Yield the `###` parts of a section: line, heading and numbered lines. Text before the first is skipped."""
        start, lines = self._sections[section]
        part: tuple[int, str, list[tuple[int, str]]] | None = None
        fence = False
        for number, line in enumerate(lines, start):
            if line.startswith("```"):
                fence = not fence
            if line.startswith("### ") and not fence:
                if part:
                    yield part
                part = (number, line, [])
            elif part:
                part[2].append((number, line))
            elif fence:
                raise CatalogError(self.path, number, f"a fence before the first '### …' of {section!r}")
        if not part:
            raise CatalogError(self.path, start - 1, f"no '### …' under {section!r}")
        yield part

    def _files(self, body: list[tuple[int, str]], start: int) -> list[tuple[str, list[str]]]:
        """Return the fences of a part, each with its path."""
        found: list[tuple[str, list[str]]] = []
        named: str | None = None
        fence = False
        for number, line in body:
            if line.startswith("```"):
                fence = not fence
                if fence:
                    if named is None:
                        raise CatalogError(self.path, number, "a fence needs its path in backticks on a line before it")
                    found.append((named, []))
                    named = None
            elif fence:
                found[-1][1].append(line)
            elif match := _PATH_LINE.match(line):
                named = match[1]
                if named.startswith("/") or "\\" in named or ".." in named.split("/"):
                    raise CatalogError(self.path, number, f"{named!r} is no path inside the example")
                if any(path == named for path, _ in found):
                    raise CatalogError(self.path, number, f"a second file is called {named!r}")
            elif line.strip():
                named = None
        if not found:
            raise CatalogError(self.path, start, "no file under this heading")
        return found
