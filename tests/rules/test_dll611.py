"""DLL611: which loaders shuffle with a generator of the CPU while CUDA is the default device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import in_one_file

HEAD = """\
import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler, SubsetRandomSampler
from torch.utils.data import random_split

"""
CUDA = 'torch.set_default_device("cuda:1")\n'
LOADER = "loader = DataLoader([1, 2], shuffle=True)"

FOUND = {
    "the device": f"{CUDA}{LOADER}  # DLL611\n",
    "a device object": f'torch.set_default_device(torch.device("cuda", 1))\n{LOADER}  # DLL611\n',
    "a type": f"torch.set_default_tensor_type(torch.cuda.HalfTensor)\n{LOADER}  # DLL611\n",
    "an alias": f"from torch import set_default_device as default\ndefault(device='cuda')\n{LOADER}  # DLL611\n",
    "a generator of the CPU": CUDA
    + "loader = DataLoader([1, 2], shuffle=True, generator=torch.Generator())  # DLL611\n",
    "a random sampler": CUDA + "loader = DataLoader([1, 2], sampler=RandomSampler([1, 2]))  # DLL611\n",
    "in batches": CUDA
    + "loader = DataLoader([1], batch_sampler=BatchSampler(RandomSampler([1]), 1, False))  # DLL611\n",
    "a distributed sampler": CUDA
    + "loader = DataLoader([1], sampler=DistributedSampler([1]), generator=torch.Generator('cuda'))  # DLL611\n",
    "a generator of the CPU for a loader in order": CUDA
    + "loader = DataLoader([1, 2], generator=torch.Generator())  # DLL611\n",
    "a subset sampler with a generator of the CPU": CUDA
    + "loader = DataLoader([1], sampler=SubsetRandomSampler([0], torch.Generator()))  # DLL611\n",
    "a split": f"{CUDA}random_split([1, 2], [1, 1])  # DLL611\n",
    "a split with a generator of the CPU": CUDA
    + "def main():\n    random_split([1, 2], [1, 1], generator=torch.Generator().manual_seed(1))  # DLL611\n",
    "a dict": f'{CUDA}options = {{"shuffle": True}}\nloader = DataLoader([1, 2], **options)  # DLL611\n',
    "or the CPU by an option": """
def main(args):
    if torch.cuda.is_available():
        if args.cuda:
            torch.set_default_tensor_type("torch.cuda.FloatTensor")
        if not args.cuda:
            print("CUDA is there, but not used")
            torch.set_default_tensor_type("torch.FloatTensor")
    else:
        torch.set_default_tensor_type("torch.FloatTensor")
    return DataLoader([1, 2], shuffle=True)  # DLL611
""",
    "in a function that is called": """
def prepare(args):
    if args.cuda:
        torch.set_default_tensor_type("torch.cuda.FloatTensor")

def build():
    return DataLoader([1, 2], shuffle=True)  # DLL611

def main(args):
    prepare(args)
    build()

if __name__ == "__main__":
    main(None)
""",
}

SILENT = {
    "no default": f'device = torch.device("cuda")\n{LOADER}\n',
    "the CPU": f'torch.set_default_device("cpu")\n{LOADER}\n',
    "a type of the CPU": f'torch.set_default_tensor_type("torch.FloatTensor")\n{LOADER}\n',
    "another setter": f"torch.set_default_dtype(torch.float64)\ntorch.cuda.set_device(0)\n{LOADER}\n",
    "set back": f'{CUDA}print(torch.ones(3))\ntorch.set_default_device("cpu")\n{LOADER}\n',
    "set back by another option": """
def main(args):
    if args.cuda:
        torch.set_default_device("cuda")
    print(torch.ones(3))
    if args.loading:
        torch.set_default_device("cpu")
    return DataLoader([1, 2], shuffle=True)
