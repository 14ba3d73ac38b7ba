"""Whatever the input: one clear line for what was not checked, exit code 2, the other files checked, no traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dllint.cli import main

HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)


class Done(NamedTuple):
    status: int
    found: list[dict[str, Any]]
    err: str

    @property
    def codes(self) -> list[tuple[str, int, str]]:
        return [(Path(one["filename"]).name, one["location"]["row"], one["code"]) for one in self.found]


Check = Callable[..., Done]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Checks paths, "." if none; a healthy file with one hazard lies beside whatever the test puts there."""
    (tmp_path / "other.py").write_text(HAZARD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DLLINT_DEBUG", raising=False)

    def check(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["check", *(arguments or (".",)), "--no-cache", "--output-format", "json", "--jobs", "1"])
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        assert "Traceback" not in captured.err
        return Done(ended.value.code, json.loads(captured.out or "[]"), captured.err)

    return check


OTHER = ("other.py", 2, "DLL204")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"x = '\xff'\n", 1, "it is not valid UTF-8: byte 0xff"),
        (b"# coding: ascii\n\nx = '\xc3\xa9'\n", 3, "it is not valid ascii: byte 0xc3"),
        (b"# coding: martian\n", 1, "unknown encoding: martian"),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, "byte-order mark"),
        (b"\xff\xfex\x00", 1, "UTF-16"),
        (b"x = 1\ny = '\x00'\n", 2, "null byte"),
        (b"import torch\nprint 'hello'\n", 2, "do not run this file"),
        (b"def f():\n    raise ValueError, 'x'\n", 2, "do not run this file"),
        (b"<<<<<<< HEAD\nx = 1\n", 1, "does not parse"),
        (b"def f(:\n", 1, "does not parse"),
        (b"from torch.utils.data import DataLoader\nif x:\n\ty\n        z\n  w\n", 4, "does not parse"),
    ],
    ids=[
        "utf-8",
        "declared",
        "unknown",
        "bom",
        "utf-16",
        "null",
        "python 2",
        "python 2 raise",
        "merge",
        "cut",
        "dedent",
    ],
)
def test_a_file_that_is_no_python_is_named_and_the_others_are_checked(
    check: Check, tmp_path: Path, content: bytes, line: int, message: str
) -> None:
    (tmp_path / "broken.py").write_bytes(content)
    done = check()
    assert done.status == 2
    assert done.codes == [("broken.py", line, "DLL001"), OTHER]
    assert message in done.found[0]["message"]
    assert "\n" not in done.found[0]["message"]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_column_lies_inside_its_line(check: Check, tmp_path: Path, end: bytes) -> None:
    (tmp_path / "broken.py").write_bytes(b"import torch\nx = 1 +" + end)
    assert check("broken.py").found[0]["location"] == {"row": 2, "column": 7}


def test_a_path_that_no_file_system_takes_is_unknown(check: Check, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import json\nimport numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Rows(Dataset):\n    def __init__(self):\n"
        "        self.rows = np.load('\\ud800.npy')\n        self.names = json.load(open('\\ud800.json'))\n\n"
        "    def __getitem__(self, index):\n        return self.rows[index], self.names[index]\n\n\n"
        "def main():\n    for rows in DataLoader(Rows(), num_workers=2, multiprocessing_context='spawn'):\n"
        "        pass\n"
    )
    done = check("data.py")
    assert done.err == "" or "internal error" not in done.err
    assert done.status < 2


