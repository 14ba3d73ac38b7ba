"""Every way to name something that is then not checked: what is printed, and the exit code.

docs/editors-and-ci.md has the table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dllint import files, linter
from dllint.cli import main
from dllint.inference import limits
from dllint.registry import Rule

HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)
PAGE = Path(__file__).parent.parent / "docs" / "editors-and-ci.md"


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Checks paths in a project of one file without findings."""
    home = tmp_path / "project"
    home.mkdir()
    (home / ".git").mkdir()
    (home / "train.py").write_text("import torch\n")
    monkeypatch.chdir(home)
    monkeypatch.delenv("DLLINT_DEBUG", raising=False)

    def run(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["check", *arguments, "--no-cache", "--jobs", "1"])
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, captured.out, captured.err)

    return run


def row(what: str) -> tuple[str, str]:
    """The exit code and the words of the page's table for one way."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 3 and cells[0] == what:
            return cells[2], cells[1].strip("`")
    raise AssertionError(f"{PAGE.name}: the table has no row {what!r}")


def assert_told(done: Done, what: str) -> None:
    status, words = row(what)
    assert str(done.status) == status
    for piece in words.split("…"):
        assert piece.strip() in done.out + done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("what", "path"),
    [
        ("a path that does not exist", "missing.py"),
        ("an empty path", ""),
        ("a notebook that is not JSON", "notes.ipynb"),
        ("a notebook of another language", "counts.ipynb"),
        ("a file that is no Python", "notes.txt"),
        ("a directory without Python files", "empty"),
        ("a link to nothing", "nowhere.py"),
    ],
)
def test_what_is_named_and_not_checked(run: Run, what: str, path: str) -> None:
    Path("notes.ipynb").write_text("import torch\n")
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": "x <- 1", "outputs": [], "execution_count": None}
    language = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
    Path("counts.ipynb").write_text(json.dumps({"cells": [cell], "metadata": language, "nbformat": 4}))
    Path("notes.txt").write_text("Remember the milk\n")
    Path("empty").mkdir()
    if hasattr(os, "symlink"):
        Path("nowhere.py").symlink_to("gone.py")
    assert_told(run(path), what)


def test_a_broken_notebook_beside_python_files_does_not_hide_theirs(run: Run) -> None:
    Path("notes.ipynb").write_text("{}")
    Path("train.py").write_text(HAZARD)
    done = run("notes.ipynb", "train.py")
    assert done.status == 2
    assert "DLL204" in done.out


def test_without_paths_the_project_is_checked(run: Run) -> None:
    Path("train.py").write_text(HAZARD)
    assert_told(run(), "no path at all")


def test_excluded_files_of_a_hook(run: Run) -> None:
    done = run("train.py", "--force-exclude", "--extend-exclude", "train.py")
    assert_told(done, "only excluded files, with `--force-exclude`")


def test_an_excluded_file_that_is_named_is_checked(run: Run) -> None:
    Path("train.py").write_text(HAZARD)
    assert run("train.py", "--extend-exclude", "train.py").status == 1


@pytest.mark.parametrize(
    ("what", "reason"), [("a file that may not be read", "permission denied"), ("a file that vanishes", "no such file")]
)
def test_a_file_that_cannot_be_read(run: Run, monkeypatch: pytest.MonkeyPatch, what: str, reason: str) -> None:
    real = files.read

    def read(path: str) -> bytes:
        if path.endswith("train.py"):
            raise files.CannotRead(reason)
        return real(path)

    monkeypatch.setattr(files, "read", read)
    assert_told(run("."), what)


def test_a_file_that_does_not_parse(run: Run) -> None:
    Path("train.py").write_text("import torch\nx = (\n")
    assert_told(run("."), "a file that does not parse")


def test_a_file_outside_the_project_is_checked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(HAZARD)
    done = run(str(tmp_path / "outside.py"))
    assert_told(done, "a file where nothing marks a project")
    assert "DLL204" in done.out


def test_a_file_in_which_nothing_can_matter_counts_as_checked(run: Run) -> None:
    Path("train.py").write_text("print(1)\n")
    assert_told(run("."), "a file without any API that rules know")


def test_an_internal_error_of_a_rule(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Rule.check.func  # type: ignore[attr-defined]

    def broken(project: object, options: object) -> object:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(Rule, "check", property(lambda self: broken if self.code == "DLL101" else real(self)))
    assert_told(run("."), "an internal error of a rule")


def test_a_bound_that_was_met(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linter, "limits_met", lambda project: {limits.VALUES.name: 3})
    assert_told(run(".", "--verbose"), "a limit of the analysis, with `--verbose`")


def test_a_baseline_that_does_not_exist(run: Run) -> None:
    assert_told(run(".", "--baseline", "known.json"), "a baseline that does not exist")


# Where nothing marks the top of a project


@pytest.fixture
def unmarked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A launcher at the top, and a dataset in a package below it; nothing says that they belong together."""
    (tmp_path / "code" / "data" / "sets").mkdir(parents=True)
    (tmp_path / "code" / "launch.py").write_text(
        "import torch.multiprocessing as mp\nfrom torch.utils.data import DataLoader\n"
        "from data.sets.rows import Rows\n\n\ndef work(rank):\n"
        "    for batch in DataLoader(Rows(), num_workers=2):\n        pass\n\n\n"
        "if __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n"
    )
    (tmp_path / "code" / "data" / "base.py").write_text(
        "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    pass\n"
    )
    (tmp_path / "code" / "data" / "sets" / "rows.py").write_text(
        "from data.base import Base\n\n\nclass Rows(Base):\n    def __init__(self):\n"
        "        self.scale = lambda row: row\n\n    def __getitem__(self, index):\n        return self.scale(index)\n"
    )
    monkeypatch.chdir(tmp_path / "code")
    return tmp_path / "code"


