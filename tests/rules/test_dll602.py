"""DLL602: which generators workers share the state of, and which not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL602"], "target_python": "3.12"}
HEAD = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Subset, get_worker_info

"""
LOADER = "\nloader = DataLoader(Rows(), num_workers=2)\n"


def dataset(make: str, draw: str, more: str = "") -> str:
    return f"""
class Rows(Dataset):
    def __init__(self, seed=0):
        self.seed = seed
        self.rng = {make}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        {draw}
{more}"""


RNG = dataset("np.random.default_rng(seed)  # DLL602", "return self.rng.random()")


def two_generators(base: str = "", mark: str = "", more: str = "") -> str:
    """Items that draw from generators of two objects, one of which they replace."""
    return f"""
class Crops:
    def __init__(self):
        self.rng = np.random.RandomState(1)

    def seed(self, number):
        self.rng = np.random.RandomState(number)

    def draw(self):
        return self.rng.choice(3)

class Frames{base}:
    def __init__(self):
        self.rng = np.random.RandomState(2){mark}

    def draw(self):
        return self.rng.choice(3)

class Rows(Dataset):
    def __init__(self):
        self.crops, self.frames = Crops(), Frames()

    def __len__(self):
        return 9

    def __getitem__(self, index):
        self.crops.seed(index){more}
        return self.crops.draw() + self.frames.draw()

def build():
    return DataLoader(Rows(), num_workers=4)
"""


FOUND: dict[str, str] = {
    "beside one of another class that workers replace": two_generators(mark="  # DLL602"),
    "objects of two classes, in datasets of one class": """
class First:
    def __init__(self):
        self.rng = np.random.RandomState(1)  # DLL602

    def draw(self):
        return self.rng.choice(3)

class Second:
    def __init__(self):
        self.rng = np.random.RandomState(2)  # DLL602

    def draw(self):
        return self.rng.choice(3)

class Rows(Dataset):
    def __init__(self, sampler):
        self.sampler = sampler

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.pick()

    def pick(self):
        return self.sampler.draw()

first = DataLoader(Rows(First()), num_workers=2)
second = DataLoader(Rows(Second()), num_workers=2)
""",
    "default_rng": RNG + LOADER,
    "RandomState without a seed": dataset("np.random.RandomState()  # DLL602", "return self.rng.rand()") + LOADER,
    "Random": dataset("random.Random(seed)  # DLL602", "return self.rng.choice([1, 2])") + LOADER,
    "a torch generator": dataset(
        "torch.Generator().manual_seed(3)  # DLL602", "return torch.rand(3, generator=self.rng)"
    )
    + LOADER,
    "by another name": "from numpy.random import Generator as G, PCG64\n"
    + dataset("G(PCG64(seed))  # DLL602", "rng = self.rng\n        return rng.random()")
    + LOADER,
    "a subclass, in a wrapper": RNG
    + "\nclass More(Rows):\n    pass\n\nloader = DataLoader(Subset(More(), [1]), 2, num_workers=2)\n",
    "drawn in a helper": RNG.replace("return self.rng.random()", "return self.draw()")
    + "\n    def draw(self):\n        return self.rng.integers(3)\n"
    + LOADER,
    "handed to a helper": "def draw(rng):\n    return rng.random()\n"
    + RNG.replace("return self.rng.random()", "return draw(self.rng)")
    + LOADER,
    "drawn by collate": """
class Mix:
    def __init__(self):
        self.rng = np.random.RandomState(1)

    def __call__(self, items):
        return self.rng.permutation(items)

class Rows(Dataset):
    def __init__(self):
        self.mix = Mix()

    def __getitem__(self, index):
        return self.mix([index])
""".replace("RandomState(1)", "RandomState(1)  # DLL602")
    + LOADER,
    "made in a method of the constructor": """
class Rows(Dataset):
    def __init__(self):
        self.reset()

    def reset(self):
        self.rng = random.Random(1)  # DLL602

    def __getitem__(self, index):
        return self.rng.random()
"""
    + LOADER,
}

SILENT: dict[str, str] = {
    "an error draws another item": dataset(
        "np.random.RandomState(seed)",
        "try:\n            return open(str(index))\n        except OSError:\n            return self.rng.randint(9)",
    )
    + LOADER,
    "replaced by a method of a base class": two_generators("(Crops)", more="; self.frames.seed(index)"),
    "made for each item": dataset("None", "return np.random.default_rng((self.seed, index)).random()") + LOADER,
    "made in the worker": dataset(
        "np.random.default_rng(seed)",
        "self.rng = np.random.default_rng(torch.initial_seed())\n        return self.rng.random()",
    )
    + LOADER,
    "seeded for each item": dataset(
        "np.random.RandomState(seed)", "self.rng.seed(self.seed + index)\n        return self.rng.rand()"
    )
    + LOADER,
    "replaced by worker_init_fn": RNG.replace("  # DLL602", "")
    + """
def start(worker_id):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)

loader = DataLoader(Rows(), num_workers=2, worker_init_fn=start)
""",
    "a worker_init_fn that is not known": RNG.replace("  # DLL602", "")
    + "\ndef build(start):\n    return DataLoader(Rows(), num_workers=2, worker_init_fn=start)\n",
    "the same order in all workers to share it out": """
from torch.utils.data import IterableDataset

class Rows(IterableDataset):
    def __init__(self):
        self.rng = random.Random(3)

    def __iter__(self):
        rows = list(range(9))
        self.rng.shuffle(rows)
        info = get_worker_info()
        yield from rows[info.id :: info.num_workers]
"""
    + LOADER,
    "drawn in the constructor alone": dataset("np.random.default_rng(seed)", "return self.order[index]").replace(
        "\n    def __len__", "\n        self.order = self.rng.permutation(8)\n\n    def __len__"
    )
    + LOADER,
    "the module": dataset("random", "return self.rng.random()") + LOADER,
    "numpy's global generator": dataset("np.random", "return self.rng.rand()") + LOADER,
    "of a sampler": """
class Order:
    def __init__(self):
        self.rng = random.Random(0)

    def __iter__(self):
        return iter(self.rng.sample(range(8), 8))

class Rows(Dataset):
    def __getitem__(self, index):
        return index

loader = DataLoader(Rows(), sampler=Order(), generator=torch.Generator(), num_workers=2)
""",
    "no workers": RNG.replace("  # DLL602", "") + "\nloader = DataLoader(Rows())\n",
    "the operating system's": dataset("random.SystemRandom()", "return self.rng.random()") + LOADER,
}

