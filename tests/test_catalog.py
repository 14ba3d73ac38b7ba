"""Given this page, this rule; given a malformed one, one line that says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint import catalog
from dllint.catalog import CatalogError, Mark, Option, RulePage
from dllint.catalog.page import ErrorText, RunSection

NAME = "DLL950-socket-in-dataset.md"
PAGE = """\
# DLL950 socket-in-dataset

```toml
code = "DLL950"
name = "socket-in-dataset"
severity = "warning"
fix = "safe"
since = "0.2.0"
summary = "A socket is kept."
apis = ["socket("]

[messages]
# {kept}: the attribute
main = "{kept} keeps a socket"
late = "{kept} keeps a socket opened at {where}"

[help]
main = "Open it late"
cuda = "Do not open {kept}"

[[options]]
name = "most"
type = "integer"
default = 3
doc = "How many are fine."
```

## What it does

Finds sockets.

```text
## not a heading
```

## Why it is bad

They break.

## Examples

### Bad: two files

The first one:

`keep.py`

```python
def keep(self):
    self.socket = socket()  # DLL950
    run(  # DLL101 DLL950
    )
```

`sub/other.toml`:

```toml
a = 1
```

### Bad: alone

`a.py`

```python
socket()  # DLL950
```

### Good: closed  again

`a.py`

```python
socket().close()  # noqa: DLL950
```

## Fixed

### alone

`a.py`

```python
pass
```

## Limits

None.

## See also

Nothing.
"""


def page(text: str = PAGE) -> RulePage:
    return catalog.parse(text, f"rules/{NAME}")


def changed(old: str, new: str) -> RulePage:
    assert PAGE.count(old) >= 1
    return page(PAGE.replace(old, new, 1))


def test_the_head_is_read() -> None:
    rule = page()

    assert (rule.code, rule.name, rule.severity, rule.fix, rule.preview) == (
        "DLL950",
        "socket-in-dataset",
        "warning",
        "safe",
        False,
    )
    assert rule.since == "0.2.0"
    assert rule.apis == ("socket(",)
    assert rule.options == (Option("most", "integer", 3, "How many are fine."),)


def test_what_a_run_needs_to_know() -> None:
    assert page().run == RunSection()
    section = """
