"""DLL306: lists that are extended by what a batch has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PROGRAM = """\
import numpy as np
import torch
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return torch.zeros(3, 4), torch.tensor(index)

def run():
    kept = []
    for images, labels in DataLoader(Rows(), num_workers=4, batch_size=2):
        STATEMENT
    return kept
"""


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("kept.extend(labels.numpy())", False),
        ("kept.extend(labels.cpu().numpy())", False),
        ("kept.extend(np.asarray(labels))", False),
        ("kept += labels.numpy()", False),
        ("kept.extend(labels.numpy().ravel())", False),
        ("labels = labels.numpy(); kept.extend(labels)", False),
        ("kept.extend(labels.tolist())", False),
        ("kept.append(labels.numpy())", True),
        ("kept.extend(images.cpu())", True),
        ("kept += [labels.numpy()]", True),
        ("kept.extend(list(images.numpy()))", True),
        ("labels = labels.numpy(); kept.append(labels)", True),
    ],
)
def test_the_rows_of_an_array_may_be_numbers(statement: str, found: bool, findings: Callable[..., Any]) -> None:
    source = PROGRAM.replace("STATEMENT", "\n        ".join(statement.split("; ")))

    assert bool(findings({"run.py": source}, select=["DLL306"])) is found


@pytest.mark.parametrize(
    ("item", "loader", "found"),
    [
        ("torch.tensor(index)", "DataLoader(Rows(), num_workers=4)", True),
        ("index", "DataLoader(Rows(), num_workers=4)", True),
        ("int(self.rows[index])", "enumerate(DataLoader(Rows(), num_workers=4))", True),
        ("str(index)", "DataLoader(Rows(), num_workers=4)", False),
        ("self.rows[index]", "DataLoader(Rows(), num_workers=4)", False),
        ("index", "DataLoader(Rows(), num_workers=4, collate_fn=list)", False),
        ("str(index)", "DataLoader(torchvision.datasets.CIFAR10('rows'), num_workers=4)", True),
        ("str(index)", "DataLoader(torchvision.datasets.CIFAR10('rows'), 128, num_workers=4)", False),
        ("str(index)", "DataLoader(torchvision.datasets.ImageFolder('rows'), 128, num_workers=4)", True),
        ("index", "DataLoader(torchvision.datasets.CocoDetection('rows', 'a.json'), num_workers=4)", False),
    ],
)
@pytest.mark.parametrize("statement", ["kept.append(labels)", "kept.extend(labels)"])
def test_a_part_of_the_batch_that_the_items_show_to_be_a_tensor(
    findings: Callable[..., Any], item: str, loader: str, statement: str, found: bool
) -> None:
    text = PROGRAM.replace("torch.tensor(index)", item).replace("STATEMENT", statement)
    text = text.replace("return 9", "return len(self.rows)")
    text = text.replace("import torch\n", "import torch\nimport torchvision\n", 1).replace(
        "DataLoader(Rows(), num_workers=4, batch_size=2)", loader
    )
    if loader.startswith("enumerate"):
        text = text.replace("for images, labels in", "for number, (images, labels) in")
    assert bool(findings({"main.py": text}, select=["DLL306"])) is found


def test_a_list_of_all_epochs_grows_with_few_batches_too(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    text = """\
import torchvision
from torch.utils.data import DataLoader

def run(epochs):
    kept = []
    for epoch in range(epochs):
        for images, labels in DataLoader(torchvision.datasets.CIFAR10("rows"), 128, num_workers=4):
            kept.append(labels)  # DLL306
    return kept
"""
    assert findings({"run.py": text}, select=["DLL306"]) == marks({"run.py": text})


def test_a_parameter_of_a_helper_is_no_number(findings: Callable[..., Any]) -> None:
    text = PROGRAM.replace("return torch.zeros(3, 4), torch.tensor(index)", "return self.load(self.paths[index])")
    text = text.replace("class Rows", "class Base").replace(
        "def run", "class Rows(Base):\n    def load(self, path):\n        return torch.zeros(3, 4), path\n\ndef run"
    )
    assert findings({"run.py": text.replace("STATEMENT", "kept.append(labels)")}, select=["DLL306"]) == set()


def test_items_that_no_batch_is_made_of_may_be_numbers(findings: Callable[..., Any]) -> None:
    text = PROGRAM.replace("torch.tensor(index)", "index").replace("batch_size=2", "batch_size=None")
    assert findings({"run.py": text.replace("STATEMENT", "kept.append(labels)")}, select=["DLL306"]) == set()


@pytest.mark.parametrize(
    ("stages", "found"), [("slice(100)", True), ("unbatched().shuffle(9).batched(16)", False), ("map(scaled)", False)]
)
def test_stages_behind_a_loader_that_make_new_batches(stages: str, found: bool, findings: Callable[..., Any]) -> None:
    text = f"""\
