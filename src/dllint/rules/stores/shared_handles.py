"""Handles that the parent opens and forked workers use: they share one position, or one set of locks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Name
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Instance
from dllint.libraries.facets import Opener
from dllint.linking.conditions import Atom, path_atoms, under_main_guard
from dllint.linking.source import SourceFile, last_name
from dllint.linking.with_blocks import in_block_of, opens_block
from dllint.project.arrivals import Hop
from dllint.project.handles import Handle, Handles, Step, expressions
from dllint.project.loaders import Loader
from dllint.project.parent_use import ParentTouches
from dllint.project.worker_code import WorkerRun
from dllint.rules.stores.handle_caches import CachedHandle, cached_handles
from dllint.rules.stores.lasting_handles import lasting_handles

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class Shared:
    """A handle that is opened in the parent and used in the workers of a loader.

    `label` names it: "`Rows.file`". `hops` are the calls from `__init__` to the opener. `touch` is where the parent
    opens it if `__init__` does not. `handle` is None for a module variable or a cached handle.
    """

    opener: Opener
    label: str
    file: SourceFile
    call: int
    loader: Loader
    hops: tuple[Hop, ...] = ()
    touch: Hop | None = None
    handle: Handle | None = None


def shared_handles(project: Project, loader: Loader) -> Iterator[Shared]:
    """All shared handles of a loader whose workers are forked."""
    runs = list(project.worker_runs(loader))
    for holder in project.shipped_objects(loader):
        for handle in project.ask(Handles).kept(holder):
            if handle.opener.harm:
                found = _Case(project, loader, holder, handle, runs).shared()
                if found is not None:
                    yield found
    yield from _globals(project, loader, runs)
    for cached in cached_handles(project, runs):
        found = _opened_early(project, loader, cached)
        if found is not None:
            yield found


def _opened_early(project: Project, loader: Loader, cached: CachedHandle) -> Shared | None:
    """A handle that a function caches per process, if the parent calls that function before the workers start.

    The call is made during the construction of a dataset or of the object whose method makes the loader, or by another
    method of the dataset.
    """
    key = (cached.file.path, cached.scope)
    owner = loader.file.method_of(loader.file.calls[loader.call].scope)
    if owner is not None:
        hops = project.datasets.construction.of_class(Class(loader.file, owner)).get(key)
        if hops is not None and not any(hop.guessed for hop in hops):
            return Shared(cached.opener, cached.label, cached.file, cached.call, loader, hops)
    found: Shared | None = None
    for dataset in project.dataset_objects(loader):
        assert isinstance(dataset.of, Class)
        hops = project.datasets.construction.of(dataset).get(key)
        if hops is not None:
            return Shared(cached.opener, cached.label, cached.file, cached.call, loader, hops)
        touch = ParentTouches(project, loader, dataset).of({key})
        if touch is not None and found is None:
            found = Shared(cached.opener, cached.label, cached.file, cached.call, loader, (), touch)
    return found


class _Case:
    """A handle, the dataset or other object that keeps it, and the loader whose workers use it."""

    def __init__(
        self, project: Project, loader: Loader, dataset: Instance, handle: Handle, runs: list[WorkerRun]
    ) -> None:
        self.project = project
        self.loader = loader
        self.dataset = dataset
        self.handle = handle
        self.runs = runs
        self.last = handle.steps[-1]

    def shared(self) -> Shared | None:
        if any(step.later for step in self.handle.steps) or self._only_in_workers():
            return None
        if not self._used() or self._reopened() or self._in_with():
            return None
        early = [self._init_hops(step) for step in self.handle.steps]
        if any(hops is None and self._closes(step) for step, hops in zip(self.handle.steps, early, strict=True)):
            return None
        hops, touch = early[-1], None
        late = {(s.owner.file.path, s.method) for s, one in zip(self.handle.steps, early, strict=True) if one is None}
        if late or self._ended():
            # A handle that `__init__` closes can be opened again by another call of the method that opens it.
            late = late or {(s.owner.file.path, s.method) for s in self.handle.steps if not self._is_init(s)}
            touch = ParentTouches(self.project, self.loader, self.dataset).of(late) if late else None
            if touch is None:
                return None
        if self.handle.opener.once_read and touch is None and not self._read_before():
            return None
        label = f"`{self.last.cls.name}.{self.last.attr}`"
        return Shared(
            self.handle.opener, label, self.handle.file, self.handle.call, self.loader, hops or (), touch, self.handle
        )

    def _only_in_workers(self) -> bool:
        """Whether only workers open the handle or set an attribute that leads to it, by a test of the process."""
        world, in_workers = self.project.world, self.project.datasets.construction.in_workers
        sites = (world.stores.store_site(step.holder, step.owner, step.store) for step in self.handle.steps)
        opened = world.call_site(self.handle.file, self.handle.call, None)
        return in_workers.only(opened) or any(map(in_workers.only, sites))

    def _read_before(self) -> bool:
        """Whether the parent reads through the handle before the workers start."""
        construction, files = self.project.datasets.construction, self.project.world.files
        holders = (self.dataset, *(step.holder for step in self.handle.steps))
        places = {place for holder in holders for place in construction.of(holder)}
        places.add((self.handle.file.path, self.handle.file.calls[self.handle.call].scope))
        if any(self._reads_through(files[path], scope) for path, scope in places):
            return True
        assert isinstance(self.dataset.of, Class)
        line = (*self._line, *self.project.world.hierarchy.line(self.dataset.of))
        own = {
            (one.file, scope)
            for one in line
            if isinstance(one, Class)
            for scope in one.file.children.get(one.scope, ())
        }
        used = own | {(run.file, run.scope) for run in self.runs}
        reading = {(file.path, scope) for file, scope in used if self._reads_through(file, scope)}
        return ParentTouches(self.project, self.loader, self.dataset).of(reading) is not None

    def _reads_through(self, file: SourceFile, scope: int) -> bool:
        """Whether a function calls a method of the handle, other than to close it."""
        own = (self.handle.file, self.handle.call)
        for index in file.calls_of(scope):
            func = file.calls[index].func
            if isinstance(func, Attribute) and func.attr not in self.handle.opener.ends:
                values = self.project.world.values.evaluate(func.value, self.project.world.call_site(file, index, None))
                if any(isinstance(one, Instance) and (one.file, one.call) == own for one in values):
                    return True
        return False

    def _init_hops(self, step: Step) -> tuple[Hop, ...] | None:
        """The calls from `__init__` to the method of a step; None if it does not run during construction."""
        return self.project.datasets.construction.of(step.holder).get((step.owner.file.path, step.method))

    def _closes(self, step: Step) -> bool:
        """Whether a method that construction does not run releases or closes what it has opened."""
        if self.project.datasets.releases.of(step.cls, step.owner, step.store) == "surely":
            return True
        file, params = step.owner.file, step.owner.file.scopes[step.method].params
        kept = Attribute(Name(params[0].name), step.attr) if params else None
        return any(
            isinstance(func := file.calls[index].func, Attribute)
            and func.value == kept
            and func.attr in self.handle.opener.ends
            and file.calls[index].span > step.store.event.span
            for index in file.calls_of(step.method)
        )

    @staticmethod
    def _is_init(step: Step) -> bool:
        return step.owner.file.scopes[step.method].name == "__init__"

    @cached_property
    def _line(self) -> list[Class]:
        line = self.project.world.hierarchy.line(self.last.cls)
        return [owner for owner in line if isinstance(owner, Class)]

    def _is_own(self, file: SourceFile, scope: int, base: Expr) -> bool:
        """Whether `base` is the receiver in a method of the object that keeps the handle."""
        owner = file.enclosing_class(scope)
        if owner is None or Class(file, owner) not in self._line:
            return False
        while file.scopes[scope].parent != owner:
            scope = file.scopes[scope].parent
        params = file.scopes[scope].params
        return bool(params) and base == Name(params[0].name)

    def _used(self) -> bool:
        """Whether worker code reads the attribute or a property that returns it, other than to test whether it is
        set."""
        names = {self.last.attr, *self.project.item_code.properties(self.last.cls, self.last.attr)}
        return any(
            isinstance(part, Attribute) and part.attr in names and self._may_be(run, part.value)
            for run in self.runs
            if run.entry != "worker_init_fn"
            and not names.isdisjoint(self.project.ask(Handles).names_read(run.file, run.scope))
            for part in expressions(run.file, run.scope)
        )

    def _may_be(self, run: WorkerRun, base: Expr) -> bool:
        """Whether an expression can be the object that keeps the handle: the method's receiver, or the attribute by
        which another object keeps it."""
        if self._is_own(run.file, run.scope, base):
            return True
        return len(self.handle.steps) > 1 and isinstance(base, Attribute) and base.attr == self.handle.steps[-2].attr

    def _reopened(self) -> bool:
        """Whether workers set the attribute again, unless they do so only if it is not set."""
        for run in self.runs:
            for store in run.file.stores(run.scope):
                if store.key != self.last.attr or store.value == Constant(None):
                    continue
                if run.entry == "worker_init_fn":
                    return True
                if self._is_own(run.file, run.scope, store.base):
                    atoms = self._conditions(run, store.event.region)
                    if not atoms or not all(self._says_unset(atom) for atom in atoms):
                        return True
        return False

    def _conditions(self, run: WorkerRun, region: int) -> list[Atom]:
        """The conditions in a function; if it has none, those of the calls that lead to it."""
        own = path_atoms(run.file, run.scope, region)
        if own or not run.hops:
            return own
        name = run.file.scopes[run.scope].name
        return [
            atom
            for caller in self.runs
            for index in caller.file.calls_of(caller.scope)
            if last_name(caller.file.calls[index].func) == name
            for atom in path_atoms(caller.file, caller.scope, caller.file.calls[index].region)
        ]

    def _says_unset(self, atom: Atom) -> bool:
        attr = self.last.attr
        if atom.text == attr:
            return atom.holds if atom.equals == "None" else not atom.equals and not atom.holds
        return atom.text == f"hasattr(self, {attr!r})" and not atom.holds

    def _in_with(self) -> bool:
        """Whether the opener's own `with` statement closes it before the dataset is used."""
        return opens_block(self.handle.file, self.handle.call) and not self._made_inside()

    def _made_inside(self) -> bool:
        """Whether the dataset is constructed inside the `with` block, so that it can only be used there."""
        file, call = self.handle.file, self.dataset.call
        return self.dataset.file is file and call >= 0 and in_block_of(file, call, self.handle.call)

    def _ended(self) -> bool:
        """Whether the handle is closed or released before `__init__` ends."""
        for step in self.handle.steps:
            if self.project.datasets.releases.of(step.cls, step.owner, step.store) == "surely":
                return True
        local = self._local_name()
        for path, scope in self.project.datasets.construction.of_class(self.last.cls):
            file = self.project.world.files[path]
            for index in file.calls_of(scope):
                func = file.calls[index].func
                if not isinstance(func, Attribute) or func.attr not in self.handle.opener.ends:
                    continue
                base = func.value
                if (
                    isinstance(base, Attribute)
                    and base.attr == self.last.attr
                    and self._is_own(file, scope, base.value)
                ):
                    return True
                if local is not None and (file, scope, base) == local:
                    return True
            for event in file.scopes[scope].events:
                value = event.value
                if event.kind == "with" and isinstance(value, Attribute) and value.attr == self.last.attr:
                    return True
        return False

    def _local_name(self) -> tuple[SourceFile, int, Expr] | None:
        """The variable that holds the handle before it is kept; None if there is none."""
        file, scope = self.handle.file, self.handle.file.calls[self.handle.call].scope
        for event in file.scopes[scope].events:
            if event.kind == "assign" and event.value == CallRef(self.handle.call) and event.target is not None:
                return file, scope, event.target
        return None


