"""The declarations of all libraries, joined into tables by API name, or by the last part of that name.

A library is a module of this package that defines `LIBRARY`. A new file is found without being listed anywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

import dllint.libraries
from dllint.inference.values import COLUMN_MARK, PICK_MARK
from dllint.libraries import contexts
from dllint.libraries.facets import Library, Opener
from dllint.libraries.pickling import Mode
from dllint.screen import Words

T = TypeVar("T")
_READERS = frozenset(
    {
        *("builtins", "contents", "filled_classes", "hooks", "hub_transforms", "hydra", "index", "knowledge"),
        *("inherited_attributes", "iterables", "lightning", "named_objects", "records", "replaced_fields"),
    }
)
"""Modules of this package that read these tables, so that importing them from here would be circular."""


def _libraries() -> Iterator[Library]:
    for module in iter_modules(dllint.libraries.__path__):
        if module.name not in _READERS:
            library = getattr(import_module(f"dllint.libraries.{module.name}"), "LIBRARY", None)
            if library is not None:
                yield library


LIBRARIES = tuple(_libraries())


def _joined(tables: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return {name: row for table in tables for name, row in table.items()}


def _union(sets: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(name for one in sets for name in one)


# Names

ALIASES = _joined(one.aliases for one in LIBRARIES)
_RENAMED = _joined(one.renamed for one in LIBRARIES)
_KEPT = tuple(name for one in LIBRARIES for name in one.kept)


def _sliced(name: str) -> str:
    return name.replace(COLUMN_MARK, "[:]").replace(PICK_MARK, "[:]")


@cache
def canonical(name: str) -> str:
    """Return the canonical name of an API that can be reached by several names."""
    head, bracket, rest = _sliced(contexts.plain(name)).partition("()")
    found = ALIASES.get(head)
    if found is None and not head.startswith(_KEPT):
        for prefix, replacement in _RENAMED.items():
            if head.startswith(prefix) or head == prefix[:-1]:
                head = (replacement + head[len(prefix) :]).rstrip(".")
                break
        found = ALIASES.get(head)
    return (found or head) + bracket + rest


# Loading

NATIVE_POOLS = _joined(one.native_pools for one in LIBRARIES)
LOADERS = _joined(one.loaders for one in LIBRARIES)
GIVES_ARGUMENT = _union(one.gives_argument for one in LIBRARIES)
GIVES_ARGUMENTS = _union(one.gives_arguments for one in LIBRARIES)
SPLITS_ARGUMENTS = _union(one.splits_arguments for one in LIBRARIES)
_DATASETS = _union(one.datasets for one in LIBRARIES)
_DATASET_MODULES = tuple(sorted(name for name in _DATASETS if name.endswith(".")))
DATASET_BASES = _DATASETS - frozenset(_DATASET_MODULES)
ITERABLE_BASES = _union(one.iterable_datasets for one in LIBRARIES)
PLAIN_BASES = _union(one.plain_bases for one in LIBRARIES)
WRAPPED_AS = _joined(one.dataset_wrappers for one in LIBRARIES)
WRAPPERS = frozenset(WRAPPED_AS)
KEPT_AS_GIVEN = _union(one.keeps_as_given for one in LIBRARIES)
_NUMBERS_KEPT = ("batch_size", "drop_last", "num_workers", "pin_memory")
"""The arguments of a DataLoader that its attributes hold, besides the dataset (torch/utils/data/dataloader.py)."""
_KEPT_AS: dict[str, Mapping[str, int]] = {
    **{
        name: {one: api.params.index(one) if one in api.params else -1 for one in ("dataset", *_NUMBERS_KEPT)}
        for name, api in LOADERS.items()
        if api.dataset == "dataset" and not api.names
    },
    **_joined(one.kept_as for one in LIBRARIES),
}
_OFF = {"num_workers": 0, "persistent_workers": False, "prefetch_factor": None}
"""The options of workers as DataLoader and trainers have them where nobody sets them."""
_OPTIONS_KEPT = {
    name: {api.names.get(option, option): value for option, value in _OFF.items()}
    for name, api in LOADERS.items()
    if api.trainers
}
"""Options of trainers, as attributes of the object that holds them → their defaults."""
ARGUMENTS_KEPT: dict[str, dict[tuple[str, int], None]] = {}
"""The last name of a class → the attributes that hold arguments which may change, each with the argument's position."""
for _name, _attributes in _KEPT_AS.items():
    if _name.endswith("."):
        continue
    _changing = (one for one in _attributes.items() if one[0] not in _NUMBERS_KEPT)
    ARGUMENTS_KEPT.setdefault(_name.rpartition(".")[2], {}).update(dict.fromkeys(_changing))
