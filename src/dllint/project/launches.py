"""Calls that start a process which runs a function of the project."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Element
from dllint.inference import limits
from dllint.inference.edges import Caller, Given, Target
from dllint.inference.packed_arguments import add_handed, spread_out
from dllint.inference.values import (
    Actual,
    Actuals,
    Class,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Value,
)
from dllint.libraries import contexts
from dllint.libraries.facets import LauncherApi
from dllint.libraries.index import LAUNCHERS, canonical
from dllint.libraries.lightning import TRAINER, trainer_runs
from dllint.libraries.registries import REGISTRIES
from dllint.linking.source import SourceFile
from dllint.project.launch_methods import argument, constructed_with, methods_of
from dllint.project.possible_launches import possible_launches

if TYPE_CHECKING:
    from dllint.inference.engine import World


@dataclass(frozen=True)
class Launch:
    """A call of a launcher, with one of the functions that it can run.

    Attributes:
        methods: start methods that the launch itself determines; "default" for the one in force, "fresh" where the new
        process inherits nothing.
        targets: functions of the project that the new process runs.
        through: calls of project functions that lead to the launcher, outermost first, if they pass the target to it.
        frame: activation of the function that contains the launcher call.
        note: why the launcher uses this method, if nothing at the call says so.
        target: the argument that is the function; None if the launch takes none.
        package: whose contexts start the processes, see `contexts.package_of`.
    """

    file: SourceFile
    call: int
    api: str
    methods: tuple[str, ...]
    targets: tuple[Target, ...]
    daemonic: bool
    through: tuple[Caller, ...]
    frame: Frame | None
    note: str = ""
    target: Actual | None = field(default=None, compare=False)
    package: str = ""


class Launches:
    """All launches of a project. They are edges of the call graph, so they are queried while the graph is traversed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._launches: list[Launch] | None = None
        self._blind: list[Launch] = []
        self._at: dict[tuple[str, int], list[Launch]] = {}
        self._launched: dict[tuple[str, str, int], list[Caller]] = {}
        world.processes = self

    def all(self) -> list[Launch]:
        """All calls that start a process which runs a function of the project.

        A launch passes arguments to what it starts, so known launches can reveal others. The search is repeated, each
        round with the launches of the last one, until a fixed point.
        """
        if self._launches is None:
            self._launches = []
            candidates = possible_launches(self.world)
            for _ in range(limits.LAUNCH_ROUNDS.most):
                everything = list(self._find(candidates))
                found = [launch for launch in everything if launch.targets]
                settled = not found or set(map(_summary, found)) == set(map(_summary, self._launches))
                self._launches = found
                self._blind = [launch for launch in everything if not launch.targets]
                changed = self._link()
                # Answers computed while the registries were being filled are based on a part of them.
                self.world.memory.revise(changed if settled else [*changed, REGISTRIES])
                if settled:
                    break
            self.world.memory.settle()
        return self._launches

    def blind(self) -> list[Launch]:
        """All calls that start a process for which no function of the project is known to run."""
        self.all()
        return self._blind

    def at(self, file: SourceFile, index: int) -> list[Launch]:
        """The launches that a call makes."""
        self.all()
        key = (file.path, index)
        self.world.memory.rest_on(key)
        return self._at.get(key, [])

    def launched(self, function: Function) -> list[Caller]:
        """The launches that start a process which runs the function."""
        self.all()
        key = ("function", *function.key)
        self.world.memory.rest_on(key)
        return self._launched.get(key, [])

    def started_at(self, file: SourceFile, index: int) -> Iterator[Function]:
        """The functions run by the processes that a call starts."""
        for launch in self.at(file, index):
            for target in launch.targets:
                yield target.function

    def _link(self) -> list[Hashable]:
        """Index the launches found. Return the keys that changed, as `at` and `launched` name them in the memo
        tables."""
        before = self._premises()
        self._at = {}
        self._launched = {}
        for launch in self._launches or ():
            self._at.setdefault((launch.file.path, launch.call), []).append(launch)
            for target in launch.targets:
                caller = Caller(launch.file, launch.call, target.frame)
                self._launched.setdefault(("function", *target.function.key), []).append(caller)
        now = self._premises()
        return [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]

    def _premises(self) -> dict[Hashable, object]:
        return dict((*self._at.items(), *self._launched.items()))

    def _find(self, candidates: Iterable[tuple[SourceFile, int]]) -> Iterator[Launch]:
        """The launches among the candidate calls, also those of functions outside the project."""
        number = 0
        for file, index in candidates:
            apart = not limits.LAUNCHES.reached(number)
            for launch in _launches_of(self, file, index, apart):
                number += 1
                yield launch
        yield from _process_subclasses(self.world)
        for run in trainer_runs(self.world):
            yield Launch(run.file, run.call, TRAINER, (run.method,), run.targets, False, (), None, run.note)


