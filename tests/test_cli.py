"""`dllint check`: what it prints, what it writes and how it exits."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dllint import __version__, linter, profiling
from dllint.cli import main
from dllint.commands import check as checking
from dllint.config import KEYS
from dllint.fixes.write import WriteError

LAMBDA = (
    "from torch.utils.data import DataLoader\nloader = DataLoader([], num_workers=2, multiprocessing_context='spawn'"
)
HAZARD = LAMBDA + ", collate_fn=lambda rows: rows)\n"
CLEAN = LAMBDA + ")\n"
SETTING = "os.environ['OPENCV_OPENMP_NUM_THREADS'] = '1'\n"
WARNING = f"import os\n{SETTING}"


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    for name in ("DLLINT_DEBUG", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, text: str = "", **environment: str) -> Done:
        with monkeypatch.context() as patched:
            for name, value in environment.items():
                patched.setenv(name, value)
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            with pytest.raises(SystemExit) as ended:
                main(arguments)
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, captured.out, captured.err)

    return run


@pytest.fixture
def hazard(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(HAZARD)
    return tmp_path


def codes(done: Done) -> list[str]:
    return [one["code"] for one in json.loads(done.out)]


def test_a_clean_check_exits_0(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CLEAN)
    assert run("check", ".") == Done(0, "No findings in 1 file.\n", "")


def test_a_finding_exits_1_and_names_its_place(run: Run, hazard: Path) -> None:
    done = run("check", ".")
    assert (done.status, done.err) == (1, "")
    assert done.out.startswith("train.py: 1 finding\n\nDLL204 unpicklable-worker-callable [*] error: ")
    assert "\n --> train.py:2:84\n" in done.out
    assert "\n1 finding in 1 file: 1 error.\n[*] 1 fixable with --fix.\n\nNext:\n" in done.out
    assert "\n  dllint check . --fix  " in done.out


@pytest.mark.parametrize(
    ("flags", "status"),
    [
        (["--exit-zero"], 0),
        (["--ignore", "DLL2"], 0),
        (["--select", "DLL1,DLL5"], 0),
        (["--select", "DLL204"], 1),
        (["--select", "unpicklable-worker-callable"], 1),
        (["--select", "lambda-in-dataset"], 0),
        (["--ignore", "unpicklable-worker-callable"], 0),
        (["--per-file-ignores", "*.py:unpicklable-worker-callable"], 0),
        (["--select", "DLL1", "--extend-select", "DLL2"], 1),
        (["--per-file-ignores", "*.py:DLL2,x.py:DLL1"], 0),
        (["--fail-on", "error"], 1),
        (["--extend-exclude", "train.py"], 0),
        (["--quiet", "--no-cache", "--jobs", "1", "--preview"], 1),
    ],
)
def test_flags_that_change_the_exit_code(run: Run, hazard: Path, flags: list[str], status: int) -> None:
    assert run("check", ".", *flags).status == status


@pytest.mark.parametrize(("fail_on", "status"), [("error", 0), ("warning", 1), ("info", 1)])
def test_fail_on_moves_the_line(run: Run, tmp_path: Path, fail_on: str, status: int) -> None:
    (tmp_path / "limits.py").write_text(WARNING)
    done = run("check", ".", "--fail-on", fail_on, "--output-format", "json")
    assert [one["severity"] for one in json.loads(done.out)] == ["warning"]
    assert done.status == status


def test_without_paths_the_project_around_this_directory_is_checked(
    run: Run, hazard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hazard / ".git").mkdir()
    (hazard / "tools").mkdir()
    monkeypatch.chdir(hazard / "tools")
    done = run("check", "--output-format", "json")
    assert (done.status, codes(done)) == (1, ["DLL204"])
    assert done.err == f"note: checking {hazard}, the nearest directory that holds a .git\n"
    alone = run()
    assert (alone.status, alone.err) == (1, done.err)
    assert "\n  dllint check --fix  " in alone.out


def test_without_a_project_this_directory_is_checked(run: Run, hazard: Path) -> None:
    done = run("check")
    assert done.status == 1
    assert f"note: checking {hazard}, the current directory: no pyproject.toml or .git" in done.err


def test_rules_are_called_by_name_in_settings_and_comments(run: Run, hazard: Path) -> None:
    settings = hazard / "pyproject.toml"
    settings.write_text('[tool.dllint]\nignore = ["unpicklable-worker-callable"]\n')
    assert run("check", ".").status == 0
    settings.write_text("[tool.dllint.rules.eager-array-in-init]\ncopies-mib = 1\n")
    assert run("check", ".").status == 1
    source = HAZARD.replace("rows)\n", "rows)  # dllint: ignore[unpicklable-worker-callable] for a test\n")
    (hazard / "train.py").write_text(source)
    assert run("check", ".").status == 0
    (hazard / "train.py").write_text(CLEAN.replace(")\n", ")  # dllint: ignore[lambda-in-dataset]\n"))
    assert codes(run("check", ".", "--output-format", "json")) == ["DLL002"]


def test_all_related_places_are_shown_on_request(run: Run, tmp_path: Path) -> None:
    loaders = "".join(f"DataLoader(rows, num_workers={number})\n" for number in range(2, 8))
    rows = (
        "from torch.utils.data import DataLoader, Dataset\n\nclass Rows(Dataset):\n    def __init__(self):\n"
        "        self.key = lambda row: row\n    def __getitem__(self, index):\n        return self.key(index)\n\n"
    )
    (tmp_path / "data.py").write_text(f"{rows}rows = Rows()\n{loaders}")
    assert "note: and 3 more (--show-all)" in run("check", ".").out
    assert run("check", ".", "--show-all").out.count("this DataLoader starts the workers") == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", ".", "--select", "DLL294"], 'there is no rule "DLL294", did you mean "DLL2'),
        (["check", ".", "--ignore", "E501"], 'there is no rule "E501"'),
        (["check", ".", "--select", "lambda-in-datasets"], 'did you mean "lambda-in-dataset"?'),
        (["check", ".", "--fail-on", "panic"], "'--fail-on': 'panic' is not one of"),
        (["check", ".", "--target-python", "three"], '"three" is no version'),
        (["check", ".", "--target-platform", "beos"], 'there is no platform "beos"'),
        (["check", ".", "--per-file-ignores", "DLL1"], '"DLL1" is not PATTERN:CODE'),
        (["check", ".", "--output-format", "xml"], "xml"),
        (["check", ".", "--jobs", "0"], "--jobs"),
        (["check", ".", "--no-such-flag"], "--no-such-flag"),
        (["check", ".", "--config", "missing.toml"], "missing.toml: cannot be read"),
        (["check", ".", "--output-file", "no/such/file"], "cannot be written"),
        (["check", ".", "--write-baseline", "no/such/file"], "cannot be written"),
        (["check", ".", "--baseline", "no/such/file"], "does not exist (`--write-baseline no/such/file` writes it)"),
        (["check", "-", "x.py"], "standard input"),
        (["rule"], "--all"),
        (["rule", "DLL1O1"], 'there is no rule "DLL1O1", did you mean "DLL101"?'),
        (["rule", "DLL101", "--all"], "--all"),
        (["config", "selekt"], 'there is no setting "selekt", did you mean "select"?'),
        (["chekc"], "chekc"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(run: Run, hazard: Path, arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert message in done.err
    assert done.err.startswith("error: ") and done.err.count("\n") == 1


def test_a_report_goes_to_a_file(run: Run, hazard: Path) -> None:
    done = run("check", ".", "--output-format", "json", "-o", "report.json")
    assert (done.status, done.out) == (1, "")
    assert json.loads((hazard / "report.json").read_text())[0]["code"] == "DLL204"


def test_every_format_and_statistics(run: Run, hazard: Path) -> None:
    assert codes(run("check", ".", "--output-format", "json")) == ["DLL204"]
    assert json.loads(run("check", ".", "--output-format", "lsp").out)[0]["uri"].startswith("file:///")
    assert run("check", ".", "--output-format", "github").out.startswith("::error title=dllint DLL204 ")
    assert run("check", ".", "--statistics").out == "1  DLL204  [*]  unpicklable-worker-callable\n"


def test_verbose_tells_the_limits_that_were_met(run: Run, hazard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linter, "limits_met", lambda project: {"callers": 1, "call-depth": 12, "values": 0})
    silent, verbose = run("check", "."), run("check", ".", "--verbose")
    assert (silent.err, verbose.out) == ("", silent.out)
    assert verbose.err == (
        "note: the limit on call-depth was met 12 times; what lies beyond it counts as unknown\n"
        "note: the limit on callers was met 1 time; what lies beyond it counts as unknown\n"
    )


def test_profile_shows_where_the_time_goes(run: Run, hazard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(10**6))
    monkeypatch.setattr(profiling.time, "process_time", lambda: float(next(clock)))
    silent, profiled = run("check", "."), run("check", ".", "--profile-rules")
    assert profiled.out == silent.out
    told = profiled.err.splitlines()
    assert told[0].startswith("processor time by step and rule, ")
    assert any(line.endswith(" s  DLL204 unpicklable-worker-callable") for line in told)
    assert {"reading", "linking"} <= {line.split(" s  ")[-1] for line in told}
    assert any(
        re.search(r" s  Evaluator\._name, worked out \d+ times for \d+ different questions$", line) for line in told
    )


def test_colours_only_where_wanted(run: Run, hazard: Path) -> None:
    assert "\x1b[" not in run("check", ".").out
    assert "\x1b[" in run("check", ".", "--color", "always").out
    assert "\x1b[" in run("check", ".", FORCE_COLOR="1").out
    assert "\x1b[" not in run("check", ".", FORCE_COLOR="1", NO_COLOR="1").out
    assert "\x1b[" not in run("check", ".", "--color", "never", FORCE_COLOR="1").out


def test_standard_input(run: Run, tmp_path: Path) -> None:
    done = run("check", "-", text=HAZARD)
    assert done.status == 1
    assert " --> -:2:84\n" in done.out
    named = run("check", "-", "--stdin-filename", "pkg/data.py", text=HAZARD)
    assert f" --> {os.path.join('pkg', 'data.py')}:2:84\n" in named.out
    assert run("check", "-", text=CLEAN).status == 0
    assert run("check", "-", text="def f(:\n").status == 2


def test_standard_input_stands_for_the_file_in_its_project(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "data.py").write_text(
        "from torch.utils.data import DataLoader\n\ndef build():\n    return DataLoader([], num_workers=2)\n"
    )
    (tmp_path / "train.py").write_text("")
    launcher = (
        "import torch.multiprocessing as mp\nfrom data import build\nif __name__ == '__main__':\n    mp.spawn(build)\n"
    )
    assert codes(run("check", "-", "--stdin-filename", "train.py", "--output-format", "json", text=launcher)) == [
        "DLL101"
    ]


def test_fix_mends_files_and_reports_what_remains(run: Run, hazard: Path) -> None:
    (hazard / "limits.py").write_text("import os\nos.environ['OPENCV_OPENMP_NUM_THREADS'] = '1'  # 数据\n")
    done = run("check", ".", "--fix", "--show-fixes")
    assert done.status == 0
    assert done.out == "No findings in 2 files.\n"
    assert done.err == (
        "Fixed 2 findings in 2 files.\n"
        "  limits.py\n    1 × DLL502 ineffective-opencv-variable\n"
        "  train.py\n    1 × DLL204 unpicklable-worker-callable\n"
    )
    assert "lambda" not in (hazard / "train.py").read_text()
    before = (hazard / "train.py").read_bytes()
    assert run("check", ".", "--fix").status == 0
    assert (hazard / "train.py").read_bytes() == before


def test_exit_non_zero_on_fix(run: Run, hazard: Path) -> None:
    assert run("check", ".", "--fix", "--exit-non-zero-on-fix").status == 1
    assert run("check", ".", "--fix", "--exit-non-zero-on-fix").status == 0


def test_unsafe_fixes_are_made_only_when_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch.multiprocessing as mp\nfrom torch.utils.data import DataLoader\n\n\n"
        "def main(rank):\n    DataLoader([], num_workers=2)\n\n\nif __name__ == '__main__':\n    mp.spawn(main)\n"
    )
    before = (tmp_path / "train.py").read_text()
    assert run("check", ".", "--fix").status == 1
    assert (tmp_path / "train.py").read_text() == before
    assert run("check", ".", "--fix", "--unsafe-fixes").status == 0
    assert (tmp_path / "train.py").read_text() == before.replace(
        "num_workers=2", 'num_workers=2, multiprocessing_context="fork"'
    )


def test_diff_changes_nothing_and_applies(run: Run, hazard: Path) -> None:
    done = run("check", ".", "--diff")
    assert done.status == 1
    assert (hazard / "train.py").read_text() == HAZARD
    assert done.out.startswith("--- train.py\n+++ train.py\n@@ ")
    assert done.err == "Would fix 1 finding in 1 file.\n"
    (hazard / "train.py").write_text(CLEAN)
    assert run("check", ".", "--diff") == Done(0, "", "")


def test_a_diff_names_what_was_not_checked(run: Run, hazard: Path) -> None:
    (hazard / "broken.py").write_text("x = 1\ndef f(:\n")
    done = run("check", ".", "--diff")
    assert done.status == 2 and done.out.startswith("--- train.py\n")
    assert done.err.startswith("error: broken.py:2: DLL001 This file was not checked, because it does not parse")
    done = run("check", "-", "--diff", text="def f(:\n")
    assert done.status == 2 and done.err.startswith("error: -:1: DLL001 ")


def test_a_diff_on_a_terminal_holds_no_control_characters(
    run: Run, hazard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hazard / "train.py").write_text(HAZARD.replace("rows)\n", "rows)  # \x1b[31m\n"))
    assert "\x1b[31m" in run("check", ".", "--diff").out
    monkeypatch.setattr("dllint.commands.fix.is_terminal", lambda stream: True)
    out = run("check", ".", "--diff", "--color", "never").out
    assert "\x1b" not in out and out.startswith("--- train.py\n+++ train.py\n@@ ")


def test_a_suppressed_finding_is_not_mended(run: Run, hazard: Path) -> None:
    text = HAZARD.replace("rows)\n", "rows)  # noqa: DLL204\n")
    (hazard / "train.py").write_text(text)
    assert run("check", ".", "--fix").status == 0
    assert (hazard / "train.py").read_text() == text


def test_fix_of_standard_input_prints_the_text(run: Run) -> None:
    done = run("check", "-", "--fix", "--stdin-filename", "train.py", text=HAZARD)
    assert done.status == 0
    assert "lambda" not in done.out and "DataLoader(" in done.out
    assert run("check", "-", "--fix", text=CLEAN).out == CLEAN


def test_a_mended_file_keeps_its_encoding_and_line_ends(run: Run, tmp_path: Path) -> None:
    text = "# coding: latin-1\r\n# \xe9\r\nimport os\r\n" + SETTING
    (tmp_path / "limits.py").write_bytes(text.encode("latin-1"))
    assert run("check", ".", "--fix").status == 0
    mended = text.replace("OPENCV_OPENMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")
    assert (tmp_path / "limits.py").read_bytes() == mended.encode("latin-1")


def test_a_file_that_cannot_be_written_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str, old: str, new: str, root: str) -> None:
        raise WriteError(f"{path}: cannot be written: disk full")

    (tmp_path / "limits.py").write_text(WARNING)
    monkeypatch.setattr("dllint.commands.fix.write_fixed", refused)
    done = run("check", ".", "--fix")
    assert done.status == 2
    assert f"error: {tmp_path / 'limits.py'}: cannot be written: disk full\n" in done.err
    assert "DLL502" in done.out and "Fixed" not in done.err


@pytest.mark.skipif(not hasattr(os, "link"), reason="this system has no hard links")
def test_a_finding_that_stays_is_reported_and_not_counted_as_fixed(run: Run, hazard: Path) -> None:
    os.link(hazard / "train.py", hazard / "train.txt")
    (hazard / "limits.py").write_text(WARNING)
    done = run("check", ".", "--fix", "--output-format", "json")
    assert done.status == 2
    assert codes(done) == ["DLL204"]
    assert done.err == (
        f"error: {hazard / 'train.py'}: not fixed, because it has 2 hard links: the others would keep the old text\n"
        "Fixed 1 finding in 1 file.\n"
    )


@pytest.mark.skipif(not hasattr(os, "link"), reason="this system has no hard links")
def test_a_fix_that_was_refused_is_shown_and_not_offered_again(run: Run, hazard: Path) -> None:
    os.link(hazard / "train.py", hazard / "train.txt")
    assert "[*] 1 fixable with --fix." in run("check", ".").out
    done = run("check", ".", "--fix")
    assert (done.status, "Fixed" in done.out + done.err) == (2, False)
    assert "[*]" not in done.out and "--fix" not in done.out
    assert "+ def _collate_fn(rows):" in done.out
    assert run("check", ".", "--add-ignore").err.startswith("Added suppressions to 0 files.\n")


def test_after_a_refused_fix_the_report_is_about_the_files_as_they_are(
    run: Run, hazard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = linter.check

    def check(paths: Any, settings: Any, execution: Any = linter.Execution()) -> Any:
        report = real(paths, settings, execution)
        if not execution.edited:
            return report
        first = real(paths, settings, replace(execution, edited={})).findings[0]
        return replace(report, findings=(replace(first, code="DLL402", fixes=()),))

    monkeypatch.setattr(linter, "check", check)
    before = (hazard / "train.py").read_text()
    done = run("check", ".", "--fix", "--output-format", "json")
    assert (hazard / "train.py").read_text() == before
    assert "DLL204 was not fixed: it would make DLL402" in done.err
    assert (done.status, codes(done)) == (1, ["DLL204"])


def test_add_ignore_silences_what_is_there(run: Run, hazard: Path) -> None:
    done = run("check", ".", "--add-ignore")
    assert (done.status, done.err) == (0, "Added suppressions to 1 file.\n")
    assert (hazard / "train.py").read_text() == HAZARD.replace("rows)\n", "rows)  # dllint: ignore[DLL204]\n")
    assert run("check", ".").status == 0


def test_a_baseline_hides_what_it_lists_and_nothing_else(run: Run, hazard: Path) -> None:
    written = run("check", ".", "--write-baseline", "known.json")
    assert (written.status, written.err) == (1, "1 finding written to known.json.\n")
    assert run("check", ".", "--baseline", "known.json").status == 0
    (hazard / "train.py").write_text("import os\n\n" + HAZARD)
    assert run("check", ".", "--baseline", "known.json").status == 0
    (hazard / "other.py").write_text(HAZARD)
    done = run("check", ".", "--baseline", "known.json", "--output-format", "json")
    assert [Path(one["filename"]).name for one in json.loads(done.out)] == ["other.py"]
    (hazard / "known.json").write_text("{}")
    assert run("check", ".", "--baseline", "known.json") == Done(
        2, "", "error: --baseline: known.json is no baseline\n"
    )


def test_settings_come_from_pyproject(run: Run, hazard: Path) -> None:
    (hazard / "pyproject.toml").write_text('[tool.dllint]\nignore = ["DLL2"]\n')
    assert run("check", ".").status == 0
    assert run("check", ".", "--isolated").status == 1
    (hazard / "other.toml").write_text('ignore = ["DLL5"]\n')
    assert run("check", ".", "--config", "other.toml").status == 1


def test_show_settings_and_files(run: Run, hazard: Path) -> None:
    shown = run("check", ".", "--show-settings", "--target-python", "3.12", "--select", "DLL1")
    assert shown.status == 0
    assert 'target-python = ["3.12"]\n' in shown.out and 'select = ["DLL1"]\n' in shown.out
    (hazard / "pkg").mkdir()
    (hazard / "pkg" / "b.py").write_text("")
    done = run("check", ".", "--show-files")
    assert (done.status, done.out) == (0, f"{os.path.join('pkg', 'b.py')}\ntrain.py\n")
    assert done.err.startswith("note: these files' own data files (.json, .toml, .yaml, .yml) are read too, ")


def test_git_ignored_files_stay_out_unless_wanted(run: Run, hazard: Path) -> None:
    (hazard / ".git").mkdir()
    (hazard / ".gitignore").write_text("train.py\n")
    (hazard / "other.py").write_text("")
    assert run("check", ".").status == 0
    assert run("check", ".", "--no-respect-gitignore").status == 1
    assert run("check", "train.py").status == 1


def test_named_files_are_checked_although_excluded_unless_forced(run: Run, hazard: Path) -> None:
    assert run("check", "train.py", "--exclude", "train.py").status == 1
    assert run("check", "train.py", "--exclude", "train.py", "--force-exclude").status == 0


def test_fixes_leave_files_alone_that_were_not_named(run: Run, hazard: Path) -> None:
    (hazard / ".git").mkdir()
    collate = "def make():\n    return lambda rows: rows\n"
    (hazard / "data.py").write_text(collate)
    (hazard / "train.py").write_text("from data import make\n" + HAZARD.replace("lambda rows: rows", "make()"))
    done = run("check", "train.py", "--fix")
    assert (hazard / "data.py").read_text() == collate
    assert "(1 of them in other files of the project) in 1 file" in done.out
    assert "[*]" not in done.out


@pytest.mark.parametrize(
    "value",
    ["lambda rows, *, s=k: rows", "lambda rows, s=k: rows", "lambda rows: (rows, __class__)"],
)
def test_a_fix_that_cannot_be_carried_out_is_not_offered(run: Run, tmp_path: Path, value: str) -> None:
    text = (
        "from torch.utils.data import DataLoader\n\n\nclass Loaders:\n    def make(self):\n        k = len('abc')\n"
        f"        return DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn={value})\n"
    )
    (tmp_path / "train.py").write_text(text)
    done = run("check", ".")
    assert done.status == 1
    assert "DLL204" in done.out
    assert "[*]" not in done.out and "fixable" not in done.out
    assert json.loads(run("check", ".", "--statistics", "--output-format", "json").out)[0]["fixable_count"] == 0
    assert "was not fixed" not in run("check", ".", "--fix").err


def test_settings_decide_which_fixes_count_as_safe(run: Run, hazard: Path) -> None:
    settings = hazard / "pyproject.toml"
    settings.write_text('[tool.dllint]\nextend-unsafe-fixes = ["DLL2"]\n')
    assert "1 fixable with --fix --unsafe-fixes" in run("check", ".", "--fix").out
    assert (hazard / "train.py").read_text() == HAZARD
    settings.write_text('[tool.dllint]\nextend-unsafe-fixes = ["DLL2"]\nextend-safe-fixes = ["DLL204"]\n')
    assert run("check", ".", "--fix").status == 0
    assert (hazard / "train.py").read_text() != HAZARD
    settings.write_text('[tool.dllint]\nextend-safe-fixes = ["DLL9"]\n')
    assert run("check", ".").status == 2


LAUNCHED = """\
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader


