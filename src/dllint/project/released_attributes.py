"""Attributes that `__init__` sets and releases again: `del self.rows`, `self.rows = None`, or replaces by an array of
what they hold: `self.rows = np.array(self.rows)`, or by something that has nothing of what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dllint.facts.nodes import Attribute, CallRef, Constant, Name
from dllint.facts.schema import Event, Expr
from dllint.inference.values import Class, External, Frame, Site
from dllint.libraries.index import MAKERS, NEW_STORAGE, canonical
from dllint.linking.assignments import Store
from dllint.linking.conditions import Atom, atoms
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop

if TYPE_CHECKING:
    from dllint.inference.engine import World

Release = Literal["surely", "perhaps", "never"]
_UNCONDITIONAL = frozenset({"with", "try", "tryelse", "finally"})
_Moment = tuple[tuple[int, int, bool], ...]


@dataclass(frozen=True)
class _Place:
    """A statement that runs while an object is constructed, with the calls that lead to it from `__init__`."""

    file: SourceFile
    scope: int
    event: Event
    hops: tuple[Hop, ...]

    @property
    def moment(self) -> _Moment:
        """A sort key for the execution time: the end positions of the calls and of the statement, each within its
        own function."""
        calls = ((hop.span.end_line, hop.span.end_column, False) for hop in self.hops)
        return (*calls, (self.event.span.end_line, self.event.span.end_column, True))

    def regions(self) -> Iterator[tuple[SourceFile, int, int]]:
        """The file, scope and region of the statement and of each call that leads to it."""
        yield self.file, self.scope, self.event.region
        for hop in self.hops:
            index = hop.file.call_at(hop.span)
            if index is not None:
                yield hop.file, hop.file.calls[index].scope, hop.file.calls[index].region


class Releases:
    """Finds the released attributes of classes.

    `init_code` returns the functions that run while an object of a class is constructed, each with the calls that lead
    to it.
    """

    def __init__(self, world: World, init_code: Callable[[Class], Mapping[tuple[str, int], tuple[Hop, ...]]]) -> None:
        self.world = world
        self.init_code = init_code
        self._found: dict[tuple[str, int], dict[str, list[_Place]]] = {}

    def of(self, cls: Class, owner: Class, store: Store, frame: Frame | None = None) -> Release:
        """Whether objects of `cls` later release what `store` sets in a method of `owner`.

        The release may be in the same function or in one that `__init__` runs later. "perhaps" if it depends on a
        condition that may be false. `frame` is the activation of `__init__` if known.
        """
        file = owner.file
        kept = _Place(file, store.scope, store.event, self.init_code(cls).get((file.path, store.scope), ()))
        made = (file.path, store.scope) in self.init_code(cls)
        places = self._places(cls).get(str(store.key), []) if made else []
        if not made:
            places = [_Place(file, store.scope, event, ()) for event in _releases(self.world, file, store.scope, store)]
        later = [place for place in places if kept.moment < place.moment]
        found = {self._by(kept, place, frame) for place in later if _lets_go(self.world, place.file, place.event)}
        if "surely" in found:
            return "surely"
        # Where the attribute may get something else instead, it may as well keep what it has.
        replaced = any(
            self._by(kept, place, frame) == "surely"
            for place in later
            if _replaces(place.file, place.scope, place.event) and not _beside(kept, place)
        )
        return "surely" if replaced else "perhaps" if "perhaps" in found else "never"

    def _places(self, cls: Class) -> dict[str, list[_Place]]:
        """The statements that release attributes while an object of the class is constructed."""
        found = self._found.get(cls.key)
        if found is None:
            found = self._found[cls.key] = {}
            line = {one for one in self.world.hierarchy.line(cls) if isinstance(one, Class)}
            for (path, scope), hops in self.init_code(cls).items():
                file = self.world.files[path]
                method = file.method_of(scope)
                if method is None or Class(file, method) not in line or not file.scopes[scope].params:
                    continue
                receiver = Name(file.scopes[scope].params[0].name)
                for event in file.scopes[scope].storing():
                    target = event.target
                    if not isinstance(target, Attribute) or target.value != receiver:
                        continue
                    if _lets_go(self.world, file, event) or _replaces(file, scope, event):
                        found.setdefault(target.attr, []).append(_Place(file, scope, event, hops))
        return found

    def _by(self, kept: _Place, release: _Place, frame: Frame | None) -> Release:
        """Whether a statement that releases an attribute runs whenever the one that sets it does."""
        around = [(file, region) for file, _, region in kept.regions()]
        before = {
            _named(atom, file)
            for file, scope, region in kept.regions()
            for atom in self.world.symbols.atoms(file, scope, region)
        }
        made = list(_made_true(kept))
        held = {*(atom for atom in before if atom.text not in {one.text for one in made}), *made}
        sure = True
        for file, scope, region in release.regions():
            for index in file.regions(region):
                entry = file.facts.regions[index]
                if entry.kind in _UNCONDITIONAL or any(
                    other is file and file.encloses(index, inside) for other, inside in around
                ):
                    continue
                if entry.kind != "if" or entry.expr is None:
                    sure = False
                    continue
                asked = [_named(atom, file) for atom in atoms(entry.expr, entry.holds, file, scope)]
                if all(_holds(atom, held) for atom in asked):
                    continue
                if any(_holds(atom._replace(holds=not atom.holds), set(made)) for atom in asked):
                    return "never"
                activation = frame if file.scopes[scope].name == "__init__" else None
                where = Site(file, scope, entry.parent, entry.span.start, activation)
                decided = self.world.values.truth(self.world.values.evaluate(entry.expr, where))
                if decided is not None and decided is not entry.holds:
                    return "never"
                sure = sure and decided is entry.holds
        return "surely" if sure else "perhaps"


def is_array_of(world: World, file: SourceFile, call: int, expr: Expr) -> bool:
    """Whether a call builds an array of values, and not of objects, from what an expression gives."""
    written = file.calls[call]
    if not written.args or written.args[0].value != expr:
        return False
    called = world.values.evaluate(written.func, world.call_site(file, call, None))
    names = [canonical(one.name) for one in called if isinstance(one, External)]
    if not any(((maker := MAKERS.get(name)) and maker.shape == "same") or name in NEW_STORAGE for name in names):
        return False
    kinds = (one.value for one in written.args if one.keyword == "dtype")
    return not any(last_name(kind) in ("object", "object_") or kind == Constant("O") for kind in kinds)


def _lets_go(world: World, file: SourceFile, event: Event) -> bool:
    if event.kind == "delete":
        return True
    if event.kind != "assign" or event.detail is not None or event.target is None:
        return False
    if isinstance(event.value, CallRef):
        return is_array_of(world, file, event.value.index, event.target)
    return isinstance(event.value, Constant)


def _replaces(file: SourceFile, scope: int, event: Event) -> bool:
    """Whether an assignment stores what a call makes of other things than the attribute's own value."""
    if event.kind != "assign" or event.detail is not None or not isinstance(event.target, Attribute):
        return False
    if not isinstance(event.value, CallRef):
        return False
    target, receiver = event.target, event.target.value

    def has_own(expr: Expr) -> bool:
        for part in walk(expr, file):
            if part == target:
                return True
            if isinstance(part, CallRef):
                call = file.calls[part.index]
                # A method may return what the attribute has, and so may a function that gets the object.
                method = isinstance(call.func, Attribute) and call.func.value == receiver
                if method or call.func == Name("super") or any(one.value == receiver for one in call.args):
                    return True
        return False

    names = {part.id for part in walk(event.value, file) if isinstance(part, Name)}
    bound = [one for name in names for one in file.bindings(scope).get(name, ())]
    return not has_own(event.value) and not any(one.expr is not None and has_own(one.expr) for one in bound)