import webdataset as wds

def run(path, scaled):
    loader = wds.WebLoader(wds.WebDataset(path), batch_size=None, num_workers=4)
    loader = loader.{stages}
    return list(loader)
"""
    assert bool(findings({"run.py": text}, select=["DLL306"])) is found


def test_batches_on_a_device_are_new(findings: Callable[..., Any]) -> None:
    text = """\
import torch_xla.distributed.parallel_loader as pl
from torch.utils.data import DataLoader

def run(rows):
    return list(pl.ParallelLoader(DataLoader(rows, num_workers=4), ["xla"]).per_device_loader("xla"))
"""
    assert findings({"run.py": text}, select=["DLL306"]) == set()


@pytest.mark.parametrize("use", ["", "            print(labels.shape)\n"])
def test_few_batches_of_a_known_dataset(use: str, findings: Callable[..., Any]) -> None:
    text = f"""\
import torchvision
from torch.utils.data import DataLoader

def run():
    kept = []
    for images, labels in DataLoader(torchvision.datasets.CIFAR10("rows"), 128, num_workers=4):
{use}        kept.append(labels)
    return kept
""".replace("            print", "        print")
    assert findings({"run.py": text}, select=["DLL306"]) == set()


HANDED = """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9000

    def __getitem__(self, index):
        return torch.rand(3, 4), str(index)

class Store:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)  # add

def keep(kept, value):
    kept.append(value)  # keep

def run():
    kept = []
    store = Store()
    for batch in DataLoader(Rows(), num_workers=4, batch_size=2):
        images, names = batch
        STATEMENT
    return kept, store
"""


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("keep(kept, images)", "keep"),
        ("keep(kept, images[0])", "keep"),
        ("keep(kept, value=batch[0])", "keep"),
        ("store.add(images[0])", "add"),
        ("first = batch[0]\n        store.add(first)", "add"),
        ("keep(kept, names)", None),
        ("keep(kept, batch[1])", None),
        ("keep(kept, images.sum())", None),
        ("images = names\n        keep(kept, images)", None),
    ],
)
@pytest.mark.parametrize("callers", [1, 16])
def test_a_helper_keeps_what_it_is_given(
    findings: Callable[..., Any], statement: str, place: str | None, callers: int
) -> None:
    text = HANDED.replace("STATEMENT", statement)
    text += "".join(f"\nkeep([], {number})\nStore().add({number})\n" for number in range(1, callers))
    found = findings({"run.py": text}, select=["DLL306"])
    lines = [number for number, line in enumerate(text.splitlines(), 1) if place and line.endswith(f"# {place}")]
    assert {line for _, line, *_ in found} == set(lines)


@pytest.mark.parametrize(
    ("made", "found"), [("np.asarray([index, 3])", True), ("str(index)", False), ("self.names[index]", False)]
)
@pytest.mark.parametrize(
    "statement",
    [
        "kept.extend(places)",
        "kept.extend(batch['place'])",
        "kept.append(places)",
        "keep(kept, places[0])",
        "keep(kept, batch['place'])",
    ],
)
def test_what_the_items_have_under_a_key(made: str, statement: str, found: bool, findings: Callable[..., Any]) -> None:
    text = f"""\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        row = {{"image": self.names[index], "place": {made}}}
        row["image"] = torch.rand(3)
        return row

def keep(kept, value):
    kept.append(value)

def run(names):
    kept = []
    for batch in DataLoader(Rows(names), num_workers=4, batch_size=2):
        places = batch["place"]
        {statement}
    return np.vstack(kept)
"""
    assert bool(findings({"run.py": text}, select=["DLL306"])) is found


BESIDE = """\
import torch
from torch.utils.data import DataLoader, TensorDataset


class Results:
    def __init__(self):
        self.outputs, self.labels, self.both, self.named, self.later = [], [], [], [], []

    def update(self, output):
        result, label = output
        self.outputs.append(result.cpu())
        self.labels.append(label)  # DLL306
        self.both.append(output)  # DLL306

    def named_parts(self, row):
        self.named.append(row["result"])
        self.later.append(row["label"])  # DLL306


def infer(model):
    results = Results()
    outputs, labels, replaced, negative = [], [], [], []
    for images, label in DataLoader(TensorDataset(torch.zeros(9999, 3), torch.zeros(9999)), num_workers=4):
        result = model(images)
        results.update((result, label))
        results.named_parts({"result": result, "label": label})
        pair = (result, label)
        first, second = pair
        outputs.append(first)
        labels.append(second)  # DLL306
        negative.append(pair[-1])  # DLL306
        row = dict(result=result, label=label)
        row["result"] = label
        replaced.append(row["result"])  # DLL306
    return results, outputs, labels, replaced, negative
