"""The small projects under fixtures/: what a check of each finds, and that each runs as its expected.toml says.

The runs take two minutes and need DLLINT_TORCH_PYTHON: an interpreter with torch, numpy, lmdb and OpenCV.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dllint import linter
from dllint.config import Settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = sorted(path.parent for path in FIXTURES.glob("*/expected.toml"))
EXPECTED: dict[str, dict[str, Any]] = {
    case.name: tomllib.loads((case / "expected.toml").read_text(encoding="utf-8")) for case in CASES
}
RUNS = [
    pytest.param(case, run, id=" ".join([case.name, *run["arguments"]]))
    for case in CASES
    for run in EXPECTED[case.name].get("runs", [])
]
PATIENCE = 400
"""Seconds that a run may take: each takes about ten by itself, and many times that on a machine with other work."""
TORCH_PYTHON = os.environ.get("DLLINT_TORCH_PYTHON", "")

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def found(root: Path) -> set[tuple[str, int, str]]:
    execution = linter.Execution(jobs=1, cache=False)
    report = linter.check([str(root)], Settings(root=str(root)), execution)
    assert not report.incomplete, report.problems
    return {
        (Path(one.path).resolve().relative_to(root.resolve()).as_posix(), one.span.line, one.code)
        for one in report.findings
    }


def expected(case: Path) -> set[tuple[str, int, str]]:
    """What the rules that exist now should find; what later rules will is kept under `later`."""
    return {(one["path"], one["line"], one["code"]) for one in EXPECTED[case.name]["findings"]}


def test_there_are_projects() -> None:
    assert len(CASES) >= 10


@each_case
def test_the_named_lines_hold_what_they_are_named_for(case: Path) -> None:
    for one in [*EXPECTED[case.name]["findings"], *EXPECTED[case.name].get("later", [])]:
        line = (case / one["path"]).read_text(encoding="utf-8").splitlines()[one["line"] - 1]
        assert one["source"] in line


@each_case
def test_findings(case: Path) -> None:
    assert found(case) == expected(case)


def test_all_projects_at_once_as_one_by_one() -> None:
    """Modules of the same name in different projects stay apart."""
    assert found(FIXTURES) == {
        (f"{case.name}/{path}", line, code) for case in CASES for path, line, code in expected(case)
    }


@pytest.mark.slow
@pytest.mark.skipif(not TORCH_PYTHON, reason="DLLINT_TORCH_PYTHON names no interpreter")
@pytest.mark.parametrize(("case", "run"), RUNS)
def test_runs(case: Path, run: dict[str, Any]) -> None:
    process = subprocess.run(
        [TORCH_PYTHON, *run["arguments"]],
        cwd=case,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (process.returncode, run["output"] in process.stdout + process.stderr) == (run["exit"], True), process.stderr
