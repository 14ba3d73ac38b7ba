from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from dllint.finding import Finding, Fix, Place, ReplaceExpression
from dllint.span import Span

Render = Callable[..., str]
Make = Callable[..., Finding]

WHOLE = """\
DLL101 loader-inherits-start-method warning: The 4 workers of this DataLoader start by spawn
 --> loaders.py:5:12
   |
 4 | def build(ds):
 5 |     return DataLoader(ds, num_workers=4)
   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
  = via train.py:4  mp.spawn starts main
  = via train.py:1  main calls build
  = note loaders.py:1  the dataset
  = help: Keep the dataset small
  = fix (unsafe): Start by fork
    -     return DataLoader(ds, num_workers=4)
    +     return DataLoader(ds, num_workers=4, multiprocessing_context="fork")

1 finding in 2 files: 1 warning.
1 fixable with --fix --unsafe-fixes.
"""


def excerpt(report: str) -> list[str]:
    """The frame: what stands between the first and the last empty margin."""
    lines = report.split("\n")
    margins = [index for index, line in enumerate(lines) if line.strip() == "|"]
    return lines[margins[0] + 1 : margins[-1]]


def test_the_whole(finding: Finding, shown: Render) -> None:
    assert shown("text", finding) == WHOLE


def test_a_fixable_finding_is_marked(finding: Finding, shown: Render) -> None:
    report = shown("text", finding, unsafe_fixes=True)
    assert report.startswith("DLL101 loader-inherits-start-method [*] warning: ")
    assert report.endswith("[*] 1 fixable with --fix.\n")


def test_hidden_fixes_are_counted(finding: Finding, shown: Render) -> None:
    safe = replace(finding, fixes=tuple(replace(one, applicability="safe") for one in finding.fixes))
    assert shown("text", finding, safe, safe).endswith("[*] 2 fixable with --fix (1 more with --unsafe-fixes).\n")


def test_a_suggestion_has_no_diff_and_is_not_fixable(finding: Finding, shown: Render) -> None:
    report = shown("text", replace(finding, fixes=(Fix("Pack the records", "suggestion"),)), unsafe_fixes=True)
    assert "  = fix (suggestion): Pack the records\n\n1 finding" in report
    assert "[*]" not in report


def test_a_second_fix_is_an_alternative_by_title(finding: Finding, shown: Render) -> None:
    report = shown("text", replace(finding, fixes=(*finding.fixes, Fix("Say spawn", "unsafe", finding.fixes[0].edits))))
    assert report.count("+     return") == 1
    assert "  = or (unsafe): Say spawn\n" in report


def test_a_fix_that_does_not_fit_the_text_is_shown_without_lines(finding: Finding, shown: Render) -> None:
    edit = ReplaceExpression(finding.path, Span(90, 1, 90, 5), "x")
    assert "= fix: Do it\n\n" in shown("text", replace(finding, fixes=(Fix("Do it", "safe", (edit,)),)))


def test_no_findings(shown: Render) -> None:
    assert shown("text") == "No findings in 2 files.\n"
    assert shown("text", sources={"a.py": ""}, skipped=3) == "No findings in 1 file, 3 skipped.\n"
    assert shown("text", quiet=True) == ""


def test_the_footer_counts_by_severity_worst_first(plain: Make, shown: Render) -> None:
    findings = [plain(Span(1, 1, 1, 2), severity=one) for one in ("info", "warning", "error", "warning")]
    report = shown("text", *findings, sources={"a.py": "x\n"}, skipped=1)
    assert report.endswith("\n\n4 findings in 1 file, 1 skipped: 1 error, 2 warnings, 1 info.\n")


def test_quiet_has_no_footer(finding: Finding, shown: Render) -> None:
    assert shown("text", finding, quiet=True) == WHOLE.partition("\n\n")[0] + "\n"


def test_a_place_of_several_lines(plain: Make, shown: Render) -> None:
    source = "a = 1\nloader = make(\n    data,\n    4,\n)\nb = 2\n"
    assert excerpt(shown("text", plain(Span(2, 10, 5, 2)), sources={"a.py": source})) == [
        " 1 |   a = 1",
        " 2 |   loader = make(",
        "   |  __________^",
        " 3 | |     data,",
        " 4 | |     4,",
        " 5 | | )",
        "   | |_^",
        " 6 |   b = 2",
    ]


