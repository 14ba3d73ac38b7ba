"""The findings of a project do not hang on the order of sets, which differs from run to run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ALIASES = 40
"""Names of one function, each with another name: more than are followed."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A function that is started under so many names that not all of them are followed."""
    lines = ["import multiprocessing as mp", "from torch.utils.data import DataLoader", ""]
    lines += ["def train(rows, workers):", "    return DataLoader(rows, num_workers=workers)", ""]
    lines += [f"run{number} = train\ngo{number} = run{number}" for number in range(ALIASES)]
    for number in range(ALIASES):
        lines += ["", f"def start{number}(rows):", f"    go{number}(rows, 2)"]
    lines += ["", "def main(rows):"]
    lines += [
        f"    mp.get_context('spawn').Process(target=start{number}, args=(rows,)).start()" for number in range(ALIASES)
    ]
    (tmp_path / "train.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_the_same_findings_whatever_the_seed_of_hashes(project: Path) -> None:
    seen = set()
    for seed in ("0", "1", "2", "3"):
        process = subprocess.run(
            [sys.executable, "-m", "dllint", "check", "--isolated", "--no-cache", "--output-format", "json", "."],
            cwd=project,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert json.loads(process.stdout)
        seen.add(process.stdout)
    assert len(seen) == 1


LOADER_NAMES = """
import sys
from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.inference.engine import World
from dllint.libraries.knowledge import Libraries
from dllint.project.loader_search import find_loaders
world = World({"train.py": extract(sys.stdin.read())}, Settings(), Libraries)
print([loader.span.line for loader in find_loaders(world)], dict(world.limits))
"""


def test_the_same_loaders_are_found_where_not_all_names_of_loaders_are_followed() -> None:
    """Two classes of loaders under 400 names, of which 300 are followed."""
    lines = ["from torch.utils.data import DataLoader", "from torchdata.stateful_dataloader import StatefulDataLoader"]
    lines += [f"Plain{number} = DataLoader\nStateful{number} = StatefulDataLoader" for number in range(200)]
    lines += [f"Plain{number}([1])\nStateful{number}([1])" for number in range(200)]
    seen = set()
    for seed in ("0", "4", "6"):
        process = subprocess.run(
            [sys.executable, "-c", LOADER_NAMES],
            env={**os.environ, "PYTHONHASHSEED": seed},
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
        )
        assert "names under which loaders are made" in process.stdout
        seen.add(process.stdout)
    assert len(seen) == 1
