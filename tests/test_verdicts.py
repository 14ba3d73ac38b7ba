"""`dllint check --with-run`: given a run's report, the verdicts beside the findings, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dllint.cli import main

SOURCE = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self):
        self.scale = lambda x: x / 255

    def __getitem__(self, index):
        return self.scale(index)


def train(rank):
    return DataLoader(Scaled(), num_workers=2)


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
"""
EVIDENCE = "pickling for worker 0 raised AttributeError"

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Checks the program; gives the exit code and what was written."""
    (tmp_path / "train.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("[tool.dllint]\n")
    monkeypatch.chdir(tmp_path)

    def check(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["check", "--no-cache", "--select", "DLL201", *arguments, "."])
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return check


@pytest.fixture
def said(tmp_path: Path) -> dict[str, Any]:
    """The report of a run that confirmed the lambda."""
    return {
        "version": 1,
        "directory": str(tmp_path),
        "findings": [
            {
                "code": "DLL201",
                "filename": str(tmp_path / "train.py"),
                "location": {"row": 7, "column": 22},
                "end_location": {"row": 7, "column": 39},
                "verdict": "confirmed",
                "evidence": [EVIDENCE],
                "origin": "static",
            }
        ],
    }


def written(tmp_path: Path, content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "run.json").write_text(text)
    return "run.json"


def test_text(check: Check, said: dict[str, Any], tmp_path: Path) -> None:
    status, out, _ = check("--with-run", written(tmp_path, said))
    assert (status, f"  = run: confirmed: {EVIDENCE}\n" in out) == (1, True)


def test_json(check: Check, said: dict[str, Any], tmp_path: Path) -> None:
    _, out, _ = check("--with-run", written(tmp_path, said), "--output-format", "json")
    (finding,) = json.loads(out)
    assert (finding["verdict"], finding["evidence"], finding["origin"]) == ("confirmed", [EVIDENCE], "static")


def test_lsp(check: Check, said: dict[str, Any], tmp_path: Path) -> None:
    _, out, _ = check("--with-run", written(tmp_path, said), "--output-format", "lsp")
    (diagnostic,) = json.loads(out)[0]["diagnostics"]
    assert diagnostic["data"]["verdict"] == "confirmed"
    assert f"run: confirmed: {EVIDENCE}" in diagnostic["message"].splitlines()


def test_github(check: Check, said: dict[str, Any], tmp_path: Path) -> None:
    _, out, _ = check("--with-run", written(tmp_path, said), "--output-format", "github")
    assert f"%0Arun: confirmed: {EVIDENCE}" in out


def test_a_run_of_another_checkout_serves_too(check: Check, said: dict[str, Any], tmp_path: Path) -> None:
    said["directory"] = "/elsewhere"
    said["findings"][0]["filename"] = "/elsewhere/train.py"
    assert "= run: confirmed" in check("--with-run", written(tmp_path, said))[1]


@pytest.mark.parametrize("change", [{"code": "DLL204"}, {"location": {"row": 8, "column": 22}}])
def test_another_finding_or_place_is_not_meant(
    check: Check, said: dict[str, Any], tmp_path: Path, change: dict[str, Any]
) -> None:
    said["findings"][0] |= change
    assert "= run:" not in check("--with-run", written(tmp_path, said))[1]


def test_without_a_run_nothing_is_said(check: Check) -> None:
    _, out, _ = check("--output-format", "json")
    assert "verdict" not in json.loads(out)[0]


def test_a_missing_file(check: Check) -> None:
    assert check("--with-run", "none.json") == (2, "", "error: --with-run: none.json: no such file\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is no report of"),
        ('{"version": 1}', "is no report of"),
        ({"version": 2, "directory": "", "findings": []}, "has version 2, and this dllint reads version 1"),
        ({"version": 1, "directory": "/", "findings": [{}]}, "holds a finding that is not as"),
        ({"version": 1, "directory": "/", "findings": 3}, "holds a finding that is not as"),
        ({"version": 1, "directory": None, "findings": []}, "holds a finding that is not as"),
    ],
)
def test_a_file_that_is_no_report_of_a_run(check: Check, tmp_path: Path, content: Any, words: str) -> None:
    status, out, err = check("--with-run", written(tmp_path, content))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_an_unknown_verdict(check: Check, said: dict[str, Any], tmp_path: Path) -> None:
    said["findings"][0]["verdict"] = "maybe"
    status, _, err = check("--with-run", written(tmp_path, said))
    assert (status, "no verdict 'maybe'" in err) == (2, True)
