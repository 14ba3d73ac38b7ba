"""The root of a project without a marker file: the topmost directory from which its imports resolve."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice

from dllint import files
from dllint.config import has_project_mark
from dllint.modules import INSTALLED
from dllint.notebooks import NotANotebook, is_notebook, read

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?=[\w.])(\.*)((?:\w[\w.]*)?)[ \t]+import\b|import[ \t]+([^#\r\n]+))", re.MULTILINE
)
NOT_THE_PROJECTS = INSTALLED | sys.stdlib_module_names
MOST_FILES = 2_000
"""Maximum number of files whose imports are followed."""


def shown(path: str, root: str) -> str:
    """Return a path as messages show it: relative to the project root if it lies below the root."""
    inside = os.path.relpath(path, root) if os.path.isabs(path) else path
    return path if inside.startswith("..") else inside.replace(os.sep, "/")


def by_imports(asked: Iterable[str], unsaved: Mapping[str, str | bytes], named: Iterable[str] = ()) -> str:
    """Return the topmost directory that imports resolve from, those of the files and those of files above that import
    them. If none does, return the common directory of the files and of the `named` directories. All paths are
    absolute."""
    asked = list(asked)
    top = _common((*map(os.path.dirname, asked), *(one for one in named if not is_crowded(one))))
    crowded = is_crowded(top)
    for path in asked[:MOST_FILES]:
        for dots, module in _imports(path, unsaved):
            base = _base(os.path.dirname(path), dots, module)
            if base is not None and not is_crowded(base):
                top = base if crowded else _common((top, base))
                crowded = False
    return top if crowded else _importing(top, unsaved)


def _importing(top: str, unsaved: Mapping[str, str | bytes]) -> str:
    """Return the topmost directory above from which a file imports what lies in `top`; if there is none, `top`.

    Asked are the files directly in a directory above, and those one level below it, as in `scripts`.
    """
    left = MOST_FILES
    here = found = top
    while (above := os.path.dirname(here)) != here and not is_crowded(above):
        name = os.path.basename(here)
        beside = (one for one in _directories_in(above) if one != here)
        sources = (path for directory in chain((above,), beside) for path in _sources_in(directory))
        for path in islice(sources, left):
            left -= 1
            if any(
                module.partition(".")[0] == name and _leads_to(here, os.path.dirname(path), dots)
                for dots, module in _imports(path, unsaved)
            ):
                found = above
                break
        here = above
    return found


def _leads_to(directory: str, importer: str, dots: int) -> bool:
    """Whether an import in the directory `importer` of a directory's name means that directory."""
    above, name = os.path.split(directory)
    if dots:
        return dots == (1 if importer == above else 2)
    return name not in NOT_THE_PROJECTS and (importer == above or not _holds(importer, name))


def imported(asked: Iterable[str], root: str, unsaved: Mapping[str, str | bytes]) -> list[str]:
    """Return the given files, their siblings and everything they import directly or indirectly, sorted."""
    asked = list(asked)
    beside = [one for directory in sorted({os.path.dirname(path) for path in asked}) for one in _sources_in(directory)]
    found = dict.fromkeys((*asked, *beside))
    waiting = list(found)
    while waiting and len(found) < MOST_FILES:
        path = waiting.pop()
        for dots, module in _imports(path, unsaved):
            base = _base(os.path.dirname(path), dots, module)
            for name in _candidates(base, module) if base is not None else ():
                if name not in found and os.path.isfile(name):
                    found[name] = None
                    waiting.append(name)
    return sorted(found)


@lru_cache(maxsize=64)
def is_crowded(directory: str) -> bool:
    """Whether a directory is shared by unrelated things and therefore no project: it contains several projects, or is
    the home directory, the temporary directory, the parent of home, or the top of the file system."""
    plain = os.path.realpath(directory)
    if sum(has_project_mark(one) for one in _directories_in(plain)) > 1:
        return True
    shared = (os.path.expanduser("~"), tempfile.gettempdir(), os.path.dirname(os.path.expanduser("~")))
    return plain == os.path.dirname(plain) or plain in map(os.path.realpath, shared)


def _imports(path: str, unsaved: Mapping[str, str | bytes]) -> Iterator[tuple[int, str]]:
    """Yield the number of dots and the dotted name of each import, found by text search without parsing."""
    try:
        given = unsaved[path] if path in unsaved else files.read(path)
    except files.CannotRead:
        return
    data = given.encode("utf-8", "replace") if isinstance(given, str) else given
    if is_notebook(path):
        try:
            data = "".join(text.text for text in read(path, data).texts.values()).encode("utf-8", "replace")
        except NotANotebook:
            return
    for dots, name, several in _IMPORT.findall(data):
        if several:
            for part in several.split(b","):
                words = part.split()
                if words:
                    yield 0, words[0].decode("utf-8", "replace")
        else:
            yield len(dots), name.decode("utf-8", "replace")


def _base(directory: str, dots: int, module: str) -> str | None:
    """Return the directory that an import resolves from: the nearest one upward with the module's first part."""
    for _ in range(dots - 1):
        directory = os.path.dirname(directory)
    if dots:
        return directory
    first = module.partition(".")[0]
    while first and first not in NOT_THE_PROJECTS:
        if _holds(directory, first):
            return directory
        above = os.path.dirname(directory)
        if above == directory or is_crowded(directory):
            return None
        directory = above
    return None


@lru_cache(maxsize=4096)
def _holds(directory: str, name: str) -> bool:
    inner = os.path.join(directory, name)
    return os.path.isfile(inner + files.SOURCE_SUFFIX) or any(_sources_in(inner))


def _candidates(base: str, module: str) -> Iterator[str]:
    here = base
    for part in module.split(".") if module else ():
        here = os.path.join(here, part)
        yield here + files.SOURCE_SUFFIX
        yield os.path.join(here, "__init__.py")
    yield from _sources_in(here)


def _directories_in(directory: str) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            yield from [one.path for one in entries if one.is_dir(follow_symlinks=False)]
    except OSError:
        return


def _sources_in(directory: str) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            yield from [one.path for one in entries if one.name.endswith(files.SOURCE_SUFFIX) and one.is_file()]
    except OSError:
        return


def _common(directories: Iterable[str]) -> str:
    listed = list(directories)
    try:
        return os.path.commonpath(listed)
    except ValueError:  # Windows: paths on several drives
        return listed[0]
