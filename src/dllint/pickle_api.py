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

from __future__ import annotations

from dataclasses import dataclass

PICKLE_BY_VALUE = frozenset(
    {"cloudpickle.dumps", "dill.dumps", "joblib.externals.cloudpickle.dumps", "ray.cloudpickle.dumps"}
)
"""Picklers that write lambdas, local functions and local classes by value (the packages' own documentation)."""

Errors = tuple[tuple[tuple[int, int], str], ...]
"""What the exception says, class first, by the first Python that says so; `…` stands for what differs by case."""


@dataclass(frozen=True)
class Refusal:
    """What cannot be pickled.

    Attributes:
        what: the object in words, for "keeps …".
        errors: what Python says.
        remedy: the key of the remedy in the page of DLL203.
        forked_context: whether it fails only where a context of fork made it and another one starts the process.
    """

    what: str
    errors: Errors
    remedy: str = "main"
    forked_context: bool = False

    def error(self, python: tuple[int, int]) -> str:
        """What the given Python says."""
        return [text for since, text in self.errors if since <= python][-1]


@dataclass(frozen=True)
class Mode:
    """Where an opener takes its mode, what it is by default, and whether a missing letter means text."""

    position: int
    default: str = "r"
    text: bool = True
    what: str = "an open file"


def _always(text: str) -> Errors:
    return (((3, 0), text),)


def _changed(since: tuple[int, int], before: str, after: str) -> Errors:
    return ((3, 0), before), (since, after)


def _stream(kind: str) -> Errors:
    """CPython 3.12 changed the words for the classes of `io` (Modules/_io/iobase.c)."""
    return ((3, 0), f"TypeError: cannot pickle '_io.{kind}' object"), (
        (3, 12),
        f"TypeError: cannot pickle '{kind}' instances",
    )


def _object(kind: str) -> Errors:
    return _always(f"TypeError: cannot pickle '{kind}' object")


_LOCK = _object("_thread.lock")
_RLOCK = _object("_thread.RLock")
_POINTERS = _always("ValueError: ctypes objects containing pointers cannot be pickled")
_CYTHON = _always("TypeError: no default __reduce__ due to non-trivial __cinit__")
_SEMAPHORE = _always(
    "RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context. "
    "This is not supported. Please use the same context to create multiprocessing objects and Process."
)
_POOL = _always("NotImplementedError: pool objects cannot be passed between processes or pickled")
_LOCAL_REMOVE = (
    ((3, 0), "AttributeError: Can't pickle local object 'WeakValueDictionary.__init__.<locals>.remove'"),
    ((3, 13), "AttributeError: Can't get local object 'WeakValueDictionary.__init__.<locals>.remove'"),
)
_AWS_CLIENT = _always(
    "PicklingError: Can't pickle <class 'botocore.client.…'>: attribute lookup … on botocore.client failed"
)
_AWS_RESOURCE = _always(
    "PicklingError: Can't pickle <class 'boto3.resources.factory.…'>: "
    "attribute lookup … on boto3.resources.factory failed"
)
_FUNCTION_POINTER = (
    ((3, 0), "AttributeError: Can't pickle local object 'CDLL.__init__.<locals>._FuncPtr'"),
    ((3, 13), "AttributeError: Can't get local object 'CDLL.__init__.<locals>._FuncPtr'"),
)

OPENERS: dict[str, Mode] = {
    "open": Mode(1),
    "io.open": Mode(1),
    "os.fdopen": Mode(1),
    "pathlib.Path().open": Mode(0),
    "gzip.open": Mode(1, "rb", text=False),
    "gzip.GzipFile": Mode(1, "rb", text=False),
    "bz2.open": Mode(1, "rb", text=False),
    "bz2.BZ2File": Mode(1, "rb", text=False),
    "lzma.open": Mode(1, "rb", text=False),
    "lzma.LZMAFile": Mode(1, "rb", text=False),
    "zipfile.ZipFile": Mode(1, text=False, what="an open zip archive"),
    "tarfile.open": Mode(1, text=False, what="an open tar archive"),
    "tarfile.TarFile": Mode(1, text=False, what="an open tar archive"),
    "tempfile.TemporaryFile": Mode(0, "w+b", what="a temporary file"),
    "tempfile.NamedTemporaryFile": Mode(0, "w+b", what="a temporary file"),
}
"""Functions that open a file, whose mode says which class of `io` is inside."""


