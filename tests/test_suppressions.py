"""Given these comments and findings, these findings remain."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dllint import suppressions
from dllint.finding import Finding, ReplaceComment
from dllint.span import Span

KNOWN = ("DLL001", "DLL002", "DLL003", "DLL101", "DLL201", "DLL204", "DLL501")


def at(line: int, code: str = "DLL201", end_line: int | None = None, statement: Span | None = None) -> Finding:
    return Finding(code, "a.py", Span(line, 1, end_line or line, 5), statement=statement)


def kept(source: str, *findings: Finding) -> list[Finding]:
    return suppressions.apply(findings, suppressions.read(source))


def reviewed(
    source: str, *findings: Finding, enabled: Callable[[str], bool] = lambda code: True
) -> list[tuple[str, int, int, str]]:
    comments = suppressions.read(source)
    suppressions.apply(findings, comments)
    found = suppressions.review("a.py", comments, KNOWN, enabled)
    return [
        (one.code, one.span.line, one.span.column, str(one.values.get("codes", one.values.get("code"))))
        for one in found
    ]


def rewritten(source: str, *findings: Finding) -> list[str]:
    """Each line with a comment after the safe fixes of DLL002."""
    comments = suppressions.read(source)
    suppressions.apply(findings, comments)
    lines = source.split("\n")
    for one in suppressions.review("a.py", comments, KNOWN, lambda code: True):
        for fix in one.fixes:
            (edit,) = fix.edits
            assert fix.applicability == "safe"
            assert isinstance(edit, ReplaceComment)
            line = lines[edit.span.line - 1]
            lines[edit.span.line - 1] = (
                line[: edit.span.column - 1] + edit.text + line[edit.span.end_column - 1 :]
            ).rstrip()
    return lines


@pytest.mark.parametrize(
    "comment",
    [
        "# dllint: ignore[DLL201]",
        "#dllint:ignore[DLL201]",
        "# dllint: ignore[DLL201] the loader never leaves this process",
        "# dllint: ignore[DLL101, DLL2]",
        "# dllint: ignore[dll201]",
        "# dllint: ignore[DLL201",
        "# dllint: ignore DLL201",
        "# dllint: ignore",
        "# noqa: DLL201",
        "# noqa:E501,DLL201",
        "# NoQA: E501 DLL201",
        "# type: ignore  # dllint: ignore[DLL201]",
        "# dllint: ignore-file[DLL201]",
        "# dllint: ignore-file",
    ],
)
def test_a_comment_on_the_line_silences(comment: str) -> None:
    assert kept(f"x = f()  {comment}\n", at(1)) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# dllint: ignore[DLL101]",
        "# dllint: ignore[]",
        "# dllint: ignored[DLL201]",
        "# dllint: ignore-files[DLL201]",
        "# noqa",
        "# NOQA",
        "# noqa: E501",
        "# noqa:",
        "# noqa-DLL201",
        "# ruff: noqa: DLL201",
        "# see dllint: ignore[DLL201]",
    ],
)
def test_a_comment_that_means_something_else_does_not_silence(comment: str) -> None:
    assert kept(f"x = f()  {comment}\n", at(1)) == [at(1)]


@pytest.mark.parametrize("line", [2, 3, 4, 5])
def test_a_comment_counts_on_every_line_of_the_place_and_on_the_ends_of_its_statement(line: int) -> None:
    lines = ["import torch", "loader = wrap(", "    DataLoader(", "        data),", ")", "x = 1"]
    lines[line - 1] += "  # dllint: ignore[DLL201]"
    finding = at(3, end_line=4, statement=Span(2, 1, 5, 2))
    assert kept("\n".join(lines), finding) == []


@pytest.mark.parametrize("line", [1, 3, 6])
def test_a_comment_elsewhere_does_not_count(line: int) -> None:
    lines = ["import torch", "loader = wrap(", "    name,", "    DataLoader(data),", ")", "x = 1"]
    lines[line - 1] += "  # dllint: ignore[DLL201]"
    finding = at(4, statement=Span(2, 1, 5, 2))
    assert kept("\n".join(lines), finding) == [finding]


def test_ignore_file_counts_for_all_lines_and_only_for_its_codes() -> None:
    source = "# dllint: ignore-file[DLL5]\nx = 1\ny = 2\n"
    assert kept(source, at(2, "DLL501"), at(3, "DLL501"), at(3, "DLL201")) == [at(3, "DLL201")]


@pytest.mark.parametrize(
    "source",
    [
        'x = "# dllint: ignore[DLL201]"\n',
        "x = r'# dllint: ignore[DLL201]\\'# noqa: DLL201'\n",
        '"""\n# noqa: DLL201\n"""\n',
        "x = '''\n# dllint: ignore-file\n'''\n",
        'x = f"{y} # noqa: DLL201"\n',
        'x = """ "" # noqa: DLL201 """\n',
    ],
)
def test_strings_hold_no_comments(source: str) -> None:
    assert suppressions.read(source) == []


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_count_as_python_counts_them(newline: str) -> None:
    source = newline.join(["'''", "'''", "\x0c", "x = '\u2028'", "y = f()  # dllint: ignore[DLL201]"])
    (comment,) = suppressions.read(source)
    assert (comment.line, comment.comment_column) == (5, 10)


