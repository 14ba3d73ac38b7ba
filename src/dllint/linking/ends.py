"""Where the code of a file ends early: after `exit()`, a function that always raises, a `with` that always leaves.

The facts mark what follows `return`, `raise` or `sys.exit()` in the same block. This module adds what depends on names
(is `exit` the builtin? does this function ever return?) and on the statements around: what leaves a `with` statement, a
`finally`, or both branches of an `if` never reaches the code below them.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
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
        self.of: dict[int, list[End]] = {}
        """The ends of each scope that has any."""
        self._known: dict[int, int] = {}
        """How many of the first ends of a scope the facts know themselves."""
        self._halves: dict[tuple[int, Expr | None, Position], list[int]] | None = None
        self._find()

    def _find(self) -> None:
        """Find the ends; those of a function without a return end the places that call it, and so on."""
        self._raised()
        self._known = {scope: len(ends) for scope, ends in self.of.items()}
        waiting = [*self._asserted(), *self._leaving_calls()]
        done: set[int] = set()
        while True:
            for scope, end in waiting:
                self.of.setdefault(scope, []).append(end)
            waiting = []
            for scope in sorted(self.of.keys() - done):
                if self._outward(scope) and scope:
                    done.add(scope)
                    waiting += self._calls_of(scope)
            if not waiting:
                break

    def cutting(self) -> dict[int, list[End]]:
        """Return the ends, by scope, that something follows which the facts take to run."""
        found: dict[int, list[End]] = {}
        for scope, ends in self.of.items():
            new = ends[self._known.get(scope, 0) :]
            own: list[Event | Call] = [*self.file.scopes[scope].events] if new else []
            own += [self.file.calls[index] for index in self.file.calls_of(scope)] if new else []
            if any(ended(self.file, one.region, (one.span.line, one.span.column), new) for one in own):
                found[scope] = new
        return found

    def _raised(self) -> None:
        """Record the `raise` statements, and the functions that never reach their end nor a `return`."""
        for index, scope in enumerate(self.file.scopes):
            for event in scope.events_of("raise", "return"):
                if event.kind == "raise" or (event.region and scope.kind == "function"):
                    raised = _exception(event.value, self.file) if event.kind == "raise" else ""
                    self.of.setdefault(index, []).append(End(event.region, _end(event), raised))
            if scope.kind == "function" and scope.end < 0 and not scope.events_of("return") and self._is_plain(index):
                self.of.setdefault(index, []).append(End(0, (scope.span.end_line, scope.span.end_column)))

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
            return not file.scopes_binding.keys() & {"exit", "quit", "*"}
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
        if isinstance(func, Name) and func.id in _BUILTINS and not file.scopes_binding.keys() & {func.id, "*"}:
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
        ends = self.of.get(scope, ())
        return any(not ended(self.file, event.region, _start(event), ends) for event in entry.events_of("return"))

    def _outward(self, scope: int) -> bool:
        """Carry the ends of a scope outward, as far as nothing stops them. Returns whether the whole scope ends."""
        ends = self.of[scope]
        seen = {one.region for one in ends}
        waiting = list(ends)
        while waiting:
            end = waiting.pop()
            outer = self._around(end, ends)
            if outer is not None and outer.region not in seen:
                seen.add(outer.region)
                ends.append(outer)
                waiting.append(outer)
        return 0 in seen

    def _around(self, end: End, ends: list[End]) -> End | None:
        """Return the end of the region around, if the end of this one implies it."""
        if not end.region:
            return None
        entry = self.file.facts.regions[end.region]
        outer = end._replace(region=entry.parent)
        if entry.kind == "finally" or (entry.kind == "with" and _lets_pass(entry.expr, self.file)):
            return outer
        if entry.kind == "try":
            parts = self._parts(end.region)
            regions = self.file.facts.regions
            handlers = [one for one in parts if regions[one].kind == "handler"]
            if not {one.region for one in ends}.issuperset(handlers):
                alone = end.raised and self._only_raises(end)
                types = [_caught(regions[one].expr, self.file) for one in handlers] if alone else [None]
                if any(one is None or _catches(one, end.raised) for one in types):
                    return None
            return outer._replace(at=max([end.at, *map(self._extent, parts)]))
        if entry.kind == "if":
            for other in self._other_halves(end.region):
                for one in ends:
                    if one.region == other:
                        return End(entry.parent, max(end.at, one.at))
        if entry.kind == "for" and end.region not in self.file.clauses and entry.expr is not None:
            return outer if iterates(self._closed.value(entry.expr)) is True else None
        return None

    def _only_raises(self, end: End) -> bool:
        """Whether the statement that ends a region is the only one there."""
        file = self.file
        line = end.at[0]
        inside = [one for scope in file.scopes for one in scope.events if file.encloses(end.region, one.region)]
        return all(one.span.line <= line <= one.span.end_line for one in inside)

    def _parts(self, region: int) -> list[int]:
        """Return the regions of the other parts of a `try` statement: those in the same block up to the next one."""
        regions = self.file.facts.regions
        found = []
        for index in range(region + 1, len(regions)):
            entry = regions[index]
            if entry.parent == regions[region].parent and entry.span > regions[region].span:
                if entry.kind in ("handler", "tryelse", "finally"):
                    found.append(index)
                elif entry.kind == "try":
                    break
        return found

    def _extent(self, region: int) -> Position:
        """Return the end of the last statement in a region."""
        file = self.file
        own = file.facts.regions[region].span
        inside: list[Event | Call] = [one for scope in file.scopes for one in scope.events] + list(file.facts.calls)
        spans = [one.span for one in inside if file.encloses(region, one.region)]
        return max([(own.end_line, own.end_column), *((one.end_line, one.end_column) for one in spans)])

    def _other_halves(self, region: int) -> list[int]:
        """Return the regions of the same test with the opposite outcome."""
        regions = self.file.facts.regions
        if self._halves is None:
            self._halves = {}
            for index, entry in enumerate(regions):
                if entry.kind == "if":
                    key = (entry.parent, entry.expr, (entry.span.line, entry.span.column))
                    self._halves.setdefault(key, []).append(index)
        entry = regions[region]
        same = self._halves[entry.parent, entry.expr, (entry.span.line, entry.span.column)]
        return [one for one in same if regions[one].holds is not entry.holds]


def ended(file: SourceFile, region: int, at: Position, ends: Iterable[End]) -> bool:
    """Whether a place of a scope stands behind one of the scope's ends."""
    return any(one.at <= at and file.encloses(one.region, region) for one in ends)


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
