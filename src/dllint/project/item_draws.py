"""Expressions of item code that draw random numbers, or random elements of what they are given."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef, Constant, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.linking.source import SourceFile, last_name

_DRAWS = frozenset({"randint", "randrange", "choice", "integers"})
"""Last names of functions of random, numpy and torch that draw an integer, or one element of a list of integers."""


def is_draw(expr: Expr, file: SourceFile) -> bool:
    """Whether an expression draws a random number, or one random element."""
    return isinstance(expr, CallRef) and last_name(file.calls[expr.index].func) in _DRAWS


def replaces_index(expr: Expr, file: SourceFile) -> bool:
    """Whether an expression draws a number in place of the index: not one below a constant, which may number the
    entries of a small table."""
    if isinstance(expr, Subscript) and expr.index == Constant(0):
        # `torch.randint(size, (1,))[0]`
        return replaces_index(expr.value, file)
    called = file.calls[expr.index] if isinstance(expr, CallRef) else None
    if called is not None and isinstance(called.func, Attribute) and last_name(called.func) in ("item", "tolist"):
        return replaces_index(called.func.value, file)
    if called is not None and last_name(called.func) == "int":
        return any(replaces_index(one.value, file) for one in called.args)
    bounds = [one.value for one in called.args] if called is not None and is_draw(expr, file) else []
    return any(not isinstance(bound, (Constant, Tuple)) for bound in bounds)


def draws_several(expr: Expr, file: SourceFile) -> bool:
    """Whether an expression draws several elements of what it is given first: `random.sample(self.rows, 4)`."""
    if not isinstance(expr, CallRef):
        return False
    call = file.calls[expr.index]
    last, plain = last_name(call.func), [one for one in call.args if one.keyword is None]
    sized = len(plain) > 1 or any(one.keyword in ("size", "k") for one in call.args)
    return bool(plain) and isinstance(call.func, Attribute) and sized and last in ("sample", "choices", "choice")
