"""Given a call and the arguments to set or remove, this text comes out and nothing beside it changes."""

import pytest

from dllint.finding import RemoveArgument, SetArgument
from dllint.fixes.text import Unresolvable

LONG = ", ".join(["argument"] * 11) + ", last_argument"

SET = {
    "no arguments": ("x = «f()»\n", "x = f(k=1)\n"),
    "no arguments, blanks": ("«f( )»\n", "f(k=1 )\n"),
    "no arguments, comment": ("«f(\n    # none\n)»\n", "f(\n    # none\n    k=1,\n)\n"),
    "one": ("«f(a)»\n", "f(a, k=1)\n"),
    "trailing comma": ("«f(a,)»\n", "f(a, k=1,)\n"),
    "trailing comma and blank": ("«f(a, )»\n", "f(a, k=1, )\n"),
    "star arguments": ("«f(*a)»\n", "f(*a, k=1)\n"),
    "before keyword arguments": ("«f(a, **kw)»\n", "f(a, k=1, **kw)\n"),
    "only keyword arguments": ("«f(**kw)»\n", "f(k=1, **kw)\n"),
    "after a keyword behind keyword arguments": ("«f(**kw, a=2)»\n", "f(**kw, a=2, k=1)\n"),
    "generator": ("«f(x for x in y)»\n", "f((x for x in y), k=1)\n"),
    "generator in parentheses": ("«f((x for x in y))»\n", "f((x for x in y), k=1)\n"),
    "one a line, trailing comma": ("«f(\n    a,\n    b=2,\n)»\n", "f(\n    a,\n    b=2,\n    k=1,\n)\n"),
    "one a line, no comma": ("«f(\n    a,\n    b=2\n)»\n", "f(\n    a,\n    b=2,\n    k=1\n)\n"),
    "one a line, closed at once": ("«f(a,\n  b)»\n", "f(a,\n  b,\n  k=1)\n"),
    "single on its line": ("«f(\n    a\n)»\n", "f(\n    a,\n    k=1\n)\n"),
    "several on one line": ("«f(\n    a, b\n)»\n", "f(\n    a, b, k=1\n)\n"),
    "several lines, several on each": ("«f(a, b,\n  c, d)»\n", "f(a, b,\n  c, d, k=1)\n"),
    "comment after the last": (
        "«f(\n    a,  # one\n    b  # two\n)»\n",
        "f(\n    a,  # one\n    b,  # two\n    k=1\n)\n",
    ),
    "comment after the comma": ("«f(\n    a,  # one\n    # more\n)»\n", "f(\n    a,  # one\n    k=1,\n    # more\n)\n"),
    "comma on a line of its own": ("«f(\n    a  # one\n    , b\n)»\n", "f(\n    a  # one\n    , b, k=1\n)\n"),
    "keyword arguments on their line": (
        "«f(\n    a,  # one\n    # the rest\n    **kw,\n)»\n",
        "f(\n    a,  # one\n    k=1,\n    # the rest\n    **kw,\n)\n",
    ),
    "only keyword arguments on their line": ("«f(\n    **kw,\n)»\n", "f(\n    k=1,\n    **kw,\n)\n"),
    "tabs and CRLF": ("if x:\r\n\t«f(\r\n\t\ta,\r\n\t)»\r\n", "if x:\r\n\tf(\r\n\t\ta,\r\n\t\tk=1,\r\n\t)\r\n"),
    "carriage returns": ("y = 1\r«f(\r  a,\r)»\r", "y = 1\rf(\r  a,\r  k=1,\r)\r"),
    "a long line": (f"x = «f({LONG})»\n", f"x = f({LONG},\n      k=1)\n"),
    "a long line after a tab": (f"if x:\n\t«f({LONG})»\n", f"if x:\n\tf({LONG},\n\t\tk=1)\n"),
    "a long line of wide characters": (f"é = «f({LONG})»\n", f"é = f({LONG},\n    k=1)\n"),
    "value over several lines": (
        "«f(\n    a=g(\n        1,\n    ),\n)»\n",
        "f(\n    a=g(\n        1,\n    ),\n    k=1,\n)\n",
    ),
    "set before": ("«f(a, k=0, **kw)»\n", "f(a, k=1, **kw)\n"),
    "set before, in parentheses": ("«f(k = (0) )»\n", "f(k = 1 )\n"),
    "callee in parentheses": ("(«(f) (a)»)\n", "((f) (a, k=1))\n"),
    "callee that is a call": ("«f(a)(b)»\n", "f(a)(b, k=1)\n"),
    "decorator": ("@«f(a)»\ndef g(): pass\n", "@f(a, k=1)\ndef g(): pass\n"),
    "in a string": ("x = f'{«g(a)»}'\n", "x = f'{g(a, k=1)}'\n"),
    "after wide characters": ("x = '𝄞é', «f(a)»\n", "x = '𝄞é', f(a, k=1)\n"),
    "after characters that end no line": (
        "x = '\x0b\x1c\u2028\x85'\ny = «f(a)»\n",
        "x = '\x0b\x1c\u2028\x85'\ny = f(a, k=1)\n",
    ),
    "after a byte-order mark": ("\ufeff«f(a)»\n", "\ufefff(a, k=1)\n"),
    "after a form feed": ("x = 1\n\x0c\n\x0c«f(a)»\n", "x = 1\n\x0c\n\x0cf(a, k=1)\n"),
    "after a continued empty line": ("x = 1\n\\\ny = «f(a)»\n", "x = 1\n\\\ny = f(a, k=1)\n"),
    "no final newline": ("«f(a)»", "f(a, k=1)"),
    "continued line": ("x = \\\n    «f(a)»\n", "x = \\\n    f(a, k=1)\n"),
}

