"""Which conditions no run can satisfy together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.linking.conditions import Atom

_SEVERAL = " > 1"
_FALSE = ("None", "0", "False", "''")
_SOME_FALSE = {*_FALSE, "0.0", "b''", "0j"}


def contradict(left: Iterable[Atom], right: Iterable[Atom]) -> bool:
    """Whether no run can satisfy both, as long as nothing that they read changes in between."""
    return next(contradictions(left, right), None) is not None


def contradictions(left: Iterable[Atom], right: Iterable[Atom]) -> Iterator[str]:
    """Yield the texts of conditions that no run can satisfy together.

    Conditions of different scopes are compared only if they read an attribute or an item, since a bare name is a
    different variable in another function.
    """
    left, right = list(left), list(right)
    table = _by_text(left)
    for atom in right:
        if _counted(atom, table):
            yield atom.text
        others = [other for other in table.get(atom.text, ()) if _comparable(atom, other)]
        for other in others:
            if _exclude(atom, other) or _exclude(other, atom):
                yield atom.text
        if _leave_none(atom, others):
            yield atom.text
    several = [atom for atom in left if atom.among]
    table = _by_text(right) if several else {}
    for atom in several:
        if _leave_none(atom, [other for other in table.get(atom.text, ()) if _comparable(atom, other)]):
            yield atom.text


def _by_text(conditions: list[Atom]) -> dict[str, list[Atom]]:
    found: dict[str, list[Atom]] = {}
    for atom in conditions:
        found.setdefault(atom.text, []).append(atom)
    return found


def _comparable(atom: Atom, other: Atom) -> bool:
    return atom.scope == other.scope or "." in atom.text or "[" in atom.text


def _leave_none(atom: Atom, others: list[Atom]) -> bool:
    """Whether others exclude each of the constants that a condition allows: `mode == "a"` and `mode == "b"` are false,
    where `mode in ("a", "b")` holds."""
    if not atom.holds or not atom.among:
        return False
    return atom.among <= {value for other in others if not other.holds for value in other.values}


def _exclude(atom: Atom, other: Atom) -> bool:
    """Whether two conditions on the same cannot hold together, one way round."""
    if atom.equals and other.equals:
        if atom.holds and other.holds:
            return atom.values.isdisjoint(other.values)
        return atom.holds and not other.holds and atom.values <= other.values
    if atom.equals == other.equals:
        return atom.holds != other.holds
    if not atom.equals and other.equals in _FALSE:
        return atom.holds == other.holds
    # `not mode`, and `mode == "train"`
    return not atom.equals and not atom.holds and other.holds and other.values.isdisjoint(_SOME_FALSE)


def _counted(atom: Atom, table: dict[str, list[Atom]]) -> bool:
    """Whether two conditions contradict each other as counts of at least one: `gpus != 1` and not `gpus > 1`, or `gpus
    == 1` and `gpus > 1`."""
    plain = atom.text.removesuffix(_SEVERAL)
    others = table.get(plain if plain != atom.text else atom.text + _SEVERAL, ())
    for other in others:
        exact = atom if plain == atom.text else other
        if exact.equals == "1" and atom.holds == other.holds and atom.scope == other.scope:
            return True
    return False