PREPARED = """
class Mix:
    def setup(self):
        self.rng = np.random.default_rng(1)  # DLL602

    def __call__(self, items):
        return self.rng.permutation(items)

"""
COLLATED = "loader = DataLoader([1, 2], num_workers=2, collate_fn=mix)\n"
INHERITED: dict[str, str] = {
    "of the module": "rng = np.random.default_rng(0)  # DLL602\n" + dataset("None", "return rng.random()") + LOADER,
    "of the module, in a helper": "rng = random.Random()  # DLL602\n\n"
    "def add(value):\n    return value + rng.random()\n" + dataset("None", "return add(index)") + LOADER,
    "of the class": dataset("None", "return self.noise.random()").replace(
        "    def __init__", "    noise = np.random.RandomState(0)  # DLL602\n\n    def __init__"
    )
    + LOADER,
    "in a dict": dataset('{"noise": random.Random(seed)}  # DLL602', 'return self.rng["noise"].random()') + LOADER,
    "set up by a mixin": """
class Draws:
    def set_up(self, seed):
        self.rng = random.Random(seed)  # DLL602

class Rows(Draws, Dataset):
    def __init__(self):
        self.set_up(1)

    def __getitem__(self, index):
        return self.__class__.draw(self)

    def draw(self):
        return self.rng.random()
"""
    + LOADER,
    "of an object that collates": """
class Mix:
    def __init__(self):
        self.rng = np.random.default_rng(1)  # DLL602

    def __call__(self, items):
        return self.rng.permutation(items)

loader = DataLoader([1, 2], num_workers=2, collate_fn=Mix())
""",
    "of a closure": """
def noise(seed):
    rng = np.random.default_rng(seed)  # DLL602
    def add(value):
        return value + rng.random()
    return add
"""
    + dataset("noise(seed)", "return self.rng(index)")
    + LOADER,
    "set up after it is made": PREPARED + "mix = Mix()\nmix.setup()\n" + COLLATED,
    "set up after it is made, in a function": PREPARED
    + "def make():\n    mix = Mix()\n    mix.setup()\n    return mix\n\n\nmix = make()\n"
    + COLLATED,
    "set up by a method of its base": PREPARED
    + "class Both(Mix):\n    size = 3\n\nmix = Both()\nmix.setup()\n"
    + COLLATED,
    "set up, of a dataset": """
class Rows(Dataset):
    def setup(self):
        self.rng = np.random.default_rng(1)  # DLL602

    def __getitem__(self, index):
        return self.rng.random()

rows = Rows()
rows.setup()
loader = DataLoader(rows, num_workers=2)
""",
    "set up, drawn from in a function": PREPARED.replace("self.rng.permutation(items)", "mixed(items, self.rng)")
    + "def mixed(items, rng):\n    return rng.permutation(items)\n\nmix = Mix()\nmix.setup()\n"
    + COLLATED,
}
NOT_INHERITED: dict[str, str] = {
    "set up for each epoch": PREPARED.replace("  # DLL602", "")
    + "mix = Mix()\nmix.setup()\n"
    + COLLATED
    + "for epoch in range(9):\n    mix.setup()\n",
    "set up in the worker": PREPARED.replace("  # DLL602", "").replace(
        "        return self", "        self.setup()\n        return self"
    )
    + "mix = Mix()\nmix.setup()\n"
    + COLLATED,
    "set up where nothing is read": PREPARED.replace("  # DLL602", "")
    + "mix = Mix()\nother = Other()\nother.setup()\n"
    + COLLATED
    + "\n\nclass Other(Mix):\n    def setup(self):\n        self.size = 3\n",
    "of the module, for a table": "rng = np.random.default_rng(0)\nTABLE = rng.random(8)\n"
    + dataset("None", "return TABLE[index]")
    + LOADER,
    "of the module, replaced in workers": "rng = np.random.default_rng(0)\n"
    + dataset("None", "return rng.random()")
    + """
def start(worker_id):
    global rng
    rng = np.random.default_rng(torch.initial_seed())

loader = DataLoader(Rows(), num_workers=2, worker_init_fn=start)
""",
    "of the module, seeded for each item": "rng = random.Random()\n"
    + dataset("None", "rng.seed(index)\n        return rng.random()")
    + LOADER,
    "made by a helper for each item": "def draw(index):\n    rng = random.Random(index)\n    return rng\n"
    + dataset("None", "return draw(index).random()")
    + LOADER,
}


@pytest.mark.parametrize("text", INHERITED.values(), ids=INHERITED)
def test_inherited_by_other_ways(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + text}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", NOT_INHERITED.values(), ids=NOT_INHERITED)
def test_not_inherited(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + text}, **SELECT) == set()


@pytest.mark.parametrize(("seed", "found"), [("", False), ("0", True)])
def test_spawned_workers_make_the_generator_of_a_module_again(
    seed: str, found: bool, findings: Callable[..., Any]
) -> None:
    text = f"rng = random.Random({seed})\n" + dataset("None", "return rng.random()")
    text += "\nloader = DataLoader(Rows(), num_workers=2, multiprocessing_context='spawn')\n"

    assert bool(findings({"train.py": HEAD + text}, **SELECT)) == found


