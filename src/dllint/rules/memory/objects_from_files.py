"""Python objects that a dataset reads from files and keeps: their origin and kind."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    Constant,
    Dict,
    List,
    Name,
    Set,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr, Region
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.answers import Table
from dllint.inference.entries import Change
from dllint.inference.values import (
    Class,
    Const,
    Display,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Site,
    Unknown,
    Value,
)
from dllint.libraries.contents import given_to_container
from dllint.libraries.index import HANDING_ON, canonical, is_dataset_base
from dllint.libraries.records import (
    COLUMN,
    COLUMNS,
    FRAME,
    HANDLE,
    HUB,
    LINES,
    RECORDS,
    ROWS,
    TEXT,
)
from dllint.linking.expressions import as_display, without_calls
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.counting import called_in_loop, items, loops
from dllint.project.kept_values import Kept
from dllint.rules.memory.derived_lists import viewed_dict
from dllint.rules.memory.entries_turned_into_arrays import becomes_array, entries_become_arrays
from dllint.rules.memory.new_containers import makes_container
from dllint.rules.memory.object_sizes import POINTER, object_bytes
from dllint.rules.memory.objects_made_in_loops import MadeInLoops, stays_empty
from dllint.rules.memory.readings import MAPPING, Held, Reading, Readings
from dllint.rules.memory.table_columns import is_column, without_values
from dllint.rules.memory.tables import listed_rows, loops_around, of_groups
from dllint.span import Span

_NAMED_FIELDS = frozenset({"collections.namedtuple", "typing.NamedTuple"})
"""Functions that create a class whose objects keep each argument under a name."""

_ROW_BY_ROW = frozenset({LINES, RECORDS, ROWS, HANDLE, COLUMN})
"""Kinds of readings whose elements are the items of a dataset."""

_SOURCES = frozenset({HANDLE, TEXT, FRAME, HUB, COLUMNS})
"""Kinds of readings that are no collections of Python objects themselves, but the source of some."""


class Records(Readings):
    """Finds collections of Python objects among the values that a dataset keeps."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.datasets = project.datasets
        self.in_loops = MadeInLoops(project.datasets)
        self._filled: Table[Held | None] = {}
        self._objects: Table[Reading | None] = {}
        self._iterated: set[tuple[Expr, Site]] = set()

    def kept(self, kept: Kept) -> Held | None:
        """The many Python objects that an attribute keeps; None if it keeps none."""
        if self._is_configured(kept):
            return None
        known = [one for one in kept.values if not isinstance(one, (Const, Unknown))]
        # An empty list beside others is what is there before they are read.
        some = [one for one in known if not stays_empty(self.datasets, one)] or known
        held = [self._collection(value, 0) for value in some]
        if held and all(held):
            return held[0]
        listed = listed_rows(self, kept)
        if listed is not None:
            return Held(listed, None)
        # Where one of the values is an object of the project's, such as a store, an unknown one is another such object.
        own = any(isinstance(value, Instance) and isinstance(value.of, Class) for value in kept.values)
        unclear = not own and any(isinstance(value, Unknown) for value in kept.values)
        if kept.store.value is not None and unclear:
            reading = self.trace(kept.store.value, kept.site)
            if reading is not None:
                read = [
                    value
                    for value in kept.values
                    if isinstance(value, Instance) and (value.file, value.call) == (reading.file, reading.call)
                ]
                return None if any(entries_become_arrays(self.world, one) for one in read) else self._whole(reading)
        made = [self.in_loops.made(value) for value in some]
        if made and all(made):
            return Held(None, None, made[0])
        return None

    def _is_configured(self, kept: Kept) -> bool:
        """Whether an attribute is a parameter that an entry of a file is passed to by its name, as
        `Rows(**config["args"])` does: a setting."""
        expr, site = kept.store.value, kept.site
        if not isinstance(expr, Name) or site.frame is None or site.frame.actuals is None:
            return False
        if all(param.name != expr.id for param in site.file.scopes[site.scope].params):
            return False
        bound = self.world.parameters.bound(Function(site.file, site.scope), expr.id, site.frame)
        if bound.case != "keywords":
            return False
        mappings = (self.world.values.passed(one) for one in site.frame.actuals.mappings)
        return any(isinstance(one, Instance) and self.of_instance(one) is not None for one in chain(*mappings))

    def collection(self, value: Value) -> Held | None:
        """The many Python objects that a value is a collection of; None if it is none."""
        return self._collection(value, 0)

    def grouped(self, kept: Kept) -> bool:
        """Whether an attribute keeps a dict of lists, in which records are grouped by one of their fields, or a dict of
        such dicts."""
        inside, depth = list(kept.values), 0
        while inside and not limits.CONTAINER_DEPTH.exceeded(depth):
            inside, depth = [one for value in inside for one in self.world.mappings.values_of(value) or ()], depth + 1
            if any(isinstance(one, Display) for one in inside):
                return True
        return False

    def _collection(self, value: Value, depth: int) -> Held | None:
        if limits.COUNTING_DEPTH.exceeded(depth):
            return None
        inside = self.world.mappings.values_of(value) if isinstance(value, Instance) else None
        if inside is None and isinstance(value, Instance):
            inside = given_to_container(self.world, value)
        reading = self.of_instance(value) or self._taken(value) if isinstance(value, Instance) else None
        viewed = viewed_dict(self.world, value) if inside is None and reading is None else None
        if viewed is not None:
            inside = self.world.values.evaluate(*viewed)
        if inside is not None:
            return next((held for one in inside if (held := self._collection(one, depth + 1)) is not None), None)
        if isinstance(value, Instance):
            return None if reading is None or entries_become_arrays(self.world, value) else self._whole(reading)
        return self.filled(value, depth) if isinstance(value, (Display, Mapping)) else None

    def _taken(self, value: Instance) -> Reading | None:
        """The reading whose elements a call collects from its arguments: `zip(…)`, `random.sample(…)`."""
        if not isinstance(value.of, External) or value.file is None or value.call < 0:
            return None
        name = canonical(value.of.name)
        if name in ("numpy.array", "numpy.asarray"):
            return self._of_objects(value.call, self.world.call_site(value.file, value.call, value.frame))
        if name.startswith(("numpy.array[", "numpy.array()", "numpy.asarray[", "numpy.asarray()")):
            return self._listed(value.file, value.call, value.frame) if name.endswith("().tolist") else None
        if name not in HANDING_ON and name != "sum" and name.rpartition(".")[2] not in MAPPING:
            return None
        return self.through_call(value.call, self.world.call_site(value.file, value.call, value.frame))

    def _listed(self, file: SourceFile, index: int, frame: Frame | None) -> Reading | None:
        """The reading that a list comes from which passes through an array: `np.array(rows)[chosen].tolist()`."""
        array = file.calls[index].func
        while isinstance(array, (Attribute, Subscript)):
            array = array.value
        if not isinstance(array, CallRef) or not file.calls[array.index].args:
            return None
        rows = file.calls[array.index].args[0].value
        site = self.world.call_site(file, array.index, frame)
        return self.trace(rows, site) or self.of_container(rows, site)

    def _of_objects(self, index: int, site: Site) -> Reading | None:
        """The reading from which an array of Python objects is made: `np.array(lines, dtype=object)`."""
        args = site.file.calls[index].args
        kinds = (one.value for one in args if one.keyword == "dtype")
        if not args or not any(last_name(kind) in ("object", "object_") or kind == Constant("O") for kind in kinds):
            return None
        return self.trace(args[0].value, site) or self.of_container(args[0].value, site)

    def _whole(self, reading: Reading) -> Held | None:
        """The objects of a reading that is kept as it is; None if it is only a source of objects."""
        if reading.kind in _SOURCES or (reading.kind == LINES and reading.level):
            return None
        return Held(reading, None)

    def filled(self, value: Display | Mapping, depth: int) -> Held | None:
        """The objects in a list or dict of the program."""
        # A list can be computed from itself: `self.rows = [[*list(row), None] for row in self.rows]`.
        return self.world.memory.remember(self._filled, (value, depth), lambda: self._find_filled(value, depth), None)

    def _find_filled(self, value: Display | Mapping, depth: int) -> Held | None:
        expr, site = value.written.expr, value.written.site
        if limits.COUNTING_DEPTH.reached(depth):
            return None
        if isinstance(expr, Comprehension):
            reading = self.object(expr.element, inside(expr, site), 0)
            if (reading := of_groups(self, reading, [expr.clauses[0].iterable], site)) is not None:
                return Held(reading.gone_through(), None)
            # An empty list per record holds what is added to it, if anything.
            empty = isinstance(expr.element, (Tuple, List, Dict)) and not expr.element.children()
            reading = None if empty else self._new_for_each_record(expr, site)
            if reading is not None:
                return Held(reading, None)
            size = self._generated(value, expr.element)
            if size is not None:
                return Held(None, size)
            cell = self.trace(expr.element, inside(expr, site))
            if cell is not None and _is_cell(cell):
                return Held(replace(cell, kind=COLUMN, level=0), None, cells=True)
            # `{name: defaultdict(list) for name in names}`
            held = self._filled_inside(value, expr.element, inside(expr, site), depth)
            if held is not None:
                return held
        if isinstance(expr, CallRef) and site.file.calls[expr.index].args:
            reading = self.through_call(expr.index, site)
            return self._whole(reading) if reading is not None else None
        elements: list[Expr] = []
        if isinstance(expr, (List, Tuple, Set)):
            elements += [one for one in expr.elements[:4] if not isinstance(one, Starred)]
        elif isinstance(expr, Dict):
            elements += [entry for key, entry in expr.items[:4] if key is not None]
        for one in elements:
            traced = self.trace(one, site)
            if traced is not None and traced.level == 0 and traced.kind not in _SOURCES:
                return Held(traced, None)
            held = self._filled_inside(value, one, site, depth)
            if held is not None:
                return held
        for one in _spread(expr):
            traced = self.trace(one, site)
            if traced is not None and traced.kind not in _SOURCES:
                return Held(replace(traced, seen=True), None)
            held = self._filled_inside(value, one, site, depth)
            if held is not None:
                return held
        mappings = self.world.mappings
        for change in islice(self.datasets.filling(value), limits.CHANGES.most):
            if change.value is None or becomes_array(self.world, change):
                continue
            where = mappings.changed_at(change, value)
            looped = bool(loops(change.file, change.region)) or (
                change.kind != "set"
                and change.scope != site.scope
                and called_in_loop(self.world, change.file, change.scope)
            )
            if change.kind in ("extend", "merge"):
                traced = self.trace(change.value, where)
                if traced is not None and traced.kind not in _SOURCES:
                    return Held(replace(traced, seen=True), None, _statement(change))
                # `rows += [row]` adds one like `rows.append(row)`.
                if looped and isinstance(change.value, (List, Tuple)):
                    added = (self.object(one, where, 0) for one in change.value.elements)
                    reading = next((one for one in added if one is not None), None)
                    if reading is not None:
                        return Held(reading, None, _statement(change))
                held = self._filled_inside(value, change.value, where, depth)
                if held is not None:
                    return held
                continue
            if looped:
                reading = self.object(change.value, where, 0) or self._for_each_record(change.value, where)
                if (reading := of_groups(self, reading, loops_around(change), where)) is not None:
                    return Held(reading, None, _statement(change))
            traced = self.trace(change.value, where)
            if traced is not None and traced.level == 0 and traced.kind not in _SOURCES:
                return Held(traced, None, _statement(change))
            if traced is not None and looped and _is_cell(traced):
                # Whether it is a text or a number shows where workers read it.
                cells = isinstance(value, Display)
                return Held(replace(traced, kind=COLUMN, level=0), None, _statement(change), cells=cells)
            held = self._filled_inside(value, change.value, where, depth)
            if held is not None:
                return held
        return None

    def _for_each_record(self, expr: Expr, site: Site) -> Reading | None:
        """The reading iterated by a loop that adds a new tuple, list or dict per record, whatever it contains:
        `triples.append((entities[head], tail))`, `rows.append(list(map(float, row)))`."""
        if not makes_container(self.world, expr, site):
            return None
        for region in loops(site.file, site.region):
            found = self._looped_over(site.file.facts.regions[region], site, 0)
            if found is not None and found.kind in _ROW_BY_ROW:
                return _as_rows(found)
        return None

    def _new_for_each_record(self, expr: Comprehension, site: Site) -> Reading | None:
        """The same for a comprehension: `[(index, int(line)) for index, line in enumerate(file)]`."""
        if expr.kind == "generator" or not makes_container(self.world, expr.element, inside(expr, site)):
            return None
        found = self._gone_through(expr.clauses[0].iterable, site, 0)
        if found is None or found.kind not in _ROW_BY_ROW:
            return None
        return _as_rows(found)

    def _looped_over(self, region: Region, site: Site, depth: int) -> Reading | None:
        if region.kind != "for" or region.expr is None:
            return None
        around = site._replace(region=region.parent, at=region.span.start)
        return self._gone_through(region.expr, around, depth)

    def _gone_through(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading that has one item per iteration of a loop over an expression."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return None
        # A loop may add to the list that it iterates: `for node in nodes: nodes.append((node, depth))`.
        if (expr, site) in self._iterated:
            return None
        self._iterated.add((expr, site))
        try:
            return self._per_iteration(expr, site, depth)
        finally:
            self._iterated.remove((expr, site))

    def _per_iteration(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        found = self.trace(expr, site) or self.of_container(expr, site)
        if found is not None:
            # Iterating a table gives its columns, and iterating a column its cells.
            return replace(found, kind=COLUMN) if found.kind == FRAME and is_column(without_values(expr)) else found
        for value in self.world.values.evaluate(expr, site):
            made = value.written.expr if isinstance(value, Display) else None
            if isinstance(value, Display) and isinstance(made, Comprehension) and len(made.clauses) == 1:
                found = self._gone_through(made.clauses[0].iterable, value.written.site, depth + 1)
                if found is not None:
                    return found
            elif isinstance(value, Display):
                for change in islice(self.datasets.filling(value), limits.CHANGES.most):
                    where = self.world.mappings.changed_at(change, value)
                    turns = loops(change.file, change.region) if change.kind == "add" else []
                    found = self._looped_over(change.file.facts.regions[turns[0]], where, depth + 1) if turns else None
                    if found is not None:
                        return found
        return None

    def _filled_inside(self, value: Display | Mapping, expr: Expr, site: Site, depth: int) -> Held | None:
        """The objects in a container of the program that is an element of another one, or is added to it."""
        for one in self.world.values.evaluate(expr, site):
            made = self.world.mappings.values_of(one) if isinstance(one, Instance) else None
            if one != value and (isinstance(one, (Display, Mapping)) or made is not None):
                held = self._collection(one, depth + 1)
                if held is not None:
                    return held
        return None

    def object(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading that an element comes from, if it is a string, a record or a container of these.

        The type of a single cell of a table is unknown: it may be a number.
        """
        if limits.COUNTING_DEPTH.reached(depth):
            return None
        # Each part of an object may have many values, each with parts of its own.
        key = (expr, site, depth)
        return self.world.memory.remember(self._objects, key, lambda: self._find_object(expr, site, depth), None)

    def _find_object(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        expr = as_display(expr, site.file)
        if isinstance(expr, Dict):
            return self._record(expr, site, depth) or self._built(expr, site, depth)
        if isinstance(expr, (Tuple, List)):
            found = next((found for one in expr.elements if (found := self.object(one, site, depth + 1))), None)
            return found or self._built(expr, site, depth)
        if isinstance(expr, Comprehension) and expr.kind != "generator":
            within = inside(expr, site)
            for target in (part for clause in expr.clauses for part in without_calls(clause.target)):
                if isinstance(target, Name) and (found := self.trace(target, within)) is not None:
                    return found.gone_through() if found.kind != HANDLE else None
            found = self.object(expr.element, within, depth + 1)
            return found.gone_through() if found is not None else self._new_for_each_record(expr, site)
        found = self.trace(expr, site)
        if found is None:
            return self._built(expr, site, depth)
        # A table of pyarrow or polars holds no Python objects, wherever it is kept.
        if found.kind == HANDLE or (found.kind == COLUMNS and not found.level):
            return None
        return None if not depth and (found.kind == FRAME or (found.kind == ROWS and _is_cell(found))) else found

    def _record(self, expr: Dict, site: Site, depth: int) -> Reading | None:
        """The reading that an entry of a dict comes from, with the keys of all entries that come from one."""
        found: Reading | None = None
        under: set[str] = set()
        for key, one in expr.items:
            part = self.object(one, site, depth + 1)
            if part is None:
                continue
            found = found or part
            if not isinstance(key, Constant) or not isinstance(key.value, str):
                return replace(found, under=frozenset())
            under.add(key.value)
        return None if found is None else replace(found, under=frozenset(under))

    def _built(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading from which the parts of a list or dict come, if a function returns it or other statements fill
        it."""
        for value in self.world.values.evaluate(expr, site):
            if isinstance(value, Instance) and (found := self._with_fields(value, expr, site, depth)) is not None:
                return found
            if not isinstance(value, (Display, Mapping)):
                continue
            written = value.written
            display = as_display(written.expr, written.site.file)
            if isinstance(display, CallRef) and written.site.file.calls[display.index].args:
                found = self.through_call(display.index, written.site)
                if found is not None:
                    return found
            if written.expr is not expr and not isinstance(display, CallRef):
                found = self.object(display, written.site, depth + 1)
                if found is not None:
                    return found
            for change in islice(self.datasets.filling(value), limits.CHANGES.most):
                if change.value is not None and change.kind in ("set", "add", "default"):
                    where = self.world.mappings.changed_at(change, value)
                    found = self.object(change.value, where, depth + 1) or self._for_each_record(change.value, where)
                    if found is not None:
                        return found
                elif change.value is not None and change.kind in ("merge", "extend"):
                    where = self.world.mappings.changed_at(change, value)
                    held = self._filled_inside(value, change.value, where, depth)
                    if held is not None and held.reading is not None:
                        return held.reading
        return None

    def _with_fields(self, value: Instance, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading that the constructor arguments of an object come from, of a class of the project or a named
        tuple: `Example(row["text"], row["label"])`, `Example(**row)`."""
        parts: list[tuple[Expr, Site]] = []
        if isinstance(value.of, Class) and value.file is not None and value.call >= 0:
            # A configuration names a few datasets: each reads its own items.
            if any(map(is_dataset_base, self.world.hierarchy.externals(value.of))):
                return None
            actuals = self.world.made_with(value)
            given = (*actuals.positional, *actuals.rest, *actuals.keywords.values(), *actuals.mappings)
            parts += ((one.expr, one.site) for one in given if one.expr is not None and one.site is not None)
        elif isinstance(value.of, External) and value.of.name in _NAMED_FIELDS and isinstance(expr, CallRef):
            # The value of a call of such a class is identified by the call that creates the class.
            parts += ((one.value, site) for one in site.file.calls[expr.index].args if value.call != expr.index)
        return next((found for part, at in parts if (found := self.object(part, at, depth + 1)) is not None), None)

    # Sizes

    def _generated(self, value: Display | Mapping, element: Expr) -> int | None:
        """An estimated size in bytes of a comprehension's result over known numbers; None if its elements are no
        objects or their number is unknown."""
        each = object_bytes(element, value.written.site.file)
        if each is None or (count := items(self.datasets, value)) is None:
            return None
        return count * (each + POINTER)


def _spread(expr: Expr | None) -> list[Expr]:
    """The collections that a display takes over: `[*first, *second]`, `{**first, **second}`."""
    if isinstance(expr, Dict):
        return [entry for key, entry in expr.items if key is None]
    if isinstance(expr, (List, Tuple, Set)):
        return [one.value for one in expr.elements if isinstance(one, Starred)]
    return []


def _is_cell(reading: Reading) -> bool:
    """Whether a reading is a single cell of a table."""
    return (reading.kind == ROWS and reading.level > 1) or (reading.kind == COLUMN and reading.level == 1)


def _as_rows(reading: Reading) -> Reading:
    """The reading as the source of new objects, one per row or line of it."""
    kind = {HANDLE: LINES, COLUMN: ROWS}.get(reading.kind, reading.kind)
    return replace(reading, kind=kind, level=0, seen=True)


def _statement(change: Change) -> tuple[SourceFile, Span] | None:
    """The statement that changes a container, with its file."""
    span = change.statement()
    return None if span is None else (change.file, span)
