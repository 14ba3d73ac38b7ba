"""numpy 2.2: arrays, memory maps, generators (numpy.org/doc; "Random sampling", "Legacy random generation")."""

from dllint.libraries.archives import BAD_ZIP
from dllint.libraries.facets import HOLDS, RELEASES, Generator, Library, Maker, Opener, Operation, Seeder, When
from dllint.libraries.pickling import Refusal, stream
from dllint.screen import Words

NPZ = Refusal("an open npz archive", stream("BufferedReader"))
"""The result of `numpy.load` for a file with several arrays, which stays open."""

VIEWS = frozenset({"reshape", "view", "transpose", "squeeze", "ravel", "swapaxes", "T"})
"""Array methods whose result shares the same memory (ravel: if possible)."""

ITEM_BYTES = {
    "bool": 1, "bool_": 1, "int8": 1, "uint8": 1, "byte": 1, "int16": 2, "uint16": 2, "short": 2, "float16": 2,
    "half": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4, "single": 4, "intc": 4, "float": 8, "int": 8,
    "int64": 8, "uint64": 8, "float64": 8, "double": 8, "long": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes per element by the last name of a dtype, including torch's; torch's `float` and `int` have 4 (see `torch`)."""

SHARED_ARRAY = "an array over shared memory"
SHARED_CTYPES = "an array over a shared ctypes array"
_MEMORY_MAP = Opener("a memory map", mapped="the memory map", array=True)
_MAPPED_ARRAY = Opener(
    "a memory-mapped array", mapped="the memory-mapped array", array=True, when=When("mmap_mode", 1, "on")
)
_SHARED_MEMORY = "multiprocessing.shared_memory.SharedMemory()"


def _over_shared_memory(position: int) -> Opener:
    # numpy.ndarray documentation: with `buffer` the array is a view of it
    return Opener(SHARED_ARRAY, array=True, when=When("buffer", position, _SHARED_MEMORY))


def _over_ctypes(keyword: str, position: int) -> tuple[Opener, ...]:
    # Measured with NumPy 2.4 and torch 2.13: pickle copies the array, while `RawArray` itself stays shared.
    return tuple(
        Opener(SHARED_CTYPES, array=True, when=When(keyword, position, f"multiprocessing.{made}"))
        for made in ("RawArray", "Array")
    )


_SHAPED = Maker("numpy", "first", dtype_at=1)
_DRAWN = Maker("numpy", "first", "size")
_DRAWN_LATER = Maker("numpy", "first", "size", 2)
_READ = Maker("numpy", "file")
_LEGACY = Generator("RandomState", "numpy", frozenset({"seed", "set_state"}))

LIBRARY = Library(
    openers={
        "numpy.memmap": (_MEMORY_MAP,),
        "numpy.lib.format.open_memmap": (_MEMORY_MAP,),
        # An archive ignores `mmap_mode` (numpy/lib/_npyio_impl.py, `load`).
        "numpy.load": (Opener("an open npz archive", "error", BAD_ZIP, when=When("file", 0, ".npz")), _MAPPED_ARRAY),
        "numpy.ndarray": (_over_shared_memory(2), *_over_ctypes("buffer", 2)),
        "numpy.ctypeslib.as_array": _over_ctypes("obj", 0),
        "numpy.frombuffer": (
            _over_shared_memory(0),
            *_over_ctypes("buffer", 0),
            Opener(_MAPPED_ARRAY.what, mapped=_MAPPED_ARRAY.mapped, array=True, when=When("buffer", 0, "mmap.mmap")),
        ),
    },
    # The one object of an array without dimensions: a pickled dict, for example.
    readers={"numpy.load().item": "opaque"},
    path_functions=frozenset({"load", "loadtxt", "fromfile"}),
    arrays={
        **{f"numpy.{name}": _SHAPED for name in ("zeros", "ones", "empty")},
        "numpy.full": Maker("numpy", "first", dtype_at=2),
        **{
            f"numpy.{name}": Maker("numpy", "same")
            for name in (
                *("array", "asarray", "ascontiguousarray", "copy", "concatenate", "stack", "vstack", "hstack"),
                *("squeeze", "transpose", "moveaxis", "swapaxes", "reshape", "flip", "roll", "expand_dims", "clip"),
                *("nan_to_num", "asfortranarray", "require", "rollaxis", "fliplr", "flipud", "rot90", "frombuffer"),
                *("log", "log2", "log10", "log1p", "exp", "expm1", "sqrt", "square", "abs", "absolute", "round"),
                *("float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "sort"),
            )
        },
        **{f"numpy.{name}": Maker("numpy", "other") for name in ("pad", "repeat", "tile")},
        "numpy.random.rand": Maker("numpy", "dims"),
        "numpy.random.randn": Maker("numpy", "dims"),
        **{f"numpy.random.{name}": _DRAWN for name in ("random", "random_sample", "standard_normal")},
        **{f"numpy.random.{name}": _DRAWN_LATER for name in ("normal", "uniform", "randint")},
        **{f"numpy.random.default_rng().{name}": _DRAWN for name in ("random", "standard_normal")},
        **{f"numpy.random.default_rng().{name}": _DRAWN_LATER for name in ("normal", "uniform", "integers")},
        "numpy.arange": Maker("numpy", "count"),
        "numpy.load": Maker("numpy", "file", mapped="mmap_mode"),
        **{f"numpy.{name}": _READ._replace(table=True) for name in ("loadtxt", "genfromtxt")},
        "numpy.fromfile": _READ,
    },
    size_keeping=frozenset(
        {"astype", "reshape", "copy", "transpose", "squeeze", "swapaxes", "ravel", "flatten", "view", "T"}
    ),
    tensor_methods={
        "copy": Operation(RELEASES, "numpy.ndarray.copy: a copy; measured"),
        "astype": Operation(RELEASES, "numpy.ndarray.astype: a copy unless copy=False"),
    },
    tensor_functions={
        "numpy.asarray": Operation(HOLDS, "numpy.asarray: no copy of an array, nor of a CPU tensor"),
        "numpy.array": Operation(RELEASES, "numpy.array: copy=True by default"),
    },
    # seed(seed=None)
    seeders={"numpy.random.seed": Seeder(("numpy",))},
    seed_free=frozenset(f"numpy.{name}" for name in ("int32", "int64", "uint32", "uint64", "mod", "abs")),
    generators={
        # Generator has no seed method; its bit generator's state can be set
        "numpy.random.default_rng": Generator("default_rng", "numpy", frozenset()),
        "numpy.random.Generator": Generator("Generator", "numpy", frozenset()),
        "numpy.random.RandomState": _LEGACY,
        "numpy.random.mtrand.RandomState": _LEGACY,
    },
    undrawing=frozenset({"get_state", "bit_generator", "spawn"}),
    drawing=("numpy.random.",),
    reordering=frozenset(
        f"numpy.random.{name}"
        for name in (
            *("shuffle", "permutation", "seed", "default_rng", "RandomState", "get_state", "set_state", "Generator"),
        )
    ),
    positions=frozenset({"searchsorted", "unravel_index", "ravel_multi_index", "mod", "floor_divide", "clip"}),
    unsplit_packages=frozenset({"numpy"}),
    words=Words(in_workers=(b"memmap",)),
)
