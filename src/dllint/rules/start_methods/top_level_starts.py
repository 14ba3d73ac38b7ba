"""Process starts that run when a file is imported, and so again in each child that imports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Constant, Name
from dllint.facts.schema import Call, Event, Operator
from dllint.inference import limits
from dllint.inference.values import External, Function, Instance, Site
from dllint.libraries.callbacks import calls_later
from dllint.libraries.contents import keeps_arguments
from dllint.libraries.filled_classes import COMMAND_LINES
from dllint.libraries.index import THREAD_EXECUTORS, THREAD_POOLS, canonical
from dllint.linking.conditions import render
from dllint.linking.ends import never_returns
from dllint.linking.reads import ScopeRef
from dllint.linking.source import SourceFile
from dllint.project import Regime
from dllint.project.arrivals import Hop
from dllint.project.launches import can_start
from dllint.project.loaders import Loader
from dllint.project.process_starts import Method, Starting
from dllint.project.same_process import Reached, begins, reach, runs_when_imported, stepped
from dllint.rules.start_methods.starting_functions import StartingFunctions
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_RUNNING = COMMAND_LINES | THREAD_EXECUTORS | THREAD_POOLS | {"threading.Thread", "threading.Timer"}
"""Callables with a class-like name that run the functions passed to them or to their objects, at once or when
started."""


@dataclass(frozen=True)
class TopLevelStart:
    """A statement at the top level of a file that starts processes other than by fork.

    Attributes:
        span: the call, or the header of the `for` statement, at the top level.
        text: a description of it.
        region: the region of the module in which it stands; -1 in a class body.
        certain: whether it is reached whenever the file is imported: nothing on the way there is conditional, or runs a
            function that it is passed.
        loader: the loader whose workers start; None for a launch.
        hops: the calls from the statement to the start.
        tested: whether a function on the way tests something first that is not known to hold.
    """

    file: SourceFile
    span: Span
    statement: Span
    region: int
    certain: bool
    text: str
    method: Method
    loader: Loader | None
    hops: tuple[Hop, ...]
    tested: bool = False


def top_level_starts(project: Project, file: SourceFile) -> list[TopLevelStart]:
    """All such statements of one file, in source order.

    None in a notebook, whose cells no process imports, nor in a `__main__.py`, which `multiprocessing` does not import
    again (CPython, `multiprocessing/spawn.py`, `_fixup_main_from_name`).
    """
    if file.is_notebook or file.path.endswith("__main__.py"):
        return []
    if project.ask(_starting_files).isdisjoint(project.import_graph.loaded_with(file.path)):
        return []
    bodies = _bodies(project, file)
    found = sorted(_run_by(project, file, bodies), key=lambda start: start.span)
    end = _last_run(project, file) if found else None
    return [one for one in found if end is None or one.span < end]


def _last_run(project: Project, file: SourceFile) -> Span | None:
    """The first statement of a module that calls only functions of the project that never return: they always raise."""
    for index in file.calls_of(0):
        call = file.calls[index]
        if call.region:
            continue
        functions = [target.function for target in project.world.calls.targets(file, index)]
        if functions and all(map(_never_returns, functions)) and _is_direct(project, file, index):
            return call.statement
    return None


def _never_returns(function: Function) -> bool:
    scope = function.file.scopes[function.scope]
    waits = scope.is_generator or scope.is_async or bool(scope.decorators)
    return never_returns(scope) and not waits


def _is_direct(project: Project, file: SourceFile, index: int) -> bool:
    """Whether a call certainly runs: it stands in no branch, and calls functions of the project themselves. What `map`
    calls runs for elements that may be none, once somebody asks for them."""
    if index in file.mapped.values():
        return False
    callees = project.world.calls.callees(file, index, None)
    named = bool(callees) and not any(isinstance(one, External) for one in callees)
    return named and not file.is_conditional(file.calls[index].region)


def _bodies(project: Project, file: SourceFile) -> list[int]:
    """The scopes whose statements run when a file is imported: the module, and the classes in it."""
    found = [0]
    for scope in found:
        for child in file.derived(classes_in, scope):
            entry = file.scopes[child]
            at = entry.header.start
            if (scope or runs_when_imported(file, entry.region)) and not project.world.impossible(
                Site(file, scope, entry.region, at, None)
            ):
                found.append(child)
    return found


def classes_in(file: SourceFile, scope: int) -> list[int]:
    """Return the classes directly in a scope."""
    return [ScopeRef(one) for one in file.children.get(scope, ()) if file.scopes[one].kind == "class"]


def _run_by(project: Project, file: SourceFile, scopes: list[int]) -> Iterator[TopLevelStart]:
    """The starts that the statements of one of these scopes lead to."""
    walked = 0
    leading = project.ask(StartingFunctions)

    def follows(here: Reached, index: int) -> bool:
        return _follows(project, here, index)

    for scope in scopes:
        module = Reached(file, scope, None)
        yield from _here(project, module, file)
        for index in file.calls_of(scope):
            if limits.TOP_LEVEL_FUNCTIONS.reached(walked):
                break
            call = file.calls[index]
            if not runs_when_imported(file, call.region) or _hands_to_an_object(project, module, index):
                continue
            at = call.statement.start
            if project.world.impossible(Site(file, scope, call.region, at, None)):
                continue
            starts = [
                stepped(
                    module,
                    index,
                    target._replace(frame=project.world.told_apart(file, index, target.function, target.frame)),
                )
                for target in project.world.calls.targets(file, index)
                if begins(file, index, target) and leading.may_start(target)
            ]
            text = f"`{render(call.func, file)}`"
            for reached in reach(project.world, starts, follows, leading.may_start, again=True):
                walked += 1
                for start in _here(project, reached, file):
                    first, *others = reached.hops()
                    starts_here = Hop(start.file, start.span, f"{start.text} starts processes", first.guessed)
                    hops = (*others, starts_here)
                    region = -1 if scope else call.region
                    certain = start.certain and all(_is_direct(project, *one[:2]) for one in reached.calls)
                    inner = ((where, index) for where, index, _ in reached.calls[1:])
                    tested = start.tested or any(
                        _is_tested(project, project.world.call_site(where, number, None)) for where, number in inner
                    )
                    yield TopLevelStart(
                        file, call.span, call.statement, region, certain, text, start.method, start.loader, hops, tested
                    )


def _starting_files(project: Project) -> frozenset[str]:
    """The files that make loaders with workers or launch processes, other than by fork: a program without any of them
    has no such start. A start method that one program sets leaves the default to others."""
    loaders = (
        loader.file.path
        for loader in project.loaders
        if any(one.source == "program" for one in project.regimes(loader)) or any(_methods(project.regimes(loader)))
    )
    launches = (*project.launches.all(), *project.launches.blind())
    launching = (one.file.path for one in launches if any(method != "fork" for method in one.methods))
    return frozenset((*loaders, *launching))


def _methods(regimes: Iterable[Regime]) -> Iterator[Method]:
    """The start methods of a loader's workers, besides fork and what another process chose."""
    for regime in regimes:
        if regime.method != "fork" and regime.source != "inherited":
            yield Method(regime.method, regime.where)


