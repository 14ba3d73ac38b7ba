"""Facts about random number generators, their seeds, and readers that workers run. Each row names its source.

Sources: CPython 3.14 (`Lib/random.py`, the `queue` and `multiprocessing` documentation), numpy 2.2 ("Random sampling"),
torch 2.13.0 (`torch/random.py`, `torch/_C/_VariableFunctions.pyi`, `torch/utils/data/_utils/worker.py`,
`torch/utils/data/dataloader.py`), lightning 2.5 (`fabric/utilities/seed.py`), transformers 4.50 (`trainer_utils.py`),
accelerate 1.5 (`utils/random.py`), monai 1.4 (`utils/misc.py`), datasets 3.5 (`iterable_dataset.py`), webdataset 0.2
(`shardlists.py`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Seeder:
    """A function that seeds generators of the process it runs in.

    Attributes:
        families: the generators: "random", "numpy", "torch".
        keyword: the name of the parameter that takes the seed; it is the first.
    """

    families: tuple[str, ...]
    keyword: str = "seed"


_ALL = ("random", "numpy", "torch")

SEEDERS: dict[str, Seeder] = {
    # random.py: seed(a=None, version=2)
    "random.seed": Seeder(("random",), "a"),
    # numpy, "Legacy random generation": seed(seed=None)
    "numpy.random.seed": Seeder(("numpy",)),
    # torch/random.py
    "torch.manual_seed": Seeder(("torch",)),
    "torch.random.manual_seed": Seeder(("torch",)),
    # lightning: seed_everything(seed=None, workers=False), under each of its packages
    "lightning.seed_everything": Seeder(_ALL),
    "lightning.pytorch.seed_everything": Seeder(_ALL),
    "lightning.fabric.seed_everything": Seeder(_ALL),
    "pytorch_lightning.seed_everything": Seeder(_ALL),
    # transformers: set_seed(seed, deterministic=False)
    "transformers.set_seed": Seeder(_ALL),
    "transformers.trainer_utils.set_seed": Seeder(_ALL),
    # accelerate: set_seed(seed, device_specific=False, deterministic=False)
    "accelerate.utils.set_seed": Seeder(_ALL),
    # monai: set_determinism(seed=NP_MAX, …)
    "monai.utils.set_determinism": Seeder(_ALL),
}
"""Functions that seed global generators, by canonical name."""

SEED_FREE = frozenset(
    {
        # builtins, and numpy's integer types: the result depends on the arguments alone
        *("int", "abs", "hash", "round", "max", "min", "sum", "float", "str", "len", "pow", "divmod"),
        *("numpy.int32", "numpy.int64", "numpy.uint32", "numpy.uint64", "numpy.mod", "numpy.abs"),
    }
)
"""Functions that give the same for the same arguments."""

OF_THE_PROCESS = frozenset(
    {
        # torch/distributed: fixed once the process group stands
        *("torch.distributed.get_rank", "torch.distributed.get_world_size"),
        # the environment that workers inherit
        *("os.environ.get", "os.getenv"),
    }
)
"""Functions whose result stays the same for the life of a training process and all its workers."""

RANK_FUNCTIONS = frozenset({"get_rank", "get_local_rank", "get_world_size", "get_global_rank", "get_dist_info"})
"""Names that training code gives to its own wrappers of `torch.distributed.get_rank` and the like (mmengine's
`get_dist_info` gives the rank and the world size)."""


@dataclass(frozen=True)
class Generator:
    """A class (or factory) of generator objects.

    Attributes:
        label: how messages call it.
        reseeding: methods that give the object another state.
        family: the library.
    """

    label: str
    family: str
    reseeding: frozenset[str]


_NUMPY = "numpy"
GENERATORS: dict[str, Generator] = {
    # numpy: Generator has no seed method; its bit generator's state can be set
    "numpy.random.default_rng": Generator("default_rng", _NUMPY, frozenset()),
    "numpy.random.Generator": Generator("Generator", _NUMPY, frozenset()),
    # numpy, "Legacy random generation"
    "numpy.random.RandomState": Generator("RandomState", _NUMPY, frozenset({"seed", "set_state"})),
    "numpy.random.mtrand.RandomState": Generator("RandomState", _NUMPY, frozenset({"seed", "set_state"})),
    # random.py; SystemRandom draws from the operating system and has no state
    "random.Random": Generator("Random", "random", frozenset({"seed", "setstate"})),
    # torch/_C: Generator
    "torch.Generator": Generator("torch.Generator", "torch", frozenset({"manual_seed", "seed", "set_state"})),
}
"""Generator objects whose state workers inherit by fork, or by pickling, alike."""

NUMPY_RESEEDED = (1, 9)
"""The first torch whose workers seed numpy's global generator (`_worker_loop` in worker.py; release notes of 1.9)."""

