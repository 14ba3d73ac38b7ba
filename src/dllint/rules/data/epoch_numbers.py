"""Whether the number of an epoch comes to the code that makes a loader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Name
from dllint.facts.schema import Expr, Region
from dllint.inference import limits
from dllint.inference.values import Function
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.inference.engine import World


def tells_epoch(world: World, loader: Loader, file: SourceFile, scope: int, loop: Region) -> bool:
    """Whether what counts the epochs of a loop may come to the call that makes the loader."""
    counting = {
        (file.path, scope, name)
        for event in file.scopes[scope].events
        if event.kind == "for" and event.value == loop.expr and event.target is not None
        for name in _names(event.target, file)
    }
    made_in = loader.file.calls[loader.call].scope
    todo = [(loader.file, made_in, name) for name in _names(CallRef(loader.call), loader.file)]
    seen: set[tuple[str, int, str]] = set()
    while todo:
        here, function, name = todo.pop()
        key = (here.path, function, name)
        if key in counting or limits.TRAINING_FUNCTIONS.reached(len(seen)):
            return True
        if key in seen:
            continue
        seen.add(key)
        for event in here.scopes[function].events_of("assign"):
            if event.target == Name(name):
                todo += [(here, function, one) for one in _names(event.value, here)]
        if any(param.name == name for param in here.scopes[function].params):
            for actual in world.parameters.actuals_of(Function(here, function), name, None):
                if actual is not None and actual.site is not None:
                    where = actual.site
                    todo += [(where.file, where.scope, one) for one in _names(actual.expr, where.file)]
    return False


def _names(expr: Expr | None, file: SourceFile) -> set[str]:
    return set() if expr is None else {part.id for part in walk(expr, file) if isinstance(part, Name)}
