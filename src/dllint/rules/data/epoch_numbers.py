"""Whether the number of an epoch comes to the code that makes a loader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Expr, Region
from dllint.inference import limits
from dllint.inference.values import Function
from dllint.linking.expressions import names_in, walk
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.inference.engine import World


EPOCH = re.compile(r"epoch", re.IGNORECASE)


def tells_epoch(world: World, loader: Loader, file: SourceFile, scope: int, loop: Region) -> bool:
    """Whether what counts the epochs of a loop may come to the call that makes the loader, by names or by an attribute
    that is named after epochs."""
    counting = {
        (file.path, scope, name)
        for event in file.scopes[scope].events
        if event.kind == "for" and event.value == loop.expr
        for name in names_in(event.target, file)
    }
    todo: list[tuple[SourceFile, int, Expr]] = [
        (loader.file, loader.file.calls[loader.call].scope, CallRef(loader.call))
    ]
    seen: set[tuple[str, int, str]] = set()
    while todo:
        here, function, expr = todo.pop()
        if any(isinstance(part, Attribute) and EPOCH.search(part.attr) for part in walk(expr, here)):
            return True
        for name in names_in(expr, here):
            key = (here.path, function, name)
            if key in counting or limits.TRAINING_FUNCTIONS.reached(len(seen)):
                return True
            if key not in seen:
                seen.add(key)
                todo += _given(world, here, function, name)
    return False


def _given(world: World, file: SourceFile, scope: int, name: str) -> Iterator[tuple[SourceFile, int, Expr]]:
    """The expressions that a name of a function may stand for, each with its function."""
    for event in file.scopes[scope].events_of("assign"):
        if event.target == Name(name) and event.value is not None:
            yield file, scope, event.value
    if any(param.name == name for param in file.scopes[scope].params):
        for actual in world.parameters.actuals_of(Function(file, scope), name, None):
            if actual is not None and actual.site is not None and actual.expr is not None:
                yield actual.site.file, actual.site.scope, actual.expr
