"""Caches that a dataset fills while its workers read items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Comprehension,
    Constant,
    Dict,
    List,
    Name,
    Set,
    Slice,
    Tuple,
)
from dllint.facts.schema import Expr, Operator
from dllint.inference.values import Class, Const, Display, External, Instance, Mapping, Site, Value
from dllint.linking.assignments import Store
from dllint.linking.expressions import walk
from dllint.linking.source import last_name
from dllint.project.handles import Handles
from dllint.project.item_code import ItemRun
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_ADDING = frozenset({"append", "add", "setdefault", "extend", "update"})
_REMOVING = frozenset({"pop", "popitem", "popleft", "clear", "move_to_end", "remove", "discard"})
_PROCESS_KEYS = frozenset({"getpid", "get_ident", "current_process", "get_worker_info", "get_rank", "getppid"})


@dataclass(frozen=True)
class Cache:
    """A statement that puts something into `attr` for an item and never takes it away."""

    attr: str
    run: ItemRun
    span: Span
    statement: Span


class Caches:
    """Answers about caches for one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._growing: dict[Class, list[Cache]] = {}

    def growing(self, value: Instance) -> list[Cache]:
        """The caches of a dataset that grow with the items that a worker has read."""
        assert isinstance(value.of, Class)
        found = self._growing.get(value.of)
        if found is None:
            found = self._growing[value.of] = list(self._find(value))
        return found

    def _find(self, value: Instance) -> Iterator[Cache]:
        runs = self.project.item_code.runs(value)
        seen: set[str] = set()
        for run in runs:
            for attr, key, content, region, span, statement in self._additions(run):
                if attr in seen or self._is_bounded(run, region) or not self._depends(run, key) or self._is_once(run):
                    continue
                if self._is_small(run, content, span) or any(self._removes(other, attr) for other in runs):
                    continue
                if self._starts_empty(value, attr):
                    seen.add(attr)
                    yield Cache(attr, run, span, statement)
            if self._keeps_results(run):
                seen.add(run.file.scopes[run.scope].name)
                header = run.file.header(run.scope)
                yield Cache(run.file.scopes[run.scope].name, run, header, header)

    def _additions(self, run: ItemRun) -> Iterator[tuple[str, Expr | None, Expr | None, int, Span, Span]]:
        """`self.attr[key] = value`, `self.attr.append(value)` and the like: attribute, key, value and place."""
        for store in run.file.stores(run.scope):
            operator = isinstance(store.event.detail, Operator)
            attr = self._own_attribute(run, store.base)
            if attr and not isinstance(store.key, str) and not operator:
                yield attr, store.key, store.value, store.event.region, store.event.span, store.event.span
        for index in run.file.calls_of(run.scope):
            call = run.file.calls[index]
            if not isinstance(call.func, Attribute) or call.func.attr not in _ADDING or not call.args:
                continue
            attr = self._own_attribute(run, call.func.value)
            if not attr:
                continue
            if call.func.attr == "setdefault" and len(call.args) == 2:
                yield attr, call.args[0].value, call.args[1].value, call.region, call.span, call.statement
            elif call.func.attr in ("append", "extend") and run.run.entry == "__getitem__":
                yield attr, None, call.args[0].value, call.region, call.span, call.statement

    def _own_attribute(self, run: ItemRun, expr: Expr) -> str:
        return str(expr.attr) if isinstance(expr, Attribute) and expr.value == Name(run.receiver) else ""

    def _depends(self, run: ItemRun, key: Expr | None) -> bool:
        """Whether each item has a key of its own, and not each process; what is appended has no key."""
        if key is None:
            return True
        if isinstance(key, (Slice, Constant)) or not run.derived(key, run.fields, fields=True):
            return False
        named = [event.value for event in run.events if event.target == key and event.value is not None]
        for expr in (key, *named):
            for part in walk(expr, run.file):
                if isinstance(part, CallRef) and last_name(run.file.calls[part.index].func) in _PROCESS_KEYS:
                    return False
                if isinstance(part, BinOp) and part.op == "%":
                    return False
        return True

    def _is_bounded(self, run: ItemRun, region: int) -> bool:
        """Whether the statement stands under a comparison with the length of the cache, or another bound."""
        for index in run.file.regions(region):
            entry = run.file.facts.regions[index]
            for part in walk(entry.expr, run.file) if entry.kind in ("if", "while") and entry.expr is not None else ():
                if isinstance(part, Compare) and any(op in ("<", ">", "<=", ">=") for op, _ in part.comparisons):
                    return True
        return False

    def _is_once(self, run: ItemRun) -> bool:
        """Whether the function is called where a flag is off that it turns on: `if not self.loaded: self.load()`."""
        turned_on = {
            store.key
            for store in run.file.stores(run.scope)
            if store.value == Constant(True) and store.base == Name(run.receiver)
        }
        for hop in run.run.hops[-1:] if turned_on else ():
            call = next((call for call in hop.file.calls if call.span == hop.span), None)
            atoms = self.world.symbols.atoms(hop.file, call.scope, call.region) if call is not None else []
            if any(not atom.holds and not atom.equals and atom.text.rpartition(".")[2] in turned_on for atom in atoms):
                return True
        return False

    def _is_small(self, run: ItemRun, content: Expr | None, span: Span) -> bool:
        """Whether what is kept is a constant, or a handle."""
        if content is None:
            return False
        site = Site(run.file, run.scope, 0, (span.line, span.column), run.run.frame)
        values = self.world.values.evaluate(content, site)
        opener = self.project.ask(Handles).opener
        return bool(values) and all(isinstance(one, Const) or opener(one) is not None for one in values)

    def _removes(self, run: ItemRun, attr: str) -> bool:
        """Whether a method that workers run takes something out of the cache, or starts a new one."""
        for store in run.file.stores(run.scope):
            if store.key == attr and store.base == Name(run.receiver) and not self._is_lazy(run, store, attr):
                return True
        for event in run.events:
            target = event.target if event.kind == "delete" else None
            if target is not None and any(run.is_attribute(part, attr) for part in walk(target, run.file)):
                return True
        for index in run.file.calls_of(run.scope):
            func = run.file.calls[index].func
            if isinstance(func, Attribute) and func.attr in _REMOVING and run.is_attribute(func.value, attr):
                return True
        return False

    def _is_lazy(self, run: ItemRun, store: Store, attr: str) -> bool:
        """Whether the cache is made where there is none yet: `if self.cache is None: self.cache = {}`."""
        for index in run.file.regions(store.event.region):
            entry = run.file.facts.regions[index]
            parts = walk(entry.expr, run.file) if entry.kind == "if" and entry.expr is not None else ()
            if any(run.is_attribute(part, attr) or part == Constant(attr) for part in parts):
                return True
        return False

    def _starts_empty(self, value: Instance, attr: str) -> bool:
        """Whether the attribute is an empty list or dict when the workers start, which nothing else fills."""
        assert isinstance(value.of, Class)
        init_code = self.project.datasets.init_code(value.of)
        started = False
        for kept in self.project.datasets.kept(value):
            if kept.attr != attr:
                continue
            started = True
            expr = kept.store.value
            blank = isinstance(expr, BinOp) and expr.op == "*" and expr.left == List((Constant(None),))
            for one in kept.values:
                if isinstance(one, Const) or blank or self._is_default_dict(one):
                    continue
                if not isinstance(one, (Display, Mapping)) or not self._is_empty(one):
                    return False
                for change in self.world.mappings.history(one):
                    if (change.file.path, change.scope) in init_code:
                        return False
        return started

    @staticmethod
    def _is_default_dict(value: Value) -> bool:
        if not isinstance(value, Instance) or value.of != External("collections.defaultdict") or value.file is None:
            return False
        return len(value.file.calls[value.call].args) <= 1

    @staticmethod
    def _is_empty(value: Display | Mapping) -> bool:
        expr, file = value.written.expr, value.written.site.file
        if isinstance(expr, (List, Set, Tuple)):
            return not expr.elements or expr == List((Constant(None),))
        if isinstance(expr, Dict):
            return not expr.items
        if isinstance(expr, Comprehension):
            return bool(expr.element == Constant(None))
        return bool(isinstance(expr, CallRef) and len(file.calls[expr.index].args) <= 1)

    def _keeps_results(self, run: ItemRun) -> bool:
        """Whether a method that is called for an item keeps all its results: `functools.cache`, or `lru_cache` with no
        bound."""
        if not run.given or not run.run.hops:
            return False
        site = Site(run.file, run.file.scopes[run.scope].parent, 0, (0, 0), None)
        for decorator in run.file.scopes[run.scope].decorators:
            expr = decorator.expr
            called = run.file.calls[expr.index] if isinstance(expr, CallRef) else None
            for one in self.world.values.evaluate(called.func if called is not None else expr, site):
                if not isinstance(one, External):
                    continue
                if called is None and one.name == "functools.cache":
                    return True
                unbounded = called is not None and any(argument.value == Constant(None) for argument in called.args)
                if unbounded and one.name == "functools.lru_cache":
                    return True
        return False
