"""Whether a value is the same in all workers of a loader, or differs between them by the worker's number alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from dllint.facts.nodes import Name
from dllint.facts.schema import Expr
from dllint.inference.entries import Found
from dllint.inference.values import Actual, Class, Const, Data, External, Frame, Function, Instance, Parsed, Site
from dllint.libraries.random import OF_THE_PROCESS, RANK_FUNCTIONS, SEED_FREE, WORKER_INFO
from dllint.libraries.torch import canonical
from dllint.linking.expressions import walk
from dllint.linking.source import Binding, SourceFile

if TYPE_CHECKING:
    from dllint.inference.engine import World

Constancy = Literal["none", "constant", "worker", "varies"]
"""none      always None
constant  one value for all workers, in every epoch
worker    made of constants and the worker's number: in every epoch the same
varies    another in each epoch, or not known
"""
DEEPEST = 30
_SETTING = re.compile(r"seed|rank|world_size|workers?|gpus?|nprocs", re.IGNORECASE)
"""Names of settings that stay as they are while a program runs, unless it assigns them again."""


class Constants:
    """Classifies expressions over a linked project."""

    def __init__(self, world: World) -> None:
        self.world = world

    def of(self, expr: Expr | None, site: Site, left: int = DEEPEST) -> Constancy:
        """What an expression is like. An argument without an expression stands for the worker's number."""
        if expr is None or left <= 0:
            return "varies"
        tag = expr[0]
        if tag == "const":
            return "none" if expr[1] is None else "constant"
        if tag == "name":
            return self._name(expr[1], site, left)
        if tag in ("attr", "item"):
            return self._setting(expr, site, left)
        if tag == "binop":
            return _together([self.of(expr[2], site, left - 1), self.of(expr[3], site, left - 1)])
        if tag == "unary":
            return self.of(expr[2], site, left - 1)
        if tag == "ifexp":
            return _either([self.of(expr[2], site, left - 1), self.of(expr[3], site, left - 1)])
        if tag in ("and", "or"):
            return _either([self.of(part, site, left - 1) for part in expr[1]])
        if tag in ("tuple", "list"):
            return _together([self.of(part, site, left - 1) for part in expr[1]])
        if tag == "walrus":
            return self.of(expr[2], site, left - 1)
        return self._call(expr[1], site, left) if tag == "call" else "varies"

    # Names

    def _name(self, name: str, site: Site, left: int) -> Constancy:
        found = self.world.symbols.lookup(name, site)
        return _either([self._binding(name, binding, where, site, left - 1) for binding, where in found])

    def _binding(self, name: str, binding: Binding, where: Site, asked: Site, left: int) -> Constancy:
        if binding.kind == "param":
            return self._parameter(name, where, left)
        if binding.kind == "import":
            return self._folded(Name(name), where)
        if binding.kind != "value" or binding.event is None or binding.event.kind != "assign":
            return "varies"
        if where.scope != asked.scope and _in_loop(where.file, binding.event.region):
            return "varies"
        return self.of(binding.expr, where, left)

    def _parameter(self, name: str, where: Site, left: int) -> Constancy:
        function = Function(where.file, where.scope)
        if where.frame is not None and where.frame.actuals is not None:
            return self._filled(function, name, where.frame, left)
        callers = [caller for caller in self.world.calls.callers(function) if caller.frame.actuals is not None]
        if callers:
            return _either([self._filled(function, name, caller.frame, left) for caller in callers])
        return self._default(function, name, left)

    def _filled(self, function: Function, name: str, frame: Frame, left: int) -> Constancy:
        if frame.actuals is None:
            return "varies"
        bound = self.world.parameters.bound(function, name, frame)
        if bound.case == "actual" and bound.actual is not None:
            return self.of_actual(bound.actual, left)
        if bound.case == "default":
            return self._default(function, name, left)
        if bound.case == "keywords":
            found = self.world.mappings.from_unpacked(frame.actuals, name)
            return _of_found(found, self._default(function, name, left))
        return "varies"

    def of_actual(self, actual: Actual, left: int = DEEPEST) -> Constancy:
        """What an argument is like."""
        if actual.expr is None or actual.site is None:
            return "worker"
        return self.of(actual.expr, actual.site, left - 1)

    def _default(self, function: Function, name: str, left: int) -> Constancy:
        scope = function.file.scopes[function.scope]
        for param in scope.params:
            if param.name == name and param.default is not None:
                site = Site(function.file, max(scope.parent, 0), scope.region, (0, 0), None)
                return self.of(param.default, site, left - 1)
        return "varies"

    # Settings

    def _folded(self, expr: Expr, site: Site) -> Constancy:
        return _of_found(Found(self.world.values.evaluate(expr, site), False), "varies")

    def _setting(self, expr: Expr, site: Site, left: int) -> Constancy:
        """`args.seed`, `config["seed"]`, `self.seed`: constant where it folds, or where its name says that it is a
        setting of the program and nothing in a loop assigns it."""
        folded = self._folded(expr, site)
        if folded in ("constant", "none"):
            return folded
        bases = self.world.values.evaluate(expr[1], site)
        if any(isinstance(base, External) and base.name == "os.environ" for base in bases):
            return "constant"
        if expr[1][0] == "call" and str(site.file.calls[expr[1][1]].func[-1]) in RANK_FUNCTIONS:
            return "constant"
        key = expr[2] if expr[0] == "attr" else expr[2][1] if expr[2][0] == "const" else None
        if not isinstance(key, str):
            return "varies"
        root = expr[1]
        while root[0] in ("attr", "item"):
            root = root[1]
        if root[0] != "name" or not _SETTING.search(key) or self._assigned_in_loop(key):
            return "varies"
        if bases and all(isinstance(base, (Parsed, Data)) for base in bases):
            return "constant"
        if any(isinstance(base, Instance) and isinstance(base.of, Class) for base in bases):
            return self._kept(bases, key, left)
        found = self.world.symbols.lookup(root[1], site)
        told = any(binding.expr is not None and self._asks_worker(binding.expr, where.file) for binding, where in found)
        return "constant" if found and not told else "varies"

    @staticmethod
    def _asks_worker(expr: Expr, file: SourceFile) -> bool:
        return any(part[0] == "call" and str(file.calls[part[1]].func[-1]) in WORKER_INFO for part in walk(expr, file))

    def _kept(self, bases: Iterable[object], key: str, left: int) -> Constancy:
        """An attribute of objects of the project: constant where only their construction sets it."""
        for base in bases:
            if not isinstance(base, Instance) or not isinstance(base.of, Class):
                return "varies"
            for owner in self.world.hierarchy.line(base.of):
                if isinstance(owner, Class):
                    for store in self.world.stores.own_stores(owner).get(key, ()):
                        if owner.file.scopes[store.scope].name != "__init__":
                            return "varies"
        return "constant"

    def _assigned_in_loop(self, key: str) -> bool:
        for file, store in self.world.stores.outside_stores(key):
            changed = isinstance(store.event.detail, list) and store.event.detail[0] == "op"
            if changed or _in_loop(file, store.event.region):
                return True
        return False

    # Calls

    def _call(self, index: int, site: Site, left: int) -> Constancy:
        call = site.file.calls[index]
        if any(argument.keyword in ("*", "**") for argument in call.args):
            return "varies"
        if call.func[0] in ("name", "attr") and call.func[-1] in RANK_FUNCTIONS:
            return "constant"
        parts = [self.of(argument.value, site, left - 1) for argument in call.args]
        groups: list[Constancy] = []
        for value in self.world.calls.callees(site.file, index, site.frame):
            if isinstance(value, External) and canonical(value.name) in OF_THE_PROCESS:
                groups.append("constant")
            elif isinstance(value, External) and canonical(value.name) in SEED_FREE:
                groups.append(_together(parts))
            elif isinstance(value, Function):
                frame = self.world.frame(site.file, index, site.frame, value)
                groups += [self.of(expr, where, left - 2) for expr, where in self._returned(value, frame)]
            else:
                groups.append("varies")
        return _either(groups)

    def _returned(self, function: Function, frame: Frame) -> Iterator[tuple[Expr | None, Site]]:
        for event in function.file.scopes[function.scope].events:
            if event.kind in ("return", "yield"):
                at = (event.span.line, event.span.column)
                yield event.value, Site(function.file, function.scope, event.region, at, frame)


def _of_found(found: Found, otherwise: Constancy) -> Constancy:
    groups: list[Constancy] = [
        ("none" if value.value is None else "constant") if isinstance(value, Const) else "varies"
        for value in found.values
    ]
    return _either([*groups, otherwise] if found.absent or not groups else groups)


def _in_loop(file: SourceFile, region: int) -> bool:
    return any(file.facts.regions[index].kind in ("for", "while") for index in file.regions(region))


def _together(parts: list[Constancy]) -> Constancy:
    """What an expression made of all the parts is like."""
    if not parts or "varies" in parts or "none" in parts:
        return "varies"
    return "worker" if "worker" in parts else "constant"


def _either(parts: list[Constancy]) -> Constancy:
    """What is one of the parts is like; a None among them is another branch."""
    if not parts or "varies" in parts:
        return "varies"
    others = [part for part in parts if part != "none"]
    if not others:
        return "none"
    return "worker" if "worker" in others else "constant"
