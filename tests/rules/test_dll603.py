"""DLL603: which seeds of workers repeat, and which do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

SELECT = {"select": ["DLL603"]}
HEAD = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader

"""
LOADER = """
def build(dataset):
    return DataLoader(dataset, num_workers=4, worker_init_fn=start)
"""

FOUND: dict[str, str] = {
    "a constant": "def start(worker_id):\n    np.random.seed(42)  # DLL603\n" + LOADER,
    "the time in whole seconds": "import time\ndef start(n):\n    np.random.seed(int(time.time()))  # DLL603\n"
    + LOADER,
    "the time, by a variable and another name": "from time import time\ndef start(n):\n    now = time()\n"
    "    random.seed(round(now) % 2**32)  # DLL603\n" + LOADER,
    "the time, in an item": """
import time
from torch.utils.data import Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        return self.draw() + index

    def draw(self):
        return np.random.RandomState(int(time.time())).rand()  # DLL603

loader = DataLoader(Rows(), num_workers=4, persistent_workers=True)
""",
    "settings of a configuration, with a default and overlaid with its entries": """
from functools import partial
from mmcv import Config
from mmcv.runner import get_dist_info

def start(worker_id, num_workers, rank, seed):
    np.random.seed(num_workers * rank + worker_id + seed)  # DLL603

def build(dataset, workers, seed=None, **kwargs):
    rank, _ = get_dist_info()
    begin = partial(start, num_workers=workers, rank=rank, seed=seed) if seed is not None else None
    return DataLoader(dataset, num_workers=workers, worker_init_fn=begin, **kwargs)

def train(path, dataset):
    config = Config.fromfile(path)
    settings = dict(workers=config.data.get("workers_per_gpu", 1), seed=config.seed)
    return build(dataset, **dict(settings, **config.data.get("loader", {})))
""",
    "an object that seeds by lhotse": """
from lhotse.utils import fix_random_seed

class Start:
    def __init__(self, seed):
        self.seed = seed

    def __call__(self, number):
        fix_random_seed(self.seed + number)  # DLL603

def build(dataset):
    return DataLoader(dataset, num_workers=4, worker_init_fn=Start(5))
""",
    "a constant of the module": "SEED = 3\ndef start(worker_id):\n    torch.manual_seed(SEED)  # DLL603\n" + LOADER,
    "by keyword": "def start(worker_id):\n    np.random.seed(seed=7 + worker_id)  # DLL603\n" + LOADER,
    "the number by another name": "def start(n):\n    s = 1000 + int(n)\n    random.seed(s)  # DLL603\n" + LOADER,
    "a lambda": """
def build(dataset):
    return DataLoader(dataset, num_workers=4, worker_init_fn=lambda n: np.random.seed(n))  # DLL603
""",
    "the seeding function itself": """
def build(dataset):
    return DataLoader(dataset, num_workers=4, worker_init_fn=np.random.seed)  # DLL603
""",
    "a partial, with the rank": """
from functools import partial
from torch.distributed import get_rank

def start(worker_id, workers, rank, seed):
    np.random.seed(workers * rank + worker_id + seed)  # DLL603

def build(dataset, workers=4, seed=1):
    init = partial(start, workers=workers, rank=get_rank(), seed=seed) if seed is not None else None
    options = dict(num_workers=workers, worker_init_fn=init)
    return DataLoader(dataset, **options)
""",
    "the first word of numpy's state": "def start(n):\n    np.random.seed(np.random.get_state()[1][0] + n)  # DLL603\n"
    + LOADER,
    "the first word, by a variable": "def start(n):\n    state = np.random.get_state()\n    first = state[1][0]\n"
    "    np.random.seed((first + n) % 2**32)  # DLL603\n" + LOADER,
    "the first word, unpacked by another module's name": "from numpy.random import get_state, seed\n"
    "def start(n):\n    seed(seed=int(get_state()[1][0]) + n)  # DLL603\n" + LOADER,
    "the first word, after a constant seed": "def start(n):\n    np.random.seed(7)  # DLL603\n"
    "    np.random.seed(np.random.get_state()[1][0] + n)\n" + LOADER,
    "the first word alone": "def start(n):\n    np.random.seed(np.random.get_state()[1][0])  # DLL603\n" + LOADER,
    "an object that is called": """
class Start:
    def __init__(self, seed):
        self.seed = seed

    def __call__(self, worker_id):
        random.seed(self.seed + worker_id)  # DLL603

def build(dataset):
    return DataLoader(dataset, num_workers=4, worker_init_fn=Start(5))
""",
    "a setting of the command line, in a closure": """
import argparse

def main(dataset):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    args = parser.parse_args()

    def start(worker_id):
        np.random.seed(args.seed + worker_id)  # DLL603

    return DataLoader(dataset, num_workers=4, worker_init_fn=start)
""",
    "set after construction": """
def start(worker_id):
    np.random.seed(1)  # DLL603

def build(dataset):
    loader = DataLoader(dataset, num_workers=4)
    loader.worker_init_fn = start
    return loader
""",
    "lightning": """
from pytorch_lightning import seed_everything

def start(worker_id):
    seed_everything(42 + worker_id)  # DLL603
"""
    + LOADER,
}

