"""Files that libraries for remote storage open: their lines are read as those of `open`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"], "target_python": "3.11"}
ROWS = """\
{imports}
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        with {opened} as file:
            self.rows = [line.strip().split(",") for line in file]  # DLL302

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index][1]

def build(path):
    return DataLoader(Rows(path), num_workers=4)
"""


@pytest.mark.parametrize(
    ("imports", "opened"),
    [
        ("from iopath.common.file_io import PathManager\nmanager = PathManager()", "manager.open(path)"),
        ("from iopath.common.file_io import g_pathmgr as manager", "manager.open(path, 'r')"),
        (
            "from iopath.common.file_io import PathManagerFactory\nmanager = PathManagerFactory.get(key='rows')",
            "manager.open(path)",
        ),
        ("from fvcore.common.file_io import PathManager", "PathManager.open(path)"),
        ("from detectron2.utils.file_io import PathManager", "PathManager.open(path)"),
        ("import fsspec", "fsspec.open(path, 'rt')"),
        ("import fsspec\nfs = fsspec.filesystem('gs')", "fs.open(path)"),
        ("import tensorflow as tf", "tf.io.gfile.GFile(path)"),
        ("from tensorflow.io import gfile", "gfile.GFile(path, 'r')"),
        ("import tensorflow.compat.v1 as tf", "tf.gfile.Open(path)"),
        ("from smart_open import open as smart", "smart(path)"),
    ],
)
def test_their_lines_are_data(imports: str, opened: str, findings: Callable[..., Any]) -> None:
    text = ROWS.format(imports=imports, opened=opened)
    line = text[: text.index("  # DLL302")].count("\n") + 1

    assert findings({"train.py": text.replace("  # DLL302", "")}, **SELECT) == {("train.py", line, "DLL302")}
