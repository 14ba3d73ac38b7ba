"""Given the place of a lambda or a local function, it stands at the top of the module and nothing else changes."""

import re
import textwrap

import pytest

from dllint.finding import AddImport, Finding, Fix, HoistFunction
from dllint.fixes.passes import fix_files
from dllint.fixes.text import Unresolvable
from dllint.span import Span

LAMBDAS = {
    "method": (
        "import a\n\n\nclass A:\n    def f(self):\n        self.g = «lambda x: x / 255»\n",
        "import a\n\n\ndef n(x):\n    return x / 255\n\n\nclass A:\n    def f(self):\n        self.g = n\n",
    ),
    "module level": ("a = 1\nx = f(«lambda: 0»)  # c\n", "a = 1\n\n\ndef n():\n    return 0\n\n\nx = f(n)  # c\n"),
    "first statement": ("x = «lambda: 0»\n", "def n():\n    return 0\n\n\nx = n\n"),
    "docstring and comments": (
        '"""d"""\n\n# why\n@d\nclass A:\n    x = «lambda: 0»\n',
        '"""d"""\n\n\ndef n():\n    return 0\n\n\n# why\n@d\nclass A:\n    x = n\n',
    ),
    "empty tuple": ("x = f(«lambda _: ()»)\n", "def n(_):\n    return ()\n\n\nx = f(n)\n"),
    "decorator": ("@d(«lambda x: x»)\ndef f(): pass\n", "def n(x):\n    return x\n\n\n@d(n)\ndef f(): pass\n"),
    "main": (
        'a\n\nif __name__ == "__main__":\n    f(«lambda: 0»)\n',
        'a\n\n\ndef n():\n    return 0\n\n\nif __name__ == "__main__":\n    f(n)\n',
    ),
    "all kinds of parameters": (
        "f(«lambda a, /, b , *c, d=-1, **e : (a, b)»)\n",
        "def n(a, /, b , *c, d=-1, **e):\n    return (a, b)\n\n\nf(n)\n",
    ),
    "parameters over lines": ("f(«lambda a,\n  b: a»)\n", "def n(a,\n  b):\n    return a\n\n\nf(n)\n"),
    "no blanks": ("x = «(lambda:0)»if a else 2\n", "def n():\n    return 0\n\n\nx = n if a else 2\n"),
    "parentheses of the lambda": ("x = («lambda: 0»)\n", "def n():\n    return 0\n\n\nx = n\n"),
    "comment in parentheses": ("x = (  # c\n    «lambda: 0»)\n", "def n():\n    return 0\n\n\nx = (  # c\n    n)\n"),
    "body in brackets": ("f(«lambda x: g(\n  x,  # c\n)»)\n", "def n(x):\n    return g(\n  x,  # c\n)\n\n\nf(n)\n"),
    "body over lines": ("f(«lambda x:\n  x  # c\n  + 1»)\n", "def n(x):\n    return (x  # c\n  + 1)\n\n\nf(n)\n"),
    "body that goes on at the margin": ("f(«lambda x: x\n+ 1»)\n", "def n(x):\n    return (x\n+ 1)\n\n\nf(n)\n"),
    "continued lines": ("f = «lambda x: \\\n  x \\\n + 1»\n", "def n(x):\n    return x \\\n + 1\n\n\nf = n\n"),
    "body with a string over lines": (
        'class A:\n    x = «lambda: """\n  a\n"""»\n',
        'def n():\n    return """\n  a\n"""\n\n\nclass A:\n    x = n\n',
    ),
    "lambda of a lambda": ("x = «lambda a: lambda b: a»\n", "def n(a):\n    return lambda b: a\n\n\nx = n\n"),
    "default of a parameter": ("def f(g=«lambda: 0»): g()\n", "def n():\n    return 0\n\n\ndef f(g=n): g()\n"),
    "default from an import": (
        "import m.o\ndef f():\n    return «lambda a, b=m.o.c, d=True: a»\n",
        "import m.o\n\n\ndef n(a, b=m.o.c, d=True):\n    return a\n\n\ndef f():\n    return n\n",
    ),
    "default from above": (
        "K = 1\ndef f():\n    return «lambda a=(K, 2): a»\n",
        "K = 1\n\n\ndef n(a=(K, 2)):\n    return a\n\n\ndef f():\n    return n\n",
    ),
    "tabs, CRLF": (
        "class A:\r\n\tx = «lambda: 0»\r\n",
        "def n():\r\n\treturn 0\r\n\r\n\r\nclass A:\r\n\tx = n\r\n",
    ),
    "carriage returns": ("a\rx = «lambda: 0»\r", "a\r\r\rdef n():\r    return 0\r\r\rx = n\r"),
    "form feed": ("a\n\x0cx = «lambda: 0»\n", "a\n\n\ndef n():\n    return 0\n\n\n\x0cx = n\n"),
    "byte-order mark": ("\ufeffx = «lambda: 0»\n", "\ufeffdef n():\n    return 0\n\n\nx = n\n"),
    "no final newline": ("x = «lambda: 0»", "def n():\n    return 0\n\n\nx = n"),
    "shared line": ("a = 1; x = «lambda: 0»\n", "def n():\n    return 0\n\n\na = 1; x = n\n"),
}

