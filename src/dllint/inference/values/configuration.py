"""Values from command lines and configuration files."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.inference.values.base import Value
from dllint.inference.values.frames import Frame
from dllint.linking.source import SourceFile


@dataclass(frozen=True)
class Parsed(Value):
    """The result of argparse's `parse_args`, in the activation `frame`. `parser` is the value of the parser."""

    parser: Value
    file: SourceFile
    call: int
    frame: Frame | None = None


COMPOSED = "hydra:"
"""Prefix of the path of a configuration that hydra composes; its directory, "//", and the name of its main file
follow. There is no name if the command line chooses the file."""


@dataclass(frozen=True)
class Data(Value):
    """A node of a configuration file. `pointer` is its path from the top."""

    path: str
    pointer: tuple[str | int, ...]

    @property
    def composed(self) -> bool:
        """Whether hydra composes it from several files and the command line."""
        return self.path.startswith(COMPOSED)

    @property
    def file(self) -> str:
        """The path of the file, or of the main file."""
        return self.path.removeprefix(COMPOSED).replace("//", "/") if self.composed else self.path
