"""Source files: select the ones to check, read them and decode them."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dllint import git_index, reading
from dllint.config import Settings
from dllint.gitignore import Patterns, lines_of
from dllint.reading import CannotRead as CannotRead
from dllint.span import WHOLE_FILE, Span

DEFAULT_EXCLUDE = frozenset(
    {".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d"}
    | {".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__"}
    | {"__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"}
)
"""Directories that contain none of the project's own source; the setting `exclude` replaces this list."""
SOURCE_SUFFIX = ".py"
SOURCE_SUFFIXES = (SOURCE_SUFFIX, ".ipynb")
_DECLARATION = re.compile(rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
"""An encoding declaration, as in PEP 263, "Defining the Encoding"."""
_BLANK = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)")
_AS_UTF8 = frozenset({"future_fstrings", "future_annotations"})
"""Encodings that packages define and that decode UTF-8: they rewrite f-strings, or annotations, for older Pythons
(github.com/asottile/future-fstrings and future-annotations, README)."""
_NO_SOURCE = frozenset({"idna", "punycode"})
"""Encodings for host names; decoding takes time quadratic in the length."""
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Unreadable:
    """Why a file could not be read or parsed, and where: the key of a message on DLL001's page, with its values."""

    message: str
    values: Mapping[str, str]
    span: Span = WHOLE_FILE


class Undecodable(Exception):
    """Bytes that cannot be decoded with the encoding that they declare. `message` is one line; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"{message} (line {line})")
        self.message = message
        self.line = line


@dataclass
class Discovery:
    """The files that a list of paths selects.

    Attributes:
        files: absolute paths, sorted, without duplicates.
        problems: what could not be examined, one line each.
        warnings: directories without Python files, and patterns that were not used, one line each.
        notes: how the surrounding project was found, one line each.
    """

    files: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def discover(
    paths: Iterable[str], settings: Settings, *, respect_gitignore: bool = True, force_exclude: bool = False
) -> Discovery:
    """Return the source files under the given paths. A file that is named explicitly is not subject to excludes.

    Args:
        respect_gitignore: leave out untracked files that match `.gitignore` files or `.git/info/exclude` of their
            repository.
        force_exclude: apply excludes to named paths too.
    """
    walk = _Walk(_Excluded(settings), respect_gitignore, settings.root)
    found = walk.found
    # Real path (all links resolved) of each file, by its path.
    files: dict[str, str] = {}
    for given in paths:
        if not given:
            found.problems.append('"" is no path')
            continue
        path = os.path.abspath(given)
        if force_exclude and walk.excluded.within(path):
            continue
        if os.path.isdir(path):
            before = len(found.problems)
            inside = dict(walk.under(path))
            if not inside and len(found.problems) == before:
                found.warnings.append(f"{given}: no Python files in this directory")
            files.update(inside)
        elif os.path.exists(path):
            files[path] = os.path.realpath(path)
        else:
            found.problems.append(f"{given}: {'broken link' if os.path.islink(path) else 'no such file or directory'}")
    seen: set[str] = set()
    for path, real in sorted(files.items(), key=lambda pair: (pair[0] != pair[1] and os.path.islink(pair[0]), pair[0])):
        if real not in seen:
            seen.add(real)
            found.files.append(path)
    found.files.sort()
    return found


def read(path: str) -> bytes:
    """Read a source file or a notebook.

    Raises:
        CannotRead: with the reason in a few words.
    """
    is_notebook = path.lower().endswith(SOURCE_SUFFIXES[1])
    return reading.read(path, reading.NOTEBOOK_BYTES if is_notebook else reading.SOURCE_BYTES)


def detect_encoding(data: bytes) -> str:
    """Return the encoding of a source file by byte-order mark or declaration (PEP 263), "utf-8" without either.

    `text.encode(detect_encoding(data))` reverses `decode(data)`.

    Raises:
        Undecodable: the declared encoding is unknown or contradicts the byte-order mark.
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
        codec = codecs.lookup("utf-8" if name.replace("-", "_").lower() in _AS_UTF8 else name)
    except (LookupError, ValueError):
        raise Undecodable(f"unknown encoding: {name}", line) from None
    if codec.name in ("utf-8", "utf-8-sig"):
        return "utf-8-sig" if marked or codec.name == "utf-8-sig" else "utf-8"
    if codec.name in _NO_SOURCE:
        raise Undecodable(f"declared as {name}, which is no encoding for source text", line)
    if marked:
        raise Undecodable(f"declared as {name}, but the byte-order mark is UTF-8's", line)
    return name


