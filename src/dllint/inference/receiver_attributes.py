"""Attributes of the object that a method runs on: what a calling method has set, and whether other code sets them."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, Expr, Name
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.names import CONSTRUCTORS
from dllint.inference.values import Class, External, Instance, Module, Parsed, Site, Value
from dllint.linking.assignments import Store
from dllint.linking.expressions import walk
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
        if store.key == test.attr and store.base == receiver and store.event.span.start < call.statement.start
    ]
    last = found[-1] if found else None
    if last is None or last.value is None or not file.encloses(last.event.region, call.region):
        return None
    at = last.event.span.start
    return last.value, Site(file, call.scope, last.event.region, at, frame.parent)


def set_once(world: Engine, value: Instance, name: str) -> bool:
    """Whether methods of an object set an attribute at most once: in its class only one statement does, or only one
    that is not in a branch which this object never takes."""
    assert isinstance(value.of, Class)
    line = (one for one in world.hierarchy.line(value.of) if isinstance(one, Class))
    stores = [(one, store) for one in line for store in world.stores.own_stores(one).get(name, ())]
    if limits.STORES_OF_ATTRIBUTE.exceeded(len(stores)) or any(_is_asked_first(one, store) for one, store in stores):
        return False
    return len(stores) < 2 or sum(not world.stores.skipped(world.stores.store_site(value, *one)) for one in stores) < 2


def _is_asked_first(cls: Class, store: Store) -> bool:
    """Whether an assignment is behind a test of the attribute itself, which had another value before, or none."""
    wanted = Attribute(store.base, store.key) if isinstance(store.key, str) else None
    tests = (cls.file.facts.regions[one].expr for one in cls.file.regions(store.event.region))
    return any(part == wanted for test in tests if test is not None for part in walk(test, cls.file))


def may_be_set_outside(world: Engine, value: Instance, name: str) -> bool:
    """Whether code that is not the object's own may set an attribute of it: not where all objects that the code sets it
    on are known, and of other kinds."""
    stores = world.stores.outside_stores(name)
    if limits.OUTSIDE_STORES.exceeded(len(stores)):
        return True
    for file, store in stores:
        at = store.event.span.start
        bases = world.values.evaluate(store.base, Site(file, store.scope, store.event.region, at, None))
        if not bases or not all(_is_another(world, one, value) for one in bases):
            return True
    return False


def _is_another(world: Engine, base: Value, value: Instance) -> bool:
    """Whether a value is certainly not the object: a namespace, a module, or an object of an unrelated class."""
    if not isinstance(base, Instance) or not isinstance(base.of, Class) or not isinstance(value.of, Class):
        return isinstance(base, (Parsed, Module)) or (isinstance(base, Instance) and isinstance(base.of, External))
    return base.of not in world.hierarchy.line(value.of) and value.of not in world.hierarchy.line(base.of)


def _receiver(file: SourceFile, scope: int) -> Name | None:
    params = file.scopes[scope].params if file.method_of(scope) is not None else ()
    return Name(params[0].name) if params else None
