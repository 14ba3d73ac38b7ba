"""The cache of facts on disk, keyed by the digest of a file's source text.

Entries are compressed JSON: reading one runs no code, and an entry of an unexpected shape counts as missing.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection
from contextlib import suppress
from hashlib import blake2b
from typing import Any, Optional

from dllint.cache_directory import CacheDirectory, checksum, verified
from dllint.facts.collector import collection_paused
from dllint.facts.node_json import from_plain, plain
from dllint.facts.nodes import Expr
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

_CALLS = re.compile(rb'\["call",(\d+)\]')
_LAMBDAS = re.compile(rb'\["lambda",(\d+)\]')
_LARGEST_BYTES = 1 << 28
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError, zlib.error)


class Cache:
    """The facts stored in a cache directory; without a directory the cache is always empty.

    Args:
        directory: created with the first entry; `None` for no cache.

    Raises:
        ConfigError: the directory exists and is not a cache.
    """

    def __init__(self, directory: Optional[str]) -> None:
        import dllint

        self._entries = CacheDirectory(directory)
        self._salt = f"{FACTS_VERSION} {dllint.__version__}\n".encode()

    def get(self, text: str) -> Optional[FileFacts]:
        """Return the facts of a text; `None` if they are not stored."""
        payload = self._entries.get(self._name(text), ".facts")
        try:
            return _unpacked(payload) if payload is not None else None
        except _UNREADABLE:
            return None

    def put(self, text: str, facts: FileFacts) -> None:
        """Store the facts of a text, if possible."""
        if not self._entries.is_open:
            return
        with suppress(*_UNREADABLE):
            self._entries.put(self._name(text), ".facts", _packed(facts))

    def digest(self, text: str) -> Optional[bytes]:
        """Return a digest of the stored facts of a text; `None` if they are not stored. Equal facts have equal
        digests."""
        payload = self._entries.get(self._name(text), ".facts")
        return blake2b(payload, digest_size=20).digest() if payload is not None else None

    def _name(self, text: str) -> str:
        digest = blake2b(self._salt, digest_size=20)
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


class KeptInMemory(Cache):
    """A cache that also keeps the facts in memory, where no analysis changes them."""

    def __init__(self, directory: Optional[str]) -> None:
        super().__init__(directory)
        self._facts: dict[str, FileFacts] = {}

    def get(self, text: str) -> Optional[FileFacts]:
        found = self._facts.get(text)
        if found is None:
            found = super().get(text)
            if found is not None:
                self._facts[text] = found
        return found

    def put(self, text: str, facts: FileFacts) -> None:
        self._facts[text] = facts
        super().put(text, facts)

    def forget_all_but(self, texts: Collection[str]) -> None:
        """Forget the facts of other texts in memory."""
        self._facts = {text: facts for text, facts in self._facts.items() if text in texts}


def encode(facts: FileFacts, key: bytes) -> bytes:
    """Encode facts as an entry: a checksum of the rest, then compressed JSON."""
    payload = _packed(facts)
    return checksum(payload, key) + payload


def _packed(facts: FileFacts) -> bytes:
    return zlib.compress(json.dumps(to_json(facts), separators=(",", ":")).encode("ascii"), 1)


def decode(entry: bytes, key: bytes) -> FileFacts:
    """Decode the facts of an entry.

    Raises:
        ValueError, TypeError, IndexError, RecursionError, zlib.error: or another error, if it is not an entry.
    """
    return _unpacked(verified(entry, key))


def _unpacked(payload: bytes) -> FileFacts:
    text = zlib.decompressobj().decompress(payload, _LARGEST_BYTES)
    with collection_paused():
        data = json.loads(text)
        facts = from_json(data)
        _check_numbers(facts, data, text)
    return facts


def to_json(facts: FileFacts) -> Any:
    """Convert facts to lists, dicts and plain values."""
    return [
        [
            (
                *(scope.kind, scope.name, scope.parent, scope.region, scope.span, scope.header),
                *(plain(scope.decorators), plain(scope.params), plain(scope.bases)),
                *(scope.is_async, scope.is_generator, scope.end, plain(scope.returns), plain(scope.events)),
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
    """Convert the result of `to_json`, after a JSON round trip, back to facts.

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
    returns: Any,
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
        returns=_or_none(returns),
    )
    if not all(len(one) == 7 and len(one[1]) == 4 and (one[6] is None or len(one[6]) == 4) for one in events):
        raise ValueError("an event has another shape")
    scope.keep_events(events)
    return scope


def _or_none(data: Any) -> Optional[Expr]:
    return None if data is None else from_plain(data)


def _check_numbers(facts: FileFacts, data: Any, payload: bytes) -> None:
    """Check that every index of a call, scope or region exists.

    Raises:
        ValueError: one does not.
    """
    scopes, calls, regions = len(facts.scopes), len(facts.calls), len(facts.regions)
    fine = (
        scopes > 0
        and regions > 0
        and all(0 <= call.scope < scopes and 0 <= call.region < regions for call in facts.calls)
        and all(0 <= one.parent < max(at, 1) for at, one in enumerate(facts.regions))
        and all(-1 <= scope.parent < at and 0 <= scope.region < regions for at, scope in enumerate(facts.scopes))
        and all(-1 <= scope.end < regions for scope in facts.scopes)
        and all(0 <= event[2] < regions for scope in data[0] for event in scope[13])
        and all(0 <= at < calls for found in facts.called.values() for at in found)
        and all(0 <= at < scopes for found in facts.loaded.values() for at in found)
        and max(map(int, _CALLS.findall(payload)), default=0) < max(calls, 1)
        and max(map(int, _LAMBDAS.findall(payload)), default=0) < scopes
    )
    if not fine:
        raise ValueError("a number stands for nothing")
