"""DLL301: which arrays on datasets cost a copy in each worker, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL301"]}

HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
"""
TAIL = """
def build(path):
    return DataLoader(Rows(path), num_workers=4, multiprocessing_context="spawn")
"""
READ = """
    def __getitem__(self, index):
        return self.rows[index]
"""

KEYED = READ.replace("self.rows[index]", 'self.rows["images"][index]')


def dataset(init: str, before: str = "", extra: str = READ) -> str:
    """A module with a dataset whose `__init__` has the lines `init`."""
    body = "".join(f"        {line}\n" for line in init.splitlines())
    return f"{HEAD}{before}\nclass Rows(Dataset):\n    def __init__(self, path):\n{body}{extra}{TAIL}"


GIVEN = """
from PIL import Image
def load(paths, ending):
    rows = []
    for one in paths:
        if ending == ".npy":
            rows.append(np.load(one))
        else:
            rows.append(np.array(Image.open(one)) / 255)
    return np.array(rows).astype(np.float32)
"""
BATCHES = """
def batches(rows):
    loader = DataLoader(Rows(rows), num_workers=4, multiprocessing_context="spawn")
    while True:
        yield from loader
def train(paths):
    data = batches(load(paths, ".png"))
    for _ in range(100):
        next(data)
"""

PICTURES = """
    def __getitem__(self, index):
        return np.asarray(self.rows[index])
"""