SILENT: dict[str, str] = {
    "a number without an argument": "def start(n):\n    np.random.seed(int() + n + torch.initial_seed() % 99)\n"
    + LOADER,
    "an entry that is no setting": """
import json

def start(worker_id, epoch):
    np.random.seed(epoch.get("number", 0) + worker_id)

def train(path, dataset):
    for name in json.load(open(path)):
        epoch = json.load(open(name))
        loader = DataLoader(dataset, num_workers=4, worker_init_fn=lambda n: start(n, epoch))
""",
    "the time in smaller parts": "import time\ndef start(n):\n    np.random.seed(int(time.time() * 1e6) % 2**32)\n"
    + LOADER,
    "the time in nanoseconds": "import time\ndef start(n):\n    np.random.seed(time.time_ns() % 2**32)\n" + LOADER,
    "the time and the number": "import time\ndef start(n):\n    np.random.seed(int(time.time()) + n)\n" + LOADER,
    "the time, in one worker": "import time\ndef start(n):\n    np.random.seed(int(time.time()))\n"
    + LOADER.replace("=4", "=1"),
    "a generator of the function, with a constant": "def start(n):\n    np.random.RandomState(3).rand()\n" + LOADER,
    "a generator of an item, with its index": """
import time
from torch.utils.data import Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        return np.random.RandomState(index).rand(), np.random.default_rng([index, int(time.time())]).random()

loader = DataLoader(Rows(), num_workers=4)
""",
    "the first word, after a seed of torch": "def start(n):\n    np.random.seed(torch.initial_seed() % 2**32)\n"
    "    np.random.seed(np.random.get_state()[1][0] + n)\n" + LOADER,
    "the second word of numpy's state": "def start(n):\n    np.random.seed(np.random.get_state()[1][1] + n)\n" + LOADER,
    "the state of another generator": "def start(n):\n"
    "    np.random.seed(np.random.RandomState().get_state()[1][0] + n)\n" + LOADER,
    "from torch": "def start(worker_id):\n    np.random.seed(torch.initial_seed() % 2**32)\n" + LOADER,
    "from torch, through a variable": """
def start(worker_id):
    seed = torch.initial_seed() % 2**32
    random.seed(seed + worker_id)
"""
    + LOADER,
    "from the worker's info": """
from torch.utils.data import get_worker_info

def start(worker_id):
    info = get_worker_info()
    np.random.seed(info.seed % 2**32)
"""
    + LOADER,
    "the clock": "import time\ndef start(worker_id):\n    random.seed(int(time.time()) + worker_id)\n" + LOADER,
    "no seed": "def start(worker_id):\n    np.random.seed()\n    random.seed(None)\n" + LOADER,
    "the epoch": """
def start(worker_id, epoch):
    np.random.seed(epoch * 100 + worker_id)

def train(dataset):
    from functools import partial
    for epoch in range(9):
        loader = DataLoader(dataset, num_workers=4, worker_init_fn=partial(start, epoch=epoch))
""",
    "the epoch that the dataset keeps": """
from torch.utils.data import get_worker_info

def start(worker_id):
    random.seed(get_worker_info().dataset.epoch + worker_id)
"""
    + LOADER,
    "an unknown function": """
from seeds import next_seed

def start(worker_id):
    random.seed(next_seed() + worker_id)
"""
    + LOADER,
    "seeded anew afterwards": """
def start(worker_id):
    np.random.seed(0)
    print(np.random.rand())
    np.random.seed(torch.initial_seed() % 2**32)
"""
    + LOADER,
    "no workers": """
def start(worker_id):
    np.random.seed(0)

def build(dataset):
    return DataLoader(dataset, num_workers=0, worker_init_fn=start)
""",
    "a generator of the worker's own": """
def start(worker_id):
    rng = np.random.RandomState(worker_id)
"""
    + LOADER,
    "never handed over": "def start(worker_id):\n    np.random.seed(0)\n",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + text}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + text}, **SELECT) == set()


