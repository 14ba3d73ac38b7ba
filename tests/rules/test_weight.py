"""What an error needs: programs in which one link of the story does not hold, so that nothing is called an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """\
import argparse
import os
import sys
from contextlib import contextmanager

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset
"""
ROWS = """
class Rows(Dataset):
    def __init__(self):
        self.scale = lambda row: row / 255

    def __getitem__(self, index):
        return self.scale(index)

    def __len__(self):
        return 9
"""

NO_ERROR: dict[str, str] = {
    "a method found by its name alone": ROWS
    + """
from ase.io import read

class Calculator:
    def get_forces(self, rank):
        for batch in DataLoader(Rows(), num_workers=4):
            print(batch)

def work(rank, path):
    atoms = read(path)
    atoms.get_forces(rank)

if __name__ == "__main__":
    mp.spawn(work, args=("a.xyz",), nprocs=2)
""",
    "a lambda that a method found by its name gives": """
from ase.io import read

class Calculator:
    def get_scaler(self):
        return lambda row: row

class Rows(Dataset):
    def __init__(self, atoms):
        self.scale = atoms.get_scaler()

    def __getitem__(self, index):
        return self.scale(index)

def work(rank, path):
    for batch in DataLoader(Rows(read(path)), num_workers=4):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, args=("a.xyz",), nprocs=2)
""",
    "a lambda of a sibling class": """
class Base(Dataset):
    def __init__(self, loader):
        self.loader = loader

    def __getitem__(self, index):
        return self.loader(index)

class Plain(Base):
    def __init__(self):
        super().__init__(str)

class Odd(Base):
    def __init__(self):
        super().__init__(lambda path: path)

def work(rank):
    for batch in DataLoader(Plain(), num_workers=4):
        print(batch)

def other():
    for batch in DataLoader(Odd()):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
""",
    "a lambda of a sibling class, through three constructors": """
class Base(Dataset):
    def __init__(self, root, transform=None, loader=None):
        super().__init__()
        self.transform = transform
        self.loader = loader

    def __getitem__(self, index):
        return self.loader(index)

class Middle(Base):
    def __init__(self, root, transform=None, loader=None):
        super().__init__(root, transform, loader)

class Plain(Middle):
    def __init__(self, root, transform=None):
        super().__init__(root, transform, str)

class Odd(Middle):
    def __init__(self, root, transform=None):
        super().__init__(root, transform, loader=lambda path: path)

KINDS = {"plain": Plain, "odd": Odd}

def work(rank, root):
    data = Plain(root)
    for batch in DataLoader(data, num_workers=4):
        print(batch)

def other():
    for batch in DataLoader(Odd("x"), num_workers=0):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, args=("a",), nprocs=2)
""",
    "set_start_method on another platform": ROWS
    + """
def main():
    if sys.platform == "darwin":
        mp.set_start_method("spawn")
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
""",
    "a context on another platform": ROWS
    + """
def main():
    context = "spawn" if sys.platform == "darwin" else "fork"
    for batch in DataLoader(Rows(), num_workers=4, multiprocessing_context=context):
        print(batch)

if __name__ == "__main__":
    main()
""",
    "what follows the return on all other platforms": ROWS
    + """
def main():
    if sys.platform != "darwin":
        for batch in DataLoader(Rows(), num_workers=0):
            print(batch)
        return
    mp.set_start_method("spawn", force=True)
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
""",
    "workers that a helper sets to 0": ROWS
    + """
def fix(args):
    args.workers = 0

def work(rank, args):
    fix(args)
    for batch in DataLoader(Rows(), num_workers=args.workers):
        print(batch)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    mp.spawn(work, args=(args,), nprocs=2)
""",
    "workers that a helper sets to 0 and gives back": ROWS
    + """
def adjust(args):
    args.workers = 0
    return args

def work(rank, args):
    for batch in DataLoader(Rows(), num_workers=args.workers):
        print(batch)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    args = adjust(args)
    mp.spawn(work, args=(args,), nprocs=2)
