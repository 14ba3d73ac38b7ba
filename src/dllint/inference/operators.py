"""Operators, truth and comparisons of values, with the special methods of the project's classes."""

from __future__ import annotations

from dllint.facts.nodes import BinOp, BoolOp, Compare, Dict, Expr, FString, IfExp, Not
from dllint.inference import enumerations
from dllint.inference.folding import binary, truth
from dllint.inference.interface import Engine
from dllint.inference.narrowing import not_functions, passing, tests_callable
from dllint.inference.unions import union
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    Display,
    External,
    Instance,
    Keywords,
    Mapping,
    Pattern,
    Site,
    Value,
    Values,
    Written,
    const,
)
from dllint.linking.arithmetic import OPERATORS

_MAY_BE_FALSE = frozenset(
    {"bool", "int", "float", "str", "bytes", "list", "tuple", "set", "frozenset", "dict", "OrderedDict", "defaultdict"}
    | {"Counter", "deque", "IntEnum", "Flag", "IntFlag", "UserDict", "UserList", "Mapping", "Sequence", "Sequential"}
    | {"ModuleList", "ModuleDict"}
)
"""Last names of external classes whose objects are false if they are empty or zero."""

_SPECIAL = {"+": "add", "-": "sub", "*": "mul", "@": "matmul", "/": "truediv", "%": "mod", "|": "or", "&": "and"}
"""Operators → the middle of the names of their special methods (Python's data model, "Emulating numeric types")."""


