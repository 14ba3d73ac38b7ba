"""DLL302: records that a dataset collects one per item, from sources that say nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"]}
HEAD = """\
import copy
import os
import pickle
import cv2
import numpy as np
from vendor import parse, scan, shapes
from torch.utils.data import DataLoader, Dataset

"""
TAIL = """

def build(source, **more):
    return DataLoader(Rows(source, **more), num_workers=4)
"""


def with_copies(statement: str) -> str:
    """A dataset whose items copy the records that it keeps."""
    return f"""\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for shape in shapes(source):
            self.rows.append({{"image": shape.file, "boxes": shape.b, "center": shape.c, "size": shape.size}})
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        {statement}
        return cv2.imread(row["image"]), row["boxes"], row["center"] + row["size"]
"""


BOXES = """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for path in scan(source):
            found = shapes(path)
            MAKE
            ADD
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return np.load(row["path"]), row["boxes"].copy()
"""
MARKED = "self.rows = []  # DLL302"
ROWS = """\
class Rows(Dataset):
    def __init__(self, source, train=True):
        with np.load(source) as stored:
            first, second = stored["first"], stored["second"]
        numbers = np.random.permutation(np.arange(len(second)))
        SET
        self.second = second
    def __len__(self):
        return len(self.second)
    def __getitem__(self, index):
        number = index - self.start
        return self.first[number]
"""


FOUND: dict[str, str] = {
    "a path and an array as long as the shapes": BOXES.replace("MAKE", "boxes = np.zeros((len(found), 5))").replace(
        "ADD", "self.rows.append({'path': path, 'boxes': boxes})"
    ),
    "a path and an array of the shapes": BOXES.replace("MAKE", "boxes = [one.box for one in found]").replace(
        "ADD", "self.rows.append({'path': path, 'boxes': np.array(boxes)})"
    ),
    "a path and an array in a list that is added": BOXES.replace(
        "MAKE", "boxes = np.array([one.box for one in found])"
    ).replace("ADD", "row = [{'path': path, 'boxes': boxes}]\n            self.rows += row"),
    "rows of an array": ROWS.replace("SET", "self.first = [first[one] for one in numbers]  # DLL302"),
    "rows of an array, one after another": ROWS.replace(
        "SET", "self.first = []  # DLL302\n        for one in numbers:\n            self.first.append(first[one + 1])"
    ),
    "rows that an option chooses": ROWS.replace("SET", "self.first = [first[one] for one in numbers]  # DLL302")
    .replace("number = index - self.start", "rows = self.first if self.all else self.few\n        number = index")
    .replace("self.first[number]", "rows[number]"),
    "objects that make lists of their parts": """\
class Video:
    def __init__(self, row):
        self.row = row
        self.shapes = [one for one in row[2] if one.size > 0]
    @property
    def name(self):
        return self.row[0]
    def above(self, size):
        return [one for one in self.shapes if one.size > size]
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [Video(row) for row in parse(source)]  # DLL302
        self.rows = list(filter(lambda one: len(one.shapes) > 0, self.rows))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        video = self.rows[index]
        return [one.size for one in video.above(3)], video.name
""",
    "clips with the numbers of their frames": """\
def clips(source, length):
    found = []
    for path in scan(source):
        count = parse(path)
        for start in range(0, count, length):
            clip = {}
            clip["path"] = os.path.join(source, path)
            clip["frames"] = list(range(start, start + length))
            clip["label"] = count
            found.append(clip)
    return found
class Rows(Dataset):
    def __init__(self, source, length=16):
        self.rows = clips(source, length)  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path = self.rows[index]["path"]
        frames = self.rows[index]["frames"]
        return [np.load(os.path.join(path, str(one))) for one in frames], self.rows[index]["label"]
""",
    "copies of a record, each with entries of its own": """import copy
class Rows(Dataset):
    def __init__(self, source):
        self.rows = self.collect(source)  # DLL302
    def collect(self, source):
        rows = []
        for path in scan(source):
            row = {"path": path, "segment": [1, parse(path)]}
            for start in range(0, parse(path), 16):
                one = copy.deepcopy(row)
                one["frames"] = [number for number in range(start, start + 16)]
                rows.append(one)
        return rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return np.load(row["path"])[row["frames"]], row
