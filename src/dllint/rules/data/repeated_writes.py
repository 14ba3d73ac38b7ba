"""Whether what a statement writes into a part of what the dataset keeps is other than what it wrote there before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, List, Name, Opaque, Slice, Subscript, Tuple, UnaryOp
from dllint.facts.schema import Expr, Operator
from dllint.inference.values import External, Site
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.rules.data.kept_parts import KeptParts
from dllint.rules.data.parts import Part
from dllint.rules.data.samplers import DRAWING

if TYPE_CHECKING:
    from dllint.inference.engine import World

_SETTLING = frozenset(
    {
        *("clip", "clamp", "abs", "absolute", "fabs", "round", "rint", "floor", "ceil", "trunc", "sort", "sorted"),
        *("nan_to_num", "minimum", "maximum", "sign", "unique", "asarray", "array", "int", "float", "str", "list"),
        *("tuple", "set", "dict", "Path", "lower", "upper", "strip", "astype", "long", "double", "bool", "where"),
        *("as_tensor", "from_numpy", "tensor", "numpy", "tolist", "copy", "clone", "deepcopy", "contiguous"),
    }
)
"""Functions and methods that return what they already returned unchanged."""

_STATISTICS = frozenset(
    {
        *("mean", "min", "max", "std", "var", "sum", "norm", "median", "percentile", "quantile", "ptp", "amin", "amax"),
        *("nanmean", "nanmin", "nanmax", "nanstd", "argmin", "argmax", "average", "normalize", "aminmax", "std_mean"),
    }
)
"""Functions and methods that reduce an array to what it is normalized by."""

_OF_SHAPE = frozenset({"shape", "size", "ndim", "dtype", "dim", "device", "numel", "nbytes"})
"""Attributes and methods that tell nothing of the elements of an array."""
_SHAPED = frozenset({"len", "zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "isinstance", "type"})
"""Functions that ask their argument for the same."""
_OF_NUMBERS = frozenset({"*", "/", "-", "**", "@", "//"})
"""Operators of numbers, arrays and tensors."""
_REORDERING = frozenset({"transpose", "permute", "flip", "fliplr", "flipud", "roll", "rot90", "t", "dot", "matmul"})
"""Functions and methods that do more if they are called again."""
_FUNCTIONS = _REORDERING | {
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "einsum",
    "mm",
    "bmm",
    "pad",
    "warpAffine",
}
_CALCULATING = ("numpy.", "torch.", "cv2.")
_KEEPING = frozenset({"|", "&", "%"})
"""Operators whose result is the same if they are applied again."""


class Repeats:
    """Compares what is written with what it is computed from, in the code that reads an item of one dataset."""

    def __init__(self, world: World, parts: KeptParts) -> None:
        self.world = world
        self.parts = parts

    def adds_up(self, op: str, value: Expr | None, part: Part, site: Site) -> bool:
        """Whether an augmented assignment changes the part each time that it runs."""
        if op in _KEEPING or value is None or value in (Constant(0), Constant(1), Constant(0.0), Constant(1.0)):
            return op in ("+", "-") and value in (Constant(1), Constant(1.0))
        return not self.normalizes(value, part, site)

    def differs(self, target: Subscript, value: Expr, part: Part, site: Site) -> bool:
        """Whether a value is calculated from the elements that it replaces, or from others that the item replaces."""
        if not self._meets(target, value, part, site):
            return False
        if self._exchanges(target, value, part, site):
            return True
        return self._calculates(target, value, part, site) and not self.normalizes(value, part, site)

    def _meets(self, target: Subscript, value: Expr, part: Part, site: Site) -> bool:
        """Whether a value is made of the elements that it replaces, or of others that the item replaces."""
        if any(one == target for one in walk(value, site.file)):
            return True
        whole = isinstance(target.index, Opaque) or target.index == Slice(None, None, None)
        own = _columns(target.index)
        # What a function does with the whole part may read other elements alone: `row["image"] = read(row)`.
        open_ended = not isinstance(target.index, (Slice, Opaque)) and any(
            isinstance(one, CallRef) for one, _ in self._behind(value, site)
        )
        for index in self.reads(value, site, part):
            if whole or index == target.index or (index is None and not open_ended):
                return True
            read = None if index is None else _columns(index)
            if own is not None and read is not None and (own | self._replaced(target.value, site)) & read:
                return True
        return False

    def _exchanges(self, target: Subscript, value: Expr, part: Part, site: Site) -> bool:
        """Whether a value comes from an element that the function replaces by the one at the target:
        `box["left"], box["right"] = box["right"], box["left"]`."""
        own, read = _columns(target.index), self._read(value, part, site)
        if not own or not read or own & read:
            return False
        return any(
            store.base == target.value
            and not isinstance(store.key, str)
            and store.value is not None
            and read & (_columns(store.key) or frozenset())
            and own & self._read(store.value, part, site)
            for store in site.file.stores(site.scope)
        )

    def _read(self, value: Expr, part: Part, site: Site) -> frozenset[object]:
        """The columns of the part that a value is, under the name of a local variable too."""
        written = list(self._bound(value, site)) if isinstance(value, Name) else [(value, site)]
        found: set[object] = set()
        for one, where in written:
            base = self.parts.of(one.value, where) if isinstance(one, Subscript) else None
            if isinstance(one, Subscript) and base is not None and base.key == part.key and base.depth:
                found |= _columns(one.index) or set()
        return frozenset(found)

    def _calculates(self, target: Subscript, value: Expr, part: Part, site: Site) -> bool:
        """Whether something is done with the elements that would change the result once more: arithmetic, another
        order, a part cut off; not a conversion or a limit, which leave what they have already done."""
        for one, where in self._behind(value, site):
            match one:
                case BinOp(op) if op not in _KEEPING:
                    changes = True
                case UnaryOp():
                    changes = True
                case Subscript(_, index):
                    # What is looked up by the element is another kind of value, by which there is nothing to look up.
                    found = any(True for _ in self.reads(index, where, part))
                    changes = found or _cuts(index) or (_permutes(index) and index != target.index)
                case CallRef(index):
                    changes = self._is_calculation(index, where)
                case _:
                    changes = False
            if changes and any(True for _ in self.reads(one, where, part)):
                return True
        return False

    def _is_calculation(self, index: int, site: Site) -> bool:
        call = site.file.calls[index]
        name = last_name(call.func)
        if name in _SETTLING:
            return False
        targets = self.world.calls.targets(site.file, index, site.frame)
        if targets:
            return any(_has_arithmetic(one.function.file, one.function.scope) for one in targets)
        if name in _REORDERING:
            return True
        callees = self.world.values.evaluate(call.func, site)
        return any(
            isinstance(one, External) and one.name.startswith(_CALCULATING) and name in _FUNCTIONS for one in callees
        )

    def _replaced(self, base: Expr, site: Site) -> frozenset[object]:
        """The columns of an array that a function replaces."""
        found: set[object] = set()
        for store in site.file.stores(site.scope):
            if store.base == base and not isinstance(store.key, str):
                found |= _columns(store.key) or set()
        return frozenset(found)

    def lands_anywhere(self, key: Expr, value: Expr, part: Part, site: Site) -> bool:
        """Whether a store chooses its place at random: what other epochs have overwritten stays so."""
        if part.kind == "container" or any(True for _ in self.reads(value, site, part)):
            return False
        if self._draws(key, site):
            return True
        for index in site.file.regions(site.region):
            region = site.file.facts.regions[index]
            if region.kind == "if" and region.expr is not None:
                where = Site(site.file, site.scope, region.parent, (region.span.line, region.span.column), site.frame)
                if not isinstance(key, (Constant, Slice)) and self._draws(region.expr, where):
                    return True
            elif region.kind == "for" and region.expr is not None and self._draws(region.expr, site):
                return True
        return False

    def _draws(self, expr: Expr, site: Site) -> bool:
        return any(
            isinstance(one, CallRef) and last_name(where.file.calls[one.index].func) in DRAWING
            for one, where in self._behind(expr, site)
        )

    def _behind(self, expr: Expr, site: Site) -> Iterator[tuple[Expr, Site]]:
        """An expression with all its parts, and what the names among these are bound to."""
        waiting = [(expr, site)]
        seen: set[tuple[int, Site]] = set()
        while waiting:
            expr, where = waiting.pop()
            for part in walk(expr, where.file):
                yield part, where
                for bound in self._bound(part, where) if isinstance(part, Name) else ():
                    if (id(bound[0]), bound[1]) not in seen:
                        seen.add((id(bound[0]), bound[1]))
                        waiting.append(bound)

    def _bound(self, name: Name, site: Site) -> Iterator[tuple[Expr, Site]]:
        """What the statements of the same function assign to a name."""
        for binding, where in self.world.symbols.lookup(name.id, site):
            if binding.kind == "value" and binding.expr is not None and where.scope == site.scope:
                yield binding.expr, where

    def normalizes(self, expr: Expr, part: Part, site: Site) -> bool:
        """Whether an expression is computed from statistics of the part, as its mean: after `row -= row.mean()`, the
        same again changes nothing. Functions of the project count by what they call."""
        for one, where in self._behind(expr, site):
            if not isinstance(one, CallRef):
                continue
            call = where.file.calls[one.index]
            given = [argument.value for argument in call.args]
            if isinstance(call.func, Attribute):
                given.append(call.func.value)
            if not any(True for argument in given for _ in self.reads(argument, where, part)):
                continue
            if last_name(call.func) in _STATISTICS:
                return True
            for target in self.world.calls.targets(where.file, one.index, where.frame):
                file, scope = target.function.file, target.function.scope
                if any(last_name(file.calls[index].func) in _STATISTICS for index in file.calls_of(scope)):
                    return True
        return False

    def reads(self, expr: Expr, site: Site, part: Part, shape: bool = False) -> Iterator[Expr | None]:
        """The indices by which an expression reads elements of what is kept under the same attribute, None for all of
        them. Its shape is none, unless `shape`."""
        waiting = [(expr, site)]
        seen: set[tuple[int, Site]] = set()
        while waiting:
            expr, where = waiting.pop()
            if isinstance(expr, Subscript):
                own = self.parts.of(expr.value, where)
                if own is not None and own.key == part.key:
                    # An element of another item may be any.
                    yield expr.index if own.depth else None
                    waiting.append((expr.index, where))
                    continue
            if isinstance(expr, (Name, Subscript)):
                found = self.parts.of(expr, where)
                if found is not None and found.key == part.key and (found.depth or found.is_array):
                    indices = list(self._elements(expr, where, part)) if isinstance(expr, Name) else []
                    yield from indices or (None,)
                    continue
            if isinstance(expr, Name):
                new = [one for one in self._bound(expr, where) if (id(one[0]), one[1]) not in seen]
                seen.update((id(bound), at) for bound, at in new)
                waiting += new
            elif not shape and _tells_shape(expr, where):
                continue
            elif isinstance(expr, CallRef):
                call = where.file.calls[expr.index]
                waiting += [(one, where) for one in (call.func, *(argument.value for argument in call.args))]
            else:
                waiting += [(one, where) for one in expr.children()]

    def _elements(self, name: Name, site: Site, part: Part) -> Iterator[Expr]:
        """The indices by which the elements are taken that a name stands for, if each assignment takes some:
        `xy = row[0:2]`."""
        bound = list(self._bound(name, site))
        for expr, where in bound:
            own = self.parts.of(expr.value, where) if isinstance(expr, Subscript) else None
            if own is None or own.key != part.key or not own.depth:
                return
        yield from (expr.index for expr, _ in bound if isinstance(expr, Subscript))


def _cuts(index: Expr) -> bool:
    """Whether a slice takes less, or another order, of what it has already taken: `words[1:]`, `words[:-1]`."""
    if not isinstance(index, Slice):
        return False
    upper = index.upper.value if isinstance(index.upper, Constant) else None
    return index.lower not in (None, Constant(0)) or index.step is not None or (isinstance(upper, int) and upper < 0)


def _permutes(index: Expr) -> bool:
    """Whether an index lists the columns that it takes."""
    last = index.elements[-1] if isinstance(index, Tuple) and index.elements else index
    return isinstance(last, List) or (isinstance(last, Slice) and last.step is not None)


def _has_arithmetic(file: SourceFile, scope: int) -> bool:
    """Whether a function calculates with numbers, rather than with texts."""
    events = file.scopes[scope].events
    if any(isinstance(one.detail, Operator) and one.detail.op in _OF_NUMBERS for one in events):
        return True
    values = [one.value for one in events if one.kind in ("assign", "return") and one.value is not None]
    parts = (part for value in values for part in walk(value, file))
    return any(isinstance(part, BinOp) and part.op in _OF_NUMBERS for part in parts)


def _tells_shape(expr: Expr, site: Site) -> bool:
    """Whether an expression reads nothing of an array but its shape: `row.shape`, `len(row)`."""
    if isinstance(expr, CallRef):
        return last_name(site.file.calls[expr.index].func) in _SHAPED | _OF_SHAPE
    return isinstance(expr, Attribute) and expr.attr in _OF_SHAPE


def _columns(index: Expr) -> frozenset[object] | None:
    """The numbers or names that an index selects along its last axis; None if it may be any."""
    last = index.elements[-1] if isinstance(index, Tuple) and index.elements else index
    match last:
        case Constant(value) if value is not None:
            return frozenset((value,))
        case List(elements) if all(isinstance(one, Constant) for one in elements):
            return frozenset(one.value for one in elements if isinstance(one, Constant))
        case Slice(lower, upper, None):
            first = 0 if lower is None else lower.value if isinstance(lower, Constant) else None
            end = upper.value if isinstance(upper, Constant) else None
            if isinstance(first, int) and isinstance(end, int) and 0 <= first <= end <= first + 99:
                return frozenset(range(first, end))
    return None
