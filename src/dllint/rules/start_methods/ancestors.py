"""The code that runs in a process before it forks another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.inference import limits
from dllint.inference.edges import Caller
from dllint.inference.values import Function
from dllint.linking.conditions import Atom
from dllint.linking.contradictions import contradict
from dllint.linking.source import SourceFile
from dllint.project.counting import loops
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_END = (1 << 30, 0)


@dataclass(frozen=True)
class Ancestor:
    """A scope that runs in the forking process, up to the position `until` (line, column).

    `region` is the region of that position, and `conditions` are those on the path from there to the fork. Whatever is
    inside `call` is evaluated before the call. `again` is the region whose loops repeat the fork: persistent workers
    are forked once, however often their loader is iterated.
    """

    file: SourceFile
    scope: int
    until: tuple[int, int]
    region: int
    call: Span
    again: int
    conditions: tuple[Atom, ...] = ()


class Ancestors:
    """Finds the scopes around a fork, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def of(
        self,
        file: SourceFile,
        scope: int,
        index: int,
        loader: Loader | None,
        through: tuple[Caller, ...] = (),
        conditions: tuple[Atom, ...] = (),
    ) -> Iterator[Ancestor]:
        """The scope around a call and those that lead to it in the same process, nearest first.

        The search follows the calls `through` first (given outermost first), if the path to the call is known. It
        starts under `conditions`.
        """
        todo: list[tuple[SourceFile, int, int, tuple[Atom, ...], int]] = []
        todo.append((file, scope, index, conditions, len(through)))
        seen: set[tuple[str, int]] = set()
        iterated = loader is None
        while todo and not limits.ANCESTORS.reached(len(seen)):
            where, inner, at, below, left = todo.pop(0)
            if (where.path, inner) in seen:
                continue
            seen.add((where.path, inner))
            place = where.calls[at]
            until, region = place.statement.start, place.region
            if loader is not None and not iterated:
                found = [
                    one for one in self.project.ask(Starting).iterations(where, inner, None) if one.loader is loader
                ]
                iterated = bool(found)
                until, region = (found[-1].statement.start, found[-1].region) if found else (_END, 0)
            conditions = (*below, *self.world.symbols.atoms(where, inner, region))
            again = place.region if loader is not None and loader.flag("persistent_workers") is True else region
            yield Ancestor(where, inner, until, region, place.span, again, conditions)
            if where.scopes[inner].kind in ("lambda", "class"):
                todo.append((where, where.scopes[inner].parent, at, conditions, left))
            elif where.scopes[inner].kind == "function":
                callers = self.world.calls.callers(Function(where, inner)) if left <= 0 else [through[left - 1]]
                todo += [
                    (caller.file, caller.file.calls[caller.call].scope, caller.call, conditions, left - 1)
                    for caller in callers
                    if caller.call >= 0 and not self.project.launches.at(caller.file, caller.call)
                ]

    def is_only_spawned(self, file: SourceFile, scope: int) -> bool:
        """Whether a function runs in no other processes than those that launches start by spawn or forkserver."""
        todo, seen, spawned = [(file, scope)], set[tuple[str, int]](), False
        while todo:
            where, inner = todo.pop()
            if (where.path, inner) in seen:
                continue
            seen.add((where.path, inner))
            if where.scopes[inner].kind != "function" or limits.ANCESTORS.reached(len(seen)):
                return False
            callers = [one for one in self.world.calls.callers(Function(where, inner)) if one.call >= 0]
            inside = [one for one in callers if not self.project.launches.at(one.file, one.call)]
            methods = self._launched_by.get((where.path, inner), set())
            if methods - {"spawn", "forkserver"} or not (methods or inside):
                return False
            spawned = spawned or bool(methods)
            todo += [(one.file, one.file.calls[one.call].scope) for one in inside]
        return spawned

    @cached_property
    def _launched_by(self) -> dict[tuple[str, int], set[str]]:
        """The start methods of the processes that a function is the target of."""
        found: dict[tuple[str, int], set[str]] = {}
        for launch in self.project.launches.all():
            for target in launch.targets:
                # Loaders there start their workers by the default method, whatever started the process.
                methods = ("default",) if launch.package else launch.methods
                found.setdefault(target.function.key, set()).update(methods)
        return found

    def before(self, ancestor: Ancestor, index: int) -> bool:
        """Whether a call in the ancestor's scope runs before its position, possibly in an earlier iteration of a
        loop, and in the same runs of the program."""
        call = ancestor.file.calls[index]
        if contradict(ancestor.conditions, self.world.symbols.atoms(ancestor.file, ancestor.scope, call.region)):
            return False
        if call.span.start < ancestor.until or (call.span != ancestor.call and ancestor.call.covers(call.span)):
            return True
        repeating = loops(ancestor.file, ancestor.again)
        return any(region in repeating for region in ancestor.file.regions(call.region))
