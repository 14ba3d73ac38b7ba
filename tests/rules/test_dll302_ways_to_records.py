"""DLL302: ways by which records come into the lists that a dataset keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL302"]}
HEAD = """\
import csv
import glob
import json
import os
import numpy as np
import pandas as pd
import torch
from dataclasses import dataclass
from torch.utils.data import DataLoader, Dataset

"""
TAIL = """

def build(path):
    return DataLoader(Rows(path), num_workers=4)
"""

DRAWN = """\
class Rows(Dataset):
    def __init__(self, path):
        self.table = pd.read_csv(path)MARK
        self.size = len(self.table)
    def __len__(self):
        return 9
    def __getitem__(self, index):
        row = self.table.iloc[np.random.randint(0, self.size)]
        cut = row["txt"][2:]
        return np.load(GIVEN), cut
"""

SEARCHED = """\
class Store:
    def __init__(self, path):
        images = json.load(open(path))
        self.images = {one["id"]: one for one in images}  # DLL302
class Base(Dataset):
    def __init__(self, path):
        self.store = Store(path)
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return torch.load(f"{index}.pt")
class Rows(Base):
    def __getitem__(self, index):
        example = super().__getitem__(index)
        image = self.store.images[example["image"]]
        return USED
"""

DRAWING = """\
import pickle
import random
class Rows(Dataset):
    def __init__(self, path):
        self.rows = pickle.load(open(path, "rb"))MARK
    def __len__(self):
        return 9
    def __getitem__(self, index):
        rows = DRAWN
        return [USED for row in rows]
"""

FOUND: dict[str, str] = {
    "fields of several records that are drawn": DRAWING.replace("MARK", "  # DLL302")
    .replace("DRAWN", "np.random.choice(self.rows, 4)")
    .replace("USED", "row['pose']"),
    "fields of a sample of records": DRAWING.replace("MARK", "  # DLL302")
    .replace("DRAWN", "random.sample(self.rows, k=4)")
    .replace("USED", "row['pose']"),
    "texts of an Arrow table": """\
import pyarrow as pa
class Rows(Dataset):
    def __init__(self, paths):
        tables = [pa.ipc.RecordBatchFileReader(pa.memory_map(path, "r")).read_all() for path in paths]
        self.table = pa.concat_tables(tables)
        self.texts = self.table["text"].to_pandas().tolist()  # DLL302
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        return self.texts[index].split()
""",
    "records whose lists are searched, by a field of what a base class reads": SEARCHED.replace(
        "USED", "image['shapes'].index(example['shape'])"
    ),
    "a text of a row that is drawn": DRAWN.replace("MARK", "  # DLL302").replace("GIVEN", "row['path'] + '.npy'"),
    "objects that a file of torch holds under a key": """\
class Rows(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path)["graphs"]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        graph = self.rows[index]
        return graph.nodes, graph.edges
""",
    "a table of the records of a file": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            table = pd.DataFrame(json.load(f)["annotations"])
        self.rows = table[table["score"] > 0].reset_index()  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows.iloc[index]
        return row["caption"], row["score"]
""",
    "a table of lists that loops fill from a file": """\
class Rows(Dataset):
    def __init__(self, path):
        texts, kinds = [], []
        with open(path) as f:
            for line in f:
                text, kind = line.split("\\t")
                texts.append(text)
                kinds.append(kind)
        self.rows = pd.DataFrame({"text": texts, "kind": kinds})  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows.loc[index, "text"]
""",
    "the captions of each image as a list": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.rows = table.groupby(["image"])["caption"].apply(list)  # DLL302
        self.items = table.groupby("user").agg({"item": list, "time": list}).reset_index()  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows.iloc[index][0], torch.tensor(self.items.iloc[index]["item"])
""",
    "sentences whose words are looked up, beside a path": """\
class Rows(Dataset):
    def __init__(self, path, numbers):
        self.numbers = numbers
        self.rows = []  # DLL302
        for line in open(path):
            rest, sentence = line.split("##")
            video, start, end = rest.split(" ")
            self.rows.append({"video": video, "times": [float(start), float(end)], "description": sentence})
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        sentence = self.rows[index]["description"]
        start, end = self.rows[index]["times"]
        frames = np.load(os.path.join("videos", self.rows[index]["video"]))
        return torch.tensor([self.numbers.get(word.lower(), 0) for word in sentence.split()]), frames, start, end
""",
    "texts of the rows of a hub dataset": """\
from datasets import load_dataset
class Rows(Dataset):
    def __init__(self, path):
        self.rows = [row["text"] for row in load_dataset(path, split="train")]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index].lower()
""",
    "texts of the rows of a table, added in a loop": """class Rows(Dataset):
    def __init__(self, path):
        self.rows = []  # DLL302
        for _, row in pd.read_csv(path).iterrows():
            self.rows.append(row["body"])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        text = self.rows[index]
        return len(text)
""",
    "pairs of the elements of two arrays": """class Rows(Dataset):
    def __init__(self, path):
        ids = pd.read_csv(path)["image"].values
        _, starts, counts = np.unique(ids, return_index=True, return_counts=True)
        self.ids = ids
        self.rows = list(zip(starts, counts))  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        start, count = self.rows[index]
        return np.arange(start, start + count), self.ids[start : start + count]
""",
    "features under the name of an item's image, which workers copy": """\
def read(path):
    found = []
    with open(path) as f:
        for row in csv.DictReader(f, ["name", "count", "boxes"]):
            row["boxes"] = np.frombuffer(row["boxes"].encode(), dtype=np.float32)
            found.append(row)
    return found
class Rows(Dataset):
    def __init__(self, path):
        self.images = {}  # DLL302
        for row in read(path):
            self.images[row["name"]] = row
        with open(path + ".json") as f:
            self.names = json.load(f)  # DLL302
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        item = self.names[index]
        image = self.images[item["image"]]
        boxes = image["boxes"].copy()
        boxes[:, (0, 2)] /= float(image["count"])
        return boxes, item["text"]
