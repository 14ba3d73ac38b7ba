"""Changes to datasets between epochs, which persistent workers never see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Compare, IfExp, Name, Subscript
from dllint.facts.schema import Expr
from dllint.finding import Place
from dllint.inference import limits
from dllint.inference.edges import Target
from dllint.inference.values import Class, Frame, Function, Instance, Site, Value
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader, written
from dllint.rules.data.epoch_hooks import EpochHooks
from dllint.rules.data.worker_options import leaves
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_LOOPS = ("for", "while")


@dataclass(frozen=True)
class Change:
    """A statement in a loop over epochs, or run by a hook in each of them, that changes what the workers of a loader
    read.

    Attributes:
        what: the statement's target or call, as written.
        attr: the attribute that it sets.
        read: where the workers read it.
    """

    file: SourceFile
    span: Span
    statement: Span
    what: str
    attr: str
    read: Place


class DatasetChanges:
    """Finds the changes to datasets that persistent workers never see, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.hooks = project.ask(EpochHooks)

    @staticmethod
    def persists(loader: Loader) -> bool:
        """Whether the loader's workers persist after an epoch: always, or whenever there are any (`workers > 0`)."""
        if loader.flag("persistent_workers"):
            return True
        option, count = written(loader, "persistent_workers"), written(loader, "num_workers")
        if option is None or count is None or not isinstance(option, (Compare, CallRef, IfExp)):
            return False
        words = leaves(option, loader.file)
        return bool(words) and words == leaves(count, loader.file)

    def of_loader(self, loader: Loader) -> Iterator[Change]:
        """The changes to a loader's datasets in loops that read from the loader in every iteration, and in hooks that a
        framework calls in each epoch."""
        if self._is_restarted(loader):
            return
        for value in self.project.dataset_objects(loader):
            cls = value.of
            if not isinstance(cls, Class):
                continue
            read = self._read_by_workers(value)
            for attr, place in read.items():
                yield from self._set_from_outside(loader, value, attr, place)
            for name, attr in self._setters(cls, set(read)):
                yield from self._called(loader, value, name, attr, read[attr])

    def _read_by_workers(self, value: Instance) -> dict[str, Place]:
        """The attributes of the dataset that its worker code reads, each with a place."""
        found: dict[str, Place] = {}
        for run in self.project.workers.of_dataset(value):
            params = run.file.scopes[run.scope].params
            receiver = Name(params[0].name) if params and run.file.method_of(run.scope) is not None else None
            for expr, span in _read(run.file, run.scope):
                for part in walk(expr, run.file):
                    if isinstance(part, Attribute) and part.value == receiver:
                        found.setdefault(part.attr, Place(run.file.path, span, f"workers read `{part.attr}` here"))
        return found

    def _setters(self, cls: Class, attrs: set[str]) -> Iterator[tuple[str, str]]:
        """Methods that set one of the attributes on their receiver, each with the attribute."""
        for owner in self.world.hierarchy.line(cls):
            if not isinstance(owner, Class):
                continue
            for attr, stores in self.world.stores.own_stores(owner).items():
                for store in stores:
                    name = owner.file.scopes[store.scope].name
                    if attr in attrs and not name.startswith("__"):
                        yield name, attr

    def _set_from_outside(self, loader: Loader, value: Instance, attr: str, read: Place) -> Iterator[Change]:
        for file, store in self.world.stores.outside_stores(attr):
            at = store.event.span.start
            site = Site(file, store.scope, store.event.region, at, None)
            if self._is_dataset(store.base, site, loader, value) and self._each_epoch(loader, site):
                what = f"{render(store.base, file)}.{attr}"
                yield Change(file, store.event.span, store.event.span, what, attr, read)

    def _called(self, loader: Loader, value: Instance, name: str, attr: str, read: Place) -> Iterator[Change]:
        for file, index in self.world.called(name):
            call = file.calls[index]
            if not isinstance(call.func, Attribute):
                continue
            site = self.world.call_site(file, index, None)
            if self._is_dataset(call.func.value, site, loader, value) and self._each_epoch(loader, site):
                yield Change(file, call.span, call.statement, render(CallRef(index), file), attr, read)

    def _is_dataset(self, expr: Expr, site: Site, loader: Loader, value: Instance) -> bool:
        """Whether an expression is the loader's dataset: the object itself, or `loader.dataset`."""
        if self._is_of_loader(expr, site, loader):
            return True
        if not isinstance(expr, (Name, Attribute)):
            return False
        if any(_same(one, value.file, value.call) for one in self.world.values.evaluate(expr, site)):
            return True
        return any(self._is_of_loader(one.expr, one.site, loader) for one in self.hooks.origins_of(expr, site))

    def _is_of_loader(self, expr: Expr, site: Site, loader: Loader) -> bool:
        return isinstance(expr, Attribute) and expr.attr == "dataset" and self._is_loader(expr.value, site, loader)

    def _is_loader(self, expr: Expr, site: Site, loader: Loader) -> bool:
        if not isinstance(expr, (Name, Attribute)):
            return False
        if any(_same(one, loader.file, loader.call) for one in self.world.values.evaluate(expr, site)):
            return True
        return self.hooks.gets(expr, site, loader)

    def _is_restarted(self, loader: Loader) -> bool:
        """Whether the program lets go of the iterator that has the workers, so that the next epoch starts others."""
        for file, store in self.world.stores.outside_stores("_iterator"):
            site = Site(file, store.scope, store.event.region, store.event.span.start, None)
            if self._is_loader(store.base, site, loader):
                return True
        return False

    def _each_epoch(self, loader: Loader, site: Site) -> bool:
        """Whether a place is inside a loop that does not make the loader but reads from it in every iteration, or in
        what a hook runs in each epoch of the loader."""
        file = site.file
        for loop in file.regions(site.region):
            if file.facts.regions[loop].kind not in _LOOPS or self._is_over(loop, site, loader):
                continue
            if self._is_made_in(loop, site, loader):
                return False
            if self._reads(loop, site, loader):
                return True
        return self.hooks.run(site, loader)

    def _is_made_in(self, loop: int, site: Site, loader: Loader) -> bool:
        """Whether each iteration of a loop makes the loader again, itself or by a function that it calls."""
        file, made = site.file, loader.file.calls[loader.call]
        if loader.file is file and made.scope == site.scope and file.encloses(loop, made.region):
            return True
        return any(
            self._makes(target.function, loader, 0)
            for index in file.calls_of(site.scope)
            if file.encloses(loop, file.calls[index].region)
            and any(
                _same(one, loader.file, loader.call)
                for one in self.world.values.evaluate(CallRef(index), self.world.call_site(file, index, None))
            )
            for target in self._targets(file, index)
        )

    def _makes(self, function: Function, loader: Loader, depth: int) -> bool:
        """Whether a function, or one that it calls, holds the call that makes the loader."""
        if function.file is loader.file and function.scope == loader.file.calls[loader.call].scope:
            return True
        if limits.COUNTING_DEPTH.exceeded(depth):
            return False
        return any(
            self._makes(target.function, loader, depth + 1)
            for index in function.file.calls_of(function.scope)
            for target in self._targets(function.file, index)
            if target.function != function
        )

    def _is_over(self, loop: int, site: Site, loader: Loader) -> bool:
        """Whether the loop is the one over the loader's batches."""
        region = site.file.facts.regions[loop]
        where = Site(site.file, site.scope, region.parent, region.span.start, None)
        return region.expr is not None and any(
            self._is_loader(part, where, loader) for part in walk(region.expr, site.file)
        )

    def _reads(self, loop: int, site: Site, loader: Loader) -> bool:
        file = site.file
        for event in file.scopes[site.scope].events:
            if event.kind == "for" and event.value is not None and file.encloses(loop, event.region):
                at = event.span.start
                where = Site(file, site.scope, event.region, at, None)
                if any(self._is_loader(part, where, loader) for part in walk(event.value, file)):
                    return True
        for index in file.calls_of(site.scope):
            call = file.calls[index]
            if not file.encloses(loop, call.region):
                continue
            where = self.world.call_site(file, index, None)
            if any(self._is_loader(argument.value, where, loader) for argument in call.args):
                return True
            if any(self._iterates(target.function, target.frame, loader) for target in self._targets(file, index)):
                return True
        return False

    def _targets(self, file: SourceFile, index: int) -> list[Target]:
        return self.world.calls.targets(file, index)

    def _iterates(self, function: Function, frame: Frame | None, loader: Loader) -> bool:
        file = function.file
        for event in file.scopes[function.scope].events:
            if event.kind == "for" and event.value is not None:
                at = event.span.start
                where = Site(file, function.scope, event.region, at, frame)
                if any(self._is_loader(part, where, loader) for part in walk(event.value, file)):
                    return True
        return False


def _same(value: Value, file: SourceFile | None, call: int) -> bool:
    return isinstance(value, Instance) and value.call >= 0 and value.file is file and value.call == call


def _read(file: SourceFile, scope: int) -> Iterator[tuple[Expr, Span]]:
    """The expressions that a function evaluates, without plain assignment targets, each with its span."""
    for event in file.scopes[scope].events:
        if event.value is not None:
            yield event.value, event.span
        if isinstance(event.target, Subscript):
            yield event.target, event.span
    for index in file.calls_of(scope):
        yield CallRef(index), file.calls[index].span
    for region in {region for index in file.calls_of(scope) for region in file.regions(file.calls[index].region)} | {
        region for event in file.scopes[scope].events for region in file.regions(event.region)
    }:
        entry = file.facts.regions[region]
        if entry.expr is not None:
            yield entry.expr, entry.span
