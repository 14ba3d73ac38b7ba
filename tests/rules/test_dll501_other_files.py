"""DLL501: what workers get from other files, and what they run of several classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SELECT = {"select": ["DLL501"]}
TRAIN = """\
import images
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return images.blurred(index)

def build():
    return DataLoader(Rows(), num_workers=2)
"""


@pytest.mark.parametrize(
    ("imports", "call", "found"),
    [
        ("from common import *", "cv2.GaussianBlur(image, (5, 5), 0)", True),
        ("from common import cv2", "cv2.GaussianBlur(image, (5, 5), 0)", True),
        ("import common", "common.cv2.GaussianBlur(image, (5, 5), 0)", True),
        ("from common import *", "np.asarray(image)", False),
        ("from common import *", "numbers.cv2.GaussianBlur(image, (5, 5), 0)", False),
    ],
)
def test_cv2_that_another_file_imports(imports: str, call: str, found: bool, told: Callable[..., Any]) -> None:
    files = {
        "common.py": "import cv2\nimport numbers\nimport numpy as np\n",
        "images.py": f"{imports}\n\ndef blurred(image):\n    return {call}\n",
        "train.py": TRAIN,
    }
    assert [(one.path[-9:], one.span.line) for one in told(files, **SELECT)] == ([("images.py", 4)] if found else [])


CHOSEN = """\
import cv2
from torch.utils.data import DataLoader, Dataset

class Coco:
    def path(self, index):
        return "a.jpg"

class Kitti:
    def path(self, index):
        return "b.jpg"

class Boxes(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return cv2.imread(self.path(index))

class Poses(Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return cv2.resize(cv2.imread(self.path(index)), (512, 512))

class Points(Boxes):
    def __getitem__(self, index):
        return cv2.warpAffine(super().__getitem__(index), None, (512, 512))

class Faces(Dataset):
    def __getitem__(self, index):
        return cv2.flip(index, 1)

SOURCES = {"coco": Coco, "kitti": Kitti}
TASKS = {"boxes": Boxes, "poses": Poses, "points": Points}

def made(source, task):
    class Chosen(SOURCES[source], TASKS[task]):
        pass
    return Chosen

def build(options):
    return DataLoader(made(options.source, options.task)(), num_workers=2)
"""


def test_each_class_that_may_be_the_base(told: Callable[..., Any]) -> None:
    found = told({"train.py": CHOSEN}, **SELECT)

    lines = {one.span.line for one in found} | {place.span.line for one in found for place in one.related}
    assert {22, 26} <= lines
    assert 30 not in lines


COMPOSED = """\
import cv2
from torch.utils.data import DataLoader, Dataset

class Compose:
    def __init__(self, transforms):
        self.transforms = transforms
    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image

class Numbered(Compose):
    def __call__(self, image):
        for number, transform in enumerate(self.transforms):
            image = transform(image)
        return image

class Scale:
    def __call__(self, image):
        return image / 255

class Convert:
    def __call__(self, image):
        return cv2.cvtColor(image, cv2.COLOR_BGR2HSV)

class Distort:
    def __init__(self):
        self.parts = [Convert(), Scale()]
    def __call__(self, image):
        INNER

class Rows(Dataset):
    def __init__(self):
        self.transform = Compose([Distort(), Scale()])
    def __len__(self):
        return 9
    def __getitem__(self, index):
        return self.transform(index)

def build():
    return DataLoader(Rows(), num_workers=4)
"""


@pytest.mark.parametrize(
    ("inner", "found"),
    [
        ("return Compose(self.parts)(image)", True),
        ("parts = Compose(self.parts[:-1])\n        return parts(image)", True),
        ("return Compose([Scale(), Compose([Convert()])])(image)", True),
        ("return Numbered(self.parts)(image)", True),
        ("return Compose(self.parts[1:])(image)", False),
        ("return Compose([Scale()])(image)", False),
    ],
)
def test_compositions_inside_one_another(inner: str, found: bool, told: Callable[..., Any]) -> None:
    places = [one.span.line for one in told({"train.py": COMPOSED.replace("INNER", inner)}, **SELECT)]

    assert places == ([24] if found else [])


WAYS = """\
import cv2
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, large):
        self.large = large
    def __len__(self):
        return 9
    def __getitem__(self, index):
        image = cv2.imread(str(index))
        if image.shape[0] > self.large:
            image = cv2.resize(image, (2048, 2048))
            image = cv2.GaussianBlur(image, (5, 5), 0)
        else:
            image = cv2.pyrUp(image)
        image = cv2.warpAffine(image, None, (512, 512))
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)

def build(options):
    return DataLoader(Rows(options.large), num_workers=4)
"""


def test_each_way_through_a_function(told: Callable[..., Any]) -> None:
    (found,) = told({"train.py": WAYS}, **SELECT)

    also = [place.span.line for place in found.related if place.message.endswith("starts them too")]
    assert (found.span.line, also) == (12, [15, 16])
