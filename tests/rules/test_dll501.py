"""DLL501: where OpenCV's pool runs in workers without a cap, and where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL501"]}

HEAD = """\
import cv2
from torch.utils.data import DataLoader, Dataset
"""
TAIL = """
def build():
    return DataLoader(Rows(), num_workers=4)
"""

FOUND: dict[str, str] = {
    "in the mapper of a loader of detectron2": """
from detectron2.data import build_detection_train_loader

class Mapper:
    def __call__(self, row):
        return cv2.resize(row, (640, 640))  # DLL501

def build_detection(cfg):
    return build_detection_train_loader(cfg, mapper=Mapper())

class Rows(Dataset):
    def __getitem__(self, index):
        return index
""",
    "in __getitem__": """
class Rows(Dataset):
    def __getitem__(self, index):
        return cv2.resize(index, (640, 640))  # DLL501
""",
    "first of several": """
class Rows(Dataset):
    def __getitem__(self, index):
        image = cv2.imread("face.jpg")
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)  # DLL501
        return cv2.resize(image, (640, 640))
""",
    "after calls that use one thread": """
class Rows(Dataset):
    def __getitem__(self, index):
        turn = cv2.getRotationMatrix2D((2, 2), index, 1)
        image = cv2.copyMakeBorder(cv2.imread("face.jpg"), 1, 1, 1, 1, cv2.BORDER_CONSTANT)
        return cv2.warpAffine(cv2.flip(image, 1), turn, (2, 2))  # DLL501
""",
    "GaussianBlur, Canny and others named like classes": """
class Rows(Dataset):
    def __getitem__(self, index):
        return cv2.GaussianBlur(index, (5, 5), 0)  # DLL501
""",
    "imported by its name": """
from cv2 import warpAffine

class Rows(Dataset):
    def __getitem__(self, index):
        return warpAffine(index, None, (2, 2))  # DLL501
""",
    "in a helper": """
class Rows(Dataset):
    def __getitem__(self, index):
        return self.small(index)

    def small(self, image):
        return shrink(image)

def shrink(image):
    return cv2.resize(image, (640, 640))  # DLL501
""",
    "in a transform that the dataset keeps": """
class Shrink:
    def __call__(self, image):
        return cv2.resize(image, (640, 640))  # DLL501

class Rows(Dataset):
    def __init__(self):
        self.transform = Shrink()

    def __getitem__(self, index):
        return self.transform(index)
""",
    "in a lambda of the dataset": """
class Rows(Dataset):
    def __init__(self):
        self.step = lambda image: cv2.resize(image, (640, 640))  # DLL501

    def __getitem__(self, index):
        return self.step(index)
""",
    "a cap of many threads is none": """
cv2.setNumThreads(8)

class Rows(Dataset):
    def __getitem__(self, index):
        return cv2.resize(index, (640, 640))  # DLL501
""",
    "a negative cap is none": """
cv2.setNumThreads(-1)

class Rows(Dataset):
    def __getitem__(self, index):
        return cv2.resize(index, (640, 640))  # DLL501
""",
    "setUseOptimized is no cap": """
cv2.setUseOptimized(True)

class Rows(Dataset):
    def __getitem__(self, index):
        return cv2.resize(index, (640, 640))  # DLL501
""",
}

FILES: dict[str, dict[str, str]] = {
    "capped in one program, at the loader of the other": {
        "data.py": HEAD + FOUND["in __getitem__"].replace("  # DLL501", ""),
        "train.py": """\
import cv2
from torch.utils.data import DataLoader
from data import Rows

cv2.setNumThreads(0)
loader = DataLoader(Rows(), num_workers=4)
""",
        "evaluate.py": """\
from torch.utils.data import DataLoader
from data import Rows

loader = DataLoader(Rows(), num_workers=4)  # DLL501
""",
    },
    "a partial of a function of cv2": {
        "data.py": """\
from functools import partial
import cv2
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.scale = partial(cv2.resize, dsize=(8, 8))

    def __getitem__(self, index):
        return self.scale(self.paths[index])  # DLL501

def build(paths):
    return DataLoader(Rows(paths), num_workers=4)
"""
    },
    "a transform of albumentations, made in another file": {
        "data.py": """\
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.transform(image=index)["image"]  # DLL501
""",
        "train.py": """\
