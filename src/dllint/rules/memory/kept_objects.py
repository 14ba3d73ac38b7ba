"""The attributes of a dataset that hold many Python objects which its workers look up by item."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dllint.facts.nodes import CallRef
from dllint.inference.values import CHOSEN, Class, External, Instance, Mapping, Value
from dllint.libraries.index import READERS, canonical
from dllint.libraries.records import COLUMN, LINES, OPAQUE, RECORDS, ROWS, TABLE, TEXT
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.arrays import Array
from dllint.project.class_keys import holds_classes, is_beside_constants, is_of_class
from dllint.project.item_code import By, ItemCode
from dllint.project.item_operations import are_lists_or_strings
from dllint.project.item_texts import named_as_text, speaks_of_text, taken_as_text
from dllint.project.kept_values import Keeping, Kept
from dllint.project.path_use import used_as_path
from dllint.project.record_fields import fields_taken, goes_into_fields
from dllint.rules.memory.compared_columns import compared_with_texts
from dllint.rules.memory.keyed_by_tuples import KeyedByTuples
from dllint.rules.memory.listed_positions import looked_up_by_positions
from dllint.rules.memory.objects_from_files import Records
from dllint.rules.memory.path_lists import are_numbers, are_paths, holds_paths, lists_paths, unpacks_paths
from dllint.rules.memory.readings import Held, Reading
from dllint.rules.memory.records_per_item import WIDE, RecordsPerItem
from dllint.rules.memory.row_parts import used_parts
from dllint.rules.memory.table_cells import cells_are_objects, rows_are_objects
from dllint.rules.memory.table_columns import column_name
from dllint.rules.memory.tables import kept_table
from dllint.span import Span

_TEXTS = frozenset({LINES, TEXT, ROWS, COLUMN, RECORDS})
"""Kinds of readings that texts under the names of items may come from."""


def many_objects(project: Project, value: Instance) -> Iterator[tuple[Keeping, Held]]:
    """The attributes of a dataset that hold many Python objects which its workers iterate or index."""
    code = project.item_code
    for keeping in project.datasets.keeps(value):
        kept, holder = keeping.kept, keeping.holder.of
        if not keeping.initial or not isinstance(holder, Class):
            continue
        contents = project.ask(_Contents).of(kept)
        collected = contents.collected
        of_arrays = collected is not None and not _may_be_objects(project, collected)
        if of_arrays and not _are_beside(project, value, kept, holder):
            continue
        if contents.table is not None and reads_texts(project, value, kept, holder):
            yield keeping, contents.table
            continue
        of_records = any(ask(value, kept.attr, holder) for ask in (code.has_fields, code.has_attributes))
        if not of_records and contents.array is not None:
            continue
        held = contents.held
        known = held is not None and not _is_unclear(project, value, kept, holder, held, collected)
        if not known:
            # Whatever a pickle holds, records that the program makes of it are known by how they are made.
            held = _made(project, value, kept, holder)
        if held is not None and (not known or _looked_up(project, value, kept, holder, held)):
            yield keeping, held


class _Content:
    """What an attribute holds, whichever dataset reads it."""

    def __init__(self, project: Project, kept: Kept) -> None:
        self._project = project
        self._kept = kept

    @cached_property
    def collected(self) -> Array | None:
        return self._project.collected.many(self._kept.values)

    @cached_property
    def table(self) -> Held | None:
        return kept_table(self._project.ask(Records), self._kept)

    @cached_property
    def array(self) -> Array | None:
        return self._project.arrays.kept(self._kept.values, self._kept.store.value, self._kept.site)

    @cached_property
    def held(self) -> Held | None:
        return self._project.ask(Records).kept(self._kept)


class _Contents:
    """What the attributes of a project hold: an object inside many datasets is looked into once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, _Content] = {}

    def of(self, kept: Kept) -> _Content:
        # By identity, as a hash would walk through all values. The content refers to it, so its number stays its own.
        found = self._known.get(id(kept))
        if found is None:
            found = self._known[id(kept)] = _Content(self._project, kept)
        return found


