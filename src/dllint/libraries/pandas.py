"""pandas 2.2 (pandas.pydata.org/docs)."""

from dllint.facts.nodes import Constant, last_name
from dllint.facts.schema import Call
from dllint.libraries.facets import Library, Maker

FRAME_KEEPING = frozenset(
    {
        *("drop_duplicates", "sort_values", "sort_index", "reset_index", "set_index", "dropna", "fillna", "head"),
        *("tail", "sample", "query", "rename", "merge", "join", "copy", "astype", "assign", "drop", "explode"),
        *("filter", "isin", "loc", "iloc", "at", "iat", "values", "to_numpy", "T", "str", "append", "nlargest"),
        *("groupby", "apply", "agg", "aggregate", "reindex", "truncate", "ravel", "flatten", "squeeze", "unique"),
        *("map", "replace", "transform", "progress_apply", "applymap", "mask", "where"),
    }
)
"""Methods and attributes of a table that return a table, a part or column of it, or its values as an array."""
TABLE_KEEPING = frozenset(
    {
        *("drop", "dropna", "fillna", "ffill", "bfill", "interpolate", "replace", "reset_index", "set_index", "rename"),
        *("sort_values", "sort_index", "reindex"),
    }
)
"""Methods of a table whose result has nearly all of its data, in another order or without some of it."""
NO_COLUMNS = frozenset(
    {
        "columns",
        "dtypes",
        "index",
        "shape",
        "size",
        "ndim",
        "empty",
        "axes",
        "attrs",
        "flags",
        "dt",
        "cat",
        "plot",
        "style",
    }
)
"""Attributes of a table that are neither its columns nor parts of them."""
INDEXERS = frozenset({"loc", "iloc", "at", "iat", "values"})
"""Attributes of a table whose items are its rows or cells."""
AGGREGATING = frozenset({"apply", "agg", "aggregate"})
"""Methods of grouped tables that retain the values if they collect them: `.groupby("user").agg(list)`."""
FRAME_LISTS = frozenset({"tolist", "to_list", "to_dict"})
"""Methods of a column that return Python objects."""
_ORIENTATIONS = frozenset({"dict", "list", "split", "tight", "records", "index"})
"""What `DataFrame.to_dict` accepts as `orient` and returns Python objects for (pandas documentation)."""
FRAME_ROWS = {"to_dict": 0, "itertuples": 0, "iterrows": -1}
"""Methods of a table that return Python objects → the nesting level of the rows: `iterrows()` yields each row in a
tuple with its index."""

MAKING = ("DataFrame", "DataFrame.from_dict")
"""Functions that make a table of what they are given: it has as much data as that."""

LIBRARY = Library(
    readers={
        f"pandas.{name}": "frame"
        for name in (
            *("read_csv", "read_table", "read_json", "read_parquet", "read_excel", "read_feather", "concat", "merge"),
            *("read_sql", "read_sql_query", "read_sql_table", "read_pickle", "read_hdf", "read_orc", "read_fwf"),
            *("read_stata", "read_sas", "read_spss", "json_normalize", "DataFrame.from_records"),
            *MAKING,
        )
    },
    path_functions=frozenset({"read_csv"}),
    arrays={
        f"pandas.{name}": Maker("numpy", "file", table=True)
        for name in ("read_csv", "read_parquet", "read_hdf", "read_feather")
    },
    size_keeping=frozenset({"values", "to_numpy"}),
    unsplit_packages=frozenset({"pandas"}),
)


def is_frame_by_call(call: Call) -> bool:
    """Whether a call shows that its object is a table: no other library's `to_dict` takes an orientation."""
    given = next((one.value for one in call.args if one.keyword in (None, "orient")), None)
    named = isinstance(given, Constant) and given.value in _ORIENTATIONS
    return named and last_name(call.func) == "to_dict"
