"""Where two rules, or several loaders, meet at one cause: who speaks, and how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.test_ways_to_a_loader import HAZARDS, HEAD, IMPORTS

ONE_CAUSE = [code for code, hazard in HAZARDS.items() if not hazard.here]

BUILD = "def build():\n    return DataLoader(Data(), {})\n"


@pytest.mark.parametrize("code", ONE_CAUSE)
def test_one_cause_of_three_loaders_is_one_finding(code: str, told: Callable[..., Any]) -> None:
    options, data, _ = HAZARDS[code]
    loaders = "".join(f"def build_{name}():\n    return DataLoader(Data(), {options})\n\n\n" for name in "abc")

    (finding,) = told({"data.py": HEAD + data, "train.py": IMPORTS + loaders}, select=[code])

    lines = [number for number, line in enumerate((IMPORTS + loaders).splitlines(), 1) if "return DataLoader" in line]
    places = {place.span.line for place in finding.related if place.path.endswith("train.py")}
    assert places == set(lines)


def codes(found: Any) -> list[str]:
    return sorted(one.code for one in found)


def test_a_cap_that_is_not_inherited_is_no_missing_cap(told: Callable[..., Any]) -> None:
    options, data, _ = HAZARDS["DLL503"]
    files = {"data.py": HEAD + data, "train.py": IMPORTS + BUILD.format(options)}

    assert codes(told(files, select=["DLL501", "DLL503"])) == ["DLL503"]

    files["data.py"] = files["data.py"].replace("cv2.setNumThreads(0)", "pass")
    assert codes(told(files, select=["DLL501", "DLL503"])) == ["DLL501"]


def test_a_variable_without_effect_and_a_missing_cap_are_two(told: Callable[..., Any]) -> None:
    options, data, _ = HAZARDS["DLL501"]
    variable = 'import os\n\nos.environ["OPENCV_OPENMP_NUM_THREADS"] = "1"\n'
    files = {"data.py": variable + HEAD + data, "train.py": IMPORTS + BUILD.format(options)}

    assert codes(told(files, select=["DLL5"])) == ["DLL501", "DLL502"]


@pytest.mark.parametrize(
    ("method", "expected"), [("spawn", ["DLL206"]), ("forkserver", ["DLL206"]), ("fork", ["DLL206", "DLL602"])]
)
def test_a_torch_generator_repeats_only_where_it_arrives_and_a_fork_is_told_of_the_rest_on_request(
    method: str, expected: list[str], told: Callable[..., Any]
) -> None:
    options, data, _ = HAZARDS["DLL206"]
    options = options.replace("spawn", method)
    files = {"data.py": HEAD + data, "train.py": IMPORTS + BUILD.format(options)}

    assert codes(told(files, select=["DLL206", "DLL602"])) == expected


MADE = """
from collections import namedtuple

from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __init__(self, names):
        {body}

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return index


def build():
    return DataLoader(Data("a b"), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.row = namedtuple('Row', names)", ["DLL203"]),
        ("class Row:\n            pass\n\n        self.row = Row", ["DLL202"]),
        ("class Row:\n            pass\n\n        self.row = Row()", ["DLL202"]),
        ("def row():\n            return 1\n\n        self.row = row", ["DLL202"]),
        ("self.row = lambda: 1", ["DLL201"]),
        ("self.row = open(names)", ["DLL203"]),
    ],
)
def test_each_thing_that_cannot_be_pickled_has_one_rule(
    body: str, expected: list[str], told: Callable[..., Any]
) -> None:
    assert codes(told({"train.py": MADE.format(body=body)}, select=["DLL2"])) == expected


def test_a_file_that_is_shared_by_fork_and_sent_by_spawn(told: Callable[..., Any]) -> None:
    _, data, _ = HAZARDS["DLL402"]
    loaders = "".join(
        f'loader = DataLoader(Data(), num_workers=2, multiprocessing_context="{one}")\n' for one in ("fork", "spawn")
    )
    files = {"data.py": HEAD + data, "train.py": IMPORTS + loaders}

    assert codes(told(files, select=["DLL203", "DLL402"])) == ["DLL203", "DLL402"]


def test_a_lambda_that_a_dataset_keeps_and_the_loader_calls(findings: Callable[..., Any]) -> None:
    text = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, merge):
        self.merge = merge

    def __getitem__(self, index):
        return index

merge = lambda rows: rows[0]
loader = DataLoader(Rows(merge), collate_fn=merge, num_workers=2, multiprocessing_context="spawn")
"""
    other = text.replace("Rows(merge)", "Rows(lambda rows: rows)")

    assert findings({"train.py": text}, select=["DLL201", "DLL204"]) == {("train.py", 10, "DLL204")}
    assert findings({"train.py": other}, select=["DLL201", "DLL204"]) == {
        ("train.py", 10, "DLL204"),
        ("train.py", 11, "DLL201"),
    }
