"""What a loader gives its workers: the datasets that it reads, its callables, and all values inside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dllint.inference import limits
from dllint.inference.engine import World
from dllint.inference.values import Class, External, Frame, Function, Instance, Partial, Site, Unknown, Value, Values
from dllint.libraries.contents import bound_by, contents, held_by
from dllint.libraries.index import PICKLE_BY_VALUE, REFUSALS, canonical
from dllint.linking.ends import never_returns
from dllint.project.dataset_and_workers import goes_with_workers, of_test
from dllint.project.datasets import Datasets
from dllint.project.kept_values import Piece
from dllint.project.loaders import Loader
from dllint.project.programs import Programs


class LoaderContents:
    """Queries about the contents of loaders, each computed once."""

    def __init__(self, world: World, datasets: Datasets, programs: Programs) -> None:
        self.world = world
        self.datasets = datasets
        self.programs = programs
        self._objects: dict[tuple[str, int], list[Instance]] = {}
        self._pieces: dict[tuple[str, int], list[tuple[str, Piece]]] = {}
        self._callables: dict[tuple[str, int, str], Values] = {}

    def dataset_objects(self, loader: Loader) -> list[Instance]:
        """The project's own dataset objects that a loader reads from, also those inside wrappers.

        Objects that only arise in programs without the loader are excluded: a function that both programs call would
        otherwise merge them.
        """
        key = (loader.file.path, loader.call)
        found = self._objects.get(key)
        if found is None:
            found = self._objects[key] = self.datasets.expand(
                self.served(loader), lambda value: self._can_be_read(loader, value)
            )
        return found

    def _can_be_read(self, loader: Loader, value: Instance) -> bool:
        """Whether a program with a loader can make an object."""
        assert isinstance(value.of, Class)
        if self._always_raises(value.of):
            return False
        if not loader.assumed and self.world.import_graph.leaves_out(loader.file.path, value.of.file.path):
            return False
        return self.world.import_graph.together((loader.file.path,), self.programs.behind(value))

    def _always_raises(self, cls: Class) -> bool:
        """Whether the constructor of a class never completes, so that there is no object of it: "not released yet"."""
        init = self.world.hierarchy.method(cls, "__init__")
        scope = init.file.scopes[init.scope] if init is not None else None
        return scope is not None and never_returns(scope) and bool(scope.events_of("raise"))

    def served(self, loader: Loader) -> Values:
        """The loader's dataset values, without those that only arrive on call paths with zero workers or with
        another dataset."""
        values = self._with_workers(loader, loader.datasets)
        return self.datasets.possible(tuple(value for value in values if self._may_serve(loader, value)))

    def _with_workers(self, loader: Loader, given: Callable[[Frame | None], Values]) -> Values:
        """The values passed to a loader, without those from callers of the enclosing function that set the number of
        workers to 0."""
        call = loader.file.calls[loader.call]
        if loader.file.scopes[call.scope].kind != "function":
            return given(None)
        function = Function(loader.file, call.scope)
        callers = self.world.calls.callers(function)
        frames = [self.world.told_apart(one.file, one.call, function, one.frame) for one in callers]
        served = [frame for frame in frames if loader.workers(frame).kind != "none"]
        if len(served) == len(frames):
            return given(None)
        values = [value for frame in served for value in given(frame)]
        if self.world.calls.only_tested(function):
            values += (value for value in given(None) if not of_test(self.world, value))
        return tuple(dict.fromkeys(values))

    def _may_serve(self, loader: Loader, value: Value) -> bool:
        if not isinstance(value, Instance) or value.file is None:
            return True
        return goes_with_workers(self.world, loader, value) is not False

    def dataset_pieces(self, loader: Loader) -> list[tuple[str, Piece]]:
        """All values inside the loader's datasets, each with the name of the dataset's class."""
        key = (loader.file.path, loader.call)
        found = self._pieces.get(key)
        if found is None:
            found = self._pieces[key] = list(self._find_pieces(loader))
        return found

    def _find_pieces(self, loader: Loader) -> Iterator[tuple[str, Piece]]:
        for value in self.dataset_objects(loader):
            if isinstance(value.of, Class):
                for piece in self.datasets.pieces(value):
                    yield value.of.name, piece
        for given in self.served(loader):
            for one in self.external(given, 0, set()):
                name = one.of.name.partition("()")[0].rsplit(".", 1)[-1] if isinstance(one.of, External) else ""
                if isinstance(one.of, External) and canonical(one.of.name) in REFUSALS:
                    yield name, Piece("", one, None)
                inside = contents(self.world, one)
                seen: set[tuple[Value, str]] = set()
                for held in inside.values:
                    yield from self._pieces_of(held, name, inside.given, 0, seen)
                for held in self.datasets.assigned.of_object(one):
                    yield from self._pieces_of(held, name, "", 0, seen)

    def external(self, value: Value, depth: int, seen: set[Value]) -> Iterator[Instance]:
        """The objects of external classes that a value is or contains, each once, by the first path that reaches it:
        chained methods reach the same object in many ways."""
        if limits.EXTERNAL_DEPTH.exceeded(depth):
            return
        for one in self.world.mappings.flattened(value):
            if isinstance(one, Instance) and isinstance(one.of, External) and one not in seen:
                seen.add(one)
                yield one
                for inner in held_by(self.world, one):
                    if (
                        isinstance(inner, Instance)
                        and isinstance(inner.of, External)
                        and "dataset" in inner.of.name.lower()
                    ):
                        yield from self.external(inner, depth + 1, seen)

    def _pieces_of(
        self, value: Value, name: str, given: str, depth: int, seen: set[tuple[Value, str]]
    ) -> Iterator[tuple[str, Piece]]:
        if limits.EXTERNAL_DEPTH.exceeded(depth):
            return
        for one in self.world.mappings.flattened(value):
            if (one, given) in seen:
                continue
            seen.add((one, given))
            yield name, Piece("", one, None, given)
            if isinstance(one, Instance) and isinstance(one.of, External):
                inside = contents(self.world, one)
                for inner in inside.values:
                    yield from self._pieces_of(inner, name, given or inside.given, depth + 1, seen)
            elif isinstance(one, Instance) and isinstance(one.of, Class) and not self.datasets.is_dataset(one.of):
                for piece in self.datasets.pieces(one):
                    yield name, piece._replace(given=given) if given in PICKLE_BY_VALUE else piece

    def shipped_objects(self, loader: Loader) -> list[Instance]:
        """The project's objects that are sent to workers: the datasets, and the objects used as `collate_fn` or
        `worker_init_fn` or whose methods are."""
        found = dict.fromkeys(self.dataset_objects(loader))
        for _, value, _ in self._called_by_workers(loader):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                found[value] = None
        return list(found)

    def callable_pieces(self, loader: Loader) -> Iterator[tuple[str, Piece]]:
        """The values inside the objects used as a loader's `collate_fn` or `worker_init_fn`, or whose bound methods
        are, each with the name of the object's class; those bound by a partial with the name of the argument."""
        for argument, value, bound in self._called_by_workers(loader):
            if bound:
                yield argument, Piece("", value, None)
            if isinstance(value, Instance) and isinstance(value.of, Class):
                # A task or a module that passes its own method also keeps what methods of other classes put into it.
                own = self.world.hierarchy.method(value.of, "__call__") is None
                for piece in self.datasets.pieces(value):
                    if not own or "." not in piece.path:
                        yield value.of.name, piece

    def _called_by_workers(self, loader: Loader) -> Iterator[tuple[str, Value, bool]]:
        """The callables of a loader, each with its argument: "collate_fn". Instead of a bound method its object; with a
        partial the values that it binds, which are marked by True."""
        for argument in ("collate_fn", "worker_init_fn"):
            todo: list[tuple[Value, int, bool]] = [(value, 0, False) for value in self.callables(loader, argument)]
            while todo:
                value, depth, bound = todo.pop()
                given = value
                if isinstance(value, Function) and value.receiver is not None:
                    value = value.receiver
                if bound and given is not value:
                    yield argument, given, True
                yield argument, value, bound and given is value
                if isinstance(value, Partial) and not limits.COUNTING_DEPTH.reached(depth + 1):
                    todo.append((value.function, depth + 1, False))
                    todo += ((one, depth + 1, True) for one in bound_by(self.world, value))

    def shipped_pieces(self, loader: Loader) -> list[tuple[str, Piece]]:
        """All values that objects keep which are sent to workers: inside the datasets, and inside the objects used as
        `collate_fn` or `worker_init_fn`, or whose bound methods are."""
        callables = ((name, piece) for name, piece in self.callable_pieces(loader) if piece.path)
        return [*self.dataset_pieces(loader), *callables]

    def callables(self, loader: Loader, argument: str) -> Values:
        """The values that a loader's `collate_fn` or `worker_init_fn` can have, passed to the constructor or
        assigned afterwards."""
        key = (loader.file.path, loader.call, argument)
        values = self._callables.get(key)
        if values is None:
            values = self._callables[key] = self._find_callables(loader, argument)
        return values

    def _find_callables(self, loader: Loader, argument: str) -> Values:
        known = self._with_workers(loader, lambda frame: loader.argument(argument, frame).values)
        # If no known call asks for workers, an unknown one must.
        found = dict.fromkeys(known or loader.argument(argument).values)
        for file, store in self.world.stores.outside_stores(argument):
            site = Site(file, store.scope, store.event.region, store.event.span.start, None)
            if any(self._is_made_by(base, loader) for base in self.world.values.evaluate(store.base, site)):
                found.update(dict.fromkeys(self.world.values.evaluate(store.value, site)))
        found.update(dict.fromkeys(self._set_by_own_class(loader, argument)))
        return tuple(found)

    def _set_by_own_class(self, loader: Loader, argument: str) -> Iterator[Value]:
        """What the project's own loader class assigns to an attribute after torch's constructor: `self.collate_fn =
        self.join`. What the class itself has under that name is hidden by an attribute that torch's constructor sets.
        """
        if loader.cls is None:
            return
        hidden = {_key(one) for one in self.world.values.attribute(loader.cls, argument)}
        for value in self.world.values.attribute(Instance(loader.cls, loader.file, loader.call), argument):
            if _key(value) not in hidden and not isinstance(value, (External, Unknown)):
                yield value

    @staticmethod
    def _is_made_by(value: Value, loader: Loader) -> bool:
        return isinstance(value, Instance) and value.file is loader.file and value.call == loader.call


def _key(value: Value) -> object:
    """A function without the object that it is bound to; another value itself."""
    return value.key if isinstance(value, Function) else value