""",
    "words that workers join to a sentence": """class Rows(Dataset):
    def __init__(self, path):
        self.root = path
        self.rows = []  # DLL302
        for name in os.listdir(path):
            row = {"video": name, "words": [], "times": []}
            for line in open(os.path.join(path, name)):
                parts = line.split(" ")
                row["words"].append(parts[2])
                row["times"].append(int(parts[0]))
            self.rows.append(row)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.load(self.rows[index])
    def load(self, row):
        start = round(row["times"][0] / 1000)
        return np.load(os.path.join(self.root, row["video"]))[start:], " ".join(row["words"])
""",
    "shapes that workers divide by the size of the image": """class Rows(Dataset):
    def __init__(self, path):
        self.root = path
        with open(path) as f:
            rows = json.load(f)
        self.rows = []  # DLL302
        for name, row in rows.items():
            cells = np.asarray(row["cells"], dtype=np.float32)
            self.rows.append((name, {"cells": cells, "logic": np.asarray(row["logic"])}))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        name, row = self.rows[index]
        image = np.load(os.path.join(self.root, name))
        return image, relative(row["cells"].copy(), image.shape), row["logic"]
def relative(cells, shape):
    found = np.empty(cells.shape)
    found[:, ::2] = cells[:, ::2] / shape[1]
    found[:, 1::2] = cells[:, 1::2] / shape[0]
    return found
""",
    "scenes of a pickle, whose fields another function reads": """import pickle
class Scene:
    def __init__(self, frames):
        self.frames = frames
    @classmethod
    def of(cls, frames, number):
        return cls([frames[number]["pose"], frames[number]["anns"]])
def scenes(path, size):
    found = {}
    for name in os.listdir(path):
        frames = pickle.load(open(os.path.join(path, name), "rb"))
        for group in [frames[first:first + size] for first in range(0, len(frames), size)]:
            if len(group) == size:
                found[group[-1]["token"]] = group
    return found
class Scenes:
    def __init__(self, path):
        self.frames = scenes(path, 14)  # DLL302
    @property
    def tokens(self):
        return list(self.frames.keys())
    def get(self, token):
        return Scene.of(self.frames[token], 4)
class Rows(Dataset):
    def __init__(self, path):
        self.scenes = Scenes(path)
    def __len__(self):
        return len(self.scenes.tokens)
    def __getitem__(self, index):
        return self.scenes.get(self.scenes.tokens[index]).frames
""",
    "lists that `random` picks from": """\
import pickle
import random
class Rows(Dataset):
    def __init__(self, path):
        with open(path, "rb") as f:
            found = pickle.load(f)
        self.near = found  # DLL302
        self.names = sorted(found)
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        return np.load(random.choice(self.near[self.names[index]]))
""",
    "a list of each record, from which one is taken by number": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.videos = json.load(f)  # DLL302
        self.names = np.array([name.split() for name in open(path + ".txt")])
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        name, number = self.names[index]
        frames = self.videos["train"][name]["frames"]
        return np.load(frames[number])
""",
    "annotations in a dict of lists for each item": """\
from collections import defaultdict
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            found = json.load(f)
        self.ids = np.array([one["id"] for one in found["images"]])
        self.rows = {one: defaultdict(list) for one in self.ids}  # DLL302
        for one in found["annotations"]:
            row = self.rows[one["image_id"]]
            row["boxes"].append(one["bbox"])
            row["kinds"].append(one["category_id"])
    def __len__(self):
        return len(self.ids)
    def __getitem__(self, index):
        row = self.rows[self.ids[index]]
        return np.array(row["boxes"]), np.array(row["kinds"])
""",
    "records that a drawn number of a tensor picks": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.rows = [json.loads(line) for line in f]  # DLL302
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        row = self.rows[torch.randint(len(self.rows), (1,))[0]]
        other = self.rows[np.random.choice(len(self.rows), 1)[0]]
        return len(row), len(other)
""",
    "frames from a number of the item on": """\
class Rows(Dataset):
    def __init__(self, path):
        self.size = 16
        with open(path) as f:
            self.frames = json.load(f)  # DLL302
        self.starts = np.arange(0, len(self.frames) - self.size, 4)
        self.windows = self.split()
    def split(self):
        return np.array([[first, first + 4] for first in range(len(self.frames) - 4)])
    def __len__(self):
        return len(self.starts)
    def __getitem__(self, index):
        start = self.starts[index]
        return [self.frames[number]["pose"] for number in range(start, start + self.size)]
""",
    "frames between two fields of the item": """\
class Rows(Dataset):
    def __init__(self, path):
        self.size = 16
        with open(path) as f:
            self.frames = json.load(f)  # DLL302
        self.starts = np.arange(0, len(self.frames) - self.size, 4)
        self.windows = self.split()
    def split(self):
        return np.array([[first, first + 4] for first in range(len(self.frames) - 4)])
    def __len__(self):
        return len(self.starts)
    def __getitem__(self, index):
        start, end = self.windows[index]
        poses = []
        for number in range(start, end):
            poses.append(self.frames[number]["pose"])
        return poses
""",
    "frames that a list of positions names": """\
class Rows(Dataset):
    def __init__(self, path):
        self.size = 16
        with open(path) as f:
            self.frames = json.load(f)  # DLL302
        self.starts = np.arange(0, len(self.frames) - self.size, 4)
        self.windows = self.split()
    def split(self):
        return np.array([[first, first + 4] for first in range(len(self.frames) - 4)])
    def __len__(self):
        return len(self.starts)
    def __getitem__(self, index):
        poses = []
        for number in self.windows[index]:
            frame = self.frames[number]
            poses.append(frame["pose"])
        return poses
""",
    "the frame of a part of the index": """\
class Rows(Dataset):
    def __init__(self, path):
        self.size = 16
        with open(path) as f:
            self.frames = json.load(f)  # DLL302
        self.starts = np.arange(0, len(self.frames) - self.size, 4)
        self.windows = self.split()
    def split(self):
        return np.array([[first, first + 4] for first in range(len(self.frames) - 4)])
    def __len__(self):
        return len(self.starts)
    def __getitem__(self, index):
        frame, camera = divmod(index, 6)
        return self.frames[frame]["poses"][camera]
