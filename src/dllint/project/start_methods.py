"""The start methods that can be in force at a place, with the chain of calls that leads there.

Two things put a start method in force: a launch (the default inside the new process is the method that launched it:
CPython, `BaseProcess._bootstrap`) and `set_start_method` (for what the same process runs afterwards). From each, the
method propagates forward along the call graph; every function keeps the shortest chains that reach it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name, Subscript
from dllint.inference import limits
from dllint.inference.edges import Target
from dllint.inference.values import Frame, Function, Instance, Site
from dllint.libraries.click import run_after
from dllint.libraries.contexts import METHODS
from dllint.linking.conditions import Atom, atoms, render, under_main_guard
from dllint.linking.contradictions import contradict
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Arrival, Hop, Origin
from dllint.project.caller_conditions import restated, with_same_literals
from dllint.project.launches import Launch, Launches
from dllint.project.modules_run import ModuleRun, modules_run
from dllint.project.required_methods import RequiredMethods
from dllint.project.set_calls import SetCall, set_calls
from dllint.project.upstream import Upstream

if TYPE_CHECKING:
    from dllint.inference.engine import World

_NOWHERE = (1 << 30, 0)
_Regions = tuple[tuple[SourceFile, int, int], ...]
_STORING = frozenset({"set_defaults", "add_argument"})
"""Methods of argparse's parsers that store a function for later.

