"""Modules of the project, and names from outside the project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dllint.inference.values.base import Value


@dataclass(frozen=True)
class Module(Value):
    """A file of the project."""

    path: str


COLUMN_MARK = "[,]"
"""In the name of an `External`: one column of a table or of an array, whereas "[:]" is any other slice."""
PICK_MARK = "[*]"
"""In the name of an `External`: an index that may name several positions by a list or an array. The result is a copy of
an array in memory, whereas "[:]" is a view of it."""


@dataclass(frozen=True, eq=False, init=False)
class External(Value):
    """Anything reached through a name from outside the project: "torch.utils.data.DataLoader"."""

    name: str
    plain: Any = field(repr=False)

    _all: ClassVar[dict[str, External]] = {}

    def __new__(cls, name: str) -> External:
        """Return the unique External of a name."""
        found = cls._all.get(name)
        if found is None:
            found = cls._all[name] = object.__new__(cls)
            vars(found).update(name=name, plain=None)
        return found
