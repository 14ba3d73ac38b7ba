"""The objects that pickle refuses, and its error message for each, by Python version.

Every row was measured by pickling such an object: with CPython 3.10.13, 3.11.7, 3.12.1 and 3.13.0 for the standard
library, and on 3.11.7 for torch 2.13.0, numpy 2.4.6, h5py 3.16.0, lmdb 3.0.0, opencv 5.0.0, pyarrow 26.0.1, av 18.1.0,
zarr 3.1.6, pillow 13.0.0, filelock 4.2.11, boto3 1.44.5, redis 8.1.0, pymongo 4.20.0, decord 0.6.0, soundfile 0.14.0,
plyvel 1.5.1, rasterio 1.4.4, netCDF4 1.7.5, tables 3.11.1. Read, not measured: google-cloud-core 2
(`google/cloud/client/__init__.py`), and the classes of OpenCV 4 that OpenCV 5 left out of its main package (the same
generator makes their bindings).
"""

from __future__ import annotations

from typing import NamedTuple

Errors = tuple[tuple[tuple[int, int], str], ...]
"""Error messages, exception class first, each with the first Python version that prints it; `…` stands for varying
text."""


class Refusal(NamedTuple):
    """An object that cannot be pickled, and the error that pickling it raises.

    Attributes:
        what: the object in words, for "keeps …".
        errors: the error messages by Python version.
        remedy: the key of the remedy on the page of DLL203.
        forked_context: whether it fails only if a fork context created it and another context starts the process.
        lock: whether its lock is what fails, which `lock=False` leaves out.
    """

    what: str
    errors: Errors
    remedy: str = "main"
    forked_context: bool = False
    lock: bool = False

    def error(self, python: tuple[int, int]) -> str:
        """Return the error message of the given Python version."""
        return [text for since, text in self.errors if since <= python][-1]


class Mode(NamedTuple):
    """Where an opener takes its mode, the default mode, and whether a mode without "b" or "t" means text."""

    position: int
    default: str = "r"
    text: bool = True
    what: str = "an open file"


def always(text: str) -> Errors:
    """Return an error message that is the same in every Python version."""
    return (((3, 0), text),)


def since(first: tuple[int, int], before: str, text: str) -> Errors:
    """Return an error message that changed in Python version `first`."""
    return ((3, 0), before), (first, text)


def stream(kind: str) -> Errors:
    """Return the error for a class of `io`, which CPython 3.12 changed (Modules/_io/iobase.c)."""
    return since(
        (3, 12), f"TypeError: cannot pickle '_io.{kind}' object", f"TypeError: cannot pickle '{kind}' instances"
    )


def instance(kind: str) -> Errors:
    """Return the error for an object of a C class that does not support pickling."""
    return always(f"TypeError: cannot pickle '{kind}' object")


def local(name: str) -> Errors:
    """Return the error for a function or class defined inside a function, which CPython 3.13 changed."""
    return since(
        (3, 13),
        f"AttributeError: Can't pickle local object '{name}'",
        f"AttributeError: Can't get local object '{name}'",
    )


def opened(opener: Mode, mode: str, unbuffered: bool = False) -> Refusal:
    """Return the refusal for the file that an opener returns in this mode."""
    text = "t" in mode or (opener.text and "b" not in mode)
    if text:
        kind = "TextIOWrapper"
    elif unbuffered:
        kind = "FileIO"
    elif "+" in mode or (opener.what == "an open zip archive" and mode[:1] in ("w", "x", "a")):
        kind = "BufferedRandom"
    else:
        kind = "BufferedReader" if mode.startswith("r") or mode == "b" else "BufferedWriter"
    return Refusal(opener.what, stream(kind))


def named(name: str) -> Refusal:
    """Return the refusal for a constructor or opener that the configuration lists under `unpicklable`."""
    return Refusal(f"what `{name}` gives", always("named under `unpicklable`"))


LOCK = instance("_thread.lock")
RLOCK = instance("_thread.RLock")
POINTERS = always("ValueError: ctypes objects containing pointers cannot be pickled")
CYTHON = always("TypeError: no default __reduce__ due to non-trivial __cinit__")

GENERATOR = Refusal("a generator", instance("generator"), "iterator")
MODULE = Refusal("a module", instance("module"), "module")
_INNER_MODULES = {
    "os": "path",
    "xml.etree": "ElementTree",
    "PIL": "Image ImageDraw ImageEnhance ImageFile ImageFilter ImageFont ImageOps",
    "librosa": "core effects feature util",
    "matplotlib": "cm colors pyplot",
    "numpy": "fft linalg random",
    "pycocotools": "coco cocoeval mask",
    "scipy": "interpolate io misc ndimage signal sparse spatial stats",
    "skimage": "color draw filters io measure morphology transform util",
    "torch": "cuda distributed nn optim",
    "torch.nn": "functional init",
    "torchvision": "datasets io models ops transforms",
    "torchvision.transforms": "functional",
}
INNER_MODULES = frozenset(f"{package}.{name}" for package, names in _INNER_MODULES.items() for name in names.split())
"""Modules that programs reach through their package, without an import by their whole name."""
RUN_TIME_CLASS = Refusal(
    "a class that is made at run time",
    always("PicklingError: Can't pickle <class '…'>: attribute lookup … on … failed"),
    "class",
)
WRAPPED_BY_CLASS = Refusal(
    "a function that a class wraps as its decorator",
    always("PicklingError: Can't pickle <function … at …>: it's not the same object as …"),
    "cached",
)
CACHED = Refusal(
    "a cached function under another name",
    always("PicklingError: Can't pickle <functools._lru_cache_wrapper object at …>: it's not the same object as …"),
    "cached",
)
