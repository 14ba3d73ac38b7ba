"""What must hold after every fix, of whatever sources.

The files parse, a second run changes nothing, the mended finding is gone, and neither a rule nor
`ruff check --select E,F,I` finds anything that it did not find before. What no edit names stays byte by byte.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from dllint import linter
from dllint.config import Settings
from dllint.finding import Finding, TextEdit
from dllint.fixes.passes import FixRun, applicable, fix_files, fix_until_stable
from dllint.fixes.resolve import resolve

IMPORT = re.compile(r"(?:import|from)\s")
SETTING = re.compile(r"\s+\w+ = ")


def check(files: Mapping[str, str]) -> tuple[Finding, ...]:
    return linter.check_sources(
        {path: text for path, text in files.items() if path.endswith(".py")}, Settings(root="")
    ).findings


def fix(files: Mapping[str, str], unsafe: bool, found: tuple[Finding, ...] | None = None) -> FixRun:
    """As `--fix` does; `found` is what a check of the files gives, where that is known."""

    def findings(texts: Mapping[str, str]) -> tuple[Finding, ...]:
        return found if found is not None and not texts else check({**files, **texts})

    return fix_until_stable(findings, files.__getitem__, unsafe)


def counted(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    return Counter((one.code, one.path) for one in findings)


def ruff(trees: Mapping[str, Mapping[str, str]]) -> dict[str, Counter[tuple[str, str]]]:
    """How often each rule of ruff finds something in each file, by the name of the tree that the file is in."""
    found: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in trees}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for tree, files in trees.items():
            for file, text in files.items():
                path = folder / tree / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "E,F,I"]
        # Each tree is a root of its own, as before: what is imported from it counts as first party.
        roots = ["--config", f"src={json.dumps([str(folder / tree) for tree in trees])}"]
        done = subprocess.run(
            [*command, "--line-length", "160", *roots, "--output-format", "json", "."],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        for one in json.loads(done.stdout):
            tree, *file = Path(one["filename"]).relative_to(folder).parts
            found[tree][one["code"] or "syntax", "/".join(file)] += 1
    return found


def assert_trusted(files: Mapping[str, str]) -> int:
    """Assert all of that for safe fixes, and for all of them; gives the number of fixes that were carried out."""
    before = check(files)
    texts = {path: text for path, text in files.items() if path.endswith(".py")}
    trees = {"before": texts}
    applied = 0
    for unsafe in (False, True):
        if not any(applicable(one, unsafe) for one in before):
            continue
        assert_rest_stays(files, before, unsafe)
        run = fix(files, unsafe, before)
        assert run.stable
        if not run.texts:
            continue
        after = {**files, **{path: new for path, (_, new) in run.texts.items()}}
        for path, (_, new) in run.texts.items():
            ast.parse(new.removeprefix("\ufeff"), path)
        again = fix(after, unsafe)
        assert again.texts == {}, "a second run changes the files again"
        remaining = counted(run.findings)
        assert remaining == counted(again.findings)
        assert remaining <= counted(before), (remaining - counted(before), run.texts)
        mended = counted({(one.finding.code, one.finding.path): one.finding for one in run.applied}.values())
        assert counted(before) - remaining >= mended, (mended, run.texts)
        trees[f"after_{unsafe}"] = {path: text for path, text in after.items() if path in texts}
        applied = len(run.applied)
    if len(trees) > 1:
        found = ruff(trees)
        for name in trees:
            assert not found[name] - found["before"], (found[name] - found["before"], trees[name])
    return applied


def assert_rest_stays(files: Mapping[str, str], findings: Iterable[Finding], unsafe: bool) -> None:
    """Assert that one pass keeps, in order, all pieces of a text that lie between its edits.

    An import or a variable that the fixes leave without a use goes too, and no edit names it.
    """
    result = fix_files(findings, files.__getitem__, unsafe)
    edits = [edit for one in result.applied for edit in resolve(one.fix, files.__getitem__)]
    assert {edit.path for edit in edits} >= set(result.texts)
    for path, new in result.texts.items():
        place = 0
        for piece in untouched(files[path], new, [edit for edit in edits if edit.path == path]):
            found = new.find(piece, place)
            assert found >= 0, (path, piece, new)
            place = found + len(piece)


def untouched(text: str, new: str, edits: Iterable[TextEdit]) -> list[str]:
    """The pieces of a text between edits and lines that went without one, with their line ends."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    mark = text.startswith("\ufeff")

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column - 1 + (mark and line == 1)

    cut = [
        (offset(one.span.line, one.span.column), offset(one.span.end_line, one.span.end_column)) for one in edits
    ] + [
        (starts[number], starts[number + 1])
        for number, line in enumerate(lines)
        if IMPORT.match(line.lstrip("\ufeff")) or (SETTING.match(line) and line not in new)
    ]
    pieces, place = [], 0
    for start, end in sorted(cut):
        pieces.append(text[place:start])
        place = max(place, end)
    return [piece for piece in [*pieces, text[place:]] if piece]
