"""DLL302: files with a number per line are no texts, lines that hold more are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"]}
DATASET = """\
import json
import numpy as np
from PIL import Image
from torch.utils.data import DataLoader, Dataset

def number(text):
    return int(text.strip())

def column(text, place):
    return float(text[place])

class Rows(Dataset):
    def __init__(self, path, labels, train=True):
        self.train, self.place = train, 3
        with open(path) as file:
            self.images = file.read().splitlines()
        with open(labels) as file:
            self.lines = {read}

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = Image.open(self.images[index])
        {item}

def build(path, labels):
    return DataLoader(Rows(path, labels), num_workers=4)
"""

NUMBERS = {
    "an integer": "return image, int(self.lines[index])",
    "a number without white space": "return image, float(self.lines[index].strip())",
    "without the end of its line": "return image, np.array(int(self.lines[index][:-1]))",
    "by a variable": "label = self.lines[index]\n        return image, np.float32(float(label))",
    "by another name of the list": "if self.train:\n            labels = self.lines\n"
    "            label = int(labels[index])\n"
    "        else:\n            labels = self.images\n            label = np.random.randint(0, 2, 1)\n"
    "        return image, label",
    "in a function": "return image, number(self.lines[index])",
}
TEXTS = {
    "a line that is returned": "return image, self.lines[index]",
    "a line that is returned, too": "return image, int(self.lines[index]), self.lines[index]",
    "a field of a line": "return image, int(self.lines[index].split()[1])",
    "the last field of a line": "return image, int(self.lines[index].split(',')[-1])",
    "all fields of a line": "return image, [int(one) for one in self.lines[index].split()]",
    "all fields, mapped": "return image, list(map(int, self.lines[index].split()))",
    "fields that are unpacked": "left, right = self.lines[index].split()\n        return image, int(left), int(right)",
    "columns of a line": "return image, float(self.lines[index][4:9])",
    "one column of a line": "return image, int(self.lines[index][self.place])",
    "one column of a line, in a function": "return image, column(self.lines[index], self.place)",
    "a record": "return image, json.loads(self.lines[index])",
    "a text": "return image, len(self.lines[index].split())",
}
READS = {
    "splitlines": "file.read().splitlines()",
    "readlines": "file.readlines()",
    "a comprehension": "[line.strip() for line in file]",
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("item", NUMBERS.values(), ids=NUMBERS)
def test_lines_that_workers_only_turn_into_numbers(item: str, read: str, told: Callable[..., Any]) -> None:
    assert told({"train.py": DATASET.format(item=item, read=read)}, **SELECT) == ()


@pytest.mark.parametrize("item", TEXTS.values(), ids=TEXTS)
def test_lines_of_which_workers_read_more(item: str, told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": DATASET.format(item=item, read=READS["splitlines"])}, **SELECT)

    assert "`Rows.lines`" in found.text
