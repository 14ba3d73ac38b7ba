"""DLL201: which lambdas reach workers on a dataset, whatever way they take, and which never do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL201"]}

HEAD = """\
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
TAIL = """
def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
"""

KEPT: dict[str, str] = {
    "a list of the names that are pickled": """
class Rows(Dataset):
    _PICKLED = ("step", "path")

    def __init__(self):
        self.path = "rows"
        self.step = lambda row: row / 255  # DLL201

    def __getstate__(self):
        state = {name: self.__dict__[name] for name in self._PICKLED}
        return {name: value for name, value in state.items() if name in self._PICKLED}

    def __getitem__(self, index):
        return index
""",
    "attribute": """
class Rows(Dataset):
    def __init__(self):
        self.scale = lambda row: row / 255  # DLL201

    def __getitem__(self, index):
        return self.scale(index)
""",
    "in Compose and Lambda": """
from torchvision import transforms

class Rows(Dataset):
    def __init__(self):
        self.transform = transforms.Compose([
            transforms.ToTensor(),
            transforms.Lambda(lambda image: image * 2 - 1),  # DLL201
        ])

    def __getitem__(self, index):
        return self.transform(index)
""",
    "in a partial": """
from functools import partial

def apply(function, row):
    return function(row)

class Rows(Dataset):
    def __init__(self):
        self.step = partial(apply, lambda row: row / 255)  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
    "a partial of it": """
import functools

class Rows(Dataset):
    def __init__(self):
        self.step = functools.partial(lambda low, row: row - low, 3)  # DLL201

    def __getitem__(self, index):
        return self.step(index)
""",
    "defaultdict": """
import collections

class Rows(Dataset):
    def __init__(self):
        self.groups = collections.defaultdict(lambda: [])  # DLL201

    def __getitem__(self, index):
        return self.groups[index]
""",
    "of the module": """
STEP = lambda row: row / 255  # DLL201

class Rows(Dataset):
    def __init__(self):
        self.step = STEP

    def __getitem__(self, index):
        return self.step(index)
""",
    "a parameter's default": """
class Rows(Dataset):
    def __init__(self, step=lambda row: row / 255):  # DLL201
        self.step = step

    def __getitem__(self, index):
        return self.step(index)
""",
    "in an object that the dataset keeps": """
class Step:
    def __init__(self):
        self.scale = lambda row: row / 255  # DLL201

class Rows(Dataset):
    def __init__(self):
        self.step = Step()

    def __getitem__(self, index):
        return self.step.scale(index)
""",
    "handed to such an object": """
class Step:
    def __init__(self, function):
        self.function = function

class Rows(Dataset):
    def __init__(self):
        self.step = Step(lambda row: row / 255)  # DLL201

    def __getitem__(self, index):
        return self.step.function(index)
""",
}

GIVEN: dict[str, dict[str, str]] = {
    "to ImageFolder": {
        "data.py": """\
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def build():
    faces = ImageFolder("faces", transform=lambda image: image)  # DLL201
    return DataLoader(faces, num_workers=2, multiprocessing_context="spawn")
"""
    },
    "by constructors that are inherited from outside": {
        "data.py": """\
from torch.utils.data import DataLoader, Subset
from torchvision import transforms as T
from torchvision.datasets import ImageFolder

class Pair(T.Compose):
    pass

class Mine(ImageFolder):
    def __init__(self, root, transform):
        super().__init__(root, transform)

class Part(Subset):
    pass

def build():
    options = {"num_workers": 2, "multiprocessing_context": "spawn"}
    DataLoader(ImageFolder("a", Pair([lambda x: x])), **options)  # DLL201
    DataLoader(Mine("b", lambda x: x), **options)  # DLL201
    DataLoader(Part(ImageFolder("c", lambda x: x), [0]), **options)  # DLL201
"""
    },
    "to a base from outside by keyword arguments": {
        "faces.py": """\
from torchvision.datasets import ImageFolder as Folder

class Base(Folder):
    def __init__(self, root, **options):
        Folder.__init__(self, root, **options)

class Faces(Base):
    def __init__(self, root, *rest, size=3, **options):
        super(Faces, self).__init__(root, *rest, **options)
        self.size = size

class Same(Faces):
    pass
""",
        "data.py": """\
from functools import partial

from torch.utils.data import DataLoader
from faces import Faces, Same

OPTIONS = {"num_workers": 2, "multiprocessing_context": "spawn"}

def faces():
    return DataLoader(Faces("a", transform=lambda x: x, size=5), **OPTIONS)  # DLL201

def same():
    given = {"transform": lambda x: x}  # DLL201
    return DataLoader(Same("a", **given), **OPTIONS)

def bound():
    make = partial(Same, target_transform=lambda x: x)  # DLL201
    return DataLoader(make("a"), **OPTIONS)
""",
    },
    "to a base that a dataset of the project holds": {
        "data.py": """\
from torch.utils.data import ConcatDataset, DataLoader, Dataset
from torchvision.transforms import Compose

class Steps(Compose):
    def __init__(self, *steps):
        super().__init__(list(steps))

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

class All(ConcatDataset):
    def __init__(self, rows):
        super().__init__(rows)

def build():
    options = {"num_workers": 2, "multiprocessing_context": "spawn"}
    DataLoader(Rows(Steps(abs, lambda x: x)), **options)  # DLL201
    return DataLoader(All([Rows(lambda x: x)]), **options)  # DLL201
"""
    },
    "inside Subset, ConcatDataset and random_split": {
        "data.py": """\
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, random_split

class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)

