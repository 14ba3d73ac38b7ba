"""DLL306: lists that are extended by what a batch has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import numpy as np
import torch
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return torch.zeros(3, 4), torch.tensor(index)

def run():
    kept = []
    for images, labels in DataLoader(Rows(), num_workers=4, batch_size=2):
        STATEMENT
    return kept
"""


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("kept.extend(labels.numpy())", False),
        ("kept.extend(labels.cpu().numpy())", False),
        ("kept.extend(np.asarray(labels))", False),
        ("kept += labels.numpy()", False),
        ("kept.extend(labels.numpy().ravel())", False),
        ("labels = labels.numpy(); kept.extend(labels)", False),
        ("kept.extend(labels.tolist())", False),
        ("kept.append(labels.numpy())", True),
        ("kept.extend(images.cpu())", True),
        ("kept += [labels.numpy()]", True),
        ("kept.extend(list(images.numpy()))", True),
        ("labels = labels.numpy(); kept.append(labels)", True),
    ],
)
def test_the_rows_of_an_array_may_be_numbers(statement: str, found: bool, findings: Callable[..., Any]) -> None:
    source = PROGRAM.replace("STATEMENT", "\n        ".join(statement.split("; ")))

    assert bool(findings({"run.py": source}, select=["DLL306"])) is found
