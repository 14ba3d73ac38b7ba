"""Tables whose groups become lists: `table.groupby("user")["item"].apply(list)`."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef, Dict, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference.values import Instance
from dllint.libraries.pandas import AGGREGATING
from dllint.linking.source import last_name

_LISTING = (Name("list"), Name("tuple"), Name("set"))


def collects_groups(value: Instance) -> bool:
    """Whether the groups of a table are turned into lists, `table.groupby("user")["item"].apply(list)`, or some of
    their columns are: `.agg({"item": list})`."""
    assert value.file is not None
    expr: Expr = CallRef(value.call)
    while isinstance(expr, (CallRef, Attribute, Subscript)):
        if isinstance(expr, CallRef):
            call = value.file.calls[expr.index]
            if last_name(call.func) in AGGREGATING:
                given = [one.value for one in call.args]
                given += [entry for one in given if isinstance(one, Dict) for _, entry in one.items]
                return any(one in _LISTING for one in given)
            expr = call.func
        else:
            expr = expr.value
    return False
