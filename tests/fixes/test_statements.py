"""Given a place and new statements or imports, this text comes out and nothing beside it changes."""

import re

import pytest

from dllint.finding import AddImport, HoistFunction, InsertStatement, ReplaceExpression
from dllint.fixes.text import Unresolvable
from dllint.span import Span

BEFORE = {
    "module level": ("x = 1\n«y» = 2\n", "x = 1\nn()\ny = 2\n"),
    "indented": ("def f():\n    «y» = 2\n", "def f():\n    n()\n    y = 2\n"),
    "comments lead": ("x = 1\n\n# why\n# and how\n«y» = 2\n", "x = 1\n\nn()\n# why\n# and how\ny = 2\n"),
    "comments of the file": ("#!/bin/python\n# (c)\n«y» = 2\n", "#!/bin/python\n# (c)\nn()\ny = 2\n"),
    "string that looks like a comment": ('x = """\n# no"""\n«y» = 2\n', 'x = """\n# no"""\nn()\ny = 2\n'),
    "docstring": ('"""«doc»"""\nx = 1\n', '"""doc"""\nn()\nx = 1\n'),
    "docstring and future": ('"""d"""\nfrom __future__ import «a»\n', '"""d"""\nfrom __future__ import a\nn()\n'),
    "shared line, first": ("«x» = 1; y = 2\n", "n()\nx = 1; y = 2\n"),
    "shared line, second": ("x = 1; «y» = 2\n", "x = 1; n(); y = 2\n"),
    "line of a colon": ("if x: import «y»\n", "if x: n(); import y\n"),
    "elif": ("if x:\n    a\nelif «y»:\n    b\n", "n()\nif x:\n    a\nelif y:\n    b\n"),
    "body of elif": ("if x:\n    a\nelif y:\n    «b»\n", "if x:\n    a\nelif y:\n    n()\n    b\n"),
    "else on a line": ("if x:\n    a\nelse: «b»\n", "if x:\n    a\nelse: n(); b\n"),
    "except": ("try:\n  a\nexcept «E»:\n  b\n", "n()\ntry:\n  a\nexcept E:\n  b\n"),
    "case": ("match x:\n  case 1:\n    «a»\n", "match x:\n  case 1:\n    n()\n    a\n"),
    "decorated": ("x = 1\n@«d»\ndef f(): pass\n", "x = 1\nn()\n\n\n@d\ndef f(): pass\n"),
    "first in a class": ("class A:\n    «x» = 1\n", "class A:\n    n()\n    x = 1\n"),
    "tabs, CRLF": ("if x:\r\n\t«y»\r\n", "if x:\r\n\tn()\r\n\ty\r\n"),
    "carriage returns": ("if x:\r\t«y»\r", "if x:\r\tn()\r\ty\r"),
    "form feed": ("x\n\x0c«y»\n", "x\nn()\n\x0cy\n"),
    "continued empty line": ("x\n\\\n«y»\n", "x\nn()\n\\\ny\n"),
    "byte-order mark": ("\ufeff«y»\n", "\ufeffn()\ny\n"),
    "no final newline": ("«y»", "n()\ny"),
}

AFTER = {
    "module level": ("«x» = 1  # why\ny = 2\n", "x = 1  # why\nn()\ny = 2\n"),
    "no final newline": ("«x» = 1", "x = 1\nn()"),
    "semicolon": ("«x» = 1;\n", "x = 1;\nn()\n"),
    "shared line, first": ("«x» = 1; y = 2\n", "x = 1; n(); y = 2\n"),
    "shared line, last": ("x = 1; «y» = 2\n", "x = 1; y = 2\nn()\n"),
    "line of a colon": ("if x: import «y»  # c\nz\n", "if x: import y; n()  # c\nz\n"),
    "compound": (
        "for «x» in y:\n    a\n    # end\n\n    # more\n\n# z\nz\n",
        "for x in y:\n    a\n    # end\n\n    # more\nn()\n\n# z\nz\n",
    ),
    "definition": ("def «f»():\n    a\n\n\nz\n", "def f():\n    a\n\n\nn()\n\n\nz\n"),
    "multi-line string": ('«x» = """\n"""\ny\n', 'x = """\n"""\nn()\ny\n'),
    "import in type checking": ("if T:\n    import «a»\n\nx\n", "if T:\n    import a\n    n()\n\nx\n"),
}

DEFINITION = "def g(x):\n    if x:\n        return '''\n    a\n'''\n"

