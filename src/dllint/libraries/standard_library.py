"""Modules of the standard library that need only a few declarations (docs.python.org)."""

from dllint.libraries.facets import RELEASES, Library, Opener, Operation
from dllint.libraries.pickling import GENERATOR, LOCK, POINTERS, RLOCK, Refusal, instance, local
from dllint.screen import Words

CACHES = frozenset({"functools.lru_cache", "functools.lru_cache()", "functools.cache"})
"""Decorators that wrap a function so that pickle looks the result up by the function's name."""

_WEAK = Refusal("a weak reference", instance("weakref.ReferenceType"), "weak")
_LOADED = Refusal("a loaded library", local("CDLL.__init__.<locals>._FuncPtr"))
_POINTER = Refusal("a ctypes pointer", POINTERS)
_SSL = Refusal("an SSL context", instance("SSLContext"))
_LOG = Refusal("a log handler", RLOCK, "lock")
_HANDLERS = (
    *("StreamHandler", "FileHandler", "Handler"),
    *(
        f"handlers.{name}Handler"
        for name in ("RotatingFile", "TimedRotatingFile", "WatchedFile", "Socket", "SysLog", "HTTP", "Queue", "Memory")
    ),
)
_CSV = Refusal("a csv reader", instance("_csv.reader"), "iterator")

LIBRARY = Library(
    plain_bases=frozenset(
        {"abc.ABC", "typing.Generic", "typing.Protocol", "typing.Iterable", "typing.Iterator"}
        | {"collections.abc.Iterable", "collections.abc.Iterator"}
    ),
    keeps_arguments=frozenset({"collections.defaultdict", "functools.partial", "list", "tuple", "dict"}),
    # Lib/collections/__init__.py: `self.data = list(initlist)`, `self.update(dict)`
    keeps_as_given=frozenset({"collections.UserList", "collections.UserDict"}),
    lists_arguments=frozenset({"collections.UserList", "list", "tuple"}),
    gives_argument=frozenset({"contextlib.closing"}),
    openers={"mmap.mmap": (Opener("a memory map", mapped="the memory map"),)},
    readers={
        "json.load": "records",
        "json.loads": "records",
        **dict.fromkeys(("xml.etree.ElementTree.parse", "xml.dom.minidom.parse"), "records"),
        "csv.reader": "records",
        "csv.DictReader": "records",
        **dict.fromkeys(("pickle.load", "pickle.loads", "_pickle.load", "cPickle.load"), "opaque"),
    },
    refusals={
        "csv.reader": _CSV,
        "csv.DictReader": _CSV,
        "os.scandir": Refusal("a directory iterator", instance("posix.ScandirIterator"), "iterator"),
        **dict.fromkeys(("types.GeneratorType", "glob.iglob", "os.walk"), GENERATOR),
        **dict.fromkeys((f"logging.{name}" for name in _HANDLERS), _LOG),
        "subprocess.Popen": Refusal("a child process", LOCK),
        **dict.fromkeys(("ssl.create_default_context", "ssl.SSLContext"), _SSL),
        "contextvars.ContextVar": Refusal("a context variable", instance("_contextvars.ContextVar"), "module"),
        "weakref.ref": _WEAK,
        "weakref.WeakValueDictionary": Refusal(
            "a weak dictionary", local("WeakValueDictionary.__init__.<locals>.remove"), "weak"
        ),
        "types.MappingProxyType": Refusal("a read-only view of a dict", instance("mappingproxy"), "view"),
        "mmap.mmap": Refusal("a memory map", instance("mmap.mmap")),
        **dict.fromkeys(("ctypes.pointer", "ctypes.c_char_p", "ctypes.c_void_p"), _POINTER),
        **dict.fromkeys(("ctypes.CDLL", "ctypes.cdll.LoadLibrary"), _LOADED),
    },
    run_time_classes=frozenset(
        {"collections.namedtuple", "typing.NamedTuple", "dataclasses.make_dataclass", "enum.Enum", "enum.IntEnum"}
    ),
    # CPython 3.14, `Modules/_functoolsmodule.c`, `lru_cache_reduce`; `functools.wraps`
    named_as_wrapped=frozenset({"functools.lru_cache", "functools.cache", "contextlib.contextmanager"}),
    tensor_functions={"copy.deepcopy": Operation(RELEASES, "torch.Tensor.__deepcopy__: a storage of its own")},
    positions=frozenset({"bisect", "bisect_left", "bisect_right", "floor", "ceil"}),
    unsplit_packages=frozenset(
        {"functools", "collections", "operator", "csv", "json", "pickle", "re", "math", "copy", "struct"}
    ),
    words=Words(
        in_workers=(b"mmap",), nearby=(b"partial", b"namedtuple(", b"lru_cache", b"OrderedDict)", b"__reduce__")
    ),
)
