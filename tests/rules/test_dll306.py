"""DLL306: what keeps batches of a loader with workers, and what keeps copies or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL306"]}

HEAD = """\
import copy
import itertools
import numpy as np
import torch
from torch.utils.data import DataLoader
from tqdm import tqdm

"""


def loop(body: str, loader: str = "DataLoader(data, num_workers=4)", head: str = "for x, y in loader:") -> str:
    """A function with a loop over a loader."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    top = f"def run(data, model, device):\n    kept = []\n    loader = {loader}\n    {head}\n"
    return f"{HEAD}{top}{lines}    return kept\n"


def function(body: str, before: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}{before}def run(data):\n    loader = DataLoader(data, num_workers=4)\n{lines}"


TALKS = """\
class Talks(torch.utils.data.Dataset):
    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table)

    def __getitem__(self, index):
        row = {"number": index}
        row["length"] = len(self.table[index])
        row["speaker"] = self.table.loc[index]["speaker"]
        return row


"""


def talks(key: str, after: str = "return kept", mark: str = "") -> str:
    """A function that keeps one entry of each batch of talks."""
    loader = "DataLoader(Talks(data), batch_size=8, num_workers=4)"
    kept = loop(f'kept.append(batch["{key}"]){mark}', loader=loader, head="for batch in loader:")
    return kept.replace(HEAD, HEAD + TALKS).replace("return kept", after)


ROWS = """\
size, *_ = batch[0].shape
for number in range(size):
    row = ROW
    if len(row) < 3:
        print(row)
    kept.append(row)  # DLL306"""


def rows(row: str) -> str:
    """A function that keeps a row of each item of each batch."""
    return loop(ROWS.replace("ROW", row), head="for batch in loader:")


UNPACKING = """\
def unpack(b):
    if len(b) > 9:
        return other(b)
    return b[0], b[1], torch.ones(b[1].size())

def other(b):
    return b[1], None, b[0].clone()

def second(batch):
    x, y = batch
    return y

def twice(batch):
    return second(batch)


"""


def unpacking(body: str) -> str:
    """A loop that gives its batches to functions."""
    return loop(body, head="for batch in loader:").replace("def run", f"{UNPACKING}def run")


