"""Classes whose objects cannot be unpickled, because `__getattr__` reads an attribute that does not exist yet.

Unpickling creates the object without `__init__` and looks up `__setstate__` on it (CPython, `Lib/pickle.py`,
`load_build`) before it has attributes: `__getattr__` is called, and calls itself for the attribute that it reads.
Measured with CPython 3.11.7: the worker ends with RecursionError under spawn and forkserver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BoolOp, CallRef, Comprehension, Constant, IfExp, LambdaRef, Name
from dllint.facts.schema import Expr
from dllint.inference.generators import makes_generator
from dllint.inference.values import Class, Function
from dllint.libraries.index import canonical
from dllint.libraries.pickling import Refusal, always
from dllint.linking.source import SourceFile

if TYPE_CHECKING:
    from dllint.project.model import Project

RECURSION = Refusal(
    "an object whose `__getattr__` calls itself",
    always("RecursionError: maximum recursion depth exceeded"),
    "recursion",
)
_RESTORING = ("__setstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__getattribute__")
_PLAIN = frozenset(
    {"object", "abc.ABC", "typing.Generic", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset"}
)
"""Bases that define neither `__setstate__` nor attributes of the class."""


def recursive_getattr(project: Project, cls: Class) -> Function | None:
    """The `__getattr__` of a class that provably calls itself while one of its objects is unpickled; None if there
    is none."""
    hierarchy = project.world.hierarchy
    method = hierarchy.method(cls, "__getattr__")
    if method is None or any(hierarchy.method(cls, name) is not None for name in _RESTORING):
        return None
    if any(canonical(name) not in _PLAIN for name in hierarchy.externals(cls)):
        return None
    scope = method.file.scopes[method.scope]
    params = scope.params
    # A generator function runs its body later, if ever.
    if len(params) != 2 or scope.decorators or makes_generator(scope):
        return None
    attr = _read_first(method, params[0].name)
    line = [one for one in hierarchy.line(cls) if isinstance(one, Class)]
    kept = any(attr in project.world.stores.own_stores(one) for one in line)
    of_class = any(attr in one.file.bindings(one.scope) for one in line)
    return method if attr is not None and kept and not of_class else None


def _read_first(method: Function, receiver: str) -> str | None:
    """The attribute of its object that a method reads in its first statement for any argument; None if there is
    none."""
    file, scope = method.file, method.file.scopes[method.scope]
    for event in scope.events:
        if event.kind == "expr" and isinstance(event.value, (Constant, type(None))):
            continue
        around = [file.facts.regions[index] for index in file.regions(event.region)]
        if not around:
            return _first_attribute(event.value, receiver, file)
        return _first_attribute(around[-1].expr, receiver, file) if around[-1].kind == "if" else None
    return None


def _first_attribute(expr: Expr | None, receiver: str, file: SourceFile) -> str | None:
    """The first `self.attr` in an expression that is evaluated unconditionally."""
    if expr is None or isinstance(expr, (LambdaRef, Comprehension)):
        return None
    if isinstance(expr, Attribute) and expr.value == Name(receiver):
        return None if expr.attr.startswith("__") else expr.attr
    if isinstance(expr, BoolOp):
        parts: list[Expr] = [expr.values[0]]
    elif isinstance(expr, IfExp):
        parts = [expr.test]
    elif isinstance(expr, CallRef):
        call = file.calls[expr.index]
        parts = [call.func, *(argument.value for argument in call.args)]
    else:
        parts = list(expr.children())
    return next((found for part in parts if (found := _first_attribute(part, receiver, file)) is not None), None)
