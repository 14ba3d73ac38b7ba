"""An import from a folder beside the program's own may find another package: what rests on it is no error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL201"]}
ROWS = """\
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)
"""
TRAIN = """\
from torch.utils.data import DataLoader
from library.rows import Rows

def main():
    for batch in DataLoader(Rows(), num_workers=4, multiprocessing_context="spawn"):
        print(batch)
"""
ADDED = "import sys\nsys.path.insert(0, 'other')\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        pytest.param({"one/train.py": TRAIN, "other/library/rows.py": ROWS}, "warning", id="a folder beside it"),
        pytest.param({"one/train.py": ADDED + TRAIN, "other/library/rows.py": ROWS}, "error", id="put on the path"),
        pytest.param(
            {"one/train.py": TRAIN, "other/library/rows.py": ROWS, "other/setup.py": ""}, "error", id="installed"
        ),
        pytest.param({"one/train.py": TRAIN, "library/rows.py": ROWS}, "error", id="below the top"),
        pytest.param({"one/train.py": TRAIN, "one/library/rows.py": ROWS}, "error", id="beside the program"),
        pytest.param({"one/two/train.py": TRAIN, "one/library/rows.py": ROWS}, "error", id="in the folder above"),
    ],
)
def test_severity(files: dict[str, str], severity: str, told: Callable[..., Any]) -> None:
    (package,) = {path.rsplit("/", 1)[0] for path in files if path.endswith("rows.py")}

    (finding,) = told({**files, f"{package}/__init__.py": ""}, **SELECT)

    assert finding.severity == severity
