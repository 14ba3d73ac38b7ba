"""The screen: select by their bytes the files that can matter, so that other files are never parsed.

A file matters by itself if it names an API of loading or launching. Of the files that import such files those are read
that connect a launch with a loader, that contain something that a dataset could receive (a lambda, an opener), or that
run them at their top level. What any of these files imports, directly or not, is read too.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

from dllint.modules import ModuleIndex
from dllint.screened_imports import (
    EXECUTED,
    HOLE,
    PREFIX,
    bases,
    files_imported,
    imports,
    named_like_their_class,
)

T = TypeVar("T")
_SETTING = re.compile(rb"^[A-Za-z_]\w*[ \t]*=", re.MULTILINE)
_SETTING_ELSEWHERE = re.compile(rb"^[ \t]*(?!self\.|cls\.)[A-Za-z_]\w*\.\w+[ \t]*=[^=]|\bsetattr\(", re.MULTILINE)
_BEFORE_STARTS = re.compile(rb"^[ \t]+global[ \t]|cuda", re.MULTILINE)
"""What a program may do before another file starts processes: it changes a variable of its own, or uses CUDA."""
_FEW = 50
_SMALL = 2000
"""Bytes. A settings module this short costs less to parse than to examine."""
_SETTINGS = 8000
"""The same for a module of settings alone, without functions and classes."""
_DEFINES = re.compile(rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]", re.MULTILINE)
_DEFINITION = re.compile(rb"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_IMPORTING = re.compile(rb"[ \t]*(?:import|from)[ \t]|[ \t]*#")
_ASSIGNED = re.compile(rb"(\w+)[ \t]*=")
_AT_TOP = re.compile(rb"^(?:[A-Za-z_][\w.]*\(|(?:async[ \t]+)?(?:for|with)[ \t])", re.MULTILINE)
_KEEPING = re.compile(rb"\.(?:append|extend)\([^\r\n]*\.(?:detach|cpu|numpy)\(")
"""What keeps parts of batches that it is given: `self.labels.append(labels.detach().cpu())`."""
_NESTED = re.compile(rb"\n[ \t]+(?:def|class)[ \t]")
_NEXT = re.compile(rb"\n[^\s#)\]}]|\Z")
"""Where the body of a module-level function ends."""
_PARSING = (b".parse_args(", b".parse_known_args(")
_SEARCHED = (b"import *", b"getattr(", b"__main__", b"spawn")
"""Further texts that files are searched for."""
_WORD = re.compile(rb"\w+")


class Words(NamedTuple):
    """The words by which files are selected.

    Attributes:
        launching: names of APIs that start processes; a file with one matters by itself.
        loading: names of APIs of loaders and datasets; a file with one matters by itself.
        in_workers: words of hazards in code that runs in workers; they count only where no file matters by itself.
        nearby: words of what a dataset could receive; they count in files that import one that matters.
        packages: word → the packages whose APIs it names; it counts only in a project that imports one of them.
        beside: word → other words; it counts only in a file that contains one of them as well.
    """

    launching: tuple[bytes, ...] = ()
    loading: tuple[bytes, ...] = ()
    in_workers: tuple[bytes, ...] = ()
    nearby: tuple[bytes, ...] = ()
    packages: Mapping[bytes, frozenset[str]] = MappingProxyType({})
    beside: Mapping[bytes, tuple[bytes, ...]] = MappingProxyType({})

    def with_names(self, launchers: Iterable[str], others: Iterable[str]) -> Words:
        """Return these words with the last parts of the names that a configuration adds."""
        starts = tuple(name.rpartition(".")[2].encode() for name in launchers)
        loads = tuple(name.rpartition(".")[2].encode() for name in others)
        added = {*starts, *loads}
        return self._replace(
            launching=(*self.launching, *starts),
            loading=(*self.loading, *loads),
            packages={word: names for word, names in self.packages.items() if word not in added},
            beside={word: others for word, others in self.beside.items() if word not in added},
        )

    def with_packages(self, imported: Collection[str]) -> Words:
        """Return the words that count in a project that imports these top-level packages."""
        absent = {word for word, names in self.packages.items() if names.isdisjoint(imported)}
        return self._replace(
            launching=tuple(word for word in self.launching if word not in absent),
            loading=tuple(word for word in self.loading if word not in absent),
            packages={},
        )

    def to_json(self) -> list[Any]:
        """Return the words as lists and strings."""
        groups = (self.launching, self.loading, self.in_workers, self.nearby)
        return [
            *([word.decode("latin-1") for word in group] for group in groups),
            {word.decode("latin-1"): sorted(names) for word, names in self.packages.items()},
            {word.decode("latin-1"): [one.decode("latin-1") for one in others] for word, others in self.beside.items()},
        ]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Words:
        """Return the words that `to_json` wrote."""
        *groups, packages, beside = data
        launching, loading, in_workers, nearby = (tuple(word.encode("latin-1") for word in group) for group in groups)
        return cls(
            *(launching, loading, in_workers, nearby),
            packages={word.encode("latin-1"): frozenset(names) for word, names in packages.items()},
            beside={
                word.encode("latin-1"): tuple(one.encode("latin-1") for one in others)
                for word, others in beside.items()
            },
        )

    def of_file(self, data: bytes) -> tuple[bytes, ...]:
        """Return the words of launching and loading that count in a file."""
        words = (*self.launching, *self.loading)
        return tuple(word for word in words if word not in self.beside or _holds(data, self.beside[word]))


Known = dict[tuple[Any, ...], Any]
"""What was found in contents, by the function that looked for it and its arguments; the first is the content."""


def _look(known: Known, function: Callable[..., T], data: bytes, *others: object) -> T:
    """Return what a function finds in a content, computed once."""
    key = (function, data, *others)
    found: T | None = known.get(key)
    if found is None and key not in known:
        found = known[key] = function(data, *others)
    return cast(T, found)


class Selection(NamedTuple):
    """The files that are worth parsing.

    Attributes:
        paths: the files.
        left_out: how many more there would be without the limit on their size.
        packages: the top-level packages that the project imports.
        names: the names, and beginnings of names, that files were searched for because others define them.
    """

    paths: set[str]
    left_out: int = 0
    packages: frozenset[str] = frozenset()
    names: frozenset[bytes] = frozenset()


def selected_alike(
    before: bytes, after: bytes, words: Words, packages: Collection[str], names: Collection[bytes]
) -> bool:
    """Whether `select` chooses the same files before and after an edit of one of them. The limit on their size is left
    to the caller.

    Args:
        before, after: the file.
        words: the words by which files are selected.
        packages, names: as in the `Selection` from the files before the edit.
    """
    effective = words.with_packages(packages)
    if _view(before, words, effective) != _view(after, words, effective):
        return False
    differing = {*_WORD.findall(before)} ^ {*_WORD.findall(after)}
    concerned = [name for name in names if any(name in word for word in differing)]
    return not any(name in differing or (name in before) != (name in after) for name in concerned)


def _view(data: bytes, words: Words, effective: Words) -> tuple[object, ...]:
    """Return what `select` looks for in a file, except names that other files define: any function of this module that
    reads contents is called here, or what it searches is."""
    imported = imports(data)
    lists = (words.launching, words.loading, words.in_workers, words.nearby, *words.beside.values(), _PARSING)
    patterns = (EXECUTED, _SETTING, _SETTING_ELSEWHERE, _DEFINES, _AT_TOP, _KEEPING, _BEFORE_STARTS)
    dynamic = b"import_module(" in data or b"__import__(" in data
    return (
        [[word in data for word in group] for group in (*lists, tuple(words.beside), _SEARCHED)],
        imported,
        bases(data),
        [(prefix, HOLE.sub(b"", rest).count(b".")) for prefix, rest in PREFIX.findall(data)] if dynamic else None,
        [pattern.search(data) is not None for pattern in patterns],
        (len(data) < _SMALL, len(data) < _SETTINGS, _defines_locally(data)),
        _mattering_names(data, effective.of_file(data)),
    )


def select(
    files: Mapping[str, bytes],
    index: ModuleIndex,
    words: Words,
    known: Known | None = None,
    most: int = sys.maxsize,
) -> Selection:
    """Return the files that are worth parsing.

    Args:
        files: contents by path.
        index: resolves imports to files.
        words: the words by which files are selected.
        known: what earlier calls found; this one adds to it.
        most: bytes of the files that do not matter by themselves; beyond it, the files farthest from those that do are
            left out.
    """
    known = {} if known is None else known
    packages: frozenset[str] = frozenset()
    if any(_look(known, _holds, data, (*words.launching, *words.loading)) for data in files.values()):
        packages = frozenset(
            module.partition(".")[0]
            for data in files.values()
            for module, level, _ in _look(known, imports, data)
            if not level
        )
        words = words.with_packages(packages)
    beside = tuple(words.beside.items())
    launching = {path for path, data in files.items() if _look(known, _counts, data, words.launching, beside)}
    loading = {path for path, data in files.items() if _look(known, _counts, data, words.loading, beside)}
    mattering = launching | loading
    if not mattering:
        chosen = {path for path, data in files.items() if _holds(data, words.in_workers)}
        return Selection(chosen, 0, packages)
    imported = {
        path: files_imported(path, data, index, _look(known, imports, data)) & files.keys()
        for path, data in files.items()
    }
    executing = [path for path, data in files.items() if _look(known, _matches, data, EXECUTED)]
    named = named_like_their_class(files) if executing else {}
    for path in executing:
        imported[path] |= named.keys()
    importing: dict[str, set[str]] = {}
    for path, others in imported.items():
        for other in others:
            importing.setdefault(other, set()).add(path)
    scripts = {path for path in mattering if _runs_when_imported(files[path])}
    chosen = mattering | {other for path in scripts for other in importing.get(path, ())}
    names: set[bytes] = set(named.values())
    for path in mattering:
        names |= _only_those_who_mention(path, files, imported, importing, words, known)
    chosen |= _reach(launching, importing) & _reach(loading, importing)
    above = {other for path in mattering for other in importing.get(path, ())} - chosen
    chosen |= {path for path in above if _look(known, _may_give, files[path], words.nearby)}
    starting = _reach(launching, importing) - chosen
    chosen |= {path for path in starting if _look(known, _matches, files[path], _BEFORE_STARTS)}
    # Where processes are spawned, a script that starts others besides forks them: what runs in both must be known.
    if any(b"spawn" in files[path] for path in launching):
        chosen |= {path for path in starting if b"__main__" in files[path]}
    # Files that may change a setting of another module: `settings.DEBUG = True`.
    settings = {other for path in mattering for other in imported[path] if _is_settings(files[other])}
    users = {other for path in settings for other in importing.get(path, ())} - chosen
    chosen |= {path for path in users if _look(known, _matches, files[path], _SETTING_ELSEWHERE)}
    chosen = _reach(chosen, imported)
    # A program that parses a command line, and what lies between it and a loader: it says which options there are.
    above = _reach(loading, importing)
    programs = {path for path in above - chosen if _holds(files[path], _PARSING)}
    chosen |= above & _reach(programs, imported)
    if sum(len(files[path]) for path in chosen - mattering) <= most:
        return Selection(chosen, 0, packages, frozenset(names))
    nearest = _nearest(chosen - mattering, files, _distances(mattering, imported), _distances(mattering, importing))
    ends = accumulate(len(files[path]) for path in nearest)
    read = {path for path, end in zip(nearest, ends, strict=True) if end <= most}
    return Selection(mattering | read, len(nearest) - len(read), packages, frozenset(names))


def _nearest(
    paths: Iterable[str], files: Mapping[str, bytes], below: Mapping[str, int], above: Mapping[str, int]
) -> list[str]:
    """Return files in the order of the shortest import path between two files that matter on which each lies; of those
    with equal paths, the shortest file first.

    Args:
        paths: the files to sort.
        files: contents by path.
        below: the number of imports from a file that matters to each file.
        above: the number of imports from each file to one that matters.
    """
    far = len(files)
    return sorted(paths, key=lambda path: (below.get(path, far) + above.get(path, far), len(files[path]), path))


def _distances(starts: Iterable[str], edges: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return the number of edges on the shortest path from one of the starts to each reachable node."""
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        here = waiting.popleft()
        for other in edges.get(here, ()):
            if other not in found:
                found[other] = found[here] + 1
                waiting.append(other)
    return found


