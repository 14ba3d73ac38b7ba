"""How much slower this machine is now than the one that the time limits of the tests are written for."""

import ast
import time
from functools import cache

_SOURCE = "".join(
    f"def f{n}(a, b=({n}, 'x')):\n    return [a.g{n}(b, key={n}) for _ in range({n})]\n" for n in range(1500)
)
_REFERENCE_S = 0.08
"""Processor time there to parse that source and to go through its tree."""


@cache
def slowness() -> float:
    """The factor by which limits grow, at least 1. The least of three measurements, so that a pause does not count.

    A slower machine gets a quarter more: it is not slower by the same factor at everything (seen: 2.5 to 3.2 in this
    measurement, 3.5 in a check).
    """
    measured = min(_measured() for _ in range(3)) / _REFERENCE_S
    return 1.25 * measured if measured > 1 else 1.0


def _measured() -> float:
    began = time.process_time()
    nodes = {(type(node), number % 4999): node for number, node in enumerate(ast.walk(ast.parse(_SOURCE)))}
    assert nodes
    return time.process_time() - began
