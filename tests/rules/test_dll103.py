"""DLL103: CUDA in forked workers of a parent that has initialised it, and all that is none of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

SELECT = {"select": ["DLL103"]}

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
"""
TAIL = """
def main():
    model = nn.Linear(8, 1).cuda()
    for rows in DataLoader(Rows(), num_workers=4):
        print(model(rows))

if __name__ == "__main__":
    main()
"""
ITEM = """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8).cuda(){}
"""
USE = ITEM.format("  # DLL103")
PLAIN = ITEM.format("")

NAMED = f"""{HEAD}
class Energies:
    def potential_energy(self):
        return torch.ones(8).cuda()MARK

class Rows(Dataset):
    def __init__(self, energies=None):
        self.energies = energies

    def __getitem__(self, index):
        return self.energies.potential_energy()
{TAIL}"""

CACHED = """
import os

def encoded(index):
    path = f"cache/{{index}}.pt"
    if not os.path.exists(path):
        torch.save(torch.ones(8).cuda(){}, path)
    return torch.load(path)

class Rows(Dataset):
    def __getitem__(self, index):
        return encoded(index)
"""
PASS = """
def prepare():
    for rows in DataLoader(Rows(), num_workers=0):
        pass
"""

FOUND: dict[str, str] = {
    "a cache of files that nothing fills before": CACHED.format("  # DLL103").replace(
        "()  # DLL103, path)", "(), path)  # DLL103"
    )
    + TAIL,
    "a pass without workers, and no test for a file": USE + PASS + TAIL,
    "a variable that is true for another reason, too": """
def back(x, on_gpu=True):
    if x.is_cuda:
        on_gpu = True
    if on_gpu:
        x = x.cuda()  # DLL103
    return x
class Rows(Dataset):
    def __getitem__(self, index):
        return back(torch.ones(8))
"""
    + TAIL,
    "an attribute of the dataset that is called like one of tensors": """
class Rows(Dataset):
    def __init__(self):
        self.is_cuda = torch.cuda.is_available()
    def __getitem__(self, index):
        x = torch.ones(8)
        if self.is_cuda:
            x = x.cuda()  # DLL103
        return x
"""
    + TAIL,
    "the same of a transform": """
class OnGpu:
    def __init__(self, use):
        self.is_cuda = use
    def __call__(self, x):
        return x.cuda() if self.is_cuda else x  # DLL103
class Rows(Dataset):
    def __init__(self):
        self.transform = OnGpu(True)
    def __getitem__(self, index):
        return self.transform(torch.ones(8))
"""
    + TAIL,
    "a method of a known object": NAMED.replace("MARK", "  # DLL103").replace("Rows()", "Rows(Energies())"),
    "a dataset made in the statement that goes through its loader": f"""{HEAD}
class Rows(Dataset):
    def __init__(self):
        self.model = nn.Linear(8, 1).cuda()

    def __getitem__(self, index):
        return self.model(torch.ones(8).cuda())  # DLL103

def main():
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)

if __name__ == "__main__":
    main()
""",
    "tensors of a TensorDataset": f"""{HEAD}
from torch.utils.data import Subset, TensorDataset

def main():
    device = torch.device("cuda")
    rows = torch.zeros(100, 3).to(device)
    labels = torch.zeros(100).to(device)
    data = TensorDataset(rows, labels)  # DLL103
    for batch in DataLoader(Subset(data, [1, 2]), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
""",
    "a device among the arguments that a pool hands out": """
import multiprocessing
import torch

def infer(path, device):
    return torch.zeros(3, device=device).sum().item()  # DLL103

def main(paths):
    device = torch.device("cuda")
    model = torch.nn.Linear(3, 3).to(device)
    with multiprocessing.Pool(4) as pool:
        print(pool.starmap(infer, [(path, device) for path in paths]))

if __name__ == "__main__":
    main(["a"])
""",
    "a tensor submitted to a forked pool": """
import torch
from concurrent.futures import ProcessPoolExecutor

def infer(rows):
    return 0

def main():
    rows = torch.zeros(3).cuda()
    with ProcessPoolExecutor(4) as pool:
        print(pool.submit(infer, rows).result())  # DLL103

if __name__ == "__main__":
    main()
""",
    "a model given to a forked process": """
import multiprocessing
import torch

def evaluate(rank, model):
    print(model(torch.zeros(3)))

def main():
    model = torch.nn.Linear(3, 3).cuda()
    process = multiprocessing.Process(target=evaluate, args=(0, model))  # DLL103
    process.start()

if __name__ == "__main__":
    main()
""",
    "a device by default, tested in the statement that sets it": f"""{HEAD}
def moved(row, device=None):
    device = device or torch.cuda.current_device()  # DLL103
    return row.to(device)

class Rows(Dataset):
    def __getitem__(self, index):
        return moved(torch.ones(8))
{TAIL}""",
    "a device by default, tested in the statement that uses it": f"""{HEAD}
def moved(row, device=None):
    row = row.cuda() if device is None else row.to(device)  # DLL103
    return row

class Rows(Dataset):
    def __getitem__(self, index):
        return moved(torch.ones(8))
{TAIL}""",
    "a failure that is caught and raised again": f"""{HEAD}
class Rows(Dataset):
    def __getitem__(self, index):
        try:
            torch.cuda.synchronize()  # DLL103
        except RuntimeError as error:
            raise ValueError(index) from error
        return torch.ones(8)
{TAIL}""",
    "what is lost with a query that is caught": f"""{HEAD}
import json

class Rows(Dataset):
    def __getitem__(self, index):
        row = None
        try:
            device = torch.cuda.current_device()  # DLL103
            row = json.loads(str(device))
        except Exception as error:
            print(error)
        return row
{TAIL}""",
    "a query whose failure is raised again": f"""{HEAD}
class Rows(Dataset):
    def __getitem__(self, index):
        try:
            name = torch.cuda.get_device_name(0)  # DLL103
        except RuntimeError:
            print(index)
            raise
        return torch.ones(8), name
{TAIL}""",
    "rows that stay where they are": f"""{HEAD}
class Rows(Dataset):
    def __getitem__(self, index):
        row = torch.ones(8)
        try:
            row = row.cuda()  # DLL103
        except RuntimeError:
            pass
        return row
{TAIL}""",
    "a failure of another kind is caught": f"""{HEAD}
class Rows(Dataset):
    def __getitem__(self, index):
        try:
            torch.cuda.synchronize()  # DLL103
        except ImportError:
            pass
        return torch.ones(8)
{TAIL}""",
    "the item is lost with what is caught": f"""{HEAD}
class Rows(Dataset):
    def __getitem__(self, index):
        try:
            return torch.ones(8).cuda()  # DLL103
        except RuntimeError:
            return None
{TAIL}""",
    "cuda()": USE + TAIL,
    "to a constant": """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8).to("cuda:0", non_blocking=True)  # DLL103
"""
    + TAIL,
    "to a device object of the module": """
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8).to(device=DEVICE)  # DLL103
"""
    + TAIL,
    "a device that the dataset is given": """
class Rows(Dataset):
    def __init__(self, device):
        self.device = device

    def __getitem__(self, index):
        return torch.ones(8, device=self.device)  # DLL103

def main():
    device = torch.device("cuda")
    model = nn.Linear(8, 1).to(device)
    for rows in DataLoader(Rows(device), num_workers=4):
        print(model(rows))
""",
    "a function of torch.cuda": """
from torch.cuda import current_device as gpu

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8) * gpu()  # DLL103
"""
    + TAIL,
    "a transform": """
class Move:
    def __call__(self, rows):
        return rows.to("cuda")  # DLL103

class Rows(Dataset):
    def __init__(self):
        self.transform = Move()

    def __getitem__(self, index):
        return self.transform(torch.ones(8))
"""
    + TAIL,
    "collate_fn": """
def collate(rows):
    return torch.stack(rows).cuda()  # DLL103

def main():
    torch.cuda.set_device(0)
    for rows in DataLoader([torch.ones(8)], num_workers=4, collate_fn=collate):
        print(rows)
""",
    "worker_init_fn, with the options in a dict": """
def begin(worker):
    torch.cuda.set_device(worker)  # DLL103

def main():
    torch.cuda.init()
    options = {"num_workers": 4, "worker_init_fn": begin}
    for rows in DataLoader([torch.ones(8)], **options):
        print(rows)
""",
    "initialised between the loader and its loop": USE
    + """
def main():
    loader = DataLoader(Rows(), num_workers=4)
    model = nn.DataParallel(nn.Linear(8, 1))
    for rows in loader:
        print(model(rows))
""",
    "initialised by the loop of the epoch before": USE
    + """
def main():
    loader = DataLoader(Rows(), num_workers=4)
    for epoch in range(3):
        for rows in loader:
            print(torch.cuda.current_device())
""",
    "initialised by the tensors that the workers of the epoch before sent": """
def collate(rows):
    return torch.stack(rows).cuda()  # DLL103

def main():
    loader = DataLoader([torch.ones(8)], num_workers=4, collate_fn=collate)
    for epoch in range(3):
        for rows in loader:
            print(rows)
""",
    "initialised by the caller": USE
    + """
def train():
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)

def main():
    prepare()
    train()

def prepare():
    torch.cuda.set_device(0)
""",
    "initialised when the module is imported": USE
    + """
AVAILABLE = torch.cuda.is_available()

def train():
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)
""",
    "pin_memory": USE
    + """
def train():
    for rows in DataLoader(Rows(), num_workers=4, pin_memory=True):
        print(rows)
""",
    "a device chosen by the two halves of an if": """
class Rows(Dataset):
    def __init__(self):
        if torch.cuda.is_available():
            self.device = torch.device("cuda")
        else:
            self.device = torch.device("cpu")

    def __getitem__(self, index):
        return torch.ones(8, device=self.device)  # DLL103
"""
    + TAIL,
    "a stream that is made where CUDA is available": """
class Rows(Dataset):
    def __init__(self):
        self.stream = torch.cuda.Stream() if torch.cuda.is_available() else None

    def __getitem__(self, index):
        if self.stream is not None:
            torch.cuda.current_stream().wait_stream(self.stream)  # DLL103
        return torch.ones(8)
"""
    + TAIL,
    "a flag that can be on": """
class Rows(Dataset):
    def __init__(self, use_cuda):
        self.use_cuda = use_cuda

    def __getitem__(self, index):
        rows = torch.ones(8)
        if self.use_cuda:
            rows = rows.cuda()  # DLL103
        return rows

def main():
    torch.cuda.set_device(0)
    for rows in DataLoader(Rows(torch.cuda.is_available() and True), num_workers=4):
        print(rows)
""",
    "what a constructor was told about CUDA": """
class Move:
    def __init__(self):
        self.to_cuda = torch.cuda.is_available()

    def __call__(self, rows):
        if self.to_cuda:
            rows = rows.cuda()  # DLL103
        return rows

class Rows(Dataset):
    def __init__(self, change=Move()):
        self.change = change

    def __getitem__(self, index):
        return self.change(torch.ones(8))
"""
    + TAIL,
    "where CUDA is available": """
class Rows(Dataset):
    def __getitem__(self, index):
        rows = torch.ones(8)
        return rows.cuda() if torch.cuda.is_available() else rows  # DLL103
"""
    + TAIL,
    "kept on the GPU": """
class Rows(Dataset):
    def __init__(self):
        self.rows = torch.load("rows.pt").cuda()  # DLL103

    def __getitem__(self, index):
        return self.rows[index]
"""
    + TAIL,
    "a model of the GPU handed over later": """
from somewhere import Model

class Rows(Dataset):
    def use(self, model):
        self.model = model  # DLL103

    def __getitem__(self, index):
        return self.model(torch.ones(8))

def main():
    model = Model().to("cuda")
    rows = Rows()
    rows.use(model)
    for batch in DataLoader(rows, num_workers=4):
        print(batch)
""",
    "a call under a flag and another condition": """
class Rows(Dataset):
    def __init__(self, use_gpu=True):
        self.use_gpu = use_gpu
        self.rows = None

    def load(self):
        if self.use_gpu and self.rows is None:
            self.rows = torch.zeros(3).cuda()  # DLL103

    def __getitem__(self, index):
        self.load()
        return index

def main():
    model = nn.Linear(8, 1).cuda()
    for rows in DataLoader(Rows(), num_workers=4):
        print(model(rows))

main()
""",
    "a collate_fn that asks the model for its device": """
class Net(nn.Module):
    @property
    def device(self):
        return next(self.parameters()).device

class Trainer:
    def __init__(self):
        self.model = Net().cuda()

    def collate(self, rows):
        return torch.stack(rows).to(self.model.device)  # DLL103

    def fit(self, rows):
        for batch in DataLoader(rows, num_workers=4, collate_fn=self.collate):
            print(batch)

Trainer().fit(torch.zeros(8, 3))
""",
    "a collate_fn that asks the model's parameters for their device": """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.model.to("cuda")
        self.device = next(self.model.parameters()).device

    def fit(self, rows):
        def collate(batch):
            device = self.device
            return torch.stack(batch).new_zeros(3, device=device)  # DLL103

        for batch in DataLoader(rows, num_workers=4, collate_fn=collate):
            print(batch)

Trainer(nn.Linear(3, 3)).fit(torch.zeros(8, 3))
""",
    "a model that a collate_fn runs": """
from sentence_transformers import SentenceTransformer

def collate(batch, model):
    return model.encode(batch)  # DLL103

def main():
    model = SentenceTransformer("small").to("cuda").eval()
    for batch in DataLoader(["a"], num_workers=4, collate_fn=lambda rows: collate(rows, model)):
        print(batch)

main()
""",
    "a part of a model of the program, run by a method": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.cuda()

    def embed(self, rows):
        return self.first(rows)  # DLL103

net = nn.DataParallel(Net())
model = Net()

def collate(batch):
    return model.embed(torch.stack(batch))

if __name__ == "__main__":
    for batch in DataLoader(torch.zeros(8, 3), num_workers=4, collate_fn=collate):
        print(batch)
""",
    "a model that a forked process finds in a variable of the module": """
import multiprocessing as mp

model = nn.Linear(3, 3).cuda()

def work():
    print(model(torch.zeros(3)))  # DLL103

if __name__ == "__main__":
    mp.get_context("fork").Process(target=work).start()
""",
    "a model that is trained on the CPU, in the epoch before": USE
    + """
def main():
    model = nn.Linear(8, 1)
    for epoch in range(3):
        for rows in DataLoader(Rows(), num_workers=4):
            model(rows.cpu()).sum().backward()
""",
    "persistent workers that are built in each epoch": USE
    + """
def main():
    for epoch in range(3):
        loader = DataLoader(Rows(), num_workers=4, persistent_workers=True)
        for rows in loader:
            print(rows.cuda())
""",
    "new tensors on the default device": """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8, device="cpu"), torch.tensor([index])  # DLL103

