"""Backward passes: the losses from which a function starts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, List, Name, Starred, Subscript, Tuple
from dllint.facts.schema import Call, Event, Expr, Operator
from dllint.inference import limits
from dllint.libraries.torch.tensors import GRAPH_KEEPING
from dllint.linking.reads import RegionRef
from dllint.linking.source import SourceFile, last_name
from dllint.span import Span

STARTS = ("backward", "manual_backward")
"""Methods that start a backward pass: of a tensor, of an engine such as Accelerate's, and of a LightningModule."""
_LOOPS = ("for", "while")
KEEPING = GRAPH_KEEPING | {"half", "cuda", "sqrt", "abs", "log", "exp", "add", "mul", "div", "clamp", "type"}
"""Methods and functions whose result belongs to the graph of the tensor."""


class BackwardPass(NamedTuple):
    """A statement that starts a backward pass from a loss."""

    loss: Expr
    statement: Span
    region: RegionRef


def backward_passes(file: SourceFile, scope: int) -> list[BackwardPass]:
    """Return the statements of a function that start a backward pass."""
    found = []
    for name in STARTS:
        for index in file.facts.called.get(name, ()):
            call = file.calls[index]
            loss = _started_from(file, call) if call.scope == scope else None
            if loss is not None:
                found.append(BackwardPass(loss, call.statement, RegionRef(call.region)))
    return found


class Starts:
    """The assignments of one function that bind what a backward pass starts from."""

    def __init__(self, file: SourceFile, scope: int) -> None:
        self._passes = file.derived(backward_passes, scope)
        self._lines: dict[Expr, list[int]] = {}
        self._renaming: dict[Expr, list[Event]] = {}
        for event in file.scopes[scope].events:
            if event.target is not None and not isinstance(event.detail, Operator):
                self._lines.setdefault(event.target, []).append(event.span.line)
            if event.kind == "assign" and isinstance(event.value, Name) and isinstance(event.target, Name):
                self._renaming.setdefault(event.value, []).append(event)

    def bound_by(self, target: Expr, event: Event) -> list[Expr]:
        """The losses that an assignment binds, whole or as attributes of what it binds, and from which a backward pass
        starts before the next assignment to the same target. It may start under another name: `total = loss`,
        `total += penalty`, `total.backward()`."""
        end = self._next(target, event)
        found = self._between(target, event, end)
        if found:
            return found
        for other in self._renaming.get(target, ()):
            named = other.target
            if named is None or named == target or not event.span.line < other.span.line < end:
                continue
            if self._between(named, other, self._next(named, other)):
                return [target]
        return []

    def _next(self, target: Expr, event: Event) -> int:
        """The line of the next assignment to a target after one."""
        return min((line for line in self._lines.get(target, ()) if line > event.span.line), default=1 << 30)

    def _between(self, target: Expr, event: Event, end: int) -> list[Expr]:
        """The losses of a target from which a backward pass starts between an assignment and a line."""
        return [
            one.loss
            for one in self._passes
            if event.span.line < one.statement.line < end and target in around(one.loss)
        ]


def summed(file: SourceFile, scope: int) -> list[tuple[Expr, Expr, Event]]:
    """Return the parts of sums in a function, each with the sum and the statement that makes it: of `loss = first +
    0.1 * second` and of `loss += third`."""
    return [
        (part, event.target, event)
        for event in file.scopes[scope].events
        if event.kind == "assign"
        and event.target is not None
        and event.value is not None
        and (not isinstance(event.detail, Operator) or event.detail.op == "+")
        for part in _parts(event.value, isinstance(event.detail, Operator))
    ]


def _parts(expr: Expr, added: bool = False) -> Iterator[Expr]:
    """Yield the terms of a sum, without constant factors."""
    terms = list(_terms(expr))
    for term in terms if added or len(terms) > 1 else ():
        yield from (one for one in _factors(term) if not isinstance(one, Constant))


def is_term(file: SourceFile, scope: int, target: Expr, whole: Expr) -> bool:
    """Whether the sum that a function assigns to a variable has another variable as a term, alone or scaled by what
    the function does not compute: `first` in `loss = first * weight + second`."""
    events = file.scopes[scope].events_of("assign")
    computed = {one.target for one in events if isinstance(one.value, (CallRef, BinOp)) and one.target is not None}
    for one in events:
        if one.target != whole or one.value is None:
            continue
        for term in _terms(one.value):
            factors = list(_factors(term, divisors=False))
            if target in factors and not any(other in computed for other in factors if other != target):
                return True
    return False


