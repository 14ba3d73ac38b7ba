"""After an edit that changes nothing that the analysis read, the report stays, and is that of a cold check."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dllint import config, linter, registry
from dllint.config import Settings
from dllint.facts.parse import is_plainly_valid
from dllint.fixes.offers import edits_of
from dllint.linter import Execution, Report
from dllint.linter.memory import Memory
from dllint.linter.moved import Elsewhere, Move
from dllint.linter.rereading import ReadByAnalysis
from dllint.span import Span

ROOT = Path(__file__).parents[1]
COUNTS = """\
import numpy as np


def shown(rows, names):
    total = len(rows)
    for row in rows:
        total += 1
    print("rows", total)
    first = names[0] if names else "none"
    return f"{total} rows of {first}"


def workers():
    return 2
"""
PROGRAM = """\
from torch.utils.data import DataLoader, Dataset

from counts import shown, workers


class Rows(Dataset):
    def __init__(self):
        self.keep = lambda row: row

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.keep(index)


def main():
    loader = DataLoader(Rows(), num_workers=workers(), multiprocessing_context="spawn")
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main()
"""


def settings_of(directory: Path) -> Settings:
    options = {rule.code: rule.options({}) for rule in registry.rules()}
    return replace(config.load([str(directory)], options=options), cache_dir=str(directory.parent / "cache"))


def checked(directory: Path, cache: bool = True) -> Report:
    return linter.check([str(directory)], settings_of(directory), Execution(jobs=1, edits_of=edits_of, cache=cache))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "pyproject.toml").write_text("[tool.dllint]\n")
    (directory / "counts.py").write_text(COUNTS)
    (directory / "train.py").write_text(PROGRAM)
    return directory


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One more entry for each analysis."""
    seen: list[int] = []
    found = linter._found
    monkeypatch.setattr(linter, "_found", lambda *given: (seen.append(1), found(*given))[1])
    return seen


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    total = len(rows)\n", "    total = len(rows)\n    edited = 1\n"),
        ("    total = len(rows)\n", "    total = len(rows)\n    told = sorted(rows)\n    print(told)\n"),
        ('    print("rows", total)\n', '    print("all rows", total)\n'),
        ("        total += 1\n", "        total += 2\n"),
        ('names[0] if names else "none"', 'names[-1] if names else "nothing"'),
        ('    print("rows", total)\n', ""),
    ],
)
def test_an_edit_of_what_nothing_reads_keeps_the_report(project: Path, analysed: list[int], old: str, new: str) -> None:
    assert [one.code for one in checked(project).findings] == ["DLL201"]
    assert old in COUNTS
    (project / "counts.py").write_text(COUNTS.replace(old, new))
    kept = checked(project)
    assert len(analysed) == 1
    assert kept == checked(project, cache=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return 2\n", "    return 0\n"),
        ("    return 2\n", "    if len(np.__version__) > 99:\n        return 1\n    return 2\n"),
        ("self.keep = lambda row: row", "self.keep = None"),
        ('"spawn"', '"fork"'),
        ("    for batch in loader:\n", "    Rows.keep = len\n    for batch in loader:\n"),
        ("    total = len(rows)\n", "    global workers\n    workers = len\n"),
        ("    total = len(rows)\n", "    total = len(rows)\n    np.DataLoader(rows)\n"),
    ],
)
def test_an_edit_of_what_is_read_is_analysed(project: Path, analysed: list[int], old: str, new: str) -> None:
    checked(project)
    path, text = ("counts.py", COUNTS) if old in COUNTS else ("train.py", PROGRAM)
    assert old in text
    (project / path).write_text(text.replace(old, new))
    kept = checked(project)
    assert len(analysed) == 2
    assert kept == checked(project, cache=False)


HELPERS = """\
import argparse


def listed(rows):
    found = repr(rows)
    return format(found, key=lambda row: row[0])


class Table:
    def first(self):
        return self.rows[0]

    def last(self):
        return self.rows[-1]


def count():
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args().workers


def scale():
    return 3
"""
READER = """\
from torch.utils.data import DataLoader, Dataset

from helpers import count, scale


class Rows(Dataset):
    def __init__(self):
        self.keep = lambda row: row
        self.scale = scale()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.keep(index) * self.scale


if __name__ == "__main__":
    for batch in DataLoader(Rows(), num_workers=count(), multiprocessing_context="spawn"):
        print(batch)
"""
FUNCTION = (
    "def added(rows, number=3):\n    for row in rows:\n        print(row)\n    return [lambda: rows[number]]\n\n\n"
)
METHOD = "    def added(self, number=3):\n        return self.rows[number]\n\n"


