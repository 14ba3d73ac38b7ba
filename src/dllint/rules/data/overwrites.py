"""Statements of item code that change what the dataset keeps, so that reading the item again gives another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Comprehension,
    Constant,
    List,
    Name,
    Opaque,
    Slice,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Call, Event, Expr, Operator
from dllint.inference.values import Class, Instance, Site
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.item_run import ItemRun
from dllint.rules.data.kept_parts import KeptParts
from dllint.rules.data.parts import NEW, Part
from dllint.rules.data.repeated_writes import Repeats
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_IN_PLACE = frozenset(
    {
        *("add_", "sub_", "mul_", "div_", "pow_", "neg_", "addcmul_", "addcdiv_", "lerp_", "exp_", "log_", "square_"),
        *("reciprocal_", "cumsum_", "cumprod_", "bitwise_not_", "logical_not_", "subtract_", "multiply_", "divide_"),
    }
)
"""Methods of tensors that change them, and change them further when they are called again."""

_UFUNCS = frozenset(
    {
        *("add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "power", "negative", "exp", "log"),
        *("sqrt", "square", "reciprocal", "sub", "mul", "div", "pow", "neg", "dot", "matmul", "mm", "bmm"),
    }
)
"""Functions with the parameter `out` that do the same."""

_FILLING = frozenset(
    {"append", "appendleft", "add", "extend", "insert", "setdefault", "update", "pop", "popleft", "clear"}
)
"""Methods that change which elements a list or dict has."""
_GROWING = frozenset({"append", "appendleft", "extend", "extendleft", "insert"})
"""Methods that make a list longer each time."""
_TAKING_OUT = frozenset({"pop", "popleft", "popitem", "remove"})
"""Methods that take an element out of a list or dict, which the next call does not find."""
_OF_TEXTS = frozenset({"+", "*", "%"})
"""Operators of texts."""
_RESETTING = frozenset({"fill", "fill_", "zero_"})
"""Methods that give all elements of an array one value."""


@dataclass(frozen=True)
class Overwrite:
    """A statement of `run` that changes a part of what the dataset keeps, however often it did before.

    `text` is the statement or the call, shortened. `of_array`: only an array can be changed so. `takes_out`: the
    statement removes an entry, and fails where it is gone.
    """

    part: Part
    run: ItemRun
    span: Span
    statement: Span
    text: str
    of_array: bool
    takes_out: bool = False


class Overwrites:
    """Finds such statements in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._of_kind: dict[int, list[Overwrite]] = {}

    def of(self, value: Instance) -> list[Overwrite]:
        """Those that reading an item of a dataset runs, in the order of calls and lines."""
        assert isinstance(value.of, Class)
        kind = self.project.item_code.kind(value)
        found = self._of_kind.get(kind)
        if found is None:
            found = self._of_kind[kind] = list(_Search(self.project, value).found())
        return found


