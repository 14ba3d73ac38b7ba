"""The cache of facts: kept between checks, by the digest of the source text.

Entries are compressed JSON behind a checksum that only this user can make: reading one runs no code, and one that is
cut short, altered, of an unexpected shape or brought by a repository counts as absent. A directory that cannot be
written is no cache, silently. One that holds something else is refused.
"""

from __future__ import annotations

import gc
import json
import os
import re
import secrets
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Any, Optional

from dllint.config import ConfigError
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
from dllint.reading import MIB, CannotRead, read
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
_SECRET = "secret"
_SECRET_BYTES = 32
_ENTRY_BYTES = 64 * MIB
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


def secret() -> Optional[bytes]:
    """What checksums of entries are made with, so that a repository cannot bring entries of its own; `None` where it
    can neither be read nor kept."""
    path = os.path.join(default_directory(), _SECRET)
    with suppress(CannotRead):
        found = read(path, _SECRET_BYTES, follow=False)
        if len(found) == _SECRET_BYTES:
            return found
    found = secrets.token_bytes(_SECRET_BYTES)
    try:
        _prepare(default_directory())
        _write(path, found)
    except OSError:
        return None
    return found


def refusal(directory: str) -> str:
    """Why a directory is not used as a cache, in a few words; "" where it is one, is empty, or is not there yet."""
    try:
        if os.path.islink(directory):
            return "it is a symbolic link"
        if os.path.lexists(directory) and os.listdir(directory) and not _is_marked(directory):
            return "it is not empty and no cache of dllint"
    except NotADirectoryError:
        return "it is no directory"
    except (OSError, ValueError) as error:
        return (getattr(error, "strerror", None) or str(error)).lower()
    return ""


class Cache:
    """A directory of facts; without a directory it holds nothing and keeps nothing.

    Args:
        directory: made when the first facts are put, `None` for no cache.

    Raises:
        ConfigError: the directory is there and is no cache.
    """

    def __init__(self, directory: Optional[str]) -> None:
        import dllint

        why = refusal(directory) if directory is not None else ""
        if why:
            raise ConfigError(f"{directory} cannot be the cache: {why}")
        self._secret = secret() if directory is not None else None
        self._directory = directory if self._secret is not None else None
        self._salt = f"{FACTS_VERSION} {dllint.__version__}\n".encode()
        self._ready = False

    def get(self, text: str) -> Optional[FileFacts]:
        """The facts of a text, `None` where they are not kept."""
        if self._directory is None or self._secret is None:
            return None
        try:
            return decode(read(self._path(text), _ENTRY_BYTES, follow=False), self._secret)
        except (CannotRead, *_UNREADABLE):
            return None

    def put(self, text: str, facts: FileFacts) -> None:
        """Keeps the facts of a text, if that can be done."""
        if self._directory is None or self._secret is None:
            return
        try:
            entry = encode(facts, self._secret)
            if not self._ready:
                _prepare(self._directory)
                self._ready = True
            path = self._path(text)
            folder = os.path.dirname(path)
            with suppress(FileExistsError):
                os.mkdir(folder)
            if os.path.islink(folder):
                raise NotADirectoryError
            _write(path, entry)
        except OSError:
            # A full, read-only or foreign disk will not get better during this run.
            self._directory = None
        except _UNREADABLE:
            pass

    def _path(self, text: str) -> str:
        digest = blake2b(self._salt, digest_size=20)
        digest.update(text.encode("utf-8", "surrogatepass"))
        name = digest.hexdigest()
        return os.path.join(self._directory or "", name[:2], name[2:] + ".facts")


def _prepare(directory: str) -> None:
    """Make the directory and mark it, for backup programs and git; throw old entries away now and then.

    Raises:
        OSError: it cannot be made.
    """
    os.makedirs(directory, exist_ok=True)
    if not os.listdir(directory):
        for name, content in ((_TAG, _TAG_TEXT), (".gitignore", "*\n")):
            # What is there by now stays as it is; this does not write through a link either.
            with suppress(FileExistsError), open(os.path.join(directory, name), "x", encoding="utf-8") as file:
                file.write(content)
        return
    tag = os.path.join(directory, _TAG)
    if _is_marked(directory) and time.time() - os.stat(tag).st_mtime > _TIDIED_EVERY_DAYS * _DAY_S:
        os.utime(tag)
        oldest = time.time() - _KEPT_DAYS * _DAY_S
        for entry in _entries(directory):
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                _unlink(entry.path)


def _write(path: str, data: bytes) -> None:
    """A file as a whole; a link in its place is replaced.

    Raises:
        OSError: it cannot be written; nothing is left beside it.
    """
    handle, temporary = tempfile.mkstemp(prefix="new-", dir=os.path.dirname(path))
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        _unlink(temporary)
        raise


def _is_marked(directory: str) -> bool:
    """Whether a directory bears the mark of a cache of this program."""
    try:
        return read(os.path.join(directory, _TAG), len(_TAG_TEXT), follow=False) == _TAG_TEXT.encode()
    except CannotRead:
        return False


def remove(directory: str) -> Optional[str]:
    """Removes the entries of a cache, and the directory if nothing else is in it; gives its path, `None` for no cache.

    A directory that does not bear the mark of a cache of this program is left alone.
    """
    if os.path.islink(directory) or not _is_marked(directory):
        return None
    for entry in list(_entries(directory)):
        _unlink(entry.path)
    for name in os.listdir(directory):
        if _FOLDER.match(name):
            _rmdir(os.path.join(directory, name))
    for name, content in ((".gitignore", b"*\n"), (_TAG, _TAG_TEXT.encode())):
        with suppress(CannotRead):
            if read(os.path.join(directory, name), len(content), follow=False) == content:
                _unlink(os.path.join(directory, name))
    if directory == default_directory():
        _unlink(os.path.join(directory, _SECRET))
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


def encode(facts: FileFacts, key: bytes) -> bytes:
    """An entry: a checksum of the rest, then compressed JSON."""
    payload = zlib.compress(json.dumps(to_json(facts), separators=(",", ":")).encode("ascii"), 1)
    return _checksum(payload, key) + payload


def decode(entry: bytes, key: bytes) -> FileFacts:
    """The facts of an entry.

    Raises:
        ValueError, TypeError, IndexError, RecursionError, zlib.error: or another error of what is no entry.
    """
    payload = entry[_CHECKSUM_BYTES:]
    if not secrets.compare_digest(_checksum(payload, key), entry[:_CHECKSUM_BYTES]):
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


def _checksum(payload: bytes, key: bytes) -> bytes:
    return blake2b(payload, digest_size=_CHECKSUM_BYTES, key=key).digest()


def to_json(facts: FileFacts) -> Any:
    """Facts as lists, dicts and plain values."""
    return [
        [
            (
                *(scope.kind, scope.name, scope.parent, scope.region, scope.span, scope.header),
                *(plain(scope.decorators), plain(scope.params), plain(scope.bases)),
                *(scope.is_async, scope.is_generator, scope.end, plain(scope.events)),
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
    end: int,
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
        end=end,
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
        and all(-1 <= scope.end < regions for scope in facts.scopes)
        and all(0 <= event[2] < regions for scope in data[0] for event in scope[12])
        and all(0 <= at < calls for found in facts.called.values() for at in found)
        and all(0 <= at < scopes for found in facts.loaded.values() for at in found)
        and max(map(int, _CALLS.findall(payload)), default=0) < max(calls, 1)
        and max(map(int, _LAMBDAS.findall(payload)), default=0) < scopes
    )
    if not fine:
        raise ValueError("a number stands for nothing")