@pytest.mark.parametrize("path", ["launch.py", "data/sets/rows.py", "."])
def test_the_root_is_found_by_the_imports(run: Run, unmarked: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(unmarked)
    done = run(path)
    assert done.status == 1
    assert "DLL201" in done.out
    named = f"{unmarked} is taken as its root" in done.err
    assert named == (path != ".")


@pytest.mark.parametrize("path", ["data/sets/rows.py", "data", "data/sets"])
@pytest.mark.parametrize("launcher", ["launch.py", "scripts/launch.py"])
def test_a_file_that_imports_nothing_is_judged_with_those_that_import_it(
    run: Run, unmarked: Path, monkeypatch: pytest.MonkeyPatch, path: str, launcher: str
) -> None:
    rows = (unmarked / "data" / "sets" / "rows.py").read_text()
    (unmarked / "data" / "sets" / "rows.py").write_text(rows.replace("data.base import Base", "torch import Base"))
    (unmarked / "data" / "base.py").unlink()
    (unmarked / "scripts").mkdir()
    (unmarked / "launch.py").rename(unmarked / launcher)
    monkeypatch.chdir(unmarked)
    done = run(path)
    assert f"{unmarked} is taken as its root" in done.err
    assert "DLL201" in done.out
    assert done.status == 1


def test_a_directory_is_no_part_of_a_project_above_that_does_not_import_it(
    run: Run, unmarked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (unmarked.parent / "tools.py").write_text("import code\nimport coding\nfrom .codes import rows\n")
    (unmarked.parent / "others").mkdir()
    (unmarked.parent / "others" / "train.py").write_text("import data\nfrom data.sets import rows\n")
    monkeypatch.chdir(unmarked)
    assert f"{unmarked} is taken as its root" in run("data").err


def test_a_folder_of_projects_is_no_project(run: Run, unmarked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (unmarked.parent / name).mkdir()
        (unmarked.parent / name / "pyproject.toml").touch()
    (unmarked.parent / "tools.py").write_text("import torch\n")
    (unmarked / "launch.py").write_text("import tools\n" + (unmarked / "launch.py").read_text())
    monkeypatch.chdir(unmarked)
    done = run("launch.py")
    assert f"{unmarked} is taken as its root" in done.err
    assert "DLL201" in done.out


def test_a_file_in_a_shared_directory_is_judged_with_what_it_imports(
    run: Run, unmarked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (unmarked / name).mkdir()
        (unmarked / name / "pyproject.toml").touch()
        (unmarked / name / "broken.py").write_text("def (\n")
    monkeypatch.chdir(unmarked)
    done = run("launch.py")
    assert "DLL201" in done.out
    assert done.status == 1
