"""The programs under fixtures/ that have a `[[probed]]` table: what a run of each says, exactly.

`verdicts` lists every finding that the run reached, as "confirmed DLL201 path:line"; " (run)" follows where only the
run saw it. What was not reached is not listed. It needs DLLINT_TORCH_PYTHON: an interpreter with torch, numpy, lmdb,
OpenCV and what dllint itself needs.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent.parent
FIXTURES = ROOT / "fixtures"
TORCH_PYTHON = os.environ.get("DLLINT_TORCH_PYTHON", "")
PROBED = [
    pytest.param(path.parent, probed, id=" ".join([path.parent.name, *probed["arguments"]]))
    for path in sorted(FIXTURES.glob("*/expected.toml"))
    for probed in tomllib.loads(path.read_text(encoding="utf-8")).get("probed", [])
]
BAD = ("confirmed", "latent")


def reached(report: dict[str, Any], case: Path) -> list[str]:
    """The findings that a run reached, as expected.toml lists them."""
    return sorted(
        f"{one['verdict']} {one['code']} {Path(one['filename']).relative_to(case.resolve())}:{one['location']['row']}"
        f"{' (run)' if one['origin'] == 'runtime' else ''}"
        for one in report["findings"]
        if one["verdict"] != "not reached"
    )


def test_there_are_hazards_and_healthy_ones() -> None:
    listed = [each.values[1]["verdicts"] for each in PROBED]
    healthy = [one for one in listed if not any(line.startswith(BAD) for line in one)]
    assert len(listed) >= 25
    assert len(healthy) >= 8


@pytest.mark.slow
@pytest.mark.skipif(not TORCH_PYTHON, reason="DLLINT_TORCH_PYTHON names no interpreter")
@pytest.mark.parametrize(("case", "probed"), PROBED)
def test_verdicts(case: Path, probed: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    options = ["--no-progress", "--output-format", "json", "--output-file", str(file), *probed.get("options", [])]
    done = subprocess.run(
        [TORCH_PYTHON, "-m", "dllint", "run", *options, *probed["arguments"]],
        cwd=case,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CACHE_HOME": str(tmp_path),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert file.exists(), done.stderr
    report = json.loads(file.read_text())
    assert (reached(report, case), done.returncode) == (sorted(probed["verdicts"]), probed["exit"]), json.dumps(
        [report["exit"], report["notes"], report["uninstrumented"], report["findings"]], indent=1
    )
    assert (report["exit"]["explained_by"] or "") == probed.get("explained", "")
    assert all(one["evidence"] for one in report["findings"])
    assert report["uninstrumented"] == []


# --- Dead branches

DEAD = 'if "DLLINT_TEST_NEVER_SET" in __import__("os").environ:'
FIRST_BAD = list(
    {
        case.values[0]: case
        for case in reversed(PROBED)
        if any(line.startswith(BAD) for line in case.values[1]["verdicts"])
    }.values()
)
"""For each project the first of its programs for which a run decides something."""


def with_dead_copies(text: str, lines: set[int]) -> tuple[str, set[int]]:
    """Return a source with a copy of each simple statement on these lines behind it, in a branch that is never taken,
    and the lines of these branches."""
    found = [one for one in ast.walk(ast.parse(text)) if isinstance(one, (ast.Assign, ast.AnnAssign, ast.Expr))]
    ends: dict[int, ast.stmt] = {}
    for line in lines:
        around = [one for one in found if one.lineno <= line <= (one.end_lineno or 0)]
        if around:
            innermost = min(around, key=lambda one: (one.end_lineno or 0) - one.lineno)
            ends[innermost.end_lineno or 0] = innermost
    given, written = text.splitlines(), list[str]()
    dead: set[int] = set()
    for number, line in enumerate(given, 1):
        written.append(line)
        if number in ends:
            indent = " " * ends[number].col_offset
            branch = [indent + DEAD, *("    " + one for one in given[ends[number].lineno - 1 : number])]
            dead |= set(range(len(written) + 1, len(written) + len(branch) + 1))
            written += branch
    return "\n".join(written) + "\n", dead


@pytest.mark.slow
@pytest.mark.skipif(not TORCH_PYTHON, reason="DLLINT_TORCH_PYTHON names no interpreter")
@pytest.mark.parametrize(("case", "probed"), FIRST_BAD)
def test_only_lines_that_were_executed_have_a_verdict(case: Path, probed: dict[str, Any], tmp_path: Path) -> None:
    copied = tmp_path / case.name
    shutil.copytree(case, copied)
    dead: set[tuple[str, int]] = set()
    for path in {line.split()[2].rpartition(":")[0] for line in probed["verdicts"] if line.startswith(BAD)}:
        wanted = {int(line.split()[2].rpartition(":")[2]) for line in probed["verdicts"] if f" {path}:" in line}
        text, lines = with_dead_copies((copied / path).read_text(encoding="utf-8"), wanted)
        (copied / path).write_text(text, encoding="utf-8")
        dead |= {(path, number) for number in lines}
    file = tmp_path / "run.json"
    options = ["--no-progress", "--output-format", "json", "--output-file", str(file), *probed.get("options", [])]
    subprocess.run(
        [TORCH_PYTHON, "-m", "dllint", "run", *options, *probed["arguments"]],
        cwd=copied,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    findings = json.loads(file.read_text(encoding="utf-8"))["findings"]
    for one in findings:
        place = (Path(one["filename"]).relative_to(copied.resolve()).as_posix(), one["location"]["row"])
        if place in dead and one["verdict"] != "not reached":
            assert any("this run executed " in line for line in one["evidence"]), one
    decided = {one["code"] for one in findings if one["verdict"] in BAD}
    assert {line.split()[1] for line in probed["verdicts"] if line.startswith(BAD)} <= decided