FOUND: dict[str, str] = {
    "a picture of each row of an array": dataset(
        'data = np.load(path)["images"]\nself.rows = [Image.fromarray(one) for one in data]  # DLL301',
        "from PIL import Image\n",
        PICTURES,
    ),
    "a copy of each row of an array": dataset(
        "data = np.load(path)\nrows = []\nfor one in data:\n    rows.append(one.copy())\nself.rows = rows  # DLL301",
    ),
    "on an object that the constructor makes": dataset(
        "self.data = Data()\nself.data.clouds = np.load(path)  # DLL301",
        "class Data:\n    pass\n",
        READ.replace("self.rows", "self.data.clouds"),
    ),
    "arrays made of the arrays that another loop has read": dataset(
        "raw = [np.load(one) for one in path]\nself.rows = [self.scaled(one) for one in raw]  # DLL301",
        extra=READ + "    def scaled(self, row):\n        return (row - row.mean()) / row.std()\n",
    ),
    "a part of the arrays that another loop has read": dataset(
        "raw = []\nfor one in path:\n    raw.append(np.load(one))\n"
        "self.rows = [raw[number] for number in np.random.permutation(len(raw))[:100]]  # DLL301",
    ),
    "one array of images, each divided by a number": dataset(
        "rows = []\nfor one in path:\n    rows.append(np.array(Image.open(one)) / 255)\n"
        "self.rows = np.array(rows).astype(np.float32)  # DLL301",
        "from PIL import Image\n",
    ),
    "one array that a generator of batches is given": dataset("self.rows = path  # DLL301", GIVEN).replace(
        TAIL, BATCHES
    ),
    "images with an axis more": dataset(
        "self.rows = []  # DLL301\nfor one in path:\n    image = tifffile.imread(one)\n"
        "    image = image.astype(np.float32) / image.max()\n    self.rows.append(image[None, ..., :64])",
        "import tifffile\n",
    ),
    "windows of unpickled arrays": dataset(
        'self.starts = np.load(path)\nself.sounds = pickle.load(open("sounds.pkl", "rb"))  # DLL301\nself.size = 128',
        "import pickle\n",
        extra="\n    def __getitem__(self, index):\n        name, start = self.starts[index]\n"
        "        return self.sounds[name][start : start + self.size]\n",
    ).replace("np.load(path)", "path"),
    "unpickled arrays under a field of the item": dataset(
        'self.table = path\nself.prints = pickle.load(open("prints.pkl", "rb"))  # DLL301',
        "import pickle\n",
        extra="\n    def __getitem__(self, index):\n        row = self.table.iloc[index]\n"
        '        return torch.from_numpy(self.prints[row["ligand"]])\n',
    ),
    "several unpickled arrays under the name of an item": dataset(
        'self.names = path\nself.shapes = pickle.load(open("shapes.pkl", "rb"))  # DLL301',
        "import pickle\n",
        extra="\n    def __getitem__(self, index):\n        points, inside, _ = self.shapes[self.names[index]]\n"
        "        order = np.random.permutation(len(points))\n        return points[order], inside[order]\n",
    ),
    "sounds, each with its rate": dataset(
        "self.rows = []  # DLL301\nfor one in path:\n    sound, rate = librosa.load(one)\n    self.rows.append(sound)",
        "import librosa\n",
    ),
    "sounds, the rate first": dataset(
        "self.rows = [wavfile.read(one)[1] for one in path]  # DLL301", "from scipy.io import wavfile\n"
    ),
    "spectrograms": dataset(
        "self.rows = [librosa.feature.mfcc(y=sf.read(one)[0]) for one in path]  # DLL301",
        "import librosa\nimport soundfile as sf\n",
    ),
    "frames of a video": dataset(
        "video = cv2.VideoCapture(path)\nself.rows = []  # DLL301\nwhile True:\n    more, frame = video.read()\n"
        "    if not more:\n        break\n    self.rows.append(frame)",
        "import cv2\n",
    ),
    "a part of a frame": dataset(
        "table = pd.read_csv(path)\nself.rows = table[table.fold == 3].copy().values  # DLL301", "import pandas as pd\n"
    ),
    "columns of a text file": dataset("self.rows = np.loadtxt(path)[:, 1:].astype(np.float32)  # DLL301"),
    "a channel of a file": dataset("self.rows = np.load(path)[:, 0]  # DLL301"),
    "arrays in places of their own": dataset(
        "self.rows = [None] * len(path)  # DLL301\nfor number in range(len(path)):\n"
        "    rows = np.loadtxt(path[number]).astype(np.float32)\n    rows = rows[0:1024, :]\n"
        "    self.rows[number] = rows"
    ),
    "arrays in places of their own, counted first": dataset(
        "self.rows = len(path) * [0]  # DLL301\nfor number, one in enumerate(path):\n"
        "    self.rows[number] = np.load(one)"
    ),
    "arrays added by a list of one": dataset(
        "self.rows = []  # DLL301\nfor one in path:\n    self.rows += [np.load(one)[:, 3:]]"
    ),
    "lists of arrays that a method returns": dataset(
        "self.names, self.rows = self.load(path)  # DLL301",
        "",
        "\n    def load(self, paths):\n        names, rows = [], []\n        for one in paths:\n"
        "            names += [one]\n            rows += [np.loadtxt(one, dtype=np.float32)]\n"
        "        return names, rows\n" + READ,
    ),
    "rows of what else takes part in products": dataset(
        "self.rows = np.load(path)  # DLL301",
        "",
        """
    def __getitem__(self, index):
        return self.rows[index] @ self.rows
""",
    ),
    "a matrix whose size says that it is large": dataset(
        "self.rows = np.zeros((1 << 14, 1 << 14))  # DLL301",
        "",
        """
    def __getitem__(self, index):
        return np.ones(1 << 14) @ self.rows
""",
    ),
    "an array that an object holds": dataset(
        "self.store = Store(path)",
        "class Store:\n    def __init__(self, path):\n        self.all = np.load(path)  # DLL301\n\n"
        "    def get(self, number):\n        return self.all[number]\n",
        "\n    def __getitem__(self, index):\n        return self.store.get(index)\n",
    ),
    "a list of images": dataset("self.rows = [cv2.imread(one) for one in path]  # DLL301", "import cv2\n"),
    "images with their labels": dataset(
        "self.rows = []  # DLL301\nfor number, one in enumerate(path):\n"
        "    image = read(one, flags=1)[:, :, ::-1]\n    self.rows.append((image, number))",
        "from cv2 import imread as read\n",
    ),
    "images of a helper, by name": dataset(
        "self.rows = {one: decoded(one) for one in path}  # DLL301",
        "from PIL import Image\n\ndef decoded(name):\n    with open(name, 'rb') as f:\n"
        "        return Image.open(f).convert('RGB')\n",
    ),
    "arrays of images, filled in nested loops": dataset(
        "self.rows = {}  # DLL301\nfor folder in path:\n    self.rows[folder] = []\n    for one in folder:\n"
        "        self.rows[folder].append({'image': np.asarray(Image.open(one)), 'name': one})",
        "from PIL import Image\n",
    ),
    "images in one array": dataset(
        "images = []\nfor one in path:\n    images.append(cv2.cvtColor(cv2.imread(one), 4))\n"
        "self.rows = np.stack(images)  # DLL301",
        "import cv2\n",
    ),
    "lists put together of arrays": dataset(
        "train = [np.load(one) for one in path]\ntest = [np.load(one) for one in path]\n"
        "self.rows = train + test  # DLL301"
    ),
    "np.load": dataset("self.rows = np.load(path)  # DLL301"),
    "np.load with mmap_mode=None": dataset("self.rows = np.load(path, mmap_mode=None)  # DLL301"),
    "np.loadtxt": dataset("self.rows = np.loadtxt(path)  # DLL301"),
    "numpy under its own name": dataset("self.rows = numpy.load(path)  # DLL301", "import numpy\n"),
    "imported function": dataset("self.rows = read(path)  # DLL301", "from numpy import load as read\n"),
    "zeros": dataset("self.rows = np.zeros((1024, 1024, 64))  # DLL301"),
    "zeros by keywords": dataset("self.rows = np.zeros(shape=(1024, 1024, 256), dtype=np.uint8)  # DLL301"),
    "ones of a flat size": dataset("self.rows = np.ones(1 << 28, dtype='float32')  # DLL301"),
    "sizes of the module": dataset(
        "self.rows = np.empty((COUNT, SIDE * SIDE), np.float32)  # DLL301", "COUNT, SIDE = 4096, 512\n"
    ),
    "size of a parameter": dataset("self.rows = np.zeros((size, size, size), np.float32)  # DLL301").replace(
        "self, path)", "self, path, size=512)"
    ),
    "size given by the caller": dataset("self.rows = np.zeros((path, 1 << 20))  # DLL301").replace(
        "Rows(path)", "Rows(1000)"
    ),
    "astype": dataset("self.rows = np.load(path).astype(np.float32)  # DLL301"),
    "through a local variable": dataset("rows = np.load(path)\nself.rows = rows  # DLL301"),
    "reshaped": dataset("rows = np.load(path)\nself.rows = rows.reshape(-1, 3)  # DLL301"),
    "indexed archive": dataset('self.rows = np.load(path)["rows"]  # DLL301'),
    "arrays of a kept archive": dataset(
        'self.archive = np.load(path + "rows.npz")\nself.rows = self.archive["rows"]  # DLL301'
    ),
    "with block": dataset('with np.load(path) as archive:\n    self.rows = archive["rows"]  # DLL301'),
    "helper": dataset(
        "self.read(path)", extra=READ + "\n    def read(self, path):\n        self.rows = np.load(path)  # DLL301\n"
    ),
    "function that returns it": dataset(
        "self.rows = read(path)  # DLL301", "def read(path):\n    return np.load(path)\n"
    ),
    "frame": dataset("self.rows = pd.read_csv(path).values  # DLL301", "import pandas as pd\n"),
    "random rows": dataset("self.rows = np.random.rand(1024, 1024, 64)  # DLL301"),
    "rows of a generator": dataset("self.rows = np.random.default_rng(0).random((1024, 1024, 64))  # DLL301"),
    "given to the constructor": f"""{HEAD}
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows  # DLL301

    def __getitem__(self, index):
        return self.rows[index]

def build(path):
    return DataLoader(Rows(np.load(path)), num_workers=4, multiprocessing_context="spawn")
""",
    "in a base class": f"""{HEAD}
class Base(Dataset):
    def __init__(self, path):
        self.rows = np.load(path)  # DLL301

class Rows(Base):
    def __init__(self, path):
        super().__init__(path)
{READ}{TAIL}""",
    "inside Subset": dataset("self.rows = np.load(path)  # DLL301").replace(
        "Rows(path),", "torch.utils.data.Subset(Rows(path), [0]),"
    ),
    "loader in a partial": dataset("self.rows = np.load(path)  # DLL301").replace(
        "return DataLoader(Rows(path), num_workers=4, ",
        "from functools import partial\n    make = partial(DataLoader, num_workers=4)\n    return make(Rows(path), ",
    ),
    "tensor of more than a gigabyte": dataset("self.rows = torch.zeros(1024, 1024, 512)  # DLL301"),
    "tensor from an array, of more than a gigabyte": dataset(
        "self.rows = torch.from_numpy(np.zeros((1024, 1024, 512), np.float32))  # DLL301"
    ),
    "stacked": dataset("self.rows = np.stack([np.load(path), np.load(path)])  # DLL301"),
    "under a key": dataset(
        'self.rows = {"images": np.load(path), "labels": np.load(path + "l")}  # DLL301', extra=KEYED
    ),
    "under a keyword": dataset("self.rows = dict(images=np.load(path))  # DLL301", extra=KEYED),
    "in a local dict first": dataset(
        'rows = {}\nrows["images"] = np.load(path)\nself.rows = rows  # DLL301', extra=KEYED
    ),
    "under keys that a helper takes from a store": dataset(
        "self.rows = load(path)  # DLL301",
        "import zarr\n\ndef load(path):\n    store = zarr.open(path)\n    found = {}\n    for key in store:\n"
        "        found[key] = store[key][:]\n    return found\n",
        KEYED,
    ),
    "zarr read whole": dataset('self.rows = zarr.open(path, mode="r")["data"]["rows"][:]  # DLL301', "import zarr\n"),
    "zarr loaded": dataset("self.rows = zarr.load(path)  # DLL301", "import zarr\n"),
    "h5py by get": dataset(
        'with h5py.File(path, "r") as file:\n    self.rows = file.get("rows")[:]  # DLL301', "import h5py\n"
    ),
    "h5py by get, as an array": dataset(
        'file = h5py.File(path)\nself.rows = np.array(file["a"].get("rows"))  # DLL301\nfile.close()', "import h5py\n"
    ),
    "netCDF4": dataset('self.rows = netCDF4.Dataset(path)["rows"][:]  # DLL301', "import netCDF4\n"),
    "xarray": dataset('self.rows = xr.open_dataset(path)["t2m"].values  # DLL301', "import xarray as xr\n"),
    "xarray by an attribute, from several files": dataset(
        "data = xr.open_mfdataset(path)\nself.rows = data.t2m.values  # DLL301", "import xarray as xr\n"
    ),
    "xarray by get, selected and computed": dataset(
        'data = xr.open_zarr(path)\nself.rows = data.get("t2m").sel(level=50).values[:, ::2]  # DLL301\n'
        "self.rows = (self.rows - self.rows.mean()) / 2.0",
        "import xarray as xr\n",
    ),
    "an array with a new axis": dataset("self.rows = np.load(path)[:, np.newaxis]  # DLL301"),
    "xarray selected before": dataset(
        "data = xr.open_mfdataset(path).sel(time=slice(9)).isel(time=slice(None, -1, 2))\n"
        'self.rows = data["t2m"].transpose("time", ...).values  # DLL301',
        "import xarray as xr\n",
    ),
    "xarray with one variable": dataset(
        "self.rows = xr.open_dataarray(path).values  # DLL301", "import xarray as xr\n"
    ),
    "xarray in a helper that returns several": dataset(
        "self.rows, self.count = read(path)  # DLL301",
        'import xarray as xr\n\ndef read(path):\n    data = xr.open_dataset(path)\n    return data["t2m"].values, 3\n',
    ),
    "columns of a table by position": dataset(
        'self.rows = pd.read_csv(path).iloc[:, 1:].values.astype("float32")  # DLL301', "import pandas as pd\n"
    ),
    "h5py read whole": dataset('self.rows = h5py.File(path)["rows"][:]  # DLL301', "import h5py\n"),
    "cached_property is no __init__, the annotated attribute is": dataset(
        "self.rows: np.ndarray = np.load(path)  # DLL301"
    ),
}

