"""What an object keeps: attributes, and the values inside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dllint.inference.values import Class, Instance, Site, Value, Values
from dllint.linking.assignments import Store
from dllint.linking.source import SourceFile
from dllint.project.arrivals import Hop
from dllint.span import Span


@dataclass(frozen=True)
class Kept:
    """An assignment by which a dataset keeps something: `self.attr = value` in one of its methods, or `ds.attr = value`
    outside.

    `method` is the scope of the method; `hops` are the calls from `__init__` to it if a helper sets the attribute.
    `initial`: the method runs while the object is constructed, or is called on it right after. `sure` is False if the
    attribute may be released before construction ends. `at_once`: the function that constructs the object sets it.
    """

    attr: str
    file: SourceFile
    scope: int
    store: Store
    site: Site
    owner: Class | None
    values: Values
    hops: tuple[Hop, ...] = ()
    initial: bool = True
    sure: bool = True
    at_once: bool = False
    generated: bool = False

    @property
    def span(self) -> Span:
        return self.store.event.value_span or self.store.event.span


class Piece(NamedTuple):
    """A value inside an object, with its attribute path ("transform", "transform.ops").

    `given` names the external class to whose constructor the value was passed, if that class is not known to keep its
    arguments unchanged. `initial`: every object on the path was stored there while its holder was constructed.
    """

    path: str
    value: Value
    kept: Kept | None
    given: str = ""
    initial: bool = True


class Keeping(NamedTuple):
    """An attribute of a dataset or of an object inside it, with its path: "store.records".

    `holder` is the object that has the attribute. `initial`: it is set before workers start. `dropped`: pickling the
    dataset omits it. `through` is the dataset's own attribute that leads to the object, if that is another one.
    """

    path: str
    holder: Instance
    kept: Kept
    initial: bool
    dropped: bool
    through: Kept | None = None