def main():
    torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)
""",
    "kept in tensors that safetensors puts on the GPU": """
from safetensors.torch import load_file

class Rows(Dataset):
    def __init__(self):
        self.rows = load_file("rows.safetensors", "cuda")  # DLL103

    def __getitem__(self, index):
        return self.rows[index]
"""
    + TAIL,
    "loaded to the GPU": """
class Rows(Dataset):
    def __init__(self):
        self.rows = torch.load("rows.pt", map_location="cuda")  # DLL103

    def __getitem__(self, index):
        return self.rows[index]
"""
    + TAIL,
    "a forked process, beside a spawned one by the same function": """
import torch.multiprocessing as mp

def evaluate(rank):
    torch.ones(3).cuda()  # DLL103

def measure(rank):
    torch.ones(3).cuda()

def launched(target, method):
    mp.start_processes(target, nprocs=2, start_method=method)

def main():
    torch.cuda.init()
    launched(measure, "spawn")
    launched(evaluate, "fork")
""",
    "a forked process": """
import multiprocessing

def evaluate():
    print(torch.ones(8).cuda())  # DLL103

def main():
    torch.cuda.set_device(0)
    multiprocessing.get_context("fork").Process(target=evaluate).start()
""",
}

SILENT: dict[str, str] = {
    "a call under a flag that is off and another condition": """
