"""Datasets that no loader of the project is seen to read, beside loaders that read whatever their callers pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dllint import linter
from dllint.config import Settings
from dllint.project import model

ENGINE = """\
from torch.utils.data import DataLoader

class Engine:
    def __init__(self, train_set, num_workers=4):
        self.train_set = train_set
        self.num_workers = num_workers

    def loader(self):
        return DataLoader(self.train_set, batch_size=8, shuffle=True, num_workers=self.num_workers)
"""
ROWS = """\
import json
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.scale = lambda x: 2 * x  # DLL201
        self.rows = [json.loads(line) for line in open(path)]  # DLL302

    def __getitem__(self, index):
        return self.scale(self.rows[index]["text"])
"""
UNMARKED = ROWS.replace("  # DLL201", "").replace("  # DLL302", "")
FOUND: dict[str, dict[str, str]] = {
    "a loader of a parameter that nobody passes": {"engine.py": ENGINE, "rows.py": ROWS},
    "a class that is only named as a dataset": {
        "engine.py": ENGINE,
        "rows.py": ROWS.replace("(Dataset)", "(EasyDataset)").replace(
            "class Rows", "class EasyDataset:\n    def __len__(self):\n        return 9\n\nclass Rows"
        ),
    },
    "half of a dataset that nobody passes": {
        "engine.py": "from torch.utils.data import ConcatDataset, DataLoader, random_split\n\n"
        "def loader(dataset):\n    train, rest = random_split(dataset, [0.5, 0.5])\n"
        "    return DataLoader(ConcatDataset([train]), num_workers=4)\n",
        "rows.py": ROWS,
    },
    "what an unknown object builds": {
        "engine.py": "from torch.utils.data import DataLoader\n\n"
        "def loader(config):\n    return DataLoader(config.data.build(), num_workers=4)\n",
        "rows.py": ROWS,
    },
    "an attribute of a library's base class": {
        "engine.py": "from lightning import LightningDataModule\nfrom torch.utils.data import DataLoader\n\n"
        "class Data(LightningDataModule):\n    def train_dataloader(self):\n"
        "        return DataLoader(self.rows['train'], num_workers=4)\n",
        "rows.py": ROWS,
    },
    "a loader in a function": {
        "engine.py": "from torch.utils.data import DataLoader\n\n"
        "def loader(dataset, options):\n    return DataLoader(dataset, num_workers=options.workers)\n",
        "rows.py": ROWS,
    },
    "a base class with a method that its subclass calls": {
        "engine.py": ENGINE,
        "rows.py": ROWS.replace("class Rows", "class Base").replace("__init__", "load")
        + "\nclass Rows(Base):\n    def __init__(self, path):\n        self.load(path)\n",
    },
    "a handle inside the object that the dataset keeps": {
        "engine.py": ENGINE,
        "store.py": "import h5py\n\nclass Store:\n    def __init__(self, path):\n"
        "        self.file = h5py.File(path)  # DLL203\n",
        "rows.py": "from torch.utils.data import Dataset\nfrom store import Store\n\nclass Rows(Dataset):\n"
        "    def __init__(self, path):\n        self.store = Store(path)\n\n"
        "    def __getitem__(self, index):\n        return self.store.file['x'][index]\n",
    },
}
SILENT: dict[str, dict[str, str]] = {
    "the dataset of another program, beside one of the same name": {
        "first/engine.py": ENGINE,
        "first/rows.py": UNMARKED,
        "first/eval.py": "from torch.utils.data import DataLoader\nfrom rows import Rows\n\n"
        "def evaluate(path):\n    return list(DataLoader(Rows(path), num_workers=0))\n",
        "second/rows.py": UNMARKED,
    },
    "no workers": {"engine.py": ENGINE.replace("num_workers=self.num_workers", "num_workers=0"), "rows.py": UNMARKED},
    "no loader": {"rows.py": UNMARKED},
    "a class with items that is not named as a dataset": {
        "engine.py": ENGINE,
        "rows.py": UNMARKED.replace("(Dataset)", "") + "\n    def __len__(self):\n        return len(self.rows)\n",
    },
    "a class named as a dataset, of no length": {
        "engine.py": ENGINE,
        "rows.py": UNMARKED.replace("class Rows(Dataset)", "class RowsDataset"),
    },
    "a loader without workers reads it": {
        "engine.py": ENGINE,
        "rows.py": UNMARKED,
        "eval.py": "from torch.utils.data import DataLoader\nfrom rows import Rows\n\n"
        "def evaluate(path):\n    return list(DataLoader(Rows(path), num_workers=0))\n",
    },
    "the loader's dataset is known": {
        "engine.py": ENGINE,
        "rows.py": UNMARKED,
        "main.py": "import torch\nfrom torch.utils.data import TensorDataset\nfrom engine import Engine\n\n"
        'if __name__ == "__main__":\n    print(Engine(TensorDataset(torch.zeros(9))).loader())\n',
    },
    "a list": {
        "engine.py": "from torch.utils.data import DataLoader\n\n"
        "def loader(dataset):\n    return DataLoader(list(dataset), num_workers=4)\n",
        "rows.py": UNMARKED,
    },
    "what the loader's own file does with the dataset is known": {
        "engine.py": f'from rows import Rows\n{ENGINE}\nif __name__ == "__main__":\n    print(Rows("x")[0])\n',
        "rows.py": UNMARKED,
    },
    "what a method of the dataset returns": {
        "engine.py": "from torch.utils.data import DataLoader\n\n"
        "def loader(data):\n    return DataLoader(data.tensors(), num_workers=4)\n",
        "rows.py": f"{UNMARKED}\n    def tensors(self):\n        return self.made\n",
    },
    "a test's loader": {"test_engine.py": ENGINE, "rows.py": UNMARKED},
    "a test's dataset": {"engine.py": ENGINE, "test_rows.py": UNMARKED},
    "a loader that shuffles cannot read an iterable dataset": {
        "engine.py": ENGINE,
        "rows.py": UNMARKED.replace("Dataset", "IterableDataset").replace("__getitem__(self, index)", "__iter__(self)"),
    },
    "another program's dataset": {
        "one.py": f'{ENGINE}\nif __name__ == "__main__":\n    print(Engine(__import__("plugins").rows()).loader())\n',
        "two.py": f'{UNMARKED}\nif __name__ == "__main__":\n    print(Rows("x")[0])\n',
    },
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_what_the_dataset_keeps_is_info(
    told: Callable[..., Any], relative: Callable[[str], str], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    found = told(files, select=["DLL2", "DLL3"])

    assert {(relative(one.path), one.span.line, one.code) for one in found} == marks(files)
    assert {one.severity for one in found} == {"info"}
    for one in found:
        assert one.text.endswith("reads such a dataset: no call in the project shows which it reads")
        assert any(place.path.endswith("engine.py") for place in one.related)


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_nothing_is_assumed(findings: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, select=["DLL2", "DLL3"]) == set()


def test_a_known_dataset_is_no_assumption(told: Callable[..., Any]) -> None:
    main = (
        "from engine import Engine\nfrom rows import Rows\n\n"
        'if __name__ == "__main__":\n    Engine(Rows("x")).loader()\n'
    )
    found = told({"engine.py": ENGINE, "rows.py": ROWS, "main.py": main}, select=["DLL201"], target_python="3.14")

    assert [(one.severity, "assumes" in one.text) for one in found] == [("error", False)]


def test_fixes_are_shown_only(told: Callable[..., Any]) -> None:
    rows = (
        "import cv2\nfrom torch.utils.data import Dataset\n\nclass Rows(Dataset):\n"
        "    def __getitem__(self, index):\n        return cv2.resize(self.images[index], (640, 640))\n"
    )
    found = told({"engine.py": ENGINE, "rows.py": rows}, select=["DLL501"])

    assert [fix.applicability for one in found for fix in one.fixes] == ["suggestion"]


def test_a_crash_keeps_the_other_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyError("rows")

    monkeypatch.setattr(model, "assumed_loaders", crash)
    main = f'{ROWS}\nfrom engine import Engine\n\nEngine(Rows("x")).loader()\n'
    report = linter.check_sources({"engine.py": ENGINE, "rows.py": main}, Settings(root="", select=("DLL201",)))

    assert [one.code for one in report.findings] == ["DLL201"]
    assert [one.partition(": ")[0] for one in report.problems] == [
        "internal error in looking for datasets that no loader reads"
    ]