"""


def test_a_result_beside_a_part_of_the_batch_is_none_of_it(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"demo.py": BESIDE}
    assert findings(files, select=["DLL306"]) == marks(files)


ROWS_OF_TEXTS = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        path, text = self.rows[index]
        return torch.load(path), text, torch.ones(3)


def main(rows):
    kept = []
    for number, data in enumerate(DataLoader(Rows(rows), batch_size=200, num_workers=8)):
        images, texts, labels = data
        texts = [text for text in texts if text]
        STATEMENT
    return kept
"""


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ('kept.extend([{"text": text, "number": at} for at, text in enumerate(texts)])', False),
        ("kept.extend([text for text in texts])", False),
        ("kept.extend([label.view(3) for label in labels])", True),
        ("labels.size(0)\n        kept.extend([(at, label) for at, label in enumerate(labels)])", True),
    ],
)
def test_rows_of_what_may_be_texts(statement: str, found: bool, findings: Callable[..., Any]) -> None:
    codes = findings({"demo.py": ROWS_OF_TEXTS.replace("STATEMENT", statement)}, select=["DLL306"])
    assert bool(codes) is found


COUNTED = """\
from torch.utils.data import DataLoader


def run(rows, net):
    kept, count = {}, -1
    for images in DataLoader(rows, num_workers=4):
        LINES
    return kept
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("count += 1", "kept[count] = images.cpu()"), True),
        (("count += 1", 'kept[count] = {"images": images.detach(), "result": net(images)}'), True),
        (("kept[count] = images.cpu()",), False),
        (('kept["last"] = images.cpu()',), False),
    ],
)
def test_under_a_number_that_the_loop_counts(lines: tuple[str, ...], found: bool, findings: Callable[..., Any]) -> None:
    text = COUNTED.replace("LINES", "\n        ".join(lines))

    assert bool(findings({"train.py": text}, select=["DLL306"])) is found


NOT_BATCHED = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
from torchvision import io
from tqdm import tqdm

class Rows(Dataset):
    def __init__(self, paths, table):
        self.paths = paths
        self.table = table

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return ITEM

class Stream(IterableDataset):
    def __iter__(self):
        for index in range(9):
            yield ITEM

def run(paths, convert):
    rows = DATASET
    loader = DataLoader(rows, num_workers=4, OPTIONS)
    KEPT
"""


@pytest.mark.parametrize(
    ("item", "options", "found"),
    [
        # What torch converts where it makes no batches: arrays, and nothing else.
        ("index", "batch_size=None", False),
        ("index, len(str(index)), 0.5", "batch_size=None", False),
        ("[index, index + 1], str(index)", "batch_size=None", False),
        ("{'number': index, 'name': str(index)}", "batch_size=None", False),
        ("io.read_video_timestamps(self.paths[index])", "batch_size=None", False),
        ("torch.zeros(3)", "batch_size=None", True),
        ("index, torch.zeros(3)", "batch_size=None", True),
        ("index, np.zeros(3)", "batch_size=None", True),
        ("{'number': index, 'row': np.load(self.paths[index])}", "batch_size=None", True),
        ("[[torch.tensor(index)], index]", "batch_size=None", True),
        # Batches of numbers are tensors, and another function may make some.
        ("index", "batch_size=4", True),
        ("index", "shuffle=True", True),
        ("index", "batch_size=None, collate_fn=convert", True),
        ("index", "batch_size=convert", True),
    ],
)
@pytest.mark.parametrize(
    "kept",
    [
        "return list(tqdm(loader))",
        "return [*loader]",
        "return [row for row in loader]",
        "kept = []\n    for row in loader:\n        kept.append(row)\n    return kept",
    ],
    ids=["list", "display", "comprehension", "loop"],
)
def test_items_that_no_batch_is_made_of(
    item: str, options: str, kept: str, found: bool, findings: Callable[..., Any]
) -> None:
    text = NOT_BATCHED.replace("ITEM", item).replace("OPTIONS", options)
    text = text.replace("DATASET", "Rows(paths, 0)").replace("KEPT", kept)

    assert bool(findings({"run.py": text}, select=["DLL306"])) is found


@pytest.mark.parametrize("use", ["", "print(row.shape)", "torch.stack(kept)"])
def test_items_that_a_program_uses_as_tensors(use: str, findings: Callable[..., Any]) -> None:
    kept = f"kept = []\n    for row in loader:\n        kept.append(row)\n        {use}\n    return kept"
    text = NOT_BATCHED.replace("ITEM", "self.table[index]").replace("DATASET", "Rows(paths, convert)")

    files = {"run.py": text.replace("OPTIONS", "batch_size=None").replace("KEPT", kept)}
    assert bool(findings(files, select=["DLL306"])) is bool(use)


