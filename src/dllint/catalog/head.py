"""Read the head of a rule page, its title and its TOML block, and validate every key."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from string import Formatter
from typing import Any, cast

from dllint.catalog.page import (
    FIX_KINDS,
    OPTION_TYPES,
    RUN_PLACES,
    SUBJECTS,
    CatalogError,
    ErrorText,
    FixKind,
    Option,
    RulePage,
    RunPlace,
    RunSection,
    Subject,
)
from dllint.finding import SEVERITIES, Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE_NAME = re.compile(r"(DLL\d{3})-([a-z0-9]+(?:-[a-z0-9]+)*)\.md\Z")
_CODE = re.compile(r"DLL\d{3}\Z")
_TOML_LINE = re.compile(r" \(at line (\d+), column \d+\)| \(at end of document\)")


def parse(text: str, path: str) -> RulePage:
    """Parse the head of a page. `path` is used in errors; its last part must be `<code>-<name>.md`.

    Raises:
        CatalogError: the title or the TOML block does not follow the format in `dllint.catalog`.
    """
    named = _FILE_NAME.search(path)
    if not named:
        raise CatalogError(path, 1, "a page is called DLL<three digits>-<name>.md")
    code, name = named.groups()
    lines = text.splitlines()
    if lines[:1] != [f"# {code} {name}"]:
        raise CatalogError(path, 1, f"the first line must be '# {code} {name}'")
    start = next((index for index, line in enumerate(lines[1:], 1) if line.strip()), len(lines))
    if lines[start : start + 1] != ["```toml"]:
        raise CatalogError(path, min(start, len(lines) - 1) + 1, "a ```toml block must follow the title")
    end = next((index for index, line in enumerate(lines[start:], start) if line == "```"), None)
    if end is None:
        raise CatalogError(path, start + 1, "the ```toml block is not closed")
    try:
        head = tomllib.loads("\n".join(lines[start + 1 : end]))
    except tomllib.TOMLDecodeError as error:
        at = _TOML_LINE.search(str(error))
        line = start + 1 + int(at[1]) if at and at[1] else end + 1
        raise CatalogError(path, line, _TOML_LINE.sub("", str(error))) from None
    reader = _HeadReader(head, lines[: end + 1], path)
    for key, value in (("code", code), ("name", name)):
        if reader.take(key, str) != value:
            raise reader.wrong(key, f"must be {value!r} as in the file's name")
    messages, remedies = reader.templates("messages"), reader.templates("help")
    for key in messages:
        if key not in remedies and "main" not in remedies:
            raise reader.wrong("help", f"neither {key!r} nor 'main' here, so the message {key!r} has no remedy")
    page = RulePage(
        code=code,
        name=name,
        severity=cast(Severity, reader.one_of("severity", SEVERITIES)),
        fix=cast(FixKind, reader.one_of("fix", FIX_KINDS)),
        preview=reader.take("preview", bool, False),
        fails=reader.take("fails", bool, False),
        about_datasets=reader.take("about_datasets", bool, False),
        since=reader.take("since", str),
        summary=reader.take("summary", str),
        apis=reader.strings("apis"),
        messages=messages,
        help=remedies,
        options=reader.options(),
        run=reader.run(),
        path=path,
        text=text,
        body_line=end + 2,
    )
    reader.finish()
    return page


class _HeadReader:
    """Takes the keys of a page's TOML block one by one; its errors name the line."""

    def __init__(self, head: dict[str, Any], lines: list[str], path: str) -> None:
        self.head, self.lines, self.path = head, lines, path

    def wrong(self, key: str, reason: str) -> CatalogError:
        pattern = re.compile(rf"\s*(?:\[\[?)?{re.escape(key)}\b")
        at = next((number for number, text in enumerate(self.lines, 1) if pattern.match(text)), len(self.lines))
        return CatalogError(self.path, at, f"{key}: {reason}")

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        value = self.head.pop(key, default)
        if value is None:
            raise self.wrong(key, "missing")
        if type(value) is not kind or value == "":
            raise self.wrong(key, f"must be a {kind.__name__}, and not empty")
        return value

    def one_of(self, key: str, known: tuple[str, ...], default: str | None = None) -> str:
        value = self.take(key, str, default)
        if value not in known:
            raise self.wrong(key, f"{value!r} is none of {', '.join(known)}")
        return cast(str, value)

    def strings(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        if default is not None and key not in self.head:
            return default
        values = self.take(key, list)
        if not values or not all(isinstance(value, str) and value for value in values):
            raise self.wrong(key, "must be a list of strings, and not empty")
        return tuple(values)

    def templates(self, key: str) -> dict[str, str]:
        table = self.take(key, dict)
        if not table:
            raise self.wrong(key, "empty")
        for name, template in table.items():
            if not isinstance(template, str) or not template.strip():
                raise self.wrong(name, "must be a text")
            try:
                pieces = list(Formatter().parse(template))
            except ValueError as error:
                raise self.wrong(name, str(error)) from None
            for _, field, spec, conversion in pieces:
                if field is not None and (not field.isidentifier() or spec or conversion):
                    raise self.wrong(name, "a placeholder is a plain name in braces, as {where}")
        return cast("dict[str, str]", table)

    def options(self) -> tuple[Option, ...]:
        found: list[Option] = []
        for table in self.take("options", list, []):
            if not isinstance(table, dict) or set(table) != {"name", "type", "default", "doc"}:
                raise self.wrong("options", "each has name, type, default and doc, and nothing else")
            if table["type"] not in OPTION_TYPES:
                raise self.wrong("options", f"type {table['type']!r} is none of {', '.join(OPTION_TYPES)}")
            if type(table["default"]) is not OPTION_TYPES[table["type"]]:
                raise self.wrong("options", f"the default of {table['name']!r} is no {table['type']}")
            found.append(Option(**table))
        return tuple(found)

    def run(self) -> RunSection:
        if "run" not in self.head:
            return RunSection()
        inner = _HeadReader(self.take("run", dict), self.lines, self.path)
        found = RunSection(
            text=inner.take("text", str) if "text" in inner.head else "",
            subject=cast(Subject, inner.one_of("subject", SUBJECTS, "workers")),
            processes=inner.strings("processes", ()),
            place=cast(RunPlace, inner.one_of("place", RUN_PLACES, "loader")),
            alike=inner.codes("alike"),
            errors=tuple(inner.errors()),
        )
        inner.finish()
        return found

    def codes(self, key: str) -> tuple[str, ...]:
        found = self.strings(key, ())
        for code in found:
            if not _CODE.match(code):
                raise self.wrong(key, f"{code!r} is no code of a rule")
        return found

    def errors(self) -> Iterator[ErrorText]:
        for table in self.take("errors", list, []):
            if not isinstance(table, dict):
                raise self.wrong("errors", "each is a table, [[run.errors]]")
            error = _HeadReader(table, self.lines, self.path)
            yield ErrorText(error.take("text", str), error.take("cause", str), error.codes("also"))
            error.finish()

    def finish(self) -> None:
        for key in self.head:
            raise self.wrong(key, "unknown key")
