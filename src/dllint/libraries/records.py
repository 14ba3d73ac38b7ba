"""The results of calls that turn a file into Python objects (`json.load`, `csv.reader`).

Sources: the documentation of the json, pickle, csv, io and pathlib modules of CPython 3.14, of PyYAML 6.0, orjson 3.10,
ujson 5.10, joblib 1.4, mmengine 0.10, jsonlines 4.0, pandas 2.2, pyarrow 19, polars 2.1, lxml 5 and pycocotools 2.0.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dllint.facts.nodes import Attribute, Constant
from dllint.facts.schema import Call
from dllint.libraries.annotations import NUMBERED
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.libraries.index import AROUND_ITERABLES, READERS, SELECTING
from dllint.libraries.pandas import FRAME_KEEPING, FRAME_ROWS, NO_COLUMNS
from dllint.linking.source import last_name

RECORDS = "records"
LINES = "lines"
OPAQUE = "opaque"
HANDLE = "handle"
TEXT = "text"
TABLE = "table"
FRAME = "frame"
ROWS = "rows"
HUB = "hub"
COLUMNS = "columns"
"""A pyarrow or polars table, whose rows become Python objects only through methods such as `to_pylist`."""
COLUMN = "column"
"""The values of one column, as Python objects: strings, or numbers."""

_STEP = re.compile(r"\[\]|\[:\]|\(\)\.\w+|\(\)|\.\w+")
SAME_COLLECTION = frozenset({"copy", "items", "values", "keys", "tolist", "to_list", "to_dict"})
"""Methods that return the same objects, at most in another container."""
SAME_OBJECTS = AROUND_ITERABLES | SELECTING | {"map", "dict", "OrderedDict", "deque", "from_iterable"}
"""Last names of functions whose result contains the objects of their arguments."""

EVALUATING = frozenset({"eval", "literal_eval"})
"""Last names of functions that turn a string in Python notation into Python objects."""

_OF_TABLE = frozenset(
    {
        *("read", "read_row_group", "read_all", "iter_batches", "to_batches", "select", "filter", "sort_by", "sort"),
        *("slice", "take", "drop", "drop_nulls", "drop_null", "rename_columns", "rename", "append_column", "column"),
        *("with_columns", "with_row_index", "collect", "lazy", "head", "tail", "limit", "unique", "join", "group_by"),
        *(
            "agg",
            "combine_chunks",
            "cast",
            "get_column",
            "to_table",
            "sample",
            "explode",
            "iter_slices",
            "partition_by",
        ),
        *("scanner", "to_reader", "read_next_batch", "set_column", "concat", "vstack", "extend"),
    }
)
"""Methods of such tables that return a table, or a part or column of it."""
TABLE_ROWS = frozenset(
    {"to_pylist", "to_pydict", "to_dicts", "to_dict", "rows", "iter_rows", "to_list", "rows_by_key", "to_struct"}
)
"""Methods of such tables that return Python objects for their rows or values."""
OF_TABLES = TABLE_ROWS | _OF_TABLE

_OF_HUB = frozenset(
    {"shuffle", "select", "filter", "map", "with_format", "with_transform", "sort", "shard", "rename_column"}
)
"""Methods of hub datasets that return another dataset."""

_OF_TREE = frozenset(
    {"getroot", "find", "findall", "findtext", "iter", "iterfind", "xpath", "text", "attrib", "getElementsByTagName"}
)
"""Methods and attributes of a parsed XML document that return a part of it."""

_KEEPING: dict[str, frozenset[str]] = {
    TEXT: OF_STRING,
    RECORDS: SAME_COLLECTION | _OF_TREE,
    OPAQUE: SAME_COLLECTION,
    ROWS: SAME_COLLECTION,
}


@lru_cache(maxsize=10_000)
def form(name: str) -> tuple[str, int] | None:
    """Return the form of the result of the API named `name`, and its nesting level inside the collection that was read.

    Names are written as in the project model: "json.load[]" is an item of the result of `json.load`, and
    "open().readlines" the result of that method of an open file.
    """
    head = name
    while head and head not in READERS:
        cut = max(head.rfind("["), head.rfind("()"))
        if cut < 0:
            return None
        head = head[:cut]
    if not head or (head in NUMBERED and name.startswith(f"{head}().keys")):
        # The keys of annotations are numbers.
        return None
    return _after(READERS[head], _STEP.findall(name[len(head) :]))


def reads_file(name: str) -> bool:
    """Whether a function reads a file. Some of those that return tables make them of what they are given."""
    return name in READERS and (READERS[name] != FRAME or name.rpartition(".")[2].startswith("read_"))


def is_of_hub(name: str) -> bool:
    """Whether a value is a dataset of the Hugging Face hub, or a split of one."""
    found = form(name)
    return found is not None and found[0] == HUB


def _after(kind: str, steps: list[str]) -> tuple[str, int] | None:
    level = 0
    whole = True
    for step, following in zip(steps, [*steps[1:], ""], strict=False):
        if step == "()" or step == "[:]":
            continue
        if step == "[]":
            # In a hub dataset, a split is looked up with the same syntax as a row.
            level += kind not in (FRAME, HUB, COLUMNS)
            whole = whole and kind != FRAME
            continue
        method = step.removeprefix("()").removeprefix(".")
        if kind == HUB:
            if method in ("to_list", "to_dict"):
                kind = ROWS
            elif method == "to_pandas":
                kind = FRAME
            elif method not in _OF_HUB:
                return None
        elif kind == COLUMNS:
            if method in TABLE_ROWS:
                kind = ROWS
            elif method == "to_pandas":
                kind = FRAME
            elif method not in _OF_TABLE:
                return None
        elif kind == FRAME:
            if method in FRAME_ROWS:
                kind, level = ROWS, FRAME_ROWS[method]
            elif method in ("tolist", "to_list"):
                kind = ROWS if whole else COLUMN
            elif method in FRAME_KEEPING or (method in OF_STRING | SPLITTING and not whole):
                continue
            elif following.startswith(".") and method not in NO_COLUMNS:
                # `table.text.values`
                whole = False
            else:
                return None
        elif kind == HANDLE and method in ("readlines", "readline", "read"):
            kind, level = {"readlines": (LINES, 0), "readline": (LINES, 1), "read": (TEXT, 0)}[method]
        elif kind == TEXT and method in SPLITTING:
            kind, level = LINES, 0
        elif method in _KEEPING.get(kind, frozenset()) or (level and method in OF_STRING | SPLITTING | PARTING):
            continue
        elif kind in (RECORDS, OPAQUE, ROWS, COLUMN) and method in ("get", "pop"):
            level += 1
        else:
            return None
    return kind, level


_TOKENIZING = frozenset(
    {
        *("tokenize", "word_tokenize", "convert_tokens_to_ids", "encode_plus", "batch_encode_plus"),
        *("build_inputs_with_special_tokens", "texts_to_sequences"),
        *("EncodeAsIds", "EncodeAsPieces", "encode_as_ids", "encode_as_pieces"),
    }
)
_TOKENIZER = re.compile(r"tok|bpe|vocab", re.IGNORECASE)
_MADE_TOKENIZER = re.compile(r"transformers\.(.*\.)?\w*Tokenizer(Fast)?\.from_pretrained")


def gives_tokens(call: Call) -> bool:
    """Whether a call, by its name, makes a list of tokens or of their numbers of a text.

    Source: the documentation of Hugging Face's tokenizers, SentencePiece, NLTK and Keras. With `return_tensors`, a
    tokenizer gives tensors.
    """
    last = last_name(call.func) or ""
    if not call.args or any(one.keyword == "return_tensors" for one in call.args):
        return False
    if last in _TOKENIZING:
        return True
    # `text.encode("utf-8")` gives bytes, and `model.encode(text)` an array.
    holder = last_name(call.func.value) if isinstance(call.func, Attribute) else None
    if last == "encode":
        return bool(holder and _TOKENIZER.search(holder)) and not isinstance(call.args[0].value, Constant)
    return last[:1].islower() and "tokenizer" in last


def is_tokenizer(name: str) -> bool:
    """Whether the API named `name` gives a tokenizer of transformers, which makes lists of numbers when called."""
    return _MADE_TOKENIZER.fullmatch(name) is not None