APPLY = dataset("AUG", "return self.rng(image=index)")
IMGAUG = "import imgaug.augmenters as iaa\n" + APPLY
ALBUMENTATIONS = "import albumentations as A\n" + APPLY.replace("AUG", "A.Compose([A.HorizontalFlip()])  # DLL602")
MONAI = "from monai.transforms import Compose, Flip, RandFlip\n" + APPLY.replace("image=", "")
JITTER = f"""
from monai.transforms import Randomizable

class Jitter(Randomizable):
    def randomize(self, data=None):
        self.by = self.R.uniform(-1, 1)

    def __call__(self, data):
        self.randomize()
        return data + self.by
{dataset("Jitter()  # DLL602", "return self.rng(index)")}"""
OF_LIBRARIES: dict[str, str] = {
    "imgaug": IMGAUG.replace("AUG", "iaa.Add((-9, 9))  # DLL602") + LOADER,
    "imgaug, where workers seed others": IMGAUG.replace("AUG", "iaa.Add((-9, 9))  # DLL602")
    + "\ndef start(worker_id):\n    np.random.seed(torch.initial_seed() % 2**32)\n    random.seed(worker_id)\n"
    + LOADER.replace("=2)", "=2, worker_init_fn=start)"),
    "imgaug, augmenters that a configuration names": IMGAUG.replace(
        "AUG", "iaa.Sequential([getattr(iaa, name)(*args) for name, args in json.load(open('a.json'))])  # DLL602"
    ).replace("import imgaug", "import json\nimport imgaug")
    + LOADER,
    "imgaug, by a method": IMGAUG.replace("AUG", "iaa.Sequential([iaa.Fliplr(0.5)])  # DLL602").replace(
        "self.rng(image=index)", "self.rng.augment_image(index)"
    )
    + LOADER,
    "imgaug, a bound method that the dataset keeps": IMGAUG.replace(
        "self.rng = AUG",
        "sequence = iaa.Sequential([iaa.Fliplr(0.5)])  # DLL602\n        self.rng = sequence.augment_image",
    ).replace("self.rng(image=index)", "self.rng(index)")
    + LOADER,
    "imgaug, a bound method under its own name": IMGAUG.replace(
        "self.rng = AUG", "self.augment_image = iaa.Sequential([iaa.Fliplr(0.5)]).augment_image  # DLL602"
    ).replace("self.rng(image=index)", "self.augment_image(index)")
    + LOADER,
    "imgaug, a generator": "import imgaug\n"
    + dataset("imgaug.random.RNG(1234)  # DLL602", "return self.rng.uniform(0, 1, (2,))")
    + LOADER,
    "imgaug, a generator that an augmenter receives": "import imgaug\nimport imgaug.augmenters as iaa\n"
    + dataset("imgaug.random.RNG(1234)  # DLL602", "return iaa.Affine(rotate=9)._draw_samples(1, self.rng)")
    + LOADER,
    "imgaug, wrapped in a transform": IMGAUG.replace(
        "self.rng = AUG", "self.rng = Compose([Wrap(iaa.Dropout(0.1))])  # DLL602"
    )
    + """
from torchvision.transforms import Compose

class Wrap:
    def __init__(self, seq):
        self.seq = seq

    def __call__(self, image):
        return self.seq.augment_image(image)
"""
    + LOADER,
    "imgaug, wrapped in the transforms of two datasets": """
import imgaug.augmenters as iaa
from torchvision.transforms import Compose

class Wrap:
    def __init__(self, seq):
        self.seq = seq

    def __call__(self, image):
        return self.seq.augment_image(image)

class Rows(Dataset):
    def __init__(self):
        self.transform = Compose([Wrap(iaa.Dropout(0.1)), Wrap(iaa.Add((1, 9)))])  # DLL602

    def __getitem__(self, index):
        return self.transform(index)

class Others(Dataset):
    def __init__(self):
        self.transform = Compose([Wrap(iaa.Resize(9)), Wrap(iaa.Rain())])  # DLL602

    def __getitem__(self, index):
        return self.transform(index)

others = DataLoader(Others(), num_workers=2)
"""
    + LOADER,
    "MONAI": MONAI.replace("AUG", "Compose([Flip(), RandFlip(0.5)])  # DLL602") + LOADER,
    "MONAI, a class of the project": JITTER + LOADER,
    "OpenCV": "import cv2\n" + dataset("None", "cv2.randu(index, 0, 9)  # DLL602\n        return index") + LOADER,
}
NOT_OF_LIBRARIES: dict[str, str] = {
    "imgaug, nothing random": IMGAUG.replace("AUG", "iaa.Sequential([iaa.Resize(32), iaa.Add(3), iaa.Fliplr(1.0)])")
    + LOADER,
    "imgaug, seeded": IMGAUG.replace("AUG", "iaa.Add((-9, 9))")
    + """
def start(worker_id):
    get_worker_info().dataset.rng.seed_(torch.initial_seed() % 2**31)

loader = DataLoader(Rows(), num_workers=2, worker_init_fn=start)
""",
    "imgaug, a bound method that draws nothing": IMGAUG.replace(
        "self.rng = AUG", "self.rng = iaa.Sequential([iaa.Resize(32)]).augment_image"
    ).replace("self.rng(image=index)", "self.rng(index)")
    + LOADER,
    "imgaug, a bound method of another kind": IMGAUG.replace("AUG", "iaa.Add((-9, 9)).get_parameters").replace(
        "self.rng(image=index)", "self.rng()"
    )
    + LOADER,
    "imgaug, a generator of each item": "import imgaug\n"
    + dataset("None", "return imgaug.random.RNG(index).uniform(0, 1, (2,))")
    + LOADER,
    "imgaug, not in workers": "import imgaug.augmenters as iaa\n"
    + dataset("iaa.Add((-9, 9))(image=seed)", "return self.rng")
    + LOADER,
    "MONAI, nothing random": MONAI.replace("AUG", "Compose([Flip()])") + LOADER,
    "MONAI, a class of the project that draws nothing": JITTER.replace("self.R.uniform(-1, 1)", "0.5").replace(
        "  # DLL602", ""
    )
    + LOADER,
    "MONAI, a class of the project with a generator of each item": JITTER.replace(
        "self.R.uniform(-1, 1)", "np.random.default_rng(data).uniform(-1, 1)"
    ).replace("  # DLL602", "")
    + LOADER,
    "MONAI, a class of the project that workers seed": JITTER.replace("  # DLL602", "")
    + """
def start(worker_id):
    get_worker_info().dataset.rng.set_random_state(torch.initial_seed() % 2**32)

loader = DataLoader(Rows(), num_workers=2, worker_init_fn=start)
""",
    "MONAI's loader": MONAI.replace("AUG", "Compose([RandFlip(0.5)])")
    + "\nimport monai\nloader = monai.data.DataLoader(Rows(), num_workers=2)\n",
    "MONAI's start": MONAI.replace("AUG", "Compose([RandFlip(0.5)])")
    + "\nfrom monai.data import worker_init_fn\n"
    + "loader = DataLoader(Rows(), num_workers=2, worker_init_fn=worker_init_fn)\n",
    "OpenCV, seeded": "import cv2\n"
    + dataset("None", "cv2.setRNGSeed(index)\n        cv2.randu(index, 0, 9)\n        return index")
    + LOADER,
    "albumentations in a version that is not known": ALBUMENTATIONS.replace("  # DLL602", "") + LOADER,
}