TOPLEVEL = {
    "method": (
        "import a\n\n\nclass A:\n    def f(self):\n        «x»\n",
        f"import a\n\n\n{DEFINITION}\n\nclass A:\n    def f(self):\n        x\n",
    ),
    "decorated, commented": (
        "a = 1\n# why\n@d\nclass A:\n    «x»\n",
        f"a = 1\n\n\n{DEFINITION}\n\n# why\n@d\nclass A:\n    x\n",
    ),
    "statement": ("a = 1\nx = «b»\n", f"a = 1\n\n\n{DEFINITION}\n\nx = b\n"),
    "one blank line": ("a = 1\n\nx = «b»\n", f"a = 1\n\n\n{DEFINITION}\n\nx = b\n"),
    "first": ("x = «b»\n", f"{DEFINITION}\n\nx = b\n"),
    "tabs": (
        "if x:\n\tx = «b»\n",
        "def g(x):\n\tif x:\n\t\treturn '''\n    a\n'''\n\n\nif x:\n\tx = b\n",
    ),
    "CRLF": (
        "x = «b»\r\n",
        DEFINITION.replace("\n", "\r\n") + "\r\n\r\nx = b\r\n",
    ),
    "shared line": ("a = 1; x = «b»\n", "a = 1\n" + DEFINITION + "x = b\n"),
}

IMPORTS = {
    "after imports": ("import a\nfrom b import c  # d\n\nx\n", "import a\nimport m\nfrom b import c  # d\n\nx\n"),
    "shared line": ("import a; y = 1\nx\n", "import a; y = 1\nimport m\nx\n"),
    "several lines": ("from a import (\n    b,\n)\n\nx\n", "import m\nfrom a import (\n    b,\n)\n\nx\n"),
    "docstring": ('"""d"""\nx\n', '"""d"""\n\nimport m\n\nx\n'),
    "docstring, blank line": ('"""d"""\n\nx\n', '"""d"""\n\nimport m\n\nx\n'),
    "future": ("from __future__ import a\n\nimport b\n", "from __future__ import a\n\nimport b\nimport m\n"),
    "only future": (
        "from __future__ import a\nclass A: pass\n",
        "from __future__ import a\n\nimport m\n\n\nclass A: pass\n",
    ),
    "only code": ("x = 1\n", "import m\n\nx = 1\n"),
    "definition": ("def f(): pass\n", "import m\n\n\ndef f(): pass\n"),
    "comments": (
        "#!/bin/python\n# -*- coding: utf-8 -*-\n\n# one\nx = 1\n",
        "#!/bin/python\n# -*- coding: utf-8 -*-\n\nimport m\n\n# one\nx = 1\n",
    ),
    "coding line above code": ("# coding: utf-8\nx = 1\n", "# coding: utf-8\nimport m\n\nx = 1\n"),
    "empty": ("", "import m\n"),
    "only a comment": ("# a\n", "# a\nimport m\n"),
    "only a comment, no newline": ("# a", "# a\nimport m"),
    "byte-order mark alone": ("\ufeff", "\ufeffimport m\n"),
    "only docstring, no newline": ('"""d"""', '"""d"""\n\nimport m'),
    "type checking": (
        "import a\nif TYPE_CHECKING:\n    import m\n\nx\n",
        "import a\nimport m\nif TYPE_CHECKING:\n    import m\n\nx\n",
    ),
    "only under a test": ("if a:\n    import m\n", "import m\n\nif a:\n    import m\n"),
    "between statements": (
        "import a\na.b()\nimport c\n\ndef f():\n    import m\n",
        "import a\nimport m\na.b()\nimport c\n\ndef f():\n    import m\n",
    ),
    "other name": ("import m as n\n", "import m\nimport m as n\n"),
    "relative": ("from . import m\n", "import m\n\nfrom . import m\n"),
    "CRLF": ("import a\r\nx\r\n", "import a\r\nimport m\r\nx\r\n"),
    "carriage returns": ("import a\rx\r", "import a\rimport m\rx\r"),
    "form feed": ("\x0cimport a\nx\n", "\x0cimport a\nimport m\nx\n"),
    "in force": ("import m\n", "import m\n"),
    "in force with others": ("import a, m\n", "import a, m\n"),
    "in force by a submodule": ("import m.n\n", "import m.n\n"),
    "in force in try": (
        "try:\n    import m\nexcept ImportError:\n    m = None\n",
        "try:\n    import m\nexcept ImportError:\n    m = None\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), BEFORE.values(), ids=BEFORE)
def test_insert_before(before, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, InsertStatement("a.py", span, "n()")) == after


@pytest.mark.parametrize(("before", "after"), AFTER.values(), ids=AFTER)
def test_insert_after(before, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, InsertStatement("a.py", span, "n()\n", "after")) == after


@pytest.mark.parametrize(("before", "after"), TOPLEVEL.values(), ids=TOPLEVEL)
def test_insert_definition_at_module_level(before, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, InsertStatement("a.py", span, DEFINITION, toplevel=True)) == after


@pytest.mark.parametrize(
    ("before", "where", "after"),
    [
        ("if x: «a»; b  # c\n", "before", "if x:\n    if n:\n        m\n    a; b  # c\n"),
        ("if x: a; «b»  # c\n", "before", "if x:\n    a\n    if n:\n        m\n    b  # c\n"),
        ("if x: a; «b»  # c\n", "after", "if x:\n    a; b  # c\n    if n:\n        m\n"),
        ("if x: «a»", "after", "if x:\n    a\n    if n:\n        m"),
        ("if x:\n  a; «b»\n", "before", "if x:\n  a\n  if n:\n    m\n  b\n"),
        ("if x: a\nelif y: «b»\nelse: c\n", "after", "if x: a\nelif y:\n    b\n    if n:\n        m\nelse: c\n"),
    ],
)
def test_compound_statements_break_up_lines(before, where, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, InsertStatement("a.py", span, "if n:\n    m\n", where)) == after


@pytest.mark.parametrize(
    ("before", "code", "reason"),
    [
        ("x = 1\n# «a»\n", "n()", "no statement at line 2"),
        ("«x» = 1\n", "n(", "the new statement does not parse"),
        ("«x» = 1\n", "# n", "there is no statement to insert"),
    ],
)
def test_nothing_is_guessed(before, code, reason, marked, fixed):
    text, span = marked(before)
    with pytest.raises(Unresolvable, match=reason):
        fixed(text, InsertStatement("a.py", span, code))


@pytest.mark.parametrize(("before", "after"), IMPORTS.values(), ids=IMPORTS)
def test_add_import(before, after, fixed):
    edit = AddImport("a.py", "m")
    assert fixed(before, edit) == after
    assert fixed(after, edit) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import m\n", "import m\nfrom m.o import n\n"),
        ("from m.o import *\n", "from m.o import *\nfrom m.o import n\n"),
        ("from m.o import n as p\n", "from m.o import n\nfrom m.o import n as p\n"),
        ("from .m.o import n\n", "from m.o import n\n\nfrom .m.o import n\n"),
        ("from m.o import a, n\n", "from m.o import a, n\n"),
        ("from m.o import a\n", "from m.o import a, n\n"),
        ("from m.o import B, m, o\n", "from m.o import B, m, n, o\n"),
        ("from m.o import (\n    a,\n    z,\n)\n", "from m.o import (\n    a,\n    n,\n    z,\n)\n"),
        ("from m.o import (\n    a,\n    b,\n)\n", "from m.o import (\n    a,\n    b,\n    n,\n)\n"),
        ("from m.o import a  # why\n", "from m.o import a, n  # why\n"),
        ("def f():\n    from m.o import a\n", "from m.o import n\n\n\ndef f():\n    from m.o import a\n"),
        ("with w():\n    from m.o import n as n\n", "with w():\n    from m.o import n as n\n"),
    ],
)
def test_add_import_of_a_name(before, after, fixed):
    edit = AddImport("a.py", "m.o", "n")
    assert fixed(before, edit) == after
    assert fixed(after, edit) == after


