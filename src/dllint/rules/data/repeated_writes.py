"""Whether what a statement writes into a part of what the dataset keeps is other than what it wrote there before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, List, Name, Opaque, Slice, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Site
from dllint.linking.expressions import walk
from dllint.linking.source import last_name
from dllint.rules.data.kept_parts import KeptParts
from dllint.rules.data.parts import Part

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

_DRAWS = frozenset(
    {
        *("random", "rand", "randn", "randint", "randrange", "random_sample", "uniform", "normal", "choice", "choices"),
        *("sample", "permutation", "randperm", "shuffle", "integers", "bernoulli", "binomial", "multinomial"),
        *("rand_like", "randn_like", "randint_like", "standard_normal", "gauss"),
    }
)
"""Functions and methods that draw random numbers."""

_OF_SHAPE = frozenset({"shape", "size", "ndim", "dtype", "dim", "device", "numel", "nbytes"})
"""Attributes and methods that tell nothing of the elements of an array."""
_SHAPED = frozenset({"len", "zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "isinstance", "type"})
"""Functions that ask their argument for the same."""
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
        """Whether a value is computed from the elements that it replaces, or from others that the item replaces."""
        if self._settles(value, target, site) or self.normalizes(value, part, site):
            return False
        if any(one == target for one in walk(value, site.file)):
            return True
        own = _columns(target.index)
        # What a function does with the whole part may read other elements alone: `row["image"] = read(row)`.
        open_ended = not isinstance(target.index, (Slice, Opaque)) and any(
            isinstance(one, CallRef) for one, _ in self._behind(value, site)
        )
        for index in self.reads(value, site, part):
            if index == target.index or (index is None and not open_ended):
                return True
            if index is None:
                continue
            read = _columns(index)
            if own is not None and read is not None and own & read:
                return True
            if own is not None and read is not None and read & self._replaced(target.value, site):
                return True
        return False

    def _replaced(self, base: Expr, site: Site) -> frozenset[object]:
        """The columns of an array that a function replaces."""
        found: set[object] = set()
        for store in site.file.stores(site.scope):
            if store.base == base and not isinstance(store.key, str):
                found |= _columns(store.key) or set()
        return frozenset(found)

    @staticmethod
    def _settles(value: Expr, target: Subscript, site: Site) -> bool:
        """Whether a function is applied to the replaced element that returns the same if it is applied again."""
        call = site.file.calls[value.index] if isinstance(value, CallRef) else None
        if call is None or last_name(call.func) not in _SETTLING:
            return False
        given = [one.value for one in call.args]
        if isinstance(call.func, Attribute):
            given.append(call.func.value)
        return target in given

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
            isinstance(one, CallRef) and last_name(where.file.calls[one.index].func) in _DRAWS
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
                    yield None
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
