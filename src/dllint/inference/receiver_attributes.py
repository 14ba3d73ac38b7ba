"""Attributes that a method sets before it calls another method of the same object, which tests them."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, Expr, Name
from dllint.inference.interface import Engine
from dllint.inference.names import CONSTRUCTORS
from dllint.inference.values import Class, Instance, Site
from dllint.linking.source import SourceFile


def stored_by_caller(world: Engine, test: Attribute, where: Site) -> tuple[Expr, Site] | None:
    """Return what the calling method has assigned to an attribute of the receiver before the call, and where: `plot`
    for `self.plot` in a method called after `self.plot = plot`. None if no single assignment is known to be the
    last."""
    frame = where.frame
    if frame is None or frame.call is None or test.value != _receiver(where.file, where.scope):
        return None
    path, index = frame.call
    file = world.files[path]
    call = file.calls[index]
    owner, receiver = file.method_of(call.scope), _receiver(file, call.scope)
    if owner is None or not isinstance(call.func, Attribute) or call.func.value != receiver:
        return None
    cls = frame.receiver.of if isinstance(frame.receiver, Instance) else Class(file, owner)
    if not isinstance(cls, Class):
        return None
    classes = (one for one in world.hierarchy.line(cls) if isinstance(one, Class))
    for one in classes:
        for store in world.stores.own_stores(one).get(test.attr, ()):
            here = one.file is file and store.scope == call.scope
            if not here and one.file.scopes[store.scope].name not in CONSTRUCTORS:
                return None
    found = [
        store
        for store in file.stores(call.scope)
        if store.key == test.attr
        and store.base == receiver
        and (store.event.span.line, store.event.span.column) < (call.statement.line, call.statement.column)
    ]
    last = found[-1] if found else None
    if last is None or last.value is None or not file.encloses(last.event.region, call.region):
        return None
    at = (last.event.span.line, last.event.span.column)
    return last.value, Site(file, call.scope, last.event.region, at, frame.parent)


def _receiver(file: SourceFile, scope: int) -> Name | None:
    params = file.scopes[scope].params if file.method_of(scope) is not None else ()
    return Name(params[0].name) if params else None
