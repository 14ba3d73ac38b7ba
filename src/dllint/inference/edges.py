"""Edges of the call graph: the functions that a call can run, and the calls that can run a function."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dllint.inference.values import Actuals, Frame, Function
from dllint.linking.source import SourceFile


class Given(NamedTuple):
    """A call with its arguments. `actuals` are the arguments where they are not those that the call writes: of a
    call through a partial, or of a process; `key` then tells the activations apart."""

    file: SourceFile
    call: int
    frame: Frame | None
    actuals: Actuals | None = None
    key: tuple[object, ...] = ()


class Target(NamedTuple):
    """A function that a call can run, with its activation. `guessed`: a method of an object of which nothing is known,
    found by its name alone."""

    function: Function
    frame: Frame
    guessed: bool = False


class Targets(list[Target]):
    """The functions that a call can run, in order. `keys` are theirs, for those who ask after one function."""

    @cached_property
    def keys(self) -> frozenset[tuple[str, int]]:
        return frozenset(target.function.key for target in self)


class Caller(NamedTuple):
    """A call (or launch) that can run a function. `guessed` as of a `Target`."""

    file: SourceFile
    call: int
    frame: Frame
    guessed: bool = False


NOTHING = Targets()
