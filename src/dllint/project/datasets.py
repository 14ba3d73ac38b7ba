"""Datasets: those that reach a loader, the attributes that they keep, and the attributes that pickling omits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.inference import fields, limits
from dllint.inference.unions import union
from dllint.inference.values import Class, Display, External, Function, Instance, Mapping, Site, Value, Values
from dllint.libraries.contents import held_by
from dllint.libraries.index import WRAPPERS, canonical, is_dataset_base
from dllint.linking.assignments import Store
from dllint.linking.source import SourceFile
from dllint.project.abstract_datasets import objects_below
from dllint.project.bound_values import inside
from dllint.project.construction import Construction
from dllint.project.dropped_attributes import left_out
from dllint.project.emptied_containers import Emptied
from dllint.project.kept_values import Keeping, Kept, Piece
from dllint.project.outside_attributes import OutsideAttributes
from dllint.project.pieces import Pieces, possible_receivers
from dllint.project.preparation import Preparation
from dllint.project.released_attributes import Releases

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.inference.entries import Change


_IN_WORKERS = frozenset(
    {*("__getitem__", "__iter__", "__next__", "__getitems__"), *("__getstate__", "__setstate__", "__del__")}
)
"""Methods of datasets that workers run, and those that run around pickling."""


class Datasets:
    """Queries about dataset classes and objects.

    `measured` tells whether loaders ask their datasets for the length before workers start.
    """

    def __init__(self, world: World, measured: Callable[[], bool]) -> None:
        self.world = world
        self._kept: dict[Instance, list[Kept]] = {}
        self._pieces = Pieces(world, self.kept, self.dropped)
        self.construction = Construction(world, measured)
        self.releases = Releases(world, self.construction.of_class)
        self._emptied = Emptied(world)
        self.assigned = OutsideAttributes(world, self.is_dataset)
        self._preparation = Preparation(world, self.construction.of_class)

    def is_dataset(self, cls: Class) -> bool:
        """Whether a loader can read from objects of the class."""
        if self.derives(cls) or self.wraps(cls) or self._named(cls):
            return True
        if any("dataset" in canonical(name).lower() for name in self.world.hierarchy.externals(cls)):
            return True
        return any(self.world.hierarchy.method(cls, name) is not None for name in ("__getitem__", "__iter__"))

    def _named(self, cls: Class) -> bool:
        """Whether the configuration names the class or one of its bases: by full name, or by the last name alone for
        the project's own."""
        named = self.world.settings.datasets
        for one in self.world.hierarchy.line(cls) if named else ():
            if isinstance(one, Class):
                if one.name in named or f"{self.world.index.module_name(one.file.path)}.{one.name}" in named:
                    return True
            elif isinstance(one, External) and one.name in named:
                return True
        return False

    def derives(self, cls: Class) -> bool:
        """Whether a class inherits from a library's dataset."""
        return any(map(is_dataset_base, self.world.hierarchy.externals(cls)))

    def wraps(self, cls: Class) -> bool:
        """Whether a class inherits from a library's wrapper of datasets."""
        return any(canonical(name) in WRAPPERS for name in self.world.hierarchy.externals(cls))

    def unchained(self, values: Values) -> Iterator[Value]:
        """The values, but for a ChainDataset of torch the datasets whose items it yields one after the other."""
        for value in values:
            of = value.of if isinstance(value, Instance) else None
            chained = isinstance(of, External) and canonical(of.name) == "torch.utils.data.ChainDataset"
            yield from self.expand((value,)) if chained else (value,)

    def expand(self, values: Values, fits: Callable[[Instance], bool] = lambda value: True) -> list[Instance]:
        """The project's dataset objects among the values and inside wrappers, each once, if `fits` accepts them.

        Breadth first, so that the contents of one value do not use up the bound for the others.
        """
        found: dict[Instance, None] = {}
        of_class: dict[Class, int] = {}
        wrapped: dict[Class, set[Class]] = {}
        seen: set[Value] = set()
        todo = deque(self.possible(values))
        while todo:
            value = todo.popleft()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, Instance) and isinstance(value.of, Class):
                # A loader has replaced its own values where they need it.
                if value not in values and (below := objects_below(self.world, value)):
                    todo += below
                    continue
                known = of_class.get(value.of, 0)
                # Further objects of a class that was already found leave room for objects of other classes, unless they
                # wrap one that none has wrapped yet.
                if known and limits.DATASETS.reached(len(found)):
                    continue
                classes = self._classes_in(value)
                if known >= limits.DATASETS_OF_CLASS.most and classes <= wrapped[value.of]:
                    continue
                if self.is_dataset(value.of) and fits(value):
                    of_class[value.of] = known + 1
                    wrapped.setdefault(value.of, set()).update(classes)
                    found[value] = None
                    todo += self._wrapped(value)
            elif isinstance(value, Instance) and isinstance(value.of, External):
                inside = self.possible(tuple(held_by(self.world, value)))
                last = value.of.name.rsplit(".", 1)[-1]
                if canonical(value.of.name) in WRAPPERS or last.endswith(("Dataset", "Subset")):
                    todo += inside
                else:
                    # What stands for a dataset and was given one reads from it: another library's `Subset`.
                    todo += (one for one in inside if self._is_certain(one))
            elif isinstance(value, Display):
                todo += self.world.mappings.flattened(value)
        return list(found)

    def _classes_in(self, value: Instance) -> set[Class]:
        """The classes of the project's datasets that an object keeps as attributes."""
        held = (one for kept in self.kept(value) for one in kept.values if isinstance(one, Instance))
        return {one.of for one in held if isinstance(one.of, Class) and self.is_dataset(one.of)}

    def _is_certain(self, value: Value) -> bool:
        return isinstance(value, Instance) and isinstance(value.of, Class) and self.derives(value.of)

    def _wrapped(self, value: Instance) -> Iterator[Value]:
        """Datasets that a dataset of the project, or its external base class, keeps as attributes."""
        parts = [part for kept in self.kept(value) for part in kept.values]
        for part in (*parts, *held_by(self.world, value)):
            for one in self.world.mappings.flattened(part):
                if not isinstance(one, Instance) or one == value:
                    continue
                if (isinstance(one.of, Class) and one.of != value.of and self.derives(one.of)) or (
                    isinstance(one.of, External) and canonical(one.of.name) in WRAPPERS
                ):
                    yield one

    def possible(self, values: Values) -> Values:
        """Return the values without the objects that an open choice of a class excludes: where an unknown name can
        select datasets among other classes, only a dataset comes to a loader."""
        chosen: dict[tuple[SourceFile | None, int], list[Instance]] = {}
        for value in values:
            if isinstance(value, Instance) and isinstance(value.of, Class) and self.world.chosen_by_name(value):
                chosen.setdefault((value.file, value.call), []).append(value)
        excluded: set[Value] = set()
        for group in chosen.values():
            others = {one for one in group if isinstance(one.of, Class) and not self.derives(one.of)}
            if len(others) < len(group):
                excluded |= others
        return tuple(value for value in values if value not in excluded) if excluded else values

    # What is kept

    def stored(self, value: Instance, owner: Class, store: Store) -> tuple[Site, Values] | None:
        """The values that an assignment in a method of `owner` stores on an object, and where they are evaluated; None
        if it does not store them in a run with workers."""
        site = self.world.stores.store_site(value, owner, store)
        if self.world.stores.skipped(site) or self.construction.without_workers.only(site):
            return None
        without = self.construction.without_workers
        values = (one for one in self.world.values.evaluate(store.value, site) if not without.makes(one))
        return site, tuple(one for one in values if not self._is_emptied(one, owner, store, site))

    def _is_emptied(self, value: Value, owner: Class, store: Store, site: Site) -> bool:
        if not isinstance(value, (Display, Mapping)):
            return False
        owned = self.world.values.owned((value,), store.value, site, (owner.scope, f"self.{store.key}"))
        containers = (one for one in owned if isinstance(one, (Display, Mapping)))
        return any(self._emptied.contains(one, self.filling) for one in containers)

    def kept(self, value: Instance) -> list[Kept]:
        """The attributes that an object keeps when its workers start, in source order.

        Those that `__getstate__` or `__reduce__` omits from the pickle are included; see `dropped`.
        """
        found = self._kept.get(value)
        if found is not None:
            return found
        self._kept[value] = []
        assert isinstance(value.of, Class)
        collected: list[Kept] = []
        for owner in self.world.hierarchy.line(value.of):
            if not isinstance(owner, Class):
                continue
            for attr, stores in self.world.stores.own_stores(owner).items():
                for store in stores:
                    method = self._method_of(owner, store.scope)
                    name = owner.file.scopes[method].name
                    if name in _IN_WORKERS:
                        continue
                    if name == "__init__" and self._overridden(value.of, owner):
                        continue
                    if self.world.stores.overridden(value, owner, store):
                        continue
                    stored = self.stored(value, owner, store)
                    if stored is None:
                        continue
                    site, values = stored
                    in_workers = self.construction.in_workers
                    values = tuple(one for one in values if not in_workers.makes(one))
                    released = self.releases.of(value.of, owner, store, site.frame)
                    if released == "surely" and not self._runs_again(value.of, owner.file, method):
                        continue
                    values = self.world.values.owned(values, store.value, site, (owner.scope, f"self.{attr}"))
                    place = (owner.file.path, method)
                    hops = self.construction.of(value).get(place)
                    early = hops is not None or self.prepared(value, place)
                    early = early and not in_workers.only(site)
                    if hops is not None and self.assigned.replaces(value, attr):
                        continue
                    # A property that is kept once it is read is read by workers first, unless construction reads it.
                    if store.event.kind == "return" and not early:
                        continue
                    initial = early and released != "surely"
                    collected.append(
                        Kept(
                            *(attr, owner.file, method, store, site, owner, values, hops or ()),
                            initial=initial,
                            sure=released == "never",
                        )
                    )
        collected += self._fields(value, {kept.attr for kept in collected})
        collected += self._spread(value, {kept.attr for kept in collected})
        for owner in self.world.hierarchy.line(value.of):
            if isinstance(owner, Class):
                collected += self._outside(value, owner, {kept.attr for kept in collected})
        self._kept[value] = collected
        return collected

    def keeps(self, value: Instance) -> Iterator[Keeping]:
        """All attributes that a dataset keeps, and those of the project's objects inside it.

        Datasets inside it are not entered: they are queried on their own.
        """
        seen = {value}
        todo: deque[tuple[str, Instance, bool, bool, Kept | None]] = deque([("", value, True, False, None)])
        while todo:
            way, holder, initial, dropped, through = todo.popleft()
            assert isinstance(holder.of, Class)
            left_out, made, prepared = self.dropped(holder), self.construction.of(holder), self.prepared_by(holder.of)
            for kept in self.kept(holder):
                place = (kept.file.path, kept.scope)
                known = kept.generated or kept.at_once or place in made
                early = initial and (place in prepared or (kept.initial and known))
                one = Keeping(f"{way}{kept.attr}", holder, kept, early, dropped or kept.attr in left_out, through)
                yield one
                for inner, part in dict.fromkeys(part for held in kept.values for part in inside(self.world, held)):
                    if (
                        isinstance(part, Instance)
                        and isinstance(part.of, Class)
                        and (part.call >= 0 or not way)
                        and part not in seen
                        and not self.derives(part.of)
                        and one.path.count(".") < limits.PIECE_DEPTH.most
                    ):
                        seen.add(part)
                        holders = (part,) if part.call >= 0 else possible_receivers(self.world, part)
                        path = f"{one.path}{inner}."
                        todo.extend((path, each, early, one.dropped, through or kept) for each in holders)

    def _runs_again(self, cls: Class, file: SourceFile, method: int) -> bool:
        """Whether a method that `__init__` runs through other methods is also called from code that construction
        does not run."""
        if file.scopes[method].name == "__init__":
            return False
        made = self.construction.of_class(cls)
        return (file.path, method) in made and any(
            caller.call >= 0 and (caller.file.path, caller.file.calls[caller.call].scope) not in made
            for caller in self.world.calls.callers(Function(file, method))
        )

    def _method_of(self, owner: Class, scope: int) -> int:
        while owner.file.scopes[scope].parent != owner.scope:
            scope = owner.file.scopes[scope].parent
        return scope

    def _overridden(self, cls: Class, owner: Class) -> bool:
        """Whether `owner.__init__` does not run for the class, because a subclass's `__init__` does not call it."""
        init = self.world.hierarchy.method(cls, "__init__")
        own = self.world.hierarchy.own_methods(owner).get("__init__")
        if init is None or own is None:
            return False
        return (owner.file.path, own) not in self.construction.of_class(cls)

    def _fields(self, value: Instance, known: set[str]) -> Iterator[Kept]:
        """The fields that a generated constructor sets, as that of a dataclass, and that no method sets too."""
        for owner, store, site in fields.stores(self.world, value):
            assert isinstance(store.key, str)
            if store.key not in known:
                # What is assigned to the field later is kept at that assignment.
                given = union(fields.given(self.world, value, store.key))
                values = given or fields.default(self.world, value, store.key)
                yield Kept(store.key, owner.file, store.scope, store, site, owner, values, generated=True)

    def _spread(self, value: Instance, known: set[str]) -> Iterator[Kept]:
        """The attributes that the constructor sets under names that the call decides, and no statement sets by name:
        `self.__dict__.update(options)`, `setattr(self, name, option)` in a loop."""
        assert isinstance(value.of, Class)
        stores = self.world.stores
        for owner in self.world.hierarchy.line(value.of):
            for spread in stores.own_spreads(owner) if isinstance(owner, Class) else ():
                assert isinstance(owner, Class)
                method = self._method_of(owner, spread.scope)
                if owner.file.scopes[method].name != "__init__" or self._overridden(value.of, owner):
                    continue
                site = stores.store_site(value, owner, spread)
                for name in stores.names_spread(spread, site) - known:
                    found = stores.spread(spread, name, site)
                    store = Store(spread.scope, spread.event, spread.base, name, spread.value)
                    if found.values and not found.absent:
                        yield Kept(name, owner.file, method, store, site, owner, found.values)

    def _outside(self, value: Instance, owner: Class, known: set[str]) -> list[Kept]:
        """The assignments `ds.attr = …` outside of the class to an object of it."""
        found: list[Kept] = []
        for one in self.assigned.of_class(owner):
            if _another(one.base, value):
                continue
            # For an object that is no dataset, only what its single constructing call passes to the function counts.
            if not self.is_dataset(owner) and (value.frame is None or value.frame.actuals is None):
                continue
            site = one.site_for(value)
            if self.world.stores.skipped(site) or self._runs_in_workers(one.file, one.store.scope):
                continue
            values = self.world.values.evaluate(one.store.value, site)
            found.append(Kept(one.attr, one.file, one.store.scope, one.store, site, None, values, at_once=one.at_once))
        return found

    def _runs_in_workers(self, file: SourceFile, scope: int) -> bool:
        """Whether a function is a method of a dataset that reads an item."""
        owner = file.method_of(scope)
        if owner is None or file.scopes[scope].name not in _IN_WORKERS:
            return False
        return self.derives(Class(file, owner)) or self.wraps(Class(file, owner))

    def filling(self, value: Display | Mapping) -> Iterator[Change]:
        """The changes of a container that happen before workers start.

        For the container of an attribute: those in functions that `__init__` runs, in a method that the project calls
        on the new object, or in the function that makes the container.
        """
        site, owner = value.written.site, value.owner
        for change in self.world.mappings.history(value):
            file = change.file
            made_here = file is site.file and change.scope == site.scope
            if owner is not None and not made_here and site.file.scopes[owner[0]].kind == "class":
                cls = Class(site.file, owner[0])
                below = file is not site.file and file.scopes[change.scope].name == "__init__"
                place = (file.path, change.scope)
                early = below or self.construction.fills(cls, place) or place in self._preparation.reached(cls)
                if not early:
                    continue
            yield change

    def prepared_by(self, cls: Class) -> frozenset[tuple[str, int]]:
        """The methods of a class that fill attributes and that the project calls where it constructs an object: `rows =
        Rows(); rows.populate(path)`.

        What they store exists when workers start, unless it is released first.
        """
        return self._preparation.called(cls)

    def prepared(self, value: Instance, place: tuple[str, int]) -> bool:
        """Whether the project calls a method on this object where it constructs the object."""
        return self._preparation.of_object(value, place)

    def pieces(self, value: Instance) -> list[Piece]:
        """All values inside an object, each once: its attributes, the elements of its lists and dicts, the arguments
        of composed transforms, and the attributes of the project's objects among them."""
        return self._pieces.of(value)

    def is_open(self, value: Instance) -> bool:
        """Whether an object is the `self` of a method, and may be of any subclass."""
        return value.call < 0 and isinstance(value.of, Class) and bool(self.world.hierarchy.subclasses(value.of))

    # Pickling

    def dropped(self, value: Instance) -> frozenset[str]:
        """The attributes that `__getstate__` or `__reduce__` omits."""
        cls = value.of
        assert isinstance(cls, Class)
        for name in ("__getstate__", "__reduce__", "__reduce_ex__"):
            method = self.world.hierarchy.method(cls, name)
            if method is not None:
                attrs = frozenset(kept.attr for kept in self.kept(value))
                return left_out(self.world, method, attrs)
        return frozenset()


def _another(one: Instance, other: Instance) -> bool:
    """Whether two objects are provably distinct: two calls construct them, or one call does in two activations of
    its function."""
    if one.file is None or other.file is None:
        return False
    if (one.file, one.call) != (other.file, other.call):
        return True
    return one.frame is not other.frame and all(
        frame is not None and frame.parent is None for frame in (one.frame, other.frame)
    )
