"""Names that a program binds only under its main guard, and that functions read in processes that skip it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Constant, Name
from dllint.facts.schema import Expr, ImportedName
from dllint.libraries.index import REPLACES_PICKLE
from dllint.linking.bindings import Binding
from dllint.linking.conditions import under_main_guard
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop
from dllint.project.same_process import Reached, reach
from dllint.rules.start_methods.child_runs import PICKLING
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.launches import Launch
    from dllint.project.loaders import Loader
    from dllint.project.model import Project


@dataclass(frozen=True)
class MissingName:
    """A name that a function reads in a new process, which never binds it.

    Attributes:
        file: the main program, which binds the name and contains the function.
        scope: the function.
        read: the first call or statement of the function that reads it.
        bound: where it is bound, under the guard.
        hops: the calls from the process's entry point to the function.
        sent: whether the name is the function itself that the process is to run: unpickling looks it up there.
        sure: False if the file imports names by `*` from a module that is not part of the project: it may define the
            name as well.
    """

    name: str
    file: SourceFile
    scope: int
    read: Span
    bound: Span
    hops: tuple[Hop, ...]
    sure: bool = True
    sent: bool = False


class GuardedNames:
    """Finds the names that are missing in new processes, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._guarded: dict[str, dict[str, Span]] = {}
        self._reads: dict[tuple[str, int], list[tuple[str, Span, Span]]] = {}
        self._read_by: dict[str, dict[int, dict[str, None]]] = {}

    def missing_in_workers(self, loader: Loader) -> Iterator[MissingName]:
        """The names missing in a loader's workers when a program that contains the loader starts them."""
        programs = {loader.file.path, *self.project.programs.above(loader.file, loader.file.calls[loader.call].scope)}
        if not any(self._under_guard(self.world.files[path]) for path in programs):
            return
        for run in self.project.worker_runs(loader):
            if run.file.path in programs:
                yield from self._missing(run.file, run.scope, run.hops)

    def missing_in_processes(self, launch: Launch) -> Iterator[MissingName]:
        """The names missing in functions that the processes of a launch run, in the program that makes the launch."""
        call = launch.file.calls[launch.call]
        programs = {launch.file.path, *self.project.programs.above(launch.file, call.scope)}
        if not any(self._under_guard(self.world.files[path]) for path in programs):
            return
        yield from self._sent(launch, programs)
        starts = [Reached(one.function.file, one.function.scope, one.frame) for one in launch.targets]
        for reached in reach(self.world, starts):
            if reached.file.path in programs:
                yield from self._missing(reached.file, reached.scope, reached.hops())

    def _sent(self, launch: Launch, programs: set[str]) -> Iterator[MissingName]:
        """The functions under the guard that a launch sends to its processes by name, as pickle does."""
        if not launch.api.startswith(PICKLING) or REPLACES_PICKLE & launch.file.imported_packages():
            return
        for target in launch.targets:
            function, file = target.function, target.function.file
            scope = file.scopes[function.scope]
            if file.path in programs and scope.parent == 0 and scope.kind == "function":
                bound = self._under_guard(file).get(function.name)
                if bound is not None:
                    here = launch.file is file
                    read = file.calls[launch.call].span if here else bound
                    yield MissingName(function.name, file, 0, read, bound, (), None not in self._starred(file), True)

    def _missing(self, file: SourceFile, scope: int, hops: tuple[Hop, ...]) -> Iterator[MissingName]:
        key = (file.path, scope)
        if key not in self._reads:
            self._reads[key] = list(self._find(file, scope))
        for name, read, bound in self._reads[key]:
            yield MissingName(name, file, scope, read, bound, hops, None not in self._starred(file))

    def _find(self, file: SourceFile, scope: int) -> Iterator[tuple[str, Span, Span]]:
        guarded = self._under_guard(file)
        for name in self._readers(file).get(scope, ()):
            if is_global(file, scope, name) and not _expects_none(file, scope):
                read = _first_read(file, scope, name)
                if read is not None:
                    yield name, read, guarded[name]

    def _readers(self, file: SourceFile) -> dict[int, dict[str, None]]:
        """The names bound only under the main guard that each function reads or calls."""
        found = self._read_by.get(file.path)
        if found is None:
            found = self._read_by[file.path] = {}
            for name in self._under_guard(file):
                called = (file.place_of(index).scope for index in file.facts.called.get(name, ()))
                for scope in (*file.facts.loaded.get(name, ()), *called):
                    found.setdefault(scope, {})[name] = None
        return found

    def _under_guard(self, file: SourceFile) -> dict[str, Span]:
        """The names that the top level of a file binds only under its main guard, each with the place.

        Without those that a function may bind, or an import by `*` from another file of the project.
        """
        found = self._guarded.get(file.path)
        if found is None:
            found = self._guarded[file.path] = {}
            elsewhere = {name for around, name in file.within if around == 0}
            # A file that the screen left out may define any name.
            unread = self._starred(file) - {None, *self.world.files}
            if not file.is_notebook and not unread and not file.path.endswith("__main__.py"):
                for name, place in file.derived(bound_under_guard):
                    if name in elsewhere or name in self.world.knowledge.builtins:
                        continue
                    if self.world.imports.star(file, name) is None:
                        found[name] = place
        return found

    def _starred(self, file: SourceFile) -> set[str | None]:
        """The files that a file imports all names of by `*`, itself or through such imports; None for a module outside
        the project."""
        found: set[str | None] = set()
        todo = [file]
        while todo:
            one = todo.pop()
            for binding in one.bindings(0).get("*", ()):
                imported = binding.event.detail if binding.event is not None else None
                if isinstance(imported, ImportedName):
                    path = self.world.imports.find(one, imported.module, imported.level)
                    if path in self.world.files and path not in found:
                        todo.append(self.world.files[path])
                    found.add(path)
        return found


