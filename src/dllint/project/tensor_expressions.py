"""Expressions whose form shows that they are tensors, whatever the functions in them are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Subscript
from dllint.inference import limits
from dllint.inference.values import Site
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import METHODS

if TYPE_CHECKING:
    from dllint.facts.schema import Expr

_OF_TENSORS = frozenset({"cpu", "detach"})
"""Methods that tensors have, and other results of a call hardly."""


def gives_tensors(expr: Expr, site: Site) -> bool:
    """Whether an expression is what a tokenizer makes of one text as tensors, or a part or view of it:
    `tokenizer(text, return_tensors="pt")["input_ids"].squeeze()`. Each call makes tensors of their own, and so does one
    whose result is moved to the CPU or taken out of a graph: `model(image).cpu()`."""
    # A name can be bound to a part of itself.
    for _ in range(2 * limits.CONTAINER_DEPTH.most):
        match expr:
            case Subscript(value, Constant()):
                expr = value
            case Attribute(value, _):
                expr = value
            case CallRef(index):
                call = site.file.calls[index]
                if any(one.keyword == "return_tensors" and one.value == Constant("pt") for one in call.args):
                    return True
                if not isinstance(call.func, Attribute) or call.func.attr == "numpy":
                    return False
                expr = call.func.value
                if call.func.attr in _OF_TENSORS and not call.args and isinstance(expr, CallRef):
                    return True
                operation = METHODS.get(call.func.attr)
                if operation is None or operation.effect != HOLDS:
                    return False
            case Name(name):
                bound = site.file.bindings(site.scope).get(name, ())
                event = bound[0].event if len(bound) == 1 else None
                if event is None or event.kind != "assign" or not isinstance(event.value, CallRef):
                    return False
                expr = event.value
            case _:
                return False
    return False