def test_an_import_precedes_the_module_level_code_that_needs_it(marked, fixed):
    text, span = marked("import a\nx = «a.b»\nimport c\n")
    edits = ReplaceExpression("a.py", span, "m.b"), AddImport("a.py", "m")
    assert fixed(text, *edits) == "import a\nimport m\nx = m.b\nimport c\n"


def test_an_import_precedes_a_definition_at_the_same_place(marked, fixed):
    text, span = marked("class A:\n    «x»\n")
    edits = InsertStatement("a.py", span, "def g(): pass", toplevel=True), AddImport("a.py", "m")
    assert fixed(text, *edits) == "import m\n\n\ndef g(): pass\n\n\nclass A:\n    x\n"


def test_a_module_name_is_checked(fixed):
    with pytest.raises(Unresolvable, match="is nothing to import"):
        fixed("x\n", AddImport("a.py", "m\nimport os"))


@pytest.mark.parametrize(
    ("before", "module", "after"),
    [
        ("import os\nimport re\n\nimport torch\n", "queue", "import os\nimport queue\nimport re\n\nimport torch\n"),
        ("import os\n\nimport torch\n", "queue", "import os\nimport queue\n\nimport torch\n"),
        ("import torch\n\nx = 1\n", "queue", "import queue\n\nimport torch\n\nx = 1\n"),
        (
            "import numpy as np\nfrom PIL import Image\n",
            "torch",
            "import numpy as np\nimport torch\nfrom PIL import Image\n",
        ),
        ("import os\n\nx = 1\n", "torch", "import os\n\nimport torch\n\nx = 1\n"),
        ("import torch\nimport os\n\nx = 1\n", "queue", "import torch\nimport os\nimport queue\n\nx = 1\n"),
        (
            "import os\n\nimport multiprocessing\n\nimport torch\n",
            "queue",
            "import os\n\nimport multiprocessing\nimport queue\n\nimport torch\n",
        ),
        (
            "import torch\nimport cv2\nfrom . import a\n",
            "numpy",
            "import torch\nimport cv2\nimport numpy\nfrom . import a\n",
        ),
        (
            "import numpy\n\n# torch\nfrom torch.utils import data\n\nimport ptp\nimport os\n",
            "torch",
            "import numpy\n\nimport torch\n# torch\nfrom torch.utils import data\n\nimport ptp\nimport os\n",
        ),
        (
            "import ptp\nfrom torchvision import io\nfrom .torch import a\nimport os\n",
            "torch",
            "import ptp\nfrom torchvision import io\nimport torch\nfrom .torch import a\nimport os\n",
        ),
        ("__all__ = []\nfrom torch import nn\n", "os", "__all__ = []\nimport os\n\nfrom torch import nn\n"),
        ("import queue as q\nimport re\n", "queue", "import queue\nimport queue as q\nimport re\n"),
    ],
)
def test_an_import_takes_its_place_in_the_order(before, module, after, fixed):
    assert fixed(before, AddImport("a.py", module)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch as th\n\nx = «7»\n", "import torch as th\n\nx = th.seed() + one.torch.seed()\n"),
        # Not where the name is bound again, comes later or stands under a condition.
        ("import torch as th\n\n\ndef f(th):\n    return «7»\n", None),
        ("x = «7»\nimport torch as th\n", None),
        ("if 1:\n    import torch as th\nx = «7»\n", None),
    ],
)
def test_what_is_imported_under_another_name_is_used_by_that_name(before, after, marked, fixed):
    text, span = marked(before)
    edits = (ReplaceExpression("a.py", span, "torch.seed() + one.torch.seed()"), AddImport("a.py", "torch"))
    new = fixed(text, *edits)
    assert new == after if after else "import torch\n" in new and " torch.seed() + " in new