@pytest.mark.parametrize(
    "start",
    ["reset_seed", "partial(reset_seed, rank=1)"],
    ids=["as it is", "with a bound argument"],
)
def test_a_function_of_another_library_beside_a_file_without_calls(start: str, findings: Callable[..., Any]) -> None:
    text = HEAD + "from functools import partial\nfrom detectron2.utils.env import reset_seed\n"
    text += LOADER.replace("worker_init_fn=start", f"worker_init_fn={start}")
    assert findings({"a.py": "from torch.utils.data import DataLoader\n", "z.py": text}, **SELECT) == set()


def test_a_helper_in_another_file_that_the_main_process_uses_too(
    told: Callable[..., Any], relative: Callable[[str], str]
) -> None:
    files: Mapping[str, str] = {
        "seeds.py": "import random\n\ndef set_seed(seed):\n    random.seed(seed)\n",
        "train.py": HEAD
        + "from seeds import set_seed\n\ndef start(worker_id):\n    set_seed(1 + worker_id)\n"
        + LOADER
        + "\ndef main(dataset):\n    set_seed(1)\n    return build(dataset)\n",
    }

    (finding,) = told(files, **SELECT)

    assert (relative(finding.path), finding.span.line) == ("train.py", 9)
    assert finding.fixes == ()


@pytest.mark.parametrize(
    ("seed", "options", "severity", "message"),
    [
        ("42", "num_workers=4", "warning", "main"),
        ("42", "num_workers=4, persistent_workers=True", "warning", "main"),
        ("42", "num_workers=1", "warning", "epochs"),
        ("worker_id", "num_workers=4", "warning", "epochs"),
        ("rank + worker_id", "num_workers=4, persistent_workers=True", "warning", "ranks"),
        ("7 + worker_id + dist.get_rank()", "num_workers=4, persistent_workers=True", "warning", "ranks"),
        ("int(os.environ['RANK']) + worker_id", "num_workers=4, persistent_workers=True", "warning", "ranks"),
    ],
)
def test_what_repeats(seed: str, options: str, severity: str, message: str, told: Callable[..., Any]) -> None:
    body = f"def start(worker_id):\n    np.random.seed({seed})\n\nDataLoader([], {options}, worker_init_fn=start)\n"
    text = "import os\nimport torch.distributed as dist\nrank = dist.get_rank()\n" + body

    (finding,) = told({"train.py": HEAD + text}, **SELECT)

    assert (finding.severity, finding.message) == (severity, message)