TENSOR_ITEMS = _joined(one.tensor_items for one in LIBRARIES)
HELD_PICTURES = _joined(one.held_pictures for one in LIBRARIES)
LISTS_ARGUMENTS = _union(one.lists_arguments for one in LIBRARIES)
PIPELINES = _union(one.pipelines for one in LIBRARIES)
RETURNS_ITSELF = _joined(one.returns_itself for one in LIBRARIES)
MAKES_BATCHES = _joined(one.makes_batches for one in LIBRARIES)
_SUBSETS = _joined(one.subsets for one in LIBRARIES)
LETS_GO = _joined(one.lets_go for one in LIBRARIES)
KEEPING_FUNCTIONS = _union(one.keeps_arguments for one in LIBRARIES)

# Processes and threads

LAUNCHERS = _joined(one.launchers for one in LIBRARIES)
POOLS = _joined(one.pools for one in LIBRARIES)
HOOKS = _joined(one.hooks for one in LIBRARIES)
RUNS_METHODS = _joined(one.runs_methods for one in LIBRARIES)
RUNS_BEFORE_LOADING = _joined(one.runs_before_loading for one in LIBRARIES)
EACH_EPOCH = _joined(one.each_epoch for one in LIBRARIES)
SETS_START_METHOD = _joined(one.sets_start_method for one in LIBRARIES)
REPLACES_START_METHOD = _union(one.replaces_start_method for one in LIBRARIES)


def argument_kept(cls: str, attribute: str) -> int | None:
    """Return the position of the constructor's argument that an attribute holds; None if it holds none."""
    plain = canonical(cls)
    if attribute in _OPTIONS_KEPT.get(plain, ()):
        return -1
    return (_KEPT_AS.get(plain) or _KEPT_AS.get(f"{plain.rpartition('.')[0]}.", {})).get(attribute)


def default_kept(cls: str, attribute: str) -> tuple[object, ...]:
    """Return the value of an attribute where the constructor is not given it; empty if it is unknown."""
    options = _OPTIONS_KEPT.get(canonical(cls), {})
    return (options[attribute],) if attribute in options else ()


def methods_run(base: str) -> Mapping[str, tuple[str, ...]]:
    """Return the methods of a subclass that a base class's own methods call, by their names."""
    plain = canonical(base)
    return RUNS_METHODS.get(plain) or RUNS_METHODS.get(f"{plain.rpartition('.')[0]}.", {})


THREAD_EXECUTORS = _union(one.thread_executors for one in LIBRARIES)
THREAD_POOLS = _union(one.thread_pools for one in LIBRARIES)
LOCKS = _union(one.locks for one in LIBRARIES)
RUNS_OPENCV = _union(one.runs_opencv for one in LIBRARIES)
APPLIES_OPENCV = tuple(prefix for one in LIBRARIES for prefix in one.applies_opencv)
OPENCV_FUNCTIONS = _union(one.opencv_functions for one in LIBRARIES)

# Files and pickling

