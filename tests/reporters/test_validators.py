"""What validators written by others say of whole documents: Microsoft's for SARIF, with its rules for GitHub, and one
of reviewdog's format.

Both are programs for Node.js that npm installs in a few seconds. Without it, or without its registry, the tests are
skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dllint.cli import main

NPM = shutil.which("npm")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not NPM, reason="Node.js is not installed")]
PACKAGES = Path(__file__).parent / "node"
FIXTURES = Path(__file__).parents[2] / "fixtures"
DELIBERATE = {
    "SARIF2002": "messages are texts: their values differ in nearly every result",
    "SARIF2003": "a check starts no program, so it does not ask git for the revision",
    "SARIF2005": "the pages of the rules are the documentation",
    "SARIF2006": "the address of the schema is that of the standard; the validator has its own copy",
}
"""What the validator recommends and the format leaves out, with the reason."""
TRAIN = """\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.decode = lambda row: row  # 名前 😀

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.decode(index)


def work(rank):
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)


mp.spawn(work, nprocs=2)
"""
CELL = (
    "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=2, timeout=3, collate_fn=lambda rows: rows)"
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the packages of the validators; skips where no registry can be reached."""
    folder = tmp_path_factory.mktemp("node")
    shutil.copytree(PACKAGES, folder, dirs_exist_ok=True)
    install = [NPM or "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"npm cannot install the validators: {done.stderr.strip()[-200:]}")
    return folder / "node_modules"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with findings in a file, in one with a byte-order mark, in a notebook and one that cannot be read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.dllint]\ncache-dir = '.cache'\n")
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "a b.py").write_text("\ufeff" + TRAIN.replace("4)", "4, timeout=1)").replace("\n", "\r\n"), "utf-8")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": CELL}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "n.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "broken.py").write_text("def f(:\n")
    shutil.copytree(FIXTURES, tmp_path / "fixtures")
    return tmp_path


def written(name: str, *arguments: str) -> Path:
    with pytest.raises(SystemExit):
        main(
            [
                "check",
                ".",
                "--preview",
                "--no-cache",
                "--output-format",
                name,
                "--output-file",
                f"out.{name}",
                *arguments,
            ]
        )
    return Path(f"out.{name}").absolute()


def validated(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def said(document: Path, programs: Path) -> list[tuple[str, Any]]:
    """What the validator finds, without what is left out deliberately. Its exit code is 0 even with errors."""
    result = document.with_name("validated.json")
    # The script of the package would give the semicolons to a shell.
    (program,) = programs.glob("@microsoft/sarif-multitool-*/Sarif.Multitool")
    program.chmod(0o755)
    options = ["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "--log", "ForceOverwrite"]
    done = validated([str(program), "validate", str(document), *options, "--output", str(result)])
    assert result.exists(), done.stdout + done.stderr
    (run,) = json.loads(result.read_text(encoding="utf-8-sig"))["runs"]
    assert run["invocations"][0]["executionSuccessful"]
    return [
        (one["ruleId"], one["message"].get("arguments"))
        for one in run.get("results", [])
        if one["ruleId"] not in DELIBERATE
    ]


def test_sarif_of_a_project(project: Path, programs: Path) -> None:
    document = written("sarif")
    results = json.loads(document.read_text())["runs"][0]["results"]
    assert {"DLL001", "DLL102"} < {one["ruleId"] for one in results}
    assert any("fixes" in one for one in results) and any("codeFlows" in one for one in results)
    cells = [number for number, one in enumerate(results) if "logicalLocations" in one["locations"][0]]
    left = said(document, programs)
    # The line of the document in which a cell stands shows nothing of its code.
    without_code = [f"runs[0].results[{number}].locations[0]" for number in cells]
    assert [one for one in left if not str(one[1][0]).startswith(tuple(without_code))] == []


def test_the_validator_is_heard(project: Path, programs: Path) -> None:
    document = written("sarif")
    log = json.loads(document.read_text())
    log["runs"][0]["results"][0]["ruleIndex"] = 1000
    document.write_text(json.dumps(log))
    assert said(document, programs) != []


def test_sarif_with_a_baseline_and_without_findings(project: Path, programs: Path) -> None:
    with pytest.raises(SystemExit):
        main(["check", "train.py", "--no-cache", "--write-baseline", "known.json", "--quiet"])
    for arguments in (("--baseline", "known.json"), ("--select", "DLL108")):
        left = said(written("sarif", *arguments), programs)
        assert [one for one in left if one[0] not in ("SARIF2010", "SARIF2011")] == []


def test_rdjson_of_a_project(project: Path, programs: Path) -> None:
    document = written("rdjson")
    assert json.loads(document.read_text())["diagnostics"]
    program = str(programs / ".bin" / "rdformat-validator")
    done = validated([program, "--strict", "--no-extra-fields", "--format", "json", str(document)])
    (told,) = json.loads(done.stdout)["fileResults"]
    assert (told.get("errorDetails", []), told.get("warningDetails", [])) == ([], [])
