"""Facts about the calls that turn a file into Python objects, as data tables.

Sources: the documentation of the json, pickle, csv, io and pathlib modules of CPython 3.14, of PyYAML 6.0, orjson 3.10,
ujson 5.10, joblib 1.4, mmengine 0.10 (`mmengine.fileio.load`), jsonlines 4.0, pandas 2.2 and pycocotools 2.0 (`COCO`
keeps every annotation as a dict).
"""

from __future__ import annotations

import re

RECORDS = "records"
LINES = "lines"
OPAQUE = "opaque"
HANDLE = "handle"
TEXT = "text"
TABLE = "table"
FRAME = "frame"
ROWS = "rows"

READERS: dict[str, str] = {
    "json.load": RECORDS,
    "json.loads": RECORDS,
    "ujson.load": RECORDS,
    "ujson.loads": RECORDS,
    "orjson.loads": RECORDS,
    "simplejson.load": RECORDS,
    "simplejson.loads": RECORDS,
    "rapidjson.load": RECORDS,
    "rapidjson.loads": RECORDS,
    "yaml.load": RECORDS,
    "yaml.safe_load": RECORDS,
    "yaml.full_load": RECORDS,
    "jsonlines.open": RECORDS,
    "csv.reader": RECORDS,
    "csv.DictReader": RECORDS,
    "pycocotools.coco.COCO": TABLE,
    "mmcv.load": OPAQUE,
    "mmengine.load": OPAQUE,
    "mmengine.fileio.load": OPAQUE,
    "pickle.load": OPAQUE,
    "pickle.loads": OPAQUE,
    "_pickle.load": OPAQUE,
    "cPickle.load": OPAQUE,
    "dill.load": OPAQUE,
    "joblib.load": OPAQUE,
    "open": HANDLE,
    "io.open": HANDLE,
    "codecs.open": HANDLE,
    "gzip.open": HANDLE,
    "bz2.open": HANDLE,
    "lzma.open": HANDLE,
    "smart_open.open": HANDLE,
    "pathlib.Path().open": HANDLE,
    "pathlib.Path().read_text": TEXT,
    **{
        f"pandas.{name}": FRAME
        for name in (
            "read_csv",
            "read_table",
            "read_json",
            "read_parquet",
            "read_excel",
            "read_feather",
            "concat",
            "merge",
        )
    },
}
"""What a call gives: nested Python objects ("records"), an open file ("handle"), all of its text as one string
("text"), strings ("lines"), an object that holds records and gives them by methods ("table"), a pandas table, a part
or a column of one ("frame"), its rows as Python objects ("rows"), or whatever was pickled ("opaque")."""

_STEP = re.compile(r"\[\]|\[:\]|\(\)\.\w+|\(\)|\.\w+")
SAME_COLLECTION = frozenset({"copy", "items", "values", "keys", "tolist", "to_dict"})
"""Methods that give the same objects, in another container at most."""
OF_STRING = frozenset(
    {"strip", "rstrip", "lstrip", "lower", "upper", "replace", "decode", "encode", "casefold", "removesuffix"}
)
SPLITTING = frozenset({"split", "rsplit", "splitlines"})
SAME_OBJECTS = frozenset(
    {"list", "tuple", "sorted", "reversed", "set", "enumerate", "zip", "filter", "tqdm", "iter", "dict", "map"}
)
"""Functions by their last name whose result holds the objects of their arguments."""

PATH_CONSUMERS = frozenset(
    {
        *(
            "open",
            "join",
            "Path",
            "imread",
            "load",
            "read_image",
            "imdecode",
            "read",
            "exists",
            "isfile",
            "VideoCapture",
        ),
        *("VideoReader", "loader", "default_loader", "pil_loader", "cv2_loader", "load_image", "read_video", "File"),
        *("loadtxt", "fromfile", "read_csv", "decode_jpeg", "get", "format", "joinpath", "ImageReader", "load_img"),
    }
)
"""Last names of calls that a path, or a part of one, is given to."""

PATH_FUNCTIONS = frozenset(
    {"basename", "dirname", "splitext", "abspath", "realpath", "expanduser", "getsize", "isdir", "remove"}
)
"""Functions of `os` and `os.path` by their last name that take a path."""


FRAME_KEEPING = frozenset(
    {
        *("drop_duplicates", "sort_values", "sort_index", "reset_index", "set_index", "dropna", "fillna", "head"),
        *("tail", "sample", "query", "rename", "merge", "join", "copy", "astype", "assign", "drop", "explode"),
        *("filter", "isin", "loc", "iloc", "at", "iat", "values", "to_numpy", "T", "str", "append", "nlargest"),
    }
)
"""Methods and attributes of a pandas table that give a table, a part or a column of it, or its values as an array."""
FRAME_ROWS = {"to_dict": 0, "itertuples": 0, "iterrows": -1}
"""Methods of a table that give Python objects, each with the level of what they give: the rows of `iterrows()` come in
a tuple with their index."""

_KEEPING = {TEXT: OF_STRING, RECORDS: SAME_COLLECTION, OPAQUE: SAME_COLLECTION, ROWS: SAME_COLLECTION}


def form(name: str) -> tuple[str, int] | None:
    """What the API named `name` gives, with how many levels inside the collection that was read it lies.

    Names are written as the project model writes them: "json.load[]" is an item of what `json.load` gave, and
    "open().readlines" what that method of an open file gave.
    """
    head = name
    while head and head not in READERS:
        cut = max(head.rfind("["), head.rfind("()"))
        if cut < 0:
            return None
        head = head[:cut]
    if not head:
        return None
    return _after(READERS[head], _STEP.findall(name[len(head) :]))


def _after(kind: str, steps: list[str]) -> tuple[str, int] | None:
    level = 0
    whole = True
    for step in steps:
        if step == "()" or step == "[:]":
            continue
        if step == "[]":
            level += kind != FRAME
            whole = whole and kind != FRAME
            continue
        method = step.removeprefix("()").removeprefix(".")
        if kind == FRAME:
            if method in FRAME_ROWS:
                kind, level = ROWS, FRAME_ROWS[method]
            elif method in ("tolist", "to_list") and whole:
                kind = ROWS
            elif method not in FRAME_KEEPING:
                return None
        elif kind == HANDLE and method in ("readlines", "readline", "read"):
            kind, level = {"readlines": (LINES, 0), "readline": (LINES, 1), "read": (TEXT, 0)}[method]
        elif kind == TEXT and method in SPLITTING:
            kind, level = LINES, 0
        elif method in _KEEPING.get(kind, frozenset()) or (level and method in OF_STRING | SPLITTING):
            continue
        elif kind in (RECORDS, OPAQUE, ROWS) and method in ("get", "pop"):
            level += 1
        else:
            return None
    return kind, level