def _launches_of(launches: Launches, file: SourceFile, index: int, apart: bool) -> Iterator[Launch]:
    """The launches that a call makes; with `apart`, one for each activation of the enclosing function."""
    world = launches.world
    call = file.calls[index]
    site = world.call_site(file, index, None)
    seen: set[tuple[str, str, str | None]] = set()
    for value in world.values.evaluate(call.func, site):
        callee = value.plain if isinstance(value, Partial) else value
        of = callee.of if isinstance(callee, Instance) else callee
        if not isinstance(of, External):
            continue
        plain = _launcher_name(callee)
        package, context = contexts.package_of(of.name), contexts.method_of(of.name)
        api = LAUNCHERS.get(plain)
        if api is None and of.name in world.settings.launchers:
            api = LAUNCHERS["torch.multiprocessing.spawn"]
        if api is None or (package, plain, context) in seen:
            continue
        seen.add((package, plain, context))
        for frame, through in _contexts(launches, file, call.scope) if apart else ((None, ()),):
            if not can_start(world, file, index, frame):
                continue
            actuals = _actuals(world, api, value, file, index, frame)
            target, targets = _targets(world, api, file, index, frame, actuals)
            if target is None and api.optional:
                continue
            methods = methods_of(world, api, context, file, index, frame, actuals)
            yield Launch(
                file, index, plain, methods, targets, api.daemonic, through, frame, target=target, package=package
            )


def _actuals(
    world: World, api: LauncherApi, callee: Value, file: SourceFile, index: int, frame: Frame | None
) -> Actuals:
    """The arguments of a launcher, through partials and out of unpacked sequences and dicts."""
    actuals = world.actuals(file, index, frame)
    if isinstance(callee, Partial):
        actuals = world.made_with(callee).then(actuals)
    return spread_out(world, actuals, (*api.params, api.args, api.kwargs, api.method.removeprefix("=")))


def can_start(world: World, file: SourceFile, index: int, frame: Frame | None) -> bool:
    """Whether a call of a launcher can start processes in this activation of the enclosing function.

    False if the arguments make the call unreachable, or select a thread pool.
    """
    if frame is None:
        return True
    site = world.call_site(file, index, frame)
    if world.impossible(site):
        return False
    values = world.values.evaluate(file.calls[index].func, site)
    known = [value for value in values if _launcher_name(value)]
    return len(known) < len(values) or not values or any(_is_launcher(world, value) for value in known)


def _launcher_name(value: Value) -> str:
    """The canonical name of an external value, as in the table of launchers, also through a partial; "" for any other
    value."""
    if isinstance(value, Partial):
        value = value.plain
    if isinstance(value, External):
        return canonical(value.name)
    if isinstance(value, Instance) and isinstance(value.of, External):
        return canonical(value.of.name + "()")
    return ""


def _is_launcher(world: World, value: Value) -> bool:
    """Whether a value is a launcher, or a method of the object that one returns: `Process(…).start`."""
    name = _launcher_name(value)
    if name in LAUNCHERS or name.rpartition("().")[0] in LAUNCHERS:
        return True
    return isinstance(value, External) and value.name in world.settings.launchers


def _contexts(launches: Launches, file: SourceFile, scope: int) -> Iterator[tuple[Frame | None, tuple[Caller, ...]]]:
    """The activations in which a launcher is called, as far as the project calls the enclosing function."""
    world, entry = launches.world, file.scopes[scope]
    calls = entry.kind == "function" and bool(entry.params)
    callers = [caller for caller in world.calls.callers(Function(file, scope)) if caller.call >= 0] if calls else []
    if not callers:
        yield None, ()
    function = Function(file, scope)
    activations = [(caller, frame) for caller in callers for frame in _activations(world, caller, function)]
    for caller, frame in limits.LAUNCH_CONTEXTS.first(activations):
        launched = launches.at(caller.file, caller.call)
        yield world.told_apart(caller.file, caller.call, function, frame), () if launched else (caller,)


