"""Edits that a maintainer would refuse, as they were seen when the fixes of public repositories were read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dllint.fixes.passes import applicable, fix_until_stable

Told = Callable[..., Any]

DATASET = """\
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.scale = lambda row: row * 2

    def __getitem__(self, index):
        return self.scale(index)
"""


def test_an_edit_that_changes_nothing_is_shown_and_not_made(told: Told) -> None:
    (finding,) = told(
        {
            "train.py": "import torch.distributed as dist\nimport torch.multiprocessing as mp\n"
            "from torch.utils.data import DataLoader\n\n\ndef work(rank, dataset):\n"
            "    dist.init_process_group('nccl')\n    for batch in DataLoader(dataset, num_workers=4):\n"
            "        print(batch)\n\n\ndef main(dataset):\n    mp.spawn(work, (dataset,), nprocs=2)\n"
        }
    )
    (explicit,) = finding.fixes
    assert explicit.edits[0].value == '"spawn"'
    assert explicit.applicability == "suggestion"
    assert applicable(finding, unsafe=True) is None


def test_what_fails_nowhere_yet_is_not_rewritten(told: Told) -> None:
    files = {
        "train.py": "import argparse\n" + DATASET + "\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--workers', type=int, default=0)\n"
        "    return DataLoader(Rows(), num_workers=parser.parse_args().workers)\n"
    }
    (finding,) = told(files)
    assert (finding.code, finding.severity) == ("DLL201", "info")
    assert [fix.applicability for fix in finding.fixes] == ["suggestion"]


@pytest.mark.parametrize(("context", "severity"), [("None", "info"), ("'spawn'", "warning")])
def test_what_weighs_less_in_tests_is_not_rewritten(told: Told, context: str, severity: str) -> None:
    text = (
        f"{DATASET}\n\ndef build():\n    return DataLoader(Rows(), num_workers=2, multiprocessing_context={context})\n"
    )
    found = told({"tests/test_rows.py": text, "pyproject.toml": "[tool.dllint]\n"})
    (finding,) = (one for one in found if one.code == "DLL201")
    assert (finding.code, finding.severity) == ("DLL201", severity)
    assert [fix.applicability for fix in finding.fixes] == ["suggestion"]


def test_equal_lambdas_become_one_function(told: Told) -> None:
    text = (
        "from torch.utils.data import DataLoader\n\n\n"
        "def one(data):\n"
        "    return DataLoader(data, num_workers=2, multiprocessing_context='spawn', collate_fn=lambda x: x[0])\n\n\n"
        "def two(data):\n"
        "    return DataLoader(data, num_workers=2, multiprocessing_context='spawn', collate_fn=lambda x: x[0])\n\n\n"
        "def three(dataset):\n"
        "    return DataLoader(dataset, 8, num_workers=2, multiprocessing_context='spawn', collate_fn=lambda x: x[1])\n"
    )

    def check(texts: dict[str, str]) -> Any:
        return told({"train.py": next(iter(texts.values()), text)})

    ((_, new),) = fix_until_stable(check, lambda path: text).texts.values()
    assert new.count("def _collate_fn(x):\n    return x[0]\n") == 1
    assert new.count("collate_fn=_collate_fn)") == 2
    assert new.count("collate_fn=_collate_fn_2)") == 1


def test_a_function_further_down_does_not_serve_code_of_the_module(told: Told) -> None:
    text = (
        "from torch.utils.data import DataLoader\n\n"
        "LOADER = DataLoader(range(9), num_workers=2, multiprocessing_context='spawn', collate_fn=lambda x: x[0])\n\n\n"
        "def _collate_fn(x):\n    return x[0]\n"
    )
    (fix,) = next(one for one in told({"train.py": text}) if one.code == "DLL204").fixes
    assert "`_collate_fn_2`" in fix.title


def test_persistent_workers_that_a_caller_decides_are_left_to_it(told: Told) -> None:
    text = (
        "import lmdb\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Rows(Dataset):\n    def __init__(self, path):\n        self.path = path\n        self.env = None\n\n"
        "    def __getitem__(self, index):\n        if self.env is None:\n"
        "            self.env = lmdb.open(self.path, readonly=True, lock=False)\n        return self.env\n\n\n"
        "def build(path, persistent_workers=True):\n"
        "    return DataLoader(Rows(path), num_workers=2, persistent_workers={})\n"
    )
    (finding,) = (one for one in told({"train.py": text.format("persistent_workers")}) if one.code == "DLL401")
    assert finding.fixes == ()
    (finding,) = (one for one in told({"train.py": text.format("True")}) if one.code == "DLL401")
    assert len(finding.fixes) == 1


def test_no_persistent_workers_beside_a_count_that_comes_with_other_options(told: Told) -> None:
    text = (
        "import torch\nimport torch.multiprocessing as mp\nfrom torch.utils.data import DataLoader\n\n\n"
        "def train(rank, dataset, model, options):\n    loader = DataLoader(dataset, **options)\n"
        "    for epoch in range(9):\n        for batch in loader:\n            model(batch).mean().backward()\n\n\n"
        "def main(dataset, model):\n    options = {'batch_size': 4}\n    if torch.cuda.is_available():\n"
        "        options.update({'num_workers': 2})\n    mp.spawn(train, (dataset, model, options), nprocs=2)\n"
    )
    found = [one for one in told({"train.py": text}) if one.code == "DLL612"]
    assert [one.fixes for one in found] == [()]


def test_no_option_is_passed_twice(told: Told) -> None:
    text = (
        "from torch.utils.data import DataLoader\n\n\n"
        "def train(dataset, model):\n    options = {'persistent_workers': False, 'multiprocessing_context': 'spawn'}\n"
        "    loader = DataLoader(dataset, num_workers=2, **options)\n"
        "    for epoch in range(9):\n        for batch in loader:\n            model(batch).mean().backward()\n"
    )
    (finding,) = (one for one in told({"train.py": text}) if one.code == "DLL612")
    assert finding.fixes == ()


def test_a_function_that_seeds_torch_too_is_left_to_its_author(told: Told) -> None:
    text = (
        "import random\n\nimport torch\nfrom torch.utils.data import DataLoader\n\n\n"
        "def debugging(worker_id):\n    random.seed(worker_id)\n    torch.manual_seed(worker_id)\n\n\n"
        "def build(dataset):\n    return DataLoader(dataset, num_workers=2, worker_init_fn=debugging)\n"
    )
    (finding,) = (one for one in told({"train.py": text}) if one.code == "DLL603")
    assert finding.fixes == ()


def test_opencv_is_capped_under_the_name_that_the_file_gives_it(told: Told) -> None:
    text = (
        "import cv2 as cv\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Rows(Dataset):\n    def __getitem__(self, index):\n        return cv.resize(index, (640, 640))\n\n\n"
        "def build():\n    return DataLoader(Rows(), num_workers=2)\n"
    )
    (finding,) = (one for one in told({"train.py": text}) if one.code == "DLL501")
    (fix,) = finding.fixes
    assert fix.edits[0].code == "cv.setNumThreads(0)"


@pytest.mark.parametrize(
    ("calls", "kind"),
    [("read(path)", "suggestion"), ("cv2.resize(path, (640, 640))", "suggestion"), ("cv2.imread(path)", "safe")],
)
def test_what_the_program_itself_computes_by_opencv_is_not_slowed_down(told: Told, calls: str, kind: str) -> None:
    text = (
        "import cv2\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "def read(path):\n    return cv2.undistort(cv2.imread(path), 1, 2)\n\n\n"
        "class Rows(Dataset):\n    def __getitem__(self, index):\n        return read(str(index))\n\n\n"
        f"def cache(paths):\n    return [{calls} for path in paths]\n\n\n"
        "def build(paths):\n    cache(paths)\n    return DataLoader(Rows(), num_workers=2)\n"
    )
    (finding,) = (one for one in told({"train.py": text}) if one.code == "DLL501")
    assert [fix.applicability for fix in finding.fixes] == [kind]


def test_a_module_of_functions_is_not_capped_for_programs_without_workers(told: Told) -> None:
    files = {
        "utils/images.py": "import cv2\n\n\ndef read(path):\n    return cv2.resize(cv2.imread(path), (640, 640))\n",
        "train.py": "from torch.utils.data import DataLoader, Dataset\n\nfrom utils.images import read\n\n\n"
        "class Rows(Dataset):\n    def __getitem__(self, index):\n        return read(str(index))\n\n\n"
        "def build():\n    return DataLoader(Rows(), num_workers=2)\n",
        "utils/__init__.py": "",
    }
    (finding,) = (one for one in told(files) if one.code == "DLL501")
    assert [fix.applicability for fix in finding.fixes] == ["suggestion"]
