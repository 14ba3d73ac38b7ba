"""The keys under which workers put what they cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, Name, Slice
from dllint.facts.schema import Expr
from dllint.inference.folding import is_text
from dllint.inference.values import Class, Instance, Site
from dllint.linking.expressions import walk
from dllint.linking.source import last_name
from dllint.project.folders import is_folder
from dllint.project.item_run import ItemRun

if TYPE_CHECKING:
    from dllint.inference.engine import World

_PROCESS_KEYS = frozenset({"getpid", "get_ident", "current_process", "get_worker_info", "get_rank", "getppid"})


def varies_by_item(world: World, run: ItemRun, key: Expr | None, value: Instance) -> bool:
    """Whether the key differs per item, and not per process or per folder of files. An appended value has no key
    and counts as different per item."""
    if key is None:
        return True
    if is_folder(world, key, run.file, run.scope):
        return False
    if isinstance(key, (Slice, Constant)) or not run.derived(key, run.fields, fields=True):
        return False
    named = [event.value for event in run.events if event.target == key and event.value is not None]
    for expr in (key, *named):
        for part in walk(expr, run.file):
            if isinstance(part, CallRef) and last_name(run.file.calls[part.index].func) in _PROCESS_KEYS:
                return False
            if not isinstance(part, BinOp) or part.op != "%" or _is_text(world, run, part.left):
                continue
            if not _is_length(world, run, part.right, value):
                return False
    return True


def _is_text(world: World, run: ItemRun, expr: Expr) -> bool:
    """Whether an expression is a text, whose `%` inserts values: `"%d_%d" % (video, frame)`."""
    values = world.values.evaluate(expr, Site(run.file, run.scope, 0, (0, 0), run.run.frame))
    return bool(values) and all(map(is_text, values))


def _is_length(world: World, run: ItemRun, expr: Expr, value: Instance) -> bool:
    """Whether an expression is the number of items: `len(self.rows)`, or what `__len__` returns."""
    if isinstance(expr, CallRef):
        return run.file.calls[expr.index].func == Name("len")
    method = world.hierarchy.method(value.of, "__len__") if isinstance(value.of, Class) else None
    if method is None or not isinstance(expr, Attribute) or expr.value != Name(run.receiver):
        return False
    scope = method.file.scopes[method.scope]
    own = Attribute(Name(scope.params[0].name), expr.attr) if scope.params else None
    return any(event.value == own for event in scope.events_of("return"))