class _Search:
    """The search in the code of one dataset."""

    def __init__(self, project: Project, value: Instance) -> None:
        self.project = project
        self.world = project.world
        self.value = value
        self.parts = KeptParts(project, value)
        self.repeats = Repeats(project.world, self.parts)
        self.filled = frozenset(self._filled())
        self.noted = {attr for _, attr in self.filled} | self.parts.attributes.set_by_items
        """Attributes in which item code may note what it has done."""

    def _filled(self) -> Iterator[tuple[tuple[str, int], str]]:
        """The attributes whose elements item code sets or adds: caches."""
        for run in self.project.item_code.all_runs(self.value):
            for store in run.file.stores(run.scope):
                if not isinstance(store.key, str) and not isinstance(store.event.detail, Operator):
                    part = self.parts.of(store.base, self._site(run, store.event.region, store.event.span))
                    if part is not None and not part.depth:
                        yield part.key
            for index in run.file.calls_of(run.scope):
                func = run.file.calls[index].func
                if isinstance(func, Attribute) and func.attr in _FILLING:
                    part = self.parts.of(func.value, self.world.call_site(run.file, index, run.run.frame))
                    if part is not None and not part.depth:
                        yield part.key

    def found(self) -> Iterator[Overwrite]:
        for run in self.project.item_code.all_runs(self.value):
            if run.run.entry not in ("__getitem__", "__iter__", "__next__", "__getitems__"):
                continue
            if self._is_done_once(run):
                continue
            seen: set[Span] = set()
            for part, span, statement, text, site in (*self._stored(run), *self._changed(run), *self._called(run)):
                if span in seen or (part.depth and part.key in self.filled):
                    continue
                # `row[:, 0]`: only an array has such elements.
                of_array = part.is_array or ":" in text.partition("=")[0]
                if self.world.impossible(site) or self._is_told_by(part, site, of_array):
                    continue
                if run.run.entry != "__getitem__" and not of_array:
                    # The state of a stream.
                    continue
                seen.add(span)
                yield Overwrite(part, run, span, statement, text, of_array)
            yield from self._restructured(run)

    def _site(self, run: ItemRun, region: int, span: Span) -> Site:
        return Site(run.file, run.scope, region, (span.line, span.column), run.run.frame)

    # Statements

    def _stored(self, run: ItemRun) -> Iterator[tuple[Part, Span, Span, str, Site]]:
        """`row[:, 0] -= 1`, `row[:, 0] = 640 - row[:, 0]`, `row[places] = 0`."""
        for store in run.file.stores(run.scope):
            if isinstance(store.key, str) or store.value is None or store.event.kind != "assign":
                continue
            site = self._site(run, store.event.region, store.event.span)
            target = Subscript(store.base, store.key)
            part = self.parts.indexed(store.base, store.key, site)
            replaces = isinstance(store.base, Attribute) and run.picks(store.key) and run.expressions.count(target) > 2
            if part is None or part.kind in NEW or (part.taken is None and not replaces):
                continue
            if part.kind == "in copy" and not (isinstance(store.key, Constant) and isinstance(store.key.value, str)):
                continue
            if not replaces and not self._is_data(run, part, store.base, store.event):
                continue
            if not replaces and not part.depth and run.picks(store.key):
                # What the object notes of each item.
                continue
            operator = store.event.detail if isinstance(store.event.detail, Operator) else None
            if _counts(store.key, store.event):
                continue
            changes = (
                self.repeats.adds_up(operator.op, store.event.value, part, site)
                if operator is not None
                else self.repeats.differs(target, store.value, part, site)
            )
            if changes or (operator is None and self.repeats.lands_anywhere(store.key, store.value, part, site)):
                text = _assigned(target, store.event, run, store.value)
                yield part, store.event.span, store.event.span, text, site

    def _changed(self, run: ItemRun) -> Iterator[tuple[Part, Span, Span, str, Site]]:
        """`row -= mean` of an array or tensor, and `tokens += [0]` of a list."""
        for event in run.events:
            if event.kind != "assign" or not isinstance(event.detail, Operator) or not isinstance(event.target, Name):
                continue
            site = self._site(run, event.region, event.span)
            part = self.parts.of(event.target, site)
            if part is None or part.kind in NEW | {"in copy"} or not self._is_data(run, part, event.target, event):
                continue
            if part.kind == "tensor" or part.arrayed or self._is_array(run, event.target, event.detail.op):
                if part.kind not in ("container", "object") and self.repeats.adds_up(
                    event.detail.op, event.value, part, site
                ):
                    yield part, event.span, event.span, _assigned(event.target, event, run), site
            elif event.detail.op == "+" and _makes_list(event.value) and not part.is_array:
                yield part, event.span, event.span, _assigned(event.target, event, run), site

    def _called(self, run: ItemRun) -> Iterator[tuple[Part, Span, Span, str, Site]]:
        """`row.add_(noise)` and `np.multiply(row, 2, out=row)`."""
        for index in run.file.calls_of(run.scope):
            call = run.file.calls[index]
            changed = self._changed_by(call)
            if changed is None:
                continue
            site = self.world.call_site(run.file, index, run.run.frame)
            part = self.parts.of(changed, site)
            if (
                part is None
                or not (part.is_array or part.kind == "unpickled")
                or not self._is_data(run, part, changed, None)
            ):
                continue
            given = [one.value for one in call.args if one.keyword != "out" and one.value != changed]
            if not any(self.repeats.normalizes(one, part, site) for one in given):
                yield part, call.span, call.statement, render(CallRef(index), run.file, 40), site

    def _restructured(self, run: ItemRun) -> Iterator[Overwrite]:
        """`tokens.append(0)`, `record.pop("image")` and `del record["image"]`, where item code uses the list or dict
        besides."""
        changes = list(self._restructuring(run)) if run.run.entry == "__getitem__" else []
        for name, site, span, statement, text, fails in changes:
            part = self.parts.of(name, site)
            if part is None or not part.depth or part.taken is None or part.kind not in ("container", "unpickled"):
                continue
            used = sum(other == name for other, *_ in changes) + sum(event.target == name for event in run.events)
            if part.key in self.filled or run.expressions.count(name) <= used or self.world.impossible(site):
                continue
            if not self._is_told_by(part, site, False):
                yield Overwrite(part, run, span, statement, text, False, fails)

    def _restructuring(self, run: ItemRun) -> Iterator[tuple[Name, Site, Span, Span, str, bool]]:
        """The statements that add to a list or dict or take something out, the latter also with whether that fails
        where it is gone."""
        for index in run.file.calls_of(run.scope):
            call = run.file.calls[index]
            func = call.func
            if not isinstance(func, Attribute) or not isinstance(func.value, Name):
                continue
            defaulted = func.attr == "pop" and len(call.args) > 1
            if func.attr not in (*_GROWING, *_TAKING_OUT) or (defaulted and index in run.file.discarded):
                continue
            fails = func.attr in _TAKING_OUT and not defaulted and bool(call.args)
            site = self.world.call_site(run.file, index, run.run.frame)
            yield func.value, site, call.span, call.statement, render(CallRef(index), run.file, 40), fails
        for event in run.events:
            target = event.target
            if event.kind == "delete" and isinstance(target, Subscript) and isinstance(target.value, Name):
                site = self._site(run, event.region, event.span)
                yield target.value, site, event.span, event.span, f"del {render(target, run.file, 40)}", True

    @staticmethod
    def _changed_by(call: Call) -> Expr | None:
        """The tensor or array that a call changes."""
        if isinstance(call.func, Attribute) and call.func.attr in _IN_PLACE:
            return call.func.value
        if last_name(call.func) in _UFUNCS:
            return next((one.value for one in call.args if one.keyword == "out"), None)
        return None

    # Conditions

    @staticmethod
    def _is_data(run: ItemRun, part: Part, base: Expr, event: Event | None) -> bool:
        """Whether what a statement changes is data rather than state: an element, or a whole array under a name that
        is neither a counter nor a buffer, which the function fills first."""
        if part.depth:
            return True
        if not part.is_array or part.taken is None:
            return False
        if event is not None and isinstance(event.value, Constant) and event.detail in (Operator("+"), Operator("-")):
            return False
        calls = (run.file.calls[index].func for index in run.file.calls_of(run.scope))
        if any(isinstance(one, Attribute) and one.value == base and one.attr in _RESETTING for one in calls):
            return False
        return not any(
            store.base == base
            and isinstance(store.key, (Slice, Opaque))
            and not isinstance(store.event.detail, Operator)
            for store in run.file.stores(run.scope)
        )

    @staticmethod
    def _is_array(run: ItemRun, name: Name, op: str) -> bool:
        """Whether what is taken from an array or a file is an array itself, and neither a number nor a text: the
        function takes elements of it along two axes, or takes elements and does what a text cannot."""
        indices = [one.index for one in run.expressions if isinstance(one, Subscript) and one.value == name]
        return any(isinstance(one, Tuple) for one in indices) or (bool(indices) and op not in _OF_TEXTS)

    def _is_told_by(self, part: Part, site: Site, of_array: bool) -> bool:
        """Whether a test around a statement asks for the part itself: `if row.max() > 1: row /= 255`. What changes the
        elements of an array leaves its shape."""
        for index in site.file.regions(site.region):
            region = site.file.facts.regions[index]
            if region.kind in ("if", "while") and region.expr is not None:
                where = Site(site.file, site.scope, region.parent, (region.span.line, region.span.column), site.frame)
                read = self.repeats.reads(region.expr, where, part, shape=not of_array)
                if self._asks_what_is_noted(region.expr, site.file) or any(True for _ in read):
                    return True
        return False

    def _is_done_once(self, run: ItemRun) -> bool:
        """Whether a function is called under a test of what item code notes: `if not self.ready: self.prepare()`."""
        for hop in run.run.hops:
            call = hop.file.call_at(hop.span)
            for index in hop.file.regions(hop.file.calls[call].region) if call is not None else ():
                test = hop.file.facts.regions[index].expr
                if test is not None and self._asks_what_is_noted(test, hop.file):
                    return True
        return False

    def _asks_what_is_noted(self, test: Expr, file: SourceFile) -> bool:
        return any(isinstance(one, Attribute) and one.attr in self.noted for one in walk(test, file))


def _counts(key: Expr, event: Event) -> bool:
    """Whether a statement counts under a name, on purpose: `stats["reads"] += 1`."""
    named = isinstance(key, Constant) and isinstance(key.value, str)
    return named and isinstance(event.detail, Operator) and isinstance(event.value, Constant)


def _assigned(target: Expr, event: Event, run: ItemRun, value: Expr | None = None) -> str:
    """A statement as it is shown; `value` is what an element gets of several that are assigned at once."""
    operator = event.detail.op if isinstance(event.detail, Operator) else ""
    return f"{render(target, run.file, 30)} {operator}= {render(value or event.value, run.file, 30)}"


def _makes_list(expr: Expr | None) -> bool:
    """Whether an expression makes a list: `[0] * missing`."""
    if isinstance(expr, BinOp):
        return expr.op in ("*", "+") and any(map(_makes_list, (expr.left, expr.right)))
    return isinstance(expr, List) or (isinstance(expr, Comprehension) and expr.kind == "list")
