"""Names of values that carry a multiprocessing context: "multiprocessing[spawn].Process" comes from
`get_context("spawn")`; in "multiprocessing[?].Pool" the start method is unknown."""

from __future__ import annotations

import re

METHODS = ("fork", "spawn", "forkserver")
_CONTEXT = re.compile(r"(?:torch\.)?multiprocess(?:ing)?\[([^\]]*)\]")
_APART = ("multiprocess",)
"""Packages that copy multiprocessing with its contexts: `set_start_method` of one changes nothing for processes of
multiprocessing, nor the other way round (multiprocess 0.70, `multiprocess/context.py`)."""


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
    return _CONTEXT.sub("multiprocessing", name) if "[" in name and "multiprocess" in name else name


def package_of(name: str) -> str:
    """Return the package that a name belongs to, if it has contexts for itself: "multiprocess". "" for multiprocessing,
    whose contexts torch's loaders use, and all others."""
    root = name.partition(".")[0].partition("[")[0]
    return root if root in _APART else ""
