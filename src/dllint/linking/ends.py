"""Where the code of a file ends early: after `exit()`, a function that always raises, a `with` that always leaves.

The facts mark what follows `return`, `raise` or `sys.exit()` in the same block. This module adds what depends on names
(is `exit` the builtin? does this function ever return?) and on the statements around: what leaves a `with` statement, a
`finally`, or both branches of an `if` never reaches the code below them.
"""

from __future__ import annotations

import builtins
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from dllint.facts.nodes import Attribute, CallRef, LambdaRef, Name, Tuple
from dllint.facts.schema import Call, Event, Expr, Scope
from dllint.linking.closed_values import ClosedValues, iterates, truth
from dllint.linking.source import SourceFile, last_name

Position = tuple[int, int]
_LEAVING = frozenset(
    {"sys.exit", "os._exit", "os.abort"}
    | {f"os.{name}" for name in ("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe")}
)
"""Functions that never return (docs.python.org, `sys`, `os`)."""
_LAST_NAMES = frozenset(name.partition(".")[2] for name in _LEAVING)
_BUILTINS = frozenset({"exit", "quit"})
"""Builtin functions that raise SystemExit; a file may bind the names to its own."""
_OF_PARSERS = frozenset({"error", "exit"})
"""Methods of `argparse.ArgumentParser` that end the program."""
_HARMLESS = frozenset(
    {"open", "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "device", "nullcontext"}
    | {"closing", "redirect_stdout", "redirect_stderr", "catch_warnings", "TemporaryDirectory", "NamedTemporaryFile"}
    | {"Pool", "ThreadPool", "ThreadPoolExecutor", "ProcessPoolExecutor", "ZipFile", "SummaryWriter", "tqdm"}
)
"""Last names of context managers that let exceptions pass."""


class End(NamedTuple):
    """From `at` on, nothing in a region of a scope runs.

    `raised` is the name of the builtin exception that leaves it; "" if unknown.
    """

    region: int
    at: Position
    raised: str = ""


class Ends:
    """The early ends of one file."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self._closed = ClosedValues(file)
        self._of: dict[int, dict[int, End]] = {}
        """The ends of each scope that has any, by region."""
        self._known: set[tuple[int, End]] = set()
        """Those that the facts know themselves."""
        self._halves: dict[tuple[int, Expr | None, Position], list[int]] | None = None
        self._find()

    def _find(self) -> None:
        """Find the ends; those of a function without a return end the places that call it, and so on."""
        for scope, end in self._raised():
            self._add(scope, end)
            self._known.add((scope, end))
        waiting = [*self._asserted(), *self._leaving_calls()]
        done: set[int] = set()
        while True:
            for scope, end in waiting:
                self._add(scope, end)
            waiting = []
            for scope in sorted(self._of.keys() - done):
                if self._outward(scope) and scope:
                    done.add(scope)
                    waiting += self._calls_of(scope)
            if not waiting:
                break

    def _add(self, scope: int, end: End) -> bool:
        """Keep an end, unless an earlier one of the same region is known. Returns whether it is new."""
        ends = self._of.setdefault(scope, {})
        found = ends.get(end.region)
        if found is not None and found.at <= end.at:
            return False
        ends[end.region] = end
        return True

    def cutting(self) -> dict[int, dict[int, Position]]:
        """Return the ends, by scope and region, that something follows which the facts take to run."""
        found: dict[int, dict[int, Position]] = {}
        for scope, ends in self._of.items():
            new = {region: end.at for region, end in ends.items() if (scope, end) not in self._known}
            own: list[Event | Call] = [*self.file.scopes[scope].events] if new else []
            own += [self.file.calls[index] for index in self.file.calls_of(scope)] if new else []
            if any(ended(self.file, one.region, one.span.start, new) for one in own):
                found[scope] = new
        return found

    def _raised(self) -> Iterator[tuple[int, End]]:
        """Yield the `raise` and `return` statements, and the functions that never reach their end nor a `return`."""
        for index, scope in enumerate(self.file.scopes):
            for event in scope.events_of("raise", "return"):
                if event.kind == "raise" or (event.region and scope.kind == "function"):
                    raised = _exception(event.value, self.file) if event.kind == "raise" else ""
                    yield index, End(event.region, _end(event), raised)
            if never_returns(scope) and self._is_plain(index):
                yield index, End(0, (scope.span.end_line, scope.span.end_column))

    def _asserted(self) -> Iterator[tuple[int, End]]:
        """Yield the assertions that never hold."""
        for index, scope in enumerate(self.file.scopes):
            for event in scope.events_of("assert"):
                if event.value is not None and truth(self._closed.value(event.value)) is False:
                    yield index, End(event.region, _end(event), "AssertionError")

    def _is_plain(self, scope: int) -> bool:
        """Whether nothing in a function may swallow an exception, and no name in it that ends a program may be the
        project's own."""
        file = self.file
        calls = file.calls_of(scope)
        if any(file.calls[one].func in (Name("exit"), Name("quit")) for one in calls):
            return not any(one in file.scopes_binding for one in ("exit", "quit", "*"))
        regions = {file.calls[one].region for one in calls} | {event.region for event in file.scopes[scope].events}
        around = {index for region in regions for index in file.regions(region)}
        return all(
            entry.kind != "with" or _lets_pass(entry.expr, file)
            for entry in (file.facts.regions[index] for index in around)
        )

    def _leaving_calls(self) -> list[tuple[int, End]]:
        """Return the calls that never return, of functions from outside the file."""
        file = self.file
        names = _LAST_NAMES | _BUILTINS | _OF_PARSERS | self._imported_names()
        called = [one for name in names & file.facts.called.keys() for one in file.facts.called[name]]
        return [self._end_of(one, "SystemExit") for one in called if self._leaves(file.calls[one].func)]

    def _imported_names(self) -> set[str]:
        """Return the names under which the file imports functions that never return."""
        imported = ((module, name, alias) for _, _, (module, name, alias, _) in self.file.imports())
        return {alias for module, name, alias in imported if alias and f"{module}.{name}" in _LEAVING}

    def _end_of(self, index: int, raised: str = "") -> tuple[int, End]:
        call = self.file.calls[index]
        return call.scope, End(call.region, (call.span.end_line, call.span.end_column), raised)

    def _leaves(self, func: Expr) -> bool:
        """Whether an expression names a function that never returns."""
        file = self.file
        if (
            isinstance(func, Name)
            and func.id in _BUILTINS
            and not any(one in file.scopes_binding for one in (func.id, "*"))
        ):
            return True
        if isinstance(func, Attribute) and func.attr in _OF_PARSERS and self._is_parser(func.value):
            return True
        base, attr = (func.value, func.attr) if isinstance(func, Attribute) else (func, None)
        if not isinstance(base, Name) or not self._closed.bound_once(base.id):
            return False
        for _, _, (module, name, alias, level) in file.imports():
            if not level and (alias or name or module) == base.id:
                full = f"{module}.{attr}" if name is None and attr else f"{module}.{name}" if attr is None else ""
                return full in _LEAVING and not self._replaces(attr or name or "")
        return False

    def _is_parser(self, expr: Expr) -> bool:
        if isinstance(expr, Name):
            found = self.file.bindings(0).get(expr.id, [])
            given = found[0].expr if len(found) == 1 and self._closed.bound_once(expr.id) else None
            expr = given or expr
        return isinstance(expr, CallRef) and last_name(self.file.calls[expr.index].func) == "ArgumentParser"

    def _replaces(self, name: str) -> bool:
        """Whether the file puts another function in the place of `sys.exit`."""
        return any(store.key == name for scope in range(len(self.file.scopes)) for store in self.file.stores(scope))

    def _calls_of(self, scope: int) -> list[tuple[int, End]]:
        """Return the calls of a function that never returns, and the definition of a class whose body does not end."""
        file = self.file
        entry = file.scopes[scope]
        if entry.kind == "class":
            header = entry.header
            return [(entry.parent, End(entry.region, (header.end_line, header.end_column)))]
        if entry.is_generator or entry.is_async or self._returns(entry, scope):
            return []
        if entry.kind == "lambda":
            called = [one for one in file.facts.called.get("", ()) if file.calls[one].func == LambdaRef(scope)]
        elif entry.parent == 0 and self._closed.function(entry.name) == scope:
            called = [one for one in file.facts.called.get(entry.name, ()) if file.calls[one].func == Name(entry.name)]
        else:
            called = []
        return [self._end_of(one) for one in called]

    def _returns(self, entry: Scope, scope: int) -> bool:
        """Whether a `return` of a function is reached, other than of a lambda, whose body it is."""
        if entry.kind == "lambda":
            return False
        ends = {region: end.at for region, end in self._of.get(scope, {}).items()}
        return any(not ended(self.file, event.region, _start(event), ends) for event in entry.events_of("return"))

    def _outward(self, scope: int) -> bool:
        """Carry the ends of a scope outward, as far as nothing stops them. Returns whether the whole scope ends."""
        ends = self._of[scope]
        waiting = list(ends.values())
        while waiting:
            end = waiting.pop()
            outer = self._around(end, ends) if end.region else None
            if outer is not None and self._add(scope, outer):
                waiting.append(outer)
        return 0 in ends

    def _around(self, end: End, ends: Mapping[int, End]) -> End | None:
        """Return the end of the region around, if the end of this one implies it."""
        entry = self.file.facts.regions[end.region]
        outer = end._replace(region=entry.parent)
        if entry.kind == "finally" or (entry.kind == "with" and _lets_pass(entry.expr, self.file)):
            return outer
        if entry.kind == "try":
            parts = self._parts(end.region)
            regions = self.file.facts.regions
            handlers = [one for one in parts if regions[one].kind == "handler"]
            if not ends.keys() >= {*handlers}:
                alone = end.raised and self._only_raises(end)
                types = [_caught(regions[one].expr, self.file) for one in handlers] if alone else [None]
                if any(one is None or _catches(one, end.raised) for one in types):
                    return None
            return outer._replace(at=max([end.at, *(self._extents[one][1] for one in parts)]))
        if entry.kind == "if":
            others = [ends[one] for one in self._other_halves(end.region) if one in ends]
            return End(entry.parent, max(end.at, others[0].at)) if others else None
        if entry.kind == "for" and end.region not in self.file.clauses and entry.expr is not None:
            return outer if iterates(self._closed.value(entry.expr)) is True else None
        return None

    def _only_raises(self, end: End) -> bool:
        """Whether the statement that ends a region is the only one there."""
        (first, _), (last, _) = self._extents[end.region]
        return first == last == end.at[0]

    def _parts(self, region: int) -> list[int]:
        """Return the regions of the other parts of a `try` statement: those in the same block up to the next one."""
        regions = self.file.facts.regions
        found = []
        beside = self._inside[regions[region].parent]
        for index in beside[bisect_right(beside, region) :]:
            if regions[index].kind in ("handler", "tryelse", "finally"):
                found.append(index)
            elif regions[index].kind == "try":
                break
        return found

    @cached_property
    def _inside(self) -> dict[int, list[int]]:
        """The regions directly in each region, in order."""
        found: dict[int, list[int]] = {}
        for index, entry in enumerate(self.file.facts.regions):
            found.setdefault(entry.parent, []).append(index)
        return found

    @cached_property
    def _extents(self) -> dict[int, tuple[Position, Position]]:
        """Where the statements of each region begin and end."""
        file = self.file
        found = {
            index: ((sys.maxsize, 0), (entry.span.end_line, entry.span.end_column))
            for index, entry in enumerate(file.facts.regions)
        }
        inside: list[Event | Call] = [one for scope in file.scopes for one in scope.events]
        for one in (*inside, *file.facts.calls):
            first, last = one.span.start, (one.span.end_line, one.span.end_column)
            for region in file.regions(one.region):
                known = found[region]
                found[region] = min(known[0], first), max(known[1], last)
        return found

    def _other_halves(self, region: int) -> list[int]:
        """Return the regions of the same test with the opposite outcome."""
        regions = self.file.facts.regions
        if self._halves is None:
            self._halves = {}
            for index, entry in enumerate(regions):
                if entry.kind == "if":
                    key = (entry.parent, entry.expr, entry.span.start)
                    self._halves.setdefault(key, []).append(index)
        entry = regions[region]
        same = self._halves[entry.parent, entry.expr, entry.span.start]
        return [one for one in same if regions[one].holds is not entry.holds]


def never_returns(scope: Scope) -> bool:
    """Whether control reaches neither the end of a function nor a `return` in it."""
    return scope.kind == "function" and scope.end < 0 and not scope.events_of("return")


def ended(file: SourceFile, region: int, at: Position, ends: Mapping[int, Position]) -> bool:
    """Whether a place of a scope stands behind one of the scope's ends."""
    return any(one in ends and ends[one] <= at for one in (*file.regions(region), 0))


def _end(event: Event) -> Position:
    return event.span.end_line, event.span.end_column


def _start(event: Event) -> Position:
    return event.span.line, event.span.column


def _lets_pass(context: Expr | None, file: SourceFile) -> bool:
    """Whether a context manager is known to swallow no exception."""
    return isinstance(context, CallRef) and last_name(file.calls[context.index].func) in _HARMLESS


def _exception(raised: Expr | None, file: SourceFile) -> str:
    """Return the name of the builtin exception that is raised; "" for any other."""
    name = file.calls[raised.index].func if isinstance(raised, CallRef) else raised
    known = isinstance(name, Name) and isinstance(getattr(builtins, name.id, None), type)
    return name.id if known and isinstance(name, Name) and name.id not in file.scopes_binding else ""


def _caught(types: Expr | None, file: SourceFile) -> list[str] | None:
    """Return the names of the builtin exceptions that a handler takes; None if it takes others, or all."""
    parts = types.elements if isinstance(types, Tuple) else [types]
    names = [_exception(one, file) if isinstance(one, Name) else "" for one in parts]
    return names if all(names) else None


def _catches(handled: list[str], raised: str) -> bool:
    return any(issubclass(getattr(builtins, raised), getattr(builtins, one)) for one in handled)