def _is_settings(data: bytes) -> bool:
    """Whether a file is a short module of settings."""
    short = len(data) < _SMALL or (len(data) < _SETTINGS and _DEFINES.search(data) is None)
    return short and _SETTING.search(data) is not None


def _matches(data: bytes, pattern: re.Pattern[bytes]) -> bool:
    return pattern.search(data) is not None


def _defines_locally(data: bytes) -> bool:
    """Whether a function of the module defines a local function or class, which it may return."""
    for body in (b"\n" + data).split(b"\ndef ")[1:]:
        end = _NEXT.search(body)
        if _NESTED.search(body, 0, end.start() if end else len(body)):
            return True
    return False


def _may_give(data: bytes, nearby: tuple[bytes, ...]) -> bool:
    """Whether a file that imports one that matters may pass it something that counts, or runs it at its top level."""
    return _runs_when_imported(data) or _holds(data, nearby) or _matches(data, _KEEPING) or _defines_locally(data)


def _runs_when_imported(data: bytes) -> bool:
    """Whether a file has calls at its top level and no `__main__` guard, so that importing it may start processes."""
    return b"__main__" not in data and _AT_TOP.search(data) is not None


def _only_those_who_mention(
    path: str,
    files: Mapping[str, bytes],
    imported: Mapping[str, set[str]],
    importing: Mapping[str, set[str]],
    mattering: Words,
    known: Known,
) -> set[bytes]:
    """Cut the import edges to a file from files that mention none of its functions and classes that matter: much of a
    project imports a module of utilities for something else. A file that uses `getattr` keeps its edge if it contains
    the beginning of such a name.

    Returns:
        The names and beginnings that files were searched for.
    """
    names = _look(known, _mattering_names, files[path], mattering.of_file(files[path]))
    if names is None:
        return set()
    words = (b"import *", *sorted(names))
    beginnings = tuple(name[: name.rindex(b"_") + 1] for name in names if b"_" in name[4:])
    for other in list(importing.get(path, ())):
        data = files[other]
        if not _look(known, _mentions, data, words) and not (b"getattr(" in data and _holds(data, beginnings)):
            importing[path].discard(other)
            imported[other].discard(path)
    return {*names, *beginnings}