DEFINITION = "«def n»(x):\n    if x:\n\n        return g(x,\n                 1)\n"
DECORATED = "from m import d\n\n\ndef f():\n    a\n"
MOVED = "# near\n@d(1)\n# between\n@d\n«def n»(x):  # here\n    return x\n    # inside\n"


def indented(code):
    return textwrap.indent(code, "    ")


DEFINITIONS = {
    "first": (
        "def f(d):\n    «def n»(x):\n        return x\n\n    return n\n",
        "def n(x):\n    return x\n\n\ndef f(d):\n    return n\n",
    ),
    "between": (
        "import a\n\n\ndef f(d):\n    y = 1\n\n    «def n»(x):\n        return x\n\n    return n\n",
        "import a\n\n\ndef n(x):\n    return x\n\n\ndef f(d):\n    y = 1\n\n    return n\n",
    ),
    "after a docstring": (
        'def f(d):\n    """d"""\n    «def n»(x): return x\n    return n\n',
        'def n(x): return x\n\n\ndef f(d):\n    """d"""\n    return n\n',
    ),
    "last": (
        "def f(d):\n    global n\n\n    «def n»(x):\n        return x\n\n\nf(1)\n",
        "def n(x):\n    return x\n\n\ndef f(d):\n    global n\n\n\nf(1)\n",
    ),
    "only statement": (
        "def f(d):\n    if d:\n        # c\n        «def n»(x):\n            return x\n    return n\n",
        "# c\ndef n(x):\n    return x\n\n\ndef f(d):\n    if d:\n        pass\n    return n\n",
    ),
    "only statement, no final newline": (
        "if a:\n    «def n»(x):\n        return x",
        "def n(x):\n    return x\n\n\nif a:\n    pass",
    ),
    "last line without a newline": (
        "if a:\n    b\n\n    «def n»(x): return x",
        "def n(x): return x\n\n\nif a:\n    b",
    ),
    "only definitions": (
        "if a:\n    «def n»(x): return x\n\n    def o(): pass\n",
        "def n(x): return x\n\n\nif a:\n    def o(): pass\n",
    ),
    "decorators and comments": (
        f"{DECORATED}    # far\n\n{indented(MOVED)}\n    # after\n    return n\n",
        DECORATED.replace("def", f"{MOVED}\n\ndef") + "    # far\n\n    # after\n    return n\n",
    ),
    "heading of the statements below too": (
        "def f():\n    # model\n    m = 1\n\n    # loader\n    «def n»(x):\n        return x\n    return n(m)\n",
        "def n(x):\n    return x\n\n\ndef f():\n    # model\n    m = 1\n\n    # loader\n    return n(m)\n",
    ),
    "heading of the definition alone": (
        "def f():\n    # model\n    m = 1\n\n    # why\n    «def n»(x):\n        return x\n\n    return n(m)\n",
        "# why\ndef n(x):\n    return x\n\n\ndef f():\n    # model\n    m = 1\n\n    return n(m)\n",
    ),
    "no other heading": (
        "def f():\n    m = 1\n\n    # why\n    «def n»(x):\n        return x\n    return n(m)\n",
        "# why\ndef n(x):\n    return x\n\n\ndef f():\n    m = 1\n\n    return n(m)\n",
    ),
    "async": (
        "def f():\n    «async  def n»(x):\n        await x\n    return n\n",
        "async  def n(x):\n    await x\n\n\ndef f():\n    return n\n",
    ),
    "in a method": (
        f"class A:\n    def f(self):\n{indented(indented(DEFINITION))}        return n\n",
        DEFINITION + "\n\nclass A:\n    def f(self):\n        return n\n",
    ),
    "tabs, CRLF": (
        "def f():\r\n\t«def n»(x):\r\n\t\tif x:\r\n\t\t\treturn\r\n\r\n\treturn n\r\n",
        "def n(x):\r\n\tif x:\r\n\t\treturn\r\n\r\n\r\ndef f():\r\n\treturn n\r\n",
    ),
    "form feed": (
        "def f():\n    a\n\x0c    «def n»(x):\n        return x\n    return n\n",
        "\x0cdef n(x):\n    return x\n\n\ndef f():\n    a\n    return n\n",
    ),
    "lines left of the block": (
        "def f():\n    «def n»(x):\n  # c\n        return g(x,\n1)\n    return n\n",
        "def n(x):\n# c\n    return g(x,\n1)\n\n\ndef f():\n    return n\n",
    ),
    "narrow blocks in wide ones": (
        "if a:\n    b\n    «def n»(x):\n      if x:\n         return x\n    c\n",
        "def n(x):\n  if x:\n     return x\n\n\nif a:\n    b\n    c\n",
    ),
    "annotated": (
        "from m import T\n\ndef f():\n    «def n»(x: T, *y: 'U', z: int = 0) -> list[T]: return x\n    return n\n",
        "from m import T\n\n\ndef n(x: T, *y: 'U', z: int = 0) -> list[T]: return x\n\n\ndef f():\n    return n\n",
    ),
}