[run]
text = "Sockets are lost"
subject = "program"
place = "iteration"
alike = ["DLL402"]
[[run.errors]]
text = 'lost \\d+ sockets'
cause = "a socket is gone"
also = ["DLL205"]
"""
    assert changed(END, f"{END}\n{section}").run == RunSection(
        "Sockets are lost",
        "program",
        "iteration",
        ("DLL402",),
        (ErrorText(r"lost \d+ sockets", "a socket is gone", ("DLL205",)),),
    )


def test_messages_are_filled() -> None:
    assert page().render("late", {"kept": "Faces.peer", "where": "data.py:3", "spare": 1}) == (
        "Faces.peer keeps a socket opened at data.py:3"
    )


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ValueError, match=r"no value for \{where\}"):
        page().render("late", {"kept": "Faces.peer"})


def test_an_unknown_message_is_named() -> None:
    with pytest.raises(ValueError, match="no message 'early', only main, late"):
        page().render("early", {})


@pytest.mark.parametrize(
    ("key", "values", "text"),
    [
        ("late", {}, "Open it late"),
        ("main", {}, "Open it late"),
        ("late", {"remedy": "cuda", "kept": "Faces.peer"}, "Do not open Faces.peer"),
    ],
)
def test_the_remedy_is_chosen(key: str, values: dict[str, str | int], text: str) -> None:
    assert page().remedy(key, values) == text


def test_an_unknown_remedy_is_named() -> None:
    with pytest.raises(ValueError, match="no help 'tpu', only main, cuda"):
        page().remedy("main", {"remedy": "tpu"})


def test_marks_are_taken_out_of_the_files() -> None:
    both, alone, good = page().examples

    assert both.files == {
        "keep.py": "def keep(self):\n    self.socket = socket()\n    run(\n    )\n",
        "sub/other.toml": "a = 1\n",
    }
    assert both.marks == (Mark("keep.py", 2, "DLL950"), Mark("keep.py", 3, "DLL101"), Mark("keep.py", 3, "DLL950"))
    assert (both.title, both.bad) == ("two files", True)
    assert alone.marks == (Mark("a.py", 1, "DLL950"),)
    assert (good.title, good.bad, good.marks) == ("closed  again", False, ())
    assert good.files == {"a.py": "socket().close()  # noqa: DLL950\n"}


def test_fixed_texts() -> None:
    assert page().fixed == {"alone": {"a.py": "pass\n"}}


def test_sections_leave_fences_alone() -> None:
    assert list(page().sections) == ["What it does", "Why it is bad", "Examples", "Fixed", "Limits", "See also"]
    assert page().sections["What it does"] == "Finds sockets.\n\n```text\n## not a heading\n```"


def test_the_body_begins_below_the_head() -> None:
    assert page().body.startswith("## What it does\n")
    assert page().body.endswith("Nothing.\n")


END = 'doc = "How many are fine."'
HEAD = [
    ("# DLL950 socket", "# DLL950 sockets", 1, "first line must be '# DLL950 socket-in-dataset'"),
    ("```toml\ncode", "code", 3, "a ```toml block must follow"),
    ('code = "DLL950"', 'code = "DLL951"', 4, "code: must be 'DLL950'"),
    ('code = "DLL950"\n', "", 25, "code: missing"),
    ('severity = "warning"', 'severity = "fatal"', 6, "'fatal' is none of info, warning, error"),
    ('severity = "warning"', "severity = 2", 6, "severity: must be a str"),
    ('fix = "safe"', 'fix = "maybe"', 7, "'maybe' is none of safe, unsafe, suggestion, none"),
    ('since = "0.2.0"', "since = 0.2.0", 8, ""),
    ('apis = ["socket("]', "apis = []", 10, "apis: must be a list of strings"),
    ('apis = ["socket("]', 'apis = ["socket("]\nauthor = "x"', 11, "author: unknown key"),
    ('"{kept} keeps a socket"', '"{kept keeps"', 14, "main: expected '}'"),
    ('"{kept} keeps a socket"', '"{0} keeps"', 14, "a placeholder is a plain name"),
    ('"{kept} keeps a socket"', '"{kept!r} keeps"', 14, "a placeholder is a plain name"),
    ('main = "{kept} keeps a socket"', "main = 4", 14, "main: must be a text"),
    ('main = "Open it late"\n', "", 17, "help: neither 'main' nor 'main' here"),
    ('type = "integer"', 'type = "int"', 21, "type 'int' is none of integer"),
    ("default = 3", 'default = "3"', 21, "the default of 'most' is no integer"),
    ('doc = "How many are fine."\n', "", 21, "each has name, type, default and doc"),
    (END, f'{END}\n[run]\nsubject = "worker"', 27, "subject: 'worker' is none of workers, loader, program"),
    (END, f'{END}\n[run]\nalike = ["socket"]', 27, "alike: 'socket' is no code of a rule"),
    (END, f'{END}\n[run]\ntold = "x"', 27, "told: unknown key"),
    (END, f'{END}\n[[run.errors]]\ntext = "x"', 28, "cause: missing"),
]


@pytest.mark.parametrize(("old", "new", "line", "reason"), HEAD)
def test_a_malformed_head(old: str, new: str, line: int, reason: str) -> None:
    with pytest.raises(CatalogError) as caught:
        changed(old, new)

    assert str(caught.value).startswith(f"rules/{NAME}:{line}: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_head_that_does_not_end() -> None:
    with pytest.raises(CatalogError, match=":3: the ```toml block is not closed"):
        page(PAGE.split("\n```\n")[0])


@pytest.mark.parametrize("name", ["DLL95-socket.md", "socket.md", "DLL950.md", "DLL950-Socket.md"])
def test_a_wrong_file_name(name: str) -> None:
    with pytest.raises(CatalogError, match="a page is called DLL"):
        catalog.parse(PAGE, name)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("## Limits", "## Limit", "unknown heading 'Limit'"),
        ("## Why it is bad", "## Limits", "heading 'Examples' cannot follow 'Limits'"),
        ("## Limits\n\nNone.\n\n", "", "there is no heading 'Limits'"),
        ("None.\n", "", "nothing under 'Limits'"),
        ("Nothing.\n", "```python\n", "a fence is not closed"),
        ("## What it does", "Hello\n\n## What it does", "text before the first heading"),
        ("## Fixed\n\n### alone\n\n`a.py`\n\n```python\npass\n```\n\n", "", "there is no heading 'Fixed'"),
        ("### Bad: two files", "### Worse: two files", "expected '### Bad: …' or '### Good: …'"),
        ("### Bad: alone", "### Bad: two files", "a second example is called 'two files'"),
        ("socket()  # DLL950\n```", "socket()\n```", "no mark of DLL950 in this example"),
        ("socket().close()", "socket().close()  # DLL950\nx = 0", "a mark of DLL950 in this example"),
        ("`keep.py`\n", "", "a fence needs its path in backticks on a line before it"),
        ("`sub/other.toml`:", "`keep.py`", "a second file is called 'keep.py'"),
        ("`sub/other.toml`:", "`../other.toml`", "'../other.toml' is no path inside the example"),
        ("## Fixed\n\n### alone", "## Fixed\n\n### alne", "no bad example is called 'alne'"),
        ("### alone\n\n`a.py`", "### alone\n\n`b.py`", "the example 'alone' has no file 'b.py'"),
        ("`a.py`\n\n```python\nsocket()  # DLL950\n```\n", "Nothing.\n", "no file under this heading"),
    ],
)
def test_a_malformed_body(old: str, new: str, reason: str) -> None:
    rule = changed(old, new)

    with pytest.raises(CatalogError) as caught:
        _ = (rule.sections, rule.examples, rule.fixed)

    assert reason in str(caught.value)
    line = int(str(caught.value).split(":")[1])
    assert 28 <= line <= len(rule.text.splitlines())


def test_the_line_of_a_malformed_body() -> None:
    with pytest.raises(CatalogError) as caught:
        _ = changed("### Bad: alone", "### Bad: two files").examples

    assert caught.value.line == PAGE.splitlines().index("### Bad: alone") + 1


def test_pages_come_by_code(tmp_path: Path) -> None:
    other = PAGE.replace("DLL950", "DLL150").replace("socket-in", "peer-in")
    (tmp_path / NAME).write_text(PAGE)
    (tmp_path / "DLL150-peer-in-dataset.md").write_text(other)
    (tmp_path / "README.md").write_text("# no page")

    assert [rule.code for rule in catalog.load(tmp_path)] == ["DLL150", "DLL950"]


def test_two_pages_of_one_code(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(PAGE)
    (tmp_path / "DLL950-peer-in-dataset.md").write_text(PAGE.replace("socket-in", "peer-in"))

    with pytest.raises(CatalogError, match="DLL950 is also the code of"):
        catalog.load(tmp_path)


def test_a_folder_without_pages(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="there are no rule pages here"):
        catalog.load(tmp_path)


def test_an_installed_package_has_its_own_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rule_pages").mkdir()
    (tmp_path / "rule_pages" / NAME).write_text(PAGE)
    monkeypatch.setattr(catalog, "__file__", str(tmp_path / "catalog" / "__init__.py"))

    assert [rule.code for rule in catalog.pages.__wrapped__()] == ["DLL950"]


def test_the_real_pages_are_found() -> None:
    assert {"DLL001", "DLL101", "DLL502"} <= {rule.code for rule in catalog.pages()}