def test_one_persistent_worker_has_no_other_to_equal(told: Callable[..., Any]) -> None:
    loader = "DataLoader([], num_workers=1, persistent_workers=True, worker_init_fn=start)\n"

    assert told({"train.py": HEAD + f"def start(worker_id):\n    np.random.seed(42)\n\n{loader}"}, **SELECT) == ()


@pytest.mark.parametrize(("seed", "found"), [("hvd.rank() * 1024 + int(number)", 1), ("hvd.poll(number)", 0)])
def test_the_rank_of_horovod(seed: str, found: int, told: Callable[..., Any]) -> None:
    text = f"import horovod.torch as hvd\n\ndef start(number):\n    seed = {seed}\n    np.random.seed(seed)\n\n"
    loader = "DataLoader([], num_workers=4, worker_init_fn=start)\n"

    assert len(told({"train.py": HEAD + text + loader}, **SELECT)) == found


@pytest.mark.parametrize("seed", ["worker_id", "7 + worker_id", "4 * dist.get_rank() + worker_id"])
def test_persistent_workers_are_seeded_once(seed: str, told: Callable[..., Any]) -> None:
    text = f"import torch.distributed as dist\n\ndef start(worker_id):\n    np.random.seed({seed})\n\n"
    loader = "DataLoader([], num_workers=4, persistent_workers=True, worker_init_fn=start)\n"

    assert told({"train.py": HEAD + text + loader}, **SELECT) == ()


def test_the_fix_leaves_no_variable_over(told: Callable[..., Any]) -> None:
    body = "def start(worker_id):\n    seed = 1234 + worker_id\n    np.random.seed(seed)\n    random.seed(seed)\n"

    (finding,) = told({"train.py": HEAD + body + LOADER}, **SELECT)

    (fix,) = finding.fixes
    first, *others = fix.edits
    assert (first.span.column, first.code) == (12, "torch.initial_seed() % 2**32")
    assert len(others) == 1


def test_one_finding_for_a_function_that_seeds_all_generators_of_two_loaders(told: Callable[..., Any]) -> None:
    body = "def start(worker_id):\n    random.seed(0)\n    np.random.seed(0)\n    torch.manual_seed(0)\n"

    (finding,) = told({"train.py": HEAD + body + LOADER + LOADER.replace("build", "other")}, **SELECT)

    assert len(finding.related) == 4
    assert finding.fixes == ()


def test_the_fix_covers_all_generators_that_torch_does_not_own(told: Callable[..., Any]) -> None:
    body = "def start(worker_id):\n    random.seed(0)\n    np.random.seed(0)\n"

    (finding,) = told({"train.py": HEAD + body + LOADER}, **SELECT)

    (fix,) = finding.fixes
    assert fix.applicability == "unsafe"
    assert [edit.code for edit in fix.edits[:2]] == ["torch.initial_seed() % 2**32"] * 2


def test_no_fix_that_would_undo_a_difference_by_rank(told: Callable[..., Any]) -> None:
    text = """
import os

def start(worker_id):
    np.random.seed(int(os.environ["RANK"]) + worker_id)
"""
    (finding,) = told({"train.py": HEAD + text + LOADER}, **SELECT)

    assert finding.fixes == ()


def test_no_fix_of_a_seed_that_somebody_asks_for(told: Callable[..., Any]) -> None:
    text = "def start(worker_id):\n    if dist.DEBUG:\n        np.random.seed(0)\n\n"

    (finding,) = told({"train.py": HEAD + text + LOADER}, **SELECT)

    assert finding.fixes == ()


PARTIAL = """
from functools import partial

def start(worker_id, base):
    np.random.seed(base + worker_id)

def build(dataset):
    return DataLoader(dataset, num_workers=4, worker_init_fn=partial(start, base=3))
"""


@pytest.mark.parametrize(
    ("more", "fixes"),
    [
        pytest.param("", 0, id="a parameter that only the seed uses"),
        pytest.param("    print(base)\n", 1, id="a parameter that is used beside it"),
    ],
)
def test_the_fix_leaves_no_parameter_over(more: str, fixes: int, told: Callable[..., Any]) -> None:
    text = PARTIAL.replace("base + worker_id)\n", "base + worker_id)\n" + more)
    (finding,) = told({"train.py": HEAD + text}, **SELECT)
    assert finding.severity == "warning" and len(finding.fixes) == fixes