def _mattering_names(data: bytes, words: Iterable[bytes]) -> set[bytes] | None:
    """Return the functions and classes that contain one of the words, and transitively those that mention them; `None`
    if a word occurs at module level, so that importing the module is enough."""
    lines = data.splitlines()
    mentioned: dict[bytes, list[int]] = {}
    around: list[tuple[bytes, ...]] = []
    open_blocks: list[tuple[int, bytes]] = []
    for line in lines:
        plain = line.lstrip()
        if plain and not plain.startswith(b"#"):
            indent = len(line) - len(plain)
            while open_blocks and open_blocks[-1][0] >= indent:
                open_blocks.pop()
            found = _DEFINITION.match(plain)
            if found:
                open_blocks.append((indent, found[1]))
        for name in set(_WORD.findall(line)):
            mentioned.setdefault(name, []).append(len(around))
        around.append(tuple(name for _, name in open_blocks))
    names: set[bytes] = set()
    looked_at: set[int] = set()
    holding = _lines_with(data, words)
    waiting = sorted(holding)
    while waiting:
        number = waiting.pop()
        line, blocks = lines[number], around[number]
        if number in looked_at or _IMPORTING.match(line):
            continue
        looked_at.add(number)
        if not blocks and number in holding:
            return None
        assigned = _ASSIGNED.match(line) if not blocks else None
        for name in (*blocks, *((assigned[1],) if assigned else ())):
            if name not in names and not name.startswith(b"__"):
                names.add(name)
                waiting += mentioned.get(name, ())
    return names


