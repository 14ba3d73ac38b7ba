"""What a cell's lines become; lines that are not named stay as they are."""

from __future__ import annotations

import ast

import pytest

from dllint.notebooks.magics import cell_magic, masked


def python_of(source: str) -> str:
    return masked(source, cell_magic(source))


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("%matplotlib inline\nx = 1\n", "pass\nx = 1\n"),
        ("!pip install \\\n  torch\nx = 1", "pass\n\nx = 1"),
        ("if x:\n    !ls\n    y = 2", "if x:\n    pass\n    y = 2"),
        ("loader?\nloader.dataset??\n?len", "pass\npass\npass"),
        ("files = !ls\nfirst, *rest = %sql select 1", "files = get_ipython()\nfirst, *rest = get_ipython()"),
        ("%time x = f(1)", "pass; x = f(1)"),
        ("%timeit f(1)", "pass"),
        ("%time for x in y: pass", "pass"),
        ("pip install torch\nls", "pass\nls"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%capture out\nx = 1", "\n\nx = 1"),
        ("%%bash\necho 'x\ny", "\n\n"),
        ("%%python\nimport os", "\n"),
        ("a = 1\r\n%cd x\r\nb = 2", "a = 1\r\npass\r\nb = 2"),
    ],
)
def test_what_is_no_python(source: str, python: str) -> None:
    assert python_of(source) == python
    ast.parse(python)


@pytest.mark.parametrize(
    "source",
    [
        'x = ("%s"\n     % y)\n',
        "x = '''\n%matplotlib inline\n!ls\n'''\n",
        "x = a \\\n    % b",
        "f(\n  # a ( in a comment\n  a,\n  b\n  % c\n)\n",
        "x = y != 3\n",
        "print('is it?')  # is it?",
        "ls = [1]\nls[0] = 2\nls.append(3)\npip = ls\ncat(1)",
        "x = '!'\ny = 5 % 2\n",
        'f"""{x}\n?y\n"""',
    ],
)
def test_python_stays(source: str) -> None:
    assert python_of(source) == source


@pytest.mark.parametrize(
    ("first", "name", "appends"),
    [
        ("%%writefile data.py", "data.py", False),
        ("%%writefile -a src/data.py", "src/data.py", True),
        ("%%file 'data.py'", "data.py", False),
    ],
)
def test_files_that_cells_write(first: str, name: str, appends: bool) -> None:
    magic = cell_magic(f"{first}\nx = 1\n")
    assert (magic.line, magic.writes, magic.appends) == (1, name, appends)