EVALUATED = """
def start(worker_id):
    np.random.seed(42)

class Data:
    def train_dataloader(self):
        return DataLoader(self.rows, num_workers=4, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.rows, num_workers=4, shuffle=False, worker_init_fn=start)
"""


@pytest.mark.parametrize(
    ("old", "new", "severity", "fixes"),
    [
        pytest.param("", "", "info", 0, id="validation alone"),
        pytest.param("shuffle=True", "shuffle=True, worker_init_fn=start", "warning", 1, id="training too"),
        pytest.param("shuffle=False, ", "", "warning", 1, id="nobody asks for an order"),
    ],
)
def test_a_seed_that_validation_keeps_on_purpose(
    old: str, new: str, severity: str, fixes: int, told: Callable[..., Any]
) -> None:
    (finding,) = told({"train.py": HEAD + (EVALUATED.replace(old, new) if old else EVALUATED)}, **SELECT)
    assert (finding.severity, len(finding.fixes)) == (severity, fixes)


def test_a_training_loop_in_the_order_of_the_dataset(told: Callable[..., Any]) -> None:
    text = """
def start(worker_id):
    np.random.seed(42)

def main(dataset, model):
    loader = DataLoader(dataset, num_workers=4, shuffle=False, worker_init_fn=start)
    for epoch in range(9):
        for batch in loader:
            model(batch).sum().backward()
"""
    (finding,) = told({"train.py": HEAD + text}, **SELECT)
    assert (finding.severity, len(finding.fixes)) == ("warning", 1)


IDLE = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform
        self.crop = transforms.RandomCrop(32)
    def __len__(self):
        return 9
    def draw(self, row):
        return row + np.random.rand()
    def __getitem__(self, index):
        row = np.zeros(9)
        {statement}
        return row

def seed_worker(number):
    np.random.seed(1 + number)

def train(transform):
    for row in DataLoader(Rows(transform), num_workers=4, worker_init_fn=seed_worker):
        print(row)
"""


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ("row = row + np.random.rand()", "warning"),
        ("row = self.draw(row)", "warning"),
        ("row = self.transform(row)", "warning"),
        ("import albumentations as A; row = A.HorizontalFlip()(image=row)", "warning"),
        ("row = row.sample(3)", "warning"),
        ("row = row + random.random()", "info"),
        ("row = row + torch.rand(9)", "info"),
        ("row = self.crop(row)", "info"),
        ("row = np.asarray(row).copy().tolist()", "info"),
        ("import scipy.signal; row = scipy.signal.convolve(row, row)", "info"),
        ("rows = []; rows.append(row); row = {}.get(0, rows)", "info"),
        ("import scipy.stats; row = row + scipy.stats.norm.rvs(9)", "warning"),
    ],
)
def test_seeds_that_nothing_draws_from_are_info(told: Callable[..., Any], statement: str, severity: str) -> None:
    found = told({"train.py": IDLE.replace("{statement}", statement)}, select=["DLL603"])

    assert [(one.code, one.severity) for one in found] == [("DLL603", severity)]


COMPOSED = """\
import random
import numpy as np
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.transforms import Compose as Chain

class Flip:
    def __call__(self, row):
        return row[::-1] if np.random.rand() < 0.5 else row

class Jitter:
    def __call__(self, row):
        return row + random.random()

class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return self.transform(np.zeros(9))

def seed_worker(number):
    random.seed(1 + number)

def train(given):
    {statement}
    for row in DataLoader(Rows(transform), num_workers=4, worker_init_fn=seed_worker):
        print(row)