""",
    "a default of 0 over two wrappers": ROWS
    + """
def inner(data, **kwargs):
    return DataLoader(data, **kwargs)

def middle(data, num_workers=0, **kwargs):
    return inner(data, num_workers=num_workers, **kwargs)

def outer(data, batch_size=4, **kwargs):
    return middle(data, batch_size=batch_size, **kwargs)

def work(rank):
    for batch in outer(Rows()):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
""",
    "a default of 0 over two wrappers, beside another caller": ROWS
    + """
def inner(data, workers):
    return DataLoader(data, num_workers=workers)

def middle(data, workers=0):
    return inner(data, workers)

def outer(data):
    return middle(data)

def other(data):
    return middle(data, 4)

def work(rank):
    for batch in outer(Rows()):
        print(batch)

def elsewhere(rank):
    for batch in other([1, 2]):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
    mp.spawn(elsewhere, nprocs=2)
""",
    "a default of 0 in another object": ROWS
    + """
class Module:
    def __init__(self, workers=0):
        self.workers = workers
    def loader(self, data):
        return self._loader(data, workers=self.workers)
    def _loader(self, data, workers):
        return DataLoader(data, num_workers=workers)

def work(rank):
    for batch in Module().loader(Rows()):
        print(batch)

def other():
    for batch in Module(4).loader([1]):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
    other()
""",
    "a start method that every caller leaves out": ROWS
    + """
def run(debug=False, spawn=False):
    if spawn:
        mp.set_start_method("spawn")
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)

def main():
    run()
    run(debug=True, spawn=False)

if __name__ == "__main__":
    main()
""",
    "a dataset that the caller leaves out": ROWS
    + """
def build(lazy):
    if lazy:
        data = Rows()
    else:
        data = [1, 2]
    return DataLoader(data, num_workers=4)

def work(rank):
    for batch in build(False):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
""",
    "an attribute that the caller leaves out": """
class Rows(Dataset):
    def __init__(self, lazy=False):
        if lazy:
            self.scale = lambda row: row
    def __getitem__(self, index):
        return index

def build(lazy):
    return Rows(lazy)

def work(rank):
    for batch in DataLoader(build(False), num_workers=4):
        print(batch)

if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
""",
    "a launch that the caller leaves out": """
class Rows(Dataset):
    def __init__(self, lazy=False):
        self.lazy = lazy
        if self.lazy:
            self.scale = lambda row: row
    def __getitem__(self, index):
        return index

def start(spawn):
    if spawn:
        mp.spawn(work, nprocs=2)
    else:
        work(0)

def work(rank):
    for batch in DataLoader(Rows(True), num_workers=4):
        print(batch)

def main():
    start(False)

if __name__ == "__main__":
    main()
""",
}


@pytest.mark.parametrize("text", NO_ERROR.values(), ids=NO_ERROR)
def test_no_error(text: str, told: Callable[..., Any]) -> None:
    found = told({"train.py": HEAD + text})

    assert [one.text for one in found if one.severity == "error"] == []


CHOSEN_BY_A_VALUE = (
    ROWS
    + """
def build(config):
    if {test}:
        return DataLoader(Rows(), num_workers=4)
    return DataLoader([1, 2], num_workers=4)

def work(rank, config):
    for batch in build(config):
        print(batch)