@pytest.fixture
def with_helpers(project: Path) -> Path:
    (project / "counts.py").unlink()
    (project / "helpers.py").write_text(HELPERS)
    (project / "train.py").write_text(READER)
    return project


def with_edits(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "edits",
    [
        [("class Table:", f"{FUNCTION}class Table:")],
        [("def scale", f"{FUNCTION.replace('lambda: ', '')}def scale")],
        [("    return 3\n", f"    return 3\n\n\n{FUNCTION}")],
        [("    def first", f"{METHOD}    def first")],
        [("    def first(self):\n        return self.rows[0]\n\n", "")],
        [("listed", "ordered")],
        [("def last(self)", "def behind(self, number=1)"), ("self.rows[-1]", "self.rows[-number]")],
        [("def listed(rows):", "def listed(rows, reverse=False):"), ("row[0])", "row[0], reverse=reverse)")],
        [("type=int, default=3", "type=int, default=4")],
        [("repr(rows)", "str(rows)"), ("self.rows[0]", "self.rows[1]")],
    ],
)
def test_functions_that_nothing_reads_come_and_go(
    with_helpers: Path, analysed: list[int], edits: list[tuple[str, str]]
) -> None:
    assert [one.code for one in checked(with_helpers).findings] == ["DLL201"]
    for text in (with_edits(HELPERS, *edits), HELPERS):
        (with_helpers / "helpers.py").write_text(text)
        kept = checked(with_helpers)
        assert len(analysed) == 1
        assert kept == checked(with_helpers, cache=False)
        del analysed[1:]


@pytest.mark.parametrize(
    "edits",
    [
        [("def scale", "def count():\n    return 0\n\n\ndef scale")],
        [("def scale", "def added():\n    global count\n    count = len\n\n\ndef scale")],
        [("def count", "def counted")],
        [("return 3\n", "return lambda: 3\n")],
        [("type=int, default=2", "type=int, default=0")],
        [("def listed", "@count\ndef listed")],
        [("    def last", "    def __iter__")],
    ],
)
def test_functions_that_something_reads_are_analysed(
    with_helpers: Path, analysed: list[int], edits: list[tuple[str, str]]
) -> None:
    checked(with_helpers)
    (with_helpers / "helpers.py").write_text(with_edits(HELPERS, *edits))
    kept = checked(with_helpers)
    assert len(analysed) == 2
    assert kept == checked(with_helpers, cache=False)


def test_what_was_read_moves_along_with_the_numbers_of_calls(project: Path, analysed: list[int]) -> None:
    path = project / "counts.py"
    path.write_text(text := COUNTS.replace("return 2", "return int(2)"))
    checked(project)
    path.write_text(
        text := text.replace("    total = len(rows)\n", "    total = len(rows)\n    hash(1)\n    hash(2)\n")
    )
    checked(project)
    path.write_text(text := text.replace("hash(2)", "hash(3, 4)"))
    assert checked(project).findings
    assert len(analysed) == 1
    path.write_text(text.replace("int(2)", "int(0)"))
    kept = checked(project)
    assert len(analysed) == 2
    assert kept == checked(project, cache=False)


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        # A name that several lines have, and one line that is another's neighbour.
        ("a = b\nc(a, a)\nd = a\n", "xy = b\nc(xy, xy)\nd = xy\n", {(2, 1): (2, 1), (3, 5): (3, 5), (3, 1): (3, 1)}),
        # Lines that come in two places.
        ("a\nb\nc\n", "new\na\nb\nmore\nc\n", {(2, 1): (3, 1), (3, 1): (5, 1)}),
        # Lines that go in two places, around others; with other ends of lines.
        ("x\r\na\r\nb\r\nc\r\nd\r\n", "a\r\nd\r\n", {(2, 1): (1, 1), (5, 1): (2, 1), (3, 2): None, (4, 2): None}),
        # The last line has no end.
        ("a\nb = 1\nc = b", "a\nbc = 1\nc = bc", {(2, 3): (2, 4), (3, 1): (3, 1), (3, 4): (3, 4)}),
    ],
)
def test_places_move_over_several_edits_at_once(
    old: str, new: str, places: dict[tuple[int, int], tuple[int, int] | None]
) -> None:
    move = Move(old, new)
    for (line, column), expected in places.items():
        span = Span(line, column, line, column)
        if expected is None:
            with pytest.raises(Elsewhere):
                move.span(span)
        else:
            assert move.span(span) == Span(*expected, *expected)