def test_selecting_other_rules_hides_no_broken_file(check: Check, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:  # dllint: ignore[DLL001]\n")
    done = check(".", "--select", "DLL1", "--exit-zero")
    assert (done.status, [code for _, _, code in done.codes]) == (2, ["DLL001"])


def test_an_excluded_broken_file_does_not_count(check: Check, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert check(".", "--extend-exclude", "broken.py").codes == [OTHER]
    assert check("other.py").status == 1


def test_a_missing_path_is_named(check: Check) -> None:
    done = check("missing.py", "other.py")
    assert (done.status, done.codes) == (2, [OTHER])
    assert done.err.startswith("error: missing.py: no such file or directory\n")


def test_a_directory_without_python_is_named_and_no_failure(check: Check, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = check("empty")
    assert (done.status, done.codes) == (0, [])
    assert done.err == "warning: empty: no Python files in this directory\n"


def test_a_file_that_the_system_refuses_is_named(check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dllint import files

    real = files.read

    def read(path: str) -> bytes:
        if path.endswith("secret.py"):
            raise files.CannotRead("permission denied")
        return real(path)

    (tmp_path / "secret.py").write_text("x = 1\n")
    monkeypatch.setattr(files, "read", read)
    done = check()
    assert (done.status, done.codes) == (2, [OTHER, ("secret.py", 1, "DLL001")])
    assert done.found[1]["message"] == "This file was not checked, because it cannot be read: permission denied"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_links_that_go_round_or_nowhere(check: Check, tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    (tmp_path / "nowhere.py").symlink_to(tmp_path / "gone.py")
    (tmp_path / "again.py").symlink_to(tmp_path / "other.py")
    done = check()
    assert (done.status, done.codes, done.err) == (1, [OTHER], "")
    named = check("nowhere.py")
    assert (named.status, named.err) == (2, "error: nowhere.py: broken link\n")


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + HAZARD.encode(),
        HAZARD.replace("\n", "\r\n").encode(),
        HAZARD.replace("\n", "\r").encode(),
        HAZARD.rstrip("\n").encode(),
        HAZARD.replace("\n", "\x0c\n", 1).encode(),
        b"# -*- coding: latin-1 -*- \xe9\n" + HAZARD.replace("import DataLoader\n", "import DataLoader;").encode(),
    ],
    ids=["bom", "crlf", "cr", "no last line end", "form feed", "latin-1"],
)
def test_unusual_files_are_checked_like_others(check: Check, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.py").write_bytes(content)
    done = check()
    assert (done.status, done.codes, done.err) == (1, [OTHER], "")


def test_a_form_feed_is_no_line_end(check: Check, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("\x0c\n" + HAZARD)
    assert check().codes == [("other.py", 3, "DLL204")]


@pytest.mark.parametrize(
    "nested",
    [
        "(" * 1000 + ")" * 1000,
        "[" * 1000 + "]" * 1000,
        "-" * 100_000 + "1",
        "x" + ".y" * 10_000,
        "x" + "()" * 10_000,
        "lambda: " * 5_000 + "0",
    ],
    ids=["parentheses", "lists", "signs", "attributes", "calls", "lambdas"],
)
def test_deep_nesting_is_checked_or_named(check: Check, tmp_path: Path, nested: str) -> None:
    (tmp_path / "deep.py").write_text(f"import torch.utils.data.DataLoader\nx = {nested}\n")
    done = check()
    assert OTHER in done.codes
    assert done.err == ""
    assert [one for one in done.codes if one != OTHER] in ([], [("deep.py", 2, "DLL001")])
    assert done.status == (1 if done.codes == [OTHER] else 2)


def test_deep_blocks_are_checked_or_named(check: Check, tmp_path: Path) -> None:
    blocks = "".join("\t" * depth + "if DataLoader:\n" for depth in range(1000)) + "\t" * 1000 + "pass\n"
    (tmp_path / "deep.py").write_text(blocks)
    done = check()
    assert OTHER in done.codes and done.status in (1, 2) and done.err == ""


def test_fifty_thousand_lines(check: Check, tmp_path: Path) -> None:
    lines = ["import DataLoader", *["x = 1  # noqa: E501"] * 50_000, "y = 2  # dllint: ignore[DLL999]", ""]
    (tmp_path / "long.py").write_text("\n".join(lines))
    assert check().codes == [("long.py", 50_002, "DLL003"), OTHER]


@pytest.mark.parametrize("broken", ["[tool.dllint", "a = 1\na = 2\n", "\x00", "[" * 5000])
def test_a_broken_pyproject_is_one_line(check: Check, tmp_path: Path, broken: str) -> None:
    (tmp_path / "pyproject.toml").write_text(broken)
    done = check()
    assert (done.status, done.found) == (2, [])
    assert done.err.startswith(f"error: {tmp_path / 'pyproject.toml'}: is not valid TOML: ")
    assert done.err.count("\n") == 1
    assert check(".", "--isolated").codes == [OTHER]


def test_an_unknown_setting_names_the_nearest(check: Check, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.dllint]\nextend-selct = ["DLL1"]\n')
    done = check()
    assert done.status == 2
    assert done.err.endswith('pyproject.toml: unknown setting "extend-selct", did you mean "extend-select"?\n')


def test_a_crash_while_reading_one_file_stops_no_other(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dllint.facts import extract as module

    real = module.extract

    def extract(source: str) -> Any:
        if "crash" in source:
            raise ZeroDivisionError("division\nby zero")
        return real(source)

    (tmp_path / "crash.py").write_text(HAZARD + "# crash\n")
    monkeypatch.setattr(module, "extract", extract)
    done = check()
    assert (done.status, done.codes) == (2, [("crash.py", 1, "DLL001"), OTHER])
    assert "internal error, ZeroDivisionError: division by zero" in done.found[0]["message"]


def test_a_name_with_strange_characters(check: Check, tmp_path: Path) -> None:
    (tmp_path / "od d\n数据.py").write_text("def f(:\n")
    assert check().status == 2
    with pytest.raises(SystemExit) as ended:
        main(["check", ".", "--no-cache"])
    assert ended.value.code == 2
