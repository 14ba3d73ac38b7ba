"""Provenance of a value: the default, assignment, option or file that it comes from, or why that is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dllint.facts.nodes import CallRef
from dllint.facts.schema import Expr
from dllint.inference.interface import Engine
from dllint.inference.limits import ORIGIN_DEPTH, ORIGIN_STEPS, ORIGINS
from dllint.inference.origins.back import Back, operands
from dllint.inference.origins.containers import Steps, written
from dllint.inference.origins.sources import Here, Source, Step, computed, line_at
from dllint.inference.values import Actual, Frame, Function, Instance, Site, Values


class _Question:
    """A query for provenance, with the sources found so far."""

    def __init__(self, giving: Callable[[Values], bool] | None) -> None:
        self.giving = giving
        self.found: dict[tuple[object, ...], Source] = {}
        self.seen: dict[tuple[object, ...], Expr] = {}

    def add(self, source: Source) -> None:
        self.found.setdefault((source.text, source.how, source.path, source.span, source.caveat), source)


class Origins:
    """Computes the provenance of values in a linked project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._back = Back(world, self._explain)
        self._without_reasons = Back(world, lambda *_: [])
        self._steps = 0
        self._explaining: set[tuple[int, Site]] = set()

    # Questions

    def of(self, expr: Expr, site: Site, giving: Callable[[Values], bool] | None = None) -> list[Source]:
        """Return the sources of an expression. With `giving`, only sources whose values satisfy it are returned, and
        computed values are traced into their operands and arguments."""
        return self._ask([_here(expr, site)], giving)

    def of_actual(
        self, actual: Actual, key: str | None = None, giving: Callable[[Values], bool] | None = None
    ) -> list[Source]:
        """Return the sources of an argument, or of its entry under a key."""
        return self._ask(written(actual, key), giving)

    def _ask(self, steps: Iterable[Step], giving: Callable[[Values], bool] | None) -> list[Source]:
        self._steps = 0
        question = _Question(giving)
        for step in steps:
            self._follow(step, question, 0)
        return list(question.found.values())

    def _follow(self, step: Step, question: _Question, depth: int) -> bool:
        """Find the sources behind a step. Returns False if there are none; a step without sources is unknown."""
        expr, site, here, key = step
        if question.giving is not None and key is None and not question.giving(self.world.values.evaluate(expr, site)):
            return False
        asked = (id(expr), site, here, key)
        if asked in question.seen:
            return True
        question.seen[asked] = expr
        self._steps += 1
        if ORIGIN_DEPTH.exceeded(depth) or ORIGIN_STEPS.exceeded(self._steps) or ORIGINS.reached(len(question.found)):
            return False
        gave = False
        for one in self._back.steps(step) if question.giving is None else self._into(step):
            if isinstance(one, Source):
                if question.giving is None or question.giving((one.value,)):
                    question.add(one)
                    gave = True
            elif self._follow(one, question, depth + 1):
                gave = True
        if not gave and key is None:
            question.add(computed(expr, here, site.file))
        return gave or key is None

    def _into(self, step: Step) -> Steps:
        """Yield one step back, also through computed values: their operands, and the arguments of external calls."""
        ends = list(self._back.steps(step))
        yield from (one for one in ends if isinstance(one, Step))
        expr, site, here, key = step
        if key is None and not any(isinstance(one, Step) for one in ends):
            given = site.file.calls[expr.index].args if isinstance(expr, CallRef) else ()
            for part in (*operands(expr), *(argument.value for argument in given)):
                yield Step(part, site, here)
        yield from (one for one in ends if isinstance(one, Source))

    def _explain(self, expr: Expr, site: Site, steps: list[Step]) -> list[Source]:
        asked = (id(expr), site)
        if asked in self._explaining:
            return []
        self._explaining.add(asked)
        question = _Question(None)
        for step in steps:
            self._follow(step, question, 0)
        self._explaining.discard(asked)
        return list(question.found.values())

    # One step back

    def gives(self, expr: Expr, site: Site) -> Steps:
        """Yield the direct origins of an expression's value: other expressions, or sources where the chain ends."""
        self._steps = 0
        return self._given(self._back, self._back.steps(_here(expr, site)))

    def expressions(self, expr: Expr, site: Site) -> Iterator[Step]:
        """Those that are other expressions. Why nothing is known of a value, which is much work, is not asked."""
        steps = self._without_reasons.steps(_here(expr, site))
        return (one for one in self._given(self._without_reasons, steps) if isinstance(one, Step))

    def entry(self, mapping: Actual, key: str) -> Iterator[Step]:
        """Yield the expressions of the entry of an argument under a key."""
        return (one for one in self._given(self._without_reasons, written(mapping, key)) if isinstance(one, Step))

    @staticmethod
    def _given(back: Back, steps: Steps) -> Steps:
        # Each step is taken when it is asked for: a parameter has one for each call of its function.
        waiting = [steps]
        seen: set[tuple[object, ...]] = set()
        while waiting:
            one = next(waiting[-1], None)
            if one is None:
                waiting.pop()
            elif isinstance(one, Source) or one.key is None:
                yield one
            elif (asked := (id(one.expr), one.site, one.key)) not in seen:
                seen.add(asked)
                waiting.append(back.steps(one))

    def returned(self, function: Function, frame: Frame | None) -> Steps:
        """Yield the origins of a function's result: the expressions of its `return` statements."""
        return self._back.returns(function, frame, Here(function.file, function.file.scopes[function.scope].header))

    def kept(self, value: Instance, name: str) -> Iterable[Step]:
        """Return the assignments to an attribute in the methods of an object's classes."""
        return self._back.kept(value, name)


def _here(expr: Expr, site: Site) -> Step:
    return Step(expr, site, Here(site.file, line_at(site.at)))
