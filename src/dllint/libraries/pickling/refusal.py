"""What pickling says to an object that it refuses, by the version of Python."""

from __future__ import annotations

from dataclasses import dataclass

Errors = tuple[tuple[tuple[int, int], str], ...]
"""What the exception says, class first, by the first Python that says so; `…` stands for what differs by case."""


@dataclass(frozen=True)
class Refusal:
    """What cannot be pickled.

    Attributes:
        what: the object in words, for "keeps …".
        errors: what Python says.
        remedy: the key of the remedy in the page of DLL203.
        forked_context: whether it fails only where a context of fork made it and another one starts the process.
    """

    what: str
    errors: Errors
    remedy: str = "main"
    forked_context: bool = False

    def error(self, python: tuple[int, int]) -> str:
        """What the given Python says."""
        return [text for since, text in self.errors if since <= python][-1]


def always(text: str) -> Errors:
    """The same words by every Python."""
    return (((3, 0), text),)


def stream(kind: str) -> Errors:
    """CPython 3.12 changed the words for the classes of `io` (Modules/_io/iobase.c)."""
    return ((3, 0), f"TypeError: cannot pickle '_io.{kind}' object"), (
        (3, 12),
        f"TypeError: cannot pickle '{kind}' instances",
    )


def instance(kind: str) -> Errors:
    """What pickle says to an object of a C class without a way to pickle it."""
    return always(f"TypeError: cannot pickle '{kind}' object")
