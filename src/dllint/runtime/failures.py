"""What a failure means: the exceptions that data loading hazards end in, by their text.

The texts are those of CPython 3.10 to 3.14 and torch 2; which rule's hazard each comes from is measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dllint.observation import Loader


@dataclass(frozen=True)
class Signature:
    """A text that a failure shows, the rules whose hazard ends so (likeliest first), and what happened, in a clause."""

    pattern: re.Pattern[str]
    codes: tuple[str, ...]
    cause: str


def _signature(pattern: str, codes: str, cause: str) -> Signature:
    return Signature(re.compile(pattern, re.DOTALL), tuple(codes.split()), cause)


SIGNATURES: tuple[Signature, ...] = (
    _signature(
        r"daemonic processes are not allowed to have children",
        "DLL104",
        "a loader with workers runs in a daemonic process, which may start none",
    ),
    _signature(
        r"before the\s+current process has finished its bootstrapping phase",
        "DLL102",
        "a child imports the main module again, and that starts processes anew without a main guard",
    ),
    _signature(
        r"context has already been set", "DLL105", "the start method was fixed before set_start_method was called"
    ),
    _signature(
        r"Cannot re-initialize CUDA in forked subprocess",
        "DLL103 DLL106",
        "a forked process uses CUDA after its parent did",
    ),
    _signature(
        r"unable to resize file <filename not specified>",
        "DLL206",
        "a tensor that was made while pickling is gone before the worker gets it",
    ),
    _signature(
        # Before torch 2.4 (pytorch pull request 126271) a generator was refused; since then its state is that tensor.
        r"cannot pickle 'torch\._C\.Generator' object",
        "DLL206",
        "a torch.Generator cannot be sent to a worker",
    ),
    _signature(
        r"too many fds|OSError:? \[Errno 22\] Invalid argument.*sendfds|sendfds.*Invalid argument",
        "DLL303",
        "a forkserver takes 253 descriptors at once, and each tensor storage of the dataset is one",
    ),
    _signature(
        r"Too many open files|unable to open shared memory object|received \d+ items of ancdata",
        "DLL303 DLL306",
        "each tensor storage that is sent or kept holds a file descriptor, and no more are allowed",
    ),
    _signature(
        r"unable to mmap \d+ bytes|unable to mmap.*Cannot allocate memory|can't start new thread",
        "DLL303 DLL306",
        "each tensor storage holds a memory map, and no more are allowed",
    ),
    _signature(
        r"unable to allocate shared memory|No space left on device.*shm|[Bb]us error.*shared memory"
        r"|insufficient shared memory",
        "DLL307 DLL303",
        "/dev/shm is full",
    ),
    _signature(
        r"ReadersFullError|MDB_READERS_FULL|BadRslotError|MDB_BAD_RSLOT|BadZipFile|Bad CRC-32|image file is truncated",
        "DLL402",
        "processes use one handle that was opened before they were forked",
    ),
    _signature(
        r"persistent_workers option needs num_workers|prefetch_factor option could only be specified"
        r"|multiprocessing_context can only be used with multi-process|timeout option should be non-negative"
        r"|prefetch_factor option should be non-negative",
        "DLL605",
        "an option for workers is given to a loader without workers",
    ),
    _signature(
        r"'function' object has no attribute '(?:Empty|Full)'",
        "DLL608",
        "Empty and Full are looked up on mp.Queue, which is a function; they belong to the module queue",
    ),
    _signature(
        r"'SimpleQueue' object has no attribute '(?:get_nowait|put_nowait|qsize)'|SimpleQueue.*unexpected keyword",
        "DLL608",
        "SimpleQueue has no such method",
    ),
    _signature(r"RemoteError.*'int' object is not iterable", "DLL608", "Manager().Array takes a sequence, not a size"),
    _signature(
        r"Can't get attribute '\w+' on <module '__m(?:p_)?main__'",
        "DLL202 DLL102",
        "a class or function that exists only under the main guard or in the parent is looked up in a worker",
    ),
)
_PICKLING = re.compile(
    r"[Cc]an'?(?:t|not) (?:pickle|get local object)|cannot be pickled|no default __reduce__|not picklable"
    r"|SemLock created in a fork context|Pool objects cannot be passed|should only be shared between processes"
    r"|Can't pickle|PicklingError|pickling environments|ctypes objects containing pointers cannot be pickled"
    r"|does not support deepcopy|requires_grad, as autograd does not support crossing process boundaries"
)
_WORKER_DIED = re.compile(r"DataLoader worker \(pid(?:\(s\))? [\d, ]+\) (?:exited unexpectedly|is killed by signal)")

_TIMED_OUT = re.compile(r"DataLoader timed out after [\d.]+ seconds")
_PASSED_ON = re.compile(
    r"^(?:\w+\.)*(?:ProcessRaisedException|ProcessExitedException|ChildFailedError|CalledProcessError)\b"
)


def timed_out(text: str) -> bool:
    """Whether a loader gave up waiting, which without its `timeout` would have been a hang."""
    return bool(_TIMED_OUT.search(text))


def is_pickling(text: str) -> bool:
    """Whether a failure is one of pickling."""
    return bool(_PICKLING.search(text))


def worker_died(text: str) -> bool:
    """Whether all that is known is that a worker is gone."""
    return bool(_WORKER_DIED.search(text))


def passed_on(text: str) -> bool:
    """Whether a process died only because one that it had launched did: `text` starts with the exception's name.

    Those of `torch.multiprocessing.spawn`, of torchrun, and of `subprocess`.
    """
    return bool(_PASSED_ON.search(text))


def pickling_code(text: str, loader: Loader | None = None) -> str:
    """The rule about what cannot be pickled: a callable of the loader, a lambda, a local object, or another object."""
    if loader is not None:
        for argument in ("collate_fn", "worker_init_fn"):
            name = str(loader.arguments.get(argument) or "")
            if "<" in name and name.rpartition(":")[2].removeprefix("__main__.") in text:
                return "DLL204"
    if "<lambda>" in text:
        return "DLL201"
    if "<locals>" in text or "attribute lookup" in text or "not the same object" in text:
        return "DLL202"
    return "DLL203"


def meaning(text: str) -> Signature | None:
    """What a failure comes from, by the text of its exception and traceback; `None` where it is nothing of ours."""
    return next((one for one in SIGNATURES if one.pattern.search(text)), None)
