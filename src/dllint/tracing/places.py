"""The content of `dllint trace`: start methods in force at a place, and the provenance of a loader's arguments.

Pure functions over a linked project; they return plain data, which reporters render.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from dllint.facts.schema import Call
from dllint.finding import Place
from dllint.inference import limits
from dllint.inference.values import Function, Site
from dllint.linking.conditions import render
from dllint.linking.contradictions import contradict
from dllint.linking.source import SourceFile
from dllint.project import Project, Regime
from dllint.project.arrivals import Arrival
from dllint.project.loaders import Loader
from dllint.project.start_methods import StartMethods
from dllint.span import Span
from dllint.tracing.arguments import Argument, DatasetTrace, arguments, datasets
from dllint.tracing.launches import LaunchTrace, launches, unfollowed
from dllint.tracing.statements import enclosing_function, shares_lines, statement_at

MOST_COUNTED = 99
"""Maximum number of other chains that are counted."""


@dataclass(frozen=True)
class InForce:
    """A start method at a place.

    Attributes:
        method: fork, spawn or forkserver.
        source: "explicit" (the loader's own context), "inherited" (of a launched process), "program"
            (`set_start_method`) or "default" (of a target).
        where: for a default, the targets that have it.
        chain: the shortest chain of call sites that leads here, the launching call first.
        others: number of other chains that lead here under the same method; 99 stands for 99 or more.
        workers: for a loader, its worker count along the chain.
    """

    method: str
    source: str
    where: str = ""
    chain: tuple[Place, ...] = ()
    others: int = 0
    workers: str = ""


@dataclass(frozen=True)
class Excluded:
    """A chain that leads to the place but does not count there, with the reason."""

    method: str
    reason: str
    chain: tuple[Place, ...]


@dataclass(frozen=True)
class WayIn:
    """How a place is reached if no launcher leads to it.

    Attributes:
        path, function: where the chain of calls begins: the top level of a file ("<module>"), or a function without a
            known call. Both are "" if the calls form only cycles.
        hops: call sites, outermost first.
    """

    path: str = ""
    function: str = ""
    hops: tuple[Place, ...] = ()


@dataclass(frozen=True)
class LoaderTrace:
    """A loader. `workers` is "none", "some", "unknown" or "opaque"; `verdict` states the consequence."""

    name: str
    place: Place
    function: str
    workers: str
    verdict: str
    in_force: tuple[InForce, ...]
    excluded: tuple[Excluded, ...]
    way_in: WayIn | None
    arguments: tuple[Argument, ...]
    datasets: tuple[DatasetTrace, ...]


@dataclass(frozen=True)
class Trace:
    """The trace of a file, or of one line of it.

    Attributes:
        path: the file, absolute.
        line: the requested line; `None` for the whole file.
        statement: the examined statement; it may start on another line.
        function: qualified name of the function around it.
        in_force, excluded, way_in: for the statement.
        loaders, launches: those of the statement, or of the whole file.
        doubts: calls that could not be followed and may matter here.
        limits: how often each limit of the analysis was reached, by its name.
    """

    path: str
    line: int | None = None
    statement: Span | None = None
    function: str = ""
    in_force: tuple[InForce, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    way_in: WayIn | None = None
    loaders: tuple[LoaderTrace, ...] = ()
    launches: tuple[LaunchTrace, ...] = ()
    doubts: tuple[Place, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)


def parse_place(text: str, exists: bool) -> tuple[str, int | None]:
    """Parse FILE, FILE:LINE or FILE:LINE:COLUMN. `exists`: there is a file with that whole name.

    Returns:
        The path and the line, `None` for the whole file.
    """
    if exists:
        return text, None
    path, colon, last = text.rpartition(":")
    if not (colon and path and last.isascii() and last.isdecimal()):
        return text, None
    before, colon, line = path.rpartition(":")
    if colon and before and line.isascii() and line.isdecimal():
        return before, int(line)
    return path, int(last)


def trace_file(project: Project, path: str) -> Trace:
    """Trace every loader and every launch of a file."""
    file = project.world.files[path]
    loaders = tuple(_loader(project, one) for one in project.loaders if one.file is file)
    return Trace(
        path,
        loaders=loaders,
        launches=tuple(launches(project, file, None)),
        doubts=_doubts(project, loaders, None, file),
    )


def trace_line(project: Project, path: str, line: int) -> Trace | None:
    """Trace the statement at (or else nearest to) a line, counted from 1; `None` if the file has no statement."""
    file = project.world.files[path]
    found = statement_at(file, line)
    if found is None:
        return None
    statement, scope, region = found
    at = statement.start
    methods = StartMethods(project.world, project.launches, [(file, enclosing_function(file, scope))])
    arrivals = methods.at(file, scope, region, at)
    loaders = tuple(
        _loader(project, one)
        for one in project.loaders
        if one.file is file and shares_lines(statement, file.calls[one.call].span)
    )
    way_in = None if arrivals else _way_in(project, file, scope)
    return Trace(
        path,
        line,
        statement,
        file.qualified_name(scope),
        tuple(_in_force(project, methods, arrivals)),
        tuple(_excluded(project, methods, file, scope, region, at, arrivals)),
        way_in,
        loaders,
        tuple(launches(project, file, statement)),
        _doubts(project, loaders, way_in, file),
    )


# Start methods


def _in_force(project: Project, methods: StartMethods, arrivals: Iterable[Arrival]) -> Iterator[InForce]:
    grouped: dict[tuple[str, str], list[Arrival]] = {}
    decided = False
    for arrival in arrivals:
        decided = decided or arrival.origin.launch is None
        grouped.setdefault((arrival.origin.method, _source(arrival)), []).append(arrival)
    for (method, source), group in grouped.items():
        yield InForce(method, source, chain=project.chain(group[0]), others=_others(project, methods, group))
    if not decided:
        for method, where in project.targets.default_start_methods().items():
            yield InForce(method, "default", where)


def _source(arrival: Arrival) -> str:
    return "inherited" if arrival.origin.launch is not None else "program"


def _others(project: Project, methods: StartMethods, group: list[Arrival]) -> int:
    """Return the number of chains besides the shortest: the call paths to here from each origin of the group."""
    ways = 0
    for arrival in {_origin(one): one for one in reversed(group)}.values():
        ways += _Ways(project, methods, arrival).to(arrival.file, arrival.scope)
    return min(max(ways - 1, 0), MOST_COUNTED)


def _origin(arrival: Arrival) -> tuple[str, str, Span]:
    return arrival.origin.method, arrival.origin.file.path, arrival.origin.span


class _Ways:
    """Counts the chains from one origin. A function that occurs in several chains is counted once."""

    def __init__(self, project: Project, methods: StartMethods, arrival: Arrival) -> None:
        self.project = project
        self.arrivals = methods.arrivals()
        self.origin = _origin(arrival)
        self.counted: dict[tuple[str, int], int] = {}

    def to(self, file: SourceFile, scope: int) -> int:
        key = (file.path, scope)
        if key in self.counted:
            return self.counted[key]
        self.counted[key] = 0
        found = sum(one.previous is None for one in self._arrivals(file, scope))
        if scope > 0 and len(self.counted) < MOST_COUNTED:
            for caller in self.project.world.calls.callers(Function(file, scope)):
                if caller.call >= 0 and not self.project.launches.at(caller.file, caller.call):
                    call = caller.file.calls[caller.call]
                    around = enclosing_function(caller.file, call.scope)
                    if any(self._passes(one, call) for one in self._arrivals(caller.file, around)):
                        found += self.to(caller.file, around)
        self.counted[key] = min(found, MOST_COUNTED + 1)
        return self.counted[key]

    def _arrivals(self, file: SourceFile, scope: int) -> list[Arrival]:
        reached = self.arrivals.get((file.path, scope), ())
        return [one for one in reached if _origin(one) == self.origin]

    def _passes(self, arrival: Arrival, call: Call) -> bool:
        at = call.statement.start
        here = self.project.world.symbols.atoms(arrival.file, call.scope, call.region)
        return arrival.after <= at < arrival.until and not contradict(arrival.conditions, here)


def _in_force_for(project: Project, loader: Loader) -> Iterator[InForce]:
    """Yield the start methods by which rules judge a loader."""
    grouped: dict[tuple[str, str, str], list[Regime]] = {}
    for regime in project.regimes(loader):
        grouped.setdefault((regime.method, regime.source, regime.where), []).append(regime)
    for (method, source, where), group in grouped.items():
        arrivals = [one.arrival for one in group if one.arrival is not None]
        first = group[0]
        counted = first.workers.text if first.workers.count is not None else ""
        chain = project.chain(arrivals[0]) if arrivals else ()
        yield InForce(
            method, source, where, chain, _others(project, project.methods, arrivals) if arrivals else 0, counted
        )


def _excluded(
    project: Project,
    methods: StartMethods,
    file: SourceFile,
    scope: int,
    region: int,
    at: tuple[int, int],
    counted: list[Arrival],
) -> Iterator[Excluded]:
    """Yield the chains that reach the function around a place, but not the place itself."""
    scope = enclosing_function(file, scope)
    here = project.world.symbols.atoms(file, scope, region)
    seen: set[tuple[str, str]] = set()
    kept = {id(one) for one in counted}
    for arrival in methods.arrivals().get((file.path, scope), ()):
        if id(arrival) in kept:
            continue
        if arrival.after >= at:
            reason = "it is set after this statement"
        elif at >= arrival.until:
            reason = "a forced set_start_method has replaced it before"
        elif contradict(arrival.conditions, here):
            reason = f"it needs a condition that is false here: `{_conditions(file, region)}`"
        elif project.world.impossible(Site(file, scope, region, at, arrival.frame)):
            reason = f"along it `{_conditions(file, region)}` is not met"
        else:
            continue
        chain = project.chain(arrival)
        key = (arrival.origin.method, reason + str(chain[0]))
        if key not in seen and not limits.EXCLUDED_WAYS.reached(len(seen)):
            seen.add(key)
            yield Excluded(arrival.origin.method, reason, chain)


def _conditions(file: SourceFile, region: int) -> str:
    tests = []
    for index in file.regions(region):
        entry = file.facts.regions[index]
        if entry.kind == "if" and entry.expr is not None:
            text = render(entry.expr, file)
            tests.append(text if entry.holds else f"not ({text})" if " " in text else f"not {text}")
    return " and ".join(reversed(tests))


def _way_in(project: Project, file: SourceFile, scope: int) -> WayIn:
    """Return the shortest path of plain calls to a function, if possible from the top level of a file."""
    seen = {(file.path, scope)}
    todo: deque[tuple[SourceFile, int, tuple[Place, ...]]] = deque([(file, scope, ())])
    dead_end = WayIn()
    while todo:
        where, inner, hops = todo.popleft()
        if inner <= 0:
            return WayIn(where.path, "<module>", hops)
        if where.scopes[inner].kind != "function":
            steps = [(where, where.scopes[inner].parent, hops)]
        else:
            steps = []
            for caller in project.world.calls.callers(Function(where, inner)):
                if caller.call >= 0 and not project.launches.at(caller.file, caller.call):
                    call = caller.file.calls[caller.call]
                    hop = Place(caller.file.path, call.span, f"calls {render(call.func, caller.file)}")
                    steps.append((caller.file, call.scope, (hop, *hops)))
            if not steps:
                dead_end = WayIn(where.path, where.qualified_name(inner), hops)
        for step in steps:
            if (step[0].path, step[1]) not in seen:
                seen.add((step[0].path, step[1]))
                todo.append(step)
    return dead_end


# Loaders and launches


def _loader(project: Project, loader: Loader) -> LoaderTrace:
    call = loader.file.calls[loader.call]
    site = loader.site
    arrivals = project.methods.at(site.file, site.scope, site.region, site.at)
    workers = loader.workers()
    excluded = list(_excluded(project, project.methods, site.file, site.scope, site.region, site.at, arrivals))
    excluded += [
        Excluded(one.origin.method, "along it the worker count is 0", project.chain(one))
        for one in arrivals
        if workers.possible and loader.workers(one.frame).kind == "none"
    ]
    in_force = tuple(_in_force_for(project, loader))
    return LoaderTrace(
        loader.name,
        Place(loader.file.path, call.span, render(call.func, loader.file)),
        loader.file.qualified_name(call.scope),
        workers.kind,
        _verdict(loader, workers.kind, in_force),
        in_force,
        tuple(limits.EXCLUDED_WAYS.first(excluded)),
        None if arrivals else _way_in(project, loader.file, call.scope),
        tuple(arguments(project, loader)),
        tuple(datasets(project, loader)),
    )


def _verdict(loader: Loader, workers: str, in_force: tuple[InForce, ...]) -> str:
    if loader.iterates_itself:
        return "its class gives batches itself: no worker starts, and nothing about workers is reported"
    if workers == "none":
        return "the worker count is provably 0: no worker starts, and nothing about workers is reported"
    if workers == "opaque":
        return "the worker count is unknown: nothing that needs workers is reported"
    if not in_force and loader.context() is not None:
        return "its multiprocessing_context is unknown: nothing that depends on the start method is reported"
    if workers == "some":
        return "it starts workers"
    return "the worker count may be above 0, so it counts as starting workers"


def _doubts(
    project: Project, loaders: tuple[LoaderTrace, ...], way_in: WayIn | None, file: SourceFile
) -> tuple[Place, ...]:
    """Return the calls of unresolved launchers that may lead here, if no resolved launcher does."""
    if way_in is None and all(one.way_in is None for one in loaders):
        return ()
    program = project.import_graph.import_closure
    found = [
        (where, index, "starts")
        for where, index in unfollowed(project)
        if where is not file and file.path in program([where.path])
    ]
    found += [(one.file, one.call, "sets") for one in project.methods.set_calls() if not one.methods]
    return tuple(
        Place(
            where.path,
            where.calls[index].span,
            f"what {render(where.calls[index].func, where)}(…) {verb} is not known",
        )
        for where, index, verb in found
    )