def build():
    options = {"num_workers": 2, "multiprocessing_context": "spawn"}
    one = Rows(lambda row: row + 1)  # DLL201
    two = Rows(lambda row: row + 2)  # DLL201
    three = Rows(lambda row: row + 3)  # DLL201
    train, test = random_split(three, [4, 1])
    DataLoader(Subset(one, [0, 1]), **options)
    DataLoader(ConcatDataset([two, two]), **options)
    return DataLoader(train, **options)
"""
    },
    "set on the dataset from outside": {
        "rows.py": """\
from torch.utils.data import Dataset

class Rows(Dataset):
    step = None

    def __getitem__(self, index):
        return self.step(index)
""",
        "data.py": """\
from torch.utils.data import DataLoader
from rows import Rows

def build():
    rows = Rows()
    rows.step = lambda row: row / 255  # DLL201
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
    },
    "set on the datasets inside another by a method that is no item's": {
        "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    transform = None
    def __getitem__(self, index):
        return index

class Both(Dataset):
    def __init__(self, parts):
        self.parts = parts
        self.prepare()
    def prepare(self):
        for part in self.parts:
            part.transform = lambda row: row  # DLL201
    def __getitem__(self, index):
        return self.parts[0][index]

def build():
    return DataLoader(Both([Rows(), Rows()]), num_workers=2, multiprocessing_context="spawn")
""",
    },
    "three files from its launcher": {
        "launch.py": """\
import torch.multiprocessing as mp
import train

if __name__ == "__main__":
    mp.spawn(train.main, nprocs=2)
""",
        "train.py": """\
from torch.utils.data import DataLoader
from sets import make

def main(rank):
    return DataLoader(make("rows"), num_workers=2)
""",
        "sets/__init__.py": """\
from .rows import Rows as RowSet

def make(name):
    return {"rows": RowSet}[name]()
""",
        "sets/rows.py": """\
from torch.utils.data import Dataset
from .steps import *

class Rows(Dataset):
    def __init__(self):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)
""",
        "sets/steps.py": """\
step = lambda row: row / 255  # DLL201
""",
    },
}

NOT_KEPT: dict[str, str] = {
    "map and filter as a list": """
class Rows(Dataset):
    def __init__(self):
        self.rows = list(map(lambda row: row * 2, [1, 2]))
        self.names = list(filter(lambda name: name, ["a"]))

    def __getitem__(self, index):
        return self.rows[index]
""",
    "applied to a frame": """
import pandas as pd

class Rows(Dataset):
    def __init__(self):
        self.frame = pd.read_csv("rows.csv")
        self.frame["size"] = self.frame["size"].apply(lambda size: size * 2)
        self.small = self.frame.apply(lambda row: row, axis=1)

    def __getitem__(self, index):
        return self.frame.iloc[index]