def _beside(kept: _Place, other: _Place) -> bool:
    """Whether a loop goes around both statements, in the same function: the later one may be an earlier one then. Or
    whether the later one alone is tried, and may fail."""
    here = (kept.file, kept.scope) == (other.file, other.scope)
    for region in other.file.regions(other.event.region):
        kind, both = other.file.facts.regions[region].kind, here and kept.file.encloses(region, kept.event.region)
        if (kind in ("for", "while") and both) or (kind == "try" and not both):
            return True
    return False


def _releases(world: World, file: SourceFile, scope: int, store: Store) -> Iterator[Event]:
    """The statements of a function that release what the function itself sets."""
    for event in file.scopes[scope].storing():
        if (
            isinstance(store.key, str)
            and event.target == Attribute(store.base, store.key)
            and (_lets_go(world, file, event) or _replaces(file, scope, event))
        ):
            yield event


def _made_true(kept: _Place) -> Iterator[Atom]:
    """The conditions that hold once a statement has set an attribute to an object: that it is set, and what the
    statements beside it say by constants, as in `self.opened = True`."""
    for event in kept.file.scopes[kept.scope].storing():
        target = event.target
        if event.kind != "assign" or event.region != kept.event.region or not isinstance(target, Attribute):
            continue
        where = (kept.file.path, kept.scope)
        text = f"self.{target.attr}"
        if event is kept.event:
            yield from (Atom(text, "", True, where), Atom(text, "None", False, where))
            yield Atom(f"hasattr(self, {target.attr!r})", "", True, where)
        elif isinstance(event.value, Constant) and event.detail is None:
            yield Atom(text, "", bool(event.value.value), where)
            yield Atom(text, "None", event.value.value is None, where)


def _named(atom: Atom, file: SourceFile) -> Atom:
    """A condition with `self.` before the attribute that it reads, which tells it from variables of other functions."""
    scope = atom.scope[1]
    if not atom.text.isidentifier() or scope <= 0 or atom.text in file.bindings(scope):
        return atom
    return atom._replace(text=f"self.{atom.text}")


def _holds(atom: Atom, held: set[Atom]) -> bool:
    """Whether a condition is among those in force. One of another function matches only if it reads an attribute or
    an item."""
    plain = "." in atom.text or "[" in atom.text or atom.text.startswith("hasattr(self, ")
    return any(one == atom or (plain and one._replace(scope=atom.scope) == atom) for one in held)
