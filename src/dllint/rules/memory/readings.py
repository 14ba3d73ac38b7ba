"""The origin of Python objects that a program reads from files: calls of readers, and operations that pass on their
results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    Element,
    Entered,
    IfExp,
    List,
    Name,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Call, Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.answers import Table
from dllint.inference.iteration import element
from dllint.inference.origins import Origins, Step
from dllint.inference.values import (
    Class,
    Display,
    External,
    Function,
    Instance,
    Mapping,
    Partial,
    Site,
    Unknown,
    Value,
    Values,
)
from dllint.libraries.annotations import KITS
from dllint.libraries.builtin_functions import OF_STRING, OF_STRINGS, PARTING, SPLITTING
from dllint.libraries.index import READERS, canonical
from dllint.libraries.pandas import AGGREGATING, FRAME_KEEPING, FRAME_LISTS, MAKING, NO_COLUMNS, is_frame_by_call
from dllint.libraries.records import (
    COLUMN,
    COLUMNS,
    EVALUATING,
    FRAME,
    HANDLE,
    HUB,
    LINES,
    OF_TABLES,
    OPAQUE,
    RECORDS,
    ROWS,
    SAME_COLLECTION,
    SAME_OBJECTS,
    TABLE_ROWS,
    TEXT,
    form,
    gives_tokens,
    is_tokenizer,
)
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project, Regime
from dllint.rules.memory.derived_lists import delayed_function
from dllint.rules.memory.grouped_tables import collects_groups
from dllint.rules.memory.path_lists import gives_paths
from dllint.rules.memory.table_columns import is_column, without_values
from dllint.span import Span

MAPPING = frozenset({"map", "imap", "imap_unordered", "starmap", "process_map", "thread_map"})
"""Last names of functions, and of methods of pools, that call a function for each element."""
_SPLIT = "train_test_split"

_OF_SAME = OF_STRING | SPLITTING | PARTING | SAME_COLLECTION | {"get", "readlines", "read"}
"""Methods of strings, containers and open files that return a part of them, or the same objects."""
_OF_PAIRS = frozenset({"dict", "OrderedDict"})
_MAKING = frozenset(name.rpartition(".")[2] for name in (*MAKING, "DataFrame.from_records"))
_MIXED = 6
"""From how many results of external functions on the value of an expression no longer has one origin."""


@dataclass(frozen=True)
class Reading:
    """A call whose result is Python objects.

    Attributes:
        kind: "records", "rows", "lines" or "opaque", or "handle", "text" and "frame" for their sources.
        level: 0 for all that was read, 1 for an item of it, and so on.
        seen: whether the project uses it as a sequence or dict, so that it is no array.
        under: the keys that its strings have in records which the project makes of them, `{"label": line}`; empty
            where the records are what is read.
    """

    kind: str
    level: int
    file: SourceFile
    call: int
    seen: bool = False
    under: frozenset[str] = frozenset()

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span

    @property
    def opener(self) -> str:
        return render(self.file.calls[self.call].func, self.file, 40)

    def gone_through(self) -> Reading:
        """The same reading after a comprehension has iterated it."""
        return replace(self, seen=self.seen or self.level > 0)


@dataclass(frozen=True)
class Held:
    """Python objects that an attribute holds. `size` is an estimate in bytes, where the source says enough; `reading`
    is None for objects that the program itself makes. `filled` is the statement that puts them into a container. With
    `keys` they are the keys of a dict. `tensors`: each of them holds tensors of its own. `cells`: they are single cells
    of a table, which may be numbers, or paths of other files.

    Without a size and a reading, loops over data make one per item.
    """

    reading: Reading | None
    size: int | None
    filled: tuple[SourceFile, Span] | None = None
    keys: bool = False
    tensors: bool = False
    cells: bool = False

    @property
    def table(self) -> bool:
        """Whether it is a table, whose pickled copies are DLL301's to report."""
        return self.reading is not None and self.reading.kind == FRAME


def grows_when_forked(regimes: list[Regime]) -> bool:
    """Whether what a table costs is its strings that forked workers read, and not its copies: unless the project itself
    starts workers by another method, which is worse."""
    forked = any(regime.method == "fork" for regime in regimes)
    return forked and not any(regime.shown for regime in regimes if regime.method != "fork")


