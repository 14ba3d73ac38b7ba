"""Whether a value is the same in all workers of a loader, or differs between them only by the worker's number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    BoolOp,
    CallRef,
    Constant,
    IfExp,
    List,
    Name,
    Subscript,
    Tuple,
    UnaryOp,
    Walrus,
)
from dllint.facts.schema import Call, Expr, Operator
from dllint.inference import limits
from dllint.inference.origins import Origins, Source, Step
from dllint.inference.values import Class, Const, Data, External, Function, Instance, Parsed, Site, Value, Values
from dllint.libraries.index import OF_THE_PROCESS, RANK_FUNCTIONS, SEED_FREE, WORKER_INFO, canonical
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World

Constancy = Literal["none", "constant", "worker", "second", "varies"]
"""none      always None
constant  one value for all workers, in every epoch
worker    computed from constants and the worker's number: the same in every epoch
second    computed from constants and the time in whole seconds: the same in all workers for a second
varies    differs between epochs, or unknown"""
_WHOLE = frozenset({"int", "round", "math.floor", "math.ceil", "math.trunc"})
"""Functions that make the time in seconds a whole number."""
_PASSIVE = ("torch.", "object", "abc.", "typing", "collections.", "enum.", "dict", "list", "tuple")
"""The beginnings of the names of classes that leave the attributes of subclasses as they are."""
_SETTING = re.compile(r"seed|rank|world_size|workers?|gpus?|nprocs", re.IGNORECASE)
"""Names of settings that stay constant while a program runs, unless it reassigns them."""


class Constants:
    """Classifies expressions of a linked project by constancy.

    Attributes:
        first_word: that of the first word of NumPy's state in a worker which has not seeded it.
    """

    def __init__(self, world: World, first_word: Constancy = "constant") -> None:
        self.world = world
        self.first_word = first_word
        self.origins = Origins(world)

    def of(self, expr: Expr | None, site: Site, left: int = limits.DEPENDENCE_DEPTH.most) -> Constancy:
        """The constancy of an expression. A parameter that only a launcher fills is the worker's number."""
        if left <= 0:
            limits.DEPENDENCE_DEPTH.met()
            return "varies"
        match expr:
            case Constant():
                return _of_constant(expr.value)
            case Attribute() | Subscript():
                return self._setting(expr, site)
            case BinOp() | UnaryOp() | Tuple() | List():
                return _together([self.of(part, site, left - 1) for part in expr.children()])
            case CallRef():
                return self._call(expr.index, site, left)
            case Name() if self._set_in_other_loop(expr.id, site):
                return "varies"
            case Name() | IfExp() | BoolOp() | Walrus():
                name = expr.id if isinstance(expr, Name) else ""
                return _either(self._each(self.origins.gives(expr, site), left - 1, name))
        return "varies"

    def _each(self, steps: Iterable[Step | Source], left: int, name: str = "") -> list[Constancy]:
        groups: list[Constancy] = []
        for one in steps:
            if isinstance(one, Step):
                groups.append(self.of(one.expr, one.site, left))
            elif one.known and _SETTING.search(name) and _is_entry(one.value):
                groups.append("constant")
            elif one.known:
                groups.append(_of_values((one.value,)))
            elif one.reason[0] != "uncalled":
                groups.append("worker" if one.reason[0] == "launched" else "varies")
        return groups

    def _set_in_other_loop(self, name: str, site: Site) -> bool:
        """Whether a loop of an enclosing scope sets a name."""
        return any(
            where.scope != site.scope and binding.kind == "value" and _in_loop(where.file, where.region)
            for binding, where in self.world.symbols.lookup(name, site)
        )

    # Settings

    def _setting(self, expr: Attribute | Subscript, site: Site) -> Constancy:
        """The constancy of `args.seed`, `config["seed"]` or `self.seed`.

        Constant if it evaluates to a constant, or if it has the name of a program setting and no loop assigns it.
        """
        if isinstance(expr, Attribute) and expr.attr == "id" and self._is_worker_info(expr.value, site):
            return "worker"
        bases = self.world.values.evaluate(expr.value, site)
        if isinstance(expr, Attribute) and not _SETTING.search(expr.attr) and any(map(self._is_shared, bases)):
            return "varies"
        folded = _of_values(self.world.values.evaluate(expr, site))
        if folded in ("constant", "none"):
            return folded
        if self._is_first_word(expr, site):
            return self._seeded_before(site) or self.first_word
        if any(isinstance(base, External) and base.name == "os.environ" for base in bases):
            return "constant"
        if isinstance(expr.value, CallRef) and str(last_name(site.file.calls[expr.value.index].func)) in RANK_FUNCTIONS:
            return "constant"
        key = (
            expr.attr if isinstance(expr, Attribute) else expr.index.value if isinstance(expr.index, Constant) else None
        )
        if not isinstance(key, str):
            return "varies"
        root = expr.value
        while isinstance(root, (Attribute, Subscript)):
            root = root.value
        if not isinstance(root, Name) or not _SETTING.search(key) or self._assigned_in_loop(key):
            return "varies"
        if bases and all(isinstance(base, (Parsed, Data)) for base in bases):
            return "constant"
        own = [base for base in bases if isinstance(base, Instance) and isinstance(base.of, Class)]
        if own:
            sites = [step.site for base in own for step in self.origins.kept(base, key)]
            made = len(own) == len(bases) and all(one.file.scopes[one.scope].name == "__init__" for one in sites)
            return "constant" if made else "varies"
        found = self.world.symbols.lookup(root.id, site)
        told = any(binding.expr is not None and self._asks_worker(binding.expr, where.file) for binding, where in found)
        return "constant" if found and not told else "varies"

    def _is_shared(self, base: Value) -> bool:
        """Whether a class of another package may change the attributes of an object too, such as a trainer that counts
        epochs."""
        of = base.of if isinstance(base, Instance) else None
        externals = self.world.hierarchy.externals(of) if isinstance(of, Class) else ()
        return any(not canonical(name).startswith(_PASSIVE) for name in externals)

    def _is_first_word(self, expr: Attribute | Subscript, site: Site) -> bool:
        """Whether an expression is `numpy.random.get_state()[1][0]`.

        Workers are seeded with an array (`torch/utils/data/_utils/worker.py`, since torch 1.9), and the first word of
        such a state is always 2**31 (`init_by_array` of numpy's `mt19937.c`). Before 1.9 a worker had the state of
        its parent.
        """
        match expr:
            case Subscript(Subscript(state, Constant(1)), Constant(0)):
                values = self.world.values.evaluate(state, site)
            case _:
                return False
        made = [one.of for one in values if isinstance(one, Instance)]
        names = {canonical(one.name) for one in made if isinstance(one, External)}
        return names == {"numpy.random.get_state"} and len(made) == len(values)

    def _seeded_before(self, site: Site) -> Constancy | None:
        """The constancy of the number that the function has seeded NumPy with before: it is the first word of that
        state (`_legacy_seeding` of numpy's `_mt19937.pyx`)."""
        file = site.file
        for index in reversed(file.calls_of(site.scope)):
            call = file.calls[index]
            if call.statement.start >= site.at or last_name(call.func) != "seed" or not call.args:
                continue
            called = self.world.values.evaluate(call.func, self.world.call_site(file, index, site.frame))
            if any(isinstance(one, External) and canonical(one.name) == "numpy.random.seed" for one in called):
                given, where = call.args[0].value, self.world.call_site(file, index, site.frame)
                again = any(
                    isinstance(part, Subscript) and self._is_first_word(part, where) for part in walk(given, file)
                )
                return "varies" if again else self.of(given, where)
        return None

    def _is_worker_info(self, expr: Expr, site: Site) -> bool:
        """Whether an expression is what `get_worker_info()` gives."""
        given = [one.expr for one, _ in self.world.symbols.lookup(expr.id, site)] if isinstance(expr, Name) else [expr]
        calls = [one for one in given if isinstance(one, CallRef)]
        return bool(calls) and all(self._asks_worker(one, site.file) for one in calls) and len(calls) == len(given)

    @staticmethod
    def _asks_worker(expr: Expr, file: SourceFile) -> bool:
        return any(
            isinstance(part, CallRef) and str(last_name(file.calls[part.index].func)) in WORKER_INFO
            for part in walk(expr, file)
        )

    def _assigned_in_loop(self, key: str) -> bool:
        for file, store in self.world.stores.outside_stores(key):
            changed = isinstance(store.event.detail, Operator)
            if changed or _in_loop(file, store.event.region):
                return True
        return False

    # Calls

    def _call(self, index: int, site: Site, left: int) -> Constancy:
        call = site.file.calls[index]
        if any(argument.keyword in ("*", "**") for argument in call.args):
            return "varies"
        if isinstance(call.func, (Name, Attribute)) and last_name(call.func) in RANK_FUNCTIONS:
            return "constant"
        parts = [self.of(argument.value, site, left - 1) for argument in call.args]
        callees = self.world.calls.callees(site.file, index, site.frame)
        own = any(isinstance(one, Function) for one in callees)
        if isinstance(call.func, Attribute) and call.func.attr == "get" and parts[:1] == ["constant"] and not own:
            # An entry with a default: `config.get("workers", 4)`
            entry = Subscript(call.func.value, call.args[0].value)
            return _either([self._setting(entry, site), *parts[1:]])
        groups: list[Constancy] = []
        for value in callees:
            if isinstance(value, External) and canonical(value.name) in OF_THE_PROCESS:
                groups.append("constant")
            elif isinstance(value, External) and value.name in _WHOLE and self._is_time(call, site):
                groups.append("second")
            elif isinstance(value, External) and canonical(value.name) in SEED_FREE:
                groups.append(_together(parts))
            elif isinstance(value, Function):
                frame = self.world.frame(site.file, index, site.frame, value)
                groups += self._each(self.origins.returned(value, frame), left - 2)
            else:
                groups.append("varies")
        return _either(groups)

    def _is_time(self, call: Call, site: Site) -> bool:
        """Whether the argument of a call is `time.time()`, as it is."""
        if len(call.args) != 1:
            return False
        asked = call.args[0].value
        ways = [(asked, site), *((one.expr, one.site) for one in self.origins.expressions(asked, site))]
        calls = [(where, expr.index) for expr, where in ways if isinstance(expr, CallRef)]
        return any(
            External("time.time") in self.world.calls.callees(where.file, index, where.frame) for where, index in calls
        )


