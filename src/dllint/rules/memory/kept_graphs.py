"""Losses that a training loop keeps without detaching them, and with each the graph of its step."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Constant,
    List,
    Name,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Call, Event, Expr, Operator, Param
from dllint.inference import limits
from dllint.inference.values import Const, External, Frame, Function, Instance, Site
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import loops
from dllint.rules.memory.backward_passes import STARTS, around, backward_passes
from dllint.rules.memory.batch_bodies import ADDING, Body
from dllint.rules.memory.batch_containers import makes_missing
from dllint.rules.memory.container_resets import is_reset, moved, of_entries
from dllint.rules.memory.graph_flow import NO_PARTS, GraphFlow, Parts
from dllint.rules.memory.step_loops import StepLoops
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_OFF = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})


class Inner(NamedTuple):
    """Where a method that is given a loss adds it to an attribute; `method` is the callee as written."""

    file: SourceFile
    span: Span
    container: Expr
    method: Expr


class KeptGraph(NamedTuple):
    """A statement that keeps the loss of every step with its graph.

    Attributes:
        container: what it is added to, also if a method that the statement calls adds it.
        what: the loss; `what_span` is its span if nothing but the loss is added.
        statement: of the function with the loss, also if a function that it calls keeps the loss: at `inner`.
        loop: the file and the region of the loop; it may call the function with the statement.
    """

    file: SourceFile
    container: Expr
    what: Expr
    what_span: Span | None
    span: Span
    statement: Span
    loop: tuple[SourceFile, int]
    inner: Inner | None = None


class KeptGraphs:
    """Finds the losses kept with their graph, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._loops = project.ask(StepLoops)
        self._returned: dict[tuple[str, int], Parts] = {}
        self._joined: dict[tuple[str, int], set[Expr]] = {}

    def kept(self) -> Iterator[KeptGraph]:
        """Every statement in a long loop, or in a function that one calls, that keeps the loss of a step."""
        seen: set[tuple[str, int, int]] = set()
        for file, scope in self._scopes():
            passes = file.derived(backward_passes, scope)
            for one in passes:
                yield from self._in_loop(file, scope, one.region.number, seen)
            if any(not loops(file, one.region.number) for one in passes):
                yield from self._in_function(file, scope)
            if self._returns(Function(file, scope)) == NO_PARTS:
                continue
            for caller in self.world.calls.callers(Function(file, scope)):
                call = caller.file.place_of(caller.call)
                if not caller.guessed:
                    yield from self._in_loop(caller.file, call.scope, call.region, seen)

    def _scopes(self) -> list[tuple[SourceFile, int]]:
        """The functions that start a backward pass."""
        found = {
            (file.path, file.calls[index].scope): (file, file.calls[index].scope)
            for file in self.world.files.values()
            for name in STARTS
            for index in file.facts.called.get(name, ())
        }
        return list(found.values())

    def returned_by(self, file: SourceFile, index: int, frame: Frame | None) -> Parts:
        """What of the value that a call returns is a loss, of a function that starts a backward pass from it."""
        targets = [target for target in self.world.calls.targets(file, index, frame) if not target.guessed]
        if len(targets) != 1 or last_name(file.calls[index].func) in STARTS:
            return NO_PARTS
        return self._returns(targets[0].function)

    def _returns(self, function: Function) -> Parts:
        known = self._returned.get(function.key)
        if known is not None:
            return known
        self._returned[function.key] = NO_PARTS
        file, scope = function.file, function.scope
        found: set[Parts] = set()
        if file.derived(backward_passes, scope):
            flow = GraphFlow(self.world, self.returned_by, file, scope)
            for event in file.scopes[scope].events:
                if event.kind == "return" and event.value is not None:
                    found.add(flow.parts(event.value))
                flow.follow(event)
        # A function that returns the loss on some paths only is not followed.
        answer = self._returned[function.key] = found.pop() if len(found) == 1 else NO_PARTS
        return answer

    def _in_loop(
        self, file: SourceFile, scope: int, region: int, seen: set[tuple[str, int, int]]
    ) -> Iterator[KeptGraph]:
        loop = self._loops.around(file, scope, region)
        if loop is None or (file.path, scope, loop) in seen:
            return
        seen.add((file.path, scope, loop))
        flow = GraphFlow(self.world, self.returned_by, file, scope)
        body = Body(self.world, file, scope, loop)
        for event in file.scopes[scope].events:
            if not file.encloses(loop, event.region):
                continue
            if not self._is_off(file, event.region):
                yield from self._added(flow, body, event, loop)
                yield from self._appended(flow, body, event, loop)
                yield from self._handed_over(flow, event, loop)
            flow.follow(event)

    def _in_function(self, file: SourceFile, scope: int) -> Iterator[KeptGraph]:
        """The statements that keep the loss of a step in what a function is given, or in its object, if a loop over the
        steps calls it."""
        flow = GraphFlow(self.world, self.returned_by, file, scope)
        body = Body(self.world, file, scope, None)
        for event in file.scopes[scope].events:
            if not self._is_off(file, event.region) and self._loops.around(file, scope, event.region) is None:
                # Adding to a variable binds it only in the function itself.
                added = (one for one in self._added(flow, body, event, 0) if not isinstance(one.container, Name))
                for one in (*added, *self._appended(flow, body, event, 0), *self._handed_over(flow, event, 0)):
                    found = self._called(Function(file, scope), one.container)
                    yield from () if found is None else (one._replace(loop=found),)
            flow.follow(event)

    def _called(self, function: Function, container: Expr, depth: int = 0) -> tuple[SourceFile, int] | None:
        """The first loop over the steps that calls a function and in which the container grows."""
        for caller in self.world.calls.callers(function):
            if caller.guessed or caller.call < 0:
                continue
            file, call = caller.file, caller.file.calls[caller.call]
            frame = self.world.told_apart(file, caller.call, function, caller.frame)
            outside = self._outside(container, function, call, frame)
            if outside is None:
                continue
            loop = self._loops.around(file, call.scope, call.region)
            if loop is None and not limits.COUNTING_DEPTH.reached(depth):
                found = self._called(Function(file, call.scope), outside, depth + 1)
                if found is not None:
                    return found
            elif loop is not None:
                flow = GraphFlow(self.world, self.returned_by, file, call.scope)
                if not self._is_reset(flow, outside, loop):
                    return file, loop
        return None

    def _outside(self, container: Expr, function: Function, call: Call, frame: Frame | None) -> Expr | None:
        """A container of a parameter, or of the object of a method, as an expression of the caller."""
        *_, root = around(container)
        params = function.file.scopes[function.scope].params
        given: Expr | None = None
        if params and root == Name(params[0].name) and self.world.hierarchy.receiver_kind(function):
            given = call.func.value if isinstance(call.func, Attribute) else None
        elif isinstance(root, Name) and any(one.name == root.id for one in params) and frame is not None:
            actual = self.world.parameters.bound(function, root.id, frame).actual
            given = None if actual is None else actual.expr
        return None if given is None else moved(container, root, given)

    @staticmethod
    def _is_off(file: SourceFile, region: int) -> bool:
        """Whether a place is inside `with torch.no_grad():`."""
        entries = (file.facts.regions[one] for one in file.regions(region))
        return any(
            entry.kind == "with"
            and isinstance(entry.expr, CallRef)
            and last_name(file.calls[entry.expr.index].func) in _OFF
            for entry in entries
        )

    def _added(self, flow: GraphFlow, body: Body, event: Event, loop: int) -> Iterator[KeptGraph]:
        """`total += loss` and `total = total + loss`."""
        added, span = event.value, event.value_span
        if event.target is None or added is None or event.kind != "assign":
            return
        if not isinstance(event.detail, Operator):
            if not isinstance(added, BinOp) or added.op != "+":
                return
            sides = ((added.left, added.right), (added.right, added.left))
            found = [other for one, other in sides if _is_value_of(event.target, one, flow.file)]
            if not found:
                return
            added, span = found[0], None
        elif event.detail.op != "+":
            return
        if not flow.carries(added) or event.target in flow.carrying:
            return
        if self._outlives(flow.file, flow.scope, event.target, loop) and self._sums(event, flow):
            if isinstance(added, (List, Tuple)) and not body.collects(event.target, event.region, event.span):
                return
            lost = flow.loss_in(added, span)
            if not body.bounded(event.region, event.target, flow.carrying.get(lost[0], event.region)):
                yield KeptGraph(flow.file, event.target, *lost, event.span, event.span, (flow.file, loop))

    def _appended(self, flow: GraphFlow, body: Body, event: Event, loop: int) -> Iterator[KeptGraph]:
        """`losses.append(loss)`."""
        for name in ADDING:
            for index in flow.file.facts.called.get(name, ()):
                call = flow.file.calls[index]
                if call.scope != flow.scope or call.statement != event.span or call.region != event.region:
                    continue
                if not isinstance(call.func, Attribute) or not call.args or not flow.carries(call.args[-1].value):
                    continue
                grows = body.collects(call.func.value, call.region, call.statement)
                outlives = grows and self._outlives(flow.file, flow.scope, call.func.value, loop)
                lost = flow.loss_in(call.args[-1].value, call.args[-1].value_span)
                made = flow.carrying.get(lost[0], call.region)
                if outlives and not body.bounded(call.region, call.func.value, made):
                    yield KeptGraph(flow.file, call.func.value, *lost, call.span, call.statement, (flow.file, loop))

    def _handed_over(self, flow: GraphFlow, event: Event, loop: int) -> Iterator[KeptGraph]:
        """`meter.update(loss)`, where the method adds it to an attribute."""
        for index in flow.file.calls_of(flow.scope):
            call = flow.file.calls[index]
            if call.statement != event.span or not any(flow.carries(one.value) for one in call.args):
                continue
            if not isinstance(call.func, Attribute) or call.func.attr in (*STARTS, *ADDING):
                continue
            for target in self.world.calls.targets(flow.file, index, flow.frame):
                if target.guessed:
                    continue
                function, frame = target.function, target.frame
                if frame is not None:
                    # Of a method with many callers, whose calls share one activation elsewhere.
                    frame = self.world.told_apart(flow.file, index, function, frame)
                inner = GraphFlow(self.world, self.returned_by, function.file, function.scope, frame)
                for param in function.file.scopes[function.scope].params:
                    for one in self._given(function, param, frame):
                        inner.take(Name(param.name), flow.parts(one))
                found = next(self._kept_in(inner, function), None)
                container = found and self._outside(found.container, function, call, frame)
                if found is None or container is None or self._is_reset(flow, container, loop):
                    continue
                given = next(one for one in call.args if flow.carries(one.value))
                lost = flow.loss_in(given.value, given.value_span)
                where = Inner(function.file, found.span, found.container, call.func)
                yield KeptGraph(flow.file, container, *lost, call.span, call.statement, (flow.file, loop), where)
                return

    def _is_reset(self, flow: GraphFlow, container: Expr, loop: int) -> bool:
        """Whether a container is new or empty in each iteration of a loop, or after some of them."""
        if not self._outlives(flow.file, flow.scope, of_entries(container), loop):
            return True
        return bool(loop) and is_reset(self.world, flow.file, flow.scope, loop, container, flow.frame)

    def _given(self, function: Function, param: Param, frame: Frame | None) -> Iterator[Expr]:
        """What a call gives a parameter; `**meters` all keywords that no other one takes."""
        if frame is None or frame.actuals is None:
            return
        actual = self.world.parameters.bound(function, param.name, frame).actual
        if actual is not None and actual.expr is not None:
            yield actual.expr
        if param.kind == "kw":
            others = {one.name for one in function.file.scopes[function.scope].params}
            for name, given in frame.actuals.keywords.items():
                if name not in others and given.expr is not None:
                    yield given.expr

    def _kept_in(self, flow: GraphFlow, function: Function) -> Iterator[KeptGraph]:
        """The statements of a method that add an argument to an attribute."""
        if not flow.carrying:
            return
        body = Body(self.world, function.file, function.scope, None, flow.frame)
        for event in function.file.scopes[function.scope].events:
            target = None if event.target is None else of_entries(event.target)
            of_self = isinstance(target, Attribute) and target.value == Name("self")
            if not self._is_off(function.file, event.region):
                if of_self:
                    yield from self._added(flow, body, event, 0)
                yield from self._appended(flow, body, event, 0)
            flow.follow(event)

    def _outlives(self, file: SourceFile, scope: int, container: Expr, loop: int) -> bool:
        """Whether a container or a sum exists before the loop, or is made where there is none yet, no iteration
        replaces it, and no backward pass starts from it."""
        *_, root = around(container)
        if not isinstance(root, Name) or any(one.loss == container for one in file.derived(backward_passes, scope)):
            return False
        joined = self._joined.get((file.path, scope))
        if joined is None:
            joined = self._joined[file.path, scope] = file.derived(_joined_losses, scope)
        if container in joined:
            return False
        for event in file.scopes[scope].events:
            if event.target is None or not file.encloses(loop, event.region) or isinstance(event.detail, Operator):
                continue
            bound = event.target.elements if isinstance(event.target, (Tuple, List)) else (event.target,)
            tests = (file.facts.regions[one].expr for one in file.regions(event.region))
            if Compare(root, (("is", Constant(None)),)) in tests or makes_missing(event, file):
                continue
            sides = (event.value.left, event.value.right) if isinstance(event.value, BinOp) else ()
            added = any(_is_value_of(container, one, file) for one in sides)
            if any(one in (container, root) for one in bound) and not (added and event.target == container):
                return False
        return True

    def _sums(self, event: Event, flow: GraphFlow) -> bool:
        """Whether what a loss is added to can be a number or a tensor."""
        assert event.target is not None
        site = Site(flow.file, flow.scope, event.region, event.span.start, flow.frame)
        for value in self.world.values.evaluate(event.target, site):
            if isinstance(value, Const) and not isinstance(value.value, (int, float)):
                return False
            if isinstance(value, Instance) and not isinstance(value.of, External):
                return False
        return True


