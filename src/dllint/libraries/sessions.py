"""Connections and sessions that pickle refuses: DuckDB 2.0, ONNX Runtime 1.32, PyTables 3.11 with pandas 3.1,
SQLAlchemy 2.1, Elasticsearch 9.5.

Source: `pickle.dumps` of each on CPython 3.11.
"""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import Refusal, instance, local
from dllint.screen import Words

LIBRARY = Library(
    refusals={
        "duckdb.connect": Refusal("a DuckDB connection", instance("DuckDBPyConnection")),
        "onnxruntime.InferenceSession": Refusal(
            "an ONNX Runtime session",
            instance("onnxruntime.capi.onnxruntime_pybind11_state.InferenceSession"),
        ),
        "sqlalchemy.create_engine": Refusal("an SQLAlchemy engine", local("create_engine.<locals>.connect")),
        "elasticsearch.Elasticsearch": Refusal("an Elasticsearch client", instance("_thread._local")),
        "pandas.HDFStore": Refusal("a PyTables file", local("WeakValueDictionary.__init__.<locals>.remove")),
    },
    words=Words(nearby=(b"duckdb", b"InferenceSession", b"HDFStore", b"create_engine", b"elasticsearch")),
)