def launch(config):
    mp.spawn(work, args=(config,), nprocs=2)
{call}"""
)


@pytest.mark.parametrize(
    ("test", "call", "severity"),
    [
        pytest.param("config.kind == 'rows'", "", "warning", id="of an unknown object"),
        pytest.param("config['kind'] == 'rows' and config['size'] == 3", "", "warning", id="of an unknown dict"),
        pytest.param("'rows' in config.kind", "", "warning", id="part of an unknown text"),
        pytest.param("config == 2", "", "warning", id="a number"),
        pytest.param(
            "config == 'rows'", "launch(open('kind').read())\nlaunch('rows')", "error", id="that one call passes"
        ),
        pytest.param("config != 'rows'", "", "error", id="another value"),
        pytest.param("config.rows", "", "error", id="a flag"),
        pytest.param("config == 'rows' or config == 'all'", "", "error", id="one of several"),
    ],
)
def test_what_needs_a_value_that_nothing_shows(told: Callable[..., Any], test: str, call: str, severity: str) -> None:
    (finding,) = told({"train.py": HEAD + CHOSEN_BY_A_VALUE.format(test=test, call=call)}, select=["DLL201"])
    assert finding.severity == severity


MADE_FOR_A_VALUE = """\
import argparse
import json
import sys

import torch.multiprocessing as mp
import yaml
from torch.utils.data import DataLoader, Dataset


class Step:
    def __init__(self):
        self.change = lambda x: x


class Steps:
    def __init__(self):
        self.steps = [Step(), Step()]


class Others(Steps):
    def more(self):
        return Step()


class Rows(Dataset):
    def __init__(self, config):
        self.steps = None
        if config["steps"] == "all":
            self.steps = Steps()

    def __getitem__(self, index):
        return index


def work(rank):
    config = {config}
    for batch in DataLoader(Rows(config), num_workers=4):
        print(batch)


if __name__ == "__main__":
    mp.spawn(work)
"""


@pytest.mark.parametrize(
    ("config", "severity"),
    [
        pytest.param("json.load(open(sys.argv[1]))", "warning", id="of a file that only the run knows"),
        pytest.param('yaml.safe_load(open("steps.yaml"))', "error", id="of a file that has it"),
        pytest.param('{"steps": sys.argv[1]}', "warning", id="of the command line"),
        pytest.param('{"steps": "all"}', "error", id="of the program"),
    ],
)
def test_what_is_made_for_a_value_that_nothing_shows(told: Callable[..., Any], config: str, severity: str) -> None:
    files = {"steps.yaml": "steps: all\n", "train.py": MADE_FOR_A_VALUE.replace("{config}", config)}
    (finding,) = told(files, select=["DLL201"])
    assert finding.severity == severity


def test_what_a_class_without_a_constructor_makes_too(told: Callable[..., Any]) -> None:
    """Nothing tells where such an object comes from, so what it makes may be made for any value."""
    maker = "class Maker:\n    def make(self):\n        return Steps()\n\n\nclass Rows(Dataset)"
    text = MADE_FOR_A_VALUE.replace("{config}", "json.load(open(sys.argv[1]))").replace("class Rows(Dataset)", maker)
    (finding,) = told({"train.py": text.replace("self.steps = None", "self.steps = Maker().make()")}, select=["DLL201"])
    assert finding.severity == "error"


def test_a_defect_in_a_branch_for_a_value_that_nothing_shows(told: Callable[..., Any]) -> None:
    text = """
class Rows(Dataset):
    def __init__(self, config):
        self.scale = None
        if config.kind == "scaled":
            self.scale = lambda row: row / 255

    def __getitem__(self, index):
        return self.scale(index)

    def __len__(self):
        return 9

def work(rank, config):
    for batch in DataLoader(Rows(config), num_workers=4):
        print(batch)

def launch(config):
    mp.spawn(work, args=(config,), nprocs=2)
"""
    (finding,) = told({"train.py": HEAD + text}, select=["DLL201"])
    assert finding.severity == "warning"


CUDA_AFTER_FORK: dict[str, str] = {
    "a context manager that raises": """

@contextmanager
def spawned():
    if mp.get_start_method() != "spawn":
        raise RuntimeError("use spawn")
    yield

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.zeros(3).cuda()

def main():
    torch.cuda.init()
    with spawned():
        for batch in DataLoader(Rows(), num_workers=4):
            print(batch)

if __name__ == "__main__":
    main()
""",
    "a function that raises": """
