"""The functions that run in the same process as given ones: forward reachability in the call graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Compare, Name, Not
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.activations import Seen
from dllint.inference.edges import Caller, Target
from dllint.inference.values import External, Frame, Function
from dllint.libraries.hooks import called_hooks
from dllint.linking.closed_values import ClosedValues
from dllint.linking.conditions import in_other_halves, render
from dllint.linking.contradictions import contradict
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop

if TYPE_CHECKING:
    from dllint.inference.engine import World

_UNKNOWN: frozenset[Frame | None] = frozenset({None})

_PROCESSES = ("current_process", "parent_process")
"""Functions of multiprocessing that tell a child from its parent."""


@dataclass(frozen=True)
class Reached:
    """A function that runs, in the activation by which it was first reached.

    `calls` are the calls that lead to it, each with whether its target is guessed.
    """

    file: SourceFile
    scope: int
    frame: Frame | None
    calls: tuple[tuple[SourceFile, int, bool], ...] = ()

    def hops(self) -> tuple[Hop, ...]:
        """The calls that lead to the function, as steps with a description."""
        return tuple(
            Hop(file, file.calls[index].span, f"calls {render(file.calls[index].func, file)}", guessed)
            for file, index, guessed in self.calls
        )


def reach(
    world: World,
    starts: Iterable[Reached],
    follow: Callable[[Reached, int], bool] = lambda reached, index: True,
    enter: Callable[[Target], bool] = lambda target: True,
    again: bool = False,
    guesses: bool = True,
) -> Iterator[Reached]:
    """The starts and all functions that they run, nearest first.

    Each function comes once, a higher-order function once per set of callables that it receives. `follow` tells which
    calls to follow, `enter` which of the functions that they run. With `again`, a function that other calls run with
    other arguments comes again for each of them, as far as the limit allows, and then with unknown ones: a condition
    that its first activation excludes may hold there.
    Without `guesses`, methods that are found by their names alone are not followed.
    """
    seen = Seen(world)
    queue = deque(starts)
    visited: dict[tuple[str, int], set[Frame | None]] = {}
    while queue and not limits.PROCESS_FUNCTIONS.reached(len(seen)):
        here = queue.popleft()
        key = (here.file.path, here.scope)
        before = visited.setdefault(key, set())
        if not seen.add(here.file, here.scope, here.frame):
            if not again or None in before or here.frame in before:
                continue
            if limits.VISITED_ACTIVATIONS.reached(len(before)):
                here = replace(here, frame=None)
        before.add(here.frame)
        yield here
        for index in here.file.calls_of(here.scope):
            call = here.file.calls[index]
            if call.region and world.impossible(world.call_site(here.file, index, here.frame)):
                continue
            # Most calls run nothing that is new, and `follow` may have to ask what the callee is.
            followed: bool | None = None
            for target in world.calls.targets(here.file, index, here.frame):
                known = (target.function.file.path, target.function.scope)
                may_add = seen.may_add(target.function) or (again and None not in visited.get(known, _UNKNOWN))
                if not (may_add and (guesses or not target.guessed) and begins(here.file, index, target)):
                    continue
                if followed is None:
                    followed = follow(here, index)
                if followed and enter(target):
                    frame = world.kept_apart(here.file, index, here.frame, target)
                    queue.append(stepped(here, index, target._replace(frame=frame)))


def begins(file: SourceFile, index: int, target: Target) -> bool:
    """Whether a call begins to run its target. The body of a generator function or a coroutine waits until something
    iterates or awaits what the call returns, which nothing does if the call is a whole statement."""
    scope = target.function.file.scopes[target.function.scope]
    waits = (scope.is_generator or scope.is_async) and not scope.decorators
    return not waits or index not in file.discarded


def stepped(here: Reached, index: int, target: Target) -> Reached:
    """The function that a call in `here` runs."""
    calls = (*here.calls, (here.file, index, target.guessed))
    return Reached(target.function.file, target.function.scope, target.frame, calls)


def ways_to(
    world: World, file: SourceFile, index: int, frames: Iterable[Frame | None] = (None,)
) -> dict[tuple[str, int], list[tuple[SourceFile, int]]]:
    """The scopes from which calls and launches lead to a call, each with its calls that do.

    A function passed to an external API is not followed: it is unknown in which process that calls it.

    Args:
        world: the project.
        file: the file of the call.
        index: the call.
        frames: the activations in which the call is of interest; None for any.
    """
    found: dict[tuple[str, int], list[tuple[SourceFile, int]]] = {}
    queue = deque([(file, index, frozenset(frames))])
    followed: set[tuple[str, int, frozenset[Frame | None]]] = set()
    while queue and not limits.PROCESS_FUNCTIONS.reached(len(found)):
        where, inner, within = queue.popleft()
        scope = where.calls[inner].scope
        # A lambda or a class body is attributed to the function around it.
        while scope > 0 and where.scopes[scope].kind != "function":
            scope = where.scopes[scope].parent
        ways = found.setdefault((where.path, scope), [])
        if (where, inner) not in ways:
            ways.append((where, inner))
        if scope == 0 or (where.path, scope, within) in followed:
            continue
        followed.add((where.path, scope, within))
        anyone = any(one is None or one.call is None for one in within)
        for caller in world.calls.callers(Function(where, scope)):
            made = (caller.file.path, caller.call)
            outer = frozenset(one.parent for one in within if one is not None and one.call == made)
            if caller.call >= 0 and _known(caller) and (anyone or outer):
                queue.append((caller.file, caller.call, _UNKNOWN if anyone else outer))
    return found


def _known(caller: Caller) -> bool:
    return caller.frame.actuals is not None or caller.frame.receiver is not None


def in_one_run(world: World, left: tuple[SourceFile, int], right: tuple[SourceFile, int]) -> bool:
    """Whether a common function leads to both places by two of its calls, in branches that one run can take, or by
    one call of a framework, which runs several methods of what it is given."""
    to_left, to_right = ways_to(world, *left), ways_to(world, *right)
    return any(
        not exclusive(world, scope, one[0].calls[one[1]].region, other[0].calls[other[1]].region)
        for scope in to_left.keys() & to_right.keys()
        for one in to_left[scope]
        for other in to_right[scope]
        # If one call leads to both, its callee decides.
        if one not in to_right[scope] and other not in to_left[scope]
    ) or any(
        _runs_both(world, one, to_left, to_right)
        for scope in to_left.keys() & to_right.keys()
        for one in to_left[scope]
        if one in to_right[scope]
    )


def _runs_both(
    world: World, call: tuple[SourceFile, int], left: Container[tuple[str, int]], right: Container[tuple[str, int]]
) -> bool:
    """Whether a framework runs two methods in a call: one leads to the left place and another to the right one."""
    file, index = call
    func = file.calls[index].func
    site = world.call_site(file, index, None)
    for value in world.values.evaluate(func, site) if isinstance(func, Attribute) else ():
        if isinstance(value, External):
            hooks = {hook.key for hook, _ in called_hooks(world, value.name, file, index, None)}
            if any(one in left and other in right for one in hooks for other in hooks - {one}):
                return True
    return False


def exclusive(world: World, scope: tuple[str, int], one: int, other: int) -> bool:
    """Whether no run of a function, given by its path and scope, can pass through both of two regions in it."""
    file = world.files[scope[0]]
    here, there = (world.symbols.atoms(file, scope[1], region) for region in (one, other))
    return contradict(here, there) or in_other_halves(file, one, other)


def runs_when_imported(file: SourceFile, region: int) -> bool:
    """Whether a region runs in every process that imports the file: no condition on it may depend on which process it
    is."""
    if not region:
        return True
    known = file.in_every_process.get(region)
    if known is None:
        known = file.in_every_process[region] = not _depends_on_process(file, region)
    return known


def _depends_on_process(file: SourceFile, region: int) -> bool:
    tests = (file.facts.regions[index] for index in file.regions(region))
    return any(
        entry.kind in ("if", "while") and entry.expr is not None and _asks_process(entry.expr, file, 2)
        for entry in tests
    )


def _asks_process(test: Expr, file: SourceFile, depth: int) -> bool:
    """Whether a test, or the one that a name or a function stands for, asks for the name of the module or of the
    process."""
    if isinstance(test, Name):
        found = file.bindings(0).get(test.id, ()) if depth else ()
        given = found[0].expr if len(found) == 1 and ClosedValues(file).bound_once(test.id) else None
        return test.id == "__name__" or (given is not None and _asks_process(given, file, depth - 1))
    if isinstance(test, CallRef):
        func = file.calls[test.index].func
        if last_name(func) in _PROCESSES:
            return True
        scope = ClosedValues(file).function(func.id) if isinstance(func, Name) and depth else None
        returned = file.scopes[scope].events_of("return") if scope is not None else ()
        if any(one.value is not None and _asks_process(one.value, file, depth - 1) for one in returned):
            return True
        return isinstance(func, Attribute) and _asks_process(func.value, file, depth)
    if isinstance(test, Attribute):
        return last_name(test) in _PROCESSES or (
            not isinstance(test.value, Name) and _asks_process(test.value, file, depth)
        )
    return isinstance(test, (Compare, BoolOp, Not)) and any(
        _asks_process(part, file, depth) for part in test.children()
    )
