"""DLL106: what a forkserver of Python 3.14 initialises for its processes, and what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

SELECT = {"select": ["DLL106"]}

HEAD = """\
import multiprocessing as mp

import torch
from torch.utils.data import DataLoader, Dataset
"""
WORK = """
def work(number=0):
    print(torch.ones(8).cuda())
"""
START = """
if __name__ == "__main__":
    mp.get_context("forkserver").Process(target=work).start()
"""
ASKED = "\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu'){}\n"
MARKED, PLAIN = ASKED.format("  # DLL106"), ASKED.format("")

FOUND: dict[str, str] = {
    "a device": MARKED + WORK + START,
    "by another name": "\nfrom torch.cuda import init as begin\n\nbegin()  # DLL106\n" + WORK + START,
    "in a pool": MARKED
    + WORK
    + "\nif __name__ == '__main__':\n    mp.get_context('forkserver').Pool(2).map(work, [1])\n",
    "set for the program": MARKED
    + WORK
    + "\nif __name__ == '__main__':\n    mp.set_start_method('forkserver')\n    mp.Process(target=work).start()\n",
    "deeper on both sides": """
torch.zeros(1, device="cuda")  # DLL106

class Trainer:
    def step(self):
        return torch.ones(8).to("cuda:1")

def work(**options):
    Trainer().step()

def main():
    options = {"target": work}
    mp.get_context("forkserver").Process(target=work, kwargs=options).start()

if __name__ == "__main__":
    main()
""",
    "workers, with the options in a dict": MARKED
    + """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8).to(device)

if __name__ == "__main__":
    options = {"num_workers": 2, "multiprocessing_context": "forkserver"}
    for rows in DataLoader(Rows(), **options):
        print(rows)
""",
}

SILENT: dict[str, str] = {
    "spawn": PLAIN + WORK + START.replace("forkserver", "spawn"),
    "in a function": "\ndef choose():\n    return torch.cuda.is_available()\n" + WORK + START,
    "under the guard": WORK + START + "    torch.cuda.init()\n",
    "what initialises nothing": "\ntorch.cuda.manual_seed_all(1)\ndevice = torch.device('cuda')\n" + WORK + START,
    "a process on the CPU": PLAIN + "\ndef work():\n    print(torch.ones(8))\n" + START,
    "a device that is not known": PLAIN
    + "\nfrom somewhere import chosen\n\ndef work():\n    print(torch.ones(8).to(chosen))\n"
    + START,
    "no workers": PLAIN
    + """
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.ones(8).cuda()

for rows in DataLoader(Rows()):
    print(rows)
""",
}


test_found, test_silent = in_one_file("DLL106", FOUND, SILENT, HEAD)


def test_across_files(told: Callable[..., Any], relative: Callable[[str], str]) -> None:
    files = {
        "devices.py": "import torch\n\nDEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
        "work.py": "import torch\n\ndef work():\n    print(torch.ones(8).cuda())\n",
        "train.py": "import multiprocessing as mp\n\nimport devices\nfrom work import work\n" + START,
    }

    (finding,) = told(files, **SELECT)

    assert (relative(finding.path), finding.span.line, finding.severity) == ("devices.py", 3, "error")
    assert [(relative(place.path), place.span.line) for place in (*finding.trace, *finding.related)] == [
        ("train.py", 7),
        ("work.py", 4),
    ]


DEFAULT = HEAD + PLAIN + WORK + "\nif __name__ == '__main__':\n    mp.Process(target=work).start()\n"


@pytest.mark.parametrize(
    ("targets", "found"),
    [(">=3.14", {("train.py", 6, "DLL106")}), (">=3.10,<3.15", set()), (">=3.10,<3.14", set())],
)
def test_the_default_of_all_targets(targets: str, found: set[Any], findings: Callable[..., Any]) -> None:
    assert findings({"train.py": DEFAULT}, target_python=targets, **SELECT) == found


def test_a_server_that_imports_nothing(findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + FOUND["a device"]}, target_python=">=3.10,<3.14", **SELECT) == set()