def _hands_to_an_object(project: Project, here: Reached, index: int) -> bool:
    """Whether a call is of a method of an external object, `button.click(handler)`, or constructs one.

    The functions passed to it run later, in the process that has the object.
    """
    callees = project.world.calls.callees(here.file, index, here.frame)
    outside = bool(callees) and all(
        isinstance(one, External) and "()" in one.name and canonical(one.name).partition("()")[0] not in _RUNNING
        for one in callees
    )
    return outside or _hands_to_a_class(project, here, index)


def _follows(project: Project, here: Reached, index: int) -> bool:
    """Whether a call in a function runs its targets at once, in every process that imports the script."""
    region = here.file.calls[index].region
    return runs_when_imported(here.file, region) and not _hands_to_a_class(project, here, index)


def _hands_to_a_class(project: Project, here: Reached, index: int) -> bool:
    """Whether a call constructs an object of an external class that keeps the functions passed to it,
    `FastAPI(lifespan=connect)`, or registers them for later."""
    callees = project.world.calls.callees(here.file, index, here.frame)
    return bool(callees) and all(
        isinstance(one, External)
        and (calls_later(one.name) or (keeps_arguments(one.name) and canonical(one.name) not in _RUNNING))
        for one in callees
    )


def _here(project: Project, reached: Reached, script: SourceFile) -> Iterator[TopLevelStart]:
    """The starts directly in one scope that the top level of a script reaches."""
    file = reached.file
    for iteration in project.ask(Starting).iterations(file, reached.scope, reached.frame):
        if not runs_when_imported(file, iteration.region):
            continue
        start = iteration.statement.start
        if project.world.impossible(Site(file, reached.scope, iteration.region, start, reached.frame)):
            continue
        text = project.ask(Starting).described(iteration)
        for method in _methods(project.regimes_in(iteration.loader, script)):
            region = -1 if reached.scope else iteration.region
            certain = not file.is_conditional(iteration.region)
            site = Site(file, reached.scope, iteration.region, start, reached.frame)
            loader, tested = iteration.loader, _is_tested(project, site)
            yield TopLevelStart(
                file, iteration.span, iteration.statement, region, certain, text, method, loader, (), tested
            )
    for index in file.calls_of(reached.scope):
        call = file.calls[index]
        launches = project.ask(Starting).launching.get((file.path, index), ())
        if launches and not runs_when_imported(file, call.region):
            continue
        if launches and not can_start(project.world, file, index, reached.frame):
            continue
        if launches and project.world.impossible(project.world.call_site(file, index, reached.frame)):
            continue
        for launch in launches:
            for method in project.ask(Starting).methods(launch, script):
                if method.name != "fork" and (method.arrival is None or method.arrival.origin.launch is None):
                    call = _making_a_pool(project, reached, index) or file.calls[index]
                    text = f"`{render(call.func, file)}`"
                    region = -1 if reached.scope else call.region
                    certain = not file.is_conditional(call.region)
                    tested = _is_tested(project, project.world.call_site(file, index, reached.frame))
                    yield TopLevelStart(
                        file, call.span, call.statement, region, certain, text, method, None, (), tested
                    )