class Rows(Dataset):
    def __init__(self, use_gpu=False):
        self.use_gpu = use_gpu
        self.rows = None

    def load(self):
        if self.rows is None and self.use_gpu:
            self.rows = torch.zeros(3).cuda()

    def __getitem__(self, index):
        self.load()
        return index

def main():
    model = nn.Linear(8, 1).cuda()
    for rows in DataLoader(Rows(), num_workers=4):
        print(model(rows))

main()
""",
    "a model of the workers on the CPU, another on the GPU": """
class Rows(Dataset):
    def __init__(self):
        self.encoder = nn.Linear(3, 3)

    def __getitem__(self, index):
        return self.encoder(torch.zeros(3).to(self.encoder.weight.device))

def main():
    model = nn.Linear(3, 3).cuda()
    for batch in DataLoader(Rows(), num_workers=4):
        print(model(batch.cuda()))

main()
""",
    "a model that comes back to the CPU before the workers run it": """
model = nn.Linear(3, 3)
model.cuda()
model(torch.zeros(3).cuda())
model.cpu()

def collate(batch):
    return model(torch.stack(batch).to(next(model.parameters()).device))

for batch in DataLoader(torch.zeros(8, 3), num_workers=4, collate_fn=collate):
    print(batch)
""",
    "a model whose configuration alone a collate_fn reads": """