""",
    "dropped by __getstate__": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["step"]
        return state

    def __getitem__(self, index):
        return index
""",
    "dropped by names in a set of the class": """
class Rows(Dataset):
    _OMITTED = {"step"}

    def __init__(self):
        self.step = lambda row: row / 255

    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key not in self._OMITTED}

    def __getitem__(self, index):
        return index
""",
    "replaced by None by names in a set of the class": """
class Rows(Dataset):
    _OMITTED = {"step"}

    def __init__(self):
        self.step = lambda row: row / 255

    def __getstate__(self):
        return {key: None if key in self._OMITTED else value for key, value in vars(self).items()}

    def __getitem__(self, index):
        return index
""",
    "dropped by names in a tuple of the module": """
OMITTED = ("step", "pool")

class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row / 255

    def __getstate__(self):
        state = vars(self).copy()
        for name in OMITTED:
            state.pop(name, None)
        return state

    def __getitem__(self, index):
        return index
""",
    "left out by __reduce__": """
class Rows(Dataset):
    def __init__(self, path="rows"):
        self.path = path
        self.step = lambda row: row / 255

    def __reduce__(self):
        return Rows, (self.path,)

    def __getitem__(self, index):
        return index
""",
    "partial of a function": """
from functools import partial

def scale(low, row):
    return row - low

class Rows(Dataset):
    def __init__(self):
        self.step = partial(scale, 3)
        self.bound = self.__getitem__

    def __getitem__(self, index):
        return index
""",
    "on a scheduler": """
from torch.optim.lr_scheduler import LambdaLR

class Rows(Dataset):
    def __getitem__(self, index):
        return index

class Trainer:
    def __init__(self, optimizer):
        self.scheduler = LambdaLR(optimizer, lr_lambda=lambda epoch: 0.95**epoch)
        self.loader = build()
""",
    "on a model": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = lambda row: row / 255

class Rows(Dataset):
    def __getitem__(self, index):
        return index
""",
}

SILENT: dict[str, str] = {
    "mappers that detectron2 pickles by value": """\
from detectron2.data import build_detection_test_loader, build_detection_train_loader

class Mapper:
    def __init__(self):
        self.change = lambda row: row

    def __call__(self, row):
        return self.change(row)

def build(cfg, rows):
    build_detection_test_loader(dataset=rows, mapper=lambda row: row, num_workers=4)
    return build_detection_train_loader(cfg, mapper=Mapper())
""",
    "no workers": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index

def build():
    return DataLoader(Rows(), num_workers=0)
""",
    "forked on purpose": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="fork")
""",
    "on a sampler": """
class Rows(Dataset):
    def __getitem__(self, index):
        return index

class Sampler:
    def __init__(self):
        self.key = lambda index: index

    def __iter__(self):
        return iter([1])

def build():
    return DataLoader(Rows(), sampler=Sampler(), num_workers=2, multiprocessing_context="spawn")
""",
    "paddle's loader": """
import paddle

class Rows(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index

def build():
    return paddle.io.DataLoader(Rows(), num_workers=2)
""",
    "a lambda that a constructor of the project does not hand to its base": """
from torchvision.datasets import ImageFolder

class Faces(ImageFolder):
    def __init__(self, root, chosen):
        super().__init__(root)
        self.imgs = [one for one in self.imgs if chosen(one)]

def build():
    faces = Faces("faces", lambda one: one[1] > 3)
    return DataLoader(faces, num_workers=2, multiprocessing_context="spawn")
""",
    "a lambda that a base from outside calls and lets go": """
from torchvision.datasets import ImageFolder

class Faces(ImageFolder):
    pass

def build():
    faces = Faces("faces", is_valid_file=lambda name: name.endswith(".png"))
    return DataLoader(faces, num_workers=2, multiprocessing_context="spawn")
""",
    "a lambda that an item of a dataset sets on another": """
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    transform = None
    def __getitem__(self, index):
        return index

class Both(Dataset):
    def __init__(self, parts):
        self.parts = parts
    def __getitem__(self, index):
        for part in self.parts:
            part.transform = lambda row: row
        return self.parts[0][index]

def build():
    return DataLoader(Both([Rows(), Rows()]), num_workers=2, multiprocessing_context="spawn")
""",
    "a lambda given to a class without a constructor": """
class Rows(Dataset):
    def __getitem__(self, index):
        return index

class Model(dict):
    pass

def build():
    Model(step=lambda row: row)
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
    "wrapped in an object from outside by a call that keeps nothing": """
import numpy

class Rows(Dataset):
    def __init__(self):
        self.rows = numpy.fromfunction(lambda row, column: row + column, (2, 2))

    def __getitem__(self, index):
        return self.rows[index]

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
""",
}


@pytest.mark.parametrize("classes", KEPT.values(), ids=KEPT)
def test_lambdas_on_datasets_are_found(findings: Callable[..., Any], marks: Callable[..., Any], classes: str) -> None:
    files = {"data.py": HEAD + classes + TAIL}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("files", GIVEN.values(), ids=GIVEN)
def test_lambdas_given_to_datasets_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("classes", NOT_KEPT.values(), ids=NOT_KEPT)
def test_lambdas_that_are_not_pickled_are_silent(findings: Callable[..., Any], classes: str) -> None:
    assert findings({"data.py": HEAD + classes + TAIL}, **SELECT) == set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_datasets_that_are_not_pickled_are_silent(findings: Callable[..., Any], text: str) -> None:
    assert findings({"data.py": HEAD + text}) == set()