def decode(data: bytes) -> str:
    """Return the text of a source file without its byte-order mark; line ends stay as they are.

    Raises:
        Undecodable: the bytes are invalid in their encoding, or contain a null byte.
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
    """The `exclude` and `extend-exclude` patterns, read like a `.gitignore` in the configuration's directory."""

    def __init__(self, settings: Settings) -> None:
        self.base = os.path.dirname(settings.origin) if settings.origin else os.path.abspath(settings.root)
        self.names = frozenset() if settings.exclude else DEFAULT_EXCLUDE
        patterns = (*settings.exclude, *settings.extend_exclude)
        self.rules = [(self.base, Patterns(patterns))] if patterns else []

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


_Rules = list[tuple[str, Patterns]]
"""Directories, outermost first, with the patterns that apply below them."""


class _Walk:
    """Searches directories for Python files.

    Args:
        excluded: what the configuration leaves out.
        root: the project's directory; a link that leads out of it is not followed.
    """

    def __init__(self, excluded: _Excluded, respect_gitignore: bool, root: str) -> None:
        self.excluded = excluded
        self.respect_gitignore = respect_gitignore
        self.root = os.path.abspath(root)
        self.found = Discovery()

    def under(self, top: str) -> Iterator[tuple[str, str]]:
        """Yield the Python files under a directory, each with its real path.

        Links to directories are not followed, as in git. Outside a repository `.gitignore` is ignored, as in git: an
        exported copy contains what was tracked.
        """
        real_top = os.path.realpath(top)
        allowed = tuple(one.rstrip(os.sep) + os.sep for one in {real_top, os.path.realpath(self.root)})
        repository = _Repository.around(top) if self.respect_gitignore else None
        rules: _Rules = self._rules_above(repository, top) if repository is not None else []
        if repository is not None and rules and _lies_in_ignored(top, repository.root, rules):
            repository, rules = None, []
        waiting = [(top, repository, rules)]
        while waiting:
            directory, repository, rules = waiting.pop()
            try:
                with os.scandir(directory) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                self._tell(f"{directory}: cannot list this directory: {(error.strerror or str(error)).lower()}")
                continue
            names = {entry.name for entry in entries}
            if self.respect_gitignore and ".git" in names and (repository is None or directory != repository.root):
                repository, rules = _Repository(directory), []
            if repository is not None and not names.isdisjoint((".gitignore", ".git")):
                rules = rules + self._rules_in(directory)
            for entry in entries:
                is_directory = entry.is_dir(follow_symlinks=False)
                if not is_directory and not (entry.name.lower().endswith(SOURCE_SUFFIXES) and self._is_file(entry)):
                    continue
                if self.excluded.matches(entry.path, is_directory):
                    continue
                if rules and repository is not None and _ignored(entry.path, is_directory, rules):
                    tracked = self._tracked_within(repository, entry.path)
                    yield from ((one, real) for one in tracked if (real := self._inside(one, allowed)))
                elif is_directory:
                    waiting.append((entry.path, repository, rules))
                elif not entry.is_symlink():
                    yield entry.path, real_top + entry.path[len(top) :]
                elif real := self._inside(entry.path, allowed):
                    yield entry.path, real

    def _tell(self, problem: str) -> None:
        if problem not in self.found.problems:
            self.found.problems.append(problem)

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        """Whether an entry is a file or a link to one. A broken link or a loop of links is silently left out."""
        try:
            return stat.S_ISREG(entry.stat().st_mode)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
                self._tell(f"{entry.path}: cannot be looked at: {(error.strerror or str(error)).lower()}")
            return False

    def _inside(self, path: str, allowed: tuple[str, ...]) -> str:
        """Return the real path of a file; "" if it lies outside the project, which is reported as a problem."""
        real = os.path.realpath(path)
        if real.startswith(allowed):
            return real
        self._tell(f"{path}: not checked: it is a link that leads out of the project (`extend-exclude` leaves it out)")
        return ""

    def _tracked_within(self, repository: _Repository, path: str) -> list[str]:
        try:
            return [one for one in repository.tracked_within(path) if not _excluded_below(one, path, self.excluded)]
        except git_index.CannotTell as error:
            self._tell(
                f"{repository.root}: cannot read `.git/index` ({error}), so tracked files that are ignored may be "
                "missing (--no-respect-gitignore checks them)"
            )
            return []

    def _rules_above(self, repository: _Repository, directory: str) -> _Rules:
        """Return the ignore patterns of the repository's directories above a directory."""
        above = []
        while directory != repository.root:
            directory = os.path.dirname(directory)
            above.append(directory)
        return [rule for one in reversed(above) for rule in self._rules_in(one)]

    def _rules_in(self, directory: str) -> _Rules:
        rules: _Rules = []
        for name in (".git/info/exclude", ".gitignore"):
            path = os.path.join(directory, name)
            try:
                data = reading.read(path, reading.SETTINGS_BYTES, follow=name != ".gitignore")
            except CannotRead as error:
                # Git does not follow a `.gitignore` that is a symbolic link either.
                if error.reason not in ("no such file", "not a directory", "is a directory"):
                    self._warn(f"{path}: not used: {error.reason}")
                continue
            patterns = Patterns(lines_of(data))
            if patterns.dropped:
                self._warn(f"{path}: {patterns.dropped} patterns are not used: too long, or too many with wildcards")
            rules.append((directory, patterns))
        return rules

    def _warn(self, warning: str) -> None:
        if warning not in self.found.warnings:
            self.found.warnings.append(warning)


