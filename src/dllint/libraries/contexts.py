"""Names of values that carry a multiprocessing context: in "multiprocessing[spawn].Process" it is from
`get_context("spawn")`, in "multiprocessing[?].Pool" its start method is unknown."""

from __future__ import annotations

import re

METHODS = ("fork", "spawn", "forkserver")
_CONTEXT = re.compile(r"(?:torch\.)?multiprocessing\[([^\]]*)\]")


def method_of(name: str) -> str | None:
    """The start method of the context in a name, "?" where it is unknown; None without a context."""
    found = _CONTEXT.match(name) if "[" in name else None
    return found[1] if found is not None else None


def known_method_of(name: str) -> str | None:
    """The same where it is one of `METHODS`."""
    method = method_of(name)
    return method if method in METHODS else None


def plain(name: str) -> str:
    """The name without a context: "multiprocessing.Process"."""
    return _CONTEXT.sub("multiprocessing", name) if "multiprocessing[" in name else name
