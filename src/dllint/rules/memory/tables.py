"""Tables that an attribute keeps, and the rows and cells of tables in a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dllint.facts.nodes import CallRef, Name
from dllint.facts.schema import Expr
from dllint.inference.entries import Change
from dllint.inference.values import External, Instance, Site, Unknown
from dllint.libraries.index import canonical
from dllint.libraries.records import COLUMN, FRAME, HUB, ROWS
from dllint.linking.expressions import walk
from dllint.project.counting import loops
from dllint.project.kept_values import Kept
from dllint.rules.memory.readings import Held, Reading, Readings
from dllint.rules.memory.table_columns import is_column, without_values


def listed_rows(records: Readings, kept: Kept) -> Reading | None:
    """The reading whose rows `list(load_dataset(path))`, or whose cells `list(table["text"])`, makes objects of;
    None for anything else."""
    made = kept.store.value
    call = kept.site.file.calls[made.index] if isinstance(made, CallRef) else None
    if call is None or call.func not in (Name("list"), Name("tuple"), Name("sorted")) or not call.args:
        return None
    rows = call.args[0].value
    found = records.trace(rows, kept.site)
    if found is not None and found.kind == FRAME and is_column(rows):
        return replace(found, kind=COLUMN, level=0)
    return replace(found, kind=ROWS, level=0, seen=True) if found is not None and found.kind == HUB else None


def of_groups(records: Readings, reading: Reading | None, around: Iterable[Expr | None], site: Site) -> Reading | None:
    """The reading of a column as lists where loops go through the groups of a table and list the column of each:
    `[group["item"].tolist() for _, group in table.groupby("user")]`."""
    if reading is None or reading.kind != COLUMN or reading.level:
        return reading
    parts = (part for loop in around if loop is not None for part in walk(loop, site.file))
    values = (value for part in parts for value in records.world.values.evaluate(part, site))
    grouped = any(
        isinstance(one, Instance) and isinstance(one.of, External) and ".groupby" in one.of.name for one in values
    )
    return replace(reading, kind=ROWS) if grouped else reading


def loops_around(change: Change) -> Iterator[Expr | None]:
    """What the loops around a mutation of a container go through."""
    for one in loops(change.file, change.region):
        yield change.file.facts.regions[one].expr


def kept_table(records: Readings, kept: Kept) -> Held | None:
    """The table of pandas that an attribute keeps, or a column of it, whose strings are Python objects."""
    written = kept.store.value
    if listed_rows(records, kept) is not None:
        return None
    for value in kept.values:
        reading = (
            records.of_instance(value) or _array_of_column(records, value) if isinstance(value, Instance) else None
        )
        # `frame.text` and `frame["text"].values` are attributes of what is external.
        if reading is None and isinstance(value, (Unknown, External)) and written is not None:
            reading = records.trace(written, kept.site)
        if reading is not None and reading.kind == FRAME:
            return Held(reading, None)
    return None


def _array_of_column(records: Readings, value: Instance) -> Reading | None:
    """The reading of the table whose column becomes an array: `np.array(table["text"])`."""
    if not isinstance(value.of, External) or canonical(value.of.name) not in ("numpy.array", "numpy.asarray"):
        return None
    args = value.file.calls[value.call].args if value.file is not None and value.call >= 0 else ()
    if len(args) != 1 or value.file is None:
        return None
    found = records.trace(args[0].value, records.world.call_site(value.file, value.call, value.frame))
    return found if found is not None and found.kind == FRAME and is_column(without_values(args[0].value)) else None
