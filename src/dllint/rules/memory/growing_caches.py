"""Caches that a dataset fills while its workers read items."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import (
    Attribute,
    Compare,
    Constant,
    Name,
    Subscript,
)
from dllint.facts.schema import Expr, Operator
from dllint.inference import limits
from dllint.inference.values import Class, Const, Display, Instance, Mapping, Site, Value
from dllint.linking.assignments import Store
from dllint.linking.expressions import walk
from dllint.project.handles import Handles
from dllint.project.item_run import ItemRun
from dllint.rules.memory.cache_bounds import is_bounded, is_ordering, keeps_results
from dllint.rules.memory.cache_keys import varies_by_item
from dllint.rules.memory.cache_variables import Beginnings, Variable
from dllint.rules.memory.objects_from_files import Records
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_ADDING = frozenset({"append", "add", "setdefault", "extend", "update"})
_REMOVING = frozenset({"pop", "popitem", "popleft", "clear", "move_to_end", "remove", "discard"})


class _Addition(NamedTuple):
    """A statement of worker code that puts `content` under `key` into a variable.

    `keyed_in`: the function with the key, the statement's own or one that hands a record to it. `anew`: into the record
    of an item, each time that the item is read.
    """

    held: Variable
    keyed_in: ItemRun
    key: Expr | None
    content: Expr | None
    region: int
    span: Span
    statement: Span
    anew: bool = False


@dataclass(frozen=True)
class Cache:
    """A statement that adds something per item to an attribute or module variable and never removes it.

    `name` is "Rows.cache" or "CACHE". `anew`: it puts what it loads into the record of an item, each time. `region`:
    the branch of the function with the statement; None for a function that keeps its results.
    """

    name: str
    run: ItemRun
    span: Span
    statement: Span
    anew: bool = False
    region: int | None = None


class Caches:
    """Finds the growing caches of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._beginnings = Beginnings(project)
        self._growing: dict[int, list[Cache]] = {}

    def growing(self, value: Instance) -> list[Cache]:
        """The caches of a dataset that grow with the number of items that a worker has read."""
        assert isinstance(value.of, Class)
        kind = self.project.item_code.kind(value)
        found = self._growing.get(kind)
        if found is None:
            found = self._growing[kind] = list(self._find(value))
        return found

    def _find(self, value: Instance) -> Iterator[Cache]:
        assert isinstance(value.of, Class)
        runs = self.project.item_code.all_runs(value)
        seen: set[tuple[object, str]] = set()
        for way, holder in self._holders(value):
            assert isinstance(holder.of, Class)
            own = set(map(id, self.project.item_code.runs(value, holder.of)))
            for run in runs:
                for one in self._additions(run, own):
                    held = one.held
                    if held.file and holder != value:
                        continue
                    known = (held.file or holder.of.key, held.name)
                    if (
                        known in seen
                        or is_bounded(self.world, run, one.region)
                        or not varies_by_item(self.world, one.keyed_in, one.key, value)
                    ):
                        continue
                    where = Site(run.file, run.scope, one.region, one.span.start, run.run.frame)
                    if self._is_begun_here(run, one) or self.world.untaken(where):
                        continue
                    if self._is_once(run) or self._is_small(run, one.content, one.span):
                        continue
                    if one.anew and not (self._is_loaded(one, where) and self._has_records(holder, held.name)):
                        continue
                    if any(self._removes(other, held, holder != value and id(other) not in own, own) for other in runs):
                        continue
                    if held.record or (
                        self._beginnings.is_blank(held, runs)
                        if held.file
                        else self._beginnings.starts_empty(value, holder, held)
                    ):
                        seen.add(known)
                        yield Cache(self._label(way, held), run, one.span, one.statement, one.anew, one.region)
                plain = holder == value and not run.receiver
                if (id(run) in own or plain) and keeps_results(self.world, run):
                    name = run.file.scopes[run.scope].name
                    seen.add((run.file.path if plain else holder.of.key, name))
                    header = run.file.header(run.scope)
                    yield Cache(name if plain else f"{way}{name}", run, header, header)

    def _label(self, way: str, held: Variable) -> str:
        if not held.file:
            return f"{way}{held.name}"
        return f"{self.world.files[held.file].scopes[held.scope].name}.{held.name}" if held.scope else held.name

    def _holders(self, value: Instance) -> Iterator[tuple[str, Instance]]:
        """The dataset and the project's objects inside it when its workers start, one per class, each with its path."""
        assert isinstance(value.of, Class)
        yield f"{value.of.name}.", value
        known = {value.of}
        for keeping in self.project.datasets.keeps(value):
            of = keeping.holder.of
            if isinstance(of, Class) and of not in known:
                known.add(of)
                yield f"{value.of.name}.{keeping.path.rpartition('.')[0]}.", keeping.holder

    def _additions(self, run: ItemRun, own: Set[int]) -> Iterator[_Addition]:
        """The additions by `self.attr[key] = value`, `self.attr.append(value)` and similar. `own` are the ids of the
        runs that are methods of the object with the cache."""
        for store in run.file.stores(run.scope):
            if isinstance(store.key, str) or isinstance(store.event.detail, Operator):
                continue
            held = self._variable(run, store.base, own)
            key: Expr | None = store.key
            record, taker = (None, run) if held else self._record(run, store.base)
            if record is not None and not self._is_field(run, store.value):
                # `self.samples[index]["image"] = image`, if there is none yet, or each time
                held, key = self._variable(taker, record.value, own), record.index
                held = held._replace(record=True) if held is not None and not held.file else None
            if held:
                region, span = store.event.region, store.event.span
                anew = record is not None and not self._is_missing(run, region)
                yield _Addition(held, taker, key, store.value, region, span, span, anew)
        for index in run.file.calls_of(run.scope):
            call = run.file.calls[index]
            if not isinstance(call.func, Attribute) or call.func.attr not in _ADDING or not call.args:
                continue
            container: Expr = call.func.value
            key = None
            if isinstance(container, Subscript) and call.func.attr in ("append", "add", "extend"):
                # `self.seen[name].append(value)`
                key = container.index
                container = container.value
            held = self._variable(run, container, own)
            if not held:
                continue
            if call.func.attr == "setdefault" and len(call.args) == 2:
                content: Expr = call.args[1].value
                yield _Addition(held, run, call.args[0].value, content, call.region, call.span, call.statement)
            elif self._notes_once(run, container, call.args[0].value, call.region):
                continue
            elif (call.func.attr in ("append", "extend") or key is not None) and run.run.entry == "__getitem__":
                yield _Addition(held, run, key, call.args[0].value, call.region, call.span, call.statement)

    def _record(self, run: ItemRun, expr: Expr | None, depth: int = 0) -> tuple[Subscript | None, ItemRun]:
        """The record of an item that an expression or a local name refers to, as `self.samples[index]`, also as an
        argument, with the function that looks it up; None if it is none."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return None, run
        if isinstance(expr, Name):
            bindings = run.file.bindings(run.scope).get(expr.id, ())
            bound = bindings[0] if len(bindings) == 1 else None
            if bound is not None and bound.kind == "param":
                caller, given = run.handed.get(expr.id, (None, None))
                return self._record(caller, given, depth + 1) if caller is not None else (None, run)
            expr = bound.expr if bound is not None and bound.kind == "value" else None
        return (expr if isinstance(expr, Subscript) and run.derived(expr.index, run.index) else None), run

    def _is_field(self, run: ItemRun, expr: Expr | None) -> bool:
        """Whether an expression is a field of an item's record, or a part of one, and so already exists."""
        for _ in range(limits.COUNTING_DEPTH.most):
            if expr is None or self._record(run, expr)[0] is not None:
                break
            if isinstance(expr, Name):
                # `left = row["left"]`, before `row["right"] = left`
                bound = run.file.bindings(run.scope).get(expr.id, ())
                expr = bound[0].expr if len(bound) == 1 and bound[0].kind == "value" else None
            else:
                expr = expr.value if isinstance(expr, (Subscript, Attribute)) else None
        return expr is not None and self._record(run, expr)[0] is not None

    @staticmethod
    def _is_missing(run: ItemRun, region: int) -> bool:
        """Whether a statement runs only if something is still missing: under `if image is None`."""
        for index in run.file.regions(region):
            entry = run.file.facts.regions[index]
            parts = walk(entry.expr, run.file) if entry.kind == "if" and entry.expr is not None else ()
            wanted = "is" if entry.holds else "is not"
            for part in parts:
                compared = part.comparisons if isinstance(part, Compare) else ()
                if any(
                    op in (wanted, "not in") and (op == "not in" or other == Constant(None)) for op, other in compared
                ):
                    return True
        return False

    @staticmethod
    def _notes_once(run: ItemRun, container: Expr, content: Expr, region: int) -> bool:
        """Whether a list only receives values that it does not contain yet: `if name not in names:
        names.append(name)` remembers names and caches no work."""
        missing = Compare(content, (("not in", container),))
        regions = (run.file.facts.regions[index] for index in run.file.regions(region))
        return any(entry.kind == "if" and entry.holds and entry.expr == missing for entry in regions)

    def _variable(self, run: ItemRun, expr: Expr, own: Set[int], depth: int = 0) -> Variable | None:
        """The variable that an expression in a function refers to, also through local names and parameters."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return None
        if isinstance(expr, Subscript) and isinstance(expr.index, Constant):
            held = self._variable(run, expr.value, own, depth + 1)
            return held._replace(inside=True) if held is not None else None
        if isinstance(expr, Attribute):
            if id(run) in own and expr.value == Name(run.receiver):
                return Variable("", expr.attr)
            return self._of_class(run, expr)
        if not isinstance(expr, Name):
            return None
        scope = run.scope
        while scope > 0:
            bindings = run.file.bindings(scope).get(expr.id)
            if bindings:
                if scope != run.scope or len(bindings) != 1:
                    return None
                if bindings[0].kind == "param":
                    caller, given = run.handed.get(expr.id, (None, None))
                    return self._variable(caller, given, own, depth + 1) if caller and given else None
                alias = bindings[0].expr if bindings[0].kind == "value" else None
                plain = isinstance(alias, (Attribute, Name)) or (
                    isinstance(alias, Subscript) and isinstance(alias.index, Constant)
                )
                return self._variable(run, alias, own, depth + 1) if plain and alias is not None else None
            scope = run.file.scopes[scope].parent
        return Variable(run.file.path, expr.id) if expr.id in run.file.bindings(0) else None

    def _of_class(self, run: ItemRun, expr: Attribute) -> Variable | None:
        """The class variable that `Rows.cache` or `cls.cache` refers to."""
        if not isinstance(expr.value, Name):
            return None
        site = Site(run.file, run.scope, 0, (run.file.header(run.scope).end_line, 0), run.run.frame)
        for one in self.world.values.evaluate(expr.value, site):
            for owner in self.world.hierarchy.line(one) if isinstance(one, Class) else ():
                if isinstance(owner, Class) and expr.attr in owner.file.bindings(owner.scope):
                    return Variable(owner.file.path, expr.attr, owner.scope)
        return None

    def _is_once(self, run: ItemRun) -> bool:
        """Whether the function is called only while a flag is off that it turns on: `if not self.loaded:
        self.load()`."""
        turned_on = {
            store.key
            for store in run.file.stores(run.scope)
            if store.value == Constant(True) and store.base == Name(run.receiver)
        }
        for hop in run.run.hops[-1:] if turned_on else ():
            call = next((call for call in hop.file.calls if call.span == hop.span), None)
            atoms = self.world.symbols.atoms(hop.file, call.scope, call.region) if call is not None else []
            if any(not atom.holds and not atom.equals and atom.text.rpartition(".")[2] in turned_on for atom in atoms):
                return True
        return False

    @staticmethod
    def _is_begun_here(run: ItemRun, one: _Addition) -> bool:
        """Whether the function makes a new container before it adds: `self.ends = []; for …: self.ends.append(…)`.

        What it then holds is what one call puts into it, however many items are read.
        """
        at = one.span.start
        return not one.held.file and any(
            store.key == one.held.name
            and store.base == Name(run.receiver)
            and store.value is not None
            and Attribute(store.base, one.held.name) not in walk(store.value, run.file)
            and run.file.encloses(store.event.region, one.region)
            and store.event.span.start < at
            for store in run.file.stores(run.scope)
        )

    def _is_small(self, run: ItemRun, content: Expr | None, span: Span) -> bool:
        """Whether the cached value is a constant or a handle, or a record with one: `{"path": path, "file": file}`."""
        if content is None:
            return False
        site = Site(run.file, run.scope, 0, span.start, run.run.frame)
        values = self.world.values.evaluate(content, site)
        return bool(values) and all(isinstance(one, Const) or self._has_handle(one) for one in values)

    def _has_handle(self, value: Value) -> bool:
        """Whether a value is a handle, or a display with one. An image that is opened keeps the pixels that it reads
        later, by its method `load`."""
        parts = self.world.mappings.flattened(value) if isinstance(value, (Display, Mapping)) else (value,)
        openers = map(self.project.ask(Handles).opener, parts)
        return any(one is not None and "load" not in one.ends for one in openers)

    def _is_loaded(self, one: _Addition, site: Site) -> bool:
        """Whether the content is an array or tensor that is read from a file, or computed from one."""
        assert one.content is not None
        array = self.project.arrays.computed(one.content, site, many=True)
        return array is not None and array.source == "file"

    def _has_records(self, holder: Instance, attr: str) -> bool:
        """Whether an attribute is a list or dict in memory, so that what is written to its records stays there."""
        kept = [one for one in self.project.datasets.kept(holder) if one.attr == attr]
        return bool(kept) and all(
            all(isinstance(value, (Display, Mapping)) for value in one.values)
            or self.project.ask(Records).kept(one) is not None
            for one in kept
        )

    def _removes(self, run: ItemRun, held: Variable, outside: bool, own: Set[int]) -> bool:
        """Whether a function that workers run removes something from the cache, or replaces the cache.

        `outside`: the function is no method of the object that has the cache, and reaches it through other objects.
        """

        def meant(part: Expr) -> bool:
            if outside and not held.file and isinstance(part, Attribute) and part.attr == held.name:
                return True
            record, taker = self._record(run, part) if held.record else (None, run)
            part = part if record is None else record.value
            found = self._variable(taker, part, own) if isinstance(part, (Name, Attribute, Subscript)) else None
            return found is not None and found.whole == held.whole

        for store in () if held.file else run.file.stores(run.scope):
            if (
                store.key == held.name
                and (outside or store.base == Name(run.receiver))
                and not self._is_lazy(run, store, held.name)
            ):
                return True
        # Setting an entry to None releases its value.
        if any(store.value == Constant(None) and meant(store.base) for store in run.file.stores(run.scope)):
            return True
        for event in run.events:
            target = event.target if event.kind == "delete" else None
            if target is not None and any(map(meant, walk(target, run.file))):
                return True
        for index in run.file.calls_of(run.scope):
            func = run.file.calls[index].func
            if isinstance(func, Attribute) and func.attr in _REMOVING and meant(func.value):
                return True
        return False

    def _is_lazy(self, run: ItemRun, store: Store, attr: str) -> bool:
        """Whether the cache is created only if it is missing: `if self.cache is None: self.cache = {}`."""
        tests = [run.file.facts.regions[index] for index in run.file.regions(store.event.region)]
        parts = [
            part for one in tests if one.kind == "if" and one.expr is not None for part in walk(one.expr, run.file)
        ]
        if any(isinstance(part, Compare) and is_ordering(part) for part in parts):
            return False
        return any(run.is_attribute(part, attr) or part == Constant(attr) for part in parts)