REFUSED = {
    "walrus": ("x = «lambda: (y := 1)»\n", "the body of the lambda acts on the code around it"),
    "yield": ("def f():\n    x = «lambda: (yield)»\n", "the body of the lambda acts on the code around it"),
    "comment": ("f(«lambda a,  # c\n b: a»)\n", "a comment stands before the body of the lambda"),
    "string": ("x = f'{(«lambda: 0»)()}'\n", "the lambda is inside a string"),
    "local default": ("def f(a):\n    return «lambda b=a: b»\n", "it needs 'a', which belongs to the code around it"),
    "default of a loop": ("for i in a:\n    f(«lambda b=i: b»)\n", "it needs 'i'"),
    "default of a comprehension": ("x = [«lambda b=i: b» for i in a]\n", "it needs 'i'"),
    "default from the class": ("class A:\n    k = 1\n    f = «lambda b=k: b»\n", "it needs 'k'"),
    "default from the same line": ("k = 1; f = «lambda b=k: b»\n", "it needs 'k'"),
    "default from below": ("def f():\n    return «lambda b=K: b»\nK = 1\n", "it needs 'K'"),
    "default that changes": ("K = 1\ndef f():\n    return «lambda b=K: b»\nK += 1\n", "it needs 'K'"),
    "default that a function changes": (
        "K = 1\ndef f():\n    return «lambda b=K: b»\ndef g():\n    global K\n    K = 2\n",
        "it needs 'K'",
    ),
    "default with an attribute": (
        "K = a()\ndef f():\n    return «lambda b=K.c: b»\n",
        "a default value would be evaluated each time",
    ),
    "new default": ("def f():\n    return «lambda b=[]: b»\n", "a default value would be evaluated each time"),
    "local decorator": ("def f(d):\n    @d\n    «def n»(): pass\n", "it needs 'd'"),
    "local annotation": ("def f():\n    class T: pass\n    «def n»(x: T): pass\n", "it needs 'T'"),
    "private name": ("class A:\n    f = «lambda a: a.__b»\n", "'__b' has its meaning from the class around it"),
    "super": (
        "class A:\n    def f(self):\n        «def n»(): super().f()\n",
        "'super' has its meaning from the class around it",
    ),
    "nonlocal": (
        "def f():\n    a = 1\n    «def n»():\n        nonlocal a\n",
        "it changes a name of the function around it",
    ),
    "method": ("class A:\n    if a:\n        «def n»(self): pass\n", "'n' is a method"),
    "at the top": ("«def n»(): pass\n", "'n' stands at the top of its module"),
    "other name": ("def f():\n    «def m»(): pass\n", "'m' would get another name"),
    "docstring over lines": (
        'def f():\n    «def n»():\n        """a\n        b"""\n',
        "a string over several lines stands in 'n'",
    ),
    "continued string": (
        "def f():\n    «def n»():\n        return 'a\\\n        b'\n",
        "a string over several lines stands in 'n'",
    ),
    "no function": ("x = «a»\n", "no function at line 1 column 5"),
    "header and more": ("if a:\n    «def n()»: pass\n", "no function at line 2 column 5"),
}


