"""Given a place and a string in it, another stands there in the same quotes."""

import re

import pytest

from dllint.finding import ReplaceString
from dllint.fixes.text import Unresolvable

STRINGS = {
    "subscript": ("«e['old']» = 'old'\n", "new", "e['new'] = 'old'\n"),
    "every one": ("«f('old', \"old\", 'older')»\n", "new", "f('new', \"new\", 'older')\n"),
    "prefix and long quotes": ('«R"""old"""»\n', "new", 'R"""new"""\n'),
    "escaped": ("«'\\x6fld'»\n", "new", "'new'\n"),
    "pieces": ("x = («'o'\n    u'ld'»)\n", "new", "x = ('new')\n"),
    "part of another": ("«f('old' 'er', b'old')(\"old\")»\n", "new", "f('old' 'er', b'old')(\"new\")\n"),
    "over statements": (
        "«a = 'old'\nif b:\n    c = 'old'»\nd = 'old'\n",
        "new",
        "a = 'new'\nif b:\n    c = 'new'\nd = 'old'\n",
    ),
    "its own quotes in it": ("«'old'»\n", "it's", "'it\\'s'\n"),
    "backslash": ("«'old'»\n", "\\d", "'\\d'\n"),
    "backslash that would escape": ("«'old'»\n", "\\n", "'\\\\n'\n"),
    "line end": ("«'''old'''»\n", "a\nb", "'''a\\nb'''\n"),
    "in a formatted string": ("x = f\"{«e['old']»}\"\n", "new", "x = f\"{e['new']}\"\n"),
    "dictionary": ("«{'old': 1, **{'a': 'old'}}»\n", "new", "{'new': 1, **{'a': 'new'}}\n"),
}


@pytest.mark.parametrize(("before", "new", "after"), STRINGS.values(), ids=STRINGS)
def test_replace_string(before, new, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, ReplaceString("a.py", span, "old", new)) == after


@pytest.mark.parametrize(
    ("before", "new", "reason"),
    [
        ("«f('older', b'old', old)»\n", "new", "no string 'old' at line 1 column 1"),
        ("x = («'o'  # c\n    'ld'»)\n", "new", "the pieces of the string cannot become one"),
        ("«r'old'»\n", "it's", "\"it's\" cannot be written between r' and '"),
        ("x = f\"{«e['old']»}\"\n", "it's", "a string in a string takes no quotes"),
    ],
)
def test_no_string_is_guessed(before, new, reason, marked, fixed):
    text, span = marked(before)
    with pytest.raises(Unresolvable, match=re.escape(reason)):
        fixed(text, ReplaceString("a.py", span, "old", new))