""",
    "sequences of a FASTA file": """\
from Bio import SeqIO
class Rows(Dataset):
    def __init__(self, path):
        self.rows = list(SeqIO.parse(path, "fasta"))  # DLL302
        self.size = len(self.rows)
    def __len__(self):
        return self.size
    def __getitem__(self, index):
        row = self.rows[index]
        return row.id, str(row.seq)
""",
    "pairs that loops make of what a pickle holds": """\
import pickle
class Rows(Dataset):
    def __init__(self, path):
        with open(path, "rb") as f:
            self.scenes = pickle.load(f)
        self.rows = []  # DLL302
        for scene in self.scenes:
            graph = self.scenes[scene]["graph"]
            for frame in graph:
                self.rows.append((scene, frame))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        scene, frame = self.rows[index]
        return self.scenes[scene]["poses"][frame]
""",
    "texts of a column that a setting names": """\
class Rows(Dataset):
    def __init__(self, path, key="text"):
        self.table = pd.read_csv(path)  # DLL302
        self.key = key
    def __len__(self):
        return len(self.table)
    def __getitem__(self, index):
        return self.table.iloc[index][self.key]
""",
    "texts of a column that a constant of the module names": """\
COLUMN = "polygon_wkt"
class Rows(Dataset):
    def __init__(self, path):
        self.table = pd.read_csv(path)  # DLL302
    def __len__(self):
        return len(self.table)
    def __getitem__(self, index):
        row = self.table.iloc[index]
        return row[COLUMN]
""",
    "what a function makes of each text of a column": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.texts = table["text"].apply(lambda text: text.split()).tolist()  # DLL302
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        return self.texts[index]
""",
    "texts of a table under the names of the items": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        names, texts = table["name"].tolist(), table["text"].tolist()
        self.table = {}  # DLL302
        for name, text in zip(names, texts):
            self.table[str(name)] = text
        self.names = np.array(names)
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        key = self.names[index]
        text = self.table[key]
        return text
""",
    "pairs of columns, looked up by the name of a file": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.captions = dict(zip(table["file"], table["caption"]))  # DLL302
        self.files = sorted(glob.glob("*.npy"))
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        path = self.files[index]
        return np.load(path), self.captions[os.path.basename(path)]
""",
    "texts of a JSON file under the names of the items": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.found = json.load(f)  # DLL302
        self.files = sorted(glob.glob("*.npy"))
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        name, _ = os.path.splitext(self.files[index])
        caption = self.found.get(name)
        return np.load(self.files[index]), caption
""",
    "a column with an index, as a dict": """\
class Rows(Dataset):
    def __init__(self, path):
        self.transcripts = pd.read_csv(path).set_index("file")["text"].to_dict()  # DLL302
        self.files = sorted(glob.glob("*.npy"))
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        name = os.path.splitext(os.path.basename(self.files[index]))[0]
        return np.load(self.files[index]), self.transcripts[name]
""",
    "graphs that DGL loads": """\
import dgl
class Rows(Dataset):
    def __init__(self, path):
        self.graphs, labels = dgl.load_graphs(path)  # DLL302
        self.labels = labels["y"]
    def __len__(self):
        return len(self.graphs)
    def __getitem__(self, index):
        return self.graphs[index], self.labels[index]
""",
    "lines of four fields, two of them paths": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.rows = [tuple(line.strip().split(",")) for line in f]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        name, audio, samples, transcript = self.rows[index]
        with open(transcript) as f:
            return np.load(audio), f.read()
""",
    "rows of a table with four fields and a path": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path, newline="") as f:
            self.rows = list(csv.reader(f))  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return np.load(row[0]), float(row[1]), float(row[2]), float(row[3])
""",
    "the lists of a dict that lines are grouped in": """\
class Rows(Dataset):
    def __init__(self, path):
        groups = {}
        for line in open(path):
            user, item, time = line.strip().split("\\t")
            groups.setdefault(user, []).append((item, int(time)))
        self.rows = list(groups.values())  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "numbers of each row of a table of comma-separated values": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path, newline="") as f:
            rows = list(csv.reader(f))
        self.rows = [list(map(float, row[1:])) for row in rows[1:]]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "numbers of each row, appended": """\
class Rows(Dataset):
    def __init__(self, path):
        self.rows = []  # DLL302
        with open(path, newline="") as f:
            for row in csv.reader(f):
                self.rows.append(tuple(float(one) for one in row))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "lists for the lines of a file that another list is made of": """\
import selfies
class Rows(Dataset):
    def __init__(self, path):
        texts = [selfies.encoder(line.split()[0]) for line in open(path)]
        self.number = {"a": 1}
        self.rows = [[self.number[one] for one in selfies.split_selfies(text)] for text in texts]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "lists for the cells of a column": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.number = {"a": 1}
        self.rows = [[self.number[one] for one in text] for text in table["smiles"]]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "words of the cells of a column, appended": """\
class Rows(Dataset):
    def __init__(self, path):
        number = {"a": 1}
        self.rows = []  # DLL302
        for text in pd.read_csv(path)["text"].tolist():
            numbers = [number[word] for word in text.split()]
            self.rows.append(numbers)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "texts of a column in a list": """\
class Rows(Dataset):
    def __init__(self, path):
        self.captions = list(pd.read_csv(path)["caption"])  # DLL302
    def __len__(self):
        return len(self.captions)
    def __getitem__(self, index):
        return self.captions[index]
""",
    "cells of a column as strings": """\
