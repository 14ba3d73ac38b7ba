"""Analyses, statement by statement, which local names hold the storage of a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Comprehension,
    Constant,
    Dict,
    IfExp,
    List,
    Name,
    Opaque,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr, Operator
from dllint.inference.values import Const, External, Site, Unknown
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import ATTRIBUTES, FUNCTIONS, METHODS, canonical
from dllint.linking.arithmetic import ORDERING
from dllint.linking.conditions import render
from dllint.linking.expressions import as_display, walk
from dllint.linking.source import last_name
from dllint.rules.memory.array_rows import may_be_numbers
from dllint.rules.memory.batch_containers import Kept, grows, leaves_out_one, makes_missing
from dllint.rules.memory.batch_names import TENSOR_ONLY, Names
from dllint.span import Span

_NO_TENSORS = re.compile(
    r"(?:^|_)(?:name|path|file|filename|fname|text|caption|sentence|question|answer|meta|url|key|uid|scene|token)s?$",
    re.IGNORECASE,
)
"""Keys of batches under which there are mostly lists of strings."""
ADDING = ("append", "extend", "insert")
"""Methods that put something into a list."""
_ITEMS = frozenset({"get", "pop"})
"""Methods of a dict that return one of its entries."""
_REMOVING = frozenset({"clear", "pop", "popleft", "popitem"})


class Body(Names):
    """The body of a loop over batches, or of a function that receives a batch, analysed statement by statement."""

    def statements(self) -> Iterator[Event]:
        """The statements in source order; the effect of each assignment is known after it was yielded."""
        for event in self.file.scopes[self.scope].events:
            if self.inside(event.region):
                yield event
                self._follow(event)

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

    def inside(self, region: int) -> bool:
        if self.region is None:
            return True
        return self.file.encloses(self.region, region) and region != 0

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
                return name in self.parts and not self.is_tensor(name)
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
        return False

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
        used = self._is_used_as_tensor(kept.expr) or self._joined(kept.container)
        return key if isinstance(key, str) and not used else None

    def _follow(self, event: Event) -> None:
        """Update the names by an assignment, or by a loop, of the body."""
        if event.kind == "for" and event.detail != "comp" and event.target is not None and event.value is not None:
            self.follow_loop(event.target, event.value)
            return
        if event.kind != "assign" or event.target is None or event.value is None:
            return
        if isinstance(event.target, Name):
            held = event.detail is None and self.holds(event.value)
            whole = self._is_whole(event.value)
            self._forget(event.target.id)
            made = as_display(event.value, self.file)
            if event.detail is None and isinstance(made, (List, Tuple, Dict)):
                inside = [one for _, one in made.items] if isinstance(made, Dict) else list(made.elements)
                self.filled[event.target.id] = [one for one in inside if self.holds(one)]
                held = held or bool(self.filled[event.target.id])
            if held:
                (self.whole if whole else self.parts).add(event.target.id)
                if event.detail is None and self._is_entry(event.value):
                    self.entries[event.target.id] = event.value
                if self._gives_tensors(event.value):
                    self.tensors.add(event.target.id)
        elif isinstance(event.target, (Tuple, List)):
            held = self.holds(event.value) and not isinstance(event.value, (Tuple, List))
            for position, part in enumerate(event.target.elements):
                if not isinstance(part, Name):
                    continue
                own = held
                if isinstance(event.value, (Tuple, List)) and len(event.value.elements) == len(event.target.elements):
                    own = self.holds(event.value.elements[position])
                self._forget(part.id)
                if own:
                    self.parts.add(part.id)
        elif isinstance(event.target, Subscript) and isinstance(event.target.value, Name):
            self._replace(event.target.value.id, event.target.index, event.value)

    def _gives_tensors(self, expr: Expr) -> bool:
        """Whether a part of a batch is provably a tensor, or a list with one: a row of a tensor, or of each field of a
        batch of which one is used as a tensor."""
        match expr:
            case CallRef(index):
                return last_name(self.file.calls[index].func) in TENSOR_ONLY
            case Subscript(value, _):
                return self._is_used_as_tensor(value) or (isinstance(value, Name) and value.id in self.tensors)
            case Comprehension(clauses=(clause,)):
                return any(
                    isinstance(one, Subscript) and one.value == clause.iterable and isinstance(one.index, Constant)
                    for one in self._with_tensor_parts
                )
        return False

    def _replace(self, name: str, key: Expr, value: Expr) -> None:
        """Record that an entry of a batch is replaced, where a key that is not known may stand for any of them, or that
        a part of the batch is put into a dict that the body makes."""
        if name in self.filled and self.holds(value):
            self.filled[name].append(value)
            self.parts.add(name)
        if name not in self.whole or self.holds(value):
            return
        if isinstance(key, Constant):
            self.replaced.setdefault(name, set()).add(key.value)
        else:
            self._forget(name)

    def follow_loop(self, target: Expr, iterable: Expr) -> None:
        """Record the names that a loop over a part of a batch binds to parts of it, and those that it counts with."""
        call = self.file.calls[iterable.index] if isinstance(iterable, CallRef) else None
        last = last_name(call.func) if call is not None else None
        targets = target.elements if isinstance(target, (Tuple, List)) else ()
        if call is not None and last in ("range", "trange") and isinstance(target, Name):
            self._forget(target.id)
            self.counters.add(target.id)
        elif call is not None and last == "enumerate" and len(targets) == 2 and call.args:
            self.follow_loop(targets[1], call.args[0].value)
            if isinstance(targets[0], Name):
                self.counters.add(targets[0].id)
        elif call is not None and last == "zip" and len(targets) == len(call.args):
            for one, given in zip(targets, call.args, strict=True):
                self.follow_loop(one, given.value)
        elif call is not None and isinstance(call.func, Attribute) and last in ("items", "values") and not call.args:
            names = targets[1:] if last == "items" else (target,)
            self._bind_parts(names, self.holds(call.func.value))
        else:
            # Iterating a batch itself may give the keys of a dict, unless its fields have numbers.
            whole = isinstance(iterable, Name) and iterable.id in self.whole and iterable not in self.numbered
            part = iterable.id if isinstance(iterable, Name) and iterable.id in self.parts else None
            rows = part is not None and isinstance(target, Name) and self.is_tensor(part)
            self._bind_parts((target,), not whole and self.holds(iterable))
            if rows and isinstance(target, Name):
                self.tensors.add(target.id)

    def _bind_parts(self, targets: Sequence[Expr], held: bool) -> None:
        for target in targets:
            for name in walk(target, self.file):
                if isinstance(name, Name):
                    self._forget(name.id)
                    if held:
                        self.parts.add(name.id)

    def _is_whole(self, expr: Expr) -> bool:
        """Whether an expression is an unchanged batch, possibly moved: `batch.to(device)`."""
        if isinstance(expr, CallRef):
            func = self.file.calls[expr.index].func
            return isinstance(func, Attribute) and func.attr in ("to", "cpu") and self._is_whole(func.value)
        return isinstance(expr, Name) and expr.id in self.whole

    def _is_entry(self, expr: Expr) -> bool:
        """Whether an expression is what a batch has under a key that is written there: `batch["labels"]`."""
        return isinstance(expr, Subscript) and isinstance(expr.index, Constant) and self._is_whole(expr.value)

    def _forget(self, name: str) -> None:
        self.whole.discard(name)
        self.parts.discard(name)
        self.replaced.pop(name, None)
        self.filled.pop(name, None)
        self.entries.pop(name, None)
        self.tensors.discard(name)

    def holds(self, expr: Expr) -> bool:
        """Whether the value of an expression provably holds a storage of the batch, or the whole batch."""
        match expr:
            case Name(name):
                return name in self.whole or name in self.parts
            case Attribute(Name(name), attr) if name in self.whole and attr not in TENSOR_ONLY:
                # `batch.y`, for example: a field of a batch of graphs.
                return not attr.startswith(("num_", "batch_", "n_"))
            case Attribute(value, attr):
                return attr in ATTRIBUTES and self.holds(value)
            case Subscript(Name(name), Constant(key)) if key in self.replaced.get(name, ()):
                return False
            case Subscript(value, key):
                plain = self._is_basic(key) and (not isinstance(key, Constant) or key.value is not None)
                return plain and self.holds(value)
            case IfExp(_, body, orelse):
                return self.holds(body) and self.holds(orelse)
            case Comprehension():
                return self._comprehension_holds(expr)
            case Tuple(elements) | List(elements):
                return any(self.holds(part) for part in elements)
            case Dict(items):
                return any(self.holds(part) for _, part in items)
            case CallRef(index):
                return self._call_holds(index)
        return False

    def _is_basic(self, key: Expr) -> bool:
        """Whether indexing a tensor by a key gives a view: by numbers and slices."""
        if isinstance(key, Tuple):
            # What is no expression of its own is `...`.
            return all(isinstance(one, Opaque) or self._is_basic(one) for one in key.elements)
        return isinstance(key, (Slice, Constant)) or (isinstance(key, Name) and key.id in self.counters)

    def _comprehension_holds(self, expr: Comprehension) -> bool:
        """Whether a list has parts of the batch: `[row for row in labels]`."""
        if len(expr.clauses) != 1 or expr.key is not None:
            return False
        inner = Body(self.world, self.file, self.scope, self.region, self.frame)
        inner.whole, inner.parts, inner.counters = set(self.whole), set(self.parts), set(self.counters)
        inner.follow_loop(expr.clauses[0].target, expr.clauses[0].iterable)
        return inner.holds(expr.element)

    def _call_holds(self, index: int) -> bool:
        call = self.file.calls[index]
        if isinstance(call.func, Attribute) and call.func.attr in _ITEMS and self._is_whole(call.func.value):
            return bool(call.args) and isinstance(call.args[0].value, Constant)
        copying = self.world.settings.copying_calls
        if isinstance(call.func, Attribute) and self.holds(call.func.value):
            operation = METHODS.get(call.func.attr)
            if operation is None or operation.effect != HOLDS or operation.unless == "type":
                return False
            if operation.unless == "arguments":
                return all(
                    argument.keyword in (None, "device") and self._is_cpu(argument.value, index)
                    for argument in call.args
                )
            return True
        if not call.args or not self.holds(call.args[0].value):
            return False
        for value in self.world.values.evaluate(call.func, self.world.call_site(self.file, index, self.frame)):
            if isinstance(value, External) and value.name not in copying:
                function = FUNCTIONS.get(canonical(value.name))
                return function is not None and function.effect == HOLDS
        return False

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

    def bounded(self, region: int) -> bool:
        """Whether a comparison in the body may end the loop by count, or select only some batches."""
        counting = self._counters()
        for index, entry in enumerate(self.file.facts.regions):
            if entry.kind != "if" or entry.expr is None or not self._within(index, entry.parent):
                continue
            for part in walk(entry.expr, self.file):
                if not isinstance(part, Compare):
                    continue
                if self.file.encloses(index, region) and not self._goes_through_batch(entry.parent):
                    if leaves_out_one(entry.expr, entry.holds):
                        continue
                    return True
                operands = [part.left, *(right for _, right in part.comparisons)]
                if any(op in ORDERING for op, _ in part.comparisons) and any(
                    self._counts(one, counting) for one in operands
                ):
                    return True
        return False

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
