"""Read the records of a run, skipping incomplete lines, because a run can be killed while it writes."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import stat
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, Union

from dllint.observation.processes import Process, Stack
from dllint.observation.record import KINDS, Record

SUFFIX = ".jsonl"
STACKS = ".stack"
"""Suffixes of a process's files: its records, and faulthandler's output (with records, if descriptors had run out)."""

Kind = TypeVar("Kind", bound=Record)


@dataclass(frozen=True)
class Observation:
    """All records of a run, sorted by time, and the number of unreadable lines: `cut` off, or `malformed`."""

    records: tuple[Record, ...] = ()
    cut: int = 0
    malformed: int = 0

    def of(self, kind: type[Kind]) -> Iterator[Kind]:
        """Return the records of one kind, oldest first."""
        return (record for record in self.records if isinstance(record, kind))

    @functools.cached_property
    def processes(self) -> Mapping[int, Process]:
        """The latest record of each process, by pid."""
        return {record.pid: record for record in self.of(Process)}


def read(directory: str) -> Observation:
    """Read all records in a directory; a missing or empty one yields an empty observation."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith((SUFFIX, STACKS)))
    except OSError:
        names = []
    return read_lines(line for name in names for line in _lines(os.path.join(directory, name)))


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return []
            lines = file.read().split(b"\n")
            changed = found.st_mtime
    except OSError:
        return []
    if path.endswith(SUFFIX):
        return lines
    # Stacks, mixed with records if no other descriptor was available.
    records = [line for line in lines if line.startswith(b'{"kind":')]
    text = b"\n".join(line for line in lines if not line.startswith(b'{"kind":')).decode("utf-8", "replace").strip()
    pid = os.path.basename(path).partition("-")[0]
    if text and pid.isdigit():
        records.append(json.dumps(Stack(int(pid), changed, text).to_json()).encode())
    return records


def read_lines(lines: Iterable[bytes]) -> Observation:
    """Read records, one per line, in any order. Unknown kinds and fields are ignored."""
    records: list[Record] = []
    cut = malformed = 0
    for line in lines:
        if not line.strip(b" \r\0"):
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            cut += 1
            continue
        if not isinstance(told, dict) or not isinstance(told.get("kind"), str):
            malformed += 1
            continue
        known = KINDS.get(told["kind"])
        if known is None:
            continue
        try:
            values = {name: _value(told[name], hint) for name, hint in _hints(known).items() if name in told}
            records.append(known(**values))
        except (TypeError, ValueError):
            malformed += 1
    records.sort(key=lambda record: record.t)
    return Observation(tuple(records), cut, malformed)


_HINTS: dict[type, dict[str, Any]] = {}


def _hints(cls: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields, by name."""
    if cls not in _HINTS:
        hints = typing.get_type_hints(cls)
        _HINTS[cls] = {one.name: hints[one.name] for one in dataclasses.fields(cls)}
    return _HINTS[cls]


def _value(value: Any, hint: Any) -> Any:
    """Convert a JSON value to the type of a field.

    Raises:
        TypeError: it has another type.
    """
    origin = typing.get_origin(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        if value is None and type(None) in typing.get_args(hint):
            return None
        return _value(value, next(one for one in typing.get_args(hint) if one is not type(None)))
    if origin is Literal:
        if value in typing.get_args(hint):
            return value
    elif origin is tuple:
        if isinstance(value, list):
            return tuple(_value(one, typing.get_args(hint)[0]) for one in value)
    elif origin is dict:
        if isinstance(value, dict):
            return value
    elif dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if isinstance(value, dict):
            inner = _hints(hint)
            return hint(**{name: _value(value[name], inner[name]) for name in inner if name in value})
    elif hint is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise TypeError(f"{value!r} is no {hint}")
