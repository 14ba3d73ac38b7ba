"""A cache directory on disk: the facts of files and the reports of projects, kept between checks.

Each entry stands behind a checksum that only this user can make: one that is cut short, altered, or brought by a
repository counts as absent. A directory that cannot be written is no cache, silently. One that holds something else is
refused.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Optional

from dllint.config import ConfigError
from dllint.reading import MIB, CannotRead, read

_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Facts kept by dllint; this directory can be removed at any time.
# See https://bford.info/cachedir/
"""
_KEPT_DAYS = 30
_TIDIED_EVERY_DAYS = 7
_DAY_S = 86_400.0
_ENTRY = re.compile(r"[0-9a-f]{38}\.(?:facts|report)\Z")
_FOLDER = re.compile(r"[0-9a-f]{2}\Z")
_CHECKSUM_BYTES = 16
_SECRET = "secret"
_SECRET_BYTES = 32
_ENTRY_BYTES = 64 * MIB


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


class CacheDirectory:
    """Entries by name; without a directory it holds nothing and keeps nothing.

    Args:
        directory: made when the first entry is put, `None` for no cache.

    Raises:
        ConfigError: the directory is there and is no cache.
    """

    def __init__(self, directory: Optional[str]) -> None:
        why = refusal(directory) if directory is not None else ""
        if why:
            raise ConfigError(f"{directory} cannot be the cache: {why}")
        self._secret = secret() if directory is not None else None
        self._directory = directory if self._secret is not None else None
        self._ready = False

    def get(self, digest: str, suffix: str) -> Optional[bytes]:
        """The entry of that name, 40 hexadecimal digits and a suffix; `None` where none can be believed."""
        if self._directory is None or self._secret is None:
            return None
        try:
            return verified(read(self._path(digest, suffix), _ENTRY_BYTES, follow=False), self._secret)
        except (CannotRead, ValueError):
            return None

    def put(self, digest: str, suffix: str, payload: bytes) -> None:
        """Keep an entry, if that can be done."""
        if self._directory is None or self._secret is None:
            return
        try:
            if not self._ready:
                _prepare(self._directory)
                self._ready = True
            path = self._path(digest, suffix)
            folder = os.path.dirname(path)
            with suppress(FileExistsError):
                os.mkdir(folder)
            if os.path.islink(folder):
                raise NotADirectoryError
            _write(path, checksum(payload, self._secret) + payload)
        except OSError:
            # A full, read-only or foreign disk will not get better during this run.
            self._directory = None

    def _path(self, digest: str, suffix: str) -> str:
        return os.path.join(self._directory or "", digest[:2], digest[2:] + suffix)


def verified(entry: bytes, key: bytes) -> bytes:
    """What stands behind the checksum of an entry.

    Raises:
        ValueError: the checksum is another.
    """
    payload = entry[_CHECKSUM_BYTES:]
    if not secrets.compare_digest(checksum(payload, key), entry[:_CHECKSUM_BYTES]):
        raise ValueError("the checksum differs")
    return payload


def checksum(payload: bytes, key: bytes) -> bytes:
    """The checksum that an entry of this user begins with."""
    return blake2b(payload, digest_size=_CHECKSUM_BYTES, key=key).digest()


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
