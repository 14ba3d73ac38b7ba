"""Loaders that start again in every iteration of a loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    CallRef,
    Compare,
    Constant,
    Name,
    Not,
)
from dllint.facts.schema import Expr, Region
from dllint.inference import limits
from dllint.inference.edges import Caller
from dllint.inference.values import Class, Const, External, Function, Instance, Values
from dllint.libraries.index import MAKERS, READERS, canonical
from dllint.libraries.records import reads_file
from dllint.linking.conditions import render
from dllint.linking.expressions import names_in, walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader
from dllint.rules.data.epoch_functions import EpochFunctions
from dllint.rules.data.sameness import Sameness, keeps_results

if TYPE_CHECKING:
    from dllint.project.model import Project

_STEPS = re.compile(r"step|iter|batch", re.IGNORECASE)
_EPOCHS = re.compile(r"epoch", re.IGNORECASE)
_NUMBER_OF_EPOCHS = re.compile(
    r"(?!.*(?:step|iter|batch|sample|per|every|freq|interval))"
    r"(?:.*epochs|(?:(?:max|min|n|nb|num|total|start|end|first|last|inner|outer)_?)*epoch)",
    re.IGNORECASE,
)
"""The names of a number of epochs: `num_epochs`, `max_epoch`, but not `steps_per_epoch` or `epoch_size`."""
_LOOPS = ("for", "while")
_COUNTING = frozenset({"range", "count", "trange", "xrange", "tqdm"})
_ITERATING = (Name("iter"), Name("enumerate"))
_RARE = 20
"""In how many steps a restart costs little beside them."""
_RARELY = ("handler", "case", "loopelse", "finally")


@dataclass(frozen=True)
class Restart:
    """A place in a loop where a loader starts again.

    Attributes:
        kind: "next" (`next(iter(loader))`), "step" or "epoch" (constructed in a loop over steps or epochs).
        call: the call of `next`, or the loader's own.
        loop: the loop's region, in the file `around`.
        dataset: the call in an epoch that makes the loader's dataset and thereby reads files, if there is one.
        whole: whether it reads them whole, rather than lines of a text.
        period: in how many iterations it starts again once: 10 below `if step % 10 == 0`.
    """

    kind: str
    file: SourceFile
    call: int
    loop: Region
    loader: Loader
    around: SourceFile
    dataset: int | None = None
    whole: bool = False
    period: int = 1


def _period(condition: Region) -> int | None:
    """In how many iterations a branch is taken once: 10 for `if step % 10 == 0`; None if unknown."""
    test, holds = condition.expr, condition.holds
    while isinstance(test, Not):
        test, holds = test.operand, not holds
    if isinstance(test, Compare) and len(test.comparisons) == 1 and isinstance(test.comparisons[0][1], Constant):
        # `step % 10`, negated, is `step % 10 == 0`.
        holds = not holds if test.comparisons[0][0] == "==" else holds
        test = test.left if test.comparisons[0][0] in ("==", "!=") else None
    if holds or not isinstance(test, BinOp) or test.op != "%" or not isinstance(test.right, Constant):
        return None
    return test.right.value if isinstance(test.right.value, int) and test.right.value > 0 else None


def _is_late(condition: Region, counters: frozenset[str]) -> bool:
    """Whether a branch is taken in all iterations of a loop except the first: `if epoch > 0`, or `else` of `if epoch
    == 0`."""
    test, holds = condition.expr, condition.holds
    while isinstance(test, Not):
        test, holds = test.operand, not holds
    if isinstance(test, Name):
        return holds and test.id in counters
    if not isinstance(test, Compare) or len(test.comparisons) != 1:
        return False
    (operator, right) = test.comparisons[0]
    if not isinstance(test.left, Name) or test.left.id not in counters or not isinstance(right, Constant):
        return False
    return operator in ((">", ">=", "!=") if holds else ("<", "<=", "=="))


class Restarts:
    """Finds the loaders that start again in a loop, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.sameness = Sameness(project.world)
        self.functions = EpochFunctions(project, self.sameness)

    def restarts(self) -> Iterator[Restart]:
        """Every loader that starts again in every iteration of a loop without depending on what the loop changes."""
        by_call = {(loader.file.path, loader.call): loader for loader in self.project.loaders}
        for file, index in self.world.called("next"):
            found = self._first_batch(file, index, by_call)
            if found is not None:
                yield found
        for loader in self.project.loaders:
            yield from self._built(loader)

    def _first_batch(self, file: SourceFile, index: int, by_call: dict[tuple[str, int], Loader]) -> Restart | None:
        call = file.calls[index]
        if call.func != Name("next") or not call.args or not isinstance(call.args[0].value, CallRef):
            return None
        inner = file.calls[call.args[0].value.index]
        if inner.func not in _ITERATING or not inner.args or inner.args[0].keyword is not None:
            return None
        loop, period = self._always_in(file, call.region), 1
        if loop is None and (often := self._often_in(file, call.region)) is not None:
            loop, period = often
            if self._kind(file, call.scope, loop, index) == "epoch":
                return None
        if loop is not None and (
            self.sameness.depends(file, call.scope, loop, inner.args[0].value) or self._nests(file, call.scope, loop)
        ):
            return None
        site = self.world.call_site(file, index, None)
        values = self.world.values.evaluate(inner.args[0].value, site)
        loaders = [
            by_call.get((value.file.path, value.call))
            for value in values
            if isinstance(value, Instance) and value.file is not None
        ]
        known = [loader for loader in loaders if loader is not None]
        if not known or len(known) != len(values):
            return None
        for loader in known:
            made = loader.file.calls[loader.call]
            own = loader.file is file and made.scope == call.scope
            if own and loop is not None and file.encloses(loop, made.region):
                return None
        known = [one for one in known if one.workers().possible or (period == 1 and self._ordered(one))]
        if not known:
            return None
        if loop is not None:
            return Restart("next", file, index, file.facts.regions[loop], known[0], file, period=period)
        return self._in_callers_loop(file, index, inner.args[0].value, known)

    def _in_callers_loop(self, file: SourceFile, index: int, iterated: Expr, loaders: list[Loader]) -> Restart | None:
        """The restart if the enclosing function is called in a loop over steps, always with the same loader."""
        scope = file.calls[index].scope
        if file.scopes[scope].kind != "function" or not self._is_unconditional(file, file.calls[index].region):
            return None
        wanted = names_in(iterated, file)
        for loader in loaders:
            if loader.file is file and file.calls[loader.call].scope == scope:
                given = (argument.value for argument in file.calls[loader.call].args)
                wanted |= {name for expr in given for name in names_in(expr, file)}
        function = Function(file, scope)
        for caller in self.world.calls.callers(function):
            at = caller.file.calls[caller.call] if caller.call >= 0 else None
            loop = self._always_in(caller.file, at.region) if at is not None else None
            if at is None or loop is None or self._nests(caller.file, at.scope, loop):
                continue
            region = caller.file.facts.regions[loop]
            if not self._is_over_steps(caller.file, at.scope, region):
                continue
            bound = (self.world.parameters.bound(function, name, caller.frame).actual for name in wanted)
            if not any(
                one is not None
                and one.expr is not None
                and self.sameness.depends(caller.file, at.scope, loop, one.expr)
                for one in bound
            ):
                return Restart("next", file, index, region, loaders[0], caller.file)
        return None

    @staticmethod
    def _is_unconditional(file: SourceFile, region: int) -> bool:
        return all(file.facts.regions[one].kind == "with" for one in file.regions(region) if one)

    def _is_over_steps(self, file: SourceFile, scope: int, loop: Region) -> bool:
        """Whether a loop counts something other than epochs."""
        named = " ".join(self._words(file, scope, loop))
        counts = loop.kind == "while" or (
            isinstance(loop.expr, CallRef) and last_name(file.calls[loop.expr.index].func) in _COUNTING
        )
        return not _EPOCHS.search(f"{named} {render(loop.expr, file)}") and (counts or bool(_STEPS.search(named)))

    def _ordered(self, loader: Loader) -> bool:
        """Whether the first batch is always the same: nothing shuffles, and no sampler or batch sampler is given."""
        given = [loader.argument(name) for name in ("shuffle", "sampler", "batch_sampler")]
        return all(
            all(isinstance(value, Const) and not value.value for value in found.values) for found in given
        ) and not any(loader.argument(name).values for name in ("batch_sampler", "sampler"))

    def _built(self, loader: Loader) -> Iterator[Restart]:
        """The restarts of a loader that is built in a loop, or in a function that a loop calls."""
        file, call = loader.file, loader.file.calls[loader.call]
        loop = self._always_in(file, call.region, call.scope)
        if loop is not None:
            kind = self._kind(file, call.scope, loop, loader.call)
            dataset, whole = self._read_again(loader, loop) if kind == "epoch" else (None, False)
            costs = dataset is not None or loader.workers().possible
            if kind and costs and all(self.sameness.stays(file, call.scope, loop, one.value) for one in call.args):
                yield Restart(kind, file, loader.call, file.facts.regions[loop], loader, file, dataset, whole)
            return
        if not loader.workers().possible or not self._is_unconditional(file, call.region):
            return
        function = Function(file, call.scope)
        if keeps_results(self.world, function):
            return
        # A function that does not return its loader makes it for itself.
        made = self.world.values.returned(function, None)
        if not any(one.file is file and one.call == loader.call for one in self._wrapped(made)):
            yield from islice(self._in_epochs(loader, partial(self.functions.makes_the_same, loader)), 1)
        elif self.sameness.depends_on_arguments(loader):
            yield from self._in_epochs(loader, self._gets_the_same)

    def _in_epochs(self, loader: Loader, same: Callable[[Caller, int], bool]) -> Iterator[Restart]:
        """The restarts of a loader whose function is called in a loop over epochs that makes the `same` each time."""
        for caller in self.world.calls.callers(Function(loader.file, loader.file.calls[loader.call].scope)):
            if caller.call < 0 or caller.guessed:
                continue
            around, at = caller.file, caller.file.calls[caller.call]
            loop = self._always_in(around, at.region, at.scope)
            kind = "" if loop is None else self._kind(around, at.scope, loop, caller.call)
            if loop is not None and kind == "epoch" and same(caller, loop):
                yield Restart(kind, around, caller.call, around.facts.regions[loop], loader, around)

    def _gets_the_same(self, caller: Caller, loop: int) -> bool:
        at = caller.file.calls[caller.call]
        return all(self.sameness.stays(caller.file, at.scope, loop, one.value) for one in at.args)

    def _wrapped(self, values: Values) -> Iterator[Instance]:
        """The objects among some values, and what those of the project are given: `PrefetchLoader(loader)`."""
        for one in values:
            if not isinstance(one, Instance):
                continue
            yield one
            if isinstance(one.of, Class) and one.file is not None and one.call >= 0:
                site = self.world.call_site(one.file, one.call, one.frame)
                for argument in one.file.calls[one.call].args:
                    yield from (
                        held
                        for held in self.world.values.evaluate(argument.value, site)
                        if isinstance(held, Instance) and isinstance(held.of, External)
                    )

    def _read_again(self, loader: Loader, loop: int) -> tuple[int | None, bool]:
        """The call in a loop that makes the dataset of a loader, if its constructor reads files, and whether whole."""
        for value in loader.datasets():
            if isinstance(value, Instance) and isinstance(value.of, Class) and value.file is loader.file:
                init = self.world.hierarchy.method(value.of, "__init__")
                call = value.file.calls[value.call] if value.call >= 0 else None
                if init is None or call is None or call.scope != loader.site.scope:
                    continue
                kinds = set(self._reads(init, 0)) if value.file.encloses(loop, call.region) else set()
                if kinds:
                    return value.call, kinds != {"handle"}
        return None, False

    def _reads(self, function: Function, depth: int) -> Iterator[str]:
        """How a function, or one that it calls, reads files: "handle" by opening them, or another kind for all of
        their content at once."""
        if limits.SAMENESS_DEPTH.exceeded(depth):
            return
        file = function.file
        for index in file.calls_of(function.scope):
            for value in self.world.values.evaluate(file.calls[index].func, self.world.call_site(file, index, None)):
                name = canonical(value.name) if isinstance(value, External) else ""
                if reads_file(name):
                    yield READERS[name]
                elif name in MAKERS and MAKERS[name].shape == "file" and MAKERS[name].alone:
                    yield "array"
            for target in self.world.calls.targets(file, index):
                if not target.guessed:
                    yield from self._reads(target.function, depth + 1)

    def _kind(self, file: SourceFile, scope: int, loop: int, made: int) -> str:
        """What a loop counts: "epoch", "step", or "" for anything else. A loop that reads to the end what the call
        `made` gives it counts epochs, whatever its names say: `while True:`."""
        if self._reads_whole(file, scope, loop, made):
            return "epoch"
        named = " ".join(self._words(file, scope, file.facts.regions[loop]))
        if _EPOCHS.search(named):
            return "epoch"
        if _STEPS.search(named):
            return "step"
        return "epoch" if any(map(_NUMBER_OF_EPOCHS.fullmatch, self._bounds(file, loop))) else ""

    @staticmethod
    def _reads_whole(file: SourceFile, scope: int, loop: int, made: int) -> bool:
        """Whether a `while` loop has a loop over the result of a call."""
        if file.facts.regions[loop].kind != "while":
            return False
        events = [one for one in file.scopes[scope].events if file.encloses(loop, one.region)]
        known = [one.target for one in events if one.kind == "assign" and one.value == CallRef(made)]
        read = [one.value for one in events if one.kind == "for" and one.detail != "comp"]
        return any(
            part in known or part == CallRef(made) for one in read if one is not None for part in walk(one, file)
        )

    @staticmethod
    def _bounds(file: SourceFile, loop: int) -> Iterator[str]:
        """The last names in the number that a `for` statement counts to."""
        region = file.facts.regions[loop]
        for part in walk(region.expr, file) if region.kind == "for" and region.expr is not None else ():
            call = file.calls[part.index] if isinstance(part, CallRef) else None
            if call is not None and last_name(call.func) in ("range", "trange", "xrange"):
                given = [one.value for one in call.args if one.keyword is None]
                for bound in given[:2][-1:]:
                    yield from (last_name(one) or "" for one in walk(bound, file) if isinstance(one, (Name, Attribute)))

    def _words(self, file: SourceFile, scope: int, loop: Region) -> Iterator[str]:
        """The text that names what a loop counts: its variables, or its condition."""
        if loop.kind == "while":
            yield render(loop.expr, file)
            return
        for event in file.scopes[scope].events:
            if event.kind == "for" and event.value == loop.expr and event.target is not None and event.detail != "comp":
                yield render(event.target, file)

    def _always_in(self, file: SourceFile, region: int, scope: int | None = None) -> int | None:
        """The innermost loop around a region, if every iteration reaches the region, or every one except the first.
        With `scope`, tests of its variables that the loop does not change count as met."""
        conditions: list[Region] = []
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind in _LOOPS:
                counters = self._counters(file, index) if entry.kind == "for" else frozenset[str]()
                met = (
                    _is_late(one, counters)
                    or (scope is not None and self.sameness.tests_variables(file, scope, index, one.expr))
                    for one in conditions
                )
                return index if all(met) else None
            if entry.kind == "if":
                conditions.append(entry)
            elif entry.kind in _RARELY:
                return None
        return None

    @staticmethod
    def _often_in(file: SourceFile, region: int) -> tuple[int, int] | None:
        """The innermost loop around a region that one in a few of its iterations reaches, and in how many one does."""
        period = 1
        for index in file.regions(region):
            entry = file.facts.regions[index]
            if entry.kind in _LOOPS:
                return (index, period) if period <= _RARE else None
            if entry.kind == "if":
                period *= _period(entry) or _RARE + 1
            elif entry.kind in _RARELY:
                return None
        return None

    @staticmethod
    def _counters(file: SourceFile, loop: int) -> frozenset[str]:
        """The names that a `for` statement binds."""
        region = file.facts.regions[loop]
        targets = (
            event.target
            for scope in file.scopes
            for event in scope.events
            if event.kind == "for" and event.value == region.expr and event.region == region.parent and event.target
        )
        return frozenset(name for target in targets for name in names_in(target, file))

    def _nests(self, file: SourceFile, scope: int, loop: int) -> bool:
        """Whether the loop contains another loop. It then iterates over epochs, and one extra batch per epoch costs
        little."""
        statements = [
            event.value for event in file.scopes[scope].events if event.kind == "for" and event.detail != "comp"
        ]
        return any(
            index != loop
            and file.encloses(loop, region.parent)
            and (region.kind == "while" or (region.kind == "for" and region.expr in statements))
            for index, region in enumerate(file.facts.regions)
            if index
        )
