"""Names of values that carry a multiprocessing context: "multiprocessing[spawn].Process" comes from
`get_context("spawn")`; in "multiprocessing[?].Pool" the start method is unknown."""

from __future__ import annotations

import re

METHODS = ("fork", "spawn", "forkserver")
_CONTEXT = re.compile(r"(?:torch\.)?multiprocessing\[([^\]]*)\]")


def method_of(name: str) -> str | None:
    """Return the start method of the context in a name: "?" if it is unknown, None if the name has no context."""
    found = _CONTEXT.match(name) if "[" in name else None
    return found[1] if found is not None else None


def known_method_of(name: str) -> str | None:
    """Return the start method of the context in a name if it is one of `METHODS`, else None."""
    method = method_of(name)
    return method if method in METHODS else None


def plain(name: str) -> str:
    """Return the name without its context: "multiprocessing.Process"."""
    return _CONTEXT.sub("multiprocessing", name) if "multiprocessing[" in name else name
