"""Given findings with fixes, these are carried out now, those wait, and those fail."""

import re
from dataclasses import replace

import pytest

from dllint.finding import AddImport, Finding, Fix, InsertStatement, Place, ReplaceExpression, SetArgument
from dllint.fixes.passes import applicable, fix_files, fix_until_stable
from dllint.span import Span


def at(text: str, part: str, nth: int = 0) -> Span:
    start = [match.start() for match in re.finditer(re.escape(part), text)][nth]
    line, column = text.count("\n", 0, start) + 1, start - (text.rfind("\n", 0, start) + 1) + 1
    return Span(line, column, line, column + len(part))


def finding(*edits, applicability="safe", path="a.py"):
    return Finding("DLL001", path, Span(1, 1, 1, 1), fixes=(Fix("", applicability, edits),))


def fix(findings, **texts):
    return fix_files(findings, {path.replace("_py", ".py"): text for path, text in texts.items()}.__getitem__)


def test_which_fix_is_applicable():
    edit = AddImport("a.py", "m")
    safe, unsafe, suggestion = (Fix("", kind, (edit,)) for kind in ("safe", "unsafe", "suggestion"))
    base = Finding("DLL001", "a.py", Span(1, 1, 1, 1), fixes=(Fix("words", "safe"), suggestion, unsafe, safe))
    assert applicable(base, unsafe=False) is safe
    assert applicable(base, unsafe=True) is unsafe
    assert applicable(replace(base, fixes=(suggestion,)), unsafe=True) is None


def test_fixes_of_several_places_are_made_in_one_pass():
    text = "f(a)\ng(b)\n"
    result = fix(
        [
            finding(SetArgument("a.py", at(text, "g(b)"), "k", "1")),
            finding(SetArgument("a.py", at(text, "f(a)"), "k", "1")),
        ],
        a_py=text,
    )
    assert result.texts == {"a.py": "f(a, k=1)\ng(b, k=1)\n"}
    assert (len(result.applied), result.waiting, result.failed) == (2, (), ())


@pytest.mark.parametrize(
    ("text", "one", "other", "after"),
    [
        ("f()\n", ("f()", "k"), ("f()", "l"), "f(k=1)\n"),
        ("f(a)\n", ("f(a)", "k"), ("f(a)", "l"), "f(a, k=1)\n"),
        ("f(k=[g()])\n", ("f(k=[g()])", "k"), ("g()", "l"), "f(k=1)\n"),
        ("f(k=[g()])\n", ("g()", "l"), ("f(k=[g()])", "k"), "f(k=[g(l=1)])\n"),
    ],
)
def test_the_first_of_overlapping_fixes_wins(text, one, other, after):
    first, second = (finding(SetArgument("a.py", at(text, call), key, "1")) for call, key in (one, other))
    result = fix([first, second], a_py=text)
    assert result.texts == {"a.py": after}
    assert [item.finding for item in result.applied] == [first]
    assert [item.finding for item in result.waiting] == [second]


def test_equal_insertions_are_made_once():
    text = "import a\nx = lambda: 1\ny = lambda: 1\n"
    define = InsertStatement("a.py", at(text, "x"), "def one():\n    return 1", toplevel=True)
    findings = [
        finding(AddImport("a.py", "m"), define, ReplaceExpression("a.py", at(text, "lambda: 1", nth), "one"))
        for nth in (0, 1)
    ]
    result = fix(findings, a_py=text)
    assert result.texts == {"a.py": "import a\nimport m\n\n\ndef one():\n    return 1\n\n\nx = one\ny = one\n"}
    assert len(result.applied) == 2


def test_definitions_at_one_place_share_their_blank_lines():
    text = "import a\nclass A:\n    x = lambda: 1\n    y = lambda: 2\n"
    findings = [
        finding(
            InsertStatement("a.py", at(text, part), f"def {name}():\n    return {name}", toplevel=True),
            ReplaceExpression("a.py", at(text, part), name),
        )
        for part, name in (("lambda: 1", "one"), ("lambda: 2", "two"))
    ]
    result = fix(findings, a_py=text)
    assert result.texts == {
        "a.py": "import a\n\n\ndef one():\n    return one\n\n\ndef two():\n    return two\n\n\n"
        "class A:\n    x = one\n    y = two\n"
    }