def scaled_terms(expr: Expr) -> Iterator[Expr]:
    """Yield what the terms of a sum scale: `losses["box"]` in `0.5 * losses["box"] + losses["class"]`."""
    terms = list(_terms(expr))
    for term in terms if len(terms) > 1 else ():
        scaled = [one for one in _factors(term, divisors=False) if isinstance(one, Subscript)]
        yield from scaled if len(scaled) == 1 else ()


def _terms(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, BinOp) and expr.op in ("+", "-"):
        yield from _terms(expr.left)
        yield from _terms(expr.right)
    else:
        yield expr


def scaled(expr: Expr) -> Expr:
    """Return the call that an expression multiplies by what it does not compute, `weight * loss(output, label)`, or the
    expression itself."""
    computed = [one for one in _factors(expr) if isinstance(one, CallRef)]
    return computed[0] if len(computed) == 1 else expr


def _factors(expr: Expr, divisors: bool = True) -> Iterator[Expr]:
    if isinstance(expr, BinOp) and expr.op in ("*", "/"):
        yield from _factors(expr.left, divisors)
        yield from _factors(expr.right, divisors) if divisors or expr.op == "*" else ()
    else:
        yield expr


def around(loss: Expr) -> Iterator[Expr]:
    """Yield an expression and the objects that it is an attribute or an entry of."""
    yield loss
    while isinstance(loss, (Attribute, Subscript)):
        loss = loss.value
        yield loss


def _started_from(file: SourceFile, call: Call) -> Expr | None:
    """The loss from which a call starts a backward pass: `loss.backward()`, `scaler.scale(loss).backward()`,
    `accelerator.backward(loss)`."""
    if not isinstance(call.func, Attribute):
        return None
    given = next((one.value for one in call.args if one.keyword in (None, "loss")), None)
    loss = _loss(file, given, 0) if given is not None else None
    if call.func.attr == "manual_backward" or (loss is not None and _is_engine(file, call, loss)):
        return loss
    return _loss(file, call.func.value, 0)


def _is_engine(file: SourceFile, call: Call, loss: Expr) -> bool:
    """Whether the object of a call of `backward` is no tensor but what runs the backward pass of its argument: the
    innermost loop around the call, or its function, computes the argument, and not the object."""
    assert isinstance(call.func, Attribute)
    loop = next((one for one in file.regions(call.region) if file.facts.regions[one].kind in _LOOPS), 0)
    counted = file.facts.regions[loop]
    made = {
        part
        for event in file.scopes[call.scope].events
        if event.target is not None
        and (
            file.encloses(loop, event.region)
            or (event.kind == "for" and event.region == counted.parent and event.value == counted.expr)
        )
        for part in _bound(event.target)
    }
    return any(one in made for one in around(loss)) and not any(one in made for one in around(call.func.value))


def _bound(target: Expr) -> Iterator[Expr]:
    """Yield what an assignment to a target binds: the parts of a tuple."""
    match target:
        case Tuple(elements) | List(elements):
            for element in elements:
                yield from _bound(element)
        case Starred(inner):
            yield from _bound(inner)
        case _:
            yield target


def _loss(file: SourceFile, expr: Expr, depth: int) -> Expr | None:
    """The variable that a backward pass starts from, without what scales it."""
    if limits.PIECE_DEPTH.exceeded(depth):
        return None
    if isinstance(expr, (Name, Attribute)) or (isinstance(expr, Subscript) and isinstance(expr.index, Constant)):
        # `with amp.scale_loss(loss, optimizer) as scaled: scaled.backward()`
        for _, entry in file.regions_of("with") if isinstance(expr, Name) else ():
            opened = file.calls[entry.expr.index] if isinstance(entry.expr, CallRef) else None
            if opened is not None and last_name(opened.func) == "scale_loss" and opened.args:
                bound = (one for one in file.scopes[opened.scope].events if one.kind == "with")
                if any(one.target == expr and one.value == entry.expr for one in bound):
                    return opened.args[0].value
        return expr
    if isinstance(expr, BinOp) and expr.op == "/":
        return _loss(file, expr.left, depth + 1)
    if isinstance(expr, CallRef):
        call = file.calls[expr.index]
        if isinstance(call.func, Attribute) and call.func.attr == "scale" and call.args:
            return _loss(file, call.args[0].value, depth + 1)
        if isinstance(call.func, Attribute) and call.func.attr in KEEPING:
            return _loss(file, call.func.value, depth + 1)
    return None
