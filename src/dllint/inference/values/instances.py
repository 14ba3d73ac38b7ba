"""Instances of classes, by the call that creates them."""

from __future__ import annotations

from dataclasses import dataclass

from dllint.inference.values.base import Value, store
from dllint.inference.values.classes import Class
from dllint.inference.values.externals import External
from dllint.inference.values.frames import Frame
from dllint.inference.values.partials import Partial
from dllint.linking.source import SourceFile


@dataclass(frozen=True, eq=False, init=False, slots=True)
class Instance(Value):
    """An object of a class. `by` is the partial through which the call creates it.

    `call` is -1 for "any instance of the class" (a method's own `self`); `file` and `frame` are None then.
    """

    of: Class | External
    file: SourceFile | None
    call: int
    frame: Frame | None
    by: Partial | None

    def __new__(
        cls,
        of: Class | External,
        file: SourceFile | None = None,
        call: int = -1,
        frame: Frame | None = None,
        by: Partial | None = None,
    ) -> Instance:
        """Return the unique Instance of these parts."""
        parts = (Instance, of, call, frame, by)
        found: Instance | None = of.plain if file is None else file.interned.get(parts)
        if found is None:
            found = object.__new__(cls)
            store(found, of=of, file=file, call=call, frame=frame, by=by)
            if file is None:
                store(of, plain=found)
            else:
                file.interned[parts] = found
        return found

    @property
    def nesting(self) -> int:
        return 1 + (self.frame.nesting if self.frame is not None else 0)
