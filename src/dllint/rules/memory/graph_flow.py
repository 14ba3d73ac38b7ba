"""The expressions of a function that belong to the graph of a loss, followed statement by statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Dict, IfExp, List, Name, Subscript, Tuple, UnaryOp
from dllint.facts.schema import Call, Event, Expr, Operator
from dllint.inference.values import Class, External, Frame, Instance, Site, Value
from dllint.libraries.index import canonical
from dllint.linking.conditions import in_other_halves
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.rules.memory.backward_passes import KEEPING, Starts, around, is_term, scaled, summed
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World

_JOINING = frozenset({"stack", "cat"})
_LOSSES = frozenset({"cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"})
"""Loss functions of `torch.nn.functional` without "loss" in their names."""
_REDUCED = frozenset({"torch.mean", "torch.sum"})
Returned = Callable[[SourceFile, int, "Frame | None", bool], "frozenset[int]"]
"""Tells the positions of the losses in what a call returns; the last argument: whether it is unpacked."""


@dataclass
class GraphFlow:
    """The expressions that belong to a graph at one statement of a function, followed in source order."""

    world: World
    returned_by: Returned
    file: SourceFile
    scope: int
    frame: Frame | None = None
    carrying: dict[Expr, int] = field(default_factory=dict)
    """With the regions in which they are bound."""

    @cached_property
    def _starts(self) -> Starts:
        return Starts(self.file, self.scope)

    def carries(self, expr: Expr) -> bool:
        """Whether the value of an expression, or a part of it, provably belongs to a graph."""
        if expr in self.carrying:
            return True
        match expr:
            case Name():
                return self._holding(expr) is not None
            case BinOp(left=left, right=right):
                return self.carries(left) or self.carries(right)
            case UnaryOp(operand=operand):
                return self.carries(operand)
            case Subscript(value, _):
                return self.carries(value)
            case IfExp(_, body, orelse):
                return self.carries(body) and self.carries(orelse)
            case Tuple(elements) | List(elements):
                return any(map(self.carries, elements))
            case Dict(items):
                return any(self.carries(value) for _, value in items)
            case CallRef(index):
                return self._call_carries(index)
        return False

    def _holding(self, name: Name) -> Expr | None:
        """The loss that is an attribute or an entry of an object: `output["loss"]` of `output`."""
        return next((one for one in self.carrying if one != name and name in around(one)), None)

    def loss_in(self, whole: Expr, span: Span | None) -> tuple[Expr, Span | None]:
        """The part of an expression that belongs to a graph, the loss itself, with its span if it is all of it."""
        expr = whole
        while expr not in self.carrying:
            if isinstance(expr, Name) and (held := self._holding(expr)) is not None:
                return held, None
            parts = expr.children() if not isinstance(expr, CallRef) else self._operands(expr.index)
            inner = next(filter(self.carries, parts), None)
            if inner is None:
                break
            expr = inner
        return expr, span if expr == whole else None

    def _operands(self, index: int) -> tuple[Expr, ...]:
        call = self.file.calls[index]
        given = tuple(one.value for one in call.args)
        return (call.func.value, *given) if isinstance(call.func, Attribute) else given

    def _call_carries(self, index: int) -> bool:
        call = self.file.calls[index]
        if isinstance(call.func, Attribute) and call.func.attr in KEEPING and self.carries(call.func.value):
            return True
        name = last_name(call.func)
        if name in KEEPING | _JOINING and call.args and self.carries(call.args[0].value):
            values = self.world.values.evaluate(call.func, self._site(call))
            return any(isinstance(one, External) and one.name.startswith("torch.") for one in values)
        return 0 in self.returned_by(self.file, index, self.frame, False)

    def _site(self, call: Call) -> Site:
        return Site(self.file, call.scope, call.region, call.statement.start, self.frame)

    def follow(self, event: Event) -> None:
        """Update the expressions by an assignment."""
        if event.kind not in ("assign", "for", "with") or event.target is None or isinstance(event.detail, Operator):
            return
        if event.kind == "for":
            self._bind_entries(event)
        elif isinstance(event.target, (Tuple, List)):
            given = event.value
            found: frozenset[int] = frozenset()
            if isinstance(given, CallRef):
                found = self.returned_by(self.file, given.index, self.frame, True)
            same = isinstance(given, (Tuple, List)) and len(given.elements) == len(event.target.elements)
            for position, target in enumerate(event.target.elements):
                held = isinstance(given, (Tuple, List)) and same and self.carries(given.elements[position])
                self._bind(target, event, held or position in found)
        else:
            self._bind(event.target, event, event.value is not None and self.carries(event.value))

    def _bind_entries(self, event: Event) -> None:
        """Update the expressions by a loop: `for name, value in losses.items()`."""
        iterated = event.value
        call = self.file.calls[iterated.index] if isinstance(iterated, CallRef) else None
        entries = call is not None and isinstance(call.func, Attribute) and call.func.attr in ("items", "values")
        if call is not None and isinstance(call.func, Attribute) and entries:
            iterated = call.func.value
        held = iterated is not None and (entries or call is None) and self.carries(iterated)
        assert event.target is not None
        targets = event.target.elements if isinstance(event.target, (Tuple, List)) else (event.target,)
        for target in targets:
            self._bind(target, event, held and target is targets[-1])

    def _part(self, target: Expr, event: Event) -> set[Expr]:
        """The target, if a loss function of PyTorch computes it and the loss of a backward pass is a sum with it; or a
        mean or sum, if it is a term of its own."""
        value = scaled(given) if (given := _assigned(target, event)) is not None else None
        call = self.file.calls[value.index] if isinstance(value, CallRef) else None
        sums = self.file.derived(summed, self.scope) if call is not None else []
        later = [one for one in sums if one[0] == target and one[2].span.start > event.span.start]
        losses = [whole for _, whole, made in later if self._starts.bound_by(whole, made)]
        if call is None or not losses:
            return set()
        values = self.world.values.evaluate(call.func, self._site(call))
        if values and all(map(self._is_loss_function, values)):
            return {target}
        reduced = bool(values) and all(isinstance(one, External) and one.name in _REDUCED for one in values)
        return {target} if reduced and any(is_term(self.file, self.scope, target, one) for one in losses) else set()

    def _is_loss_function(self, value: Value) -> bool:
        made = value.of if isinstance(value, Instance) else value
        if isinstance(made, Class) and made is not value:
            named = "loss" in made.name.lower()
            return named and "torch.nn.Module" in map(canonical, self.world.hierarchy.externals(made))
        name = canonical(made.name) if isinstance(made, External) else ""
        return name.startswith("torch.nn.") and ("loss" in name.lower() or name.rpartition(".")[2] in _LOSSES)

    def _bind(self, target: Expr, event: Event, held: bool) -> None:
        self.carrying = {
            one: region
            for one, region in self.carrying.items()
            if target not in walk(one, self.file) or in_other_halves(self.file, region, event.region)
        }
        bound = self._starts.bound_by(target, event) or self._part(target, event)
        self.carrying |= dict.fromkeys((*bound, target) if held else bound, event.region)


def _assigned(target: Expr, event: Event) -> Expr | None:
    """What an assignment gives a target, also one of several."""
    if isinstance(event.target, (Tuple, List)) and isinstance(event.value, (Tuple, List)):
        pairs = zip(event.target.elements, event.value.elements, strict=False)
        return next((value for one, value in pairs if one == target), None)
    return event.value if event.target == target else None