import albumentations as A
from albumentations import Resize as Scale
from torch.utils.data import DataLoader
from data import Rows

chosen = A.OneOf([A.HorizontalFlip(), A.Compose([Scale(640, 640)])])
loader = DataLoader(Rows(A.Compose([A.RandomCrop(8, 8), chosen])), num_workers=4)
""",
    },
    **{
        f"augmenters of imgaug, {name}": {
            "train.py": f"""\
import imgaug.augmenters as iaa
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, augmenter):
        self.augmentations = augmenter

    def __len__(self):
        return 9

    def __getitem__(self, index):
        {line}  # DLL501

loader = DataLoader(Rows(iaa.Sequential([iaa.Fliplr(0.5), iaa.Sometimes(0.5, iaa.Affine(rotate=9))])), num_workers=4)
"""
        }
        for name, line in (
            ("called", "return self.augmentations(image=index)"),
            ("by their method", "return self.augmentations.augment_image(index)"),
        )
    },
    "transforms that inherit from those of albumentations, in a dict of keywords": {
        "data.py": """\
import albumentations as A
from torch.utils.data import DataLoader, Dataset

class Chain(A.Compose):
    pass

class Small(A.Resize):
    def describe(self):
        return self.height

class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.transform(image=index)["image"]  # DLL501

options = {"transforms": [Small(640, 640)]}
loader = DataLoader(Rows(Chain(**options)), num_workers=4)
""",
    },
    "capped by the worker_init_fn of one loader, at the other": {
        "data.py": HEAD
        + FOUND["in __getitem__"].replace("  # DLL501", "")
        + """
def start(worker):
    cv2.setNumThreads(0)

def build():
    train = DataLoader(Rows(), num_workers=4, worker_init_fn=start, multiprocessing_context="spawn")
    return train, DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")  # DLL501
""",
    },
}

READ = """
class Rows(Dataset):
    def __getitem__(self, index):
        return cv2.resize(index, (640, 640))
"""

CROPPED = "\nclass Cropped(A.Resize):\n    def apply(self, image, **params):\n        return image[:8, :8]\n"
SILENT: dict[str, dict[str, str]] = {
    **{
        name: {
            "train.py": f"""\
import albumentations as A
import cv2
from torch.utils.data import DataLoader, Dataset
{cap}
class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.transform(image=index)["image"]

loader = DataLoader(Rows(A.Compose([{transforms}])), num_workers=4)
"""
        }
        for name, cap, transforms in (
            ("a transform that inherits and works otherwise", CROPPED, "Cropped(8, 8)"),
            ("transforms of albumentations that start no threads", "", "A.HorizontalFlip(), A.RandomCrop(8, 8)"),
            ("transforms of albumentations with a cap", "cv2.setNumThreads(0)\n", "A.Resize(640, 640)"),
        )
    },
    "augmenters of imgaug that start no threads, and a method of the project": {
        "train.py": """\
import cv2
import imgaug.augmenters as iaa
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.flips = iaa.Sequential([iaa.Fliplr(0.5), iaa.Dropout(0.1)])
        self.spare = iaa.Affine(rotate=9)

    def __len__(self):
        return 9

    def augment_image(self, image):
        return self.flips.augment_image(image)

    def __getitem__(self, index):
        return self.augment_image(self.flips(image=index))

loader = DataLoader(Rows(), num_workers=4)
"""
    },
    "what works in one thread": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __getitem__(self, index):
        image = cv2.flip(cv2.imread("face.jpg"), 1)
        cv2.rectangle(image, (0, 0), cv2.boundingRect(index)[:2], (255, 0, 0))
        return cv2.copyMakeBorder(image, 1, 1, 1, 1, cv2.BORDER_CONSTANT)
"""
        + TAIL
    },
    "only reading": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __getitem__(self, index):
        image = cv2.imread("face.jpg", cv2.IMREAD_COLOR)
        return image if image is not None else cv2.imdecode(index, 1)
"""
        + TAIL
    },
    "a video": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __getitem__(self, index):
        video = cv2.VideoCapture("film.mp4")
        video.set(cv2.CAP_PROP_POS_FRAMES, index)
        return video.read()
"""
        + TAIL
    },
    "in __init__ only": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __init__(self):
        self.logo = cv2.resize(cv2.imread("logo.png"), (640, 640))

    def __getitem__(self, index):
        return self.logo
