"""DLL302: the fields of unpickled records, by names that the code keeps somewhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DATASET = """\
import pickle
from torch.utils.data import DataLoader, Dataset
{imports}

class Drives(Dataset):
    {before}
    def __init__(self, path{params}):
        with open(path, "rb") as f:
            self.rows = pickle.load(f)
        {kept}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        {reading}

{after}
def main(path):
    return DataLoader({made}, num_workers=4)
"""


def dataset(
    *,
    imports: str = "",
    before: str = "size = 3",
    params: str = "",
    kept: str = "self.path = path",
    reading: str = "return self.rows[index][self.camera]['pose']",
    after: str = "",
    made: str = "Drives(path)",
) -> str:
    return DATASET.format(**locals())


FOUND: dict[str, str] = {
    "written there": dataset(reading="return self.rows[index]['front']['pose']"),
    "the default of a parameter": dataset(params=", camera='front'", kept="self.camera = camera"),
    "an argument": dataset(params=", camera", kept="self.camera = camera", made="Drives(path, 'front')"),
    "an attribute of the class": dataset(before="camera = 'front'"),
    "an attribute of a class that extends it": dataset(
        after="class Front(Drives):\n    def __init__(self, path):\n        super().__init__(path)\n"
        "        self.camera = 'front'\n\n",
        made="Front(path)",
    ),
    "a constant of another module": dataset(
        imports="from names import CAMERA\n", reading="row = self.rows[index]\n        return row[CAMERA]['pose']"
    ),
    "one of two, chosen by a flag": dataset(
        params=", train=True",
        kept="self.train = train",
        reading="key = 'train' if self.train else 'test'\n        return self.rows[index][key]",
    ),
}

SILENT: dict[str, str] = {
    "the number of a column": dataset(before="camera = 2", reading="return self.rows[index][self.camera]"),
    "a slice": dataset(before="camera = slice(0, 4)", reading="return self.rows[index][self.camera]"),
    "a name or a number": dataset(
        params=", camera=2",
        kept="self.camera = 'front' if path else camera",
        reading="return self.rows[index][self.camera]",
    ),
    "what nothing is known of": dataset(
        params=", camera",
        kept="self.camera = camera",
        reading="return self.rows[index][self.camera]",
        made="Drives(path, input())",
    ),
}


def of(source: str) -> dict[str, str]:
    return {"data.py": source, "names.py": "CAMERA = 'front'\n"}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(findings: Callable[..., Any], source: str) -> None:
    line = 1 + source[: source.index("self.rows = ")].count("\n")
    assert findings(of(source), select=["DLL302"]) == {("data.py", line, "DLL302")}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings(of(source), select=["DLL302"]) == set()
