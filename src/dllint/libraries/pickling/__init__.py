"""What pickling says to objects of the standard library and of others, as data tables.

`REFUSALS` has a row for each constructor or opener whose result cannot be pickled; `PICKLABLE` names those that are
often taken for such and pickle well. Names are canonical ones (`torch_api.canonical`); `()` stands for a call, so that
"lmdb.open().begin" is a method of what `lmdb.open` returned, and `[]` for an item.

Every row was measured by pickling such an object: with CPython 3.10.13, 3.11.7, 3.12.1 and 3.13.0 for the standard
library, and on 3.11.7 for torch 2.13.0, numpy 2.4.6, h5py 3.16.0, lmdb 3.0.0, opencv 5.0.0, pyarrow 26.0.1, av 18.1.0,
zarr 3.1.6, pillow 13.0.0, filelock 4.2.11, boto3 1.44.5, redis 8.1.0, pymongo 4.20.0, decord 0.6.0, soundfile 0.14.0,
plyvel 1.5.1, rasterio 1.4.4, netCDF4 1.7.5, tables 3.11.1. Read, not measured: google-cloud-core 2
(`google/cloud/client/__init__.py`), and the classes of OpenCV 4 that
OpenCV 5 left out of its main package (the same generator makes their bindings).
"""

from dllint.libraries.pickling.objects import (
    CACHED,
    CACHES,
    CLASS_MAKERS,
    GENERATOR,
    MODULE,
    NAMED_AS_WRAPPED,
    NON_LEAF,
    NPZ,
    PICKLABLE,
    PICKLE_BY_VALUE,
    REFUSALS,
    RUN_TIME_CLASS,
    RUN_TIME_CLASSES,
    SCRIPT_FUNCTION,
    SCRIPTING,
    WRAPPED_BY_CLASS,
    named,
    refuses,
)
from dllint.libraries.pickling.openers import OPENERS, Mode, opened
from dllint.libraries.pickling.refusal import Refusal

__all__ = [
    "CACHED",
    "CACHES",
    "CLASS_MAKERS",
    "GENERATOR",
    "MODULE",
    "NAMED_AS_WRAPPED",
    "NON_LEAF",
    "NPZ",
    "OPENERS",
    "PICKLABLE",
    "PICKLE_BY_VALUE",
    "REFUSALS",
    "RUN_TIME_CLASS",
    "RUN_TIME_CLASSES",
    "SCRIPTING",
    "SCRIPT_FUNCTION",
    "WRAPPED_BY_CLASS",
    "Mode",
    "Refusal",
    "named",
    "opened",
    "refuses",
]
