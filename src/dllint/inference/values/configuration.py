"""What command lines and configuration files give."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.inference.values.base import Value
from dllint.inference.values.frames import Frame
from dllint.linking.source import SourceFile


@dataclass(frozen=True)
class Parsed(Value):
    """What argparse's `parse_args` returned, in the activation `frame`. `parser` is what held the parser, as
    evaluated."""

    parser: Value
    file: SourceFile
    call: int
    frame: Frame | None = None


@dataclass(frozen=True)
class Data(Value):
    """A node of a configuration file. `pointer` is the way to it from the top."""

    path: str
    pointer: tuple[str | int, ...]