def _is_tested(project: Project, site: Site) -> bool:
    """Whether a place in a function stands under a test that is not known to hold."""
    values = project.world.values
    for index in site.file.regions(site.region) if site.scope else ():
        entry = site.file.facts.regions[index]
        if entry.kind == "if" and entry.expr is not None:
            asked = Site(site.file, site.scope, entry.parent, entry.span.start, site.frame)
            if values.truth(values.evaluate(entry.expr, asked)) is not entry.holds:
                return True
    return False


def _making_a_pool(project: Project, here: Reached, index: int) -> Call | None:
    """The call in the same scope that made the pool whose method is called, where a pool starts its processes at once.
    Source: CPython, `multiprocessing/pool.py`, `Pool.__init__`."""
    func = here.file.calls[index].func
    if not isinstance(func, Attribute):
        return None
    pools = project.world.values.evaluate(func.value, project.world.call_site(here.file, index, here.frame))
    if len(pools) != 1 or not isinstance(pool := pools[0], Instance) or not isinstance(pool.of, External):
        return None
    if canonical(pool.of.name) != "multiprocessing.Pool" or pool.file is not here.file or pool.call < 0:
        return None
    made = here.file.calls[pool.call]
    return made if made.scope == here.scope else None


def runs_on_until(file: SourceFile, last: Span) -> Span:
    """The last statement of the file that runs on import, if a statement after `last` has an effect; otherwise `last`
    itself.

    A statement has an effect if it calls or changes something, or reads what may be bound up to there. A child that
    imports the file without the guarded statements would run the ones after them all the same.
    """
    module = file.scopes[0]
    definitions = [file.scopes[child].span for child in file.children.get(0, ()) if file.scopes[child].kind != "lambda"]
    end = (last.end_line, last.end_column)
    tail: list[Event | Call] = [
        *(event for event in module.events if event.kind not in _INERT and event.detail != "comp"),
        *(call for index in file.calls_of(0) if not _inside((call := file.calls[index]).span, definitions)),
    ]
    tail = [one for one in tail if one.span.start >= end and runs_when_imported(file, one.region)]
    if not any(isinstance(one, Call) or _acts(one) for one in tail):
        return last
    return max((one.statement if isinstance(one, Call) else one.span for one in tail), key=lambda span: span[:2])


_INERT = ("def", "class", "import", "global")


def _inside(span: Span, others: list[Span]) -> bool:
    return any(one.start <= span.start < (one.end_line, one.end_column) for one in others)


def _acts(event: Event) -> bool:
    """Whether a statement without a call does more than bind names to constants."""
    if event.kind == "expr":
        return False
    if event.kind != "assign" or not isinstance(event.target, Name) or isinstance(event.detail, Operator):
        return True
    return event.value is not None and not isinstance(event.value, Constant)