def _joined_losses(file: SourceFile, scope: int) -> set[Expr]:
    """Return what a backward pass starts from a call of: `losses` in `torch.stack(losses).mean().backward()`, also by a
    name."""
    assigned: dict[str, list[tuple[tuple[int, int], Expr]]] = {}
    for event in file.scopes[scope].events_of("assign"):
        if isinstance(event.target, Name) and event.value is not None:
            assigned.setdefault(event.target.id, []).append((event.span.start, event.value))
    for one in assigned.values():
        one.sort(key=lambda pair: pair[0])
    found, taken = set[Expr](), set[tuple[tuple[int, int], Expr]]()
    for index in (one for name in STARTS for one in file.facts.called.get(name, ())):
        start = file.calls[index]
        if start.scope != scope or not isinstance(start.func, Attribute):
            continue
        before = start.statement.start
        todo = [(before, start.func.value), *((before, one.value) for one in start.args[:1])]
        for place, expr in todo:
            for part in walk(expr, file) if (place, expr) not in taken else ():
                if isinstance(part, CallRef):
                    found.update(one.value for one in file.calls[part.index].args)
                elif isinstance(part, Name):
                    earlier = assigned.get(part.id, [])
                    at = bisect_left(earlier, place, key=lambda one: one[0])
                    todo += earlier[max(0, at - 1) : at]
            taken.add((place, expr))
    return found


def _is_value_of(target: Expr, expr: Expr, file: SourceFile) -> bool:
    """Whether an expression reads what an assignment replaces: `total`, or `sums.get(name, 0)` of `sums[name]`."""
    if expr == target:
        return True
    call = file.calls[expr.index] if isinstance(expr, CallRef) else None
    if call is None or not isinstance(target, Subscript) or len(call.args) != 2:
        return False
    return call.func == Attribute(target.value, "get") and call.args[0].value == target.index