def reads_texts(project: Project, value: Instance, kept: Kept, holder: Class) -> bool:
    """Whether workers read texts, or other Python objects, in the cells of a table."""
    code = project.item_code
    return (
        named_as_text(code, value, kept.attr, holder)
        or cells_are_objects(project.world, code, value, kept.attr, holder)
        or compared_with_texts(code, value, kept.attr, holder)
        or rows_are_objects(project.world, code, value, kept, holder)
    )


def _made(project: Project, value: Instance, kept: Kept, holder: Class) -> Held | None:
    """The objects of an attribute that are known by how the program fills it."""
    filled = _under_tuples(project, value, kept, holder)
    if filled is not None:
        return Held(None, None, filled, keys=True)
    filled = project.ask(RecordsPerItem).filled(value, kept, holder)
    if filled is None:
        return None
    return Held(None, None, filled, tensors=any(many.kept == kept for many in project.tensors.many(value)))


def _is_unclear(
    project: Project, value: Instance, kept: Kept, holder: Class, held: Held, collected: Array | None
) -> bool:
    """Whether objects come from a file of any content, and nothing that workers do with them tells more."""
    code, reading = project.item_code, held.reading
    if reading is None or reading.kind != OPAQUE:
        return False
    if collected is not None or _is_chosen(project, value):
        return True
    by_field = any(ask(value, kept.attr, holder) for ask in (code.has_fields, code.drawn, code.has_attributes))
    by_field = by_field or goes_into_fields(code, value, kept.attr, holder)
    by_field = by_field or _have_named_fields(project, value, kept.attr, holder)
    by_field = by_field or looked_up_by_positions(project, value, kept.attr, holder)
    # A list of classes is a list of numbers, which a file of any content gives as well.
    seen = reading.seen and not holds_classes(kept.attr)
    return not seen and not by_field and not are_lists_or_strings(code, value, kept.attr, holder)


def _have_named_fields(project: Project, value: Instance, attr: str, holder: Class) -> bool:
    """Whether workers read several named fields of the items of an attribute, in functions that get them, too."""
    parts = used_parts(project.world, project.item_code, value, attr, holder)
    return sum(isinstance(part[0], str) for part in parts if part) > 1


def _looked_up(project: Project, value: Instance, kept: Kept, holder: Class, held: Held) -> bool:
    """Whether workers look up the objects of an attribute, one or some for each item, and not as paths."""
    code, reading = project.item_code, held.reading
    by_item = _by_item(code, value, kept.attr, holder)
    by_positions = not by_item and looked_up_by_positions(project, value, kept.attr, holder)
    if reading is None and held.size is None and not by_positions and not _one_per_item(project, value, kept, holder):
        return False
    by_item = by_item or by_positions
    keyed = not by_item and _by_item(code, value, kept.attr, holder, "key")
    if keyed:
        texts_of_items = reading is not None and reading.kind in _TEXTS
        records_of = reading is not None and reading.kind in (RECORDS, OPAQUE)
        parsed = reading is not None and reading.kind == RECORDS
        nested = records_of and goes_into_fields(code, value, kept.attr, holder, numbered=parsed)
        texts_of_items = texts_of_items and named_as_text(code, value, kept.attr, holder, "key")
        by_item = nested or texts_of_items or project.ask(Records).grouped(kept)
    whole = (reading is not None and reading.kind == TABLE) or code.measured(value, kept.attr, holder)
    if not by_item and not (whole and code.read(value, kept.attr, holder)):
        return False
    if reading is None:
        return True
    if _makes_paths(project, value, kept.attr, reading, holder):
        return False
    if reading.kind == LINES and not reading.under and are_numbers(project.world, code, value, kept.attr, holder):
        return False
    by: By = "key" if keyed else "index"
    texts = (ask(code, value, kept.attr, holder, by) for ask in (taken_as_text, named_as_text))
    of_texts = speaks_of_text(column_name(kept.store.value, kept.site.file))
    return reading.kind != COLUMN or of_texts or any(texts)