class Readings(ABC):
    """Traces values back to the readings that they come from."""

    def __init__(self, project: Project) -> None:
        self.world = project.world
        self.origins = Origins(project.world)
        self._traced: Table[Reading | None] = {}
        self._of_data: Table[bool] = {}
        self._depth = 0

    @abstractmethod
    def filled(self, value: Display | Mapping, depth: int) -> Held | None:
        """The objects in a list or dict of the program."""

    @abstractmethod
    def object(self, expr: Expr, site: Site, depth: int) -> Reading | None:
        """The reading that an element comes from, if it is a string, a record or a container of these."""

    def trace(self, expr: Expr, site: Site) -> Reading | None:
        """The reading that the value of an expression comes from, unchanged except for its container."""
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
                iterated = self.trace(expr.value, site)
                if iterated is not None and iterated.kind == FRAME and is_column(without_values(expr.value)):
                    return replace(iterated, kind=COLUMN, level=1)
                return self._element(iterated or self.of_container(expr.value, site, Display))
            case Entered():
                return self.trace(expr.value, site)
            case Attribute():
                base = self.trace(expr.value, site)
                if base is not None and base.kind == FRAME:
                    return None if expr.attr in NO_COLUMNS else self._element(base)
                if base is not None and base.kind == ROWS and base.level > 0:
                    return self._element(base)
                if base is not None and (records := self._part_of(base, expr, site)) is not None:
                    return records
        values = self.world.values.evaluate(expr, site)
        made = () if self._mixes_callers(values) else [one for one in values if isinstance(one, Instance)]
        read = [one for one in map(self.of_instance, made) if one is not None]
        read = [one for one in read if one.kind != HUB or not isinstance(expr, Name)]
        if len(read) == 1 and read[0].kind == FRAME and isinstance(expr, CallRef) and self._lists(expr, site):
            # `list(table["text"])` counts as its argument elsewhere.
            return self.through_call(expr.index, site) or read[0]
        if read:
            # A format of several whose content is unknown does not hide the others.
            return next((one for one in read if one.kind != OPAQUE), read[0])
        # `frame["text"].values` is an attribute of what a call returned.
        if not any(isinstance(one, (Unknown, Instance)) or _is_of_result(one) for one in values):
            return None
        match expr:
            case Subscript(Element(counted), Constant(0)) if _counts(counted, site.file):
                return None
            case Subscript(CallRef(index), Constant(int(position))) if _splits(site.file, index):
                # Each argument yields two consecutive parts.
                given = [one.value for one in site.file.calls[index].args if one.keyword is None]
                part = given[position // 2] if position // 2 < len(given) else None
                return None if part is None else self.trace(part, site) or self.of_container(part, site)
            case Subscript():
                if (component := element(self.world, expr, site)) is not None:
                    return self.trace(component, site)
                base = self.trace(expr.value, site)
                if base is None and not isinstance(expr.index, (Constant, Slice)):
                    base = self.of_container(expr.value, site)
                whole = isinstance(expr.index, Slice) or (base is not None and base.kind == FRAME)
                key = expr.index.value if isinstance(expr.index, Constant) else None
                if base is not None and base.under and isinstance(key, str):
                    return replace(base, under=frozenset()) if key in base.under else None
                return base if whole else self._element(base)
            case CallRef():
                return self.through_call(expr.index, site)
            case BinOp() if expr.op == "+":
                return self.trace(expr.left, site) or self.trace(expr.right, site)
            case Name() | IfExp():
                steps = self.origins.expressions(expr, site)
                return next((found for one in steps if (found := self.trace(one.expr, one.site))), None)
        return None

    @staticmethod
    def _lists(expr: CallRef, site: Site) -> bool:
        return site.file.calls[expr.index].func in (Name("list"), Name("tuple"), Name("sorted"), Name("set"))

    def _mixes_callers(self, values: Values) -> bool:
        """Whether a function used for everything returns what any of its callers gives it: then one reading among
        arrays and tensors says nothing about the call in question."""
        outside = [one for one in values if isinstance(one, Instance) and isinstance(one.of, External)]
        if len(outside) < _MIXED:
            return False
        return 2 * sum(self.of_instance(one) is not None for one in outside) < len(outside)

    def _part_of(self, base: Reading, expr: Attribute, site: Site) -> Reading | None:
        """The records that an external object keeps as an attribute: `COCO(path).anns`."""
        for value in self.world.values.evaluate(expr.value, site):
            if isinstance(value, Instance) and isinstance(value.of, External):
                kind = READERS.get(f"{canonical(value.of.name)}().{expr.attr}")
                if kind is not None:
                    return replace(base, kind=kind, level=0)
        return None

    def through_call(self, index: int, site: Site) -> Reading | None:
        call = site.file.calls[index]
        last = last_name(call.func)
        if isinstance(call.func, Attribute) and last in OF_TABLES:
            base = self.trace(call.func.value, site)
            if base is not None and base.kind == COLUMNS:
                return base if last not in TABLE_ROWS else replace(base, kind=ROWS, level=0)
        if isinstance(call.func, Attribute) and last in _OF_SAME:
            traced = self.trace(call.func.value, site)
            base = traced or self.of_container(call.func.value, site)
            if base is None:
                return Reading(ROWS, 0, site.file, index) if is_frame_by_call(call) else None
            if base.kind == HANDLE:
                kinds = {"readlines": LINES, "read": TEXT}
                return replace(base, kind=kinds[last]) if last in kinds else None
            if base.kind == TEXT and last in SPLITTING:
                return replace(base, kind=LINES)
            if last in FRAME_LISTS and base.kind == FRAME:
                return replace(base, kind=ROWS if last == "to_dict" else COLUMN, level=0)
            # Lines have no such methods, a dict of lists of lines has.
            if last in SAME_COLLECTION and (traced is None or base.kind != LINES):
                return replace(base, seen=base.seen or last in ("items", "values", "keys"))
            if base.kind == COLUMN and base.level and last in OF_STRING | SPLITTING | PARTING:
                # Only a string has such methods.
                return replace(base, kind=ROWS)
            return base if last in OF_STRING | SPLITTING | PARTING | {"get"} and base.kind != HANDLE else None
        plain = [argument.value for argument in call.args if argument.keyword in (None, "*")]
        if isinstance(call.func, Attribute) and last in FRAME_KEEPING:
            if last in ("apply", "map") and plain and gives_paths(self.world, self.origins, plain[0], site):
                return None
            base = self.trace(call.func.value, site)
            if base is not None and base.kind == FRAME:
                return base
        if self._joins(call.func, site):
            texts = (self.trace(part, site) or self.of_container(part, site) for part in plain)
            text = next((one for one in texts if one is not None and one.kind != HANDLE), None)
            return None if text is None else replace(text, kind=TEXT)
        if plain and (gives_tokens(call) or self._tokenizes(call, site)):
            text = self.trace(plain[0], site) or self.of_container(plain[0], site)
            return None if text is None or text.kind in (HANDLE, FRAME, HUB) else replace(text, kind=RECORDS)
        if last == "read_text" and isinstance(call.func, Attribute) and not plain:
            # Only paths have this method: those that `rglob` gives, too.
            return Reading(TEXT, 0, site.file, index)
        if last in EVALUATING and plain:
            text = self.trace(plain[0], site)
            return Reading(RECORDS, 0, site.file, index) if text is not None and _is_text(text) else None
        if last == "map" and len(plain) == 2 and (parsed := self._parses(plain[0], site)):
            return Reading(parsed, 0, site.file, index)
        if last in MAPPING and len(plain) >= 2 and (found := self._returned(plain[0], site)) is not None:
            return found
        if (
            isinstance(call.func, CallRef)
            and len(plain) == 1
            and (work := delayed_function(call.func, plain[0], site)) is not None
        ):
            return self._returned(*work)
        if last in _OF_PAIRS and len(plain) == 1 and isinstance(plain[0], Comprehension):
            return self._of_pairs(plain[0], site)
        if call.func == Name("str") and len(plain) == 1:
            text = self.trace(plain[0], site)
            # A cell of a table may be a number, but what `str` returns is a string.
            return text if text is None or text.kind != COLUMN else replace(text, kind=RECORDS)
        if last in SAME_OBJECTS or (last == "sum" and len(plain) == 2):
            for one in plain[1:] if last in ("map", "filter") else plain:
                found = self.trace(one, site) or self.of_container(one, site, Display)
                if found is not None and found.kind == FRAME and (last == "zip" or is_column(one)):
                    return replace(found, kind=ROWS if last == "zip" else COLUMN, level=0)
                if found is not None and last != "map":
                    return replace(found, kind=LINES) if found.kind == HANDLE else found
            return None
        return self._yielded(index, site) or self._handed_back(index, site)

    def _of_pairs(self, pairs: Comprehension, site: Site) -> Reading | None:
        """The reading that the values of `dict([(key, value) for …])` come from. Its keys are as many as its loop
        has passes, and no items of data by themselves."""
        element = pairs.element
        value = element.elements[1] if isinstance(element, Tuple) and len(element.elements) == 2 else element
        found = self.object(value, inside(pairs, site), 1)
        return None if found is None else replace(found, level=0, seen=True)

    def _handed_back(self, index: int, site: Site) -> Reading | None:
        """The reading that a function of the project returns, possibly processed: `return line.strip().split()`."""
        expr = CallRef(index)
        callees = self.world.calls.callees(site.file, index, site.frame)
        if len(callees) == 1 and isinstance(callees[0], Instance):
            # The callee is an object with `__call__`.
            targets = self.world.calls.targets(site.file, index, site.frame)
            given = (one for target in targets for one in self.origins.returned(target.function, target.frame))
            parts = (self.trace(one.expr, one.site) for one in given if isinstance(one, Step))
            return next((found for found in parts if found is not None and found.kind in (TEXT, LINES)), None)
        if len(callees) != 1 or not isinstance(callees[0], Function):
            return None
        steps = (one for one in self.origins.expressions(expr, site) if one.expr != expr)
        return next((found for one in steps if (found := self.trace(one.expr, one.site)) is not None), None)

    def _joins(self, func: Expr, site: Site) -> bool:
        """Whether a function joins its arguments into one string; `os.path.join`, in contrast, makes a path."""
        last = isinstance(func, Attribute) and func.attr
        values = self.world.values.evaluate(func, site) if last in ("join", "sub", "normalize", "unescape") else ()
        return any(isinstance(one, External) and one.name in OF_STRINGS for one in values)

    def _tokenizes(self, call: Call, site: Site) -> bool:
        """Whether a call runs a tokenizer of transformers, whatever its name, and gets lists of numbers from it."""
        if any(one.keyword == "return_tensors" for one in call.args) or not isinstance(call.func, (Name, Attribute)):
            return False
        values = self.world.values.evaluate(call.func, site)
        made = (one.of.name for one in values if isinstance(one, Instance) and isinstance(one.of, External))
        return any(map(is_tokenizer, made))

    def _parses(self, func: Expr, site: Site) -> str:
        """The kind of result that a function returns for each string, as `json.loads` does; "" for any other
        function."""
        if last_name(func) in EVALUATING:
            return RECORDS
        values = self.world.values.evaluate(func, site)
        kinds = {READERS.get(canonical(one.name), "") if isinstance(one, External) else "" for one in values}
        return RECORDS if kinds == {RECORDS} else ""

    def _returned(self, func: Expr, site: Site) -> Reading | None:
        """The reading that each result of a function of the project is."""
        for value in self.world.values.evaluate(func, site):
            plainly = value.plain if isinstance(value, Partial) else value
            for step in self.origins.returned(plainly, None) if isinstance(plainly, Function) else ():
                found = self.object(step.expr, step.site, 0) if isinstance(step, Step) else None
                if found is not None:
                    return replace(found, level=0, seen=True)
        return None

    def _yielded(self, index: int, site: Site) -> Reading | None:
        """The reading that the values yielded by a generator function of the project come from."""
        for callee in self.world.calls.callees(site.file, index, site.frame):
            if not isinstance(callee, Function):
                continue
            scope = callee.file.scopes[callee.scope]
            frame = self.world.frame(site.file, index, site.frame, callee) if scope.is_generator else None
            for event in scope.events if scope.is_generator else ():
                if event.kind != "yield" or event.value is None:
                    continue
                at = event.span.start
                found = self.object(event.value, Site(callee.file, callee.scope, event.region, at, frame), 0)
                if found is not None:
                    return replace(found, level=0, seen=True)
        return None

    def of_container(
        self, expr: Expr, site: Site, kinds: type[Display] | tuple[type[Value], ...] = (Display, Mapping)
    ) -> Reading | None:
        """The reading that the elements of a list or dict of the program come from. Iterating a dict yields its
        keys."""
        for value in self.world.values.evaluate(expr, site):
            if not isinstance(value, (Display, Mapping)) or not isinstance(value, kinds):
                continue
            held = self.filled(value, 0)
            if held is not None and held.reading is not None and not held.cells:
                # A list of texts is read like a list of lines.
                kind = LINES if held.reading.kind == TEXT else held.reading.kind
                return replace(held.reading, kind=kind, level=0, seen=True)
            # `dict(zip(keys, [row[0], row[1]]))` is a single record.
            written = value.written
            reading = self.object(written.expr, written.site, 1) if isinstance(written.expr, (List, Tuple)) else None
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
        if reading.kind == COLUMN and reading.level:
            # A number cannot be iterated.
            return replace(reading, kind=ROWS, level=reading.level + 1, seen=True)
        return replace(reading, level=reading.level + 1, seen=True)

    def of_instance(self, value: Instance) -> Reading | None:
        if value.file is None or value.call < 0:
            return None
        if isinstance(value.of, Class):
            # A class of the project that extends one of a development kit keeps the annotations as that does.
            kits = (form(name) for one in self.world.hierarchy.externals(value.of) if (name := canonical(one)) in KITS)
            found = next(kits, None)
            return None if found is None else Reading(*found, value.file, value.call)
        name = canonical(value.of.name)
        found = form(name)
        if found is None or (name.startswith("pandas.DataFrame") and not self._is_of_data(value)):
            return None
        kind, level = found
        if kind == FRAME and ".groupby" in name and collects_groups(value):
            return Reading(ROWS, level, value.file, value.call)
        if kind != FRAME and any(f".{method}" in value.of.name for method in AGGREGATING):
            if collects_groups(value):
                return Reading(ROWS if kind == COLUMN else kind, level, value.file, value.call)
            # What a function makes of each cell shows where workers read it.
            cells = kind == COLUMN and ".groupby" not in value.of.name
            return Reading(kind, level, value.file, value.call) if cells else None
        return Reading(kind, level, value.file, value.call)

    def _is_of_data(self, value: Value) -> bool:
        """Whether a table is made of what a file contains: `pd.DataFrame(json.load(file))`, and what its methods
        return."""
        if not isinstance(value, Instance) or value.file is None or value.call < 0:
            return False
        return self.world.memory.remember(self._of_data, value, lambda: self._made_of_data(value), False)

    def _made_of_data(self, value: Instance) -> bool:
        assert value.file is not None
        call, site = value.file.calls[value.call], self.world.call_site(value.file, value.call, value.frame)
        if last_name(call.func) not in _MAKING:
            base = call.func
            while isinstance(base, (Attribute, Subscript)):
                base = base.value
            return any(self._is_of_data(one) for one in self.world.values.evaluate(base, site) if one != value)
        given = [one.value for one in call.args if one.keyword in (None, "data")][:1]
        return any(self.trace(one, site) or self.of_container(one, site) for one in given)


def _is_of_result(value: Value) -> bool:
    return isinstance(value, External) and "()." in value.name


def _is_text(reading: Reading) -> bool:
    """Whether a reading is a string: a whole file, a line, or a field of a row."""
    return reading.kind == TEXT or reading.level > (reading.kind != LINES)


def _splits(file: SourceFile, index: int) -> bool:
    return last_name(file.calls[index].func) == _SPLIT


def _counts(expr: Expr, file: SourceFile) -> bool:
    """Whether the first part of each element is a counter, as with `enumerate(…)`."""
    return isinstance(expr, CallRef) and file.calls[expr.index].func == Name("enumerate")