model = nn.Linear(3, 3).cuda()

def collate(batch):
    model.state_dict()
    return torch.stack(batch)[:, : model.in_features]

for batch in DataLoader(torch.zeros(8, 3), num_workers=4, collate_fn=collate):
    print(batch)
""",
    "a model on a device that is not known": """
import sys

class Trainer:
    def __init__(self):
        self.model = nn.Linear(3, 3).to(sys.argv[1])

    def collate(self, rows):
        return self.model(torch.stack(rows).to(next(self.model.parameters()).device))

    def fit(self, rows):
        other = nn.Linear(3, 3).cuda()
        for batch in DataLoader(rows, num_workers=4, collate_fn=self.collate):
            print(other(batch))

Trainer().fit(torch.zeros(8, 3))
""",
    "the device of what a worker reads": """
def collate(rows):
    return torch.stack(rows).to(rows[0].device)

model = nn.Linear(3, 3).cuda()
for batch in DataLoader(torch.zeros(8, 3), num_workers=4, collate_fn=collate):
    print(model(batch))
""",
    "a cache of files that a pass without workers fills before": CACHED.format("") + PASS + TAIL,
    "what a constructor was told about CUDA, the other way": """
class Rows(Dataset):
    def __init__(self):
        self.cuda_is_missing = torch.cuda.is_available()

    def __getitem__(self, index):
        rows = torch.ones(8)
        if not self.cuda_is_missing:
            rows = rows.cuda()
        return rows
"""
    + TAIL,
    "a tensor that goes back to the GPU only if it was there": """
def back(x):
    on_gpu = False
    if x.is_cuda:
        x, on_gpu = x.cpu(), True
    x = x + 1
    if on_gpu:
        x = x.cuda()
    return x
class Rows(Dataset):
    def __getitem__(self, index):
        return back(torch.ones(8))
"""
    + TAIL,
    "what other tensors on the GPU ask for": """
def back(x):
    weights = torch.ones(8)
    on_gpu = x.is_cuda
    if on_gpu and len(x):
        weights = weights.cuda()
    if x.device.type == "cuda":
        weights = weights.to("cuda")
    return x * weights
class Rows(Dataset):
    def __getitem__(self, index):
        return back(torch.ones(8))
"""
    + TAIL,
    "a method of an unknown object, found by its name alone": NAMED.replace("MARK", "")
    .replace("def main():", "def main(energies):")
    .replace("Rows()", "Rows(energies)")
    .replace("    main()", "    print(main)"),
    "processes for the devices of XLA": """
import torch
import torch_xla.distributed.xla_multiprocessing as xmp

def train(index):
    if torch.cuda.is_available():
        torch.cuda.set_device(index)

if __name__ == "__main__":
    torch.cuda.init()
    xmp.spawn(train, args=(), nprocs=8, start_method="fork")
""",
    "the halves of a test of two conditions": """
from multiprocessing import Process
from models import build

def work(frames):
    model = build()
    model.cuda()
    for frame in frames:
        print(model(frame.cuda()))

def show(frames, gpus, each):
    if gpus == 1 and each == 1:
        work(frames)
    else:
        for _ in range(gpus * each):
            Process(target=work, args=(frames,)).start()
""",
    "a pool that another caller fills, before it starts its processes or threads": """
import torch

class Crew:
    def __init__(self, count, prepare=None, threads=False):
        if threads:
            from multiprocessing.dummy import Process
        else:
            from multiprocessing import Process
        for number in range(count):
            if threads:
                worker = Process(target=work, args=(number, prepare))
            else:
                worker = Process(target=work, args=(number, prepare))
            worker.start()

def work(number, prepare=None):
    context = prepare(number) if prepare is not None else None
    print(number, context)

def encode(count):
    Crew(count, lambda number: torch.zeros(2).cuda())

def train(rank):
    torch.cuda.set_device(rank)
    Crew(4)
""",
    "a device that is given, tested in the statement that sets it": f"""{HEAD}
def moved(row, device=None):
    device = device or torch.cuda.current_device()
    return row.to(device)

class Rows(Dataset):
    def __getitem__(self, index):
        return moved(torch.ones(8), "cpu")
{TAIL}""",
    "a failure that nobody minds": f"""{HEAD}
class Rows(Dataset):
    def __getitem__(self, index):
        try: torch.cuda.synchronize()
        except: pass
        try:
            torch.cuda.empty_cache()
        except (ImportError, RuntimeError) as error:
            print(error)
        return torch.ones(8)
{TAIL}""",
    "a query that need not succeed": f"""{HEAD}
def memory():
    try:
        return torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    except Exception:
        return 0

class Rows(Dataset):
    def __getitem__(self, index):
        name = ""
        try:
            count = torch.cuda.device_count()
            name = torch.cuda.get_device_name(0)
            told = name
        except:
            pass
        return torch.ones(8), name, memory()
{TAIL}""",
    "tensors on the GPU that workers send for one epoch": """
def collate(rows):
    return torch.stack(rows).cuda()

def main():
    for rows in DataLoader([torch.ones(8)], num_workers=4, collate_fn=collate):
        print(rows)
""",
    "tensors that workers compute on the GPU and send from the CPU": """
def collate(rows):
    return torch.stack(rows).cuda().sum(0).cpu()

def main():
    loader = DataLoader([torch.ones(8)], num_workers=4, collate_fn=collate)
    for epoch in range(3):
        for rows in loader:
            print(rows)
""",
    "tensors on the GPU from persistent workers": """
def collate(rows):
    return torch.stack(rows).cuda()

def main():
    loader = DataLoader([torch.ones(8)], num_workers=4, collate_fn=collate, persistent_workers=True)
    for epoch in range(3):
        for rows in loader:
            print(rows)
""",
    "a model that is trained on the CPU for one epoch": PLAIN
    + """
