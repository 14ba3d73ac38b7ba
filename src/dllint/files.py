"""Which files are meant, and what they hold: discovery, reading and decoding."""

from __future__ import annotations

import codecs
import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.config import Settings

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

DEFAULT_EXCLUDE = frozenset(
    {".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d"}
    | {".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__"}
    | {"__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"}
)
"""Directories that hold no source of the project's own; `exclude` takes the place of this list."""
SOURCE_SUFFIX = ".py"
NOTEBOOK_SUFFIX = ".ipynb"
_DECLARATION = re.compile(rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
"""PEP 263, "Defining the Encoding"."""
_BLANK = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class CannotRead(Exception):
    """A file that cannot be read; `reason` is a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Undecodable(Exception):
    """Bytes that are no text in the encoding that they declare. `message` is one line; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"{message} (line {line})")
        self.message = message
        self.line = line


@dataclass
class Discovery:
    """What a list of paths stands for.

    Attributes:
        files: absolute paths, sorted, each file once.
        problems: what could not be looked at, one line each.
        warnings: directories without Python files, one line each.
        notes: how the project around the files was found, one line each.
    """

    files: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def discover(
    paths: Iterable[str], settings: Settings, *, respect_gitignore: bool = True, force_exclude: bool = False
) -> Discovery:
    """The source files under the given paths. A path that is named stays in, whatever excludes say.

    Args:
        respect_gitignore: leave out what git ignores: what `.gitignore` files and `.git/info/exclude` of a repository
            name and git does not track.
        force_exclude: excludes hold for named paths too.
    """
    found = Discovery()
    excluded = _Excluded(settings)
    files: set[str] = set()
    for given in paths:
        if not given:
            found.problems.append('"" is no path')
            continue
        path = os.path.abspath(given)
        if force_exclude and excluded.within(path):
            continue
        if os.path.isdir(path):
            inside = list(_walk(path, excluded, respect_gitignore, found.problems))
            if not inside and _holds_notebook(path, excluded):
                found.problems.append(f"{given}: no Python files in this directory, and its notebooks are not checked")
            elif not inside:
                found.warnings.append(f"{given}: no Python files in this directory")
            files.update(inside)
        elif path.endswith(NOTEBOOK_SUFFIX) and os.path.exists(path):
            found.problems.append(
                f"{given}: notebooks are not checked (`jupyter nbconvert --to script` makes a .py file)"
            )
        elif os.path.exists(path):
            files.add(path)
        else:
            found.problems.append(f"{given}: {'broken link' if os.path.islink(path) else 'no such file or directory'}")
    seen: set[str] = set()
    for path in sorted(files, key=lambda path: (os.path.islink(path), path)):
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            found.files.append(path)
    found.files.sort()
    return found


def _holds_notebook(top: str, excluded: _Excluded) -> bool:
    for directory, directories, names in os.walk(top):
        directories[:] = [one for one in directories if not excluded.matches(os.path.join(directory, one), True)]
        if any(name.endswith(NOTEBOOK_SUFFIX) for name in names):
            return True
    return False


def read(path: str) -> bytes:
    """The bytes of a file.

    Raises:
        CannotRead: with the reason in a few words.
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise CannotRead("no such file") from None
    except PermissionError:
        raise CannotRead("permission denied") from None
    except IsADirectoryError:
        raise CannotRead("is a directory") from None
    except OSError as error:
        raise CannotRead((error.strerror or str(error)).lower()) from None
    except ValueError:
        raise CannotRead("not a valid path") from None


def detect_encoding(data: bytes) -> str:
    """The encoding of a source file by byte-order mark or declaration (PEP 263), "utf-8" without either.

    `text.encode(detect_encoding(data))` gives back what `decode(data)` took apart.

    Raises:
        Undecodable: if the declared encoding is unknown or contradicts the mark.
    """
    marked = data.startswith(codecs.BOM_UTF8)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Undecodable("UTF-16, which Python does not read as source", 1)
    start = len(codecs.BOM_UTF8) if marked else 0
    for line in (1, 2):
        declared = _DECLARATION.match(data, start)
        if declared:
            return _known_encoding(declared[1].decode("ascii"), marked, line)
        blank = _BLANK.match(data, start)
        if not blank:
            break
        start = blank.end()
    return "utf-8-sig" if marked else "utf-8"


def _known_encoding(name: str, marked: bool, line: int) -> str:
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        raise Undecodable(f"unknown encoding: {name}", line) from None
    if codec.name in ("utf-8", "utf-8-sig"):
        return "utf-8-sig" if marked or codec.name == "utf-8-sig" else "utf-8"
    if marked:
        raise Undecodable(f"declared as {name}, but the byte-order mark is UTF-8's", line)
    return name


def decode(data: bytes) -> str:
    """The text of a source file without its byte-order mark; line ends stay as they are.

    Raises:
        Undecodable: if the bytes are no text in their encoding, or hold a null byte.
    """
    encoding = detect_encoding(data)
    null = data.find(b"\0")
    if null >= 0:
        raise Undecodable("null byte in the source", _line_at(data, null))
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding.startswith("utf-8") else encoding
        at = min(error.start, len(data) - 1)
        raise Undecodable(f"invalid {name}: byte 0x{data[at]:02x}", _line_at(data, at)) from None
    except (LookupError, ValueError):
        raise Undecodable(f"not decodable as {encoding}", 1) from None


def _line_at(data: bytes, offset: int) -> int:
    return sum(1 for _ in _LINE_END.finditer(data, 0, offset)) + 1


class _Excluded:
    """The `exclude` and `extend-exclude` patterns, as `.gitignore` would read them in the configuration's directory."""

    def __init__(self, settings: Settings) -> None:
        self.base = os.path.dirname(settings.origin) if settings.origin else os.path.abspath(settings.root)
        self.names = frozenset() if settings.exclude else DEFAULT_EXCLUDE
        patterns = (*settings.exclude, *settings.extend_exclude)
        self.rules = [(self.base, _spec(patterns))] if patterns else []

    def matches(self, path: str, is_directory: bool) -> bool:
        if is_directory and os.path.basename(path) in self.names:
            return True
        return bool(self.rules) and _ignored(path, is_directory, self.rules)

    def within(self, path: str) -> bool:
        """Whether the path or a directory above it, up to the configuration's, is excluded."""
        if self.matches(path, os.path.isdir(path)):
            return True
        above = os.path.dirname(path)
        while above.startswith(self.base) and above != self.base:
            if self.matches(above, True):
                return True
            above = os.path.dirname(above)
        return False


