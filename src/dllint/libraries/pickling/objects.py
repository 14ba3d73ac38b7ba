"""The objects of the standard library and of others that pickling refuses, and those that only seem to be such."""

from __future__ import annotations

from dllint.libraries.pickling.openers import OPENERS
from dllint.libraries.pickling.refusal import Refusal, always, instance, stream

PICKLE_BY_VALUE = frozenset(
    {"cloudpickle.dumps", "dill.dumps", "joblib.externals.cloudpickle.dumps", "ray.cloudpickle.dumps"}
)
"""Picklers that write lambdas, local functions and local classes by value (the packages' own documentation)."""

_LOCK = instance("_thread.lock")
_RLOCK = instance("_thread.RLock")
_POINTERS = always("ValueError: ctypes objects containing pointers cannot be pickled")
_CYTHON = always("TypeError: no default __reduce__ due to non-trivial __cinit__")
_SEMAPHORE = always(
    "RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context. "
    "This is not supported. Please use the same context to create multiprocessing objects and Process."
)
_POOL = always("NotImplementedError: pool objects cannot be passed between processes or pickled")
_LOCAL_REMOVE = (
    ((3, 0), "AttributeError: Can't pickle local object 'WeakValueDictionary.__init__.<locals>.remove'"),
    ((3, 13), "AttributeError: Can't get local object 'WeakValueDictionary.__init__.<locals>.remove'"),
)
_AWS_RESOURCE = always(
    "PicklingError: Can't pickle <class 'boto3.resources.factory.…'>: "
    "attribute lookup … on boto3.resources.factory failed"
)
_FUNCTION_POINTER = (
    ((3, 0), "AttributeError: Can't pickle local object 'CDLL.__init__.<locals>._FuncPtr'"),
    ((3, 13), "AttributeError: Can't get local object 'CDLL.__init__.<locals>._FuncPtr'"),
)

