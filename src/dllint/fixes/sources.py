"""The source texts of fixes, before and after the edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Union

from dllint import files
from dllint.fixes.text import Lines, TextEdit, Unresolvable, apply_changes

Sources = Union[Mapping[str, str], Callable[[str], str]]
"""Texts by path, with their own line ends and byte-order marks: a mapping, or a function that reads them."""


def read(sources: Sources, path: str) -> str:
    """Return the text of a source.

    Raises:
        Unresolvable: there is no such source, or it cannot be read.
    """
    try:
        return sources[path] if isinstance(sources, Mapping) else sources(path)
    except KeyError:
        raise Unresolvable("no such source", path) from None
    except (files.CannotRead, files.Undecodable) as error:
        raise Unresolvable(str(error), path) from None
    except OSError as error:
        raise Unresolvable(f"cannot be read: {error.strerror or error}", path) from None
    except UnicodeError:
        raise Unresolvable("cannot be decoded", path) from None


def texts_after(edits: Iterable[TextEdit], sources: Sources) -> dict[str, tuple[str, str]]:
    """Return the text before and after of each file that the edits change.

    Raises:
        Unresolvable: a file cannot be read, or two edits overlap.
    """
    by_path: dict[str, list[TextEdit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    found = {}
    for path, group in by_path.items():
        text = read(sources, path)
        lines = Lines(text)
        found[path] = text, apply_changes(text, [lines.change(edit) for edit in group])
    return found
