"""DLL501: methods of the project's transforms that the `__call__` of a library's base class runs."""

from __future__ import annotations

from tests.rules.conftest import in_one_file

HEAD = """\
import cv2
from torch.utils.data import DataLoader, Dataset

def blur(image):
    return cv2.GaussianBlur(image, (5, 5), 0){mark}

class Rows(Dataset):
    def __init__(self, paths, transform):
        self.paths = paths
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.transform({given})
"""
TAIL = """
def build(paths):
    return DataLoader(Rows(paths, {transform}), num_workers=4)
"""
MARK = "  # DLL501"


def _text(transforms: str, transform: str, given: str = "self.paths[index]", mark: str = MARK) -> str:
    return HEAD.format(mark=mark, given=given) + transforms + TAIL.format(transform=transform)


MMCV = """\
import cv2
import mmcv
from mmcv.utils import {loader}
from torch.utils.data import Dataset

class Rows(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return {call}

def prepare(cfg):
    {before}

def train(cfg):
    prepare(cfg)
    return {loader}(Rows(), batch_size=2, num_workers=cfg.data.workers_per_gpu)

train(mmcv.Config.fromfile("config.py"))
"""


def _mmcv(call: str, before: str = "print(cfg)", loader: str = "DataLoader") -> str:
    return MMCV.format(call=call, before=before, loader=loader)


ALBUMENTATIONS = """
import albumentations as A

class Soft(A.DualTransform):
    def apply(self, image, **params):
        return image

    def apply_to_mask(self, mask, **params):
        return blur(mask)
"""
VERSION_2 = """
from torchvision.transforms import v2

class Soft(v2.Transform):
    def {name}(self, image, params):
        return blur(image)
"""
TORCHIO = """
import torchio

class Soft(torchio.transforms.IntensityTransform):
    def apply_transform(self, subject):
        return blur(subject)
"""
DETECTRON2 = """
import detectron2.data.transforms as T

class Soften(T.Transform):
    def apply_image(self, image):
        return blur(image)

class Soft(T.Augmentation):
    def get_transform(self, image):
        return Soften()
"""
GRAPHS = """
from torch_geometric import transforms as T

class Soft(T.BaseTransform):
    def forward(self, data):
        return blur(data)
"""
OWN_CALL = "\n    def __call__(self, image):\n        return image\n"
FOUND = {
    "albumentations": _text(ALBUMENTATIONS, "A.Compose([Soft()])", "image=self.paths[index]"),
    "albumentations, without a composition": _text(ALBUMENTATIONS, "Soft()", "image=self.paths[index]"),
    "albumentations, a subclass": _text(
        ALBUMENTATIONS + "\nclass Softer(Soft):\n    pass\n", "A.Compose([Softer(p=1)])", "**{'image': 1}"
    ),
    "torchvision": _text(VERSION_2.format(name="transform"), "v2.Compose([Soft()])"),
    "torchvision before 0.21": _text(VERSION_2.format(name="_transform"), "Soft()"),
    "torchio": _text(TORCHIO, "torchio.Compose([Soft(p=1)])"),
    "torchio, without a composition": _text(TORCHIO, "Soft()"),
    "torch_geometric": _text(GRAPHS, "T.Compose([Soft()])"),
    "torch_geometric, without a composition": _text(GRAPHS, "Soft()"),
    "detectron2, the transform of an augmentation": _text(
        DETECTRON2, "T.AugmentationList([Soft()])", "T.AugInput(self.paths[index])"
    ),
    "detectron2, a transform alone": _text(
        DETECTRON2, "T.AugmentationList([Soften()])", "T.AugInput(self.paths[index])"
    ),
}
FOUND["detectron2, augmentations that from_config returns"] = (
    DETECTRON2
    + """
import cv2
from detectron2.config import configurable
from detectron2.data import DatasetMapper, build_detection_train_loader

def blur(image):
    return cv2.GaussianBlur(image, (5, 5), 0)  # DLL501

class Mapper(DatasetMapper):
    @configurable
    def __init__(self, is_train=True, *, augmentations):
        self.augmentations = T.AugmentationList(augmentations)

    @classmethod
    def from_config(cls, cfg, is_train=True):
        augmentations = [T.RandomFlip()]
        augmentations.append(Soft())
        return {"augmentations": augmentations, "is_train": is_train}

    def __call__(self, row):
        return self.augmentations(T.AugInput(cv2.imread(row["path"])))

def build(cfg):
    return build_detection_train_loader(cfg, mapper=Mapper(cfg, is_train=True))
"""
)
FOUND |= {
    "a function of mmcv": _mmcv("mmcv.imrescale(mmcv.imread('a.jpg'), (2048, 512))  # DLL501"),
    "by its module": _mmcv("mmcv.image.imnormalize(index, 1, 2)  # DLL501", loader="PoolDataLoader"),
    "beside a number of threads": _mmcv("mmcv.imrotate(index, 9)  # DLL501", "cv2.setNumThreads(4)"),
}
SILENT = {
    "a function of mmcv without OpenCV's pool": _mmcv("mmcv.imflip(mmcv.imread('a.jpg'))"),
    "a number of threads from a configuration": _mmcv(
        "mmcv.imrescale(index, 0.5)", "cv2.setNumThreads(cfg.get('opencv_num_threads', 0))"
    ),
    "a call of its own": _text(TORCHIO + OWN_CALL, "torchio.Compose([Soft()])", mark=""),
    "a base's call of its own": _text(
        TORCHIO.replace(
            "class Soft(", "class Still(torchio.Transform):\n" + OWN_CALL[1:] + "\nclass Soft(Still, "
        ).replace("(Still, torchio.transforms.IntensityTransform)", "(Still)"),
        "Soft()",
        mark="",
    ),
    "another method": _text(TORCHIO.replace("apply_transform", "plot"), "Soft()", mark=""),
    "a transform that nothing applies": _text(DETECTRON2, "str", mark=""),
}
test_found, test_silent = in_one_file("DLL501", FOUND, SILENT)
