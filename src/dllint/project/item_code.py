"""How the code that workers run uses what a dataset keeps: by the index of an item, as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Literal, NamedTuple

from dllint.facts.nodes import (
    Attribute,
    List,
    Name,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Frame, Function, Instance
from dllint.libraries.pandas import INDEXERS
from dllint.linking.expressions import walk
from dllint.project.bound_names import named
from dllint.project.counting import goes_through_per_item
from dllint.project.item_expressions import bound
from dllint.project.item_index import Answers, Lookup
from dllint.project.item_run import ItemRun
from dllint.project.worker_code import WorkerRun

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.worker_code import WorkerCode

_OF_VALUES = frozenset(
    {
        *("shape", "ndim", "dtype", "size", "nbytes", "itemsize", "strides", "flat", "base", "ctypes", "flags"),
        *("T", "mT", "H", "real", "imag", "data", "device", "grad", "layout", "requires_grad", "is_cuda", "is_sparse"),
        *("index", "columns", "values", "iloc", "loc", "at", "iat", "name", "array", "attrs", "str", "dt"),
        *("mode", "format", "info", "width", "height", "start", "stop", "step", "stem", "suffix", "parent", "parts"),
    }
)
"""Attributes of arrays, tensors, tables, images, ranges and paths."""

By = Literal["index", "drawn", "key", "any"]
"""What workers look an item up by: its index, a random number, a field of its record, or any of these and others."""


class _Use(NamedTuple):
    """A function that accesses an attribute, by the `attrs` of its own object or by local names."""

    run: ItemRun
    attrs: Set[str]
    names: Set[str]


class ItemCode:
    """Finds how the code that workers run uses a dataset's attributes.

    With `holder`, the attribute belongs to an object of that class that the dataset keeps.
    """

    def __init__(
        self, world: World, workers: WorkerCode, readers: Callable[[Instance], Iterable[Instance]] = lambda value: ()
    ) -> None:
        """`readers` returns the datasets that hold a dataset, and may read it by other methods than `__getitem__`."""
        self.world = world
        self.workers = workers
        self._readers = readers
        self._kinds: dict[tuple[int, frozenset[int]], int] = {}
        self._answers = Answers(world)
        self._runs: dict[int, list[ItemRun]] = {}
        self._of_line: dict[tuple[int, Class], list[ItemRun]] = {}
        self._uses: dict[tuple[int, Class, str], list[_Use]] = {}

    def kind(self, value: Instance) -> int:
        """A number that datasets share exactly if reading an item of them runs the same functions."""
        own = id(self.workers.of_dataset(value))
        others = frozenset(id(self.workers.of_dataset(one)) for one in self._readers(value)) - {own}
        return self._kinds.setdefault((own, others), -len(self._kinds)) if others else own

    def runs(self, value: Instance, holder: Class | None = None) -> list[ItemRun]:
        """The dataset's own methods that reading an item runs, the entry first; with `holder`, the methods of its
        object of that class."""
        assert isinstance(value.of, Class)
        of = holder or value.of
        kept = self._of_line.get((self.kind(value), of))
        if kept is None:
            line = {cls.key for cls in self.world.hierarchy.line(of) if isinstance(cls, Class)}
            kept = self._of_line[self.kind(value), of] = [one for one in self.all_runs(value) if one.owner in line]
        return kept

    def all_runs(self, value: Instance) -> list[ItemRun]:
        """All functions that reading an item runs, the entry first; those without an own object have no receiver."""
        assert isinstance(value.of, Class)
        kind = self.kind(value)
        found = self._runs.get(kind)
        if found is None:
            found = self._runs[kind] = []
            by_scope: dict[tuple[str, int], ItemRun] = {}
            for run in self._run(value):
                handed = self._handed(run, by_scope)
                item = ItemRun(
                    run, *self._receiver(run, handed), *self._index_names(run, handed), self._answers, handed
                )
                by_scope[run.file.path, run.scope] = item
                item.entry = by_scope.get(run.root) if run.hops else None
                found.append(item)
        return found

    def _run(self, value: Instance) -> Iterator[WorkerRun]:
        """The functions that reading an item of a dataset runs, and those of the datasets that hold it."""
        seen: set[int] = set()
        for one in (value, *self._readers(value)):
            runs = self.workers.of_dataset(one)
            if id(runs) not in seen:
                seen.add(id(runs))
                yield from runs

    def _handed(self, run: WorkerRun, known: Mapping[tuple[str, int], ItemRun]) -> dict[str, tuple[ItemRun, Expr]]:
        """The arguments of the call that reaches a function, by parameter, each with the calling function."""
        frame: Frame | None = run.frame
        if not run.hops or frame is None or frame.actuals is None:
            return {}
        function = Function(run.file, run.scope)
        found: dict[str, tuple[ItemRun, Expr]] = {}
        for param in run.file.scopes[run.scope].params:
            bound = self.world.parameters.bound(function, param.name, frame)
            actual = bound.actual
            if bound.case == "star":
                actual = next(iter(frame.actuals.stars), None)
            if actual is not None and actual.expr is not None and actual.site is not None:
                caller = known.get((actual.site.file.path, actual.site.scope))
                if caller is not None:
                    found[param.name] = caller, actual.expr
        return found

    @staticmethod
    def _receiver(run: WorkerRun, handed: Mapping[str, tuple[ItemRun, Expr]]) -> tuple[str, tuple[str, int] | None]:
        """The parameter that is the object itself, and the key of its class: `self` of a method, or of a function
        that a method passes it to."""
        method_of = run.file.method_of(run.scope)
        params = run.file.scopes[run.scope].params
        if method_of is not None:
            return (params[0].name, (run.file.path, method_of)) if params else ("", None)
        for name, (caller, expr) in handed.items():
            if caller.receiver and expr == Name(caller.receiver):
                return name, caller.owner
        return "", None

    @staticmethod
    def _index_names(run: WorkerRun, handed: Mapping[str, tuple[ItemRun, Expr]]) -> tuple[set[str], set[str]]:
        """The parameters that hold the index of an item, and those that hold a field of its record."""
        params = run.file.scopes[run.scope].params
        if not run.hops:
            entered = run.entry in ("__getitem__", "__getitems__")
            return {param.name for param in params[1:2]} if entered else set(), set()
        index: set[str] = set()
        parts: set[str] = set()
        for name, (caller, expr) in handed.items():
            if caller.derived(expr, caller.index):
                index.add(name)
            elif caller.derived(expr, caller.fields, fields=True):
                parts.add(name)
        return index, parts

    def _uses_of(self, value: Instance, attr: str, holder: Class | None) -> list[_Use]:
        """The functions run for an item that access an attribute: methods of the object that has it, methods of the
        dataset that holds this object, and functions that receive it as an argument."""
        assert isinstance(value.of, Class)
        of = holder or value.of
        key = (self.kind(value), of, attr)
        found = self._uses.get(key)
        if found is None:
            own = {attr, *self.properties(of, attr)}
            ways = self._ways(value, of, own)
            of_holder, of_dataset = ({id(run) for run in self.runs(value, one)} for one in (of, value.of))
            table: dict[int, _Use] = {}
            for run in self.all_runs(value):
                attrs = own if id(run) in of_holder else ways if id(run) in of_dataset else frozenset[str]()
                given = {
                    name
                    for name, (caller, expr) in run.handed.items()
                    if (use := table.get(id(caller))) is not None and caller.part_of(expr, use.attrs, use.names)
                }
                if attrs or given:
                    table[id(run)] = _Use(run, attrs, run.aliases(attrs, given))
            found = self._uses[key] = list(table.values())
        return found

    def properties(self, cls: Class, attr: str) -> set[str]:
        """The properties of a class that give the attribute, or what it holds: `return self.root["data"]`; those that
        give such a property, too."""
        hierarchy = self.world.hierarchy
        gives: dict[str, set[str]] = {}
        for owner in hierarchy.line(cls):
            for name, scope in hierarchy.own_methods(owner).items() if isinstance(owner, Class) else ():
                assert isinstance(owner, Class)
                method = owner.file.scopes[scope]
                if len(method.params) != 1 or name in gives:
                    continue
                base = Name(method.params[0].name)
                returned = [_without_keys(one.value) for one in method.events if one.kind == "return"]
                given = {one.attr for one in returned if isinstance(one, Attribute) and one.value == base}
                if given and hierarchy.is_property(Function(owner.file, scope)):
                    gives[name] = given
        found: set[str] = set()
        for _ in range(2):
            found.update(name for name, given in gives.items() if given & {attr, *found})
        return found

    def _ways(self, value: Instance, of: Class, attrs: Set[str]) -> Set[str]:
        """The paths by which the dataset's own methods read an attribute of an object that it holds:
        "store.records"."""
        if of == value.of:
            return frozenset()
        written = {way for run in self.runs(value) for way in run.reads_of_attributes if way.count(".") == 1}
        return {
            way
            for way in written
            if way.rpartition(".")[2] in attrs
            and any(
                isinstance(one, Instance) and one.of == of
                for one in self.world.objects.attribute(value, way.partition(".")[0])
            )
        }

    def indexed(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers read `self.attr[index]`."""
        return any(True for _ in self.items(value, attr, holder))

    def numbered(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers read `self.attr[index]` by the index as they get it: then it has an element per item."""
        return any(
            run.part_of(one.container, attrs, names) and run.is_number_of_item(one.key)
            for run, attrs, names in self._uses_of(value, attr, holder)
            for one in run.picking
        )

    def keyed(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers read `self.attr[key]` with a key taken from a field of an item's record."""
        return any(True for _ in self.items(value, attr, holder, "key"))

    def items(
        self, value: Instance, attr: str, holder: Class | None = None, by: By = "index"
    ) -> Iterator[tuple[ItemRun, list[Expr]]]:
        """The functions that read `self.attr[index]` or `self.attr[key][index]`, each with these expressions.

        With `by` "drawn", those whose index is a random number; with "key", a field of an item's record; with "any",
        those with any index.
        """
        for run, attrs, names in self._uses_of(value, attr, holder):
            asked = (one.expr for one in self._asked(run, by) if run.part_of(one.container, attrs, names))
            found: list[Expr] = list(dict.fromkeys(asked))
            if found:
                yield run, found

    @staticmethod
    def _asked(run: ItemRun, by: By) -> list[Lookup]:
        if by == "index":
            return run.picking
        if by == "any":
            return run.lookups
        return run.drawing if by == "drawn" else run.keyed

    def drawn(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers pick random items of `self.attr` and read named fields of them.

        Such items are records: items picked from a small table have no named fields.
        """
        return any(self.reads_fields(run, items) for run, items in self.items(value, attr, holder, "drawn"))

    def iterated(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers of an iterable dataset iterate `self.attr`, or look up one item after another."""
        for run, attrs, names in self._uses_of(value, attr, holder):
            if run.run.entry not in ("__iter__", "__next__"):
                continue
            for event in run.events:
                value_of = event.value if event.kind == "for" else None
                if value_of is None or not any(run.part_of(part, attrs, names) for part in walk(value_of, run.file)):
                    continue
                if not (run.run.hops and goes_through_per_item(self.world, run.file, run.scope, event)):
                    return True
            if run.looks_up_by_numbers(attrs, names):
                return True
        return False

    def read(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers read `self.attr` for more than its length."""
        return any(use.run.mentions(use.attrs) for use in self._uses_of(value, attr, holder))

    def measured(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether `len(self.attr)` is the length of the dataset, or of an object inside whose length that is or whose
        entries workers look up."""
        assert isinstance(value.of, Class)
        method = self.world.hierarchy.method(holder or value.of, "__len__")
        own = holder is None or holder == value.of
        looked_up = own or any(True for _ in self.items(value, attr, holder, "any"))
        if method is None or not (looked_up or self._counts(value, holder or value.of)):
            return False
        for index in method.file.calls_of(method.scope):
            call = method.file.calls[index]
            if call.func == Name("len") and any(
                isinstance(argument.value, Attribute) and argument.value.attr == attr for argument in call.args
            ):
                return True
        return False

    def _counts(self, value: Instance, holder: Class) -> bool:
        """Whether the length of a dataset may be that of an object inside: `len(self.reader)`."""
        todo, seen = [value], {value.of}
        for one in todo:
            assert isinstance(one.of, Class)
            method = self.world.hierarchy.method(one.of, "__len__")
            if method is None or holder in self.world.hierarchy.line(one.of):
                return True
            scope = method.file.scopes[method.scope]
            base = [Name(param.name) for param in scope.params[:1]]
            for event in scope.events_of("return"):
                for part in walk(event.value, method.file) if event.value is not None else ():
                    if isinstance(part, Attribute) and part.value in base:
                        inside = [
                            held
                            for held in self.world.values.attribute(one, part.attr)
                            if isinstance(held, Instance) and isinstance(held.of, Class) and held.of not in seen
                        ]
                        todo += inside
                        seen.update(held.of for held in inside)
        return False

    def has_fields(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers read a named field of `self.attr[index]`: then its items are records."""
        return any(self.reads_fields(run, items) for run, items in self.items(value, attr, holder))

    def has_attributes(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers read an attribute of `self.attr[index]` that neither arrays nor tensors, tables and strings
        have: then its items are objects of some class."""
        return any(
            isinstance(expr, Attribute)
            and expr.attr not in _OF_VALUES
            and expr.value in known
            and not _is_called(run, expr)
            for reader, found in self.items(value, attr, holder)
            for run, items in ((reader, found), *self.handed_on(value, reader, found))
            for known in ({*items, *bound(run, items)},)
            for expr in run.expressions
        )

    def unpacked(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers take `self.attr[index]` apart: `image, boxes = self.attr[index]`."""
        return any(
            event.kind == "assign" and isinstance(event.target, (Tuple, List)) and event.value in known
            for run, items in self.items(value, attr, holder)
            for known in ({*items, *bound(run, items)},)
            for event in run.events
        )

    def read_by_name(self, value: Instance, attr: str, holder: Class | None = None) -> bool:
        """Whether workers read a named field of `self.attr[index]` itself. What they look up by the item, as
        `captions[self.ids[index]]["text"]`, says nothing of it."""
        return any(
            isinstance(expr, Subscript) and expr.value in known and run.names_field(expr.index)
            for run, items in self.items(value, attr, holder)
            for known in ({*items, *bound(run, items)},)
            for expr in run.expressions
        )

    def reads_fields(self, run: ItemRun, items: list[Expr]) -> bool:
        """Whether a method reads a named field of one of the items."""
        names = self.named_items(run, items)
        return any(
            isinstance(expr, Subscript)
            and (expr.value in items or (isinstance(expr.value, Name) and expr.value.id in names))
            and run.names_field(expr.index)
            for expr in run.expressions
        )

    def handed_on(self, value: Instance, run: ItemRun, items: list[Expr]) -> Iterator[tuple[ItemRun, list[Expr]]]:
        """The functions that a method passes an item to, each with the parameters that hold it."""
        names = bound(run, items)
        for other in self.all_runs(value):
            given: list[Expr] = [
                Name(param)
                for param, (caller, expr) in other.handed.items()
                if caller is run and (expr in items or expr in names)
            ]
            if given:
                yield other, given

    def named_items(self, run: ItemRun, items: list[Expr]) -> set[str]:
        """Local names for the items of an attribute and for their parts."""
        names: set[str] = set()
        for _ in range(2):
            for event in run.events:
                if event.kind != "assign" or event.target is None or event.value is None:
                    continue
                inside = list(walk(event.value, run.file))
                if any(part in items or (isinstance(part, Name) and part.id in names) for part in inside):
                    names.update(name for name, _ in named(event.target, event.value, True))
        return names


def _is_called(run: ItemRun, expr: Attribute) -> bool:
    return any(run.file.calls[index].func == expr for index in run.file.calls_of(run.scope))


def _without_keys(expr: Expr | None) -> Expr | None:
    while isinstance(expr, Subscript) or (isinstance(expr, Attribute) and expr.attr in INDEXERS):
        expr = expr.value
    return expr
