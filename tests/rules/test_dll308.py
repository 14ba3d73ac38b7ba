"""DLL308: which results of pools keep descriptors open, and which do not."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import multiprocessing
import numpy as np
import torch
from torch.multiprocessing import Pool as TorchPool

"""


def program(result: str, use: str = "pool.map(work, paths)", pool: str = "multiprocessing.Pool(4)") -> str:
    work = f"def work(path, more=0):\n    return {result}\n"
    return f"{work}\ndef main(paths):\n    with {pool} as pool:\n        return {use}"


test_found, test_silent = in_one_file(
    "DLL308",
    {
        "a tensor": program("torch.zeros(3)") + "  # DLL308\n",
        "torch's pool, with an alias": program("torch.load(path)", pool="TorchPool(2)") + "  # DLL308\n",
        "a context": program("torch.zeros(3)", pool='multiprocessing.get_context("spawn").Pool(4)') + "  # DLL308\n",
        "in a tuple": program("(path, torch.zeros(3))") + "  # DLL308\n",
        "in a dict": program('{"a": torch.zeros(3)}') + "  # DLL308\n",
        "in a list for each part": program("[torch.zeros(n) for n in path]") + "  # DLL308\n",
        "a part of one": program("torch.zeros(30)[2:4]") + "  # DLL308\n",
        "one by one, all kept": program("torch.zeros(3)", "list(pool.imap(work, paths))") + "  # DLL308\n",
        "one by one, all kept behind a progress bar": "from tqdm import tqdm\n\n"
        + program("torch.zeros(3)", "list(tqdm(pool.imap_unordered(work, paths), total=9))")
        + "  # DLL308\n",
        "of a bound method": "import functools\n\n\nclass Files:\n    def __init__(self, paths):\n"
        "        task = functools.partial(self.load, paths)\n        with TorchPool(4) as pool:\n"
        "            self.all = list(pool.imap(task, range(len(paths))))  # DLL308\n\n"
        "    def load(self, paths, number):\n        return torch.load(paths[number]).cpu()\n",
        "without waiting": program("torch.zeros(3)", "pool.map_async(work, paths).get()") + "  # DLL308\n",
        "several arguments": program("torch.zeros(3)", "pool.starmap(work, [(p, 1) for p in paths])") + "  # DLL308\n",
        "in an object": "class Scan:\n    def __init__(self, path):\n        self.points = torch.load(path).clone()\n\n"
        + program("Scan(path)")
        + "  # DLL308\n",
        "in a graph, or a list of graphs": "from torch_geometric.data import Data\n\n"
        "def read(path):\n    data = {'name': path}\n    data['pos'] = torch.zeros(3)\n    return Data(**data)\n\n"
        "def change(graph):\n    if isinstance(graph, list):\n        return [change(one) for one in graph]\n"
        "    graph.scale = 2\n    return graph\n\n" + program("change(read(path))") + "  # DLL308\n",
        "from a helper": "def read(path):\n    return torch.from_numpy(np.load(path))\n\n"
        + program("read(path)")
        + "  # DLL308\n",
    },
    {
        "an array": program("torch.zeros(3).numpy()"),
        "an object with an array": "class Scan:\n    def __init__(self, path):\n        self.points = np.zeros(3)\n\n"
        + program("Scan(path)"),
        "a graph of arrays": "from torch_geometric.data import Data\n\n" + program("Data(pos=np.zeros(3))"),
        "an array of numpy": program("np.zeros(3)"),
        "a number": program("torch.zeros(3).sum().item()"),
        "a list": program("torch.zeros(3).tolist()"),
        "nothing that is known": program("path"),
        "arrays where it is a tensor": "def plain(parts):\n"
        "    convert = lambda one: one.numpy() if type(one) is torch.Tensor else one\n"
        "    return [convert(one) for one in parts]\n\n" + program("plain([torch.zeros(3), torch.ones(3)])"),
        "few tasks": program("torch.zeros(3)", "pool.map(work, ['a', 'b'])"),
        "one by one": program("torch.zeros(3)", "[one.sum().item() for one in pool.imap(work, paths)]"),
        "one by one, counted": program("torch.zeros(3)", "sum(one.sum().item() for one in pool.imap(work, paths))"),
        "one by one, arrays": program("torch.zeros(3).numpy()", "list(pool.imap(work, paths))"),
        "threads": "from multiprocessing.pool import ThreadPool\n\n" + program("torch.zeros(3)", pool="ThreadPool(4)"),
        "files instead of descriptors": 'torch.multiprocessing.set_sharing_strategy("file_system")\n\n'
        + program("torch.zeros(3)"),
    },
    head=HEAD,
)