@pytest.mark.parametrize(
    ("dataset", "item", "found"),
    [
        ("Stream()", "index", False),
        ("Stream()", "torch.zeros(index)", True),
        ("TensorDataset(torch.zeros(9, 3))", "index", True),
        ("convert", "index", True),
    ],
)
def test_datasets_that_no_batch_is_made_of(dataset: str, item: str, found: bool, findings: Callable[..., Any]) -> None:
    text = NOT_BATCHED.replace("ITEM", item).replace("OPTIONS", "batch_size=None").replace("DATASET", dataset)

    assert bool(findings({"run.py": text.replace("KEPT", "return list(loader)")}, select=["DLL306"])) is found


def test_a_class_that_no_batch_is_made_of_stays_a_number(findings: Callable[..., Any]) -> None:
    text = """\
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def run(path, transform):
    loader = DataLoader(ImageFolder(path, transform), num_workers=4, batch_size=None)
    return [label for image, label in loader]
"""
    assert findings({"run.py": text}, select=["DLL306"]) == set()
    batched = text.replace("batch_size=None", "batch_size=8")
    assert {code for _, _, code in findings({"run.py": batched}, select=["DLL306"])} == {"DLL306"}


ELEMENTS = """\
import numpy as np
import torch
from torch.utils.data import DataLoader
from torchvision import io

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return torch.zeros(3, 4), ITEM

def keep(kept, values):
    kept.append(values[0])

def run():
    kept = []
    for images, labels in DataLoader(Rows(), num_workers=4, batch_size=2):
        print(labels.shape)
        label = labels.to("cpu").detach().numpy()
        LOOP
    return kept
"""
BY_NUMBER = "for row in range(len(images)):\n            "


@pytest.mark.parametrize(
    ("loop", "item", "found"),
    [
        # A number, which an array of NumPy gives as a copy
        (BY_NUMBER + "kept.append(label[row])", "np.array(index)", False),
        (BY_NUMBER + "kept.append(label[row])", "index", False),
        (BY_NUMBER + "kept.append(label[row])", "self.read(index)", False),
        (BY_NUMBER + "kept.append((label[row], row))", "index", False),
        (BY_NUMBER + "one = label[row]\n            kept.append(one)", "index", False),
        (BY_NUMBER + "kept.append(label[row, 0])", "torch.zeros(3)", False),
        (BY_NUMBER + "kept.append(label[row][0])", "torch.zeros(3)", False),
        ("kept.append(labels.numpy()[0])", "index", False),
        ("for one in label:\n            kept.append(one)", "index", False),
        ("kept += [one for one in label]", "index", False),
        (BY_NUMBER + "one = label[row]\n            kept.append(one[0])", "torch.zeros(3)", False),
        # A row, which is a view
        (BY_NUMBER + "kept.append(label[row])", "torch.zeros(3)", True),
        (BY_NUMBER + "kept.append(label[row])", "np.zeros((3, 4))", True),
        (BY_NUMBER + "kept.append(label[row])", "torch.zeros(3, dtype=torch.long)", True),
        (BY_NUMBER + "kept.append(label[row])", "io.read_image(str(index))", True),
        (BY_NUMBER + "kept.append(label[row, 0])", "torch.zeros(3, 4)", True),
        (BY_NUMBER + "kept.append(label[row][0])", "torch.zeros(3, 4)", True),
        (BY_NUMBER + "print(label[:, 0])\n            kept.append(label[row])", "self.read(index)", True),
        (BY_NUMBER + "print(label.shape[1])\n            kept.append(label[row])", "self.read(index)", True),
        ("for one in label:\n            kept.append(one)", "torch.zeros(3)", True),
        # Other indices give views, as every index of a tensor does.
        (BY_NUMBER + "kept.append(label[row:])", "index", True),
        (BY_NUMBER + "kept.append(labels[row])", "index", True),
        (BY_NUMBER + "kept.append(labels[row].numpy())", "index", True),
        ("for one in labels:\n            kept.append(one)", "index", True),
        ("kept.append(label)", "index", True),
        # Functions that are called with an array
        ("keep(kept, label)", "index", False),
        ("keep(kept, label)", "torch.zeros(3)", True),
        ("keep(kept, images.numpy())", "index", True),
        ("keep(kept, labels)", "index", True),
        # Arrays with fewer axes
        (BY_NUMBER + "kept.append(label.reshape(-1)[row])", "torch.zeros(3)", False),
        ("flat = label.ravel()\n        kept.append(flat[0])", "torch.zeros(3)", False),
        ("same = label.astype('int64', copy=False)\n        kept.append(label[0])", "torch.zeros(3)", True),
    ],
)
def test_elements_of_an_array_may_be_numbers(loop: str, item: str, found: bool, findings: Callable[..., Any]) -> None:
    text = ELEMENTS.replace("ITEM", item).replace("LOOP", loop)

    assert bool(findings({"run.py": text}, select=["DLL306"])) is found
