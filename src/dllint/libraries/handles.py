"""What functions that open something give, as a data table: whether forked processes may share it, and whether it maps
its file into memory.

Where no source is named, a row was measured: 15 epochs of 2,000 reads by 4 and more forked workers of one handle that
the parent had opened, on Linux 6.18 with CPython 3.11.7, OpenCV 4.11 and 5.0, lmdb 1.4.1, 1.7.3 and 3.0.0, HDF5 2.0.
Names are canonical ones (`torch_api.canonical`); `()` stands for a call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Harm = Literal["error", "warning", "info", ""]


@dataclass(frozen=True)
class When:
    """What an argument must be for a row to hold.

    Attributes:
        keyword: its name; "" for the receiver's own first argument.
        position: its position; -1 where it is keyword-only.
        test: "on" (given, neither None nor false), "off" (given as false), "reads" (a mode string, absent or without
            `w`, `a` and `x`), else what its value must come from: ".npz" the end of a string, other names an API.
    """

    keyword: str
    position: int
    test: str


@dataclass(frozen=True)
class Opener:
    """What a call opens.

    Attributes:
        what: in words, for "`Rows.file` is …".
        harm: severity where forked processes share it; "" where they may.
        effect: what was seen then.
        mapped: "the memory map" and the like where it maps its file into memory; "" where it does not.
        array: it is an array (or table) over mapped or shared memory, so that pickling it writes all of its data.
        ends: methods after whose call it is harmless.
        when: the condition of the row; of several rows for one name the first that holds counts.
    """

    what: str
    harm: Harm = ""
    effect: str = ""
    mapped: str = ""
    array: bool = False
    ends: frozenset[str] = frozenset({"close"})
    when: When | None = None


_FILE = Opener("an open file", "error", "reads give wrong bytes, without any error", when=When("mode", 1, "reads"))
# fork(2), Linux man-pages: the child's descriptors refer to the same open file descriptions and share their offset
_COMPRESSED = Opener(
    "an open compressed file", "error", "all processes move its one position", when=When("mode", 1, "reads")
)
_TAR = Opener("an open tar archive", "error", "most reads raise, and some give the wrong bytes")
_ZIP = Opener("an open zip archive", "error", "reads raise `BadZipFile: Bad CRC-32`", when=When("mode", 1, "reads"))
_LMDB = (
    Opener(
        "an lmdb environment",
        "warning",
        "without its locks that works, but lmdb 1.7.3 crashes where the parent has read",
        mapped="the lmdb environment",
        when=When("lock", -1, "off"),
    ),
    Opener(
        "an lmdb environment with locks",
        "error",
        "reads raise `ReadersFullError`, or `BadRslotError` where the parent has read",
        mapped="the lmdb environment",
    ),
)
_HARMLESS = Opener("a handle whose reads name their position")

OPENERS: dict[str, tuple[Opener, ...]] = {
    **dict.fromkeys(("open", "io.open", "codecs.open"), (_FILE,)),
    "pathlib.Path().open": (Opener(_FILE.what, "error", _FILE.effect, when=When("mode", 0, "reads")),),
    **dict.fromkeys(("gzip.open", "gzip.GzipFile", "bz2.open", "bz2.BZ2File", "lzma.open"), (_COMPRESSED,)),
    "tarfile.open": (_TAR,),
    "tarfile.TarFile": (_TAR,),
    "zipfile.ZipFile": (_ZIP,),
    "PIL.Image.open": (
        Opener(
            "an image that is read lazily",
            "warning",
            "now and then `image file is truncated`",
            ends=frozenset({"close", "load"}),
        ),
    ),
    "cv2.VideoCapture": (
        Opener(
            "a video capture", "error", "reading a frame hangs, or gives decoding errors", ends=frozenset({"release"})
        ),
    ),
    "decord.VideoReader": (Opener("a decord reader", "error", "reading hangs, or aborts where the parent has read"),),
    "lmdb.open": _LMDB,
    "lmdb.Environment": _LMDB,
    # sqlite.org/howtocorrupt.html, "Carrying an open database connection across a fork"; 0 of 10,000 reads were wrong
    "sqlite3.connect": (
        Opener("an SQLite connection", "warning", "SQLite forbids it, as it can corrupt the database"),
    ),
    # 0 of 60,000 reads were wrong: the default driver has read with pread since HDF5 1.10.5
    "h5py.File": (
        Opener(
            "an open HDF5 file",
            "info",
            "right since HDF5 1.10.5, and wrong with older ones",
            when=When("mode", 1, "reads"),
        ),
    ),
    "numpy.memmap": (Opener("a memory map", mapped="the memory map", array=True),),
    "numpy.lib.format.open_memmap": (Opener("a memory map", mapped="the memory map", array=True),),
    "numpy.load": (
        Opener(
            "a memory-mapped array",
            mapped="the memory-mapped array",
            array=True,
            when=When("mmap_mode", 1, "on"),
        ),
        Opener("an open npz archive", "error", _ZIP.effect, when=When("file", 0, ".npz")),
    ),
    # numpy.ndarray documentation: with `buffer` the array is a view of it
    "numpy.ndarray": (
        Opener(
            "an array over shared memory",
            array=True,
            when=When("buffer", 2, "multiprocessing.shared_memory.SharedMemory()"),
        ),
    ),
    "numpy.frombuffer": (
        Opener(
            "an array over shared memory",
            array=True,
            when=When("buffer", 0, "multiprocessing.shared_memory.SharedMemory()"),
        ),
        Opener(
            "a memory-mapped array", mapped="the memory-mapped array", array=True, when=When("buffer", 0, "mmap.mmap")
        ),
    ),
    "mmap.mmap": (Opener("a memory map", mapped="the memory map"),),
    # torch tensors are handed to workers through shared memory: one copy for all of them
    "torch.load": (Opener("memory-mapped tensors", mapped="the memory-mapped tensors", when=When("mmap", -1, "on")),),
    "pyarrow.memory_map": (Opener("a memory-mapped Arrow file", mapped="the memory-mapped Arrow file"),),
    # pyarrow documentation, "Reading and Writing the IPC format": tables read from a memory map refer to it
    **dict.fromkeys(
        ("pyarrow.ipc.open_file().read_all", "pyarrow.ipc.open_stream().read_all"),
        (
            Opener(
                "a memory-mapped Arrow table",
                mapped="the memory-mapped Arrow table",
                array=True,
                when=When("", 0, "pyarrow.memory_map"),
            ),
        ),
    ),
    **dict.fromkeys(
        ("zarr.open", "zarr.open_group", "zarr.open_array", "av.open", "pyarrow.parquet.ParquetFile"), (_HARMLESS,)
    ),
}

OWN_OPENER = Opener("a handle", "warning", "the processes share its position or its locks")
"""What a name under `openers` in the configuration opens."""
OWN_STORE = Opener("a memory-mapped store", mapped="the store")
"""What a name under `mmap-stores` in the configuration opens."""

VIEWS = frozenset({"reshape", "view", "transpose", "squeeze", "ravel", "swapaxes", "T"})
"""Methods of an array whose result lies over the same memory (ravel: where it can)."""