def require_spawn():
    if mp.get_start_method() != "spawn":
        raise RuntimeError("use spawn")

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.zeros(3).cuda()

def main():
    torch.cuda.init()
    require_spawn()
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
""",
    "a test at the place": """

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.zeros(3).cuda()

def main():
    torch.cuda.init()
    if mp.get_start_method() == "fork":
        raise RuntimeError("use spawn")
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
""",
    "an assertion": """

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.zeros(3).cuda()

def main():
    torch.cuda.init()
    assert mp.get_start_method() in ("spawn", "forkserver")
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)

if __name__ == "__main__":
    main()
""",
    "in the caller": """
def require_spawn():
    if mp.get_start_method() != "spawn":
        raise RuntimeError("use spawn")

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.zeros(3).cuda()

def main():
    torch.cuda.init()
    for batch in DataLoader(Rows(), num_workers=4):
        print(batch)

if __name__ == "__main__":
    require_spawn()
    main()
""",
    "a class with __enter__": """
class Spawned:
    def __enter__(self):
        if mp.get_start_method() != "spawn":
            raise RuntimeError("use spawn")

    def __exit__(self, *raised):
        pass

class Rows(Dataset):
    def __getitem__(self, index):
        return torch.zeros(3).cuda()

def main():
    torch.cuda.init()
    with Spawned():
        for batch in DataLoader(Rows(), num_workers=4):
            print(batch)

if __name__ == "__main__":
    main()
""",
}


@pytest.mark.parametrize("text", CUDA_AFTER_FORK.values(), ids=CUDA_AFTER_FORK)
def test_code_that_insists_on_a_start_method(text: str, told: Callable[..., Any]) -> None:
    assert [one.code for one in told({"train.py": HEAD + text}) if one.severity == "error"] == []


@pytest.mark.parametrize("text", CUDA_AFTER_FORK.values(), ids=CUDA_AFTER_FORK)
def test_code_that_insists_on_fork(text: str, told: Callable[..., Any]) -> None:
    forked = text.replace('"fork"', '"spawn"', 1) if '"fork"' in text else text.replace('"spawn"', '"fork"', 1)

    assert "DLL103" in {one.code for one in told({"train.py": HEAD + forked}) if one.severity == "error"}


COUNTED = (
    ROWS
    + """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_workers", type=int{default})
    args = parser.parse_args()
    for batch in DataLoader(Rows(), num_workers=args.num_workers):
        print(batch)

if __name__ == "__main__":
    {start}
    main()
"""
)


@pytest.mark.parametrize(
    ("default", "start", "python", "severity", "condition"),
    [
        pytest.param(", default=0", "pass", None, "info", True, id="off, and a newer default alone"),
        pytest.param(", default=4", "pass", None, "warning", False, id="a newer default alone"),
        pytest.param(", required=True", "pass", None, "warning", False, id="a count that has to be given"),
        pytest.param(", default=0", "pass", "3.14", "warning", False, id="off"),
        pytest.param(", default=4", "pass", "3.14", "error", False, id="the only default"),
        pytest.param(", default=0", "mp.set_start_method('spawn')", None, "warning", False, id="off, but chosen"),
        pytest.param(", default=4", "mp.set_start_method('spawn')", None, "error", False, id="chosen"),
    ],
)
def test_what_nobody_has_chosen_is_info(
    default: str, start: str, python: str | None, severity: str, condition: bool, told: Callable[..., Any]
) -> None:
    files = {"train.py": HEAD + COUNTED.format(default=default, start=start)}

    (finding,) = told(files, select=["DLL201"], **({"target_python": python} if python else {}))

    assert finding.severity == severity
    said = "Linux from Python 3.14, once `args.num_workers` is above 0 (default 0)"
    assert (said in finding.text) is condition


ONE_CAUSE: dict[str, str] = {
    "the lambdas of one Compose": """
from torchvision import transforms

