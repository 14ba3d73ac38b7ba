"""Handles that objects keep: what a dataset opens, where it opens it, and where the parent process uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Call, Expr
from dllint.inference import limits
from dllint.inference.values import (
    Class,
    Display,
    Instance,
    Mapping,
    Partial,
    Value,
    Values,
)
from dllint.libraries.contents import bound_by
from dllint.libraries.facets import Opener
from dllint.linking.assignments import Store
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop
from dllint.project.kept_values import Kept
from dllint.project.launches import Launch
from dllint.project.loaders import Loader
from dllint.project.openers import Openers
from dllint.project.parent_use import ParentTouches
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


class Step(NamedTuple):
    """An attribute of `holder` on the path to a handle, set by `store` in the method with scope `method` of class
    `owner`.

    `later`: the attribute is a list or dict, and the next object is added to it after the holder is constructed.
    """

    holder: Instance
    owner: Class
    attr: str
    store: Store
    method: int
    later: bool = False

    @property
    def cls(self) -> Class:
        assert isinstance(self.holder.of, Class)
        return self.holder.of


@dataclass(frozen=True)
class Handle:
    """The result of an opener, kept as an attribute.

    `steps` is the path from the dataset to it, through objects that the dataset keeps. `file` and `call` are the
    opener's.
    """

    opener: Opener
    steps: tuple[Step, ...]
    file: SourceFile
    call: int

    @property
    def attr(self) -> str:
        return self.steps[-1].attr

    @property
    def owner(self) -> Class:
        return self.steps[-1].owner

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span


class Copied(NamedTuple):
    """An array over mapped or shared memory that is pickled. `label` names where it is kept: "Tokens.rows".

    `touch` is the use in the parent process that makes a method of the dataset map the file, if `__init__` does not.
    """

    opener: Opener
    label: str
    value: Instance
    kept: Kept | None
    touch: Hop | None = None

    @property
    def call(self) -> Call:
        assert self.value.file is not None
        return self.value.file.calls[self.value.call]


def expressions(file: SourceFile, scope: int) -> Iterator[Expr]:
    """Every expression that a function reads, except the tests of its branches."""
    for event in file.scopes[scope].events:
        if event.value is not None:
            yield from walk(event.value, file)
    for index in file.calls_of(scope):
        yield from walk(CallRef(index), file)


class Handles:
    """Finds the handles that datasets keep, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self._kept: dict[Instance, list[Handle]] = {}
        self._openers = Openers(project)
        self._read: dict[tuple[str, int], frozenset[str]] = {}
        self._made: dict[str, dict[str, int]] = {}

    def names_read(self, file: SourceFile, scope: int) -> frozenset[str]:
        """The names and attribute names that a function reads, except in the tests of its branches."""
        found = self._read.get((file.path, scope))
        if found is None:
            parts = expressions(file, scope)
            found = frozenset(str(last_name(part)) for part in parts if isinstance(part, (Name, Attribute)))
            self._read[file.path, scope] = found
        return found

    def made_at_top(self, file: SourceFile) -> dict[str, int]:
        """The calls whose results the top level of a file binds, by name."""
        found = self._made.get(file.path)
        if found is None:
            found = self._made[file.path] = {
                name: binding.expr.index
                for name, bindings in file.bindings(0).items()
                for binding in bindings
                if binding.kind == "value" and isinstance(binding.expr, CallRef)
            }
        return found

    # What is opened

    def opener(self, value: Value) -> Opener | None:
        """The opener whose handle a value is; None if it is no handle."""
        return self._openers.opener(value)

    def whole(self, value: Instance) -> Instance:
        """The handle that an object made by one of its methods reads through, such as a cursor's; otherwise the
        object itself."""
        return self._openers.whole(value)

    # What is pickled

    def copied(self, loader: Loader) -> Iterator[Copied]:
        """The arrays over mapped or shared memory that pickling the loader's datasets and callables writes out."""
        for name, piece in self.project.shipped_pieces(loader):
            opener = self.opener(piece.value)
            if opener is None or not opener.array or not isinstance(piece.value, Instance):
                continue
            if piece.kept is None or self._kept_from_the_start(piece.kept, piece.value):
                kept = piece.kept
                label = f"{name}.{piece.path}" if piece.path else name
                if kept is not None and kept.owner is not None and "." in piece.path:
                    label = f"{kept.owner.name}.{kept.attr}"
                yield Copied(opener, label, piece.value, piece.kept)
        for dataset in self.project.dataset_objects(loader):
            yield from self._mapped_lazily(loader, dataset)
        for argument in ("collate_fn", "worker_init_fn"):
            for given in self.project.callables(loader, argument):
                if isinstance(given, Partial):
                    yield from self._among(bound_by(self.world, given), f"{argument}'s partial")

    def _mapped_lazily(self, loader: Loader, dataset: Instance) -> Iterator[Copied]:
        """The arrays that methods of a dataset map because the parent process calls them before the workers start."""
        datasets = self.project.datasets
        for handle in self.kept(dataset):
            step = handle.steps[-1]
            late = {
                (one.owner.file.path, one.method)
                for one in handle.steps
                if (one.owner.file.path, one.method) not in datasets.construction.of(one.holder)
            }
            if not handle.opener.array or not late or any(one.later for one in handle.steps):
                continue
            if any(one.attr in datasets.dropped(one.holder) for one in handle.steps):
                continue
            kept = next((one for one in datasets.kept(step.holder) if one.store is step.store), None)
            if kept is None or datasets.construction.in_workers.only(kept.site):
                continue
            touch = ParentTouches(self.project, loader, dataset).of(late)
            for value in kept.values if touch is not None else ():
                for one in self.world.mappings.flattened(value):
                    if isinstance(one, Instance) and (one.file, one.call) == (handle.file, handle.call):
                        yield Copied(handle.opener, f"{step.cls.name}.{step.attr}", one, kept, touch)

    def _kept_from_the_start(self, kept: Kept, value: Value) -> bool:
        """Whether an attribute has held a value since its object was constructed, or gets it from outside the class."""
        if kept.owner is None:
            return True
        return any(
            (kept.file.path, kept.scope) in self.project.datasets.construction.of_class(cls)
            and not any(value in self._put_later(one, cls) for one in kept.values)
            for cls in (kept.owner, *self.world.hierarchy.subclasses(kept.owner))
        )

    def _among(self, values: Values, label: str) -> Iterator[Copied]:
        for value in values:
            opener = self.opener(value)
            if opener is not None and opener.array and isinstance(value, Instance):
                yield Copied(opener, label, value, None)

    def sent(self) -> Iterator[tuple[Launch, str, Copied]]:
        """The mapped or shared arrays in the arguments of processes that are provably not forked, and in objects of
        the project among them, each with its launch and start method."""
        for launch in self.project.launches.all():
            if not launch.methods or not set(launch.methods) <= {"spawn", "forkserver"}:
                continue
            for target in launch.targets:
                actuals = target.frame.actuals
                for actual in (*actuals.positional, *actuals.keywords.values()) if actuals is not None else ():
                    if actual.expr is not None and actual.site is not None:
                        values = self.world.values.evaluate(actual.expr, actual.site)
                        for one in (part for value in values for part in self.world.mappings.flattened(value)):
                            for part in (one, *self._inside(one)):
                                for copied in self._among((part,), ""):
                                    yield launch, launch.methods[0], copied

    def _inside(self, value: Value) -> list[Value]:
        """What an object that the project made keeps and pickles."""
        if not isinstance(value, Instance) or not isinstance(value.of, Class) or value.call < 0:
            return []
        return [piece.value for piece in self.project.datasets.pieces(value)]

    # What is kept

    def kept(self, value: Instance) -> list[Handle]:
        """The handles that an object, or an object inside it, opens in any of its methods and keeps."""
        if not isinstance(value.of, Class):
            return []
        found = self._kept.get(value)
        if found is None:
            found = self._kept[value] = list(self._find(value))
        return found

    def _find(self, value: Instance) -> Iterator[Handle]:
        seen: set[tuple[str, int, str]] = set()
        classes: set[Class] = set()
        todo: list[tuple[Instance, tuple[Step, ...]]] = [(value, ())]
        while todo and not limits.HANDLE_HOLDERS.reached(len(classes)):
            holder, way = todo.pop(0)
            cls = holder.of
            if not isinstance(cls, Class) or cls in classes:
                continue
            classes.add(cls)
            for owner, attr, store, one, later in self._attributes(holder, cls):
                steps = (*way, Step(holder, owner, attr, store, self._method_of(owner, store.scope), later))
                for part in self._behind(one):
                    if isinstance(part.of, Class):
                        todo.append((part, steps))
                    elif part.file is not None and part.call >= 0 and (part.file.path, part.call, attr) not in seen:
                        opener = self.opener(part)
                        if opener is not None:
                            seen.add((part.file.path, part.call, attr))
                            whole = self.whole(part)
                            assert whole.file is not None
                            if self._can_hold(value, whole.file):
                                yield Handle(opener, steps, whole.file, whole.call)

    def _can_hold(self, holder: Instance, opening: SourceFile) -> bool:
        """Whether a program that makes the holder can load the file that opens a handle. An attribute of an object
        whose making is not known has the values of all objects of its class, also of those in other programs."""
        return not self.world.import_graph.runs_without(opening.path, self.project.programs.behind(holder))

    def _behind(self, value: Value) -> Iterator[Instance]:
        """An object, or those that a partial binds: `self.read = partial(read_at, file)`."""
        if isinstance(value, Instance):
            yield value
        elif isinstance(value, Partial):
            yield from (one for one in bound_by(self.world, value) if isinstance(one, Instance))

    def _attributes(self, value: Instance, cls: Class) -> Iterator[tuple[Class, str, Store, Value, bool]]:
        """The values of all attributes, each with whether a container receives it only after the object is
        constructed."""
        for owner in self.world.hierarchy.line(cls):
            if not isinstance(owner, Class):
                continue
            for attr, stores in self.world.stores.own_stores(owner).items():
                for store in stores:
                    stored = self.project.datasets.stored(value, owner, store)
                    if stored is None:
                        continue
                    site, values = stored
                    for one in self.world.values.owned(values, store.value, site, (owner.scope, f"self.{attr}")):
                        later = self._put_later(one, cls)
                        for part in self.world.mappings.flattened(one):
                            yield owner, attr, store, part, part in later

    def _put_later(self, container: Value, cls: Class) -> set[Value]:
        """The values that code outside of construction adds to a list or dict of an object."""
        if not isinstance(container, (Display, Mapping)) or container.owner is None:
            return set()
        early = self.project.datasets.construction.of_class(cls)
        return {
            part
            for change, where in self.world.mappings.fillings(container)
            if (change.file.path, change.scope) not in early
            for value in self.world.values.evaluate(change.value, where)
            for part in self.world.mappings.flattened(value)
        }

    @staticmethod
    def _method_of(owner: Class, scope: int) -> int:
        while owner.file.scopes[scope].parent != owner.scope:
            scope = owner.file.scopes[scope].parent
        return scope