def test_one_name_gets_one_meaning_in_a_pass():
    text = "x = 1\n\n\ny = 2\n"
    one = finding(InsertStatement("a.py", at(text, "x"), "def f(): return 1", toplevel=True))
    other = finding(InsertStatement("a.py", at(text, "y"), "f: int = 2", toplevel=True))
    result = fix([one, other], a_py=text)
    assert [item.finding for item in result.waiting] == [other]


def test_lines_at_the_end_of_a_file_without_a_newline_go_apart_from_what_touches_them():
    text = "if x: a"
    below = finding(InsertStatement("a.py", at(text, "a"), "b", "after", toplevel=True))
    beside = finding(InsertStatement("a.py", at(text, "a"), "c", "after"))
    result = fix([below, beside], a_py=text)
    assert result.texts == {"a.py": "if x: a\nb"}
    assert [item.finding for item in result.waiting] == [beside]


def test_a_text_that_would_not_parse_is_dropped_and_the_rest_is_kept():
    text = "class A:\n    x = f(a)\ndel y\n"
    good = finding(SetArgument("a.py", at(text, "f(a)"), "k", "1"))
    bad = finding(ReplaceExpression("a.py", at(text, "y"), "lambda: 1"), AddImport("b.py", "m"))
    other = finding(AddImport("c.py", "m"), path="c.py")
    result = fix([good, bad, other], a_py=text, b_py="", c_py="")
    assert result.texts == {"a.py": text.replace("f(a)", "f(a, k=1)"), "c.py": "import m\n"}
    assert [(item.finding, item.path, item.reason) for item in result.failed] == [
        (bad, "a.py", "the text would no longer parse")
    ]


def test_a_fix_that_finds_no_anchor_fails_with_a_reason():
    bad = finding(AddImport("b.py", "m"), SetArgument("a.py", Span(1, 1, 1, 4), "k", "1"))
    result = fix([bad], a_py="x = 1\n", b_py="")
    assert result.texts == {}
    assert [(item.path, item.reason) for item in result.failed] == [("a.py", "no call at line 1 column 1")]


def test_a_fix_that_changes_nothing_is_not_counted():
    result = fix([finding(AddImport("a.py", "m"))], a_py="import m\n")
    assert (result.texts, result.applied) == ({}, ())
    assert [item.reason for item in result.failed] == ["the text is already as the fix wants it"]


def counting_check(text):
    """Each call in the text wants every keyword that it lacks."""

    def check(texts):
        now = texts.get("a.py", text)
        call = at(now, re.match(r"f\(.*\)", now).group())
        return [finding(SetArgument("a.py", call, key, "1")) for key in "abc" if f"{key}=" not in now]

    return check


def test_passes_go_on_until_nothing_is_left():
    run = fix_until_stable(counting_check("f()\n"), {"a.py": "f()\n"}.__getitem__)
    assert run.texts == {"a.py": ("f()\n", "f(a=1, b=1, c=1)\n")}
    assert (len(run.applied), run.failed, run.findings, run.stable) == (3, (), (), True)


def test_passes_are_limited():
    run = fix_until_stable(counting_check("f()\n"), {"a.py": "f()\n"}.__getitem__, passes=2)
    assert run.texts == {"a.py": ("f()\n", "f(a=1, b=1)\n")}
    assert (len(run.findings), run.stable) == (1, False)


def test_fixes_that_undo_each_other_leave_no_change():
    def check(texts):
        now = texts.get("a.py", "x = 1\n")
        return [finding(ReplaceExpression("a.py", Span(1, 5, 1, 6), "2" if "1" in now else "1"))]

    run = fix_until_stable(check, {"a.py": "x = 1\n"}.__getitem__)
    assert (run.texts, run.stable) == ({}, False)