def test_what_cannot_be_checked_cannot_be_silenced() -> None:
    assert kept("x  # dllint: ignore[DLL001]\n# dllint: ignore-file\n", at(1, "DLL001")) == [at(1, "DLL001")]


def test_an_unused_suppression_is_reported_with_its_codes() -> None:
    assert reviewed("x = 1  # dllint: ignore[DLL201, DLL5]\n") == [("DLL002", 1, 8, "DLL201, DLL5")]


def test_only_the_unused_codes_are_reported() -> None:
    assert reviewed("x = 1  # dllint: ignore[DLL201, DLL501]\n", at(1)) == [("DLL002", 1, 8, "DLL501")]


def test_a_used_suppression_is_not_reported() -> None:
    assert reviewed("x = 1  # dllint: ignore[DLL2]\ny = 2  # noqa: DLL501\n", at(1), at(2, "DLL501")) == []


def test_a_code_that_is_not_checked_for_is_not_unused() -> None:
    source = "x = 1  # dllint: ignore[DLL201]\ny = 2  # dllint: ignore[DLL2]\nz = 3  # dllint: ignore\n"
    assert reviewed(source, enabled=lambda code: code != "DLL201") == []


def test_a_bare_noqa_belongs_to_other_tools() -> None:
    assert reviewed("x = 1  # noqa\ny = 1  # noqa: E501\n") == []


def test_a_bare_suppression_that_silences_nothing_is_reported() -> None:
    assert reviewed("x = 1  # dllint: ignore\n") == [("DLL002", 1, 8, "any rule")]


def test_an_unknown_code_is_reported_alone() -> None:
    assert reviewed("x = 1  # dllint: ignore[DLL999]\n") == [("DLL003", 1, 25, "DLL999")]
    assert reviewed("x = 1  # noqa: DLL2O1\n") == [("DLL003", 1, 16, "DLL2O1")]


def test_an_unknown_code_names_the_nearest() -> None:
    source = "x = 1  # dllint: ignore[DLL205]\n"
    (finding,) = suppressions.review("a.py", suppressions.read(source), KNOWN, lambda code: True)
    assert (finding.message, finding.values["nearest"]) == ("main", "DLL204")


def test_a_code_of_another_tool_is_unknown_in_our_own_comment_only() -> None:
    assert reviewed("x = 1  # dllint: ignore[E501]\n") == [("DLL003", 1, 25, "E501")]
    assert reviewed("x = 1  # noqa: E501, DLL201\n", at(1)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # dllint: ignore[DLL501]", "x = 1"),
        ("x = 1  # dllint: ignore[DLL501] for a reason", "x = 1"),
        ("x = 1  # dllint: ignore[DLL501, DLL201] reason", "x = 1  # dllint: ignore[DLL201] reason"),
        ("x = 1  # dllint: ignore[DLL201, DLL501]", "x = 1  # dllint: ignore[DLL201]"),
        ("x = 1  # noqa: E501, DLL501", "x = 1  # noqa: E501"),
        ("x = 1  # noqa: DLL501", "x = 1"),
        ("x = 1  # type: ignore  # dllint: ignore[DLL501]", "x = 1  # type: ignore"),
        ("x = 1  # dllint: ignore[DLL501]  # type: ignore", "x = 1  # type: ignore"),
        ("x = 1  # dllint: ignore[DLL501] as in #12  # noqa: E501", "x = 1  # noqa: E501"),
    ],
)
def test_the_fix_removes_the_unused_codes_and_nothing_else(before: str, after: str) -> None:
    assert rewritten(before, at(1)) == [after]


@pytest.mark.parametrize(
    ("before", "codes", "after"),
    [
        ("x = 1\n", {1: ["DLL201"]}, "x = 1  # dllint: ignore[DLL201]\n"),
        ("x = 1", {1: ["DLL201", "DLL501"]}, "x = 1  # dllint: ignore[DLL201, DLL501]"),
        ("x = 1  # why\r\ny\r\n", {1: ["DLL201"]}, "x = 1  # why  # dllint: ignore[DLL201]\r\ny\r\n"),
        ("x = 1  # dllint: ignore[DLL101] a\n", {1: ["DLL201"]}, "x = 1  # dllint: ignore[DLL101, DLL201] a\n"),
        ("x = 1  # dllint: ignore[DLL2]\n", {1: ["DLL201"]}, "x = 1  # dllint: ignore[DLL2]\n"),
        ('x = """\n"""\n', {1: ["DLL201"]}, 'x = """\n"""\n'),
        ('x = """\n"""\n', {2: ["DLL201"]}, 'x = """\n"""  # dllint: ignore[DLL201]\n'),
        ("x = 1 + \\\n  2\n", {1: ["DLL201"]}, "x = 1 + \\\n  2\n"),
    ],
)
def test_suppressions_are_added_where_a_comment_can_stand(before: str, codes: dict[int, list[str]], after: str) -> None:
    assert suppressions.add(before, codes) == after


def test_only_files_with_the_marker_are_looked_at() -> None:
    assert suppressions.could_suppress("x  # dllint: ignore")
    assert suppressions.could_suppress("x  # NoQA")
    assert not suppressions.could_suppress("import dllint")


def test_a_long_string_takes_no_time() -> None:
    assert suppressions.read('"""' + "a\\n '\" " * 200_000 + '"""  # noqa: DLL201') != []