def work(rank, dataset):
    dist.init_process_group("{backend}")
    for batch in DataLoader(dataset, num_workers=4):
        print(batch)


def main(dataset):
    mp.spawn(work, (dataset,), nprocs=2)
"""


def test_of_two_remedies_the_report_shows_both_and_a_fix_makes_the_first(run: Run, hazard: Path) -> None:
    (hazard / "train.py").write_text(LAUNCHED.format(backend="gloo"))
    shown = " ".join(run("check", ".").out.split())
    assert "= fix (unsafe): Fork the workers" in shown
    assert "= or (suggestion): Make the inherited start method explicit" in shown
    assert run("check", ".", "--fix", "--unsafe-fixes").status == 0
    assert 'multiprocessing_context="fork"' in (hazard / "train.py").read_text()


def test_no_setting_makes_a_suggestion_a_fix(run: Run, hazard: Path) -> None:
    (hazard / "pyproject.toml").write_text('[tool.dllint]\nextend-safe-fixes = ["DLL101"]\n')
    text = LAUNCHED.format(backend="nccl")
    (hazard / "train.py").write_text(text)
    done = run("check", ".", "--fix", "--unsafe-fixes")
    assert done.status == 1
    assert "fix (suggestion): Make the inherited" in " ".join(done.out.split())
    assert (hazard / "train.py").read_text() == text


def test_clean_says_whose_cache_it_removes(run: Run) -> None:
    assert "all projects share" in " ".join(run("clean", "--help").out.split())


def test_the_cache_can_be_removed(run: Run, hazard: Path) -> None:
    run("check", ".", "--cache-dir", "kept")
    assert (hazard / "kept").is_dir()
    assert run("clean", "--cache-dir", "kept").out == f"Removed {hazard / 'kept'}\n"
    assert not (hazard / "kept").exists()
    assert run("clean", "--cache-dir", "kept") == Done(0, "There is no cache.\n", "")
    run("check", ".", "--cache-dir", "kept", "--no-cache")
    assert not (hazard / "kept").exists()


def test_version(run: Run) -> None:
    assert run("version") == run("--version") == Done(0, f"dllint {__version__}\n", "")


def test_help_names_every_command(run: Run) -> None:
    shown = run("--help")
    assert shown.status == 0
    for command in ("check", "rule", "config", "clean", "version"):
        assert f" {command} " in shown.out
    assert "--select" in run("check", "-h").out


@pytest.mark.parametrize("command", [(), ("check",), ("run",), ("trace",), ("rule",), ("doctor",), ("config",)])
def test_help_shows_what_values_are_and_no_types(run: Run, command: tuple[str, ...]) -> None:
    shown = run(*command, "--help").out
    assert not re.search(r"<(bool|str|int|float|list|path)", shown)
    assert "[[" not in shown


def test_help_keeps_what_stands_in_brackets(run: Run) -> None:
    assert "[tool.dllint]" in run("config", "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(run: Run, shell: str) -> None:
    done = run(_DLLINT_COMPLETE=f"source_{shell}")
    assert done.status == 0
    assert "_DLLINT_COMPLETE=complete_" in done.out


def test_rule_prints_its_page(run: Run) -> None:
    page = run("rule", "DLL101")
    assert page.status == 0
    assert page.out.startswith("# DLL101 loader-inherits-start-method\n")
    assert run("rule", "dll101") == run("rule", "loader-inherits-start-method") == page
    assert page.out in run("rule", "--all").out
    assert "toml" not in page.out.partition("## Examples")[0]
    assert "## Options" in run("rule", "DLL301").out
    described = json.loads(run("rule", "DLL301", "--output-format", "json").out)
    assert described["code"] == "DLL301"
    assert [one["name"] for one in described["options"]]
    assert len(json.loads(run("rule", "--all", "--output-format", "json").out)) >= 10


def test_config_explains_every_key_that_there_is(run: Run) -> None:
    listed = [line.split()[0] for line in run("config").out.splitlines()]
    assert sorted(listed) == sorted([*KEYS, "rules"])
    assert "Default:" in run("config", "target-python").out


def test_nothing_is_said_when_the_reader_goes_away(hazard: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "dllint", "check", str(hazard), "--no-cache"],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert done.stderr == b""
    assert done.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_an_interrupt_is_quiet(hazard: Path) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "dllint", "check", str(hazard), "--watch", "--no-cache"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what it puts in the background with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert watching.stderr is not None
    try:
        assert watching.stderr.readline() == "Watching 1 file; Ctrl-C ends it.\n"
        (hazard / "train.py").write_text(CLEAN)
        assert watching.stderr.readline() == "Watching 1 file; Ctrl-C ends it.\n"
        time.sleep(0.1)
        watching.send_signal(signal.SIGINT)
        out, err = watching.communicate(timeout=30)
    finally:
        watching.kill()
    assert (watching.returncode, err) == (130, "")
    assert "DLL204" in out and out.endswith("No findings in 1 file.\n")


def test_an_internal_error_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(request: Any) -> int:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.delenv("DLLINT_DEBUG", raising=False)
    monkeypatch.setattr(checking, "run", broken)
    with pytest.raises(SystemExit) as ended:
        main(["check", "."])
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "error: internal error: ZeroDivisionError: division by zero (DLLINT_DEBUG=1 shows where)\n"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    asked = {"COMP_WORDS": "dllint ch", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "dllint ch"}
    fish = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment = {**os.environ, **asked, **fish, "_DLLINT_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-m", "dllint"], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert "check" in done.stdout, done.stderr
    assert "doctor" not in done.stdout
