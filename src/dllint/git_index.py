"""The Python files that git tracks, read from `.git/index`, because git may run commands that a repository configures.

The format is gitformat-index(5), versions 2 to 4.
"""

from __future__ import annotations

import os

from dllint.reading import INDEX_BYTES, CannotRead, read

LONGEST_NAME = 4_096
"""Length of a path in bytes."""
MOST_NAMES_BYTES = 64 << 20
"""Total size of all names. Version 4 stores shared prefixes once, so a small index can hold much text."""
_FIXED = 40
"""Bytes of an entry before its object name: times, device, inode, mode, owner, size."""
_EXTENDED = 0x4000
_LINK = 0o120000
_KIND = 0o170000
_SUBMODULE = 0o160000
_DIRECTORY = 0o040000


class CannotTell(Exception):
    """The git index cannot be read; the message says why, in a few words."""


def git_directory(root: str) -> str:
    """Return the git directory of a repository. In a submodule or a linked worktree, `.git` is a file with its path."""
    path = os.path.join(root, ".git")
    if os.path.isdir(path):
        return path
    try:
        text = os.fsdecode(read(path, LONGEST_NAME))
    except CannotRead:
        return path
    return os.path.join(root, text.removeprefix("gitdir:").strip()) if text.startswith("gitdir:") else path


def tracked(root: str, suffixes: tuple[str, ...]) -> list[str]:
    """Return the tracked files of a repository that end with one of the suffixes, sorted, as absolute paths.

    Raises:
        CannotTell: the index exists and cannot be read.
    """
    path = os.path.join(git_directory(root), "index")
    try:
        if not os.path.lexists(path):
            return []
        data = read(path, INDEX_BYTES)
    except CannotRead as error:
        raise CannotTell(error.reason) from None
    if data[:4] != b"DIRC" or len(data) < 12:
        raise CannotTell("it is no index")
    for object_name in (20, 32):
        try:
            names = _names(data, object_name, tuple(suffix.encode() for suffix in suffixes))
        except _Misread:
            continue
        return sorted(os.path.join(root, *os.fsdecode(name).split("/")) for name in names)
    raise CannotTell("it is damaged, or in a format that is not known here")


class _Misread(Exception):
    """The bytes of the index do not parse as entries with object names of the assumed length."""


def _names(data: bytes, object_name: int, suffixes: tuple[bytes, ...]) -> set[bytes]:
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    end = len(data) - object_name
    if version not in (2, 3, 4) or count > end // (_FIXED + object_name + 3):
        raise _Misread
    found: set[bytes] = set()
    kept, at, name = 0, 12, b""
    for _ in range(count):
        start = at
        at += _FIXED + object_name + 2
        mode = int.from_bytes(data[start + 24 : start + 28], "big") & _KIND
        flags = int.from_bytes(data[at - 2 : at], "big")
        if version >= 3 and flags & _EXTENDED:
            at += 2
        if version == 4:
            dropped, at = _number(data, at)
            if dropped > len(name):
                raise _Misread
            shared = name[: len(name) - dropped]
        else:
            shared = b""
        stop = data.find(b"\0", at, min(at + LONGEST_NAME, end))
        if stop < 0 or mode not in (0o100000, _LINK, _SUBMODULE, _DIRECTORY):
            raise _Misread
        name = shared + data[at:stop]
        if not name or len(name) > LONGEST_NAME:
            raise _Misread
        # Entries of versions 2 and 3 are padded with 1 to 8 null bytes to a multiple of 8.
        at = stop + 1 if version == 4 else start + (stop - start + 8) // 8 * 8
        if name.endswith(suffixes) and name not in found and not {b"", b".", b".."} & set(name.split(b"/")):
            found.add(name)
            kept += len(name)
            if kept > MOST_NAMES_BYTES:
                raise _Misread
    _check_extensions(data, at, end)
    return found


def _check_extensions(data: bytes, at: int, end: int) -> None:
    """Raise `_Misread` for unknown required extensions (lower case) like `link`: a split index uses another file."""
    while at + 8 <= end:
        kind, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        if kind[:1].islower() and kind != b"sdir":
            raise _Misread
        at += 8 + size
    if at != end:
        raise _Misread


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in git's variable-length encoding, and the index after it."""
    value = -1
    for place in range(at, min(at + 5, len(data))):
        value = (value + 1) << 7 | (data[place] & 0x7F)
        if not data[place] & 0x80:
            return value, place + 1
    raise _Misread