class Rows(Dataset):
    def __init__(self, path):
        self.rows = [str(cell) for cell in pd.read_csv(path)["text"]]  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "what a tokenizer of transformers makes of a column": """\
from transformers import AutoTokenizer
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        t = AutoTokenizer.from_pretrained("bert-base-uncased")
        self.encodings = t(list(table["text"]), truncation=True, padding=True)  # DLL302
        self.labels = table["label"].values
    def __len__(self):
        return len(self.labels)
    def __getitem__(self, index):
        return {key: torch.tensor(value[index]) for key, value in self.encodings.items()}
""",
    "records beside the empty list that they replace": """\
class Rows(Dataset):
    def __init__(self, path):
        self.rows = self.load(path)  # DLL302
    def load(self, path):
        rows = []
        with open(path) as f:
            rows = json.load(f)["questions"]
        return rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return row["question"]
""",
    "unpickled objects by their attributes": """\
import pickle
class Rows(Dataset):
    def __init__(self, sources):
        self.rows = []  # DLL302
        for source, limit in sources:
            with open(source, "rb") as f:
                data = pickle.load(f)
            assert data.keys() == {"rows", "context"}
            self.rows += data["rows"][:limit]
    def tokens(self, row):
        return torch.tensor(row.token_ids)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return self.tokens(row)
""",
    "the place of each item in one of several datasets": """\
class Rows(Dataset):
    def __init__(self, datasets):
        self.datasets = datasets
        self.lengths = [len(one) for one in datasets]
        self.place = {}  # DLL302
        row, column = 0, 0
        for number in range(sum(self.lengths)):
            self.place[number] = (row, column)
            column += 1
            if column >= len(datasets):
                column = 0
                row += 1
    def __len__(self):
        return sum(self.lengths)
    def __getitem__(self, index):
        row, column = self.place[index]
        return self.datasets[column][row]
""",
    "what the partial of a pool makes of each record": """\
from functools import partial
from multiprocessing import Pool
def convert(record, tokenizer):
    return {"tokens": tokenizer.encode(record["text"]), "label": record["label"]}
class Rows(Dataset):
    def __init__(self, path, tokenizer=None):
        with open(path) as f:
            records = [json.loads(line) for line in f]
        with Pool(4) as pool:
            self.rows = list(pool.imap(partial(convert, tokenizer=tokenizer), records))  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        row = self.rows[index]
        return row["tokens"], row["label"]
""",
    "texts of files that a folder is searched for": """\
from pathlib import Path
class Rows(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).rglob("*.flac"))
        self.texts = {}  # DLL302
        for path in Path(root).rglob("*.trans.txt"):
            for line in path.read_text().splitlines():
                name, text = line.split(" ", 1)
                self.texts[name] = text
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        path = self.files[index]
        text = self.texts[path.stem]
        return path.stat().st_size, text
""",
    "a number for each frame, in a dict": """\
import lmdb
class Rows(Dataset):
    def __init__(self, path, gap):
        self.gap = gap
        self.stores, self.frames = {}, {}  # DLL302
        count = 0
        for name in glob.glob(path + "/**"):
            store = lmdb.open(name, readonly=True, lock=False).begin()
            size = int(store.get(b"len")) - self.gap
            for frame in range(size):
                self.stores[frame + count] = name
                self.frames[frame + count] = frame
            count += size
    def __len__(self):
        return len(self.stores)
    def __getitem__(self, index):
        return self.frames[index]
""",
    "parts of a line around a separator": """\
class Rows(Dataset):
    def __init__(self, root):
        self.root = root
        self.rows = []  # DLL302
        for path in sorted(glob.glob(os.path.join(root, "**", "*.txt"))):
            base = os.path.dirname(path)
            with open(path) as f:
                for line in f:
                    clip, _, text = line.rstrip("\\r\\n").partition(" ")
                    self.rows.append((clip, os.path.join(base, clip + ".flac"), text))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        clip, path, text = self.rows[index]
        return clip, os.path.join(self.root, path), text
""",
    "records that a pool's function returns": """\
from multiprocessing import Pool
def work(p):
    with open(p) as f:
        d = json.load(f)
    return {"a": d["a"], "b": d["b"]}
class Rows(Dataset):
    def __init__(self, paths):
        with Pool(8) as pool:
            self.rows = pool.map(work, paths)  # DLL302
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "records that a thread pool's function returns": """\
from concurrent.futures import ThreadPoolExecutor
def work(p):
    with open(p) as f:
        d = json.load(f)
    return d["a"], d["b"]
class Rows(Dataset):
    def __init__(self, paths):
        with ThreadPoolExecutor() as pool:
            self.rows = list(pool.map(work, paths))  # DLL302
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "lists of words that a pool's function returns": """\
from multiprocessing import Pool
from tqdm import tqdm
class Rows(Dataset):
    def __init__(self, paths):
        with Pool(8) as pool:
            self.rows = list(tqdm(pool.imap(self.work, paths), total=3))  # DLL302
    def work(self, p):
        with open(p) as f:
            return [l.split() for l in f]
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "records of tqdm's process_map": """\
from tqdm.contrib.concurrent import process_map
def work(p):
    with open(p) as f:
        d = json.load(f)
    return {"a": d["a"], "b": d["b"]}
class Rows(Dataset):
    def __init__(self, paths):
        self.rows = process_map(work, paths, max_workers=3)  # DLL302
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "a method that __init__ calls in a loop": """\
class Rows(Dataset):
    def __init__(self, paths):
        self.rows = []  # DLL302
        for p in paths:
            self._load(p)
    def _load(self, p):
        with open(p) as f:
            d = json.load(f)
        self.rows.append((d["text"], d["label"]))
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "a method that the program calls in a loop": """\
class Rows(Dataset):
    def __init__(self):
        self.rows = []  # DLL302
    def add(self, record):
        self.rows.append(record)
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

def build(path):
    data = Rows()
    for record in json.load(open(path)):
        data.add(record)
    return DataLoader(data, num_workers=4)
""",
    "fields that the program gives a method in a loop": """\
class Rows(Dataset):
    def __init__(self):
        self.rows = []  # DLL302
    def add(self, name, text):
        self.rows.append((name, text))
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

def build(path):
    data = Rows()
    with open(path) as f:
        for line in f:
            name, text = line.split("\\t")
            data.add(name, text)
    return DataLoader(data, num_workers=4)
""",
    "a method that another one calls in a loop": """\
