"""The expressions of a function that belong to the graph of a loss, followed statement by statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, Dict, IfExp, List, Name, Subscript, Tuple, UnaryOp
from dllint.facts.schema import Call, Event, Expr, Operator
from dllint.inference.values import Class, External, Frame, Instance, Site, Value
from dllint.libraries.index import canonical
from dllint.linking.conditions import in_other_halves
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.rules.memory.backward_passes import KEEPING, Starts, around, is_term, scaled, scaled_terms, summed
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World

_JOINING = frozenset({"stack", "cat"})
_LOSSES = frozenset({"cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"})
"""Loss functions of `torch.nn.functional` without "loss" in their names."""
_REDUCED = frozenset({"torch.mean", "torch.sum"})


class Parts(NamedTuple):
    """What of a value belongs to a graph: all of it, or the elements at some positions or under some keys."""

    whole: bool = False
    keys: frozenset[object] = frozenset()


NO_PARTS = Parts()
Returned = Callable[[SourceFile, int, "Frame | None"], Parts]
"""Tells what of the value that a call returns belongs to a graph."""


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
            case Subscript(value, Constant(key)):
                held = self.parts(value)
                return held.whole or key in held.keys
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

    def parts(self, expr: Expr) -> Parts:
        """What of the value of an expression provably belongs to a graph."""
        match expr:
            case Tuple(elements) | List(elements):
                return Parts(keys=frozenset(at for at, one in enumerate(elements) if self.carries(one)))
            case Dict(items) if all(isinstance(key, Constant) for key, _ in items):
                held = (key for key, value in items if self.carries(value))
                return Parts(keys=frozenset(key.value for key in held if isinstance(key, Constant)))
            case CallRef(index) if not self._stays_in_graph(index):
                return self.returned_by(self.file, index, self.frame)
            case Name() if expr not in self.carrying:
                return self._entries(expr)
        return Parts(self.carries(expr))

    def _entries(self, name: Name) -> Parts:
        """What of an object belongs to a graph because an entry or an attribute of it does."""
        keys: set[object] = set()
        whole = False
        for one in self.carrying:
            inner = next((part for part in around(one) if getattr(part, "value", None) == name), None)
            match inner:
                case Subscript(_, Constant(key)):
                    keys.add(key)
                case Attribute(_, attr):
                    # The first element of an output of Transformers is the attribute `loss`.
                    keys |= {attr, 0}
                case Subscript():
                    whole = True
        return Parts(whole, frozenset(keys))

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
        return self._stays_in_graph(index) or self.returned_by(self.file, index, self.frame) != NO_PARTS

    def _stays_in_graph(self, index: int) -> bool:
        """Whether the result of a call belongs to the graph of what the call is given: `loss.mean()`."""
        call = self.file.calls[index]
        if isinstance(call.func, Attribute) and call.func.attr in KEEPING and self.carries(call.func.value):
            return True
        if last_name(call.func) not in KEEPING | _JOINING or not call.args or not self.carries(call.args[0].value):
            return False
        values = self.world.values.evaluate(call.func, self._site(call))
        return any(isinstance(one, External) and one.name.startswith("torch.") for one in values)

    def _site(self, call: Call) -> Site:
        return Site(self.file, call.scope, call.region, call.statement.start, self.frame)

    def take(self, name: Name, held: Parts) -> None:
        """Add a parameter, by what of its argument belongs to a graph."""
        self.carrying |= dict.fromkeys((Subscript(name, Constant(key)) for key in sorted(held.keys, key=str)), 0)
        if held.whole:
            self.carrying[name] = 0

    def follow(self, event: Event) -> None:
        """Update the expressions by an assignment."""
        if event.kind not in ("assign", "for", "with") or event.target is None or isinstance(event.detail, Operator):
            return
        if event.kind == "for":
            self._bind_entries(event.target, event.value, event)
        elif isinstance(event.target, (Tuple, List)):
            given = event.value
            same = not isinstance(given, (Tuple, List)) or len(given.elements) == len(event.target.elements)
            held = self.parts(given).keys if given is not None and same else frozenset[object]()
            for position, target in enumerate(event.target.elements):
                self._bind(target, event, Parts(position in held))
        else:
            self._bind(event.target, event, NO_PARTS if event.value is None else self.parts(event.value))

    def _bind_entries(self, target: Expr, iterated: Expr | None, event: Event) -> None:
        """Update the expressions by a loop: `for name, value in losses.items()`, `for name, value in zip(names,
        losses)`."""
        call = self.file.calls[iterated.index] if isinstance(iterated, CallRef) else None
        targets = target.elements if isinstance(target, (Tuple, List)) else (target,)
        name = last_name(call.func) if call is not None else ""
        if call is not None and name in ("zip", "enumerate") and targets != (target,):
            given = [one.value for one in call.args if one.keyword is None]
            for position, one in enumerate(targets):
                at = position - (name == "enumerate")
                self._bind_entries(one, given[at] if 0 <= at < len(given) else None, event)
            return
        entries = call is not None and isinstance(call.func, Attribute) and call.func.attr in ("items", "values")
        if call is not None and isinstance(call.func, Attribute) and entries:
            iterated = call.func.value
        held = iterated is not None and (entries or call is None) and self.carries(iterated)
        for one in targets:
            self._bind(one, event, Parts(held and one is targets[-1]))

    def _part(self, target: Expr, event: Event) -> list[Expr]:
        """The target, if a loss function of PyTorch computes it and the loss of a backward pass is a sum with it; or a
        mean or sum, if it is a term of its own."""
        value = scaled(given) if (given := _assigned(target, event)) is not None else None
        call = self.file.calls[value.index] if isinstance(value, CallRef) else None
        sums = self.file.derived(summed, self.scope) if call is not None else []
        later = [one for one in sums if one[0] == target and one[2].span.start > event.span.start]
        losses = [whole for _, whole, made in later if self._starts.bound_by(whole, made)]
        if call is None or not losses:
            return []
        values = self.world.values.evaluate(call.func, self._site(call))
        if values and all(map(self._is_loss_function, values)):
            return [target]
        reduced = bool(values) and all(isinstance(one, External) and one.name in _REDUCED for one in values)
        return [target] if reduced and any(is_term(self.file, self.scope, target, one) for one in losses) else []

    def _is_loss_function(self, value: Value) -> bool:
        made = value.of if isinstance(value, Instance) else value
        if isinstance(made, Class) and made is not value:
            named = "loss" in made.name.lower()
            return named and "torch.nn.Module" in map(canonical, self.world.hierarchy.externals(made))
        name = canonical(made.name) if isinstance(made, External) else ""
        return name.startswith("torch.nn.") and ("loss" in name.lower() or name.rpartition(".")[2] in _LOSSES)

    def _bind(self, target: Expr, event: Event, held: Parts) -> None:
        self.carrying = {
            one: region
            for one, region in self.carrying.items()
            if target not in walk(one, self.file) or in_other_halves(self.file, region, event.region)
        }
        bound = self._starts.bound_by(target, event)
        if target in bound and isinstance(target, Subscript) and event.value is not None:
            terms = scaled_terms(event.value)
            bound += (one for one in terms if isinstance(one, Subscript) and one.value == target.value)
        given = _assigned(target, event) if target in bound else None
        if isinstance(given, (Attribute, Subscript)) and isinstance([*around(given)][-1], Name):
            # The same tensor: `loss = values[0]`.
            bound.append(given)
        bound = bound or self._part(target, event)
        bound += (Subscript(target, Constant(key)) for key in sorted(held.keys, key=str))
        self.carrying |= dict.fromkeys((*bound, target) if held.whole else bound, event.region)


def _assigned(target: Expr, event: Event) -> Expr | None:
    """What an assignment gives a target, also one of several."""
    if isinstance(event.target, (Tuple, List)) and isinstance(event.value, (Tuple, List)):
        pairs = zip(event.target.elements, event.value.elements, strict=False)
        return next((value for one, value in pairs if one == target), None)
    return event.value if event.target == target else None
