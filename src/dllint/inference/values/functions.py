"""Functions, lambdas and bound methods of the project."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.inference.values.base import Value, store
from dllint.inference.values.frames import Frame
from dllint.linking.source import SourceFile


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Function(Value):
    """A function, lambda or bound method. `frame` is the activation of the enclosing function, whose names it reads."""

    file: SourceFile
    scope: int
    receiver: Value | None
    frame: Frame | None
    name: str
    key: tuple[str, int]

    def __new__(
        cls, file: SourceFile, scope: int, receiver: Value | None = None, frame: Frame | None = None
    ) -> Function:
        """Return the unique Function of these parts."""
        parts = (Function, scope, receiver, frame)
        found: Function | None = file.interned.get(parts)
        if found is None:
            found = file.interned[parts] = object.__new__(cls)
            name, key = file.scopes[scope].name, (file.path, scope)
            store(found, file=file, scope=scope, receiver=receiver, frame=frame, name=name, key=key)
        return found

    def bound_to(self, receiver: Value | None) -> Function:
        """Return the function bound to an object or a class."""
        return Function(self.file, self.scope, receiver, self.frame)
