"""Write new texts to files, completely or not at all."""

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
"""Seconds after which a temporary file cannot belong to a run that is still active."""


class WriteError(Exception):
    """A file could not be written and is unchanged; the message is its path and the reason."""


def write_fixed(path: str, old: str, new: str, root: str | None = None) -> None:
    """Write a fixed text to its file, with the arguments of `fixed_content`.

    Raises:
        WriteError: as for `fixed_content`, or the file cannot be written; it is unchanged.
    """
    write_atomically(path, fixed_content(path, old, new, root))


def fixed_content(path: str, old: str, new: str, root: str | None = None) -> bytes:
    """Return the content of a file once it is fixed: the new text with the encoding and byte-order mark of the file.

    Args:
        old, new: texts with the file's own line ends, with or without its byte-order mark.
        root: the project's directory; links that lead out of it are not followed.

    Raises:
        WriteError: the file must not be changed: it cannot be read, is read-only, changed after the check, has several
            hard links, or its encoding lacks a character.
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
    """Encode a text as the original bytes declare, with their byte-order mark.

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
    """Replace a file's content by a rename within its directory. Its mode is kept, and a symbolic link stays a link.

    What is no regular file is written to as it is: a rename would put a file in the place of `/dev/null` or a pipe.

    Raises:
        WriteError: the file cannot be written; it is unchanged, and no temporary file remains.
    """
    temporary = None
    try:
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "wb") as stream:
                stream.write(data)
            return
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
            # The mode and the extended attributes, including access control lists.
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
    """Remove temporary files that a killed run left behind: only those of this user and with dllint's name pattern."""
    oldest = time.time() - _REMAINS_S
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                status = entry.stat(follow_symlinks=False)
                own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
                if stat.S_ISREG(status.st_mode) and own and status.st_mtime < oldest:
                    os.unlink(entry.path)


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _copy_owner(source: str, target: str) -> None:
    """Copy owner and group. Only a superuser may change the owner; otherwise the new file belongs to the user."""
    if hasattr(os, "chown"):
        status = os.stat(source)
        with contextlib.suppress(PermissionError):
            os.chown(target, status.st_uid, status.st_gid)
