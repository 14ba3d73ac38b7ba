"""Counts the storages and bytes that pickling a dataset for spawned workers would need, without allocating them.

Pickling a tensor for another process moves its storage into shared memory: a descriptor, a memory map and whole pages
of /dev/shm for each storage, in the parent and in every worker alike. `count` walks the same way as the real pickler,
with three things replaced: a storage is counted instead of moved, the process being spawned is a stand-in (so that
locks and queues pickle without a resource sharer), and what would be written is only measured. It opens no
descriptor, makes no map and starts no thread. `__getstate__` and `__reduce__` of the user's objects do run, so it runs
in a throwaway fork of the user's process (`trials.counted`).

| strategy        | a storage of n bytes: fd | map | bytes of /dev/shm     |
|-----------------|--------------------------|-----|-----------------------|
| file_descriptor | 1 (none when empty)      | 1   | n rounded up to pages |
| file_system     | 0                        | 1   | n + 64 likewise       |

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

# at::RefcountedMapAllocator keeps a reference count of 64 bytes (map_alloc_alignment) before the data.
_HEADER = {"file_descriptor": 0, "file_system": 64}


@dataclass
class Storages:
    """The storages and bytes that starting one worker pickles.

    `storages` counts each storage once, `empty` those of them without a byte, `references` every time that one is
    written (the same, but for torch 2.0, which makes a new object for it each time), `shared` those that lie in shared
    memory already, `temporary` those that pickling itself made and that nothing holds: they are gone before a worker
    takes them, and it dies. `elsewhere` are tensors that are not in main memory. `handles` are descriptors that the
    objects themselves carry, as queues and pipes do. `pickled_bytes` is what goes through the pipe, `array_bytes` of
    NumPy arrays included; storages do not.
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
        """Descriptors that the parent will hold for them, and each worker as well."""
        return self.storages - self.empty if strategy == "file_descriptor" else 0

    def maps(self, strategy: Strategy) -> int:
        return self.storages - self.empty if strategy == "file_descriptor" else self.storages


class _Sink:
    """A file that discards what is written and counts its length."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: Any) -> int:
        size = data.nbytes if isinstance(data, memoryview) else len(data)
        self.size += size
        return int(size)


class _Spawning:
    """Stands in for the process that is being spawned: accepts descriptors and does not keep them."""

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
            # Kept, so that the address of a storage that pickling made cannot come back as another's.
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
        # As long as what the real pickler writes for a storage.
        return _rebuild, (type(storage), self._spawning.DupFd(counted.references), size)

    def temporary(self) -> int:
        """How many storages end with the pickler: nothing but its memo holds them."""
        if not self._seen:
            return 0
        from torch.multiprocessing.reductions import StorageWeakRef

        watched = [StorageWeakRef(storage) for storage in self._seen.values()]
        self._seen.clear()
        self.clear_memo()
        return sum(reference.expired() for reference in watched)

    def _tensor(self, tensor: Any) -> Any:
        """A tensor on a device: asking for its handle would need that device, so it is only noted."""
        if tensor.device.type in ("cpu", "meta") or (tensor.requires_grad and not tensor.is_leaf):
            return NotImplemented
        self.counted.elsewhere += 1
        return _rebuild, (type(tensor), tuple(tensor.shape), str(tensor.device))

    def _array(self, array: Any) -> Any:
        """Numbers are not copied just to be measured; an array of objects may hold tensors, so it is walked."""
        if array.dtype.hasobject:
            return NotImplemented
        self.counted.arrays += 1
        self.counted.array_bytes += int(array.nbytes)
        return _rebuild, (type(array), array.shape, array.dtype)


def _unchanged(obj: object) -> Any:
    return NotImplemented


def _rebuild(*arguments: object) -> None:
    """Named in place of the real functions; nothing is ever unpickled."""


def count(objects: object) -> Storages:
    """What pickling `objects` for a spawned process takes, whatever the sharing strategy.

    Args:
        objects: `(dataset, collate_fn, worker_init_fn)` of a loader.

    Raises:
        Exception: what pickling itself raises.
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
    """A size as it counts in /dev/shm."""
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