_Rules = list[tuple[str, "GitIgnoreSpec"]]
"""Directories with the patterns that hold below them, outermost first."""


def _walk(top: str, excluded: _Excluded, respect_gitignore: bool, problems: list[str]) -> Iterator[str]:
    """The Python files under a directory. Links to directories are not followed, as git does not.

    Outside of a repository `.gitignore` means nothing, as it does to git: an exported copy holds what was tracked.
    """
    repository = _Repository.around(top) if respect_gitignore else None
    rules: _Rules = repository.rules_above(top) if repository is not None else []
    if repository is not None and rules and _ignored(top, True, rules):
        repository, rules = None, []
    waiting = [(top, repository, rules)]
    while waiting:
        directory, repository, rules = waiting.pop()
        try:
            with os.scandir(directory) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(f"{directory}: cannot list this directory: {(error.strerror or str(error)).lower()}")
            continue
        names = {entry.name for entry in entries}
        if respect_gitignore and ".git" in names and (repository is None or directory != repository.root):
            repository, rules = _Repository(directory), []
        if repository is not None and not names.isdisjoint((".gitignore", ".git")):
            rules = rules + _rules_in(directory)
        for entry in entries:
            is_directory = entry.is_dir(follow_symlinks=False)
            if not is_directory and not (entry.name.endswith(SOURCE_SUFFIX) and _is_file(entry)):
                continue
            if excluded.matches(entry.path, is_directory):
                continue
            if rules and repository is not None and _ignored(entry.path, is_directory, rules):
                yield from repository.tracked_within(entry.path, excluded)
            elif is_directory:
                waiting.append((entry.path, repository, rules))
            else:
                yield entry.path


class _Repository:
    """A git repository, by the directory that holds its `.git`."""

    def __init__(self, root: str) -> None:
        self.root = root

    @classmethod
    def around(cls, path: str) -> _Repository | None:
        """The repository that a directory lies in."""
        while not os.path.lexists(os.path.join(path, ".git")):
            above = os.path.dirname(path)
            if above == path:
                return None
            path = above
        return cls(path)

    def rules_above(self, directory: str) -> _Rules:
        """The patterns of the repository's directories above one."""
        above = []
        while directory != self.root:
            directory = os.path.dirname(directory)
            above.append(directory)
        return [rule for one in reversed(above) for rule in _rules_in(one)]

    @cached_property
    def tracked(self) -> list[str]:
        """The Python files that git tracks, sorted, as absolute paths. None where git cannot tell.

        What is tracked is never ignored (gitignore(5)): many projects ignore `data/` and keep a package of that name.
        """
        import subprocess

        options = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*")
        command = ["git", "-C", self.root, *options, "ls-files", "-z", "--cached", "--", f"*{SOURCE_SUFFIX}"]
        # A hook sets variables such as GIT_DIR for the repository that it belongs to.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        try:
            listed = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return []
        return sorted(os.path.join(self.root, *os.fsdecode(name).split("/")) for name in listed.split(b"\0") if name)

    def tracked_within(self, path: str, excluded: _Excluded) -> Iterator[str]:
        """The tracked files that an ignored file or directory is or holds, without those that are excluded below it."""
        below = path + os.sep
        for one in self.tracked[bisect_left(self.tracked, path) :]:
            if not one.startswith(path):
                return
            if (
                (one == path or one.startswith(below))
                and os.path.isfile(one)
                and not _excluded_below(one, path, excluded)
            ):
                yield one


def _excluded_below(path: str, top: str, excluded: _Excluded) -> bool:
    is_directory = False
    while path != top:
        if excluded.matches(path, is_directory):
            return True
        path, is_directory = os.path.dirname(path), True
    return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _rules_in(directory: str) -> _Rules:
    rules: _Rules = []
    for name in (".git/info/exclude", ".gitignore"):
        try:
            text = read(os.path.join(directory, name)).decode("utf-8", "surrogateescape")
        except CannotRead:
            continue
        rules.append((directory, _spec(text.splitlines())))
    return rules


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError:
        return GitIgnoreSpec.from_lines([pattern for pattern in patterns if _is_pattern(pattern)])


def _is_pattern(pattern: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return False
    return True


def _ignored(path: str, is_directory: bool, rules: _Rules) -> bool:
    """Whether the innermost pattern that matches the path at all leaves it out."""
    for base, spec in reversed(rules):
        if not path.startswith(base):
            continue
        inside = path[len(base) :].strip(os.sep).replace(os.sep, "/")
        verdict = spec.check_file(inside + "/" if is_directory else inside).include
        if verdict is not None:
            return verdict
    return False