class Rows(Dataset):
    def __init__(self):
        self.transform = transforms.Compose([
            transforms.Lambda(lambda image: image * 2),  # DLL201
            transforms.Lambda(lambda image: image - 1),
        ])
""",
    "both branches of one if": """
class Rows(Dataset):
    def __init__(self, double):
        if double:
            self.change = lambda row: row * 2  # DLL201
        else:
            self.change = lambda row: row
""",
    "two attributes": """
class Rows(Dataset):
    def __init__(self):
        self.change = lambda row: row * 2  # DLL201
        self.scale = lambda row: row / 2
""",
}


@pytest.mark.parametrize("text", ONE_CAUSE.values(), ids=ONE_CAUSE)
def test_one_cause(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    build = """
def build(double):
    return DataLoader(Rows(double), num_workers=2, multiprocessing_context="spawn")
"""
    files = {"train.py": HEAD + text + (build if "double):" in text else build.replace("Rows(double)", "Rows()"))}

    assert findings(files, select=["DLL201"]) == marks(files)


STORE = """\
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.env = lmdb.open(path, lock=False)

    def __getitem__(self, index):
        return self.env.begin().get(b"row")
"""


@pytest.mark.parametrize("code", ["DLL401", "DLL403"])
def test_one_store_is_one_cause(code: str, told: Callable[..., Any]) -> None:
    script = """\
from rows import *

def main():
    return DataLoader(Rows("a"), num_workers=2, pin_memory=True, persistent_workers=True)
"""
    (finding,) = told({"rows.py": STORE, "first.py": script, "second.py": script, "third.py": script}, select=[code])

    related = [(place.path.rsplit("/", 1)[-1], place.span.line) for place in finding.related]
    assert related == [("rows.py", 6), ("second.py", 4), ("third.py", 4)]


COPIED = """
class Rows(Dataset):
    def __getitem__(self, index):
        return index

    def __len__(self):
        return 9

def build():
    return DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn", collate_fn=lambda rows: rows)

print("{name}")
"""


def test_near_copies_of_one_script_are_one_cause(told: Callable[..., Any]) -> None:
    files = {f"{name}/train.py": HEAD + COPIED.format(name=name) for name in ("a", "b", "c")}
    other = "import torch.utils.data as data\n\n" + "\n".join(f"print({n})" for n in range(20)) + "\n"
    files["d/train.py"] = other + HEAD + COPIED.format(name="d")

    found = told(files, select=["DLL204"])

    assert [one.path.rsplit("/", 2)[-2] for one in found] == ["a", "d"]
    copies = [place.path.rsplit("/", 2)[-2] for place in found[0].related if "copy" in place.message]
    assert copies == ["b", "c"]


def test_all_loaders_of_a_near_copy_are_named(told: Callable[..., Any]) -> None:
    lines = "\n".join(f"    print({n})" for n in range(20))
    script = f"""\
import torch.multiprocessing as mp
from torch.utils.data import DataLoader


def run(rank):
{lines}
    train = DataLoader(range(9), num_workers=4)
    val = DataLoader(range(9), num_workers=2)


if __name__ == "__main__":
    mp.spawn(run, nprocs=2)
"""
    (found,) = told({"a.py": script, "b.py": script}, select=["DLL101"])

    placed = [(place.path[-4:], place.span.line) for place in found.related]
    assert [one for one in placed if one[0] == "b.py"] == [("b.py", 26), ("b.py", 27)]


def test_near_copies_in_folders_apart_have_the_same_name(told: Callable[..., Any]) -> None:
    names = ("one/sound/train.py", "two/image/train.py", "three/text/train.py", "four/text/other.py")

    found = told({name: HEAD + COPIED.format(name=name) for name in names}, select=["DLL204"])

    assert [one.path.rsplit("/", 3)[-3] for one in found] == ["four", "one"]
    copies = [place.path.rsplit("/", 3)[-3] for place in found[1].related if "copy" in place.message]
    assert copies == ["three", "two"]


def test_a_copy_that_is_silenced_is_not_named(told: Callable[..., Any]) -> None:
    files = {f"{name}.py": HEAD + COPIED.format(name=name) for name in ("a", "b")}
    files["b.py"] = files["b.py"].replace("rows: rows)", "rows: rows)  # dllint: ignore[DLL204]")

    (found,) = told(files, select=["DLL204"])

    assert [place.path for place in found.related if "copy" in place.message] == []


LAMBDA = """\
from torch.utils.data import DataLoader

