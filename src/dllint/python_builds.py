"""The Python versions that a project can be installed on: those that its files name, and for which the packages that it
requires have been built.

torch, torchvision, TensorFlow and DGL are published as binaries only. A project that pins torch 2.4 therefore does not
run on Python 3.14, whatever its `requires-python` allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import groupby

from dllint.project_requirements import Declared, declared, folders_of
from dllint.python_versions import KNOWN, allowed_by

Python = tuple[int, int]
ANY = 99
"""Stands for the newest minor version where none is known to be the last."""
_PATCHES = range(5)
"""The patch releases that specifiers are compared with; no minor release of these packages had more than five."""

_IN_PASSING = ("words", "command", "script")
"""Kinds of declarations that say how to install some of what a repository holds."""
_ADVICE = ("words", "command")
"""Those that readers follow, or do not."""
_POST = re.compile(r"\.post\d+|(?<=\d)_\d+")
"""A release that was built again for the same versions of Python: 1.0.1.post2, 0.3.0_4."""

# For each major version: the number of its last minor version, and from which minor version on there are builds for
# which Python 3 minor version. From the names of the files on PyPI and download.pytorch.org, November 2026; torch's
# are also in the release compatibility matrix of its RELEASE.md.
BUILDS: dict[str, dict[int, tuple[int, tuple[Python, ...]]]] = {
    "torch": {
        0: (4, ((1, 7),)),
        1: (13, ((0, 7), (4, 8), (7, 9), (10, 10), (13, 11))),
        2: (40, ((0, 11), (2, 12), (5, 13), (9, ANY))),
    },
    "torchvision": {
        0: (60, ((3, 7), (5, 8), (8, 9), (11, 10), (14, 11), (17, 12), (20, 13), (24, ANY))),
    },
    "tensorflow": {
        1: (15, ((0, 7),)),
        2: (60, ((0, 7), (2, 8), (5, 9), (8, 10), (12, 11), (16, 12), (20, 13), (22, ANY))),
    },
    "dgl": {
        0: (9, ((1, 7), (4, 8), (6, 9), (8, 10))),
        1: (1, ((0, 11),)),
        2: (60, ((0, 11), (1, 12), (5, ANY))),
    },
}


def installable(root: str, pythons: tuple[Python, ...], stated: bool, advised: bool = True) -> tuple[Python, ...]:
    """Return those of the given Python versions that a project can be installed on; all of them if the files rule out
    each one. A README that contradicts the other files counts for nothing.

    Args:
        root: the directory whose files declare what the project needs. Where they declare nothing, the files of its
            folders do: those of each folder are alternatives.
        pythons: the versions that its settings allow, however old.
        stated: whether the project's own settings already say which versions it allows. Otherwise the metadata in
            setup.py or setup.cfg do, or, where these name no version of Python, the conda environments and the Docker
            image, and the README of a project without dependencies of its own.
        advised: whether what a README says counts, too.
    """
    usable = _usable(root, pythons, stated, advised)
    if not usable and advised:
        usable = _usable(root, pythons, stated, False)
    return usable or pythons


def _usable(root: str, pythons: tuple[Python, ...], stated: bool, advised: bool) -> tuple[Python, ...]:
    found = _declared(root, advised)
    tests = _tests(found, stated)
    if not tests and all(one.kind in _IN_PASSING for one in found):
        # A repository of several projects, each of which may be what runs.
        parts = [_tests(part, stated) for folder in folders_of(root) if (part := _declared(folder, advised))]
        return tuple(one for one in pythons if not parts or any(_passes(part, one) for part in parts))
    return tuple(one for one in pythons if _passes(tests, one))


def _declared(root: str, advised: bool) -> list[Declared]:
    return [one for one in declared(root) if advised or one.kind not in _ADVICE]


def _tests(found: list[Declared], stated: bool) -> list[Callable[[Python], bool]]:
    return [*_named_pythons(found, stated), *_built(found)]


def _passes(tests: list[Callable[[Python], bool]], python: Python) -> bool:
    return all(test(python) for test in tests)


def _named_pythons(found: list[Declared], stated: bool) -> Iterator[Callable[[Python], bool]]:
    if stated:
        return
    named = [one for one in found if one.package == "python" and one.kind != "list"]
    metadata = [one for one in named if one.kind == "metadata"]
    if not metadata and any(one.kind == "metadata" for one in found):
        # Users of a package install it where they like; its environment is the one that its authors train in.
        named = [one for one in named if one.kind == "environment"]
    ranges = [_pythons(one.versions) for one in metadata or named]
    if ranges:
        yield lambda python: any(python in one for one in ranges)


def _built(found: list[Declared]) -> Iterator[Callable[[Python], bool]]:
    """Files that require the packages are alternatives: a version counts if one of them can be installed on it."""
    needed = [one for one in found if one.package.replace("-gpu", "").replace("-cpu", "") in BUILDS]
    # Metadata that name a package without a version leave it to the other files.
    needed = [one for one in needed if one.versions or one.kind != "metadata"] or needed
    if all(one.versions for one in needed):
        files = [list(group) for _, group in groupby(needed, key=lambda one: one.path)]
        if files:
            yield lambda python: any(_has_builds(file, python) for file in files)


def _has_builds(file: list[Declared], python: Python) -> bool:
    """Whether each package of a file has a build for a Python. A package that is listed twice needs one of both."""
    by_package: dict[str, list[Declared]] = {}
    for one in file:
        if _applies(one.marker, python):
            by_package.setdefault(one.package, []).append(one)
    return all(any(_newest(one) >= python[1] for one in listed) for listed in by_package.values())


@lru_cache(maxsize=64)
def _newest(one: Declared) -> int:
    """Return the newest minor version of Python 3 that a release within a requirement was built for."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        allowed = SpecifierSet(_POST.sub("", one.versions))
    except InvalidSpecifier:
        return ANY
    found = [newest for version, newest in _releases(one.package) if allowed.contains(version, prereleases=True)]
    return max(found, default=ANY)


def _releases(package: str) -> Iterable[tuple[str, int]]:
    for major, (last, rows) in BUILDS[package.replace("-gpu", "").replace("-cpu", "")].items():
        for minor in range(rows[0][0], last + 1):
            newest = max(python for first, python in rows if first <= minor)
            yield from ((f"{major}.{minor}.{patch}", newest) for patch in _PATCHES)


def _applies(marker: str, python: Python) -> bool:
    """Whether a condition holds on Linux with this Python; one that cannot be read may not hold."""
    if not marker:
        return True
    from packaging.markers import InvalidMarker, Marker

    version = f"{python[0]}.{python[1]}"
    linux = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"}
    environment = {**linux, "python_version": version, "python_full_version": f"{version}.9", "extra": ""}
    try:
        return Marker(marker).evaluate(environment)
    except (InvalidMarker, ValueError, KeyError):
        return False


def _pythons(text: str) -> tuple[Python, ...]:
    try:
        return allowed_by(text)
    except ValueError:
        return KNOWN
