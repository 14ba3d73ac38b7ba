"""The one reader of files that a repository brings: regular files only, never more than a stated number of bytes.

A named pipe would block forever, a device such as `/dev/zero` never ends, and a link may lead to a file that the
repository has no business with. Whatever a project holds is therefore opened here and nowhere else.
"""

from __future__ import annotations

import errno
import os
import stat

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
