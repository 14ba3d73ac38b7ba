"""multiprocessing (docs.python.org; CPython 3.14, Lib/multiprocessing/context.py, queues.py, pool.py), and
`multiprocess`, which has the same API."""

from dllint.libraries.facets import LauncherApi, Library, PoolApi
from dllint.libraries.pickling import Refusal, always, instance
from dllint.screen import Words

FIXES_DEFAULT = frozenset(
    f"multiprocessing.{name}"
    for name in (
        *("Queue", "JoinableQueue", "SimpleQueue", "Lock", "RLock", "Semaphore", "BoundedSemaphore", "Event"),
        *("Condition", "Barrier", "Value", "Array", "Pool", "Manager", "set_start_method"),
    )
)
"""Calls after which the default start method can no longer be set without `force`: they call
`DefaultContext.get_context()`, which fixes it (CPython, `multiprocessing/context.py`). `get_start_method()` and
`get_context()` do so depending on their arguments; `Pipe`, `Process(…)` before its start, `RawValue` and `RawArray` do
not."""

SIMPLE_QUEUE: dict[str, frozenset[str] | None] = {
    "get_nowait": None,
    "put_nowait": None,
    "qsize": None,
    "full": None,
    "join": None,
    "task_done": None,
    "get": frozenset({"block", "timeout"}),
    "put": frozenset({"block", "timeout"}),
}
"""Members that `multiprocessing.SimpleQueue` lacks (None), and arguments that its methods do not take (CPython,
Lib/multiprocessing/queues.py: it has only `get()`, `put(obj)`, `empty()` and `close()`)."""

_PROCESS = ("group", "target", "name", "args", "kwargs")
_EACH = LauncherApi("func", ("func", "iterable"), args="each", method="pool", daemonic=True)
_UNPACKED = _EACH._replace(args="unpacked")
_ONCE = LauncherApi("func", ("func", "args", "kwds"), kwargs="kwds", method="pool", daemonic=True)
_SEMAPHORE = always(
    "RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context. "
    "This is not supported. Please use the same context to create multiprocessing objects and Process."
)
_SYNCHRONISERS = ("Lock", "RLock", "Event", "Condition", "Semaphore", "BoundedSemaphore", "Barrier")
_POOL = Refusal(
    "a pool", always("NotImplementedError: pool objects cannot be passed between processes or pickled"), "pool"
)


def _of_a_context(what: str, *names: str, lock: bool = False) -> dict[str, Refusal]:
    refusal = Refusal(f"{what} of a fork context", _SEMAPHORE, "context", forked_context=True, lock=lock)
    return {f"multiprocessing.{name}": refusal for name in names}


_INITIALIZED = LauncherApi(
    "initializer",
    ("processes", "initializer", "initargs", "maxtasksperchild", "context"),
    args="initargs",
    method="=context",
    daemonic=True,
    optional=True,
)

LIBRARY = Library(
    aliases={
        "multiprocessing.process.Process": "multiprocessing.Process",
        "multiprocessing.context.Process": "multiprocessing.Process",
        "multiprocessing.context.SpawnProcess": "multiprocessing.SpawnProcess",
        "multiprocessing.context.ForkProcess": "multiprocessing.ForkProcess",
        "multiprocessing.context.ForkServerProcess": "multiprocessing.ForkServerProcess",
        "multiprocessing.pool.Pool": "multiprocessing.Pool",
        "multiprocessing.context.get_context": "multiprocessing.get_context",
        "multiprocessing.sharedctypes.Array": "multiprocessing.Array",
        "multiprocessing.sharedctypes.RawArray": "multiprocessing.RawArray",
    },
    renamed={"multiprocess.": "multiprocessing."},
    exports=frozenset({"multiprocessing.set_start_method", "multiprocessing.get_context", "multiprocessing.Pool"}),
    launchers={
        "multiprocessing.Process": LauncherApi("target", _PROCESS),
        "multiprocessing.SpawnProcess": LauncherApi("target", _PROCESS, method="spawn"),
        "multiprocessing.ForkProcess": LauncherApi("target", _PROCESS, method="fork"),
        "multiprocessing.ForkServerProcess": LauncherApi("target", _PROCESS, method="forkserver"),
        **{f"multiprocessing.Pool().{name}": _EACH for name in ("map", "imap", "imap_unordered", "map_async")},
        **{f"multiprocessing.Pool().{name}": _UNPACKED for name in ("starmap", "starmap_async")},
        "multiprocessing.Pool": _INITIALIZED,
        "multiprocessing.Pool().apply": _ONCE,
        "multiprocessing.Pool().apply_async": _ONCE,
    },
    pools={"multiprocessing.Pool": PoolApi("context", context_at=4, initargs_at=2)},
    thread_pools=frozenset({"multiprocessing.Pool", "multiprocessing.pool.ThreadPool"}),
    locks=frozenset({"multiprocessing.Lock", "multiprocessing.RLock"}),
    refusals={
        **dict.fromkeys(
            ("multiprocessing.Pool", "multiprocessing.pool.ThreadPool", "multiprocessing.ThreadPool"), _POOL
        ),
        **_of_a_context("a multiprocessing lock", *_SYNCHRONISERS),
        **_of_a_context("a multiprocessing queue", "Queue", "JoinableQueue", "SimpleQueue"),
        **_of_a_context("a shared value", "Value", "Array", lock=True),
        "multiprocessing.Manager": Refusal("a multiprocessing manager", instance("weakref.ReferenceType"), "manager"),
    },
    replaces_pickle=frozenset({"multiprocess"}),
    words=Words(launching=(b"multiprocessing", b"set_start_method", b"get_context")),
)
