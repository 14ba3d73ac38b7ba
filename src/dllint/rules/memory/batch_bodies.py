"""What the body of a loop over batches keeps of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Comprehension,
    Constant,
    Dict,
    List,
    Name,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr, Operator, Region
from dllint.inference.values import Const, Site, Unknown
from dllint.libraries.index import ATTRIBUTES
from dllint.linking.arithmetic import ORDERING
from dllint.linking.conditions import render
from dllint.linking.expressions import names_in, walk
from dllint.linking.source import last_name
from dllint.rules.memory.array_rows import may_be_numbers
from dllint.rules.memory.batch_containers import Kept, grows, leaves_out_one, makes_missing, selects_steps
from dllint.rules.memory.batch_names import TENSOR_ONLY
from dllint.rules.memory.held_storage import Storages
from dllint.span import Span

_NO_TENSORS = re.compile(
    r"(?:^|_)(?:name|path|file|filename|fname|text|caption|sentence|question|answer|meta|url|key|uid|scene|token)s?$",
    re.IGNORECASE,
)
"""Keys of batches under which there are mostly lists of strings."""
ADDING = ("append", "extend", "insert")
"""Methods that put something into a list."""
_REMOVING = frozenset({"clear", "pop", "popleft", "popitem"})


class Body(Storages):
    """The body of a loop over batches, or of a function that receives a batch, analysed statement by statement."""

    def kept(self, event: Event) -> Iterator[Kept]:
        """The parts of the batch that a statement keeps: `rows.append(x)`, `rows += [x]`."""
        added = event.value if event.detail == Operator("+") else None
        if event.target is not None and added is not None and event.value_span is not None:
            how = "+=" if isinstance(added, List) else "extend"
            for one in added.elements if isinstance(added, List) else (added,):
                if self.holds(one) and not (how == "extend" and may_be_numbers(self.file, self.scope, one)):
                    yield Kept(event.target, how, one, event.value_span, event.span, event.span, event.region)
        yield from self._put_under_key(event)
        for name, index in self._adding.get(event.span, ()):
            call = self.file.calls[index]
            added, span = call.args[-1].value, call.args[-1].value_span
            if self.holds(added) and not (name == "extend" and may_be_numbers(self.file, self.scope, added)):
                assert isinstance(call.func, Attribute)
                yield Kept(call.func.value, name, added, span, call.span, call.statement, call.region)

    @cached_property
    def _adding(self) -> dict[Span, list[tuple[str, int]]]:
        """The calls in the body that put something into a list, by the statement."""
        found: dict[Span, list[tuple[str, int]]] = {}
        for name in ADDING:
            for index in self.file.facts.called.get(name, ()):
                call = self.file.calls[index]
                given = isinstance(call.func, Attribute) and len(call.args) == 1 + (name == "insert")
                if given and call.scope == self.scope and self.inside(call.region):
                    found.setdefault(call.statement, []).append((name, index))
        return found

    def _put_under_key(self, event: Event) -> Iterator[Kept]:
        """The part of the batch that a statement keeps in a dict: `rows[number] = x`."""
        target, value, span = event.target, event.value, event.value_span
        if event.kind != "assign" or isinstance(event.detail, Operator) or not isinstance(target, Subscript):
            return
        if value is not None and span is not None and self._varies(target.index) and self.holds(value):
            yield Kept(target.value, "=", value, span, event.span, event.span, event.region)

    def _varies(self, key: Expr) -> bool:
        """Whether the key of a dict differs from one batch to the next: a counter, or a part of the batch."""
        parts = list(walk(key, self.file))
        if any(isinstance(part, BinOp) and part.op == "%" for part in parts):
            return False
        return any(isinstance(part, Name) and part.id in self.counters | self.parts | self.whole for part in parts)

    def is_unclear(self, kept: Kept) -> bool:
        """Whether the kept value is a part of the batch that may not be a tensor."""
        return self._is_unclear(kept.expr, kept.how) and not self._joined(kept.container)

    def _is_unclear(self, expr: Expr, how: str) -> bool:
        match expr:
            case Name(name) if name in self.filled:
                return self._are_unclear(self.filled[name], how)
            case Name(name) if name in self.entries:
                return not self.is_tensor(name) and self._is_unclear(self.entries[name], how)
            case Name(name):
                # A later statement may have given the name another value.
                return name not in self.whole and not self.is_tensor(name)
            case Subscript(Name(name), _) if name in self.parts and not self.is_tensor(name):
                return True
            case Subscript(_, index):
                # What a list is extended by is a list itself, unless a program goes through the rows of a tensor.
                key = index.value if isinstance(index, Constant) else None
                named = isinstance(key, str) and _NO_TENSORS.search(key) is not None
                return isinstance(index, Constant) and (named or how == "extend")
            case Attribute(_, attr):
                return attr not in ATTRIBUTES
            case Dict(items):
                return self._are_unclear([value for _, value in items], how)
            case Tuple(elements) | List(elements):
                return self._are_unclear(list(elements), how)
            case Comprehension():
                return self._rows_are_unclear(expr, how)
        return False

    def _rows_are_unclear(self, expr: Comprehension, how: str) -> bool:
        """Whether the rows of parts that a comprehension goes through may be no tensors: texts, for example."""
        shown = (part for part in walk(expr.element, self.file) if isinstance(part, Attribute))
        if any(part.attr in TENSOR_ONLY for part in shown):
            return False
        through = [part for clause in expr.clauses for part in walk(clause.iterable, self.file)]
        names = {part.id for part in through if isinstance(part, Name)} & (self.parts | self.whole)
        return bool(names) and all(self._is_unclear(Name(name), how) for name in names)

    def _are_unclear(self, parts: list[Expr], how: str) -> bool:
        """Whether none of several values that belong to a batch is surely a tensor."""
        return all(self._is_unclear(part, how) for part in parts if self.holds(part))

    def inside_of(self, kept: Kept) -> Expr | None:
        """The part of the batch in a dict or list of the body's own that is kept; None if something else is kept."""
        parts = self.filled.get(kept.expr.id, ()) if isinstance(kept.expr, Name) else ()
        return next((one for one in parts if not self._is_unclear(one, kept.how)), None)

    def entry(self, kept: Kept) -> str | None:
        """The key of the kept entry of a batch, if nothing shows by its use that it is a tensor."""
        entry = self.entries.get(kept.expr.id) if isinstance(kept.expr, Name) else kept.expr
        if not isinstance(entry, Subscript) or not isinstance(entry.index, Constant):
            return None
        key = entry.index.value
        return key if isinstance(key, str) and not self.uses_as_tensor(kept) else None

    def uses_as_tensor(self, kept: Kept) -> bool:
        """Whether the function uses what is kept as a tensor, itself or joined with the rest of its container."""
        return self._is_used_as_tensor(kept.expr) or self._joined(kept.container)

    def collects(self, container: Expr, region: int, span: Span) -> bool:
        """Whether the container is a list that outlives one iteration of the loop and only grows in it."""
        made = self.file.calls[container.index].func if isinstance(container, CallRef) else None
        inside = made is not None and last_name(made) == "setdefault"
        if not inside and not isinstance(container, (Name, Attribute, Subscript)):
            return False
        site = Site(self.file, self.scope, region, span.start, self.frame)
        values = [value for value in self.world.values.evaluate(container, site) if not isinstance(value, Const)]
        events = self.file.scopes[self.scope].events
        if any(event.target == container and event.detail == Operator("+") for event in events):
            # A list to which something is added remains that list.
            values = [value for value in values if not isinstance(value, Unknown)]
        if not values or not all(map(grows, values)):
            return False
        if self.region is None and not self._is_older(container):
            return False
        for event in self.file.scopes[self.scope].events:
            if not self.inside(event.region) or event.target is None:
                continue
            made_anew = event.target == container and not isinstance(event.detail, Operator)
            if (made_anew and not makes_missing(event, self.file)) or (
                event.kind == "delete" and isinstance(event.target, Subscript)
            ):
                return False
        text = render(container, self.file, 200)
        return not any(
            (call := self.file.calls[other]).scope == self.scope
            and isinstance(call.func, Attribute)
            and self.inside(call.region)
            and render(call.func.value, self.file, 200) == text
            for name in _REMOVING
            for other in self.file.facts.called.get(name, ())
        )

    def _is_older(self, container: Expr) -> bool:
        """Whether a function's container exists before the function is called."""
        while isinstance(container, (Attribute, Subscript)):
            container = container.value
        params = self.file.scopes[self.scope].params
        return isinstance(container, Name) and any(one.name == container.id for one in params)

    def bounded(self, region: int, container: Expr, made: int = 0) -> bool:
        """Whether a comparison in the body may end the loop by count, shorten the container, or select only some
        batches: of those for which a place in region `made` is reached, if it is given."""
        counting = self._counters()
        for index, entry in self.file.regions_of("if"):
            if entry.expr is None or not self._within(index, entry.parent):
                continue
            for part in walk(entry.expr, self.file):
                if not isinstance(part, Compare):
                    continue
                if self.file.encloses(index, region) and not self._goes_through_batch(entry.parent):
                    if leaves_out_one(entry.expr, entry.holds):
                        continue
                    if self.file.encloses(index, made) and made and selects_steps(part):
                        continue
                    return True
                operands = [part.left, *(right for _, right in part.comparisons)]
                counted = any(op in ORDERING for op, _ in part.comparisons) and any(
                    self._counts(one, counting) for one in operands
                )
                if counted and not self._only_calls(index, entry, container):
                    return True
        return False

    def _only_calls(self, branch: int, entry: Region, container: Expr) -> bool:
        """Whether a branch has no other statements than calls without a container: `if step < 100: warmup.step()`. A
        branch that leaves the loop has a counterpart, with the statements below it."""
        alike = [one for _, one in self.file.regions_of("if") if (one.span, one.parent) == (entry.span, entry.parent)]
        inside = branch + 1 < len(self.file.facts.regions) and self.file.encloses(branch, branch + 1)
        if len(alike) > 1 or inside:
            return False
        names = names_in(container, self.file)
        events = [one for one in self.file.scopes[self.scope].events if self.file.encloses(branch, one.region)]
        return all(one.kind == "expr" and not names_in(one.value, self.file) & names for one in events)

    def _goes_through_batch(self, region: int) -> bool:
        """Whether a place is in a loop of the body, such as one over the items of a batch: a test there selects items,
        and most batches have such items."""
        around = (one for one in self.file.regions(region) if self.inside(one) and one != self.region)
        return any(self.file.facts.regions[one].kind == "for" for one in around)

    def _within(self, region: int, parent: int) -> bool:
        """Whether an `if` belongs to the body."""
        if self.region is None:
            return self.file.scopes[self.scope].region != region and any(
                event.region == region for event in self.file.scopes[self.scope].events
            )
        return self.inside(parent)

    def _counters(self) -> set[str]:
        """Names that count iterations of the loop: those that the body adds to."""
        found = {
            event.target.id
            for event in self.file.scopes[self.scope].events
            if event.target is not None
            and isinstance(event.target, Name)
            and isinstance(event.detail, Operator)
            and self.inside(event.region)
        }
        return found - self.parts - self.whole

    def _counts(self, expr: Expr, counting: set[str]) -> bool:
        """Whether an operand is a counter, or the length of a named container that is no part of a batch."""
        if isinstance(expr, CallRef):
            call = self.file.calls[expr.index]
            measured = call.args[0].value if call.func == Name("len") and call.args else None
            return isinstance(measured, Name) and measured.id not in self.parts | self.whole
        return isinstance(expr, Name) and expr.id in counting
