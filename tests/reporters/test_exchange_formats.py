"""Formats that other programs read. `test_validators` has programs of others look at whole documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dllint.cli import main
from dllint.finding import Finding, Fix, ReplaceExpression
from dllint.linter import Report
from dllint.reporters import Style, render
from dllint.span import Span

Render = Callable[..., str]
Make = Callable[..., Finding]
HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)


def run_of(text: str) -> dict[str, Any]:
    document = json.loads(text)
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = document["runs"]
    assert isinstance(run, dict)
    return run


def test_jsonl_is_the_objects_of_json_line_by_line(finding: Finding, shown: Render) -> None:
    other = replace(finding, code="DLL102")
    lines = shown("jsonl", finding, other).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(shown("json", finding, other))
    assert shown("jsonl") == ""


def test_sarif_result(finding: Finding, shown: Render, directory: Path) -> None:
    run = run_of(shown("sarif", finding))
    (result,) = run["results"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["originalUriBaseIds"] == {"SRCROOT": {"uri": f"{directory.as_uri()}/"}}
    assert run["invocations"] == [{"executionSuccessful": True}]
    region = {"startLine": 5, "startColumn": 12, "endLine": 5, "endColumn": 41}
    region["snippet"] = {"text": "DataLoader(ds, num_workers=4)"}
    around = "def build(ds):\n    return DataLoader(ds, num_workers=4)\n"
    context = {"startLine": 4, "endLine": 6, "snippet": {"text": around}}
    artifact = {"uri": "loaders.py", "uriBaseId": "SRCROOT"}
    place = {"artifactLocation": artifact, "region": region, "contextRegion": context}
    assert result["locations"] == [{"physicalLocation": place}]
    assert (result["ruleId"], result["level"]) == ("DLL101", "warning")
    assert result["message"]["text"].startswith("The 4 workers of this DataLoader start by spawn\nhelp: Keep")
    (flow,) = result["codeFlows"][0]["threadFlows"]
    steps = [
        (one["location"]["physicalLocation"]["region"]["startLine"], one["location"]["message"]["text"])
        for one in flow["locations"]
    ]
    assert [line for line, _ in steps] == [4, 1, 5] and steps[0][1] == "mp.spawn starts main"
    (related,) = result["relatedLocations"]
    assert (related["id"], related["message"]["text"]) == (1, "the dataset")
    assert "baselineState" not in result


def test_sarif_fix(finding: Finding, shown: Render) -> None:
    (result,) = run_of(shown("sarif", finding))["results"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert fix["description"] == {"text": "Start by fork"}
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 5, "startColumn": 40, "endLine": 5, "endColumn": 40},
            "insertedContent": {"text": ', multiprocessing_context="fork"'},
        }
    ]
    without = replace(finding, fixes=(Fix("Ask your cluster's admin", "suggestion"),))
    assert "fixes" not in run_of(shown("sarif", without))["results"][0]


@pytest.mark.parametrize(
    ("text", "span", "code", "context"),
    [
        ("x = 1", Span(1, 5, 1, 6), "1", (1, 1, "x = 1")),
        ("x = 1", Span(1, 1, 1, 6), "x = 1", None),
        ("\ufeffx\r\ny\r\nz\r\n", Span(1, 1, 2, 2), "x\r\ny", (1, 3, "x\r\ny\r\nz")),
        ("a\nb\n", Span(1, 1, 1, 1), None, (1, 2, "a\nb")),
        ("a\n", Span(7, 1, 7, 2), None, None),
        ("x" * 3000 + " = 1\n", Span(1, 3004, 1, 3005), "1", None),
    ],
)
def test_sarif_quotes_the_code(
    text: str, span: Span, code: str | None, context: tuple[int, int, str] | None, plain: Make, shown: Render
) -> None:
    (result,) = run_of(shown("sarif", plain(span), sources={"a.py": text}))["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["region"].get("snippet", {}).get("text") == code
    around = place.get("contextRegion")
    assert (around and (around["startLine"], around["endLine"], around["snippet"]["text"])) == context


def test_sarif_rules_come_from_the_pages(finding: Finding, plain: Make, shown: Render) -> None:
    other = plain(Span(1, 1, 1, 2), "loaders.py")
    run = run_of(shown("sarif", finding, other, replace(finding)))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["DLL101", "DLL201"]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == ["DLL101", "DLL201", "DLL101"]
    assert rules[0]["name"] == "LoaderInheritsStartMethod" and "## Why it is bad" in rules[0]["help"]["markdown"]
    assert all(len(rule["shortDescription"]["text"]) <= 255 for rule in rules)


def test_sarif_messages_hold_no_links_and_no_placeholders(plain: Make, shown: Render) -> None:
    odd = plain(Span(1, 1, 1, 2), text="`f[a](b)` and {0} and {name}")
    (result,) = run_of(shown("sarif", odd, sources={"a.py": "x\n"}))["results"]
    assert result["message"]["text"] == "`f[a\\](b)` and {{0}} and {name}"


def test_fingerprints_survive_lines_above_and_are_unique(plain: Make, shown: Render) -> None:
    def marks(shift: int, name: str) -> list[str]:
        text = "import os\n" * shift + "f(a)\nf(a)\ng(a)\n"
        findings = [plain(Span(shift + row, 1, shift + row, 2)) for row in (1, 2, 3)]
        out = shown(name, *findings, sources={"a.py": text})
        if name == "gitlab":
            return [one["fingerprint"] for one in json.loads(out)]
        return [one["partialFingerprints"]["dllint/v1"] for one in run_of(out)["results"]]

    for name in ("gitlab", "sarif"):
        assert marks(0, name) == marks(3, name) and len(set(marks(0, name))) == 3


def test_gitlab(finding: Finding, shown: Render) -> None:
    (issue,) = json.loads(shown("gitlab", finding))
    assert len(issue.pop("fingerprint")) == 32
    assert issue == {
        "type": "issue",
        "check_name": "DLL101",
        "description": "DLL101 loader-inherits-start-method: The 4 workers of this DataLoader start by spawn",
        "categories": ["Bug Risk"],
        "severity": "major",
        "location": {"path": "loaders.py", "lines": {"begin": 5, "end": 5}},
    }


def test_junit(finding: Finding, plain: Make, directory: Path) -> None:
    info = replace(plain(Span(1, 1, 1, 2), "train.py"), severity="info")
    broken = replace(plain(Span(1, 1, 1, 2), "odd.py", code="DLL001"), text='a "b" <c> \x1b[31m &')
    asked = frozenset(str(directory / name) for name in ("loaders.py", "train.py", "clean.py", "odd.py"))
    text = render("junit", Report((finding, info, broken), asked=asked), Style(directory=str(directory)))
    root = ElementTree.fromstring(text)
    assert root.attrib == {"name": "dllint", "tests": "4", "failures": "1", "errors": "1"}
    first, second, third, clean = root.iter("testcase")
    failure = first.find("failure")
    assert failure is not None and failure.text is not None and "train.py:4: mp.spawn starts main" in failure.text
    assert (first.get("file"), first.get("line")) == ("loaders.py", "5")
    assert second.find("failure") is None and second.find("system-out") is not None
    error = third.find("error")
    assert error is not None and error.get("message") == 'a "b" <c> \ufffd[31m &'
    assert clean.get("classname") == "clean.py" and not list(clean)


def test_rdjson_columns_are_utf8_bytes(plain: Make, shown: Render, directory: Path) -> None:
    line = "f('é😀', a)\n"
    path = str(directory / "a.py")
    fix = Fix("Take b", "safe", (ReplaceExpression(path, Span(1, 9, 1, 10), "b"),))
    found = plain(Span(1, 9, 1, 10), fixes=(fix,))
    (one,) = json.loads(shown("rdjson", found, sources={"a.py": line}))["diagnostics"]
    place = {"start": {"line": 1, "column": 13}, "end": {"line": 1, "column": 14}}
    assert line.encode()[12:13] == b"a"
    assert one["location"] == {"path": "a.py", "range": place} and one["severity"] == "WARNING"
    assert one["suggestions"] == [{"range": place, "text": "b"}]


def test_rdjson_links_only_to_what_others_can_open(finding: Finding, shown: Render) -> None:
    for url, code in (
        ("https://a.org/b", {"value": "DLL101", "url": "https://a.org/b"}),
        ("file:///a", {"value": "DLL101"}),
    ):
        (one,) = json.loads(shown("rdjson", replace(finding, url=url)))["diagnostics"]
        assert one["code"] == code
        assert [place["message"] for place in one["related_locations"]][-1] == "the dataset"


def test_rdjson_makes_one_suggestion_of_several_edits(plain: Make, shown: Render, directory: Path) -> None:
    path = str(directory / "a.py")
    edits = tuple(ReplaceExpression(path, Span(1, at, 1, at + 1), "b") for at in (3, 6))
    found = plain(Span(1, 1, 1, 2), fixes=(Fix("Take b", "safe", edits),))
    (one,) = json.loads(shown("rdjson", found, sources={"a.py": "f(x, y)\n"}))["diagnostics"]
    (suggestion,) = one["suggestions"]
    assert suggestion["text"] == "b, b"
    assert (suggestion["range"]["start"]["column"], suggestion["range"]["end"]["column"]) == (3, 7)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(HAZARD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["check", *arguments, "--no-cache", "--jobs", "1", "--isolated"])
    return int(ended.value.code or 0)


def test_several_formats_in_one_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--output", "sarif=out.sarif", "--output", "gitlab=out.json", "--color", "always") == 1
    assert "\x1b[1;31mDLL204" in capsys.readouterr().out
    assert run_of((project / "out.sarif").read_text())["results"][0]["ruleId"] == "DLL204"
    assert json.loads((project / "out.json").read_text())[0]["check_name"] == "DLL204"


@pytest.mark.parametrize("value", ["sarif", "sarif=", "xml=a", "=a"])
def test_an_output_that_makes_no_sense(project: Path, capsys: pytest.CaptureFixture[str], value: str) -> None:
    assert check("--output", value) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith(f'error: --output: "{value}" is not FORMAT=FILE')
    assert captured.err.count("\n") == 1


def test_sarif_says_what_a_baseline_knows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check("--write-baseline", "known.json")
    (project / "train.py").write_text(
        HAZARD + "DataLoader([], 8, num_workers=1, multiprocessing_context='spawn', collate_fn=lambda r: r)\n"
    )
    assert check("--baseline", "known.json", "--output", "sarif=out.sarif") == 1
    results = run_of((project / "out.sarif").read_text())["results"]
    states = {(one["baselineState"], one["locations"][0]["physicalLocation"]["region"]["startLine"]) for one in results}
    assert states == {("unchanged", 2), ("new", 3)}


def test_sarif_of_an_incomplete_check(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("train.py", "missing.py", "--output-format", "sarif") == 2
    (invocation,) = run_of(capsys.readouterr().out)["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert "missing.py" in note["message"]["text"]


def test_sarif_of_a_notebook_names_the_line_of_the_document(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
    lines = ["!ls\n", *HAZARD.splitlines(True)]
    (project / "train.py").unlink()
    (project / "a.ipynb").write_text(json.dumps({"cells": [cell | {"source": lines}], "metadata": {}}, indent=1))
    assert check("--output-format", "sarif") == 1
    (result,) = run_of(capsys.readouterr().out)["results"]
    (location,) = result["locations"]
    line = location["physicalLocation"]["region"]["startLine"]
    assert "collate_fn=lambda" in (project / "a.ipynb").read_text().splitlines()[line - 1]
    assert location["logicalLocations"] == [{"name": "cell 1", "fullyQualifiedName": "a.ipynb:cell 1"}]
    assert result["message"]["text"].startswith("cell 1, line 3: ") and "fixes" not in result
