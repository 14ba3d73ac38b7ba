"""The interpreter by itself: pages of snippets whose comments say what an expression can be.

A page is a Markdown file of this directory. Each heading names a snippet; below it stand one or more fenced blocks,
each with the name of its file (```` ```python main.py ````; `main.py` where none is given). Marks at the ends of lines:

    # value: 3 | 'a' | ?       all values of the line's expression (what is assigned, returned or written there)
    # callers: a.py:4 b.py:9   the calls that can run the function defined on this line
    # origin: 3 @ a.py:4       where the value of the line's expression comes from, and how in brackets if that is said
    # unreachable              no call of the function around reaches this line

`?` stands for what is not known. `described` gives the form of the other values.

The pages in `wrong/` are of the same kind: their marks are true, and the interpreter answers otherwise today. Whoever
mends one moves its snippet to the page of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.facts.schema import Event
from dllint.inference.engine import World
from dllint.inference.origins import Origins
from dllint.inference.values import (
    Actual,
    Class,
    Const,
    Data,
    Display,
    External,
    Function,
    Instance,
    Keywords,
    Module,
    Parsed,
    Partial,
    Pattern,
    Site,
    Super,
    Unknown,
    Value,
    Values,
)
from dllint.inference.values import Mapping as Dict
from dllint.libraries.knowledge import Libraries
from dllint.linking.source import SourceFile
from dllint.project.launches import Launches

PAGES = sorted(Path(__file__).parent.glob("*.md"))
WRONG = sorted((Path(__file__).parent / "wrong").glob("*.md"))
BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"[ \t]*#[ ](?P<kind>value|callers|origin|unreachable)\b:?[ ]?(?P<expected>.*)$")


@dataclass(frozen=True)
class Snippet:
    page: str
    title: str
    files: Mapping[str, str]

    def marks(self) -> Iterator[tuple[str, int, str, str]]:
        """Path, line, kind and what is expected of each mark."""
        for path, text in self.files.items():
            for number, line in enumerate(text.splitlines(), 1):
                if mark := MARK.search(line):
                    yield path, number, mark["kind"], mark["expected"].strip()


def snippets(pages: Iterable[Path] = PAGES) -> Iterator[Snippet]:
    for page in pages:
        for part in re.split(r"^##+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, body = part.partition("\n")
            yield Snippet(
                page.stem, title.strip(), {one["name"] or "main.py": one["text"] for one in BLOCK.finditer(body)}
            )


def described(value: Value, world: World, depth: int = 3) -> str:
    """A value as the marks write it."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Pattern):
        return f"f'{value.prefix}{{{value.inner}}}{value.suffix}'"
    if isinstance(value, Function):
        bound = "bound " if value.receiver is not None else ""
        return f"{bound}function {value.file.qualified_name(value.scope)}"
    if isinstance(value, Class):
        return f"class {value.name}"
    if isinstance(value, Module):
        return f"module {value.path}"
    if isinstance(value, External):
        return value.name
    if isinstance(value, Instance):
        return f"{value.of.name}()"
    if isinstance(value, Super):
        return f"super of {value.cls.name}"
    if isinstance(value, Partial):
        return f"partial({described(value.function, world, depth)})"
    if isinstance(value, Display):
        return f"{value.kind} of {listed(world.values.element_of(value), world, depth - 1)}" if depth else "..."
    if isinstance(value, Dict):
        return f"dict of {listed(world.mappings.all_values(value), world, depth - 1)}" if depth else "..."
    if isinstance(value, Keywords):
        return f"keywords of {value.function.name}"
    if isinstance(value, Parsed):
        return "parsed arguments"
    if isinstance(value, Data):
        return f"{value.path}:{'.'.join(map(str, value.pointer))}"
    assert isinstance(value, Unknown)
    return "?"


def listed(values: Values, world: World, depth: int = 3) -> str:
    return " | ".join(sorted({described(value, world, depth) for value in values})) or "nothing"


class Answers:
    """What the interpreter says of the lines of a snippet."""

    def __init__(self, snippet: Snippet, top: Path) -> None:
        for path, text in snippet.files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text, encoding="utf-8")
        self.top = top
        facts = {path: extract(text) for path, text in snippet.files.items() if path.endswith(".py")}
        self.world = World(facts, Settings(root=str(top)), Libraries)
        Launches(self.world).all()

    def file(self, path: str) -> SourceFile:
        return self.world.files[path]

    def events(self, path: str, line: int) -> list[tuple[Event, Site]]:
        """The statements that begin on a line and that some target runs."""
        file = self.file(path)
        return [
            (event, Site(file, index, event.region, (event.span.line, event.span.column), None))
            for index, scope in enumerate(file.scopes)
            for event in scope.events
            if event.span.line == line and event.kind not in ("def", "class", "import")
        ]

    def event(self, path: str, line: int) -> tuple[Event, Site]:
        """The statement on a line, the innermost where several begin there."""
        found = self.events(path, line)
        assert found, f"{path}:{line}: no statement begins there"
        return found[-1]

    def value(self, path: str, line: int) -> str:
        event, site = self.event(path, line)
        return listed(self.world.values.evaluate(event.value, site), self.world)

    def callers(self, path: str, line: int) -> str:
        file = self.file(path)
        scope = next(index for index, one in enumerate(file.scopes) if index and one.header.line == line)
        callers = self.world.calls.callers(Function(file, scope))
        places = {(one.file.path, one.file.calls[one.call].span.line) for one in callers if one.call >= 0}
        return " ".join(f"{where}:{number}" for where, number in sorted(places)) or "none"

    def origin(self, path: str, line: int) -> str:
        event, site = self.event(path, line)
        found = Origins(self.world).of_actual(Actual(event.value, site, event.value_span))
        return " | ".join(
            sorted({f"{one.text} @ {one.path}:{one.span.line}" + (f" ({one.how})" if one.how else "") for one in found})
        ).replace(f"{self.top}/", "")

    def unreachable(self, path: str, line: int) -> str:
        if not self.events(path, line):
            return ""
        _, site = self.event(path, line)
        callers = self.world.calls.callers(Function(site.file, site.scope)) if site.scope else []
        frames = [caller.frame for caller in callers] or [None]
        return "" if all(self.world.impossible(site._replace(frame=frame)) for frame in frames) else "reachable"


def told(snippet: Snippet, top: Path) -> list[tuple[str, int, str, str]]:
    """What the interpreter says where the snippet has marks."""
    answers = Answers(snippet, top)
    return [(path, line, kind, getattr(answers, kind)(path, line)) for path, line, kind, _ in snippet.marks()]


@pytest.mark.parametrize("snippet", [pytest.param(one, id=f"{one.page}: {one.title}") for one in snippets()])
def test_snippet(snippet: Snippet, tmp_path: Path) -> None:
    marks = list(snippet.marks())
    assert marks, "a snippet without a mark tests nothing"
    assert told(snippet, tmp_path) == marks


@pytest.mark.parametrize("snippet", [pytest.param(one, id=f"{one.page}: {one.title}") for one in snippets(WRONG)])
def test_what_is_wrong_today(snippet: Snippet, tmp_path: Path) -> None:
    assert told(snippet, tmp_path) != list(snippet.marks()), "it is right now: move the snippet to its page"


def test_titles_are_told_apart() -> None:
    names = [(one.page, one.title) for one in (*snippets(), *snippets(WRONG))]
    assert len(names) == len(set(names))
