"""Partials of functions."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.inference.values.base import Value
from dllint.inference.values.frames import Frame
from dllint.linking.source import SourceFile


@dataclass(frozen=True)
class Partial(Value):
    """The result of `functools.partial(function, …)`."""

    function: Value
    file: SourceFile
    call: int
    frame: Frame | None

    @property
    def plain(self) -> Value:
        """The innermost function, if partials are nested."""
        return self.function.plain if isinstance(self.function, Partial) else self.function
