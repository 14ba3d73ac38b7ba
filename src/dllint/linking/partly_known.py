"""Values of which conditions know a part: whether they are true, the keys of a dict, a member of an enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Present(NamedTuple):
    """A value that is not None. `true` is its truth value; None if unknown."""

    true: bool | None


class Either(NamedTuple):
    """One of several values with the same truth value, such as `rows or 3`, which is true whatever `rows` is."""

    true: bool


@dataclass(frozen=True)
class Member:
    """What stands for a member of an enumeration: it equals itself alone, and nothing else is known of it."""

    of: object
    value: object


VAGUE = (Present, Either)
"""Values that tell little more than whether they are true."""


class KeysOnly(dict[Any, Any]):
    """A dict of which only the keys are known."""