PLAIN = HEAD + KEPT["attribute"] + "\ndef build():\n    return DataLoader(Rows(), num_workers=2)\n"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"target_python": "3.13"}, []),
        ({"target_python": "3.14"}, [("error", "forkserver")]),
        ({}, [("warning", "forkserver")]),
        ({"target_python": "3.12", "target_platform": ["linux", "macos"]}, [("warning", "spawn")]),
        ({"target_python": "3.12", "target_platform": "macos"}, [("error", "spawn")]),
    ],
)
def test_targets_decide_how_bad_it_is(told: Callable[..., Any], settings: Any, expected: list[tuple[str, str]]) -> None:
    assert [(one.severity, *one.start_methods) for one in told({"data.py": PLAIN}, **settings)] == expected


@pytest.mark.parametrize("select", [["DLL2"], ["DLL201"]])
def test_forked_workers_are_told_of_on_request(told: Callable[..., Any], select: list[str]) -> None:
    (finding,) = told({"data.py": PLAIN}, select=select, target_python="3.13")

    assert (finding.severity, finding.message, finding.start_methods) == ("info", "fork_only", ())


def test_forked_workers_are_silent_by_default(told: Callable[..., Any]) -> None:
    assert told({"data.py": PLAIN}, target_python="3.13") == ()


def test_one_lambda_that_three_loaders_need_is_one_finding(told: Callable[..., Any]) -> None:
    text = (
        HEAD
        + KEPT["attribute"]
        + """
def build():
    rows = Rows()
    DataLoader(rows, num_workers=2)
    DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
    DataLoader(Rows(), num_workers=2)
"""
    )

    (finding,) = told({"data.py": text}, **SELECT)

    assert finding.severity == "error"
    assert len(finding.related) == 3


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("defaultdict(lambda: 0)", ["int"]),
        ("defaultdict(lambda: [])", ["list"]),
        ("defaultdict(lambda: set())", ["set"]),
        ("defaultdict(lambda: defaultdict(int))", ["partial(defaultdict, int)"]),
        ("defaultdict(lambda: 7)", ["_rows"]),
        ("lambda row: row / 255", ["_rows"]),
        ("lambda row: row / scale", []),
        ("lambda row: self.rows", []),
    ],
)
def test_fixes(told: Callable[..., Any], text: str, edits: list[str]) -> None:
    source = f"""\
from collections import defaultdict
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, scale=3):
        self.rows = {text}

    def __getitem__(self, index):
        return self.rows[index]
{TAIL}"""

    (finding,) = told({"data.py": source}, **SELECT)

    given = [fix.edits[-1] for fix in finding.fixes]
    assert [edit.code if hasattr(edit, "code") else edit.name for edit in given] == edits


def test_a_moved_lambda_is_named_after_the_parameter_that_takes_it(told: Callable[..., Any]) -> None:
    (finding,) = told(GIVEN["to ImageFolder"], **SELECT)

    assert finding.fixes[0].edits[-1].name == "_transform"


def test_a_moved_lambda_gets_a_name_that_is_free(told: Callable[..., Any]) -> None:
    text = HEAD + "\ndef _scale(row):\n    return row\n" + KEPT["attribute"] + TAIL

    (finding,) = told({"data.py": text}, **SELECT)

    assert finding.fixes[0].edits[-1].name == "_scale_2"


PIPELINES: dict[str, str] = {
    "a stage": "    return wds.DataPipeline(wds.SimpleShardList(urls), wds.map(lambda row: row))  # DLL201",
    "a list of stages": """\
    stages = [wds.SimpleShardList(urls)]
    stages.extend([wds.select(lambda row: row)])  # DLL201
    return wds.DataPipeline(*stages)""",
    "a method": "    return wds.WebDataset(urls).decode('pil').map_dict(image=lambda row: row).batched(8)  # DLL201",
    "methods one after another": """\
    rows = wds.WebDataset(urls)
    rows = rows.map(lambda row: row)  # DLL201
    return rows.with_epoch(9)""",
}
PIPED = """\
import webdataset as wds

def made(urls):
{}

def build(urls):
    loader = wds.WebLoader(made(urls), num_workers=4, batch_size=None, multiprocessing_context="spawn")
    return loader.map(lambda batch: batch)
"""


@pytest.mark.parametrize("rows", PIPELINES.values(), ids=PIPELINES)
def test_stages_of_a_pipeline(rows: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"data.py": PIPED.format(rows)}

    assert findings(files, **SELECT) == marks(files)