FOUND: dict[str, str] = {
    "a part that a function gives back": unpacking(
        "x, y, z = unpack(batch)\ny = y.detach().cpu().numpy()\nkept.append(y)  # DLL306"
    ),
    "what a function gives back": unpacking("labels = second(batch)\nkept.append(labels.squeeze())  # DLL306"),
    "what a function gives back that calls another": unpacking("kept.append(twice(batch).view(-1))  # DLL306"),
    "the rows of each field of a batch": rows("[field[number] for field in batch]"),
    "the rows of a field that is a tensor": rows("batch[0][number]"),
    "rows of which the first are shown": rows("batch[0][number]").replace("len(row) < 3", "len(kept) < 3"),
    "in a dict that has a name": loop('row = {"y": y.numpy()}\nkept.append(row)  # DLL306'),
    "in a dict that is filled first": loop(
        'row = dict()\nrow["mean"] = float(x.mean())\nrow["y"] = y.numpy()\n'
        "if row['mean'] > 0:\n    print(row)\nkept.append(row)  # DLL306"
    ),
    "in a list that has a name": loop("row = [y.numpy(), 1]\nkept.append(row)  # DLL306"),
    "an entry that is a number of each item": talks("length", mark="  # DLL306"),
    "an entry that is the position of each item": talks("number", mark="  # DLL306"),
    "an entry that has a name": loop(
        'labels = batch["labels"]\nkept.append(labels)  # DLL306', head="for batch in loader:"
    ),
    "an entry that is a number of each item, and has a name": talks("length").replace(
        'kept.append(batch["length"])', 'length = batch["length"]\n        kept.append(length)  # DLL306'
    ),
    "the rows of an entry with axes": loop(
        'boxes = batch["boxes"]\nfor box in boxes:\n    kept.append(box)  # DLL306\nprint(boxes[..., 0].min())',
        head="for batch in loader:",
    ),
    "the rows of what is used as a tensor, with their numbers": loop(
        "for number, row in enumerate(y):\n    kept.append((number, row))  # DLL306\nprint(y.numel())"
    ),
    "what has axes": loop("kept.append(y)  # DLL306\nprint(y[:, 1].mean())"),
    "an entry that torch joins": talks("speaker", "return torch.cat(kept)", "  # DLL306"),
    "unpacked into a list": function("return [*loader]  # DLL306"),
    "unpacked into a tuple": function("batches = (*tqdm(loader), None)  # DLL306\nreturn batches"),
    "labels that are joined later": loop("kept.append(y)  # DLL306").replace(
        "    return kept\n", "    return torch.cat(kept)\n"
    ),
    "each epoch anew, until they are joined": function(
        "for epoch in range(9):\n    kept = []\n    for x, y in loader:\n        kept.append(y)  # DLL306\n"
        "    kept = torch.cat(kept).numpy()\n    print(kept.mean())"
    ),
    "with options that are not known": loop(
        "kept.append(y.numpy())  # DLL306", loader="DataLoader(data, num_workers=4, **model.options)"
    ),
    "a batch": loop("kept.append(batch)  # DLL306", head="for batch in loader:"),
    "a batch with its number": loop(
        "kept.append((i, batch))  # DLL306", head="for i, batch in enumerate(tqdm(loader)):"
    ),
    "an array": loop("kept.append(y.numpy())  # DLL306"),
    "an entry of a batch": loop(
        'labels = batch["label"].long()\nkept.append(batch["label"])  # DLL306', head="for batch in loader:"
    ),
    "an entry of a batch, joined later": loop(
        'kept.append(batch["label"])  # DLL306', head="for batch in loader:"
    ).replace("return kept", "return torch.cat(kept)"),
    "an entry of a batch with another one on the GPU": loop(
        'batch["image"] = batch["image"].cuda()\nkept.append(batch["label"].numpy())  # DLL306',
        head="for batch in loader:",
    ),
    "detached": loop("kept.append(y.detach())  # DLL306"),
    "on the CPU": loop("kept.append(y.cpu().numpy())  # DLL306"),
    "to the CPU": loop('kept.append(y.to("cpu"))  # DLL306'),
    "contiguous": loop("kept.append(x.contiguous())  # DLL306"),
    "a view": loop("kept.append(x.view(-1))  # DLL306"),
    "a part": loop("first = x[0].squeeze()\nkept.append(first)  # DLL306"),
    "a tensor, as its use shows": loop("print(y.shape)\nkept.append(y)  # DLL306"),
    "an unpacked batch": loop("x, y = batch\nkept.append(y.numpy())  # DLL306", head="for batch in loader:"),
    "a key of a batch": loop("kept.append(batch['label'].numpy())  # DLL306", head="for batch in loader:"),
    "each row": loop("kept.extend(y.cpu())  # DLL306"),
    "asarray": loop("kept.append(np.asarray(y))  # DLL306"),
    "under no_grad": loop("with torch.no_grad():\n    kept.append(y.numpy())  # DLL306"),
    "while the inputs move": loop("x = x.to(device)\nout = model(x)\nkept.append(y.numpy())  # DLL306"),
    "a comparison of something else": loop("if x.shape[0] > 1:\n    print(x)\nkept.append(y.numpy())  # DLL306"),
    "an attribute": HEAD + "class Run:\n    def __init__(self):\n        self.kept = []\n\n"
    "    def run(self, data):\n        for batch in DataLoader(data, num_workers=2):\n"
    "            self.kept.append(batch)  # DLL306\n",
    "a part of what is only tensors": loop(
        "kept.append(y)  # DLL306", loader="DataLoader(torch.utils.data.TensorDataset(data, data), num_workers=4)"
    ),
    "a part of a split of tensors": loop(
        "kept.append(y)  # DLL306",
        loader="DataLoader(torch.utils.data.Subset(torch.utils.data.TensorDataset(data), [1]), num_workers=4)",
    ),
    "list": function("return list(loader)  # DLL306"),
    "tuple": function("return tuple(loader)  # DLL306"),
    "cycle": function("return itertools.cycle(loader)  # DLL306"),
    "cycle by another name": function(
        "return again(loader)  # DLL306", before="from itertools import cycle as again\n\n"
    ),
    "a cycle of a loader that shuffles without workers": function("return itertools.cycle(loader)  # DLL306").replace(
        "num_workers=4", "shuffle=True"
    ),
    "a cycle of pinned batches": function("return itertools.cycle(loader)  # DLL306").replace(
        "4)", "4, pin_memory=True)"
    ),
    "a cycle of batches that may be pinned": function("return itertools.cycle(loader)  # DLL306").replace(
        "4)", "4, pin_memory=data.pin)"
    ),
    "a cycle of batches that are shared by file": function(
        "return itertools.cycle(loader)  # DLL306",
        before="torch.multiprocessing.set_sharing_strategy('file_system')\n\n",
    ),
    "a cycle beside the loader that ends": function(
        "for x, y in zip(DataLoader(data), itertools.cycle(loader)):  # DLL306\n    print(x)"
    ),
    "cycles of several loaders": function(
        "its = {name: iter(itertools.cycle(one)) for name, one in {'a': loader}.items()}  # DLL306\nreturn its"
    ),
    "lists of a dict, made where it has none": HEAD
    + """def run(data, model):
    found = {}
    loader = DataLoader(data, num_workers=4)
    for batch in loader:
        for i, name in enumerate(batch.names):
            if name not in found:
                found[name] = []
            found[name].append((batch.image[i].cpu(), batch.number[i]))  # DLL306
    return found
""",
    "a cycle of an iterator": function("return itertools.cycle(iter(loader))  # DLL306"),
    "a cycle in a loader's own class": HEAD
    + """class Endless(DataLoader):
    def __iter__(self):
        for batch in itertools.cycle(super().__iter__()):  # DLL306
            yield batch

class More(Endless):
    pass

def run(data):
    for x, y in More(data, num_workers=4):
        print(x)
""",
    "a cycle of what its own method gives": function("return itertools.cycle(loader.__iter__())  # DLL306"),
    "a cycle of an attribute": HEAD + "class Run:\n    def __init__(self, data):\n"
    "        self.loader, self.other = self.make(data)\n\n    def make(self, data):\n"
    "        return DataLoader(data, num_workers=2, pin_memory=True), None\n\n"
    "    def run(self):\n        return iter(itertools.cycle(self.loader))  # DLL306\n",
    "a comprehension": function("return [batch for batch in tqdm(loader)]  # DLL306"),
    "joined": function("return torch.cat([y for x, y in loader])  # DLL306"),
    "keywords of the loader": loop(
        "kept.append(batch)  # DLL306", loader="DataLoader(data, **{'num_workers': 2})", head="for batch in loader:"
    ),
    "a loader class of the project": HEAD + "class Loader(DataLoader):\n    pass\n\n"
    "def run(data):\n    return list(Loader(data, num_workers=2))  # DLL306\n",
}

