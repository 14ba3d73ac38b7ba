"""Which names of a function that workers run depend on the index of an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    FString,
    IfExp,
    List,
    Name,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Event, Expr
from dllint.inference.answers import Table
from dllint.inference.values import Const, Site
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.libraries.index import AROUND_ITERABLES, POSITIONS
from dllint.linking.expressions import without_calls
from dllint.linking.source import SourceFile, last_name
from dllint.project.bound_names import first_number, named, unpacked
from dllint.project.item_draws import is_draw, replaces_index
from dllint.project.worker_code import WorkerRun

if TYPE_CHECKING:
    from dllint.inference.edges import Target
    from dllint.inference.engine import World

_OF_ALL_ITEMS = frozenset({"device", "dtype", "layout", "ndim"})
"""Attributes that hardly vary from one item to the next."""
_CONVERSIONS = POSITIONS | {"int", "str", "item", "tolist", "join", "Path", "format"}
"""Last names of calls whose result still identifies the item when an argument or the receiver does."""

_OF_PATHS = frozenset({"basename", "splitext", "relpath", "normpath"})
"""Last names of functions that compute the name of an item from its path."""

_OF_TEXTS = _CONVERSIONS | OF_STRING | SPLITTING | PARTING | _OF_PATHS
"""The same for results computed from a field of a record."""

_READS = frozenset({"load", "loads", "loadmat", "open"})
"""Last names of functions that read a file, or what it contains."""

_NUMBERS = frozenset({"range", "count", "repeat"})
"""Last names of functions whose results number the passes of a loop."""


class Lookup(NamedTuple):
    """An expression that gives what a container has under a key: `rows[index]`, `table.get(name)`."""

    expr: Expr
    container: Expr
    key: Expr


class ItemIndex:
    """The names of a function that depend on the index of an item.

    Attributes:
        receiver: the name of `self`, also in a function that a method passes it to; empty in others.
        answers: what is known of the functions that it calls with the index of an item.
        given: parameters that hold the index of an item.
        given_parts: parameters that hold a field of an item's record (`self.load(self.samples[index]["path"])`).
        index: names that hold the index of an item, or the element of a list of keys at that index. In an entry that
            draws the numbers of its items itself, these.
        fields: the same, including the fields of records (`path, label = self.samples[index]`).
    """

    def __init__(self, run: WorkerRun, receiver: str, index: set[str], parts: set[str], answers: Answers) -> None:
        self.run = run
        self.answers = answers
        self.file: SourceFile = run.file
        self.scope = run.scope
        self.receiver = receiver
        self.events: list[Event] = run.file.scopes[run.scope].events
        self.given = frozenset(index)
        self.given_parts = frozenset(parts)
        self.entry: ItemIndex | None = None
        """The entry point that calls this function, directly or through others."""

    @cached_property
    def expressions(self) -> list[Expr]:
        """Every expression of the method including subexpressions, each once."""
        return self.written(self.file.calls_of(self.scope))

    def written(self, calls: Iterable[int]) -> list[Expr]:
        """The same, with the functions and arguments of these calls alone."""
        written = [expr for event in self.events for expr in (event.value, event.target) if expr is not None]
        for index in calls:
            call = self.file.calls[index]
            written += (call.func, *(argument.value for argument in call.args))
        return [part for expr in written for part in without_calls(expr)]

    @cached_property
    def index(self) -> set[str]:
        return self._closed({*self.given, *self._instead}, fields=False)

    @cached_property
    def fields(self) -> set[str]:
        return self._closed({*self.given, *self.given_parts, *self._instead}, fields=True)

    @cached_property
    def draws_index(self) -> bool:
        """Whether the function draws the numbers of its items itself: a `__getitem__` that never reads the index which
        it is given, or an `__iter__` or `__next__` that loops over nothing but numbers. So do the functions that such a
        `__getitem__` calls."""
        if self.run.hops:
            entry = self.entry
            return entry is not None and entry.run.entry == "__getitem__" and entry.draws_index and not self.given
        if self.run.entry in ("__iter__", "__next__"):
            iterated = (event.value for event in self.events if event.kind == "for")
            return all(
                isinstance(one, CallRef) and last_name(self.file.calls[one.index].func) in _NUMBERS for one in iterated
            )
        read = self.file.facts.loaded
        return bool(self.given) and all(self.scope not in read.get(one, ()) for one in self.given)

    @property
    def _instead(self) -> Set[str]:
        """The names of random numbers that are drawn in place of the index."""
        return self._assigned(replaces_index) if self.draws_index else frozenset()

    def _closed(self, names: set[str], fields: bool) -> set[str]:
        """The closure of `names` under assignment: with all names assigned from them."""
        known = set(names)
        for _ in range(3):
            before = len(known)
            for event in self.events:
                if event.target is None or event.value is None:
                    continue
                # An item may be requested by several numbers, and a batch by a list of them.
                parts = fields or self._is_given(event.value)
                if event.kind == "assign":
                    called = not parts and isinstance(event.value, CallRef)
                    aside = self._aside(event.target) if self._is_given(event.value) else ()
                    for name, value in unpacked(event) if called else named(event.target, event.value, parts):
                        if name not in aside and self.derived(value, known, fields):
                            known.add(name)
            for target, iterable in self.loops:
                if self._numbers_items(iterable, known, fields) or self._lists(iterable, known, fields):
                    known.update(name for name, _ in named(target, iterable, True))
            if len(known) == before:
                break
        return known

    @cached_property
    def loops(self) -> list[tuple[Expr, Expr]]:
        """The target and the iterable of each loop of the function and of its comprehensions."""
        found = [
            (event.target, event.value)
            for event in self.events
            if event.kind == "for" and event.target is not None and event.value is not None
        ]
        for expr in self.expressions:
            if isinstance(expr, Comprehension):
                found += [(clause.target, clause.iterable) for clause in expr.clauses]
        return found

    def _lists(self, iterable: Expr, known: set[str], fields: bool, within: Set[str] = frozenset()) -> bool:
        """Whether a loop goes through a list with a number that is derived, `[index, *others]`, or through the draws
        that a name stands for. `within` are the names whose lists are looked into."""
        if isinstance(iterable, CallRef):
            call = self.file.calls[iterable.index]
            around = last_name(call.func) in AROUND_ITERABLES
            return around and any(self._lists(one.value, known, fields, within) for one in call.args)
        if isinstance(iterable, BinOp):
            return iterable.op == "+" and any(self._lists(one, known, fields, within) for one in iterable.children())
        if isinstance(iterable, (List, Tuple)):
            return any(self.derived(one, known, fields) for one in iterable.elements)
        if not isinstance(iterable, Name) or iterable.id in within:
            return False
        return any(
            event.target == iterable
            and event.value is not None
            and (
                self._lists(event.value, known, fields, within | {iterable.id})
                or self._draws_numbers(event.value, known)
            )
            for event in self.events
            if event.kind == "assign" and not isinstance(event.value, Name)
        )

    def _draws_numbers(self, expr: Expr, known: set[str]) -> bool:
        """Whether an expression draws several numbers in place of the index, where the names of draws are `known`."""
        return isinstance(expr, CallRef) and is_draw(expr, self.file) and bool(known & self._assigned(is_draw))

    def _aside(self, target: Expr) -> Set[str]:
        """The names among those that the index of an item is unpacked to which pick nothing, where another one does:
        `height, width, number = index`, and `self.paths[number]`. They say how to make the item."""
        if not isinstance(target, (Tuple, List)):
            return frozenset()
        names = {one.id for one in target.elements if isinstance(one, Name)}
        keys = {one.index.id for one in self.expressions if isinstance(one, Subscript) and isinstance(one.index, Name)}
        return names - keys if names & keys else frozenset()

    @cached_property
    def drawn(self) -> set[str]:
        """Names that hold a random number used to pick an item."""
        return self._closed(self._assigned(is_draw), fields=False)

    def _assigned(self, meets: Callable[[Expr, SourceFile], bool]) -> set[str]:
        """The names that are assigned an expression which meets a condition."""
        return {
            event.target.id
            for event in self.events
            if event.kind == "assign"
            and isinstance(event.target, Name)
            and event.value is not None
            and meets(event.value, self.file)
        }

    def _numbers_items(self, iterable: Expr, known: set[str], fields: bool) -> bool:
        """Whether a loop iterates the index that is given, or what it names where it is an object, as `key.frames`; or
        counts from a number of the item, or between fields of its record, as a slice does: `range(start, start +
        self.size)`."""
        start = first_number(iterable, self.file)
        if start is None:
            whole = iterable.value if fields and isinstance(iterable, Attribute) else iterable
            return whole is not None and self._is_given(whole)
        return self.derived(start, known, fields) or (not fields and self.derived(start, self.fields, fields=True))

    def _is_given(self, expr: Expr) -> bool:
        """Whether an expression is a parameter that holds an index, or iterates over one."""
        if isinstance(expr, CallRef):
            call = self.file.calls[expr.index]
            return last_name(call.func) in AROUND_ITERABLES and any(self._is_given(one.value) for one in call.args)
        return isinstance(expr, Name) and expr.id in self.given

    def derived(self, expr: Expr, names: set[str], fields: bool = False) -> bool:
        """Whether the value of an expression depends on the index of the item, given that `names` do."""
        parts: Iterable[Expr] = ()
        match expr:
            case Name():
                return expr.id in names
            case Subscript(CallRef(made), Constant(int(part))) if not fields and part in self._answered(made, names):
                return True
            case Subscript(CallRef(made), Constant()) if last_name(self.file.calls[made].func) == "divmod":
                parts = [argument.value for argument in self.file.calls[made].args[:1]]
            case Subscript(CallRef(), Constant(0)) if self.draws_index and replaces_index(expr, self.file):
                return True
            case Subscript():
                parts = (expr.index, expr.value) if fields else (expr.index,)
            case Attribute():
                parts = (expr.value,) if fields and expr.attr not in _OF_ALL_ITEMS else ()
            case BinOp() | FString() | Tuple() | Slice():
                parts = expr.children()
            case IfExp():
                parts = (expr.body, expr.orelse)
            case CallRef() if last_name(self.file.calls[expr.index].func) in (_OF_TEXTS if fields else _CONVERSIONS):
                call = self.file.calls[expr.index]
                parts = [*call.func.children(), *(argument.value for argument in call.args)]
            case CallRef() if last_name(self.file.calls[expr.index].func) == "index":
                # `self.keys.index(key)`, the position of an item
                parts = [argument.value for argument in self.file.calls[expr.index].args]
            case CallRef() if (entry := self.entry_asked(expr)) is not None:
                parts = (entry.key, entry.container) if fields else (entry.key,)
            case CallRef() if self.draws_index and replaces_index(expr, self.file):
                return True
            case CallRef() if fields and (self._is_own_call(expr) or self._reads(expr)):
                parts = [argument.value for argument in self.file.calls[expr.index].args]
            case CallRef() if not fields:
                return None in self._answered(expr.index, names)
        return any(self.derived(part, names, fields) for part in parts)

    def _answered(self, call: int, names: set[str]) -> Set[int | None]:
        """The parts of a call's result that depend on the index of the item; None for the result as a whole."""
        given = {one.value for one in self.file.calls[call].args if self.derived(one.value, names)}
        return self.answers.parts(self.run, call, given) if given else frozenset()

    def entry_asked(self, expr: CallRef) -> Lookup | None:
        """The lookup that a call of `get` is: `table.get(index)`; None for other calls."""
        call = self.file.calls[expr.index]
        if isinstance(call.func, Attribute) and call.func.attr == "get" and call.args:
            return Lookup(expr, call.func.value, call.args[0].value)
        return None

    def _reads(self, expr: CallRef) -> bool:
        """Whether a call reads a file, such as the record of an item: `np.load(self.paths[index])`."""
        return last_name(self.file.calls[expr.index].func) in _READS

    def _is_own_call(self, expr: CallRef) -> bool:
        """Whether a call is of a plain function name, or of a method of the same object: `self.path_of(index)`, also as
        a base class has it: `super().__getitem__(index)`."""
        func = self.file.calls[expr.index].func
        if isinstance(func, Attribute):
            base = func.value
            if isinstance(base, CallRef) and self.file.calls[base.index].func == Name("super"):
                return True
            return bool(self.receiver) and base == Name(self.receiver)
        return isinstance(func, Name)

    def names_field(self, key: Expr) -> bool:
        """Whether a subscript is the name of a field: a text, or a name or attribute that holds nothing but texts."""
        if isinstance(key, Constant):
            return isinstance(key.value, str)
        if not isinstance(key, (Name, Attribute)):
            return False
        values = self.answers.world.values.evaluate(key, Site(self.file, self.scope, 0, (0, 0), self.run.frame))
        return bool(values) and all(isinstance(one, Const) and isinstance(one.value, str) for one in values)

    def is_number_of_item(self, expr: Expr) -> bool:
        """Whether an expression is the index as it is given, at most moved by a number: `index + 1`; or a name that is
        bound to one: `row = index - self.start`."""
        return self._is_moved(expr) or (isinstance(expr, Name) and expr.id in self._moved)

    def _is_moved(self, expr: Expr) -> bool:
        parts = [part for part in without_calls(expr) if isinstance(part, BinOp)]
        return self.direct(expr) and all(part.op in ("+", "-") for part in parts)

    @cached_property
    def _moved(self) -> set[str]:
        """The names that are bound to the index as it is given, at most moved by a number."""
        return {
            event.target.id
            for event in self.events
            if event.kind == "assign" and isinstance(event.target, Name)
            if isinstance(event.value, (Name, BinOp)) and self._is_moved(event.value)
        }

    def direct(self, expr: Expr) -> bool:
        """Whether an expression is the index itself, or a number computed from it and constants."""
        if isinstance(expr, BinOp):
            sides = (expr.left, expr.right)
            return any(map(self.direct, sides)) and all(
                isinstance(part, (Constant, Attribute)) or self.direct(part) for part in sides
            )
        if isinstance(expr, CallRef):
            call = self.file.calls[expr.index]
            return call.func == Name("int") and len(call.args) == 1
        return bool(isinstance(expr, Name) and expr.id in self.given)