REMOVE = {
    "only": ("«f(k=1)»\n", "f()\n"),
    "only, on its line": ("«f(\n    k=1,\n)»\n", "f()\n"),
    "last": ("«f(a, k=1)»\n", "f(a)\n"),
    "last, trailing comma": ("«f(a, k=1,)»\n", "f(a,)\n"),
    "first": ("«f(k=1, a=2)»\n", "f(a=2)\n"),
    "middle": ("«f(a, k=1, b=2)»\n", "f(a, b=2)\n"),
    "on its line": ("«f(\n    a,\n    k=1,\n    b=2,\n)»\n", "f(\n    a,\n    b=2,\n)\n"),
    "last line": ("«f(\n    a,\n    k=1,\n)»\n", "f(\n    a,\n)\n"),
    "last line, no comma": ("«f(\n    a,\n    k=1\n)»\n", "f(\n    a\n)\n"),
    "first line": ("«f(\n    k=1,\n    a=2,\n)»\n", "f(\n    a=2,\n)\n"),
    "end of a line": ("«f(a, k=1,\n  b=2)»\n", "f(a,\n  b=2)\n"),
    "comments stay": (
        "«f(\n    # a\n    a,  # b\n    # c\n    k=1,  # d\n    # e\n)»\n",
        "f(\n    # a\n    a,  # b\n    # c\n    # d\n    # e\n)\n",
    ),
    "comment before, closed at once": ("«f(a,  # b\n  k=1)»\n", "f(a  # b\n  )\n"),
    "keyword arguments follow": ("«f(a, k=1, **kw)»\n", "f(a, **kw)\n"),
    "not there": ("«f(a)»\n", "f(a)\n"),
    "CRLF": ("«f(\r\n  a,\r\n  k=1,\r\n)»\r\n", "f(\r\n  a,\r\n)\r\n"),
}


@pytest.mark.parametrize(("before", "after"), SET.values(), ids=SET)
def test_set_argument(before, after, marked, fixed):
    text, span = marked(before)
    edit = SetArgument("a.py", span, "k", "1")
    assert fixed(text, edit) == after


@pytest.mark.parametrize(("before", "after"), SET.values(), ids=SET)
def test_an_argument_that_is_set_stays_as_it_is(before, after, marked, fixed):
    start = before.index("«")
    end = before.index("»") - 1 + len(after) - (len(before) - 2)
    text, span = marked(after[:start] + "«" + after[start:end] + "»" + after[end:])
    assert fixed(text, SetArgument("a.py", span, "k", "1")) == after


@pytest.mark.parametrize(("before", "after"), REMOVE.values(), ids=REMOVE)
def test_remove_argument(before, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, RemoveArgument("a.py", span, "k")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("«f()»\n", "f(j=2, i=3)\n"),
        ("«f(a)»\n", "f(a, j=2, i=3)\n"),
        ("«f(x for x in y)»\n", "f((x for x in y), j=2, i=3)\n"),
        ("«f(\n    a,\n)»\n", "f(\n    a,\n    j=2,\n    i=3,\n)\n"),
        ("«f(\n    **kw,\n)»\n", "f(\n    j=2,\n    i=3,\n    **kw,\n)\n"),
        ("«f(k=1)»\n", "f(j=2, i=3)\n"),
        ("«f(a, k=1, l=1)»\n", "f(a, j=2, i=3)\n"),
        ("«f(\n    a,\n    k=1,  # why\n    l=1,\n)»\n", "f(\n    a,\n    j=2,  # why\n    i=3,\n)\n"),
    ],
)
def test_new_arguments_take_the_places_of_removed_ones(before, after, marked, fixed):
    text, span = marked(before)
    edits = [
        RemoveArgument("a.py", span, "k"),
        SetArgument("a.py", span, "j", "2"),
        RemoveArgument("a.py", span, "l"),
        SetArgument("a.py", span, "i", "3"),
    ]
    assert fixed(text, *edits) == after