ELSEWHERE: dict[str, dict[str, str]] = {
    "a list of images, by classes and helpers of other files": {
        "images.py": """\
import cv2

def load(path, *, flags=1):
    return cv2.imread(path, flags)
""",
        "base.py": """\
from torch.utils.data import Dataset
import images

class Base(Dataset):
    def __init__(self, paths, **options):
        self.rows = []  # DLL301
        self.fill(paths, **options)

    def fill(self, paths, **options):
        for path in paths:
            self.rows.append(images.load(path, **options))
""",
        "data.py": """\
from torch.utils.data import DataLoader
from base import Base

class Rows(Base):
    def __getitem__(self, index):
        return self.rows[index]

def build(paths):
    return DataLoader(Rows(paths, flags=0), num_workers=4, multiprocessing_context="spawn")
""",
    },
    "four files": {
        "launch.py": """\
import torch.multiprocessing as mp
from train import main

if __name__ == "__main__":
    mp.spawn(main, args=("rows.npy",), nprocs=2)
""",
        "train.py": """\
from torch.utils.data import DataLoader
import sets

def main(rank, path):
    return DataLoader(sets.Rows(path), num_workers=4)
""",
        "sets/__init__.py": "from .rows import *\n",
        "sets/rows.py": """\
from torch.utils.data import Dataset
from .files import read

class Rows(Dataset):
    def __init__(self, path):
        self.rows = read(path)  # DLL301

    def __getitem__(self, index):
        return self.rows[index]
""",
        "sets/files.py": """\
import numpy as np

def read(path):
    rows = np.load(path)
    return rows.astype("float32")
""",
    },
}

