"""Every sentence that a finding, a page or `--help` can show, as prose.

`tests/messages.txt` keeps them for review. Each must be short, with units, in words that an engineer reads once.

`python tests/test_messages.py` writes the file anew.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dllint import config, linter, registry
from dllint.catalog import RulePage, pages
from dllint.cli.application import app
from dllint.finding import Finding

KEPT = Path(__file__).with_name("messages.txt")
MOST_WORDS = {
    "message": 29,
    "help": 19,
    "run": 29,
    "cause": 29,
    "summary": 29,
    "fix": 19,
    "place": 15,
    "option": 29,
    "page": 35,
}
"""Words of a sentence of each kind. A help is measured by its first sentence."""

SAMPLES: Mapping[str, str | int] = {
    "ahead": " (plus about 272 MiB of prefetched batches)",
    "cause": "DLL404 at data.py:7",
    "count": 1017,
    "encoding": "utf-8",
    "limit": "245 tensors",
    "method": "spawn",
    "reason": "Permission denied",
    "size": "512 MiB",
    "start": "spawn",
    "total": "2 GiB",
    "where": "train.py:9",
    "workers": "4 workers",
}
"""Values for the messages that no example shows."""
OTHERS: Mapping[str, str | int] = {
    "call": "np.random.rand",
    "excluded": "batch_size",
    "factory": "int",
    "first": "data.py:12",
    "old": "torch 1.4 in environment.yml",
}
"""The same, where no example of their page has a value."""

PRIVATE = (
    r"told? apart|of which|its like|that it is kept of|\bis meant|says that|survive|leads here too|holds for|"
    r"\bgives?\b|\bgiven back\b|\banew\b|for ever\b|in all\b(?!\s)|of its own|see to it|\bmend|\bin each turn|"
    r"\bis to be\b|\bare to be\b|\bsurer\b|\bhands? (?:it )?over\b|may not have|comes? to an end|on some ways|"
    r"\binitialise|\bthat they began|\bbegins? with\b|in place of it|\bwhat becomes of\b|\bso that no\b|"
    r"\bas they are\b|\bends so\b|\bwhat fork\b|\bnot worth a word\b|leave \S+ out\b|leave out\b|says it\b"
)
"""Words that have a private sense, or that a reader would have to look up."""

PER = (
    r"\b(?:once|twice|times|tensors?|cop(?:y|ies)|descriptors?|maps?|storages?|threads?|words?) an? "
    r"(?:item|worker|epoch|batch|core|process|tensor|storage|turn)\b"
)
UNITS = (
    r"(?:[KMGT]iB|workers?|tensors?|maps|open files|descriptors?|epochs?|times|batch(?:es)?|items?|processes|threads?|"
    r"distinct|ms|s\b|%|of\b|×|=)"
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of one rule. `kind` is a key of `MOST_WORDS`, `key` where it stands in the page."""

    code: str
    kind: str
    key: str
    text: str

    @property
    def line(self) -> str:
        return f"{self.code} {self.kind} {self.key}: {self.text}"


def found(page: RulePage) -> Iterator[Finding]:
    """What a check of each example finds of the page's own rule."""
    options = {rule.code: rule.options({}) for rule in registry.rules()}
    for example in page.examples:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, text in example.files.items():
                path = folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            settings = config.load(
                [str(folder)],
                isolated=not (folder / "pyproject.toml").exists(),
                overrides={"preview": page.preview},
                options=options,
            )
            report = linter.check([str(folder)], settings, linter.Execution(jobs=1, cache=False))
            yield from (one for one in report.findings if one.code == page.code)


def sentences(page: RulePage) -> Iterator[Sentence]:
    """What a reader can see of a rule: as its examples show it; with sample values where no example does."""
    code = page.code
    yield Sentence(code, "summary", "-", page.summary)
    seen: dict[str, set[str]] = {"message": set(), "help": set()}
    values: dict[str, str | int] = {}
    for one in found(page):
        values |= one.values
        seen["message"].add(one.message)
        yield Sentence(code, "message", f"{one.message} ({one.severity})", one.text)
        remedy = str(one.values.get("remedy", one.message if one.message in page.help else "main"))
        seen["help"].add(remedy)
        yield Sentence(code, "help", remedy, one.help)
        for fix in one.fixes:
            yield Sentence(code, "fix", fix.applicability, fix.title)
        for place in one.related:
            yield Sentence(code, "place", "-", place.message)
    for kind, templates in (("message", page.messages), ("help", page.help)):
        for key, template in templates.items():
            if key not in seen[kind]:
                yield Sentence(code, kind, key, template.format_map({**OTHERS, **values, **SAMPLES}))
    if page.run.text:
        yield Sentence(code, "run", "-", page.run.text)
    for error in page.run.errors:
        yield Sentence(code, "cause", "-", error.cause)


@lru_cache(maxsize=1)
def everything() -> tuple[Sentence, ...]:
    return tuple(dict.fromkeys(one for page in pages() for one in sentences(page)))


def kept() -> str:
    return "".join(f"{one.line}\n" for one in everything())


ALL = [pytest.param(one, id=f"{one.code} {one.kind} {one.key}") for one in everything()]


def words(text: str) -> int:
    """Words of a sentence; code and the text of an error, in backticks, are one each."""
    return len(re.sub(r"`[^`]*`", "code", text).split())


