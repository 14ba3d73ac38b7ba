"""Closed expressions, whose value does not depend on the program's run.

They consist of constants, of operators and builtin functions applied to constants, and of names that no program
rebinds. `len(())` is 0 and `os.environ is None` is false anywhere.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence, Sized
from types import BuiltinFunctionType
from typing import Any, NamedTuple

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    BoolOp,
    Bytes,
    CallRef,
    Compare,
    Constant,
    Dict,
    FString,
    IfExp,
    LambdaRef,
    Name,
    Not,
    Set,
    Tuple,
    UnaryOp,
    Walrus,
)
from dllint.facts.nodes import List as ListOf
from dllint.facts.schema import Call, Event, Expr
from dllint.linking.arithmetic import ANY, combined, done, signed
from dllint.linking.source import SourceFile

DEPTH = 8
_MOST_ITEMS = 1000
"""The most items that a builtin may iterate."""


class Present(NamedTuple):
    """A value that is not None. `true` is its truth value; None if unknown."""

    true: bool | None


_NAMES: Mapping[str, Any] = {
    "typing.TYPE_CHECKING": False,
    "typing_extensions.TYPE_CHECKING": False,
    **dict.fromkeys(("os.environ", "sys.argv", "sys.path", "sys.flags", "sys.version"), Present(None)),
    **dict.fromkeys(("os.path", "sys.executable", "sys.stdlib_module_names"), Present(None)),
    **dict.fromkeys(("sys.platform", "sys.version_info", "sys.maxsize", "sys.byteorder", "os.name"), Present(True)),
    "sys.modules": Present(True),
}
"""Names of the standard library that no program sets to None (docs.python.org, `typing`, `os`, `sys`)."""
_OF_MODULES: Mapping[str, Any] = {
    "__debug__": Present(None),
    **dict.fromkeys(("__file__", "__import__", "Ellipsis"), Present(True)),
}
"""Names that every module has, and constants of Python."""
_MODULES = frozenset({"sys", "os", "platform", "typing", "typing_extensions"})
_PURE: Mapping[str, Callable[..., Any]] = {
    **{one.__name__: one for one in (abs, all, any, bool, dict, float, frozenset, int, len, list, max, min)},
    **{one.__name__: one for one in (range, round, set, sorted, str, sum, tuple)},
    **{one.__name__: one for one in (callable, isinstance, issubclass)},
    "type": lambda value: type(value),
    **dict.fromkeys(("id", "object"), lambda *given: Present(True)),
}
"""Builtin functions that only inspect their arguments."""
_OF_TEXTS = frozenset(
    {"capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdecimal", "isdigit", "isidentifier"}
    | {"islower", "isspace", "isupper", "join", "lower", "lstrip", "removeprefix", "removesuffix", "rstrip"}
    | {"split", "startswith", "strip", "title", "upper"}
)
"""String methods whose result is about as long as their input."""


def _bounded(function: Callable[..., Any] | None, values: Sequence[Any]) -> Any:
    """Call a function; `ANY` if it would iterate many items."""
    if function is None or any(isinstance(one, Sized) and len(one) > _MOST_ITEMS for one in values):
        return ANY
    return function(*values)


def truth(value: Any) -> bool | None:
    """Return the truth value of a value; None if unknown."""
    if value is ANY:
        return None
    return value.true if isinstance(value, Present) else bool(value)


def never_met(file: SourceFile, region: int) -> bool:
    """Whether the condition of a region is closed and never true: of an `if`, a `while`, or a `for` over an empty
    iterable."""
    known = file.never_met.get(region)
    if known is None:
        entry = file.facts.regions[region]
        true = None
        if entry.kind in ("if", "while", "for") and entry.expr is not None:
            true = truth(ClosedValues(file).value(entry.expr))
        known = file.never_met[region] = true is not None and true is not entry.holds
    return known


class ClosedValues:
    """The values of the closed expressions of one file."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file

    def value(self, expr: Expr, depth: int = DEPTH) -> Any:
        """Evaluate an expression: to a `Present` if little is known, or `ANY` if it is not closed."""
        if depth == 0:
            return ANY
        match expr:
            case Constant(value):
                return value
            case Bytes(length):
                return Present(length > 0)
            case LambdaRef():
                return Present(True)
            case Not(operand):
                true = truth(self.value(operand, depth - 1))
                return ANY if true is None else not true
            case BoolOp(op, values):
                return self._boolean(op, [truth(self.value(part, depth - 1)) for part in values])
            case IfExp(test, body, orelse):
                true = truth(self.value(test, depth - 1))
                return ANY if true is None else self.value(body if true else orelse, depth - 1)
            case Tuple(elements) | ListOf(elements) | Set(elements):
                return self._display(expr, self._all(elements, depth))
            case Dict(items):
                return self._dict(items, depth)
            case Compare(left, comparisons):
                return self._compared(left, comparisons, depth)
            case UnaryOp(op, operand):
                return signed(op, self.value(operand, depth - 1))
            case BinOp(op, left, right):
                return self.pair(op, self.value(left, depth - 1), self.value(right, depth - 1))
            case FString(values):
                texts = self._all(values, depth)
                return ANY if texts is None or not all(isinstance(one, str) for one in texts) else "".join(texts)
            case Walrus(_, value):
                return self.value(value, depth - 1)
            case CallRef(number):
                return self.called(number, depth)
            case Name() | Attribute():
                return self.named(expr, depth)
        return ANY

    def _all(self, parts: Sequence[Expr], depth: int) -> list[Any] | None:
        """Return the values of all parts; None if any is unknown."""
        if len(parts) > _MOST_ITEMS:
            return None
        found = []
        for part in parts:
            value = self.value(part, depth - 1)
            if value is ANY or isinstance(value, Present):
                return None
            found.append(value)
        return found

    @staticmethod
    def _boolean(op: str, given: list[bool | None]) -> Any:
        if any(one is (op == "or") for one in given):
            return op == "or"
        return ANY if None in given else op == "and"

    def _display(self, expr: Expr, values: list[Any] | None) -> Any:
        if values is None:
            return ANY
        make = list if isinstance(expr, ListOf) else tuple if isinstance(expr, Tuple) else frozenset
        return done(make, values)

    def _dict(self, items: Sequence[tuple[Expr | None, Expr]], depth: int) -> Any:
        keys = [key for key, _ in items if key is not None]
        given = self._all(keys, depth) if len(keys) == len(items) else None
        return ANY if given is None else done(dict.fromkeys, given)

    def _compared(self, left: Expr, comparisons: Sequence[tuple[str, Expr]], depth: int) -> Any:
        one, answers = self.value(left, depth - 1), []
        for op, right in comparisons:
            other = self.value(right, depth - 1)
            answers.append(self.pair(op, one, other))
            one = other
        return self._boolean("and", [truth(answer) for answer in answers])

    def pair(self, op: str, left: Any, right: Any) -> Any:
        if left is ANY or right is ANY:
            return ANY
        if isinstance(left, Present) or isinstance(right, Present):
            # Of a `Present` only one thing is known: it is not None.
            none = left is None or right is None
            return op in ("is not", "!=") if none and op in ("is", "is not", "==", "!=") else ANY
        return combined(op, left, right)

    def called(self, number: int, depth: int) -> Any:
        call = self.file.calls[number]
        if isinstance(call.func, Attribute):
            return self.method(call, call.func, depth)
        if isinstance(call.func, LambdaRef) and not call.args:
            returned = [one.value for one in self.file.scopes[call.func.scope].events if one.kind == "return"]
            return self.value(returned[0], depth - 1) if len(returned) == 1 and returned[0] is not None else ANY
        if not isinstance(call.func, Name) or not self._is_builtin(call.func.id):
            return ANY
        values = self._arguments(call, depth)
        return ANY if values is None else done(_bounded, _PURE.get(call.func.id), values)

    def method(self, call: Call, func: Attribute, depth: int) -> Any:
        """Evaluate a method call on a known string."""
        text = self.value(func.value, depth - 1)
        values = self._arguments(call, depth) if isinstance(text, str) and func.attr in _OF_TEXTS else None
        return ANY if values is None else done(_bounded, getattr(text, func.attr), values)

    def _arguments(self, call: Call, depth: int) -> list[Any] | None:
        """Return the values of a call's arguments; None if any is unknown or passed by keyword."""
        plain = [one.value for one in call.args if one.keyword is None]
        return self._all(plain, depth) if len(plain) == len(call.args) else None

    def named(self, expr: Name | Attribute, depth: int) -> Any:
        found = _NAMES.get(self.dotted(expr), ANY)
        if found is ANY and isinstance(expr, Name):
            if self._is_builtin(expr.id):
                known = getattr(builtins, expr.id, None)
                return known if isinstance(known, (type, BuiltinFunctionType)) else _OF_MODULES.get(expr.id, ANY)
            if self._is_module(expr.id) or self._is_function(expr.id):
                return Present(True)
        return found

    def _is_builtin(self, name: str) -> bool:
        """Whether a name is a builtin or predefined in every module, and nothing in the file binds it."""
        if name not in _OF_MODULES and (not hasattr(builtins, name) or name.startswith("__")):
            return False
        return not self.file.scopes_binding.keys() & {name, "*"}

    def _is_module(self, name: str) -> bool:
        """Whether a name refers to an imported module throughout the file."""
        found = self.file.bindings(0).get(name, ())
        event = found[0].event if len(found) == 1 else None
        if not isinstance(event, Event) or event.kind != "import" or not self.bound_once(name):
            return False
        return any(
            origin is None and (alias or module.partition(".")[0]) == name
            for _, _, (module, origin, alias, _) in self.file.imports()
        )

    def _is_function(self, name: str) -> bool:
        """Whether a name refers to an undecorated function throughout the file."""
        found = self.file.bindings(0).get(name, ())
        event = found[0].event if len(found) == 1 else None
        if not isinstance(event, Event) or event.kind != "def" or not isinstance(event.detail, int):
            return False
        return self.bound_once(name) and not self.file.scopes[event.detail].decorators

    def bound_once(self, name: str) -> bool:
        """Whether a name has a single binding in the whole file."""
        return self.file.scopes_binding.get(name) == 1 and not self.file.bindings_within(0, name)

    def dotted(self, expr: Expr) -> str:
        """Return the full name that the file's imports give a name: `sys.platform`; "" if there is none."""
        if isinstance(expr, Attribute):
            base = self.dotted(expr.value)
            return base and f"{base}.{expr.attr}"
        if isinstance(expr, Name):
            for _, _, (module, name, alias, level) in self.file.imports():
                if module in _MODULES and not level and (alias or name or module) == expr.id:
                    if name is None:
                        return module
                    return f"{module}.{name}" if self.bound_once(expr.id) else ""
        return ""