FOUND |= {
    "zipped with rows": HEAD
    + """
def run(rows, lines, net):
    kept = []
    for (ids, images), line in zip(DataLoader(rows, num_workers=4), lines):
        net(ids.cuda(), images.cuda())
        kept.append(images.detach().cpu())  # DLL306
    return kept
""",
    "counted, and zipped behind rows": HEAD
    + """
def run(rows, lines):
    kept = []
    for number, (line, images) in enumerate(zip(lines, DataLoader(rows, num_workers=4))):
        kept.append(images.detach())  # DLL306
    return kept
""",
}

SILENT: dict[str, str] = {
    "what is zipped with batches": HEAD
    + """
def run(rows, lines):
    kept = []
    for line, images in zip(lines, DataLoader(rows, num_workers=4)):
        kept.append(line.detach())
    return kept
""",
    "zipped batches of a loader without workers": HEAD
    + """
def run(rows, others):
    kept = []
    for first, second in zip(DataLoader(rows, num_workers=4), DataLoader(others)):
        kept.append(second.detach())
    return kept
""",
    "a part whose name a later loop takes": loop(
        "name, row = x[0]\nkept.append(name)\nfor name in model:\n    print(name)",
        loader="DataLoader(data, num_workers=4, collate_fn=lambda rows: rows)",
        head="for x in loader:",
    ),
    "what a function makes of a batch": unpacking("x, y, z = unpack(batch)\nkept.append(z.view(-1))"),
    "a copy of what a function gives back": unpacking("labels = second(batch)\nkept.append(labels.clone())"),
    "what a function gives back of something else": unpacking("kept.append(second(model.parts).view(-1))"),
    "copies of the rows of each field": rows("[field[number].clone() for field in batch]").replace("  # DLL306", ""),
    "what belongs to the keys of a batch": loop(
        "for number in range(9):\n    kept.append([key[number] for key in batch])", head="for batch in loader:"
    ),
    "a number of rows that is counted": rows("batch[0][number]")
    .replace("len(row) < 3", "len(kept) > 3")
    .replace("print(row)", "break")
    .replace("  # DLL306", ""),
    "a copy in a dict that is filled first": loop('row = {}\nrow["y"] = y.numpy().copy()\nkept.append(row)'),
    "what may be texts in a dict that has a name": loop(
        'row = {}\nrow["kind"] = kinds[i]\nkept.append(row)', head="for i, (x, kinds, y) in enumerate(loader):"
    ),
    "a dict that is made anew": loop('row = {"y": y.numpy()}\nrow = {"n": 1}\nkept.append(row)'),
    "a row of a part that may be a list of texts": loop(
        "kept.append(kinds[i])", head="for i, (x, kinds, y) in enumerate(loader):"
    ),
    "a dict with such a row": loop(
        'kept.append({"id": str(i), "kind": kinds[i]})', head="for i, (x, kinds, y) in enumerate(loader):"
    ),
    "what accelerate moves to the device": loop("kept.append(y)\nprint(y.shape)")
    .replace("    for x", "    loader = accelerate.Accelerator().prepare(loader)\n    for x")
    .replace("import copy\n", "import accelerate\nimport copy\n"),
    "with options, where the program pins memory somewhere": loop(
        "kept.append(y.numpy())", loader="DataLoader(data, num_workers=4, **model.options)"
    )
    + "\nOPTIONS = {'pin_memory': True}\n",
    "an entry that may be a text of each item": talks("speaker"),
    "names that a list is extended by": loop('kept.extend(meta["image"])', head="for x, meta, y in loader:").replace(
        "return kept", "return save(kept)"
    ),
    "names that are joined later": loop("kept.append(y)").replace("    return kept\n", "    return ' '.join(kept)\n"),
    "a clone": loop("kept.append(y.clone())"),
    "a copied array": loop("kept.append(y.numpy().copy())"),
    "np.array": loop("kept.append(np.array(y))"),
    "a deep copy": loop("kept.append(copy.deepcopy(batch))", head="for batch in loader:"),
    "numbers": loop("kept.append(y.sum().item())\nkept.extend(y.tolist())"),
    "a reduction": loop("kept.append(y.max())"),
    "another type": loop("kept.append(y.float())"),
    "another device": loop("y = y.to(device)\nkept.append(y)"),
    "back from another device": loop("y = y.cuda()\nkept.append(y.cpu())"),
    "an entry that may be a text of each item, and has a name": talks("speaker").replace(
        'kept.append(batch["speaker"])', 'speaker = batch["speaker"]\n        kept.append(speaker)'
    ),
    "an entry that is named as texts are": loop(
        'rows = batch["captions"]\nkept.append(rows)', head="for batch in loader:"
    ),
    "an entry whose name holds something else then": loop(
        'rows = batch["labels"]\nrows = rows.tolist()\nkept.append(rows)', head="for batch in loader:"
    ),
    "what may be the texts in an entry": loop(
        'rows = batch["kinds"]\nfor row in rows:\n    kept.append(row)', head="for batch in loader:"
    ),
    "the rows of a copy of a tensor": loop("y = y.clone()\nfor row in y:\n    kept.append(row)\nprint(y.numel())"),
    "an entry on another device": loop(
        'batch["label"] = batch["label"].to(device)\nkept.append(batch["label"].cpu().numpy())',
        head="for batch in loader:",
    ),
    "entries on another device": loop(
        "for key in ('image', 'label'):\n    batch[key] = batch[key].to(device)\n"
        'kept.append(batch["label"].cpu().numpy())',
        head="for batch in loader:",
    ),
    "what a model made": loop("kept.append(model(x).detach().cpu().numpy())"),
    "file names": loop("kept.append(y)"),
    "what a collate_fn makes of tensors": loop(
        "kept.append(y)",
        loader="DataLoader(torch.utils.data.TensorDataset(data), num_workers=4, collate_fn=model.collate)",
    ),
    "a list of the turn": loop("row = []\nrow.append(x.cpu())\nprint(row)"),
    "an emptied list": loop("kept.append(x.cpu())\nif model:\n    kept.clear()"),
    "the first ones": loop("if i > 3:\n    break\nkept.append(x.cpu())", head="for i, (x, y) in enumerate(loader):"),
    "enough": loop("kept.append(x.cpu())\nif len(kept) >= 8:\n    break"),
    "no workers": loop("kept.append(x.cpu())", loader="DataLoader(data)"),
    "pinned": loop("kept.append(x.cpu())", loader="DataLoader(data, num_workers=4, pin_memory=True)"),
    "perhaps pinned": loop("kept.append(x.cpu())", loader="DataLoader(data, num_workers=4, pin_memory=model.pin)"),
    "no loader": loop("kept.append(x.cpu())", loader="model.batches(DataLoader(data, num_workers=4))"),
    "shared by file": function(
        "return list(loader)", before="torch.multiprocessing.set_sharing_strategy('file_system')\n\n"
    ),
    "lists of a dict, made anew for each batch": HEAD
    + """def run(data, model):
    found = {}
    loader = DataLoader(data, num_workers=4)
    for batch in loader:
        for i, name in enumerate(("a", "b")):
            found[name] = []
            found[name].append(batch.image[i].cpu())
    return found
""",
    "a cycle in a class of another loader": HEAD
    + """class Endless(DataLoader):
    def __iter__(self):
        for batch in itertools.cycle(super().__iter__()):
            yield batch

def run(data):
    for x, y in DataLoader(data, num_workers=4):
        print(x)
""",
    "a cycle in a class that is no loader": HEAD
    + """class Names(list):
    def __iter__(self):
        return itertools.cycle(super().__iter__())

def run(data):
    for x, y in DataLoader(data, num_workers=4):
        print(x)
    return Names()
""",
    "a cycle of the project": function(
        "return cycle(loader)", before="def cycle(loader):\n    while True:\n        yield from loader\n\n"
    ),
    "a cycle of the project in place of the library's": function(
        "return cycle(loader)",
        before="from itertools import cycle\n\ndef cycle(loader):\n    while True:\n        yield from loader\n\n",
    ),
    "a cycle of something else": function(
        "return itertools.cycle(loader.dataset), itertools.cycle(range(len(loader)))"
    ),
    "a cycle without workers": function("return itertools.cycle(loader)").replace("num_workers=4", "pin_memory=True"),
    "lengths": function("return [len(batch) for batch in loader]"),
    "a bounded buffer": HEAD + "from collections import deque\n\ndef run(data):\n    kept = deque(maxlen=8)\n"
    "    for x, y in DataLoader(data, num_workers=2):\n        kept.append(x.cpu())\n",
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND.keys())
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"run.py": source}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"run.py": source}, **SELECT) == set()


