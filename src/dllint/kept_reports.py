"""Reports stored between checks, so that an unchanged project is not analysed again.

A report is looked up by all inputs of a check: the contents of the files, the settings, this program. It is also stored
under a second name, computed from what the analysis reads of the files (their facts), which does not change when a
comment is edited. Whatever else the analysis reads from the disk (configuration files, the size of a data file) is
stored with its result and compared again.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import blake2b
from typing import Any, Optional, get_args

from dllint import finding
from dllint.cache_directory import CacheDirectory
from dllint.config import Settings
from dllint.finding import Edit, Finding, Fix, Place, TextEdit
from dllint.readiness import Survival
from dllint.reading import Lookups, still_so
from dllint.span import Span

_SUFFIX = ".report"
_BASE_SUFFIX = ".base"
_READS_SUFFIX = ".reads"
_LARGEST_BYTES = 1 << 28
_CLASSES: dict[str, Any] = {one.__name__: one for one in (Finding, Place, Fix, TextEdit, Survival, *get_args(Edit))}
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError, zlib.error)

Edits = Mapping[tuple[finding.Edit, ...], tuple[TextEdit, ...]]
"""The text edits of each fix that can be applied."""


@dataclass(frozen=True)
class Kept:
    """The part of a report that must be stored: everything that a later check cannot derive from its input.

    Attributes:
        named: the files that findings, their traces and their fixes refer to.
        edits: `None` if they were not requested.
        lookups: the questions about the disk, with the answers.
        digests: hashes of the contents of the named files, whose texts the report shows.
    """

    findings: tuple[Finding, ...]
    files_checked: int
    files_skipped: int
    named: tuple[str, ...]
    survival: Optional[Survival]
    postponed: int
    limits: Mapping[str, int]
    edits: Optional[Edits] = None
    lookups: Lookups = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Base:
    """What the last check of some files read: the next one compares with it. Bytes are kept as Latin-1.

    Attributes:
        report: the name of its report.
        contents: all files by path, except notebooks.
        parsed: the paths of the files that were parsed.
        selected: those that the screen selected.
        unparsed: the other files whose texts were read: for the suppressions in them, or because they are notebooks.
        words: those by which files are selected, as JSON.
        packages, names: as in `screen.Selection`.
        reads: the name under which it is stored what the analysis read; "" if it is not.
    """

    report: str
    contents: Mapping[str, str]
    parsed: Sequence[str]
    selected: Sequence[str]
    unparsed: Sequence[str]
    words: Sequence[Any]
    packages: Sequence[str]
    names: Sequence[str]
    reads: str = ""


def digest_of(
    settings: Settings,
    asked: Iterable[str],
    contents: Mapping[str, bytes],
    texts: Iterable[str],
    unreadable: Mapping[str, str],
) -> str:
    """Return the name of the report of a check.

    Args:
        asked: the files to check.
        contents: by path.
        texts: what is known of those passed as text, whatever encoding they declare.
        unreadable: why a file could not be read, by path.
    """
    digest = blake2b(_program(), digest_size=20)
    given = (repr(asdict(settings)), os.getcwd(), sorted(asked), sorted(texts), sorted(unreadable.items()))
    digest.update(json.dumps(given).encode())
    for path in sorted(contents):
        digest.update(path.encode("utf-8", "surrogatepass"))
        digest.update(blake2b(contents[path], digest_size=20).digest())
    return digest.hexdigest()


def content_digest(content: bytes) -> str:
    """Return a hash of a file's content."""
    return blake2b(content, digest_size=20).hexdigest()


@cache
def _program() -> bytes:
    """Return an identification of this program: its version and files, and the Python that runs it."""
    import dllint

    package = os.path.dirname(os.path.abspath(__file__))
    pages = os.path.join(package, "rule_pages")
    tops = (
        package,
        pages if os.path.isdir(pages) else os.path.join(os.path.dirname(os.path.dirname(package)), "rules"),
    )
    seen: list[tuple[str, int, int]] = []
    waiting = list(dict.fromkeys(tops))
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    waiting += [entry.path] if entry.name != "__pycache__" else []
                elif entry.name.endswith((".py", ".md", ".so", ".pyd")):
                    status = entry.stat()
                    seen.append((entry.path, status.st_size, status.st_mtime_ns))
    return json.dumps((dllint.__version__, sys.version, sys.platform, sorted(set(seen)))).encode()