def _globals(project: Project, loader: Loader, runs: list[WorkerRun]) -> Iterator[Shared]:
    places = [(run.file, run.scope) for run in runs if run.entry != "worker_init_fn"]
    for opener, name, value, _ in opened_globals(project, places, loader.file):
        if value.file is not None:
            yield Shared(opener, f"`{name}`", value.file, value.call, loader)
    for one in lasting_handles(project, loader, runs):
        assert one.value.file is not None
        yield Shared(one.opener, one.label, one.value.file, one.value.call, loader, one.hops)


def opened_globals(
    project: Project, places: Iterable[tuple[SourceFile, int]], starting: SourceFile
) -> Iterator[tuple[Opener, str, Instance, SourceFile]]:
    """Handles that a module opens at its top level and one of these functions reads by name, each with that module.

    What a module opens under its main guard is open only in programs that run it, so `starting`, the file that starts
    the processes, must be part of such a program.
    """
    seen: set[tuple[str, str]] = set()
    for file, scope in places:
        names = project.ask(Handles).made_at_top(file)
        read = project.ask(Handles).names_read(file, scope) if names else frozenset()
        for name in sorted(read & names.keys() - file.bindings(scope).keys()):
            if (file.path, name) in seen:
                continue
            seen.add((file.path, name))
            if not _opened_in(project, file, file.calls[names[name]].region, starting):
                continue
            site = project.world.call_site(file, names[name], None)
            for value in project.world.values.evaluate(CallRef(names[name]), site):
                opener = project.ask(Handles).opener(value)
                if opener is None or not opener.harm or _closed(file, name, opener):
                    continue
                if isinstance(value, Instance) and value.file is not None:
                    yield opener, name, value, file


def _opened_in(project: Project, file: SourceFile, region: int, starting: SourceFile) -> bool:
    """Whether a statement at the top level of a module runs in a program that has the file `starting`."""
    return not under_main_guard(file, region) or starting.path in project.import_graph.import_closure((file.path,))


def _closed(file: SourceFile, name: str, opener: Opener) -> bool:
    return any(
        isinstance(call.func, Attribute) and call.func.value == Name(name) and call.func.attr in opener.ends
        for call in (file.calls[index] for index in file.calls_of(0))
    )
