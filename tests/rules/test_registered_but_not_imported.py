"""Classes whose decorator registers them in a file that no program imports: no lookup can return them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

REGISTRY = """\
class Registry:
    def __init__(self):
        self.known = {}

    def register(self):
        def add(cls):
            self.known[cls.__name__] = cls
            return cls
        return add

    def get(self, name):
        return self.known[name]

DATASETS = Registry()
"""
ROWS = """\
from torch.utils.data import Dataset
from registry import DATASETS

@DATASETS.register()
class Rows(Dataset):
    def __init__(self):
        self.scale = lambda x: 2 * x

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.scale(index)
"""
TRAIN = """\
from torch.utils.data import DataLoader
from registry import DATASETS
{imports}

if __name__ == "__main__":
    for rows in DataLoader(DATASETS.get(input())(), num_workers=2, multiprocessing_context="spawn"):
        print(rows)
"""


@pytest.mark.parametrize(
    ("imports", "found"),
    [
        ("", False),
        ("import rows", True),
        ("from importlib import import_module\nimport_module(input())", True),
        ("import pkgutil\nprint([one for one in pkgutil.iter_modules()])", True),
    ],
    ids=["not imported", "imported", "by name", "all modules"],
)
def test_a_registered_dataset_counts_once_a_program_can_import_it(
    imports: str, found: bool, findings: Callable[..., Any]
) -> None:
    files = {"registry.py": REGISTRY, "rows.py": ROWS, "train.py": TRAIN.format(imports=imports)}

    assert bool(findings(files, select=["DLL201"])) == found


@pytest.mark.parametrize(("imports", "severity"), [("import rows", "error"), ("", "warning")])
def test_an_error_of_cuda_needs_imports_that_lead_to_the_workers_code(
    imports: str, severity: str, told: Callable[..., Any]
) -> None:
    rows = ROWS.replace("self.scale(index)", 'torch.zeros(3).to("cuda")').replace(
        "from torch", "import torch\nfrom torch", 1
    )
    train = TRAIN.format(
        imports=f"from importlib import import_module\nimport torch\nimport_module(input())\n{imports}"
    )
    train = train.replace("spawn", "fork").replace("    for", "    torch.cuda.init()\n    for")
    (finding,) = told({"registry.py": REGISTRY, "rows.py": rows, "train.py": train}, select=["DLL103"])

    assert finding.severity == severity
