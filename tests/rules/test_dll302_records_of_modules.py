"""DLL302: records that a module reads when it is imported, and that workers look up by item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"]}
HEAD = """\
import json
import pickle
import cv2
from torch.utils.data import DataLoader, Dataset

def read(path):
    with open(path, "rb") as file:
        return pickle.load(file)

"""
TAIL = """

class Rows(Dataset):
    def __len__(self):
        return len(ROWS)
    def __getitem__(self, index):
        ITEM

def build():
    return DataLoader(Rows(), num_workers=4)
"""
ITEM = 'return ROWS[index]["query"], ROWS[index]["positives"]'


def module(variable: str, item: str = ITEM) -> str:
    return HEAD + variable + TAIL.replace("ITEM", item)


FOUND = {
    "a pickle": module('ROWS = read("rows.pickle")  # DLL302'),
    "JSON": module('ROWS = json.load(open("rows.json"))  # DLL302'),
    "under a condition": module(
        'import sys\nif len(sys.argv) > 1:\n    ROWS = read("rows.pickle")  # DLL302\nelse:\n    ROWS = []'
    ),
    "one split of them": module('ROWS = read("rows.pickle")  # DLL302', 'return ROWS["train"][index]["query"]'),
    "records by their names": module(
        'ROWS = read("rows.pickle")  # DLL302\nNAMES = sorted(ROWS)', 'return ROWS[NAMES[index]]["query"]'
    ),
    "a name for the record": module(
        'ROWS = read("rows.pickle")  # DLL302', 'row = ROWS[index]\n        return row["query"], row["positives"]'
    ),
    "a function that gets the record": module(
        'def both(row):\n    return row["query"], row["positives"]\n\nROWS = read("rows.pickle")  # DLL302',
        "return both(ROWS[index])",
    ),
    "a list that a loop fills": module(
        'ROWS = []  # DLL302\nfor line in open("rows.jsonl"):\n    ROWS.append(json.loads(line))'
    ),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND.keys())
def test_records_of_a_module(source: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings({"data.py": source}, **SELECT) == marks({"data.py": source})


@pytest.mark.parametrize(
    ("imported", "base"),
    [
        ("from rows import ROWS", "ROWS"),
        ("import rows", "rows.ROWS"),
        ("from rows import ROWS as ALL", "ALL"),
        ("from rows import *", "ROWS"),
    ],
)
def test_records_of_another_module(imported: str, base: str, findings: Callable[..., Any]) -> None:
    files = {
        "rows.py": 'import json\n\nROWS = json.load(open("rows.json"))\n',
        "data.py": module(imported, f'return {base}[index]["query"]').replace("len(ROWS)", "100"),
    }

    assert findings(files, **SELECT) == {("rows.py", 3, "DLL302")}


SILENT = {
    "a dict in the source": module('ROWS = {0: {"query": "a"}, 1: {"query": "b"}}', 'return ROWS[index]["query"]'),
    "by the label of the item": module(
        'ROWS = read("rows.pickle")\nLABELS = list(range(100))', 'return ROWS[LABELS[index]]["query"]'
    ),
    "an entry that the source names": module('ROWS = read("rows.pickle")', 'return ROWS["mean"]["query"], index'),
    "paths": module('ROWS = json.load(open("rows.json"))', "return cv2.imread(ROWS[index])"),
    "a number per item": module('ROWS = read("rows.pickle")', "return ROWS[index]"),
    "a parameter of the same name": module(
        'def at(ROWS, index):\n    return ROWS[index]["query"]\n\nROWS = read("rows.pickle")', "return at([], index)"
    ),
    "in the main program": module('if __name__ == "__main__":\n    ROWS = read("rows.pickle")'),
    "packed": module('import vendor\nROWS = read("rows.pickle")\nROWS = vendor.Packed(ROWS)'),
    "without workers": module('ROWS = read("rows.pickle")').replace("num_workers=4", "num_workers=0"),
    "a local variable": module('ROWS = read("rows.pickle")', f"ROWS = [{{'query': 1}}]\n        {ITEM}"),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_other_variables_of_modules(source: str, findings: Callable[..., Any]) -> None:
    assert findings({"data.py": source}, **SELECT) == set()


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("fork", "up to a full copy: `ROWS` holds the Python objects from `pickle.load`"),
        ("spawn", "imports this file and calls `pickle.load` again: each has its own copy of `ROWS`"),
    ],
)
def test_each_worker_that_is_not_forked_reads_the_file(method: str, text: str, told: Callable[..., Any]) -> None:
    source = module('ROWS = read("rows.pickle")').replace("=4)", f'=4, multiprocessing_context="{method}")')

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.severity == "info"
    assert text in finding.text
