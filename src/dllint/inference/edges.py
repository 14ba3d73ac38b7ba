"""Edges of the call graph: which functions a call can run, and which calls can run a function."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dllint.inference.values import Frame, Function
from dllint.linking.source import SourceFile


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
