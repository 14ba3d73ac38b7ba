"""Whether an array is read from a file again in every iteration of a loop, so that a container ends up with one per
iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef, Comprehension, Element, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.all_entries import inside
from dllint.inference.iteration import mapped
from dllint.inference.origins import Origins
from dllint.inference.values import External, Frame, Instance, Site, Value
from dllint.libraries.index import AROUND_ITERABLES, MAKERS, canonical
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import loops

if TYPE_CHECKING:
    from dllint.inference.engine import World


class RepeatedReads:
    """Finds whether loops read arrays repeatedly.

    A call creates an array in the loop that contains the call; an open file creates one in the loop that slices it:
    `rows.append(file[name][:])`.
    """

    def __init__(self, world: World, origins: Origins) -> None:
        self.world = world
        self.origins = origins

    def calls(self, file: SourceFile, call: int, frame: Frame | None, where: Site, turns: list[int]) -> bool:
        """Whether a call, or a call that leads to it, is inside one of the loops `turns` of the function at `where`."""
        while not (file is where.file and file.calls[call].scope == where.scope):
            if frame is None or frame.call is None:
                return False
            file, call, frame = self.world.files[frame.call[0]], frame.call[1], frame.parent
        return any(file.encloses(turn, file.calls[call].region) for turn in turns)

    def is_one_of_many(self, file: SourceFile, call: int, frame: Frame | None) -> bool:
        """Whether a call, or a call that leads to it, is inside any loop."""
        while not loops(file, file.calls[call].region):
            if frame is None or frame.call is None:
                return False
            file, call, frame = self.world.files[frame.call[0]], frame.call[1], frame.parent
        return True

    def reads(self, expr: Expr, site: Site, where: Site, turns: list[int]) -> bool:
        """Whether the expression, or one that its value comes from, reads an array inside one of the loops `turns`
        of the function at `where`, or in a function called there."""
        return self._reads(expr, site, where, turns, 0, {})

    def _reads(
        self,
        expr: Expr,
        site: Site,
        where: Site,
        turns: list[int],
        depth: int,
        seen: dict[tuple[object, ...], tuple[int, Expr]],
    ) -> bool:
        # Most expressions are reached in many ways. A shorter one may lead to what a longer one did not reach.
        place = (id(expr), site, where, *turns)
        if (place in seen and seen[place][0] <= depth) or limits.ARRAY_STEPS.exceeded(depth):
            return False
        seen[place] = (depth, expr)  # as long as the expression is kept, no other one has its id
        if isinstance(expr, Comprehension):
            return self._reads(expr.element, inside(expr, site), where, turns, depth + 1, seen)
        if isinstance(expr, (Subscript, CallRef)) and self._is_read(expr, site):
            return _in_turns(site, where, turns)
        if isinstance(expr, Element) and self._is_mapped(expr.value, site):
            return _in_turns(site, where, turns)
        for step in self.origins.expressions(expr, site) if isinstance(expr, (Name, CallRef)) else ():
            if step.expr == expr:
                continue
            # What a function called here returns is read here.
            called = step.site.scope != site.scope or step.site.file is not site.file
            if called and not (isinstance(expr, CallRef) and _in_turns(site, where, turns)):
                continue
            around = (step.site, []) if called else (where, turns)
            if self._reads(step.expr, step.site, *around, depth + 1, seen):
                return True
        return any(self._reads(part, site, where, turns, depth + 1, seen) for part in _parts(expr, site.file))

    def _is_mapped(self, expr: Expr, site: Site, depth: int = 0) -> bool:
        """Whether each element of an iterable is the result of a function of the project called for it, as by `map`."""
        for one in self.world.values.evaluate(expr, site) if not limits.ITERATION_DEPTH.exceeded(depth) else ():
            if not isinstance(one, Instance) or one.file is None or one.call < 0:
                continue
            call, where = one.file.calls[one.call], self.world.call_site(one.file, one.call, one.frame)
            through = call.args if last_name(call.func) in AROUND_ITERABLES else ()
            if mapped(self.world, one) or any(self._is_mapped(part.value, where, depth + 1) for part in through):
                return True
        return False

    def _is_read(self, expr: Subscript | CallRef, site: Site) -> bool:
        """Whether an expression itself reads a file or slices an open one, rather than an array that was read
        before."""
        if not any(map(_is_of_file, self.world.values.evaluate(expr, site))):
            return False
        return isinstance(expr, CallRef) or not any(map(_is_of_file, self.world.values.evaluate(expr.value, site)))


def _is_of_file(value: Value) -> bool:
    """Whether a value is an array returned by a function that reads a file."""
    if not isinstance(value, Instance) or not isinstance(value.of, External):
        return False
    maker = MAKERS.get(canonical(value.of.name))
    return maker is not None and maker.shape == "file" and maker.read


def _in_turns(site: Site, where: Site, turns: list[int]) -> bool:
    """Whether a place is inside one of the loops `turns`; True if `turns` is empty."""
    same = site.file is where.file and site.scope == where.scope
    return not turns or (same and any(site.file.encloses(turn, site.region) for turn in turns))


def _parts(expr: Expr, file: SourceFile) -> tuple[Expr, ...]:
    """The subexpressions that an array may come from: the subscripted value, or the receiver and arguments of a
    call."""
    if isinstance(expr, CallRef):
        call = file.calls[expr.index]
        return (*call.func.children(), *(argument.value for argument in call.args))
    return (expr.value,) if isinstance(expr, Subscript) else tuple(expr.children())