def main():
    model = nn.Linear(8, 1)
    for rows in DataLoader(Rows(), num_workers=4):
        model(rows.cpu()).sum().backward()
""",
    "persistent workers, started before the loop uses CUDA": PLAIN
    + """
def main():
    loader = DataLoader(Rows(), num_workers=4, persistent_workers=True)
    for epoch in range(3):
        for rows in loader:
            print(rows.cuda())
""",
    "tensors on the CPU, or beside others, under a CUDA default": """
import numpy

class Rows(Dataset):
    def __getitem__(self, index):
        rows = torch.from_numpy(numpy.ones(8))
        return rows, torch.zeros_like(rows), torch.ones(8, device="cpu")

def main():
    torch.set_default_device("cuda")
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)
""",
    "spawned under a CUDA default": """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8)

def main():
    torch.set_default_device("cuda")
    for rows in DataLoader(Rows(), num_workers=4, multiprocessing_context="spawn"):
        print(rows)
""",
    "facts about CUDA that the dataset keeps": """
class Rows(Dataset):
    def __init__(self):
        self.version = torch.backends.cudnn.version()
        self.rows = torch.ones(8).pin_memory()

    def __getitem__(self, index):
        return self.rows * self.version
"""
    + TAIL,
    "CUDA in the parent alone": """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8)
"""
    + TAIL,
    "no workers": PLAIN + TAIL.replace("num_workers=4", "num_workers=0"),
    "spawned": PLAIN + TAIL.replace("num_workers=4", 'num_workers=4, multiprocessing_context="spawn"'),
    "spawned by the program": PLAIN
    + TAIL.replace("    model =", '    torch.multiprocessing.set_start_method("spawn")\n    model ='),
    "the parent leaves CUDA alone": PLAIN
    + """
def main():
    torch.manual_seed(1)
    torch.cuda.manual_seed_all(1)
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda")
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows, device)
""",
    "initialised when the workers are done": PLAIN
    + """
def main():
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)
    print(nn.Linear(8, 1).cuda())
""",
    "a device that is not known": """
import sys

class Rows(Dataset):
    def __init__(self, device):
        self.device = device

    def __getitem__(self, index):
        return torch.ones(8).to(self.device)

def main():
    model = nn.Linear(8, 1).cuda()
    for rows in DataLoader(Rows(sys.argv[1]), num_workers=4):
        print(model(rows))
""",
    "the CPU in this loader's dataset": """
class Rows(Dataset):
    def __init__(self, device):
        self.device = device

    def __getitem__(self, index):
        return torch.ones(8).to(self.device)

def main():
    model = nn.Linear(8, 1).cuda()
    for rows in DataLoader(Rows("cuda"), num_workers=0):
        print(model(rows))
    for rows in DataLoader(Rows("cpu"), num_workers=4):
        print(model(rows))
""",
    "a flag that is not known": """
from somewhere import options

class Rows(Dataset):
    def __getitem__(self, index):
        rows = torch.ones(8)
        if options.use_gpu:
            rows = rows.cuda()
        return rows
"""
    + TAIL,
    "a flag that is off": """
class Rows(Dataset):
    def __init__(self, use_gpu=False):
        self.use_gpu = use_gpu

    def __getitem__(self, index):
        rows = torch.ones(8)
        if self.use_gpu:
            rows = rows.cuda()
        return rows
"""
    + TAIL,
    "a dtype": """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8).to(torch.float16)
"""
    + TAIL,
    "a method of the project's own called cuda": """
class Sample:
    def cuda(self):
        return self

class Rows(Dataset):
    def __getitem__(self, index):
        return Sample().cuda()
"""
    + TAIL,
    "asked only in the parent's half": """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8)

    def statistics(self):
        return torch.ones(8).cuda().mean()
"""
    + TAIL,
    "seeding in worker_init_fn": """
def begin(worker):
    torch.cuda.manual_seed(worker)
    print(torch.cuda.is_available())

def main():
    torch.cuda.init()
    for rows in DataLoader([torch.ones(8)], num_workers=4, worker_init_fn=begin):
        print(rows)
""",
    "kept on the GPU, and not for the workers": """
class Rows(Dataset):
    def __init__(self):
        self.weights = torch.ones(8).cuda()

    def __getitem__(self, index):
        return torch.ones(8)
"""
    + TAIL,
    "a spawned process": """
import multiprocessing

def evaluate():
    print(torch.ones(8).cuda())

def main():
    torch.cuda.set_device(0)
    multiprocessing.get_context("spawn").Process(target=evaluate).start()
""",
    "forked only where there is no GPU": """
import torch.multiprocessing as mp

def evaluate(rank, device):
    torch.cuda.set_device(device)

def launched(devices, start_method=None):
    torch.cuda.init()
    start_method = start_method or ("spawn" if any(device >= 0 for device in devices) else "fork")
    mp.start_processes(evaluate, args=(0,), nprocs=2, start_method=start_method)
""",
    "a context that is chosen": """
import torch.multiprocessing as mp

def evaluate(rank):
    torch.cuda.set_device(rank)

def main(gpu):
    torch.cuda.init()
    context = mp.get_context("spawn" if gpu else "fork")
    process = context.Process(target=evaluate, args=(0,))
    process.start()
""",
    "only in launched processes of another method": PLAIN
    + """
import torch.multiprocessing as mp

def work(rank):
    torch.cuda.set_device(rank)
    for rows in DataLoader(Rows(), num_workers=4):
        print(rows)

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
""",
    "a device that another object of the class was moved to": """
class Texture:
    def __init__(self, rows):
        self.device = torch.device("cpu")

    def to(self, device):
        self.device = device
        return self

    def padded(self):
        return torch.zeros((0, 3), device=self.device)

def collate(rows):
    texture = Texture(rows)
    return texture.padded()

