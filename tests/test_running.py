"""`dllint run` from the command line, given what the program's run gave: files written, exit codes, bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dllint.cli import main
from dllint.commands import run as running
from dllint.observation import End, Iteration, Loader, Observation, Process, Record, Site
from dllint.runtime.run import Options, Run

SOURCE = """\
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self):
        self.scale = lambda x: x


if __name__ == "__main__":
    for batch in DataLoader(Records(), num_workers=2, multiprocessing_context="spawn"):
        pass
"""
TEXT = "Can't pickle local object 'Records.__init__.<locals>.<lambda>'"

Start = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text('[tool.dllint]\ntarget-python = "3.14"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "train.py"


@pytest.fixture
def asked(program: Path, monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """Programs are not started: they die of their lambda."""
    given: list[Options] = []
    site = Site(str(program), 10, 18, 10, 87)
    records: list[Record] = [
        Process(70, 1.0, role="main", argv=("python", "train.py"), cwd=str(program.parent)),
        Loader(70, 1.1, loader="70.1", site=site, dataset="__main__.Records", workers=2, method="spawn"),
        Iteration(70, 1.2, loader="70.1", method="spawn", workers=2, error="AttributeError", text=TEXT),
        End(70, 1.3, exit=1, exception="AttributeError", text=TEXT, site=site, frames=(site,)),
    ]

    def run(options: Options) -> Run:
        given.append(options)
        return Run(("python", "train.py"), Observation(tuple(records)), 70, 1, None, "itself", 0.5)

    monkeypatch.setattr(running, "run", run)
    return given


@pytest.fixture
def start(capsys: pytest.CaptureFixture[str]) -> Start:
    def start(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["run", *arguments])
        return int(end.value.code or 0), *capsys.readouterr()

    return start


def test_a_death_that_is_explained(asked: list[Options], start: Start) -> None:
    status, out, _ = start("train.py")
    assert status == 1
    assert f"  = run: confirmed: the program died: AttributeError: {TEXT}\n" in out
    assert "  DLL201: An object that is sent to workers cannot be pickled.\n" in out


def test_json(asked: list[Options], start: Start) -> None:
    status, out, _ = start("--output-format", "json", "train.py")
    told = json.loads(out)
    assert (status, told["exit"]["code"], told["exit"]["explained_by"]) == (1, 1, "DLL201")
    assert [(one["code"], one["verdict"]) for one in told["findings"]] == [("DLL201", "confirmed")]
    assert asked[0].program_to_stderr


def test_what_a_run_said_is_read_by_the_check(
    asked: list[Options], start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    start("--output-format", "json", "--output-file", "run.json", "train.py")
    with pytest.raises(SystemExit):
        main(["check", "--no-cache", "--with-run", "run.json", "."])
    assert "= run: confirmed: the program died: AttributeError" in capsys.readouterr().out


def test_the_page(asked: list[Options], start: Start, tmp_path: Path) -> None:
    assert start("--report", "out.html", "train.py")[0] == 1
    assert "An object that is sent to workers cannot be pickled." in (tmp_path / "out.html").read_text()


def test_loaders_are_tried_under_the_defaults_of_the_targets(asked: list[Options], start: Start) -> None:
    start("train.py")
    start("--try", "spawn", "train.py")
    start("--try", "none", "train.py")
    start("--target-python", ">=3.10,<3.15", "train.py")
    assert [one.trials for one in asked] == [("forkserver",), ("spawn",), (), ("fork", "forkserver")]


def test_without_the_rule_it_is_the_programs_own_failure(asked: list[Options], start: Start, program: Path) -> None:
    (program.parent / "pyproject.toml").write_text('[tool.dllint]\nignore = ["DLL2"]\n')
    assert start("train.py")[0] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.py"], "no such script: none.py"),
        ([], "nothing to run"),
        (["--try", "thread", "train.py"], '"thread" is no start method'),
        (["--target-python", "x", "train.py"], "target-python"),
        (["--config", "none.toml", "train.py"], "none.toml"),
    ],
)
def test_bad_requests_start_nothing(asked: list[Options], start: Start, arguments: list[str], words: str) -> None:
    status, _, err = start(*arguments)
    assert (status, err.count("\n"), asked) == (2, 1, [])
    assert words in err


def test_a_missing_package_is_told_before_the_program_starts(
    asked: list[Options], start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    status, _, err = start("--report", "out.html", "train.py")
    assert (status, asked) == (2, [])
    assert err == "error: --report needs the package plotly: pip install 'dllint[runtime]', or leave the option out\n"


@pytest.mark.parametrize("option", ["--output-file", "--report"])
def test_a_report_that_cannot_be_written(asked: list[Options], start: Start, option: str) -> None:
    status, _, err = start(option, os.path.join("none", "out"), "train.py")
    assert (status, err.startswith(f"error: {option}: ")) == (2, True)


def test_a_program_outside_of_projects_is_checked_with_its_neighbours(
    asked: list[Options], start: Start, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "other.py").write_text(SOURCE)
    _, out, _ = start("--output-format", "json", "train.py")
    found = {(os.path.basename(one["filename"]), one["verdict"]) for one in json.loads(out)["findings"]}
    assert found == {("train.py", "confirmed"), ("other.py", "not reached")}


def test_what_a_run_needs_is_loaded_by_no_other_command() -> None:
    code = "import sys, dllint.cli; print([name for name in sys.modules if name.startswith('dllint.runtime')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
