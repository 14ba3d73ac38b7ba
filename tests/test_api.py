"""The public API as docs/api.md shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dllint
from dllint.finding import Place
from dllint.span import Span

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text(f'[tool.dllint]\ncache-dir = "{tmp_path.as_posix()}/cache"\n')
    (tmp_path / "train.py").write_text(HAZARD)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.py").write_text("ROWS = ()\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_example_prints_the_findings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(example, "api.md", "exec"), {})
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{project / 'train.py'}:2:75 DLL204 error The DataLoader at ")
    (project / "data" / "rows.py").write_text("ROWS = (\n")
    exec(compile(example, "api.md", "exec"), {})
    assert "not everything was checked: ()" in capsys.readouterr().out


def test_every_stable_name_is_there(project: Path) -> None:
    report = dllint.check(["."])
    (finding,) = report.findings
    names = re.findall(r"`((?:dllint|report|finding)\.[\w.]+)", TEXT)
    assert len(set(names)) > 15
    for name in names:
        value: object = {"dllint": dllint, "report": report, "finding": finding}[name.split(".")[0]]
        for part in name.split(".")[1:]:
            value = getattr(value, part)
    assert isinstance(finding.span, Span) and finding.cell is None
    assert all(isinstance(one, Place) for one in (*finding.trace, *finding.related))
    assert (report.files_checked, report.files_skipped, report.incomplete) == (2, 0, False)


def test_a_configuration_that_makes_no_sense(project: Path) -> None:
    from dllint.setting_values import ConfigError

    (project / "pyproject.toml").write_text("[tool.dllint]\nselct = []\n")
    with pytest.raises(ConfigError, match="selct"):
        dllint.check(["train.py"])