def test_what_the_loader_itself_maps_runs_in_its_own_process(findings: Callable[..., Any]) -> None:
    assert findings({"data.py": PIPED.format("    return wds.WebDataset(urls).map(print)")}, **SELECT) == set()


def test_a_pipeline_goes_with_the_workers_of_the_same_call(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    text = """\
import webdataset as wds

def build(urls, change, workers):
    rows = wds.WebDataset(urls).map(change)
    return wds.WebLoader(rows, num_workers=workers, batch_size=None, multiprocessing_context="spawn")

def look(urls):
    return build(urls, lambda row: row, 0)

def train(urls):
    return build(urls, lambda row: row, 4)  # DLL201
"""
    files = {"data.py": text.replace(', multiprocessing_context="spawn"', "")}

    assert findings(files, **SELECT) == marks(files)


MODELS = """\
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __getitem__(self, index):
        return index


class Sounds(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index


class Model:
    def setup(self):
        self.rows = self.make()
        return DataLoader(self.rows, num_workers=2)


class OfRows(Model):
    def make(self):
        return Rows()


class OfSounds(Model):
    def make(self):
        return Sounds()
"""


@pytest.mark.parametrize(("launched", "severity"), [("OfRows", "warning"), ("OfSounds", "error")])
def test_a_chain_is_only_told_of_the_datasets_that_it_gives(
    told: Callable[..., Any], launched: str, severity: str
) -> None:
    program = f"""\
import torch.multiprocessing as mp
from models import OfRows, OfSounds

def run(rank):
    {launched}().setup()

def other():
    {"OfSounds" if launched == "OfRows" else "OfRows"}().setup()

if __name__ == "__main__":
    mp.spawn(run, nprocs=2)
"""
    (finding,) = told({"models.py": MODELS, "program.py": program}, **SELECT)
    assert (finding.span.line, finding.severity) == (11, severity)


PROGRAMS = {
    "data.py": """\
from torch.utils.data import DataLoader, Dataset

class Mapped(Dataset):
    def __init__(self, function):
        self.function = function

    def __getitem__(self, index):
        return self.function(index)

def build(function):
    return DataLoader(Mapped(function), num_workers=4)
""",
    "train.py": """\
import torch.multiprocessing as mp
from data import build

def main(rank):
    build(print)

if __name__ == "__main__":
    mp.spawn(main)
""",
}
PREVIEW = """\
from data import build

if __name__ == "__main__":
    build(lambda row: row)
"""
BY_NAME = """\
from data import build

def make():
    return build(lambda row: row)  # DLL201

if __name__ == "__main__":
    print(make())
"""


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"preview.py": PREVIEW}, id="another program, which forks"),
        pytest.param(
            {"tests/test_data.py": PREVIEW.replace('if __name__ == "__main__"', "def test_it()")}, id="a test"
        ),
        pytest.param(
            {"train.py": PROGRAMS["train.py"].replace("build(print)", "build(lambda row: row)  # DLL201")},
            id="the program that launches",
        ),
        pytest.param(
            {
                "train.py": PROGRAMS["train.py"]
                .replace("from data import build", "import importlib")
                .replace("build(print)", 'importlib.import_module("sets.digits").make()'),
                "sets/digits.py": BY_NAME,
            },
            id="a module that it may load by its name",
        ),
    ],
)
def test_only_lambdas_of_the_program_that_launches_fail(
    files: dict[str, str], findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {**PROGRAMS, **files}

    assert findings(files, ignore=["DLL1", "DLL3"], target_python="3.11") == marks(files)


LIGHTNING = """\
import lightning.pytorch as pl
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)

class Module(pl.LightningDataModule):
    def setup(self, stage=None):
        self.rows = Rows()

    def train_dataloader(self):
        return DataLoader(self.rows, num_workers=4)

def main(model):
    pl.Trainer(strategy="{strategy}", devices=2).fit(model, datamodule=Module())
"""


@pytest.mark.parametrize(("strategy", "severity"), [("ddp_spawn", "error"), ("ddp", "warning")])
def test_a_strategy_that_spawns_decides_for_the_loaders_of_its_hooks(
    told: Callable[..., Any], strategy: str, severity: str
) -> None:
    (finding,) = told({"train.py": LIGHTNING.replace("{strategy}", strategy)}, **SELECT)

    assert finding.severity == severity


OLD_TRAINER = LIGHTNING.replace('strategy="{strategy}", devices=2', "{options}")


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        ("gpus=2", "error"),
        ('gpus="0,1"', "error"),
        ("gpus=[0, 1]", "error"),
        ('gpus=4, accelerator="gpu"', "error"),
        ("gpus=2, strategy=None", "error"),
        # These may be one GPU.
        ("gpus=-1", "warning"),
        ("gpus=torch.cuda.device_count()", "warning"),
        # Only the default of Python 3.14 remains.
        ('gpus=2, accelerator="ddp"', "default"),
        ('gpus=2, strategy="ddp"', "default"),
        ("gpus=2, plugins=[DDPPlugin()]", "default"),
        ("gpus=2, **others", "default"),
        ("gpus=1", "default"),
        ('gpus="1"', "default"),
        ("gpus=[0]", "default"),
        ("gpus=True", "default"),
        ("gpus=others", "default"),
        ("devices=2", "default"),
    ],
)
def test_old_trainers_spawn_for_several_gpus(told: Callable[..., Any], options: str, severity: str) -> None:
    text = OLD_TRAINER.replace("{options}", options).replace("def main(model)", "def main(model, others)")

    (finding,) = told({"train.py": f"import torch\n{text}"}, **SELECT)

    by_default = "3.14" in finding.text
    assert ("default" if by_default else finding.severity) == severity


