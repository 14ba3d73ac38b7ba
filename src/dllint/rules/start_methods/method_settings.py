"""Calls of `set_start_method` that raise, or that have no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, Constant, Name
from dllint.inference import limits
from dllint.inference.values import External, Function
from dllint.libraries.contexts import package_of
from dllint.libraries.index import canonical
from dllint.libraries.multiprocessing import FIXES_DEFAULT
from dllint.linking.conditions import path_atoms, render
from dllint.linking.source import SourceFile
from dllint.project.launches import Launch
from dllint.project.process_starts import Starting
from dllint.project.same_process import Reached, reach, runs_when_imported
from dllint.project.set_calls import SetCall
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


class Place(NamedTuple):
    """A statement that makes a setting raise or have no effect. `text` is its source; `sure` is False where it may
    start no process at all."""

    file: SourceFile
    span: Span
    text: str
    method: str = ""
    sure: bool = True


class MethodSettings:
    """Finds the calls of `set_start_method` that raise or have no effect, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def raises_freely(self, setting: SetCall) -> bool:
        """Whether the error is not caught and nothing checks first: no `try`, and no condition on the start method
        or process."""
        file, region = setting.file, setting.file.calls[setting.call].region
        if any(file.facts.regions[index].kind in ("try", "handler") for index in file.regions(region)):
            return False
        scope = file.calls[setting.call].scope
        return not any(
            "start_method" in atom.text or "current_process" in atom.text or "parent_process" in atom.text
            for atom in path_atoms(file, scope, region)
        )

    def unconditional(self, setting: SetCall) -> bool:
        file = setting.file
        return not any(
            file.facts.regions[index].kind in ("if", "while", "for", "case", "handler")
            for index in file.regions(file.calls[setting.call].region)
        )

    # In a launched process

    @cached_property
    def _children(self) -> dict[tuple[str, str, int], tuple[Launch, Reached]]:
        found: dict[tuple[str, str, int], tuple[Launch, Reached]] = {}
        for launch in self.project.launches.all() if self.project.methods.set_calls() else ():
            for target in launch.targets:
                start = Reached(target.function.file, target.function.scope, target.frame)
                for reached in reach(self.world, [start]):
                    found.setdefault((launch.package, reached.file.path, reached.scope), (launch, reached))
        return found

    def child(self, setting: SetCall) -> tuple[Launch, Reached] | None:
        """The launch in whose processes the call runs, and how it is reached there; None if there is none."""
        return self._children.get((setting.package, setting.file.path, setting.file.calls[setting.call].scope))

    # After the default is fixed

    def fixed_before(self, setting: SetCall) -> Place | None:
        """The statement that provably runs before the call and fixes the default: in its function, or in its chain
        of only callers."""
        file, index = setting.file, setting.call
        for _ in range(limits.SETTING_CALLERS.most):
            call = file.calls[index]
            found = next(self._fixing(file, index, setting.package), None)
            if found is not None or call.scope == 0:
                return found
            if file.scopes[call.scope].kind != "function":
                return None
            callers = self.world.calls.callers(Function(file, call.scope))
            if len(callers) != 1 or callers[0].call < 0 or self.project.launches.at(callers[0].file, callers[0].call):
                return None
            file, index = callers[0].file, callers[0].call
        return None

    def _fixing(self, file: SourceFile, index: int, package: str) -> Iterator[Place]:
        call = file.calls[index]
        for other in file.calls_of(call.scope):
            earlier = file.calls[other]
            if (
                earlier.span.covers(call.span)
                or earlier.span >= call.span
                or not file.encloses(earlier.region, call.region)
            ):
                continue
            if self._fixes(file, other, package):
                yield Place(file, earlier.span, render(earlier.func, file))
        for one in self.project.ask(Starting).iterations(file, call.scope, None) if not package else ():
            before = one.span < call.span and not (one.call < 0 and self._inside(file, call.region, one.span))
            fixes = one.loader.context() is None and one.loader.workers().kind == "some"
            if before and fixes and file.encloses(one.region, call.region):
                yield Place(file, one.span, "iterating a DataLoader with workers")

    @staticmethod
    def _inside(file: SourceFile, region: int, header: Span) -> bool:
        return any(file.facts.regions[index].span.covers(header) for index in file.regions(region))

    def _fixes(self, file: SourceFile, index: int, package: str) -> bool:
        call = file.calls[index]
        if not isinstance(call.func, (Name, Attribute)):
            return False
        launches = _of_package(package, self.project.ask(Starting).launching.get((file.path, index), ()))
        if any("default" in launch.methods and launch.api.endswith("Process") for launch in launches):
            return True
        for value in self.world.values.evaluate(call.func, self.world.call_site(file, index, None)):
            if not isinstance(value, External) or "[" in value.name or package_of(value.name) != package:
                continue
            name = canonical(value.name)
            if name in FIXES_DEFAULT:
                return True
            if name == "multiprocessing.get_start_method":
                return not call.args
            if name == "multiprocessing.get_context":
                return not call.args or call.args[0].value == Constant(None)
        return False

    # Imported again

    def imported_again(self, setting: SetCall) -> Place | None:
        """A start of processes that import the file with a top-level call, and so repeat the call; None if there is
        none."""
        file = setting.file
        call = file.calls[setting.call]
        if call.scope != 0 or not runs_when_imported(file, call.region):
            return None
        for launch in _of_package(setting.package, self.project.launches.all()):
            for method in self.project.ask(Starting).methods(launch):
                if method.name != "fork" and method.shown and self._imports(launch.file, launch.call, file):
                    started = launch.file.calls[launch.call]
                    return Place(launch.file, started.span, render(started.func, launch.file), method.name)
        found: Place | None = None
        for loader in self.project.loaders if not setting.package else ():
            for regime in self.project.regimes(loader):
                shown = regime.shown and regime.method != "fork" and regime.source != "inherited"
                if shown and self._imports(loader.file, loader.call, file):
                    sure = regime.workers.kind == "some"
                    if found is None or (sure and not found.sure):
                        found = Place(loader.file, loader.span, loader.name, regime.method, sure)
        return found

    def _imports(self, starting: SourceFile, index: int, file: SourceFile) -> bool:
        tops = self.project.programs.above(starting, starting.calls[index].scope)
        return file.path in self.project.import_graph.import_closure(tops)

    # Settings that serve no launch

    def passed_by(self, setting: SetCall) -> Place | None:
        """A launch after the call by another start method, whose loaders inherit that method.

        None if anything else uses the method that the call sets.
        """
        if len(setting.methods) != 1 or self.child(setting) is not None:
            return None
        served = self._launches_after(setting, explicit=False)
        others = [one for one in self._launches_after(setting, explicit=True) if one.method != setting.methods[0]]
        if served or not others or self._serves_a_loader(setting):
            return None
        return others[0]

    def _serves_a_loader(self, setting: SetCall) -> bool:
        span = setting.file.calls[setting.call].span
        return any(
            regime.source == "program"
            and regime.arrival is not None
            and (regime.arrival.origin.file, regime.arrival.origin.span) == (setting.file, span)
            for loader in self.project.loaders
            for regime in self.project.regimes(loader)
        )

    def _launches_after(self, setting: SetCall, explicit: bool) -> list[Place]:
        """Launches that follow a call in its program.

        With `explicit`, those by a method of their own whose loaders inherit it; otherwise those that use the method
        set by the call.
        """
        span = setting.file.calls[setting.call].span
        inheriting = {
            (regime.arrival.origin.file.path, regime.arrival.origin.span)
            for loader in self.project.loaders
            for regime in self.project.regimes(loader)
            if regime.source == "inherited" and regime.arrival is not None
        }
        found: list[Place] = []
        launches = (*self.project.launches.all(), *self.project.launches.blind())
        for launch in _of_package(setting.package, launches):
            started = launch.file.calls[launch.call]
            for method in self.project.ask(Starting).methods(launch):
                arrival = method.arrival
                taken = arrival is not None and (arrival.origin.file, arrival.origin.span) == (setting.file, span)
                own = arrival is None and method.shown and (launch.file.path, started.span) in inheriting
                if (own and self._follows(setting, launch)) if explicit else taken:
                    text = render(started.func, launch.file)
                    found.append(Place(launch.file, started.span, text, method.name))
        return found

    def _follows(self, setting: SetCall, launch: Launch) -> bool:
        """Whether one program makes the call and then the launch: the launching call, or one that leads to it, comes
        later in the same function."""
        call = setting.file.calls[setting.call]
        if launch.file is setting.file and launch.file.calls[launch.call].scope == call.scope:
            return launch.file.calls[launch.call].span > call.span
        for index in setting.file.calls_of(call.scope):
            other = setting.file.calls[index]
            if other.span > call.span:
                starts = [
                    Reached(target.function.file, target.function.scope, target.frame)
                    for target in self.world.calls.targets(setting.file, index)
                ]
                for reached in reach(self.world, starts):
                    if (reached.file, reached.scope) == (launch.file, launch.file.calls[launch.call].scope):
                        return True
        return False


def _of_package(package: str, launches: Iterable[Launch]) -> Iterator[Launch]:
    """The launches whose processes a setting for the package counts for."""
    return (launch for launch in launches if launch.package == package)
