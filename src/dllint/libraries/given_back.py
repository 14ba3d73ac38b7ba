"""Functions that return their arguments, `model, loader = accelerator.prepare(model, loader)`, or parts of them."""

from __future__ import annotations

from typing import cast

from dllint.facts.nodes import CallRef, Constant, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.arguments import Held
from dllint.inference.interface import Engine
from dllint.inference.values import Display, Frame, Site, Values, Written
from dllint.libraries.dynamic_lookup import first_argument
from dllint.linking.source import SourceFile


class GivenBack:
    """The arguments of calls as tuples, one tuple per call."""

    def __init__(self) -> None:
        self._tuples: dict[tuple[str, int, Frame | None], Tuple] = {}

    def arguments(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the only argument, or all of them as a tuple; None if some are unpacked or passed by keyword."""
        args = file.calls[index].args
        if any(argument.keyword for argument in args):
            return None
        if len(args) < 2:
            return first_argument(world, file, index, site)
        return self._tuple(file, index, site, [argument.value for argument in args])

    def parts(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return a tuple of two parts of each argument; None if some are unpacked. A part has the elements of the
        whole."""
        args = file.calls[index].args
        if any(argument.keyword in ("*", "**") for argument in args):
            return None
        given = [argument.value for argument in args if argument.keyword is None]
        parts = [self._part(world, file, index, number, given[number // 2], site) for number in range(2 * len(given))]
        return self._tuple(file, index, site, parts)

    @staticmethod
    def _part(world: Engine, file: SourceFile, index: int, number: int, whole: Expr, site: Site) -> Expr:
        """Return an expression of one part: a new list, if the whole is one list of the program."""
        values = world.values.evaluate(whole, site)
        if len(values) != 1 or not isinstance(values[0], Display):
            return whole
        part = Subscript(CallRef(index), Constant(number))
        return cast(Expr, Held(values[0].made_by("list", Written(part, site))))

    def _tuple(self, file: SourceFile, index: int, site: Site, elements: list[Expr]) -> Values:
        key = (file.path, index, site.frame)
        if key not in self._tuples:
            self._tuples[key] = Tuple(tuple(elements))
        return (Display("tuple", Written(self._tuples[key], site)),)