@pytest.mark.parametrize("text", OF_LIBRARIES.values(), ids=OF_LIBRARIES)
def test_generators_of_libraries(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + text}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", NOT_OF_LIBRARIES.values(), ids=NOT_OF_LIBRARIES)
def test_generators_of_libraries_that_are_seeded(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + text}, **SELECT) == set()


OLD = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return np.random.rand()

def train(model, meter):
    for batch in DataLoader(Rows(), num_workers=4):
        loss = model(batch)
        loss.backward()
        {read}
"""


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ("meter.update(loss.data[0], 3)", True),
        ("meter.total += loss.data[0]", True),
        ("print('%.3f' % loss.data[0])", True),
        ("meter.update(loss.item(), 3)", False),
        ("meter.update(loss.data[0] if meter.old else loss.item(), 3)", False),
        ("meter.update(batch.data[0], 3)", False),
        ("meter.update(loss.data[1], 3)", False),
    ],
)
def test_code_that_only_an_old_torch_runs(read: str, found: bool, told: Callable[..., Any]) -> None:
    messages = [one.text for one in told({"train.py": OLD.replace("{read}", read)}, **SELECT)]

    assert bool(messages) is found
    assert all("torch 0.4, the newest that runs `loss.data[0]` at train.py:15," in one for one in messages)


@pytest.mark.parametrize(
    ("pins", "found"),
    [
        ({"requirements.txt": "albumentations==2.0.8\n"}, True),
        ({"requirements.txt": "albumentations>=1.4.24,<2.1\n"}, True),
        ({"pyproject.toml": '[tool.poetry.dependencies]\nalbumentations = "^2.0"\n'}, True),
        ({"requirements.txt": "albumentations==1.3.1\n"}, False),
        ({"requirements.txt": "albumentations>=1.0\n"}, False),
        (
            {
                "requirements.txt": "albumentations==2.0.8\n",
                "environment.yml": "dependencies:\n  - albumentations=1.2.0\n",
            },
            False,
        ),
    ],
)
def test_versions_of_albumentations(pins: dict[str, str], found: bool, findings: Callable[..., Any]) -> None:
    text = HEAD + ALBUMENTATIONS + LOADER

    assert bool(findings({"train.py": text, **pins}, **SELECT)) == found


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found(text: str, findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    files = {"train.py": HEAD + text}

    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_silent(text: str, findings: Callable[..., Any]) -> None:
    assert findings({"train.py": HEAD + text}, **SELECT) == set()


def test_in_a_file_of_its_own(findings: Callable[..., Any]) -> None:
    files = {
        "rows.py": HEAD + RNG,
        "train.py": "from torch.utils.data import DataLoader\nimport rows\n\n"
        "def build(workers):\n    return DataLoader(rows.Rows(3), num_workers=workers)\n",
    }
    assert findings(files, **SELECT) == {("rows.py", 10, "DLL602")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("num_workers=2", "main"),
        ("num_workers=2, persistent_workers=True", "lasting"),
        ("num_workers=1", "epochs"),
        ("num_workers=1, persistent_workers=True", None),
    ],
)
def test_what_repeats(options: str, message: str | None, told: Callable[..., Any]) -> None:
    found = told({"train.py": HEAD + RNG + f"\nloader = DataLoader(Rows(), {options})\n"}, **SELECT)

    assert [one.message for one in found] == ([] if message is None else [message])


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_torch_generator_is_not_handed_to_spawned_workers(method: str, findings: Callable[..., Any]) -> None:
    text = HEAD + FOUND["a torch generator"].replace("=2)", f'=2, multiprocessing_context="{method}")')

    assert findings({"train.py": text}, **SELECT) == set()


@pytest.mark.parametrize(
    ("pins", "found"),
    [
        ({"requirements.txt": "torch==1.8.1\n"}, True),
        ({"environment.yml": "dependencies:\n  - pytorch=1.4.0=py3.7_cuda\n"}, True),
        ({"requirements.txt": "torch<=1.7\ntorchvision==0.8\n"}, True),
        ({"segments.yml": "name: segments\ndependencies:\n  - pip:\n    - torch==1.5.0\n"}, True),
        ({"segments.yml": "steps:\n  - torch==1.5.0\n"}, False),
        ({"requirements.txt": "torch>=1.4\n"}, False),
        ({"requirements.txt": "torch==1.9.0\n"}, False),
        ({"requirements.txt": "torch==1.4\n", "environment.yml": "dependencies:\n- pytorch=2.1\n"}, True),
        # torchvision and torchaudio are built for one version of torch each.
        ({"requirements.txt": "torchvision==0.8\nnumpy\n"}, True),
        ({"requirements.txt": "torch\ntorchaudio==0.4.0\n"}, True),
        ({"requirements.txt": "torch>=1.0\ntorchvision==0.7.0\n"}, True),
        ({"requirements.txt": "torchvision>=0.8\n"}, False),
        ({"requirements.txt": "torchvision==0.10.0\n"}, False),
        ({"requirements.txt": "torchvision==0.3.0\n"}, False),
        ({"requirements.txt": "torchvision==0.8\ntorch==1.13\n"}, False),
        ({"requirements.txt": "torchvision==0.8\n", "environment.yml": "dependencies:\n- torchaudio=2.1\n"}, False),
        # The newest torch for a version of CUDA or Python.
        ({"README.md": "conda install pytorch torchvision cudatoolkit=10.1 -c pytorch\n"}, True),
        ({"environment.yml": "dependencies:\n  - pytorch\n  - cudatoolkit=9.2\n"}, True),
        ({"README.md": "conda install pytorch cudatoolkit=10.2 -c pytorch\n"}, False),
        ({"README.md": "conda install pytorch cudatoolkit=11.3 -c pytorch\n"}, False),
        ({"README.md": "pip install torch==1.13\nconda install cudatoolkit=10.1\n"}, False),
        (
            {"README.md": "conda install pytorch cudatoolkit=10.1\n# or\nconda install pytorch cudatoolkit=11.3\n"},
            False,
        ),
        ({"README.md": "conda create -n rows python=3.5\npip install torch\n"}, True),
        ({"README.md": "conda create -n rows python=3.6\npip install torch\n"}, False),
        ({"README.md": "Python 2.7 and torch are needed.\n"}, True),
        ({"README.md": "Python 2.7 or 3.7 and torch are needed.\n"}, False),
        ({"setup.py": "setup(python_requires='>=3.5')\n"}, False),
        # Several versions.
        ({"README.md": "Install ``pytorch`` with CUDA -- this code is tested with ``{1.4, 1.5}``.\n"}, True),
        ({"README.md": "Works with PyTorch 1.4, 1.5 and 1.6.\n"}, True),
        ({"README.md": "Works with PyTorch 1.4, 1.5 and 1.10.\n"}, False),
        ({"README.md": "Works with PyTorch 1.4 to 1.8\n"}, True),
        ({"README.md": "Works with PyTorch 1.4, 1.5 or later\n"}, False),
        ({"README.md": "PyTorch code, tested with Python 1.4.\n"}, False),
        ({"requirements.txt": "torch>=1.4,<1.9\n"}, True),
        ({"requirements.txt": "torch>=1.4,<1.9.0\n"}, True),
        ({"requirements.txt": "torch>=1.4,<1.9.1\n"}, False),
        ({"requirements.txt": "torch>=1.4,<1.10\n"}, False),
        ({"requirements.txt": "torch==1.8.1; python_full_version >= '3.6.2'\n"}, True),
        ({"requirements.txt": "torch~=1.8.0\n"}, True),
        ({"requirements.txt": "torch~=1.8\n"}, False),
        ({"pyproject.toml": "[tool.poetry.dependencies]\ntorch = '~1.8.0'\n"}, True),
        ({"pyproject.toml": "[tool.poetry.dependencies]\ntorch = '^1.8.0'\n"}, False),
        ({"requirements.txt": "torch==1.8.1\n", "setup.py": "setup(install_requires=['torch>=1.4'])\n"}, True),
        ({"environments/gpu.yml": "dependencies:\n  - pytorch=1.4.0\n"}, True),
        ({"docker/Dockerfile": "FROM pytorch/pytorch:1.6.0-cuda10.1-cudnn7-devel\n"}, True),
        ({"Dockerfile": "FROM nvidia/cuda:10.2\nRUN pip3 install torch==1.6.0\n"}, True),
        ({"Dockerfile": "FROM nvidia/cuda:10.2\nRUN pip install numpy \\\n    torch==1.6.0\n"}, True),
        ({"Dockerfile": "FROM pytorch/pytorch:1.6.0-cuda10.1\nRUN pip install torch==2.1.0\n"}, False),
        ({"Dockerfile": "FROM nvidia/cuda:10.2\n# RUN pip3 install torch==1.6.0\n"}, False),
        ({"Dockerfile": "FROM nvidia/cuda:10.2\nRUN pip3 install torch-scatter==1.6.0\n"}, False),
        ({"installation/requirements.txt": "torch==1.4.0\n"}, True),
        ({"docker/notes.txt": "torch==1.4.0\n"}, False),
        ({"README.md": "```\nconda install pytorch=0.4 torchvision -c pytorch\n```\n"}, True),
        ({"README.md": "Run `pip3 install --user torch==1.3.1 torchvision==0.4`.\n"}, True),
        ({"INSTALL.md": "conda create -n rows \\\n  python=3.7 pytorch==1.1.0\n"}, True),
        ({"README.rst": "pip install https://download.pytorch.org/whl/cu90/torch-0.4.1-cp36-cp36m-linux.whl\n"}, True),
        ({"README.md": "pip install torch==1.3.1\n", "requirements.txt": "torch\nnumpy\n"}, True),
        ({"README.md": "pip install torch==1.3.1  # or\npip install torch==2.1\n"}, False),
        ({"README.md": "pip install 'torch>=1.3'\n"}, False),
        ({"README.md": "pip install torch\n"}, False),
        ({"README.md": "pip install torch-scatter==1.3 pytorch-lightning==1.5\n"}, False),
        ({"docs/README.md": "pip install torch==1.3.1\n"}, False),
        ({"docs/INSTALL.md": "conda install pytorch==1.4.0 torchvision==0.5.0 -c pytorch\n"}, True),
        ({"doc/Installation.rst": "pip install torch==1.4.0\n"}, True),
        ({"docs/getting_started.md": "pip install torch==1.4.0\n"}, True),
        ({"readme/INSTALL.md": "pip install torch==1.4.0\n"}, True),
        ({"documentation/installation.md": "pip install torch==1.4.0\n"}, True),
        ({"readme/MODELS.md": "pip install torch==1.4.0\n"}, False),
        ({"get_started.md": "pip install torch==1.4.0\n"}, True),
        ({"SETUP.md": "pip install torch==1.4.0\n"}, True),
        ({"docs/INSTALL.md": "pip install torch==1.4.0\n", "requirements.txt": "torch==2.1.0\n"}, False),
        ({"docs/requirements.txt": "torch==1.4.0\n"}, False),
        ({"docs/GETTING_STARTED.md": "Measured with PyTorch 1.6 and CUDA 9.2\n"}, False),
        ({"docs/api.md": "pip install torch==1.4.0\n"}, False),
        ({"install.sh": "conda install -y pytorch=0.4.1 torchvision cuda90 -c pytorch\n"}, True),
        ({"install_rows.sh": "conda install pyyaml\nconda install pytorch=0.4.1\npip install torchvision"}, True),
        ({"gcn_env_install.sh": "source activate gcn\npip install torch==1.4.0 torchvision==0.5.0\n"}, True),
        ({"env_setup.sh": "pip3 install torch==1.4.0 --no-cache-dir\n"}, True),
        ({"init.sh": "pip install scikit-learn torch==1.2.0 jieba\n"}, True),
        ({"install.sh": "# conda install pytorch=0.4.1\npip install torch\n"}, False),
        ({"install.sh": "# for PyTorch 1.4\npip install numpy\n"}, False),
        ({"install.sh": "pip install torch==1.4.0\n", "requirements.txt": "torch==2.1\n"}, False),
        ({"train.sh": "pip install torch==1.4.0\n"}, False),
        ({"tools/install.sh": "pip install torch==1.4.0\n"}, False),
    ],
)
def test_numpy_before_torch_1_9(pins: dict[str, str], found: bool, told: Callable[..., Any]) -> None:
    text = HEAD + dataset("None", "return np.random.rand()") + LOADER

    findings = told({"train.py": text, **pins}, **SELECT)

    assert [(one.message, one.span.line) for one in findings] == ([("global", 16)] if found else [])


@pytest.mark.parametrize(
    ("pins", "old"),
    [
        (
            {"environment.yml": "dependencies:\n- pytorch=1.8.1\n", "README.md": "pip install torch==1.10.1\n"},
            "torch 1.8 in environment.yml (but 1.10 in README.md)",
        ),
        (
            {"requirements.txt": "torch==1.4\n", "setup.py": "setup(install_requires=['torch>=2.0'])\n"},
            "torch 1.4 in requirements.txt (but 2.0 in setup.py)",
        ),
        (
            {"requirements.txt": "torch==1.4\n", "setup.py": "setup(install_requires=['torch>=1.2'])\n"},
            "torch 1.4 in requirements.txt",
        ),
        (
            {"requirements.txt": "torch==1.4\n", "environment.yml": "dependencies:\n- pytorch=2\n"},
            "torch 1.4 in requirements.txt",
        ),
        (
            {"INSTALL.md": "PyTorch 1.6.0 or PyTorch 1.8.0, we recommend `PyTorch >= 1.8.0`\n"},
            "torch 1.6 in INSTALL.md",
        ),
    ],
)
def test_one_of_several_ways_to_install(pins: dict[str, str], old: str, told: Callable[..., Any]) -> None:
    text = HEAD + dataset("None", "return np.random.rand()") + LOADER

    (found,) = told({"train.py": text, **pins}, **SELECT)

    assert (found.severity, found.values["old"]) == ("info", old)


@pytest.mark.parametrize(
    ("builder", "found"), [("build_detection_train_loader", 0), ("build_detection_test_loader", 1)]
)
def test_what_detectron2_seeds(builder: str, found: int, told: Callable[..., Any]) -> None:
    text = f"""\
