"""Under which start methods the workers of a loader can be started, and who decides it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.project.abstract import Function
from dllint.project.loaders import Loader, Workers
from dllint.project.start_methods import Arrival, StartMethods

if TYPE_CHECKING:
    from dllint.project.world import World


@dataclass(frozen=True)
class Regime:
    """One start method of a loader's workers.

    Attributes:
        method: fork, spawn or forkserver.
        source: "explicit" (the loader's own context), "inherited" (of a launched process), "program"
            (`set_start_method`) or "default" (of a target; `where` says which).
        arrival: the chain from the launcher, for "inherited" and "program".
        workers: the worker count along that chain.
        only: for "default", whether no target has another default.
    """

    method: str
    source: str
    arrival: Arrival | None
    workers: Workers
    where: str = ""
    only: bool = False

    @property
    def shown(self) -> bool:
        """Whether the project itself, and not a target's default, decides it."""
        return self.source != "default"


def find_regimes(world: World, methods: StartMethods, loader: Loader) -> Iterator[Regime]:
    """The regimes of a loader with workers, what the project decides first; none where its workers are provably none
    or where a context is given that is not known. A context that only some paths give, as those with workers do, is
    the loader's own."""
    site = loader.site
    context = loader.context()
    if context is not None and loader.argument("multiprocessing_context").absent is False:
        workers = loader.workers()
        if context in ("fork", "spawn", "forkserver") and workers.possible:
            yield Regime(context, "explicit", None, workers)
        return
    arrivals = methods.at(site.file, site.scope, site.region, site.at)
    decided = False
    for arrival in arrivals:
        decided = decided or arrival.origin.launch is None
        workers = loader.workers(arrival.frame)
        if not workers.possible:
            continue
        own = loader.context(arrival.frame)
        source = "inherited" if arrival.origin.launch is not None else "program"
        if own is None:
            yield Regime(arrival.origin.method, source, arrival, workers)
        elif own in ("fork", "spawn", "forkserver"):
            yield Regime(own, "explicit", None, workers)
    for arrival in methods.handed(loader.file, loader.call):
        workers = loader.workers()
        if workers.possible and loader.context() is None:
            decided = True
            yield Regime(arrival.origin.method, "inherited", arrival, workers)
    workers = loader.workers()
    if decided or not workers.possible:
        return
    if context is not None:
        if not arrivals and context in ("fork", "spawn", "forkserver") and _in_all_activations(world, loader, context):
            yield Regime(context, "explicit", None, workers)
        return
    defaults = world.settings.targets.default_start_methods()
    for method, where in defaults.items():
        yield Regime(method, "default", None, workers, where, len(defaults) == 1)


def _in_all_activations(world: World, loader: Loader, context: str) -> bool:
    """Whether a loader can be given a context however the function around it is called: where only some callers give
    one, it is not known which datasets go with it."""
    call = loader.file.calls[loader.call]
    if loader.file.scopes[call.scope].kind != "function":
        return True
    callers = world.calls.callers(Function(loader.file, call.scope))
    return all(loader.context(caller.frame) == context for caller in callers)