def main():
    torch.cuda.init()
    print(Texture([]).to(torch.device("cuda:0")))
    for rows in DataLoader([torch.ones(8)], num_workers=4, collate_fn=collate):
        print(rows)
""",
    "a stream that is made for a device that is not known": """
import multiprocessing
import threading

def fetch(stream):
    if stream is not None:
        torch.cuda.current_stream().wait_stream(stream)

class Fetcher:
    def __init__(self, device):
        self.device = device
        if self.device.type == "cuda":
            self.stream = torch.cuda.Stream(device=self.device)
        else:
            self.stream = None
        threading.Thread(target=fetch, args=(self.stream,)).start()

def train():
    Fetcher(torch.device("cpu"))

def main():
    torch.cuda.set_device(0)
    multiprocessing.get_context("fork").Process(target=train).start()
""",
    "a branch that the call does not take": """
import multiprocessing

def read(rows, pinned=False):
    if pinned:
        rows = rows.cuda()
    return rows

def train():
    return read(torch.ones(8))

def main():
    torch.cuda.set_device(0)
    multiprocessing.get_context("fork").Process(target=train).start()
""",
}


test_found, test_silent = in_one_file("DLL103", FOUND, SILENT, HEAD)


FILES = {
    "data.py": """\
from torch.utils.data import Dataset

from moving import moved

class Rows(Dataset):
    def __getitem__(self, index):
        return moved(index)
""",
    "moving.py": """\
import torch

def moved(number):
    return torch.tensor([number]).cuda()  # DLL103
""",
    "train.py": """\
import torch
from torch.utils.data import DataLoader

from data import Rows

def main():
    torch.cuda.set_device(0)
    for rows in DataLoader(Rows(), num_workers=2):
        print(rows)
""",
}


def test_across_files(told: Callable[..., Any], relative: Callable[[str], str]) -> None:
    (finding,) = told(FILES, **SELECT)

    assert (relative(finding.path), finding.span.line, finding.severity) == ("moving.py", 4, "error")
    assert [(relative(hop.path), hop.span.line) for hop in finding.trace] == [("data.py", 7)]
    assert [(relative(place.path), place.span.line) for place in finding.related] == [("train.py", 7), ("train.py", 8)]
    assert "train.py:7" in finding.text


def test_one_finding_for_several_loaders(told: Callable[..., Any]) -> None:
    second = FILES["train.py"] + "    for rows in DataLoader(Rows(), num_workers=1):\n        print(rows)\n"

    (finding,) = told({**FILES, "train.py": second}, **SELECT)

    assert [place.span.line for place in finding.related] == [7, 8, 10]


def test_targets_that_never_fork(findings: Callable[..., Any]) -> None:
    assert findings(FILES, target_python="3.14", **SELECT) == set()
    assert findings(FILES, target_platform=["windows"], **SELECT) == set()


def test_calls_named_in_the_configuration(findings: Callable[..., Any]) -> None:
    files = {
        **FILES,
        "data.py": FILES["data.py"].replace("from moving import moved", "from kernels import run as moved"),
        "pyproject.toml": '[tool.dllint]\ncuda-calls = ["kernels.run"]\n',
    }

    assert findings(files, **SELECT) == {("data.py", 7, "DLL103")}


def test_cuda_that_another_branch_initialises(findings: Callable[..., Any]) -> None:
    files = {
        "demo.py": """\
import multiprocessing as mp
import torch

def predict(queue):
    model = torch.nn.Linear(2, 2).cuda()
    queue.put(model)

class Direct:
    def __init__(self):
        self.model = torch.nn.Linear(2, 2).cuda()

class Parallel:
    def __init__(self):
        self.process = mp.Process(target=predict, args=(mp.Queue(),))
        self.process.start()

def run(settings):
    if settings.gpus <= 1:
        model = Direct()
    else:
        model = Parallel()
    return model

if __name__ == "__main__":
    run(open_settings())
""",
    }
    assert findings(files, **SELECT, target_python="3.11") == set()
    before = files["demo.py"].replace(
        "    if settings.gpus <= 1:\n        model = Direct()\n    else:\n", "    Direct()\n    if settings:\n"
    )
    assert {code for _, _, code in findings({"demo.py": before}, **SELECT, target_python="3.11")} == {"DLL103"}


@pytest.mark.parametrize(
    "source",
    [
        f"""{HEAD}
from torch.utils.data import TensorDataset

def main():
    rows = torch.zeros(100, 3)
    model = nn.Linear(3, 1).cuda()
    for batch in DataLoader(TensorDataset(rows), num_workers=4):
        print(model(batch[0].cuda()))

if __name__ == "__main__":
    main()
""",
        f"""{HEAD}
from torch.utils.data import TensorDataset

def main():
    rows = torch.zeros(100, 3).cuda()
    for batch in DataLoader(TensorDataset(rows), num_workers=0):
        print(batch)

if __name__ == "__main__":
    main()
""",
        """
import multiprocessing
import torch

def evaluate(rank, model):
    print(rank)

def main():
    model = torch.nn.Linear(3, 3).cuda()
    process = multiprocessing.Process(target=evaluate, args=(0, model))
    process.start()

if __name__ == "__main__":
    main()
""",
        """
import torch
import torch.multiprocessing as mp

def evaluate(rank, model):
    print(model(torch.zeros(3)))

def main():
    model = torch.nn.Linear(3, 3).cuda()
    mp.spawn(evaluate, args=(model,), nprocs=2)

if __name__ == "__main__":
    main()
""",
    ],
)
def test_the_gpu_in_the_parent_alone(source: str, findings: Callable[..., Any]) -> None:
    assert findings({"demo.py": source}, **SELECT, target_python="3.11") == set()


LOADING = """\
import torch
from torch.utils.data import DataLoader, Dataset

class Clips(Dataset):
    def __init__(self, names):
        self.names = names

    def __getitem__(self, index):
        return torch.zeros(4).cuda()