class Rows(Dataset):
    def __init__(self):
        self.rows = []  # DLL302
    def add(self, page):
        for line in page:
            self.add_line(line)
    def add_line(self, line):
        self.rows.append((line["text"], line["points"]))
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

def build(paths):
    data = Rows()
    for p in paths:
        with open(p) as f:
            data.add(json.load(f))
    return DataLoader(data, num_workers=4)
""",
    "objects of unpacked rows": """\
class Sample:
    def __init__(self, text, label):
        self.text = text
        self.label = label
class Rows(Dataset):
    def __init__(self, path):
        self.rows = []  # DLL302
        for r in csv.DictReader(open(path)):
            self.rows.append(Sample(**r))
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "objects of unpacked records": """\
@dataclass
class Sample:
    text: str
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.rows = [Sample(**json.loads(l)) for l in f]  # DLL302
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "calls of dict": """\
class Rows(Dataset):
    def __init__(self, path):
        self.rows = [dict(text=l.split("\\t")[0], label=1) for l in open(path)]  # DLL302
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "calls of dict in a helper": """\
class Rows(Dataset):
    def __init__(self, path):
        self.rows = self._load(path)  # DLL302
    @staticmethod
    def _load(path):
        rows = []
        with open(path) as f:
            reader = csv.reader(f, delimiter="\\t")
            next(reader)
            for r in reader:
                rows.append(dict(text=r[0], label=int(r[1])))
        return rows
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "a list that passes through an array": """\
class Rows(Dataset):
    def __init__(self, inters, indices, mode="train", sample_num=0):
        self.mode = mode
        self.sample_num = sample_num
        self.inters = inters
        self.indices = indices
        self.remap()
        self.rows = self.process()  # DLL302
    def remap(self):
        self.mapped = dict()
        for uid, items in self.inters.items():
            new = ["".join(self.indices[str(i)]) for i in items]
            self.mapped[uid] = new
    def process(self):
        if self.mode == "train":
            return self.train()
        elif self.mode == "test":
            return self.test()
        else:
            raise NotImplementedError
    def train(self):
        out = []
        for uid in self.mapped:
            items = self.mapped[uid][:-2]
            for i in range(1, len(items)):
                history = items[:i]
                history = self.cut(history)
                out.append({"item": items[i], "inters": "".join(history)})
        return out
    def cut(self, history):
        if self.sample_num > 0:
            history = history[-self.sample_num:]
        return history
    def test(self):
        out = []
        for uid in self.mapped:
            items = self.mapped[uid]
            out.append({"item": items[-1], "inters": "".join(items[:-1])})
        if self.sample_num > 0:
            idx = np.random.choice(np.arange(len(out)), 3)
            out = np.array(out)[idx].tolist()
        return out
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        pass
        d = self.rows[index]
        return {"a": d["inters"], "b": d["item"]}

def read(args):
    with open(args.a) as f:
        inters = json.load(f)
    with open(args.b) as f:
        indices = json.load(f)
    return inters, indices

def build(args):
    inters, indices = read(args)
    test = Rows(inters, indices, mode="test", sample_num=args.n)
    return DataLoader(Rows(inters, indices, mode="train"), num_workers=4), DataLoader(test, num_workers=4)
""",
    "sorted texts of files": """\
class Rows(Dataset):
    def __init__(self, paths):
        texts = [open(p).read() for p in paths]
        self.rows = sorted(texts)  # DLL302
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "pairs of texts of files": """\
class Rows(Dataset):
    def __init__(self, paths):
        texts = [open(p).read() for p in paths]
        self.rows = []  # DLL302
        for t in texts:
            self.rows.append((t, len(t)))
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "tables of nuScenes": """\
from nuscenes.nuscenes import NuScenes
class Rows(Dataset):
    def __init__(self, nusc):
        self.nusc = nusc  # DLL302
        self.rows = self.prepare()
    def prepare(self):
        samples = [s for s in self.nusc.sample]
        samples = [s for s in samples if self.nusc.get("scene", s["scene_token"])["name"] != "x"]
        samples.sort(key=lambda x: x["timestamp"])
        return samples
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        rec = self.rows[index]
        return self.nusc.get("sample_data", rec["data"]["LIDAR_TOP"])
def build(path):
    nusc = NuScenes(version="v1.0", dataroot=path)
    return DataLoader(Rows(nusc), num_workers=4)
""",
    "a helper of nuScenes among arguments that are unpacked": """\
from nuscenes import NuScenes
from nuscenes.prediction import PredictHelper
class Rows(Dataset):
    def __init__(self, mode, folder, helper):
        self.mode = mode
        self.folder = folder
        self.helper = helper  # DLL302
        self.tokens = folder.split()
    def __len__(self):
        return len(self.tokens)
    def __getitem__(self, index):
        return self.folder, self.helper.get_sample_annotation(*self.tokens[index].split("_"))
def extra(name, path):
    found = []
    if name == "nuScenes":
        found.append(PredictHelper(NuScenes("v1.0", dataroot=path)))
    return found
def make(kind, args):
    return {"rows": Rows}[kind](*args)
def build(cfg, path):
    return DataLoader(make(cfg["kind"], ["train", path] + extra(cfg["name"], path)), num_workers=4)
""",
    "a dict of records whose lists the workers iterate": """\
class Rows(Dataset):
    def __init__(self, path):
        self.graphs = json.load(open(path + "graphs.json"))  # DLL302
        self.paths = [l.split() for l in open(path)]
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        path, key = self.paths[index]
        graph = self.graphs[key]
        return [graph["objects"][k]["name"] for k in sorted(graph["objects"])]
""",
    "a list of a record that a field looks up": """\
class Rows(Dataset):
    def __init__(self, path):
        self.graphs = json.load(open(path + "graphs.json"))  # DLL302
        self.paths = [l.split() for l in open(path)]
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        path, key = self.paths[index]
        out = []
        for box in self.graphs[key]["boxes"]:
            out.append(box)
        return np.load(path), out
""",
    "a dict of a record that a method iterates": """\