class _Repository:
    """A git repository, by the directory that holds its `.git`."""

    def __init__(self, root: str) -> None:
        self.root = root

    @classmethod
    def around(cls, path: str) -> _Repository | None:
        """Return the repository that contains a directory; `None` if there is none."""
        while not os.path.lexists(os.path.join(path, ".git")):
            above = os.path.dirname(path)
            if above == path:
                return None
            path = above
        return cls(path)

    @cached_property
    def tracked(self) -> list[str]:
        """The Python files that git tracks, sorted, as absolute paths.

        A tracked file is never ignored (gitignore(5)): many projects ignore `data/` and keep a package of that name.

        Raises:
            git_index.CannotTell: the index exists and cannot be read.
        """
        return git_index.tracked(self.root, SOURCE_SUFFIXES)

    def tracked_within(self, path: str) -> Iterator[str]:
        """Yield the tracked files at or below an ignored path."""
        below = path + os.sep
        for one in self.tracked[bisect_left(self.tracked, path) :]:
            if not one.startswith(path):
                return
            if (one == path or one.startswith(below)) and os.path.isfile(one):
                yield one


def _excluded_below(path: str, top: str, excluded: _Excluded) -> bool:
    is_directory = False
    while path != top:
        if excluded.matches(path, is_directory):
            return True
        path, is_directory = os.path.dirname(path), True
    return False


def _lies_in_ignored(directory: str, root: str, rules: _Rules) -> bool:
    """Whether a directory of a repository, or one above it, is ignored."""
    while directory != root:
        if _ignored(directory, True, rules):
            return True
        directory = os.path.dirname(directory)
    return False


def _ignored(path: str, is_directory: bool, rules: _Rules) -> bool:
    """Whether a path is ignored, by the innermost list of patterns that matches it."""
    for base, patterns in reversed(rules):
        if not path.startswith(base) or len(path) == len(base):
            continue
        inside = path[len(base) :].strip(os.sep).replace(os.sep, "/")
        verdict = patterns.verdict(inside, is_directory)
        if verdict is not None:
            return verdict
    return False
