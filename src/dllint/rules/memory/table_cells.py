"""Cells of tables that are Python objects, as the operations of the workers show: strings that they split, lists that
they iterate or slice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, Name, Slice, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import COLUMN_MARK, Class, External, Instance, Value
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.libraries.index import AROUND_ITERABLES
from dllint.libraries.pandas import FRAME_KEEPING, INDEXERS, NO_COLUMNS
from dllint.libraries.records import EVALUATING
from dllint.linking.expressions import without_calls
from dllint.linking.source import last_name
from dllint.project.item_code import By
from dllint.project.item_expressions import adds_a_list
from dllint.project.path_use import takes_path
from dllint.project.record_fields import fields_taken
from dllint.rules.memory.records_per_item import WIDE
from dllint.rules.memory.row_parts import PATH, Part, RowReader, Uses, merge

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.item_code import ItemCode
    from dllint.project.item_run import ItemRun
    from dllint.project.kept_values import Kept

_STRING, _SEQUENCE = "string", "sequence"
_BY: tuple[By, ...] = ("index", "drawn")

_OF_STRINGS = (OF_STRING | SPLITTING | PARTING | {"startswith", "endswith"}) - {"replace"}
"""Methods that strings have, and neither numbers nor rows of a table."""

_PARSING = EVALUATING | {"loads"}
"""Last names of functions that turn a string into Python objects."""

_REPEATED = re.compile(
    r"path|file|dir$|folder|image|img|audio|wav|video|url|label|target|class|categor|type|kind|split|fold"
    r"|gender|sex|lang|speaker|name$|id$",
    re.IGNORECASE,
)
"""Names of columns that hold paths, or few different strings, which pandas keeps once for all rows of a chunk."""


def cells_are_objects(world: World, code: ItemCode, value: Instance, attr: str, holder: Class) -> bool:
    """Whether workers use a cell in the row of an item as a string that is no path, or as a list."""
    strings: Uses = {}
    sequences: Uses = {}
    looked_up = (one for by in _BY for one in code.items(value, attr, holder, by))
    for run, items in looked_up:
        rows = {item: _cell(run, item, attr) for item in items if not _is_slice(item)}
        uses = _CellReader(world, run.file, run.scope, {}, rows, 0).uses()
        merge(strings, uses)
        # What is looked up by anything else may be several rows, whose columns have a length, and which give no path.
        if not any(part and PATH in kinds for part, kinds in uses.items()):
            single = {item: part for item, part in rows.items() if _is_by_number(run, item)}
            uses = _CellReader(world, run.file, run.scope, {}, single, 0).uses()
        merge(sequences, uses)
    return any(_is_object(part, kinds, _STRING) for part, kinds in strings.items()) or any(
        _is_object(part, kinds, _SEQUENCE) for part, kinds in sequences.items()
    )


def rows_are_objects(world: World, code: ItemCode, value: Instance, kept: Kept, holder: Class) -> bool:
    """Whether an attribute is a whole table as one array, `table.values`, of whose rows workers take several fields
    and use one as a text or a path: then each cell is an object of its own, the numbers too."""
    if not kept.values or not all(map(_is_array_of_table, kept.values)):
        return False
    if len(fields_taken(code, value, kept.attr, holder)) < WIDE:
        return False
    uses: Uses = {}
    for run, items in code.items(value, kept.attr, holder):
        merge(uses, _PathReader(world, run.file, run.scope, {}, dict.fromkeys(items, ()), 0).uses())
    return any(part and PATH in kinds for part, kinds in uses.items())


def _is_array_of_table(value: Value) -> bool:
    made = value.of if isinstance(value, Instance) else value
    name = made.name if isinstance(made, External) else ""
    return COLUMN_MARK not in name and name.endswith((".values", ".to_numpy"))


def _is_object(part: Part, kinds: set[str], kind: str) -> bool:
    return kind in kinds and PATH not in kinds and not any(_REPEATED.search(str(key)) for key in part)


def _is_slice(item: Expr) -> bool:
    index = item.index if isinstance(item, Subscript) else None
    parts = index.elements if isinstance(index, Tuple) else (index,)
    return any(isinstance(part, Slice) for part in parts)


def _is_by_number(run: ItemRun, item: Expr) -> bool:
    index = item.index if isinstance(item, Subscript) else None
    parts = index.elements if isinstance(index, Tuple) else (index,)
    return any(part is not None and run.direct(part) for part in parts)


def _cell(run: ItemRun, item: Expr, attr: str) -> Part:
    """The part of a row that a look-up gives: the column of `table.loc[index, "text"]` and `table["text"][index]`, the
    whole row where it names no column."""
    if not isinstance(item, Subscript):
        return ()
    named = item.index.elements if isinstance(item.index, Tuple) else ()
    for key in named:
        if isinstance(key, Constant):
            return (key.value,)
    base = item.value
    while isinstance(base, Attribute) and base.attr in INDEXERS and base.attr != attr:
        base = base.value
    if isinstance(base, Subscript) and isinstance(base.index, Constant):
        return (base.index.value,)
    if isinstance(base, Attribute) and base.attr != attr and base.value != Name(run.receiver):
        return (base.attr,)
    return ()


class _PathReader(RowReader):
    """A function that receives rows of a table, where only what a call needs a path for is one: numbers are added,
    too."""

    def uses(self) -> Uses:
        found = super().uses()
        for index in self.file.calls_of(self.scope):
            if not takes_path(self.world, self.file, index):
                continue
            call = self.file.calls[index]
            for one in (one for argument in call.args for one in without_calls(argument.value)):
                if (part := self.part_of(one, call.span.start)) is not None:
                    found.setdefault(part, set()).add(PATH)
        return found

    def _inside(self, expr: Expr, at: tuple[int, int], found: Uses) -> None:
        pass


class _CellReader(RowReader):
    """A function that receives rows of a table, or cells of them."""

    def part_of(self, expr: Expr, at: tuple[int, int]) -> Optional[Part]:
        if isinstance(expr, Attribute) and expr not in self.rows:
            base = self.part_of(expr.value, at)
            column = expr.attr not in FRAME_KEEPING | NO_COLUMNS | INDEXERS
            return (expr.attr,) if base == () and column else None
        return super().part_of(expr, at)

    def uses(self) -> Uses:
        found = super().uses()
        for part, kind in self._operations():
            found.setdefault(part, set()).add(kind)
        return found

    def _operations(self) -> Iterator[tuple[Part, str]]:
        """The parts on which the function uses an operation of strings or lists."""
        for index in self.file.calls_of(self.scope):
            call = self.file.calls[index]
            at = call.span.start
            last = last_name(call.func)
            if isinstance(call.func, Attribute) and call.func.attr in _OF_STRINGS:
                part = self.part_of(call.func.value, at)
                if part is not None:
                    yield part, _STRING
            for argument in call.args:
                part = self.part_of(argument.value, at)
                if part and call.func == Name("len"):
                    yield part, _SEQUENCE
                elif part is not None and last in _PARSING:
                    yield part, _STRING
                yield from self._inside_of(argument.value, at)
        for event in self.file.scopes[self.scope].events:
            if event.value is None:
                continue
            at = event.span.start
            if event.kind == "for":
                for one in self._iterated(event.value):
                    if part := self.part_of(one, at):
                        yield part, _SEQUENCE
            yield from self._inside_of(event.value, at)

    def _iterated(self, expr: Expr) -> Iterator[Expr]:
        yield expr
        if isinstance(expr, CallRef) and last_name(self.file.calls[expr.index].func) in AROUND_ITERABLES:
            for argument in self.file.calls[expr.index].args:
                yield from self._iterated(argument.value)

    def _inside_of(self, expr: Expr, at: tuple[int, int]) -> Iterator[tuple[Part, str]]:
        """The parts that an expression slices, or makes longer by a list."""
        for one in without_calls(expr):
            sliced = one.value if isinstance(one, Subscript) and isinstance(one.index, Slice) else None
            sides = (one.left, one.right) if isinstance(one, BinOp) and one.op == "+" and adds_a_list(one) else ()
            for side in (sliced, *sides):
                if side is not None and (part := self.part_of(side, at)):
                    yield part, _SEQUENCE