class Rows(Dataset):
    def __init__(self, path):
        self.graphs = json.load(open(path + "graphs.json"))  # DLL302
        self.paths = [l.split() for l in open(path)]
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        path, key = self.paths[index]
        graph = self.graphs[key]
        return self.convert(graph)

    def convert(self, graph):
        return [o["name"] for o in graph["objects"].values()]
""",
    "a list of a column": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.rows = list(table[table.fold > 0]["reviewText"])  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "a column by its method": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.rows = table.comment_text.astype(str).tolist()  # DLL302
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "the values of a column": """\
class Rows(Dataset):
    def __init__(self, path, tokenizer=None):
        df = pd.read_csv(path)
        self.texts = df["text"].values  # DLL302
        self.tokenizer = tokenizer
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        return self.texts[index]
""",
    "texts for a tokenizer": """\
class Rows(Dataset):
    def __init__(self, path, tokenizer=None):
        df = pd.read_json(path, lines=True)
        self.texts = df["text"].values  # DLL302
        self.tokenizer = tokenizer
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        text = self.texts[index]
        return self.tokenizer(text)
""",
    "a column by its name": """\
class Rows(Dataset):
    def __init__(self, path, tokenizer=None):
        df = pd.read_csv(path)
        self.texts = df.text  # DLL302
        self.tokenizer = tokenizer
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        return {'t': self.texts[index], 'l': 1}
""",
    "records that joblib's tasks return": """\
from joblib import Parallel, delayed
def work(p):
    with open(p) as f:
        d = json.load(f)
    return {"a": d["a"], "b": d["b"]}
class Rows(Dataset):
    def __init__(self, paths):
        self.rows = Parallel(n_jobs=3)(delayed(work)(p) for p in paths)  # DLL302
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "pairs that a method returns to joblib": """\
from joblib import Parallel, delayed
class Rows(Dataset):
    def __init__(self, paths):
        self.rows = list(Parallel(n_jobs=3)(delayed(self.work)(p, 1) for p in paths))  # DLL302
    def work(self, p, n):
        with open(p) as f:
            d = json.load(f)
        return d["a"], d["b"]
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "dicts by name of the entries of a file, in a base class": """\
class Base(Dataset):
    def __init__(self, path):
        self.path = path
        self.infos = self.load()  # DLL302
    def __len__(self):
        return len(self.infos)

    def __getitem__(self, index):
        return self.prepare(copy.deepcopy(self.infos[index]))

class Rows(Base):
    def load(self):
        with open(self.path) as file:
            entries = json.load(file)
        infos = []
        for name, entry in entries.items():
            info = dict(name=name, frames=entry["frames"], boxes=entry["boxes"])
            infos.append(info)
        return infos
""",
}

SILENT: dict[str, str] = {
    "several values that are drawn": DRAWING.replace("MARK", "")
    .replace("DRAWN", "np.random.choice(self.rows, 4)")
    .replace("USED", "row"),
    "records that are drawn from a few": DRAWING.replace("pickle.load(open(path, 'rb'))", "path")
    .replace('pickle.load(open(path, "rb"))MARK', "[{'pose': 1}, {'pose': 2}]")
    .replace("DRAWN", "random.choices(self.rows, k=4)")
    .replace("USED", "row['pose']"),
    "numbers of records, by a field of what a base class reads": SEARCHED.replace("  # DLL302", "").replace(
        "USED", "image['width'] + example['shape']"
    ),
    "a part of rows that are drawn": DRAWN.replace("MARK", "").replace("GIVEN", "self.size"),
    "a table of a few rows, and an empty one": """\
class Rows(Dataset):
    def __init__(self, path):
        self.kinds = pd.DataFrame({"text": ["cat", "dog"], "label": [1, 2]})
        self.results = pd.DataFrame(columns=["text"])
        self.rows = np.load(path)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.kinds.iloc[self.rows[index]]["text"].lower(), self.results.iloc[index]["text"]
""",
    "numbers and paths of the rows of a table": """\
from PIL import Image
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.rows = [row["image"] for _, row in table.iterrows()]
        self.kinds = []
        for _, row in table.iterrows():
            self.kinds.append(row["kind"])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return Image.open(self.rows[index]), torch.tensor(self.kinds[index])
""",
    "pairs of a path and a label": """class Rows(Dataset):
    def __init__(self, path):
        names = sorted(glob.glob(path))
        self.rows = list(zip(names, np.load(path + ".npy")))
        self.few = list(zip(["a", "b"], [1, 2]))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        name, label = self.rows[index]
        return np.load(name), label, self.few[index % 2]
""",
    "a table of classes that workers look a name up in": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.kinds = {row["name"]: row for row in csv.DictReader(f)}
        self.names = np.load(path + ".npy")
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        row = np.load(self.names[index])
        kind = self.kinds[row["kind"]]
        return kind["label"], float(kind["weight"])
""",
    "parts of a path that workers join": """class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.rows = [line.split() for line in f]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return np.load("/".join(self.rows[index]))
""",
    "what NumPy picks from may be an array": """\
import pickle
import random
class Rows(Dataset):
    def __init__(self, path):
        with open(path, "rb") as f:
            found = pickle.load(f)
        self.near = found
        self.names = sorted(found)
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        return np.load(np.random.choice(self.near[self.names[index]]))
""",
    "a field of each record, which is one number": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.videos = json.load(f)
        self.names = np.array([name.split() for name in open(path + ".txt")])
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        name, number = self.names[index]
        return self.videos["train"][name]["length"] + int(number)
""",
    "numbers in a dict of lists for each item": """\
from collections import defaultdict
class Rows(Dataset):
    def __init__(self, path):
        self.ids = np.load("ids.npy")
        self.rows = {one: defaultdict(list) for one in ("train", "valid")}
        for number, one in enumerate(np.load(path)):
            self.rows["train"]["sums"].append(one.sum())
    def __len__(self):
        return len(self.ids)
    def __getitem__(self, index):
        return self.ids[index] + self.rows["train"]["sums"][index]
""",
    "a tree of dicts": """\
