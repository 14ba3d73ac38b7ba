"""DLL304: which caches grow in workers, and which are bounded, emptied or no caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL304"]}

HEAD = """\
import functools
import os
from collections import OrderedDict, defaultdict, deque

import numpy as np
from torch.utils.data import ConcatDataset, DataLoader, Dataset, get_worker_info
"""


def dataset(
    item: str, cache: str = "{}", extra: str = "", loader: str = "DataLoader(Rows(paths), num_workers=4)"
) -> str:
    """A module with a dataset whose `__getitem__` has the lines `item`."""
    body = "".join(f"        {line}\n" for line in item.splitlines())
    return (
        f"{HEAD}\nclass Rows(Dataset):\n    def __init__(self, paths):\n        self.paths = paths\n"
        f"        self.cache = {cache}\n\n    def __getitem__(self, index):\n{body}{extra}\n"
        f"def build(paths):\n    return {loader}\n"
    )


def holding(init: str, item: str, more: str = "") -> str:
    """A module with a dataset that holds an object with a cache of its own."""
    lines = ["".join(f"        {line}\n" for line in part.splitlines()) for part in (init, item)]
    return (
        f"{HEAD}\nclass Reader:\n    def __init__(self, keep=True):\n        if keep:\n            self.kept = {{}}\n\n"
        "    def get(self, key):\n        if key not in self.kept:\n"
        "            self.kept[key] = open(key, 'rb').read()  # DLL304\n        return self.kept[key]\n\n"
        f"{more}class Rows(Dataset):\n    def __init__(self, paths):\n        self.paths = paths\n{lines[0]}\n"
        f"    def __getitem__(self, index):\n{lines[1]}\n"
        "def build(paths):\n    return DataLoader(Rows(paths), num_workers=4)\n"
    )


IMAGES = "path = self.paths[index]\nif path not in self.cache:\n    {}\nreturn np.asarray(self.cache[path])"


def images(line: str) -> str:
    return dataset(IMAGES.format(line)).replace("import os\n", "import os\nfrom PIL import Image\n", 1)


RECORDS = """\
import json
import numpy as np
from datasets import load_dataset
from PIL import Image
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.rows = MADE
        self.shown = {}

    def __len__(self):
        return len(self.rows)

    def load(self, path):
        return np.asarray(Image.open(path))

    def __getitem__(self, index):
        row = TAKEN
        STORED
        return row

def build(path):
    return DataLoader(Rows(path), num_workers=4)
