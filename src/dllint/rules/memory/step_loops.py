"""The loops over the steps of a training: a backward pass, or those of the parts of a batch, in each pass."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, List, Name, Tuple
from dllint.facts.schema import Call, Expr
from dllint.inference.values import Site
from dllint.libraries.index import AROUND_ITERABLES
from dllint.linking.expressions import names_in, walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.counting import iterations, loops
from dllint.project.process_starts import Starting

if TYPE_CHECKING:
    from dllint.project.model import Project

_FEW = 1000
"""Iterations of a counted loop below which what it keeps is small."""
_DIVIDING = frozenset({"chunk", "split", "tensor_split", "unbind"})
"""Last names of functions and methods that divide a tensor."""


class StepLoops:
    """Finds the loops over the steps in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    @cached_property
    def _starting(self) -> Starting:
        return self.project.ask(Starting)

    def around(self, file: SourceFile, scope: int, region: int) -> int | None:
        """The region of the loop over the steps around a place; None if there is none, or if it has few passes.

        It is the innermost loop, unless that belongs to one step: it goes over parts of the batch that a loop around it
        takes, or over models that all learn from that batch.
        """
        inside = loops(file, region)
        for at, loop in enumerate(inside):
            if not any(self._belongs_to_step(file, scope, loop, outer) for outer in inside[at + 1 :]):
                return loop if self._is_long(file, scope, loop) else None
        return None

    def _belongs_to_step(self, file: SourceFile, scope: int, loop: int, outer: int) -> bool:
        """Whether a loop goes over parts of a batch that another one takes, or for each batch of a loader over
        something that is no loader."""
        entry = file.facts.regions[loop]
        if entry.kind != "for" or entry.expr is None or _draws(file, scope, loop):
            return False
        if _divides(file, scope, entry.expr, outer):
            return True
        return self._is_over_loader(file, scope, outer) and not self._is_over_loader(file, scope, loop)

    def _is_over_loader(self, file: SourceFile, scope: int, loop: int) -> bool:
        entry = file.facts.regions[loop]
        if entry.kind != "for" or entry.expr is None:
            return False
        site = Site(file, scope, entry.parent, entry.span.start, None)
        return next(self._starting.gone_through(entry.expr, site), None) is not None

    def _is_long(self, file: SourceFile, scope: int, loop: int) -> bool:
        """Whether a loop has many iterations: one over a loader, or a count that is not known to be small."""
        entry = file.facts.regions[loop]
        if entry.kind != "for" or entry.expr is None:
            return False
        iterable, name = entry.expr, ""
        while isinstance(iterable, CallRef):
            call = file.calls[iterable.index]
            name = last_name(call.func)
            if name not in AROUND_ITERABLES or not call.args:
                break
            iterable, name = call.args[0].value, ""
        if name not in ("range", "trange"):
            return not isinstance(iterable, (List, Tuple, Constant))
        site = Site(file, scope, entry.parent, entry.span.start, None)
        count = iterations(self.project.datasets, iterable, site)
        if count is not None:
            return count >= _FEW
        # An option may say how many batches are taken.
        return bool(_draws(file, scope, loop)) or self._counts_data(iterable, site)

    def _counts_data(self, counted: Expr, site: Site) -> bool:
        """Whether a loop counts to a length: `range(len(loader))`, also through a variable."""
        parts = list(walk(counted, site.file))
        for part in parts:
            bound = self.world.symbols.lookup(part.id, site) if isinstance(part, Name) else ()
            parts += [
                inner
                for binding, where in bound
                if binding.expr is not None and where.file is site.file
                for inner in walk(binding.expr, where.file)
                if isinstance(inner, CallRef)
            ]
        return any(isinstance(one, CallRef) and last_name(site.file.calls[one.index].func) == "len" for one in parts)


def _draws(file: SourceFile, scope: int, loop: int) -> list[Call]:
    """The calls of `next` in a loop."""
    called = (file.calls[index] for index in file.facts.called.get("next", ()))
    return [one for one in called if one.scope == scope and file.encloses(loop, one.region)]


def _batches(file: SourceFile, scope: int, loop: int) -> set[str]:
    """The names that a loop binds to the batch of an iteration, or to what it computes from that."""
    entry = file.facts.regions[loop]
    drawing = {call.statement for call in _draws(file, scope, loop)}
    found: set[str] = set()
    for event in file.scopes[scope].events:
        if event.kind == "for" and (event.span, event.region) == (entry.span, entry.parent):
            found |= names_in(event.target, file)
        if event.kind != "assign" or isinstance(event.target, Attribute) or not file.encloses(loop, event.region):
            continue
        if event.span in drawing or names_in(event.value, file) & found:
            found |= names_in(event.target, file)
    return found


def _divides(file: SourceFile, scope: int, iterable: Expr, loop: int) -> bool:
    """Whether an iterable is a batch of a loop that is divided: `zip(x.chunk(4), y.chunk(4))`, also by a name."""
    batches = _batches(file, scope, loop)
    written = [iterable]
    names = names_in(iterable, file)
    written += (
        one.value
        for one in file.scopes[scope].events_of("assign")
        if one.value is not None
        and file.encloses(loop, one.region)
        and isinstance(one.target, Name)
        and one.target.id in names
    )
    return any(
        isinstance(part, CallRef)
        and last_name(file.calls[part.index].func) in _DIVIDING
        and names_in(part, file) & batches
        for expr in written
        for part in walk(expr, file)
    )
