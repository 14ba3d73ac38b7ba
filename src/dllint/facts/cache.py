"""Facts kept from one run to the next, by the digest of the text they were taken from.

Entries are compressed JSON behind a checksum: reading one runs no code, and one that is cut short, altered or of an
unexpected shape counts as absent. A directory that cannot be written is no cache, silently.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Any, Optional

from dllint.facts.nodes import Expr, from_plain, plain
from dllint.facts.schema import (
    FACTS_VERSION,
    Argument,
    Call,
    Decorator,
    FileFacts,
    Param,
    Region,
    Scope,
)
from dllint.span import Span

_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Facts kept by dllint; this directory can be removed at any time.
# See https://bford.info/cachedir/
"""
_KEPT_DAYS = 30
_TIDIED_EVERY_DAYS = 7
_DAY_S = 86_400.0
_ENTRY = re.compile(r"[0-9a-f]{38}\.facts\Z")
_FOLDER = re.compile(r"[0-9a-f]{2}\Z")
_CALLS = re.compile(rb'\["call",(\d+)\]')
_LAMBDAS = re.compile(rb'\["lambda",(\d+)\]')
_CHECKSUM_BYTES = 16
_LARGEST_BYTES = 1 << 28
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError, zlib.error)


def default_directory() -> str:
    """Where caches belong: `$XDG_CACHE_HOME/dllint`, else the usual place of Windows, macOS or Unix."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
        elif sys.platform == "darwin":
            base = os.path.expanduser("~/Library/Caches")
        else:
            base = os.path.expanduser("~/.cache")
    return os.path.join(base, "dllint")


class Cache:
    """A directory of facts; without a directory it holds nothing and keeps nothing.

    Args:
        directory: made when the first facts are put, `None` for no cache.
    """

    def __init__(self, directory: Optional[str]) -> None:
        import dllint

        self._directory = directory
        self._salt = f"{FACTS_VERSION} {dllint.__version__}\n".encode()
        self._ready = False

    def get(self, text: str) -> Optional[FileFacts]:
        """The facts of a text, `None` where they are not kept."""
        if self._directory is None:
            return None
        try:
            with open(self._path(text), "rb") as file:
                return decode(file.read())
        except (OSError, *_UNREADABLE):
            return None

    def put(self, text: str, facts: FileFacts) -> None:
        """Keeps the facts of a text, if that can be done."""
        if self._directory is None:
            return
        temporary = ""
        try:
            entry = encode(facts)
            self._prepare()
            path = self._path(text)
            folder = os.path.dirname(path)
            os.makedirs(folder, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix="new-", dir=folder)
            with open(handle, "wb") as file:
                file.write(entry)
            os.replace(temporary, path)
        except OSError:
            # A full, read-only or foreign disk will not get better during this run.
            self._directory = None
            if temporary:
                _unlink(temporary)
        except _UNREADABLE:
            pass

    def _path(self, text: str) -> str:
        digest = blake2b(self._salt, digest_size=20)
        digest.update(text.encode("utf-8", "surrogatepass"))
        name = digest.hexdigest()
        return os.path.join(self._directory or "", name[:2], name[2:] + ".facts")

    def _prepare(self) -> None:
        """Makes the directory and marks it, for backup programs and git; throws old entries away now and then."""
        if self._ready or self._directory is None:
            return
        os.makedirs(self._directory, exist_ok=True)
        tag = os.path.join(self._directory, _TAG)
        if not os.path.exists(tag):
            for name, content in ((_TAG, _TAG_TEXT), (".gitignore", "*\n")):
                with open(os.path.join(self._directory, name), "w", encoding="utf-8") as file:
                    file.write(content)
        elif time.time() - os.stat(tag).st_mtime > _TIDIED_EVERY_DAYS * _DAY_S:
            os.utime(tag)
            oldest = time.time() - _KEPT_DAYS * _DAY_S
            for entry in _entries(self._directory):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    _unlink(entry.path)
        self._ready = True


def remove(directory: str) -> Optional[str]:
    """Removes the entries of a cache, and the directory if nothing else is in it; gives its path, `None` for no cache.

    A directory that does not bear the mark of a cache of this program is left alone.
    """
    tag = os.path.join(directory, _TAG)
    try:
        with open(tag, encoding="utf-8", errors="replace") as file:
            if file.read(len(_TAG_TEXT)) != _TAG_TEXT:
                return None
    except OSError:
        return None
    for entry in list(_entries(directory)):
        _unlink(entry.path)
    for name in os.listdir(directory):
        if _FOLDER.match(name):
            _rmdir(os.path.join(directory, name))
    for name in (".gitignore", _TAG):
        _unlink(os.path.join(directory, name))
    _rmdir(directory)
    return directory


def _entries(directory: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as folders:
        for folder in folders:
            if _FOLDER.match(folder.name) and folder.is_dir(follow_symlinks=False):
                with os.scandir(folder.path) as entries:
                    yield from (one for one in entries if _ENTRY.match(one.name) or one.name.startswith("new-"))


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _rmdir(path: str) -> None:
    with suppress(OSError):
        os.rmdir(path)


def encode(facts: FileFacts) -> bytes:
    """An entry: a checksum of the rest, then compressed JSON."""
    payload = zlib.compress(json.dumps(to_json(facts), separators=(",", ":")).encode("ascii"), 1)
    return _checksum(payload) + payload


def decode(entry: bytes) -> FileFacts:
    """The facts of an entry.

    Raises:
        ValueError, TypeError, IndexError, RecursionError, zlib.error: or another error of what is no entry.
    """
    payload = entry[_CHECKSUM_BYTES:]
    if _checksum(payload) != entry[:_CHECKSUM_BYTES]:
        raise ValueError("the checksum differs")
    text = zlib.decompressobj().decompress(payload, _LARGEST_BYTES)
    collecting = gc.isenabled()
    gc.disable()
    try:
        data = json.loads(text)
        facts = from_json(data)
        _check_numbers(facts, data, text)
    finally:
        if collecting:
            gc.enable()
    return facts


def _checksum(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=_CHECKSUM_BYTES).digest()


def to_json(facts: FileFacts) -> Any:
    """Facts as lists, dicts and plain values."""
    return [
        [
            (
                *(scope.kind, scope.name, scope.parent, scope.region, scope.span, scope.header),
                *(plain(scope.decorators), plain(scope.params), plain(scope.bases)),
                *(scope.is_async, scope.is_generator, plain(scope.events)),
            )
            for scope in facts.scopes
        ],
        plain(facts.calls),
        plain(facts.regions),
        facts.called,
        facts.loaded,
        facts.aliases,
        facts.lines,
    ]


def from_json(data: Any) -> FileFacts:
    """Facts from what `to_json` gave, after a way through JSON.

    Raises:
        ValueError, TypeError, IndexError: if the data has another shape.
    """
    scopes, calls, regions, called, loaded, aliases, lines = data
    return FileFacts(
        [_scope(*scope) for scope in scopes],
        [
            Call(from_plain(func), [_argument(*one) for one in args], Span(*span), scope, region, Span(*statement))
            for func, args, span, scope, region, statement in calls
        ],
        [Region(parent, kind, _or_none(expr), holds, Span(*span)) for parent, kind, expr, holds, span in regions],
        dict(called),
        dict(loaded),
        [(source, name) for source, name in aliases],
        int(lines),
    )


def _argument(keyword: Optional[str], value: Any, span: Any, value_span: Any) -> Argument:
    return Argument(keyword, from_plain(value), Span(*span), Span(*value_span))


def _scope(
    kind: str,
    name: str,
    parent: int,
    region: int,
    span: Any,
    header: Any,
    decorators: Any,
    params: Any,
    bases: Any,
    is_async: bool,
    is_generator: bool,
    events: Any,
) -> Scope:
    scope = Scope(
        kind,
        name,
        parent,
        region,
        Span(*span),
        Span(*header),
        [Decorator(from_plain(expr), Span(*place)) for expr, place in decorators],
        [
            Param(called, how, _or_none(default), _or_none(note), Span(*place))
            for called, how, default, note, place in params
        ],
        [_argument(*base) for base in bases],
        is_async,
        is_generator,
    )
    if not all(len(one) == 7 and len(one[1]) == 4 and (one[6] is None or len(one[6]) == 4) for one in events):
        raise ValueError("an event has another shape")
    scope.keep_events(events)
    return scope


def _or_none(data: Any) -> Optional[Expr]:
    return None if data is None else from_plain(data)


def _check_numbers(facts: FileFacts, data: Any, payload: bytes) -> None:
    """That every number that stands for a call, scope or region stands for one that is there."""
    scopes, calls, regions = len(facts.scopes), len(facts.calls), len(facts.regions)
    fine = (
        scopes > 0
        and regions > 0
        and all(0 <= call.scope < scopes and 0 <= call.region < regions for call in facts.calls)
        and all(0 <= one.parent < max(at, 1) for at, one in enumerate(facts.regions))
        and all(-1 <= scope.parent < at and 0 <= scope.region < regions for at, scope in enumerate(facts.scopes))
        and all(0 <= event[2] < regions for scope in data[0] for event in scope[11])
        and all(0 <= at < calls for found in facts.called.values() for at in found)
        and all(0 <= at < scopes for found in facts.loaded.values() for at in found)
        and max(map(int, _CALLS.findall(payload)), default=0) < max(calls, 1)
        and max(map(int, _LAMBDAS.findall(payload)), default=0) < scopes
    )
    if not fine:
        raise ValueError("a number stands for nothing")
