"""Lists and dicts into which a dataset puts one record per item, whatever its records come from: they are known by how
they are filled and by how workers read them."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import CallRef, Comprehension, Constant, Dict, Element, List, Name, Starred, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference import fields, limits
from dllint.inference.all_entries import inside
from dllint.inference.answers import Table
from dllint.inference.entries import Change
from dllint.inference.iteration import element
from dllint.inference.origins import Step
from dllint.inference.values import (
    NONE,
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Mapping,
    Site,
    Unknown,
    Value,
)
from dllint.libraries.index import READERS, RECORD_MAKERS, canonical
from dllint.libraries.records import RECORDS, gives_tokens
from dllint.linking.expressions import as_display
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.counting import called_in_loop, items, loops
from dllint.project.item_texts import named_as_text
from dllint.project.kept_values import Kept
from dllint.project.path_use import used_as_path
from dllint.project.record_fields import fields_taken
from dllint.rules.memory.derived_lists import Mapped, lists_behind
from dllint.rules.memory.listed_positions import looked_up_by_positions
from dllint.rules.memory.objects_made_in_loops import MadeInLoops, stays_empty
from dllint.rules.memory.record_shapes import RecordShapes
from dllint.rules.memory.row_parts import PATH, Uses, used_parts
from dllint.span import Span

_FEW = 3
"""Fields beside a path from which on a record is more than a labelled path."""

WIDE = 4
"""Fields, a path among them, from which on a record of strings, or of other records, or a dict whose fields the source
shows, is more than a labelled path."""

_Place = tuple[SourceFile, Span]


class RecordsPerItem:
    """Finds attributes with one record per item that the origin of their contents does not tell."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.in_loops = MadeInLoops(project.datasets)
        self.mapped = Mapped(project.datasets)
        self.shapes = RecordShapes(project.world, lambda value: self._place(value, 1) is not None)
        self._grown: Table[_Place | None] = {}

    def filled(self, value: Instance, kept: Kept, holder: Class) -> _Place | None:
        """Where an attribute gets its records; None if it may hold anything else, paths above all."""
        code = self.project.item_code
        by_positions = not code.indexed(value, kept.attr, holder)
        if by_positions and not looked_up_by_positions(self.project, value, kept.attr, holder):
            return None
        known = [one for held in kept.values for one in lists_behind(self.world, held)]
        known = [one for one in known if not isinstance(one, (Const, Unknown))]
        # An empty list beside others is what is there before they are made.
        known = [one for one in known if not stays_empty(self.project.datasets, one)]
        places = [self._place(one, 0) for one in known]
        if not places or not all(places):
            return None
        if by_positions:
            return places[0] if all(map(self._has_many_entries, known)) else None
        # What a dict has under the key of an item may be its number.
        lists = all(isinstance(one, Display) or self.mapped.results(one) for one in known)
        texts = lists and named_as_text(code, value, kept.attr, holder)
        taken_apart = lists and any(ask(value, kept.attr, holder) for ask in (code.read_by_name, code.unpacked))
        # A few scenes, or stores, have attributes too.
        one_each = lists and any(ask(value, kept.attr, holder) for ask in (code.measured, code.numbered))
        taken_apart = taken_apart or (one_each and code.has_attributes(value, kept.attr, holder))
        # Only what the source does not show is known by its use alone.
        by_use = texts or (taken_apart and not any(self._shows(one) for one in known))
        if not by_use and not all(self._holds_records(one, 0) for one in known):
            return None
        if not one_each and any(map(self._holds_stores, known)):
            return None
        parts = used_parts(self.world, code, value, kept.attr, holder)
        if not parts and not lists:
            return None
        paths = any(PATH in kinds for kinds in parts.values()) or used_as_path(code, value, kept.attr, holder)
        others = [part for part, kinds in parts.items() if part and PATH not in kinds]
        # Beside a path, a tuple of a few parts hardly holds more than labels.
        labelled = len(others) < WIDE and (
            not code.read_by_name(value, kept.attr, holder)
            or (len(others) < _FEW and not all(map(self._has_many_entries, known)))
        )
        taken = fields_taken(code, value, kept.attr, holder)
        nested = len(taken) >= WIDE and any(len(key) > 1 for key in taken)
        if paths and labelled and not nested and not self._has_collections(known, parts):
            return None
        return places[0]

    def _place(self, value: Value, depth: int) -> _Place | None:
        """Where a container grows with data."""
        if limits.COUNTING_DEPTH.exceeded(depth):
            return None
        if isinstance(value, Instance):
            if self.mapped.results(value) and value.file is not None:
                return value.file, value.file.calls[value.call].span
            # A defaultdict grows with the lists that it makes.
            inside = self.world.mappings.values_of(value) or ()
            return next((place for one in inside if (place := self._place(one, depth + 1)) is not None), None)
        if not isinstance(value, (Display, Mapping)):
            return None
        return self.world.memory.remember(self._grown, (value, depth), lambda: self._find(value, depth), None)

    def _find(self, value: Display | Mapping, depth: int) -> _Place | None:
        if limits.COUNTING_DEPTH.reached(depth) or items(self.project.datasets, value) is not None:
            return None
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Comprehension):
            return site.file, site.file.facts.regions[inside(expr, site).region].span
        for change in limits.CHANGES.first(list(self.project.datasets.filling(value))):
            if change.value is None:
                continue
            where = self.world.mappings.changed_at(change, value)
            if change.kind in ("add", "set") and self._looped(change, site):
                return change.place()
            if change.kind in ("extend", "merge"):
                if self._looped(change, site):
                    return change.place()
                for one in self.world.values.evaluate(change.value, where):
                    if self._place(one, depth + 1):
                        return change.place()
        if isinstance(expr, CallRef):
            for one in value.parts if isinstance(value, Display) else ():
                found = self._place(one, depth + 1)
                if found is not None:
                    return found
        return None

    def _looped(self, change: Change, made: Site) -> bool:
        return bool(loops(change.file, change.region)) or (
            change.scope != made.scope and called_in_loop(self.world, change.file, change.scope)
        )

    def _shows(self, value: Value) -> bool:
        """Whether the source shows a tuple, a dict, or an object of the project that is put into a container."""
        for expr, site in self._put_in(value, 0):
            if isinstance(as_display(expr, site.file), (Tuple, List, Dict)):
                return True
            made = self.world.values.evaluate(expr, site)
            if any(isinstance(one, Instance) and isinstance(one.of, Class) for one in made):
                return True
        return False

    def _holds_stores(self, value: Value) -> bool:
        """Whether what is put into a container is an object of the project that makes lists, perhaps of items."""
        made = (one for expr, site in self._put_in(value, 0) for one in self.world.values.evaluate(expr, site))
        return any(isinstance(one, Instance) and not self._is_plain(one) and self._keeps_lists(one) for one in made)

    def _has_many_entries(self, value: Value) -> bool:
        """Whether each record of a container is a dict with many entries."""
        records = list(self._put_in(value, 0))
        return bool(records) and all(self.shapes.varying(*one) >= WIDE for one in records)

    def _has_collections(self, known: list[Value], parts: Uses) -> bool:
        """Whether workers read a part of a record that is a list or dict of its own, and no list of paths."""
        paths = {part[0] for part, kinds in parts.items() if part and PATH in kinds}
        records = (record for one in known for record in self._put_in(one, 0))
        found = {key for record in records for key in self.shapes.collections(*record, paths)}
        # What returns a record as a whole, or copies it, reads all of it.
        return bool(found and (parts.get(()) or found & {part[0] for part in parts if part}))

    def _holds_records(self, value: Value, depth: int) -> bool:
        """Whether what a container holds is a tuple, list or dict of several parts, or an object of the project."""
        if limits.COUNTING_DEPTH.reached(depth):
            return False
        added = list(self._put_in(value, depth))
        if isinstance(value, Instance) and not added:
            return self._place(value, depth) is not None
        return bool(added) and all(self._is_record(expr, site, depth) for expr, site in added)

    def _put_in(self, value: Value, depth: int) -> Iterator[tuple[Expr, Site]]:
        """What a container gets, or a function returns for each element of it, and where."""
        if isinstance(value, (Display, Mapping)):
            yield from self._added(value, depth)
        else:
            yield from self.mapped.results(value)

    def _added(self, value: Display | Mapping, depth: int) -> Iterator[tuple[Expr, Site]]:
        expr, site = value.written.expr, value.written.site
        if isinstance(expr, Comprehension):
            yield expr.element, inside(expr, site)
        elif depth and isinstance(expr, (List, Tuple)):
            # `rows += [{"path": path, "boxes": boxes}]`
            yield from ((one, site) for one in expr.elements)
        for change in limits.CHANGES.first(list(self.project.datasets.filling(value))):
            if change.value is None:
                continue
            where = self.world.mappings.changed_at(change, value)
            if change.kind in ("add", "set"):
                yield change.value, where
            elif change.kind in ("extend", "merge") and not limits.COUNTING_DEPTH.reached(depth):
                for one in self.world.values.evaluate(change.value, where):
                    if isinstance(one, (Display, Mapping)):
                        yield from self._added(one, depth + 1)

    def _is_record(self, expr: Expr, site: Site, depth: int) -> bool:
        written = as_display(expr, site.file)
        if isinstance(written, (Tuple, List)):
            numbers = sum(self.in_loops.is_number(one, site) for one in written.elements)
            # A pair with a number is an item and its label.
            several = len(written.elements) > 2 or (len(written.elements) == 2 and not numbers)
            return several and not any(isinstance(one, Starred) for one in written.elements)
        if isinstance(written, Dict):
            return len(written.items) > 1
        if isinstance(written, CallRef) and gives_tokens(site.file.calls[written.index]):
            return True
        if isinstance(written, CallRef) and (self._returns_dict(written, site) or self._returns_tokens(written, site)):
            return True
        # A function that gives None for some items makes records of the others.
        values = [one for one in self.world.values.evaluate(expr, site) if one != NONE]
        if values and all(self._is_made_of_parts(one) for one in values):
            return True
        held = self._list_of(expr, site)
        return bool(held) and all(self._holds_records(one, depth + 1) for one in held)

    def _list_of(self, expr: Expr, site: Site) -> list[Value]:
        """The lists that an expression is an element of: a loop's variable, or a part of what it unpacks."""
        if isinstance(expr, Name):
            steps = [one for one in self.mapped.origins.expressions(expr, site) if isinstance(one, Step)]
            if len(steps) != 1:
                return []
            expr, site = steps[0].expr, steps[0].site
        if isinstance(expr, Subscript):
            expr = element(self.world, expr, site) or expr
        if not isinstance(expr, Element):
            return []
        values = self.world.values.evaluate(expr.value, site)
        return [one for held in values for one in lists_behind(self.world, held)]

    def _returns_dict(self, expr: CallRef, site: Site) -> bool:
        """Whether a function of the project returns what it puts several named entries into: `row["boxes"] = boxes`."""
        callees = self.world.calls.callees(site.file, expr.index, site.frame)
        return bool(callees) and all(isinstance(one, Function) and _returns_entries(one) for one in callees)

    def _returns_tokens(self, expr: CallRef, site: Site) -> bool:
        """Whether a function of the project returns the tokens of a text: `return tokenizer.encode(file.read())`."""
        callees = self.world.calls.callees(site.file, expr.index, site.frame)
        returned = [
            (event.value, one.file)
            for one in callees
            if isinstance(one, Function)
            for event in one.file.scopes[one.scope].events_of("return")
        ]
        return bool(returned) and all(
            isinstance(value, CallRef) and gives_tokens(file.calls[value.index]) for value, file in returned
        )

    def _is_plain(self, value: Instance) -> bool:
        """Whether an object is a mere record: its class declares its fields or has no methods but special ones, it was
        given several fields, and it makes neither a path nor an array of them."""
        if not isinstance(value.of, Class) or not self.in_loops.is_record(value.of):
            return False
        if value.file is None or value.call < 0:
            # An annotation tells the class.
            return fields.has_fields(self.world, value.of) and len(fields.names(self.world, value.of)) > 1
        given = value.file.calls[value.call].args
        site = self.world.call_site(value.file, value.call, value.frame)
        # What is unpacked fills the fields that the class declares.
        unpacked = any(one.keyword in ("*", "**") for one in given) and len(fields.names(self.world, value.of)) > 1
        return (
            (unpacked or sum(not self.in_loops.is_number(one.value, site) for one in given) > 1)
            and (
                fields.has_fields(self.world, value.of)
                or all(name.startswith("__") for name in self.world.hierarchy.own_methods(value.of))
            )
            and not any(_is_object(one) for kept in self.project.datasets.kept(value) for one in kept.values)
        )

    def _keeps_lists(self, value: Instance) -> bool:
        """Whether an object of the project, other than a dataset, makes lists when it is constructed."""
        datasets = self.project.datasets
        if not isinstance(value.of, Class) or datasets.derives(value.of) or value.file is None or value.call < 0:
            return False
        return any(
            kept.initial and kept.owner is not None and any(map(self.shapes.is_own, kept.values))
            for kept in datasets.kept(value)
        )

    def _is_made_of_parts(self, value: Value) -> bool:
        if isinstance(value, Instance) and isinstance(value.of, External):
            return canonical(value.of.name) in RECORD_MAKERS
        if isinstance(value, Instance):
            return self._is_plain(value) or self._keeps_lists(value)
        if not isinstance(value, (Display, Mapping)):
            return False
        written = as_display(value.written.expr, value.written.site.file)
        if isinstance(written, (Tuple, List, Dict)):
            parts = written.items if isinstance(written, Dict) else written.elements
            if len(parts) > 1:
                return True
        return self._place(value, 1) is not None


def _is_object(value: Value) -> bool:
    """Whether a value is an object of a library, other than a number or what a file of records has in it."""
    if not isinstance(value, Instance) or not isinstance(value.of, External):
        return False
    whole, _, part = canonical(value.of.name).partition("[]")
    of_records = READERS.get(whole) == RECORDS and set(part) <= {"[", "]"}
    return not of_records and not value.of.name.endswith(".item")


def _returns_entries(function: Function) -> bool:
    events = function.file.scopes[function.scope].events
    returned = [one.value for one in events if one.kind == "return" and one.value is not None]
    entries = [
        (one.target.value, one.target.index.value)
        for one in events
        if isinstance(one.target, Subscript)
        and isinstance(one.target.index, Constant)
        and isinstance(one.target.index.value, str)
    ]
    named = [{key for base, key in entries if base == one} for one in returned if isinstance(one, Name)]
    return bool(named) and len(named) == len(returned) and all(len(keys) > 1 for keys in named)
