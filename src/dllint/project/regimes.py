"""Regimes: the start methods that a loader's workers can have, and what determines each: the loader, a launcher, a
default."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Name
from dllint.facts.schema import Expr
from dllint.finding import Severity
from dllint.inference.values import Class, Const, Display, External, Frame, Function, Instance, Mapping, Site
from dllint.linking.conditions import atoms, path_atoms
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Arrival, Hop, Origin
from dllint.project.loaders import Loader, Workers
from dllint.project.start_methods import StartMethods
from dllint.project.unread_loaders import only_asked
from dllint.project.upstream import Upstream

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.datasets import Datasets


@dataclass(frozen=True)
class Regime:
    """One start method that a loader's workers can have, and what determines it.

    Attributes:
        method: fork, spawn or forkserver.
        source: "explicit" (the loader's own context), "inherited" (of a launched process), "program"
        (`set_start_method`) or "default" (of a target; `where` says which).
        arrival: the call chain from the launcher, for "inherited" and "program".
        workers: the worker count along that chain.
        only: for "default", whether no target has another default.
        beside: for "default", the call that comes to the loader outside of the processes that the program launches
            for the same code: `if distributed: mp.spawn(main, …) else: main(…)`.
    """

    method: str
    source: str
    arrival: Arrival | None
    workers: Workers
    where: str = ""
    only: bool = False
    beside: Hop | None = None

    @property
    def shown(self) -> bool:
        """Whether the project itself, rather than a target's default, determines the start method."""
        return self.source != "default"

    @property
    def unchosen(self) -> bool:
        """Whether nobody has chosen it: it is a newer Python's default, and the number of workers is 0 by default."""
        return not (self.shown or self.only) and self.method != "fork" and self.workers.off

    def weighed(self, severity: Severity) -> Severity:
        """The severity of a failure or cost under this start method.

        An error becomes a warning unless workers are certain. If nobody has chosen the start method, it is info.
        """
        if self.unchosen:
            return "info"
        return "warning" if severity == "error" and self.workers.kind != "some" else severity

    @property
    def described(self) -> str:
        """The start method; if only a default determines it, followed by where that is the default."""
        return self.method if self.shown else f"{self.method} (the default on {self.where})"


def find_regimes(world: World, methods: StartMethods, loader: Loader) -> Iterator[Regime]:
    """The regimes of a loader with workers; those that the project sets come first.

    There are none if the loader provably has no workers or its context is unknown. If the code requires certain start
    methods, the others are omitted.
    """
    required = methods.required.at(loader.site)
    found = list(_possible_regimes(world, methods, loader))
    left = [one for one in found if one.source == "explicit" or one.method in required]
    yield from left
    if found and not left:
        for method in sorted(required):
            yield Regime(method, "explicit", None, found[0].workers)


def _possible_regimes(world: World, methods: StartMethods, loader: Loader) -> Iterator[Regime]:
    """The regimes before requirements of the code are applied. A context that only some paths pass, like those with
    workers, counts as the loader's own."""
    site = loader.site
    context = loader.context()
    if context is not None and loader.argument("multiprocessing_context").absent is False:
        workers = loader.workers()
        if context in ("fork", "spawn", "forkserver") and workers.possible:
            yield Regime(context, "explicit", None, workers)
        return
    arrivals = methods.at(site.file, site.scope, site.region, site.at)
    decided = False
    setting: list[Arrival] = []
    for arrival in arrivals:
        workers = loader.workers(arrival.frame)
        if workers.possible and arrival.origin.launch is None:
            setting.append(arrival)
        if not workers.possible or only_asked(world, loader, arrival.origin.file):
            continue
        replacing = _set_by_constructor(world, methods, arrival, workers)
        if replacing:
            yield Regime(replacing, "explicit", None, workers)
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
    other = _without_setting(world, loader, setting) if setting and not decided else None
    if decided or not workers.possible or (setting and other is None):
        return
    if context is not None:
        if not arrivals and context in ("fork", "spawn", "forkserver") and _in_all_activations(world, loader, context):
            yield Regime(context, "explicit", None, workers)
        return
    # Two guesses at once are too many: that the mapping sets workers, and that a target's default is in force.
    given = (world.knowledge.configures, world.fills_key)
    if workers.kind != "opaque" or any(ask("num_workers") for ask in given):
        beside = other or next(filter(None, (_also_called(world, methods, arrival) for arrival in arrivals)), None)
        yield from (replace(one, beside=beside) for one in default_regimes(world, workers))


def _without_setting(world: World, loader: Loader, setting: list[Arrival]) -> Hop | None:
    """Return a call by which the loader is reached while no start method is set, or the one that would set it."""
    return _other_program(world, loader, [one.origin for one in setting]) or _sometimes(world, loader, setting)


def _other_program(world: World, loader: Loader, setting: list[Origin]) -> Hop | None:
    """Return a call that comes to the loader in a program which does not set the start method: the defaults are in
    force there."""
    if loader.site.scope <= 0:
        return None
    deciding = list(map(partial(_deciding, world), {(one.file, one.span): one for one in setting}.values()))
    for caller in world.calls.callers(Function(loader.file, loader.site.scope)):
        if caller.call < 0 or caller.guessed or not loader.workers(caller.frame).possible:
            continue
        call = caller.file.calls[caller.call]
        above = Upstream(world, [(caller.file, call.scope)]).calls | {(caller.file.path, caller.call)}
        programs = {path for path, index in above if world.files[path].calls[index].scope == 0}
        for path in sorted(programs):
            is_program = path in world.import_graph.roots(path)
            if is_program and all(map(world.import_graph.import_closure([path]).isdisjoint, deciding)):
                return Hop(caller.file, call.span, "this program sets no start method: its workers start by fork")
    return None


def _sometimes(world: World, loader: Loader, setting: list[Arrival]) -> Hop | None:
    """Return the call that sets the start method, if an option decides whether it runs, on every way to the loader:
    `if args.launcher != "none": mp.set_start_method("spawn")`. Without it the defaults are in force."""
    site = loader.site
    here = world.symbols.atoms(site.file, site.scope, site.region)
    for arrival in setting:
        step = arrival
        while step.previous is not None:
            step = step.previous
        # What the way from there to the loader needs holds on every other way to it, too.
        shared = {atom[:3] for atom in (*here, *arrival.conditions[len(step.conditions) :])}
        if not any(_is_optional(world, *place, shared) for place in arrival.origin.regions):
            return None
    origin = setting[0].origin
    return Hop(origin.file, origin.span, "without this call the workers start by fork")


def _is_optional(world: World, file: SourceFile, scope: int, region: int, shared: set[tuple[str, str, bool]]) -> bool:
    """Whether an option decides if the code of a region runs. `shared`: conditions that hold anyway."""
    for index in file.regions(region):
        entry = file.facts.regions[index]
        if entry.kind == "if" and entry.expr is not None:
            where = Site(file, scope, entry.parent, entry.span.start, None)
            test, needed = entry.expr, "and" if entry.holds else "or"
            parts = test.values if isinstance(test, BoolOp) and test.op == needed else (test,)
            if any(_is_open(world, part, entry.holds, where, shared) for part in parts):
                return True
    return False


def _is_open(world: World, test: Expr, holds: bool, where: Site, shared: set[tuple[str, str, bool]]) -> bool:
    """Whether a program's options decide a test, and nothing on the way to the loader implies its outcome."""
    if not _tests_option(world, test, where) or world.values.truth(world.values.evaluate(test, where)) is not None:
        return False
    implied = [atom[:3] for atom in atoms(test, holds, where.file, where.scope)]
    return not implied or not shared.issuperset(implied)


def _tests_option(world: World, test: Expr, where: Site) -> bool:
    """Whether a test asks for what a program is told: not for its file, the machine, the number of workers, or the
    start method that is set already."""
    parts = list(walk(test, where.file))
    roots = [one for one in parts if isinstance(one, Name)]
    named = {one.id for one in roots} | {one.attr for one in parts if isinstance(one, Attribute)}
    if not roots or any(isinstance(one, CallRef) for one in parts) or "__name__" in named:
        return False
    if any("worker" in name for name in named):
        return False
    values = [value for root in roots for value in world.values.evaluate(root, where)]
    return not any(isinstance(one, External) and one.name in sys.stdlib_module_names for one in values)


def _deciding(world: World, origin: Origin) -> set[str]:
    """Return files, one of them imported by each program that sets the start method: those with calls that lead to the
    function around the setting, or the one with the setting where there are none."""
    index = origin.file.call_at(origin.span)
    scope = origin.file.calls[index].scope if index is not None else 0
    return {path for path, _ in Upstream(world, [(origin.file, scope)]).calls} or {origin.file.path}


def _also_called(world: World, methods: StartMethods, arrival: Arrival) -> Hop | None:
    """Return the call by which the function that launches processes runs the same code in its own process."""
    launch = arrival.origin.launch
    if launch is None:
        return None
    here = (launch.file, launch.file.calls[launch.call].scope)
    step: Arrival | None = arrival
    while step is not None:
        for caller in world.calls.callers(Function(step.file, step.scope)):
            if caller.call >= 0 and not caller.guessed and (caller.file, caller.file.calls[caller.call].scope) == here:
                site = world.call_site(caller.file, caller.call, caller.frame.parent)
                if not (methods.launches.at(caller.file, caller.call) or world.impossible(site)):
                    call = caller.file.calls[caller.call]
                    return Hop(caller.file, call.span, "this call launches no process: its workers start by fork")
        step = step.previous
    return None


def own_process(regimes: Iterable[Regime]) -> list[Hop]:
    """The calls outside of launched processes from which workers are forked."""
    return [one.beside for one in regimes if one.beside is not None and one.method == "fork"]


def decisive(regimes: list[Regime]) -> list[Regime]:
    """The regimes that the project shows to occur; all if it shows none."""
    return [one for one in regimes if one.shown or one.beside] or regimes


def _set_by_constructor(world: World, methods: StartMethods, arrival: Arrival, workers: Workers) -> str:
    """Return the start method that the constructor of the object which makes the loader sets by force, always or
    whenever there are workers: `if self.num_workers > 0: set_start_method("fork", force=True)`. "" if it sets none."""
    receiver = arrival.frame.receiver if arrival.frame is not None else None
    if arrival.origin.launch is not None or not isinstance(receiver, Instance) or not isinstance(receiver.of, Class):
        return ""
    line = world.hierarchy.line(receiver.of)
    counted = workers.text.removeprefix("self.")
    for setting in methods.set_calls():
        file, call = setting.file, setting.file.calls[setting.call]
        owner = file.method_of(call.scope)
        if setting.package or not setting.force or len(setting.methods) != 1 or owner is None:
            continue
        if arrival.origin.method in setting.methods:
            continue
        if file.scopes[call.scope].name == "__init__" and Class(file, owner) in line:
            tests = path_atoms(file, call.scope, call.region)
            if all(one.text == counted and (one.equals, one.holds) in (("0", False), ("", True)) for one in tests):
                return setting.methods[0]
    return ""


def default_regimes(world: World, workers: Workers) -> Iterator[Regime]:
    """The regimes of workers whose start method nothing in the project determines."""
    defaults = world.settings.targets.default_start_methods()
    for method, where in defaults.items():
        only = len(defaults) == 1
        if method != "fork" and not only and workers.off:
            where += f", once `{workers.text}` is above 0 (default 0)"
        yield Regime(method, "default", None, workers, where, only)


def without(
    world: World, methods: StartMethods, loader: Loader, found: list[Regime], left: list[Regime]
) -> list[Regime]:
    """The regimes `left` of `found` once those of other programs are gone.

    Where only another program sets the start method of all processes, the targets' defaults are in force again.
    """
    gone = [one for one in found if one not in left]
    if not any(one.source == "program" for one in gone) or any(one.source == "program" for one in left):
        return left
    workers = loader.workers()
    if loader.context() is not None or not workers.possible:
        return left
    required = methods.required.at(loader.site)
    return [*left, *(one for one in default_regimes(world, workers) if one.method in required)]


def _in_all_activations(world: World, loader: Loader, context: str) -> bool:
    """Whether every call of the enclosing function passes this context. If only some do, it is unknown which
    datasets go with it."""
    call = loader.file.calls[loader.call]
    if loader.file.scopes[call.scope].kind != "function":
        return True
    callers = world.calls.callers(Function(loader.file, call.scope))
    return all(loader.context(caller.frame) == context for caller in callers)


class Chains:
    """The datasets that a loader reads from per call chain.

    A function that several programs call, or a method that several classes inherit, constructs one loader for each.
    """

    def __init__(self, world: World, datasets: Datasets, objects: Callable[[Loader], list[Instance]]) -> None:
        """`objects` returns the datasets of a loader for all callers of the enclosing function together."""
        self.world = world
        self.datasets = datasets
        self._objects = objects
        self._names: dict[tuple[str, int, Frame | None], set[str]] = {}

    def giving(self, loader: Loader, name: str, regimes: list[Regime]) -> list[Regime]:
        """The regimes whose call chain can pass the loader a dataset of the class `name`; the defaults if every
        chain passes others."""
        if all(one.arrival is None for one in regimes) or name not in self._class_names(loader, None):
            return regimes
        # A chain that is too long to know its arguments yields the loader's datasets of all calls of the function.
        clear = any(one.arrival is not None and not self._unclear(one.arrival.frame) for one in regimes)
        known = [one for one in regimes if one.arrival is None or not (clear and self._unclear(one.arrival.frame))]
        left = [one for one in known if one.arrival is None or self._gives(loader, name, one.arrival.frame)]
        return left or list(default_regimes(self.world, regimes[0].workers))

    def _unclear(self, frame: Frame | None) -> bool:
        return frame is not None and frame.actuals is None

    def _gives(self, loader: Loader, name: str, frame: Frame | None) -> bool:
        names = self._class_names(loader, frame)
        if names or frame is None:
            return not names or name in names
        # Lists and numbers are none of the project's datasets; a library's object may contain one.
        plain = [isinstance(value, (Display, Mapping, Const)) for value in loader.datasets(frame)]
        return not plain or not all(plain)

    def _class_names(self, loader: Loader, frame: Frame | None) -> set[str]:
        """The names of the project's dataset classes that a loader reads from in an activation of the enclosing
        function."""
        key = (loader.file.path, loader.call, frame)
        found = self._names.get(key)
        if found is None:
            values: list[Instance] = (
                self._objects(loader) if frame is None else self.datasets.expand(loader.datasets(frame))
            )
            found = self._names[key] = {value.of.name for value in values if isinstance(value.of, Class)}
        return found
