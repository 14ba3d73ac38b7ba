"""Which calls are given the path of a file, and which only show a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute
from dllint.inference.values import External, Function, Instance, Value
from dllint.libraries.index import PATH_CONSUMERS, canonical
from dllint.libraries.io import PATH_FUNCTIONS
from dllint.libraries.records import HANDLE, form
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World


_OF_OTHERS = frozenset({"get", "read", "format"})
"""Names among them that other functions have as well."""

_SHOWING = frozenset({"print", "debug", "info", "warning", "warn", "error", "critical", "exception"})
"""Last names of functions that show a text to a person."""


def shows(file: SourceFile, index: int) -> bool:
    """Whether a call shows what it is given in a message, a warning or an error: a text made for it is no path."""
    last = last_name(file.calls[index].func)
    return last is not None and (last in _SHOWING or last.endswith(("Error", "Exception", "Warning")))


def takes_path(world: World, file: SourceFile, index: int) -> bool:
    """Whether a call is given a path, or a part of one; `file.read(size)` of an open file is given a number."""
    call = file.calls[index]
    last = last_name(call.func)
    if last not in PATH_CONSUMERS | PATH_FUNCTIONS:
        return False
    if last not in _OF_OTHERS or not isinstance(call.func, Attribute):
        return True
    site = world.call_site(file, index, None)
    own = [value for value in world.values.evaluate(call.func, site) if isinstance(value, Function)]
    if own:
        return any(_asks_for_path(value) for value in own)
    return last != "read" or not any(map(_is_open_file, world.values.evaluate(call.func.value, site)))


def _asks_for_path(function: Function) -> bool:
    """Whether the first parameter of a method is named like a path: `get(self, filepath)`."""
    params = function.file.scopes[function.scope].params[1:2]
    return any("path" in one.name or "file" in one.name for one in params)


def _is_open_file(value: Value) -> bool:
    if not isinstance(value, Instance) or not isinstance(value.of, External):
        return False
    found = form(canonical(value.of.name))
    return found is not None and found[0] == HANDLE
