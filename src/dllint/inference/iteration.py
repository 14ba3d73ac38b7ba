"""Loop targets: the elements that `enumerate`, `zip` and the methods of a dict yield."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from dllint.facts.nodes import (
    Attribute,
    CallRef,
    Clause,
    Comprehension,
    Constant,
    Element,
    Entered,
    Name,
    Opaque,
    Starred,
    Subscript,
    Tuple,
)
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    CHOSEN,
    UNKNOWN,
    Class,
    Display,
    External,
    Function,
    Instance,
    Module,
    Site,
    Value,
    Values,
    Written,
)
from dllint.linking.implicit_calls import gone_through
from dllint.linking.source import last_name

_MAPPING = frozenset({"map", "imap", "imap_unordered", "starmap"})
"""Last names of functions and pool methods that apply a function to each element."""


def iterated(world: Engine, expr: Expr, site: Site) -> Values | None:
    """Return the elements of `rows.values()`, the tuples of `zip` and `enumerate`, also inside a progress bar such as
    `tqdm`; None for anything else."""
    plain = _unwrapped(world, expr, site)
    if isinstance(plain, CallRef):
        call = site.file.calls[plain.index]
        if isinstance(call.func, Attribute) and call.func.attr == "values" and not call.args:
            return _values(world, call.func.value, site)
        if isinstance(call.func, Attribute) and call.func.attr == "__subclasses__" and not call.args:
            return _subclasses(world, call.func.value, site)
        inner, elements = _gone_through(world, plain, site)
        if elements == "zipped":
            return world.values.evaluate(Tuple(tuple(map(Element, inner))), site)
        if elements in ("same", "some") and len(inner) > 1:
            return union(world.values.evaluate(Element(one), site) for one in inner)
        if last_name(call.func) == "from_iterable" and inner:
            return world.values.evaluate(Element(Element(inner[0])), site)
        if elements == "indexed" and inner:
            return world.values.evaluate(Tuple((Opaque(), Element(inner[0]))), site)
    return world.values.evaluate(Element(plain), site) if plain is not expr else None


def part(world: Engine, expr: Expr, position: object, site: Site) -> Values | None:
    """Return one component of each element of `rows.items()`, `enumerate(rows)` or `zip(rows, others)`, where `expr`
    stands for such an element or a component of one; None for anything else."""
    expr, site = _made(world, expr, site)
    whole = _simplified(world, expr, site, 0)
    inner = _simplified(world, Subscript(whole, Constant(position)), site, 0)
    if isinstance(inner, Element):
        return world.values.evaluate(inner, site)
    if not isinstance(whole, Element) or not isinstance(whole.value, CallRef):
        return None
    call = site.file.calls[whole.value.index]
    if position == 1 and last_name(call.func) == "getmembers" and call.args:
        return _values(world, call.args[0].value, site)
    if position != 1 or not isinstance(call.func, Attribute) or call.func.attr != "items" or call.args:
        return None
    return _values(world, call.func.value, site)


def element(world: Engine, expr: Subscript, site: Site) -> Element | None:
    """Return the element of one argument that a component of an element of `enumerate(rows)` or `zip(rows, others)` is;
    None for anything else."""
    found = _simplified(world, expr, site, 0)
    return found if isinstance(found, Element) else None


def column(expr: Subscript, site: Site) -> Values | None:
    """Return the tuple with one part of each row that `zip(*rows)[1]` is, as it reads the names of `first, second =
    zip(*rows)`, also through `list` and `map(list, ...)`; None for anything else."""
    through, kind = expr.value, "tuple"
    while isinstance(through, CallRef):
        call = site.file.calls[through.index]
        if call.func == Name("zip") and len(call.args) == 1 and call.args[0].keyword == "*":
            return (Display(kind, Written(_parts(call.args[0].value, expr.index), site)),)
        given = [one.value for one in call.args if one.keyword is None]
        if call.func == Name("map") and len(given) == 2 and given[0] in (Name("list"), Name("tuple")):
            kind = "list" if given[0] == Name("list") else "tuple"
        elif call.func not in (Name("list"), Name("tuple")) or len(given) != 1:
            return None
        through = given[-1]
    return None


def _parts(rows: Expr, position: Expr) -> Comprehension:
    """Return the list of one part of each row."""
    number = position.value if isinstance(position, Constant) else None
    if isinstance(rows, Comprehension) and rows.kind != "dict" and isinstance(rows.element, Tuple):
        elements = rows.element.elements
        whole = not any(isinstance(one, Starred) for one in elements)
        if isinstance(number, int) and whole and -len(elements) <= number < len(elements):
            return replace(rows, kind="list", element=elements[number])
    return Comprehension("list", None, Subscript(Element(rows), position), (Clause(Opaque(), rows, ()),))


def of_iterator(world: Engine, value: Value) -> Values | None:
    """Return the elements of a progress bar or similar wrapper: those of the iterable that it wraps."""
    assert isinstance(value, Instance) and value.file is not None
    return iterated(world, CallRef(value.call), world.call_site(value.file, value.call, value.frame))


def is_mapped(value: Value) -> TypeGuard[Instance]:
    """Whether a value can be what such a function or method gives: a list or an iterator of its results."""
    if not isinstance(value, Instance) or not isinstance(value.of, External):
        return False
    return value.of.name.rpartition(".")[2] in _MAPPING


def mapped(world: Engine, value: Instance) -> Values:
    """Return the results of a project function that the builtin `map` or a pool method applies to each element; empty
    for anything else."""
    if not isinstance(value.of, External) or value.file is None or value.call < 0:
        return ()
    call = value.file.calls[value.call]
    made = value.file.mapped.get(value.call)
    if made is not None:
        return world.values.evaluate(CallRef(made), world.call_site(value.file, made, value.frame))
    plain = [argument.value for argument in call.args if argument.keyword is None]
    if last_name(call.func) not in _MAPPING or len(plain) < 2:
        return ()
    functions = world.values.evaluate(plain[0], world.call_site(value.file, value.call, value.frame))
    if not functions or not all(isinstance(one, Function) for one in functions):
        return ()
    return union(world.values.returned(one, None) for one in functions if isinstance(one, Function))


def _made(world: Engine, expr: Expr, site: Site) -> tuple[Expr, Site]:
    """Rewrite a component of an element of a name into one of the call that creates its value, if that is a progress
    bar or similar wrapper."""
    if isinstance(expr, Subscript):
        base, where = _made(world, expr.value, site)
        return (expr, site) if base is expr.value else (Subscript(base, expr.index), where)
    if isinstance(expr, Element) and isinstance(expr.value, (Name, Attribute, Entered)):
        values = world.values.evaluate(expr.value, site)
        if len(values) == 1 and isinstance(one := values[0], Instance) and is_iterator(world, one):
            assert one.file is not None
            return Element(CallRef(one.call)), world.call_site(one.file, one.call, one.frame)
    return expr, site


def is_iterator(world: Engine, value: Value) -> bool:
    """Whether an object iterates its arguments: `tqdm(rows)`."""
    return (
        isinstance(value, Instance)
        and isinstance(value.of, External)
        and value.file is not None
        and value.call >= 0
        and world.knowledge.canonical(value.of.name).rpartition(".")[2] in world.knowledge.iterates
    )


def selects(world: Engine, value: Instance) -> bool:
    """Whether an object is a sequence of some elements of an argument: `random.choices(rows, weights)`."""
    if not is_iterator(world, value):
        return False
    assert isinstance(value.of, External)
    return world.knowledge.iterates[world.knowledge.canonical(value.of.name).rpartition(".")[2]][1] == "some"


def _values(world: Engine, expr: Expr, site: Site) -> Values | None:
    bases = world.values.evaluate(expr, site)
    groups: list[Values | None] = [
        (world.classes_of(base) or (UNKNOWN,)) if isinstance(base, Module) else world.mappings.values_of(base)
        for base in bases
    ]
    if all(group is None for group in groups):
        return None
    return tuple(dict.fromkeys(one for group in groups for one in (group if group is not None else (UNKNOWN,))))


def _subclasses(world: Engine, expr: Expr, site: Site) -> Values | None:
    """Return the subclasses of a class, with `CHOSEN`, unless there are too many."""
    found = [
        heir
        for base in world.values.evaluate(expr, site)
        if isinstance(base, Class)
        for heir in world.hierarchy.subclasses(base)
    ]
    return (*dict.fromkeys(found), CHOSEN) if found and not limits.CHOICES.exceeded(len(found)) else None


def _simplified(world: Engine, expr: Expr, site: Site, depth: int) -> Expr:
    """Rewrite the second component of an element of `enumerate(rows)` to an element of `rows`, and similar."""
    if limits.ITERATION_DEPTH.exceeded(depth):
        return expr
    if isinstance(expr, Element):
        return Element(_unwrapped(world, expr.value, site))
    if not isinstance(expr, Subscript) or not isinstance(expr.index, Constant) or not isinstance(expr.index.value, int):
        return expr
    base = _simplified(world, expr.value, site, depth + 1)
    if isinstance(base, Element) and isinstance(base.value, CallRef):
        inner, elements = _gone_through(world, base.value, site)
        if elements == "indexed" and inner and expr.index.value == 1:
            return _simplified(world, Element(inner[0]), site, depth + 1)
        if elements == "zipped" and 0 <= expr.index.value < len(inner):
            return _simplified(world, Element(inner[expr.index.value]), site, depth + 1)
    return Subscript(base, expr.index)


def _unwrapped(world: Engine, expr: Expr, site: Site) -> Expr:
    """Rewrite `sorted(rows.items())` to `rows.items()`, and similar."""
    for _ in range(limits.ITERATION_DEPTH.most):
        inner, elements = _gone_through(world, expr, site)
        if elements not in ("same", "some") or len(inner) != 1:
            return expr
        expr = inner[0]
    limits.ITERATION_DEPTH.met()
    return expr


def _gone_through(world: Engine, expr: Expr, site: Site) -> tuple[list[Expr], str]:
    """Return the arguments that a call iterates, and the kind of its own elements."""
    if not isinstance(expr, CallRef):
        return [], ""
    call, iterates = site.file.calls[expr.index], world.knowledge.iterates
    inner = gone_through(call, iterates)
    return inner, iterates[last_name(call.func)][1] if inner else ""
