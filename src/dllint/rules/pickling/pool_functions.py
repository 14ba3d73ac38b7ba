"""Functions that the project sends to other processes: tasks of pools, and targets of processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.inference import limits
from dllint.inference.values import Actual, External, Function, Instance, Partial
from dllint.libraries.facets import LauncherApi
from dllint.libraries.index import LAUNCHERS, REPLACES_PICKLE, canonical
from dllint.project.launches import Launch
from dllint.project.process_starts import Method, Starting
from dllint.rules.pickling.local_functions import functions_in, is_lambda, is_local

if TYPE_CHECKING:
    from dllint.project.model import Project

POOLS = ("executor", "pool")


@dataclass(frozen=True)
class SentFunction:
    """A lambda or local function that is passed to a pool or process.

    `method` is None for a pool, which pickles its tasks under every start method.
    """

    function: Function
    launch: Launch
    method: Method | None


def sent_functions(project: Project) -> Iterator[SentFunction]:
    """The unpicklable functions that are sent to processes; those by a start method that the project sets come
    first."""
    for launch in project.launches.all():
        api = LAUNCHERS.get(launch.api)
        if api is None or not surely_processes(project, launch):
            continue
        sent: set[Function] = set()
        for method in pickling_methods(project, launch, api):
            for function in given_functions(project, launch, method):
                if function not in sent and is_lost(function):
                    sent.add(function)
                    yield SentFunction(function, launch, method)


def pickling_methods(project: Project, launch: Launch, api: LauncherApi) -> Iterator[Method | None]:
    """How a launch pickles what it sends.

    Yields nothing if it does not pickle; None for a pool, which pickles under every start method; otherwise the start
    methods that the project sets, and one default.
    """
    if api.by_value or REPLACES_PICKLE & launch.file.imported_packages():
        return
    if api.method in POOLS:
        yield None
        return
    methods = [one for one in project.ask(Starting).methods(launch) if one.name != "fork"]
    yield from [one for one in methods if one.shown][: limits.WAYS_TO_A_LAUNCH.most]
    yield from [one for one in methods if not one.shown][:1]


def given_functions(project: Project, launch: Launch, method: Method | None) -> Iterator[Function]:
    """The functions that a launch is given as its target on the way of a start method, also those that a partial there
    binds."""
    for value in project.world.values.passed(on_the_way(launch.target, method)) if launch.target is not None else ():
        yield from functions_in(project.world, value)


def on_the_way(given: Actual, method: Method | None) -> Actual:
    """An argument of a launch as the function around the launch passes it in the calls that bring a start method
    there."""
    arrival, site = method.arrival if method is not None else None, given.site
    if arrival is None or arrival.frame is None or site is None:
        return given
    around = site.file is arrival.file and site.scope == arrival.scope
    return given._replace(site=site._replace(frame=arrival.frame)) if around else given


def is_lost(function: Function) -> bool:
    """Whether a function is a lambda, or a nested function that no decorator replaces."""
    plain = is_local(function) and not function.file.scopes[function.scope].decorators
    return function.receiver is None and (is_lambda(function) or plain)


def surely_processes(project: Project, launch: Launch) -> bool:
    """Whether the launch provably uses processes, rather than for example a pool of threads."""
    site = project.world.call_site(launch.file, launch.call, launch.frame)
    for value in project.world.values.evaluate(launch.file.calls[launch.call].func, site):
        callee = value.plain if isinstance(value, Partial) else value
        of = callee.of if isinstance(callee, Instance) else callee
        if not isinstance(of, External):
            return False
        name = canonical(of.name)
        if name not in LAUNCHERS and f"{name}()" not in LAUNCHERS:
            return False
    return True