@pytest.mark.parametrize("datasets", ["Rows.of(paths)", "list(Rows.of(paths))", "[one for one in Rows.of(paths)]"])
def test_datasets_that_a_generator_yields(told: Callable[..., Any], datasets: str) -> None:
    text = f"""\
from torch.utils.data import ConcatDataset, DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(index)

    @classmethod
    def of(cls, paths):
        for path in paths:
            yield cls(path)

def build(paths):
    return DataLoader(ConcatDataset({datasets}), num_workers=2, multiprocessing_context="spawn")
"""
    (finding,) = told({"data.py": text}, **SELECT)

    assert finding.severity == "error"


MADE_AND_READ = """\
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, change):
        self.change = change

    def __getitem__(self, index):
        return self.change(index)

    def __len__(self):
        return 3

class Data:
    def __init__(self, change):
        self.rows = Rows(change)

    def loader(self):
        return DataLoader(self.rows, num_workers=2)

def read(data):
    return list(data.loader())
"""


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        pytest.param(
            "def test_it():\n    for row in Data(lambda row: row).loader():\n        print(row)\n", 1, id="at once"
        ),
        pytest.param("def test_it():\n    assert read(Data(lambda row: row))\n", 1, id="by a function"),
        pytest.param(
            "def make():\n    return Data(lambda row: row)\n\ndef test_it():\n    assert read(make())\n", 1, id="by two"
        ),
        pytest.param("def test_it():\n    assert Data(lambda row: row).rows[1] == 1\n", 0, id="an item"),
        pytest.param("def test_it():\n    assert len(Rows(lambda row: row)) == 3\n", 0, id="no loader at all"),
        pytest.param(
            "def test_it():\n    data = Data(lambda row: row)\n    data.rows.change(1)\n", 0, id="the function alone"
        ),
    ],
)
def test_what_a_test_makes_comes_to_the_loaders_that_it_reads(
    test: str, expected: int, told: Callable[..., Any]
) -> None:
    files = {"data.py": MADE_AND_READ, "test_data.py": f"from data import Data, Rows, read\n\n{test}"}

    assert len(told(files, select=["DLL201"])) == expected


def test_a_module_that_is_named_as_a_test_and_imported_is_none(told: Callable[..., Any]) -> None:
    train = (
        "from torch.utils.data import DataLoader\nfrom rows_test import make\n\n"
        "if __name__ == '__main__':\n    for row in DataLoader(make(), num_workers=2):\n        print(row)\n"
    )
    rows = "from data import Rows\n\ndef make():\n    return Rows(lambda row: row)\n"
    files = {"data.py": MADE_AND_READ, "rows_test.py": rows, "train.py": train}

    assert len(told(files, select=["DLL201"])) == 1


GIVEN_AS_CLASS = """\
from typing import Optional, Type, Union

from torch.utils.data import ConcatDataset, DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.read = lambda row: row

    def __getitem__(self, index):
        return self.read(index)

class Texts(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        return self.path

class Both(Dataset):
    def __init__(self, parts):
        self.parts = parts

    def __getitem__(self, index):
        return self.parts[0][index]

class Data:
    def __init__(self, kind: {annotation}, options):
        self.kind = kind
        self.options = options

    def loader(self):
        return DataLoader({rows}, num_workers=2, multiprocessing_context="spawn")
"""
ONE, NESTED = "self.kind(**self.options)", "Both([self.kind(**self.options)])"