import numpy as np
from detectron2.data import {builder}

class Mapper:
    def __call__(self, row):
        return np.random.rand()

def build(cfg):
    return {builder}(cfg, mapper=Mapper())
"""
    assert len(told({"train.py": text, "requirements.txt": "torch==1.5\n"}, **SELECT)) == found


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("detectron2.data.build.worker_init_reset_seed", 0),
        ("partial(torch.manual_seed)", 1),
        ("torch.manual_seed", 1),
        ("None", 1),
    ],
)
def test_numpy_that_a_function_of_a_library_may_seed(start: str, found: int, told: Callable[..., Any]) -> None:
    text = HEAD + "from functools import partial\nimport detectron2.data.build\n"
    text += dataset("None", "return np.random.rand()") + LOADER.replace("=2)", f"=2, worker_init_fn={start})")

    assert len(told({"train.py": text, "requirements.txt": "torch==1.5\n"}, **SELECT)) == found


PROGRAMS = {
    "requirements.txt": "torch==1.6.0\n",
    "data.py": HEAD
    + dataset("None", "return np.random.rand()")
    + "\ndef build(workers):\n    return DataLoader(Rows(), num_workers=workers)\n",
    "spawning.py": """\
import torch.multiprocessing as mp
from data import build

def main(model):
    mp.set_start_method("spawn")
    for batch in build(2):
        model(batch).backward()
