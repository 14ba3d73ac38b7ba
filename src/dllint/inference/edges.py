"""Edges of the call graph: which functions a call can run, and which calls can run a function."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dllint.inference.values import Actuals, Frame, Function
from dllint.linking.source import SourceFile


class Given(NamedTuple):
    """A call with what it hands over. `actuals` are the arguments where they are not those that the call writes: of a
    call through a partial, or of a process; `key` then tells the activations apart."""

    file: SourceFile
    call: int
    frame: Frame | None
    actuals: Actuals | None = None
    key: tuple[object, ...] = ()


class Target(NamedTuple):
    """A function that a call can run, with its activation."""

    function: Function
    frame: Frame


class Targets(list[Target]):
    """The functions that a call can run, in order. `keys` are theirs, for those who ask after one function."""

    @cached_property
    def keys(self) -> frozenset[tuple[str, int]]:
        return frozenset(target.function.key for target in self)


class Caller(NamedTuple):
    """A call (or launch) that can run a function."""

    file: SourceFile
    call: int
    frame: Frame


NOTHING = Targets()