UNDRAWING = frozenset({"get_state", "getstate", "initial_seed", "bit_generator", "device", "spawn"})
"""Members of generators that draw nothing."""

DRAWING_PREFIXES = ("random.", "numpy.random.", "torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial")
"""Functions that draw from the global generators, by the beginning of their names."""

REORDERING = frozenset(
    {
        *("random.shuffle", "random.seed", "random.getstate", "random.setstate", "random.Random"),
        *("numpy.random.shuffle", "numpy.random.permutation", "numpy.random.seed", "numpy.random.default_rng"),
        *("numpy.random.RandomState", "numpy.random.get_state", "numpy.random.set_state", "numpy.random.Generator"),
        *("torch.randperm", "torch.random.manual_seed"),
    }
)
"""Of those names the ones that change an order, or draw nothing: what is read stays the same."""

WORKER_INFO = frozenset({"get_worker_info", "split_by_worker"})
"""Last names of functions by which code learns which worker it runs in (torch; webdataset's `split_by_worker`)."""

UNSPLITTING_PACKAGES = frozenset(
    {
        *("builtins", "io", "os", "glob", "pathlib", "itertools", "functools", "collections", "operator", "random"),
        *("csv", "json", "gzip", "bz2", "lzma", "zipfile", "tarfile", "pickle", "re", "math", "copy", "sqlite3"),
        *("numpy", "pandas", "h5py", "lmdb", "PIL", "cv2", "pyarrow", "tqdm", "linecache", "codecs", "struct"),
    }
)
"""Packages whose readers know nothing of torch's workers: iterating what they give reads all of it in each worker.

Readers that split by worker on their own stand in none of them (Hugging Face datasets, webdataset, streaming, litdata).
"""

_FIRST, _SECOND, _ALL_ARGUMENTS, _FROM_SECOND = slice(0, 1), slice(1, 2), slice(0, None), slice(1, None)
HANDING_ON: dict[str, slice] = {
    # builtins
    **dict.fromkeys(("iter", "enumerate", "reversed", "sorted", "list", "tuple", "set"), _FIRST),
    "zip": _ALL_ARGUMENTS,
    "map": _FROM_SECOND,
    "filter": _SECOND,
    # itertools
    **dict.fromkeys(("itertools.islice", "itertools.chain.from_iterable", "itertools.batched"), _FIRST),
    **dict.fromkeys(("itertools.chain", "itertools.product", "itertools.zip_longest"), _ALL_ARGUMENTS),
    **dict.fromkeys(("itertools.starmap", "itertools.takewhile", "itertools.dropwhile"), _SECOND),
    "itertools.filterfalse": _SECOND,
    # tqdm
    **dict.fromkeys(("tqdm.tqdm", "tqdm.auto.tqdm"), _FIRST),
}
"""Functions whose items are those of arguments: which ones."""

ENDLESS = frozenset({"itertools.cycle", "itertools.count", "itertools.repeat"})
"""Functions that never come to an end ("itertools")."""

ITERABLE_BASES = frozenset({"torch.utils.data.IterableDataset"})
"""Classes whose subclasses a DataLoader iterates as a whole in each worker (torch/utils/data/dataloader.py)."""

PLAIN_BASES = frozenset(
    {
        *("object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing.Iterable", "typing.Iterator"),
        *("collections.abc.Iterable", "collections.abc.Iterator", "torch.utils.data.Dataset", "torch.nn.Module"),
    }
)
"""Base classes that have no `__iter__` of their own to share out data by."""
