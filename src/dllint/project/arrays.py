"""Arrays: which values are whole arrays in memory, and their size in bytes if the source determines it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    IfExp,
    Name,
    Opaque,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.answers import Table
from dllint.inference.origins import Origins
from dllint.inference.values import (
    COLUMN_MARK,
    UNKNOWN,
    Const,
    Display,
    External,
    Frame,
    Instance,
    Pattern,
    Site,
    Unknown,
    Value,
    Values,
)
from dllint.libraries.facets import Maker
from dllint.libraries.index import MAKERS, SIZE_KEEPING, canonical
from dllint.libraries.pandas import TABLE_KEEPING
from dllint.libraries.records import OPAQUE, TEXT, form
from dllint.libraries.scientific_files import COORDINATES, OF_ALL_VARIABLES
from dllint.libraries.torch import CASTS
from dllint.linking.arithmetic import NUMERIC
from dllint.linking.source import SourceFile, last_name
from dllint.project.array_sizes import ArraySizes
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World

_JOINING = frozenset({"concatenate", "vstack", "hstack"})
"""Functions that accept only arrays, of any length."""
_ITEMS = r"(?:\[[^]]*\])+\Z"
"""Items of a table: its rows and columns."""
_OF_ARRAYS = frozenset({"astype", "reshape", "squeeze", "swapaxes", "flatten", "ravel", "numpy"})
"""Methods that arrays and tensors have, and lists, dicts and strings have not."""


@dataclass(frozen=True)
class Array:
    """A whole array.

    `size` is its size in bytes and `item` the bytes per element, each None if unknown. `source` is "shape" or "file".
    `alone` is False if one such array is small, so that it only counts as one of many. `read` is False if none of it is
    in memory yet. `mappable`: the call can memory-map its file instead. `table`: it is a table with columns.
    `unpickled`: a pickle holds it; it may be a number, unless workers use its items as arrays. `put` is the
    statement that puts it into a container.
    """

    library: str
    size: int | None
    source: str
    file: SourceFile
    call: int
    item: int | None = None
    alone: bool = True
    read: bool = True
    mappable: bool = False
    table: bool = False
    unpickled: bool = False
    frame: Frame | None = None
    put: tuple[SourceFile, Span] | None = None

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span


class _MadeOf(NamedTuple):
    """The argument that a call makes an array of, and the library of that array if it is another one's."""

    expr: Expr
    library: str = ""