def test_neighbours_are_removed_together(marked, fixed):
    text, span = marked("«f(a, k=1, l=1)»\n")
    assert fixed(text, RemoveArgument("a.py", span, "l"), RemoveArgument("a.py", span, "k")) == "f(a)\n"


@pytest.mark.parametrize(("value", "written"), [("1, 2", "(1, 2)"), ("lambda: 1", "lambda: 1")])
def test_values_keep_their_meaning(value, written, marked, fixed):
    text, span = marked("«f()»\n")
    assert fixed(text, SetArgument("a.py", span, "k", value)) == f"f(k={written})\n"


@pytest.mark.parametrize(
    ("before", "keyword", "value", "reason"),
    [
        ("«f»(a)\n", "k", "1", "no call at line 1 column 1"),
        ("«f(a) »\n", "k", "1", "no call at line 1 column 1"),
        ("«f(a)»\n", "k", "1 +", "the new expression does not parse"),
        ("«f(a)»\n", "no keyword", "1", "'no keyword' is no keyword"),
        ("x = f'{«g(a)»}'\n", "k", "'v'", "a call in a string takes no quotes"),
        ("«f(a)»\nprint 1\n", "k", "1", "the text does not parse: line 2"),
    ],
)
def test_nothing_is_guessed(before, keyword, value, reason, marked, fixed):
    text, span = marked(before)
    with pytest.raises(Unresolvable) as raised:
        fixed(text, SetArgument("a.py", span, keyword, value))
    assert (raised.value.path, raised.value.reason) == ("a.py", reason)


LONG = '"spawn" if the_number_of_workers_that_were_asked_for > 0 else None'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "x = «load(\n    rows,\n    num_workers=the_number_of_workers_that_were_asked_for)»\n",
            "x = load(\n    rows,\n    num_workers=the_number_of_workers_that_were_asked_for,\n    k=LONG)\n",
        ),
        (
            "x = «load(rows, num_workers=the_number_of_workers_that_were_asked_for)»\n",
            "x = load(rows, num_workers=the_number_of_workers_that_were_asked_for,\n         k=LONG)\n",
        ),
        (
            "x = «load(rows, num_workers=the_number_of_workers_that_were_asked_for,)»\n",
            "x = load(rows, num_workers=the_number_of_workers_that_were_asked_for,\n         k=LONG,)\n",
        ),
        ("# " + 118 * "-" + "\nx = «load(rows)»\n", "# " + 118 * "-" + "\nx = load(rows, k=LONG)\n"),
        ("x = «load(rows)»\n", "x = load(rows, k=LONG)\n"),
    ],
)
def test_an_argument_that_makes_a_line_too_long_gets_its_own(before, after, marked, fixed):
    text, call = marked(before)
    assert fixed(text, SetArgument("a.py", call, "k", LONG)) == after.replace("LONG", LONG)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "x = «load(rows, num_workers=the_number_of_workers_that_were_asked_for, k=True, j=1)»\n",
            "x = load(rows, num_workers=the_number_of_workers_that_were_asked_for,\n         k=LONG, j=1)\n",
        ),
        (
            "if y:\n    x = «load(\n        rows, n=the_number_of_workers_that_were_asked_for, k=1\n    )»\n",
            "if y:\n    x = load(\n        rows, n=the_number_of_workers_that_were_asked_for,\n        k=LONG\n    )\n",
        ),
        (
            "def f():\n\tx = «load(rows, count=the_number_of_workers_that_were_asked_for, k=1)»\n",
            "def f():\n\tx = load(rows, count=the_number_of_workers_that_were_asked_for,\n\t\tk=LONG)\n",
        ),
        (
            "x = «load(rows, count=the_number_of_workers_that_were_asked_for, k=1)»  # a comment\n",
            "x = load(rows, count=the_number_of_workers_that_were_asked_for, k=LONG)  # a comment\n",
        ),
        ("x = «load(rows, k=1, j=2)»\n", "x = load(rows, k=LONG, j=2)\n"),
        ("# " + 118 * "-" + "\nx = «load(k=1)»\n", "# " + 118 * "-" + "\nx = load(k=LONG)\n"),
    ],
)
def test_a_value_that_makes_a_line_too_long_moves_to_the_next(before, after, marked, fixed):
    text, call = marked(before)
    assert fixed(text, SetArgument("a.py", call, "k", LONG)) == after.replace("LONG", LONG)
