"""Classes of the project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dllint.inference.values.base import Value, store
from dllint.inference.values.frames import Frame
from dllint.linking.source import SourceFile


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Class(Value):
    """A class of the project. `plain` is the one Instance that stands for any object of the class."""

    file: SourceFile
    scope: int
    name: str
    key: tuple[str, int]
    plain: Any = field(repr=False)

    def __new__(cls, file: SourceFile, scope: int) -> Class:
        """Return the unique Class of a definition."""
        found: Class | None = file.interned.get((Class, scope))
        if found is None:
            found = file.interned[Class, scope] = object.__new__(cls)
            store(found, file=file, scope=scope, name=file.scopes[scope].name, key=(file.path, scope), plain=None)
        return found


@dataclass(frozen=True)
class Super(Value):
    """The value of `super()` in a method of `cls`."""

    cls: Class
    receiver: Value | None
    frame: Frame | None