@pytest.mark.parametrize(("before", "after"), LAMBDAS.values(), ids=LAMBDAS)
def test_a_lambda_becomes_a_function(before, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, HoistFunction("a.py", span, "n")) == after


@pytest.mark.parametrize(("before", "after"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_local_function_moves(before, after, marked, fixed):
    text, span = marked(before)
    assert fixed(text, HoistFunction("a.py", span, "n")) == re.sub("[«»]", "", after)


@pytest.mark.parametrize(("before", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_would_mean_something_else_stays(before, reason, marked, fixed):
    text, span = marked(before)
    with pytest.raises(Unresolvable, match=re.escape(reason)):
        fixed(text, HoistFunction("a.py", span, "n"))


@pytest.mark.parametrize("name", ["a b", "def", "a.b", ""])
def test_the_name_is_checked(name, marked, fixed):
    text, span = marked("x = «lambda: 0»\n")
    with pytest.raises(Unresolvable, match="is no name for a function"):
        fixed(text, HoistFunction("a.py", span, name))


TWO = "import a\nclass A:\n    x = lambda: 1\n    y = lambda: 2\n"
TWO_FIXED = (
    "import a\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n\n\nclass A:\n    x = one\n    y = two\n"
)
ONE, OTHER = Span(3, 9, 3, 18), Span(4, 9, 4, 18)


def finding(*edits):
    return Finding("DLL001", "a.py", Span(1, 1, 1, 1), fixes=(Fix("", "safe", edits),))


def test_two_functions_before_one_statement_stand_in_source_order(fixed):
    edits = HoistFunction("a.py", OTHER, "two"), HoistFunction("a.py", ONE, "one")
    assert fixed(TWO, *edits) == TWO_FIXED


def test_two_fixes_before_one_statement_are_made_in_one_pass():
    findings = [finding(HoistFunction("a.py", ONE, "one")), finding(HoistFunction("a.py", OTHER, "two"))]
    assert fix_files(findings, {"a.py": TWO}.__getitem__).texts == {"a.py": TWO_FIXED}


def test_two_functions_do_not_share_a_name(fixed):
    edits = HoistFunction("a.py", ONE, "n"), HoistFunction("a.py", OTHER, "n")
    with pytest.raises(Unresolvable, match="two functions would be called 'n'"):
        fixed(TWO, *edits)
    findings = [finding(edit) for edit in edits]
    result = fix_files(findings, {"a.py": TWO}.__getitem__)
    assert [item.finding for item in result.applied] == [findings[0]]
    assert [item.finding for item in result.waiting] == [findings[1]]


def test_one_function_that_two_findings_are_about_moves_once():
    findings = [finding(HoistFunction("a.py", ONE, "one")), finding(HoistFunction("a.py", ONE, "one"))]
    result = fix_files(findings, {"a.py": TWO}.__getitem__)
    assert result.texts["a.py"].count("def one") == 1
    assert len(result.applied) == 2


def test_what_stands_in_a_function_waits_for_it():
    text = "def f():\n    def g(): return lambda: 0\n    return g\n"
    findings = [
        finding(HoistFunction("a.py", Span(2, 5, 2, 10), "g")),
        finding(HoistFunction("a.py", Span(2, 21, 2, 30), "n")),
    ]
    result = fix_files(findings, {"a.py": text}.__getitem__)
    assert result.texts == {"a.py": "def g(): return lambda: 0\n\n\ndef f():\n    return g\n"}
    assert [item.finding for item in result.waiting] == [findings[1]]


def test_a_block_is_not_emptied_by_two_fixes():
    text = "if a:\n    def g(): pass\n    def h(): pass\n"
    findings = [
        finding(HoistFunction("a.py", Span(2, 5, 2, 10), "g")),
        finding(HoistFunction("a.py", Span(3, 5, 3, 10), "h")),
    ]
    result = fix_files(findings, {"a.py": text}.__getitem__)
    assert result.texts == {"a.py": "def g(): pass\n\n\nif a:\n    def h(): pass\n"}
    assert [item.finding for item in result.waiting] == [findings[1]]


def test_an_import_precedes_a_moved_function(marked, fixed):
    text, span = marked("class A:\n    x = «lambda: 0»\n")
    edits = HoistFunction("a.py", span, "n"), AddImport("a.py", "m")
    assert fixed(text, *edits) == "import m\n\n\ndef n():\n    return 0\n\n\nclass A:\n    x = n\n"
