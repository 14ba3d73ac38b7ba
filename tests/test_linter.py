"""The pipeline: which files are read, and which findings come out of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dllint
from dllint import config, linter, registry
from dllint.finding import Finding, Place
from dllint.linter import Execution, Report
from dllint.linter.frames import in_one_piece, with_more_frames
from dllint.linter.inputs import Run, read, texts_to_parse
from dllint.project import Project
from dllint.registry import Rule
from dllint.span import Span

DATA = """\
from torch.utils.data import DataLoader


def build(samples):
    return DataLoader(samples, num_workers=2)
"""
TRAIN = """\
import torch.multiprocessing as mp

from data import build


def main(rank):
    build([])


if __name__ == "__main__":
    mp.spawn(main, nprocs=2)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "data.py").write_text(DATA)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def check(*paths: Path, **overrides: Any) -> Report:
    execution = overrides.pop("execution", Execution(jobs=1, cache=False))
    options = {rule.code: rule.options({}) for rule in registry.rules()}
    given = {name.replace("_", "-"): value for name, value in overrides.items()}
    settings = config.load([str(path) for path in paths], overrides=given, options=options)
    return linter.check([str(path) for path in paths], settings, execution)


def places(report: Report) -> list[tuple[str, int, str]]:
    return [(Path(one.path).name, one.span.line, one.code) for one in report.findings]


def test_a_hazard_that_crosses_files(project: Path) -> None:
    report = check(project)
    assert places(report) == [("data.py", 5, "DLL101")]
    (finding,) = report.findings
    assert (finding.name, finding.severity) == ("loader-inherits-start-method", "warning")
    assert "spawn" in finding.text and finding.help
    assert finding.url.startswith("file:") and finding.url.endswith("/DLL101-loader-inherits-start-method.md")
    assert [(Path(hop.path).name, hop.span.line) for hop in finding.trace] == [("train.py", 11), ("train.py", 7)]
    assert {Path(path).name for path in report.sources} == {"data.py", "train.py"}
    assert (report.files_checked, report.files_skipped, report.incomplete) == (2, 0, False)


def test_a_file_is_judged_alike_alone_and_with_its_project(project: Path) -> None:
    assert places(check(project / "data.py")) == [("data.py", 5, "DLL101")]
    assert check(project / "data.py").files_checked == 1


def test_a_finding_is_reported_where_its_trace_passes_through_an_asked_file(project: Path) -> None:
    (project / "other.py").write_text("import torch\n")
    assert places(check(project / "train.py")) == [("data.py", 5, "DLL101")]
    assert places(check(project / "other.py")) == []


def test_files_in_one_directory_belong_together_where_nothing_marks_a_project(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(DATA)
    (tmp_path / "train.py").write_text(TRAIN)
    assert places(check(tmp_path / "data.py")) == [("data.py", 5, "DLL101")]


RUNNER = """\
from torch.utils.data import DataLoader


class Runner:
    def evaluate(self):
        for batch in DataLoader(list(range(8)), num_workers=2):
            print(batch)
"""
SCORES = """\
class Scores:
    def evaluate(self):
        print("nothing of loading in this file")
"""


@pytest.mark.parametrize(
    ("files", "start", "found"),
    [
        ({"scores.py": SCORES}, "from scores import Scores\nscores = Scores()\n", False),
        ({"scores.py": SCORES}, "import scores as s\nscores = s.Scores()\n", False),
        ({"scores.py": SCORES.replace("evaluate", "measure")}, "from scores import Scores\nscores = Scores()\n", True),
    ],
)
def test_a_method_is_not_guessed_where_an_imported_file_that_does_not_matter_defines_it(
    tmp_path: Path, files: dict[str, str], start: str, found: bool
) -> None:
    files = {
        **files,
        "pyproject.toml": "",
        "runner.py": RUNNER,
        "main.py": f"{start}from runner import Runner\nscores.evaluate()\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert [place[0] for place in places(check(tmp_path, target_python="3.14"))] == (["main.py"] if found else [])


def test_texts_in_memory() -> None:
    report = linter.check_sources({"data.py": DATA, "train.py": TRAIN.encode()})
    assert places(report) == [("data.py", 5, "DLL101")]
    assert places(linter.check_sources({"data.py": DATA})) == []


def test_unsaved_texts_take_the_place_of_files(project: Path) -> None:
    quiet = Execution(jobs=1, cache=False, unsaved={str(project / "train.py"): "import data\n"})
    assert places(check(project, execution=quiet)) == []
    new = Execution(jobs=1, cache=False, unsaved={str(project / "new.py"): TRAIN.encode()})
    (project / "train.py").unlink()
    assert places(check(project / "new.py", execution=new)) == [("data.py", 5, "DLL101")]


def test_the_public_function_uses_the_configuration(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "cache"))
    assert places(dllint.check([str(project)])) == [("data.py", 5, "DLL101")]
    (project / "pyproject.toml").write_text('[tool.dllint]\nignore = ["DLL1"]\n')
    assert places(dllint.check([str(project)])) == []


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        ({"select": ["DLL1"]}, True),
        ({"select": ["DLL2"]}, False),
        ({"ignore": ["DLL101"]}, False),
        ({"per_file_ignores": {"data.py": ["DLL101"]}}, False),
        ({"per_file_ignores": {"*.py": ["DLL1"]}}, False),
        ({"per_file_ignores": {"train.py": ["DLL101"]}}, True),
        ({"per_file_ignores": {"data.py": ["DLL2"]}}, True),
    ],
)
def test_selection(project: Path, overrides: dict[str, Any], found: bool) -> None:
    assert bool(check(project, **overrides).findings) is found


