"""polars 2.1.0 (docs.pola.rs, "Multiprocessing").

Its use of threads was measured: after `read_csv`, `read_parquet`, `filter` or a `write_` method in the parent, a
forked process hung in every method below and in `read_parquet`, but not in `row`, slices and `to_numpy`. After `import
polars`, `DataFrame(…)` or `scan_parquet` alone nothing hung.
"""

from dllint.libraries.facets import Library, NativePool
from dllint.screen import Words

LIBRARY = Library(
    readers={
        f"polars.{verb}_{form}": "columns"
        for verb in ("read", "scan")
        for form in ("csv", "parquet", "json", "ndjson", "ipc", "excel", "delta", "avro", "database")
    },
    native_pools={
        "polars": NativePool(
            "polars",
            functions=frozenset({"read_csv", "read_parquet"}),
            tables=("read_", "scan_", "DataFrame", "LazyFrame", "from_"),
            methods=frozenset(
                {"filter", "group_by", "select", "sort", "write_parquet", "write_csv", "write_ipc", "write_ndjson"}
            ),
            lazy=("scan_", "lazy", "LazyFrame"),
            runs=frozenset({"collect"}),
        )
    },
    words=Words(in_workers=(b"polars",)),
)