def _activations(world: World, caller: Caller, function: Function) -> Iterable[Frame]:
    """The activations that one call creates: one per object if it calls a method of several, as a trainer that several
    scripts give their data does."""
    targets = world.calls.targets(caller.file, caller.call)
    frames = {one.frame: None for one in targets if one.function.key == function.key and one.frame.receiver is not None}
    return frames if len(frames) > 1 else (caller.frame,)


def _targets(
    world: World, api: LauncherApi, file: SourceFile, index: int, frame: Frame | None, actuals: Actuals
) -> tuple[Actual | None, tuple[Target, ...]]:
    """The argument that a launcher runs, and the functions of the project that it can be."""
    if api.args == "*":
        if not api.params:
            inner = constructed_with(world, file, index, frame)
            target = inner.keywords.get(api.target) or (inner.positional[1] if len(inner.positional) > 1 else None)
            passed = actuals
        else:
            target = argument(api, actuals, api.target)
            passed = actuals.without_first()
            passed = Actuals([Actual(None, None, None)] * api.lead).then(passed) if api.lead else passed
    else:
        target = argument(api, actuals, api.target)
        passed = _launch_actuals(world, api, actuals, frame)
    if not api.target and isinstance(func := file.calls[index].func, Attribute):
        target, passed = Actual(func.value, world.call_site(file, index, frame), None), actuals
    if target is None or target.expr is None or target.site is None:
        return None, ()
    found: list[Target] = []
    for value in world.values.evaluate(target.expr, target.site):
        for one in world.mappings.flattened(value):
            outside = isinstance(one, Instance) and isinstance(one.of, External)
            if isinstance(one, (Function, Class, Instance, Partial)) and not outside:
                found += world.calls.run_by(one, Given(file, index, frame, passed, ("launch",)))
    return target, tuple(found)


def _launch_actuals(world: World, api: LauncherApi, actuals: Actuals, frame: Frame | None) -> Actuals:
    """The arguments that reach the target: a process index if the launcher adds one, then the `args` tuple."""
    made = Actuals([Actual(None, None, None)] * api.lead)
    config = argument(api, actuals, api.config) if api.config else None
    if config is not None:
        made.positional.append(config)
    if api.args in ("each", "unpacked", "zip"):
        return _elements(world, api, actuals, made)
    args = argument(api, actuals, api.args)
    return add_handed(world, made, args, argument(api, actuals, api.kwargs))


def _elements(world: World, api: LauncherApi, actuals: Actuals, made: Actuals) -> Actuals:
    """The arguments of a target whose calls each take their arguments from iterables, as `map` does."""
    if api.args == "zip":
        iterables: list[Actual | None] = [*actuals.positional[1:]]
    else:
        iterables = [argument(api, actuals, "iterable")]
    for one in iterables:
        if one is None or one.expr is None or one.site is None:
            made.add(Actual(None, None, None, starred=True))
            break
        element = Actual(Element(one.expr), one.site, one.span)
        if api.args == "unpacked":
            add_handed(world, made, element, None)
        else:
            made.add(element)
    return made


def _process_subclasses(world: World) -> Iterator[Launch]:
    """Objects of the project's own Process classes: the new process runs their `run`."""
    for cls in world.classes():
        found = [name for name in world.hierarchy.externals(cls) if canonical(name) in LAUNCHERS]
        method = world.hierarchy.method(cls, "run") if found else None
        if method is None:
            continue
        plain = canonical(found[0])
        methods = (contexts.known_method_of(found[0]) or LAUNCHERS[plain].method,)
        for file, index in world.called(cls.name):
            site = world.call_site(file, index, None)
            if cls in world.values.evaluate(file.calls[index].func, site):
                bound = Function(method.file, method.scope, Instance(cls, file, index))
                frame = world.receiver_frame(Instance(cls, file, index))
                package = contexts.package_of(found[0])
                yield Launch(file, index, plain, methods, (Target(bound, frame),), False, (), None, package=package)


def _summary(launch: Launch) -> tuple[object, ...]:
    through = tuple((caller.file.path, caller.call) for caller in launch.through)
    return launch.file.path, launch.call, launch.methods, tuple(one.function.key for one in launch.targets), through
