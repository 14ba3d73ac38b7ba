"""The calls that lead to given places: backward reachability in the call graph, which bounds the forward search."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.inference.values import Function
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World


class Upstream:
    """The calls (and launches) from which one of the places is reachable."""

    def __init__(self, world: World, places: Iterable[tuple[SourceFile, int]]) -> None:
        self.calls: set[tuple[str, int]] = set()
        seen: set[tuple[str, int]] = set()
        todo = deque(places)
        while todo:
            file, scope = todo.popleft()
            if (file.path, scope) in seen or scope <= 0:
                continue
            seen.add((file.path, scope))
            entry = file.scopes[scope]
            if entry.kind in ("lambda", "class"):
                todo.append((file, entry.parent))
            if entry.kind == "class":
                continue
            for caller in world.calls.callers(Function(file, scope)):
                if caller.call >= 0:
                    self.calls.add((caller.file.path, caller.call))
                    todo.append((caller.file, caller.file.calls[caller.call].scope))

    def leads(self, file: SourceFile, index: int) -> bool:
        """Whether one of the places is reachable from a call."""
        return (file.path, index) in self.calls
