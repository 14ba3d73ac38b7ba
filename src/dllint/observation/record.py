"""The base class of all records of a run, and their JSON form."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from typing import Any

from dllint.span import Span

KINDS: dict[str, type[Record]] = {}
"""The record classes by the kind in a line."""


@dataclass(frozen=True)
class Site:
    """The position of a call in the user's code. Lines and columns as in `Span`; no columns before Python 3.11."""

    path: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    function: str = ""

    @property
    def span(self) -> Span | None:
        """The span of the call, equal to a static finding's at the same call; `None` if only the line is known."""
        if self.column is None or self.end_line is None or self.end_column is None:
            return None
        return Span(self.line, self.column, self.end_line, self.end_column)


@dataclass(frozen=True)
class Record:
    """The fields of all records: the process (the writer, unless stated otherwise) and the time."""

    kind: typing.ClassVar[str] = ""
    pid: int
    t: float

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        KINDS[kind] = cls

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object without fields that have their default."""
        told: dict[str, Any] = {"kind": self.kind}
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if one.default is dataclasses.MISSING or value != one.default:
                told[one.name] = _told(value)
        return told


def _told(value: Any) -> Any:
    if isinstance(value, Site):
        return {name: one for name, one in dataclasses.asdict(value).items() if one is not None}
    return [_told(one) for one in value] if isinstance(value, tuple) else value
