"""Functions that return their arguments: `model, loader = accelerator.prepare(model, loader)`."""

from __future__ import annotations

from dllint.facts.nodes import Tuple
from dllint.inference.interface import Engine
from dllint.inference.values import Display, Site, Values, Written
from dllint.libraries.dynamic_lookup import first_argument
from dllint.linking.source import SourceFile


class GivenBack:
    """The arguments of calls as tuples, one tuple per call."""

    def __init__(self) -> None:
        self._tuples: dict[tuple[str, int], Tuple] = {}

    def arguments(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the only argument, or all of them as a tuple; None if some are unpacked or passed by keyword."""
        args = file.calls[index].args
        if any(argument.keyword for argument in args):
            return None
        if len(args) < 2:
            return first_argument(world, file, index, site)
        key = (file.path, index)
        if key not in self._tuples:
            self._tuples[key] = Tuple(tuple(argument.value for argument in args))
        return (Display("tuple", Written(self._tuples[key], site)),)