def bound_under_guard(file: SourceFile) -> list[tuple[str, Span]]:
    """Return the names that the top level of a file binds only under its main guard, each with the first place."""
    found: list[tuple[str, Span]] = []
    for name, ways in file.bindings(0).items():
        places = [_place(file, one) for one in ways]
        guarded = [one[1] for one in places if one is not None and under_main_guard(file, one[0])]
        if name != "*" and guarded and len(guarded) == len(places):
            found.append((name, guarded[0]))
    return found


def rebound_under_guard(file: SourceFile) -> list[tuple[str, int, Span]]:
    """Return the names that the top level of a file binds and that its main guard assigns another value to, each with
    the region and the place of the first such assignment. A repeated import, or the same constant, changes nothing."""
    found: list[tuple[str, int, Span]] = []
    for name, ways in file.bindings(0).items():
        places = [_place(file, one) for one in ways]
        if None in places:
            continue
        guarded = [under_main_guard(file, place[0]) for place in places if place is not None]
        before = [one.expr for one, within in zip(ways, guarded, strict=True) if not within]
        again = [
            one.event
            for one, within in zip(ways, guarded, strict=True)
            if within and one.event is not None and one.event.kind == "assign" and not _is_same(one.event.value, before)
        ]
        first = min(again, key=lambda event: event.span.start, default=None)
        if before and first is not None:
            found.append((name, first.region, first.span))
    return found


def _is_same(value: Expr | None, before: list[Expr | None]) -> bool:
    """Whether a value is the constant that a name has already."""
    return isinstance(value, Constant) and all(one == value for one in before)


def _place(file: SourceFile, binding: Binding) -> tuple[int, Span] | None:
    """The region and the span of a binding at the top level; None if unknown."""
    if binding.kind in ("def", "class"):
        return file.scopes[binding.number].region, file.scopes[binding.number].header
    return (binding.event.region, binding.event.span) if binding.event is not None else None


def is_global(file: SourceFile, scope: int, name: str) -> bool:
    """Whether a name in a function refers to the module's variable."""
    while scope > 0:
        if name in file.bindings(scope) and file.scopes[scope].kind != "class":
            return False
        scope = file.scopes[scope].parent
    return True


def _expects_none(file: SourceFile, scope: int) -> bool:
    """Whether a function handles a missing name: `except NameError`, `"args" in globals()`."""
    regions = {event.region for event in file.scopes[scope].events}
    handled = (file.facts.regions[one] for region in regions for one in file.regions(region))
    if any(one.kind == "handler" and (one.expr is None or last_name(one.expr) == "NameError") for one in handled):
        return True
    return any(last_name(file.calls[index].func) == "globals" for index in file.calls_of(scope))


def _first_read(file: SourceFile, scope: int, name: str) -> Span | None:
    """The first call, statement or branch test in a function that reads a name; None if there is none."""
    wanted = Name(name)

    def reads(expr: Expr | None) -> bool:
        return expr is not None and any(part == wanted for part in walk(expr, file))

    entry = file.scopes[scope]
    found = [
        event.span for event in entry.events if reads(event.value) or (event.kind != "def" and reads(event.target))
    ]
    for index in file.calls_of(scope):
        call = file.calls[index]
        if reads(call.func) or any(reads(argument.value) for argument in call.args):
            found.append(call.span)
    for region in {event.region for event in entry.events}:
        found += [file.facts.regions[one].span for one in file.regions(region) if reads(file.facts.regions[one].expr)]
    inside = [span for span in found if entry.span.covers(span)]
    return min(inside, key=lambda span: span.start) if inside else None