NPZ = Refusal("an open npz archive", stream("BufferedReader"))
"""`numpy.load` of a file with several arrays, which stays open."""
GENERATOR = Refusal("a generator", instance("generator"), "iterator")
MODULE = Refusal("a module", instance("module"), "module")
RUN_TIME_CLASS = Refusal(
    "a class that is made at run time",
    always("PicklingError: Can't pickle <class '…'>: attribute lookup … on … failed"),
    "class",
)
NON_LEAF = Refusal(
    "a tensor that is part of a graph",
    always(
        "RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
        "support crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
        "before serializing (e.g., putting it on the queue)."
    ),
    "tensor",
)
SCRIPT_FUNCTION = Refusal("a scripted function", always("PickleError: ScriptFunction cannot be pickled"))
_SCRIPT = Refusal(
    "a scripted module",
    always("RuntimeError: Tried to serialize object __torch__.… which does not have a __getstate__ method defined!"),
)
CACHED = Refusal(
    "a cached function under another name",
    always("PicklingError: Can't pickle <functools._lru_cache_wrapper object at …>: it's not the same object as …"),
    "cached",
)
CACHES = frozenset({"functools.lru_cache", "functools.lru_cache()", "functools.cache"})
"""What wraps a function so that pickle looks it up by the name of the function."""
WRAPPED_BY_CLASS = Refusal(
    "a function that a class wraps as its decorator",
    always("PicklingError: Can't pickle <function … at …>: it's not the same object as …"),
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
    return {name: Refusal(what, instance(f"cv2.{kind}")) for name, (kind, what) in rows.items()}


def _rows(refusal: Refusal, *names: str) -> dict[str, Refusal]:
    return dict.fromkeys(names, refusal)


REFUSALS: dict[str, Refusal] = {
    "zipfile.ZipFile().open": Refusal("an open member of a zip archive", stream("BufferedReader")),
    "tarfile.open().extractfile": Refusal(
        "an open member of a tar archive",
        (
            ((3, 0), "TypeError: cannot pickle 'ExFileObject' object"),
            ((3, 12), "TypeError: cannot pickle 'ExFileObject' instances"),
        ),
    ),
    "csv.reader": Refusal("a csv reader", instance("_csv.reader"), "iterator"),
    "csv.DictReader": Refusal("a csv reader", instance("_csv.reader"), "iterator"),
    "os.scandir": Refusal("a directory iterator", instance("posix.ScandirIterator"), "iterator"),
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
    "threading.local": Refusal("a thread-local object", instance("_thread._local"), "lock"),
    **_rows(Refusal("a queue", _LOCK, "lock"), "queue.Queue", "queue.LifoQueue", "queue.PriorityQueue"),
    "queue.SimpleQueue": Refusal("a queue", instance("_queue.SimpleQueue"), "lock"),
    "concurrent.futures.ThreadPoolExecutor": Refusal("a thread pool", instance("_queue.SimpleQueue"), "pool"),
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
    "multiprocessing.Manager": Refusal("a multiprocessing manager", instance("weakref.ReferenceType"), "pool"),
    **_rows(
        Refusal("a log handler", _RLOCK, "lock"), "logging.StreamHandler", "logging.FileHandler", "logging.Handler"
    ),
    **_rows(
        Refusal("a file lock", _RLOCK, "lock"), "filelock.FileLock", "filelock.SoftFileLock", "filelock.UnixFileLock"
    ),
    "subprocess.Popen": Refusal("a child process", _LOCK, "main"),
    **_rows(Refusal("an SSL context", instance("SSLContext")), "ssl.create_default_context", "ssl.SSLContext"),
    "contextvars.ContextVar": Refusal("a context variable", instance("_contextvars.ContextVar"), "module"),
    **_rows(Refusal("a view of a dict", instance("dict_keys"), "view"), "dict().keys"),
    **_rows(Refusal("a view of a dict", instance("dict_values"), "view"), "dict().values"),
    **_rows(Refusal("a view of a dict", instance("dict_items"), "view"), "dict().items"),
    "memoryview": Refusal(
        "a memoryview",
        (
            ((3, 0), "TypeError: cannot pickle 'memoryview' object"),
            ((3, 11), "TypeError: cannot pickle memoryview objects"),
        ),
        "view",
    ),
    **_rows(Refusal("a weak reference", instance("weakref.ReferenceType"), "weak"), "weakref.ref"),
    "weakref.WeakValueDictionary": Refusal("a weak dictionary", _LOCAL_REMOVE, "weak"),
    "types.MappingProxyType": Refusal("a read-only view of a dict", instance("mappingproxy"), "view"),
    "sqlite3.connect": Refusal("an SQLite connection", instance("sqlite3.Connection")),
    "sqlite3.connect().cursor": Refusal("an SQLite cursor", instance("sqlite3.Cursor")),
    "mmap.mmap": Refusal("a memory map", instance("mmap.mmap")),
    **_rows(Refusal("a ctypes pointer", _POINTERS), "ctypes.pointer", "ctypes.c_char_p", "ctypes.c_void_p"),
    **_rows(Refusal("a loaded library", _FUNCTION_POINTER), "ctypes.CDLL", "ctypes.cdll.LoadLibrary"),
    **_rows(Refusal("an h5py file", always("TypeError: h5py objects cannot be pickled")), "h5py.File"),
    **_rows(Refusal("an h5py object", always("TypeError: h5py objects cannot be pickled")), "h5py.File[]"),
    **_rows(Refusal("an lmdb environment", instance("Environment")), "lmdb.open", "lmdb.Environment"),
    **_rows(
        Refusal("an lmdb transaction", instance("Transaction")),
        "lmdb.open().begin",
        "lmdb.Environment().begin",
        "lmdb.Transaction",
    ),
    **_rows(
        Refusal("an lmdb cursor", instance("Cursor")), "lmdb.open().begin().cursor", "lmdb.Environment().begin().cursor"
    ),
    **_cv2(),
    "av.open": Refusal("an av container", _CYTHON),
    **_rows(Refusal("a memory-mapped Arrow file", _CYTHON), "pyarrow.memory_map", "pyarrow.MemoryMappedFile"),
    **_rows(Refusal("an open Arrow file", _CYTHON), "pyarrow.OSFile", "pyarrow.input_stream", "pyarrow.ipc.open_file"),
    "pyarrow.parquet.ParquetFile": Refusal("an open Parquet file", _CYTHON),
    "decord.VideoReader": Refusal("a decord reader", _POINTERS),
    "soundfile.SoundFile": Refusal("an open sound file", instance("_cffi_backend.__CDataOwn")),
    "netCDF4.Dataset": Refusal("an open netCDF file", always("NotImplementedError: Dataset is not picklable")),
    "tables.open_file": Refusal("an open PyTables file", _LOCAL_REMOVE),
    "rasterio.open": Refusal(
        "an open rasterio dataset", always("TypeError: self._hds cannot be converted to a Python object for pickling")
    ),
    "plyvel.DB": Refusal(
        "a LevelDB", always("TypeError: self._db,self.options cannot be converted to a Python object for pickling")
    ),
    "boto3.client": Refusal(
        "an AWS client",
        always("PicklingError: Can't pickle <class 'botocore.client.…'>: attribute lookup … on botocore.client failed"),
    ),
    "boto3.session.Session().client": Refusal(
        "an AWS client",
        always("PicklingError: Can't pickle <class 'botocore.client.…'>: attribute lookup … on botocore.client failed"),
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
        always("PicklingError: Pickling client objects is explicitly not supported.…"),
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
    return Refusal(f"what `{name}` gives", always("named under `unpicklable`"))
