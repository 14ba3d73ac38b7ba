from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from dllint.finding import Finding
from dllint.reporters import Format
from dllint.span import Span

Render = Callable[..., str]
Make = Callable[..., Finding]


def place(row: int, column: int, end_row: int, end_column: int) -> dict[str, Any]:
    return {
        "location": {"row": row, "column": column},
        "end_location": {"row": end_row, "column": end_column},
    }


def test_json(finding: Finding, shown: Render, directory: Path) -> None:
    loaders, train = str(directory / "loaders.py"), str(directory / "train.py")
    assert json.loads(shown("json", finding)) == [
        {
            "code": "DLL101",
            "name": "loader-inherits-start-method",
            "severity": "warning",
            "message": "The 4 workers of this DataLoader start by spawn",
            "help": "Keep the dataset small",
            "filename": loaders,
            **place(5, 12, 5, 41),
            "cell": None,
            "start_methods": ["spawn"],
            "related": [
                {"message": "mp.spawn starts main", "filename": train, **place(4, 5, 4, 29)},
                {"message": "main calls build", "filename": train, **place(1, 1, 1, 15)},
                {"message": "the dataset", "filename": loaders, **place(1, 1, 1, 13)},
            ],
            "fixes": [
                {
                    "title": "Start by fork",
                    "applicability": "unsafe",
                    "edits": [
                        {"filename": loaders, **place(5, 40, 5, 40), "content": ', multiprocessing_context="fork"'}
                    ],
                }
            ],
            "url": "https://example.org/DLL101",
        }
    ]


@pytest.mark.parametrize("name", get_args(Format))
def test_every_format_names_the_rule_and_the_file(finding: Finding, shown: Render, name: str) -> None:
    assert "DLL101" in shown(name, finding) and "loaders.py" in shown(name, finding)
    assert "DLL101" not in shown(name)


def test_json_of_nothing_is_an_empty_array(shown: Render) -> None:
    assert json.loads(shown("json")) == []


def test_json_columns_are_code_points(plain: Make, shown: Render) -> None:
    (found,) = json.loads(shown("json", plain(Span(1, 9, 1, 10)), sources={"a.py": "x = '𝒳'; y\n"}))
    assert found["location"] == {"row": 1, "column": 9}


def test_lsp(finding: Finding, shown: Render, directory: Path) -> None:
    def span(line: int, start: int, end: int) -> dict[str, Any]:
        return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}

    loaders, train = (directory / "loaders.py").as_uri(), (directory / "train.py").as_uri()
    assert json.loads(shown("lsp", finding)) == [
        {
            "uri": loaders,
            "diagnostics": [
                {
                    "range": span(4, 11, 40),
                    "severity": 2,
                    "code": "DLL101",
                    "codeDescription": {"href": "https://example.org/DLL101"},
                    "source": "dllint",
                    "message": "The 4 workers of this DataLoader start by spawn\nhelp: Keep the dataset small",
                    "relatedInformation": [
                        {"location": {"uri": train, "range": span(3, 4, 28)}, "message": "mp.spawn starts main"},
                        {"location": {"uri": train, "range": span(0, 0, 14)}, "message": "main calls build"},
                        {"location": {"uri": loaders, "range": span(0, 0, 12)}, "message": "the dataset"},
                    ],
                    "data": {
                        "name": "loader-inherits-start-method",
                        "fixes": [
                            {
                                "title": "Start by fork",
                                "applicability": "unsafe",
                                "edits": [
                                    {
                                        "uri": loaders,
                                        "range": span(4, 39, 39),
                                        "newText": ', multiprocessing_context="fork"',
                                    }
                                ],
                            }
                        ],
                    },
                }
            ],
        }
    ]


def test_lsp_columns_are_utf16_code_units(plain: Make, shown: Render) -> None:
    source = "x = '𝒳é数'; y\n"
    column = source.index("y") + 1
    ((only,),) = [
        one["diagnostics"]
        for one in json.loads(shown("lsp", plain(Span(1, column, 1, column + 1)), sources={"a.py": source}))
    ]
    assert only["range"] == {"start": {"line": 0, "character": 12}, "end": {"line": 0, "character": 13}}


def test_lsp_columns_do_not_count_the_byte_order_mark(plain: Make, shown: Render) -> None:
    ((only,),) = [
        one["diagnostics"] for one in json.loads(shown("lsp", plain(Span(1, 1, 1, 2)), sources={"a.py": "\ufeffx"}))
    ]
    assert only["range"]["end"] == {"line": 0, "character": 1}


def test_lsp_groups_by_file_and_tags_what_is_unnecessary(plain: Make, shown: Render) -> None:
    findings = [
        plain(Span(1, 1, 1, 2), "a.py", severity="error"),
        plain(Span(2, 1, 2, 2), "a.py", severity="info", code="DLL002"),
        plain(Span(1, 1, 1, 2), "b 1.py"),
    ]
    first, second = json.loads(shown("lsp", *findings, sources={"a.py": "x\ny\n", "b 1.py": "z\n"}))
    assert [(one["severity"], one.get("tags")) for one in first["diagnostics"]] == [(1, None), (3, [1])]
    assert second["uri"].endswith("/b%201.py")


def test_github(finding: Finding, shown: Render) -> None:
    assert shown("github", finding) == (
        "::warning title=dllint DLL101 loader-inherits-start-method,"
        "file=loaders.py,line=5,endLine=5,col=12,endColumn=41"
        "::The 4 workers of this DataLoader start by spawn%0Avia train.py:4 mp.spawn starts main%0A"
        "via train.py:1 main calls build%0Anote loaders.py:1 the dataset%0Ahelp: Keep the dataset small\n"
    )


def test_github_escapes_and_has_columns_only_within_a_line(plain: Make, shown: Render) -> None:
    finding = plain(Span(1, 1, 3, 2), "a,b:c%.py", severity="info", text="100 %\r\nof it: ok, ::error::")
    assert shown("github", finding) == (
        "::notice title=dllint DLL201 lambda-in-dataset,file=a%2Cb%3Ac%25.py,line=1,endLine=3"
        "::100 %25%0D%0Aof it: ok, ::error::\n"
    )
    assert shown("github", replace(finding, severity="error")).startswith("::error title")


def test_statistics(finding: Finding, plain: Make, shown: Render) -> None:
    findings = [plain(Span(1, 1, 1, 2))] * 11 + [finding]
    assert shown("text", *findings, statistics=True, unsafe_fixes=True) == (
        "11  DLL201  [ ]  lambda-in-dataset\n 1  DLL101  [*]  loader-inherits-start-method\n"
    )
    assert shown("text", statistics=True) == ""
    assert json.loads(shown("json", finding, statistics=True)) == [
        {"code": "DLL101", "name": "loader-inherits-start-method", "count": 1, "fixable_count": 0}
    ]