"""
        + TAIL
    },
    "no workers": {"data.py": HEAD + READ + TAIL.replace("num_workers=4", "num_workers=0")},
    "no workers by default": {"data.py": HEAD + READ + TAIL.replace(", num_workers=4", "")},
    "outside of workers": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __getitem__(self, index):
        return index

def show(image):
    return cv2.resize(image, (640, 640))
"""
        + TAIL
    },
    "capped after the import": {"data.py": HEAD + "\ncv2.setNumThreads(0)\n" + READ + TAIL},
    "capped to one": {"data.py": HEAD + "\ncv2.setNumThreads(1)\n" + READ + TAIL},
    "capped by a constant": {"data.py": HEAD + "\nTHREADS = 0\ncv2.setNumThreads(THREADS)\n" + READ + TAIL},
    "capped by an imported name": {"data.py": HEAD + "from cv2 import setNumThreads\nsetNumThreads(0)\n" + READ + TAIL},
    "capped in a try block": {
        "data.py": HEAD + "\ntry:\n    cv2.setNumThreads(0)\nexcept AttributeError:\n    pass\n" + READ + TAIL
    },
    "capped in the package of the dataset": {
        "sets/__init__.py": "import cv2\ncv2.setNumThreads(0)\n",
        "sets/rows.py": HEAD + READ,
        "train.py": "from sets.rows import Rows\nfrom torch.utils.data import DataLoader\n" + TAIL,
    },
    "capped in a module that the dataset's imports": {
        "threads.py": "import cv2\n\ncv2.setNumThreads(0)\n",
        "data.py": "import threads\n" + HEAD + READ + TAIL,
    },
    "capped in a function that such a module calls": {
        "threads.py": "import cv2\n\ndef cap():\n    cv2.setNumThreads(0)\n\ncap()\n",
        "data.py": "import threads\n" + HEAD + READ + TAIL,
    },
    "capped in worker_init_fn": {
        "data.py": HEAD
        + READ
        + """
def start(worker):
    cv2.setNumThreads(0)

def build():
    return DataLoader(Rows(), num_workers=4, worker_init_fn=start, multiprocessing_context="spawn")
"""
    },
    "capped by what worker_init_fn calls": {
        "threads.py": "import cv2\n\ndef cap():\n    cv2.setNumThreads(0)\n",
        "data.py": HEAD
        + "import threads\n"
        + READ
        + """
def start(worker):
    threads.cap()

def build():
    return DataLoader(Rows(), num_workers=4, worker_init_fn=start)
""",
    },
    "capped by cv2.setNumThreads itself as worker_init_fn's lambda": {
        "data.py": HEAD
        + READ
        + TAIL.replace("num_workers=4", "num_workers=4, worker_init_fn=lambda worker: cv2.setNumThreads(0)")
    },
    "capped in __getitem__": {
        "data.py": HEAD
        + """
class Rows(Dataset):
    def __getitem__(self, index):
        cv2.setNumThreads(0)
        return cv2.resize(index, (640, 640))
"""
        + TAIL
    },
    "capped in the parent, forked workers": {
        "data.py": HEAD + READ,
        "train.py": """\
import cv2
from torch.utils.data import DataLoader
from data import Rows

def main():
    cv2.setNumThreads(0)
    return DataLoader(Rows(), num_workers=4, multiprocessing_context="fork")

if __name__ == "__main__":
    main()
""",
    },
    "the variable before the import": {
        "data.py": 'import os\nos.environ["OPENCV_FOR_THREADS_NUM"] = "1"\n' + HEAD + READ + TAIL,
    },
    "another library's loader": {
        "data.py": (HEAD + READ + TAIL).replace("import DataLoader, Dataset", "import Dataset")
        + "\nfrom paddle.io import DataLoader\n"
    },
    "another module called cv2's functions": {
        "data.py": HEAD.replace("import cv2", "import skimage.transform as cv2") + READ + TAIL,
    },
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_uncapped_pools_are_found(findings: Callable[..., Any], marks: Callable[..., Any], text: str) -> None:
    files = {"data.py": HEAD + text + TAIL}
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_uncapped_pools_in_other_files_are_found(
    findings: Callable[..., Any], marks: Callable[..., Any], files: dict[str, str]
) -> None:
    assert findings(files, **SELECT) == marks(files)


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_capped_or_unused_pools_are_silent(findings: Callable[..., Any], files: dict[str, str]) -> None:
    assert findings(files, **SELECT) == set()


