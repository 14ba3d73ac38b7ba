"""The programs under fixtures/ that have a `[[probed]]` table: what a run of each says, exactly.

`verdicts` lists every finding that the run reached, as "confirmed DLL201 path:line"; " (run)" follows where only the
run saw it. What was not reached is not listed. It needs DLLINT_TORCH_PYTHON: an interpreter with torch, numpy, lmdb,
OpenCV and what dllint itself needs.
"""

from __future__ import annotations

import json
import os
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