_FILES = _joined(one.files for one in LIBRARIES)
OPENERS: dict[str, tuple[Opener, ...]] = {
    **{name: (file.shared,) for name, file in _FILES.items() if file.shared is not None},
    **_joined(one.openers for one in LIBRARIES),
}
MAPS_ITSELF = _union(one.maps_itself for one in LIBRARIES)
FILE_MODES: dict[str, Mode] = {name: file.mode for name, file in _FILES.items() if file.mode is not None}
READERS = {
    **dict.fromkeys((name for name, file in _FILES.items() if file.lines), "handle"),
    **_joined(one.readers for one in LIBRARIES),
}
REFUSALS = _joined(one.refusals for one in LIBRARIES)
UNPICKLABLE_FUNCTIONS = _joined(one.unpicklable_functions for one in LIBRARIES)
RUN_TIME_CLASSES = _union(one.run_time_classes for one in LIBRARIES)
NAMED_AS_WRAPPED = _union(one.named_as_wrapped for one in LIBRARIES)
PICKLE_BY_VALUE = _union(one.pickles_by_value for one in LIBRARIES)
REPLACES_PICKLE = _union(one.replaces_pickle for one in LIBRARIES)

RECORD_MAKERS = _union(one.makes_records for one in LIBRARIES)
PATH_CONSUMERS = _union(one.path_functions for one in LIBRARIES) | {
    # `read_parquet`, `scan_csv`, `imread`: functions that read a whole file take its path.
    *(
        name.rpartition(".")[2]
        for table in (READERS, _joined(one.arrays for one in LIBRARIES))
        for name in table
        if name.rpartition(".")[2].startswith(("read_", "scan_", "imread", "dcmread", "loadtxt", "genfromtxt"))
    ),
    # Common names of projects' own functions, and of methods of strings and clients, that take a path.
    *("loader", "cv2_loader", "load_image", "load_img", "ImageReader", "get", "format"),
}
"""Last names of calls that take a path, or a part of one."""


def subset_methods(name: str) -> frozenset[str]:
    """Return the methods of a dataset class that return a subset of it; empty if indexing returns no subset either."""
    plain = canonical(name)
    return _SUBSETS.get(plain) or _SUBSETS.get(f"{plain.rpartition('.')[0]}.", frozenset())


def refuses(name: str) -> bool:
    """Whether the result of a constructor or opener cannot be pickled (in some mode, or in some context)."""
    return name in REFUSALS or name in FILE_MODES


# Arrays and tensors

MAKERS = _joined(one.arrays for one in LIBRARIES)
POSITIONS = _union(one.positions for one in LIBRARIES)
SIZE_KEEPING = _union(one.size_keeping for one in LIBRARIES)
METHODS = _joined(one.tensor_methods for one in LIBRARIES)
FUNCTIONS = _joined(one.tensor_functions for one in LIBRARIES)
ATTRIBUTES = _union(one.tensor_attributes for one in LIBRARIES)
COMPOSITIONS = _union(one.compositions for one in LIBRARIES)
NEW_STORAGE = _union(one.new_tensors for one in LIBRARIES)
KNOWN_PARTS = frozenset(name for name in (*NEW_STORAGE, *MAKERS, *READERS) if re.search(r"\[\d+\]\Z", name))
"""Items, at a fixed position, of the tuples that calls return: `torchaudio.load[0]`."""
NETWORKS = re.compile("|".join(pattern for one in LIBRARIES for pattern in one.networks))
CUDA_CALLS = _joined(one.cuda_calls for one in LIBRARIES)
CUDA_CONTEXTS = _joined(one.cuda_contexts for one in LIBRARIES)
CUDA_DEVICE_ARGUMENTS = _joined(one.cuda_device_arguments for one in LIBRARIES)
TENSOR_MAKERS = _union(one.makes_on_device for one in LIBRARIES)

# Random numbers and workers

