"""Edges of the call graph: the functions that a call can run, and the calls that can run a function."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dllint.inference.values import Actuals, Frame, Function
from dllint.linking.source import SourceFile


class Given(NamedTuple):
    """A call with its arguments.

    Attributes:
        call: its index in the file; -1 for a call that the project does not write, as a worker's of `worker_init_fn`.
        actuals: the arguments if they differ from those that the call writes: for a call through a partial, or of a
            process.
        key: distinguishes the activations of such calls.
    """

    file: SourceFile
    call: int
    frame: Frame | None
    actuals: Actuals | None = None
    key: tuple[object, ...] = ()


class Target(NamedTuple):
    """A function that a call can run, with its activation. `guessed`: a method found by name alone, as its object is
    unknown."""

    function: Function
    frame: Frame
    guessed: bool = False


class Targets(list[Target]):
    """The functions that a call can run, in order. `keys` is the set of their keys, for fast membership tests."""

    @cached_property
    def keys(self) -> frozenset[tuple[str, int]]:
        return frozenset(target.function.key for target in self)


class Caller(NamedTuple):
    """A call (or launch) that can run a function. `guessed` as in `Target`."""

    file: SourceFile
    call: int
    frame: Frame
    guessed: bool = False


NOTHING = Targets()
