"""DLL103: modules that initialize CUDA where a process has loaded them, and where only its children do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CONFIG = 'import torch\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
NET = "import torch\n\n\ndef detect(image):\n    return torch.zeros(3).cuda() + image\n"
PROGRAM = """\
from multiprocessing import Pool
{top}

def task(path):
    {inside}
    from net import detect

    return detect(path)


def prepare():
    {helper}
    return ["a", "b"]


def unused():
    {elsewhere}


def main():
    {before}
    paths = prepare()
    with Pool(4) as pool:
        print(list(pool.imap(task, paths)))


if __name__ == "__main__":
    main()
"""
PLACES = ("top", "inside", "helper", "elsewhere", "before")


def found_with_import(place: str, findings: Callable[..., Any]) -> bool:
    statements = {one: "import config" if one == place else "" if one == "top" else "pass" for one in PLACES}
    files = {"config.py": CONFIG, "net.py": NET, "train.py": PROGRAM.format(**statements)}
    return bool(findings(files, select=["DLL103"]))


@pytest.mark.parametrize("place", ["top", "helper", "before"])
def test_what_the_process_loads(place: str, findings: Callable[..., Any]) -> None:
    assert found_with_import(place, findings)


@pytest.mark.parametrize("place", ["inside", "elsewhere"])
def test_what_it_does_not_load(place: str, findings: Callable[..., Any]) -> None:
    assert not found_with_import(place, findings)


def test_what_the_top_level_of_a_module_loads_by_a_function(findings: Callable[..., Any]) -> None:
    statements = {one: "import tools" if one == "top" else "pass" for one in PLACES}
    files = {
        "config.py": CONFIG,
        "net.py": NET,
        "tools.py": "def load():\n    from config import device\n\n    return device\n\n\nDEVICE = load()\n",
        "train.py": PROGRAM.format(**statements),
    }
    assert findings(files, select=["DLL103"])