def test_the_trace_leads_from_the_entry_to_the_call(told: Callable[..., Any]) -> None:
    (finding,) = told({"data.py": HEAD + FOUND["in a helper"] + TAIL}, **SELECT)

    assert [place.span.line for place in finding.trace] == [6, 9]


def test_where_cv2_begins_is_named(told: Callable[..., Any]) -> None:
    text = """
class Rows(Dataset):
    def __getitem__(self, index):
        image = self.read(index)
        return cv2.resize(image, (640, 640))  # DLL501

    def read(self, index):
        return cv2.imread("face.jpg")
"""
    (finding,) = told({"data.py": HEAD + text + TAIL}, **SELECT)

    assert finding.span.line == 7
    assert finding.related[-1].span.line == 10


def test_calls_of_other_branches_are_named(told: Callable[..., Any], relative: Callable[..., Any]) -> None:
    files = {
        "data.py": HEAD
        + """
from augment import Augmentation

class Rows(Dataset):
    def __init__(self):
        self.augment = Augmentation()

    def __getitem__(self, index):
        image = cv2.imread(str(index))
        return self.augment(image)
"""
        + TAIL,
        "augment.py": """import cv2
import random

class Augmentation:
    def __call__(self, image):
        if random.random() > 0.5:
            image = self.gray(image)
        if random.random() > 0.5:
            image = self.crop(image)
        if random.random() > 0.5:
            image = self.flip(image)
        return image

    def gray(self, image):
        image = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        return cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)

    def crop(self, image):
        return cv2.warpAffine(image, None, (8, 8))

    def flip(self, image):
        return cv2.flip(image, 1)

    def blur(self, image):
        return cv2.GaussianBlur(image, (3, 3), 0)
""",
    }
    (finding,) = told(files, **SELECT)

    assert (relative(finding.path), finding.span.line) == ("augment.py", 15)
    named = [(relative(place.path), place.span.line, place.message) for place in finding.related]
    assert ("augment.py", 19, "`cv2.warpAffine` starts them too") in named
    assert not {16, 22, 25} & {line for path, line, _ in named if path == "augment.py"}


def test_two_loaders_are_one_finding(told: Callable[..., Any]) -> None:
    text = HEAD + READ + TAIL + "\ndef more():\n    return DataLoader(Rows(), num_workers=2)\n"

    (finding,) = told({"data.py": text}, **SELECT)

    assert len(finding.related) == 2


def test_the_cap_goes_to_the_module_of_the_dataset(told: Callable[..., Any], relative: Callable[..., Any]) -> None:
    (finding,) = told({"data.py": HEAD + READ + TAIL}, **SELECT)

    (fix,) = finding.fixes
    (edit,) = fix.edits
    assert (fix.applicability, relative(edit.path), edit.anchor.line, edit.code) == (
        "safe",
        "data.py",
        1,
        "cv2.setNumThreads(0)",
    )


def test_no_fix_where_only_parts_of_cv2_have_a_name(told: Callable[..., Any]) -> None:
    (finding,) = told(
        {"data.py": (HEAD + READ + TAIL).replace("import cv2", "from cv2 import resize").replace("cv2.r", "r")},
        **SELECT,
    )

    assert finding.fixes == ()


def test_every_loader_is_named(told: Callable[..., Any]) -> None:
    loaders = "".join(f"\ndef build_{one}():\n    return DataLoader(Rows(), num_workers=4)\n" for one in range(9))
    (finding,) = told({"data.py": HEAD + READ + loaders}, **SELECT)

    assert len(finding.related) == 9