def _lines_with(data: bytes, words: Iterable[bytes]) -> set[int]:
    """Return the numbers, from 0, of the lines that contain one of the words. The text is searched as a whole, because
    few of its thousands of lines contain one."""
    ends = list(accumulate(map(len, data.splitlines(keepends=True))))
    found: set[int] = set()
    for word in words:
        at = data.find(word)
        while at >= 0:
            number = bisect_right(ends, at)
            found.add(number)
            at = data.find(word, ends[number])
    return found


def _mentions(data: bytes, names: Sequence[bytes]) -> bool:
    """Whether a text contains one of the names. Names are searched for one by one only if they are few."""
    if len(names) > _FEW:
        return b"import *" in data or not {*names}.isdisjoint(_WORD.findall(data))
    return _holds(data, names)


def _holds(data: bytes, words: Iterable[bytes]) -> bool:
    return any(word in data for word in words)


def _counts(data: bytes, words: Iterable[bytes], beside: Iterable[tuple[bytes, tuple[bytes, ...]]]) -> bool:
    """Whether a text contains one of the words, and what has to stand beside it."""
    needed = dict(beside)
    return any(word in data and (word not in needed or _holds(data, needed[word])) for word in words)


def _reach(starts: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Return all nodes reachable along the edges, including the starts."""
    reached = set(starts)
    waiting = list(reached)
    while waiting:
        for other in edges.get(waiting.pop(), ()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached
