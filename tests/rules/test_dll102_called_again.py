"""DLL102: a function that several calls of one program reach, each with other arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

NET = """\
from torch.utils.data import DataLoader
class Net:
    def __init__(self, rows):
        self.rows = rows
    def fit(self, workers=1):
        self._fit(workers=workers)
    def _fit(self, workers=1):
        train = DataLoader(self.rows, num_workers=workers)
        valid = DataLoader(self.rows, num_workers=workers)
        for _ in range(9):
            self._epoch(train, True)
            self._epoch(valid, False)
    def _epoch(self, loader, training):
        for batch in loader:
            print(batch, training)
"""
OTHER = "from net import Net\ndef search(rows):\n    Net(rows).fit()\n"
FUNCTIONS = """\
from torch.utils.data import DataLoader
def epoch(loader):
    for batch in loader: print(batch)
def fit(rows, workers=1):
    loader = DataLoader(rows, num_workers=workers)
    epoch(loader)
    epoch(loader)
"""
MODES = (
    "from torch.utils.data import DataLoader\n"
    "def go(rows, mode):\n"
    "    if mode == 'train':\n"
    "        for batch in DataLoader(rows, num_workers=2): print(batch)\n"
)
CALLS = "".join(f"go([1], 'test{n}')\n" for n in range(9))
PROGRAMS: dict[str, dict[str, str]] = {
    "no workers here, one by default elsewhere": {
        "net.py": NET,
        "search.py": OTHER,
        "run.py": "import search\nfrom net import Net\nNet([1, 2]).fit(workers=0)\n",
    },
    "two workers here": {
        "net.py": NET,
        "search.py": OTHER,
        "run.py": "import search\nfrom net import Net\nNet([1, 2]).fit(workers=2)  # DLL102\n",
    },
    "the default here": {
        "net.py": NET,
        "run.py": "from net import Net\nNet([1, 2]).fit()  # DLL102\n",
    },
    "functions of a module": {
        "net.py": FUNCTIONS,
        "search.py": "from net import fit\ndef search(rows):\n    fit(rows, 4)\n",
        "run.py": "import search\nfrom net import fit\nfit([1, 2], workers=0)\n",
    },
    "one call of ten that starts them": {"run.py": f"{MODES}{CALLS}go([1], 'train')  # DLL102\n"},
    "nine calls that start none": {"run.py": f"{MODES}{CALLS}"},
    "one call of ten below one function": {
        "run.py": f"{MODES}def main():\n"
        + "".join(f"    go([1], 'test{n}')\n" for n in range(9))
        + "    go([1], 'train')\nmain()  # DLL102\n"
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
def test_each_call_counts_for_itself(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, select=["DLL102"]) == marks(files)
