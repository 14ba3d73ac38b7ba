"""Closed expressions, whose value does not depend on the program's run.

They consist of constants, of operators and builtin functions applied to constants, and of names that no program
rebinds. `len(())` is 0 and `os.environ is None` is false anywhere.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from operator import getitem
from types import BuiltinFunctionType
from typing import Any

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    BoolOp,
    Bytes,
    CallRef,
    Compare,
    Comprehension,
    Constant,
    Dict,
    FString,
    IfExp,
    LambdaRef,
    Name,
    Not,
    Set,
    Slice,
    Subscript,
    Tuple,
    UnaryOp,
    Walrus,
)
from dllint.facts.nodes import List as ListOf
from dllint.facts.schema import Call, Event, Expr
from dllint.linking.arithmetic import ANY, combined, done, signed
from dllint.linking.partly_known import VAGUE, Either, KeysOnly, Member, Present
from dllint.linking.source import SourceFile

DEPTH = 8
_MOST_ELEMENTS = 200
"""The most items of the comprehensions of one test: one inside another is worked out for each item."""
_MOST_ITEMS = 1000
"""The most items that a builtin may iterate."""


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
    "__debug__": True,
    **dict.fromkeys(("__file__", "__import__", "Ellipsis"), Present(True)),
    "NotImplemented": Present(None),
}
"""Names that every module has, and constants of Python."""
_MODULES = frozenset({"sys", "os", "platform", "typing", "typing_extensions"})
PURE: Mapping[str, Callable[..., Any]] = {
    **{one.__name__: one for one in (abs, all, any, bool, dict, float, frozenset, int, len, list, max, min)},
    **{one.__name__: one for one in (range, round, set, sorted, str, sum, tuple)},
    **{one.__name__: one for one in (callable, isinstance, issubclass, chr, divmod, ord)},
    # What these return is true even if there is nothing to iterate, so they are evaluated inside another builtin only.
    **{one.__name__: one for one in (enumerate, filter, map, reversed, zip)},
    "type": lambda value: dict if isinstance(value, KeysOnly) else type(value),
    **dict.fromkeys(("id", "object"), lambda *given: Present(True)),
}
"""Builtin functions that only inspect their arguments."""
_OF_KEYS = frozenset(
    {
        *("all", "any", "bool", "enumerate", "frozenset", "isinstance", "len", "list", "max", "min", "set", "sorted"),
        *("tuple", "type"),
    }
)
"""Those that depend on the keys of a dict alone."""
_OF_TEXTS = frozenset(
    {"capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdecimal", "isdigit", "isidentifier"}
    | {"islower", "isspace", "isupper", "join", "lower", "lstrip", "removeprefix", "removesuffix", "rstrip"}
    | {"split", "startswith", "strip", "title", "upper"}
)
"""String methods whose result is about as long as their input."""
_OF_DICTS = frozenset({"get", "items", "keys", "values"})
_EMPTY: Mapping[str, Any] = {"list": [], "set": set(), "dict": {}}
"""What a comprehension without items creates, by its kind; a generator is true all the same."""


def _bounded(function: Callable[..., Any] | None, values: Sequence[Any]) -> Any:
    """Call a function; `ANY` if it would iterate many items."""
    if function is None or any(isinstance(one, Sized) and len(one) > _MOST_ITEMS for one in values):
        return ANY
    return function(*values)


def truth(value: Any) -> bool | None:
    """Return the truth value of a value; None if unknown."""
    if value is ANY:
        return None
    return value.true if isinstance(value, VAGUE) else bool(value)


def iterates(value: Any) -> bool | None:
    """Whether iterating a value gives an item; None if unknown."""
    if isinstance(value, Iterator):
        return next(value, ANY) is not ANY
    return truth(value) if isinstance(value, Sized) and not isinstance(value, VAGUE) else None


def never_met(file: SourceFile, region: int) -> bool:
    """Whether the condition of a region is closed and never true: of an `if`, a `while`, or a `for` over an empty
    iterable."""
    known = file.never_met.get(region)
    if known is None:
        entry = file.facts.regions[region]
        true = None
        if entry.kind in ("if", "while") and entry.expr is not None:
            true = truth(ClosedValues(file).value(entry.expr))
        elif entry.kind == "for" and entry.expr is not None:
            true = iterates(ClosedValues(file).value(entry.expr))
        known = file.never_met[region] = true is not None and true is not entry.holds
    return known


class ClosedValues:
    """The values of the closed expressions of one file."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self._room = _MOST_ELEMENTS
        self.bound: Mapping[str, Any] = {}
        """The targets of the comprehensions around."""

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
                return self._operand(op, [self.value(part, depth - 1) for part in values])
            case IfExp(test, body, orelse):
                true = truth(self.value(test, depth - 1))
                return ANY if true is None else self.value(body if true else orelse, depth - 1)
            case Tuple(elements) | ListOf(elements) | Set(elements):
                return self._display(expr, self._all(elements, depth))
            case Dict(items):
                return self._dict(items, depth)
            case Comprehension():
                return self._comprehension(expr, depth)
            case Subscript(value, index):
                return self._item(self.value(value, depth - 1), index, depth)
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
            if value is ANY or isinstance(value, VAGUE):
                return None
            found.append(value)
        return found

    def _comprehension(self, expr: Comprehension, depth: int) -> Any:
        """Return the elements of a comprehension: none of an empty iterable, or those of a few constants."""
        (target, iterable, ifs), *others = expr.clauses
        items = self.value(iterable, depth - 1)
        if iterates(items) is False:
            return _EMPTY.get(expr.kind, iter(()))
        if others or expr.kind == "dict" or not isinstance(target, Name) or not isinstance(items, (list, tuple, range)):
            return ANY
        self._room -= len(items)
        if self._room < 0:
            return ANY
        found = []
        around = self.bound
        for item in items:
            self.bound = {**around, target.id: item}
            tests = [truth(self.value(one, depth - 1)) for one in ifs]
            element = self.value(expr.element, depth - 1) if False not in tests else None
            self.bound = around
            if None in tests or element is ANY or isinstance(element, VAGUE):
                return ANY
            if False not in tests:
                found.append(element)
        return iter(found) if expr.kind == "generator" else done(set if expr.kind == "set" else list, found)

    @staticmethod
    def _operand(op: str, values: list[Any]) -> Any:
        """Return the operand that an `and` or `or` gives."""
        deciding = op == "or"
        known = [truth(value) for value in values]
        if deciding in known:
            first = known.index(deciding)
            return values[first] if None not in known[:first] else Either(deciding)
        return ANY if None in known else values[-1]

    @staticmethod
    def _boolean(op: str, given: list[bool | None]) -> Any:
        if any(one is (op == "or") for one in given):
            return op == "or"
        return ANY if None in given else op == "and"

    def _display(self, expr: Expr, values: list[Any] | None) -> Any:
        if values is None:
            return ANY
        make = list if isinstance(expr, ListOf) else tuple if isinstance(expr, Tuple) else set
        return done(make, values)

    def _dict(self, items: Sequence[tuple[Expr | None, Expr]], depth: int) -> Any:
        keys = [key for key, _ in items if key is not None]
        given = self._all(keys, depth) if len(keys) == len(items) else None
        if given is None:
            return ANY
        values = self._all([value for _, value in items], depth)
        return done(KeysOnly.fromkeys, given) if values is None else done(dict, zip(given, values, strict=True))

    def _item(self, value: Any, index: Expr, depth: int) -> Any:
        """Return an item or a slice of a closed container; `ANY` if there is none."""
        if not isinstance(value, (str, list, tuple, dict)) or isinstance(value, (*VAGUE, KeysOnly)):
            return ANY
        bounds = [index.lower, index.upper, index.step] if isinstance(index, Slice) else [index]
        given = self._all([Constant(None) if one is None else one for one in bounds], depth)
        if given is None:
            return ANY
        return done(getitem, value, slice(*given) if isinstance(index, Slice) else given[0])

    def _compared(self, left: Expr, comparisons: Sequence[tuple[str, Expr]], depth: int) -> Any:
        one, answers = self.value(left, depth - 1), []
        for op, right in comparisons:
            other = self.value(right, depth - 1)
            answers.append(self.pair(op, one, other))
            one = other
        return self._boolean("and", [truth(answer) for answer in answers])

    def pair(self, op: str, left: Any, right: Any) -> Any:
        if left is ANY or right is ANY or isinstance(left, Either) or isinstance(right, Either):
            return ANY
        if isinstance(left, KeysOnly) or isinstance(right, KeysOnly):
            return combined(op, left, right) if op in ("in", "not in", "is", "is not") else ANY
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
            return self.returned(call.func.scope, depth)
        if not isinstance(call.func, Name):
            return ANY
        if not self._is_builtin(call.func.id):
            function = self.function(call.func.id)
            return ANY if function is None else self.returned(function, depth)
        values = self._arguments(call, depth)
        if values is None or (call.func.id not in _OF_KEYS and any(isinstance(one, KeysOnly) for one in values)):
            return ANY
        return done(_bounded, PURE.get(call.func.id), values)

    def returned(self, scope: int, depth: int) -> Any:
        """Return what every call of a function returns: it has one statement, a `return`."""
        entry = self.file.scopes[scope]
        match [one for one in entry.events if one.kind != "expr" or not isinstance(one.value, Constant)]:
            case [Event("return", _, 0, _, value)] if value is not None and not entry.is_async:
                return self.value(value, depth - 1)
        return ANY

    def method(self, call: Call, func: Attribute, depth: int) -> Any:
        """Evaluate a method call on a known string or dict."""
        owner = self.value(func.value, depth - 1)
        known = func.attr in (_OF_TEXTS if isinstance(owner, str) else _OF_DICTS if type(owner) is dict else ())
        values = self._arguments(call, depth) if known else None
        return ANY if values is None else done(_bounded, getattr(owner, func.attr), values)

    def _arguments(self, call: Call, depth: int) -> list[Any] | None:
        """Return the values of a call's arguments; None if any is unknown or passed by keyword."""
        plain = [one.value for one in call.args if one.keyword is None]
        given = self._all(plain, depth) if len(plain) == len(call.args) else None
        return None if given is None or any(isinstance(one, Member) for one in given) else given

    def named(self, expr: Name | Attribute, depth: int) -> Any:
        if isinstance(expr, Attribute):
            return _NAMES.get(self.dotted(expr), ANY)
        if expr.id in self.bound:
            return self.bound[expr.id]
        known = self.file.closed_names
        if expr.id not in known:
            known[expr.id] = self._named(expr)
        return known[expr.id]

    def _named(self, expr: Name) -> Any:
        found = _NAMES.get(self.dotted(expr), ANY)
        if found is ANY:
            if self._is_builtin(expr.id):
                known = getattr(builtins, expr.id, None)
                return known if isinstance(known, (type, BuiltinFunctionType)) else _OF_MODULES.get(expr.id, ANY)
            if self._is_module(expr.id) or self.function(expr.id) is not None:
                return Present(True)
        return found

    def _is_builtin(self, name: str) -> bool:
        """Whether a name is a builtin or predefined in every module, and nothing in the file binds it."""
        if name not in _OF_MODULES and (not hasattr(builtins, name) or name.startswith("__")):
            return False
        return not any(one in self.file.scopes_binding for one in (name, "*"))

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

    def function(self, name: str) -> int | None:
        """Return the scope of the undecorated function that a name refers to throughout the file."""
        found = self.file.bindings(0).get(name, ())
        event = found[0].event if len(found) == 1 else None
        if not isinstance(event, Event) or event.kind != "def" or not isinstance(event.detail, int):
            return None
        return event.detail if self.bound_once(name) and not self.file.scopes[event.detail].decorators else None

    def bound_once(self, name: str) -> bool:
        """Whether a name has a single binding in the whole file."""
        return self.file.scopes_binding.get(name) == 1 and not self.file.bindings_within(0, name)

    def dotted(self, expr: Expr) -> str:
        """Return the full name that the file's imports give a name: `sys.platform`; "" if there is none."""
        if isinstance(expr, Attribute):
            base = self.dotted(expr.value)
            return base and f"{base}.{expr.attr}"
        if not isinstance(expr, Name) or (imported := self._imported().get(expr.id)) is None:
            return ""
        module, name = imported
        if name is None:
            return module
        return f"{module}.{name}" if self.bound_once(expr.id) else ""

    def _imported(self) -> Mapping[str, tuple[str, str | None]]:
        """Return the names that the file imports from the modules of `_NAMES`, each with the module and the name
        there."""
        found = self.file.standard_names
        if found is None:
            found = self.file.standard_names = {}
            for _, _, (module, name, alias, level) in self.file.imports():
                if module in _MODULES and not level:
                    found.setdefault(alias or name or module, (module, name))
        return found