"""


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ("transform = transforms.Compose([Flip(), transforms.ToTensor()])", "info"),
        ("transform = Chain(transforms=[transforms.Resize(32), Chain([Flip()])])", "info"),
        ("steps = [Flip()]; steps.append(transforms.Normalize(0, 1)); transform = Chain(steps)", "info"),
        ("steps = [Flip()]; steps += [transforms.Normalize(0, 1)]; transform = Chain(steps)", "warning"),
        ("transform = transforms.Compose([transforms.Lambda(np.asarray), Flip()])", "info"),
        ("transform = transforms.Compose([transforms.Lambda(lambda row: row + random.random()), Flip()])", "warning"),
        ("transform = transforms.Compose([transforms.Lambda(given), Flip()])", "warning"),
        ("transform = transforms.Compose([transforms.RandomApply([Jitter()])])", "warning"),
        ("transform = transforms.Compose([transforms.RandomApply(given)])", "warning"),
        ("transform = transforms.Compose([transforms.RandomApply([transforms.ToTensor()])])", "info"),
        ("transform = transforms.Compose([Flip(), Jitter()])", "warning"),
        ("transform = transforms.Compose([Flip(), transforms.RandomChoice([Flip()])])", "warning"),
        ("transform = transforms.Compose([Flip(), transforms.RandomCrop(32)])", "info"),
        ("steps = [Flip()]; steps.append(transforms.ColorJitter(1)); transform = Chain(steps)", "info"),
        ("transform = transforms.Compose([Flip(), given])", "warning"),
        ("transform = transforms.Compose(given)", "warning"),
        ("transform = None", "info"),
    ],
)
def test_a_composition_draws_what_its_parts_draw(told: Callable[..., Any], statement: str, severity: str) -> None:
    found = told({"train.py": COMPOSED.replace("{statement}", statement)}, select=["DLL603"])

    assert [(one.code, one.severity) for one in found] == [("DLL603", severity)]


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ("row = transforms.ToTensor()(row).squeeze(0)", "info"),
        ("convert = transforms.ToTensor(); row = convert(row).unsqueeze(0).numpy()", "info"),
        ("row = transforms.functional.to_tensor(row).squeeze(0)", "info"),
        ("row = transforms.functional.hflip(row)", "info"),
        ("row = transforms.ToPILImage()(row).rotate(9)", "info"),
        ("row = transforms.ToTensor()(row).squeeze(0).permute(1, 0)", "info"),
        ("row = transforms.RandomCrop(32)(row).squeeze(0)", "warning"),
        ("row = transforms.RandomCrop(32).forward(row)", "warning"),
        ("row = self.crop(row)", "warning"),
        ("place = transforms.RandomCrop.get_params(row, (3, 3))", "warning"),
    ],
)
def test_methods_of_what_a_transform_returns_draw_nothing(
    told: Callable[..., Any], statement: str, severity: str
) -> None:
    text = IDLE.replace("np.random.seed", "torch.manual_seed").replace("{statement}", statement)

    found = told({"train.py": text}, select=["DLL603"])

    assert [(one.code, one.severity) for one in found] == [("DLL603", severity)]


@pytest.mark.parametrize(
    ("name", "required", "severity"),
    [
        ("requirements.txt", "torchvision==0.7.0\n", "warning"),
        ("requirements.txt", "torch==1.6.0\n", "warning"),
        ("environment.yml", "dependencies:\n  - pytorch=1.4\n  - torchvision=0.5\n", "warning"),
        ("requirements.txt", "torchvision<0.8\n", "warning"),
        ("requirements.txt", "torchvision==0.11.3\n", "info"),
        ("requirements.txt", "torch>=1.4\n", "info"),
        ("requirements.txt", "numpy\n", "info"),
    ],
)
def test_transforms_draw_from_the_generator_of_python_before_torchvision_0_8(
    told: Callable[..., Any], name: str, required: str, severity: str
) -> None:
    text = IDLE.replace("np.random.seed", "random.seed").replace("{statement}", "row = self.crop(row)")

    found = told({"train.py": text, name: required}, select=["DLL603"])

    assert [(one.code, one.severity) for one in found] == [("DLL603", severity)]


HELPED = """\
import argparse