SILENT: dict[str, str] = {
    "a number of each row of an array": dataset("self.rows = [one.mean() for one in np.load(path)]"),
    "a new array for each row of an array": dataset("self.rows = [np.array([1, 2]) for one in np.load(path)]"),
    "on an object that nothing keeps": dataset(
        "data = Data()\ndata.clouds = np.load(path)\nself.rows = range(9)", "class Data:\n    pass\n"
    ),
    "coordinates of xarray": dataset(
        'data = xr.open_dataset(path)\nself.rows = data["lat"].values\nself.lon = data.longitude.values\n'
        'when = data["valid_time"]\nself.when = when.values',
        "import xarray as xr\n",
    ),
    "a mean of xarray": dataset(
        'self.rows = xr.open_dataset(path)["t2m"].mean("time").values', "import xarray as xr\n"
    ),
    "a variable of xarray that is not read": dataset(
        'self.rows = xr.open_dataset(path)["t2m"]', "import xarray as xr\n"
    ),
    "numbers worked out from the arrays that another loop has read": dataset(
        "raw = [np.load(one) for one in path]\nself.rows = [one.mean() for one in raw]\n"
        "self.sizes = [len(one) for one in raw]\nself.kinds = [one[0] for one in raw]",
        extra=READ.replace("self.rows[index]", "self.rows[index], self.sizes[index], self.kinds[index]"),
    ),
    "one array added to numbers": dataset(
        "shape = np.load(path)\nself.rows = [number for number in range(len(shape))]\n"
        "self.more = [np.mean(shape) + number for number in self.rows]"
    ),
    "an unpickled array per class": dataset(
        'self.samples = path\nself.of_class = pickle.load(open("classes.pkl", "rb"))',
        "import pickle\n",
        extra="\n    def __getitem__(self, index):\n        image, label = self.samples[index]\n"
        "        return image, torch.from_numpy(self.of_class[label])\n",
    ),
    "the rates of sounds": dataset("self.rows = [librosa.load(one)[1] for one in path]", "import librosa\n"),
    "a column": dataset("self.rows = pd.read_csv(path)['size'].values", "import pandas as pd\n"),
    "a column of a part": dataset(
        "table = pd.read_csv(path)\ntable = table[table.fold == 3].copy()\n"
        "sizes = table['size'].to_numpy().astype('float32')\nself.rows = sizes",
        "import pandas as pd\n",
    ),
    "a column of a text file": dataset("self.rows = np.loadtxt(path)[:, 0].astype(np.float32)"),
    "mapped arrays in places of their own": dataset(
        "self.rows = [None] * len(path)\nfor number, one in enumerate(path):\n"
        "    self.rows[number] = np.load(one, mmap_mode='r')"
    ),
    "one array in all places": dataset("self.rows = [np.zeros(3)] * len(path)"),
    "lengths added by a list of one": dataset("self.rows = []\nfor one in path:\n    self.rows += [len(np.load(one))]"),
    "an array of an object that workers do not ask": dataset(
        "self.rows = path\nself.store = Store(path)",
        "class Store:\n    def __init__(self, path):\n        self.all = np.load(path)\n",
    ),
    "an array that an object leaves out of its pickle": dataset(
        "self.store = Store(path)",
        "class Store:\n    def __init__(self, path):\n        self.all = np.load(path)\n\n"
        "    def __getstate__(self):\n        return {**self.__dict__, 'all': None}\n\n"
        "    def get(self, number):\n        return self.all[number]\n",
        "\n    def __getitem__(self, index):\n        return self.store.get(index)\n",
    ),
    "parts of one image": dataset(
        "image = cv2.imread(path)\nself.rows = []\nfor left, right in [(0, 3), (3, 9)]:\n"
        "    self.rows.append((image[:, left:right], image.astype(float)))\n"
        "self.rows += [image[:, one:] for one in range(9)]",
        "import cv2\n",
    ),
    "one image": dataset("self.rows = cv2.imread(path)", "import cv2\n"),
    "a few images": dataset("self.rows = [cv2.imread('a.png'), cv2.imread('b.png')]", "import cv2\n"),
    "sizes of images": dataset("self.rows = [cv2.imread(one).shape[:2] for one in path]", "import cv2\n"),
    "images that are only opened": dataset(
        "self.rows = [Image.open(one).size for one in path]", "from PIL import Image\n"
    ),
    "names of images": dataset("self.rows = [one for one in path if cv2.imread(one) is not None]", "import cv2\n"),
    "arrays mapped": dataset("self.rows = [np.load(one, mmap_mode='r') for one in path]"),
    "small arrays that the program makes": dataset("self.rows = [np.zeros(3) for one in path]"),
    "images that workers do not read": dataset(
        "self.names = [one for one in path]\nself.shown = [cv2.imread(one) for one in path]",
        "import cv2\n",
        READ.replace("rows", "names"),
    ),
    "images that a cache fills later": dataset(
        "self.rows = {}\nself.paths = path",
        "import cv2\n",
        """
    def __getitem__(self, index):
        self.rows[index] = cv2.imread(self.paths[index])
        return self.rows[index]
""",
    ),
    "a matrix that only takes part in products": dataset(
        "self.matrix = np.loadtxt(path)\nself.paths = [path]",
        "",
        """
    def __getitem__(self, index):
        corners = np.ones((4, 4)) @ self.matrix @ np.eye(4)
        return self.project(corners)

    def project(self, points):
        return self.matrix @ points
""",
    ),
    "an archive, which reads nothing yet": dataset('self.archive = np.load(path + "/rows.npz")'),
    "mapped": dataset('self.rows = np.load(path, mmap_mode="r")'),
    "mapped by position": dataset('self.rows = np.load(path, "r")'),
    "memmap": dataset('self.rows = np.memmap(path, dtype="uint8", mode="r")'),
    "small": dataset("self.rows = np.zeros((1000, 3))"),
    "just under the limit": dataset("self.rows = np.zeros((8 << 20,), dtype=np.float64) [:-1]").replace(
        "num_workers=4", "num_workers=3"
    ),
    "unknown shape": dataset("self.rows = np.zeros((len(path), 512))"),
    "list of ints": dataset("self.rows = list(range(1_000_000))"),
    "list of paths": dataset("self.rows = sorted(glob.glob(path))", "import glob\n"),
    "not kept": dataset("rows = np.load(path)\nself.rows = rows.shape"),
    "a number of it": dataset("self.rows = float(np.load(path).mean())"),
    "its length": dataset("self.rows = len(np.load(path))"),
    "a mean of rows": dataset("self.rows = np.load(path).mean(axis=0)"),
    "in __getitem__": dataset(
        "self.path = path", extra="\n    def __getitem__(self, index):\n        return np.load(self.path)[index]\n"
    ),
    "kept in __getitem__": dataset(
        "self.rows = None",
        extra="""
    def __getitem__(self, index):
        if self.rows is None:
            self.rows = np.load("rows.npy")
        return self.rows[index]
""",
    ),
    "released in __init__": dataset("self.rows = np.load(path)\nself.count = len(self.rows)\nself.rows = None"),
    "dropped by __getstate__": dataset(
        "self.rows = np.load(path)",
        extra=READ + "\n    def __getstate__(self):\n        return {**self.__dict__, 'rows': None}\n",
    ),
    "tensor, shared": dataset("self.rows = torch.load(path)"),
    "tensor of less than a gigabyte": dataset("self.rows = torch.zeros(1024, 1024, 64)"),
    "no workers": dataset("self.rows = np.load(path)")
    .replace("num_workers=4, multiprocessing_context='spawn'", "")
    .replace('num_workers=4, multiprocessing_context="spawn"', "num_workers=0"),
    "never loaded": dataset("self.rows = np.load(path)").replace("DataLoader(Rows(path)", "DataLoader(list(path)"),
    "zarr": dataset("self.rows = zarr.open(path)", "import zarr\n"),
    "under a key that items only add": dataset(
        'self.rows = {"mean": np.load(path)}', extra=KEYED.replace('["images"][index]', '["mean"] + index')
    ),
    "a cache that items fill": dataset(
        "self.rows = {}",
        extra="""
    def __getitem__(self, index):
        if index not in self.rows:
            self.rows[index] = np.load(str(index))
        return self.rows[index]
""",
    ),
    "one image under a key": dataset('self.rows = {"images": cv2.imread(path)}', "import cv2\n", KEYED),
    "an open array under a key": dataset('self.rows = {"images": zarr.open(path)["rows"]}', "import zarr\n", KEYED),
    "an open zarr array": dataset('self.rows = zarr.open(path, mode="r")["rows"]', "import zarr\n"),
    "one column of a table by position": dataset(
        'self.rows = pd.read_csv(path).iloc[:, 1].values.astype("float32")', "import pandas as pd\n"
    ),
    "an open h5py dataset, by get": dataset('self.rows = h5py.File(path).get("rows")', "import h5py\n"),
    "an open h5py dataset": dataset('self.rows = h5py.File(path)["rows"]', "import h5py\n"),
    "a method called load of another object": dataset("self.rows = path.load()"),
    "a model of torch.load": dataset("self.model = torch.load(path)"),
    "on the collate object": f"""{HEAD}
class Rows(Dataset):
    def __init__(self, path):
        self.path = path
{READ}
class Statistics:
    def __init__(self, path):
        self.rows = np.load(path)
{TAIL}""",
    "another library's loader": dataset("self.rows = np.load(path)").replace(
        "from torch.utils.data import DataLoader, Dataset",
        "from torch.utils.data import Dataset\nfrom paddle.io import DataLoader",
    ),
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_whole_arrays_are_found(findings: Callable[..., Any], marks: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": text}, **SELECT) == marks({"data.py": text})


@pytest.mark.parametrize("files", ELSEWHERE.values(), ids=ELSEWHERE)
def test_whole_arrays_in_other_files_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_is_not_copied_is_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": text}, **SELECT) == set()


@pytest.mark.parametrize(
    ("init", "context", "severity", "text"),
    [
        (
            "np.zeros((512, 512, 512), np.float32)",
            "spawn",
            "warning",
            "512 MiB × 4 workers = 2 GiB: every worker started by spawn gets a copy",
        ),
        ("np.zeros((512, 512, 512))", "forkserver", "warning", "1 GiB × 4 workers = 4 GiB"),
        ("np.full((1024, 1024, 1024), 0, dtype=np.uint8)", "spawn", "warning", "1 GiB × 4 workers"),
        ("np.arange(1 << 27)", "spawn", "warning", "1 GiB × 4 workers"),
        ("np.zeros((1024, 1024, 128))", "fork", "info", "holds 1 GiB in `Rows.rows`; only its forked workers share it"),
        ("np.zeros((1024, 1024, 128)).astype(np.float32)", "spawn", "warning", "512 MiB × 4 workers"),
        ("np.full((1024, 1024, 128), np.nan)", "spawn", "warning", "1 GiB × 4 workers"),
        ("np.load(path)", "fork", "info", "everything that `np.load` returns"),
        ("np.load(path)", "spawn", "warning", "everything that `np.load` returns"),
        ("torch.zeros(1024, 1024, 512)", "spawn", "info", "`/dev/shm` needs 2 GiB more"),
        ("torch.zeros(1024, 1024, 512, dtype=torch.uint8).float()", "spawn", "info", "`/dev/shm` needs 2 GiB more"),
        ("torch.zeros(1024, 1024, 512, dtype=torch.float)", "spawn", "info", "`/dev/shm` needs 2 GiB more"),
        ("torch.zeros(1024, 1024, 512, dtype=torch.int)", "spawn", "info", "`/dev/shm` needs 2 GiB more"),
    ],
)
def test_sizes_and_severities(told: Callable[..., Any], init: str, context: str, severity: str, text: str) -> None:
    source = dataset(f"self.rows = {init}").replace('"spawn"', f'"{context}"')

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.severity == severity
    assert text in finding.text


@pytest.mark.parametrize(("context", "found"), [("spawn", True), ("fork", False)])
@pytest.mark.parametrize(
    "read",
    [
        *("pd.read_csv(path).to_numpy()", "np.loadtxt(path)"),
        *("nibabel.load(path).get_fdata()", "nibabel.load(path).get_data()"),
        "[np.squeeze(np.array(nibabel.load(one).get_data(), dtype=np.int16)) for one in path]",
    ],
)
def test_files_of_an_unknown_size_that_cannot_be_mapped(
    told: Callable[..., Any], read: str, context: str, found: bool
) -> None:
    """Forked workers share them."""
    source = dataset(f"self.rows = {read}", "import nibabel\nimport pandas as pd\n").replace('"spawn"', f'"{context}"')

    assert bool(told({"data.py": source}, **SELECT)) == found


@pytest.mark.parametrize(
    "kept", ["nibabel.load(path).dataobj", "[nibabel.load(one) for one in path]", "nibabel.load(path).affine"]
)
def test_a_volume_that_is_not_read_is_no_array(told: Callable[..., Any], kept: str) -> None:
    assert told({"data.py": dataset(f"self.rows = {kept}", "import nibabel\n")}, **SELECT) == ()


def test_a_default_of_the_target_alone_makes_whole_files_an_info(told: Callable[..., Any]) -> None:
    source = dataset("self.rows = np.load(path)").replace(', multiprocessing_context="spawn"', "")

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.severity == "info"
    assert "(the default on Linux from Python 3.14)" in finding.text


def test_the_limits_can_be_set(told: Callable[..., Any]) -> None:
    small = dataset("self.rows = np.zeros((1024, 1024))")
    settings = '[tool.dllint]\nselect = ["DLL301"]\n\n[tool.dllint.rules.DLL301]\ncopies-mib = 32\n'

    assert told({"data.py": small}, **SELECT) == ()
    assert len(told({"data.py": small, "pyproject.toml": settings})) == 1


def test_one_array_of_two_loaders_is_one_finding(told: Callable[..., Any]) -> None:
    text = (
        dataset("self.rows = np.load(path)") + "\ndef more(path):\n    return DataLoader(Rows(path), num_workers=2)\n"
    )

    (finding,) = told({"data.py": text}, **SELECT)

    assert len(finding.related) == 2


def test_arrays_of_several_callers_kept_by_one_statement_are_one_finding(told: Callable[..., Any]) -> None:
    text = dataset("self.rows = path").replace(
        TAIL,
        "\ndef load(path):\n    first, second = Rows(np.load('a.npy')), Rows(np.load('b.npy'))\n"
        "    return [DataLoader(one, num_workers=4) for one in (first, second)]\n",
    )

    (finding,) = told({"data.py": text}, **SELECT)

    assert [place.message for place in finding.related].count("made here") == 2


def test_mapping_the_file_is_offered_for_forked_workers_only(told: Callable[..., Any]) -> None:
    spawned = dataset("self.rows = np.load(path)")

    (finding,) = told({"data.py": spawned}, **SELECT)
    assert finding.fixes == ()
    (finding,) = told({"data.py": spawned.replace('"spawn"', '"fork"')}, **SELECT)
    assert [(fix.applicability, fix.edits[0].keyword, fix.edits[0].value) for fix in finding.fixes] == [
        ("unsafe", "mmap_mode", '"r"')
    ]


@pytest.mark.parametrize(
    ("end", "context", "severities"),
    [
        ("pass", "fork", ["info"]),
        ("if flag:\n            del self.rows", "fork", []),
        ("if flag:\n            del self.rows", "spawn", ["warning"]),
        ("del self.rows", "spawn", []),
    ],
)
def test_what_may_be_let_go_is_no_info(end: str, context: str, severities: list[str], told: Callable[..., Any]) -> None:
    source = f"""\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path, flag):
        self.rows = np.load(path)
        {end}

    def __getitem__(self, index):
        return self.rows[index]

def build(path, flag):
    return DataLoader(Rows(path, flag), num_workers=4, multiprocessing_context="{context}")
"""
    assert [finding.severity for finding in told({"data.py": source}, **SELECT)] == severities


def test_one_array_that_is_read_and_narrowed_is_one_finding(findings: Callable[..., Any]) -> None:
    text = """\
import pandas as pd
from torch.utils.data import DataLoader, Dataset

class Table(Dataset):
    def __init__(self, path):
        self.data = pd.read_csv(path)
        self.data = self.data.astype("float32")

    def __getitem__(self, index):
        return self.data.iloc[index]

def build(path):
    return DataLoader(Table(path), num_workers=2, multiprocessing_context="spawn")
"""
    assert len(findings({"table.py": text}, **SELECT)) == 1


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("torch.as_tensor(pd.read_csv(path).values)", False),
        ("torch.from_numpy(pd.read_csv(path)[2:9].values).float()", False),
        ("torch.tensor(np.loadtxt(path)[:, 1:])", False),
        ("np.asarray(pd.read_csv(path).values)", True),
        ("pd.read_csv(path)[2:9].values", True),
        ("np.stack([marks[chosen[0], :], np.mean(marks[chosen[[1, 2]], :], 0), marks[chosen[3], :]])", False),
        ("np.stack([marks[0, :], marks[3, :]])", False),
        ("np.concatenate([marks[:, :3], marks[:, 5:]])", True),
    ],
)
def test_tensors_are_shared_and_some_rows_of_a_file_are_small(
    rows: str, found: bool, findings: Callable[..., Any]
) -> None:
    init = f"marks = loadmat(path)['marks']\nchosen = np.array([31, 37, 40, 43]) - 1\nself.rows = {rows}"
    text = dataset(init, "import pandas as pd\nfrom scipy.io import loadmat\n")
    assert bool(findings({"data.py": text}, **SELECT)) == found