def _by_item(code: ItemCode, value: Instance, attr: str, holder: Class, by: By = "index") -> bool:
    """Whether workers look up what belongs to an item, and not to its class, or iterate over it all."""
    items = ((run, one) for run, found in code.items(value, attr, holder, by) for one in found)
    if any(not is_of_class(run, one) and not is_beside_constants(run, one) for run, one in items):
        return True
    return by == "index" and any(ask(value, attr, holder) for ask in (code.iterated, code.drawn))


def _is_chosen(project: Project, value: Instance) -> bool:
    """Whether an unknown name chooses the class of an object, so that its arguments may be meant for another class."""
    if value.file is None or value.call < 0:
        return False
    site = project.world.call_site(value.file, value.call, None)
    return CHOSEN in project.world.values.evaluate(value.file.calls[value.call].func, site)


def _under_tuples(project: Project, value: Instance, kept: Kept, holder: Class) -> tuple[SourceFile, Span] | None:
    """The statement that fills a dict under tuples of fields of the items, which workers look it up by."""
    if not project.item_code.keyed(value, kept.attr, holder):
        return None
    items = project.ask(_Items).of(value)
    places = [project.ask(KeyedByTuples).filled(one, items) for one in kept.values]
    return next((place for place in places if place is not None), None) if all(places) else None


class _Items:
    """The containers of a dataset that its workers index by item."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[Instance, list[Value]] = {}

    def of(self, value: Instance) -> list[Value]:
        found = self._known.get(value)
        if found is None:
            code = self._project.item_code
            kept = (one for one in self._project.datasets.kept(value) if one.initial and code.indexed(value, one.attr))
            found = self._known[value] = [held for one in kept for held in one.values]
        return found


def _one_per_item(project: Project, value: Instance, kept: Kept, holder: Class) -> bool:
    """Whether an attribute has one element per item of the dataset: a dict has, where the numbers of items are keys."""
    code, attr = project.item_code, kept.attr
    numbers = any(isinstance(one, Mapping) for one in kept.values)
    known = (ask(value, attr, holder) for ask in (code.measured, code.numbered))
    return code.indexed(value, attr, holder) and (numbers or any(known))


def _may_be_objects(project: Project, array: Array) -> bool:
    """Whether what counts as an array is whatever a file contains: `torch.load` of one format of several."""
    site = project.world.call_site(array.file, array.call, array.frame)
    values = project.world.values.evaluate(CallRef(array.call), site)
    names = (one.of.name for one in values if isinstance(one, Instance) and isinstance(one.of, External))
    return any(READERS.get(canonical(name)) == OPAQUE for name in names)


def _are_beside(project: Project, value: Instance, kept: Kept, holder: Class) -> bool:
    """Whether the records with the arrays hold objects that a file's text gives, too: `{"frames": frames, "captions":
    captions}`."""
    if not project.item_code.has_fields(value, kept.attr, holder):
        return False
    held = project.ask(Records).kept(kept)
    return held is not None and held.reading is not None and bool(held.reading.under)


def _makes_paths(project: Project, value: Instance, attr: str, reading: Reading, holder: Class) -> bool:
    """Whether the workers make paths from the lines or table rows that an attribute holds."""
    code, kind = project.item_code, reading.kind
    if kind in (LINES, ROWS) and len(fields_taken(code, value, attr, holder)) >= WIDE:
        return False
    if kind == LINES and reading.under:
        of_paths = holds_paths(project.world, code, value, attr, reading.under, holder)
        return of_paths and not named_as_text(code, value, attr, holder)
    # Where a decorator hides which index workers look up, every look-up counts.
    by: By = "index" if code.indexed(value, attr, holder) else "any"
    if kind == LINES and used_as_path(code, value, attr, holder, by):
        # A line of a path and its transcript is read by its fields, and only one of them is a path.
        return not named_as_text(code, value, attr, holder)
    if kind == RECORDS and unpacks_paths(project.world, code, value, attr, holder):
        return True
    asked = lists_paths if kind in (LINES, ROWS, COLUMN) else are_paths
    return asked(project.world, code, value, attr, holder)
