"""Given statements at module level, this is what stands under the guard afterwards, and nothing beside it changes."""

import pytest

from dllint.finding import GuardStatements
from dllint.fixes.text import Unresolvable

GUARDED = {
    "one call": ("import a\n\n«a.run()»\n", 'import a\n\nif __name__ == "__main__":\n    a.run()\n'),
    "first and last": (
        "«a()»\nb()\n\n«c()»  # why\nd()\n",
        'if __name__ == "__main__":\n    a()\n    b()\n\n    c()  # why\nd()\n',
    ),
    "comments between, and above": (
        "# above\n«a()»\n# between\n«b()»\n# below\n",
        '# above\nif __name__ == "__main__":\n    a()\n    # between\n    b()\n# below\n',
    ),
    "a loop": (
        "«for x in y:»\n  a\n\n  # end\n# below\n",
        'if __name__ == "__main__":\n  for x in y:\n    a\n\n    # end\n# below\n',
    ),
    "an else": (
        "«for x in y:»\n    a\nelse:\n    b\nz\n",
        'if __name__ == "__main__":\n    for x in y:\n        a\n    else:\n        b\nz\n',
    ),
    "a call over lines": ("«a(\n    b,\n)»\nz\n", 'if __name__ == "__main__":\n    a(\n        b,\n    )\nz\n'),
    "a string over lines": (
        '«a("""\nx\n  y\n""",\nb)»\n',
        'if __name__ == "__main__":\n    a("""\nx\n  y\n""",\n    b)\n',
    ),
    "a formatted string over lines": (
        '«a(f"""\nx {b}\n""")»\n',
        'if __name__ == "__main__":\n    a(f"""\nx {b}\n""")\n',
    ),
    "a continued string": ("«a('x\\\ny')»\n", "if __name__ == \"__main__\":\n    a('x\\\ny')\n"),
    "a continued line": ("«a = 1 + \\\n  2»\n", 'if __name__ == "__main__":\n    a = 1 + \\\n      2\n'),
    "a decorated function": ("@d\ndef «f»(): pass\n", 'if __name__ == "__main__":\n    @d\n    def f(): pass\n'),
    "form feeds": (
        "import a\n\f«a()»\n\fb()\n  # c\n\f\n«c()»\n",
        'import a\n\fif __name__ == "__main__":\n    a()\n\f    b()\n      # c\n\f\n    c()\n',
    ),
    "tabs, CRLF": (
        "if x:\r\n\ty\r\n«a()»\r\n",
        'if x:\r\n\ty\r\nif __name__ == "__main__":\r\n\ta()\r\n',
    ),
    "byte-order mark, no final newline": ("\ufeff«a()»", '\ufeffif __name__ == "__main__":\n    a()'),
}

REFUSED = {
    "shares its line": "a(); «b()»\n",
    "docstring": '«"""doc"""»\n',
    "future": "from __future__ import «annotations»\n",
}


def edit(marked, source):
    """The text without its marks, and the edit from the first mark to the last."""
    parts = source.split("»")
    text = source.replace("«", "").replace("»", "")
    first = marked(parts[0] + "»" + "".join(parts[1:]).replace("«", ""))[1]
    last = marked("".join(parts[:-2]).replace("«", "") + parts[-2] + "»" + parts[-1])[1] if len(parts) > 2 else first
    return text, GuardStatements("a.py", first, last)


@pytest.mark.parametrize(("source", "expected"), GUARDED.values(), ids=GUARDED)
def test_guarded(marked, fixed, source, expected):
    text, change = edit(marked, source)

    assert fixed(text, change) == expected


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_refused(marked, fixed, source):
    text, change = edit(marked, source)

    with pytest.raises(Unresolvable):
        fixed(text, change)