class Arrays:
    """Finds the arrays among values."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.origins = Origins(world)
        self.sizes = ArraySizes(world)
        self._arrays: dict[tuple[Instance, int], Array | None] = {}
        self._computed: Table[Array | None] = {}

    def kept(self, values: Values, expr: Expr | None, site: Site) -> Array | None:
        """The largest array among the values of an attribute that is assigned `expr` at `site`."""
        found = [array for value in values if (array := self.array(value)) is not None]
        if not found and isinstance(expr, Attribute) and (read := self._read_by(expr, site)) is not None:
            return read if read.alone else None
        if not found and isinstance(expr, Attribute) and expr.attr in SIZE_KEEPING:
            return self.kept(self.world.values.evaluate(expr.value, site), expr.value, site)
        table = _by_position(expr, site.file) if not found and expr is not None and UNKNOWN in values else None
        if table is not None:
            return self.kept(self.world.values.evaluate(table, site), table, site)
        return max(found, key=lambda array: (array.size is None, array.size or 0), default=None)

    def computed(self, expr: Expr, site: Site, depth: int = 0, many: bool = False) -> Array | None:
        """The array that the value of an expression is, or is computed from element by element.

        The size is known only if the value is the array itself. With `many`, arrays that only count as one of many are
        accepted.
        """
        if limits.ARRAY_STEPS.exceeded(depth):
            return None
        # What an expression is computed from branches at each step.
        key = (expr, site, depth, many)
        return self.world.memory.remember(
            self._computed, key, lambda: self._find_computed(expr, site, depth, many), None
        )

    def _find_computed(self, expr: Expr, site: Site, depth: int, many: bool) -> Array | None:
        values, of = self.world.values.evaluate(expr, site), self.of if many else self.array
        found = next((array for value in values if (array := of(value)) is not None), None)
        if found is not None or not any(isinstance(value, (Unknown, Instance, External)) for value in values):
            return found
        match expr:
            case Attribute() if (read := self._read_by(expr, site)) is not None:
                found = read if read.alone or many else None
            case Attribute(attr=attr) if attr in SIZE_KEEPING:
                found = self._of_table(expr.value, site) or self.computed(expr.value, site, depth + 1, many)
            case Subscript(index=index) if _keeps_all(index):
                found = self.computed(expr.value, site, depth + 1, many)
            case BinOp(op=op) if op in NUMERIC:
                sides = (self.computed(side, site, depth + 1, many) for side in (expr.left, expr.right))
                found = next((side for side in sides if side is not None), None)
            case CallRef() if (made_of := self._same_as(expr, site)) is not None:
                found = self._of_table(made_of.expr, site) or self.computed(made_of.expr, site, depth + 1, many)
                if found is not None and made_of.library:
                    found = replace(found, library=made_of.library)
            case Name() | IfExp() | CallRef() | Subscript():
                steps = (one for one in self.origins.expressions(expr, site) if one.expr != expr)
                parts = (self.computed(one.expr, one.site, depth + 1, many) for one in steps)
                found = next((part for part in parts if part is not None), None)
        return None if found is None else replace(found, size=None)

    def _read_by(self, expr: Attribute, site: Site) -> Array | None:
        """The array that an attribute reads, `data["t2m"].values` or `data.t2m.values` of an open dataset of xarray,
        unless its name is that of a coordinate."""
        bases = [(expr.value, f"().{expr.attr}")]
        if isinstance(expr.value, Attribute):
            bases.append((expr.value.value, f"().*.{expr.attr}"))
        for base, path in bases:
            for value in self.world.values.evaluate(base, site):
                made = isinstance(value, Instance) and value.file is not None and value.call >= 0
                if made and isinstance(value, Instance) and isinstance(value.of, External):
                    maker = MAKERS.get(OF_ALL_VARIABLES.sub("", canonical(value.of.name) + path))
                    if maker is not None and maker.read and not self._is_coordinate(expr.value, site):
                        return self._made(maker, value, 0)
        return None

    def _is_coordinate(self, expr: Expr, site: Site) -> bool:
        origins = ((one.expr, one.site.file) for one in self.origins.expressions(expr, site))
        keys = (_key(one, file) for one, file in ((expr, site.file), *origins))
        return any(key is not None and COORDINATES.search(key) for key in keys)

    def _same_as(self, expr: CallRef, site: Site) -> _MadeOf | None:
        """The array whose shape the result of a call has: `images` in `images.astype("float32")` or
        `np.transpose(images)`."""
        call = site.file.calls[expr.index]
        for value in self.world.values.evaluate(call.func, site):
            if isinstance(value, External):
                maker = MAKERS.get(canonical(value.name))
                if maker is not None:
                    return _MadeOf(call.args[0].value, maker.library) if maker.shape == "same" and call.args else None
        kept = isinstance(call.func, Attribute) and call.func.attr in SIZE_KEEPING
        return _MadeOf(call.func.value) if kept and isinstance(call.func, Attribute) else None

    def _of_table(self, expr: Expr, site: Site) -> Array | None:
        """The table whose values an array has, `table` in `table.dropna().values`: a filled or reordered one, or one
        without some of its rows and columns."""
        made = (one for one in self.world.values.evaluate(expr, site) if _table_method(one, "") in TABLE_KEEPING)
        return next((found for one in made if (found := self.of(one)) is not None), None)

    def array(self, value: Value) -> Array | None:
        """The array that a value is, if it provably lies in memory as a whole and is not a small one of many. What the
        methods of a table make of it may be small, as long as its values are not taken as an array."""
        found = self.of(value) if _table_method(value, _ITEMS) not in TABLE_KEEPING else None
        return found if found is not None and found.alone and found.read else None

    def of(self, value: Value, depth: int = 0) -> Array | None:
        """The array that a value is, even if it is a small one of many or if none of it is read yet."""
        if (
            not isinstance(value, Instance)
            or not isinstance(value.of, External)
            or value.file is None
            or value.call < 0
        ):
            return None
        if limits.ARRAY_DEPTH.exceeded(depth):
            return None
        if (value, depth) not in self._arrays:
            found = self._found(value, value.of, depth)
            self._arrays[value, depth] = None if found is not None and found.table and _is_column(value.of) else found
        return self._arrays[value, depth]

    def _found(self, value: Instance, of: External, depth: int) -> Array | None:
        name = canonical(of.name)
        maker = MAKERS.get(name)
        if maker is not None:
            return None if name == "numpy.load" and self._is_archive(value) else self._made(maker, value, depth)
        while name.endswith(("[]", "[:]")):
            name = name.removesuffix("[]").removesuffix("[:]")
            if name in MAKERS:
                return self._made(MAKERS[name], value, depth)
        head, _, method = name.rpartition("().")
        if head and (method in SIZE_KEEPING or method in TABLE_KEEPING):
            found = self._through_method(value, depth)
            return found if found is None or method in SIZE_KEEPING or found.table else None
        return None

    def _is_archive(self, value: Instance) -> bool:
        """Whether `np.load` opens an archive, which reads each array only when it is accessed (numpy, `NpzFile`)."""
        assert value.file is not None
        actuals = self.world.made_with(value)
        path = actuals.positional[0] if actuals.positional else actuals.keywords.get("file")
        if path is None or path.site is None:
            return False
        ends = (
            one.suffix if isinstance(one, Pattern) else one.value if isinstance(one, Const) else None
            for one in self.world.values.evaluate(path.expr, path.site)
        )
        return any(isinstance(end, str) and end.endswith(".npz") for end in ends)

    def _through_method(self, value: Instance, depth: int) -> Array | None:
        assert value.file is not None
        call = value.file.calls[value.call]
        if not isinstance(call.func, Attribute):
            return None
        site = self.world.call_site(value.file, value.call, value.frame)
        for base in self.world.values.evaluate(call.func.value, site):
            inner = self.of(base, depth + 1)
            if inner is None and call.func.attr in _OF_ARRAYS:
                content = self._content(base, OPAQUE)
                inner = replace(content, unpickled=True) if content is not None else None
            if inner is None:
                continue
            if call.func.attr == "numpy":
                return replace(inner, library="numpy")
            if call.func.attr == "astype":
                return self._cast(
                    inner, self.sizes.bytes_of(call.args[0].value, inner.library, site) if call.args else None
                )
            if call.func.attr in CASTS and inner.library == "torch":
                return self._cast(inner, CASTS[call.func.attr])
            return inner
        return None

    def _cast(self, array: Array, item: int | None) -> Array:
        """The array converted to elements of `item` bytes."""
        if array.size is None:
            return array
        size = array.size // array.item * item if array.item and item else None
        return replace(array, size=size, item=item)

    def _made(self, maker: Maker, value: Instance, depth: int) -> Array | None:
        assert value.file is not None
        file, index = value.file, value.call
        site = self.world.call_site(file, index, value.frame)
        call = file.calls[index]
        by_name: dict[str | None, Expr] = {
            argument.keyword: argument.value for argument in call.args if argument.keyword
        }
        plain = [argument.value for argument in call.args if argument.keyword is None]
        if maker.mapped and maker.mapped in by_name and by_name[maker.mapped] not in (Constant(None), Constant(False)):
            return None
        if maker.mapped == "mmap_mode" and len(plain) > 1 and plain[1] != Constant(None):
            return None
        if maker.shape == "file":
            size = self.sizes.of_file(plain, by_name, site) if maker.alone else None
            return Array(
                maker.library,
                size,
                "file",
                file,
                index,
                alone=maker.alone,
                read=maker.read,
                mappable=maker.mapped == "mmap_mode",
                table=maker.table,
                frame=value.frame,
            )
        if maker.shape in ("same", "other"):
            if not plain and maker.size in by_name:
                plain = [by_name[maker.size]]
            made = self._same(maker, plain, site, file, index, depth, value.frame)
            return replace(made, size=None) if made is not None and maker.shape == "other" else made
        count = self.sizes.count(maker, plain, by_name, site)
        if count is None:
            return None
        item = self.sizes.item_bytes(maker, plain, by_name, site)
        return Array(maker.library, None if item is None else count * item, "shape", file, index, item)

    def _same(
        self, maker: Maker, plain: list[Expr], site: Site, file: SourceFile, index: int, depth: int, frame: Frame | None
    ) -> Array | None:
        if not plain:
            return None
        for one in self.world.values.evaluate(plain[0], site):
            parts: Values = self.world.mappings.elements(one) if isinstance(one, Display) else (one,)
            for part in parts:
                if isinstance(one, Display) and isinstance(part, Instance) and _is_column(part.of):
                    continue
                inner = self.of(part, depth + 1)
                func = last_name(file.calls[index].func)
                if inner is None and isinstance(one, Display):
                    inner = self._worked_out(one, part, depth)
                if inner is None and isinstance(one, Display) and func in _JOINING:
                    inner = self._content(part, OPAQUE)
                elif inner is None and func == "frombuffer":
                    inner = self._content(part, TEXT)
                if inner is not None:
                    size = inner.size if not isinstance(one, Display) else None
                    alone = inner.alone or isinstance(one, Display)
                    made = replace(inner, library=maker.library, size=size, alone=alone, read=True)
                    # The data of an open file is read where an array is made from it.
                    stays = inner.alone and not inner.read
                    return replace(made, file=file, call=index, frame=frame) if stays else made
        return None

    def _worked_out(self, value: Display, part: Value, depth: int) -> Array | None:
        """The array that the elements of a list are worked out from, `[image / 255 for image in images]`, where their
        value does not tell."""
        if not isinstance(part, Unknown):
            return None
        written, changes = value.written, self.world.mappings.fillings(value)
        put = [(one.value, where) for one, where in changes if one.kind == "add" and one.value is not None]
        if isinstance(written.expr, Comprehension):
            put.append((written.expr.element, inside(written.expr, written.site)))
        found = (self.computed(expr, site, depth + 1, many=True) for expr, site in put)
        return next((one for one in found if one is not None), None)

    @staticmethod
    def _content(value: Value, wanted: str) -> Array | None:
        """The content of a pickle, or of a file that is read whole, taken for an array because the program uses it as
        one. A tensor stays a tensor."""
        if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is None:
            return None
        kind, _ = form(canonical(value.of.name)) or ("", 0)
        if kind != wanted or value.call < 0:
            return None
        library = "torch" if value.of.name.startswith("torch.") else "numpy"
        return Array(library, None, "file", value.file, value.call, frame=value.frame)


def _keeps_all(index: Expr) -> bool:
    """Whether an index gives a view of a whole array, or of a part of it: `images[None]`, `images[..., :3]`."""
    parts = index.elements if isinstance(index, Tuple) else (index,)
    # `...` is no value of the facts, and `np.newaxis` is None.
    return all(
        isinstance(one, (Slice, Opaque)) or one == Constant(None) or last_name(one) == "newaxis" for one in parts
    )


def _by_position(expr: Expr, file: SourceFile) -> Expr | None:
    """The table that an expression slices by position, `table` in
    `table.iloc[:, 1:].values.astype("float32")`; None for any other expression."""
    while True:
        func = file.calls[expr.index].func if isinstance(expr, CallRef) else expr
        if isinstance(func, Attribute) and func.attr in SIZE_KEEPING:
            expr = func.value
        elif isinstance(expr, Subscript) and _keeps_all(expr.index) and isinstance(expr.value, Attribute):
            return expr.value.value if expr.value.attr in ("iloc", "loc") else None
        else:
            return None


def _table_method(value: Value, ending: str) -> str:
    """The last method that an external value comes from, without what matches `ending` after it."""
    name = value.of.name if isinstance(value, Instance) and isinstance(value.of, External) else ""
    return re.sub(ending, "", name).rpartition("().")[2]


def _is_column(of: object) -> bool:
    return isinstance(of, External) and COLUMN_MARK in of.name


def _key(expr: Expr, file: SourceFile) -> str | None:
    """The key of a variable, "t2m" for `data["t2m"].sel(level=50)`, `data.t2m` and `data.get("t2m")`."""
    while True:
        match expr:
            case Subscript(_, Constant(str(key))) | Attribute(_, key):
                return key
            case Subscript(value):
                expr = value
            case CallRef(index):
                func, args = file.calls[index].func, file.calls[index].args
                if not isinstance(func, Attribute):
                    return None
                if func.attr == "get" and args:
                    given = args[0].value
                    return given.value if isinstance(given, Constant) and isinstance(given.value, str) else None
                expr = func.value
            case _:
                return None