class KeptReports:
    """The reports stored in a cache directory; without a directory none are stored."""

    def __init__(self, directory: Optional[str]) -> None:
        self._entries = CacheDirectory(directory)

    def get(self, digest: str) -> Optional[Kept]:
        """Return the report with that name; `None` if there is none, or the disk has changed since."""
        payload = self._entries.get(digest, _SUFFIX)
        if payload is None:
            return None
        try:
            found = _kept(json.loads(zlib.decompressobj().decompress(payload, _LARGEST_BYTES)))
            return found if still_so(found.lookups) else None
        except _UNREADABLE:
            return None

    def put(self, digest: str, kept: Kept) -> None:
        """Store a report if possible; errors are ignored."""
        with suppress(*_UNREADABLE):
            payload = json.dumps(_plain_kept(kept), separators=(",", ":")).encode()
            self._entries.put(digest, _SUFFIX, zlib.compress(payload, 1))

    def base(self, digest: str) -> Optional[Base]:
        """Return what the last check with that name read, if it is stored."""
        payload = self._entries.get(digest, _BASE_SUFFIX)
        if payload is None:
            return None
        try:
            return Base(*json.loads(zlib.decompressobj().decompress(payload, _LARGEST_BYTES)))
        except _UNREADABLE:
            return None

    def put_base(self, digest: str, base: Optional[Base]) -> None:
        """Store what a check read if possible; errors are ignored."""
        with suppress(*_UNREADABLE):
            if base is None:
                return
            parts = [getattr(base, one) for one in Base.__match_args__]
            self._entries.put(digest, _BASE_SUFFIX, zlib.compress(json.dumps(parts).encode(), 1))

    def reads(self, name: str) -> Optional[str]:
        """Return what was stored by `put_reads`."""
        payload = self._entries.get(name, _READS_SUFFIX) if name else None
        if payload is None:
            return None
        try:
            return zlib.decompressobj().decompress(payload, _LARGEST_BYTES).decode()
        except _UNREADABLE:
            return None

    def put_reads(self, name: str, reads: str) -> None:
        """Store what an analysis read if possible, as text; errors are ignored."""
        self._entries.put(name, _READS_SUFFIX, zlib.compress(reads.encode(), 1))


def _plain_kept(kept: Kept) -> Any:
    edits = None if kept.edits is None else [[_plain(key), _plain(value)] for key, value in kept.edits.items()]
    return [
        *(_plain(kept.findings), kept.files_checked, kept.files_skipped, _plain(kept.named), _plain(kept.survival)),
        *(
            kept.postponed,
            dict(kept.limits),
            edits,
            [[list(question), answer] for question, answer in kept.lookups.items()],
        ),
        dict(kept.digests),
    ]


def _kept(data: Any) -> Kept:
    findings, checked, skipped, named, survival, postponed, limits, edits, lookups, digests = data
    return Kept(
        _value(findings),
        int(checked),
        int(skipped),
        _value(named),
        _value(survival),
        int(postponed),
        dict(limits),
        None if edits is None else {_value(key): _value(value) for key, value in edits},
        {tuple(question): str(answer) for question, answer in lookups},
        dict(digests),
    )


def _plain(value: Any) -> Any:
    """Convert a value to JSON types; each list begins with the name of its type."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Span):
        return ["span", *value]
    if isinstance(value, tuple):
        return ["tuple", *map(_plain, value)]
    if isinstance(value, Mapping):
        return ["mapping", *([key, _plain(one)] for key, one in value.items())]
    name = type(value).__name__
    if _CLASSES.get(name) is not type(value):
        raise TypeError(f"{name} is not kept")
    return [name, *(_plain(getattr(value, one)) for one in _CLASSES[name].__match_args__)]


def _value(data: Any) -> Any:
    if not isinstance(data, list):
        return data
    kind, *parts = data
    if kind == "span":
        return Span(*parts)
    if kind == "tuple":
        return tuple(map(_value, parts))
    if kind == "mapping":
        return {key: _value(one) for key, one in parts}
    return _CLASSES[kind](*map(_value, parts))
