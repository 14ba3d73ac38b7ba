"""Expressions in item code whose values share memory with what the dataset keeps: its arrays, tensors, lists and dicts,
the parts of them, and views."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Comprehension,
    Constant,
    Element,
    IfExp,
    List,
    Name,
    Opaque,
    Slice,
    Subscript,
    Tuple,
    Walrus,
)
from dllint.facts.schema import Call, Event, Expr, Operator
from dllint.inference import limits
from dllint.inference.answers import Table
from dllint.inference.values import (
    External,
    Function,
    Instance,
    Site,
    Value,
)
from dllint.libraries.copies import copied
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import ATTRIBUTES, FUNCTIONS, METHODS, READERS, canonical
from dllint.libraries.numpy import VIEWS
from dllint.libraries.records import RECORDS
from dllint.linking.bindings import Binding
from dllint.linking.source import last_name
from dllint.rules.data.kept_attributes import KeptAttributes
from dllint.rules.data.parts import NEW, Kind, Part, Taken, in_common
from dllint.rules.data.view_indices import ViewIndices

if TYPE_CHECKING:
    from dllint.project.model import Project

_COLLECTIONS = frozenset({"container", "unpickled", "cut", "listed"})
_WITH_VIEWS = frozenset({"array", "tensor", "unpickled"})
"""Kinds that may have views, which share their memory."""
_OF_OBJECTS = frozenset({"container", "object", "listed"})
"""Kinds whose elements are objects of their own."""
_LISTING = frozenset({Name("list"), Name("tuple"), Name("sorted"), Name("reversed")})
"""Functions that make a new list of the same elements."""
_SEVERAL = frozenset({"split", "chunk", "unbind", "hsplit", "vsplit", "tensor_split", "split_with_sizes"})
"""Functions and methods that return several views."""
_CONVERTING = frozenset({"asarray", "as_tensor"})
"""Functions that copy if they are asked for another type."""
_COMPUTED = frozenset({"values", "index", "columns", "loc", "iloc", "at", "iat", "flat", "data", "real", "imag", "str"})
"""Attributes of arrays and tables that are computed from these, and therefore may be copies."""


class KeptParts:
    """Finds the parts of what one dataset keeps among the expressions of the code that reads an item of it."""

    def __init__(self, project: Project, value: Instance) -> None:
        self.project = project
        self.world = project.world
        self.runs = {(run.file.path, run.scope): run for run in project.item_code.all_runs(value)}
        self.indices = ViewIndices(self.world, self.runs)
        self._known: Table[Part | None] = {}
        self.attributes = KeptAttributes(project, value, self.runs.values())

    def of(self, expr: Expr, site: Site, depth: int = 0) -> Part | None:
        """The part that an expression surely is, on every way that leads to the site; None if it may be anything
        else, a copy among them."""
        if limits.ARRAY_STEPS.exceeded(depth):
            return None
        key = (expr, site)
        return self.world.memory.remember(self._known, key, lambda: self._find(expr, site, depth + 1), None)

    def _find(self, expr: Expr, site: Site, depth: int) -> Part | None:
        match expr:
            case Name():
                return self._named(expr, site, depth)
            case Attribute(base, attr):
                part = self.of(base, site, depth)
                if part is None or (part.kind == "object" and not part.depth):
                    return self._kept_as(base, attr, expr, site) or self._given_out(base, attr, site, "container")
                if part.kind == "object":
                    return None if self.attributes.computes(base, attr, site) else self._inside(part, expr, site)
                if attr not in ATTRIBUTES:
                    unpickled = part.kind == "unpickled" and bool(part.depth) and attr not in _COMPUTED
                    return replace(part, depth=part.depth + 1, arrayed=False) if unpickled else None
                return self._viewed(part, part.kind) if part.is_array else self._viewed(part) if attr == "T" else None
            case Subscript(Element(CallRef(index)), Constant(position)):
                return self._looped(index, position, site, depth)
            case Subscript(CallRef() as call, Constant(int(position))) if (
                part := self._result(call, site, depth, position)
            ) is not None:
                return part
            case Subscript(base, index):
                return self._item(base, index, expr, site, depth)
            case Element(iterable):
                return self._element(iterable, expr, site, depth)
            case CallRef():
                return self._result(expr, site, depth)
            case Walrus():
                return self.of(expr.value, site, depth)
            case Comprehension("list", None, Name() as element, ((target, iterable, _),)) if element == target:
                return self._listed(iterable, site, depth)
            case IfExp():
                decided = self.world.values.truth(self.world.values.evaluate(expr.test, site))
                ways = [part for part, on in ((expr.body, True), (expr.orelse, False)) if decided in (None, on)]
                return in_common([self.of(one, site, depth) for one in ways])
        return None

    # Names

    def _named(self, expr: Name, site: Site, depth: int) -> Part | None:
        found = self.world.symbols.lookup(expr.id, site)
        # What the dataset was made with may rule a branch out.
        return in_common([self._bound(expr.id, *one, depth) for one in found if not self.world.impossible(one[1])])

    def _bound(self, name: str, binding: Binding, where: Site, depth: int) -> Part | None:
        event = binding.event
        if binding.kind == "param":
            return self._given(name, where, depth)
        if binding.kind != "value" or event is None or binding.expr is None:
            return None
        if isinstance(event.detail, Operator):
            part = self.of(Name(name), where, depth)
            changed = part is not None and (part.kind == "tensor" or part.arrayed)
            return part if changed else None
        part = self.of(binding.expr, where, depth)
        if part is None or part.taken is not None or not (part.depth or part.is_array):
            return part
        return replace(part, taken=Taken(where.file, event, binding.expr))

    def _given(self, name: str, where: Site, depth: int) -> Part | None:
        if where.frame is None or where.frame.actuals is None:
            return None
        bound = self.world.parameters.bound(Function(where.file, where.scope), name, where.frame)
        actual = bound.actual
        if bound.case != "actual" or actual is None or actual.expr is None or actual.site is None:
            return None
        part = self.of(actual.expr, actual.site, depth)
        if part is None or part.taken is not None or not part.depth:
            return part
        call = self._statement(actual.site)
        return part if call is None else replace(part, taken=Taken(actual.site.file, call, actual.expr))

    @staticmethod
    def _statement(site: Site) -> Event | None:
        at = site.at
        events = site.file.scopes[site.scope].events
        return next((one for one in events if (one.span.line, one.span.column) == at), None)

    # What objects keep

    def _kept_as(self, base: Expr, attr: str, expr: Expr, site: Site) -> Part | None:
        holder = self.attributes.holder(base, attr, site)
        kind = self.attributes.kind(expr, site) if holder is not None else None
        if holder is None or kind is None:
            return None
        return Part(holder, attr, kind, arrayed=kind in ("array", "tensor"), in_tensor=kind == "tensor")

    def _given_out(self, base: Expr, attr: str, site: Site, kind: Kind) -> Part | None:
        """The records that a library's object keeps, by the attribute or method that gives them out:
        `self.coco.imgToAnns`."""
        if not isinstance(base, Attribute) or (holder := self.attributes.holder(base.value, base.attr, site)) is None:
            return None
        values = self.world.values.evaluate(base, site)
        keeps = (
            isinstance(one, Instance)
            and isinstance(one.of, External)
            and READERS.get(f"{canonical(one.of.name)}().{attr}") == RECORDS
            for one in values
        )
        return Part(holder, base.attr, kind) if values and all(keeps) else None

    # Steps

    @staticmethod
    def _viewed(part: Part, kind: Kind = "array") -> Part | None:
        """The view of a whole array; what a pickle holds is one if it has such views."""
        return None if part.kind not in _WITH_VIEWS else replace(part, kind=kind, arrayed=True)

    def indexed(self, base: Expr, index: Expr, site: Site, depth: int = 0) -> Part | None:
        """The part that an expression is, as `of`, where an index is taken of it: only an array has slices along
        several axes (`row[i, :2]`)."""
        part = self.of(base, site, depth)
        if part is not None and part.kind == "cut" and isinstance(index, Tuple):
            several = any(isinstance(one, (Slice, Opaque)) for one in index.elements)
            return replace(part, kind="array", arrayed=True) if several else None
        return part

    def _item(self, base: Expr, index: Expr, expr: Expr, site: Site, depth: int) -> Part | None:
        part = self.indexed(base, index, site, depth)
        if part is None:
            return None
        axes = index.elements if isinstance(index, Tuple) else (index,)
        cut = any(isinstance(one, (Slice, Opaque)) for one in axes)
        if part.kind == "object" or (part.kind in NEW and self._replaced(expr, site)):
            return None
        if part.kind in NEW and cut:
            return part
        if part.kind in ("container", "listed", "cut"):
            return None if cut else self._inside(part, expr, site)
        text = self.indices.is_text(index, site)
        if part.kind in ("copied", "in copy"):
            # Only a dict has such keys.
            return self._inside(part, expr, site) if text else self._in_copy(part)
        if part.is_array and text:
            # A field of an archive or of a structured array.
            return None
        if not text and not all(self.indices.is_plain(one, site) for one in axes):
            return None
        if part.kind == "unpickled" and not isinstance(index, Tuple):
            # The slice of a list is a copy.
            return replace(part, kind="cut", depth=part.depth + 1) if cut else self._inside(part, expr, site)
        kind: Kind = "array" if part.kind == "unpickled" else part.kind
        return replace(part, kind=kind, depth=part.depth + 1, arrayed=cut or self._is_matrix(base, site, len(axes)))

    @staticmethod
    def _replaced(expr: Expr, site: Site) -> bool:
        """Whether an earlier statement of the function stores a value of its own there: `row["boxes"] = list(…)`."""
        return any(
            event.target == expr and not isinstance(event.detail, Operator)
            for event in site.file.scopes[site.scope].events_of("assign")
            if site.at is not None and (event.span.line, event.span.column) < site.at
        )

    def _inside(self, part: Part, expr: Expr, site: Site) -> Part | None:
        """An element of a list or dict, or of what a pickle holds."""
        kind = self.attributes.kind(expr, site, inside=part.kind in _OF_OBJECTS)
        if kind is None:
            return None
        # An element of a list that is an array has dimensions; an element of that array may be a number.
        arrayed = part.kind in _OF_OBJECTS and kind in ("array", "tensor")
        in_tensor = part.in_tensor or kind == "tensor"
        return replace(part, kind=kind, depth=part.depth + 1, arrayed=arrayed, in_tensor=in_tensor)

    def _is_matrix(self, base: Expr, site: Site, axes: int) -> bool:
        """Whether an array has more dimensions than `axes`, by the shape that it is created with."""
        for value in self.world.values.evaluate(base, site):
            made = value.file.calls[value.call] if isinstance(value, Instance) and value.file is not None else None
            plain = isinstance(value, Instance) and isinstance(value.of, External) and "[" not in value.of.name
            shape = made.args[0].value if made is not None and plain and made.args else None
            if not isinstance(shape, Tuple) or len(shape.elements) <= axes:
                return False
        return True

    def _looped(self, index: int, position: object, site: Site, depth: int) -> Part | None:
        """What a loop over `enumerate`, `zip` or `items` binds to the target at a position."""
        call = site.file.calls[index]
        name, args = last_name(call.func), [one.value for one in call.args if one.keyword is None]
        if name == "enumerate" and position == 1 and args:
            return self.of(Element(args[0]), site, depth)
        if name == "zip" and isinstance(position, int) and position < len(args):
            return self.of(Element(args[position]), site, depth)
        if name == "items" and position == 1 and isinstance(call.func, Attribute):
            return self._element(call.func.value, Subscript(Element(CallRef(index)), Constant(1)), site, depth)
        return None

    def _element(self, iterable: Expr, expr: Expr, site: Site, depth: int) -> Part | None:
        call = site.file.calls[iterable.index] if isinstance(iterable, CallRef) else None
        if call is not None and isinstance(call.func, Attribute) and call.func.attr == "values" and not call.args:
            iterable = call.func.value
        part = self.of(iterable, site, depth)
        if part is None:
            return None
        if part.kind in ("copied", "in copy"):
            return self._in_copy(part)
        if part.is_array:
            return replace(part, depth=part.depth + 1, arrayed=self._is_matrix(iterable, site, 1))
        return self._inside(part, expr, site)

    def _listed(self, iterable: Expr, site: Site, depth: int) -> Part | None:
        """A new list of the elements of a part: `[one for one in row if one["area"]]`."""
        part = self.of(iterable, site, depth)
        return replace(part, kind="listed") if part is not None and part.kind in _COLLECTIONS else None

    @staticmethod
    def _in_copy(part: Part) -> Part:
        return replace(part, kind="in copy", depth=part.depth + 1, arrayed=False)

    def _copied(self, expr: CallRef, site: Site, depth: int) -> Part | None:
        """A copy that has the same elements: `copy.copy(row)`, `dict(row)`, `row.copy()`."""
        whole = copied(site.file, expr)
        part = self.of(whole, site, depth) if whole is not None else None
        if part is None or part.kind not in ("container", "unpickled", "cut", "listed", "copied"):
            return None
        func = site.file.calls[expr.index].func
        if last_name(func) == "deepcopy":
            return None
        if part.kind == "container" or func == Name("dict"):
            return replace(part, kind="listed")
        callees = self.world.values.evaluate(func, site)
        shallow = isinstance(func, Attribute) and func.value == whole and func.attr == "copy"
        shallow = shallow or (bool(callees) and all(one == External("copy.copy") for one in callees))
        return replace(part, kind="copied") if shallow else None

    # Calls

    def _result(self, expr: CallRef, site: Site, depth: int, position: int | None = None) -> Part | None:
        """What a call returns; with `position`, the element of the tuple that the project's function returns."""
        call = site.file.calls[expr.index]
        if position is None and (same := self._copied(expr, site, depth)) is not None:
            return same
        if (
            position is None
            and isinstance(call.func, Attribute)
            and (part := self.of(call.func.value, site, depth)) is not None
        ):
            if call.func.attr == "get" and call.args and part.kind in ("container", "unpickled"):
                return self._inside(part, expr, site)
            return self._of_method(part, call)
        if position is None and isinstance(call.func, Attribute):
            if (given := self._given_out(call.func.value, call.func.attr, site, "listed")) is not None:
                return given
        elif position is None and call.func in _LISTING and call.args and call.args[0].keyword is None:
            return self._listed(call.args[0].value, site, depth)
        callees = self.world.calls.callees(site.file, expr.index, site.frame)
        return in_common([self._returned(one, expr, site, depth, position) for one in callees])

    def _of_method(self, part: Part, call: Call) -> Part | None:
        """What a method of an array or tensor returns, if it is a view."""
        name = last_name(call.func)
        if part.kind != "tensor":
            return self._viewed(part) if name in VIEWS else None
        operation = METHODS.get(name)
        if operation is None or operation.effect != HOLDS or operation.unless == "type" or name in _SEVERAL:
            return None
        if operation.unless == "arguments" and call.args:
            return None
        return self._viewed(part, "array" if name == "numpy" else "tensor")

    def _returned(self, callee: Value, expr: CallRef, site: Site, depth: int, position: int | None) -> Part | None:
        call = site.file.calls[expr.index]
        if isinstance(callee, External):
            if position is not None:
                return None
            library, _, name = canonical(callee.name).rpartition(".")
            operation = FUNCTIONS.get(f"{library}.{name}")
            same = operation is not None and operation.effect == HOLDS and name not in _SEVERAL
            if library not in ("numpy", "torch") or not call.args or not (same or name in VIEWS):
                return None
            if name in _CONVERTING and len(call.args) > 1:
                return None
            part = self.of(call.args[0].value, site, depth)
            if part is not None and part.kind == "cut" and name == "from_numpy":
                part = replace(part, kind="array")
            return None if part is None else self._viewed(part, "tensor" if library == "torch" else "array")
        targets = self.world.calls.targets(site.file, expr.index, site.frame)
        found: list[Part | None] = []
        for target in targets:
            file, scope = target.function.file, target.function.scope
            if file.scopes[scope].is_generator or target.guessed:
                return None
            for event in file.scopes[scope].events_of("return"):
                where = Site(file, scope, event.region, (event.span.line, event.span.column), target.frame)
                if not self.world.impossible(where):
                    value = event.value if position is None else _at(event.value, position)
                    found.append(self.of(value, where, depth) if value is not None else None)
        return in_common(found)


def _at(expr: Expr | None, position: int) -> Expr | None:
    """The element at a position of a tuple as written."""
    elements = expr.elements if isinstance(expr, (Tuple, List)) else ()
    return elements[position] if 0 <= position < len(elements) else None
