"""What selects between the GPU and the CPU: whether the machine has a GPU, or an option."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeGuard

from dllint.facts.nodes import Attribute, BoolOp, Compare, Constant, IfExp, Name, Not
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.origins import Origins, Step
from dllint.inference.values import Class, External, Instance, Site, Value
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


def needs_tensor_on_gpu(world: World, test: Expr, holds: bool, site: Site, depth: int = 0) -> bool:
    """Whether a test has an outcome only for a tensor that is on the GPU already: `x.is_cuda`, or a variable that is
    true only there. CUDA was then initialized where the tensor was put there."""
    if isinstance(test, Not):
        return needs_tensor_on_gpu(world, test.operand, not holds, site, depth)
    if isinstance(test, BoolOp):
        parts = [needs_tensor_on_gpu(world, part, holds, site, depth) for part in test.values]
        return any(parts) if (test.op == "and") is holds else all(parts)
    if isinstance(test, Attribute):
        return holds and test.attr == "is_cuda" and not _sets(world, test, site)
    if isinstance(test, Compare):
        asked = isinstance(test.left, Attribute) and test.left.attr == "type" and test.left.value
        of_device = isinstance(asked, Attribute) and asked.attr == "device"
        return holds and of_device and test.comparisons == (("==", Constant("cuda")),)
    if not isinstance(test, Name) or not holds or limits.DEVICE_DEPTH.exceeded(depth):
        return False
    return _is_flag(world, test, site, depth + 1)


def _sets(world: World, read: Attribute, site: Site) -> bool:
    """Whether an attribute is one that an object of the project sets itself."""
    owners = (one for one in world.values.evaluate(read.value, site) if isinstance(one, Instance))
    return any(isinstance(one.of, Class) and world.objects.attribute(one, read.attr) for one in owners)


def _is_flag(world: World, name: Name, site: Site, depth: int) -> bool:
    """Whether a variable is true only where a tensor is on the GPU."""
    asked = False
    for binding, where in world.symbols.lookup(name.id, site):
        if binding.kind != "value" or binding.expr is None:
            return False
        if isinstance(binding.expr, Constant) and not binding.expr.value:
            continue
        asked = True
        if not needs_tensor_on_gpu(world, binding.expr, True, where, depth):
            tests = (where.file.facts.regions[one] for one in where.file.regions(where.region))
            around = (
                needs_tensor_on_gpu(world, entry.expr, entry.holds, where._replace(region=entry.parent), depth)
                for entry in tests
                if entry.kind == "if" and entry.expr is not None
            )
            if not any(around):
                return False
    return asked


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