class Answers:
    """Finds which parts of what the project's functions return depend on the index of an item that they are given."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._known: Table[Set[int | None]] = {}

    def parts(self, run: WorkerRun, call: int, given: Set[Expr]) -> Set[int | None]:
        """The positions in the tuple that a call returns, or None for all that it returns.

        `given` are the arguments that hold the index.
        """
        found: set[int | None] = set()
        for target in self.world.calls.targets(run.file, call, run.frame):
            function, frame = target.function, target.frame
            params = frozenset(
                param.name
                for param in function.file.scopes[function.scope].params
                if frame is not None
                and (actual := self.world.parameters.bound(function, param.name, frame).actual) is not None
                and actual.expr in given
            )
            key = (function.key, params)
            if params and not function.file.scopes[function.scope].is_generator:
                found |= self.world.memory.remember(
                    self._known, key, partial(self._returned, run, target, params), frozenset()
                )
        return found

    def _returned(self, run: WorkerRun, target: Target, params: Set[str]) -> Set[int | None]:
        function = target.function
        inner = replace(run, file=function.file, scope=function.scope, frame=target.frame)
        callee = ItemIndex(inner, "", set(params), set(), self)
        found: set[int | None] = set()
        for event in callee.events:
            if event.kind != "return" or event.value is None:
                continue
            parts = event.value.elements if isinstance(event.value, Tuple) else ()
            found.update(position for position, part in enumerate(parts) if callee.derived(part, callee.index))
            if not parts and callee.derived(event.value, callee.index):
                found.add(None)
        return frozenset(found)
