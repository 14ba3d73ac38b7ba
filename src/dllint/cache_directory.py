"""A cache directory on disk: facts of files and reports of projects, reused by later checks.

Each entry starts with a keyed checksum that only this user can compute. An entry that is truncated, altered or supplied
by a repository is treated as absent. If the directory cannot be written, caching is silently disabled. A directory that
holds anything else is refused.
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

from dllint.reading import MIB, CannotRead, read
from dllint.setting_values import ConfigError

_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Facts kept by dllint; this directory can be removed at any time.
# See https://bford.info/cachedir/
"""
_KEPT_DAYS = 30
_TIDIED_EVERY_DAYS = 7
_DAY_S = 86_400.0
_ENTRY = re.compile(r"[0-9a-f]{38}\.(?:facts|report|base|reads)\Z")
_FOLDER = re.compile(r"[0-9a-f]{2}\Z")
_CHECKSUM_BYTES = 16
_SECRET = "secret"
_SECRET_BYTES = 32
_ENTRY_BYTES = 64 * MIB


def default_directory() -> str:
    """Return the default cache directory: `$XDG_CACHE_HOME/dllint`, else the usual place on Windows, macOS or Unix."""
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
    """Return the key of the checksums, so that a repository cannot forge entries; `None` if it cannot be stored."""
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
    """Return why a directory cannot serve as a cache, in a few words; "" if it is a cache, empty, or does not exist."""
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
    """Cache entries by name. Without a directory nothing is read or stored.

    Args:
        directory: created when the first entry is stored; `None` disables the cache.

    Raises:
        ConfigError: the directory exists and is not a cache.
    """

    def __init__(self, directory: Optional[str]) -> None:
        why = refusal(directory) if directory is not None else ""
        if why:
            raise ConfigError(f"{directory} cannot be the cache: {why}")
        self._secret = secret() if directory is not None else None
        self._directory = directory if self._secret is not None else None
        self._ready = False

    @property
    def is_open(self) -> bool:
        """Whether it can keep anything."""
        return self._directory is not None and self._secret is not None

    def get(self, digest: str, suffix: str) -> Optional[bytes]:
        """Return the entry with this name (40 hexadecimal digits) and suffix; `None` if there is no valid one."""
        if self._directory is None or self._secret is None:
            return None
        try:
            return verified(read(self._path(digest, suffix), _ENTRY_BYTES, follow=False), self._secret)
        except (CannotRead, ValueError):
            return None

    def put(self, digest: str, suffix: str, payload: bytes) -> None:
        """Store an entry if possible; errors are ignored."""
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
            # A full, read-only or foreign disk will not recover during this run.
            self._directory = None

    def _path(self, digest: str, suffix: str) -> str:
        return os.path.join(self._directory or "", digest[:2], digest[2:] + suffix)


def verified(entry: bytes, key: bytes) -> bytes:
    """Return the payload of an entry after verifying its checksum.

    Raises:
        ValueError: the checksum does not match.
    """
    payload = entry[_CHECKSUM_BYTES:]
    if not secrets.compare_digest(checksum(payload, key), entry[:_CHECKSUM_BYTES]):
        raise ValueError("the checksum differs")
    return payload


def checksum(payload: bytes, key: bytes) -> bytes:
    """Return the keyed checksum with which an entry of this user begins."""
    return blake2b(payload, digest_size=_CHECKSUM_BYTES, key=key).digest()


def _prepare(directory: str) -> None:
    """Create the directory and mark it as a cache for backup programs and git; delete old entries once a week.

    Raises:
        OSError: it cannot be created.
    """
    os.makedirs(directory, exist_ok=True)
    if not os.listdir(directory):
        for name, content in ((_TAG, _TAG_TEXT), (".gitignore", "*\n")):
            # Mode "x" leaves an existing file alone and does not write through a symbolic link.
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
    """Write a file atomically; a symbolic link at its path is replaced.

    Raises:
        OSError: it cannot be written. No temporary file is left behind.
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
    """Whether a directory carries the tag of a dllint cache."""
    try:
        return read(os.path.join(directory, _TAG), len(_TAG_TEXT), follow=False) == _TAG_TEXT.encode()
    except CannotRead:
        return False


def remove(directory: str) -> Optional[str]:
    """Remove the entries of a cache, and the directory itself if nothing else is in it.

    A directory without the tag of a dllint cache is left alone.

    Returns:
        The path of the directory; `None` if it is not a cache.
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