def edits(text: str, rng: random.Random) -> Iterator[str]:
    """Yield other texts: a statement, a call or a test more in a function, one line less, another name, number or
    string, an attribute set."""
    lines = text.splitlines(keepends=True)
    inside = [at for at, line in enumerate(lines) if line.startswith("    ") and line.strip()]
    while True:
        at = rng.choice(inside)
        indent = re.match(r"[ \t]*", lines[at])[0]  # type: ignore[index]
        names = re.findall(r"\b[a-z_]\w+\b", text)
        more = [
            "edited = 1",
            f"print({rng.choice(names)})",
            f"edited = [{rng.choice(names)}]",
            f"{rng.choice(names)} = 3",
            "if edited:\n" + indent + "    pass",
            "self.edited = [1]",
            f"{rng.choice(names)}.append({rng.choice(names)})",
            "for one in range(3):\n" + indent + "    print(one)",
        ]
        kind = rng.randrange(7)
        new = [*lines]
        functions = [one for one in range(len(lines)) if re.match(r"[ \t]*def ", lines[one])]
        if kind == 5 and functions:
            before = rng.choice(functions)
            inner = (re.match(r"[ \t]*", lines[before]) or [""])[0]
            name = rng.choice(["edited", "__iter__", rng.choice(names)])
            body = rng.choice(["return rows", "return [lambda: one for one in rows]", "print(rows)", "import os"])
            new[before:before] = [
                f"{inner}def {name}(rows=(), more={rng.randrange(3)}):\n",
                f"{inner}    {body}\n",
                "\n",
            ]
        elif kind == 6 and functions:
            at = rng.choice(functions)
            renamed = re.match(r"[ \t]*def (\w+)", lines[at])
            new = [re.sub(rf"\b{renamed[1] if renamed else ''}\b", "renamed", line) for line in lines]
        elif kind < 2:
            new.insert(at, f"{indent}{rng.choice(more)}\n")
        elif kind == 2:
            del new[at]
        elif kind == 3:
            new[at] = re.sub(r"\b\d+\b", lambda found: str(int(found[0]) + 1), new[at])
        else:
            new[at] = re.sub(rf"\b{rng.choice(names)}\b", rng.choice(names), new[at])
        if (other := "".join(new)) != text and is_plainly_valid(other):
            yield other


def read_cold(directory: Path) -> ReadByAnalysis:
    """Return what an analysis that knows of no earlier one reads."""
    memory = Memory()
    linter.check([str(directory)], settings_of(directory), Execution(jobs=1, cache=False, memory=memory))
    assert memory.input.reads is not None
    return memory.input.reads


def unrecorded(kept: ReadByAnalysis, cold: ReadByAnalysis) -> list[object]:
    """Return what a cold analysis reads and what was kept does not have."""
    (_, project, files), (_, other_project, other_files) = (json.loads(one.to_json()) for one in (kept, cold))
    missing = [(name, one) for name, found in other_project.items() for one in found if one not in project[name]]
    for path, found in other_files.items():
        mine, theirs = json.loads(files[path]), json.loads(found)
        for name, entries in theirs.items():
            if name in ("events", "names", "asked"):
                known = {repr(key): values for key, values in mine[name]}
                missing += [
                    (path, name, key, one)
                    for key, ones in entries
                    for one in ones
                    if one not in known.get(repr(key), ())
                ]
            else:
                missing += [(path, name, one) for one in entries if one not in mine[name]]
    return missing


@pytest.mark.parametrize("name", ["program", "launch-wrapper", "re-exports", "batches-kept"])
def test_after_random_edits_findings_and_what_is_read_are_those_of_a_cold_check(
    name: str, tmp_path: Path, analysed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(name)
    directory = tmp_path / "project"
    if (ROOT / "fixtures" / name).is_dir():
        shutil.copytree(ROOT / "fixtures" / name, directory)
    else:
        directory.mkdir()
        (directory / "counts.py").write_text(COUNTS)
        (directory / "train.py").write_text(PROGRAM)
    (directory / "pyproject.toml").write_text("[tool.dllint]\n")
    paths = [path for path in sorted(directory.rglob("*.py")) if "    " in path.read_text()]
    stored: list[ReadByAnalysis] = []
    after = ReadByAnalysis.after

    def followed(self: ReadByAnalysis, *given: object) -> ReadByAnalysis | None:
        found = after(self, *given)  # type: ignore[arg-type]
        stored.extend([] if found is None else [found])
        return found

    monkeypatch.setattr(ReadByAnalysis, "after", followed)
    checked(directory)
    kept = 0
    for _ in range(30):
        path = rng.choice(paths)
        path.write_text(next(edits(path.read_text(), rng)))
        before, count = len(analysed), len(stored)
        report = checked(directory)
        if len(analysed) == before:
            kept += 1
            if len(stored) > count:
                assert not unrecorded(stored[-1], read_cold(directory))
        assert report == checked(directory, cache=False)
    assert kept
