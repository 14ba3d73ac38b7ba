"""threading and queue (docs.python.org), and the locks of filelock 4.2."""

from dllint.libraries.facets import Library
from dllint.libraries.hook_facets import Hooks
from dllint.libraries.pickling import LOCK, RLOCK, Refusal, instance, since
from dllint.screen import Words

_LOCK = Refusal("a lock", LOCK, "lock")
_FILE_LOCK = Refusal("a file lock", RLOCK, "lock")
_QUEUE = Refusal("a queue", LOCK, "lock")
_THREAD = Refusal(
    "a thread",
    since(
        (3, 13),
        "TypeError: cannot pickle '_thread.lock' object",
        "TypeError: cannot pickle '_thread._ThreadHandle' object",
    ),
    "lock",
)

LIBRARY = Library(
    locks=frozenset({"threading.Lock", "threading.RLock"}),
    refusals={
        **dict.fromkeys(("threading.Lock", "threading.Semaphore", "threading.BoundedSemaphore"), _LOCK),
        "threading.RLock": Refusal("a lock", RLOCK, "lock"),
        "threading.Condition": Refusal("a condition", RLOCK, "lock"),
        "threading.Event": Refusal("an event", LOCK, "lock"),
        "threading.Barrier": Refusal("a barrier", LOCK, "lock"),
        **dict.fromkeys(("threading.Thread", "threading.Timer"), _THREAD),
        "threading.local": Refusal("a thread-local object", instance("_thread._local"), "lock"),
        **dict.fromkeys(("queue.Queue", "queue.LifoQueue", "queue.PriorityQueue"), _QUEUE),
        **dict.fromkeys(("filelock.FileLock", "filelock.SoftFileLock", "filelock.UnixFileLock"), _FILE_LOCK),
        "queue.SimpleQueue": Refusal("a queue", instance("_queue.SimpleQueue"), "lock"),
    },
    # A thread whose class is the project's; the function that `Thread(target=…)` receives needs no entry.
    hooks={"threading.Thread": Hooks(("start",), ("run",))},
    words=Words(nearby=(b"Thread", b"Lock(", b"Queue(")),
)
