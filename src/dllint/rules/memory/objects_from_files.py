"""Python objects that a dataset reads from files and keeps: where they come from and what they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    Dict,
    Element,
    Entered,
    FString,
    IfExp,
    List,
    Name,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Table
from dllint.inference.origins import Origins, Step
from dllint.inference.values import (
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Mapping,
    Pattern,
    Site,
    Unknown,
    Value,
)
from dllint.libraries.builtin_functions import OF_STRING, SPLITTING
from dllint.libraries.index import HANDING_ON, READERS, canonical
from dllint.libraries.pandas import AGGREGATING, FRAME_LISTS
from dllint.libraries.records import (
    COLUMN,
    COLUMNS,
    FRAME,
    HANDLE,
    HUB,
    LINES,
    OF_TABLES,
    RECORDS,
    ROWS,
    SAME_COLLECTION,
    SAME_OBJECTS,
    TABLE_ROWS,
    TEXT,
    form,
)
from dllint.linking.conditions import render
from dllint.linking.expressions import without_calls
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.counting import items, loops
from dllint.project.datasets import Kept
from dllint.span import Span

_STRING = 57
_DICT = 184
_TUPLE = 48
_POINTER = 8
"""Bytes of a str without its characters, of a dict of up to five keys, of a tuple of one, and of a reference
(`sys.getsizeof`, CPython 3.11 on 64 bit)."""

_NAMED_FIELDS = frozenset({"collections.namedtuple", "typing.NamedTuple"})
"""Functions that make a class whose objects keep each argument under a name."""

_SOURCES = frozenset({HANDLE, TEXT, FRAME, HUB, COLUMNS})
"""Kinds of readings that are no Python objects themselves, only what such are taken from."""


@dataclass(frozen=True)
class Reading:
    """A call whose result is Python objects.

    Attributes:
        kind: "records", "rows", "lines" or "opaque", or "handle", "text" and "frame" for what these are taken from.
        level: 0 for all that was read, 1 for an item of it, and so on.
        seen: whether the project goes through it as a sequence or dict, so that it is no array.
    """

    kind: str
    level: int
    file: SourceFile
    call: int
    seen: bool = False

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span

    @property
    def opener(self) -> str:
        return render(self.file.calls[self.call].func, self.file, 40)

    def gone_through(self) -> Reading:
        """The same where a comprehension takes its items."""
        return replace(self, seen=self.seen or self.level > 0)


@dataclass(frozen=True)
class Held:
    """Python objects that an attribute holds. `size` is an estimate in bytes, where the source says enough; `reading`
    is None for objects that the program itself makes."""

    reading: Reading | None
    size: int | None


class Records:
    """Finds collections of Python objects among the values that a dataset keeps."""

    def __init__(self, project: Project) -> None:
        self.world = project.world
        self.origins = Origins(project.world)
        self.datasets = project.datasets
        self._traced: Table[Reading | None] = {}
        self._depth = 0

    def kept(self, kept: Kept) -> Held | None:
        """The many Python objects that an attribute keeps, if it does."""
        held = [self._collection(value, 0) for value in kept.values if not isinstance(value, (Const, Unknown))]
        if held and all(held):
            return held[0]
        if kept.store.value is not None and any(isinstance(value, Unknown) for value in kept.values):
            reading = self.trace(kept.store.value, kept.site)
            if reading is not None:
                return self._whole(reading)
        return None

    def grouped(self, kept: Kept) -> bool:
        """Whether an attribute keeps a dict of lists, into which records are put by one of their fields."""
        inside = (self.world.mappings.values_of(value) for value in kept.values)
        return any(isinstance(one, Display) for values in inside if values for one in values)

    def _collection(self, value: Value, depth: int) -> Held | None:
        inside = self.world.mappings.values_of(value) if isinstance(value, Instance) else None
        if inside is not None:
            return next((held for one in inside if (held := self._collection(one, depth + 1)) is not None), None)
        if isinstance(value, Instance):
            reading = self._of_instance(value) or self._taken(value)
            return None if reading is None else self._whole(reading)
        if isinstance(value, Display):
            return self._filled(value, depth)
        if isinstance(value, Mapping):
            return self._filled(value, depth)
        return None

    def _taken(self, value: Instance) -> Reading | None:
        """What a list of elements is made of that a call takes from its arguments: `zip(…)`, `random.sample(…)`."""
        if not isinstance(value.of, External) or value.file is None or value.call < 0:
            return None
        if canonical(value.of.name) not in HANDING_ON and value.of.name != "sum":
            return None
        return self._through_call(value.call, self.world.call_site(value.file, value.call, value.frame))

    def _whole(self, reading: Reading) -> Held | None:
        """A reading that is kept as it is."""
        if reading.kind in _SOURCES or (reading.kind == LINES and reading.level):
            return None
        return Held(reading, None)

    def _filled(self, value: Display | Mapping, depth: int) -> Held | None:
        """A list or dict of the source whose elements are objects."""
        expr, site = value.written.expr, value.written.site
        if limits.COUNTING_DEPTH.reached(depth):
            return None
        if isinstance(expr, Comprehension):
            reading = self._object(expr.element, _inside(expr, site), 0)
            if reading is not None:
                return Held(reading.gone_through(), None)
            size = self._generated(value, expr.element)
            if size is not None:
                return Held(None, size)
        if isinstance(expr, CallRef) and site.file.calls[expr.index].args:
            reading = self._through_call(expr.index, site)
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
        mappings = self.world.mappings
        for change in islice(self.datasets.filling(value), limits.CHANGES.most):
            if change.value is None:
                continue
            where = mappings.changed_at(change, value)
            looped = bool(loops(change.file, change.region))
            if change.kind in ("extend", "merge"):
                traced = self.trace(change.value, where)
                if traced is not None and traced.kind not in _SOURCES:
                    return Held(replace(traced, seen=True), None)
                # `rows += [row]` adds one like `rows.append(row)`.
                if looped and isinstance(change.value, (List, Tuple)):
                    added = (self._object(one, where, 0) for one in change.value.elements)
                    reading = next((one for one in added if one is not None), None)
                    if reading is not None:
                        return Held(reading, None)
                held = self._filled_inside(value, change.value, where, depth)
                if held is not None:
                    return held
            elif looped:
                reading = self._object(change.value, where, 0) or self._for_each_record(change.value, where)
                if reading is not None:
                    return Held(reading, None)
        return None

    def _for_each_record(self, expr: Expr, site: Site) -> Reading | None:
        """The reading that a loop goes through which adds a new tuple, list or dict for each record, whatever is in it:
        `triples.append((entities[head], tail))`."""
        if isinstance(expr, Comprehension):
            plain = expr.kind != "generator" and self._plain(List((expr.element,)), _inside(expr, site))
        else:
            plain = isinstance(expr, (Tuple, List, Dict)) and self._plain(expr, site)
        if not plain:
            return None
        for region in loops(site.file, site.region):
            entry = site.file.facts.regions[region]
            if entry.kind != "for" or entry.expr is None:
                continue
            around = site._replace(region=entry.parent, at=(entry.span.line, entry.span.column))
            found = self.trace(entry.expr, around) or self._of_container(entry.expr, around)
            if found is not None and found.kind in (LINES, RECORDS, ROWS, HANDLE):
                return replace(found, kind=LINES if found.kind == HANDLE else found.kind, level=0, seen=True)
        return None

    def _plain(self, expr: Tuple | List | Dict, site: Site) -> bool:
        """Whether nothing in a tuple, list or dict is surely an array or a path."""
        parts = [one for _, one in expr.items] if isinstance(expr, Dict) else expr.children()
        for part in parts:
            if isinstance(part, (Tuple, List, Dict)):
                if not self._plain(part, site):
                    return False
                continue
            for value in self.world.values.evaluate(part, site):
                name = value.of.name if isinstance(value, Instance) and isinstance(value.of, External) else ""
                if isinstance(value, Pattern) or name.startswith(("torch.", "numpy.", "os.path.", "pathlib.", "PIL.")):
                    return False
        return True

    def _filled_inside(self, value: Display | Mapping, expr: Expr, site: Site, depth: int) -> Held | None:
        """What fills a container of the program that is another one's element, or is added to it."""
        for one in self.world.values.evaluate(expr, site):
            if isinstance(one, (Display, Mapping)) and one != value:
                held = self._filled(one, depth + 1)
                if held is not None:
                    return held
        return None

    def _object(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading that an element is made of, if it is a string, a record or a container of such. What a cell of a
        table holds is not known: alone it may be a number."""
        if limits.COUNTING_DEPTH.reached(depth):
            return None
        if isinstance(expr, (Tuple, List, Dict)):
            parts = [one for _, one in expr.items] if isinstance(expr, Dict) else expr.elements
            found = next((found for one in parts if (found := self._object(one, site, depth + 1))), None)
            return found or self._built(expr, site, depth)
        if isinstance(expr, Comprehension) and expr.kind != "generator":
            inside = _inside(expr, site)
            for target in (part for clause in expr.clauses for part in without_calls(clause.target)):
                if isinstance(target, Name) and (found := self.trace(target, inside)) is not None:
                    return found.gone_through() if found.kind != HANDLE else None
            return None
        found = self.trace(expr, site)
        if found is None:
            return self._built(expr, site, depth)
        if found.kind == HANDLE:
            return None
        return None if not depth and (found.kind == FRAME or (found.kind == ROWS and found.level > 1)) else found

    def _built(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading that the parts of a list or dict come from which an expression gives: of one that a function
        returns, or that other statements fill."""
        for value in self.world.values.evaluate(expr, site):
            if isinstance(value, Instance) and (found := self._with_fields(value, expr, site, depth)) is not None:
                return found
            if not isinstance(value, (Display, Mapping)):
                continue
            written = value.written
            if isinstance(written.expr, CallRef) and written.site.file.calls[written.expr.index].args:
                found = self._through_call(written.expr.index, written.site)
                if found is not None:
                    return found
            if written.expr is not expr and not isinstance(written.expr, CallRef):
                found = self._object(written.expr, written.site, depth + 1)
                if found is not None:
                    return found
            for change in islice(self.datasets.filling(value), limits.CHANGES.most):
                if change.value is not None and change.kind in ("set", "add", "default"):
                    where = self.world.mappings.changed_at(change, value)
                    found = self._object(change.value, where, depth + 1) or self._for_each_record(change.value, where)
                    if found is not None:
                        return found
        return None

    def _with_fields(self, value: Instance, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading that the arguments come from which an object is made with, of a class of the project or a named
        tuple: `Example(row["text"], row["label"])`."""
        parts: list[tuple[Expr, Site]] = []
        if isinstance(value.of, Class) and value.file is not None and value.call >= 0:
            actuals = self.world.made_with(value)
            given = (*actuals.positional, *actuals.keywords.values())
            parts += ((one.expr, one.site) for one in given if one.expr is not None and one.site is not None)
        elif isinstance(value.of, External) and value.of.name in _NAMED_FIELDS and isinstance(expr, CallRef):
            # The value of a call of such a class is that of the call that makes the class.
            parts += ((one.value, site) for one in site.file.calls[expr.index].args if value.call != expr.index)
        return next((found for part, at in parts if (found := self._object(part, at, depth + 1)) is not None), None)

    # Where objects come from

    def trace(self, expr: Expr, site: Site) -> Reading | None:
        """The reading that the value of an expression comes out of, unchanged but for the container."""
        if limits.READING_DEPTH.exceeded(self._depth):
            self.world.memory.cut_short()
            return None
        self._depth += 1
        try:
            return self.world.memory.remember(self._traced, (expr, site), lambda: self._find(expr, site), None)
        finally:
            self._depth -= 1

    def _find(self, expr: Expr, site: Site) -> Reading | None:
        match expr:
            case Element():
                return self._element(self.trace(expr.value, site) or self._of_container(expr.value, site, Display))
            case Entered():
                return self.trace(expr.value, site)
            case Attribute():
                base = self.trace(expr.value, site)
                if base is not None and (base.kind == FRAME or (base.kind == ROWS and base.level > 0)):
                    return self._element(base)
        values = self.world.values.evaluate(expr, site)
        for value in values:
            found = self._of_instance(value) if isinstance(value, Instance) else None
            if found is not None and (found.kind != HUB or not isinstance(expr, Name)):
                return found
        if not any(isinstance(value, (Unknown, Instance)) for value in values):
            return None
        match expr:
            case Subscript(Element(counted), Constant(0)) if _counts(counted, site.file):
                return None
            case Subscript():
                base = self.trace(expr.value, site)
                whole = isinstance(expr.index, Slice) or (base is not None and base.kind == FRAME)
                return base if whole else self._element(base)
            case CallRef():
                return self._through_call(expr.index, site)
            case BinOp() if expr.op == "+":
                return self.trace(expr.left, site) or self.trace(expr.right, site)
            case Name() | IfExp():
                steps = (one for one in self.origins.gives(expr, site) if isinstance(one, Step))
                return next((found for one in steps if (found := self.trace(one.expr, one.site))), None)
        return None

    def _through_call(self, index: int, site: Site) -> Reading | None:
        call = site.file.calls[index]
        last = last_name(call.func)
        if isinstance(call.func, Attribute) and last in OF_TABLES:
            base = self.trace(call.func.value, site)
            if base is not None and base.kind == COLUMNS:
                return base if last not in TABLE_ROWS else replace(base, kind=ROWS, level=0)
        if isinstance(call.func, Attribute) and last in OF_STRING | SPLITTING | SAME_COLLECTION | {
            "get",
            "readlines",
            "read",
        }:
            base = self.trace(call.func.value, site) or self._of_container(call.func.value, site)
            if base is None:
                return None
            if base.kind == HANDLE:
                kinds = {"readlines": LINES, "read": TEXT}
                return replace(base, kind=kinds[last]) if last in kinds else None
            if base.kind == TEXT and last in SPLITTING:
                return replace(base, kind=LINES)
            if last in FRAME_LISTS and base.kind == FRAME:
                return replace(base, kind=ROWS if last == "to_dict" else COLUMN, level=0)
            if last in SAME_COLLECTION and base.kind != LINES:
                return replace(base, seen=base.seen or last in ("items", "values", "keys"))
            return base if last in OF_STRING | SPLITTING | {"get"} and base.kind != HANDLE else None
        plain = [argument.value for argument in call.args if argument.keyword in (None, "*")]
        if last == "map" and len(plain) == 2 and (parsed := self._parses(plain[0], site)):
            return Reading(parsed, 0, site.file, index)
        if last in SAME_OBJECTS or (last == "sum" and len(plain) == 2):
            for one in plain[1:] if last in ("map", "filter") else plain:
                found = self.trace(one, site) or self._of_container(one, site, Display)
                if found is not None and found.kind == FRAME and (last == "zip" or _is_column(one)):
                    return replace(found, kind=ROWS if last == "zip" else COLUMN, level=0)
                if found is not None and last != "map":
                    return replace(found, kind=LINES) if found.kind == HANDLE else found
            return None
        return self._yielded(index, site)

    def _parses(self, func: Expr, site: Site) -> str:
        """What a function makes of each string that it is called with: `json.loads`; "" for any other."""
        values = self.world.values.evaluate(func, site)
        kinds = {READERS.get(canonical(one.name), "") if isinstance(one, External) else "" for one in values}
        return RECORDS if kinds == {RECORDS} else ""

    def _yielded(self, index: int, site: Site) -> Reading | None:
        """The reading that what a generator function of the project yields comes out of."""
        for callee in self.world.calls.callees(site.file, index, site.frame):
            if not isinstance(callee, Function):
                continue
            scope = callee.file.scopes[callee.scope]
            frame = self.world.frame(site.file, index, site.frame, callee) if scope.is_generator else None
            for event in scope.events if scope.is_generator else ():
                if event.kind != "yield" or event.value is None:
                    continue
                at = (event.span.line, event.span.column)
                found = self._object(event.value, Site(callee.file, callee.scope, event.region, at, frame), 0)
                if found is not None:
                    return replace(found, level=0, seen=True)
        return None

    def _of_container(
        self, expr: Expr, site: Site, kinds: type[Display] | tuple[type[Value], ...] = (Display, Mapping)
    ) -> Reading | None:
        """The reading that the elements of a list or dict of the program come out of. What goes through a dict gets its
        keys."""
        for value in self.world.values.evaluate(expr, site):
            if not isinstance(value, (Display, Mapping)) or not isinstance(value, kinds):
                continue
            held = self._filled(value, 0)
            if held is not None and held.reading is not None:
                return replace(held.reading, level=0, seen=True)
            # `dict(zip(keys, [row[0], row[1]]))` is one record.
            written = value.written
            reading = self._object(written.expr, written.site, 1) if isinstance(written.expr, (List, Tuple)) else None
            if reading is not None:
                return reading
        return None

    @staticmethod
    def _element(reading: Reading | None) -> Reading | None:
        if reading is None:
            return None
        if reading.kind == HANDLE:
            return replace(reading, kind=LINES, level=1, seen=True)
        if reading.kind == TEXT:
            return None
        if reading.kind == HUB:
            return replace(reading, kind=ROWS, level=1)
        if reading.kind == COLUMNS:
            return reading
        return replace(reading, level=reading.level + 1, seen=True)

    def _of_instance(self, value: Instance) -> Reading | None:
        if not isinstance(value.of, External) or value.file is None or value.call < 0:
            return None
        found = form(canonical(value.of.name))
        if found is None:
            return None
        kind, level = found
        if kind != FRAME and any(f".{method}" in value.of.name for method in AGGREGATING):
            return Reading(kind, level, value.file, value.call) if self._collects(value) else None
        return Reading(kind, level, value.file, value.call)

    @staticmethod
    def _collects(value: Instance) -> bool:
        """Whether the groups of a table are made lists: `table.groupby("user")["item"].apply(list).to_dict()`."""
        assert value.file is not None
        expr: Expr = CallRef(value.call)
        while isinstance(expr, (CallRef, Attribute, Subscript)):
            if isinstance(expr, CallRef):
                call = value.file.calls[expr.index]
                if last_name(call.func) in AGGREGATING:
                    return any(one.value in (Name("list"), Name("tuple"), Name("set")) for one in call.args)
                expr = call.func
            else:
                expr = expr.value
        return False

    # Sizes

    def _generated(self, value: Display | Mapping, element: Expr) -> int | None:
        """An estimate for what a comprehension over known numbers makes; None where its elements are no objects, or
        their number is not known."""
        each = _object_bytes(element)
        if each is None or (count := items(self.datasets, value)) is None:
            return None
        return count * (each + _POINTER)


def _object_bytes(expr: Expr) -> int | None:
    """A lower estimate of the bytes of a new string, tuple, list or dict; None for what is none of these."""
    match expr:
        case FString(values):
            return _STRING + sum(len(str(part.value)) if isinstance(part, Constant) else 1 for part in values) - 8
        case Tuple(elements) | List(elements):
            return _TUPLE + sum(_POINTER + (_object_bytes(part) or 0) for part in elements)
        case Dict(items):
            return _DICT + sum(_object_bytes(part) or 0 for _, part in items)
    return None


def _is_column(expr: Expr) -> bool:
    """Whether a part of a table is a column of it, as far as it is written: `table.text`, `table["text"]`."""
    if isinstance(expr, Attribute):
        return expr.attr not in ("columns", "dtypes", "index", "shape")
    return isinstance(expr, Subscript) and isinstance(expr.index, Constant)


def _counts(expr: Expr, file: SourceFile) -> bool:
    """Whether the first part of each element is a number: `enumerate(…)`."""
    return isinstance(expr, CallRef) and file.calls[expr.index].func == Name("enumerate")


def _inside(expr: Comprehension, site: Site) -> Site:
    """Where the element of a comprehension is evaluated, whose targets hold there alone."""
    return site._replace(region=site.file.inside(expr, site.at, site.region))