@pytest.mark.parametrize(
    ("annotation", "rows", "severity"),
    [
        pytest.param("Type[Rows]", ONE, ["warning"], id="of the dataset"),
        pytest.param("Optional[type[Rows]]", ONE, ["warning"], id="optional"),
        pytest.param("Union[Type[Rows], Type[Texts]]", ONE, ["warning"], id="of several"),
        pytest.param("Type[Rows]", NESTED, ["warning"], id="of a part"),
        pytest.param("Type[Texts]", NESTED, [], id="another class"),
        pytest.param("list", ONE, ["info"], id="none of the project"),
    ],
)
def test_a_class_of_which_only_the_annotation_tells(
    annotation: str, rows: str, severity: list[str], told: Callable[..., Any]
) -> None:
    text = GIVEN_AS_CLASS.format(annotation=annotation, rows=rows)

    assert [one.severity for one in told({"data.py": text}, **SELECT)] == severity


def test_a_class_that_a_call_gives_is_no_guess(told: Callable[..., Any]) -> None:
    text = GIVEN_AS_CLASS.format(annotation="Type[Rows]", rows=NESTED)
    read = "\nfor row in Data(Rows, {'path': 'a'}).loader():\n    print(row)\n"

    assert [one.severity for one in told({"data.py": text + read}, **SELECT)] == ["error"]


COLLATE = """\
import functools
import lightning
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return index

class Collate({base}):
    def {method}:
        self.scale = lambda row: row / 255

    def __call__(self, rows):
        return [self.scale(row) for row in rows]

    def scaled(self, factor, rows):
        return [factor * self.scale(row) for row in rows]

    def plain(rows):
        return rows

    def train_dataloader(self):
        return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn", {given})
"""


@pytest.mark.parametrize(
    ("base", "method", "given", "expected"),
    [
        pytest.param("object", "__init__(self)", "collate_fn=Collate()", ["error"], id="an object"),
        pytest.param("object", "__init__(self)", "worker_init_fn=Collate()", ["error"], id="called in each worker"),
        pytest.param("object", "__init__(self)", "collate_fn=self.scaled", ["error"], id="a method"),
        pytest.param(
            "object", "__init__(self)", "collate_fn=functools.partial(self.scaled, 2)", ["error"], id="a partial"
        ),
        pytest.param(
            "lightning.LightningDataModule", "setup(self, stage)", "collate_fn=self.scaled", ["error"], id="a hook"
        ),
        pytest.param("object", "__init__(self)", "collate_fn=Collate.plain", [], id="a function of the class"),
        pytest.param("object", "__init__(self)", "collate_fn=None", [], id="no collate function"),
    ],
)
def test_a_lambda_of_the_object_whose_method_collates(
    base: str, method: str, given: str, expected: list[str], told: Callable[..., Any]
) -> None:
    files = {"data.py": COLLATE.format(base=base, method=method, given=given)}

    assert [one.severity for one in told(files, **SELECT)] == expected


STEPS = HEAD + (
    """
from torchvision.transforms import Compose, Lambda, ToTensor

class Rows(Dataset):
    def __init__(self, change, other=None):
        self.change, self.other = change, other

    def __getitem__(self, index):
        return self.change(index), self.other(index)

def other(rows):
    return Compose([lambda row: row - rows])

def build():
    options = {"num_workers": 2, "multiprocessing_context": "spawn"}
    {steps}
"""
)


@pytest.mark.parametrize(
    ("steps", "count"),
    [
        ("steps = Compose([lambda row: row]); steps.transforms.insert(0, lambda row: -row); {load}", 1),
        ("steps = [lambda row: row]; steps.append(Lambda(lambda row: -row)); {load}", 1),
        ("steps = [ToTensor()]; steps += [lambda row: row]; steps += [lambda row: -row]; {load}", 1),
        ("steps = []; steps.append(lambda row: row); steps.extend([lambda row: -row]); {load}", 1),
        ("one = lambda row: row; two = lambda row: -row; steps = [one, ToTensor(), two]; {load}", 1),
        # Those that stand in two functions, of two attributes and of two loaders are different defects.
        ("steps = [lambda row: row, other(3)]; {load}", 2),
        ("steps = lambda row: row; second = lambda row: -row; return DataLoader(Rows(steps, second), **options)", 2),
        ("steps = [lambda row: row]; one = {load_one}; steps = [lambda row: -row]; {load}", 2),
    ],
)
def test_lambdas_that_one_function_puts_among_the_steps_of_a_transform(
    steps: str, count: int, told: Callable[..., Any]
) -> None:
    load_one = "DataLoader(Rows(Compose(steps)), **options)"
    text = STEPS.replace("{steps}", steps.replace("{load_one}", load_one).replace("{load}", f"return {load_one}"))

    found = told({"data.py": text}, **SELECT)

    assert len(found) == count