import numpy as np
from functools import partial
from torch.utils.data import DataLoader

class Rows:
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return np.random.rand(3)

def fix(fixed, benchmark, seed):
    {condition}:
        np.random.seed(seed)

def start(worker_id, fixed):
    fix(fixed, False, worker_id + 3)

def main(fixed=False):
    loader = DataLoader(Rows(), num_workers=4, worker_init_fn=partial(start, fixed=fixed))
    for epoch in range(3):
        for batch in loader:
            print(batch)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    main(parser.parse_args().fixed)
"""


@pytest.mark.parametrize(
    ("condition", "severity"),
    [("if fixed", "info"), ("if not benchmark", "warning"), ("if seed is not None", "warning"), ("if True", "warning")],
)
def test_a_seed_that_a_helper_sets_in_a_mode_that_nobody_asks_for(
    condition: str, severity: str, told: Callable[..., Any]
) -> None:
    (found,) = told({"main.py": HELPED.format(condition=condition)}, **SELECT)

    assert (found.severity, found.span.line) == (severity, 19)
    assert "`worker_id + 3`" in found.text


COUNTED = """\
import numpy as np
{imports}
from torch.utils.data import DataLoader

class Run({base}):
    def __init__(self, seed):
        self.seed = seed
        self.{name} = 3

    def before_epoch(self):
        self.dataflow.worker_init_fn = lambda worker_id: np.random.seed(self.seed + (self.{name} - 1) * 4 + worker_id)

def main():
    loader = DataLoader(range(9), num_workers=4, shuffle=True)
    run = Run(3)
    run.dataflow = loader
    run.before_epoch()
    run.train(loader)
"""


@pytest.mark.parametrize(
    ("imports", "base", "name", "count"),
    [
        ("from torchpack.train import Trainer", "Trainer", "epoch_num", 0),
        ("from torch.nn import Module", "Module", "epoch_num", 1),
        ("", "object", "epoch_num", 1),
    ],
)
def test_what_a_base_of_another_package_may_count(
    imports: str, base: str, name: str, count: int, told: Callable[..., Any]
) -> None:
    found = told({"main.py": COUNTED.format(imports=imports, base=base, name=name)}, **SELECT)

    assert len(found) == count
    assert all("`self.seed + (self.epoch_num - 1) * 4 + worker_id`" in one.text for one in found)


ENDLESS = """\
import numpy as np
from torch.utils.data import DataLoader, IterableDataset

class Replay(IterableDataset):
    def sample(self):
        return np.random.rand()

    def __iter__(self):
{body}

def start(worker_id):
    np.random.seed({seed})

def main():
    batches = iter(DataLoader(Replay(), num_workers=4, worker_init_fn=start))
    for step in range(100):
        print(next(batches))
"""


@pytest.mark.parametrize(
    ("body", "seed", "count"),
    [
        pytest.param(["while True:", "    yield self.sample()"], "worker_id + 3", 0, id="without end"),
        pytest.param(["while True:", "    yield self.sample()"], "3", 1, id="the same in all workers"),
        pytest.param(["for _ in range(9):", "    yield self.sample()"], "worker_id + 3", 1, id="an epoch ends"),
        pytest.param(
            ["while True:", "    x = self.sample()", "    if x > 1:", "        break", "    yield x"],
            "worker_id + 3",
            1,
            id="a loop that may end",
        ),
        pytest.param(
            ["while True:", "    x = self.sample()", "    if x > 1:", "        return", "    yield x"],
            "worker_id + 3",
            1,
            id="a function that may end",
        ),
    ],
)
def test_workers_whose_dataset_never_ends_are_seeded_once(
    body: list[str], seed: str, count: int, told: Callable[..., Any]
) -> None:
    text = ENDLESS.format(body="\n".join(f"        {line}" for line in body), seed=seed)
    assert len(told({"train.py": text}, select=["DLL603"])) == count


def test_a_loop_over_epochs_that_leaves_an_endless_dataset_seeds_again(told: Callable[..., Any]) -> None:
    text = ENDLESS.format(body="        while True:\n            yield self.sample()", seed="worker_id + 3")
    epochs = """\
