"""DLL201, DLL203, DLL302: classes of the project that extend `list`, `dict` or `collections.UserList` hold what their
constructors give to those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MAIN = """\
import collections
import json
import multiprocessing
from torch.utils.data import DataLoader, Dataset

class Row(collections.namedtuple("Line", "path text")):
    pass

Bad = collections.namedtuple("Worse", "path text")

class Rows({base}):
    OUTPUT = collections.namedtuple("Output", "path text")

    def __init__(self, path):
        {init}

class MoreRows(Rows):
    def __init__(self, path):
        super().__init__(path)

class Texts(Dataset):
    def __init__(self, path):
        self.rows = {made}(path)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]

def main(path):
    multiprocessing.set_start_method("{method}")
    return DataLoader(Texts(path), num_workers=4)
"""
SPLIT = "*line.split('|')"
FILLED = """\
output, rows = self.OUTPUT, []
        for line in open(path):
            rows.append(output(*line.split("|")))
        super().__init__(rows)
"""


@pytest.mark.parametrize("base", ["list", "collections.UserList"])
@pytest.mark.parametrize("made", ["Rows", "MoreRows"])
@pytest.mark.parametrize(
    ("init", "method", "codes"),
    [
        ("super().__init__(json.load(open(path)))", "fork", {"DLL302"}),
        (f"super().__init__([Row({SPLIT}) for line in open(path)])", "fork", {"DLL302"}),
        ("super().__init__([lambda: 1, lambda: 2])", "spawn", {"DLL201"}),
        (f"super().__init__([Bad({SPLIT}) for line in open(path)])", "spawn", {"DLL203", "DLL302"}),
        (f"super().__init__(Bad({SPLIT}) for line in open(path))", "spawn", {"DLL203", "DLL302"}),
        (FILLED, "spawn", {"DLL203", "DLL302"}),
        # Numbers and a few names are no records, and a copied generator is not kept.
        ("super().__init__(range(9))", "spawn", set()),
        ("super().__init__(['a', 'b'])", "spawn", set()),
        ("super().__init__(one for one in range(9))", "spawn", set()),
    ],
)
def test_what_a_list_is_made_of(
    base: str, made: str, init: str, method: str, codes: set[str], findings: Callable[..., Any]
) -> None:
    text = MAIN.replace("{base}", base).replace("{init}", init).replace("{made}", made).replace("{method}", method)

    assert {code for _, _, code in findings({"main.py": text}, select=["DLL2", "DLL302"])} == codes


CONFIG = """\
import json
from torch.utils.data import DataLoader, Dataset

class Settings(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self

class Sounds(Dataset):
    def __init__(self, names, path):
        self.names, self.settings = names, Settings(json.load(open(path)))
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        return {read}

def main(names, path):
    return DataLoader(Sounds(names, path), num_workers=4)
"""


@pytest.mark.parametrize(
    "read",
    [
        "self.settings.rate",
        "self.settings['rate']",
        "self.settings[self.names[index]]",
        "self.settings.get('rate', index)",
    ],
)
def test_settings_in_a_dict_are_no_records(read: str, findings: Callable[..., Any]) -> None:
    assert not findings({"main.py": CONFIG.replace("{read}", read)})