LABELLED = """\
import numpy as np
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, path):
        self.labels = np.fromfile(path + ".labels")
        self.rows = np.load(path)

    def __getitem__(self, i):
        return self.rows[i], self.labels[i]

    def __len__(self):
        return len(self.rows)


loader = torch.utils.data.DataLoader(Rows("a"), num_workers=2, multiprocessing_context="spawn")
"""


def test_the_labels_of_the_data_are_no_finding_of_their_own(told: Callable[..., Any]) -> None:
    found = told({"train.py": LABELLED}, select=["DLL301"])

    assert [(one.span.line, one.values["kept"]) for one in found] == [(8, "Rows.rows")]
    alone = LABELLED.replace("        self.rows = np.load(path)\n", "").replace("self.rows", "self.labels")
    assert [one.span.line for one in told({"train.py": alone}, select=["DLL301"])] == [7]


WHOLE = """
    def __getitem__(self, index):
        row = np.load(self.paths[index])
        {read}
"""


@pytest.mark.parametrize(
    ("read", "count"),
    [
        pytest.param("return np.dot(self.rows, row)", 0, id="a factor"),
        pytest.param("return (row - self.rows) / 3", 0, id="a mean"),
        pytest.param("return torch.from_numpy(row) * torch.from_numpy(self.rows)", 0, id="converted"),
        pytest.param("return row * self.rows.astype(np.float32).mean()", 0, id="by methods"),
        pytest.param("return np.random.permutation(self.rows)", 0, id="permuted"),
        pytest.param("return row - self.rows[index]", 1, id="a row of it"),
        pytest.param("return torch.from_numpy(self.rows)[index]", 1, id="a row of what it is converted to"),
        pytest.param("every = np.asarray(self.rows)\n        return row - every[index]", 1, id="by a name"),
        pytest.param("return np.take(self.rows, index, axis=0)", 1, id="taken"),
        pytest.param("return row + np.log(self.rows)[index]", 1, id="a row of what is computed"),
        pytest.param("return row + (self.rows / 255)[index]", 1, id="a row of a quotient"),
        pytest.param("every = self.rows / 255\n        return row + every[index]", 1, id="a row of a named quotient"),
        pytest.param("pose = np.dot(self.rows, row)\n        return pose[0], pose[:, 1]", 0, id="parts of a product"),
        pytest.param("return row, self.rows", 0, id="handed out"),
        pytest.param("row = self.rows if index % 2 else row\n        return row", 1, id="handed out or not"),
        pytest.param("every = self.rows\n        return row, every", 0, id="handed out by a name"),
        pytest.param("every = self.rows\n        return row, every[index]", 1, id="a row by a name"),
        pytest.param("return subtract(row, self.rows)", 1, id="by a function of which nothing is known"),
    ],
)
def test_arrays_of_which_each_item_uses_all_are_constants(read: str, count: int, told: Callable[..., Any]) -> None:
    text = dataset("self.rows = np.load(path)\nself.paths = [path]", extra=WHOLE.format(read=read))

    assert len(told({"data.py": text}, **SELECT)) == count


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("{one: Image.fromarray(np.load(one)) for one in paths}", True),
        ("[Image.frombytes('L', (9, 9), open(one, 'rb').read()).convert('RGB') for one in paths]", True),
        ("Image.fromarray(np.ones((9, 9)))", False),
    ],
)
def test_images_that_are_made_of_arrays(kept: str, found: bool, findings: Callable[..., Any]) -> None:
    text = f"""\
import numpy as np
from PIL import Image
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.images = {kept}

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.images[self.paths[index]]

def build(paths):
    return DataLoader(Rows(paths), num_workers=4, multiprocessing_context="spawn")
"""
    assert bool(findings({"data.py": text}, select=["DLL301"])) is found
