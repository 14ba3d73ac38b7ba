"""pyarrow 19 and 26 (arrow.apache.org/docs/python, "Reading and Writing the IPC format": tables read from a memory map
refer to it)."""

from dllint.libraries.facets import Library, Maker, Opener, When
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

_READ_TABLE = (
    *("pyarrow.parquet.read_table", "pyarrow.parquet.ParquetFile", "pyarrow.parquet.ParquetDataset"),
    *("pyarrow.feather.read_table", "pyarrow.csv.read_csv", "pyarrow.json.read_json", "pyarrow.orc.read_table"),
    *("pyarrow.dataset.dataset", "pyarrow.ipc.open_file", "pyarrow.ipc.open_stream", "pyarrow.concat_tables"),
)
_TO_PANDAS = ("", ".read", ".read_row_group", ".to_table", ".read_all")

LIBRARY = Library(
    readers=dict.fromkeys(_READ_TABLE, "columns"),
    arrays={
        f"{name}(){method}().to_pandas" if method else f"{name}().to_pandas": Maker("numpy", "file")
        for name in _READ_TABLE
        for method in _TO_PANDAS
    },
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
    aliases={
        "pyarrow.ipc.RecordBatchFileReader": "pyarrow.ipc.open_file",
        "pyarrow.RecordBatchFileReader": "pyarrow.ipc.open_file",
        "pyarrow.ipc.RecordBatchStreamReader": "pyarrow.ipc.open_stream",
        "pyarrow.RecordBatchStreamReader": "pyarrow.ipc.open_stream",
    },
    words=Words(nearby=(b"pyarrow",)),
)