def test_a_suppressed_finding_is_gone_and_its_comment_is_used(project: Path) -> None:
    (project / "data.py").write_text(DATA.replace("=2)", "=2)  # dllint: ignore[DLL101] small"))
    assert places(check(project)) == []
    assert places(check(project / "data.py")) == []


def test_unused_and_unknown_suppressions_are_findings(project: Path) -> None:
    (project / "data.py").write_text("x = 1  # dllint: ignore[DLL501]\ny = 2  # dllint: ignore[DLL999]\n")
    assert places(check(project)) == [("data.py", 1, "DLL002"), ("data.py", 2, "DLL003")]
    assert places(check(project, select=["DLL003"])) == [("data.py", 2, "DLL003")]
    assert places(check(project, ignore=["DLL5"])) == [("data.py", 2, "DLL003")]
    assert places(check(project / "train.py")) == []
    assert places(check(project, per_file_ignores={"data.py": ["DLL0"]})) == []


def test_a_finding_about_a_comment_can_be_suppressed(project: Path) -> None:
    (project / "data.py").write_text("x = 1  # dllint: ignore[DLL501, DLL002]\n")
    assert places(check(project)) == []


def crashing(project: object, options: object) -> Iterator[Finding]:
    yield Finding("DLL201", "/nowhere.py", Span(1, 1, 1, 2), values={})
    raise ZeroDivisionError("division by zero")


def test_a_rule_that_crashes_is_one_problem_and_the_others_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Rule.check.func  # type: ignore[attr-defined]
    broken = property(lambda self: crashing if self.code == "DLL201" else real(self))
    monkeypatch.setattr(Rule, "check", broken)
    report = check(project)
    assert places(report) == [("data.py", 5, "DLL101")]
    assert report.incomplete
    (problem,) = report.problems
    assert problem.startswith("internal error in DLL201: ") and "\n" not in problem
    assert problem.endswith("those of other rules stand. To go on, leave it out with `--ignore DLL201`")


def test_an_internal_error_names_the_file_and_keeps_what_was_found(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Rule.check.func  # type: ignore[attr-defined]

    def broken(project_: Project, options: object) -> Iterator[Finding]:
        yield from real(registry.find("DLL101"))(project_, options)
        file = project_.files[0]
        raise ValueError(f"line {file.facts.lines}\nof it")

    monkeypatch.setattr(Rule, "check", property(lambda self: broken if self.code == "DLL101" else real(self)))
    report = check(project)
    assert ("data.py", 5, "DLL101") in places(report)
    (problem,) = report.problems
    assert problem.startswith("internal error in DLL101 at ") and "--extend-exclude" in problem and "\n" not in problem


def test_a_rule_that_needs_a_deep_stack_gets_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Rule.check.func  # type: ignore[attr-defined]

    def deep(project_: Project, options: object) -> Iterator[Finding]:
        def down(left: int) -> int:
            return 0 if left == 0 else 1 + down(left - 1)

        down(20_000)
        yield from real(registry.find("DLL101"))(project_, options)

    monkeypatch.setattr(Rule, "check", property(lambda self: deep if self.code == "DLL101" else real(self)))
    report = check(project)
    assert report.problems == ()
    assert ("data.py", 5, "DLL101") in places(report)


def test_findings_are_ordered_by_place(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check_all(project_: object, options: object) -> Iterator[Finding]:
        for name, line in (("train.py", 2), ("data.py", 9), ("data.py", 2)):
            place = Place(str(project / "train.py"), Span(1, 1, 1, 2), "there")
            values = {"workers": "1 worker", "method": "spawn", "launcher": "x", "where": "y"}
            yield Finding("DLL101", str(project / name), Span(line, 1, line, 2), values=values, related=(place,))

    monkeypatch.setattr(Rule, "check", property(lambda self: check_all if self.code == "DLL101" else None))
    assert places(check(project)) == [("data.py", 2, "DLL101"), ("data.py", 9, "DLL101"), ("train.py", 2, "DLL101")]


def test_processes_and_the_cache_find_the_same(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dllint.facts.parse.WORTH_PROCESSES", 0)
    told: list[tuple[int, int]] = []
    execution = Execution(jobs=2, progress=lambda done, total: told.append((done, total)))
    cold = check(project, execution=execution, cache_dir=str(project / "kept"))
    assert told[-1] == (2, 2)
    assert list((project / "kept").rglob("*.facts"))
    warm = check(project, execution=execution, cache_dir=str(project / "kept"))
    assert cold == warm
    assert places(warm) == [("data.py", 5, "DLL101")]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before 3.11 a frame was an object by itself")
@pytest.mark.parametrize("room", [in_one_piece, with_more_frames])
def test_frames_lie_in_one_piece_of_memory(room: Any) -> None:
    resource = pytest.importorskip("resource")

    def nested(depth: int) -> None:
        if depth:
            nested(depth - 1)

    def back_and_forth() -> int:
        nested(300)
        before: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for depth in range(300):
            for _ in range(20):
                nested(depth)
        faults: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        return faults

    # Without it, each crossing of the end of a piece takes new pages: thousands.
    assert room(back_and_forth) < 500


def test_texts_that_nothing_reads_again_are_not_kept(project: Path) -> None:
    (project / "plain.py").write_text("x = 1\n")
    (project / "told.py").write_text("x = 1  # noqa: DLL101\n")
    (project / "broken.py").write_text("x = (\n")
    paths = {str(project / name) for name in ("data.py", "train.py", "plain.py", "told.py", "broken.py")}
    run = Run(config.Settings(root=str(project)), set(paths))
    read(run, paths, {})
    parsed = {Path(path).name for path in texts_to_parse(run)}
    assert parsed == {"data.py", "train.py", "broken.py"}
    assert {Path(path).name for path in run.texts} == {*parsed, "told.py"}