from collections import defaultdict
def tree():
    return defaultdict(tree)
class Rows(Dataset):
    def __init__(self, path):
        self.ids = np.load("ids.npy")
        self.rows = tree()
    def __len__(self):
        return len(self.ids)
    def __getitem__(self, index):
        return self.ids[index], len(self.rows[self.ids[index]])
""",
    "a prompt for each folder": """\
from pathlib import Path
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.prompts = json.load(f)
        self.files = sorted(Path("data").glob("*/*.npy"))
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        path = self.files[index]
        name = path.parent.name
        prompt = self.prompts[name] + self.prompts[str(path).split("/")[-2]]
        return np.load(path), prompt
""",
    "records of the tokens of an item": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.tokens = json.load(f)
        self.rows = np.load("rows.npy")
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return [self.tokens[number]["weight"] for number in self.rows[index]]
""",
    "colors of as many objects as an item has": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.colors = json.load(f)
        self.sizes = np.load("sizes.npy")
    def __len__(self):
        return len(self.sizes)
    def __getitem__(self, index):
        return [self.colors[number]["rgb"] for number in range(self.sizes[index])]
""",
    "pairs of paths and labels that a pickle holds": """\
import pickle
class Rows(Dataset):
    def __init__(self, path):
        with open(path, "rb") as f:
            names = pickle.load(f)
        self.rows = []
        for label in names:
            for name in names[label]:
                self.rows.append((name, label))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        name, label = self.rows[index]
        return np.load(os.path.join("data", name)), label
""",
    "a column that a setting may name": """\
class Rows(Dataset):
    def __init__(self, path, key="size"):
        self.table = pd.read_csv(path)
        self.key = key
    def __len__(self):
        return len(self.table)
    def __getitem__(self, index):
        return self.table.iloc[index][self.key]
""",
    "numbers that a function makes of each text of a column": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.lengths = table["text"].apply(lambda text: len(text)).tolist()
    def __len__(self):
        return len(self.lengths)
    def __getitem__(self, index):
        return self.lengths[index]
""",
    "numbers of a table under the names of the items": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.sizes = {}
        for name, size in zip(table["name"].tolist(), table["size"].tolist()):
            self.sizes[name] = size
        self.files = sorted(glob.glob("*.npy"))
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        name = os.path.basename(self.files[index])
        return self.sizes[name]
""",
    "a prompt for each class": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.prompts = json.load(f)
        self.files = sorted(glob.glob("*/*.npy"))
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        label = os.path.basename(os.path.dirname(self.files[index]))
        return np.load(self.files[index]), self.prompts[label]
""",
    "a prompt for each label of an item": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.prompts = json.load(f)
        self.labels = np.load("labels.npy")
    def __len__(self):
        return len(self.labels)
    def __getitem__(self, index):
        return self.prompts[str(self.labels[index])], self.prompts[self.labels[index]]
""",
    "lines of a path and two numbers": """\
class Rows(Dataset):
    def __init__(self, path):
        with open(path) as f:
            self.rows = [line.strip().split(",") for line in f]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, start, end = self.rows[index]
        return np.load(path)[int(start):int(end)]
""",
    "numbers of a column in a list": """\
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.rows = list(table["score"])
        self.labels = [label for label in table["label"].values]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index], self.labels[index]
""",
    "a tensor of lists for the cells of a column": """\
class Rows(Dataset):
    def __init__(self, path):
        number = {"a": 1}
        rows = []
        for text in pd.read_csv(path)["text"].tolist():
            rows.append([number[word] for word in text.split()])
        self.rows = torch.tensor(rows)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
""",
    "names of images in a column": """\
from PIL import Image
class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        self.rows = [str(name) for name in table["id"]]
        self.files = list(table["filename"])
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return Image.open("images/" + self.rows[index]), Image.open(os.path.join("masks", self.files[index]))
""",
    "numbers of a dict that no loop over data makes": """\
class Rows(Dataset):
    def __init__(self, files):
        self.files = files
        self.offsets = {}
        for number in range(10):
            self.offsets[number] = number * 5
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        return self.files[index], self.offsets[index]
""",
    "tensors of a tokenizer": """\
from transformers import AutoTokenizer
class Rows(Dataset):
    def __init__(self, path):
        t = AutoTokenizer.from_pretrained("bert-base-uncased")
        self.encodings = t([line.strip() for line in open(path)], return_tensors="pt")
    def __len__(self):
        return len(self.encodings["input_ids"])
    def __getitem__(self, index):
        return {key: value[index] for key, value in self.encodings.items()}
""",
    "paths that a pool's function returns": """\
from multiprocessing import Pool
def work(p):
    return os.path.join(p, "x.png")
class Rows(Dataset):
    def __init__(self, paths):
        with Pool(8) as pool:
            self.rows = pool.map(work, paths)
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return np.load(self.rows[index])
""",
    "arrays that a pool's function returns": """\
from multiprocessing import Pool
def work(p):
    with open(p) as f:
        d = json.load(f)
    return np.array(d["x"])
class Rows(Dataset):
    def __init__(self, paths):
        with Pool(8) as pool:
            self.rows = pool.map(work, paths)
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "a method that the program calls once": """\
class Rows(Dataset):
    def __init__(self):
        self.rows = []
    def add(self, record):
        self.rows.append((record["name"], 1))
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

def build(path):
    data = Rows()
    record = json.load(open(path))
    data.add(record)
    return DataLoader(data, num_workers=4)
""",
    "paths that the program gives a method in a loop": """\
class Rows(Dataset):
    def __init__(self):
        self.rows = []
    def add(self, path, label):
        self.rows.append((path, label))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        path, label = self.rows[index]
        return np.load(path), label

def build(root):
    data = Rows()
    with open(root) as f:
        for line in f:
            data.add(os.path.join(root, line.split()[0]), int(line.split()[1]))
    return DataLoader(data, num_workers=4)
""",
    "an array of texts": """\
class Rows(Dataset):
    def __init__(self, path):
        out = [l.strip() for l in open(path)]
        self.rows = np.array(out)[:10]
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "numbers that pass through an array": """\
class Rows(Dataset):
    def __init__(self, root, n):
        self.root = root
        self.rows = np.array(range(n))[np.random.permutation(n)].tolist()
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return np.load(self.root + str(self.rows[index]))
""",
    "names of classes that a field looks up": """\