def test_calls_in_other_files_are_named(told: Callable[..., Any], relative: Callable[..., Any]) -> None:
    transforms = {
        f"{name}.py": "import cv2\n\n"
        f"class {name.title()}:\n    def __call__(self, row):\n        return cv2.{call}(row)\n"
        for name, call in (("blurred", "medianBlur"), ("resized", "resize"), ("read", "imread"))
    }
    rows = """\
from torch.utils.data import DataLoader, Dataset

from blurred import Blurred
from read import Read
from resized import Resized

STEPS = {"blurred": Blurred, "read": Read, "resized": Resized}

class Rows(Dataset):
    def __init__(self, names):
        self.steps = [STEPS[name]() for name in names]

    def __getitem__(self, index):
        for step in self.steps:
            index = step(index)
        return index

loader = DataLoader(Rows(open("steps").read().split()), num_workers=4)
"""
    (found,) = told({"rows.py": rows, **transforms}, **SELECT)

    named = [(relative(one.path), one.message) for one in found.related if "starts them too" in one.message]
    assert relative(found.path) == "blurred.py"
    assert named == [("resized.py", "`cv2.resize` starts them too")]


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("cv2.resize(row, (224, 224))", False),
        ("cv2.resize(row, dsize=SIZE)", False),
        ("cv2.resize(row, (320, 320))", True),
        ("cv2.resize(row, (224, 224), interpolation=cv2.INTER_CUBIC)", True),
        ("cv2.resize(row, row.shape)", True),
        ("cv2.cvtColor(cv2.resize(row, SIZE), cv2.COLOR_RGB2GRAY)", False),
        ("cv2.cvtColor(row, cv2.COLOR_RGB2GRAY)", True),
        ("cv2.GaussianBlur(cv2.resize(row, SIZE), (5, 5), 1)", True),
        ("SMALL(image=row)", False),
        ("LARGE(image=row)", True),
        ("TURNED(image=row)", True),
    ],
)
def test_images_that_are_too_small_for_the_pool(step: str, found: bool, findings: Callable[..., Any]) -> None:
    text = (
        "import albumentations as A\nimport cv2\nimport numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n"
        "SIZE = (64, 16)\nSMALL = A.Compose([A.HorizontalFlip(), A.Resize(32, 32)])\n"
        "LARGE = A.Compose([A.Resize(height=512, width=512)])\nTURNED = A.Compose([A.Resize(32, 32), A.Rotate()])\n\n"
        "class Rows(Dataset):\n    def __getitem__(self, i):\n        row = np.load(str(i))\n"
        f"        return {step}\n\nloader = DataLoader(Rows(), num_workers=4)\n"
    )
    assert findings({"train.py": text}, select=["DLL501"]) == ({("train.py", 13, "DLL501")} if found else set())


OPTIONS = """\
class Options:
    def __init__(self, **kwargs):
        self.data = {}
        for key, value in kwargs.items():
            self.data[key] = value

    def __getattr__(self, key):
        if key not in self.data:
            raise AttributeError(key)
        return self.data[key]

    def set(self, key, value):
        self.data[key] = value

options = Options(side=SIDE, workers=4, rate=0.1)
options.set("rate", 0.5)
"""


@pytest.mark.parametrize(("side", "found"), [("96", False), ("640", True), ("read()", True)])
def test_a_size_that_an_object_of_options_computes(side: str, found: bool, findings: Callable[..., Any]) -> None:
    rows = (
        "from options import options\nclass Rows(Dataset):\n    def __getitem__(self, index):\n"
        "        return cv2.resize(cv2.imread(index), (options.side, options.side))\n"
        "loader = DataLoader(Rows(), num_workers=options.workers)\n"
    )
    files = {"options.py": OPTIONS.replace("SIDE", side), "rows.py": f"{HEAD}{rows}"}

    assert bool(findings(files, **SELECT)) is found


@pytest.mark.parametrize(
    ("check", "found"), [("raise ValueError(path)", False), ("if path:\n            raise ValueError", True)]
)
def test_a_dataset_whose_constructor_always_raises(check: str, found: bool, findings: Callable[..., Any]) -> None:
    rows = (
        f"class Rows(Dataset):\n    def __init__(self, path):\n        {check}\n        self.path = path\n\n"
        "    def __getitem__(self, index):\n        return cv2.resize(cv2.imread(self.path), (640, 480))\n\n"
        "loader = DataLoader(Rows('a.jpg'), num_workers=4)\n"
    )
    assert bool(findings({"rows.py": f"{HEAD}{rows}"}, **SELECT)) is found
