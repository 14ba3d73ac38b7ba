"""The only reader of files of a checked repository: regular files, and never more than a given number of bytes.

A named pipe would block forever, a device such as `/dev/zero` never ends, and a link may lead to a file outside the
repository. Files of a project are therefore opened here and nowhere else.

The analysis also queries the disk only through this module: within `lookups`, every question is recorded with its
answer, so that a later check can tell whether anything has changed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import blake2b
from typing import Union

MIB = 1 << 20
SOURCE_BYTES = 16 * MIB
"""Bytes of a Python file. The largest in CPython, PyTorch and their dependencies has 1.5 MiB."""
NOTEBOOK_BYTES = 64 * MIB
"""Bytes of a notebook, whose outputs may contain images."""
SETTINGS_BYTES = MIB // 4
"""Bytes of a `pyproject.toml` or `.gitignore`."""
CONFIG_BYTES = MIB
"""Bytes of a JSON, YAML or TOML file that the checked program loads; a larger file is data."""
REPORT_BYTES = 64 * MIB
"""Bytes of a baseline, or of the report of a run."""
INDEX_BYTES = 64 * MIB
"""Bytes of `.git/index`. That of Linux, with 90,000 files, has 9 MiB."""

Lookup = tuple[Union[str, int, bool, None], ...]
"""A question about the disk: its kind, a path, and the other arguments."""
Lookups = dict[Lookup, str]
"""Questions about the disk, each with its answer or a hash of it."""
_noted: ContextVar[Lookups | None] = ContextVar("noted_lookups", default=None)


class CannotRead(Exception):
    """A file cannot be read; `reason` is a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read(path: str, limit: int, *, follow: bool = True, within: str | None = None, cut: bool = False) -> bytes:
    """Read a regular file.

    Args:
        limit: bytes; a larger file is refused, or truncated if `cut` is set.
        follow: whether to read a path that is itself a symbolic link.
        within: a directory that the file must lie in once all links are resolved.

    Raises:
        CannotRead: with the reason in a few words.
    """
    question = ("read", path, limit, follow, within, cut)
    try:
        data = _read(path, limit, follow, within, cut)
    except CannotRead as error:
        _note(question, f"not: {error.reason}")
        raise
    if _noted.get() is not None:
        _note(question, _digest(data))
    return data


def _read(path: str, limit: int, follow: bool, within: str | None, cut: bool) -> bytes:
    try:
        if within is not None and not lies_within(path, within):
            raise CannotRead("a link that leads out of the project")
        # Opening a pipe without O_NONBLOCK waits for a writer; for regular files the flag has no effect.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(path, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0))
        with open(handle, "rb", buffering=0):
            status = os.fstat(handle)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError
            if not stat.S_ISREG(status.st_mode):
                raise CannotRead("not a regular file")
            if cut:
                return os.read(handle, limit)
            if status.st_size > limit:
                raise CannotRead(_too_large(limit))
            return _all(handle, limit, status.st_size)
    except FileNotFoundError:
        raise CannotRead("no such file") from None
    except PermissionError:
        raise CannotRead("permission denied") from None
    except IsADirectoryError:
        raise CannotRead("is a directory") from None
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise CannotRead("a symbolic link") from None
        raise CannotRead((error.strerror or str(error)).lower()) from None
    except ValueError:
        raise CannotRead("not a valid path") from None


def is_file(path: str) -> bool:
    """Whether a path leads to a regular file."""
    found = os.path.isfile(path)
    _note(("file", path), str(found))
    return found


def size(path: str) -> int | None:
    """Return the size of a file in bytes; `None` if there is none, or its name is invalid."""
    try:
        found = os.path.getsize(path)
    except (OSError, ValueError):
        found = None
    _note(("size", path), str(found))
    return found


def walk(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the directories from `top` down like `os.walk`: removing a name from the second list prunes it."""
    unreadable: list[str] = []
    for directory, folders, names in os.walk(top, onerror=lambda error: unreadable.append(str(error.filename))):
        _note(("entries", directory), _entries(directory, folders, names))
        yield directory, folders, names
        while unreadable:
            _note(("entries", unreadable.pop()), "")
    for directory in unreadable:
        _note(("entries", directory), "")


@contextmanager
def lookups() -> Iterator[Lookups]:
    """Record each question about the disk with its answer."""
    noted: Lookups = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def still_so(noted: Lookups) -> bool:
    """Whether the questions about the disk still have the recorded answers."""
    return all(_answer(question) == answer for question, answer in noted.items())


def _answer(question: Lookup) -> str | None:
    """Return the current answer; `None` for an unknown kind of question."""
    with lookups() as now:
        match question:
            case ("read", str(path), int(limit), bool(follow), str() | None as within, bool(cut)):
                with suppress(CannotRead):
                    read(path, limit, follow=follow, within=within, cut=cut)
            case ("file", str(path)):
                is_file(path)
            case ("size", str(path)):
                size(path)
            case ("entries", str(path)):
                next(walk(path), None)
                now.setdefault(question, "")
    return now.get(question)


def _note(question: Lookup, answer: str) -> None:
    noted = _noted.get()
    if noted is not None:
        noted[question] = answer


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _entries(directory: str, folders: list[str], names: list[str]) -> str:
    """Return a hash of a directory's entries, including which of them are links."""
    links = [name for name in folders if os.path.islink(os.path.join(directory, name))]
    parts = ("\0".join(sorted(group)) for group in (folders, names, links))
    return _digest("\0\0".join(parts).encode("utf-8", "surrogatepass"))


def lies_within(path: str, directory: str) -> bool:
    """Whether a path lies in a directory once all links are resolved."""
    real, base = os.path.realpath(path), os.path.realpath(directory)
    return real == base or real.startswith(base.rstrip(os.sep) + os.sep)


def _all(handle: int, limit: int, expected: int) -> bytes:
    """Read an open file to its end; its stated size is unreliable: files in `/proc` state 0, and a file may grow."""
    pieces: list[bytes] = []
    size, wanted = 0, expected + 1
    while size <= limit and (piece := os.read(handle, wanted)):
        pieces.append(piece)
        size, wanted = size + len(piece), MIB // 16
    if size > limit:
        raise CannotRead(_too_large(limit))
    return b"".join(pieces)


def _too_large(limit: int) -> str:
    return f"larger than {limit // MIB} MiB" if limit >= MIB else f"larger than {limit // 1024} KiB"
