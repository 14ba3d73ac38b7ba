"""Handles that the parent opens and several processes use: forked ones and their parent, or several forked ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Call, Expr
from dllint.inference.edges import Target
from dllint.inference.values import Const, External, Instance, Site
from dllint.libraries.facets import Opener
from dllint.libraries.index import LAUNCHERS, canonical
from dllint.linking.expressions import walk, without_calls
from dllint.linking.implicit_calls import expressions
from dllint.linking.source import SourceFile
from dllint.project.handles import Handles
from dllint.project.launches import Launch
from dllint.project.process_starts import Starting
from dllint.project.same_process import Reached, reach
from dllint.rules.stores.shared_handles import opened_globals
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_ASKING = frozenset({"closed", "name", "mode", "fileno"})
"""Attributes of a file that leave its position as it is."""
_LOCKS = frozenset({"Lock", "RLock", "Semaphore", "BoundedSemaphore"})
_POOLS = ("pool", "executor")
_COUNTS = ("processes", "max_workers")


@dataclass(frozen=True)
class InProcesses:
    """A handle that several processes use at once.

    Attributes:
        label: what it is called where the processes use it.
        file, call: where it is opened.
        partner: with whom the processes share it, in words.
        use: where the parent uses it; None where only the processes do.
    """

    opener: Opener
    label: str
    file: SourceFile
    call: int
    launch: Launch
    partner: str
    use: Span | None = None


def handles_of_processes(project: Project) -> Iterator[InProcesses]:
    """All that processes inherit by fork, as an argument or as a global."""
    for launch in project.launches.all():
        own = launch.api.endswith("Process")
        api = LAUNCHERS.get(launch.api)
        if not (own or (api is not None and api.method in _POOLS)) or not _forks(project, launch):
            continue
        if own:
            for target in launch.targets:
                yield from _given(project, launch, target)
        elif not _is_single(project, launch):
            yield from _inherited(project, launch)


def _forks(project: Project, launch: Launch) -> bool:
    methods = project.ask(Starting).methods(launch)
    decisive = [method for method in methods if method.shown] or methods
    return any(method.name == "fork" for method in decisive)


def _is_single(project: Project, launch: Launch) -> bool:
    """Whether a pool surely has one process."""
    world = project.world
    func = launch.file.calls[launch.call].func
    if not isinstance(func, Attribute):
        return False
    for value in world.values.evaluate(func.value, world.call_site(launch.file, launch.call, launch.frame)):
        if not isinstance(value, Instance) or value.file is None or value.call < 0:
            return False
        made = world.made_with(value)
        given = [*made.positional[:1], *(made.keywords[name] for name in _COUNTS if name in made.keywords)]
        counts = [
            one
            for actual in given
            if actual.expr is not None and actual.site is not None
            for one in world.values.evaluate(actual.expr, actual.site)
        ]
        if not counts or any(not isinstance(one, Const) or one.value != 1 for one in counts):
            return False
    return True


def _inherited(project: Project, launch: Launch) -> Iterator[InProcesses]:
    """The globals that the tasks of a pool use."""
    starts = [Reached(one.function.file, one.function.scope, one.frame) for one in launch.targets]
    reached = list(reach(project.world, starts))
    places = [(one.file, one.scope) for one in reached]
    for opener, name, value, reader in opened_globals(project, places, launch.file):
        ways = reader.within.get((0, name), ())
        uses = [(one, first) for one in reached if one.file is reader and (first := _first_use(one, name))]
        if uses and all(_is_locked(project, one, first) for one, first in uses):
            continue
        if value.file is not None and not any(scope for scope, _ in ways):
            yield InProcesses(opener, name, value.file, value.call, launch, "each other")


def _first_use(here: Reached, name: str) -> tuple[int, int] | None:
    """Where a function first uses a global; None if it does not."""
    uses = (
        span.start
        for expr, span, _, _ in expressions(here.file, here.scope)
        if any(part == Name(name) for part in walk(expr, here.file))
    )
    return min(uses, default=None)


def _is_locked(project: Project, here: Reached, at: tuple[int, int]) -> bool:
    """Whether a function has taken a lock that processes share before it comes to a place."""
    file = here.file
    taken: list[tuple[Expr, int, Span]] = [
        (func.value, file.calls[index].region, file.calls[index].statement)
        for index in file.calls_of(here.scope)
        if isinstance(func := file.calls[index].func, Attribute) and func.attr == "acquire"
    ]
    taken += [
        (event.value, event.region, event.span)
        for event in file.scopes[here.scope].events
        if event.kind == "with" and event.value is not None
    ]
    for expr, region, span in taken:
        site = Site(file, here.scope, region, span.start, here.frame)
        if site.at > at:
            continue
        for value in project.world.values.evaluate(expr, site):
            if isinstance(value, Instance) and isinstance(value.of, External) and _is_lock(canonical(value.of.name)):
                return True
    return False


def _is_lock(name: str) -> bool:
    return name.startswith("multiprocessing.") and name.rpartition(".")[2] in _LOCKS


def _given(project: Project, launch: Launch, target: Target) -> Iterator[InProcesses]:
    """The handles among the arguments of a process, where it and another one use them."""
    function = target.function
    handles = project.ask(Handles)
    params = function.file.scopes[function.scope].params
    for param in params[1:] if function.receiver is not None else params:
        for value in project.world.parameters.values(function, param.name, target.frame):
            opener = handles.opener(value)
            if opener is None or not opener.harm or not isinstance(value, Instance):
                continue
            whole = handles.whole(value)
            if whole.file is None or whole.call < 0:
                continue
            site = Site(function.file, function.scope, 0, (0, 0), target.frame)
            if not any(True for _ in _uses(project, whole, opener, site, param.name)):
                continue
            if _repeated(project, launch, whole):
                yield InProcesses(opener, param.name, whole.file, whole.call, launch, "each other")
                continue
            use = next(_used_by_parent(project, launch, whole, opener), None)
            if use is not None:
                yield InProcesses(opener, param.name, whole.file, whole.call, launch, "their parent", use)


def _repeated(project: Project, launch: Launch, handle: Instance) -> bool:
    """Whether a loop starts several processes with the one handle, and goes on while they run."""
    file, made = launch.file, launch.file.calls[launch.call]
    for index in file.regions(made.region):
        region = file.facts.regions[index]
        if region.kind not in ("for", "while"):
            continue
        inside = handle.file is file and file.encloses(index, file.calls[handle.call].region)
        inside = inside and file.calls[handle.call].scope == made.scope
        waits = any(file.encloses(index, call.region) for call in _joins(file, made.scope))
        return not inside and not waits
    return False


def _joins(file: SourceFile, scope: int) -> Iterator[Call]:
    for index in file.calls_of(scope):
        call = file.calls[index]
        if isinstance(call.func, Attribute) and call.func.attr == "join" and not call.args:
            yield call


def _used_by_parent(project: Project, launch: Launch, handle: Instance, opener: Opener) -> Iterator[Span]:
    """Where the function that starts a process uses the handle while the process may run."""
    scope = launch.file.calls[launch.call].scope
    for file, index in project.ask(Starting).started(launch):
        start = file.calls[index]
        if file is not launch.file or start.scope != scope:
            continue
        joins = [call.span for call in _joins(file, scope) if call.span > start.span]
        site = Site(file, scope, start.region, start.span.start, launch.frame)
        for span, region in _uses(project, handle, opener, site):
            together = file.encloses(_choice(file, region), start.region) or file.encloses(
                _choice(file, start.region), region
            )
            later = span.start >= (start.span.end_line, start.span.end_column)
            if later and together and not any(join < span for join in joins):
                yield span


def _choice(file: SourceFile, region: int) -> int:
    """The innermost branch around a region."""
    return next((one for one in file.regions(region) if file.facts.regions[one].kind not in ("for", "while")), 0)


def _uses(
    project: Project, handle: Instance, opener: Opener, around: Site, name: str = ""
) -> Iterator[tuple[Span, int]]:
    """Where a function uses a handle, under a name where that is known, other than to close it."""
    file, scope = around.file, around.scope
    for expr, span, region, _ in expressions(file, scope):
        if isinstance(expr, Attribute) and expr.attr in opener.ends | _ASKING:
            continue
        for part in without_calls(expr):
            if isinstance(part, (Name, Attribute)) and _is(project, handle, part, name, around._replace(region=region)):
                yield span, region
                break


def _is(project: Project, handle: Instance, part: Expr, name: str, site: Site) -> bool:
    if name:
        return part == Name(name)
    values = project.world.values.evaluate(part, site)
    return any(isinstance(one, Instance) and (one.file, one.call) == (handle.file, handle.call) for one in values)
