"""Items on which workers use operations of lists and strings, which arrays and tensors do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp
from dllint.facts.schema import Expr, Operator
from dllint.inference.values import Class, Instance
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.project.item_expressions import bound, joins_lists, repeats_list

if TYPE_CHECKING:
    from dllint.project.item_code import ItemCode
    from dllint.project.item_run import ItemRun

_OF_STRINGS = (OF_STRING | SPLITTING | PARTING) - {"replace"}
"""Methods that strings have, and neither arrays nor tables."""


def are_lists_or_strings(code: ItemCode, value: Instance, attr: str, holder: Class | None = None) -> bool:
    """Whether workers make `self.attr[index]` longer by a list, or call a method of strings on it."""
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
        func = run.file.calls[index].func
        if isinstance(func, Attribute) and func.attr in _OF_STRINGS and func.value in known:
            return True
    added = (one.value for one in run.events if one.detail == Operator("+") and one.target in known)
    return any(one is not None and repeats_list(one) for one in added)
