"""DLL501: one finding for all that one cap fixes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SELECT = {"select": ["DLL501"]}
DATASET = """\
import cv2
from torch.utils.data import Dataset

class {name}(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return cv2.GaussianBlur(cv2.imread(self.paths[index]), (5, 5), 0)
"""
ROWS, WORDS = DATASET.format(name="Rows"), DATASET.format(name="Words")
LOADING = """\
from torch.utils.data import DataLoader

def make_loader(dataset):
    return DataLoader(dataset, num_workers=4)
"""
PROGRAM = """
if __name__ == "__main__":
    for batch in make_loader(make(sys.argv[1])):
        print(batch)
"""
CHOOSING = """\
import sys

from loading import make_loader
from rows import Rows
from words import Words

def make(name):
    return Rows([name]) if name.startswith("i") else Words([name])
"""


def test_datasets_of_one_loader(told: Callable[..., Any]) -> None:
    files = {"rows.py": ROWS, "words.py": WORDS, "loading.py": LOADING, "train.py": CHOOSING + PROGRAM}

    (finding,) = told(files, **SELECT)

    assert (finding.path.rsplit("/", 1)[-1], finding.span.line) == ("rows.py", 12)
    others = [(one.path.rsplit("/", 1)[-1], one.span.line, one.message) for one in finding.related if one.alike]
    assert others == [("words.py", 12, "`cv2.GaussianBlur` starts them too")]


def test_the_finding_is_not_beside_itself(told: Callable[..., Any]) -> None:
    """The workers of one loader run both calls, one after the other: the first of them is the finding."""
    rows = ROWS.replace(", (5, 5), 0)", ", (5, 5), 0), sharp(index)") + "\nfrom sharp import sharp\n"
    sharp = "import cv2\n\ndef sharp(image):\n    return cv2.Laplacian(image, 3)\n"
    files = {
        "rows.py": rows,
        "sharp.py": sharp,
        "words.py": WORDS,
        "loading.py": LOADING,
        "train.py": CHOOSING + PROGRAM,
    }

    (finding,) = told(files, **SELECT)

    assert (finding.path, finding.span) not in [(one.path, one.span) for one in finding.related]


def test_datasets_in_one_file(told: Callable[..., Any]) -> None:
    files = {
        "data.py": ROWS + WORDS.split("import Dataset\n")[1],
        "loading.py": LOADING,
        "train.py": CHOOSING.replace("rows", "data").replace("words", "data") + PROGRAM,
    }

    (finding,) = told(files, **SELECT)

    assert finding.span.line == 12


def test_each_program_imports_its_own_dataset(told: Callable[..., Any]) -> None:
    program = "import sys\n\nfrom loading import make_loader\nfrom {0} import {1}\n\n"
    program += "def make(name):\n    return {1}([name])\n" + PROGRAM
    files = {
        "rows.py": ROWS,
        "words.py": WORDS,
        "loading.py": LOADING,
        "train.py": program.format("rows", "Rows"),
        "read.py": program.format("words", "Words"),
    }

    assert sorted(one.path.rsplit("/", 1)[-1] for one in told(files, **SELECT)) == ["rows.py", "words.py"]


def test_loaders_of_their_own(told: Callable[..., Any]) -> None:
    files = {
        "rows.py": ROWS,
        "words.py": WORDS,
        "train.py": """\
from torch.utils.data import DataLoader
from rows import Rows
from words import Words

if __name__ == "__main__":
    for batch in DataLoader(Rows(["a.png"]), num_workers=4):
        print(batch)
    for batch in DataLoader(Words(["a.png"]), num_workers=4):
        print(batch)
""",
    }

    assert len(told(files, **SELECT)) == 2


def test_a_cap_in_the_module_of_the_finding_is_enough(told: Callable[..., Any]) -> None:
    capped = ROWS.replace("import cv2\n", "import cv2\ncv2.setNumThreads(0)\n")
    files = {"rows.py": capped, "words.py": WORDS, "loading.py": LOADING, "train.py": CHOOSING + PROGRAM}

    assert told(files, **SELECT) == ()
