"""Small files with many of one thing: each is checked within 5 s of processor time and 1 GiB of memory, or refused with
the limit that it exceeds. Work that grows with the square of their number would take longer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import test_table
from tests.hostile.test_table import FOUND, HAZARD, LOADERS, MEBIBYTES, SECONDS, Row, launchers, write
from tests.pace import slowness

pytestmark = pytest.mark.slow

SPAWNED = "num_workers=2, multiprocessing_context='spawn'"
REFUSED = "too large to be parsed: "


def many(pattern: str, number: int, head: str = HAZARD, end: str = "") -> Callable[[Path], None]:
    """Write `train.py`: the head, the pattern once per number from 0 (for each `@`), the end."""
    return write("train.py", head + "".join(pattern.replace("@", str(one)) for one in range(number)) + end)


HANDLES = """\
class D@(Dataset):
    def __init__(self, path):
        self.file = h5py.File('a@.h5')
    def __getitem__(self, i):
        return self.file['x'][i]
DataLoader(D@('x'), num_workers=2)
"""
CALLBACKS = "".join(
    f"def f{one}(call):\n    call(f{one})\n" + "".join(f"    f{other}(f{one})\n" for other in range(20))
    + "    DataLoader([], num_workers=2, collate_fn=call)\n"
    for one in range(20)
)  # fmt: skip
DEEP_CALLS = f"x = {'f(' * 90}{')' * 90}\n"
ROWS = [
    Row("8,000 cases of one `match`", many("    case @:\n        y = @\n", 8000, HAZARD + "match x:\n")),
    Row("5,000 cases, each after a pattern of many constants", many(
        "    case @:\n        y = @\n", 5000, f"{HAZARD}match x:\n    case {' | '.join(['1'] * 1000)}: pass\n")),
    Row("5,000 cases of a long subject", many(
        "    case @:\n        y = @\n", 5000, f"{HAZARD}match ({'a, ' * 3000}):\n")),
    Row("1,000 datasets that open handles, each with a loader", many(
        HANDLES, 1000, "import h5py\nfrom torch.utils.data import DataLoader, Dataset\n"), line="DLL402"),
    Row("10,000 lines with a suppression", many("x@ = 1  # noqa: DLL101\n", 10_000), line="500 of 10,001 fixes"),
    Row("1,500 loaders with lambdas", many(f"DataLoader([], {SPAWNED}, collate_fn=lambda x: x)\n", 1500, LOADERS)),
    Row("30 functions that each start all 30", write("train.py", launchers(30)), line="DLL101"),
    Row("20 callbacks that are passed to one another", write("train.py", f"{LOADERS}{CALLBACKS}f0(f1)\n"), 0,
        "No findings in 1 file."),
    Row("a chain of 4,000 calls", write(
        "train.py", LOADERS + "".join(f"def f{n}(d, w):\n    return f{n + 1}(d, w)\n" for n in range(4000))
        + "def f4000(d, w):\n    return DataLoader(d, num_workers=w)\nf0([], 3)\n"), 0, "No findings in 1 file."),
    Row("4,000 classes in a line of inheritance", write(
        "train.py", f"{LOADERS}class C0: pass\n" + "".join(f"class C{n}(C{n - 1}): pass\n" for n in range(1, 4000))
        + "DataLoader(C3999(), num_workers=2)\n"), 0, "No findings in 1 file."),
    Row("6,000 comprehensions in one list", write(
        "train.py", f"{LOADERS}x = [{', '.join(f'[a for a in b{n}]' for n in range(6000))}]\n"
        "DataLoader(x, num_workers=2)\n"), 0, "No findings in 1 file."),
    Row("1,000 pools and functions under the main guard", many(
        "    def w@(r): return r\n    Pool(2).map(w@, [1])\n", 1000,
        "from multiprocessing import Pool\nif __name__ == '__main__':\n"), line="DLL110"),
    Row("calls 90 deep on 500 lines", write("train.py", HAZARD + DEEP_CALLS * 500), 2,
        f"{REFUSED}brackets nest too deeply"),
    Row("sums of 2,500 numbers on 8 lines", write("train.py", HAZARD + f"x = {' + '.join(['1'] * 2500)}\n" * 8), 2,
        f"{REFUSED}too many operators in one expression"),
    Row("f-strings in f-strings on 10,000 lines", many("x = f'{f\"{a + @}\"}'\n", 10_000), line=FOUND),
    Row("one Python file whose name ends in capitals", lambda project: [
        (project / "train.py").unlink(), write("X.PY", HAZARD)(project)], line="X.PY"),
]  # fmt: skip


@pytest.mark.parametrize("row", [pytest.param(row, id=row.item) for row in ROWS])
def test_many_of_one_thing(tmp_path: Path, dllint: Callable[..., Any], row: Row) -> None:
    test_table.test_a_trigger_is_harmless(tmp_path, dllint, row)


def test_calls_of_moderate_depth_are_read(tmp_path: Path, check: Callable[..., Any]) -> None:
    write("train.py", HAZARD + f"x = {'f(' * 30}{')' * 30}\ny = {' + '.join(['1'] * 1000)}\n" * 3)(tmp_path)
    done = check(tmp_path, "--output-format", "json")
    assert [one["code"] for one in json.loads(done.stdout)] == [FOUND]
    assert done.seconds < SECONDS * slowness() and done.mebibytes < MEBIBYTES


def test_fix_takes_more_than_a_report_shows(tmp_path: Path, check: Callable[..., Any]) -> None:
    many("x@ = 1  # noqa: DLL101\n", 600, "")(tmp_path)
    done = check(tmp_path, "--output-format", "json")
    shown = sum(bool(one["fixes"]) for one in json.loads(done.stdout))
    assert shown == 500
    assert b"note: this report shows 500 of 600 fixes; `--fix` and `--diff` take all of them\n" in done.stderr
    again = check(tmp_path, "--output-format", "json")
    assert again.stderr == done.stderr and again.stdout == done.stdout
    assert check(tmp_path, "--fix").returncode == 0
    assert "noqa" not in (tmp_path / "train.py").read_text()


def test_the_limit_on_cases_is_told(tmp_path: Path, check: Callable[..., Any]) -> None:
    many("    case @:\n        y = @\n", 41, HAZARD + "match x:\n")(tmp_path)
    assert b"constants of one `match` that its later cases exclude" in check(tmp_path, "--verbose").stderr
    many("    case @:\n        y = @\n", 40, HAZARD + "match x:\n")(tmp_path)
    assert b"constants of one" not in check(tmp_path, "--verbose").stderr
