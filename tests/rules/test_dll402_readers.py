"""DLL402: readers of images, videos and sequences that forked workers share with their parent."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset
"""
IN_LMDB = """
import zarr
class Buffer:
    def __init__(self, root):
        self.root = root
    def __getitem__(self, key):
        return self.root[key]
class D(Dataset):
    def __init__(self, path):
        store = zarr.LMDBStore(path, readonly=True{locks})
        buffer = Buffer(zarr.group(store)){mark}
        self.rows = {{key: buffer[key] for key in ("a", "b")}}
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.rows["a"][i]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
"""
FOUND: dict[str, str] = {
    "pims": """
import pims
class V(Dataset):
    def __init__(self, path):
        self.video = pims.PyAVVideoReader(path)  # DLL402
    def __len__(self):
        return len(self.video)
    def __getitem__(self, i):
        return np.asarray(self.video[i])
def main():
    for b in DataLoader(V("a"), num_workers=2):
        pass
""",
    "fasta": """
from pyfaidx import Fasta
class V(Dataset):
    def __init__(self, path):
        self.seqs = Fasta(path)  # DLL402
    def __len__(self):
        return 9
    def __getitem__(self, i):
        return str(self.seqs["chr1"][i:i+9])
def main():
    for b in DataLoader(V("a"), num_workers=2):
        pass
""",
    "tiff": """
import tifffile
class V(Dataset):
    def __init__(self, path):
        self.tif = tifffile.TiffFile(path)  # DLL402
    def __len__(self):
        return 9
    def __getitem__(self, i):
        return self.tif.pages[i].asarray()
def main():
    for b in DataLoader(V("a"), num_workers=2):
        pass
""",
    "zarr ZipStore": """
import zarr
class D(Dataset):
    def __init__(self, path):
        store = zarr.ZipStore(path, mode="r")
        self.root = zarr.group(store)  # DLL402
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.root["x"][i]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "zarr LMDBStore, through an object of the project": IN_LMDB.format(locks="", mark="  # DLL402"),
    "a store in the with block around the training": """
import zarr
class D(Dataset):
    def __init__(self, store):
        self.root = zarr.group(store)  # DLL402
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.root["x"][i]
def train(store):
    for b in DataLoader(D(store), num_workers=4):
        pass
def main(path):
    with zarr.ZipStore(path, mode="r") as store:
        train(store)
""",
    "arrays of a zarr group in a ZipStore": """
import zarr
class D(Dataset):
    def __init__(self, path):
        plate = zarr.open_group(zarr.storage.ZipStore(path, mode="r"))  # DLL402
        self.arrays = [plate["0"], plate["a"]["1"], plate.get("2")]
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.arrays[i][0]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "a variable of a netCDF file": """
import netCDF4 as nc
class D(Dataset):
    def __init__(self, path):
        self.rows = nc.Dataset(path).groups["a"].variables["x"]  # DLL402
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.rows[i]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "imageio": """
import imageio
class D(Dataset):
    def __init__(self, path):
        self.reader = imageio.get_reader(path)  # DLL402
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.reader.get_data(i)
def main():
    for b in DataLoader(D("x"), num_workers=2):
        pass
""",
}
SILENT: dict[str, str] = {
    "zarr LMDBStore without locks": IN_LMDB.format(locks=", lock=False", mark=""),
    "a store in a with block, which another function fills": """
import zarr
class Buffer:
    def __init__(self, root):
        self.root = root
    def __getitem__(self, key):
        return self.root[key]
    @classmethod
    def copied(cls, store):
        root = zarr.group(store=store)
        return cls(root=root)
def fill(path):
    with zarr.LMDBStore(path) as store:
        Buffer.copied(store)
class D(Dataset):
    def __init__(self, buffer: Buffer):
        self.rows = {key: buffer[key] for key in ("a", "b")}
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.rows["a"][i]
def main(buffer):
    fill("x")
    for b in DataLoader(D(buffer), num_workers=4):
        pass
""",
    "an array in memory, copied from a zarr LMDBStore": """
import zarr
class D(Dataset):
    def __init__(self, path):
        with zarr.LMDBStore(path, readonly=True) as store:
            self.rows = zarr.group(store)["a"][:]
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.rows[i]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "what was read of the arrays of a zarr group": """
import zarr
class D(Dataset):
    def __init__(self, path):
        plate = zarr.open_group(zarr.storage.ZipStore(path, mode="r"))
        self.arrays = [plate["0"][:], np.asarray(plate["1"])]
        self.size = plate["0"].shape
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.arrays[i][0]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "what was read of a netCDF variable": """
import netCDF4 as nc
class D(Dataset):
    def __init__(self, path):
        self.rows = nc.Dataset(path).variables["x"][:]
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.rows[i]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "an array of a zarr group in a directory": """
import zarr
class D(Dataset):
    def __init__(self, path):
        self.rows = zarr.open_group(path)["x"]
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.rows[i]
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
    "tiff with": """
import tifffile
class V(Dataset):
    def __init__(self, path):
        with tifffile.TiffFile(path) as tif:
            self.n = len(tif.pages)
        self.path = path
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        return tifffile.imread(self.path, key=i)
def main():
    for b in DataLoader(V("a"), num_workers=2):
        pass
""",
    "zarr dir": """
import zarr
class V(Dataset):
    def __init__(self, path):
        self.g = zarr.open(path, "r")
    def __len__(self):
        return 9
    def __getitem__(self, i):
        return self.g["x"][i]
def main():
    for b in DataLoader(V("a"), num_workers=2):
        pass
""",
    "zip copied to memory": """
import zarr
class V(Dataset):
    def __init__(self, path):
        with zarr.ZipStore(path, mode="r") as store:
            root = zarr.group(store)
            self.x = root["x"][:]
    def __len__(self):
        return 9
    def __getitem__(self, i):
        return self.x[i]
def main():
    for b in DataLoader(V("a"), num_workers=2):
        pass
""",
    "openslide": """
import openslide
class D(Dataset):
    def __init__(self, path):
        self.slide = openslide.OpenSlide(path)
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return self.slide.read_region((i, i), 0, (64, 64))
def main():
    for b in DataLoader(D("x"), num_workers=4):
        pass
""",
}

test_found, test_silent = in_one_file("DLL402", FOUND, SILENT, HEAD)