def main(model):
    loader = DataLoader(Replay(), num_workers=4, worker_init_fn=start)
    for epoch in range(9):
        for step, batch in enumerate(loader):
            model(batch).sum().backward()
            if step == 100:
                break
"""
    assert len(told({"train.py": text[: text.index("def main")] + epochs}, select=["DLL603"])) == 1


FIRST_WORD = """
def start(worker_id):
    np.random.seed(np.random.get_state()[1][0] + worker_id)

{before}
def train(rows, model, optimizer, args):
    loader = DataLoader(rows, num_workers=4, worker_init_fn=start{options})
    for epoch in range(args.epochs):
        {seed}
        for batch in loader:
            model(batch).backward()
"""


@pytest.mark.parametrize(
    ("seed", "severity"),
    [
        ("np.random.seed()", None),
        ("np.random.seed(None)", None),
        ("np.random.seed(epoch)", None),
        ("np.random.seed(args.seed + epoch)", None),
        ("np.random.seed(int(time.time()))", None),
        ("set_seed(args.seed + epoch)", None),
        ("begin(epoch)", None),
        ("np.random.seed(args.seed)", "warning"),
        ("set_seed(args.seed)", "warning"),
        ("random.seed(epoch)", "warning"),
        ("torch.manual_seed(epoch)", "warning"),
        ("np.random.RandomState(epoch)", "warning"),
        ("pass", "warning"),
    ],
)
def test_before_torch_1_9_the_first_word_is_that_of_the_parent(
    seed: str, severity: str | None, told: Callable[..., Any]
) -> None:
    helpers = (
        "import time\n\ndef set_seed(seed):\n    np.random.seed(seed)\n\ndef begin(epoch):\n    set_seed(epoch + 1)\n"
    )
    text = HEAD + FIRST_WORD.format(seed=seed, before=helpers, options="")
    pins = {"requirements.txt": "torch==1.4.0\n"}

    assert [one.severity for one in told({"train.py": text, **pins}, **SELECT)] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("pins", "options", "severity"),
    [
        ({}, "", "warning"),
        ({"requirements.txt": "torch==1.9.0\n"}, "", "warning"),
        ({"requirements.txt": "torch==1.4\n", "environment.yml": "dependencies:\n- pytorch=2.1\n"}, "", "warning"),
        ({"README.md": "Tested with PyTorch 1.4\n"}, "", "info"),
        ({"requirements.txt": "torch==1.8\n"}, ", multiprocessing_context='spawn'", None),
    ],
)
def test_only_then_does_the_seed_of_the_parent_arrive(
    pins: Mapping[str, str], options: str, severity: str | None, told: Callable[..., Any]
) -> None:
    text = HEAD + FIRST_WORD.format(seed="np.random.seed(epoch)", before="", options=options)

    assert [one.severity for one in told({"train.py": text, **pins}, **SELECT)] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("seed", "options", "message"),
    [
        ("np.random.get_state()[1][0]", "", ["main"]),
        ("np.random.get_state()[1][0]", ", multiprocessing_context='spawn'", []),
        ("7 + worker_id", "", ["epochs"]),
        ("torch.initial_seed() % 2**32", "", []),
    ],
)
def test_what_the_seed_of_the_parent_does_not_change(
    seed: str, options: str, message: list[str], told: Callable[..., Any]
) -> None:
    text = FIRST_WORD.replace("np.random.get_state()[1][0] + worker_id", seed)
    text = HEAD + text.format(seed="np.random.seed(epoch)", before="", options=options)

    found = told({"train.py": text, "requirements.txt": "torch==1.4.0\n"}, **SELECT)

    assert [one.message for one in found] == message