def opened(opener: Mode, mode: str, unbuffered: bool = False) -> Refusal:
    """What keeping the result of an opener with this mode means."""
    text = "t" in mode or (opener.text and "b" not in mode)
    if text:
        kind = "TextIOWrapper"
    elif unbuffered:
        kind = "FileIO"
    elif "+" in mode or (opener.what == "an open zip archive" and mode[:1] in ("w", "x", "a")):
        kind = "BufferedRandom"
    else:
        kind = "BufferedReader" if mode.startswith("r") or mode == "b" else "BufferedWriter"
    return Refusal(opener.what, _stream(kind))


NPZ = Refusal("an open npz archive", _stream("BufferedReader"))
"""`numpy.load` of a file with several arrays, which stays open."""
GENERATOR = Refusal("a generator", _object("generator"), "iterator")
MODULE = Refusal("a module", _object("module"), "module")
RUN_TIME_CLASS = Refusal(
    "a class that is made at run time",
    _always("PicklingError: Can't pickle <class '…'>: attribute lookup … on … failed"),
    "class",
)
NON_LEAF = Refusal(
    "a tensor that is part of a graph",
    _always(
        "RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
        "support crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
        "before serializing (e.g., putting it on the queue)."
    ),
    "tensor",
)
SCRIPT_FUNCTION = Refusal("a scripted function", _always("PickleError: ScriptFunction cannot be pickled"))
_SCRIPT = Refusal(
    "a scripted module",
    _always("RuntimeError: Tried to serialize object __torch__.… which does not have a __getstate__ method defined!"),
)
CACHED = Refusal(
    "a cached function under another name",
    _always("PicklingError: Can't pickle <functools._lru_cache_wrapper object at …>: it's not the same object as …"),
    "cached",
)
CACHES = frozenset({"functools.lru_cache", "functools.lru_cache()", "functools.cache"})
"""What wraps a function so that pickle looks it up by the name of the function."""
WRAPPED_BY_CLASS = Refusal(
    "a function that a class wraps as its decorator",
    _always("PicklingError: Can't pickle <function … at …>: it's not the same object as …"),
    "cached",
)
SCRIPTING = frozenset({"torch.jit.script", "torch.jit.trace"})
"""What makes a `ScriptFunction` of a function and a `ScriptModule` of anything else."""
RUN_TIME_CLASSES = frozenset(
    {"collections.namedtuple", "typing.NamedTuple", "dataclasses.make_dataclass", "enum.Enum", "enum.IntEnum"}
)
"""What makes a class that pickle looks up by its name in the module."""

CLASS_MAKERS = frozenset({"type", "types.new_class"})
"""The same where they are given bases: `type(name, bases, namespace)`."""

NAMED_AS_WRAPPED = frozenset(
    {
        *("functools.lru_cache", "functools.cache", "contextlib.contextmanager"),
        *("torch.no_grad", "torch.enable_grad", "torch.inference_mode"),
    }
)
"""Decorators whose result takes over the qualified name of the function and is pickled by it (CPython 3.14,
`Modules/_functoolsmodule.c`, `lru_cache_reduce`; `functools.wraps`; torch 2.13, `torch/utils/_contextlib.py`)."""

