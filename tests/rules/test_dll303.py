"""DLL303: which datasets keep a tensor an item, and under which start method that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL303"]}

HEAD = """\
import numpy as np
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset
"""
TAIL = """
def build(paths):
    return DataLoader(Rows(paths), num_workers=4, multiprocessing_context="spawn")
"""
READ = """
    def __getitem__(self, index):
        return self.rows[index]
"""


def dataset(init: str, before: str = "", extra: str = READ, tail: str = TAIL) -> str:
    """A module with a dataset whose `__init__` has the lines `init`."""
    body = "".join(f"        {line}\n" for line in init.splitlines())
    return f"{HEAD}{before}\nclass Rows(Dataset):\n    def __init__(self, paths):\n{body}{extra}{tail}"


FOUND: dict[str, str] = {
    "what a function that `map` calls returns": dataset(
        "self.rows = list(map(self.read, paths))  # DLL303",
        extra=READ + "\n    def read(self, path):\n        row = np.load(path)\n"
        '        return torch.tensor(row["points"]), torch.tensor(row["label"])\n',
    ),
    "what a network returns for each file": dataset(
        "self.rows = []  # DLL303\nself.more = []\nfor path in paths:\n"
        "    image = torch.load(path)\n    self.rows.append(network(image).cpu())\n"
        "    found = network(image).detach().squeeze(0)\n    self.more.append(found)",
        before="from somewhere import network\n",
        extra=READ.replace("self.rows[index]", "self.rows[index], self.more[index]"),
    ),
    "images that a composed transform makes tensors of": dataset(
        "to_tensor = transforms.Compose([transforms.Resize(64), transforms.ToTensor()])\n"
        "self.rows = [to_tensor(Image.open(path)) for path in paths]  # DLL303",
        before="from PIL import Image\nfrom torchvision import transforms\n",
    ),
    "one channel of sounds": dataset(
        "self.rows = []  # DLL303\nfor path in paths:\n    sound, rate = torchaudio.load(path)\n"
        "    self.rows.append(sound.mean(0))",
        before="import torchaudio\n",
    ),
    "an array of objects": dataset(
        "self.rows = np.array([None] * len(paths))  # DLL303\nfor i, path in enumerate(paths):\n    self.put(i, path)",
        extra=READ + "\n    def put(self, i, path):\n        self.rows[i] = torch.load(path)\n",
    ),
    "an empty array of objects": dataset(
        "self.rows = np.empty(len(paths), dtype=object)  # DLL303\nfor i, path in enumerate(paths):\n"
        "    self.rows[i] = torch.load(path)"
    ),
    "an object whose method collates": dataset(
        "self.rows = paths",
        before="\nclass Batches:\n    def __init__(self, paths):\n"
        "        self.parts = [torch.load(path) for path in paths]  # DLL303\n\n"
        "    def collate(self, rows):\n        return [self.parts[row] for row in rows]\n",
        tail=TAIL.replace("num_workers=4", "num_workers=4, collate_fn=Batches(paths).collate"),
    ),
    "an object that collates": dataset(
        "self.rows = paths",
        before="\nclass Batches:\n    def __init__(self, paths):\n"
        "        self.parts = [torch.load(path) for path in paths]  # DLL303\n\n"
        "    def __call__(self, rows):\n        return [self.parts[row] for row in rows]\n",
        tail=TAIL.replace("num_workers=4", "num_workers=4, collate_fn=Batches(paths)"),
    ),
    "a list of files": dataset("self.rows = [torch.load(path) for path in paths]  # DLL303"),
    "an imported function": dataset(
        "self.rows = [read(path) for path in paths]  # DLL303", before="from torch import load as read\n"
    ),
    "a function of the project": dataset(
        "self.rows = [read(path) for path in paths]  # DLL303",
        before="def read(path):\n    return torch.from_numpy(np.load(path))\n",
    ),
    "a loop that appends": dataset(
        "self.rows = []  # DLL303\nfor path in paths:\n    row = torch.load(path).float()\n    self.rows.append(row)"
    ),
    "sounds, resampled by an object": dataset(
        "self.resample = Resample(8000, 16000)\nself.rows = [self.read(path) for path in paths]  # DLL303",
        before="import torchaudio\nfrom torchaudio.transforms import Resample\n",
        extra=READ + "\n    def read(self, path):\n        sound, rate = torchaudio.load(path)\n"
        "        return self.resample(sound).squeeze(0)\n",
    ),
    "sounds as they are read": dataset(
        "self.rows = []  # DLL303\nfor path in paths:\n    sound, rate = torchaudio.load(path)\n"
        "    self.rows.append(sound)",
        before="import torchaudio\n",
    ),
    "images made tensors": dataset(
        "convert = transforms.ToTensor()\nself.rows = [convert(Image.open(path)) for path in paths]  # DLL303",
        before="from PIL import Image\nfrom torchvision import transforms\n",
    ),
    "a dict": dataset("self.rows = {path: torch.load(path) for path in paths}  # DLL303"),
    "a dict in a helper": dataset(
        "self.rows = {}  # DLL303\nself.fill(paths)",
        extra=READ + "\n    def fill(self, paths):\n        for path in paths:\n"
        "            self.rows[path] = torch.load(path)\n",
    ),
    "pairs": dataset("self.rows = [(torch.load(path), path) for path in paths]  # DLL303"),
    "records": dataset("self.rows = [{'x': torch.load(path), 'name': path} for path in paths]  # DLL303"),
    "records that a loop gives tensors": dataset(
        "self.rows = json.load(open(paths))  # DLL303\nself.tensorize()",
        before="import json\n",
        extra=READ
        + "\n    def tensorize(self):\n        for row in self.rows:\n"
        + "            words = torch.from_numpy(np.array(row['words']))\n"
        + "            row['words'] = words\n",
    ),
    "copies of views": dataset(
        "data = torch.rand(9, 9)\nself.rows = [data[i].clone() for i in range(100)]  # DLL303",
    ),
    "a method that fills the new object": dataset(
        "self.rows = []",
        extra=READ
        + "\n    def load(self, paths):\n        self.rows = [torch.load(path) for path in paths]  # DLL303\n",
        tail=TAIL.replace("    return", "    rows = Rows(paths)\n    rows.load(paths)\n    return").replace(
            "(Rows(paths)", "(rows"
        ),
    ),
    "a method that fills what a factory makes": dataset(
        "self.rows = []",
        extra=READ
        + "\n    def load(self, paths):\n        self.rows = [torch.load(path) for path in paths]  # DLL303\n",
        tail="\ndef make(paths):\n    return Rows(paths)\n"
        + TAIL.replace("    return", "    rows = make(paths)\n    rows.load(paths)\n    return").replace(
            "(Rows(paths)", "(rows"
        ),
    ),
    "what an unknown tokenizer makes as tensors": dataset(
        'self.rows = [paths.tokenizer(one, return_tensors="pt") for one in paths]  # DLL303'
    ),
    "parts of what a tokenizer makes": dataset(
        'self.rows = []  # DLL303\nfor one in paths:\n    found = paths.tokenizer(one, return_tensors="pt")\n'
        '    self.rows.append({"ids": found["input_ids"].squeeze(0), "name": one})'
    ),
    "lists of tensors that a loop adds": dataset(
        "self.rows = []  # DLL303\nfor one in paths:\n    self.rows += [torch.load(part) for part in one]",
        extra=READ + "\n    def __len__(self):\n        return len(self.rows)\n",
    ),
    "lists of tensors that a loop extends with": dataset(
        "self.rows = []  # DLL303\nfor one in paths:\n    self.rows.extend([torch.tensor(one), torch.tensor(2)])"
    ),
    "padded": dataset(
        "self.rows = [F.pad(torch.tensor(one), (0, 3)) for one in paths]  # DLL303", "import torch.nn.functional as F\n"
    ),
    "graphs that get their fields later": dataset(
        "self.rows = []  # DLL303\nfor one in paths:\n    graph = Data()\n    graph.x = torch.tensor(one)\n"
        "    self.rows.append(graph)",
        before="from torch_geometric.data import Data\n",
    ),
    "a known number": dataset("self.rows = [torch.zeros(3) for _ in range(65)]  # DLL303"),
    "nested lists": dataset("self.rows = [[torch.zeros(3) for _ in range(9)] for _ in range(9)]  # DLL303"),
    "a base class": dataset(
        "super().__init__(paths)",
        before="class Base(Dataset):\n    def __init__(self, paths):\n"
        "        self.rows = [torch.load(path) for path in paths]  # DLL303\n",
    ).replace("class Rows(Dataset)", "class Rows(Base)"),
    "inside a wrapper": dataset(
        "self.rows = [torch.load(path) for path in paths]  # DLL303",
        tail="\ndef build(paths):\n    options = dict(num_workers=2, multiprocessing_context='forkserver')\n"
        "    return DataLoader(ConcatDataset([Rows(paths)]), **options)\n",
    ),
}

SILENT: dict[str, str] = {
    "arrays of tensors that torch makes, in records": dataset(
        "self.rows = []\nfor path in paths:\n    row = torch.cat((torch.load(path), torch.ones(3)))\n"
        '    self.rows.append([path, "std", row.flatten().cpu().numpy()])',
    ),
    "arrays of what a network returns": dataset(
        "self.rows = []\nfor path in paths:\n    self.rows.append(network(path).cpu().numpy())",
        before="from somewhere import network\n",
    ),
    "what a function that `map` calls a few times returns": dataset(
        'self.rows = list(map(self.read, ["a.npy", "b.npy"]))\nself.names = list(map(str, paths))',
        extra=READ + "\n    def read(self, path):\n        return torch.tensor(np.load(path))\n",
    ),
    "composed transforms that end with an image": dataset(
        "crop = transforms.Compose([transforms.ToTensor(), transforms.ToPILImage()])\n"
        "self.rows = [crop(Image.open(path)) for path in paths]",
        before="from PIL import Image\nfrom torchvision import transforms\n",
    ),
    "means as numbers of Python": dataset("self.rows = [torch.load(path).mean().item() for path in paths]"),
    "means of arrays": dataset("self.rows = [torch.from_numpy(np.load(path)).numpy().mean(0) for path in paths]"),
    **{
        f"tensors on the GPU, which need no descriptors: {made}": dataset(f"self.rows = [{made} for path in paths]")
        for made in (
            *("torch.load(path).cuda()", 'torch.load(path).to("cuda:0")', "torch.load(path).cuda().clone()"),
            *('torch.ones(3, device="cuda")', 'torch.load(path, map_location="cuda")'),
        )
    },
    "tensors that are on a GPU if there is one": dataset(
        "self.rows = [torch.load(path).to(device) for path in paths]",
        before='device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n',
    ),
    "an array of numbers": dataset(
        "self.rows = np.empty(len(paths))\nfor i, path in enumerate(paths):\n    self.rows[i] = torch.load(path)"
    ),
    "an object whose method serves a sampler": dataset(
        "self.rows = paths",
        before="\nclass Batches:\n    def __init__(self, paths):\n"
        "        self.parts = [torch.load(path) for path in paths]\n\n"
        "    def __iter__(self):\n        return iter(range(9))\n",
        tail=TAIL.replace("num_workers=4", "num_workers=4, sampler=Batches(paths)"),
    ),
    "one tensor": dataset("self.rows = torch.stack([torch.load(path) for path in paths])"),
    "views of one tensor": dataset("data = torch.rand(900, 9)\nself.rows = [data[i] for i in range(900)]"),
    "views by a method": dataset("data = torch.rand(900, 9)\nself.rows = list(data.unbind())"),
    "a handful": dataset("self.rows = [torch.zeros(3) for _ in range(64)]"),
    "two by name": dataset("self.rows = {'mean': torch.zeros(3), 'std': torch.ones(3)}"),
    "sampling rates": dataset("self.rows = [torchaudio.load(path)[1] for path in paths]", before="import torchaudio\n"),
    "what an unknown transform gives": dataset(
        "convert = transforms.Compose([])\nself.rows = [convert(path) for path in paths]",
        before="from torchvision import transforms\n",
    ),
    "numpy arrays": dataset("self.rows = [np.load(path) for path in paths]"),
    "paths": dataset("self.rows = [path for path in paths]"),
    "records that a loop gives numbers": dataset(
        "self.rows = json.load(open(paths))\nfor row in self.rows:\n"
        "    row['length'] = torch.tensor(row['words']).sum().item()",
        before="import json\n",
    ),
    "records that a loop over others reads": dataset(
        "self.rows = json.load(open(paths))\nself.other = {}\nother = self.other\nfor row in self.rows:\n"
        "    other['words'] = torch.zeros(9)",
        before="import json\n",
    ),
    "records that workers give tensors": dataset(
        "self.rows = json.load(open(paths))",
        before="import json\n",
        extra="\n    def __getitem__(self, index):\n        for row in self.rows:\n"
        "            row['words'] = torch.zeros(9)\n        return self.rows[index]\n",
    ),
    "numbers of tensors": dataset("self.rows = [torch.load(path).sum().item() for path in paths]"),
    "texts of a file": dataset(
        "data = torch.load(paths)\nkept = torch.ones(9) > 0\n"
        "self.rows = [name for name, keep in zip(data['names'], kept) if keep]"
    ),
    "rows of a tensor in a file": dataset("data = torch.load(paths)\nself.rows = [row for row in data['rows']]"),
    "what is not known": dataset("self.rows = [read(path) for path in paths]", before="from readers import read\n"),
    "forked": dataset(
        "self.rows = [torch.load(path) for path in paths]",
        tail="\ndef build(paths):\n    return DataLoader(Rows(paths), num_workers=4, multiprocessing_context='fork')\n",
    ),
    "no workers": dataset(
        "self.rows = [torch.load(path) for path in paths]",
        tail="\ndef build(paths):\n    return DataLoader(Rows(paths))\n",
    ),
    "left out of the pickle": dataset(
        "self.rows = [torch.load(path) for path in paths]",
        extra=READ + "\n    def __getstate__(self):\n        return {**self.__dict__, 'rows': None}\n",
    ),
    "what a tokenizer makes as arrays": dataset(
        'self.rows = [paths.tokenizer(one, return_tensors="np") for one in paths]'
    ),
    "numbers of what a tokenizer makes": dataset(
        'self.rows = [paths.tokenizer(one, return_tensors="pt")["input_ids"].tolist() for one in paths]'
    ),
    "one text's tensors under a few names": dataset(
        'found = paths.tokenizer(paths, return_tensors="pt")\nself.rows = {"ids": found["input_ids"]}'
    ),
    "lists of numbers that a loop adds": dataset(
        "self.rows = []\nfor one in paths:\n    self.rows += [float(torch.load(part).sum()) for part in one]"
    ),
    "filled by a method that nothing calls": dataset(
        "self.rows = []",
        extra=READ + "\n    def load(self, paths):\n        self.rows = [torch.load(path) for path in paths]\n",
    ),
    "filled by a method of an object that is passed": dataset(
        "self.rows = []",
        extra=READ + "\n    def load(self, paths):\n        self.rows = [torch.load(path) for path in paths]\n",
        tail=TAIL + "\ndef again(rows, paths):\n    rows.load(paths)\n\nagain(Rows(1), 2)\n",
    ),
    "filled by workers": dataset(
        "self.rows = {}",
        extra="\n    def __getitem__(self, index):\n        self.rows[index] = torch.zeros(3)\n        return 1\n",
    ),
    "local": dataset("rows = [torch.load(path) for path in paths]\nself.rows = torch.cat(rows)"),
    "fields of a record": dataset(
        "self.stats = {'low': np.min(paths), 'high': np.max(paths)}\nfor path in paths:\n"
        "    self.stats[path.kind] = torch.zeros(3)",
    ),
    "one per class": dataset(
        "self.rows = paths\nself.parts = []\nfor kind in paths:\n    self.parts.append(torch.zeros(len(kind)))",
        extra=READ + "\n    def weights(self, kind):\n        return self.parts[kind]\n",
    ),
    "one per class, which each item reads": dataset(
        "self.rows = paths\nself.means = {}\nfor kind in paths:\n    self.means[kind] = torch.load(kind)",
        extra="\n    def __getitem__(self, index):\n        return self.rows[index] - self.means['all']\n",
    ),
    "one of two kinds that a parameter may be": dataset(
        "self.rows = rows",
        tail=TAIL + "\ndef build_other(paths):\n    return Rows([torch.load(path) for path in paths]), Rows([1, 2])\n",
    ).replace("(self, paths):", "(self, rows):"),
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND.keys())
def test_found(findings: Callable[..., Any], marks: Callable[..., Any], source: str) -> None:
    files = {"data.py": source}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(findings: Callable[..., Any], source: str) -> None:
    assert findings({"data.py": source}, **SELECT) == set()


@pytest.mark.parametrize(
    ("count", "context", "severity", "text"),
    [
        (
            65,
            "forkserver",
            "warning",
            "holds 65 tensors. Under forkserver each needs a file descriptor; above 245 tensors",
        ),
        (245, "forkserver", "warning", "holds 245 tensors. Under forkserver each"),
        (246, "forkserver", "error", "holds 246 tensors, and at most 245 tensors can be sent (`OSError: [Errno 22]"),
        (
            246,
            "spawn",
            "warning",
            "holds 246 tensors. Under spawn each needs a file descriptor; above about 1000 tensors",
        ),
        (1010, "spawn", "warning", "`ulimit -n` is 1024: `Rows.rows` holds 1010 tensors"),
        (70_000, "spawn", "warning", "65530 maps"),
    ],
)
def test_limits(told: Callable[..., Any], count: int, context: str, severity: str, text: str) -> None:
    source = dataset(f"self.rows = [torch.zeros(3) for _ in range({count})]").replace('"spawn"', f'"{context}"')

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.severity == severity
    assert text in finding.text


def test_the_message_names_the_target_whose_default_fails(told: Callable[..., Any]) -> None:
    source = dataset("self.rows = [torch.zeros(3) for _ in range(300)]").replace(
        ', multiprocessing_context="spawn"', ""
    )

    (finding,) = told({"data.py": source}, **SELECT)

    assert finding.severity == "warning"
    assert "No worker starts under forkserver (the default on Linux from Python 3.14)" in finding.text
    assert told({"data.py": source}, **SELECT, target_python="3.13") == ()
    (sure,) = told({"data.py": source}, **SELECT, target_python="3.14")
    assert sure.severity == "error"


def test_tensors_of_an_item_count_each(told: Callable[..., Any]) -> None:
    source = dataset("self.rows = [(torch.zeros(3), torch.ones(2)) for _ in range(123)]")

    (finding,) = told({"data.py": source}, **SELECT)

    assert "holds 246 tensors" in finding.text


def test_the_statements_that_put_tensors_in_are_named(told: Callable[..., Any]) -> None:
    source = dataset(
        "self.rows = []\nfor path in paths:\n    name = str(path)\n    self.rows.append((name, torch.zeros(3)))\n"
        "self.names = {}\nfor path in paths:\n    self.names[path] = path"
    )
    nested = dataset(
        "self.rows = {}\nfor name in 'xy':\n    self.rows[name] = []\n"
        "for path in paths:\n    self.rows[path.name].append(torch.zeros(3))",
    )

    for text, expected in (
        (source, "self.rows.append((name, torch.zeros(3)))"),
        (nested, "self.rows[path.name].append(torch.zeros(3))"),
    ):
        (finding,) = told({"data.py": text}, **SELECT)

        lines = text.splitlines()
        put = [lines[place.span.line - 1].strip() for place in finding.related if "put in" in place.message]
        assert put == [expected]


def test_what_few_means_can_be_set(told: Callable[..., Any]) -> None:
    source = dataset("self.rows = [torch.zeros(3) for _ in range(100)]")
    settings = '[tool.dllint]\nselect = ["DLL303"]\n\n[tool.dllint.rules.DLL303]\nfew = 128\n'

    assert told({"data.py": source, "pyproject.toml": settings}) == ()


FIELD = """
from dataclasses import dataclass

