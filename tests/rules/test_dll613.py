"""DLL613: which loaders pin what is on the GPU already."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import functools
import torch
import torch.utils.data as data
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset, TensorDataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Rows(Dataset):
    def __init__(self, rows, device):
        self.rows, self.device = rows, device

    def __getitem__(self, index):
        row = self.rows[index]
        return row.to(self.device).unsqueeze(0), index


class Plain(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]


"""

FOUND = {
    "a dataset of tensors": "DataLoader(TensorDataset(torch.ones(2, device='cuda')), pin_memory=True)  # DLL613\n",
    "items": "DataLoader(Rows([], DEVICE), pin_memory=True)  # DLL613\n",
    "an alias": "make = data.DataLoader\nmake(Rows([], 'cuda:1'), pin_memory=True)  # DLL613\n",
    "a subclass": """
class Own(Rows):
    pass

DataLoader(Own([], DEVICE), pin_memory=True)  # DLL613
""",
    "a loader of one's own": """
class Loader(DataLoader):
    pass

Loader(Rows([], DEVICE), pin_memory=True)  # DLL613
""",
    "a wrapper": """
def build(dataset, pin=True):
    return DataLoader(dataset, pin_memory=pin)  # DLL613

build(Rows([], DEVICE))
""",
    "a partial": "DataLoader(Rows([], 0), pin_memory=True)  # DLL613\n",
    "keywords in a dict": """
options = dict(batch_size=4)
options["pin_memory"] = True
DataLoader(dataset=Rows([], DEVICE), **options)  # DLL613
""",
    "a subset": "DataLoader(Subset(Rows([], DEVICE), [0]), pin_memory=True)  # DLL613\n",
    "several datasets": "DataLoader(ConcatDataset([Rows([], DEVICE)]), pin_memory=True)  # DLL613\n",
    "spawned workers": """
def main():
    DataLoader(Rows([], DEVICE), pin_memory=True, num_workers=2, multiprocessing_context="spawn")  # DLL613
""",
    "an iterable dataset": """
class Stream(IterableDataset):
    def __iter__(self):
        for row in range(9):
            yield torch.tensor(row).cuda()

DataLoader(Stream(), pin_memory=True)  # DLL613
""",
    "a collate function with arguments": """
def collate(rows, device):
    batch = torch.stack(rows)
    return {"x": batch.to(device)}

DataLoader(Plain([]), collate_fn=functools.partial(collate, device=DEVICE), pin_memory=True)  # DLL613
""",
    "parts of a list that is filled": """
def collate(rows):
    parts = []
    for part in zip(*rows):
        parts.append(torch.stack(part).cuda())
    return tuple(parts)

DataLoader(Plain([]), collate_fn=collate, pin_memory=True)  # DLL613
""",
    "parts of a dict that is filled": """
class Filled(Plain):
    def __getitem__(self, index):
        item = {"index": index}
        item["row"] = self.rows[index].to(DEVICE)
        return item

DataLoader(Filled([]), pin_memory=True)  # DLL613
""",
    "a dict of moved entries": """
def collate(rows):
    batch = data.default_collate(rows)
    batch = {name: part.to(DEVICE) for name, part in batch.items()}
    return batch

DataLoader(Plain([]), collate_fn=collate, pin_memory=True)  # DLL613
""",
    "a method that moves": """
class Moved(Plain):
    def __getitem__(self, index):
        return self.move(self.rows[index])

    def move(self, row):
        return row.cuda()

DataLoader(Moved([]), pin_memory=True)  # DLL613
""",
}

SILENT = {
    "not pinned": "DataLoader(Rows([], DEVICE))\nDataLoader(Rows([], DEVICE), pin_memory=False)\n",
    "on the CPU": "DataLoader(Rows([], 'cpu'), pin_memory=True)\n",
    "another list that is filled": """
def collate(rows):
    parts, seen = [], []
    for part in zip(*rows):
        seen.append(torch.stack(part).cuda())
        parts.append(seen[-1].cpu())
    return parts

DataLoader(Plain([]), collate_fn=collate, pin_memory=True)
""",
    "a loader that gives batches itself": """
class Loader(DataLoader):
    def __iter__(self):
        yield from self.dataset

Loader(Rows([], DEVICE), pin_memory=True)
""",
    "an unknown device": """
def build(rows, device):
    return DataLoader(Rows(rows, device), pin_memory=True)
""",
    "brought back": """
class Back(Plain):
    def __getitem__(self, index):
        return self.rows[index].cuda().float().cpu()

DataLoader(Back([]), pin_memory=True)
""",
    "an index on the GPU": """
class Chosen(Plain):
    def __getitem__(self, index):
        return self.rows[torch.tensor([index]).cuda().item()]

DataLoader(Chosen([]), pin_memory=True)
""",
    "a collate function that moves it back": """
def collate(rows):
    return torch.stack([row.cpu() for row, _ in rows])

DataLoader(Rows([], DEVICE), collate_fn=collate, pin_memory=True)
""",
    "pinned where it is on the CPU": """
def build(rows, on_gpu):
    device = "cuda" if on_gpu else "cpu"
    return DataLoader(Rows(rows, device), pin_memory=not on_gpu)

build([], True)
""",
    "moved in the loop": """
for batch in DataLoader(Plain([]), pin_memory=True):
    batch = batch.to(DEVICE)
""",
    "moved under an option that is off": """
class Optional(Plain):
    def __init__(self, rows, on_gpu=False):
        self.rows, self.on_gpu = rows, on_gpu

    def __getitem__(self, index):
        row = self.rows[index]
        if self.on_gpu:
            row = row.cuda()
        return row

DataLoader(Optional([]), pin_memory=True)
""",
}

test_found, test_silent = in_one_file("DLL613", FOUND, SILENT, HEAD)