_CV2 = {
    "VideoCapture": "an OpenCV capture",
    "VideoWriter": "an OpenCV video writer",
    "CascadeClassifier": "an OpenCV object",
    "HOGDescriptor": "an OpenCV object",
    "QRCodeDetector": "an OpenCV object",
    "KalmanFilter": "an OpenCV object",
    "BFMatcher": "an OpenCV matcher",
    "FlannBasedMatcher": "an OpenCV matcher",
    "FileStorage": "an OpenCV file storage",
    "UMat": "an OpenCV UMat",
    "KeyPoint": "an OpenCV key point",
    "dnn.Net": "an OpenCV network",
}
_CV2_CREATED = (*("SIFT", "ORB", "AKAZE", "BRISK", "FastFeatureDetector", "SimpleBlobDetector", "DISOpticalFlow"),)
_CV2_MADE = (*("CLAHE", "BackgroundSubtractorMOG2", "BackgroundSubtractorKNN", "LineSegmentDetector"),)


def _cv2() -> dict[str, Refusal]:
    rows = {f"cv2.{kind}": (kind, what) for kind, what in _CV2.items()}
    for kind in _CV2_CREATED:
        rows |= dict.fromkeys((f"cv2.{kind}_create", f"cv2.{kind}.create"), (kind, "an OpenCV object"))
    rows |= {f"cv2.create{kind}": (kind, "an OpenCV object") for kind in _CV2_MADE}
    readers = ("readNet", "readNetFromONNX", "readNetFromCaffe")
    rows |= {f"cv2.dnn.{reader}": ("dnn.Net", "an OpenCV network") for reader in readers}
    return {name: Refusal(what, _object(f"cv2.{kind}")) for name, (kind, what) in rows.items()}


def _rows(refusal: Refusal, *names: str) -> dict[str, Refusal]:
    return dict.fromkeys(names, refusal)


