"""What a dataset keeps in a partial or a bound method: the objects that these bind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"], "target_python": "3.11"}

HEAD = """\
import json
import pickle
from functools import partial

from torch.utils.data import DataLoader, Dataset


class Sampler:
    def __init__(self, path):
        self.infos = pickle.load(open(path, "rb"))
        self.count = 3

    def sample(self, index):
        return self.infos[index]["name"]

    def number(self, index):
        return self.count


def prepare(row, sampler, size=1):
    return sampler.sample(row), size


def prepared(sampler, row):
    return sampler.sample(row)


class Rows(Dataset):
    def __init__(self, prep):
        self.prep = prep

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.prep(index)


def build(path):
    {build}
    return DataLoader({rows}, num_workers=4)
"""


@pytest.mark.parametrize(
    ("build", "rows", "kept"),
    [
        pytest.param(
            "prep = partial(prepare, sampler=Sampler(path), size=2)",
            "Rows(prep)",
            "Rows.prep.keywords['sampler'].infos",
            id="a keyword of a partial",
        ),
        pytest.param(
            "prep = partial(prepared, Sampler(path))", "Rows(prep)", "Rows.prep.args[0].infos", id="positional"
        ),
        pytest.param(
            "prep = partial(partial(prepare, sampler=Sampler(path)), size=3)",
            "Rows(prep)",
            "Rows.prep.",
            id="a partial of a partial",
        ),
        pytest.param("prep = Sampler(path).sample", "Rows(prep)", "Rows.prep.__self__.infos", id="a bound method"),
        pytest.param(
            "prep = partial(prepare, **{'sampler': Sampler(path)})",
            "Rows(prep=prep)",
            "Rows.prep.keywords['sampler'].infos",
            id="keywords in a dict",
        ),
    ],
)
def test_found(build: str, rows: str, kept: str, told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD.format(build=build, rows=rows)}, **SELECT)

    assert found.span.line == 10
    assert f"`{kept}" in found.text


@pytest.mark.parametrize(
    ("build", "rows"),
    [
        pytest.param("prep = partial(prepare, sampler=path)", "Rows(prep)", id="a path"),
        pytest.param("prep = Sampler(path).number", "Rows(prep)", id="a method that reads nothing of it"),
        pytest.param("Sampler(path)\n    prep = partial(prepare, sampler=None)", "Rows(prep)", id="nothing bound"),
        pytest.param("prep = partial(prepare, sampler=Sampler(path))", "[prep(1)]", id="not kept"),
    ],
)
def test_silent(build: str, rows: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD.format(build=build, rows=rows)}, **SELECT) == set()