"""


def records(stored: str, taken: str = "self.rows[index]", made: str = "json.load(open(path))") -> str:
    """A dataset whose items put something into their records."""
    text = RECORDS.replace("MADE", made).replace("TAKEN", taken)
    return text.replace("        STORED\n", "".join(f"        {line}\n" for line in stored.splitlines()))


def filled(stored: str, call: str = "self.fill(row)") -> str:
    """The same, where another method of the dataset or a function gets the record."""
    whole = records(f"row = {call}").replace("row = self.rows[index]", "taken = self.rows[index]")
    body = f"{stored}\n{{indent}}return one"
    of_self = "self.fill" in call
    method = f"    def fill(self, one):\n        {body.format(indent=' ' * 8)}\n\n    def load("
    function = f"def fill(one):\n    {body.format(indent=' ' * 4)}\n\n\ndef build("
    changed = whole.replace("    def load(", method) if of_self else whole.replace("def build(", function)
    return changed.replace("(row)", "(taken)")


FOUND: dict[str, str] = {
    "under the position of its key": dataset(
        "key = self.paths[index]\nplace = self.keys.index(key)\n"
        "if self.cache[place] is None:\n    self.cache[place] = open(key, 'rb').read()  # DLL304\n"
        "return self.cache[place]",
        cache="[None] * len(paths)\n        self.keys = list(paths)",
    ),
    "an array in a record that a method gets": filled("one['image'] = np.load(one['path'])  # DLL304"),
    "an array in a record that a method gets by name": filled(
        "one['image'] = np.load(one['path'])  # DLL304", "self.fill(one=self.rows[index])"
    ),
    "an array in a record that a function gets": filled(
        "one['image'] = np.load(one['path'])  # DLL304", "fill(self.rows[index])"
    ),
    "an array in the record of an item": records("row['image'] = np.load(row['path'])  # DLL304"),
    "an image in the record of an item": records(
        "row['image'] = self.load(row['path'])  # DLL304", made="[{'path': one} for one in open(path)]"
    ),
    "an array in a record that has no name": records("self.rows[index]['image'] = np.load(row['path'])  # DLL304"),
    "images that are opened": images("self.cache[path] = Image.open(path)  # DLL304"),
    "images under two names": images("image = self.cache[path] = Image.open(path)  # DLL304"),
    "images that have a name": images("image = Image.open(path)\n    self.cache[path] = image  # DLL304"),
    "images that are converted": images("self.cache[path] = Image.open(path).convert('RGB')  # DLL304"),
    "images in records": images("self.cache[path] = {'path': path, 'image': Image.open(path)}  # DLL304"),
    "by the part of the index that picks": dataset(
        "height, width, number = index\npath = self.paths[number]\n"
        "self.cache[number] = np.load(path)[:height, :width]  # DLL304",
    ),
    "by parts of the index none of which picks": dataset(
        "video, frame = index\nself.cache[video, frame] = np.load(video)[int(frame)]  # DLL304",
    ),
    "by what an index names": dataset(
        "for name, start in index.ranges:\n    if name not in self.cache:\n"
        "        self.cache[name] = np.load(name)  # DLL304\n    return self.cache[name][start]",
    ),
    "one entry for each file of a folder": dataset(
        "path = os.path.join(os.path.dirname(self.paths[0]), self.paths[index])\nif path not in self.cache:\n"
        "    self.cache[path] = open(path).read()  # DLL304\nreturn self.cache[path]",
    ),
    "by the index within the length": dataset(
        "index = index % len(self.paths)\nself.cache[index] = np.load(self.paths[index])  # DLL304"
    ),
    "by the index within the length that it keeps": dataset(
        "index = index % self.size\nself.cache[index] = np.load(self.paths[index])  # DLL304",
        extra="    def __len__(self):\n        return self.size\n",
    ).replace("        self.cache =", "        self.size = len(paths)\n        self.cache ="),
    "items that are loaded once": dataset(
        "if index not in self.cache:\n    self.cache.append(np.load(self.paths[index]))  # DLL304",
    ).replace("self.cache = {}", "self.cache = []"),
    "of an object inside": holding("self.reader = Reader()", "return self.reader.get(str(index))"),
    "of an object inside, by a field of a record": holding(
        "self.reader = Reader()", "row = self.paths[index]\nreturn self.reader.get(row['path'].replace('.wav', '.npy'))"
    ),
    "of an object inside another": holding(
        "self.store = Store()",
        "return self.store[self.paths[index]]",
        "class Store:\n    def __init__(self):\n        self.reader = Reader()\n\n"
        "    def __getitem__(self, key):\n        return self.reader.get(key)\n\n",
    ),
    "of an object of a subclass, in a dict": holding(
        "self.readers = {'a': Other()}",
        "path, label = self.paths[index]\nreturn self.readers['a'].load(path)",
        "class Other(Reader):\n    def load(self, key):\n        return self.get(key + '.npy')\n\n",
    ),
    "of an object inside, by a bound method and a keyword": holding(
        "self.reader = Reader()", "get = self.reader.get\nreturn get(key=str(self.paths[index]['path']))"
    ),
    "by a path that is made of a field": dataset(
        "path = Path(str(self.paths[index][0]['pdb']).replace('.pdb', '.npy'))\n"
        "if str(path) not in self.cache:\n    self.cache[str(path)] = np.load(path)  # DLL304",
    ).replace("import os\n", "import os\nfrom pathlib import Path\n"),
    "a variable of the module": dataset(
        "return load(self.paths[index])",
        extra="\nCACHE = {}\n\ndef load(path):\n    if path not in CACHE:\n"
        "        CACHE[path] = np.load(path)  # DLL304\n    return CACHE[path]\n",
    ),
    "a variable of the module, in a method": dataset(
        "if index not in CACHE:\n    CACHE[index] = np.load('a')  # DLL304\nreturn CACHE[index]",
        extra="\nCACHE = dict()\n",
    ),
    "by index": dataset("self.cache[index] = np.load(self.paths[index])  # DLL304"),
    "by path": dataset("path = self.paths[index]\nself.cache[path] = np.load(path)  # DLL304"),
    "by a field": dataset("name, label = self.paths[index]\nself.cache[name] = np.load(name)  # DLL304"),
    "by a joined path": dataset("p = os.path.join('a', self.paths[index])\nself.cache[p] = np.load(p)  # DLL304"),
    "under not in": dataset("if index not in self.cache:\n    self.cache[index] = read(index)  # DLL304"),
    "setdefault": dataset("return self.cache.setdefault(index, np.load(self.paths[index]))  # DLL304"),
    "an ordered dict": dataset("self.cache[index] = np.load(self.paths[index])  # DLL304", cache="OrderedDict()"),
    "a default dict": dataset("self.cache[index] = np.load(self.paths[index])  # DLL304", cache="defaultdict(list)"),
    "places that are added before": dataset("self.cache[index] = np.load('a')  # DLL304", cache="[]").replace(
        "        self.cache = []\n", "        self.cache = []\n        self.cache.extend([None for _ in paths])\n"
    ),
    "places that a loop adds": dataset("self.cache[index] = np.load('a')  # DLL304", cache="[]").replace(
        "        self.cache = []\n",
        "        self.cache = []\n        for _ in paths:\n            self.cache.append(None)\n",
    ),
    "places that are added in one go": dataset("self.cache[index] = np.load('a')  # DLL304", cache="[]").replace(
        "        self.cache = []\n", "        self.cache = []\n        self.cache += [None] * len(paths)\n"
    ),
    "a place an item": dataset("self.cache[index] = np.load('a')  # DLL304", cache="[None] * len(paths)"),
    "a list": dataset("self.cache.append(np.load(self.paths[index]))  # DLL304", cache="[]"),
    "made on the first item": dataset(
        "if self.cache is None:\n    self.cache = {}\nself.cache[index] = np.load('a')  # DLL304", cache="None"
    ).replace("        self.cache = None\n", "        self.cache = None\n        self.cache = {}\n"),
    "in a helper": dataset(
        "return self.load(self.paths[index])",
        extra="\n    def load(self, path):\n        self.cache[path] = np.load(path)  # DLL304\n"
        "        return self.cache[path]\n",
    ),
    "functools.cache": dataset(
        "return self.load(self.paths[index])",
        extra="\n    @functools.cache\n    def load(self, path):  # DLL304\n        return np.load(path)\n",
    ),
    "lru_cache with a bound that data sets hardly reach": dataset(
        "return self.load(index)",
        extra="\n    @functools.lru_cache(maxsize=2 * 9000)\n    def load(self, index):  # DLL304\n        return 1\n",
    ),
    "a key that is formatted": dataset(
        "video, frame = self.paths[index]\nkey = '%s_%06d' % (video, frame)\nself.cache[key] = np.load(key)  # DLL304",
    ),
    "a key that is formatted where it is used": dataset("self.cache['%d.npy' % index] = np.load('a')  # DLL304"),
    "a key that is formatted by a name": dataset(
        "self.cache[self.form % index] = np.load('a')  # DLL304", extra="\n    form = '%d.npy'\n"
    ),
    "a bound that data sets hardly reach": dataset(
        "if len(self.cache) < 20000:\n    self.cache[index] = np.load('a')  # DLL304",
    ),
    "a bound that data sets hardly reach, of an attribute": dataset(
        "if index not in self.cache and self.most > len(self.cache):\n    self.cache[index] = np.load('a')  # DLL304",
        extra="\n    most = 100 * 1000\n",
    ),
    "a bound that data sets hardly reach, in a helper": dataset(
        "return self.load(index)",
        extra="\n    def load(self, index):\n        if len(self.cache) <= 15_000 - 1:\n"
        "            self.cache[index] = np.load('a')  # DLL304\n        return 1\n",
    ),
    "items in an lru_cache": HEAD
    + "\nclass Rows(Dataset):\n    def __init__(self, paths):\n        self.paths = paths\n\n"
    "    @functools.lru_cache(maxsize=None)\n    def __getitem__(self, index):  # DLL304\n"
    "        return np.load(self.paths[index])\n\n"
    "def build(paths):\n    return DataLoader(Rows(paths), num_workers=2)\n",
    "lru_cache without a bound": dataset(
        "return self.load(index)",
        extra="\n    @functools.lru_cache(maxsize=None)\n    def load(self, index):  # DLL304\n        return 1\n",
    ),
    "in a base class": HEAD + "\nclass Base(Dataset):\n    def __init__(self, paths):\n        self.cache = {}\n\n"
    "    def __getitem__(self, index):\n        self.cache[index] = np.load(str(index))  # DLL304\n\n"
    "class Rows(Base):\n    pass\n\ndef build(paths):\n    return DataLoader(Rows(paths), num_workers=2)\n",
    "made when it is first needed, by its length": dataset(
        "if len(self.cache) == 0:\n    self.cache = {}\nself.cache[index] = np.load(self.paths[index])  # DLL304",
    ),
    "inside a wrapper": dataset(
        "self.cache[index] = np.load(self.paths[index])  # DLL304",
        loader="DataLoader(ConcatDataset([Rows(paths)]), **{'num_workers': 2})",
    ),
}

SILENT: dict[str, str] = {
    "under the position of a constant": dataset(
        "place = self.keys.index('mean')\nif place not in self.cache:\n"
        "    self.cache[place] = open(self.keys[place], 'rb').read()\nreturn self.cache[place]",
        cache="{}\n        self.keys = list(paths)",
    ),
    "an array in a copy that a method gets": filled("one['image'] = np.load(one['path'])", "self.fill(dict(row))"),
    "an array in a copy that a method makes": filled("one = dict(one); one['image'] = np.load(one['path'])"),
    "an array that the item takes out of what a method filled": filled(
        "one['image'] = np.load(one['path'])", "self.fill(row)\nself.rows[index].pop('image')"
    ),
    "an array in a copy of the record": records("row['image'] = np.load(row['path'])", taken="dict(self.rows[index])"),
    "a number in the record of an item": records("row['index'] = index"),
    "a field in the record of an item": records("row['name'] = row['path'].split('/')[-1]"),
    "an array that the item takes out again": records("row['image'] = np.load(row['path'])\nrow.pop('image')"),
    "a record that a library makes anew": records("row['image'] = np.load(row['path'])", made="load_dataset(path)"),
    "an array in a new dict": records("row = {**row}\nrow['image'] = np.load(row['path'])"),
    "images that are closed with their items": images(
        "self.cache[path] = Image.open(path)\nif len(self.cache) > 9:\n    self.cache.clear()"
    ),
    "the file of an image": images("self.cache[path] = open(path, 'rb')"),
    "by the size that the index asks for besides": dataset(
        "height, width, number = index\npath = self.paths[number]\n"
        "if (height, width) not in self.cache:\n    self.cache[height, width] = np.zeros((height, width))\n"
        "return np.load(path) + self.cache[height, width]",
    ),
    "one entry for each folder": dataset(
        "folder = os.path.dirname(self.paths[index])\nif folder not in self.cache:\n"
        "    self.cache[folder] = open(folder + '/info').read()\nreturn self.cache[folder]",
    ),
    "one entry for each folder, named by a method": dataset(
        "folder = self.folder(self.paths[index])\nif folder not in self.cache:\n"
        "    self.cache[folder] = open(folder + '/info').read()\nreturn self.cache[folder]",
        extra="\n    def folder(self, path):\n        return os.path.abspath(os.path.join(path, '../..'))\n",
    ),
    "one entry for the parent of a path": dataset(
        "path = self.paths[index]\nif path.parent not in self.cache:\n"
        "    self.cache[path.parent] = (path.parent / 'info').read_text()\nreturn self.cache[path.parent]",
    ),
    "one entry for each device and data type": dataset(
        "row = self.paths[index]\nname = str(row.device) + '_' + str(row.dtype)\nif name not in self.cache:\n"
        "    self.cache[name] = torch.hann_window(row.size).to(row.device)\nreturn row * self.cache[name]",
    ),
    "entries that are set to None again": dataset(
        "if self.cache.get(index) is None:\n    self.cache[index] = open(self.paths[index]).read()\n"
        "row = self.cache[index]\nself.cache[index] = None\nreturn row",
    ),
    "names that are noted once": dataset(
        "for name in self.paths[index].names:\n    if name not in self.cache:\n        self.cache.append(name)",
    ).replace("self.cache = {}", "self.cache = []"),
    "of an object that is new for each item": holding("self.reader = Reader()", "return Reader().get(index)"),
    "of an object inside, emptied from outside": holding(
        "self.reader = Reader()",
        "if index % 100 == 0:\n    self.reader.kept.clear()\nreturn self.reader.get(index)",
    ),
    "of an object inside, filled before": holding(
        "self.reader = Reader()\nfor path in paths:\n    self.reader.get(path)",
        "return self.reader.get(self.paths[index])",
    ),
    "of an object inside, one entry": holding("self.reader = Reader()", "return self.reader.get('all')"),
    "of an object inside, bounded": holding(
        "self.reader = Reader()", "return self.reader.get(self.paths[index])"
    ).replace("if key not in self.kept:", "if len(self.kept) < 100:"),
    "of an object inside that keeps nothing": holding(
        "self.reader = Reader(False)", "return self.reader.get(self.paths[index])"
    ),
    "a variable of the module that is filled before": dataset(
        "if index not in CACHE:\n    CACHE[index] = np.load('a')\nreturn CACHE[index]",
        extra="\nCACHE = {}\n\ndef fill(paths):\n    for path in paths:\n        CACHE[path] = 1\n",
    ),
    "a variable of the module that is emptied": dataset(
        "CACHE[index] = np.load('a')\nif index % 9 == 0:\n    CACHE.clear()\nreturn CACHE[index]",
        extra="\nCACHE = {}\n",
    ),
    "a local dict of the name": dataset(
        "CACHE = {}\nCACHE[index] = np.load('a')\nreturn CACHE[index]",
        extra="\nCACHE = {}\n",
    ),
    "a function's own dict": dataset(
        "return load(index)",
        extra="\ndef load(index):\n    parts = {}\n    parts[index] = np.load('a')\n    return parts\n",
    ),
    "a key for each process": dataset("pid = os.getpid()\nself.cache[pid] = np.load('a')"),
    "a key for each worker": dataset("self.cache[get_worker_info().id] = np.load('a')"),
    "values that are added before": dataset("self.cache[index] = np.load('a')", cache="[]").replace(
        "        self.cache = []\n",
        "        self.cache = []\n        self.cache.extend([np.load(one) for one in paths])\n",
    ),
    "a ring of a chosen size": dataset(
        "self.cache[index % self.size] = np.load(self.paths[index])",
        extra="    def __len__(self):\n        return len(self.paths)\n",
    ).replace("        self.cache =", "        self.size = 8\n        self.cache ="),
    "a ring": dataset("self.cache[index % 8] = np.load(self.paths[index])"),
    "a handle": dataset("self.cache[self.paths[index]] = open(self.paths[index])"),
    "a key that is formatted by the process": dataset("self.cache['%d' % os.getpid()] = np.load(self.paths[index])"),
    "a key that is formatted by a remainder": dataset("self.cache['%d' % (index % 8)] = np.load(self.paths[index])"),
    "a bound": dataset("if len(self.cache) < 2000:\n    self.cache[index] = np.load('a')"),
    "a bound of two, one of which is near": dataset(
        "if len(self.cache) < (20000 if index else 200):\n    self.cache[index] = np.load('a')"
    ),
    "a bound that is not known": dataset("if len(self.cache) < len(self.paths):\n    self.cache[index] = np.load('a')"),
    "a bound on the item": dataset("if index < 20000:\n    self.cache[index] = np.load('a')"),
    "a bounded deque": dataset("self.cache.append(np.load('a'))", cache="deque(maxlen=8)"),
    "an array": dataset("self.cache[index] = np.load('a')", cache="np.zeros((100, 3))"),
    "a limit": dataset("if len(self.cache) < 100:\n    self.cache[index] = np.load('a')"),
    "taken out": dataset("self.cache[index] = np.load('a')\nself.cache.pop(index - 1, None)"),
    "deleted": dataset("self.cache[index] = np.load('a')\nif index > 9:\n    del self.cache[index - 9]"),
    "started anew when it has grown": dataset(
        "if index not in self.cache:\n    if len(self.cache) > self.most:\n        self.cache = {}\n"
        "    self.cache[index] = np.load(self.paths[index])\nreturn self.cache[index]",
    ),
    "started anew when it is too large": dataset(
        "if self.most <= len(self.cache):\n    self.cache = dict()\nself.cache[index] = np.load(self.paths[index])",
    ),
    "started anew": dataset("self.cache = {}\nself.cache[index] = np.load('a')"),
    "built in one go when it is first read": dataset(
        "if self.cache is None:\n    self.cache = []\n    for path in self.paths:\n"
        "        self.cache.append((path, os.path.getsize(path)))\nreturn self.cache[index]",
        cache="None",
    ),
    "a dict built in one go": dataset(
        "if not self.cache:\n    self.cache = {}\n"
        "    for path in self.paths:\n        self.cache[path] = np.load(path)\n"
        "return self.cache[self.paths[index]]",
        cache="None",
    ),
    "lru_cache": dataset(
        "return self.load(index)",
        extra="\n    @functools.lru_cache(maxsize=8)\n    def load(self, index):\n        return np.load('a')\n",
    ),
    "counted": dataset("self.cache[index] += 1", cache="defaultdict(int)"),
    "flagged": dataset("self.cache[index] = True"),
    "by class": dataset("label = np.load('a').argmax()\nself.cache[label] = np.load('b')"),
    "a local dict": dataset("cache = {}\ncache[index] = np.load('a')\nreturn cache"),
    "filled before": dataset("return self.cache[index]", cache="{path: np.load(path) for path in paths}"),
    "of an unknown class": dataset("self.cache[index] = np.load('a')", cache="Cache(8)"),
    "no workers": dataset("self.cache[index] = np.load('a')", loader="DataLoader(Rows(paths))"),
    "not in workers": dataset(
        "return self.paths[index]", extra="\n    def put(self, index, value):\n        self.cache[index] = value\n"
    ),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND.keys())
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"data.py": source}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": source}, **SELECT) == set()


@pytest.mark.parametrize(
    ("options", "text"),
    [("", "lost when workers end with the epoch"), (", persistent_workers=True", "Memory of each worker grows")],
)
def test_what_becomes_of_it_depends_on_how_long_workers_live(told: Callable[..., Any], options: str, text: str) -> None:
    source = dataset("self.cache[index] = np.load('a')", loader=f"DataLoader(Rows(paths), num_workers=4{options})")

    (finding,) = told({"data.py": source}, **SELECT)

    assert text in finding.text


def test_one_cache_of_two_loaders_is_one_finding_of_the_worse_kind(told: Callable[..., Any]) -> None:
    source = dataset("self.cache[index] = np.load('a')")
    source += "\ndef more(paths):\n    return DataLoader(Rows(paths), num_workers=2, persistent_workers=True)\n"

    (finding,) = told({"data.py": source}, **SELECT)

    assert "Memory of each worker grows" in finding.text
    assert len(finding.related) == 2


def test_what_one_branch_puts_aside_of_an_item_is_one_finding(told: Callable[..., Any]) -> None:
    item = (
        "if index not in self.cache:\n    data = np.load(self.paths[index])\n    self.cache[index] = data['image']\n"
        "    self.boxes[index] = data['boxes']\nelse:\n    self.seen[index] = np.zeros(3)\nreturn self.cache[index]"
    )
    text = dataset(item, cache="{}\n        self.boxes = {}\n        self.seen = {}")
    first, second = told({"rows.py": text}, **SELECT)
    line = text[: text.index("self.cache[index] =")].count("\n") + 1

    assert (first.span.line, second.span.line) == (line, line + 3)
    assert [(one.span.line, one.message) for one in first.related if "grows" in one.message] == [
        (line + 1, "`Rows.boxes` grows here")
    ]


def test_labels_that_are_loaded_once(findings: Callable[..., Any]) -> None:
    text = """\