""",
    "a path and a dict of shapes": """class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for path in scan(source):
            boxes, names = zip(*[(one.box, one.name) for one in shapes(path)])
            self.rows.append((path, dict(boxes=np.asarray(boxes), names=list(names))))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, target = self.rows[index]
        return np.load(path), target
""",
    "a path and a list of shapes": """class Rows(Dataset):
    def __init__(self, source):
        self.rows = [(path, [one.box for one in shapes(path)]) for path in scan(source)]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, boxes = self.rows[index]
        return np.load(path), np.array(boxes)
""",
    "a dict of many entries that a name refers to": """class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for path in scan(source):
            width, height, turn = parse(path)
            row = {"path": path, "width": width}
            row["height"] = height
            row["turn"] = turn
            self.rows.append(row)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return np.load(row["path"]), row
""",
    "what a file of any content lists under another name": """\
class Rows(Dataset):
    def __init__(self, source):
        self.texts = []  # DLL302
        for name in scan(source):
            with open(name, "rb") as file:
                self.texts.extend(pickle.load(file)["texts"])
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        return self.texts[index]
""",
    "targets that are records": """\
class Rows(Dataset):
    def __init__(self, source):
        self.targets = []  # DLL302
        for name in scan(source):
            with open(name, "rb") as file:
                self.targets.extend(pickle.load(file))
    def __len__(self):
        return len(self.targets)
    def __getitem__(self, index):
        return self.targets[index]["boxes"], self.targets[index]["names"]
""",
    "a deep copy of a dict of four entries": with_copies("row = copy.deepcopy(self.rows[index])"),
    "a copy by its method": with_copies("row = self.rows[index].copy()"),
    "a copy as a new dict": with_copies("row = dict(self.rows[index])"),
    "a copy of a name, and of the copy": with_copies("row = self.rows[index]; row = copy.copy(row)"),
    "items that a method reads, with entries of their own": """\
class Rows(Dataset):
    def __init__(self, source):
        self.source = source
        self.rows = [self.read(number) for number in range(len(self))]  # DLL302
    def __len__(self):
        return self.source.size
    def read(self, number):
        row = parse(self.source, number)
        row["shapes"] = shapes(self.source, number)
        row["number"] = number
        return row
    def __getitem__(self, index):
        return self.rows[index]
""",
    "objects of a class that nobody knows": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for name in scan(source):
            self.rows.append(parse(name))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        graph = self.rows[index]
        return graph.nodes_of_kind, graph.edge_weights
""",
    "tuples of four fields and more, with the path of a picture": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for shape in shapes(source):
            self.rows.append(((shape.image, shape.baseline, shape.boundary), shape.text))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        item = self.rows[index]
        image = np.load(item[0][0])
        return image, item[0][1], item[0][2], item[1]
""",
    "dicts that nested calls collect": """\
class Rows(Dataset):
    def __init__(self, source):
        self.source = source
        self.rows = self.collect()  # DLL302
    def collect(self):
        found = []
        for name in scan(self.source):
            found.extend(self.one(name))
        return found
    def one(self, name):
        found = []
        for shape in shapes(name):
            found.append({"image": shape.image, "joints": shape.joints, "center": shape.center, "scale": shape.scale})
        return found
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return row["joints"], row["center"], row["scale"]
""",
    "tuples, in a base class whose subclass collects them": """\
class Base(Dataset):
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        polygon, line, kind = self.rows[index]
        return polygon, line, kind
class Rows(Base):
    def __init__(self, source):
        self.rows = []  # DLL302
        for shape in shapes(source):
            self.rows.append((shape.polygon, shape.line, shape.kind))
""",
    "objects of a class of the program": """\