Only one of several commands runs, so the code after such a call does not run after the function.
"""


class StartMethods:
    """Finds the start methods in force at a place."""

    def __init__(
        self, world: World, launches: Launches, places: Iterable[tuple[SourceFile, int]] | None = None
    ) -> None:
        """`places` are the scopes that will be queried; None for any."""
        self.world = world
        self.launches = launches
        self._places = places
        self.required = RequiredMethods(world)
        self._upstream: Upstream | None = None
        self._handed: dict[tuple[str, int], list[Arrival]] | None = None
        self._alike: dict[tuple[object, ...], list[Arrival]] = {}
        self._arrivals: dict[tuple[str, int], list[Arrival]] | None = None
        self._forced: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
        self._sets: list[SetCall] | None = None
        self._runs: dict[tuple[str, int, tuple[int, int]], list[ModuleRun]] = {}
        self._asserted: dict[tuple[str, int], list[tuple[tuple[int, int], int, list[Atom]]]] = {}

    def at(self, file: SourceFile, scope: int, region: int, at: tuple[int, int], package: str = "") -> list[Arrival]:
        """The ways in which a start method chosen by the project is in force at a place, shortest chain first: for
        processes of multiprocessing, or of a `package` with contexts for itself (`contexts.package_of`)."""
        while scope > 0 and file.scopes[scope].kind in ("class", "lambda"):
            scope = file.scopes[scope].parent
        found = []
        here = self._here(file, scope, region, at)
        for arrival in self.arrivals().get((file.path, scope), ()):
            if arrival.origin.package != package or not arrival.after < at < arrival.until:
                continue
            if contradict(arrival.conditions, here) or self._untaken(arrival, here):
                continue
            if region and self.world.impossible(Site(file, scope, region, at, arrival.frame)):
                continue
            found.append(arrival)
        return sorted(found, key=lambda arrival: len(arrival.origin.through) + arrival.depth)

    def _untaken(self, arrival: Arrival, atoms: list[Atom]) -> bool:
        """Whether the conditions at a place, restated in terms of its callers' arguments, contradict those along the
        chain."""
        step: Arrival | None = arrival
        while step is not None and atoms:
            atoms = list(restated(self.world, atoms, step.file, step.scope, step.frame))
            if contradict(arrival.conditions, atoms):
                return True
            step = step.previous
        return False

    def _of_call(self, file: SourceFile, index: int) -> list[Atom]:
        """The conditions under which a call runs."""
        call = file.calls[index]
        return self._here(file, call.scope, call.region, call.statement.start)

    def _here(self, file: SourceFile, scope: int, region: int, at: tuple[int, int]) -> list[Atom]:
        """The conditions in force at a place: the branches around it, and assertions before it."""
        found = list(self.world.symbols.atoms(file, scope, region))
        asserted = self._asserted.get((file.path, scope))
        if asserted is None:
            asserted = self._asserted[file.path, scope] = [
                (event.span.start, event.region, list(atoms(event.value, True, file, scope)))
                for event in file.scopes[scope].events
                if event.kind == "assert" and event.value is not None
            ]
        for place, around, said in asserted:
            if place < at and file.encloses(around, region):
                found += said
        return found

    def set_calls(self) -> list[SetCall]:
        """All calls of `set_start_method`, with the methods that they can set."""
        if self._sets is None:
            self._sets = list(set_calls(self.world))
        return self._sets

    def arrivals(self) -> dict[tuple[str, int], list[Arrival]]:
        if self._arrivals is None:
            self._arrivals = {}
            if self._places is not None:
                self._upstream = Upstream(self.world, self._places)
            self._find_forced()
            queue: deque[Arrival] = deque()
            for launch in self.launches.all():
                for method in launch.methods:
                    if method in METHODS:
                        queue.extend(self._launched(launch, method, None))
            for setting in self.set_calls():
                queue.extend(self._after_setting(setting))
            self._flow(queue)
        return self._arrivals

    def handed(self, file: SourceFile, call: int) -> list[Arrival]:
        """The launches that pass the object constructed by a call to the processes that they start."""
        if self._handed is None:
            self._handed = {}
            for launch in (one for one in self.launches.all() if not one.package):
                for method in launch.methods:
                    for arrival in self._launched(launch, method, None) if method in METHODS else ():
                        for made in self._passed(arrival):
                            self._handed.setdefault(made, []).append(arrival)
        return self._handed.get((file.path, call), [])

    def _passed(self, arrival: Arrival) -> Iterator[tuple[str, int]]:
        actuals = arrival.frame.actuals if arrival.frame is not None else None
        for actual in (*actuals.positional, *actuals.keywords.values()) if actuals is not None else ():
            if actual.site is not None:
                for value in self.world.values.evaluate(actual.expr, actual.site):
                    for one in self.world.mappings.flattened(value):
                        if isinstance(one, Instance) and one.file is not None and one.call >= 0:
                            yield one.file.path, one.call

    # Origins

    def _launched(self, launch: Launch, method: str, previous: Arrival | None) -> Iterator[Arrival]:
        call = launch.file.calls[launch.call]
        text = f"{render(call.func, launch.file)}(…) starts {{}} by {method}{launch.note}"
        through = tuple(
            Hop(c.file, c.file.calls[c.call].span, f"calls {render(c.file.calls[c.call].func, c.file)}", c.guessed)
            for c in launch.through
        )
        for target in launch.targets:
            name = target.function.file.qualified_name(target.function.scope)
            chained = previous.chain() if previous is not None else ()
            before, guessed = (*chained, *through), bool(launch.note) and target.guessed
            told = text.format(name)
            origin = Origin(method, launch.file, call.span, told, launch, before, guessed, launch.package)
            conditions = self._of_call(launch.file, launch.call)
            for caller in launch.through:
                conditions += self._of_call(caller.file, caller.call)
            if previous is not None:
                conditions += previous.conditions
            yield self._arrival(origin, target, None, None, conditions, 0)

    def _arrival(
        self,
        origin: Origin,
        target: Target,
        previous: Arrival | None,
        hop: Hop | None,
        conditions: list[Atom],
        depth: int,
    ) -> Arrival:
        function = target.function
        until = min(self._forced.get((origin.package, *function.key), [_NOWHERE]))
        return Arrival(
            origin, function.file, function.scope, target.frame, (0, 0), until, previous, hop, conditions, depth
        )

    def _after_setting(self, setting: SetCall) -> Iterator[Arrival]:
        """What runs after a `set_start_method` in the same process.

        That is the rest of the function, and the rest of each function that called it, up to the program's module and
        the modules that import it.
        """
        file, index = setting.file, setting.call
        call = file.calls[index]
        at = (call.statement.end_line, call.statement.end_column)
        for method in setting.methods:
            seen: set[tuple[str, int, tuple[int, int]]] = set()
            own = f"set_start_method({method!r})"
            text = own if setting.own else f"{render(call.func, file)}(…) sets {method} for all processes"
            atoms = self.world.symbols.atoms(file, call.scope, call.region)
            todo: deque[tuple[SourceFile, int, tuple[int, int], list[Atom], tuple[Hop, ...], _Regions]] = deque()
            todo.append((file, call.scope, at, list(atoms), (), ((file, call.scope, call.region),)))
            while todo and not limits.AFTER_SETTING.reached(len(seen)):
                where, scope, after, conditions, through, regions = todo.popleft()
                if (where.path, scope, after) in seen:
                    continue
                seen.add((where.path, scope, after))
                here = Origin(method, file, call.span, text, None, through, False, setting.package, regions)
                ends = self._forced.get((setting.package, where.path, scope), ())
                until = min((end for end in ends if end > after), default=_NOWHERE)
                yield Arrival(here, where, scope, None, after, until, None, None, conditions)
                if scope == 0:
                    last_region = where.facts.calls[index].region if where is file and not through else 0
                    if not under_main_guard(where, last_region):
                        for importer, event in self.world.imports.importers(where):
                            hop = Hop(importer, event.span, f"imports {where.path.rsplit('/', 1)[-1]}, which runs")
                            end = (event.span.end_line, event.span.end_column)
                            todo.append((importer, 0, end, conditions, (hop, *through), regions))
                    continue
                entry = where.scopes[scope]
                if entry.kind == "lambda":
                    continue
                for command in run_after(self.world, Function(where, scope)):
                    hop = Hop(where, entry.header, f"{entry.name} runs before the command {command.name}")
                    todo.append((command.file, command.scope, (0, 0), conditions, (hop, *through), regions))
                for caller in self.world.calls.callers(Function(where, scope)):
                    if caller.call < 0 or self.launches.at(caller.file, caller.call):
                        continue
                    outer = caller.file.calls[caller.call]
                    if last_name(outer.func) in _STORING:
                        continue
                    more = self.world.symbols.atoms(caller.file, outer.scope, outer.region)
                    if contradict(conditions, more):
                        continue
                    calls = f"calls {render(outer.func, caller.file)}, which runs"
                    hop = Hop(caller.file, outer.span, calls, caller.guessed)
                    end = (outer.statement.end_line, outer.statement.end_column)
                    around = (*regions, (caller.file, outer.scope, outer.region))
                    todo.append((caller.file, outer.scope, end, conditions + more, (hop, *through), around))

    def _find_forced(self) -> None:
        """Find the places after which a forced `set_start_method` has replaced the inherited method.

        They are in each function that makes the call, directly or through others. An unknown method also replaces the
        inherited one.
        """
        todo = deque((one.package, one.file, one.call) for one in self.set_calls() if one.force)
        seen: set[tuple[str, str, int]] = set()
        while todo:
            package, file, index = todo.popleft()
            if (package, file.path, index) in seen:
                continue
            seen.add((package, file.path, index))
            call = file.calls[index]
            if self._conditional(file, call.region):
                continue
            self._forced.setdefault((package, file.path, call.scope), []).append(
                (call.statement.end_line, call.statement.end_column)
            )
            if call.scope == 0:
                continue
            for caller in self.world.calls.callers(Function(file, call.scope)):
                if caller.call >= 0 and not self.launches.at(caller.file, caller.call):
                    todo.append((package, caller.file, caller.call))

    def _conditional(self, file: SourceFile, region: int) -> bool:
        """Whether a region may be skipped; `try` and `with` blocks do not count as conditions."""
        return any(
            file.facts.regions[index].kind not in ("try", "with", "tryelse", "finally")
            for index in file.regions(region)
        )

    # Flow

    def _flow(self, queue: deque[Arrival]) -> None:
        """Propagate breadth first, so that the first chain to reach a function is a shortest one."""
        assert self._arrivals is not None
        while queue:
            arrival = queue.popleft()
            if not self._keep(arrival):
                continue
            if limits.CHAIN_LENGTH.reached(arrival.depth):
                continue
            for scope in (arrival.scope, *self._inline_lambdas(arrival.file, arrival.scope)):
                for index in arrival.file.calls_of(scope):
                    queue.extend(self._step(arrival, index))
            queue.extend(self._modules(arrival))

    def _modules(self, arrival: Arrival) -> Iterator[Arrival]:
        """The modules that the function runs for the first time."""
        key = (arrival.file.path, arrival.scope, arrival.after)
        if key not in self._runs:
            self._runs[key] = list(modules_run(self.world, arrival.file, arrival.scope, arrival.after))
        for one in self._runs[key]:
            if one.statement.start < arrival.until:
                hop = Hop(arrival.file, one.statement, one.text)
                until = min(self._forced.get((arrival.origin.package, one.module.path, 0), [_NOWHERE]))
                conditions = [*arrival.conditions, one.condition]
                yield Arrival(
                    *(arrival.origin, one.module, 0, None, (0, 0), until, arrival, hop, conditions, arrival.depth + 1)
                )

    def _inline_lambdas(self, file: SourceFile, scope: int) -> list[int]:
        return [child for child in file.children.get(scope, ()) if file.scopes[child].kind == "lambda"]

    def _keep(self, arrival: Arrival) -> bool:
        assert self._arrivals is not None
        origin = arrival.origin
        alike = self._alike.setdefault(
            (
                *(arrival.file.path, arrival.scope, _receiver(arrival)),
                *(origin.package, origin.method, origin.file.path, origin.span, _context(origin)),
            ),
            [],
        )
        same = with_same_literals(self.world, arrival, [other for other in alike if other.after <= arrival.after])
        if limits.CHAINS.reached(len(same)):
            return False
        wanted = {(atom.text, atom.equals, atom.holds) for atom in arrival.conditions}
        for other in same:
            if {
                (atom.text, atom.equals, atom.holds) for atom in other.conditions
            } <= wanted and other.until >= arrival.until:
                return False
        alike.append(arrival)
        self._arrivals.setdefault((arrival.file.path, arrival.scope), []).append(arrival)
        return True

    def _step(self, arrival: Arrival, index: int) -> Iterator[Arrival]:
        file = arrival.file
        call = file.calls[index]
        if self._upstream is not None and not self._upstream.leads(file, index):
            return
        at = call.statement.start
        if not arrival.after < (call.span.end_line, call.span.end_column) or not at < arrival.until:
            return
        if arrival.after != (0, 0) and call.statement.start < arrival.after:
            return
        here = self._of_call(file, index)
        if contradict(arrival.conditions, here):
            return
        site = self.world.call_site(file, index, arrival.frame)
        if call.region and self.world.impossible(site):
            return
        for launch in self.launches.at(file, index):
            same = launch.package == arrival.origin.package
            if same and "default" in launch.methods and not launch.through:
                yield from self._launched(launch, arrival.origin.method, arrival)
        hop = Hop(file, call.span, f"calls {render(call.func, file)}")
        for target in self.world.calls.targets(file, index, self._needed(arrival, index)):
            conditions = [*arrival.conditions, *here] if here else arrival.conditions
            target = self._chained(target, arrival, index)
            step = hop._replace(guessed=target.guessed)
            yield self._arrival(arrival.origin, target, arrival, step, conditions, arrival.depth + 1)

    def _needed(self, arrival: Arrival, index: int) -> Frame | None:
        """The part of the activation that determines the callees of a call.

        None if the callee is a module-level name, the receiver alone for a method of `self`, the whole activation if a
        parameter or a local variable is called.
        """
        frame = arrival.frame
        root = arrival.file.calls[index].func
        if frame is None:
            return None
        while isinstance(root, (Attribute, Subscript)):
            root = root.value
        if not isinstance(root, Name):
            return frame
        params = arrival.file.scopes[arrival.scope].params
        if params and root.id == params[0].name and isinstance(frame.receiver, Instance):
            return self.world.receiver_frame(frame.receiver)
        return frame if root.id in arrival.file.bindings(arrival.scope) else None

    def _chained(self, target: Target, arrival: Arrival, index: int) -> Target:
        """The target with an activation that remembers the whole chain."""
        file, function, parent = arrival.file, target.function, arrival.frame
        actuals = target.frame.actuals
        if actuals is not None and actuals is self.world.actuals(file, index, target.frame.parent):
            actuals = self.world.actuals(file, index, parent)
        frame = self.world.intern(("chain", file.path, index, parent, function), actuals, function, parent, chain=True)
        frame.call = (file.path, index)
        return target._replace(frame=frame)


def _receiver(arrival: Arrival) -> object:
    """The class of the method's receiver: a call on `self` may resolve to another method in each class."""
    receiver = arrival.frame.receiver if arrival.frame is not None else None
    return receiver.of if isinstance(receiver, Instance) else None


def _context(origin: Origin) -> Frame | None:
    """The activation in which a launching call is reached: each one may launch another target."""
    return origin.launch.frame if origin.launch is not None else None