class Rows(Dataset):
    def __init__(self, path):
        self.graphs = json.load(open(path + "graphs.json"))
        self.paths = [l.split() for l in open(path)]
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        path, key = self.paths[index]
        return np.load(path), self.graphs[key]["name"], self.graphs[key]["id"]
""",
    "a small table of colours": """\
class Rows(Dataset):
    def __init__(self, path):
        self.graphs = json.load(open(path + "graphs.json"))
        self.paths = [l.split() for l in open(path)]
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        path, key = self.paths[index]
        info = self.graphs[key]
        return np.load(path), info["color"][0], info["id"]
""",
    "a vocabulary": """\
class Rows(Dataset):
    def __init__(self, path):
        self.graphs = json.load(open(path + "graphs.json"))
        self.paths = [l.split() for l in open(path)]
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        path, key = self.paths[index]
        return np.load(path), [self.graphs[w] for w in key]
""",
    "settings beside the data": """\
class Rows(Dataset):
    def __init__(self, path):
        self.graphs = json.load(open(path + "graphs.json"))
        self.paths = [l.split() for l in open(path)]
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        path, key = self.paths[index]
        return np.load(path), [k for k in self.graphs["classes"]["all"]]
""",
    "the names of columns": """\
class Rows(Dataset):
    def __init__(self, path, tokenizer=None):
        df = pd.read_csv(path)
        self.texts = df.columns
        self.tokenizer = tokenizer
    def __len__(self):
        return len(self.texts)
    def __getitem__(self, index):
        return self.texts[index]
""",
    "a column of labels": """\
class Rows(Dataset):
    def __init__(self, path, tokenizer=None):
        df = pd.read_csv(path)
        self.labels = df.label.values
        self.tokenizer = tokenizer
    def __len__(self):
        return len(self.labels)
    def __getitem__(self, index):
        return self.labels[index]
""",
    "a column of paths": """\
class Rows(Dataset):
    def __init__(self, path, tokenizer=None):
        df = pd.read_csv(path)
        self.files = df.file.values
        self.tokenizer = tokenizer
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        return np.load(self.files[index])
""",
    "arrays that joblib's tasks return": """\
import joblib
def work(p):
    with open(p) as f:
        d = json.load(f)
    return np.array(d["a"])
class Rows(Dataset):
    def __init__(self, paths):
        self.rows = joblib.Parallel(n_jobs=3)(joblib.delayed(work)(p) for p in paths)
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
    "paths in dicts by name": """\
import glob
class Rows(Dataset):
    def __init__(self, root):
        self.rows = []
        for path in glob.glob(root):
            row = dict(path=path)
            self.rows.append(row)
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return open(self.rows[index]["path"])
""",
    "paths that joblib's tasks return": """\
import joblib
def work(p):
    return p + ".x"
class Rows(Dataset):
    def __init__(self, paths):
        self.rows = joblib.Parallel(n_jobs=3)(joblib.delayed(work)(p) for p in paths)
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
""",
}


def module(source: str) -> str:
    """A module with the dataset, and with a loader for it unless the source has one."""
    return HEAD + source + ("" if "DataLoader(" in source else TAIL)


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"data.py": module(source)}
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": module(source)}, **SELECT) == set()


COLUMN = """\
import numpy as np
import pandas as pd
from cleaning import clean
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, texts, tokenizer):
        self.texts, self.tokenizer = texts, tokenizer  # DLL302

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.tokenizer(str(self.texts[index]))

def build(table, tokenizer):
    return DataLoader(Rows(COLUMN, tokenizer), num_workers=4)

build(pd.read_csv("rows.csv"), None)
"""


@pytest.mark.parametrize(
    "column",
    [
        'table["body"].values',
        "table.body",
        "table.body.values",
        "table.body.to_numpy()",
        "table.body.tolist()",
        "table[table.fold > 0].body.values",
        'table.dropna()["body"].values',
        'table["body"].astype(str).values',
        'table["body"].apply(clean).values',
        'table["body"].map(clean)',
        'table["body"].str.lower().tolist()',
        'np.array(table["body"])',
    ],
)
def test_a_column_that_a_parameter_hands_over(
    findings: Callable[..., Any], marks: Callable[..., Any], column: str
) -> None:
    files = {"data.py": COLUMN.replace("COLUMN", column)}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize(
    "column",
    [
        "table.shape",
        "table.columns",
        "table.index.tolist()",
        "table.body.nunique()",
        "np.array(table.index)",
        "np.array(len(table))",
    ],
)
def test_what_is_no_column(findings: Callable[..., Any], column: str) -> None:
    assert findings({"data.py": COLUMN.replace("COLUMN", column)}, **SELECT) == set()


def test_where_an_attribute_got_its_container_from(told: Callable[..., Any]) -> None:
    source = """import json
from torch.utils.data import DataLoader, Dataset

class Table:
    def __init__(self, path):
        self.names, self.sizes = self.compute(json.load(open(path)))

    def compute(self, rows):
        names, sizes = {}, {}
        for key, row in rows.items():
            names[key] = [(one["a"], one["b"]) for one in row]
            sizes[key] = len(row)
        return names, sizes

class Rows(Dataset):
    def __init__(self, table):
        self.table = table
        self.names, self.sizes = table.names, table.sizes

    def __getitem__(self, index):
        return self.names[index]

def main():
    for rows in DataLoader(Rows(Table("rows.json")), num_workers=4):
        print(rows)
"""
    [found] = told({"data.py": source}, **SELECT)
    lines = {place.span.line: place.message for place in found.related}
    made = next(number for number, text in enumerate(source.splitlines(), 1) if "self.compute(json" in text)
    assert lines[made] == "kept here as `table.names`"