def test_a_name_is_used_by_its_alias(marked, fixed):
    text, span = marked("from functools import partial as bind\n\nx = d(«lambda: 1»)\n")
    edits = (AddImport("a.py", "functools", "partial"), ReplaceExpression("a.py", span, "partial(int, 1)"))
    assert fixed(text, *edits) == "from functools import partial as bind\n\nx = d(bind(int, 1))\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import cv2\nimport torch\n\nx = 1\n", "import cv2\nimport torch\n\nm()\n\nx = 1\n"),
        (
            "import cv2\ntry:\n    import b\nexcept ImportError:\n    import c\nimport d\nx = 1\nimport e\n",
            "import cv2\ntry:\n    import b\nexcept ImportError:\n    import c\nimport d\n\nm()\nx = 1\nimport e\n",
        ),
        ("import cv2\nx = 1\nimport d\n", "import cv2\n\nm()\nx = 1\nimport d\n"),
        ("'doc'; import cv2\nimport b\n\nx = 1\n", "'doc'; import cv2\nimport b\n\nm()\n\nx = 1\n"),
    ],
)
def test_code_after_an_import_goes_below_all_of_them(before, after, fixed):
    edit = InsertStatement("a.py", Span(1, 1, 1, 11), "m()", "after", toplevel=True)
    assert fixed(before, edit) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\rx = 1\ny = 2\n", "import os\rm()\rx = 1\ny = 2\n"),
        ("import os\r\nx = 1\ny = 2\n", "import os\r\nm()\nx = 1\ny = 2\n"),
    ],
)
def test_no_third_kind_of_line_end(before, after, fixed):
    place = Span(2, 1, 2, 6)
    text = fixed(before, InsertStatement("a.py", place, "m()"))
    assert set(re.findall("\r\n|\r|\n", text)) <= set(re.findall("\r\n|\r|\n", before))
    hoisted = "import os\rx = f(lambda a: a)\ny = 2\n"
    text = fixed(hoisted, HoistFunction("a.py", Span(2, 7, 2, 18), "_f"))
    assert set(re.findall("\r\n|\r|\n", text)) <= {"\r", "\n"}
