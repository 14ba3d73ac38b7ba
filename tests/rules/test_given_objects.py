"""Which datasets a loader gets: what one object was given, what tests of its class leave, which chain leads there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dllint.finding import Finding

Told = Callable[..., tuple[Finding, ...]]
Seen = Callable[[dict[str, str]], list[tuple[str, int, str]]]


@pytest.fixture
def seen(told: Told) -> Seen:
    """File, line and severity of the findings of DLL201."""

    def check(files: dict[str, str]) -> list[tuple[str, int, str]]:
        found = told(files, select=["DLL201"])
        return sorted((Path(one.path).name, one.span.line, str(one.severity)) for one in found)

    return check


def _line(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


MIXED = """\
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, step):
        self.step = step

    def __getitem__(self, index):
        return self.step(index)


class Mixed(Dataset):
    def __init__(self, parts):
        self.parts = parts

    def __getitem__(self, index):
        return self.parts[0][index]


def double(row):
    return row * 2


"""


def test_what_one_wrapper_was_given_is_not_what_another_was(
    seen: Seen,
) -> None:
    spawned = ", num_workers=2, multiprocessing_context='spawn')\n"
    plain = "".join(f"loader_{number} = DataLoader(Mixed([Rows(double)]){spawned}" for number in range(20))
    local = "local = Mixed([Rows(lambda row: row)])\n"
    text = MIXED + plain + local + "loader = DataLoader(local, num_workers=0)\n"
    assert seen({"data.py": text}) == []
    text = MIXED + plain + local + f"loader = DataLoader(local{spawned}"
    assert seen({"data.py": text}) == [("data.py", _line(text, "local ="), "error")]


KINDS = """\
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Rows(Dataset):
    def __getitem__(self, index):
        return index


class Stream(IterableDataset):
    def __init__(self):
        self.step = lambda row: row

    def __iter__(self):
        return iter([1])


class Shuffled(Stream):
    pass


def make(kind):
    if kind == "stream":
        return Stream()
    if kind == "shuffled":
        return Shuffled()
    return Rows()


def loader(kind):
    rows = make(kind)
    {test}
    return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")
"""


@pytest.mark.parametrize(
    "test",
    [
        "if isinstance(rows, Stream):\n        return rows",
        "if isinstance(rows, (Stream, list)) or kind is None:\n        return rows",
        "if not rows or isinstance(rows, IterableDataset):\n        return rows",
        "if not isinstance(rows, Rows):\n        raise ValueError(kind)",
    ],
)
def test_a_test_of_the_class_leaves_the_others(seen: Seen, test: str) -> None:
    assert seen({"data.py": KINDS.replace("{test}", test)}) == []


@pytest.mark.parametrize(
    "test",
    [
        "pass",
        "if isinstance(rows, Shuffled):\n        return rows",
        "if isinstance(rows, Rows):\n        return rows",
        "if kind and isinstance(rows, Stream):\n        return rows",
        "if isinstance(rows, Stream):\n        print(rows)",
        "if isinstance(rows, Stream):\n        return rows\n    rows = make('stream')",
        "if isinstance(kind, Stream):\n        return rows",
        "if isinstance(rows, kind):\n        return rows",
    ],
)
def test_other_tests_leave_it(seen: Seen, test: str) -> None:
    text = KINDS.replace("{test}", test)
    assert seen({"data.py": text}) == [("data.py", _line(text, "lambda"), "error")]


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
def test_a_chain_is_only_told_of_the_datasets_that_it_gives(seen: Seen, launched: str, severity: str) -> None:
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
    found = seen({"models.py": MODELS, "program.py": program})
    assert found == [("models.py", _line(MODELS, "lambda"), severity)]


TEMPLATES = """\
from torch.utils.data import DataLoader, Dataset
from tools import build


class Rows(Dataset):
    def __getitem__(self, index):
        return index


class Sounds(Dataset):
    def __init__(self):
        self.step = lambda row: row

    def __getitem__(self, index):
        return index


class Model:
    def build(self):
        self.rows = {base}()

    def setup(self):
        self.build()
        return self.loader(self.rows)

    def loader(self, rows):
        return DataLoader(rows, num_workers=0)


class Spawned(Model):
    def build(self):
        {call}
        self.more = 1
        {own}

    def loader(self, rows):
        return DataLoader(rows, num_workers=2, multiprocessing_context="spawn")


class Other(Model):
    def build(self):
        self.rows = Sounds()
"""


@pytest.mark.parametrize(
    ("base", "call", "own", "lines"),
    [
        ("Rows", "pass", "self.rows = Rows()", []),
        ("Sounds", "pass", "self.rows = Rows()", []),
        ("Sounds", "build()", "self.rows = Rows()", []),
        ("Sounds", "super().build()", "pass", ["lambda"]),
        ("Sounds", "Model.build(self)", "pass", ["lambda"]),
        ("Rows", "pass", "self.rows = Sounds()", ["lambda"]),
    ],
)
def test_a_class_below_keeps_what_its_own_methods_and_those_it_inherits_make(
    seen: Seen, base: str, call: str, own: str, lines: list[str]
) -> None:
    text = TEMPLATES.replace("{base}", base).replace("{call}", call).replace("{own}", own)
    assert seen({"data.py": text}) == [("data.py", _line(text, words), "error") for words in lines]


def test_reading_a_property_that_has_a_setter_runs_the_getter(told: Told) -> None:
    text = """\
import cv2
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self._size = 3

    @property
    def blurred(self):
        return cv2.blur(self.rows, (self._size, self._size))

    @blurred.setter
    def blurred(self, size):
        self._size = size

    def __getitem__(self, index):
        return self.blurred[index]


loader = DataLoader(Rows([1]), num_workers=2)
"""
    assert [one.span.line for one in told({"data.py": text}, select=["DLL501"])] == [_line(text, "cv2.blur")]
    assert told({"data.py": text.replace("return self.blurred[", "return self.rows[")}, select=["DLL501"]) == ()


LOOKED_UP = """\
from elsewhere import processors
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, processor):
        self.processor = processor

    def __getitem__(self, index):
        return self.processor.{name}(index)


class Runner:
    def {name}(self, row):
        return row.cuda()


Runner().{name}(processors)
loader = DataLoader(Rows(processors[0] | processors[1]), num_workers=2)
"""


@pytest.mark.parametrize(("name", "found"), [("preprocess", False), ("prepare_rows", True)])
def test_a_method_with_a_common_name_is_not_looked_up_by_it(told: Told, name: str, found: bool) -> None:
    text = LOOKED_UP.replace("{name}", name)
    assert bool(told({"data.py": text}, select=["DLL103"])) is found
