"""The scripts under benchmarks/: what they count, on small tables and projects made for it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from dllint import registry
from dllint.finding import Finding
from dllint.span import Span

ROOT = Path(__file__).parent.parent


def script(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / "benchmarks" / f"{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


accuracy = script("accuracy")


def label(rules: str, line: int, hazard: bool = True) -> object:
    return accuracy.Label(rules, accuracy.code_patterns(rules), "a/b", "train.py", line, hazard, "")


@pytest.mark.parametrize(
    ("rules", "inside", "outside"),
    [
        ("DLL101", ["DLL101"], ["DLL102", "DLL1010"]),
        ("DLL2xx", ["DLL201", "DLL299"], ["DLL301"]),
        ("DLL301 DLL302", ["DLL301", "DLL302"], ["DLL303"]),
        ("DLL401-404 DLL203", ["DLL401", "DLL404", "DLL203"], ["DLL405", "DLL204"]),
        ("DLL5", ["DLL501"], ["DLL601"]),
    ],
)
def test_codes_of_a_family(rules: str, inside: list[str], outside: list[str]) -> None:
    assert [code for code in [*inside, *outside] if label(rules, 1).covers(code)] == inside


@pytest.mark.parametrize("rules", ["", "DLL", "E501", "DLL4-6"])
def test_what_is_no_family_is_refused(rules: str) -> None:
    with pytest.raises(ValueError, match="not a rule code"):
        accuracy.code_patterns(rules)


@pytest.mark.parametrize(
    ("line", "primary", "related"),
    [(10, True, False), (13, True, False), (7, True, False), (14, False, False), (42, False, True), (6, False, False)],
)
def test_a_label_is_met_within_three_lines(line: int, primary: bool, related: bool) -> None:
    findings = [
        accuracy.Found("DLL101", (("train.py", 10), ("train.py", 40), ("other.py", 14))),
        accuracy.Found("DLL201", (("train.py", 6),)),
    ]
    judged = accuracy.judge(label("DLL101", line), findings)
    assert (judged.primary, judged.related) == (primary, related)


def test_a_related_place_finds_a_hazard_and_flags_no_lookalike() -> None:
    findings = [accuracy.Found("DLL101", (("train.py", 10), ("train.py", 40)))]
    judged = [
        accuracy.judge(label("DLL101", line, hazard), findings) for line in (10, 40, 90) for hazard in (True, False)
    ]
    assert accuracy.summary(judged) == {"hazards": 3, "found": 2, "lookalikes": 3, "flagged": 1, "touched": 1}


def test_a_bad_row_is_named(tmp_path: Path) -> None:
    table = tmp_path / "labels.tsv"
    table.write_text("rules\trepo\tpath\tline\tverdict\treason\nDLL101\ta/b\tx.py\tseven\thazard\t\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"labels\.tsv, row 2: .*seven"):
        accuracy.read_labels(table)


def test_a_whole_run(tmp_path: Path) -> None:
    """One hazard found, one missed, one lookalike flagged, one repository that is not there."""
    shutil.copytree(ROOT / "fixtures" / "launch-wrapper", tmp_path / "checkouts" / "someone+project")
    table = tmp_path / "labels.tsv"
    rows = [
        ["rules", "repo", "commit", "path", "line", "verdict", "confidence", "reason"],
        ["DLL101", "someone/project", "0", "engine/loaders.py", "12", "hazard", "high", "near the loader"],
        ["DLL101", "someone/project", "0", "train.py", "20", "hazard", "high", '"no loader ""here"""'],
        ["DLL101", "someone/project", "0", "engine/loaders.py", "14", "lookalike-clean", "high", "wrongly labelled"],
        ["DLL101", "someone/absent", "0", "train.py", "1", "hazard", "high", "nowhere"],
    ]
    table.write_text("\r\n".join("\t".join(row) for row in rows) + "\r\n", encoding="utf-8")
    command = [sys.executable, str(ROOT / "benchmarks" / "accuracy.py"), str(table), str(tmp_path / "checkouts")]
    process = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    result = json.loads(process.stdout)
    assert result["total"] == {"hazards": 2, "found": 1, "lookalikes": 1, "flagged": 1, "touched": 0}
    assert result["not_checked_out"] == {"someone/absent": 1}
    assert [one["crash"] for one in result["repositories"]] == [""]
    assert process.returncode == 2

    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "someone/project/train.py:20" in process.stdout
    assert 'no loader "here"' in process.stdout
    assert "Not checked out: someone/absent (1 labels left out)" in process.stdout


def test_what_was_read_of_findings(tmp_path: Path) -> None:
    """One finding was read, the others were not, and one repository is not there."""
    shutil.copytree(ROOT / "fixtures" / "launch-wrapper", tmp_path / "checkouts" / "someone+project")
    table = tmp_path / "readings.tsv"
    rows = [
        ["repo", "path", "line", "code", "verdict", "reason"],
        ["someone/project", "engine/loaders.py", "13", "DLL101", "arguable", "two lines further"],
        ["someone/project", "engine/loaders.py", "13", "DLL102", "false", "another rule"],
        ["someone/absent", "train.py", "1", "DLL101", "true", "nowhere"],
    ]
    table.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")
    command = [sys.executable, str(ROOT / "benchmarks" / "precision.py"), str(table), str(tmp_path / "checkouts")]
    process = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    result = json.loads(process.stdout)
    assert result["findings"]["DLL101"]["arguable"] == 1
    assert "false" not in result["findings"]["total"]
    assert result["findings"]["total"].get("unread", 0) == len(result["unread"])
    assert result["problems"] == ["not checked out: someone/absent"]
    assert process.returncode == 2

    table.write_text(table.read_text().replace("arguable", "perhaps"), encoding="utf-8")
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (2, "")
    assert "readings.tsv, row 2: unknown verdict 'perhaps'" in process.stderr