class Frames(Dataset):
    def __getitem__(self, index):
        return torch.zeros(4)

def build(dataset, workers):
    return DataLoader(dataset, num_workers=workers)

if __name__ == "__main__":
    assert torch.cuda.is_available()
    clips = build(Clips([1]), {workers})
    frames = build(Frames(), 4)
    for batch in frames:
        print(batch)
"""


@pytest.mark.parametrize(("workers", "expected"), [("0", set()), ("2", {"DLL103"})])
def test_a_dataset_that_gets_no_workers(workers: str, expected: set[str], findings: Callable[..., Any]) -> None:
    files = {"load.py": LOADING.replace("{workers}", workers)}
    assert {code for _, _, code in findings(files, target_python="3.11")} == expected


CHOOSING = """\
import torch
import torch.multiprocessing as mp

HAS_CUDA = torch.cuda.is_available()

def begin(backend):
    if "nccl" in backend:
        torch.cuda.set_device(0)  # DLL103

def work(rank, backend, rows):
    begin(backend)

def run(backend, method=None):
    if method is None:
        method = "fork" if backend == "gloo" else "spawn"
    mp.start_processes(work, args=(backend, 3), nprocs=2, start_method=method)

def test_all():
    run("nccl")

def test_other():
    run({given})
"""


@pytest.mark.parametrize(("given", "found"), [('"gloo"', False), ('"nccl", "fork"', True)])
def test_a_method_that_the_launcher_chooses_for_its_caller(
    given: str, found: bool, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    """It forks where it leaves the GPU alone, since that is why it chooses."""
    files = {"train.py": CHOOSING.format(given=given)}

    assert findings(files, **SELECT) == (marks(files) if found else set())


def test_one_process_that_is_forked_is_one_cause(told: Callable[..., Any]) -> None:
    source = """\
import torch
from multiprocessing import Process

def work(rank):
    torch.cuda.set_device(rank)
    train()

def train():
    torch.zeros(3).cuda()

def main():
    torch.cuda.init()
    process = Process(target=work, args=(0,))
    process.start()
"""
    (finding,) = told({"train.py": source}, **SELECT)

    too = [place.span.line for place in finding.related if "too" in place.message]
    assert sorted([finding.span.line, *too]) == [5, 9]


CHOSEN = """\
import argparse

import torch
import torch.multiprocessing as mp

ON_GPU = False
SETTING = None


def use(value):
    global ON_GPU, SETTING
    ON_GPU = value
    SETTING = torch.device("cuda:0" if ON_GPU else "cpu")


def child(model, device):
    model.to(device)


def main(options):
    device = DEVICE
    model = torch.nn.Linear(8, 1).to(device)
    process = mp.get_context("fork").Process(target=child, args=(model, device))
    process.start()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--no-cuda", action="store_true")
    main(parser.parse_args())
"""


@pytest.mark.parametrize(
    ("device", "severity"),
    [
        pytest.param('"cuda"', "error", id="always"),
        pytest.param('torch.device("cuda:0")', "error", id="always, as an object"),
        pytest.param('"cuda" if torch.cuda.is_available() else "cpu"', "error", id="wherever there is one"),
        pytest.param('torch.device("cpu" if not torch.cuda.is_available() else "cuda")', "error", id="the other way"),
        pytest.param(
            'torch.device("npu" if torch.npu.is_available() else ("cuda" if torch.cuda.is_available() else "cpu"))',
            "warning",
            id="behind another accelerator",
        ),
        pytest.param('torch.device("cuda" if torch.cuda.device_count() > 0 else "cpu")', "error", id="counted"),
        pytest.param('torch.device("cuda:0" if ON_GPU else "cpu")', "warning", id="a setting of the program"),
        pytest.param("SETTING", "warning", id="a setting of the module"),
        pytest.param("options.device", None, id="an option"),
        pytest.param("torch.device(options.device)", None, id="an option, as an object"),
        pytest.param(
            'torch.device("cuda" if torch.cuda.is_available() and options.gpu >= 0 else "cpu")', "warning", id="both"
        ),
        pytest.param(
            'torch.device("cuda" if not options.no_cuda and torch.cuda.is_available() else "cpu")',
            "warning",
            id="unless a switch forbids it",
        ),
    ],
)
def test_an_error_needs_a_device_that_nobody_chooses(
    device: str, severity: str | None, told: Callable[..., Any]
) -> None:
    found = told({"main.py": CHOSEN.replace("DEVICE", device)}, **SELECT)

    assert [one.severity for one in found] == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("workers", "severity"),
    [
        pytest.param("4", "error", id="a number"),
        pytest.param("int(open('count').read())", "warning", id="a number that is not known"),
    ],
)
def test_an_error_needs_workers(workers: str, severity: str, told: Callable[..., Any]) -> None:
    (found,) = told({"main.py": HEAD + PLAIN + TAIL.replace("num_workers=4", f"num_workers={workers}")}, **SELECT)

    assert found.severity == severity


GATED = """
import os

if os.environ.get("WHERE") == "gpu":
    DEVICE = torch.device("cuda:0")
else:
    DEVICE = torch.device("cpu")


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        row = torch.zeros(8, device=DEVICE)
        return self.scaled(row)

    def scaled(self, row):
        return row * torch.ones(8, device=DEVICE)
"""


def test_calls_on_a_device_that_an_option_selects_are_one_finding(told: Callable[..., Any]) -> None:
    (found,) = told({"main.py": HEAD + GATED + TAIL}, **SELECT)

    assert found.severity == "warning"
    assert [place.message for place in found.related].count("this fails there too") == 1


SPAWNED = """\
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return torch.zeros(3).to("cuda"){mark}

def train(count):
    for rows in DataLoader(Rows(), num_workers=2):
        print(rows)

def prepare(rank):
    torch.cuda.set_device(rank)

def work(rank, main, count):
    prepare(rank)
    main(count)

