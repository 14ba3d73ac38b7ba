"""torchvision (docs.pytorch.org/vision)."""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import Refusal, instance
from dllint.screen import Words

_BASES = frozenset(f"torchvision.datasets.{name}" for name in ("VisionDataset", "ImageFolder", "DatasetFolder"))

# torchvision/transforms/v2/_transform.py: `forward` checks the inputs, draws parameters and transforms each input; the
# names with underscores are those before 0.21.
_CALLED = {
    "__call__": (
        *("forward", "check_inputs", "_check_inputs", "make_params", "_get_params", "transform", "_transform"),
        "get_params",
    )
}

# What these do with an image does not depend on chance; `Compose` draws nothing but what its transforms draw.
_FIXED = (
    *("CenterCrop", "ConvertImageDtype", "FiveCrop", "Grayscale", "LinearTransformation", "Normalize", "Pad", "Resize"),
    *("PILToTensor", "Scale", "TenCrop", "ToDtype", "ToImage", "ToPILImage", "ToPureTensor", "ToTensor"),
)

# Modules whose classes the package itself exports (torchvision/datasets/__init__.py)
_MODULES = (
    *("coco", "folder", "vision", "mnist", "cifar", "svhn", "stl10", "lsun", "voc", "imagenet", "celeba", "cityscapes"),
)

# Their `__getitem__` returns a picture and the number of its class (torchvision/datasets/mnist.py, cifar.py, …). The
# numbers are those of the largest split, as the pages of the datasets give them.
_CLASSIFIED = {
    **dict.fromkeys(("ImageFolder", "DatasetFolder", "ImageNet", "FakeData", "Places365", "SUN397", "QMNIST"), 0),
    **dict.fromkeys(("CIFAR10", "CIFAR100"), 50_000),
    **dict.fromkeys(("MNIST", "FashionMNIST", "KMNIST"), 60_000),
    "Caltech256": 30_607,
    "Country211": 31_650,
    "DTD": 1880,
    "EMNIST": 697_932,
    "EuroSAT": 27_000,
    "FGVCAircraft": 6667,
    "Flowers102": 6149,
    "Food101": 75_750,
    "GTSRB": 26_640,
    "Omniglot": 19_280,
    "PCAM": 262_144,
    "SEMEION": 1593,
    "STL10": 105_000,
    "StanfordCars": 8144,
    "SVHN": 531_131,
    "USPS": 7291,
}

# torchvision/datasets/cifar.py, svhn.py and stl10.py: `self.data`, one byte for each colour of a pixel
_HELD = {
    **{name: {"train": 50_000 * 3 * 32**2, "test": 10_000 * 3 * 32**2} for name in ("CIFAR10", "CIFAR100")},
    "SVHN": {"train": 73_257 * 3 * 32**2, "test": 26_032 * 3 * 32**2, "extra": 531_131 * 3 * 32**2},
    "STL10": {
        "train": 5000 * 3 * 96**2,
        "test": 8000 * 3 * 96**2,
        "unlabeled": 100_000 * 3 * 96**2,
        "train+unlabeled": 105_000 * 3 * 96**2,
    },
}

LIBRARY = Library(
    renamed={
        **{f"torchvision.datasets.{name}.": "torchvision.datasets." for name in _MODULES},
        "torchvision.transforms.transforms.": "torchvision.transforms.",
    },
    runs_methods=dict.fromkeys(("torchvision.transforms.", "torchvision.transforms.v2."), _CALLED),
    datasets=_BASES | {"torchvision.datasets."},
    tensor_items={f"torchvision.datasets.{name}": items for name, items in _CLASSIFIED.items()},
    held_pictures={f"torchvision.datasets.{name}": sizes for name, sizes in _HELD.items()},
    # torchvision/datasets/vision.py: `self.transform = transform`
    keeps_as_given=_BASES,
    # torchvision/transforms/transforms.py: `self.transforms = transforms`, the list itself
    kept_as={
        **{f"torchvision.transforms.{name}": {"transforms": 0} for name in ("Compose", "v2.Compose")},
        "torchvision.datasets.": {"transform": -1, "target_transform": -1},
    },
    # torchvision/datasets/folder.py: the arguments of `make_dataset`; `loader` and the transforms are kept
    lets_go={
        f"torchvision.datasets.{name}": frozenset({"is_valid_file", "allow_empty"})
        for name in ("ImageFolder", "DatasetFolder")
    },
    # torchvision/datasets/lsun.py: `self.env = lmdb.open(…)`
    refusals={
        f"torchvision.datasets.{name}": Refusal("an LSUN dataset with open lmdb environments", instance("Environment"))
        for name in ("LSUN", "LSUNClass")
    },
    # torchvision/datasets/coco.py: `self.coco = COCO(annFile)`
    readers={f"torchvision.datasets.{name}": "table" for name in ("CocoDetection", "CocoCaptions")},
    path_functions=frozenset({"read_image", "read_video", "decode_jpeg", "default_loader", "pil_loader"}),
    # torchvision/transforms/transforms.py: `for t in self.transforms: img = t(img)`
    compositions=frozenset({"torchvision.transforms.Compose", "torchvision.transforms.v2.Compose"}),
    new_tensors=frozenset(
        {
            "torchvision.io.read_image",
            "torchvision.io.read_video[0]",
            "torchvision.transforms.functional.to_tensor",
            "torchvision.transforms.functional.pil_to_tensor",
            "torchvision.transforms.ToTensor()",
            "torchvision.transforms.PILToTensor()",
            # torchvision/transforms/_functional_tensor.py: `tensor.clone()` unless `inplace`
            "torchvision.transforms.Normalize()",
        }
    ),
    undrawing=frozenset(f"torchvision.transforms.{name}()" for one in _FIXED for name in (one, f"v2.{one}")),
    words=Words(in_workers=(b"transforms",)),
)
