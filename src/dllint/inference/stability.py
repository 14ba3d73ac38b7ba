"""What a test reads that nothing changes: parameters in a known activation, and attributes that are set once."""

from __future__ import annotations

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    BoolOp,
    CallRef,
    Compare,
    Constant,
    Element,
    IfExp,
    List,
    Name,
    Not,
    Set,
    Subscript,
    Tuple,
    UnaryOp,
    Walrus,
)
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.receiver_attributes import may_be_set_outside, set_once
from dllint.inference.values import (
    Class,
    Display,
    External,
    Function,
    Instance,
    Keywords,
    Mapping,
    Module,
    Parsed,
    Site,
    Value,
    const,
)
from dllint.linking.bindings import Binding
from dllint.linking.closed_values import PURE
from dllint.linking.source import SourceFile, last_name

_PLAIN = frozenset(
    {"object", "typing.NamedTuple", "typing.Generic", "enum.Enum", "enum.IntEnum", "enum.Flag", "enum.IntFlag"}
)
"""Bases from outside that set no attributes of their own."""
_NAMESPACES = (External("types.SimpleNamespace"), External("argparse.Namespace"))
"""Classes whose objects hold only what they are made with."""


def is_stable(world: Engine, expr: Expr, site: Site, depth: int = limits.TESTED_STEPS.most) -> bool:
    """Whether what the interpreter knows of a test is all that a run can see there.

    That is so for parameters in a known activation, for names that are bound to constants, and for attributes of
    objects, classes and modules of the project. An attribute of a configuration object, whose class only an annotation
    names, has values that no source shows.
    """
    if depth == 0:
        limits.TESTED_STEPS.met()
        return False
    if isinstance(expr, Name):
        return all(_is_fixed(world, binding, where, depth) for binding, where in world.symbols.lookup(expr.id, site))
    if isinstance(expr, Attribute):
        if not _is_near(world, expr.value, site):
            return False
        bases = world.values.evaluate(expr.value, site)
        return bool(bases) and all(_keeps(world, base, expr.attr, site) for base in bases)
    if isinstance(expr, CallRef):
        return _returns_stable(world, expr.index, site, depth)
    if isinstance(expr, BoolOp):
        return any(is_stable(world, part, site, depth - 1) for part in expr.values)
    if isinstance(expr, (Constant, Compare, Not, BinOp, UnaryOp, IfExp, Tuple, List, Set, Element, Subscript, Walrus)):
        return all(is_stable(world, part, site, depth - 1) for part in expr.children())
    return False


def _is_fixed(world: Engine, binding: Binding, where: Site, depth: int) -> bool:
    if binding.kind == "value":
        return binding.expr is not None and is_stable(world, binding.expr, where, depth - 1)
    return binding.kind in ("param", "import", "def")


def _is_near(world: Engine, base: Expr, site: Site) -> bool:
    """Whether an attribute is worth asking for: of the receiver in a known activation, or of a name for a module, a
    class, or what the same scope, its caller or the module creates. Those of configuration objects that come
    from farther are hardly ever known, and costly to evaluate."""
    if isinstance(base, Attribute):
        # An object that `self` keeps: `self.args`
        return isinstance(base.value, Name) and _is_near(world, base.value, site) and _is_own(world, base, site)
    if not isinstance(base, Name):
        return False
    found = world.symbols.lookup(base.id, site)
    if len(found) != 1:
        return False
    binding, _ = found[0]
    if binding.kind == "param":
        receiver = site.frame.receiver if site.frame is not None else None
        if binding.number == 0 and isinstance(receiver, Instance):
            return receiver.call >= 0
        return _is_made_by_caller(world, base.id, site)
    if binding.kind == "value":
        made = binding.expr.value if isinstance(binding.expr, Attribute) else None
        return isinstance(binding.expr, CallRef) or isinstance(made, Name)
    return binding.kind in ("import", "def")


def _is_own(world: Engine, expr: Attribute, site: Site) -> bool:
    """Whether an object sets an attribute once, to what a constructor that the project calls has made."""
    holders = world.values.evaluate(expr.value, site)
    if not holders or not all(_keeps(world, one, expr.attr, site) for one in holders):
        return False
    values = world.values.evaluate(expr, site)
    return bool(values) and all(isinstance(one, (Mapping, Keywords)) or _is_made(one) for one in values)


def _is_made(value: Value) -> bool:
    return isinstance(value, Instance) and isinstance(value.of, Class) and value.call >= 0