def launch(main, count):
    if count > 1:
        mp.spawn(work, nprocs=count, args=(main, count))
    else:
        {first}main(count)

if __name__ == "__main__":
    launch(train, int(input()))
"""


@pytest.mark.parametrize(("first", "mark"), [("", ""), ("prepare(0); ", "  # DLL103")])
def test_cuda_in_spawned_processes_alone_does_not_reach_forked_workers(
    first: str, mark: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"train.py": SPAWNED.replace("{first}", first).replace("{mark}", mark)}

    assert findings(files, **SELECT) == marks(files)


PROCESS_NUMBER = f"""{HEAD}
import os

MAIN = os.getpid()

class Rows(Dataset):
    def __init__(self):
        self.made_in = os.getpid()
        self.last = None

    def check(self):
        if os.getpid() != self.made_in:
            raise RuntimeError("not here")

    def __getitem__(self, index):
        {{test}}
            {{done}}
        return index

    def load(self):
        torch.cuda.synchronize()MARK
{TAIL}"""


@pytest.mark.parametrize(
    ("test", "done", "found"),
    [
        ("if os.getpid() == self.made_in:", "self.load()", False),
        ("if MAIN == os.getpid() and index:", "self.load()", False),
        ("forked = os.getpid() != MAIN\n        if not forked:", "self.load()", False),
        ("pid = os.getpid()\n        ready = index and pid == MAIN\n        if ready:", "self.load()", False),
        ("if os.getpid() != self.made_in:\n            return index\n        if index:", "self.load()", False),
        ("if os.getpid() != self.made_in:", "self.load()", True),
        ("if os.getpid() == MAIN or index:", "self.load()", True),
        ("if os.getpid() == self.last:", "self.load()", True),
        ("self.last = self.last or os.getpid()\n        if os.getpid() == self.last:", "self.load()", True),
        ("pid = os.getpid()\n        if os.getpid() == pid:", "self.load()", True),
    ],
)
def test_code_of_the_process_that_recorded_its_number(
    test: str, done: str, found: bool, findings: Callable[..., Any]
) -> None:
    source = PROCESS_NUMBER.format(test=test, done=done)
    here = "\n".join(source.splitlines())
    line = next(number for number, text in enumerate(here.splitlines(), 1) if "MARK" in text)
    expected = {("demo.py", line, "DLL103")} if found else set()
    assert findings({"demo.py": here.replace("MARK", "")}, **SELECT, target_python="3.11") == expected


MADE_THERE = """\
import os
import torch
from multiprocessing import Process
from torch.utils.data import DataLoader, Dataset

class Store:
    def __init__(self):
        self.made_in = os.getpid()

    def load(self, index):
        if os.getpid() == self.made_in:
            torch.cuda.synchronize()
        return index

class Rows(Dataset):
    def __init__(self):
        self.store = Store()

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return {read}

def load(store):
    {in_process}

def main():
    torch.zeros(3).cuda()
    {start}

if __name__ == "__main__":
    main()
"""
LOADED = "list(DataLoader(Rows(), num_workers=2))"
STARTING = "Process(target=load, args=(Store(),)).start()"


@pytest.mark.parametrize(
    ("read", "in_process", "start", "found"),
    [
        ("Store().load(index)", "pass", LOADED, True),
        ("self.store.load(index)", "pass", LOADED, False),
        ("index", "Store().load(3)", STARTING, True),
        ("index", "store.load(3)", STARTING, False),
    ],
)
def test_an_object_made_in_the_forked_process_has_recorded_that_one(
    read: str, in_process: str, start: str, found: bool, findings: Callable[..., Any]
) -> None:
    files = {"train.py": MADE_THERE.format(read=read, in_process=in_process, start=start)}

    assert bool(findings(files, **SELECT, target_python="3.11")) is found


STARTED = {
    "helper.py": """\
import torch
from torch.multiprocessing import Process

def fill(rank, device):
    torch.zeros(3).to(device)MARK
    torch.nn.Linear(3, 3).cuda()

def fill_all(count):
    for rank in range(count):
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        Process(target=fill, args=(rank, device)).start()
""",
    "train.py": """\
import torch.multiprocessing as mp
from helper import fill_all

def run(rank, count):
    fill_all(count)

def main():
    mp.spawn(run, args=(3,), nprocs=2)

if __name__ == "__main__":
    main()
""",
}
SCRIPT = {"fill.py": 'from helper import fill_all\n\nif __name__ == "__main__":\n    fill_all(3)\n'}


@pytest.mark.parametrize(("more", "found"), [({}, False), (SCRIPT, True)])
def test_processes_that_spawned_ones_start(more: dict[str, str], found: bool, findings: Callable[..., Any]) -> None:
    files = {**STARTED, **more}
    expected = {("helper.py", 5, "DLL103")} if found else set()
    files["helper.py"] = files["helper.py"].replace("MARK", "")
    assert findings(files, **SELECT, target_python="3.11") == expected


LEADING = """
def encoded(model, row):
    row = row.to("cuda")
    return model(row)


class Scale(nn.Module):
    def forward(self, row):
        return row * torch.arange(8, device="cuda")


MODEL = Scale()


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return encoded(MODEL, torch.zeros(8))
"""
APART = """
def scaled(row):
    return row * torch.arange(8, device="cuda")


def moved(row):
    return row.to("cuda")


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return moved(torch.zeros(8)), scaled(torch.zeros(8))
"""


def test_what_a_function_calls_that_uses_the_gpu_itself_is_one_finding_with_it(told: Callable[..., Any]) -> None:
    (found,) = told({"main.py": HEAD + LEADING + TAIL}, **SELECT)

    assert "`row.to` fails" in found.text
    assert [place.message for place in found.related].count("this fails there too") == 1


def test_two_functions_that_use_the_gpu_are_two_findings(told: Callable[..., Any]) -> None:
    assert len(told({"main.py": HEAD + APART + TAIL}, **SELECT)) == 2
