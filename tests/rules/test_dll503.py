"""DLL503: where only the parent caps OpenCV's threads and workers do not inherit that, and where they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

BOTH = {"select": ["DLL501", "DLL503"]}

DATA = """\
import cv2
from torch.utils.data import Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        return cv2.resize(index, (640, 480))  # DLL503
"""
CLEAN = DATA.replace("  # DLL503", "")
LAUNCHED = """\
import cv2
import torch.multiprocessing as mp
from torch.utils.data import DataLoader
from data import Rows

def worker(rank):
    return DataLoader(Rows(), num_workers=4)

def main():
    {cap}
    mp.spawn(worker, nprocs=2)

if __name__ == "__main__":
    main()
"""
BUILD = "from torch.utils.data import DataLoader\nfrom data import Rows\n"

FOUND: dict[str, dict[str, str]] = {
    "under the guard, workers spawned": {
        "data.py": DATA,
        "train.py": """\
import cv2
from torch.utils.data import DataLoader
from data import Rows

if __name__ == "__main__":
    cv2.setNumThreads(0)
    loader = DataLoader(Rows(), num_workers=4, multiprocessing_context="spawn")
""",
    },
    "in the function that launches": {"data.py": DATA, "train.py": LAUNCHED.format(cap="cv2.setNumThreads(0)")},
    "in a helper of another file that the launching function calls": {
        "data.py": DATA,
        "threads.py": """\
import cv2 as cv

def limit():
    try:
        cv.setNumThreads(1)
    except Exception:
        pass
""",
        "train.py": LAUNCHED.format(cap="limit()").replace("import cv2", "from threads import limit"),
    },
    "in the launched function itself": {
        "data.py": DATA,
        "train.py": LAUNCHED.format(cap="pass").replace(
            "    return DataLoader", "    cv2.setNumThreads(0)\n    return DataLoader"
        ),
    },
    "in the dataset's __init__": {
        "data.py": DATA.replace(
            "    def __getitem__", "    def __init__(self):\n        cv2.setNumThreads(0)\n\n    def __getitem__"
        ),
        "train.py": BUILD
        + "def build():\n    return DataLoader(Rows(), num_workers=4, multiprocessing_context='forkserver')\n",
    },
    "in what the __init__ of a base class calls": {
        "base.py": """\
import cv2
from torch.utils.data import Dataset

class Base(Dataset):
    def __init__(self):
        self.limit()

    def limit(self):
        cv2.setNumThreads(0)
""",
        "data.py": DATA.replace("class Rows(Dataset)", "from base import Base\nclass Rows(Base)"),
        "train.py": BUILD
        + """\
OPTIONS = dict(num_workers=4, multiprocessing_context="spawn")

def build():
    return DataLoader(Rows(), **OPTIONS)
""",
    },
    "in main, and the default of a later Python": {
        "data.py": DATA,
        "train.py": BUILD
        + """\
import cv2

def main():
    cv2.setNumThreads(0)
    return DataLoader(Rows(), num_workers=4)

if __name__ == "__main__":
    main()
""",
    },
    "the start method depends on an option": {
        "data.py": DATA,
        "train.py": LAUNCHED.format(cap="cv2.setNumThreads(0)").replace(
            "mp.spawn(worker, nprocs=2)",
            'mp.start_processes(worker, nprocs=2, start_method="fork" if small() else "spawn")',
        ),
    },
}

SILENT: dict[str, dict[str, str]] = {
    "at the top of the launching script": {
        "data.py": CLEAN,
        "train.py": LAUNCHED.format(cap="pass").replace("def worker", "cv2.setNumThreads(0)\n\ndef worker"),
    },
    "at the top of the dataset's module": {
        "data.py": CLEAN + "\ncv2.setNumThreads(0)\n",
        "train.py": LAUNCHED.format(cap="cv2.setNumThreads(0)"),
    },
    "in worker_init_fn too": {
        "data.py": CLEAN,
        "train.py": LAUNCHED.format(cap="cv2.setNumThreads(0)").replace(
            "num_workers=4", "num_workers=4, worker_init_fn=lambda index: cv2.setNumThreads(0)"
        ),
    },
    "forked workers": {
        "data.py": CLEAN,
        "train.py": BUILD
        + """\
import cv2

def main():
    cv2.setNumThreads(0)
    return DataLoader(Rows(), num_workers=4, multiprocessing_context="fork")

if __name__ == "__main__":
    main()
""",
    },
    "in the __init__, forked workers": {
        "data.py": CLEAN.replace(
            "    def __getitem__", "    def __init__(self):\n        cv2.setNumThreads(0)\n\n    def __getitem__"
        ),
        "train.py": BUILD + "loader = DataLoader(Rows(), num_workers=4, multiprocessing_context='fork')\n",
    },
    "no workers": {
        "data.py": CLEAN,
        "train.py": LAUNCHED.format(cap="cv2.setNumThreads(0)").replace("num_workers=4", "num_workers=0"),
    },
    "the variable, which every process inherits": {
        "data.py": CLEAN,
        "train.py": "import os\nos.environ['OPENCV_FOR_THREADS_NUM'] = '1'\n"
        + LAUNCHED.format(cap="cv2.setNumThreads(0)"),
    },
    "workers only decode": {
        "data.py": CLEAN.replace("resize(index, (640, 480))", "imread(index)"),
        "train.py": LAUNCHED.format(cap="cv2.setNumThreads(0)"),
    },
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_caps_that_stay_in_the_parent_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **BOTH) == marks(files)


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_caps_that_reach_the_workers_are_silent(findings: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, **BOTH) == set()


def test_a_target_without_forkserver_by_default_is_silent(findings: Callable[..., Any]) -> None:
    files = {
        name: text.replace("  # DLL503", "")
        for name, text in FOUND["in main, and the default of a later Python"].items()
    }
    assert findings(files, target_python=">=3.10,<3.14", **BOTH) == set()


def test_the_cap_and_the_way_to_the_workers_are_named(told: Callable[..., Any]) -> None:
    (finding,) = told(FOUND["in the function that launches"], **BOTH)

    assert "the cap at train.py:10" in finding.text
    assert finding.start_methods == ("spawn",)
    assert finding.trace[0].span.line == 11
    assert finding.related[0].span.line == 10


def test_a_cap_that_nobody_runs_is_no_cap(findings: Callable[..., Any]) -> None:
    files = {
        "data.py": CLEAN,
        "train.py": LAUNCHED.format(cap="pass") + "\ndef unused():\n    cv2.setNumThreads(0)\n",
    }
    assert findings(files, **BOTH) == {("data.py", 6, "DLL501")}


def test_one_cap_serves_all_modules_of_the_same_workers(told: Callable[..., Any]) -> None:
    mixed = (
        "import cv2\nfrom torch.utils.data import Dataset\n\nclass Mixed(Dataset):\n"
        "    def __init__(self, rows):\n        self.rows = rows\n\n"
        "    def __getitem__(self, index):\n        return cv2.resize(self.rows[index], (640, 480))\n"
    )
    train = LAUNCHED.format(cap="cv2.setNumThreads(0)").replace("Rows()", "Mixed(Rows())")
    files = {
        "data.py": CLEAN,
        "mixed.py": mixed,
        "train.py": train.replace("from data", "from mixed import Mixed\nfrom data"),
    }
    found = told(files, **BOTH)
    assert [one.path.rpartition("/")[2] for one in found] == ["data.py", "mixed.py"]
    assert len({fix.edits for one in found for fix in one.fixes}) == 1
