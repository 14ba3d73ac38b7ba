"""All values inside an object, at any depth."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from itertools import chain

from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import Class, External, Function, Instance, Partial, Value
from dllint.libraries.contents import bound_by, contents
from dllint.libraries.index import WRAPPED_AS, canonical
from dllint.project.kept_values import Kept, Piece


class Pieces:
    """Finds the values inside objects.

    Args:
        kept: gives the attributes that an object keeps.
        dropped: gives the names of those that pickling omits.
    """

    def __init__(
        self, world: Engine, kept: Callable[[Instance], list[Kept]], dropped: Callable[[Instance], frozenset[str]]
    ) -> None:
        self.world = world
        self._kept = kept
        self._dropped = dropped
        self._found: dict[Instance, list[Piece]] = {}
        self._own: dict[Instance, list[tuple[Kept, tuple[Value, ...]]]] = {}

    def of(self, value: Instance) -> list[Piece]:
        """All values inside an object, each once: its attributes, the elements of its lists and dicts, the arguments
        of composed transforms, and the attributes of the project's objects among them."""
        found = self._found.get(value)
        if found is None:
            found = self._found[value] = []
            # Many objects hold the same ones: what waits already is not made, and does not wait, again.
            seen: set[tuple[Value, bool]] = {(value, False), (value, True)}
            todo: deque[Piece] = deque()
            inside: Iterator[Piece] = chain(
                self._held(value, None, seen), self._handed_outside(value, Piece("", value, None))
            )
            while True:
                for part in inside:
                    key = (part.value, bool(part.given))
                    if key not in seen:
                        seen.add(key)
                        todo.append(part)
                if not todo or limits.DATASET_PIECES.reached(len(found) + 2):
                    break
                found.append(todo.popleft())
                inside = self._parts(found[-1], seen)
        return found

    def _held(self, value: Instance, around: Piece | None, seen: Set[tuple[Value, bool]]) -> Iterator[Piece]:
        """The values that an object (which may be a piece of another one, `around`) keeps and pickles, one level
        deep, without those seen before."""
        found = self._own.get(value)
        if found is None:
            dropped = self._dropped(value)
            found = self._own[value] = [
                (kept, tuple(dict.fromkeys(part for one in kept.values for part in self.world.mappings.flattened(one))))
                for kept in self._kept(value)
                if kept.attr not in dropped and kept.store.key == kept.attr
            ]
        given = "" if around is None else around.given
        # What a constructor from outside was given has no attribute that is known, so its class names it.
        name = value.of.name if isinstance(value.of, Class) else ""
        way = "" if around is None else f"{around.path or name}."
        for kept, parts in found:
            initial = kept.initial and (around is None or around.initial)
            for part in parts:
                if (part, bool(given)) not in seen:
                    yield Piece(f"{way}{kept.attr}", part, kept, given, initial)

    def _parts(self, piece: Piece, seen: Set[tuple[Value, bool]]) -> Iterator[Piece]:
        one = piece.value
        if isinstance(one, Partial):
            for inner in (one.function, *bound_by(self.world, one)):
                yield piece._replace(value=inner)
        elif isinstance(one, Function) and isinstance(one.receiver, Instance):
            # A bound method is pickled with its object.
            yield piece._replace(path=f"{piece.path}.__self__", value=one.receiver)
        elif isinstance(one, Instance) and isinstance(one.of, External):
            yield from self._handed_outside(one, piece)
        elif isinstance(one, Instance) and one.call >= 0 and piece.path.count(".") < limits.PIECE_DEPTH.most:
            yield from self._held(one, piece, seen)
            yield from self._handed_outside(one, piece)
        elif isinstance(one, Instance) and one.call < 0 and "." not in piece.path:
            for holder in possible_receivers(self.world, one):
                yield from (inner for inner in self._held(holder, piece, seen) if inner.initial)

    def _handed_outside(self, value: Instance, around: Piece) -> Iterator[Piece]:
        """The values that an object, which is a piece of another one, passes to an external constructor."""
        inner = contents(self.world, value)
        outside = self.world.hierarchy.externals(value.of) if isinstance(value.of, Class) else []
        path = around.path or next((WRAPPED_AS[name] for one in outside if (name := canonical(one)) in WRAPPED_AS), "")
        for one in inner.values:
            yield around._replace(path=path, value=one, given=around.given or inner.given)


def possible_receivers(world: Engine, value: Instance) -> list[Instance]:
    """The objects that `self` can be in a method that makes a dataset by `Rows(self)`: of its class, or of the last
    subclasses."""
    assert isinstance(value.of, Class)
    below = world.hierarchy.subclasses(value.of)
    last = [one for one in below if not world.hierarchy.subclasses(one)]
    return [replace(value, of=one) for one in limits.OVERRIDES.first(last)] or [value]