def test_a_dict_that_holds_a_part_of_a_batch_has_no_copy_to_append(told: Callable[..., Any]) -> None:
    (finding,) = told({"run.py": loop('row = {"y": y.numpy()}\nkept.append(row)')}, **SELECT)

    assert (finding.text.partition(" keeps")[0], finding.fixes) == ("`y.numpy()`", ())


def test_the_loop_may_stand_in_another_file(told: Callable[..., Any]) -> None:
    files = {
        "loop.py": "def labels(loader):\n    kept = []\n    for x, y in loader:\n        kept.append(y.numpy())\n",
        "run.py": HEAD + "from loop import labels\n\ndef run(data):\n    labels(DataLoader(data, num_workers=2))\n",
    }

    (finding,) = told(files, **SELECT)

    assert finding.path.endswith("loop.py")
    assert [place.message for place in finding.related] == ["this DataLoader starts the workers"]


@pytest.mark.parametrize(
    ("kept", "code"),
    [("y.numpy()", "y.numpy().copy()"), ("y.detach()", "y.detach().clone()"), ("x.cpu().T", "x.cpu().T.clone()")],
)
def test_a_copy_is_offered_where_what_is_kept_is_plain(told: Callable[..., Any], kept: str, code: str) -> None:
    (finding,) = told({"run.py": loop(f"kept.append({kept})")}, **SELECT)

    assert [(fix.applicability, fix.edits[0].code) for fix in finding.fixes] == [("safe", code)]