SEEDERS = _joined(one.seeders for one in LIBRARIES)
SEED_FREE = _union(one.seed_free for one in LIBRARIES)
OF_THE_PROCESS = _union(one.of_the_process for one in LIBRARIES)
RANK_FUNCTIONS = _union(one.rank_functions for one in LIBRARIES)
GENERATORS = _joined(one.generators for one in LIBRARIES)
OWN_DRAWS = tuple(row for one in LIBRARIES for row in one.own_draws)
UNDRAWING = _union(one.undrawing for one in LIBRARIES)
DRAWING_PREFIXES = tuple(prefix for one in LIBRARIES for prefix in one.drawing)
REORDERING = _union(one.reordering for one in LIBRARIES)
WORKER_INFO = _union(one.worker_info for one in LIBRARIES)
NONE_IN_PARENT = _union(one.none_in_parent for one in LIBRARIES)
UNSPLITTING_PACKAGES = _union(one.unsplit_packages for one in LIBRARIES)

# Iteration

_ITERATES = _joined(one.iterates for one in LIBRARIES)
HANDING_ON: dict[str, slice] = {name: row.arguments for name, row in _ITERATES.items() if row.elements != "endless"}
"""Functions that yield elements of their arguments, or elements computed from them → the slice of those arguments."""
BEGINNING: dict[str, slice] = {name: row.arguments for name, row in _ITERATES.items() if row.begins}
"""Functions that make the iterators of these positional arguments at once."""
GOES_INSIDE = frozenset(name for name, row in _ITERATES.items() if row.inside)
"""Functions that also iterate each element of their arguments."""
ENDLESS = frozenset(name for name, row in _ITERATES.items() if row.elements == "endless")
"""Functions whose result never ends."""


def _last_names(*elements: str, lazily: tuple[bool, ...] = (True, False)) -> frozenset[str]:
    return frozenset(
        name.rpartition(".")[2] for name, row in _ITERATES.items() if row.elements in elements and row.lazily in lazily
    )


ITERATES: dict[str, tuple[slice, str]] = {
    name.rpartition(".")[2]: (row.arguments, row.elements) for name, row in _ITERATES.items()
}
"""Last names of functions that iterate arguments → the slice of those arguments, and the kind of elements."""
SAME_LENGTH = _last_names("same", "indexed")
"""Last names of functions that yield exactly as many elements as their argument has."""
ITERATING = _last_names("same", lazily=(False,))
"""Last names of functions that iterate their argument at the call."""
AROUND_ITERABLES = SAME_LENGTH | _last_names("zipped")
"""Last names of functions that yield one element for each element of their arguments, and contain it."""
SELECTING = _last_names("some")
"""Last names of functions that yield some elements of their arguments."""


@cache
def is_dataset_base(name: str) -> bool:
    """Whether an external class is a dataset: a listed base class, or a class of a module of datasets."""
    plain = canonical(name)
    return plain in DATASET_BASES or (plain.startswith(_DATASET_MODULES) and plain.rpartition(".")[2][:1].isupper())


# Star imports and the byte screen


@cache
def _exports() -> dict[str, frozenset[str]]:
    known = (
        *(name for one in LIBRARIES for name in (*one.exports, *one.aliases)),
        *(name for name in (*LOADERS, *GIVES_ARGUMENT, *DATASET_BASES, *WRAPPERS, *LAUNCHERS) if "()" not in name),
    )
    found: dict[str, set[str]] = {}
    for name in known:
        module, _, last = name.rpartition(".")
        found.setdefault(module, set()).add(last)
    for prefix, replacement in _RENAMED.items():
        found.setdefault(prefix[:-1], set()).update(found.get(replacement[:-1], ()))
    return {module: frozenset(names) for module, names in found.items()}


def exports(module: str, name: str) -> bool:
    """Whether `from module import *` is known to bind `name` (only names in the tables are known)."""
    return name in _exports().get(module, frozenset())


_GENERAL = Words(
    # Projects wrap torch.distributed's launchers in a function of this name, which takes the program's main function.
    launching=(b"launch(",),
    # Code near a dataset that need not name any library, and common ways to set workers and devices.
    nearby=(
        *(b"__getstate__", b"def __call__", b"workers", b"WORKERS", b"loader", b"register", b"SLURM_", b"submitit"),
    ),
)
"""Words that belong to no single library."""


