"""Code that no target runs is skipped: after a statement that always leaves, and behind tests of the platform and the
Python version, decided by the targets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Compare, Constant, Name, Not, Slice, Subscript
from dllint.facts.schema import Call, Event, Expr, FileFacts, Scope
from dllint.linking.arithmetic import ANY
from dllint.linking.bindings import Binding
from dllint.linking.closed_values import DEPTH, ClosedValues
from dllint.linking.ends import Ends, Position, ended
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.config import Targets

_PLATFORM = {
    "sys.platform": {"linux": "linux", "macos": "darwin", "windows": "win32"},
    "os.name": {"linux": "posix", "macos": "posix", "windows": "nt"},
    "os.sep": {"linux": "/", "macos": "/", "windows": "\\"},
    "platform.system()": {"linux": "Linux", "macos": "Darwin", "windows": "Windows"},
}
_MODULES = frozenset({"sys", "os", "platform"})
_EXIT = Attribute(Name("sys"), "exit")
_MICRO = 0.5
"""Stands for the third part of the version, which is unknown: no integer equals it."""


class TargetConditions:
    """Decides whether a test has the same result on all targets."""

    def __init__(self, targets: Targets) -> None:
        self._targets = [(platform, python) for platform in targets.platforms for python in targets.pythons]

    def decided(self, test: Expr, file: SourceFile) -> bool | None:
        """Return the result of a test of the platform or Python version if it is the same on all targets; None if it
        differs, and for any other test."""
        if isinstance(test, Constant) or not _MODULES & file.imported_packages():
            return None
        found = set()
        for target in self._targets:
            value = _Target(file, *target).value(test)
            if value is ANY:
                return None
            found.add(bool(value))
        return found.pop() if len(found) == 1 else None

    def reached(self, file: SourceFile) -> SourceFile:
        """Return the file without the code that no target runs.

        In a notebook, what follows `raise SystemExit` in one cell is run from the next one on.
        """
        excluded = set()
        if not file.is_notebook and not any(one.target == _EXIT for one in file.scopes[0].storing()):
            excluded = {index for index, entry in enumerate(file.facts.regions) if entry.kind == "unreached"}
        decides = bool(_MODULES & file.imported_packages())
        ends = {} if file.is_notebook else Ends(file).cutting()
        if not decides and not excluded and not ends:
            return file
        for index, entry in enumerate(file.facts.regions):
            if entry.parent in excluded:
                excluded.add(index)
            elif decides and entry.kind in ("if", "while") and entry.expr is not None:
                decided = self.decided(entry.expr, file)
                if decided is not None and decided is not entry.holds:
                    excluded.add(index)
        return _without(file, excluded, ends) if excluded or ends else file


class _Target(ClosedValues):
    """One platform with one version of Python, for evaluating a file's tests."""

    def __init__(self, file: SourceFile, platform: str, python: tuple[int, int]) -> None:
        super().__init__(file)
        self.platform = platform
        self.python = python

    def value(self, expr: Expr, depth: int = DEPTH) -> Any:
        if isinstance(expr, Subscript):
            return self._part(expr.index) if self.dotted(expr.value) == "sys.version_info" else ANY
        return super().value(expr, depth)

    def pair(self, op: str, left: Any, right: Any) -> Any:
        if left == (*self.python, _MICRO) and isinstance(right, tuple) and left[:2] == right[:2] and len(right) > 2:
            return ANY
        return super().pair(op, left, right)

    def _part(self, index: Expr) -> Any:
        if isinstance(index, Constant) and index.value in (0, 1):
            return self.python[index.value]
        if isinstance(index, Slice) and index.lower is None and index.upper == Constant(2):
            return self.python
        return ANY

    def called(self, number: int, depth: int) -> Any:
        call = self.file.calls[number]
        if not call.args and isinstance(call.func, (Name, Attribute)) and self.dotted(call.func) == "platform.system":
            return _PLATFORM["platform.system()"][self.platform]
        return self.method(call, call.func, depth) if isinstance(call.func, Attribute) else ANY

    def named(self, expr: Name | Attribute, depth: int) -> Any:
        dotted = self.dotted(expr)
        if dotted == "sys.hexversion":
            return (self.python[0] << 24) + (self.python[1] << 16) + _MICRO
        if dotted in _PLATFORM:
            return _PLATFORM[dotted][self.platform]
        if dotted == "sys.version_info":
            return (*self.python, _MICRO)
        if dotted in ("sys.version_info.major", "sys.version_info.minor"):
            return self.python[dotted.endswith("minor")]
        if isinstance(expr, Name):
            found = self.file.bindings(0).get(expr.id, ())
            binding = found[0] if len(found) == 1 and self.bound_once(expr.id) else None
            # Only the result of a test or call: a constant is a switch that people edit.
            match binding:
                case Binding(
                    _, Event("assign", _, 0), (Compare() | CallRef() | Not() | BoolOp() | Attribute()) as test, _
                ):
                    return self.value(test, depth - 1)
        return ANY


def _without(file: SourceFile, excluded: Collection[int], ends: Mapping[int, Mapping[int, Position]]) -> SourceFile:
    """Return the file without the contents of these regions, and without what stands behind the ends of its scopes."""
    facts: FileFacts = file.facts
    gone: set[int] = set()

    def runs(one: Event | Call | Scope, scope: int) -> bool:
        if one.region in excluded:
            return False
        return scope not in ends or not ended(file, one.region, one.span.start, ends[scope])

    scopes = []
    for index, scope in enumerate(facts.scopes):
        if scope.parent in gone or not runs(scope, scope.parent):
            gone.add(index)
        last = (scope.span.end_line, scope.span.end_column)
        stops = scope.end in excluded or (scope.end >= 0 and ended(file, scope.end, last, ends.get(index, {})))
        scopes.append(
            replace(
                scope,
                events=[] if index in gone else [one for one in scope.events if runs(one, index)],
                end=-1 if stops else scope.end,
            )
        )
    absent = frozenset(
        index for index, call in enumerate(facts.calls) if call.scope in gone or not runs(call, call.scope)
    )
    called = {name: [one for one in calls if one not in absent] for name, calls in facts.called.items()}
    return SourceFile(file.path, replace(facts, scopes=scopes, called=called), absent)
