"""Calls, scopes and tables of a recorded file, which note what is read of them in the `Reads` of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dllint.facts.schema import Argument, Call, Event, Scope
from dllint.linking.reads import ALL, STORING, WHOLE, Reads


class Numbered(list[Any]):
    """A list that records which of its elements are read."""

    __slots__ = ("seen",)

    def __init__(self, elements: Iterable[Any], seen: set[int]) -> None:
        super().__init__(elements)
        self.seen = seen

    def __getitem__(self, index: Any) -> Any:
        self.seen.add(index if type(index) is int and index >= 0 else WHOLE)
        return list.__getitem__(self, index)

    def __iter__(self) -> Iterator[Any]:
        self.seen.add(WHOLE)
        return list.__iter__(self)

    def __len__(self) -> int:
        self.seen.add(WHOLE)
        return list.__len__(self)

    def __contains__(self, element: object) -> bool:
        self.seen.add(WHOLE)
        return list.__contains__(self, element)

    def __reversed__(self) -> Iterator[Any]:
        self.seen.add(WHOLE)
        return list.__reversed__(self)


class Calls(Numbered):
    """The calls of a file, which record what is read of them."""

    __slots__ = ("reads",)

    def __init__(self, calls: Iterable[Call], reads: Reads) -> None:
        super().__init__(calls, reads.calls)
        self.reads = reads

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not int or index < 0:
            self.seen.add(WHOLE)
            return list.__getitem__(self, index)
        found = list.__getitem__(self, index)
        if type(found) is Call:
            self.seen.add(index)
            found = tuple.__new__(_RecordedCall, found)
            found.__dict__["_number"], found.__dict__["_reads"] = index, self.reads
            self[index] = found
        return found


class _Callee:
    """The callee of a call; records that it is read, once."""

    def __get__(self, call: _RecordedCall, owner: type | None = None) -> Any:
        kept = call.__dict__
        kept["_reads"].callees.add(kept["_number"])
        found = kept["func"] = tuple.__getitem__(call, 0)
        return found


class _Arguments:
    """The arguments of a call; records that they are read, once."""

    def __get__(self, call: _RecordedCall, owner: type | None = None) -> Any:
        kept = call.__dict__
        number, reads = kept["_number"], kept["_reads"]
        reads.shapes.add(number)
        given: Any = tuple.__getitem__(call, 1)
        found = kept["args"] = [tuple.__new__(_RecordedArgument, one) for one in given]
        for position, one in enumerate(found):
            one.__dict__["_number"], one.__dict__["_reads"] = (number, position), reads
        return found


class _Value:
    """The value of an argument; records that it is read, once."""

    def __get__(self, argument: _RecordedArgument, owner: type | None = None) -> Any:
        kept = argument.__dict__
        kept["_reads"].values.add(kept["_number"])
        found = kept["value"] = tuple.__getitem__(argument, 1)
        return found


class _RecordedTuple:
    """A tuple with names that records what is read of it, also when it is read as a tuple."""

    def _plain(self) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return iter(self._plain())

    def __getitem__(self, index: Any) -> Any:
        return self._plain()[index]

    def __eq__(self, other: object) -> bool:
        return bool(self._plain() == (other._plain() if isinstance(other, _RecordedTuple) else other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._plain())

    def _replace(self, **parts: Any) -> Any:
        return self._plain()._replace(**parts)


class _RecordedArgument(_RecordedTuple, Argument):
    value = _Value()

    def _plain(self) -> Argument:
        return Argument(self.keyword, self.value, self.span, self.value_span)


class _RecordedCall(_RecordedTuple, Call):
    func = _Callee()
    args = _Arguments()

    def _plain(self) -> Call:
        args = [one._plain() for one in self.args]
        return Call(self.func, args, self.span, self.scope, self.region, self.statement)


class Scopes(Numbered):
    """The scopes of a file, which record what is read of them."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, int) or index < 0:
            self.seen.add(WHOLE)
        return list.__getitem__(self, index)


class Named(dict[Any, Any]):
    """A dict that records which names are looked up in it."""

    __slots__ = ("seen",)

    def __init__(self, entries: dict[Any, Any], seen: set[Any]) -> None:
        super().__init__(entries)
        self.seen = seen

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(name)
        return dict.get(self, name, default)

    def __getitem__(self, name: str) -> Any:
        self.seen.add(name)
        return dict.__getitem__(self, name)

    def __contains__(self, name: object) -> bool:
        self.seen.add(name)
        return dict.__contains__(self, name)

    def __iter__(self) -> Iterator[str]:
        self.seen.add(ALL)
        return dict.__iter__(self)

    def __len__(self) -> int:
        self.seen.add(ALL)
        return dict.__len__(self)

    def __bool__(self) -> bool:
        self.seen.add(ALL)
        return dict.__len__(self) > 0

    def keys(self) -> Any:
        self.seen.add(ALL)
        return dict.keys(self)

    def values(self) -> Any:
        self.seen.add(ALL)
        return dict.values(self)

    def items(self) -> Any:
        self.seen.add(ALL)
        return dict.items(self)


class Lookups(set[str]):
    """The names looked up in the result of a function, recorded with the function."""

    __slots__ = ("arguments", "asked", "function")

    def __init__(self, asked: set[Any], function: tuple[str, str], arguments: tuple[int | str, ...]) -> None:
        super().__init__()
        self.asked, self.function, self.arguments = asked, function, arguments

    def add(self, name: str) -> None:
        self.asked.add((*self.function, name, *self.arguments))


class RecordedScope(Scope):
    """A scope that records which of its statements are read."""

    def __init__(self, scope: Scope, number: int, reads: Reads) -> None:
        self.__dict__.update({name: one for name, one in scope.__dict__.items() if name in _COMPARED_ALWAYS})
        self.__dict__["_scope"] = scope
        self.__dict__["_seen"] = reads.events[number]
        self.__dict__["_number"] = number
        self.__dict__["_reads"] = reads

    @property
    def events(self) -> list[Event]:  # type: ignore[override]
        self.__dict__["_seen"].add(ALL)
        found: list[Event] = self.__dict__["_scope"].events
        return found

    def events_of(self, *kinds: str) -> list[Event]:
        self.__dict__["_seen"].update(kinds)
        found: list[Event] = self.__dict__["_scope"].events_of(*kinds)
        return found

    def storing(self) -> list[Event]:
        self.__dict__["_seen"].add(STORING)
        found: list[Event] = self.__dict__["_scope"].storing()
        return found


class _Part:
    """A part of a scope that records that it is read, once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, scope: RecordedScope, owner: type | None = None) -> Any:
        kept, name = scope.__dict__, self._name
        (kept["_reads"].extents if name == "span" else kept["_reads"].headers).add(kept["_number"])
        found = kept[name] = getattr(kept["_scope"], name)
        return found


_COMPARED_ALWAYS = frozenset({"kind", "parent", "region", "decorators", "bases"})
for _name in {*Scope.__match_args__} - _COMPARED_ALWAYS - {"events"}:
    setattr(RecordedScope, _name, _Part(_name))
