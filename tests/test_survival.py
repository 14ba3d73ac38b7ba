"""What a check for Python 3.14 says in the end: does the project get along with forkserver?"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dllint import config, linter
from dllint.config import Settings, Targets
from dllint.readiness import Survival
from dllint.reporters import Style
from dllint.reporters.text import render

LOADER = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.scale = {scale}
    def __getitem__(self, index):
        return self.scale(index)

def main():
    for batch in DataLoader(Rows(), num_workers=4{context}):
        print(batch)
    DataLoader(Rows(), num_workers=0)

if __name__ == "__main__":
    main()
"""


def check(files: Mapping[str, str], pythons: tuple[tuple[int, int], ...] = ((3, 14),)) -> linter.Report:
    return linter.check_sources(files, Settings(root="", targets=Targets(pythons=pythons)))


@pytest.mark.parametrize(
    ("scale", "context", "expected"),
    [
        ("lambda row: row", "", Survival(1, 1, (("DLL201", 1),), ())),
        ("lambda row: row", ', multiprocessing_context="fork"', Survival(1, 0, (), ())),
        ("abs", "", Survival(1, 1, (), ())),
    ],
)
def test_loaders_that_follow_the_default_are_judged(scale: str, context: str, expected: Survival) -> None:
    assert check({"train.py": LOADER.format(scale=scale, context=context)}).survival == expected


def test_what_fails_at_the_top_of_a_script_counts_as_failing() -> None:
    text = "from torch.utils.data import DataLoader\nfor batch in DataLoader([], num_workers=2):\n    pass\n"
    survival = check({"train.py": text}).survival
    assert survival == Survival(1, 1, (("DLL102", 1),), ())


@pytest.mark.parametrize("pythons", [config.PYTHONS, ((3, 13),), ((3, 13), (3, 14))])
def test_targets_with_another_default_are_not_asked(pythons: tuple[tuple[int, int], ...]) -> None:
    assert check({"train.py": LOADER.format(scale="abs", context="")}, pythons).survival is None


def test_the_text_answers_the_question() -> None:
    style = Style(directory="", color=False)

    failing = render(check({"train.py": LOADER.format(scale="lambda row: row", context="")}), style)
    assert "Of 1 DataLoader that can have workers, 1 takes the default start method, forkserver" in failing
    assert "This project fails under forkserver: DLL201 at 1 place." in failing
    healthy = render(check({"train.py": LOADER.format(scale="abs", context="")}), style)
    assert "No finding says that it fails under forkserver." in healthy


SEVERAL = """\
import cv2
import json
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.rows = {kept}
    def __getitem__(self, index):
        return cv2.resize(self.rows[index], (640, 640))

def main():
    cv2.setNumThreads(0)
    rows = Rows("rows")
    {loaders}
    for batch, other in zip(spawned, plain):
        print(batch, other)

if __name__ == "__main__":
    main()
"""


SPAWNED = 'spawned = DataLoader(rows, num_workers=4, multiprocessing_context="spawn")'
PLAIN = "plain = DataLoader(rows, num_workers=4)"


@pytest.mark.parametrize("loaders", [f"{SPAWNED}; {PLAIN}", f"{PLAIN}; {SPAWNED}"])
@pytest.mark.parametrize(
    ("kept", "code"),
    [
        ("np.zeros((1 << 20, 1 << 10))", "DLL301"),
        ("[torch.zeros(3) for _ in range(200)]", "DLL303"),
        ("np.load(path, mmap_mode='r')", "DLL404"),
        ("3", "DLL503"),
    ],
)
def test_a_loader_that_follows_the_default_counts_beside_one_that_is_spawned(
    kept: str, code: str, loaders: str
) -> None:
    report = check({"train.py": SEVERAL.format(kept=kept, loaders=loaders)})

    (finding,) = [finding for finding in report.findings if finding.code == code]
    assert finding.start_methods == ("spawn", "forkserver")
    assert report.survival is not None
    assert code in dict(report.survival.costing)