from transformers import AutoModel

@dataclass
class Parts:
    model: object = None

class Images(Dataset):
    def __init__(self, paths):
        parts = Parts()
        parts.model = AutoModel.from_pretrained("a")  # DLL303
        self.parts, self.paths = parts, paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.parts.model(self.paths[index])

def build(paths):
    return DataLoader(Images(paths), num_workers=4)
"""


def test_a_field_that_is_set_later_is_told_where_it_is_set(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"data.py": HEAD + FIELD}

    assert findings(files, **SELECT) == marks(files)


SAVED = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, paths, save=True):
        self.paths = paths
        self.save = save
        self.crops = []
        self.fill()

    def fill(self):
        for path in self.paths:
            crop = torch.from_numpy(np.load(path)).float()
            if self.save:
                self.crops.append(path)
            else:
                self.crops.append(crop)

    def __getitem__(self, i):
        return self.crops[i]

    def __len__(self):
        return len(self.crops)


def main(args):
    args.save = "runs"
    for batch in DataLoader(Crops(args.paths, OPTIONS), num_workers=4, multiprocessing_context="spawn"):
        print(batch)


if __name__ == "__main__":
    import argparse

    main(argparse.ArgumentParser().parse_args())
"""


@pytest.mark.parametrize(("options", "found"), [("save=True", False), ("save=False", True), ("save=args.fast", True)])
def test_what_a_method_does_not_put_in_for_this_object(options: str, found: bool, findings: Callable[..., Any]) -> None:
    files = {"train.py": SAVED.replace("OPTIONS", options)}

    assert bool(findings(files, select=["DLL303"])) is found


EITHER = """\
import torch
from torch.utils.data import DataLoader


def load(names):
    items = []
    for name in names:
        items.append(torch.load(name))
    return items


def read(names):
    return [torch.load(name) for name in names]


def run(names, more):
    train = load(names) if more else read(names)
    for batch in DataLoader(train, num_workers=4, shuffle=True):
        print(batch)
SECOND

if __name__ == "__main__":
    run(open("names").read().split(), open("more").read())
"""


@pytest.mark.parametrize(
    ("second", "count"),
    [
        ("", 1),
        ("    for batch in DataLoader(read(names), num_workers=4, shuffle=True):\n        print(batch)\n", 2),
        ("    for batch in DataLoader(train, num_workers=2, shuffle=True):\n        print(batch)\n", 1),
        ("\n\ndef other(names):\n    for batch in DataLoader(names, num_workers=4):\n        print(batch)\n", 1),
    ],
)
def test_a_dataset_that_is_one_of_several_lists_is_one_finding(
    second: str, count: int, findings: Callable[..., Any]
) -> None:
    assert len(findings({"train.py": EITHER.replace("SECOND\n", second)}, select=["DLL303"])) == count