class Item:
    def __init__(self, shape, kind):
        self.shape = shape
        self.kind = kind
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [Item(shape, shape.kind) for shape in shapes(source)]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index].shape
""",
    "what an unknown source gives, taken apart": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [one for one in scan(source) if one]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return row["question"], row["answer"]
""",
    "lists in a list, by a method that a loop calls": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for name in scan(source):
            self.add(name)
    def add(self, name):
        first, second = parse(name)
        self.rows.append([first, second, len(name)])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "pairs of numbers that a function makes": """\
def pair(name):
    label = int(parse(name))
    return label, label + 1
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [pair(name) for name in scan(source)]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "tokens of lines, by a tokenizer that is not known": """\
class Rows(Dataset):
    def __init__(self, source, tokenizer):
        self.rows = [tokenizer.encode(line) for line in open(source)]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "numbers of tokens of what is not known": """\
class Rows(Dataset):
    def __init__(self, source, tokenizer):
        self.rows = []  # DLL302
        for text in scan(source):
            self.rows.append(tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "a list of the rows of a hub": """\
from datasets import load_dataset
class Rows(Dataset):
    def __init__(self, source):
        self.rows = list(load_dataset(source, split="train"))  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "MessagePack": """\
import msgpack
class Rows(Dataset):
    def __init__(self, source):
        with open(source, "rb") as file:
            self.rows = msgpack.unpackb(file.read())  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "lists that a defaultdict makes": """\
from collections import defaultdict
class Rows(Dataset):
    def __init__(self, source):
        self.rows = defaultdict(list)  # DLL302
        for line in open(source):
            user, item = line.split()
            self.rows[int(user)].append(int(item))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "graphs of a library, and nothing for some": """\
import dgl
def graph(name):
    edges = parse(name)
    if edges is None:
        return None
    found = dgl.graph(edges)
    found.ndata["x"] = parse(name)
    return found
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []  # DLL302
        for name in scan(source):
            self.rows.append(graph(name))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "records beside an empty list": """\
class Rows(Dataset):
    def __init__(self, source, rows=()):
        if not rows:
            rows = []
        for part in parse(source):
            rows = read(part)
        self.rows = rows  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
def read(part):
    return [{"words": one.words, "times": one.times} for one in scan(part)]
""",
}

SILENT: dict[str, str] = {
    "a path and an array of one box": BOXES.replace("MAKE", "boxes = np.array([found.x, found.y])")
    .replace(MARKED, "self.rows = []")
    .replace("ADD", "self.rows.append({'path': path, 'boxes': boxes})"),
    "a path and an array of one size": BOXES.replace("MAKE", "boxes = np.zeros((9, 5))")
    .replace(MARKED, "self.rows = []")
    .replace("ADD", "self.rows += [{'path': path, 'boxes': boxes}]"),
    "a few rows of an array": ROWS.replace("SET", "self.first = [first[one] for one in range(9)]"),
    "parts of an array": ROWS.replace("SET", "self.first = [first[one:] for one in numbers]"),
    "one column of an array for each": ROWS.replace("SET", "self.first = [first[0] for one in numbers]"),
    "an array in another order": ROWS.replace("SET", "self.first = first[numbers]"),
    "numbers of an array": ROWS.replace(
        "SET",
        "numbers = [one for one in numbers if first[one] > 9]\n        self.first = [first[one] for one in numbers]",
    ),
    "rows of something else": ROWS.replace(
        "SET", "rows = parse(source)\n        self.first = [rows[one] for one in numbers]"
    ),
    "a path and a dict that a call makes of one entry": """\
import collections
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []
        for path in scan(source):
            self.rows.append((path, collections.OrderedDict(kind=parse(path)), collections.deque([1])))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, target, last = self.rows[index]
        return np.load(path), target, last
""",
    "objects that list objects of one file each": """\
class Series:
    def __init__(self, path):
        self.path = path
    def load(self):
        return np.load(self.path)