def test_unsafe_fixes_only_when_wanted():
    unsafe = finding(AddImport("a.py", "m"), applicability="unsafe")
    read = {"a.py": ""}.__getitem__
    assert fix_files([unsafe], read).texts == {}
    assert fix_files([unsafe], read, unsafe=True).texts == {"a.py": "import m\n"}


def test_a_fix_that_makes_a_new_finding_is_left_out():
    text = "f(a)\ng(b)\n"

    def check(texts):
        now = texts.get("a.py", text)
        found = []
        if "g(b)" in now:
            found.append(finding(SetArgument("a.py", at(now, "g(b)"), "k", "1")))
        if "f(a)" in now:
            place = at(now, "f(a)")
            found.append(replace(finding(SetArgument("a.py", place, "k", "2")), span=place, message="other"))
        if "k=2" in now:
            found.append(Finding("DLL402", "a.py", Span(1, 1, 1, 1)))
        return found

    run = fix_until_stable(check, {"a.py": text}.__getitem__)
    assert run.texts == {"a.py": (text, "f(a)\ng(b, k=1)\n")}
    assert [one.reason for one in run.failed] == ["it would make DLL402 at line 1"]
    assert run.stable


@pytest.mark.parametrize(
    ("before", "after", "fixed"),
    [
        (["b.py"], ["b.py"], True),
        (["b.py"], ["c.py"], True),
        (["b.py"], ["b.py", "c.py"], True),
        (["b.py"], ["a.py", "a.py"], False),
        (["b.py"], ["b.py", "c.py", "d.py"], False),
        ([], ["c.py"], True),
    ],
)
def test_what_a_rule_reports_elsewhere_after_a_fix_is_no_new_finding(before, after, fixed):
    text = "f(a)\n"

    def check(texts):
        now = texts.get("a.py", text)
        mended = finding(SetArgument("a.py", at(now, now.strip()), "k", "1"))
        left = [replace(mended, fixes=(), path=path) for path in (before if now == text else after)]
        return [mended, *left] if now == text else left

    run = fix_until_stable(check, {"a.py": text}.__getitem__)
    assert bool(run.texts) == fixed


@pytest.mark.parametrize("alike", [True, False])
def test_what_is_left_of_a_near_copy_after_a_fix_of_both_is_no_new_finding(alike):
    texts_before = {"a.py": "f(a)\n", "c.py": "f(a)\nf(c)\n"}

    def check(texts):
        now = {**texts_before, **texts}
        place = Place("c.py", at(now["c.py"], "f(c)"), "the same", alike=alike)
        edits = [SetArgument(name, at(now[name], "f(a)"), "k", "1") for name in now if "f(a)" in now[name]]
        if edits:
            return [replace(finding(*edits), related=(place,))]
        return [Finding("DLL001", "c.py", place.span)]

    run = fix_until_stable(check, texts_before.__getitem__)
    assert bool(run.texts) == alike


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import mp\nx = mp.a\n", "x = 1\n"),
        ("import mp, os\nx = mp.a\nos\n", "import os\nx = 1\nos\n"),
        ("from a import (\n    mp,\n    b,\n)\nx = mp.a\nb\n", "from a import (\n    b,\n)\nx = 1\nb\n"),
        ("import mp\nx = mp.a\n__all__ = ['mp']\n", "import mp\nx = 1\n__all__ = ['mp']\n"),
        ("import mp\nx = mp.a\nmp.b\n", "import mp\nx = 1\nmp.b\n"),
        ("import mp, never\nx = mp.a\n", "import never\nx = 1\n"),
    ],
)
def test_an_import_that_a_fix_leaves_unused_goes(before, after):
    result = fix([finding(ReplaceExpression("a.py", at(before, "mp.a"), "1"))], a_py=before)
    assert result.texts == {"a.py": after}
    kept = finding(ReplaceExpression("__init__.py", at(before, "mp.a"), "1"), path="__init__.py")
    assert "mp" in fix_files([kept], {"__init__.py": before}.__getitem__).texts["__init__.py"]