def build():
    return DataLoader([], num_workers=2, multiprocessing_context="spawn", collate_fn=lambda rows: rows)
"""


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("train.py", "error"),
        ("package/testing.py", "error"),
        ("tests/loading.py", "warning"),
        ("package/tests/loading.py", "warning"),
        ("package/test_loading.py", "warning"),
        ("package/loading_test.py", "warning"),
        ("examples/imagenet/main.py", "warning"),
        ("docs/tutorials/first.py", "warning"),
        ("docs/current/training.py", "warning"),
        ("documents/training.py", "error"),
    ],
)
def test_tests_and_examples_weigh_less(path: str, severity: str, told: Callable[..., Any]) -> None:
    (found,) = told({path: LAMBDA}, select=["DLL204"])

    assert found.severity == severity


@pytest.mark.parametrize(("launcher", "severity"), [("train.py", "error"), ("tests/test_train.py", "warning")])
def test_what_only_a_launcher_in_a_test_brings_about_weighs_less(
    launcher: str, severity: str, told: Callable[..., Any]
) -> None:
    files = {
        "data.py": LAMBDA.replace('multiprocessing_context="spawn", ', ""),
        launcher: "import torch.multiprocessing as mp\nimport data\n\ndef main(rank):\n"
        "    for rows in data.build():\n        print(rows)\n\ndef test_main():\n    mp.spawn(main, nprocs=2)\n",
    }

    (found,) = told(files, select=["DLL204"])

    assert (found.path.rsplit("/", 1)[-1], found.severity) == ("data.py", severity)


def test_which_files_weigh_less_is_a_setting(told: Callable[..., Any]) -> None:
    files = {"tests/loading.py": LAMBDA, "demo/loading.py": LAMBDA.replace("build", "make")}
    files["pyproject.toml"] = '[tool.dllint]\nlower-severity = ["demo/"]\n'

    found = told(files, select=["DLL204"])

    assert {one.path.rsplit("/", 2)[-2]: one.severity for one in found} == {"tests": "error", "demo": "warning"}


@pytest.mark.parametrize(
    ("recipe", "method"),
    [
        pytest.param("recipes/digits/train.py", "forkserver", id="a script beside the package"),
        pytest.param("brain/digits.py", "spawn", id="a module of the package, which may be imported by its name"),
    ],
)
def test_a_launcher_of_another_program_decides_nothing(told: Callable[..., Any], recipe: str, method: str) -> None:
    """A package that imports modules by their names can import those of packages; scripts are run."""
    files = {
        "brain/__init__.py": "",
        "brain/core.py": """\
import importlib

from torch.utils.data import DataLoader

def find(name):
    return importlib.import_module(name)

def fit(rows, **options):
    for batch in DataLoader(rows, num_workers=2, **options):
        print(batch)
""",
        "checks/sampling.py": """\
import torch.multiprocessing as mp

from brain.core import find, fit

def recipe(rank):
    fit(list(range(9)))

def run():
    mp.set_start_method("spawn", force=True)
    mp.Process(target=recipe, args=(0,)).start()

if __name__ == "__main__":
    run()
""",
        recipe: """\
from brain.core import fit

def prepare():
    def pipeline(rows):
        return rows[0]
    return pipeline

if __name__ == "__main__":
    fit(list(range(9)), collate_fn=prepare())
""",
    }
    (finding,) = told(files, select=["DLL202", "DLL204"])
    assert finding.start_methods == (method,)
