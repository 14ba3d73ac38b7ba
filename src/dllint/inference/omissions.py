"""What an object never does to its own containers: in methods of classes that it is not of, and in those that its
construction calls only under tests that are false for it (`if cache: self.read()`), and in branches that it never
takes."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.values import Class, Function, Instance


def omits(world: Engine, change: Change, receiver: Instance) -> bool:
    """Whether an object never makes a change of a container of `self`, or of something that `self` keeps."""
    owner = change.file.method_of(change.scope)
    if owner is None or not isinstance(receiver.of, Class) or receiver.call < 0:
        return False
    params = change.file.scopes[change.scope].params
    if not params or _root(change.base) != Name(params[0].name):
        return False
    cls = Class(change.file, owner)
    if cls not in world.hierarchy.line(receiver.of):
        return True
    if change.region and world.untaken(change.site(world.stores.method_frame(receiver, cls, change.scope))):
        return True
    return _is_never_called(world, Function(change.file, change.scope), receiver, limits.CONSTRUCTOR_STEPS.most)


def _is_never_called(world: Engine, method: Function, receiver: Instance, depth: int) -> bool:
    """Whether only methods of the object's own classes call a method, each in a branch that is not taken for it."""
    if method.name == "__init__" or depth == 0 or not world.memory.enter():
        return False
    try:
        callers = world.calls.callers(method)
    finally:
        world.memory.leave()
    assert isinstance(receiver.of, Class)
    line = world.hierarchy.line(receiver.of)
    for caller in callers:
        call = caller.file.calls[caller.call] if caller.call >= 0 else None
        owner = caller.file.method_of(call.scope) if call is not None else None
        if call is None or owner is None or Class(caller.file, owner) not in line:
            return False
        frame = world.stores.method_frame(receiver, Class(caller.file, owner), call.scope)
        taken = not world.untaken(world.call_site(caller.file, caller.call, frame))
        if taken and not _is_never_called(world, Function(caller.file, call.scope), receiver, depth - 1):
            return False
    return bool(callers)


def _root(expr: Expr) -> Expr:
    while isinstance(expr, (Attribute, Subscript)):
        expr = expr.value
    return expr