def _is_entry(value: Value) -> bool:
    """Whether a value is an entry of what a library has read, such as a configuration: `build(**config["loader"])`."""
    return isinstance(value, Instance) and isinstance(value.of, External) and value.of.name.endswith("]")


def _of_values(values: Values) -> Constancy:
    return _either([_of_constant(value.value) if isinstance(value, Const) else "varies" for value in values])


def _of_constant(value: object) -> Constancy:
    return "none" if value is None else "constant"


def _in_loop(file: SourceFile, region: int) -> bool:
    return any(file.facts.regions[index].kind in ("for", "while") for index in file.regions(region))


def _together(parts: list[Constancy]) -> Constancy:
    """The constancy of an expression computed from all the parts."""
    if not parts or "varies" in parts or "none" in parts:
        return "varies"
    if "second" in parts:
        return "varies" if "worker" in parts else "second"
    return "worker" if "worker" in parts else "constant"


def _either(parts: list[Constancy]) -> Constancy:
    """The constancy of an expression that evaluates to one of the parts; a None among them is another branch."""
    if not parts or "varies" in parts:
        return "varies"
    others = [part for part in parts if part != "none"]
    if not others:
        return "none"
    if "second" in others:
        return "second" if len(set(others)) == 1 else "varies"
    return "worker" if "worker" in others else "constant"
