"""Writes new texts to files: each completely or not at all."""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import stat
import tempfile
import time

from dllint import files
from dllint.reading import lies_within

_PREFIX, _SUFFIX = ".dllint-", ".tmp"
_REMAINS_S = 600.0
"""Seconds after which a temporary file belongs to no run that still goes on."""


class WriteError(Exception):
    """A file could not be written and is unchanged; the message is its path and the reason."""


def write_fixed(path: str, old: str, new: str, root: str | None = None) -> None:
    """Write a fixed text to its file; the arguments and the errors are those of `fixed_content`, and it may be that the
    file cannot be written.

    Raises:
        WriteError: the file stays as it was.
    """
    write_atomically(path, fixed_content(path, old, new, root))


def fixed_content(path: str, old: str, new: str, root: str | None = None) -> bytes:
    """What a file will hold once it is fixed: the new text in the encoding and with the byte-order mark of the file.

    Args:
        old, new: texts with the file's own line ends, with or without its byte-order mark.
        root: the project's directory; a link that leads out of it is not written through.

    Raises:
        WriteError: the file must stay as it is: it cannot be read, is read-only, changed meanwhile, has further names
            or its encoding lacks a character.
    """
    if root is not None and lies_within(os.path.dirname(path), root) and not lies_within(path, root):
        raise WriteError(f"{path}: not fixed, because it is a link that leads out of the project")
    try:
        data = files.read(path)
    except files.CannotRead as error:
        raise WriteError(f"{path}: cannot be read: {error.reason}") from None
    if not os.access(path, os.W_OK):
        raise WriteError(f"{path}: cannot be written: it is read-only")
    links = os.stat(path).st_nlink
    if links > 1:
        raise WriteError(f"{path}: not fixed, because it has {links} hard links: the others would keep the old text")
    try:
        unchanged = encode(old, data) == data
    except (files.Undecodable, UnicodeError, LookupError):
        unchanged = False
    if not unchanged:
        raise WriteError(f"{path}: not fixed, because it changed after it was checked")
    try:
        return encode(new, data)
    except UnicodeEncodeError as error:
        char = error.object[error.start]
        raise WriteError(f"{path}: not fixed, because its encoding, {error.encoding}, has no {char!r}") from None


def encode(text: str, original: bytes) -> bytes:
    """A text in the encoding that the original bytes declare, with their byte-order mark.

    Raises:
        files.Undecodable: the declared encoding is unknown, or contradicts the byte-order mark.
        UnicodeEncodeError: the encoding lacks a character of the text.
    """
    encoding = files.detect_encoding(original)
    if encoding != "utf-8-sig":
        return text.encode(encoding)
    mark = codecs.BOM_UTF8 if original.startswith(codecs.BOM_UTF8) else b""
    return mark + text.removeprefix("\ufeff").encode("utf-8")


def write_atomically(path: str, data: bytes) -> None:
    """Replace a file's content by a rename in its own directory; its mode stays, and a symbolic link stays a link.

    Raises:
        WriteError: the file cannot be written; it is then as it was, and nothing is left beside it.
    """
    temporary = None
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.access(target, os.W_OK):
            raise PermissionError(None, "it is read-only")
        _remove_remains(os.path.dirname(target))
        handle, temporary = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=os.path.dirname(target))
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            _copy_owner(target, temporary)
            # Its mode and its extended attributes, access control lists among them.
            shutil.copystat(target, temporary)
            os.utime(temporary)
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _remove_remains(directory: str) -> None:
    """Remove what an earlier run left where it was killed while it wrote: files of this user and this name only."""
    oldest = time.time() - _REMAINS_S
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                status = entry.stat(follow_symlinks=False)
                own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
                if stat.S_ISREG(status.st_mode) and own and status.st_mtime < oldest:
                    os.unlink(entry.path)


def _umask() -> int:
    """What new files of this process lack in permissions; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _copy_owner(source: str, target: str) -> None:
    """Only a superuser may give a file away; without that right the new file belongs to whoever fixes."""
    if hasattr(os, "chown"):
        status = os.stat(source)
        with contextlib.suppress(PermissionError):
            os.chown(target, status.st_uid, status.st_gid)