def test_no_copy_is_offered_for_a_whole_batch(told: Callable[..., Any]) -> None:
    (finding,) = told({"run.py": loop("kept.append(batch)", head="for batch in loader:")}, **SELECT)

    assert finding.fixes == ()


def test_functions_that_copy_can_be_named(told: Callable[..., Any]) -> None:
    source = loop("kept.append(np.asarray(y))")
    settings = '[tool.dllint]\nselect = ["DLL306"]\ncopying-calls = ["numpy.asarray"]\n'

    assert len(told({"run.py": source}, **SELECT)) == 1
    assert told({"run.py": source, "pyproject.toml": settings}) == ()


def test_the_workers_are_those_of_the_call_that_made_the_loader(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {
        "run.py": """\
from types import SimpleNamespace
from torch.utils.data import DataLoader

def build(options, data):
    return DataLoader(data, num_workers=options.workers)

def look(data):
    return list(build(SimpleNamespace(workers=0), data))

def run(data):
    return list(build(SimpleNamespace(workers=4), data))  # DLL306
"""
    }

    assert findings(files, **SELECT) == marks(files)


ROWS = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

SIDE = 256

class Rows(Dataset):
    def __init__(self):
        self.table = torch.zeros(4096, 1024)
        self.array = np.zeros((4096, 1024))

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return ITEM

def keep(workers, batch):
    return list(DataLoader(Rows(), OPTIONS))
"""


@pytest.mark.parametrize(
    ("item", "options", "size"),
    [
        ("torch.zeros(4, SIDE, 1024), index", "batch_size=4, num_workers=2", "96 MiB"),
        ("torch.zeros(4, SIDE, 1024), index", "batch_size=4, num_workers=2, prefetch_factor=8", "288 MiB"),
        ("torch.zeros(4, SIDE, 1024), index", "batch_size=4, num_workers=4", "160 MiB"),
        ("torch.zeros(4, SIDE, 1024)", "num_workers=4, prefetch_factor=None", "40 MiB"),
        ("[torch.zeros(SIDE, 1024), torch.zeros(SIDE, 1024)]", "num_workers=4, batch_size=None", "20 MiB"),
        ("torch.zeros(4, index, 1024)", "num_workers=4", None),
        ("torch.zeros(4, SIDE, 1024)", "num_workers=workers", None),
        ("torch.zeros(4, SIDE, 1024)", "num_workers=4, batch_size=batch", None),
        ("torch.zeros(4, SIDE, 1024)", "num_workers=4, collate_fn=tuple", None),
        ("torch.zeros(4, 4)", "num_workers=4", None),
        ("self.table", "num_workers=2", "96 MiB"),
        ("self.table[index]", "num_workers=2", None),
        ("self.table[index:index + 2], index", "num_workers=2", None),
        ("self.table[index].clone()", "num_workers=2", None),
        ("torch.from_numpy(self.array[index])", "num_workers=2", None),
    ],
)
def test_what_workers_make_in_advance(told: Callable[..., Any], item: str, options: str, size: str | None) -> None:
    """The page names the first three, each one batch more than was measured without a loss that keeps it."""
    (finding,) = told({"data.py": ROWS.replace("ITEM", item).replace("OPTIONS", options)}, **SELECT)

    expected = f" (plus about {size} of prefetched batches)" if size else ""
    assert finding.values["ahead"] == expected


def test_a_wrapper_may_make_items_smaller(told: Callable[..., Any]) -> None:
    text = ROWS.replace("ITEM", "torch.zeros(4, SIDE, 1024)").replace("DataLoader(Rows(), OPTIONS)", "LOADER")
    text += """
class Cropped(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index][:, :2, :2]
"""
    (finding,) = told({"data.py": text.replace("LOADER", "DataLoader(Cropped(Rows()), num_workers=2)")}, **SELECT)

    assert finding.values["ahead"] == ""


PAIRS = """\
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

class Pairs(Dataset):
    def __getitem__(self, index):
        left = torch.zeros(3, 8, 8)
        right = torch.from_numpy(load(index))
        name = f"{index}.png"
        return left, right, name, torch.tensor(index)

class Stream(IterableDataset):
    def __iter__(self):
        for index in range(9):
            yield torch.zeros(3), torch.zeros(4)

class Named(Dataset):
    def __getitem__(self, index):
        return {"image": torch.zeros(3, 8, 8), "name": str(index), "mask": torch.ones(8, 8)}

def collate(batch):
BODY

loader = DataLoader(OPTIONS, collate_fn=collate)
"""
MANY = "Pairs(), batch_size=200, num_workers=4"


def pairs(body: str, options: str = MANY) -> dict[str, str]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return {"run.py": PAIRS.replace("BODY", lines).replace("OPTIONS", options)}


SPLIT: dict[str, dict[str, str]] = {
    "columns of zip": pairs(
        "a, b, names, labels = zip(*batch)\nfirst = list(a)  # DLL306\n"
        "return first, list(b), names, torch.stack(labels)"
    ),
    "columns by number": pairs(
        "batch = list(zip(*batch))\nleft = list(batch[0])  # DLL306\nright = list(batch[1])\nreturn left, right"
    ),
    "comprehensions": pairs("return [row[0] for row in batch], [row[1] for row in batch]  # DLL306"),
    "a dict": pairs(
        'images = [row["image"] for row in batch]  # DLL306\nmasks = [row["mask"] for row in batch]\n'
        'return {"image": images, "mask": masks}',
        "Named(), batch_size=200, num_workers=4",
    ),
    "an iterable dataset": pairs(
        "a, b = tuple(zip(*batch))  # DLL306\nreturn a, b", "Stream(), batch_size=200, num_workers=4"
    ),
    "one list of a large batch": pairs(
        "return [row[0] for row in batch], None  # DLL306", "Pairs(), 512, num_workers=2"
    ),
    "many batches in advance": pairs(
        "return [row[0] for row in batch], None  # DLL306", "Pairs(), 64, num_workers=2, prefetch_factor=16"
    ),
}

NOT_SPLIT: dict[str, dict[str, str]] = {
    "a small batch": pairs("return [row[0] for row in batch], [row[1] for row in batch]", "Pairs(), 16, num_workers=4"),
    "a batch size that is not known": pairs(
        "return [row[0] for row in batch], [row[1] for row in batch]", "Pairs(), size(), num_workers=4"
    ),
    "without workers": pairs("return [row[0] for row in batch], [row[1] for row in batch]", "Pairs(), 512"),
    "stacked later": pairs(
        "a, b, names, labels = zip(*batch)\na = torch.stack(a)\nb = torch.stack(b)\nreturn a, b, names, labels",
        "Pairs(), 256, num_workers=2",
    ),
    "stacked in place": pairs("return torch.stack([row[0] for row in batch]), [row[2] for row in batch]"),
    "names": pairs("return [row[2] for row in batch], [row[2] for row in batch]"),
    "what only some items have": pairs("return [row[0] for row in batch if row[0] is not None], None"),
    "items that are not known": pairs("return [row[0] for row in batch], None", "load(), 512, num_workers=4"),
    "shared by file": pairs(
        "return [row[0] for row in batch], [row[1] for row in batch]",
        "Pairs(), 512, num_workers=4, collate_fn=collate)\ntorch.multiprocessing.set_sharing_strategy('file_system'",
    ),
}
NOT_SPLIT["shared by file"]["run.py"] = NOT_SPLIT["shared by file"]["run.py"].replace(
    "'file_system', collate_fn=collate)", "'file_system')"
)


@pytest.mark.parametrize("files", SPLIT.values(), ids=SPLIT)
def test_one_tensor_per_item(findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("files", NOT_SPLIT.values(), ids=NOT_SPLIT)
def test_no_tensor_per_item_or_few(findings: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, **SELECT) == set()


METER = """\
class Meter:
    def __init__(self):
        self.masks = []

    def add(self, given, mask=None):
        if mask is None:
            self.masks.append(0)
        else:
            self.masks.append(mask.detach().cpu())  # DLL306
"""
METERED = """\
import torch
from torch.utils.data import DataLoader
from tools import Meter

def run(data):
    meter = Meter()
    for x, masks in DataLoader(data, num_workers=2):
        meter.add(x, masks)
    return meter

if __name__ == "__main__":
    run(torch.load("a.pt"))
"""
SETTING = """

def prepare():
    import torch.multiprocessing
    torch.multiprocessing.set_sharing_strategy("file_system")
"""


@pytest.mark.parametrize(
    ("setting", "script", "found"),
    [
        pytest.param("", "", 1, id="no setting"),
        pytest.param(SETTING, "", 1, id="a function that nothing calls in this program"),
        pytest.param(SETTING, "    prepare()\n", 0, id="a function that this program calls"),
        pytest.param(f"{SETTING}\nprepare()\n", "", 0, id="a module that calls it itself"),
    ],
)
def test_a_strategy_counts_in_the_programs_that_set_it(
    findings: Callable[..., Any], setting: str, script: str, found: int
) -> None:
    files = {
        "tools.py": METER + setting,
        "train.py": METERED.replace("import Meter", "import Meter, prepare").replace(
            "    run(torch", f"{script}    run(torch"
        ),
        "other.py": "from torch.utils.data import DataLoader\nfrom tools import prepare\n"
        "if __name__ == '__main__':\n    prepare()\n"
        "    for batch in DataLoader([], num_workers=2):\n        print(batch)\n",
    }
    assert len(findings(files, **SELECT)) == found


CONTAINERS = [
    "kept = {}|kept.setdefault('y', []).append(y.numpy())",
    "kept = defaultdict(list)|kept['y'].append(y.numpy())",
    "kept = deque()|kept.append(y.numpy())",
    "kept = {}|kept[number] = y.numpy()",
    "kept = {}|kept[int(x[0])] = y.numpy()",
    "kept = []|kept.insert(0, y.numpy())",
    "kept = []|kept += list(y.cpu().numpy())",
    "kept = []|kept.extend([row for row in y[:, 1:].numpy()])",
    "kept = []|for row in y: kept.append(row.numpy())",
    "kept = []|for one, row in zip(x, y): kept.append(row.numpy())",
    "kept = []|for row in range(len(y)): kept.append(y[row].numpy())",
    "kept = []|kept.append(y[:, 0].numpy())",
    "kept = []|kept.append(y[..., 0].numpy())",
    "kept = []|y = y['label'] if isinstance(y, dict) else y; kept.append(y.numpy())",
]
FEW = [
    "kept = deque(maxlen=3)|kept.append(y.numpy())",
    "kept = {}|kept['last'] = y.numpy()",
    "kept = {}|kept[number % 3] = y.numpy()",
    "kept = []|kept.append(y[x].numpy())",
    "kept = []|kept.extend([row for row in y.numpy()])",
    "kept = []|kept += y.tolist()",
    "kept = []|kept.extend([float(row) for row in y])",
    "kept = []|for row in x: kept.append(model(row))",
]
KEEPING = """\
from collections import defaultdict, deque
from torch.utils.data import DataLoader

def run(data, model):
    loader = DataLoader(data, num_workers=4)
    MADE
    for number, (x, y) in enumerate(loader):
        BODY
    return kept
"""


@pytest.mark.parametrize(("text", "count"), [*((one, 1) for one in CONTAINERS), *((one, 0) for one in FEW)])
def test_containers(told: Callable[..., Any], text: str, count: int) -> None:
    made, body = text.split("|")

    assert len(told({"run.py": KEEPING.replace("MADE", made).replace("BODY", body)}, **SELECT)) == count


@pytest.mark.parametrize(
    ("expr", "count"),
    [
        ("[y.numpy() for x, y in loader]", 1),
        ("torch.cat([batch['label'] for batch in loader])", 1),
        ("[batch['label'] for batch in loader]", 0),
        ("torch.LongTensor([batch[1] for batch in loader])", 0),
        ("{number: batch for number, batch in enumerate(loader)}", 1),
        ("[batch['file_name'] for batch in loader]", 0),
        ("[y.mean() for x, y in loader]", 0),
        ("[number for number, batch in enumerate(loader)]", 0),
    ],
)
def test_comprehensions(told: Callable[..., Any], expr: str, count: int) -> None:
    assert len(told({"run.py": function(f"return {expr}")}, **SELECT)) == count


def test_batches_that_next_takes(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {
        "run.py": function(
            "kept = []\nbatches = iter(loader)\nfor _ in range(len(loader)):\n    x, y = next(batches)\n"
            "    kept.append(y.numpy())  # DLL306\nfirst = []\nfor _ in range(3):\n    first.append(torch.zeros(3))"
        )
    }

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize(
    ("passes", "count"),
    [
        ("range(12)", 0),
        ("range(2, 12)", 0),
        ("trange(5)", 0),
        ("range(100000)", 1),
        ("range(steps)", 1),
        ("range(0, 10000, 2)", 1),
    ],
)
def test_a_few_batches_that_next_takes(told: Callable[..., Any], passes: str, count: int) -> None:
    text = (
        f"kept = []\nbatches = iter(loader)\nfor _ in {passes}:\n    x, y = next(batches)\n    kept.append(y.numpy())"
    )

    assert len(told({"run.py": function(text)}, **SELECT)) == count