def test_the_middle_of_a_long_place_is_left_out(plain: Make, shown: Render) -> None:
    source = "x = f(\n" + "".join(f"    {number},\n" for number in range(2, 30)) + ")\n"
    lines = excerpt(shown("text", plain(Span(1, 5, 30, 2)), sources={"a.py": source}))
    assert [line.split(" |")[0].strip() for line in lines] == ["1", "", "2", "3", "4", "⋮", "29", "30", ""]


def test_tabs_and_wide_characters_keep_the_carets_in_place(plain: Make, shown: Render) -> None:
    source = '\tx = "数据"; y = f(lambda: 0)\n'
    column = source.index("lambda") + 1
    lines = excerpt(shown("text", plain(Span(1, column, 1, column + 9)), sources={"a.py": source}))
    assert lines == [
        ' 1 |     x = "数据"; y = f(lambda: 0)',
        "   |                       ^^^^^^^^^",
    ]


def test_combining_marks_take_no_room(plain: Make, shown: Render) -> None:
    lines = excerpt(shown("text", plain(Span(1, 5, 1, 6)), sources={"a.py": "e\u0301 = x\n"}))
    assert lines[1] == "   |    ^"


def test_control_characters_do_not_reach_the_terminal(plain: Make, shown: Render) -> None:
    report = shown("text", plain(Span(1, 1, 1, 2)), sources={"a.py": "x = '\x1b[31m\x0c\x9b\u202e'\n"})
    assert excerpt(report)[0] == " 1 | x = '␛[31m␌��'"


def test_a_place_far_to_the_right_is_shown(plain: Make, shown: Render) -> None:
    source = "x = [" + "0, " * 2000 + "lambda: 0]\n"
    column = source.index("lambda") + 1
    line, carets = excerpt(shown("text", plain(Span(1, column, 1, column + 9)), sources={"a.py": source}))
    assert len(line) < 160
    assert line[carets.index("^") : carets.rindex("^") + 1] == "lambda: 0"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_line_end(plain: Make, shown: Render, newline: str) -> None:
    source = f"\ufeffa{newline}b\x0c\u2028{newline}c{newline}"
    assert excerpt(shown("text", plain(Span(3, 1, 3, 2)), sources={"a.py": source}))[-2:] == [" 3 | c", "   | ^"]


def test_an_empty_place_has_one_caret(plain: Make, shown: Render) -> None:
    assert excerpt(shown("text", plain(Span(1, 3, 1, 3)), sources={"a.py": "ab\n"})) == [" 1 | ab", "   |   ^"]


def test_a_place_outside_of_the_text_has_no_frame(plain: Make, shown: Render) -> None:
    assert shown("text", plain(Span(9, 1, 9, 2)), sources={"a.py": "x"}, quiet=True) == (
        "DLL201 lambda-in-dataset warning: A lambda\n --> a.py:9:1\n"
    )
    assert shown("text", plain(Span(1, 1, 1, 1)), sources={}, quiet=True).endswith("--> a.py:1:1\n")


def test_a_long_story_is_cut(plain: Make, shown: Render, directory: object) -> None:
    related = tuple(Place(f"{directory}/a.py", Span(1, 1, 1, 2), f"loader {number}") for number in range(9))
    report = shown("text", plain(Span(1, 1, 1, 2), related=related), sources={"a.py": "x\n"})
    assert report.count("= note a.py:1") == 6
    assert "  = note: and 3 more places\n" in report


def test_a_cell_is_named(plain: Make, shown: Render) -> None:
    assert " --> a.py:cell 3:1:1\n" in shown("text", plain(Span(1, 1, 1, 2), cell=3), sources={"a.py": "x\n"})


def test_a_path_outside_of_the_directory_is_absolute(plain: Make, shown: Render) -> None:
    finding = replace(plain(Span(1, 1, 1, 2)), path="/elsewhere/a.py")
    assert " --> /elsewhere/a.py:1:1\n" in shown("text", finding)


def test_colour_changes_nothing_but_colour(finding: Finding, shown: Render) -> None:
    coloured = shown("text", finding, color=True)
    assert coloured != WHOLE
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == WHOLE
