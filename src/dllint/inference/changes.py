"""Mutations of containers, found through every alias of the container."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from dllint.facts.nodes import Attribute, Constant, Name
from dllint.facts.schema import Call, Expr
from dllint.inference import enumerations, limits
from dllint.inference.answers import Table
from dllint.inference.entries import Change
from dllint.inference.flows import INSIDE, ITSELF, Flows, Place, Way, meets
from dllint.inference.interface import Engine
from dllint.inference.omissions import omits
from dllint.inference.same_containers import among, identity, stands_for
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Data,
    Display,
    External,
    Frame,
    Function,
    Instance,
    Keywords,
    Mapping,
    Parsed,
    Site,
    Unknown,
    Value,
    Values,
    Written,
    const,
)
from dllint.inference.written_changes import changes_in, is_other, sets_dict
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile

_ANY = object()
"""Marks a query for any key."""
_MANY = 50
"""Number of candidates above which most of them mutate other containers, so that computing the targets of each mutation
once pays off. With fewer candidates it would cost more than it saves."""
CONTAINERS = (Mapping, Keywords, Parsed, Data, Display)
"""Values whose mutations are tracked."""
_OF_DICTS = frozenset({"set", "default", "merge", "remove", "clear", "opaque"})
_OF_LISTS = frozenset({"set", "add", "extend", "remove", "discard", "clear", "sort", "reverse", "opaque", "merge"})
"""The kinds of mutations of dicts and lists. "merge" is among those of lists because a set has `update`."""


class Changes:
    """Mutations, indexed by file, by place, and by the container that they change."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self.flows = Flows(world)
        self._of_files: dict[str, list[Change]] = {}
        self._of_scopes: dict[tuple[str, int], list[Change]] = {}
        self._at: dict[str, dict[Place, list[tuple[Change, int]]]] = {}
        self._candidates: dict[tuple[Way, bool], list[Change]] = {}
        self._keyed: dict[str, list[Change]] | None = None
        self._of: Table[list[Change]] = {}
        self._under: Table[list[Change]] = {}
        self._runs: Table[list[Site]] = {}
        self._frames: Table[list[Frame | None]] = {}
        self._bases: Table[Values] = {}
        self._texts: Table[tuple[frozenset[object], bool] | None] = {}
        self._called: Table[list[tuple[Site, Call]]] = {}
        self._rendered_bases: dict[int, str] = {}

    def of(self, value: Value) -> list[Change]:
        """Return the mutations of a container, anywhere in the project."""
        candidates = self._candidates_of(value)
        if not candidates:
            return []
        return self.world.memory.remember(
            self._of,
            identity(value),
            lambda: [one for one in self._likely(candidates, value) if self.runs(one, value)],
            [],
        )

    def under(self, value: Value, key: object) -> list[Change]:
        """Return the mutations that may affect a key. Data from a file has no place in the program: mutations match by
        key."""
        if isinstance(value, Data):
            return [change for change in self._naming(key) if self.runs(change, value)]
        if not self._candidates_of(value):
            return []
        return self.world.memory.remember(
            self._under,
            (identity(value), key),
            lambda: [one for one in self._likely(self._candidates_of(value), value, key) if self.runs(one, value)],
            [],
        )

    def is_overlaid(self, file: SourceFile, call: int) -> bool:
        """Whether the program puts entries under names that nothing tells into what a call returns, as where one
        configuration is laid over another: `config.update(own)`, `config[key] = value` for each of another one."""
        for change in self._reached_from(("call", file.path, call), ITSELF | INSIDE):
            if change.kind == "set" and change.key is not None and not isinstance(change.key, (Constant, str)):
                return True
            if change.kind == "merge" and change.value is not None and self._is_any(change.value, change):
                return True
        return False

    def _is_any(self, expr: Expr, change: Change) -> bool:
        """Whether nothing tells the entries of what a change merges."""
        values = self.world.values.evaluate(expr, change.site(None))
        return any(
            isinstance(one, Unknown) or (isinstance(one, Instance) and isinstance(one.of, External)) for one in values
        )

    def changes(self, change: Change, value: Value) -> bool:
        """Whether it is a mutation of the container."""
        candidate = isinstance(value, Data) or any(change is one for one in self._candidates_of(value))
        return candidate and bool(self.runs(change, value))

    def runs(self, change: Change, value: Value) -> list[Site]:
        """Return the sites where a mutation is applied to the container: one per distinguished calling context of the
        function around it. Empty if it mutates another container, or stands under tests that are false in each."""
        key = (id(change), value)
        known = self._runs.get(key)
        if known is not None and known.final:
            return known.value
        return self.world.memory.remember(self._runs, key, lambda: self._find_runs(change, value), [])

    def _find_runs(self, change: Change, value: Value) -> list[Site]:
        made = identity(value)
        home = made.site if isinstance(made, Written) else None
        if home is not None and change.file is home.file and change.scope == home.scope:
            frames: list[Frame | None] = [home.frame]
        else:
            receiver = home.frame.receiver if home is not None and home.frame is not None else None
            if isinstance(receiver, Instance) and omits(self.world, change, receiver):
                return []
            frames = self._frames_of(change)
        found = [change.site(frame) for frame in frames if self._concerns(change, frame, value)]
        if found and change.region:
            return [one for one in found if one.frame is None or not self.world.untaken(one)]
        if not found and frames != [None] and self._concerns(change, None, value):
            return [change.site(None)]
        return found

    def _likely(self, candidates: list[Change], value: Value, key: object = _ANY) -> Iterator[Change]:
        """Yield the candidates worth resolving (only those under `key`, if given): all if there are few."""
        many = len(candidates) > _MANY
        for change in candidates:
            if (key is _ANY or not is_other(change.key, key)) and not (many and not self._may_concern(change, value)):
                yield change

    def _may_concern(self, change: Change, value: Value) -> bool:
        """Whether a mutation is worth resolving for the container. Most of many candidates are not, so the containers
        that each one mutates in any activation are computed once for all."""
        if not isinstance(value, (Display, Mapping)):
            return True
        made = value.made or value.written
        if change.file is made.site.file and change.scope == made.site.scope:
            return True
        for frames in (tuple(self._frames_of(change)), (None,)):
            key = (id(change), frames)
            asked = self._texts.get(key)
            if asked is not None and asked.opened >= 0:
                # A query that arises meanwhile answers for itself and must not depend on one still in progress.
                return True
            texts = self._texts_in(change, frames)
            if texts is None or made.text in texts[0] or (texts[1] and self._names_owner(change, value)):
                return True
            if frames == (None,):
                break
        return False

    def _texts_in(self, change: Change, frames: tuple[Frame | None, ...]) -> tuple[frozenset[object], bool] | None:
        """Return the source texts of the containers that a mutation changes in some activations, and whether there may
        be others; None while that is being computed."""
        return self.world.memory.remember(
            self._texts, (id(change), frames), lambda: self._texts_of(change, frames), None
        )

    def _texts_of(self, change: Change, frames: tuple[Frame | None, ...]) -> tuple[frozenset[object], bool]:
        texts: set[object] = set()
        unclear = False
        for frame in frames:
            bases = self._bases_of(change, frame)
            unclear = unclear or not bases or any(isinstance(base, Unknown) for base in bases)
            texts.update((one.made or one.written).text for one in bases if isinstance(one, (Display, Mapping)))
        return frozenset(texts), unclear

    def keys(self, change: Change, where: Site) -> Values:
        """Return the possible keys of a mutation."""
        if change.key is None:
            return (UNKNOWN,)
        if isinstance(change.key, str):
            return (const(change.key),)
        return enumerations.plain(self.world, self.world.values.evaluate(change.key, where))

    def called_in(self, change: Change, value: Value, scope: tuple[str, int]) -> list[tuple[Site, Call]]:
        """Return the runs of a mutation that come from calls in one scope, each with its call."""
        around = (change.file.path, change.scope)
        home = (value.made or value.written).site if isinstance(value, (Display, Mapping)) else None
        making = home is not None and around == (home.file.path, home.scope)
        if making or around == scope or change.file.scopes[change.scope].kind != "function":
            return []
        key = (id(change), identity(value), scope)
        return self.world.memory.remember(self._called, key, lambda: self._called_in(change, value, scope), [])

    def _called_in(self, change: Change, value: Value, scope: tuple[str, int]) -> list[tuple[Site, Call]]:
        callers = self.world.calls.callers(Function(change.file, change.scope))
        here = [
            (caller.frame, caller.file.calls[caller.call])
            for caller in callers
            if caller.call >= 0 and (caller.file.path, caller.file.calls[caller.call].scope) == scope
        ]
        found: list[tuple[Site, Call]] = []
        for where in self.runs(change, value):
            if where.frame is None:
                all_here = len(here) == len(callers)
                found += [(where, call) for _, call in here] if all_here else []
            found += [(where, call) for frame, call in here if frame is where.frame]
        return found

    def _frames_of(self, change: Change) -> list[Frame | None]:
        return self.world.memory.remember(self._frames, (id(change),), lambda: list(self._activations(change)), [None])

    def _activations(self, change: Change) -> Iterable[Frame | None]:
        """Return the activations of the function around a mutation if they are few, else `[None]`."""
        scope = change.file.scopes[change.scope]
        if scope.kind != "function" or not self._depends(change) or not self.world.memory.enter():
            return [None]
        try:
            callers = self.world.calls.callers(Function(change.file, change.scope))
        finally:
            self.world.memory.leave()
        frames = dict.fromkeys(caller.frame for caller in callers)
        return frames if frames and not limits.RUNS.exceeded(len(frames)) else [None]

    def _depends(self, change: Change) -> bool:
        """Whether a mutation reads names that functions bind."""
        parts = (change.base, change.key, change.value)
        todo: list[Expr] = [part for part in parts if part is not None and not isinstance(part, str)]
        while todo:
            part = todo.pop()
            if isinstance(part, Name):
                scope = change.scope
                while scope > 0:
                    if part.id in change.file.bindings(scope):
                        return True
                    scope = change.file.scopes[scope].parent
            todo += part.children()
        return False

    def _concerns(self, change: Change, frame: Frame | None, value: Value) -> bool:
        bases = self._bases_of(change, frame)
        if among(value, bases) or any(stands_for(base, value) for base in bases):
            return True
        unclear = not bases or any(isinstance(base, Unknown) for base in bases)
        return unclear and isinstance(value, (Display, Mapping)) and self._names_owner(change, value)

    def _bases_of(self, change: Change, frame: Frame | None) -> Values:
        return self.world.memory.remember(
            self._bases,
            (id(change), frame),
            lambda: self.world.values.evaluate(change.base, change.site(frame)),
            (),
        )

    def _names_owner(self, change: Change, value: Display | Mapping) -> bool:
        """Whether a mutation names the variable, or the attribute of its own object, that holds a container."""
        if value.owner is None or value.made is not None:
            return False
        file, (scope, text) = value.written.site.file, value.owner
        of_class = file.scopes[scope].kind == "class"
        if not of_class and (change.file is not file or change.scope != scope):
            return False
        if self._rendered(change) != text:
            return False
        if of_class:
            around = change.file.enclosing_class(change.scope)
            return around is not None and Class(file, scope) in self.world.hierarchy.line(Class(change.file, around))
        return True

    def _rendered(self, change: Change) -> str:
        """Return the source text of the mutated expression."""
        found = self._rendered_bases.get(id(change))
        if found is None:
            found = self._rendered_bases[id(change)] = render(change.base, change.file, 200)
        return found

    # Candidates

    def _candidates_of(self, value: Value) -> list[Change]:
        if isinstance(value, Data) or (isinstance(value, Display) and value.kind in ("tuple", "generator")):
            return []
        start = self._start(value)
        if start is None:
            return []
        key = (start, isinstance(value, Display))
        found = self._candidates.get(key)
        if found is None:
            starts = (start, *((place, ITSELF) for place in self._receivers(value)))
            each = (change for place, state in starts for change in self._reached_from(place, state))
            suits = self._suits_display if isinstance(value, Display) else self._suits_mapping
            found = self._candidates[key] = [one for one in {id(one): one for one in each}.values() if suits(one)]
        return found

    def _reached_from(self, start: Place, state: int) -> Iterator[Change]:
        """Yield the mutations of what may be an object in some state at a location."""
        for place, states in self.flows.reached(start, state).items():
            for file in self.flows.files(place):
                for change, how in self._at_places(file).get(place, ()):
                    if meets(states, how):
                        yield change

    def _receivers(self, value: Value) -> Iterator[Place]:
        """The parameters by which the methods of an object's class know it: `fill(self, name, cls)` changes it."""
        of = value.of if isinstance(value, Instance) else None
        line = self.world.hierarchy.line(of) if isinstance(of, Class) else []
        for cls in (one for one in line if isinstance(one, Class)):
            for scope in cls.file.children.get(cls.scope, ()):
                entry = cls.file.scopes[scope]
                if entry.kind == "function" and entry.params:
                    yield ("name", cls.file.path, scope, entry.params[0].name)

    def _suits_mapping(self, change: Change) -> bool:
        return change.kind in _OF_DICTS and not self._of_attributes(change)

    def _suits_display(self, change: Change) -> bool:
        """Whether a list or a set supports the mutation: a string is never a position."""
        key = change.key.value if isinstance(change.key, Constant) else change.key
        return change.kind in _OF_LISTS and not isinstance(key, str) and not self._of_attributes(change)

    def _of_attributes(self, change: Change) -> bool:
        """Whether it mutates `object.__dict__`, which is not a container created by the program unless the program sets
        that attribute somewhere."""
        if not isinstance(change.base, Attribute) or change.base.attr != "__dict__":
            return False
        return not self._sets_dict

    @cached_property
    def _sets_dict(self) -> bool:
        """Whether the program sets the attribute `__dict__` of any object."""
        return any(file.each(sets_dict) for file in self.world.files.values())

    def _naming(self, key: object) -> list[Change]:
        """Return the mutations of all files that name the key literally."""
        if self._keyed is None:
            self._keyed = {}
            for file in self.world.files.values():
                for change in self.in_file(file):
                    written = change.key.value if isinstance(change.key, Constant) else change.key
                    if isinstance(written, str):
                        self._keyed.setdefault(written, []).append(change)
        return self._keyed.get(key, []) if isinstance(key, str) else []

    def _start(self, value: Value) -> Way | None:
        if isinstance(value, (Display, Mapping)):
            made = value.made or value.written
            return self.flows.start(made.expr, made.site.file)
        if isinstance(value, Keywords):
            file, scope = value.function.file, value.function.scope
            name = next((param.name for param in file.scopes[scope].params if param.kind == "kw"), "")
            return ("name", file.path, scope, name), ITSELF
        if isinstance(value, (Parsed, Instance)) and value.file is not None and value.call >= 0:
            inner = isinstance(value, Instance) and not isinstance(value.of, Class)
            return ("call", value.file.path, value.call), ITSELF | INSIDE if inner else ITSELF
        return None

    def _at_places(self, file: SourceFile) -> dict[Place, list[tuple[Change, int]]]:
        found = self._at.get(file.path)
        if found is None:
            found = self._at[file.path] = {}
            for change in self.in_file(file):
                for place, how in self.flows.places(change.base, file.raw, change.scope).items():
                    found.setdefault(place, []).append((change, how))
        return found

    # What is written

    def in_scope(self, file: SourceFile, scope: int) -> list[Change]:
        """Return the mutations directly in a scope, latest first."""
        key = (file.path, scope)
        if key not in self._of_scopes:
            for one in range(len(file.raw.scopes)):
                self._of_scopes[file.path, one] = []
            for change in sorted(self.in_file(file), key=lambda change: change.at, reverse=True):
                self._of_scopes[file.path, change.scope].append(change)
        return self._of_scopes[key]

    def in_file(self, file: SourceFile) -> list[Change]:
        found = self._of_files.get(file.path)
        if found is None:
            found = self._of_files[file.path] = [one._replace(file=file) for one in changes_in(file.raw)]
            file.note("changes")
        return found