""",
    "setting.py": """\
import torch.multiprocessing as mp

def prepare():
    mp.set_start_method("spawn")
""",
    "other.py": """\
from data import build
from setting import prepare

if __name__ == "__main__":
    prepare()
    build(2)
""",
    "train.py": """\
from data import build

def main(model):
    for batch in build(4):
        model(batch).backward()

if __name__ == "__main__":
    main(print)
""",
}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", 1),
        ("build(4)", "build(0)", 0),
        ("from data", "import spawning\nfrom data", 0),
        ("from data", "import setting\nfrom data", 1),
        ("    main(print)", "    import spawning\n    spawning.main(print)\n    main(print)", 0),
        ("    main(print)", "    main(open('spawning.main'))", 1),
        ("    main(print)", "    print()", 0),
    ],
)
def test_a_program_that_sets_no_start_method(old: str, new: str, found: int, told: Callable[..., Any]) -> None:
    program = PROGRAMS["train.py"].replace(old, new, 1) if old else PROGRAMS["train.py"]

    findings = told({**PROGRAMS, "train.py": program}, **SELECT)

    assert [one.severity for one in findings] == ["info"] * found


STARRED = "from imgaug.augmenters import *\naugmenters = Sequential([Fliplr(0.5)])\n"
USING = """\
from torch.utils.data import DataLoader, Dataset
{imports}
class Rows(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return augmenters.augment_image(index)

def build():
    return DataLoader(Rows(), num_workers=2)
"""


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"train.py": USING.format(imports=STARRED)}, True),
        ({"train.py": USING.format(imports="from base import *"), "base.py": STARRED}, True),
        (
            {
                "train.py": USING.format(imports="from base import *\naugmenters = Sequential([Fliplr(0.5)])"),
                "base.py": STARRED,
            },
            True,
        ),
        # The names may come from either, or from a module of the project that was not found.
        ({"train.py": USING.format(imports="from elsewhere import *\n" + STARRED)}, False),
        ({"train.py": USING.format(imports="from .elsewhere import *\n" + STARRED)}, False),
        ({"train.py": USING.format(imports=STARRED + "def Sequential(parts): return parts")}, False),
    ],
)
def test_names_from_the_only_star_import(files: dict[str, str], found: bool, told: Callable[..., Any]) -> None:
    assert bool(told(files, **SELECT)) == found


ONE_OR_THE_OTHER = """\
import sys
import numpy as np
from torch.utils.data import DataLoader, Dataset
{more}
class Fixed(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        np.random.seed(index)
        return np.random.rand()

class Free(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return np.random.rand()

def build(dataset, **options):
    return DataLoader(dataset, num_workers=4, **options)

def datasets(name):
    return {datasets}

def main(name):
    for one in datasets(name):
        for row in build(one{options}):
            print(row)
"""


@pytest.mark.parametrize(
    ("datasets", "options", "found"),
    [
        ("Fixed(), Free()", "", True),
        ("[Free()] if name == 'free' else [Fixed()]", "", True),
        ("[{'fixed': Fixed, 'free': Free}[name]()]", "", True),
        ("[getattr(sys.modules[__name__], 'Fixed')(), Free()]", "", True),
        ("[Fixed()]", "", False),
        ("[Around(Free())]", "", False),
        ("Fixed(), Around(Free())", "", False),
        ("Fixed(), Free()", ", worker_init_fn=start", False),
        ("Fixed(), Free()", ", collate_fn=start", False),
    ],
)
def test_numpy_before_torch_1_9_with_several_datasets(
    datasets: str, options: str, found: bool, told: Callable[..., Any]
) -> None:
    """What one of them seeds in its items is not seeded for the others."""
    more = (
        "class Around(Dataset):\n    def __init__(self, inner):\n        self.inner = inner\n"
        "    def __len__(self):\n        return 9\n    def __getitem__(self, index):\n"
        "        np.random.seed(index)\n        return self.inner[index]\n\n"
        "def start(given):\n    np.random.seed()\n    return given\n"
    )
    text = ONE_OR_THE_OTHER.replace("{more}", more).replace("{datasets}", datasets).replace("{options}", options)

    findings = told({"train.py": text, "requirements.txt": "torch == 1.7.1\n"}, **SELECT)

    assert [text.splitlines()[one.span.line - 2].strip() for one in findings] == [
        "def __getitem__(self, index):"
    ] * found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("- PyTorch 1.4.0\n- OpenCV\n", True),
        ("* [PyTorch](https://pytorch.org) (1.0.1)\n", True),
        ("Requires **PyTorch** version 0.4.", True),
        ("![](https://img.shields.io/badge/pytorch-1.7.1-blue)\n", True),
        ("Python 3.6, torch==1.6.0, CUDA 10.2", True),
        ("We use pytorch v1.2 to train.", True),
        ("- [PyTorch](http://pytorch.org) install = 1.4.0", True),
        ("PyTorch installed >= 1.4", False),
        ("V100: CUDA 10.1 + PyTorch 1.6.0 + torchvision 0.7.0", True),
        ("PyTorch 1.6.0+cu101", True),
        ("PyTorch 1.6 + ", False),
        ("PyTorch 1.1 or 1.2", True),
        ("The code was tested with [PyTorch]((http://pytorch.org/)) v1.0. Compatible with PyTorch <=1.4", True),
        ("- PyTorch < 1.9\n", True),
        ("It needs PyTorch ≤ 1.8", True),
        ("PyTorch 1.0. Switch to another DCN for PyTorch <1.0.", True),
        ("Switch to another DCN for PyTorch <1.0.", False),
        ("PyTorch <1.0 is not tested. PyTorch >= 1.0, < 2.2", False),
        ("Does not work with PyTorch < 1.6", False),
        ("PyTorch < 1.6 is not supported", False),
        ("It needs PyTorch <= 1.12", False),
        ("- PyTorch 1.4+\n", False),
        ("- PyTorch >= 1.4\n", False),
        ("- PyTorch 1.4 or newer\n", False),
        ("PyTorch 1.4.0 and above is needed", False),
        ("at least PyTorch 1.4", False),
        ("PyTorch 1.1~1.10", False),
        ("PyTorch 1.4 – 2.0", False),
        ("PyTorch 1.4. It also runs on PyTorch 2.1.", False),
        ("![](https://img.shields.io/badge/PyTorch-%3E%3D1.4-blue)", False),
        ("PyTorch Lightning 1.4", False),
        ("torchvision 0.4", False),
        ("PyTorch is under BSD-3. See section 1.4", False),
        ("PyTorch ICML 2.0 paper", False),
    ],
)
def test_numpy_before_torch_1_9_in_words(words: str, found: bool, told: Callable[..., Any]) -> None:
    """They say what the authors ran, not what the program needs."""
    text = HEAD + dataset("None", "return np.random.rand()") + LOADER

    findings = told({"train.py": text, "README.md": words}, **SELECT)

    assert [(one.message, one.severity) for one in findings] == ([("global", "info")] if found else [])


@pytest.mark.parametrize("declared", ["torch", "torch>=1.4", "torch==2.1"])
def test_words_give_way_to_a_declaration(declared: str, told: Callable[..., Any]) -> None:
    text = HEAD + dataset("None", "return np.random.rand()") + LOADER

    assert told({"train.py": text, "README.md": "PyTorch 1.4\n", "requirements.txt": declared}, **SELECT) == ()


def test_numpy_in_spawned_workers(told: Callable[..., Any]) -> None:
    """They import NumPy anew, which seeds itself from the system."""
    text = (
        HEAD + dataset("None", "return np.random.rand()") + LOADER.replace("=2", '=2, multiprocessing_context="spawn"')
    )

    assert told({"train.py": text, "requirements.txt": "torch==1.4\n"}, **SELECT) == ()


def test_numpy_draws_the_place_of_a_broken_item(told: Callable[..., Any]) -> None:
    body = (
        "try:\n            return open(str(index))\n"
        "        except OSError:\n            return self[np.random.randint(9)]"
    )
    text = HEAD + dataset("None", body) + LOADER

    assert told({"train.py": text, "requirements.txt": "torch==1.4\n"}, **SELECT) == ()


def test_numpy_in_a_loader_that_nothing_makes(told: Callable[..., Any]) -> None:
    rows = HEAD + dataset("None", "return np.random.rand()")
    build = "from torch.utils.data import DataLoader\nimport rows\n\ndef build():\n"
    files = {"rows.py": rows, "build.py": build + "    return DataLoader(rows.Rows(), num_workers=2)\n"}
    main = "from build import build\n\nfor row in build():\n    print(row)\n"

    assert [one.severity for one in told({**files, "requirements.txt": "torch==1.4\n"}, **SELECT)] == ["info"]
    found = told({**files, "main.py": main, "requirements.txt": "torch==1.4\n"}, **SELECT)
    assert [one.severity for one in found] == ["warning"]


def test_the_draw_that_every_run_reaches_is_shown(told: Callable[..., Any]) -> None:
    body = "if options.jitter:\n            index += np.random.normal()\n        return index + np.random.rand()"
    text = (
        (
            "import argparse\n" + HEAD + "\nparser = argparse.ArgumentParser()\n"
            'parser.add_argument("--jitter", action="store_true")\noptions = parser.parse_args()\n'
        )
        + dataset("None", body)
        + LOADER
    )

    found = told({"train.py": text, "requirements.txt": "torch==1.4\n"}, **SELECT)
    assert [one.values["call"] for one in found] == ["np.random.rand"]


def test_numpy_seeded_by_worker_init_fn(findings: Callable[..., Any]) -> None:
    text = dataset("None", "return np.random.rand()") + (
        "\ndef start(worker_id):\n    np.random.seed(torch.initial_seed() % 2**32)\n"
        "\nloader = DataLoader(Rows(), num_workers=2, worker_init_fn=start)\n"
    )
    assert findings({"train.py": HEAD + text, "requirements.txt": "torch==1.4\n"}, **SELECT) == set()


def test_one_function_seeds_all_that_a_loader_draws_with(told: Callable[..., Any]) -> None:
    rows = MONAI.replace(
        "self.rng = AUG",
        "self.rng = Compose([RandFlip(0.5)]) if len(__file__) else Compose([Flip()])\n"
        "        self.other = RandFlip(0.1)",
    ).replace("return self.rng(index)", "return self.rng(index), self.other(index)")

    (finding,) = told({"train.py": HEAD + rows + LOADER}, **SELECT)

    assert [place.span.line - finding.span.line for place in finding.related if "so does" in place.message] == [1]


def test_every_draw_of_numpy_before_torch_1_9_is_shown(told: Callable[..., Any]) -> None:
    more = "    def more(self):\n        return np.random.randn(2), np.random.rand()"
    body = f"return np.random.rand(), self.more()\n\n{more}"
    text = HEAD + dataset("None", body) + LOADER

    (finding,) = told({"train.py": text, "requirements.txt": "torch==1.8.1\n"}, **SELECT)

    others = [one for one in finding.related if one.message == "workers draw from it here too"]
    assert [place.span.line - finding.span.line for place in others] == [3, 3]


def test_where_a_generator_that_is_handed_on_is_created(told: Callable[..., Any]) -> None:
    text = (
        HEAD + "class Turn:\n    def __init__(self, rng):\n        self.rng = rng\n\n    def __call__(self, row):\n"
        "        return row * self.rng.random() + self.rng.random()\n\n"
        "class Rows(Dataset):\n    def __init__(self, turn):\n        self.turn = turn\n\n"
        "    def __len__(self):\n        return 9\n\n"
        "    def __getitem__(self, index):\n        return self.turn(index)\n\n"
        "def build(seed):\n    rng = np.random.default_rng(seed)\n"
        "    return DataLoader(Rows(Turn(rng)), num_workers=4)\n"
    )

    (finding,) = told({"train.py": text}, **SELECT)

    line = text[: text.index("np.random.default_rng")].count("\n") + 1
    assert [(one.span.line, one.message) for one in finding.related if one.message.startswith("created")] == [
        (line, "created here")
    ]


def test_where_a_dataset_keeps_what_another_file_creates(told: Callable[..., Any]) -> None:
    augmenter = "import imgaug.augmenters as iaa\n\ndef augment(p):\n    return iaa.Sequential([iaa.Fliplr(p)])\n"
    text = HEAD + "from augmenter import augment\n" + IMGAUG.replace("AUG", "augment(0.5)") + LOADER

    (finding,) = told({"augmenter.py": augmenter, "train.py": text}, **SELECT)

    line = text[: text.index("augment(0.5)")].count("\n") + 1
    kept = [(one.path, one.span.line) for one in finding.related if one.message == "the dataset keeps it here"]
    assert (finding.path.endswith("augmenter.py"), [(path.endswith("train.py"), at) for path, at in kept]) == (
        True,
        [(True, line)],
    )


@pytest.mark.parametrize("pin", ["torch==0.3.1\n", "torch==0.4.1\n"])
@pytest.mark.parametrize(("draw", "found"), [("random.random()", False), ("np.random.rand()", True)])
def test_python_seeds_its_own_generator_in_forked_workers(
    pin: str, draw: str, found: bool, findings: Callable[..., Any]
) -> None:
    text = f"""\
import random
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        return {draw}

def main():
    return DataLoader(Rows(), num_workers=4)
"""
    assert bool(findings({"train.py": text, "requirements.txt": pin}, **SELECT)) is found


SUBCLASSES = """\
import imgaug.augmenters as iaa
from torch.utils.data import DataLoader, Dataset

class Base:
    def __init__(self):
        self.processor = iaa.Noop()

    def __call__(self, image):
        return self.processor.augment_image(image)

class Sharpen(Base):
    def __init__(self):
        self.processor = iaa.Sharpen((0.1, 0.5))  # first

class Noise(Base):
    def __init__(self):
        self.processor = iaa.AdditiveGaussianNoise(0, 9)  # other

class Resize(Base):
    def __init__(self):
        self.processor = iaa.Resize(9)

class Own:
    def __init__(self):
        self.processor = iaa.Rain()

class Rows(Dataset):
    def __init__(self):
        self.transforms = [Sharpen(), Noise(), Resize(), Own()]

    def __getitem__(self, index):
        for one in self.transforms[:3]:
            index = one(index)
        return index

loader = DataLoader(Rows(), num_workers=2)
"""


def test_every_augmenter_that_an_inherited_method_draws_with_is_named(told: Callable[..., Any]) -> None:
    (finding,) = told({"train.py": SUBCLASSES}, **SELECT)

    lines = SUBCLASSES.splitlines()
    assert lines[finding.span.line - 1].endswith("# first")
    others = [lines[one.span.line - 1] for one in finding.related if one.message.startswith("so does this")]
    assert len(others) == 1 and others[0].endswith("# other")


def test_options_of_a_file_that_names_no_start(findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    loader = LOADER.replace("num_workers=2", "**read(open('loader.json'))")
    text = HEAD + "from json import load as read\n" + IMGAUG.replace("AUG", "iaa.Add((-9, 9))  # DLL602") + loader
    files = {"train.py": text, "loader.json": '{"num_workers": 2}'}

    assert findings(files, **SELECT) == marks(files)
