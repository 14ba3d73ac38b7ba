"""The error texts of failures that data loading hazards cause, and the rules that each text points to.

The texts, here and on the rule pages, are those of CPython 3.10 to 3.14 and torch 2; the assignment to rules is
measured. Patterns are compiled when a run is judged, which a static check never does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dllint.catalog import pages


class Signature(NamedTuple):
    """An error text, the rules whose hazard causes it (most likely first), and its cause, as a clause."""

    pattern: re.Pattern[str]
    codes: tuple[str, ...]
    cause: str


@lru_cache(maxsize=1)
def signatures() -> tuple[Signature, ...]:
    """Return the error texts from the rule pages, sorted by code."""
    return tuple(
        Signature(re.compile(one.text, re.DOTALL), (page.code, *one.also), one.cause)
        for page in pages()
        for one in page.run.errors
    )


_PICKLING = (
    r"[Cc]an'?(?:t|not) (?:pickle|get local object)|cannot be pickled|no default __reduce__|not picklable"
    r"|SemLock created in a fork context|Pool objects cannot be passed|should only be shared between processes"
    r"|Can't pickle|PicklingError|pickling environments|ctypes objects containing pointers cannot be pickled"
    r"|does not support deepcopy|requires_grad, as autograd does not support crossing process boundaries"
)
_WORKER_DIED = r"DataLoader worker \(pid(?:\(s\))? [\d, ]+\) (?:exited unexpectedly|is killed by signal)"

_TIMED_OUT = r"DataLoader timed out after [\d.]+ seconds"
_PASSED_ON = r"^(?:\w+\.)*(?:ProcessRaisedException|ProcessExitedException|ChildFailedError|CalledProcessError)\b"


_EXHAUSTED = r"[Tt]oo many open files|\[Errno (?:23|24)\]|Communication with the workers is no longer possible"


def out_of_descriptors(text: str) -> bool:
    """Whether a process ran out of file descriptors: the object that it wanted to send is not at fault."""
    return bool(re.search(_EXHAUSTED, text))


def timed_out(text: str) -> bool:
    """Whether a loader's `timeout` expired; without it, this would have been a hang."""
    return bool(re.search(_TIMED_OUT, text))


def is_pickling(text: str) -> bool:
    """Whether a failure is one of pickling."""
    return bool(re.search(_PICKLING, text))


def worker_died(text: str) -> bool:
    """Whether a text reports only the death of a worker."""
    return bool(re.search(_WORKER_DIED, text))


def passed_on(text: str) -> bool:
    """Whether a process failed only because one that it had launched did; `text` starts with the exception's name.

    Covers `torch.multiprocessing.spawn`, torchrun, and `subprocess`.
    """
    return bool(re.search(_PASSED_ON, text))


def meaning(text: str) -> Signature | None:
    """Return the signature that matches the text of an exception and its traceback; `None` if no hazard explains it."""
    return next((one for one in signatures() if one.pattern.search(text)), None)
