"""The only reader of files of a checked repository: regular files, and never more than a given number of bytes.

A named pipe would block forever, a device such as `/dev/zero` never ends, and a link may lead to a file that the
repository has no business with. Whatever a project holds is therefore opened here and nowhere else.

The analysis asks about the disk through this module alone, too: within `lookups`, every question is noted with its
answer, so that a later check can ask again whether anything has changed.
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
"""A Python file. The largest in CPython, PyTorch and their dependencies has 1.5 MiB."""
NOTEBOOK_BYTES = 64 * MIB
"""A notebook, whose outputs may hold images."""
SETTINGS_BYTES = MIB // 4
"""`pyproject.toml` and `.gitignore`."""
CONFIG_BYTES = MIB
"""JSON, YAML and TOML files that the checked program loads; a larger file is data."""
INDEX_BYTES = 64 * MIB
"""`.git/index`. That of Linux, with 90,000 files, has 9 MiB."""

Lookup = tuple[Union[str, int, bool, None], ...]
"""A question about the disk: its kind, a path, and what else it takes."""
Lookups = dict[Lookup, str]
"""Questions about the disk, each with its answer in short."""
_noted: ContextVar[Lookups | None] = ContextVar("noted_lookups", default=None)


class CannotRead(Exception):
    """A file that cannot be read; `reason` is a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read(path: str, limit: int, *, follow: bool = True, within: str | None = None, cut: bool = False) -> bytes:
    """The bytes of a regular file.

    Args:
        limit: bytes; a larger file is not read, or only its beginning where `cut` is set.
        follow: whether a path that is itself a symbolic link is read.
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
        # Opening a pipe without O_NONBLOCK waits for a writer; regular files do not know the flag.
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
    """The bytes that a file has; None where there is none, or no file system takes its name."""
    try:
        found = os.path.getsize(path)
    except (OSError, ValueError):
        found = None
    _note(("size", path), str(found))
    return found


def walk(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """The directories from `top` down, as `os.walk` gives them: taking one from the second list leaves it out."""
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
    """Note each question about the disk with its answer."""
    noted: Lookups = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def still_so(noted: Lookups) -> bool:
    """Whether questions about the disk have the answers that were noted."""
    return all(_answer(question) == answer for question, answer in noted.items())


def _answer(question: Lookup) -> str | None:
    """The answer as it is now; None for no question that is asked here."""
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
    """What tells a directory's entries from others: those that are links among them."""
    links = [name for name in folders if os.path.islink(os.path.join(directory, name))]
    parts = ("\0".join(sorted(group)) for group in (folders, names, links))
    return _digest("\0\0".join(parts).encode("utf-8", "surrogatepass"))


def lies_within(path: str, directory: str) -> bool:
    """Whether a path lies in a directory once all links are resolved."""
    real, base = os.path.realpath(path), os.path.realpath(directory)
    return real == base or real.startswith(base.rstrip(os.sep) + os.sep)


def _all(handle: int, limit: int, expected: int) -> bytes:
    """All bytes of an open file: one of `/proc` states a size of 0 whatever it holds, and a file may grow."""
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
