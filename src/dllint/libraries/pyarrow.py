"""pyarrow 19 and 26 (arrow.apache.org/docs/python, "Reading and Writing the IPC format": tables read from a memory map
refer to it)."""

from dllint.libraries.facets import Library, Opener, When
from dllint.libraries.io import READ_BY_POSITION
from dllint.libraries.pickling import CYTHON, Refusal
from dllint.screen import Words

_TABLE = Opener(
    "a memory-mapped Arrow table",
    mapped="the memory-mapped Arrow table",
    array=True,
    when=When("", 0, "pyarrow.memory_map"),
)
_MAPPED = "a memory-mapped Arrow file"

LIBRARY = Library(
    openers={
        "pyarrow.memory_map": (Opener(_MAPPED, mapped="the memory-mapped Arrow file"),),
        **dict.fromkeys(("pyarrow.ipc.open_file().read_all", "pyarrow.ipc.open_stream().read_all"), (_TABLE,)),
        "pyarrow.parquet.ParquetFile": (READ_BY_POSITION,),
    },
    refusals={
        **dict.fromkeys(("pyarrow.memory_map", "pyarrow.MemoryMappedFile"), Refusal(_MAPPED, CYTHON)),
        **dict.fromkeys(
            ("pyarrow.OSFile", "pyarrow.input_stream", "pyarrow.ipc.open_file"), Refusal("an open Arrow file", CYTHON)
        ),
        "pyarrow.parquet.ParquetFile": Refusal("an open Parquet file", CYTHON),
    },
    unsplit_packages=frozenset({"pyarrow"}),
    words=Words(nearby=(b"pyarrow",)),
)
