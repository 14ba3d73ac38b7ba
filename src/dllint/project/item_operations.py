"""Items on which workers use operations of lists and strings, which arrays and tensors do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp
from dllint.facts.schema import Expr, Operator
from dllint.inference.values import Class, External, Instance
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.linking.source import last_name
from dllint.project.item_expressions import bound, joins_lists, repeats_list

if TYPE_CHECKING:
    from dllint.project.item_code import ItemCode
    from dllint.project.item_run import ItemRun

_OF_STRINGS = (OF_STRING | SPLITTING | PARTING) - {"replace"}
"""Methods that strings have, and neither arrays nor tables."""
_PICKING = frozenset({"choice", "choices", "sample"})
"""Functions of `random` that pick from a list, tuple or string."""


def are_lists_or_strings(code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether workers make `self.attr[index]` longer by a list, call a method of strings on it, or have Python's
    `random` pick from it."""
    return any(
        _is_list_or_string(run, items)
        for reader, found in code.items(value, attr, holder)
        for run, items in ((reader, found), *code.handed_on(value, reader, found))
    )


def _is_list_or_string(run: ItemRun, items: list[Expr]) -> bool:
    known = [*items, *bound(run, items)]
    for expr in run.expressions:
        if isinstance(expr, BinOp) and expr.op == "+" and joins_lists(expr, known):
            return True
    for index in run.file.calls_of(run.scope):
        call = run.file.calls[index]
        func = call.func
        if isinstance(func, Attribute) and func.attr in _OF_STRINGS and func.value in known:
            return True
        if call.args and call.args[0].value in known and last_name(func) in _PICKING and _is_of_random(run, index):
            return True
    added = (one.value for one in run.events if one.detail == Operator("+") and one.target in known)
    return any(one is not None and repeats_list(one) for one in added)


def _is_of_random(run: ItemRun, index: int) -> bool:
    world = run.answers.world
    found = world.values.evaluate(run.file.calls[index].func, world.call_site(run.file, index, None))
    return any(isinstance(one, External) and one.name.startswith("random.") for one in found)