def _is_made_by_caller(world: Engine, name: str, site: Site) -> bool:
    """Whether the argument for a parameter is what a constructor has made, called there or for a name of the caller."""
    function = Function(site.file, site.scope)
    actual = world.parameters.bound(function, name, site.frame).actual if site.frame is not None else None
    if actual is None or actual.expr is None or actual.site is None:
        return False
    expr, where = actual.expr, actual.site
    if isinstance(expr, Name):
        found = world.symbols.lookup(expr.id, where)
        if len(found) != 1 or found[0][0].expr is None or found[0][0].kind != "value":
            return False
        expr, where = found[0][0].expr, found[0][1]
    if not isinstance(expr, CallRef):
        return False
    callees = world.calls.callees(where.file, expr.index, where.frame)
    return bool(callees) and all(isinstance(one, Class) or one in _NAMESPACES for one in callees)


def _keeps(world: Engine, value: Value, name: str, site: Site) -> bool:
    """Whether an attribute of a value is set once, by code of the project: of a module, a class, a command line, or an
    object that a call in the project creates, of a class without bases from outside."""
    if isinstance(value, Instance) and isinstance(value.of, Class) and value.call >= 0:
        once = set_once(world, value, name)
        bases = {world.knowledge.canonical(one) for one in world.hierarchy.externals(value.of)}
        plain = bases.difference(_PLAIN).issubset(world.knowledge.without_state)
        return once and plain and not may_be_set_outside(world, value, name)
    if isinstance(value, (Mapping, Keywords)):
        return _is_written(world, value, site)
    return isinstance(value, (Module, Class, Parsed))


def _returns_stable(world: Engine, index: int, site: Site, depth: int) -> bool:
    """Whether what a call returns is known: of `isinstance` and `len`, or of functions of the project."""
    call = site.file.calls[index]
    if call.func in (Name("isinstance"), Name("len")):
        return bool(call.args) and is_stable(world, call.args[0].value, site, depth - 1)
    if isinstance(call.func, Attribute) and call.func.attr == "get":
        return is_stable(world, call.func.value, site, depth - 1) and _is_plain_dict(world, call.func.value, site)
    if not isinstance(call.func, Name):
        return False
    callees = world.calls.callees(site.file, index, site.frame)
    for one in callees:
        if not isinstance(one, Function):
            return False
        returns = one.file.scopes[one.scope].events_of("return")
        if limits.TESTED_RETURNS.exceeded(len(returns)):
            return False
        for event in returns:
            there = Site(one.file, one.scope, event.region, event.span.start, one.frame)
            if event.value is not None and not is_stable(world, event.value, there, depth - 1):
                return False
    return bool(callees)


def _is_plain_dict(world: Engine, expr: Expr, site: Site) -> bool:
    """Whether an expression is only dicts that the project writes and never changes, or None in their place."""
    if isinstance(expr, Name):
        found = world.symbols.lookup(expr.id, site)
        if len(found) == 1 and found[0][0].kind == "value" and isinstance(found[0][0].expr, BoolOp):
            binding, site = found[0]
            assert isinstance(binding.expr, BoolOp)
            # What an operand is must be known of each: of one that is unknown, the others remain.
            return all(_is_plain_dict(world, part, site) for part in binding.expr.values)
    values = world.values.evaluate(expr, site)
    return bool(values) and all(one == const(None) or _is_written(world, one, site) for one in values)


def _is_written(world: Engine, value: Value, site: Site) -> bool:
    """Whether a container has only what the project writes into it where it is made."""
    if not isinstance(value, (Mapping, Keywords)) or any(world.mappings.changes_of(value)):
        return False
    return isinstance(value, Keywords) or not is_handed_out(world, value, site.file)


def is_handed_out(world: Engine, value: Display | Mapping, file: SourceFile) -> bool:
    """Whether a container is passed to a function from outside the project, which may fill it."""
    if value.owner is None:
        return False
    key = ("handed out", value)
    known = file.interned.get(key)
    if known is None:
        known = file.interned[key] = _passes(world, value.owner[1])
    return bool(known)


def _passes(world: Engine, owner: str) -> bool:
    name = owner.rpartition(".")[2]
    return any(
        any(last_name(one.value) == name for one in file.calls[index].args) and not _is_harmless(world, file, index)
        for file, scope in world.loaded(name)
        for index in file.calls_of(scope)
    )


def _is_harmless(world: Engine, file: SourceFile, index: int) -> bool:
    """Whether a call changes none of its arguments unseen: a builtin function, or one of the project."""
    call = file.calls[index]
    if isinstance(call.func, Name) and call.func.id in PURE and call.func.id not in file.scopes_binding:
        return True
    callees = world.calls.callees(file, index, None)
    return bool(callees) and all(isinstance(one, (Function, Class)) for one in callees)