def _words() -> Words:
    """Return the words of the byte screen: the names of launchers, trainers, loaders, datasets and generators in the
    tables, and the words that libraries declare."""
    declared = (_GENERAL, *(one.words for one in LIBRARIES))
    called = {word for one in declared for word in one.launching if word.endswith(b"(")}
    launchers = ((_written(name.partition("()")[0]), name) for name in LAUNCHERS)
    launching = tuple((word, name) for word, name in launchers if f"{word}(".encode() not in called)
    # Projects name classes of their own so, whose objects start processes as they loop over loaders.
    trainers = tuple(f"{_last(name)}(" for name in HOOKS)
    makers = ((_of_maker(name), name) for name, api in LOADERS.items() if api.dataset)
    loaders = ((word, name) for word, name in makers if word)
    datasets = ((_written(name), name) for name in sorted(DATASET_BASES))
    generators = tuple(word for name in GENERATORS for word in _reached(_last(name)))
    # Their classes have names of any kind, so that the module is what a file names.
    modules = ((name[:-1], name) for name in _DATASET_MODULES)
    loading = (*loaders, *datasets, *modules)
    starting = tuple(word for one in declared for word in one.launching)
    reading = tuple(word for one in declared for word in one.loading)
    return Words(
        _fewest(starting, (word for word, _ in launching), trainers),
        _fewest(reading, (word for word, _ in loading)),
        _fewest((word for one in declared for word in one.in_workers), generators),
        _fewest(word for one in declared for word in one.nearby),
        {**_by_package((*starting, *(word.encode() for word in trainers)), launching), **_by_package(reading, loading)},
        {word: others for one in declared for word, others in one.beside.items()},
    )


def _by_package(declared: Iterable[bytes], derived: Iterable[tuple[str, str]]) -> dict[bytes, frozenset[str]]:
    """Return the top-level packages from which the APIs can be imported that a word names, alone or as a part of their
    names. Words of torch and of the standard library, and those that a library declares, count without any."""
    pairs = [(word.encode(), _packages(name)) for word, name in derived]
    everywhere = {"torch"} | sys.stdlib_module_names
    always = (*declared, *(word for word, packages in pairs if not everywhere.isdisjoint(packages)))
    return {
        word: frozenset(package for other, packages in pairs if word in other for package in packages)
        for word, _ in pairs
        if not any(word in other for other in always)
    }


def _packages(name: str) -> set[str]:
    """Return the top-level packages from which an API can be imported."""
    plain = name.partition("()")[0]
    names = {plain, *(alias for alias, one in ALIASES.items() if one == plain)}
    names.update(prefix for prefix, replacement in _RENAMED.items() if plain.startswith(replacement))
    return {one.partition(".")[0] for one in names}


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _written(name: str) -> str:
    """Return the last part of a name. A single capitalized word (`Pool`) is part of many other names, so that it counts
    only with the parenthesis of a call."""
    return f"{_last(name)}(" if _last(name).istitle() else _last(name)


def _of_maker(name: str) -> str:
    """Return what a file that makes a loader writes: the name of the class, of the class whose method makes it, or of
    the function; "" if that is a single word (`distrib.loader`), which is too common: its library declares a word."""
    owner, _, last = name.replace("()", "").rpartition(".")
    if last[0].isupper():
        return _written(name)
    return _last(owner) if _last(owner)[:1].isupper() else last if "_" in last else ""


def _reached(last: str) -> tuple[str, ...]:
    """Return the spellings that use a name: the name itself, or for a single capitalized word a call through a module
    and an import."""
    return (f".{last}(", f"import {last}") if last.istitle() else (last,)


def _fewest(declared: Iterable[bytes], *derived: Iterable[str]) -> tuple[bytes, ...]:
    """Return the words in order, without those that contain another one."""
    every = tuple(dict.fromkeys((*declared, *(word.encode() for words in derived for word in words))))
    return tuple(word for word in every if not any(other in word for other in every if other != word))


WORDS = _words()
