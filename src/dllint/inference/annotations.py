"""What an annotation says of a value that nothing else tells: `Rows`, `Optional[Rows]`, `dict[str, Rows]`."""

from __future__ import annotations

from typing import cast

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    Constant,
    Dict,
    Expr,
    List,
    Name,
    Opaque,
    Set,
    Starred,
    Subscript,
    Tuple,
)
from dllint.inference import limits
from dllint.inference.arguments import Held
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import CHOSEN, Class, Display, External, Instance, Mapping, Site, Value, Values, Written

_TYPE_VARIABLE = External("typing.TypeVar")
_ALTERNATIVES = frozenset({"Optional", "Union"})
_QUALIFIERS = frozenset({"Annotated", "ClassVar", "Final"})
"""Forms of `typing` whose first argument is the type of the value."""
_CLASSES = frozenset({"Type", "type"})
"""Forms whose argument is the class that the value is, or a base of it."""
_SEQUENCES = frozenset({"List", "list", "Sequence", "MutableSequence", "Collection", "Iterable"})
_SETS = frozenset({"Set", "set", "FrozenSet", "frozenset"})
_TUPLES = frozenset({"Tuple", "tuple"})
_MAPPINGS = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict"})


class Annotations:
    """Reads annotations. A container of annotated elements has an unknown length."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._depth = 0
        self._containers: dict[tuple[str, int], tuple[Expr, Values]] = {}

    def said(self, annotation: Expr, site: Site) -> Values:
        """Return what an annotation says of a value: instances of the project classes that it names, also inside
        Optional and unions, and containers of such. For `Type[C]` the classes themselves, with `CHOSEN`, as a caller
        may choose a subclass."""
        if isinstance(annotation, Subscript):
            return self._subscripted(annotation, site)
        if isinstance(annotation, BinOp):
            return union([self.said(annotation.left, site), self.said(annotation.right, site)])
        if isinstance(annotation, Constant) and isinstance(annotation.value, str) and annotation.value.isidentifier():
            annotation = Name(annotation.value)
        if not isinstance(annotation, (Name, Attribute)):
            return ()
        values = self.world.values.evaluate(annotation, site)
        found = tuple(Instance(value) for value in values if isinstance(value, Class))
        return found or self._named(annotation, values, site)

    def _named(self, annotation: Expr, values: Values, site: Site) -> Values:
        """Return what the name of a type variable, or of an alias, says: `Source = Union[Rows, Texts]`."""
        for value in values:
            if isinstance(value, Instance) and value.of == _TYPE_VARIABLE and value.file is not None:
                actuals = self.world.made_with(value)
                bound = actuals.keywords.get("bound")
                bounds = [*actuals.positional[1:], *([bound] if bound is not None else [])]
                return union(self.said(one.expr, one.site) for one in bounds if one.expr is not None and one.site)
        if not isinstance(annotation, Name) or limits.TYPE_ALIASES.exceeded(self._depth):
            return ()
        self._depth += 1
        try:
            return union(
                self.said(binding.expr, where)
                for binding, where in self.world.symbols.lookup(annotation.id, site)
                if binding.kind == "value" and isinstance(binding.expr, (Subscript, BinOp))
            )
        finally:
            self._depth -= 1

    def _subscripted(self, annotation: Subscript, site: Site) -> Values:
        """Return what an annotation such as `Optional[C]`, `Type[C]`, `list[C]` or `C[T]` says of a value."""
        generic = self.world.values.evaluate(annotation.value, site)
        forms = {value.name.rpartition(".")[2] for value in generic if isinstance(value, External)}
        inner = annotation.index.elements if isinstance(annotation.index, Tuple) else (annotation.index,)
        if forms & _ALTERNATIVES:
            return union([self.said(one, site) for one in inner])
        if forms & _QUALIFIERS:
            return self.said(inner[0], site)
        if forms & _CLASSES:
            found = self.said(inner[0], site)
            classes = tuple(one.of for one in found if isinstance(one, Instance) and isinstance(one.of, Class))
            return (*classes, CHOSEN) if classes else ()
        if forms & (_SEQUENCES | _SETS | _TUPLES | _MAPPINGS):
            return self._container(annotation, forms, inner, site)
        return tuple(Instance(value) for value in generic if isinstance(value, Class))

    def _container(self, annotation: Expr, forms: set[str], inner: tuple[Expr, ...], site: Site) -> Values:
        """Return a container of annotated elements; nothing if the project has none of their classes."""
        key = (site.file.path, id(annotation))
        kept = self._containers.get(key)
        if kept is None:
            made = self._made(forms, inner, site)
            # The annotation is kept, so that no other expression gets its identity; a value is known by its expression.
            kept = self._containers[key] = annotation, made
        return kept[1]

    def _made(self, forms: set[str], inner: tuple[Expr, ...], site: Site) -> Values:
        if forms & _MAPPINGS:
            held = self.said(inner[1], site) if len(inner) == 2 else ()
            items = tuple((cast(Expr, Opaque()), _held(one)) for one in held)
            return (Mapping(Written(Dict(items), site)),) if held else ()
        parts = [self.said(one, site) for one in inner]
        if not any(parts):
            return ()
        if forms & _TUPLES and not (len(inner) == 2 and isinstance(inner[1], Opaque)):
            elements = tuple(_held(part[0]) if len(part) == 1 else Opaque() for part in parts)
            return (Display("tuple", Written(Tuple(elements), site)),)
        several = (Starred(Tuple(tuple(_held(one) for one in parts[0]))),)
        if forms & _TUPLES:
            return (Display("tuple", Written(Tuple(several), site)),)
        made = Set(several) if forms & _SETS else List(several)
        return (Display("set" if forms & _SETS else "list", Written(made, site)),)


def _held(value: Value) -> Expr:
    return cast(Expr, Held(value))
