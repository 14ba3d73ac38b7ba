from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from dllint.finding import Finding, Fix, Place, ReplaceExpression
from dllint.span import Span

Render = Callable[..., str]
Make = Callable[..., Finding]

WHOLE = """\
loaders.py: 1 finding

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

Next:
  dllint rule DLL101                  what it means, and how to fix it
  dllint check --diff --unsafe-fixes  show what the unsafe fixes would change
  dllint trace loaders.py:5           show the calls that lead to DLL101
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
    assert "\n\nDLL101 loader-inherits-start-method [*] warning: " in report
    assert "\n[*] 1 fixable with --fix.\n\nNext:\n" in report


def test_hidden_fixes_are_counted(finding: Finding, shown: Render) -> None:
    safe = replace(finding, fixes=tuple(replace(one, applicability="safe") for one in finding.fixes))
    assert "\n[*] 2 fixable with --fix (1 more with --unsafe-fixes).\n" in shown("text", finding, safe, safe)


def test_a_suggestion_has_no_diff_and_is_not_fixable(finding: Finding, shown: Render) -> None:
    idea = replace(finding, fixes=(Fix("Pack the records", "suggestion"),))
    report = shown("text", idea, unsafe_fixes=True)
    assert "= fix" not in report
    assert "[*]" not in report
    assert "  = help: Keep the dataset small\n\n1 finding" in report
    assert "  = help: Pack the records\n\n1 finding" in shown("text", replace(idea, help=""))


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
    assert "\n\n4 findings in 1 file, 1 skipped: 1 error, 2 warnings, 1 info.\n\nNext:\n" in report


def test_quiet_has_no_footer(finding: Finding, shown: Render) -> None:
    assert shown("text", finding, quiet=True) == WHOLE.partition("\n\n1 finding in")[0] + "\n"


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
        "a.py: 1 finding\n\nDLL201 lambda-in-dataset warning: A lambda\n --> a.py:9:1\n"
    )
    assert shown("text", plain(Span(1, 1, 1, 1)), sources={}, quiet=True).endswith("--> a.py:1:1\n")


def test_a_long_story_is_cut(plain: Make, shown: Render, directory: object) -> None:
    related = tuple(Place(f"{directory}/a.py", Span(1, 1, 1, 2), f"loader {number}") for number in range(9))
    report = shown("text", plain(Span(1, 1, 1, 2), related=related), sources={"a.py": "x\n"})
    assert report.count("= note a.py:1") == 3
    assert "  = note: and 6 more (--show-all)\n" in report
    everything = shown("text", plain(Span(1, 1, 1, 2), related=related), sources={"a.py": "x\n"}, show_all=True)
    assert everything.count("= note a.py:1") == 9
    assert "more" not in everything


def test_related_places_that_say_something_new_come_first(plain: Make, shown: Render, directory: object) -> None:
    words = ["a loader", "a loader", "a loader", "the store"]
    related = tuple(Place(f"{directory}/a.py", Span(line, 1, line, 2), word) for line, word in enumerate(words, 1))
    report = shown("text", plain(Span(1, 1, 1, 2), related=related), sources={"a.py": "x\ny\nz\nu\n"})
    assert [line.split()[2] for line in report.splitlines() if "= note a.py" in line] == ["a.py:1", "a.py:2", "a.py:4"]


def test_findings_stand_by_file_the_worst_first(plain: Make, shown: Render) -> None:
    span = Span(1, 1, 1, 2)
    findings = [plain(span, "a.py"), plain(span, "b.py", "error"), plain(span, "b.py", "info", code="DLL202")]
    report = shown("text", *findings, sources={"a.py": "x\n", "b.py": "x\n"})
    heads = [line for line in report.splitlines() if line.startswith(("DLL", "a.py", "b.py"))]
    assert [head.split()[0] for head in heads] == ["b.py:", "DLL201", "DLL202", "a.py:", "DLL201"]
    assert "b.py: 2 findings\n" in report


def test_a_cause_stands_before_its_consequence(plain: Make, shown: Render, directory: object) -> None:
    cause = plain(Span(2, 1, 2, 2), "z.py", code="DLL404")
    related = (Place(cause.path, cause.span, "pickling copies it"),)
    consequence = plain(Span(1, 1, 1, 2), "a.py", code="DLL101", related=related)
    report = shown("text", consequence, cause, sources={"a.py": "x\n", "z.py": "x\ny\n"})
    assert report.index("DLL404") < report.index("DLL101")


def test_text_is_wrapped_at_the_width_of_the_terminal(finding: Finding, shown: Render) -> None:
    related = tuple(replace(place, message="remark " * 12) for place in finding.related)
    long = replace(finding, text="word " * 40, help="advice " * 30, fixes=(), related=related)
    report = shown("text", long, width=60)
    wrapped = [line for line in report.splitlines() if "word" in line or "advice" in line]
    assert max(map(len, report.partition("\n1 finding in")[0].splitlines())) <= 60
    assert sum(line.count("word") for line in wrapped) == 40
    assert sum(line.count("advice") for line in wrapped) == 30
    assert report.count("remark") == 12
    assert all(line.startswith(("DLL101", "  ")) for line in wrapped)


def test_a_code_is_a_link_where_the_terminal_knows_them(finding: Finding, shown: Render) -> None:
    linked = "\x1b]8;;https://example.org/DLL101\x1b\\DLL101\x1b]8;;\x1b\\ loader-inherits-start-method"
    assert linked in shown("text", finding, links=True)
    assert linked in shown("concise", finding, links=True)
    assert "\x1b]8" not in shown("text", finding, color=True)


def test_what_comes_next_fits_what_was_found(finding: Finding, plain: Make, shown: Render) -> None:
    unfixable = plain(Span(1, 1, 1, 2))
    report = shown("text", unfixable, sources={"a.py": "x\n"}, paths=("my data",))
    assert [line.split("  ")[1] for line in report.partition("Next:\n")[2].splitlines()] == [
        "dllint rule DLL201",
        "dllint check 'my data' --write-baseline dllint.json",
        "dllint run SCRIPT",
    ]
    assert "dllint check --fix --unsafe-fixes" in shown("text", finding, unsafe_fixes=True)


def test_an_unreadable_file_is_not_what_comes_next(plain: Make, shown: Render) -> None:
    findings = [plain(Span(1, 1, 1, 2), code="DLL001", severity="error"), plain(Span(1, 1, 1, 2))]
    assert "dllint rule DLL201" in shown("text", *findings, sources={"a.py": "x\n"})


def test_concise_is_one_line_per_finding(finding: Finding, plain: Make, shown: Render) -> None:
    report = shown("concise", finding, plain(Span(1, 3, 1, 4), cell=2), unsafe_fixes=True)
    one, two = report.splitlines()
    assert one.startswith("loaders.py:5:12: DLL101 loader-inherits-start-method [*] warning: The 4 workers of this ")
    assert two == "a.py:cell 2:1:3: DLL201 lambda-in-dataset warning: A lambda"
