"""concurrent.futures (docs.python.org, "concurrent.futures"; CPython, Lib/concurrent/futures/process.py)."""

from dllint.libraries.facets import LauncherApi, Library, PoolApi
from dllint.libraries.pickling import LOCK, Refusal, instance
from dllint.screen import Words

_PROCESSES = "concurrent.futures.ProcessPoolExecutor"
_THREADS = "concurrent.futures.ThreadPoolExecutor"

LIBRARY = Library(
    launchers={
        f"{_PROCESSES}().submit": LauncherApi("fn", ("fn",), args="*", method="executor"),
        f"{_PROCESSES}().map": LauncherApi("fn", ("fn",), args="zip", method="executor"),
    },
    pools={_PROCESSES: PoolApi("mp_context", context_at=1, initargs_at=3)},
    thread_executors=frozenset({_THREADS, "concurrent.futures.thread.ThreadPoolExecutor"}),
    refusals={
        _THREADS: Refusal("a thread pool", instance("_queue.SimpleQueue"), "pool"),
        _PROCESSES: Refusal("a process pool", LOCK, "pool"),
    },
    words=Words(nearby=(b"Executor",)),
)
