"""What selects between the GPU and the CPU: whether the machine has a GPU, or an option."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeGuard

from dllint.facts.nodes import Constant, IfExp
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.origins import Origins, Step
from dllint.inference.values import External, Instance, Site, Value
from dllint.libraries.index import canonical
from dllint.linking.conditions import render

if TYPE_CHECKING:
    from dllint.inference.engine import World

_AVAILABLE = re.compile(
    r"(not )?(torch\.)?cuda\.(is_available\(\)|device_count\(\)( [<>=!]+ \d+)?)|(not )?is_available\(\)"
)
"""A test that has the same result on every machine with a GPU."""


def asks_the_machine(test: Expr | None, site: Site) -> bool:
    """Whether a test only checks for a GPU."""
    return test is not None and _AVAILABLE.fullmatch(render(test, site.file, 200)) is not None


class DeviceChoice:
    """Distinguishes devices that are CUDA wherever it is available from those that an option or a caller selects."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.origins = Origins(world)

    def is_open(self, expr: Expr, site: Site, depth: int = 0) -> bool:
        """Whether the device may be the CPU on a machine with a GPU."""
        if limits.DEVICE_DEPTH.exceeded(depth):
            return True
        if isinstance(expr, Constant):
            plain = expr.value is None or isinstance(expr.value, int) or str(expr.value).startswith("cuda")
            return not plain and not self._stands_under(site)
        if isinstance(expr, IfExp):
            if asks_the_machine(expr.test, site):
                return False
            return any(self.is_open(branch, site, depth + 1) for branch in (expr.body, expr.orelse))
        made = [one for one in self.world.values.evaluate(expr, site) if _is_device(one)]
        if made:
            return any(self._is_open_made(one, depth + 1) for one in made)
        # A value that is no step comes from the user: an option of the command line.
        return any(
            not isinstance(one, Step) or self.is_open(one.expr, one.site, depth + 1)
            for one in self.origins.gives(expr, site)
        )

    def _is_open_made(self, device: Instance, depth: int) -> bool:
        """The same for the result of `torch.device(…)`."""
        actuals = self.world.made_with(device)
        named = actuals.positional[0] if actuals.positional else actuals.keywords.get("type")
        return named is None or named.expr is None or named.site is None or self.is_open(named.expr, named.site, depth)

    @staticmethod
    def _stands_under(site: Site) -> bool:
        """Whether a place is inside a branch that tests for a GPU."""
        regions = (site.file.facts.regions[one] for one in site.file.regions(site.region))
        return any(entry.kind == "if" and asks_the_machine(entry.expr, site) for entry in regions)


def _is_device(value: Value) -> TypeGuard[Instance]:
    named = isinstance(value, Instance) and isinstance(value.of, External)
    return isinstance(value, Instance) and named and canonical(value.of.name) == "torch.device"
