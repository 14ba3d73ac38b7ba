"""DLL614: which statements of item code change what the dataset keeps, and which change a copy or the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL614"]}

HEAD = """\
import copy
import json
import pickle
import random

import h5py
import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler, Subset
"""
PLAIN = "DataLoader(rows)"
LIST = "[np.load(one) for one in paths]"


def dataset(item: str, data: str = LIST, loader: str = PLAIN, before: str = "", more: str = "", init: str = "") -> str:
    """A module with a dataset whose `__getitem__` has the lines `item`."""
    body = "".join(f"        {line}\n" for line in item.splitlines())
    extra = "".join(f"        {line}\n" for line in init.splitlines())
    methods = "".join(f"    {line}\n" if line else "\n" for line in more.splitlines())
    return (
        f"{HEAD}{before}\nclass Rows(Dataset):\n    def __init__(self, paths, path, augment=False):\n"
        f"        self.data = {data}\n        self.mean = 3.0\n        self.augment = augment\n"
        f"        self.labels = np.arange(9)\n{extra}\n"
        f"    def __len__(self):\n        return 9\n\n{methods}\n"
        f"    def __getitem__(self, index):\n{body}\n"
        f"def build(paths, path):\n    rows = Rows(paths, path)\n    return {loader}\n"
    )


VIEW = "row = self.data[index]  # DLL614\n"
COLUMN = VIEW + "row[:, 0] -= 1\nreturn row"
AUGMENT = "\ndef augment(points):\n    points[:, :3] *= random.uniform(0.8, 1.2)\n    return points\n"

RECORD = (
    "\nclass Sample:\n    def __init__(self, path):\n        self.boxes = np.load(path)\n\n"
    "    @property\n    def centres(self):\n        return self.boxes.mean(0)\n"
)

COCO = "COCO(path)"
KIT = "\nfrom pycocotools.coco import COCO\n"


def annotated(item: str) -> str:
    """The same, with the annotations of COCO."""
    return dataset(item + "\nreturn rows", data=COCO, before=KIT)


RECORDS = "json.load(open(path))"
TAKING = "rows = self.data.loadAnns(self.data.getAnnIds(index))\n"

FOUND: dict[str, str] = {
    "by a text that is put together": dataset(
        "row = self.data[f'{index:08d}']  # DLL614\nrow['left'][0] = 640 - row['left'][0]\nreturn row",
        data="torch.load(path)",
    ),
    "by a text that is joined": dataset(
        "key = 'row_' + str(index)\nrow = self.data[key]  # DLL614\nrow[0] = 640 - row[0]\nreturn row",
        data="torch.load(path)",
    ),
    "objects of records that are drawn": dataset(
        "for i in np.random.randint(0, len(self.data), 10):\n    one = self.data[i]['object']  # DLL614\n"
        "    one.position[1] -= random.random()\nreturn index",
        data="pickle.load(open(path, 'rb'))",
    ),
    "two entries that change places": dataset(
        "row = self.data[index]  # DLL614\nheld = row['left']\nrow['left'] = row['right']\nrow['right'] = held\n"
        "return row",
        data="json.load(open(path))",
    ),
    "rows of an array that change places": dataset(
        "row = self.data[index]  # DLL614\nrow[0], row[1] = row[1], row[0]\nreturn row", data="np.load(path)"
    ),
    "a field in a shallow copy of a list": dataset(
        "rounds = copy.copy(self.data[index])  # DLL614\nfor i in range(len(rounds)):\n"
        "    rounds[i]['text'] = self.labels[rounds[i]['text']]\nreturn rounds",
        data=RECORDS,
    ),
    "a list in a shallow copy of a record": dataset(
        "row = self.data[index].copy()  # DLL614\nrow['boxes'][0] += 3\nreturn row", data=RECORDS
    ),
    "a list of a shallow copy that is replaced later": dataset(
        "row = copy.copy(self.data[index])  # DLL614\nrow['boxes'][0] += 3\nrow['boxes'] = list(row['boxes'])",
        data=RECORDS,
    ),
    "a list in a dict that a record becomes": dataset(
        "row = dict(self.data[index])  # DLL614\nrow['boxes'][0] += 3\nreturn row", data=RECORDS
    ),
    "records in a copy of a list": dataset(
        "rows = {}\nfor row in self.data['rows'].copy():  # DLL614\n    row['start'] = row['start'] * 3\nreturn rows",
        data=RECORDS,
    ),
    "what a table of names says of an element": dataset(
        "row = self.data[index]  # DLL614\nrow['name'] = self.labels[row['name']]\nreturn row", data=RECORDS
    ),
    "of annotations that a library lists": annotated(
        TAKING + "for row in rows:  # DLL614\n    box = row['bbox']\n    box[2] += box[0]"
    ),
    "of annotations by image": annotated(
        "rows = self.data.imgToAnns[index]  # DLL614\nfor row in rows:\n    row['bbox'][2] += row['bbox'][0]"
    ),
    "of annotations by number": annotated("rows = self.data.anns[index]  # DLL614\nrows['bbox'][2] += rows['bbox'][0]"),
    "of some annotations": annotated(
        TAKING + "rows = [one for one in rows if one['area'] > 0]\nfor row in rows:  # DLL614\n    row['bbox'][2] += 3"
    ),
    "of sorted annotations": annotated(
        TAKING + "rows = sorted(rows, key=len)\nfor row in list(rows[:9]):  # DLL614\n    row['bbox'][2] += 3"
    ),
    "a column of an array of a list": dataset(COLUMN),
    "of an array": dataset(COLUMN, data="np.load(path)"),
    "of a tensor": dataset(COLUMN, data="torch.from_numpy(np.load(path))"),
    "of what a pickle holds": dataset(COLUMN, data="pickle.load(open(path, 'rb'))"),
    "of an attribute of an object that a pickle holds": dataset(
        "thing = self.data[index]['thing']  # DLL614\nthing.position[1] -= 3\nreturn thing.position",
        data="pickle.load(open(path, 'rb'))",
    ),
    "of a dict of arrays": dataset(COLUMN, data="{one: np.load(one) for one in paths}"),
    "of what is read whole of an HDF5 file": dataset(COLUMN, data="h5py.File(path)['x'][:]"),
    "of a list that a loop fills": dataset(
        COLUMN, data="[]", init="for one in paths:\n    self.data.append(np.load(one))"
    ),
    "of a list that a helper fills": dataset(
        COLUMN,
        data="[]",
        init="self.read(paths)",
        more="def read(self, paths):\n    for one in paths:\n        self.data.append(np.load(one).astype(np.float32))",
    ),
    "an array itself": dataset(VIEW + "row -= self.mean\nreturn row"),
    "a tensor of one number": dataset(VIEW + "row -= self.mean\nreturn row", data="torch.zeros(9)"),
    "a row of an array that is indexed later": dataset(VIEW + "row -= self.mean\nreturn row[0]", data="np.load(path)"),
    "a row of an array of known shape": dataset(VIEW + "row -= self.mean\nreturn row", data="np.zeros((100, 3))"),
    "a slice of an array": dataset(
        "row = self.data[index * 8 : index * 8 + 8]  # DLL614\nrow -= self.mean\nreturn row", data="np.load(path)"
    ),
    "a method in place": dataset("return self.data[index].add_(torch.randn(3))  # DLL614", data="torch.zeros(9, 3)"),
    "a method in place on a name": dataset(VIEW + "row.mul_(2)\nreturn row", data="torch.zeros(9, 3)"),
    "with out": dataset(VIEW + "np.multiply(row, 2, out=row)\nreturn row"),
    "through views": dataset(
        "row = torch.from_numpy(self.data[index]).reshape(-1, 3)  # DLL614\nrow[:, 0] += 1\nreturn row"
    ),
    "through asarray and a transpose": dataset(
        "row = np.asarray(self.data[index]).T  # DLL614\nrow[0] += 1\nreturn row"
    ),
    "through a slice": dataset(VIEW + "points = row[:, :3]\npoints[:, 2] *= 2\nreturn row"),
    "through a loop": dataset(VIEW + "for box in row:\n    box[0] /= 2\nreturn row"),
    "through unpacking": dataset(
        "box, label = self.data[index]  # DLL614\nbox[:, 0] -= 1\nreturn box, label",
        data="[(np.load(one), 3) for one in paths]",
    ),
    "through a record": dataset(
        "box = self.data[index]['box']  # DLL614\nbox[:, 0] -= 1\nreturn box",
        data="[{'box': np.load(one)} for one in paths]",
    ),
    "a number of a list of a record": dataset(
        VIEW + "box = row['bbox']\nbox[2] += box[0]\nreturn box", data="json.load(open(path))"
    ),
    "an entry of a record": dataset(VIEW + "row['size'] = row['size'] * 2\nreturn row", data="json.load(open(path))"),
    "a list that is made longer": dataset(
        "tokens = self.data[index]['tokens']  # DLL614\ntokens += [0] * 8\nreturn tokens", data="json.load(open(path))"
    ),
    "columns that are swapped": dataset(VIEW + "row[:, [0, 1]] = row[:, [1, 0]]\nreturn row"),
    "a flip": dataset(VIEW + "row[:, [0, 2]] = 640 - row[:, [2, 0]]\nreturn row"),
    "a flip through names": dataset(
        VIEW + "left = 640 - row[:, 2]\nright = 640 - row[:, 0]\nrow[:, 0] = left\nrow[:, 2] = right\nreturn row"
    ),
    "a sum of columns": dataset(VIEW + "row[:, 2] = row[:, 0] + row[:, 2]\nreturn row"),
    "random places": dataset(VIEW + "places = random.sample(range(9), 3)\nrow[places] = 0\nreturn row"),
    "by chance": dataset(VIEW + "for at in range(9):\n    if random.random() < 0.15:\n        row[at] = 0\nreturn row"),
    "a function that changes its argument": dataset("return augment(self.data[index])  # DLL614", before=AUGMENT),
    "a method that changes its argument": dataset(
        VIEW + "return self.jitter(row)",
        more="def jitter(self, points):\n    points += np.random.randn(9, 3)\n    return points[:, :3]",
    ),
    "an object that changes its argument": dataset(
        VIEW + "return self.scale(row)",
        before="\nclass Scale:\n    def __call__(self, points):\n        points[:, :3] *= random.uniform(0.8, 1.2)\n"
        "        return points\n",
        init="self.scale = Scale()",
    ),
    "a helper that returns it": dataset(
        "row = self.row(index)  # DLL614\nrow[:, 0] -= 1\nreturn row",
        more="def row(self, index):\n    return self.data[index]",
    ),
    "a helper that returns several": dataset(
        "row, label = self.row(index)  # DLL614\nrow[:, 0] -= 1\nreturn row, label",
        more="def row(self, index):\n    return self.data[index], self.labels[index]",
    ),
    "an attribute of an object": dataset(
        "sample = self.data[index]  # DLL614\nsample.boxes[:, 0] -= 1\nreturn sample.boxes",
        data="[Sample(one) for one in paths]",
        before=RECORD,
    ),
    "what the caller reads": dataset(COLUMN, data="paths", loader="DataLoader(Rows([np.load(path)], path))"),
    "a step in another object": dataset(
        "return self.store.row(index)",
        init="self.store = Store(paths)",
        before="\nclass Store:\n    def __init__(self, paths):\n        self.rows = [np.load(one) for one in paths]\n\n"
        "    def row(self, at):\n        row = self.rows[at]  # DLL614\n        row[:, 1] += 3\n        return row\n",
    ),
    "the other way round": dataset(VIEW + "row[:] = row[::-1]\nreturn row"),
    "a product": dataset(VIEW + "row[:, :3] = np.dot(row[:, :3], self.mean)\nreturn row"),
    "words cut off": dataset(VIEW + "row['words'] = row['words'][1:]\nreturn row", data="json.load(open(path))"),
    "a field by a function that calculates": dataset(
        VIEW + "row['boxes'] = relative(row['boxes'], 640)\nreturn row",
        data="json.load(open(path))",
        before="\ndef relative(boxes, size):\n    return [one / size for one in boxes]\n",
    ),
    "each row by constants, in another file's manner": dataset(
        "row, label = self.data[index, ...], self.labels[index]  # DLL614\nrow = normalize(row)\nreturn row, label",
        data="np.vstack([np.load(one) for one in paths]).astype(np.float32).reshape((-1, 3, 32, 32))",
        before="\ndef normalize(image):\n    for at in range(image.shape[0]):\n        image[at] = image[at] - 125.3\n"
        "        image[at] = image[at] / 63.0\n    return image\n",
    ),
    "under an option": dataset(
        VIEW + "if self.augment:\n    row[:, 0] *= -1\nreturn row", loader="DataLoader(Rows(paths, path, True))"
    ),
    "in a subset": dataset(COLUMN, loader="DataLoader(Subset(rows, [1]), num_workers=2, persistent_workers=True)"),
    "of a stream": dataset("pass")
    .replace("(Dataset)", "(IterableDataset)")
    .replace(
        "    def __getitem__(self, index):\n        pass\n",
        "    def __iter__(self):\n        for row in self.data:  # DLL614\n"
        "            row[:, 0] -= 1\n            yield row\n",
    ),
    "an item that is replaced": dataset(
        "self.data[index] = self.data[index] * random.random()  # DLL614\nreturn self.data[index]"
    ),
    "if there are any": dataset(VIEW + "if len(row) > 0:\n    row[:, 0] -= 1\nreturn row"),
    "an array that all items share": dataset(
        "scale = self.scale  # DLL614\nscale[0] *= self.data[index].shape[1] / 2\nreturn scale",
        init="self.scale = np.array([1.0, 2.0])",
    ),
    "a tensor over an array that all items share": dataset(
        "scale = torch.as_tensor(self.scale)  # DLL614\nscale[0] *= 2\nreturn scale",
        init="self.scale = np.ones(4)",
    ),
    "elements of which little is known": dataset(
        VIEW + "row[:, 0] -= 1\nreturn row",
        data="[read(one) for one in paths]",
        before="\nfrom elsewhere import read\n",
    ),
    "in a closure": dataset(
        "def load(at):\n    row = self.data[at]  # DLL614\n    row[:, 0] *= -1\n    return row\nreturn load(index)"
    ),
    "what a name holds of it, in a function": dataset(
        VIEW + "row = turn(row)\nreturn row",
        before="\ndef turn(rows):\n    rows = np.transpose(rows, (3, 1, 2, 0))\n    for frame in range(9):\n"
        "        places = rows[0:2, frame, :, :]\n        turned = np.dot(random.random(), places.reshape(2, -1))\n"
        "        turned[0] += 3\n        rows[0:2, frame, :, :] = turned.reshape(2, 5, 1)\n    return rows\n",
        data="np.array([np.load(one) for one in paths])",
    ),
    "in a base class": dataset(COLUMN).replace("DataLoader(rows)", "DataLoader(Below(paths, path))")
    + "\n\nclass Below(Rows):\n    pass\n",
}

CLIP = "rows = self.data['joints'][index : index + 16]  # DLL614\n"
PICKLE = "pickle.load(open(path, 'rb'))"
FOUND |= {
    "a slice that two axes show to be a view": dataset(
        CLIP + "for k in range(16):\n    rows[k, :, :2] = rows[k, :, :2] * 2 - 1\nreturn rows", data=PICKLE
    ),
    "the same by another name": dataset(
        CLIP + "mine = rows\nmine[:, :2] -= self.mean\nreturn mine", data="torch.load(path)"
    ),
    "the same through a function": dataset(CLIP + "return augment(rows)", data=PICKLE, before=AUGMENT),
    "a slice that torch.from_numpy takes": dataset(
        CLIP + "seen = torch.from_numpy(rows)\nseen -= self.mean\nreturn seen", data=PICKLE
    ),
    "the elements of a slice, of a list or not": dataset(
        CLIP + "row = rows[0]\nrow[:, 0] -= 1\nreturn row", data=PICKLE
    ),
    "unless the dataset is another": (
        dataset(
            "return self.read(index)",
            data=PICKLE,
            init="self.kind = augment",
            more=(
                "def read(self, index):\n    rows = self.data['joints'][index : index + 16]  # DLL614\n"
                "    if self.kind != 'raw':\n        rows = np.zeros((16, 3))\n    rows[:, 0] -= 1\n    return rows"
            ),
        ).replace("Rows(paths, path)", "Rows(paths, path, 'raw')")
    ),
}

SILENT: dict[str, str] = {
    "what a name holds of other columns": dataset(
        VIEW.replace("  # DLL614", "") + "places = row[:, 2:4]\nrow[:, 0:2] = np.dot(places, 3)\nreturn row",
        data="np.array([np.load(one) for one in paths])",
    ),
    "rows by several numbers that are drawn": dataset(
        "rows = self.data[np.random.randint(0, 9, 4)]\nrows[:, 0] = 640 - rows[:, 0]\nreturn rows", data="np.load(path)"
    ),
    "a field that takes the value of another": dataset(
        "row = self.data[index]\nrow['left'] = row['right']\nreturn row", data="json.load(open(path))"
    ),
    "a field that another one is made of": dataset(
        "row = self.data[index]\nrow['left'] = row['right']\nrow['right'] = index\nreturn row",
        data="json.load(open(path))",
    ),
    "rows of the whole array by a mask": dataset(
        "rows = self.data[self.labels > index]\nrows[0] = 640 - rows[0]\nreturn rows", data="np.load(path)"
    ),
    "a new list of a slice": dataset(
        "rows = self.data['joints'][index : index + 16]\nrows[0] = rows[0] - 1\nreturn rows", data=PICKLE
    ),
    "an array made of a slice": dataset(
        "rows = np.array(self.data['joints'][index : index + 16])\nrows[:, 0] -= 1\nreturn rows", data=PICKLE
    ),
    "a slice, copied": dataset(
        "rows = self.data['joints'][index : index + 16].copy()\nrows[:, 0] -= 1\nreturn rows", data=PICKLE
    ),
    "a slice that another dataset replaces": (
        dataset(
            "return self.read(index)",
            data=PICKLE,
            init="self.kind = augment",
            more=(
                "def read(self, index):\n    rows = self.data['joints'][index : index + 16]\n"
                "    if self.kind != 'raw':\n        rows = np.zeros((16, 3))\n    rows[:, 0] -= 1\n    return rows"
            ),
        ).replace("Rows(paths, path)", "Rows(paths, path, 'warped')")
    ),
    "a part of an archive": dataset(
        "rows = self.data['joints'][index : index + 16]\nrows[:, 0] -= 1\nreturn rows", data="h5py.File(path)"
    ),
    "a field of a shallow copy": dataset(
        "row = copy.copy(self.data[index])\nrow['name'] = self.labels[row['name']]\nreturn row", data=RECORDS
    ),
    "a list that a shallow copy gets of its own": dataset(
        "row = copy.copy(self.data[index])\nrow['boxes'] = list(row['boxes'])\nrow['boxes'][0] += 3\nreturn row",
        data=RECORDS,
    ),
    "records that a new list gets of its own": dataset(
        "rows = list(self.data[index])\nfor i in range(3):\n    rows[i] = dict(rows[i])\n    rows[i]['x'] += 3",
        data=RECORDS,
    ),
    "a field of a dict that a record becomes": dataset(
        "row = dict(self.data[index])\nrow['x'] = row['x'] * 3", data=RECORDS
    ),
    "rows of a copy that may be an array": dataset(
        "rows = self.data[index].copy()\nfor row in rows:\n    row[0] += 3\nrows[1][0] += 3\nrows[1] += 3",
        data="pickle.load(open(path, 'rb'))",
    ),
    "a list in a deep copy": dataset(
        "row = copy.deepcopy(self.data)\nrow[0]['x'] = row[0]['x'] * 3", data="[{'x': 1}, {'x': path}]"
    ),
    "a name for what has none": dataset(
        "row = self.data[index]\nrow['name'] = self.labels.get(row['name'], row['name'])\nreturn row", data=RECORDS
    ),
    "a new list of annotations": annotated(TAKING + "rows += [{}]\nrows.append({})\nrows[0] = None"),
    "a copy of annotations": annotated(TAKING + "for row in copy.deepcopy(rows):\n    row['bbox'][2] += 3"),
    "copies of annotations": annotated(
        TAKING + "rows = [dict(one, bbox=list(one['bbox'])) for one in rows]\nfor row in rows:\n    row['bbox'][2] += 3"
    ),
    "a copy of a box": annotated(TAKING + "for row in rows:\n    box = list(row['bbox'])\n    box[2] += box[0]"),
    "numbers of a box": annotated(TAKING + "for row in rows:\n    x, y, w, h = row['bbox']\n    w += x"),
    "an array of boxes": annotated(
        TAKING + "boxes = np.array([one['bbox'] for one in rows])\nboxes[:, 2:] += boxes[:, :2]"
    ),
    "a field that annotations get each time": annotated(
        TAKING + "for row in rows:\n    row['corner'] = row['bbox'][0] + 3"
    ),
    "a copy": dataset("row = self.data[index].copy()\nrow[:, 0] -= 1\nreturn row"),
    "a clone": dataset("row = self.data[index].clone()\nrow[:, 0] -= 1\nreturn row", data="torch.zeros(9, 3, 3)"),
    "a deep copy": dataset("row = copy.deepcopy(self.data[index])\nrow[:, 0] -= 1\nreturn row"),
    "an array of it": dataset("row = np.array(self.data[index])\nrow[:, 0] -= 1\nreturn row"),
    "another type": dataset("row = self.data[index].astype(np.float32)\nrow[:, 0] -= 1\nreturn row"),
    "a tensor of another type": dataset("row = torch.from_numpy(self.data[index]).float()\nrow[:, 0] -= 1\nreturn row"),
    "a name bound anew": dataset("row = self.data[index]\nrow = row - self.mean\nreturn row"),
    "a result": dataset("row = self.data[index] * 2\nrow[:, 0] -= 1\nreturn row"),
    "a copy before it": dataset("row = self.data[index]\nrow = row.copy()\nrow[:, 0] -= 1\nreturn row"),
    "a copy on one way": dataset(
        "row = self.data[index]\nif random.random() < 0.5:\n    row = row.copy()\nrow[:, 0] -= 1\nreturn row"
    ),
    "rows by a list": dataset("row = self.data[[1, 2]]\nrow[:, 0] -= 1\nreturn row", data="np.load(path)"),
    "rows by an array": dataset(
        "row = self.data[np.random.permutation(9)]\nrow[:, 0] -= 1\nreturn row", data="np.load(path)"
    ),
    "points that are chosen": dataset(
        "row = self.data[index]\nchoice = np.random.choice(len(row), 9)\nrow = row[choice]\nrow[:, 0] -= 1\nreturn row"
    ),
    "rows by a mask": dataset("row = self.data[index]\nrow = row[row[:, 0] > 0]\nrow[:, 0] -= 1\nreturn row"),
    "a number of an array": dataset("label = self.labels[index]\nlabel -= 1\nreturn label"),
    "a number of a list": dataset("label = self.data[index]\nlabel -= 1\nreturn label", data="[1, 2, 3]"),
    "a number of a file": dataset(
        "label = self.data[index]['n']\nlabel -= 1\nreturn label", data="json.load(open(path))"
    ),
    "a slice of a list": dataset("rows = self.data[index : index + 2]\nrows += [1]\nreturn rows", data="[1, 2, 3]"),
    "what the item reads": dataset("row = np.load(path)\nrow[:, 0] -= 1\nreturn row", before="\npath = 'a.npy'\n"),
    "an HDF5 file": dataset("row = self.data[index]\nrow[:, 0] -= 1\nreturn row", data="h5py.File(path)['x']"),
    "an archive": dataset("row = self.data['x']\nrow[:, 0] -= 1\nreturn row", data="np.load('rows.npz')"),
    "a memory map": dataset("row = self.data[index]\nrow[:, 0] -= 1\nreturn row", data="np.load(path, mmap_mode='c')"),
    "the same value again": dataset("row = self.data[index]\nrow[:, 0] = 0\nreturn row"),
    "one column from another": dataset("row = self.data[index]\nrow[:, 4] = row[:, 2] * row[:, 3]\nreturn row"),
    "values within bounds": dataset("row = self.data[index]\nrow[:, 0] = np.clip(row[:, 0], 0, 1)\nreturn row"),
    "values within bounds, with out": dataset("row = self.data[index]\nnp.clip(row, 0, 1, out=row)\nreturn row"),
    "centred": dataset("row = self.data[index]\nrow -= row.mean(axis=0)\nreturn row"),
    "centred through a name": dataset("row = self.data[index]\ncentre = row.min(0)\nrow -= centre\nreturn row"),
    "normalized by a function": dataset(
        "row = self.data[index]\nrow[:, :3] = normalize(row[:, :3])\nreturn row",
        before="\ndef normalize(points):\n    points = points - np.mean(points, axis=0)\n"
        "    return points / np.max(points)\n",
    ),
    "only if it is not done": dataset("row = self.data[index]\nif row[0, 0] < 0:\n    row[:] = -row\nreturn row"),
    "only if it is large": dataset("row = self.data[index]\nif row.max() > 1:\n    row /= 255\nreturn row"),
    "only while it is long": dataset(
        "row = self.data[index]\nwhile len(''.join(row['words'])) > 9:\n"
        "    row['words'] = [one[: len(one) // 2] for one in row['words']]\nreturn row",
        data="json.load(open(path))",
    ),
    "only once": dataset(
        "row = self.data[index]\nif not self.done[index]:\n    row[:, 0] -= 1\n    self.done[index] = True\nreturn row",
        init="self.done = [False] * 9",
    ),
    "only once, by a flag": dataset(
        "row = self.data[index]\nif self.first:\n    row[:, 0] -= 1\n    self.first = False\nreturn row",
        init="self.first = True",
    ),
    "a text": dataset(
        "name = self.data[index]['name']\nname += '.png' if name[-4:] != '.png' else ''\nreturn name",
        data="json.load(open(path))",
    ),
    "a text of an array": dataset("name = self.data[index]\nname += '.png'\nreturn name[0]", data="np.load(path)"),
    "a count under a name": dataset(
        "stats = self.data[index]\nstats['reads'] += 1\nreturn index", data="[{'reads': 0} for one in paths]"
    ),
    "a shallow copy of a record": dataset(
        "row = copy.copy(self.data[index])\nrow['n'] = row['n'] * 2\nreturn row", data="json.load(open(path))"
    ),
    "a field made of the whole record": dataset(
        "row = self.data[index]\nrow['image'] = self.read(row)\nreturn row",
        data="json.load(open(path))",
        more="def read(self, row):\n    return np.load(row['path'])",
    ),
    "prepared once": dataset(
        "if not self.ready:\n    self.prepare()\nreturn self.data[index]",
        init="self.ready = False",
        more="def prepare(self):\n    for row in self.data:\n        row[:, 0] -= 1\n    self.ready = True",
    ),
    "made again for each epoch": dataset(
        "row = self.points[index]\nrow[:, 0] -= 1\nreturn row",
        init="self.sample()",
        more="def sample(self):\n    self.points = np.random.rand(9, 3, 3)",
        before="\ndef train(rows):\n    for epoch in range(9):\n        rows.sample()\n",
        loader="(train(rows), DataLoader(rows))",
    ),
    "what a property computes": dataset(
        "sample = self.data[index]\ncentres = sample.centres\ncentres[0] -= 1\nreturn centres",
        data="[Sample(one) for one in paths]",
        before=RECORD,
    ),
    "a text that is cleaned": dataset(
        "row = self.data[index]\nrow['text'] = clean(row['text'])\nreturn row",
        data="json.load(open(path))",
        before="\ndef clean(text):\n    return ' '.join(text.lower().split()[:50])\n",
    ),
    "a field of at most some length": dataset(
        "row = self.data[index]\nrow['words'] = row['words'][:50]\nreturn row", data="json.load(open(path))"
    ),
    "a default": dataset(
        "row = self.data[index]\nrow['n'] = row['n'] or 3\nrow['k'] = row['k'] if row['k'] else 4\nreturn row",
        data="json.load(open(path))",
    ),
    "a list that is filtered": dataset(
        "row = self.data[index]\nrow['words'] = [one for one in row['words'] if len(one) > 2]\nreturn row",
        data="json.load(open(path))",
    ),
    "a number": dataset("row = self.data[index]\nrow['n'] = int(row['n'])\nreturn row", data="json.load(open(path))"),
    "what is noted of each item": dataset(
        "seen = self.seen\nseen[index] += random.random()\nreturn index", init="self.seen = np.zeros(9)"
    ),
    "an average that is kept": dataset(
        "self.seen[index] = 0.9 * self.seen[index] + 0.1\nreturn index", init="self.seen = np.zeros(9)"
    ),
    "a tensor in shared memory": dataset(
        "seen = self.seen\nseen[0] += torch.rand(1)\nreturn index",
        init="self.seen = torch.zeros(9, 1)\nself.seen.share_memory_()",
    ),
    "a tensor that is put into shared memory at once": dataset(
        "seen = self.seen\nseen[0] += torch.rand(1)\nreturn index",
        init="self.seen = torch.zeros(9, 1).share_memory_()",
    ),
    "a buffer": dataset(
        "self.buffer[:] = 0\nself.buffer[0] += index\nreturn self.buffer", init="self.buffer = np.zeros((9, 3))"
    ),
    "a buffer under a name": dataset(
        "buffer = self.buffer\nbuffer[:] = 0\nbuffer[0] += index\nreturn buffer", init="self.buffer = np.zeros((9, 3))"
    ),
    "counters under a name": dataset(
        "seen = self.seen\nseen[index] += 1\nreturn index", init="self.seen = np.zeros(9)"
    ),
    "counters": dataset("self.seen[index] += 1\nreturn index", init="self.seen = np.zeros(9)"),
    "a cache": dataset(
        "if index not in self.cache:\n    self.cache[index] = np.load(path)\n"
        "row = self.cache[index]\nrow[:, 0] -= 1\nreturn row",
        init="self.cache = {}",
        before="\npath = 'a.npy'\n",
    ),
    "an option that is off": dataset("row = self.data[index]\nif self.augment:\n    row[:, 0] -= 1\nreturn row"),
    "no loader": dataset("row = self.data[index]\nrow[:, 0] -= 1\nreturn row", loader="rows"),
    "no item code": dataset(
        "return self.data[index]", more="def plot(self, index):\n    row = self.data[index]\n    row[:, 0] -= 1"
    ),
    "lists of indices": dataset(
        "row = self.data[index]\nrow[:, 0] -= 1\nreturn row",
        data="np.load(path)",
        loader="DataLoader(rows, sampler=BatchSampler(RandomSampler(rows), 8, False), batch_size=None)",
    ),
    "what another object is given": dataset("row = self.data[index]\nrow[:, 0] -= 1\nreturn row", data="path"),
    "a field of a new record": dataset(
        "row = dict(self.data[index])\nrow['size'] = row['size'] * 2\nreturn row", data="json.load(open(path))"
    ),
    "a new field of a record": dataset(
        "row = self.data[index]\nrow['image'] = np.load(row['path'])\nreturn row", data="json.load(open(path))"
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_changes_what_the_dataset_keeps(findings: Callable[..., Any], marks: Callable[..., Any], case: str) -> None:
    files = {"data.py": FOUND[case]}
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("case", SILENT)
def test_changes_a_copy_or_nothing(findings: Callable[..., Any], case: str) -> None:
    assert findings({"data.py": SILENT[case]}, **SELECT) == set()


WHEN: dict[str, tuple[str, str, str]] = {
    "no workers": ("DataLoader(rows)", "warning", "Without workers, samples drift"),
    "a number from an option": ("DataLoader(rows, num_workers=workers)", "warning", "If `workers` is 0, samples drift"),
    "persistent workers": (
        "DataLoader(rows, num_workers=2, persistent_workers=True)",
        "warning",
        "With persistent workers, samples drift",
    ),
    "forked in each epoch": (
        "DataLoader(rows, num_workers=2, multiprocessing_context='fork')",
        "info",
        "Each forked worker copies the memory of `Rows.data`",
    ),
}


@pytest.mark.parametrize("case", WHEN)
def test_what_happens_depends_on_the_workers(told: Callable[..., Any], case: str) -> None:
    loader, severity, text = WHEN[case]
    source = dataset(COLUMN, loader=loader).replace("def build(paths, path)", "def build(paths, path, workers)")

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.severity == severity
    assert finding.text.startswith(text)


def test_spawned_workers_share_tensors_and_no_arrays(told: Callable[..., Any]) -> None:
    spawned = "DataLoader(rows, num_workers=2, multiprocessing_context='spawn')"

    assert told({"data.py": dataset(COLUMN, loader=spawned)}, **SELECT) == ()
    (finding,) = told({"data.py": dataset(COLUMN, data="torch.zeros(9, 3, 3)", loader=spawned)}, **SELECT)

    assert (finding.severity, finding.start_methods) == ("warning", ("spawn",))
    assert finding.text.startswith("Under spawn, samples drift from epoch to epoch")
    assert finding.help == "Let each item change its own copy: `.clone()`"


def test_all_statements_that_change_one_part_are_one_finding(told: Callable[..., Any]) -> None:
    source = dataset(VIEW + "row[:, 0] -= 1\nrow[:, 1] *= 2\nreturn augment(row)", before=AUGMENT)

    (finding,) = told({"data.py": source}, **SELECT)

    assert [one.span.line for one in finding.related if "in place" in one.message] == [28, 29, 12]


RECORDS = "[{'name': one, 'tokens': [1, 2], 'image': np.load(one)} for one in paths]"
TAKEN = "row = self.data[index]  # DLL614\n"
RESTRUCTURED: dict[str, str] = {
    "pop": dataset(TAKEN + "image = row.pop('image')\nreturn {**row, 'image': image}", data=RECORDS),
    "pop with a default that is used": dataset(
        TAKEN + "image = row.pop('image', None)\nreturn row, image", data=RECORDS
    ),
    "del": dataset(TAKEN + "del row['image']\nreturn row", data=RECORDS),
    "append": dataset(TAKEN + "row.append(0)\nreturn torch.tensor(row)", data="[list(one) for one in paths]"),
    "insert, of what a pickle holds": dataset(
        TAKEN + "row.insert(0, 101)\nreturn torch.tensor(row)", data="pickle.load(open(path, 'rb'))"
    ),
    "of a JSON file": dataset(TAKEN + "row.extend([0, 0])\nreturn torch.tensor(row)", data="json.load(open(path))"),
    "an element of a record": dataset(
        TAKEN + "tokens = row['tokens']\ntokens.append(0)\nreturn torch.tensor(tokens)",
        data=RECORDS,
    ),
    "by a function": dataset(
        TAKEN + "return taken(row)",
        data=RECORDS,
        before="\ndef taken(record):\n    image = record.pop('image')\n    return image, record\n",
    ),
    "persistent workers": dataset(
        TAKEN + "image = row.pop('image')\nreturn row, image",
        data=RECORDS,
        loader="DataLoader(rows, num_workers=4, persistent_workers=True)",
    ),
    "a subset": dataset(
        TAKEN + "image = row.pop('image')\nreturn row, image", data=RECORDS, loader="DataLoader(Subset(rows, [1, 2]))"
    ),
}
KEPT: dict[str, str] = {
    "a copy of the dict": dataset("row = dict(self.data[index])\ndel row['image']\nreturn row", data=RECORDS),
    "another copy": dataset("row = self.data[index].copy()\nrow.pop('image')\nreturn row", data=RECORDS),
    "a copy of the list": dataset(
        "row = list(self.data[index])\nrow.append(0)\nreturn row", data="json.load(open(path))"
    ),
    "the array of a table in a pickle": dataset(
        "thing = self.data[index]['table']\nthing.values[1] -= 3\nreturn thing", data="pickle.load(open(path, 'rb'))"
    ),
    "a slice of the list": dataset(
        "row = self.data[index][:9]\nrow.append(0)\nreturn row", data="json.load(open(path))"
    ),
    "unpacked": dataset("row = {**self.data[index]}\nrow.pop('image')\nreturn row", data=RECORDS),
    "pop with a default, to leave it out": dataset(
        "row = self.data[index]\nrow.pop('image', None)\nreturn row", data=RECORDS
    ),
    "pop under a test": dataset(
        "row = self.data[index]\nif 'image' in row:\n    row.pop('image')\nreturn row", data=RECORDS
    ),
    "padding": dataset(
        "row = self.data[index]\nwhile len(row) < 9:\n    row.append(0)\nreturn row", data="json.load(open(path))"
    ),
    "what the object notes of each item": dataset(
        "row = self.data[index]\nrow.append(1)\nreturn self.labels[index]", data="[[] for one in paths]"
    ),
    "a new list": dataset("row = []\nrow.append(self.data[index])\nreturn row"),
    "workers that start in each epoch": dataset(
        "row = self.data[index]\nimage = row.pop('image')\nreturn row, image",
        data=RECORDS,
        loader="DataLoader(rows, num_workers=4)",
    ),
}


@pytest.mark.parametrize("text", [*RESTRUCTURED.values(), *KEPT.values()], ids=[*RESTRUCTURED, *KEPT])
def test_lists_and_dicts_that_items_take_apart(
    text: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"data.py": text}

    assert findings(files, **SELECT) == marks(files)


def test_an_entry_that_is_gone_has_a_message_of_its_own(told: Callable[..., Any]) -> None:
    (gone,) = told({"data.py": RESTRUCTURED["pop"]}, **SELECT)
    (drifting,) = told({"data.py": RESTRUCTURED["append"]}, **SELECT)

    assert "the second reading of an item fails: `row.pop('image')`" in gone.text
    assert "samples drift from epoch to epoch: `row.append(0)`" in drifting.text
