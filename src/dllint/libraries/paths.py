"""Paths whose text is known: `Path(__file__).parent / "conf"`, `os.path.dirname(__file__)`.

Sources: the documentation of `pathlib` and `os.path` in CPython 3.14. A path of pathlib is a constant whose value is a
`PurePosixPath`. Links are not followed: a path stands for the file that the program names.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Attribute
from dllint.inference.interface import Engine, Handler
from dllint.inference.values import Const, Site, Values, constant
from dllint.reading import is_file, lies_within

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile


def written_path(value: object) -> str | None:
    """The text of a path that a value is: a string, or a path of pathlib. None for any other value."""
    if not isinstance(value, Const) or not isinstance(value.value, (str, PurePosixPath)):
        return None
    return str(value.value)


def project_file(world: Engine, importer: str, value: object) -> str | None:
    """The file that a path names: beside the program, or at the top of the project. None if there is none in the
    project, or if the value is no known path."""
    text = written_path(value)
    if not text:
        return None
    root = world.settings.root
    for base in (posixpath.dirname(importer), root):
        path = posixpath.normpath(posixpath.join(base, text))
        if is_file(path) and (not posixpath.isabs(text) or lies_within(path, root)):
            return path
    return None


def _texts(world: Engine, file: SourceFile, index: int, site: Site) -> list[str] | None:
    """The texts of all arguments of a call, each of them one known path."""
    found: list[str] = []
    for argument in file.calls[index].args:
        values = world.values.evaluate(argument.value, site) if argument.keyword is None else ()
        text = written_path(values[0]) if len(values) == 1 else None
        if text is None:
            return None
        found.append(text)
    return found


def joined_path(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `os.path.join(folder, name)` gives."""
    pieces = _texts(world, file, index, site)
    return (constant(posixpath.join(*pieces)),) if pieces else None


def _path(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `Path(folder, name)` gives."""
    pieces = _texts(world, file, index, site)
    return (constant(PurePosixPath(*pieces)),) if pieces is not None else None


def _of_text(work_out: Callable[[str], str | None]) -> Handler:
    """What a function gives for one known path."""

    def result(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        pieces = _texts(world, file, index, site)
        found = work_out(pieces[0]) if pieces and len(pieces) == 1 else None
        return (constant(found),) if found is not None else None

    return result


def _of_path(work_out: Callable[..., Any]) -> Handler:
    """What a method of a known path gives for known texts."""

    def result(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        func = file.calls[index].func
        values = world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ()
        own = values[0].value if len(values) == 1 and isinstance(values[0], Const) else None
        pieces = _texts(world, file, index, site)
        if not isinstance(own, PurePosixPath) or pieces is None:
            return None
        try:
            found = work_out(own, *pieces)
        except (TypeError, ValueError):
            return None
        return (constant(found),) if found is not None else None

    return result


def _absolute(text: str) -> str | None:
    """What an absolute path is without `..`; the working directory of the program is not known."""
    return posixpath.normpath(text) if posixpath.isabs(text) else None


def _resolved(path: PurePosixPath) -> PurePosixPath | None:
    text = _absolute(str(path))
    return PurePosixPath(text) if text is not None else None


_PATH = ("Path", "PurePath", "PosixPath", "PurePosixPath")

RESULTS: dict[str, Handler] = {
    **dict.fromkeys((f"pathlib.{name}" for name in _PATH), _path),
    "os.path.join": joined_path,
    **dict.fromkeys(("os.path.abspath", "os.path.realpath"), _of_text(_absolute)),
    "os.path.dirname": _of_text(posixpath.dirname),
    "os.path.basename": _of_text(posixpath.basename),
    "os.path.normpath": _of_text(posixpath.normpath),
    "os.fspath": _of_text(str),
    **dict.fromkeys(("pathlib.Path().resolve", "pathlib.Path().absolute"), _of_path(_resolved)),
    "pathlib.Path().joinpath": _of_path(PurePosixPath.joinpath),
    "pathlib.Path().with_name": _of_path(PurePosixPath.with_name),
    "pathlib.Path().with_stem": _of_path(PurePosixPath.with_stem),
    "pathlib.Path().with_suffix": _of_path(PurePosixPath.with_suffix),
    "pathlib.Path().as_posix": _of_path(str),
}