""",
    "an unknown device": f"def main(device):\n    torch.set_default_device(device)\n    {LOADER}\n",
    "no shuffling": f"{CUDA}loader = DataLoader([1, 2])\n",
    "a generator of CUDA": CUDA + 'loader = DataLoader([1, 2], shuffle=True, generator=torch.Generator("cuda"))\n',
    "an unknown generator": CUDA + "def build(made):\n    return DataLoader([1, 2], shuffle=True, generator=made)\n",
    "a sampler with a generator": CUDA
    + "loader = DataLoader([1], sampler=RandomSampler([1], generator=torch.Generator(device='cuda')))\n",
    "a split before": f"random_split([1, 2], [1, 1])\n{CUDA}",
    "a split with a generator of CUDA": CUDA + "random_split([1, 2], [1, 1], torch.Generator('cuda').manual_seed(1))\n",
    "a split with an unknown generator": CUDA
    + "def main(made, options):\n    random_split([1], [1], generator=made)\n    random_split([1], [1], **options)\n",
    "a sampler that needs none": CUDA + "loader = DataLoader([1, 2], sampler=SubsetRandomSampler([1]))\n",
    "a distributed sampler of which a file says whether it shuffles": "import json\n"
    + CUDA
    + "loader = DataLoader([1], sampler=DistributedSampler([1], shuffle=json.load(open('a.json'))['shuffle']))\n",
    "a distributed sampler in order": CUDA
    + "loader = DataLoader([1], sampler=DistributedSampler([1], shuffle=False))\n",
}

test_found, test_silent = in_one_file("DLL611", FOUND, SILENT, HEAD)


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (FOUND["the device"], "error"),
        (FOUND["in a function that is called"], "warning"),
        (f"if torch.cuda.is_available():\n    {CUDA}{LOADER}\n", "warning"),
    ],
)
def test_a_condition_makes_it_a_warning(text: str, severity: str, told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": HEAD + text}, select=["DLL611"])

    assert found.severity == severity


@pytest.mark.parametrize(
    ("files", "severities"),
    [
        ({"requirements.txt": "torch==1.7.0\n"}, []),
        ({"environment.yml": "dependencies:\n  - pytorch=1.8.1\n"}, []),
        ({"requirements.txt": "torch==1.9.0\n"}, ["error"]),
        ({"requirements.txt": "torch>=1.7\n"}, ["error"]),
        ({"README.md": "# Requirements\n\n- PyTorch 1.7\n"}, ["warning"]),
        ({"requirements.txt": "torch==1.7\n", "setup.py": 'setup(install_requires=["torch>=1.7,<3"])\n'}, ["warning"]),
    ],
)
def test_before_torch_1_9_any_generator_would_do(
    files: dict[str, str], severities: list[str], told: Callable[..., Any]
) -> None:
    found = told({"train.py": HEAD + FOUND["the device"], **files}, select=["DLL611"])

    assert [one.severity for one in found] == severities


def test_another_program_sets_it(told: Callable[..., Any]) -> None:
    files = {
        "data.py": HEAD + "def build():\n    return DataLoader([1, 2], shuffle=True)\n",
        "train.py": "import data\n\nif __name__ == '__main__':\n    data.build()\n",
        "render.py": HEAD + f"if __name__ == '__main__':\n    {CUDA}    print(torch.ones(2))\n",
    }

    assert told(files, select=["DLL611"]) == ()


def test_programs_that_a_name_chooses_between_do_not_set_it_for_each_other(
    findings: Callable[..., Any], marks: Callable[..., Any]
) -> None:
    files = {
        "main.py": "import importlib, sys\nmodule = importlib.import_module(f'models.{sys.argv[1]}')\nmodule.train()\n",
        "models/__init__.py": "",
        "models/first.py": HEAD
        + 'def train():\n    torch.set_default_device("cuda")\n    for batch in build():\n        pass\n'
        + "def build():\n    return DataLoader([1, 2], shuffle=True)  # DLL611\n",
        "models/second.py": HEAD + "def train():\n    for batch in DataLoader([1, 2], shuffle=True):\n        pass\n",
    }
    assert findings(files, select=["DLL611"]) == marks(files)
