"""Given these cells, these findings, and these bytes after a fix."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dllint.cli import main

Make = Callable[..., Path]
IMPORTS = "from torch.utils.data import DataLoader, Dataset\n"
ROWS = """\
class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index
"""
LAMBDA = (
    "for x in DataLoader(range(8), num_workers=2, multiprocessing_context='spawn', collate_fn=lambda r: r):\n    pass\n"
)
WRITTEN = """\
%%writefile data.py
from torch.utils.data import Dataset
class Rows(Dataset):
    def __init__(self):
        self.load = lambda row: row
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return self.load(index)
"""


def check(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", *map(str, arguments), "--no-cache", "--jobs", "1", "--isolated"])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def found(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[tuple[str, str, int, int]]:
    """Code, name of the file, cell and line of each finding."""
    _, out, _ = check(capsys, *arguments, "--output-format", "json")
    objects: list[dict[str, Any]] = json.loads(out)
    return [(one["code"], Path(one["filename"]).name, one["cell"], one["location"]["row"]) for one in objects]


def test_places_are_by_cell_with_prose_counted(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook("#md Title", f"%matplotlib inline\n{IMPORTS}", "#md Then", f"!nvidia-smi\nx = 1\n{LAMBDA}")
    assert found(capsys, path) == [("DLL204", "train.ipynb", 4, 3)]
    assert found(capsys, path.parent) == [("DLL204", "train.ipynb", 4, 3)]
    _, out, _ = check(capsys, path)
    assert "train.ipynb:cell 4:3:" in out and "1 | !nvidia-smi" in out and "at train.ipynb:cell 4:3 " in out


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize(
    ("defined", "made"),
    [
        (ROWS, "DataLoader(Rows(), num_workers=2"),
        ("def stack(rows):\n    return rows\n", "DataLoader(range(8), num_workers=2, collate_fn=stack"),
        ("def seed(worker):\n    pass\n", "DataLoader(range(8), num_workers=2, worker_init_fn=seed"),
    ],
)
def test_what_a_cell_defines_is_unknown_to_workers(
    notebook: Make, capsys: pytest.CaptureFixture[str], defined: str, made: str, method: str
) -> None:
    path = notebook(IMPORTS, defined, f"for x in {made}, multiprocessing_context='{method}'):\n    print(x)\n")
    assert found(capsys, path) == [("DLL202", "train.ipynb", 2, 1)]
    path.with_suffix(".py").write_text(f"{IMPORTS}{defined}\nloader = {made}, multiprocessing_context='{method}')\n")
    path.unlink()
    assert ("DLL202", "train.py") not in [one[:2] for one in found(capsys, path.parent)]


@pytest.mark.parametrize("given", ["multiprocessing_context='fork'", "batch_size=2"])
def test_forked_workers_have_what_cells_define(notebook: Make, capsys: pytest.CaptureFixture[str], given: str) -> None:
    path = notebook(IMPORTS, ROWS, f"for x in DataLoader(Rows(), {given}, num_workers=2):\n    pass\n")
    assert found(capsys, path, "--target-python", "3.12", "--target-platform", "linux") == []


def test_the_cell_of_a_written_file_is_that_file(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    loader = "loader = DataLoader(Rows(), num_workers=2, multiprocessing_context='spawn')\n"
    path = notebook(IMPORTS, WRITTEN, f"from data import Rows\n{loader}")
    (path.parent / "data.py").write_text("class Rows:\n    pass\n")
    assert found(capsys, path) == [("DLL201", "train.ipynb", 2, 5)]
    before = path.read_text(encoding="utf-8")
    check(capsys, path, "--fix")
    after = path.read_text(encoding="utf-8")
    assert "".join(json.loads(after)["cells"][1]["source"]).startswith("%%writefile data.py\nfrom torch")
    assert (
        '"        self.load = _load\\n"' in after and (path.parent / "data.py").read_text() == "class Rows:\n    pass\n"
    )
    removed = [line for line in before.splitlines() if line not in after.splitlines()]
    assert [line.strip() for line in removed] == ['"        self.load = lambda row: row\\n",']


@pytest.mark.parametrize("lists", [True, False])
def test_a_fix_changes_the_source_and_nothing_else(
    notebook: Make, capsys: pytest.CaptureFixture[str], lists: bool
) -> None:
    odd = "!ls ‘ü’ \\u00e9 😀\nx = 1  # dllint: ignore[DLL201]\n%cd"
    path = notebook("#md Ünï", odd, "y = 2", lists=lists, kernelspec={"language": "python"}, other=[1.50, "\u2028"])
    before = path.read_bytes().replace(b"1.5", b"1.50e+0").replace(b'"id"', b'"id"  ')
    path.write_bytes(before)
    assert check(capsys, path, "--fix")[0] == 0
    assert path.read_bytes() == before.replace(b"  # dllint: ignore[DLL201]", b"")


def test_a_diff_is_by_cell(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook("x = 1", "y = 2  # dllint: ignore[DLL201]")
    before = path.read_bytes()
    status, out, _ = check(capsys, path, "--diff")
    assert status == 1 and f"--- {path}:cell 2\n" in out
    assert "-y = 2  # dllint: ignore[DLL201]\n" in out and "\n+y = 2\n" in out
    assert path.read_bytes() == before


def test_a_masked_line_is_never_fixed(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    timed = (
        "%time loader = DataLoader(range(8), num_workers=2, multiprocessing_context='spawn', collate_fn=lambda r: r)\n"
    )
    path = notebook(IMPORTS, timed)
    before = path.read_bytes()
    assert found(capsys, path) == [("DLL204", "train.ipynb", 2, 1)]
    assert '"fixes": []' in check(capsys, path, "--output-format", "json")[1]
    check(capsys, path, "--fix", "--unsafe-fixes")
    check(capsys, path, "--add-ignore")
    assert path.read_bytes() == before


def test_suppressions_go_into_the_cell(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook(IMPORTS, LAMBDA)
    check(capsys, path, "--add-ignore")
    cell = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][1]["source"])
    assert cell.splitlines()[1].endswith("  # dllint: ignore[DLL204]") or "ignore[DLL204]" in cell
    assert found(capsys, path) == []


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("import torch\n", 1, "not JSON"),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            1,
            "only a Git LFS pointer is here; `git lfs pull` fetches the file",
        ),
        ('{"cells": [\n{"cell_type": "code" "source": []}]}', 2, "not JSON: Expecting ',' delimiter"),
        ("[]", 1, "a notebook is a JSON object"),
        ("{}", 1, "no cells"),
        ('{"worksheets": []}', 1, "format 3"),
        ('{"cells": [], "a": ' + "[" * 100_000, 1, "nests too deeply"),
        ("", 1, "not JSON"),
    ],
)
def test_what_is_no_notebook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, line: int, reason: str
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    status, out, _ = check(capsys, path, "--output-format", "json")
    (one,) = json.loads(out)
    assert (status, one["code"], one["location"]["row"]) == (2, "DLL001", line) and reason in one["message"]


def test_a_cell_that_does_not_parse_is_named(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook("x = 1", "#md a", "y = 2\nprint 'a'\n")
    assert found(capsys, path) == [("DLL001", "train.ipynb", 3, 2)]


def test_await_and_an_empty_notebook_parse(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        found(
            capsys,
            notebook("await fetch()\n", "", "%%bash\nls", "x = 1\n!a \\\nb", "async with a as b:\n    pass", IMPORTS),
        )
        == []
    )


def test_standard_input_can_be_a_notebook(notebook: Make) -> None:
    path = notebook("x = 1  # dllint: ignore[DLL201]")
    command = [sys.executable, "-m", "dllint", "check", "-", "--fix", "--stdin-filename", path.name, "--isolated"]
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, cwd=path.parent, check=False)
    assert done.stdout == path.read_bytes().replace(b"  # dllint: ignore[DLL201]", b"")


def test_a_notebook_is_one_in_any_case(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    """As Python its JSON would be one valid expression without findings."""
    path = notebook(IMPORTS, LAMBDA)
    path = path.rename(path.with_name("TRAIN.IPYNB"))
    assert found(capsys, path) == [("DLL204", "TRAIN.IPYNB", 2, 1)]


@pytest.mark.parametrize("name", ["github", "lsp"])
def test_formats_that_know_files_only_name_the_line_of_the_document(
    notebook: Make, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = notebook(IMPORTS, LAMBDA)
    _, out, _ = check(capsys, path, "--output-format", name)
    lines = path.read_text(encoding="utf-8").splitlines()
    row = next(number for number, line in enumerate(lines, 1) if "for x in" in line)
    if name == "github":
        assert f"line={row},endLine={row}::cell 2, line 1: " in out
    else:
        assert json.loads(out)[0]["uri"] == f"{path.as_uri()}#cell-2"


def test_workers_cannot_import_a_main_module_without_a_file() -> None:
    """A kernel's `__main__` has neither `__file__` nor `__spec__`, as that of `python -c`."""
    pytest.importorskip("torch")
    program = (
        "import sys; main = sys.modules['__main__']\n"
        "assert main.__spec__ is None and not hasattr(main, '__file__')\n"
        f"{IMPORTS}{ROWS}"
        "for batch in DataLoader(Rows(), num_workers=1, multiprocessing_context='spawn'): pass\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "Can't get attribute 'Rows' on <module '__main__'" in done.stderr
    assert "exited unexpectedly" in done.stderr and done.returncode == 1


def test_a_notebook_is_not_traced(notebook: Make, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook(IMPORTS)
    with pytest.raises(SystemExit) as ended:
        main(["trace", str(path), "--isolated"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"error: {path}: a notebook is not traced; `dllint check {path}` checks it\n"
