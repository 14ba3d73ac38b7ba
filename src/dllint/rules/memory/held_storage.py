"""Analyses, statement by statement, which local names hold the storage of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    Constant,
    Dict,
    IfExp,
    List,
    Name,
    Opaque,
    Slice,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr
from dllint.inference import limits
from dllint.inference.values import External
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import ATTRIBUTES, FUNCTIONS, METHODS, canonical
from dllint.linking.expressions import as_display, walk
from dllint.linking.source import last_name
from dllint.rules.memory.array_rows import may_be_numbers
from dllint.rules.memory.batch_names import TENSOR_ONLY, Names

if TYPE_CHECKING:
    from dllint.inference.edges import Target

_ITEMS = frozenset({"get", "pop"})
"""Methods of a dict that return one of its entries."""
_FIRST = Constant(0)
_RESHAPING = frozenset({"flatten", "ravel", "reshape", "squeeze", "view"})
"""Methods whose result may have fewer axes."""


class Storages(Names):
    """The names that hold a batch, or a part of one, in the body of a loop or of a function, statement by statement.

    Attributes:
        depth: the number of calls from the loop to the function.
    """

    depth = 0

    def statements(self) -> Iterator[Event]:
        """The statements in source order; the effect of each assignment is known after it was yielded."""
        for event in self.file.scopes[self.scope].events:
            if self.inside(event.region):
                yield event
                self._follow(event)

    def inside(self, region: int) -> bool:
        if self.region is None:
            return True
        return self.file.encloses(self.region, region) and region != 0

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
            position = self.position(event.value) if held else None
            made = as_display(event.value, self.file)
            beside = self._beside(made) if event.detail is None else set()
            array, reshaped = held and self._is_array(event.value), held and self._is_reshaped(event.value)
            self._forget(event.target.id)
            if position is not None:
                self.positions[event.target.id] = position
            if array:
                self.arrays.add(event.target.id)
            if reshaped:
                self.reshaped.add(event.target.id)
            if beside:
                self.replaced[event.target.id] = beside
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
            whole = self._is_whole(event.value)
            given = self._given_back(event.value.index) if isinstance(event.value, CallRef) and not held else set()
            beside = self.replaced.get(event.value.id, set()) if isinstance(event.value, Name) else set()
            for position, part in enumerate(event.target.elements):
                if not isinstance(part, Name):
                    continue
                own = (held and position not in beside) or position in given
                if isinstance(event.value, (Tuple, List)) and len(event.value.elements) == len(event.target.elements):
                    own = self.holds(event.value.elements[position])
                self._forget(part.id)
                if own:
                    self.parts.add(part.id)
                    if whole:
                        self.positions[part.id] = position
        elif isinstance(event.target, Subscript) and isinstance(event.target.value, Name):
            self._replace(event.target.value.id, event.target.index, event.value)

    def _beside(self, made: Expr | None) -> set[object]:
        """The positions or keys of a display, or of what makes one, that have nothing of the batch:
        `(model(images), labels)`."""
        match made:
            case Tuple(elements) | List(elements) if not any(isinstance(one, Starred) for one in elements):
                return {at for at, one in enumerate(elements) if not self.holds(one)}
            case Dict(items):
                return {key.value for key, one in items if isinstance(key, Constant) and not self.holds(one)}
        return set()

    def _gives_tensors(self, expr: Expr) -> bool:
        """Whether a part of a batch is provably a tensor, or a list with one: a row of a tensor, or rows of all fields
        where one of them is used as a tensor."""
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
        if self.holds(value):
            beside = self.replaced.get(name, set())
            self.replaced[name] = beside - {key.value} if isinstance(key, Constant) else set()
            if name in self.filled:
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
            held = not whole and self.holds(iterable) and not self._may_be_number(iterable, _FIRST)
            self._bind_parts((target,), held)
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

    def position(self, expr: Expr) -> int | str | None:
        """The position, or the key, in a batch of what an expression is, or is a row of: `x` after `x, y = batch`,
        `batch[0]`, `batch["x"]`."""
        match expr:
            case Name(name):
                return self.positions.get(name)
            case Subscript(value, Constant(int() | str() as position)) if self._is_whole(value):
                return position if isinstance(position, str) or position >= 0 else None
            case Subscript(value, key) if self._is_basic(key):
                return self.position(value)
            case CallRef(index):
                func = self.file.calls[index].func
                return self.position(func.value) if isinstance(func, Attribute) and func.attr in METHODS else None
        return None

    def _forget(self, name: str) -> None:
        self.positions.pop(name, None)
        self.whole.discard(name)
        self.parts.discard(name)
        self.replaced.pop(name, None)
        self.filled.pop(name, None)
        self.entries.pop(name, None)
        self.tensors.discard(name)
        self.arrays.discard(name)
        self.reshaped.discard(name)

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
                return plain and self.holds(value) and not self._may_be_number(value, key)
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

    def _may_be_number(self, value: Expr, *keys: Expr) -> bool:
        """Whether indexing by keys may give a number, which holds no storage: they name a position on each axis that
        the array of NumPy is known to have. An element of a tensor is a view in any case."""
        positions = [one for key in keys for one in _axes_of(key)]
        if not all(map(self._is_position, positions)):
            return False
        if isinstance(value, Subscript):
            return self._may_be_number(value.value, value.index, *keys)
        if not self._is_array(value):
            return False
        if self._is_reshaped(value):
            return True
        while max(self.axes.get(value, 0), self.dimensions(self.position(value)) + 1) <= len(positions):
            func = self.file.calls[value.index].func if isinstance(value, CallRef) else value
            if not isinstance(func, (Attribute, Subscript)):
                return True
            value = func.value
        return False

    def _is_array(self, expr: Expr) -> bool:
        """Whether a value may be an array of NumPy, or a part of one."""
        while isinstance(expr, Subscript):
            expr = expr.value
        return (isinstance(expr, Name) and expr.id in self.arrays) or may_be_numbers(self.file, self.scope, expr)

    def _is_reshaped(self, expr: Expr) -> bool:
        """Whether a part of a batch may have fewer axes than it came with."""
        while isinstance(expr, (Attribute, CallRef, Subscript)):
            if isinstance(expr, CallRef):
                if last_name(self.file.calls[expr.index].func) in _RESHAPING:
                    return True
                expr = self.file.calls[expr.index].func
            elif isinstance(expr, Subscript) and any(map(self._is_position, _axes_of(expr.index))):
                return True
            else:
                expr = expr.value
        return isinstance(expr, Name) and expr.id in self.reshaped

    def _is_position(self, key: Expr) -> bool:
        if isinstance(key, Constant):
            return isinstance(key.value, int)
        return isinstance(key, Name) and key.id in self.counters

    def _comprehension_holds(self, expr: Comprehension) -> bool:
        """Whether a list has parts of the batch: `[row for row in labels]`."""
        if len(expr.clauses) != 1 or expr.key is not None:
            return False
        inner = Storages(self.world, self.file, self.scope, self.region, self.frame)
        inner.depth = self.depth
        inner.whole, inner.parts, inner.counters = set(self.whole), set(self.parts), set(self.counters)
        inner.positions, inner.dimensions = dict(self.positions), self.dimensions
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
        if not any(self.holds(argument.value) for argument in call.args):
            return False
        for value in self.world.values.evaluate(call.func, self.world.call_site(self.file, index, self.frame)):
            if isinstance(value, External) and value.name not in copying:
                function = FUNCTIONS.get(canonical(value.name))
                return function is not None and function.effect == HOLDS and self.holds(call.args[0].value)
        return None in self._given_back(index)

    def _given_back(self, index: int) -> set[int | None]:
        """The positions in what a function of the project returns that hold a part of the batch which it is given, on
        some path; None for the result as a whole."""
        found: set[int | None] = set()
        given = any(self.holds(argument.value) for argument in self.file.calls[index].args)
        if not given or limits.BATCH_CALLS.exceeded(self.depth):
            return found
        for target in self.world.calls.targets(self.file, index, self.frame):
            frame = self.world.told_apart(self.file, index, target.function, target.frame)
            body = Storages(self.world, target.function.file, target.function.scope, None, frame)
            body.depth = self.depth + 1
            for event in body.statements() if not target.guessed and self.hand_to(body, target) else ():
                value = as_display(event.value, body.file) if event.kind == "return" and event.value else None
                if isinstance(value, Tuple):
                    found.update(number for number, one in enumerate(value.elements) if body.holds(one))
                elif value is not None and body.holds(value):
                    found.add(None)
        return found

    def hand_to(self, body: Storages, target: Target) -> bool:
        """Record what a function that is called with a batch, or with parts of one, receives; whether it does."""
        for param in body.file.scopes[body.scope].params:
            actual = self.world.parameters.bound(target.function, param.name, body.frame or target.frame).actual
            expr = actual.expr if actual is not None else None
            if expr is None or not self.holds(expr):
                continue
            whole = isinstance(expr, Name) and expr.id in self.whole
            (body.whole if whole else body.parts).add(param.name)
            beside = self._beside(as_display(expr, self.file))
            if isinstance(expr, Name):
                beside |= self.replaced.get(expr.id, set())
            if beside:
                body.replaced[param.name] = beside
            position = self.position(expr)
            if position is not None:
                body.positions[param.name] = position
            if self._is_array(expr):
                body.arrays.add(param.name)
            if self._is_reshaped(expr):
                body.reshaped.add(param.name)
            if not whole and (isinstance(expr, CallRef) or (isinstance(expr, Name) and self.is_tensor(expr.id))):
                body.tensors.add(param.name)
        body.on_cpu, body.dimensions = self.on_cpu, self.dimensions
        return bool(body.whole or body.parts)


def _axes_of(key: Expr) -> tuple[Expr, ...]:
    """What a subscript has for each axis."""
    return key.elements if isinstance(key, Tuple) else (key,)