REFUSALS: dict[str, Refusal] = {
    "zipfile.ZipFile().open": Refusal("an open member of a zip archive", _stream("BufferedReader")),
    "tarfile.open().extractfile": Refusal(
        "an open member of a tar archive",
        (
            ((3, 0), "TypeError: cannot pickle 'ExFileObject' object"),
            ((3, 12), "TypeError: cannot pickle 'ExFileObject' instances"),
        ),
    ),
    "csv.reader": Refusal("a csv reader", _object("_csv.reader"), "iterator"),
    "csv.DictReader": Refusal("a csv reader", _object("_csv.reader"), "iterator"),
    "os.scandir": Refusal("a directory iterator", _object("posix.ScandirIterator"), "iterator"),
    "types.GeneratorType": GENERATOR,
    **_rows(GENERATOR, "glob.iglob", "os.walk"),
    **_rows(
        Refusal("a lock", _LOCK, "lock"),
        "threading.Lock",
        "threading.Semaphore",
        "threading.BoundedSemaphore",
    ),
    "threading.RLock": Refusal("a lock", _RLOCK, "lock"),
    "threading.Condition": Refusal("a condition", _RLOCK, "lock"),
    "threading.Event": Refusal("an event", _LOCK, "lock"),
    "threading.Barrier": Refusal("a barrier", _LOCK, "lock"),
    **_rows(
        Refusal(
            "a thread",
            (
                ((3, 0), "TypeError: cannot pickle '_thread.lock' object"),
                ((3, 13), "TypeError: cannot pickle '_thread._ThreadHandle' object"),
            ),
            "lock",
        ),
        "threading.Thread",
        "threading.Timer",
    ),
    "threading.local": Refusal("a thread-local object", _object("_thread._local"), "lock"),
    **_rows(Refusal("a queue", _LOCK, "lock"), "queue.Queue", "queue.LifoQueue", "queue.PriorityQueue"),
    "queue.SimpleQueue": Refusal("a queue", _object("_queue.SimpleQueue"), "lock"),
    "concurrent.futures.ThreadPoolExecutor": Refusal("a thread pool", _object("_queue.SimpleQueue"), "pool"),
    "concurrent.futures.ProcessPoolExecutor": Refusal("a process pool", _LOCK, "pool"),
    **_rows(
        Refusal("a pool", _POOL, "pool"),
        "multiprocessing.Pool",
        "multiprocessing.pool.ThreadPool",
        "multiprocessing.ThreadPool",
    ),
    **_rows(
        Refusal("a multiprocessing lock of a fork context", _SEMAPHORE, "context", forked_context=True),
        *(
            f"multiprocessing.{name}"
            for name in ("Lock", "RLock", "Event", "Condition", "Semaphore", "BoundedSemaphore", "Barrier")
        ),
    ),
    **_rows(
        Refusal("a multiprocessing queue of a fork context", _SEMAPHORE, "context", forked_context=True),
        *(f"multiprocessing.{name}" for name in ("Queue", "JoinableQueue", "SimpleQueue")),
    ),
    **_rows(
        Refusal("a shared value of a fork context", _SEMAPHORE, "context", forked_context=True),
        "multiprocessing.Value",
        "multiprocessing.Array",
    ),
    "multiprocessing.Manager": Refusal("a multiprocessing manager", _object("weakref.ReferenceType"), "pool"),
    **_rows(
        Refusal("a log handler", _RLOCK, "lock"), "logging.StreamHandler", "logging.FileHandler", "logging.Handler"
    ),
    **_rows(
        Refusal("a file lock", _RLOCK, "lock"), "filelock.FileLock", "filelock.SoftFileLock", "filelock.UnixFileLock"
    ),
    "subprocess.Popen": Refusal("a child process", _LOCK, "main"),
    **_rows(Refusal("an SSL context", _object("SSLContext")), "ssl.create_default_context", "ssl.SSLContext"),
    "contextvars.ContextVar": Refusal("a context variable", _object("_contextvars.ContextVar"), "module"),
    **_rows(Refusal("a view of a dict", _object("dict_keys"), "view"), "dict().keys"),
    **_rows(Refusal("a view of a dict", _object("dict_values"), "view"), "dict().values"),
    **_rows(Refusal("a view of a dict", _object("dict_items"), "view"), "dict().items"),
    "memoryview": Refusal(
        "a memoryview",
        (
            ((3, 0), "TypeError: cannot pickle 'memoryview' object"),
            ((3, 11), "TypeError: cannot pickle memoryview objects"),
        ),
        "view",
    ),
    **_rows(Refusal("a weak reference", _object("weakref.ReferenceType"), "weak"), "weakref.ref"),
    "weakref.WeakValueDictionary": Refusal("a weak dictionary", _LOCAL_REMOVE, "weak"),
    "types.MappingProxyType": Refusal("a read-only view of a dict", _object("mappingproxy"), "view"),
    "sqlite3.connect": Refusal("an SQLite connection", _object("sqlite3.Connection")),
    "sqlite3.connect().cursor": Refusal("an SQLite cursor", _object("sqlite3.Cursor")),
    "mmap.mmap": Refusal("a memory map", _object("mmap.mmap")),
    **_rows(Refusal("a ctypes pointer", _POINTERS), "ctypes.pointer", "ctypes.c_char_p", "ctypes.c_void_p"),
    **_rows(Refusal("a loaded library", _FUNCTION_POINTER), "ctypes.CDLL", "ctypes.cdll.LoadLibrary"),
    **_rows(Refusal("an h5py file", _always("TypeError: h5py objects cannot be pickled")), "h5py.File"),
    **_rows(Refusal("an h5py object", _always("TypeError: h5py objects cannot be pickled")), "h5py.File[]"),
    **_rows(Refusal("an lmdb environment", _object("Environment")), "lmdb.open", "lmdb.Environment"),
    **_rows(
        Refusal("an lmdb transaction", _object("Transaction")),
        "lmdb.open().begin",
        "lmdb.Environment().begin",
        "lmdb.Transaction",
    ),
    **_rows(
        Refusal("an lmdb cursor", _object("Cursor")), "lmdb.open().begin().cursor", "lmdb.Environment().begin().cursor"
    ),
    **_cv2(),
    "av.open": Refusal("an av container", _CYTHON),
    **_rows(Refusal("a memory-mapped Arrow file", _CYTHON), "pyarrow.memory_map", "pyarrow.MemoryMappedFile"),
    **_rows(Refusal("an open Arrow file", _CYTHON), "pyarrow.OSFile", "pyarrow.input_stream", "pyarrow.ipc.open_file"),
    "pyarrow.parquet.ParquetFile": Refusal("an open Parquet file", _CYTHON),
    "decord.VideoReader": Refusal("a decord reader", _POINTERS),
    "soundfile.SoundFile": Refusal("an open sound file", _object("_cffi_backend.__CDataOwn")),
    "netCDF4.Dataset": Refusal("an open netCDF file", _always("NotImplementedError: Dataset is not picklable")),
    "tables.open_file": Refusal("an open PyTables file", _LOCAL_REMOVE),
    "rasterio.open": Refusal(
        "an open rasterio dataset", _always("TypeError: self._hds cannot be converted to a Python object for pickling")
    ),
    "plyvel.DB": Refusal(
        "a LevelDB", _always("TypeError: self._db,self.options cannot be converted to a Python object for pickling")
    ),
    "boto3.client": Refusal(
        "an AWS client",
        _always(
            "PicklingError: Can't pickle <class 'botocore.client.…'>: attribute lookup … on botocore.client failed"
        ),
    ),
    "boto3.session.Session().client": Refusal(
        "an AWS client",
        _always(
            "PicklingError: Can't pickle <class 'botocore.client.…'>: attribute lookup … on botocore.client failed"
        ),
    ),
    "boto3.resource": Refusal("an AWS resource", _AWS_RESOURCE),
    **_rows(
        Refusal(
            "an AWS session",
            (
                ((3, 0), "AttributeError: Can't pickle local object 'lazy_call.<locals>._handler'"),
                ((3, 13), "AttributeError: Can't get local object 'lazy_call.<locals>._handler'"),
            ),
        ),
        "boto3.Session",
        "boto3.session.Session",
    ),
    "google.cloud.storage.Client": Refusal(
        "a Google Cloud client",
        _always("PicklingError: Pickling client objects is explicitly not supported.…"),
    ),
    **_rows(
        Refusal("a Redis client", _RLOCK), "redis.Redis", "redis.StrictRedis", "redis.from_url", "redis.Redis.from_url"
    ),
    **_rows(Refusal("a MongoDB client", _LOCK), "pymongo.MongoClient", "pymongo.mongo_client.MongoClient"),
    **_rows(_SCRIPT, "torch.jit.script", "torch.jit.trace", "torch.jit.load", "torch.jit.freeze"),
}
"""Constructors and openers by name."""

