"""DLL607: which bare `next` calls of datasets can end an epoch, and which not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL607"]}
HEAD = "import csv, itertools\nfrom torch.utils.data import DataLoader, Dataset, IterableDataset\n\n"


def dataset(made: str, item: str, more: str = "") -> str:
    return (
        "class Rows(Dataset):\n    def __init__(self, rows=()):\n        self.rows = [1, 2]\n"
        f"        self.it = {made}\n\n    def __len__(self):\n        return 8\n\n"
        f"    def __getitem__(self, index):\n        {item}\n{more}\nloader = DataLoader(Rows(), num_workers=2)\n"
    )


BARE = "return next(self.it)  # DLL607"
FOUND: dict[str, str] = {
    "a list": dataset("iter([1, 2])", BARE),
    "an attribute": dataset("iter(self.rows)", BARE),
    "enumerated and zipped": dataset("enumerate(zip(self.rows, range(3)))", BARE),
    "a generator expression": dataset("(row + 1 for row in self.rows)", BARE),
    "a reader": dataset("csv.reader(open('rows.csv'))", BARE),
    "a generator of the class": dataset(
        "self.read()", BARE, "\n    def read(self):\n        for row in self.rows:\n            yield row\n"
    ),
    "in a helper": dataset(
        "iter([1])", "return self.draw()", "\n    def draw(self):\n        return next(self.it)  # DLL607\n"
    ),
    "a subclass": dataset("iter([1])", BARE)
    .replace("loader =", "class More(Rows):\n    pass\n\nloader =")
    .replace("DataLoader(Rows()", "DataLoader(More()"),
    "caught as something else": dataset(
        "iter([1])",
        "try:\n            return next(self.it)  # DLL607\n        except (KeyError, OSError):\n            pass",
    ),
    "made later": dataset(
        "None",
        "if self.it is None:\n            self.it = iter(self.rows)\n        return next(self.it)  # DLL607",
    ),
}

SILENT: dict[str, str] = {
    "a default": dataset("iter([1])", "return next(self.it, None)"),
    "caught": dataset(
        "iter([1])",
        "try:\n            return next(self.it)\n        except StopIteration:\n            return 0",
    ),
    "caught among others": dataset(
        "iter([1])",
        "try:\n            return next(self.it)\n        except (KeyError, StopIteration):\n            return 0",
    ),
    "caught around the helper": dataset(
        "iter([1])",
        "try:\n            return self.draw()\n        except Exception:\n            return 0",
        "\n    def draw(self):\n        return next(self.it)\n",
    ),
    "a cycle": dataset("itertools.cycle(self.rows)", "return next(self.it)"),
    "counting": dataset("itertools.count()", "return next(self.it)"),
    "an endless generator": dataset(
        "self.read()",
        "return next(self.it)",
        "\n    def read(self):\n        while True:\n            yield from self.rows\n",
    ),
    "what is not known": dataset("iter(rows)", "return next(self.it)").replace(
        "loader = DataLoader(Rows(), num_workers=2)",
        "def build(rows):\n    return DataLoader(Rows(rows), num_workers=2)",
    ),
    "the first that fits": dataset("None", "return next(row for row in self.rows if row > index)"),
    "the only key": dataset("{1: 2}", "return next(iter(self.it))"),
    "not read by a loader": dataset("iter([1])", "return next(self.it)").replace(
        "loader = DataLoader(", "rows = print("
    ),
    "an iterable dataset": dataset("iter([1])", "return next(self.it)")
    .replace("(Dataset)", "(IterableDataset)")
    .replace("__getitem__(self, index)", "__iter__(self)"),
    "outside of __getitem__": dataset(
        "iter([1])", "return index", "\n    def peek(self):\n        return next(self.it)\n"
    ),
}

LOADERS = "[iter(DataLoader(row)) for row in rows]"
COPIED: dict[str, str] = {
    "of a list": dataset(LOADERS, "return next(self.it[index])  # DLL607"),
    "of a list that grows": dataset(
        "[]\n        for row in rows:\n            self.it.append(iter(DataLoader(row)))",
        "return next(self.it[self.rows[index]])  # DLL607",
    ),
    "of a dict": dataset("{1: iter(DataLoader(rows))}", "return next(self.it[index])  # DLL607"),
    "of a dict that grows": dataset(
        "{}\n        for row in rows:\n            self.it[row] = iter(DataLoader(row))",
        "return next(self.it[self.rows[index]])  # DLL607",
    ),
    "in a helper": dataset(
        LOADERS, "return self.draw(index)", "\n    def draw(self, i):\n        return next(self.it[i])  # DLL607\n"
    ),
}
NOT_COPIED: dict[str, str] = {
    "no workers": dataset(LOADERS, "return next(self.it[index])").replace("num_workers=2", "num_workers=0"),
    "one worker": dataset(LOADERS, "return next(self.it[index])").replace("num_workers=2", "num_workers=1"),
    "made by workers": dataset(
        "None",
        "if self.it is None:\n            self.it = [iter(DataLoader(row)) for row in self.rows]\n"
        "        return next(self.it[index])",
    ),
    "made again by workers": dataset(
        "[None, None]",
        "self.it[index] = iter(DataLoader(self.rows))\n        return next(self.it[index])",
    ),
    "of lists": dataset("[iter(row) for row in rows]", "return next(self.it[index])"),
    "the first of each": dataset("[DataLoader(row) for row in rows]", "return next(iter(self.it[index]))"),
}


@pytest.mark.parametrize("text", COPIED.values(), ids=COPIED)
def test_copied(text: str, findings: Callable[..., Any], told: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + text}

    assert findings(files, **SELECT) == marks(files) != set()
    assert [(one.message, one.severity) for one in told(files, **SELECT)] == [("copied", "warning")]


@pytest.mark.parametrize("text", NOT_COPIED.values(), ids=NOT_COPIED)
def test_not_copied(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + text}, **SELECT) == set()


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + text}

    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + text}, **SELECT) == set()


CURSOR = dataset(
    "iter(lmdb.open('rows').begin().cursor())",
    "key, value = next(self.it)  # DLL607\n        if key == b'length':\n            key, value = next(self.it)\n"
    "        return value",
)


@pytest.mark.parametrize(("workers", "severity"), [(2, "error"), (0, "warning")])
def test_an_iterator_runs_out_with_any_number_of_workers(
    workers: int, severity: str, told: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {"train.py": HEAD + "import lmdb\n" + CURSOR.replace("num_workers=2", f"num_workers={workers}")}

    (finding,) = told(files, **SELECT)

    assert {(line, code) for _, line, code in marks(files)} == {(finding.span.line, "DLL607")}
    assert finding.severity == severity
    assert [one.message for one in finding.related] == [
        "this iterator runs out",
        "this takes from it, too",
        "this reads the dataset",
    ]
