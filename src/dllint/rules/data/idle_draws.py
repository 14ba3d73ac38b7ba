"""Random numbers that decide nothing about what is read: `rand() < self.flip`, where the probability is 0, or the
number of another item where one cannot be read."""

from __future__ import annotations

from dllint.facts.nodes import CallRef, Compare
from dllint.facts.schema import Expr
from dllint.inference.engine import World
from dllint.inference.stability import is_stable
from dllint.inference.values import Const
from dllint.linking.expressions import walk
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import last_name
from dllint.project.worker_code import WorkerRun

_FROM_ZERO_TO_ONE = frozenset({"rand", "random", "random_sample", "ranf", "sample", "uniform"})
"""Functions that, without arguments, draw one number of at least 0 and below 1."""


def is_idle(world: World, run: WorkerRun, index: int) -> bool:
    """Whether a call of worker code draws a number only after an error, for another item, or a number that is only
    compared with a probability of 0."""
    call = run.file.calls[index]
    if any(run.file.facts.regions[one].kind == "handler" for one in run.file.regions(call.region)):
        return True
    if last_name(call.func) not in _FROM_ZERO_TO_ONE or call.args:
        return False
    site = world.call_site(run.file, index, run.frame)
    written = [expr for expr, _, _, _ in expressions(run.file, run.scope)]
    limits = (
        _limit(part, CallRef(index)) for expr in written for part in walk(expr, run.file) if isinstance(part, Compare)
    )
    limit = next((one for one in limits if one is not None), None)
    values = world.values.evaluate(limit, site) if limit is not None and is_stable(world, limit, site) else ()
    return bool(values) and all(isinstance(one, Const) and one.value == 0 for one in values)


def _limit(test: Compare, drawn: CallRef) -> Expr | None:
    """Return the probability below which a drawn number must be, in a comparison of the two."""
    if len(test.comparisons) != 1:
        return None
    ((op, right),) = test.comparisons
    if test.left == drawn and op == "<":
        return right
    return test.left if right == drawn and op == ">" else None
