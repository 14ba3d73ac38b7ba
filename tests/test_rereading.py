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
from dllint.linter.rereading import ReadByAnalysis

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
        kind = rng.randrange(5)
        new = [*lines]
        if kind < 2:
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