def test_linking_is_timed(tmp_path: Path) -> None:
    tree = ROOT / "fixtures" / "launch-wrapper"
    command = [sys.executable, str(ROOT / "benchmarks" / "speed.py"), str(tree), "--linking-only", str(tmp_path)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    linked, judged = json.loads(process.stdout)
    assert 0 < linked < 30
    assert 0 < judged < 30


def test_linking_is_timed_alone_once_and_twice() -> None:
    tree = ROOT / "fixtures" / "launch-wrapper"
    command = [sys.executable, str(ROOT / "benchmarks" / "speed.py"), str(tree), "--linking", "--no-check"]
    process = subprocess.run([*command, "--repeat", "1", "--json"], capture_output=True, text=True, check=True)
    numbers = json.loads(process.stdout)
    assert set(numbers) == {"lines", "scaling"} | {
        f"{step}_{n}" for step in ("linking", "rules") for n in ("once", "twice")
    }
    process = subprocess.run([*command[:3], "--no-check"], capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert "--no-check is for --linking" in process.stderr


@pytest.mark.slow
def test_the_table_has_a_row_for_each_tree() -> None:
    trees = [str(ROOT / "fixtures" / name) for name in ("launch-wrapper", "re-exports")]
    command = [sys.executable, str(ROOT / "benchmarks" / "speed.py"), "--table", *trees, "--repeat", "1"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    head, _, *rows = process.stdout.splitlines()
    assert [row.split(" | ")[0] for row in rows] == ["| launch-wrapper", "| re-exports"]
    assert all(float(cell.replace(",", "")) > 0 for row in rows for cell in row.strip("| ").split(" | ")[1:])
    assert head.count("|") == rows[0].count("|") == 10


@pytest.mark.slow
def test_what_edits_cost_is_measured() -> None:
    tree = ROOT / "fixtures" / "launch-wrapper"
    command = [sys.executable, str(ROOT / "benchmarks" / "edits.py"), str(tree), "--edits", "1", "--json"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(process.stdout)["launch-wrapper"]
    assert {"cold", "unchanged", "check: read, comment", "server: first", "server: read, statement"} <= found.keys()
    assert found["server: read, comment (analysed)"] == 0
    assert found["server: read, statement (analysed)"] == 1


def test_edits_of_a_function_leave_the_rest_as_it_is() -> None:
    edits = script("edits")
    text = "def first(rows):\n    return rows[3]\n\n\nlast = 4\n"
    function = edits._FUNCTION.search(text)
    assert edits.edited(text, function, "comment") == text.replace("    return", "    # edited\n    return")
    assert edits.edited(text, function, "statement") == text.replace("    return", "    edited = 1\n    return")
    assert edits.edited(text, function, "number") == text.replace("3", "4")
    assert edits.edited(text, function, "renamed") == text.replace("first", "first_edited")
    added = edits.edited(text, function, "function")
    assert added.startswith(text[: function.end()]) and added.endswith("\n\nlast = 4\n")
    compile(added, "added.py", "exec")
    assert edits.edited(text, function, "option") is None
    without = text.replace("3", "at")
    assert edits.edited(without, edits._FUNCTION.search(without), "number") is None
    text = "def options(parser):\n    parser.add_argument('--workers', default=2)\n"
    assert edits.edited(text, edits._FUNCTION.search(text), "option") == text.replace("2", "3")


def test_a_tree_without_python_is_an_error(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "speed.py"), str(tmp_path)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (2, f"speed: no Python files under {tmp_path}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="processor time of children")
def test_the_start_of_an_instrumented_process_takes_less_than_20_ms(tmp_path: Path) -> None:
    overhead = script("overhead")
    (tmp_path / "records").mkdir()
    (tmp_path / "plan.json").write_text("{}")
    took = overhead.compared(
        10, lambda scratch: overhead.processor_ms(sys.executable, overhead.START, scratch), str(tmp_path)
    )
    assert len(list((tmp_path / "records").glob("*.jsonl"))) == 10
    assert took["difference"] < 20, took


order = script("order")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each order runs in a process of its own")
def test_a_rule_whose_findings_depend_on_what_ran_before_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text("from torch.utils.data import DataLoader\nDataLoader([1])\n", encoding="utf-8")
    project = order.linked(str(tmp_path))
    asked: list[str] = []

    def rule(code: str, wants: str) -> SimpleNamespace:
        def check(project: object, options: object) -> Iterator[Finding]:
            asked.append(code)
            if wants in asked:
                yield Finding(code, "train.py", Span(2, 1, 2, 16), values={"name": "rows"})

        return SimpleNamespace(code=code, check=check, options=lambda given: given)

    monkeypatch.setattr(registry, "rules", lambda: (rule("DLL901", "DLL901"), rule("DLL902", "DLL902")))
    assert order.differences(project, alone=True) == []
    monkeypatch.setattr(registry, "rules", lambda: (rule("DLL901", "DLL901"), rule("DLL902", "DLL901")))
    told = order.differences(project, alone=True)
    assert {"reversed: - DLL902 train.py:2", "DLL902 alone: - DLL902 train.py:2"} <= {
        one.partition(" main")[0] for one in told
    }
    assert not any("DLL901 train.py" in one for one in told)
