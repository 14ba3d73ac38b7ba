"""A function that workers run for an item, and what it looks up by the index of the item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from functools import cached_property
from types import MappingProxyType

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    IfExp,
    List,
    Name,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference.values import Mapping as Dictionary
from dllint.inference.values import Site
from dllint.libraries.copies import copied
from dllint.libraries.pandas import INDEXERS
from dllint.linking.expressions import names_in, walk
from dllint.project.item_draws import draws_several, is_draw, replaces_index
from dllint.project.item_index import Answers, ItemIndex, Lookup
from dllint.project.worker_code import WorkerRun


class ItemRun(ItemIndex):
    """A function that workers run for an item: a method of the dataset, or one that these call.

    Attributes:
        owner: the key of the class of `self`; None without one.
        handed: for each parameter the caller, which reading an item also runs, and its argument.
    """

    def __init__(
        self,
        run: WorkerRun,
        receiver: str,
        owner: tuple[str, int] | None,
        index: set[str],
        parts: set[str],
        answers: Answers,
        handed: Mapping[str, tuple[ItemRun, Expr]] = MappingProxyType({}),
    ) -> None:
        super().__init__(run, receiver, index, parts, answers)
        self.owner = owner
        self.handed = handed
        self._picking: dict[int, tuple[Expr, bool]] = {}

    @cached_property
    def lookups(self) -> list[Lookup]:
        """What the function looks up in containers, each also as the copy that is made of it."""
        found: list[Lookup] = []
        for expr in self.expressions:
            if isinstance(expr, Subscript):
                found.append(Lookup(expr, expr.value, expr.index))
            elif isinstance(expr, CallRef):
                call = self.file.calls[expr.index]
                if (entry := self.entry_asked(expr)) is not None:
                    found.append(entry)
                elif self.draws_index and replaces_index(expr, self.file) and call.args:
                    # `random.choice(rows)`
                    found.append(Lookup(expr, call.args[0].value, expr))
                if self.draws_index and draws_several(expr, self.file):
                    # `for row in random.sample(rows, 4)`
                    several = [expr, *(one.target for one in self.events if one.kind == "assign" and one.value == expr)]
                    elements = (target for target, iterable in self.loops if iterable in several)
                    found += [Lookup(one, call.args[0].value, expr) for one in elements if isinstance(one, Name)]
        return [*found, *self._copies(found)]

    def _copies(self, found: list[Lookup]) -> list[Lookup]:
        """The same lookups by the copies that are made of them, and by copies of these."""
        made = [(expr, whole) for expr in self.expressions if (whole := copied(self.file, expr)) is not None]
        known = {one.expr: one for one in found} if made else {}
        copies: list[Lookup] = []
        # A call stands before its arguments.
        for expr, whole in reversed(made):
            if (one := known.get(whole)) is not None:
                known[expr] = one._replace(expr=expr)
                copies.append(known[expr])
        return copies

    def is_attribute(self, expr: Expr, attr: str) -> bool:
        return (
            isinstance(expr, Attribute)
            and expr.attr == attr
            and isinstance(expr.value, Name)
            and expr.value.id == self.receiver
        )

    @cached_property
    def reads_of_attributes(self) -> Counter[str]:
        """How often the method mentions each attribute of its object, other than for its length.

        The key is "records", or "store.records" for an attribute of an object that it holds.
        """
        counted = Counter(map(self._of_object, self.expressions))
        for index in self.file.calls_of(self.scope):
            call = self.file.calls[index]
            if call.func == Name("len"):
                counted.subtract({self._of_object(argument.value) for argument in call.args})
        return counted

    def aliases(self, attrs: Set[str], known: Set[str] = frozenset()) -> set[str]:
        """Local names of one of the attributes, or of its element under a key that does not depend on the item.

        `known` are parameters that hold the same.
        """
        found = set(known)
        for _ in range(2):
            before = len(found)
            for event in self.events:
                if event.kind != "assign" or event.value is None or not isinstance(event.target, Name):
                    continue
                if self.part_of(event.value, attrs, found):
                    found.add(event.target.id)
            for target, iterable in self.loops:
                if (part := self._gone_through(target, iterable)) is not None and self.part_of(part[1], attrs, found):
                    found.add(part[0])
            if len(found) == before:
                break
        return found

    def _gone_through(self, target: Expr, iterable: Expr) -> tuple[str, Expr] | None:
        """The loop variable bound to the values of a dict, and the dict: `for key, value in table.items()`; None for
        other loops."""
        if not isinstance(iterable, CallRef):
            return None
        func = self.file.calls[iterable.index].func
        if not isinstance(func, Attribute) or func.attr not in ("items", "values"):
            return None
        if func.attr == "items":
            if not isinstance(target, (Tuple, List)) or len(target.elements) != 2:
                return None
            target = target.elements[1]
        return (target.id, func.value) if isinstance(target, Name) else None

    def part_of(self, expr: Expr, attrs: Set[str], aliases: Set[str]) -> bool:
        """Whether an expression is one of the attributes, or what it holds under a key that says nothing of the
        item: a column of a table, for example, or what its rows are looked up in."""
        while (isinstance(expr, Subscript) and not self.picks(expr.index)) or (
            isinstance(expr, Attribute)
            and self._of_object(expr) not in attrs
            and (expr.attr in INDEXERS or self._is_entry(expr, attrs, aliases))
        ):
            expr = expr.value
        match expr:
            case Name(name):
                return name in aliases
            case Attribute():
                return self._of_object(expr) in attrs
            case IfExp(_, body, orelse):
                # `rows = self.filled if self.training else self.rows`
                return any(self.part_of(one, attrs, aliases) for one in (body, orelse))
        return False

    def _is_entry(self, expr: Attribute, attrs: Set[str], aliases: Set[str]) -> bool:
        """Whether an attribute is an entry of a dict that one of the attributes holds: `self.data.rows` of an object
        whose attributes are its entries."""
        named = isinstance(expr.value, Name) and expr.value.id in aliases
        if not named and self._of_object(expr.value) not in attrs:
            return False
        held = self.answers.world.values.evaluate(expr.value, Site(self.file, self.scope, 0, (0, 0), self.run.frame))
        return bool(held) and all(isinstance(one, Dictionary) for one in held)

    def mentions(self, attrs: Set[str]) -> bool:
        """Whether the method reads one of the attributes for more than its length."""
        return any(self.reads_of_attributes[attr] > 0 for attr in attrs)

    def picks(self, index: Expr) -> bool:
        """Whether a subscript picks what belongs to an item: by its index, or by a slice between fields of its
        record."""
        # By identity: one expression is asked for each attribute, and a hash would walk through it. It is stored, so
        # that no other takes its number.
        known = self._picking.get(id(index))
        if known is None:
            known = self._picking[id(index)] = index, self._picks(index)
        return known[1]

    def _picks(self, index: Expr) -> bool:
        if self.derived(index, self.index):
            return True
        return isinstance(index, Slice) and self.derived(index, self.fields, fields=True)

    @cached_property
    def picking(self) -> list[Lookup]:
        """What the function looks up by the index of an item."""
        return [one for one in self.lookups if self.picks(one.key)]

    @cached_property
    def drawing(self) -> list[Lookup]:
        """What the function looks up by a random number."""
        return [one for one in self.lookups if self.derived(one.key, self.drawn) or draws_several(one.key, self.file)]

    @cached_property
    def keyed(self) -> list[Lookup]:
        """What the function looks up by a field of an item's record."""
        return [one for one in self.lookups if self.derived(one.key, self.fields, fields=True)]

    def looks_up_by_numbers(self, attrs: Set[str], names: Set[str]) -> bool:
        """Whether a function looks up items by numbers that it makes from the collection itself: `for i in
        range(len(self.rows))`, or a shuffled list of them."""
        known: set[str] = set()
        size = -1
        while size < len(known):
            size = len(known)
            for event in self.events:
                if event.kind not in ("assign", "for") or event.value is None or event.target is None:
                    continue
                if is_draw(event.value, self.file):
                    # What is picked at random may be a small table: of noises, for example.
                    continue
                parts = walk(event.value, self.file)
                if any((isinstance(one, Name) and one.id in known) or self.part_of(one, attrs, names) for one in parts):
                    known.update(names_in(event.target, self.file))
        return any(
            self.part_of(one.container, attrs, names)
            and any(isinstance(part, Name) and part.id in known for part in walk(one.key, self.file))
            for one in self.lookups
        )

    def _of_object(self, expr: Expr) -> str:
        """The path of the own object's attribute that an expression is ("store.records"); "" if it is none."""
        names: list[str] = []
        while isinstance(expr, Attribute):
            names.append(expr.attr)
            expr = expr.value
        own = bool(self.receiver) and isinstance(expr, Name) and expr.id == self.receiver
        return ".".join(reversed(names)) if own else ""