PICKLABLE = frozenset(
    {
        "logging.getLogger",
        "re.compile",
        "random.Random",
        "numpy.random.default_rng",
        "numpy.random.RandomState",
        "numpy.memmap",
        "io.BytesIO",
        "io.StringIO",
        "tempfile.SpooledTemporaryFile",
        "tempfile.TemporaryDirectory",
        "shelve.open",
        "iter",
        "map",
        "zip",
        "filter",
        "enumerate",
        "reversed",
        "range",
        "itertools.cycle",
        "itertools.chain",
        "itertools.count",
        "functools.partial",
        "collections.defaultdict",
        "PIL.Image.open",
        "zarr.open",
        "zarr.open_group",
        "pyarrow.table",
        "pyarrow.dataset.dataset",
        "pyarrow.parquet.ParquetDataset",
        "pyarrow.fs.LocalFileSystem",
        "requests.Session",
        "faiss.IndexFlatL2",
        "asyncio.Lock",
        "torch.device",
        "torch.nn.Parameter",
    }
)
"""What is often taken for unpicklable and is not; itertools pickle up to Python 3.13 (docs.python.org, itertools)."""


def refuses(name: str) -> bool:
    """Whether what the constructor or opener gives cannot be pickled (in some mode, or in some context)."""
    return name in REFUSALS or name in OPENERS


def named(name: str) -> Refusal:
    """A constructor or opener that the configuration names under `unpicklable`."""
    return Refusal(f"what `{name}` gives", _always("named under `unpicklable`"))
