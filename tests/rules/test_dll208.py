"""DLL208: which items carry gradients that workers cannot stack, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.rules.conftest import in_one_file

HEAD = """\
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.ReLU())
        self.last = nn.Linear(3, 3)

    def forward(self, x):
        return self.last(self.layers(x))

class Frozen(Encoder):
    @torch.no_grad()
    def forward(self, x):
        return self.last(x)

class Rows(Dataset):
    def __init__(self):
        self.net = {net}
        self.weight = nn.Parameter(torch.ones(3))
        self.row = torch.zeros(3)

    def __len__(self):
        return 9

"""
LOADER = "\nloader = DataLoader(Rows(), 2, num_workers=2)\n"


def item(body: str, net: str = "Encoder()", before: str = "") -> str:
    lines = body.split("\n")
    method = f"    {before}def __getitem__(self, index):\n" + "".join(f"        {line}\n" for line in lines)
    return HEAD.replace("{net}", net) + method + LOADER


def tensors(body: str) -> str:
    return f"import torch\nfrom torch.utils.data import DataLoader, Subset, TensorDataset\n\n{body}\n"


FOUND = {
    "a data set of tensors": tensors(
        "rows = TensorDataset(torch.ones(9), torch.randn((9, 3), requires_grad=True))  # DLL208\n"
        "loader = DataLoader(rows, 2, num_workers=2)"
    ),
    "a part of a data set of tensors": tensors(
        "weight = torch.nn.Parameter(torch.ones(9))\nrows = TensorDataset(weight)  # DLL208\n"
        "loader = DataLoader(Subset(rows, [0, 1]), 2, num_workers=2)"
    ),
    "a model": item("return self.net(self.row)  # DLL208"),
    "a model that is given back": item("return self.net(self.row)  # DLL208", "Encoder().to('cpu').eval()"),
    "a layer": item("return self.net(self.row), index  # DLL208", "nn.Linear(3, 3)"),
    "a model of torchvision": item("return self.net(self.row)  # DLL208", "torchvision.models.resnet18()"),
    "a part of it": item("out = self.net(self.row)[0].squeeze().cpu()\nreturn {'x': out}  # DLL208"),
    "with another": item("return self.net(self.row) * 2 + self.row  # DLL208"),
    "a parameter": item("return self.weight  # DLL208"),
    "a weighted row": item("return self.row * self.weight  # DLL208"),
    "made with gradients": item("x = torch.zeros(3, requires_grad=True)\nreturn x * 2  # DLL208"),
}

SILENT = {
    "a data set of plain tensors": tensors(
        "rows = TensorDataset(torch.ones(9), torch.ones(9, requires_grad=False))\n"
        "loader = DataLoader(rows, 2, num_workers=2)"
    ),
    "a data set of tensors without gradients": tensors(
        "rows = TensorDataset(torch.ones(9, requires_grad=True).detach())\nloader = DataLoader(rows, 2, num_workers=2)"
    ),
    "a data set of tensors without workers": tensors(
        "rows = TensorDataset(torch.ones(9, requires_grad=True))\nloader = DataLoader(rows, 2)"
    ),
    "detached": item("return self.net(self.row).detach()"),
    "detached later": item("x = self.net(self.row)\nx = x.detach()\nreturn x"),
    "in a block": item("with torch.inference_mode():\n    x = self.net(self.row)\nreturn x"),
    "by a decorator": item("return self.net(self.row)", before="@torch.no_grad()\n    "),
    "a model without gradients": item("return self.net(self.row)", "Frozen()"),
    "a model without gradients, given back": item("return self.net(self.row)", "Frozen().eval()"),
    "a layer without weights": item("return self.net(self.row)", "nn.ReLU()"),
    "a transform": item("return self.net(self.row)", "torchvision.transforms.Resize(3)"),
    "a number": item("return self.net(self.row).sum().item()"),
    "an index": item("return self.net(self.row).argmax()"),
    "no gradients": item("return torch.zeros(3, requires_grad=False)"),
    "frozen": item("return self.net(self.row)", "Encoder().requires_grad_(False)"),
    "frozen elsewhere": item("return self.net(self.row)") + "for one in Encoder().parameters():\n"
    "    one.requires_grad = False\n",
    "no workers": item("return self.net(self.row)").replace("num_workers=2", "num_workers=0"),
    "another collate function": item("return self.net(self.row)").replace(
        "num_workers=2", "num_workers=2, collate_fn=lambda rows: [row.detach() for row in rows]"
    ),
    "not in the item": item("print(self.net(self.row))\nreturn self.row"),
}

test_found, test_silent = in_one_file("DLL208", FOUND, SILENT)


def test_workers_that_may_be_none_are_a_warning(told: Callable[..., Any]) -> None:
    text = (
        FOUND["a model"]
        .replace("num_workers=2", "num_workers=n")
        .replace("\nloader = ", "\ndef build(n):\n    return ")
    )

    (found,) = told({"train.py": text}, select=["DLL208"])

    assert found.severity == "warning"
