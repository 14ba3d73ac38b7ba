"""Random projects, the same ones in each run: a check of each ends in time and without an internal error."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from tests.pace import slowness

from dllint import linter
from dllint.config import load
from dllint.linter import Execution
from dllint.setting_values import ConfigError

BUDGET_S = 4
SLOWEST_S = 5
PIECES = [
    *(
        "import ",
        "from ",
        "torch",
        ".utils.data ",
        "DataLoader",
        "Dataset",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "=",
        "\n",
    ),
    *(
        "    ",
        "\t",
        "\r",
        "\\\n",
        "#",
        "noqa: DLL101",
        "dllint: ignore[",
        "'",
        '"',
        "'''",
        "f'",
        "{{",
        "lambda x: x",
        "def f():\n",
    ),
    *(
        "class D(Dataset):\n",
        "num_workers",
        "1e400",
        "0x",
        "99999999999999999999",
        "float('nan')",
        "range(",
        "mp.spawn(f)",
        "\0",
    ),
    *(
        "# coding: ",
        "latin-1",
        "utf-16",
        "é",
        "\ud800",
        "\x1b[31m",
        "*",
        "**",
        "/",
        "!",
        "a",
        ".",
        "<<: *a\n",
        "&a ",
        "!!bool x",
    ),
    *(
        "[tool.dllint]\n",
        "select",
        "cache-dir",
        "NaN",
        "null",
        "\ufeff",
        "open('c.json')",
        "json.load(",
        "async ",
        "await ",
        "return\n",
    ),
]
NAMES = ("train.py", "data.py", "c.json", "c.yaml", "pyproject.toml", ".gitignore", ".git/index", "pkg/__init__.py")
VALID = (
    "import json, yaml\nfrom torch.utils.data import DataLoader, Dataset\nimport torch.multiprocessing as mp\n"
    "C = json.load(open('c.json'))\nY = yaml.safe_load(open('c.yaml'))\n"
    "class D(Dataset):\n    def __getitem__(self, i):\n        return C[i]\n"
    "def f(rank, n=C['n'], *a, **k):\n    DataLoader(D(), num_workers=n, collate_fn=lambda x: x, **Y)\n"
    "if __name__ == '__main__':\n    mp.spawn(f, nprocs=4)\n"
)


def content(chance: random.Random, name: str) -> bytes:
    if name.endswith(".py") and chance.random() < 0.6:
        text = VALID
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(PIECES) + text[at + chance.choice((0, 0, 1, 5)) :]
    else:
        text = "".join(chance.choice(PIECES) * chance.choice((1, 1, 1, 1, 50)) for _ in range(chance.randint(0, 60)))
    data = text.encode("utf-8", "surrogatepass")
    return data if chance.random() < 0.9 else data + bytes(chance.randrange(256) for _ in range(20))


@pytest.mark.parametrize("seed", [1, 2])
def test_no_project_breaks_a_check(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    ends = time.process_time() + BUDGET_S
    for number in range(150):
        if time.process_time() > ends:
            break
        root = tmp_path / str(number)
        for name in NAMES:
            if name == "train.py" or chance.random() < 0.5:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(content(chance, name))
        started = time.process_time()
        try:
            report = linter.check([str(root)], load([str(root)]), Execution(jobs=1, cache=False))
        except ConfigError as error:
            assert "\n" not in str(error)
        else:
            told = [*report.problems, *(one.text for one in report.findings)]
            assert not any("internal error" in one for one in told), (number, told)
        assert time.process_time() - started < SLOWEST_S * slowness()
