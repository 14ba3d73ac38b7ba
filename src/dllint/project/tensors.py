"""Tensors: how many separate ones a dataset keeps, and whether a value shares its storage with another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    Comprehension,
    Constant,
    Dict,
    List,
    Name,
    Set,
    Starred,
    Tuple,
)
from dllint.inference import limits
from dllint.inference.iteration import mapped
from dllint.inference.values import Class, Const, Display, External, Instance, Mapping, Site, Unknown, Value, Values
from dllint.libraries.contents import contents, keeps_as_it_is
from dllint.libraries.facets import HOLDS
from dllint.libraries.index import METHODS, NETWORKS, NEW_STORAGE, canonical
from dllint.linking.assignments import Store
from dllint.linking.source import SourceFile
from dllint.project.counting import applications, items
from dllint.project.datasets import Datasets
from dllint.project.kept_values import Kept
from dllint.project.tensor_expressions import gives_tensors
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.facts.schema import Argument, Expr
    from dllint.inference.engine import World


_ARRAYS = frozenset({"numpy.array", "numpy.empty", "numpy.full"})


def _makes_objects(argument: Argument) -> bool:
    """Whether an argument makes the array an object array: `[None] * size`, `dtype=object`."""
    written = argument.value
    if argument.keyword == "dtype":
        return written in (Name("object"), Attribute(Name("np"), "object_"), Constant("object"), Constant("O"))
    return isinstance(written, BinOp) and written.left == List((Constant(None),))


@dataclass(frozen=True)
class Collected:
    """Tensors with one storage each in a collection.

    `count` is None if unknown. `put` are the statements that fill the collection with them. `network` is the attribute
    path of a network, "a.model", if the value is one.
    """

    count: int | None
    put: tuple[tuple[SourceFile, Span], ...] = ()
    network: str = ""


@dataclass(frozen=True)
class ManyTensors(Collected):
    """An attribute that holds tensors with one storage each."""

    kept: Kept = field(kw_only=True)


class Tensors:
    """Queries about tensors, for one project."""

    def __init__(self, world: World, datasets: Datasets) -> None:
        self.world = world
        self.datasets = datasets
        self._many: dict[Instance, list[ManyTensors]] = {}
        self._counts: dict[tuple[Value, int], int | None] = {}

    def many(self, value: Instance) -> list[ManyTensors]:
        """The attributes of a dataset that are lists or dicts of tensors, except those that its pickle omits."""
        found = self._many.get(value)
        if found is None:
            found = self._many[value] = []
            assert isinstance(value.of, Class)
            early = {*self.datasets.construction.of(value), *self.datasets.prepared_by(value.of)}
            dropped: frozenset[str] | None = None
            seen: set[tuple[Class | None, str]] = set()
            for kept in self.datasets.kept(value):
                if not kept.initial or (kept.file.path, kept.scope) not in early or (kept.owner, kept.attr) in seen:
                    continue
                # A constant among the values only results from merging two callers.
                values = [one for one in kept.values if not isinstance(one, Const)]
                counts = [self._in_collection(one) for one in values]
                if not counts or 0 in counts:
                    continue
                if dropped is None:
                    dropped = self.datasets.dropped(value)
                if kept.attr not in dropped:
                    seen.add((kept.owner, kept.attr))
                    known = [count for count in counts if count is not None]
                    put = tuple(dict.fromkeys(place for one in values for place in self._filled_at(one)))
                    found.append(ManyTensors(max(known) if len(known) == len(counts) else None, put, kept=kept))
            attrs = {one.kept.attr for one in found}
            found += [ManyTensors(None, kept=kept) for kept in self._records(value) if kept.attr not in attrs]
        return found

    def given(self, value: Value) -> Collected | None:
        """The tensors in a list or dict that is a dataset itself; None for any other value."""
        count = self._in_collection(value) if isinstance(value, (Display, Mapping)) else 0
        return None if count == 0 else Collected(count, tuple(dict.fromkeys(self._filled_at(value))))

    def networks(self, value: Instance) -> Iterator[ManyTensors]:
        """The networks with weights that an object, or an object inside it, keeps on the CPU and pickles."""
        seen: set[Kept] = set()
        for piece in self.datasets.pieces(value):
            one, kept = piece.value, piece.kept
            if not isinstance(one, Instance) or not isinstance(one.of, External) or kept is None or piece.given:
                continue
            if piece.initial and kept.sure and NETWORKS.fullmatch(canonical(one.of.name)) and kept not in seen:
                seen.add(kept)
                yield ManyTensors(None, network=piece.path, kept=kept)

    def _records(self, value: Instance) -> list[Kept]:
        """The attributes whose records each receive a tensor during construction: `row["x"] = tensor` in `for row in
        self.rows`."""
        assert isinstance(value.of, Class)
        init_code = self.datasets.construction.of(value)
        attrs: set[str] = set()
        for path, scope in init_code:
            file = self.world.files[path]
            params = file.scopes[scope].params
            if file.method_of(scope) is None or not params:
                continue
            loops = {
                event.target.id: event.value
                for event in file.scopes[scope].events
                if event.kind == "for" and isinstance(event.target, Name) and event.value
            }
            for store in file.stores(scope) if loops else ():
                rows = loops.get(store.base.id) if isinstance(store.base, Name) else None
                if rows is None or not isinstance(rows, Attribute) or rows.value != Name(params[0].name):
                    continue
                if rows.attr not in attrs and self._gets_tensor(file, scope, store, rows):
                    attrs.add(rows.attr)
        dropped = self.datasets.dropped(value) if attrs else frozenset()
        found: dict[str, Kept] = {}
        for kept in self.datasets.kept(value) if attrs - dropped else ():
            early = kept.attr in attrs - dropped and (kept.file.path, kept.scope) in init_code
            if early and any(not isinstance(one, Const) for one in kept.values):
                found.setdefault(kept.attr, kept)
        return list(found.values())

    def _gets_tensor(self, file: SourceFile, scope: int, store: Store, rows: Expr) -> bool:
        """Whether a store in a loop over `rows` puts a tensor with its own storage into each record."""
        regions = [file.facts.regions[index] for index in file.regions(store.event.region)]
        if store.value is None or not any(one.kind == "for" and one.expr == rows for one in regions):
            return False
        at = store.event.span.line, store.event.span.column
        values = self.world.values.evaluate(store.value, Site(file, scope, store.event.region, at, None))
        put = [one for one in values if not isinstance(one, Const)]
        return bool(put) and all(isinstance(one, Instance) and self.owns_storage(one) for one in put)

    def holds(self, value: Value, depth: int = 0) -> bool:
        """Whether a value provably is, contains or views a tensor. A NumPy array over a tensor's storage is none.

        A container may contain itself, so that only some levels are looked into.
        """
        if isinstance(value, Instance) and isinstance(value.of, External):
            name = canonical(value.of.name)
            while name.endswith(("[:]", "[]")):
                name = name.removesuffix("[:]").removesuffix("[]")
            if "().numpy" in name:
                return False
            return self.owns_storage(replace(value, of=External(name))) or self._in_object(value, 0) != 0
        if isinstance(value, Instance):
            return self._storages(value, 0) != 0
        if not isinstance(value, (Display, Mapping)) or limits.CONTAINER_DEPTH.exceeded(depth):
            return False
        if isinstance(value, Display) and isinstance(value.written.expr, (Tuple, List)):
            parts = [one for one in value.written.expr.elements if not isinstance(one, Starred)]
            values = (self.world.values.evaluate(one, value.written.site) for one in parts)
            return any(bool(each) and all(self.holds(one, depth + 1) for one in each) for each in values)
        if isinstance(value, Display) and isinstance(value.written.expr, Comprehension):
            # One expression computes all elements: if it may also return something else, nothing is certain.
            each = [one for one in self.world.mappings.elements(value) if not isinstance(one, Const)]
            return bool(each) and all(self.holds(one, depth + 1) for one in each)
        inside = self.world.mappings.values_of(value) or self.world.mappings.elements(value)
        return any(self.holds(one, depth + 1) for one in inside)

    def _storages(self, value: Value, depth: int) -> int | None:
        """The number of storages that a value provably holds; None if it holds some and their number is unknown."""
        if isinstance(value, Instance) and self._is_array_of_tensors(value):
            return None
        if isinstance(value, Instance) and self.owns_storage(value):
            return 1
        if not isinstance(value, (Display, Mapping, Instance)) or limits.CONTAINER_DEPTH.exceeded(depth):
            return 0
        if (value, depth) not in self._counts:
            # An object may hold itself.
            self._counts[value, depth] = 0
            self._counts[value, depth] = (
                self._in_object(value, depth) if isinstance(value, Instance) else self._count(value, depth)
            )
        return self._counts[value, depth]

    def _in_object(self, value: Instance, depth: int) -> int | None:
        """The number of storages that the attributes of a record hold: an object of a class of the project, or one that
        keeps the arguments of its constructor (`Data(x=features, y=label)`)."""
        if isinstance(value.of, External):
            inner = contents(self.world, value)
            parts: list[Values] = [] if inner.given else [(one,) for one in inner.values]
            if parts or keeps_as_it_is(value.of.name):
                parts += [(one,) for one in self.datasets.assigned.of_object(value)]
        elif any(not keeps_as_it_is(one) for one in self.world.hierarchy.externals(value.of)):
            # Networks and datasets are no records.
            return 0
        else:
            dropped = self.datasets.dropped(value)
            by_attribute: dict[str, list[Value]] = {}
            for kept in self.datasets.kept(value):
                if kept.attr not in dropped and kept.initial:
                    by_attribute.setdefault(kept.attr, []).extend(kept.values)
            parts = [tuple(values) for values in by_attribute.values()]
            parts += [(one,) for one in contents(self.world, value).values]
        each = [self._of_values(values, depth) for values in parts]
        return None if None in each else sum(one for one in each if one is not None)

    def _is_array_of_tensors(self, value: Instance) -> bool:
        """Whether a value is a NumPy object array into which tensors with storages of their own are put."""
        if not isinstance(value.of, External) or canonical(value.of.name) not in _ARRAYS or value.file is None:
            return False
        call = value.file.calls[value.call] if value.call >= 0 else None
        if call is None or not any(map(_makes_objects, call.args)):
            return False
        return next(self._filled_at(value), None) is not None

    def _in_collection(self, value: Value) -> int | None:
        """The number of storages that a collection holds, None if unknown; 0 for a tensor, which is no collection."""
        if not isinstance(value, Instance):
            return self._storages(value, 0)
        each = [self._storages(one, 1) for one in mapped(self.world, value) if not isinstance(one, Const)]
        if each and 0 not in each:
            # `list(map(read, paths))`
            number = applications(self.datasets, value)
            return None if number is None or None in each else number * max(one for one in each if one is not None)
        return None if self._is_array_of_tensors(value) else 0

    def _filled_at(self, value: Value, depth: int = 0) -> Iterator[tuple[SourceFile, Span]]:
        """The statements that put tensors with storages of their own into an object array, a list or a dict, or into
        one inside it."""
        kinds: tuple[str, ...] = ("add", "set", "default", "extend")
        mappings = self.world.mappings
        if isinstance(value, Instance):
            kinds = ("set",)
            changes = mappings.changes_of(value)
        elif isinstance(value, (Display, Mapping)):
            changes = ((change, mappings.changed_at(change, value)) for change in self.datasets.filling(value))
        else:
            return
        for change, where in islice(changes, limits.CHANGES.most):
            if change.kind not in kinds or change.value is None:
                continue
            values = self.world.values.evaluate(change.value, where)
            inside: list[tuple[SourceFile, Span]] = []
            if not limits.CONTAINER_DEPTH.exceeded(depth):
                containers = (one for one in values if isinstance(one, (Display, Mapping)))
                inside = [place for one in containers for place in self._filled_at(one, depth + 1)]
            yield from inside
            span = None if inside else change.statement()
            adds = any(self._storages(one, 1) != 0 for one in values)
            if span is not None and (adds or (change.kind != "extend" and gives_tensors(change.value, where))):
                yield change.file, span

    def _count(self, value: Display | Mapping, depth: int) -> int | None:
        expr, site = value.written.expr, value.written.site
        parts = (
            expr.elements
            if isinstance(expr, (List, Tuple, Set))
            else [one for _, one in expr.items]
            if isinstance(expr, Dict)
            else []
        )
        written = [one for one in parts if not isinstance(one, Starred)]
        if isinstance(expr, Comprehension) or self._is_filled(value):
            each = [self._of_expression(one, where, depth) for one, where in self._elements(value)]
            if all(one == 0 for one in each):
                return 0
            number = items(self.datasets, value)
            if number is None and any(self._is_no_tensor(one, site, depth) for one in written):
                return 0
            if number is None or any(one is None for one in each):
                return None
            return number * max(one for one in each if one is not None)
        each = [self._of_expression(one, site, depth) for one in written]
        return None if any(one is None for one in each) else sum(one for one in each if one is not None)

    def _is_no_tensor(self, expr: Expr, site: Site, depth: int) -> bool:
        """Whether an element is known, no constant and no tensor. Tensors added beside it are then fields of a
        record rather than items."""
        values = self.world.values.evaluate(expr, site)
        return any(not isinstance(one, (Const, Unknown)) and self._storages(one, depth + 1) == 0 for one in values)

    def _of_expression(self, expr: Expr, site: Site, depth: int) -> int | None:
        """The number of storages that an element provably holds: 0 if it may be something else, None if unknown."""
        if gives_tensors(expr, site):
            return 1
        return self._of_values(self.world.values.evaluate(expr, site), depth)

    def _of_values(self, values: Values, depth: int) -> int | None:
        """The same for the possible values of an element."""
        counts = [self._storages(one, depth + 1) for one in values if not isinstance(one, Const)]
        if 0 in counts or not counts:
            return 0
        return None if None in counts else max(count for count in counts if count is not None)

    def _is_filled(self, value: Display | Mapping) -> bool:
        return next(self.datasets.filling(value), None) is not None

    def _elements(self, value: Display | Mapping) -> list[tuple[Expr, Site]]:
        """The element expressions of a comprehension and of later additions."""
        expr, site = value.written.expr, value.written.site
        found: list[tuple[Expr, Site]] = [(expr.element, site)] if isinstance(expr, Comprehension) else []
        for change in islice(self.datasets.filling(value), limits.CHANGES.most):
            if change.value is None:
                continue
            where = self.world.mappings.changed_at(change, value)
            if change.kind in ("add", "set", "default"):
                found.append((change.value, where))
            elif change.kind == "extend":
                found += self._listed(change.value, where)
        return found

    def _listed(self, expr: Expr, site: Site) -> Iterator[tuple[Expr, Site]]:
        """The element expressions of a list added to another: `rows += [torch.load(path) for path in paths]`."""
        for value in self.world.values.evaluate(expr, site):
            made = value.written.expr if isinstance(value, Display) else None
            if isinstance(value, Display) and isinstance(made, Comprehension):
                yield made.element, value.written.site
            elif isinstance(value, Display) and isinstance(made, (List, Tuple)):
                yield from ((one, value.written.site) for one in made.elements if not isinstance(one, Starred))

    def owns_storage(self, value: Instance) -> bool:
        """Whether a value is a tensor that was created with its own storage, which is not on the GPU: those are sent
        as handles of CUDA, without file descriptors."""
        if not isinstance(value.of, External) or value.call < 0:
            return False
        name = canonical(value.of.name)
        # An array over the storage of a tensor is pickled as bytes.
        if "().cuda" in name or "().numpy" in name or self._given_a_gpu(value):
            return False
        while name not in NEW_STORAGE:
            head, dot, method = name.rpartition("().")
            if not dot:
                # An element of a part of the file may be a text, or a view of one tensor.
                return name.startswith("torch.load[") and name.count("[") == 1
            operation = METHODS.get(method)
            if operation is None:
                return False
            if operation.effect != HOLDS:
                # A number of Python's, a list or an array has no storage of a tensor.
                return method not in ("item", "tolist") and head.startswith("torch")
            name = head
        return True

    def _given_a_gpu(self, value: Instance) -> bool:
        """Whether the call that returns a tensor names a GPU: `torch.zeros(3, device="cuda")`, `x.to("cuda:0")`."""
        assert value.file is not None
        site = self.world.call_site(value.file, value.call, value.frame)
        return any(
            self._is_gpu(one)
            for argument in value.file.calls[value.call].args
            if argument.keyword in (None, "device", "map_location")
            for one in self.world.values.evaluate(argument.value, site)
        )

    def _is_gpu(self, value: Value) -> bool:
        """Whether a value may name a GPU: "cuda:0", or `torch.device("cuda" if available else "cpu")`."""
        if isinstance(value, Instance) and value.of == External("torch.device"):
            first = self.world.made_with(value).positional[:1]
            return any(
                isinstance(one, Const) and self._is_gpu(one) for each in first for one in self.world.values.passed(each)
            )
        return isinstance(value, Const) and str(value.value).partition(":")[0] == "cuda"