EVALUATED = {
    "kinds.py": """\
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, root, train=True):
        self.root, self.change = root, lambda row: row

    def __getitem__(self, index):
        return self.change(index)

class Texts(Dataset):
    def __init__(self, root):
        self.root = root

    def __getitem__(self, index):
        return self.root
""",
    "main.py": """\
from torch.utils.data import DataLoader
from kinds import *

def build(config, name):
    {made}
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
""",
}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("rows = eval(config.dataset)(config.root)", ["warning"]),
        ("rows = eval(config['dataset'])(config.root, train=False)", ["warning"]),
        ("kind = eval(name); rows = kind(root=config.root)", ["warning"]),
        ("rows = eval(config.kinds[0])(config.root)", ["warning"]),
        ("rows = eval('Images')(config.root)", ["error"]),
        ("rows = eval('Texts')(config.root)", []),
        # Anything, or what no class here can be: that the loader reads such a dataset is assumed.
        ("rows = eval(config.dataset)", ["info"]),
        ("rows = eval(config.dataset)(config.root, config.split, config.size)", ["info"]),
        ("rows = eval(config.package + config.dataset)(config.root)", ["info"]),
    ],
)
def test_a_lambda_of_a_class_that_eval_finds(made: str, expected: list[str], told: Callable[..., Any]) -> None:
    files = {path: text.replace("{made}", made) for path, text in EVALUATED.items()}

    assert [one.severity for one in told(files, **SELECT)] == expected


RECURSIVE: dict[str, str] = {
    "a function that calls itself": """
def build(name, **options):
    if name.startswith("small-"):
        return build(name[6:], **options)
    return CIFAR10("data", **options)

DataLoader(build(input(), transform=lambda row: row), num_workers=2)  # DLL201
""",
    "by its name, in the names of the module": """
def build_dataset(name, **options):
    return globals()[f"build_{name}"]("data", **options)

def build_cifar(root, **options):
    return CIFAR10(root, **options)

DataLoader(build_dataset(input(), transform=lambda row: row), num_workers=2)  # DLL201
""",
    "two functions that call each other": """
def build(name, **options):
    return resized(name, 32, **options) if "-" in name else CIFAR10("data", **options)

def resized(name, size, **options):
    return build(name.partition("-")[2], target_transform=lambda label: label + size, **options)  # DLL201

DataLoader(build(input()), num_workers=2)
""",
    "nothing that workers cannot get": """
def build(name, key=None, **options):
    if name.startswith("small-"):
        return build(name[6:], key=lambda row: row, **options)
    return CIFAR10("data", **options)

DataLoader(build(input(), transform=ToTensor()), num_workers=2)
""",
}


@pytest.mark.parametrize("program", RECURSIVE.values(), ids=RECURSIVE)
def test_keyword_arguments_that_a_recursion_passes_on(
    program: str, findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    head = "from torchvision.datasets import CIFAR10\nfrom torchvision.transforms import ToTensor\n"
    files = {"train.py": HEAD + head + program}

    assert findings(files, **SELECT) == marks(files)


BRANCHES = """\
import argparse
from torchvision import transforms

class Rows(Dataset):
    def __init__(self, crop):
        if {test}:
            self.transform = transforms.Compose([transforms.CenterCrop(8), transforms.Lambda(lambda row: row / 255)])
        else:
            self.transform = transforms.Compose([transforms.Lambda(lambda row: row / 128)])

    def __getitem__(self, index):
        return self.transform(index)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--crop", {option})
    args = parser.parse_args()
    loader = DataLoader(Rows(args.crop), num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    ("test", "option", "expected"),
    [
        ("crop", 'action="store_true"', (10, "error", [8, 19])),
        ("not crop", 'action="store_true"', (8, "error", [10, 19])),
        ("crop", 'action="store_false"', (8, "error", [10, 19])),
        ("crop", "type=int", (10, "error", [8, 19])),
        ("crop", "type=int, default=4", (8, "error", [10, 19])),
        # Every text but the empty one is true: the other branch never runs.
        ("crop", "type=bool, default=True", (8, "error", [19])),
    ],
)
def test_of_two_branches_the_one_that_runs_by_default_is_the_finding(
    test: str, option: str, expected: tuple[int, str, list[int]], told: Callable[..., Any]
) -> None:
    (found,) = told({"train.py": HEAD + BRANCHES.format(test=test, option=option)}, **SELECT)

    lines = [place.span.line for place in found.related if "kept here" not in place.message]
    assert (found.span.line, found.severity, lines) == expected