def first_sentence(text: str) -> str:
    plain = re.sub(r"`[^`]*`", lambda match: "x" * len(match[0]), text)
    end = re.search(r"\.(?= [A-Z])", plain)
    return text[: end.start()] if end else text


def sentences_of(body: str) -> Iterator[str]:
    """The sentences of a page's prose: no headings, code, formulas, tables or links to read on."""
    prose = re.sub(r"^```.*?^```$|^## See also\n.*", "", body, flags=re.MULTILINE | re.DOTALL)
    for block in re.split(r"\n\s*\n", prose):
        if block.startswith(("#", "|", "    ")):
            continue
        for item in re.split(r"(?:^|\n)(?:- |\d+\. )", block.strip()):
            line = re.sub(r"\s+", " ", item)
            masked = re.sub(r"`[^`]*`", lambda match: "`" + "x" * (len(match[0]) - 2) + "`", line)
            start = 0
            for end in [*(match.end() for match in re.finditer(r"[.!?]\)? (?=[A-Z`*(])", masked)), len(line)]:
                if sentence := line[start:end].strip():
                    yield sentence
                start = end


def problems(one: Sentence) -> list[str]:
    """What is wrong with a sentence, a few words each."""
    prose = re.sub(r"`[^`]*`", "`code`", one.text)
    measured = first_sentence(one.text) if one.kind == "help" else one.text
    found = []
    if words(measured) > MOST_WORDS[one.kind]:
        found.append(f"{words(measured)} words, at most {MOST_WORDS[one.kind]}")
    if match := re.search(PRIVATE, prose, re.IGNORECASE):
        found.append(f"private words: {match[0]!r}")
    if match := re.search(PER, prose):
        found.append(f"{match[0]!r}: write per")
    bare = re.sub(r"\S+\.\w+:\d+|(?:Python|torch|HDF5|lmdb|line|`code`(?: is)?) \d[\d.]*|UTF-8", "", prose)
    if match := re.search(rf"(?<![\w.])\d{{2}}[\d,.]*(?![\w:])(?! ?{UNITS})", bare):
        found.append(f"the number {match[0]} has no unit")
    if one.text.count("`") % 2:
        found.append("a backtick is not closed")
    return found


@pytest.mark.parametrize("one", ALL)
def test_a_sentence_is_short_and_plain(one: Sentence) -> None:
    assert problems(one) == [], one.text


@pytest.mark.parametrize("page", [pytest.param(page, id=page.code) for page in pages()])
def test_the_prose_of_a_page_is_plain(page: RulePage) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.body, flags=re.MULTILINE | re.DOTALL)
    private = [match[0] for match in re.finditer(f"(?:{PRIVATE}|{PER})", prose, re.IGNORECASE)]
    assert private == []


@pytest.mark.parametrize("page", [pytest.param(page, id=page.code) for page in pages()])
def test_the_sentences_of_a_page_are_short(page: RulePage) -> None:
    assert [one for one in sentences_of(page.body) if words(one) > MOST_WORDS["page"]] == []


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.code) for rule in registry.rules()])
def test_the_descriptions_of_options_are_plain(rule: registry.Rule) -> None:
    assert [problems(Sentence(rule.code, "option", one.name, one.doc)) for one in rule.page.options] == [
        [] for _ in rule.page.options
    ]


def help_texts(command: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The help texts of a command, its options and its subcommands, each with where it stands."""
    yield path, (command.help or "").replace("\n\n", " ")
    for param in command.params:
        yield f"{path} {param.name}", getattr(param, "help", None) or ""
    for name, child in getattr(command, "commands", {}).items():
        yield from help_texts(child, f"{path} {name}".strip())


@pytest.mark.parametrize(
    ("where", "text"), [pytest.param(*one, id=one[0]) for one in help_texts(get_command(app), "") if one[1]]
)
def test_help_texts_of_the_command_line_are_plain(where: str, text: str) -> None:
    assert problems(Sentence("dllint", "help", where, text)) == [], text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("One. Two `a. B`\nlines.", ["One.", "Two `a. B` lines."]),
        ("- an item\n- another one. Its end.", ["an item", "another one.", "Its end."]),
        ("## Title\n\n    a formula\n\n| a | table |\n\n```python\ncode\n```\n", []),
        ("Prose.\n\n## See also\n\n- a link", ["Prose."]),
    ],
)
def test_sentences_of_a_page(body: str, expected: list[str]) -> None:
    assert list(sentences_of(body)) == expected


def test_the_sentences_are_kept_for_review() -> None:
    assert KEPT.read_text(encoding="utf-8") == kept(), "python tests/test_messages.py writes the file anew"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Each worker copies one tensor an item", "'tensor an item': write per"),
        ("`mp.spawn` says that it is meant", "private words: 'says that'"),
        ("Each of them takes 512 at once", "the number 512 has no unit"),
        ("word " * 30, "30 words, at most 29"),
        ("This `call fails", "a backtick is not closed"),
    ],
)
def test_what_is_wrong_with_a_sentence_is_seen(text: str, problem: str) -> None:
    assert problems(Sentence("DLL000", "message", "main", text)) == [problem]


def test_code_counts_as_one_word_and_helps_by_their_first_sentence() -> None:
    assert words("`RuntimeError: context has already been set` is raised") == 3
    assert first_sentence("Call `np.load(a.b. C)`. Then wait.") == "Call `np.load(a.b. C)`"


if __name__ == "__main__":
    KEPT.write_text(kept(), encoding="utf-8")
