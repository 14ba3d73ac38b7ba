"""Paths that a program takes only once someone turns on an option that is off by default."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, Compare, Constant, Name, Not, Subscript
from dllint.facts.schema import Expr
from dllint.finding import Finding, Place
from dllint.inference import limits
from dllint.inference.origins import Origins, Source
from dllint.inference.values import UNKNOWN, Class, Const, External, Frame, Function, Instance, Site, Value
from dllint.linking.arithmetic import ORDERING, combined
from dllint.linking.source import SourceFile
from dllint.project.same_process import Reached, reach
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_SCRIPTS = (".sh", ".sbatch", ".slurm")
_LEVELS = limits.UNCHOSEN_CALLERS.most


class UnchosenPaths:
    """Decides whether code runs only with an option that nothing in the project turns on."""

    def __init__(self, project: Project) -> None:
        self.world = project.world
        self._project = project
        self._origins = Origins(project.world)
        self._given: dict[str, bool] = {}
        self._off: dict[tuple[str, int, int, Frame | None], bool] = {}

    def condition(self, finding: Finding) -> Place | None:
        """The test that keeps a program from a defect unless an option is given that is off by default; None if there
        is none.

        It stands around the defect or the start of its processes, around every known call of such a function, or on
        all ways of its trace.
        """
        hops: list[tuple[SourceFile, int]] = []
        for number, (path, span) in enumerate(
            ((finding.path, finding.span), *((one.path, one.span) for one in finding.trace))
        ):
            file = self.world.files.get(path)
            place = place_around(file, span) if file is not None else None
            if file is None or place is None:
                continue
            if number == 0 or (path, span) in self._starts:
                found = self._behind(file, *place)
            else:
                found = self._called(file, place[0], _LEVELS)
                call = file.call_at(span)
                hops += [(file, call)] if call is not None else []
            if found is not None:
                return found
        return self._on_all_ways(hops) or self._around_all(
            [(one.path, one.span) for one in finding.related if (one.path, one.span) in self._starts]
        )

    def _around_all(self, launches: list[tuple[str, Span]]) -> Place | None:
        """The test around each of the calls that start the processes of a defect, if all have one."""
        found: Place | None = None
        for path, span in launches:
            found = self.around(self.world.files[path], span)
            if found is None:
                return None
        return found

    def around(self, file: SourceFile, span: Span) -> Place | None:
        """The test of such an option around a place, or around all calls of its function; None if there is none."""
        place = place_around(file, span)
        return self._behind(file, *place) if place is not None else None

    def runs_unasked(self, file: SourceFile, index: int, frame: Frame | None = None) -> bool:
        """Whether no such option stands around a call, in one activation of its function, or around all calls of its
        function."""
        call = file.calls[index]
        if frame is not None and self._tested(file, call.scope, call.region, frame) is not None:
            return False
        return self._behind(file, call.scope, call.region) is None

    @cached_property
    def _starts(self) -> set[tuple[str, Span]]:
        return {(one.file.path, one.file.calls[one.call].span) for one in self._project.launches.all()}

    def _on_all_ways(self, hops: list[tuple[SourceFile, int]]) -> Place | None:
        """The test around a call of a trace whose target its first function runs in no other way."""
        for file, index in hops:
            call = file.calls[index]
            found = self._tested(file, call.scope, call.region)
            if found is None:
                continue
            first = Reached(hops[0][0], hops[0][0].calls[hops[0][1]].scope, None)
            others = {(one.file.path, one.scope) for one in reach(self.world, [first], self._follows)}
            targets = [target.function.key for target in self.world.calls.targets(file, index)]
            if targets and not any(key in others for key in targets):
                return found
        return None

    def _follows(self, here: Reached, index: int) -> bool:
        call = here.file.calls[index]
        return self._tested(here.file, call.scope, call.region) is None

    def _behind(self, file: SourceFile, scope: int, region: int, levels: int = _LEVELS) -> Place | None:
        return self._tested(file, scope, region) or self._called(file, scope, levels)

    def _called(self, file: SourceFile, scope: int, levels: int) -> Place | None:
        if scope == 0 or file.scopes[scope].kind != "function":
            return None
        callers = self.world.calls.callers(Function(file, scope))
        if not callers or any(one.call < 0 for one in callers):
            return None
        if not levels:
            limits.UNCHOSEN_CALLERS.met()
            return None
        found: Place | None = None
        for one in callers:
            call = one.file.calls[one.call]
            found = self._behind(one.file, call.scope, call.region, levels - 1)
            if found is None:
                return None
        return found

    def _tested(self, file: SourceFile, scope: int, region: int, frame: Frame | None = None) -> Place | None:
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind != "if" or entry.expr is None:
                continue
            key = (file.path, scope, index, frame)
            off = self._off.get(key)
            if off is None:
                site = Site(file, scope, entry.parent, entry.span.start, frame)
                off = self._off[key] = self._is_off(entry.expr, entry.holds, site)
            if off:
                return Place(file.path, entry.span, "off by default, and nothing here turns it on")
        return None

    def _is_off(self, test: Expr, holds: bool, site: Site) -> bool:
        """Whether a test has the other outcome unless an option is given that is off by default."""
        if isinstance(test, Not):
            return self._is_off(test.operand, not holds, site)
        if isinstance(test, BoolOp):
            parts = [self._is_off(part, holds, site) for part in test.values]
            return any(parts) if (test.op == "and") is holds else all(parts)
        tested: Expr = test
        if isinstance(test, Compare) and len(test.comparisons) == 1 and isinstance(test.comparisons[0][1], Constant):
            tested = test.left
        if not isinstance(tested, (Name, Attribute, Subscript)):
            return False
        off = False
        known = [source for source in self._origins.of(tested, site) if source.known and not _of_result(source.value)]
        for source in known:
            outcome = _outcome(test, source.value)
            if outcome is None or (outcome is holds and not self._is_choice(source)):
                return False
            off = off or (outcome is not holds and _is_neutral(source.value) and self._is_default(source))
        if not isinstance(tested, Attribute):
            return off
        if not off:
            declared = self._declared(tested.attr)
            off = bool(declared) and all(_outcome(test, one) is (not holds) and _is_neutral(one) for one in declared)
        return off and not self.world.knowledge.configures(tested.attr)

    def _declared(self, name: str) -> list[Value]:
        """The values that classes declare for a field, which options of an object of unknown class have by default."""
        return [
            value
            for cls in self._declaring.get(name, ())
            for value in self.world.values.attribute(cls, name) or (UNKNOWN,)
        ]

    @cached_property
    def _declaring(self) -> dict[str, list[Class]]:
        """The dataclasses of the project, by the names of their fields."""
        found: dict[str, list[Class]] = {}
        for cls in self.world.classes():
            if cls.file.scopes[cls.scope].decorators:
                for name in cls.file.bindings(cls.scope):
                    found.setdefault(name, []).append(cls)
        return found

    def _is_default(self, source: Source) -> bool:
        """Whether a value is in force without anybody's choice: the default of an option or of a parameter, or an
        attribute set at the top level of a file: `_C.DATA.ZIP = False`."""
        if source.given is not None:
            return source.given.kind in ("parameter", "option", "without", "class", "entry")
        stored = self._stored(source)
        return stored is not None and stored[0] == 0 and not self._is_conditional(*stored[1:])

    def _is_choice(self, source: Source) -> bool:
        """Whether a value is in force only for a user who asks for it: by a switch that no script of the project gives,
        or by what a test around the assignment of an attribute asks for."""
        if source.given is not None:
            return source.given.kind == "with" and not self._is_given(source.given.names[0])
        stored = self._stored(source)
        return stored is not None and self._is_conditional(*stored[1:])

    def _is_given(self, flag: str) -> bool:
        """Whether a shell script of the project gives a switch."""
        found = self._given.get(flag)
        if found is None:
            found = self._given[flag] = any(True for _ in self._project.scripts(_SCRIPTS, flag.encode()))
        return found

    def _stored(self, source: Source) -> tuple[int, SourceFile, int] | None:
        """The scope, the file and the region of the assignment of an attribute that a value comes from."""
        file = self.world.files.get(source.path)
        for scope, entry in enumerate(file.scopes) if file is not None else ():
            for event in entry.storing():
                if event.span.line == source.span.line and isinstance(event.target, (Attribute, Subscript)):
                    assert file is not None
                    return scope, file, event.region
        return None

    @staticmethod
    def _is_conditional(file: SourceFile, region: int) -> bool:
        return any(file.facts.regions[index].kind == "if" for index in file.regions(region))


def _is_neutral(given: Value) -> bool:
    """Whether a value leaves something as it is: a switch, None, 0, "" or a negative number. A name chooses between
    things that are equally wanted."""
    value = given.value if isinstance(given, Const) else "unknown"
    return not value or isinstance(value, bool) or (isinstance(value, (int, float)) and value < 0)


def _of_result(value: Value) -> bool:
    """Whether a value comes out of what a library's call returned, such as a checkpoint: nothing is known of it."""
    made = value.of if isinstance(value, Instance) else value
    return isinstance(made, External) and "()" in made.name


def _outcome(test: Expr, given: Value) -> bool | None:
    """The outcome of a test of a constant; None if it is not known."""
    if not isinstance(given, Const):
        return None
    value = given.value
    if not isinstance(test, Compare):
        return bool(value)
    (op, other) = test.comparisons[0]
    assert isinstance(other, Constant)
    right = other.value
    if op in ("is", "=="):
        return bool(value == right)
    if op in ("is not", "!="):
        return bool(value != right)
    if op in ORDERING and isinstance(value, (int, float)) and isinstance(right, (int, float)):
        return bool(combined(op, value, right))
    return None


def _of_call(file: SourceFile, index: int) -> tuple[int, int]:
    return file.calls[index].scope, file.calls[index].region


def place_around(file: SourceFile, span: Span) -> tuple[int, int] | None:
    """The scope and the region of the innermost call or statement around a place."""
    index = file.call_around(span)
    if index is not None:
        return _of_call(file, index)
    for scope in file.scopes_around(span):
        for event in file.events_around(scope, span):
            if event.kind not in ("def", "class"):
                return scope, event.region
    return None