class Operators:
    """Evaluates operators."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._unions: dict[int, Expr] = {}

    def truth(self, values: Values) -> bool | None:
        """Return the truth value that all values share; None if unknown. An object's `__bool__` or `__len__` is
        evaluated."""
        return truth(union(self._asked(value) for value in enumerations.plain(self.world, values)))

    def _asked(self, value: Value) -> Values:
        if isinstance(value, Instance) and isinstance(value.of, Class):
            for name in ("__bool__", "__len__"):
                if answer := self._by_own(value, name):
                    return answer
            if any(name.rsplit(".", 1)[-1] in _MAY_BE_FALSE for name in self.world.hierarchy.externals(value.of)):
                return (UNKNOWN,)
        return (value,)

    def conditional(self, expr: IfExp, site: Site) -> Values:
        decided = self.world.targets.decided(expr.test, site.file)
        if decided is None:
            decided = self.truth(self.world.values.evaluate(expr.test, site))
        if decided is not None:
            return self.world.values.evaluate(expr.body if decided else expr.orelse, site)
        values = self.world.values
        chosen = passing(self.world, expr.body, expr.test, True, site, values.evaluate(expr.body, site))
        other = passing(self.world, expr.orelse, expr.test, False, site, values.evaluate(expr.orelse, site))
        return union([chosen, not_functions(other) if tests_callable(expr.test, site.file) == expr.orelse else other])

    def boolean(self, expr: BoolOp, site: Site) -> Values:
        groups: list[Values] = []
        stops = expr.op == "or"
        for part in expr.values:
            values = self.world.values.evaluate(part, site)
            decided = self.truth(values)
            if decided is stops:
                groups.append(values)
                break
            if decided is None or part is expr.values[-1]:
                groups.append(
                    values
                    if part is expr.values[-1]
                    else tuple(value for value in values if self.truth((value,)) is not (not stops))
                )
        return union(groups)

    def negation(self, expr: Not, site: Site) -> Values:
        values = self.world.values.evaluate(expr.operand, site)
        answers = [self.truth((value,)) for value in values]
        return union((UNKNOWN,) if one is None else (const(not one),) for one in answers) or (UNKNOWN,)

    def binop(self, expr: BinOp, site: Site) -> Values:
        lefts, rights = self.world.values.evaluate(expr.left, site), self.world.values.evaluate(expr.right, site)
        if expr.op == "|" and any(isinstance(value, (Mapping, Keywords)) for value in (*lefts, *rights)):
            merged = self._unions.setdefault(id(expr), Dict(((None, expr.left), (None, expr.right))))
            return (Mapping(Written(merged, site)),)
        joined = [
            one.made_by(one.kind, Written(expr, site), other)
            for one in lefts
            for other in rights
            if expr.op == "+" and isinstance(one, Display) and isinstance(other, Display)
        ]
        if expr.op == "*" and (repeated := _repeated(expr, site, lefts, rights)):
            return union([repeated])
        if joined and len(joined) == len(lefts) * len(rights):
            return union([tuple(joined)])
        own = self._by_methods(expr.op, lefts, rights)
        if own and UNKNOWN not in own:
            return own
        plain = binary(expr.op, enumerations.plain(self.world, lefts), enumerations.plain(self.world, rights))
        return union([tuple(joined), own, plain])

    def _by_methods(self, op: str, lefts: Values, rights: Values) -> Values:
        """Return what the operands' own special methods give, and UNKNOWN for pairs that have none; empty if no pair
        has any."""
        if not any(isinstance(one, Instance) for one in (*lefts, *rights)):
            return ()
        given = [self._by_method(op, one, other) for one in lefts for other in rights]
        return union(one or (UNKNOWN,) for one in given) if any(given) else ()

    def _by_method(self, op: str, left: Value, right: Value) -> Values:
        name = _SPECIAL.get(op)
        for value, method_name in ((left, f"__{name}__"), (right, f"__r{name}__")) if name else ():
            if answer := self._by_own(value, method_name):
                return answer
        if op == "+" and self._is_list(left) and self._is_list(right):
            # `rows = rows + pickle.load(file)`
            return tuple(one for one in (left, right) if isinstance(one, Instance))
        if op == "+" and isinstance(left, Instance) and isinstance(right, Instance):
            joins = self.world.knowledge.joins
            return (left, right) if joins(left) and joins(right) else ()
        return ()

    def _is_list(self, value: Value) -> bool:
        """Whether a value is a list, where it is added to one: what a whole file holds is."""
        if isinstance(value, Display):
            return value.kind in ("list", "comp")
        read = value.of if isinstance(value, Instance) else None
        return isinstance(read, External) and "[" not in read.name and self.world.knowledge.reads(read.name)

    def compare(self, expr: Compare, site: Site) -> Values:
        decided = self.world.targets.decided(expr, site.file)
        if decided is not None:
            return (const(decided),)
        if len(expr.comparisons) != 1:
            return (UNKNOWN,)
        op, right = expr.comparisons[0]
        if op not in OPERATORS:
            return (UNKNOWN,)
        return self.compared(op, self.world.values.evaluate(expr.left, site), self.world.values.evaluate(right, site))

    def compared(self, op: str, lefts: Values, rights: Values) -> Values:
        """Return the results of comparing values. Objects whose class defines `__eq__` are compared by it."""
        own = [self._by_own(value, "__eq__") for value in (*lefts, *rights)] if op in ("==", "!=") else []
        if any(own):
            answers = union(one or (UNKNOWN,) for one in own[: len(lefts)]) if op == "==" else ()
            return answers or (UNKNOWN,)
        if op != "is" and op != "is not":
            lefts, rights = enumerations.plain(self.world, lefts), enumerations.plain(self.world, rights)
        return binary(op, lefts, rights)

    def _by_own(self, value: Value, name: str) -> Values:
        """Return the result of an object's own special method; empty if its class has none."""
        if not isinstance(value, Instance) or not isinstance(value.of, Class):
            return ()
        method = self.world.hierarchy.method(value.of, name)
        if method is None:
            return ()
        return self.world.values.returned(method, self.world.receiver_frame(value)) or (UNKNOWN,)

    def fstring(self, expr: FString, site: Site) -> Values:
        prefix, inner, suffix, complete = "", "", "", True
        for piece in expr.values:
            values = self.world.values.evaluate(piece, site)
            if len(values) == 1 and isinstance(values[0], Const):
                text = str(values[0].value)
                prefix, suffix = (prefix + text, "") if complete else (prefix, suffix + text)
            else:
                complete, inner, suffix = False, inner + suffix, ""
        return (const(prefix),) if complete else (Pattern(prefix, suffix, inner),)


def _repeated(expr: BinOp, site: Site, lefts: Values, rights: Values) -> Values:
    """Return the sequences that `[None] * size` creates, on whichever side the number is; () if either is not a
    sequence."""
    for side, other in ((lefts, rights), (rights, lefts)):
        made = [one.made_by(one.kind, Written(expr, site)) for one in side if isinstance(one, Display)]
        if made and len(made) == len(side) and not any(isinstance(one, Display) for one in other):
            return tuple(made)
    return ()