import json
from torch.utils.data import DataLoader, Dataset

class Labelled(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.labels = []
        self.loaded = False

    def load(self, index):
        self.labels.append(json.load(open(self.paths[index])))
        self.loaded = True

    def __getitem__(self, index):
        if not self.loaded:
            self.load(index)
        return self.labels[0][index]

def build(paths):
    return DataLoader(Labelled(paths), num_workers=2)
"""
    assert findings({"labels.py": text}, **SELECT, target_python="3.11") == set()
    each = text.replace("        if not self.loaded:\n    ", "").replace("            self.load", "        self.load")
    assert {code for _, _, code in findings({"labels.py": each}, **SELECT, target_python="3.11")} == {"DLL304"}


def test_a_record_with_an_open_file_is_a_handle(findings: Callable[..., Any]) -> None:
    text = """\
import zipfile
from torch.utils.data import DataLoader, Dataset

_archives = []


def read(archive, name):
    for one in _archives:
        if one["path"] == archive:
            return one["file"].read(name)
    _archives.append({"path": archive, "file": zipfile.ZipFile(archive, "r")})
    return _archives[-1]["file"].read(name)


class Images(Dataset):
    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return read("images.zip", self.names[index])


loader = DataLoader(Images([]), num_workers=4)
"""
    assert findings({"images.py": text}, select=["DLL304"]) == set()
    kept = text.replace('"file": zipfile.ZipFile(archive, "r")', '"file": open(archive, "rb").read()')
    assert len(findings({"images.py": kept}, select=["DLL304"])) == 1
