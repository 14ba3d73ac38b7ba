"""Counts the storages and bytes that pickling a dataset for spawned workers would need, without allocating them.

Pickling a tensor for another process moves its storage into shared memory: a descriptor, a memory map and whole pages
of /dev/shm for each storage, in the parent and in every worker. `count` traverses objects like the real pickler, with
three things replaced: a storage is counted instead of moved, the process being spawned is a stand-in (so that locks and
queues pickle without a resource sharer), and output is only measured. It opens no descriptor, creates no map and starts
no thread. `__getstate__` and `__reduce__` of the user's objects do run, so it runs in a throwaway fork of the user's
process (`trials.counted`).

    | strategy        | fds per storage of n bytes | maps | bytes of /dev/shm     |
    |-----------------|----------------------------|------|-----------------------|
    | file_descriptor | 1 (none when empty)        | 1    | n rounded up to pages |
    | file_system     | 0                          | 1    | n + 64 likewise       |

(measured with torch 2.13; torch/multiprocessing/reductions.py, aten/src/ATen/MapAllocator.cpp)
"""

from __future__ import annotations

import mmap
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import context
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal

Strategy = Literal["file_descriptor", "file_system"]
STRATEGIES: tuple[Strategy, ...] = ("file_descriptor", "file_system")

# at::RefcountedMapAllocator stores a reference count of 64 bytes (map_alloc_alignment) before the data.
_HEADER = {"file_descriptor": 0, "file_system": 64}


@dataclass
class Storages:
    """The storages and bytes that starting one worker pickles.

    Attributes:
        storages: number of distinct storages.
        empty: those without any bytes.
        references: how often storages are written (equal to `storages`, except with torch 2.0, which creates a new
            object each time).
        shared: those already in shared memory.
        temporary: those that pickling itself created and nothing else holds: they are gone before a worker receives
            them, and it dies.
        storage_bytes: their total size.
        shm_bytes: bytes of /dev/shm that they take, by sharing strategy.
        elsewhere: number of tensors that are not in main memory.
        handles: descriptors that the objects themselves carry, such as queues and pipes.
        pickled_bytes: bytes that go through the pipe, including those of NumPy arrays, but not storages.
        arrays: number of NumPy arrays.
        array_bytes: their total size.
    """

    storages: int = 0
    empty: int = 0
    references: int = 0
    shared: int = 0
    temporary: int = 0
    storage_bytes: int = 0
    shm_bytes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STRATEGIES, 0))
    elsewhere: int = 0
    handles: int = 0
    pickled_bytes: int = 0
    arrays: int = 0
    array_bytes: int = 0

    def descriptors(self, strategy: Strategy) -> int:
        """Return how many descriptors the parent will hold for them, and each worker as well."""
        return self.storages - self.empty if strategy == "file_descriptor" else 0

    def maps(self, strategy: Strategy) -> int:
        return self.storages - self.empty if strategy == "file_descriptor" else self.storages


class _Sink:
    """A file that discards its input and counts its length."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: Any) -> int:
        size = data.nbytes if isinstance(data, memoryview) else len(data)
        self.size += size
        return int(size)


class _Spawning:
    """A stand-in for the process being spawned: accepts descriptors without keeping them."""

    class DupFd:
        def __init__(self, fd: int) -> None:
            self.fd = fd

    def __init__(self) -> None:
        self.handles = 0

    def duplicate_for_child(self, fd: int) -> int:
        self.handles += 1
        return fd


class _Counter(ForkingPickler):
    def __init__(self, sink: _Sink, spawning: _Spawning) -> None:
        super().__init__(sink, None)
        self.counted = Storages()
        self._seen: dict[int, Any] = {}
        self._reducers: dict[type, Callable[[Any], Any]] = {}
        self._spawning = spawning

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        reduce = self._reducers.get(kind)
        if reduce is None:
            reduce = self._reducers[kind] = self._reducer(kind)
        return reduce(obj)

    def _reducer(self, kind: type) -> Callable[[Any], Any]:
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None and issubclass(kind, torch.UntypedStorage):
            return self._storage
        if torch is not None and issubclass(kind, torch.Tensor):
            return self._tensor
        if numpy is not None and issubclass(kind, numpy.ndarray):
            plain = numpy.ndarray
            if kind.__reduce__ is plain.__reduce__ and kind.__reduce_ex__ is plain.__reduce_ex__:
                return self._array
        return _unchanged

    def _storage(self, storage: Any) -> Any:
        counted, size = self.counted, int(storage.nbytes())
        counted.references += 1
        identity = storage._cdata
        if identity not in self._seen:
            # Kept alive, so that the address of a storage created by pickling is not reused for another.
            self._seen[identity] = storage
            counted.storages += 1
            counted.empty += not size
            counted.storage_bytes += size
            if storage.is_shared():
                counted.shared += 1
            else:
                for strategy in STRATEGIES:
                    needed = size + _HEADER[strategy]
                    counted.shm_bytes[strategy] += page_bytes(needed)
        # As long as the real pickler's output for a storage.
        return _rebuild, (type(storage), self._spawning.DupFd(counted.references), size)

    def temporary(self) -> int:
        """Return the number of storages that only the pickler's memo keeps alive."""
        if not self._seen:
            return 0
        from torch.multiprocessing.reductions import StorageWeakRef

        watched = [StorageWeakRef(storage) for storage in self._seen.values()]
        self._seen.clear()
        self.clear_memo()
        return sum(reference.expired() for reference in watched)

    def _tensor(self, tensor: Any) -> Any:
        """Count a tensor on a device without asking for its handle, which would need that device."""
        if tensor.device.type in ("cpu", "meta") or (tensor.requires_grad and not tensor.is_leaf):
            return NotImplemented
        self.counted.elsewhere += 1
        return _rebuild, (type(tensor), tuple(tensor.shape), str(tensor.device))

    def _array(self, array: Any) -> Any:
        """Count an array without copying it. An array of objects may contain tensors, so it is traversed."""
        if array.dtype.hasobject:
            return NotImplemented
        self.counted.arrays += 1
        self.counted.array_bytes += int(array.nbytes)
        return _rebuild, (type(array), array.shape, array.dtype)


def _unchanged(obj: object) -> Any:
    return NotImplemented


def _rebuild(*arguments: object) -> None:
    """Placeholder for the real functions in the pickle; nothing is ever unpickled."""


def count(objects: object) -> Storages:
    """Count what pickling `objects` for a spawned process takes, for all sharing strategies.

    Args:
        objects: `(dataset, collate_fn, worker_init_fn)` of a loader.

    Raises:
        Exception: any exception of pickling itself.
    """
    sink, spawning = _Sink(), _Spawning()
    counter = _Counter(sink, spawning)
    before = context.get_spawning_popen()
    context.set_spawning_popen(spawning)  # type: ignore[arg-type]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            counter.dump(objects)
    finally:
        context.set_spawning_popen(before)
    counted = counter.counted
    counted.handles = spawning.handles
    counted.temporary = counter.temporary()
    counted.pickled_bytes = sink.size + counted.array_bytes
    return counted


def page_bytes(size: int) -> int:
    """Return a size rounded up to pages, as it counts in /dev/shm."""
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