class Study:
    def __init__(self, paths):
        self.series = [Series(path) for path in paths]
    def first(self):
        return self.series[0]
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [Study(paths) for paths in scan(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index].first().load()
""",
    "scenes that make lists of their items": """\
class Scene:
    def __init__(self, name):
        self.items = [one for one in parse(name)]
    def __len__(self):
        return len(self.items)
    def get(self, number):
        return self.items[number]
class Rows(Dataset):
    def __init__(self, source):
        self.scenes = [Scene(name) for name in scan(source)]
        self.ends = np.cumsum([len(scene) for scene in self.scenes])
    def __len__(self):
        return self.ends[-1]
    def __getitem__(self, index):
        number = int(np.searchsorted(self.ends, index))
        return self.scenes[number].get(index - self.ends[number])
""",
    "objects that list the paths of their frames": """\
class Video:
    def __init__(self, name):
        self.frames = [os.path.join(name, one) for one in os.listdir(name)]
    def first(self, count):
        return self.frames[:count]
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [Video(name) for name in scan(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return [np.load(one) for one in self.rows[index].first(8)]
""",
    "a path and the paths of its frames": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [(path, [os.path.join(path, one) for one in scan(path)]) for path in scan(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, frames = self.rows[index]
        return np.load(path), [np.load(one) for one in frames]
""",
    "a path and two numbers in a list": """class Rows(Dataset):
    def __init__(self, source):
        self.rows = []
        for path in scan(source):
            row = {"path": path}
            row["range"] = [0, parse(path)]
            self.rows.append(row)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return np.load(row["path"])[slice(*row["range"])]
""",
    "a path and a list that workers never read": """class Rows(Dataset):
    def __init__(self, source):
        self.rows = [{"path": path, "shapes": [one.box for one in shapes(path)]} for path in scan(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return np.load(self.rows[index]["path"])
""",
    "a path with many entries that are the same for all": """class Rows(Dataset):
    def __init__(self, source):
        self.rows = []
        for path in scan(source):
            row = {"path": path, "kind": "train"}
            row["weight"] = 1
            row["scale"] = 0.5
            self.rows.append(row)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return np.load(row["path"]), row["weight"], row["kind"]
""",
    "a copy of a path": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []
        for shape in shapes(source):
            self.rows.append({"image": shape.file, "label": shape.label})
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = copy.deepcopy(self.rows[index])
        return cv2.imread(row["image"]), row["label"]
""",
    "classes, from a file of any content": """\
class Rows(Dataset):
    def __init__(self, source):
        self.targets = []
        for name in scan(source):
            with open(name, "rb") as file:
                self.targets.extend(pickle.load(file)["fine_labels"])
    def __len__(self):
        return len(self.targets)
    def __getitem__(self, index):
        return self.targets[index]
""",
    "arrays, of which a method sets an entry": """\
class Rows(Dataset):
    def __init__(self, source):
        self.source = source
        self.rows = [self.read(number) for number in range(len(self))]
    def __len__(self):
        return self.source.size
    def read(self, number):
        row = parse(self.source, number)
        row["weight"] = 1
        return row
    def __getitem__(self, index):
        return self.rows[index]
""",
    "objects that each have many items": """\
class Rows(Dataset):
    def __init__(self, source):
        self.scenes = [parse(name) for name in scan(source)]
        self.ends = np.cumsum([len(scene) for scene in self.scenes])
    def __len__(self):
        return self.ends[-1]
    def __getitem__(self, index):
        number = int(np.searchsorted(self.ends, index))
        scene = self.scenes[number]
        return scene.pictures[index - self.ends[number]]
""",
    "networks of a library, one for all items": """\
import networkx
class Rows(Dataset):
    def __init__(self, source):
        self.rows = np.load(source)
        self.graphs = [networkx.Graph(parse(name)) for name in scan(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index], self.graphs[0]
""",
    "paths with a label": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []
        for name in scan(source):
            self.rows.append((name, parse(name)))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, label = self.rows[index]
        return np.load(path), label
""",
    "paths with a label, in dicts": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [{"path": name, "label": parse(name)} for name in scan(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return np.load(self.rows[index]["path"]), self.rows[index]["label"]
""",
    "paths with three labels": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []
        for name in scan(source):
            person, camera, time = parse(name)
            self.rows.append((name, person, camera, time))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, person, camera, time = self.rows[index]
        return np.load(path), person, camera, time
""",
    "numbers of images, under which records are looked up": """\
class Rows(Dataset):
    def __init__(self, source):
        self.captions = source
        self.ids = []
        for one in scan(source):
            self.ids.append(one)
    def __len__(self):
        return len(self.ids)
    def __getitem__(self, index):
        number = self.ids[index]
        record = self.captions.find(number)
        return record["caption"], record["box"]
""",
    "a few datasets": """\
class Part(Dataset):
    def __init__(self, name):
        self.name = name
    def __getitem__(self, index):
        return np.load(self.name)[index]
class Rows(Dataset):
    def __init__(self, source):
        self.parts = [Part(name) for name in scan(source)]
        self.which = np.load(source)
    def __len__(self):
        return len(self.which)
    def __getitem__(self, index):
        return self.parts[self.which[index]][index]
""",
    "datasets of a few classes, taken apart by their items": """\
class Part(Dataset):
    def __init__(self, name):
        self.name = name
    def __getitem__(self, index):
        return np.load(self.name)[index], 0
class Rows(Dataset):
    def __init__(self, source):
        self.parts = []
        for name in scan(source):
            self.parts.append(Part(name))
        self.ends = np.cumsum([9 for part in self.parts])
    def __len__(self):
        return self.ends[-1]
    def __getitem__(self, index):
        target = 0
        for end in self.ends:
            if index < end:
                break
            target += 1
        part = self.parts[target]
        image, _ = part[index]
        return image
""",
    "single values": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [parse(name) for name in scan(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "a few records": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = [(parse(name), name) for name in ("train", "valid", "test")]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "an array of them": """\
class Rows(Dataset):
    def __init__(self, source):
        self.rows = np.array([(shape.x, shape.y) for shape in shapes(source)])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        x, y = self.rows[index]
        return x, y
""",
    "numbers under the keys of a dict": """\
class Rows(Dataset):
    def __init__(self, source):
        self.names = np.array(scan(source))
        self.numbers = {name: number for number, name in enumerate(scan(source))}
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        return self.numbers[self.names[index]]
""",
    "numbers of names, given to what takes texts": """\
class Rows(Dataset):
    def __init__(self, source):
        self.texts = np.array(scan(source))
        self.numbers = {text: number for number, text in enumerate(scan(source))}
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        text = self.numbers[self.texts[index]]
        return {"text": text}
""",
    "tables that workers fill": """\
class Rows(Dataset):
    def __init__(self, source):
        self.source = source
        self.tables = {}
        for name in scan(source):
            self.tables[name] = {}
    def __getitem__(self, index):
        if index not in self.tables["first"]:
            self.tables["first"].clear()
        return self.source[index]
""",
    "arrays of a model, and bytes": """\
class Rows(Dataset):
    def __init__(self, source, model, tokenizer):
        self.rows = [model.encode(text) for text in scan(source)]
        self.names = [str(name).encode("utf-8") for name in scan(source)]
        self.tensors = tokenizer(scan(source), return_tensors="pt")["input_ids"]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index], self.names[index], self.tensors[index]
""",
    "records that no worker reads": """\
class Rows(Dataset):
    def __init__(self, source):
        self.source = source
        self.rows = [(shape.x, shape.y) for shape in shapes(source)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.source[index]
""",
}


@pytest.mark.parametrize("body", FOUND.values(), ids=FOUND)
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], body: str) -> None:
    files = {"data.py": HEAD + body + TAIL}
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(findings: Callable[..., Any], body: str) -> None:
    assert findings({"data.py": HEAD + body + TAIL}, **SELECT) == set()


TENSORS = """\
import torch
class Rows(Dataset):
    def __init__(self, source):
        self.rows = []
        for shape in shapes(source):
            self.rows.append({"kind": shape.kind, "points": torch.tensor(shape.points)})
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
"""


@pytest.mark.parametrize(
    ("target", "codes"),
    [
        pytest.param("3.12", ["DLL302"], id="forked workers alone"),
        pytest.param("3.14", ["DLL303"], id="workers of a forkserver"),
        pytest.param(">=3.10", ["DLL303"], id="both"),
    ],
)
def test_records_with_tensors(told: Callable[..., Any], target: str, codes: list[str]) -> None:
    """Their descriptors matter more than their objects, where workers are not forked."""
    found = told({"data.py": HEAD + TENSORS + TAIL}, target_python=target, select=["DLL302", "DLL303"])

    assert [one.code for one in found] == codes
