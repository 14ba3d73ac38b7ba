"""Walks expressions: attribute access, calls, displays, comprehensions, operators and lambdas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import intern
from typing import Any, Optional

import libcst as cst

from dllint.facts.extract.literals import Literals
from dllint.facts.extract.walk import ABSENT
from dllint.facts.nodes import (
    Attribute,
    Await,
    BinOp,
    BoolOp,
    CallRef,
    Clause,
    Compare,
    Comprehension,
    Constant,
    Dict,
    IfExp,
    LambdaRef,
    List,
    Name,
    Not,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
    UnaryOp,
    Walrus,
    Yield,
)
from dllint.facts.schema import Argument, Expr, Param, Region

_NAMED = (cst.Name, cst.Attribute)
_SPELLED_OUT = {"__iter__": Name("iter"), "__next__": Name("next")}
"""Methods that programs call in the place of a builtin, `loader.__iter__()`, with the builtin."""
_OPERATORS: dict[type, str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.Plus: "+",
    cst.Minus: "-",
    cst.BitInvert: "~",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}
_COMPREHENSIONS: dict[type, str] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}


class Expressions(Literals):
    """Walks expressions."""

    # Access and calls

    def _attribute(self, node: cst.Attribute) -> Expr:
        value = self.expr(node.value)
        name = intern(node.attr.value)
        self.at += 1
        self.step(name)
        self.read(name)
        return Attribute(value, name)

    def _subscript(self, node: cst.Subscript) -> Expr:
        value = self.expr(node.value)
        self.at += 1
        items: list[Expr] = []
        several = len(node.slice) > 1
        for element in node.slice:
            item = element.slice
            if type(item) is cst.Index:
                if item.star:
                    self.at += 1
                    items.append(Starred(self.expr(item.value)))
                    several = True
                else:
                    items.append(self.expr(item.value))
            else:
                items.append(self._slice(item))
            if element.comma is not ABSENT:
                self.at += 1
                several = True
        self.at += 1
        return Subscript(value, Tuple(tuple(items)) if several else items[0])

    def _slice(self, node: Any) -> Expr:
        lower = self.expr(node.lower) if node.lower is not None else None
        self.at += 1
        upper = self.expr(node.upper) if node.upper is not None else None
        if node.second_colon is not ABSENT:
            self.at += 1
        step = self.expr(node.step) if node.step is not None else None
        return Slice(lower, upper, step)

    def _call(self, node: cst.Call) -> Expr:
        first = self.at
        callee = node.func
        func = self.target(callee) if type(callee) in _NAMED else self.expr(callee)
        builtin = self._spelled_out(func, node, first)
        if builtin is not None:
            func = builtin[0]
        number = len(self.calls)
        self.calls.append((self.scope, self.region))
        name = func.id if type(func) is Name else func.attr if type(func) is Attribute else ""
        known = self.called.get(name)
        if known is None:
            self.called[name] = [number]
        else:
            known.append(number)
        self.at += 1
        args = [self.argument(argument) for argument in node.args] if builtin is None else [builtin[1]]
        self.step(")")
        self._new_calls.append((number, func, args, self.span(first, self.at - 1)))
        return CallRef(number)

    def _spelled_out(self, func: Expr, node: cst.Call, first: int) -> Optional[tuple[Name, Argument]]:
        """The builtin that programs usually write for a call of a method of a protocol, and its argument; None for
        other calls."""
        if type(func) is not Attribute or func.attr not in _SPELLED_OUT or node.args or node.func.lpar:
            return None
        span = self.span(first, self.at - 3)
        return None if self._is_own(func.value) else (_SPELLED_OUT[func.attr], Argument(None, func.value, span, span))

    def _is_own(self, expr: Expr) -> bool:
        """Whether an expression is the receiver of a method, or `super()`."""
        scope = self.scopes[self.scope]
        params = scope.params if self.scopes[scope.parent].kind == "class" else []
        inherited = type(expr) is CallRef and self._new_calls and self._new_calls[-1][1] == Name("super")
        return bool(inherited or (params and expr == Name(params[0].name)))

    def argument(self, node: cst.Arg) -> Argument:
        first = self.at
        keyword: Optional[str] = None
        if node.star:
            keyword = node.star
            self.at += 1
        elif node.keyword is not None:
            keyword = intern(node.keyword.value)
            self.step(keyword)
            self.at += 1
        value, value_span = self.spanned(node.value)
        plain = keyword is None and not node.value.lpar
        span = value_span if plain else self.span(first, self.at - 1)
        if node.comma is not ABSENT:
            self.at += 1
        return Argument(keyword, value, span, value_span)

    # Displays and comprehensions

    def _elements(self, elements: Sequence[Any]) -> tuple[Expr, ...]:
        found = []
        for element in elements:
            found.append(self.expr(element.value if type(element) is cst.Element else element))
            if element.comma is not ABSENT:
                self.at += 1
        return tuple(found)

    def _tuple(self, node: cst.Tuple) -> Expr:
        return Tuple(self._elements(node.elements))

    def _list(self, node: cst.List) -> Expr:
        self.at += 1
        found = self._elements(node.elements)
        self.step("]")
        return List(found)

    def _set(self, node: cst.Set) -> Expr:
        self.at += 1
        found = self._elements(node.elements)
        self.step("}")
        return Set(found)

    def _starred(self, node: cst.StarredElement) -> Expr:
        self.at += 1
        return Starred(self.expr(node.value))

    def _dict(self, node: cst.Dict) -> Expr:
        self.at += 1
        items: list[tuple[Optional[Expr], Expr]] = []
        for element in node.elements:
            key = None
            if type(element) is cst.DictElement:
                key = self.expr(element.key)
            self.at += 1
            items.append((key, self.expr(element.value)))
            if element.comma is not ABSENT:
                self.at += 1
        self.step("}")
        return Dict(tuple(items))

    def _comprehension(self, node: Any) -> Expr:
        kind = _COMPREHENSIONS[type(node)]
        bracketed = kind != "generator"
        self.at += bracketed
        clauses: list[Any] = []
        clause = node.for_in
        while clause is not None:
            clauses.append(clause)
            clause = clause.inner_for_in
        outer = self.region
        following = len(self.regions)
        self.regions += [None] * sum(1 + len(clause.ifs) for clause in clauses)
        self.region = len(self.regions) - 1
        key: Optional[Expr] = None
        if kind == "dict":
            key = self.expr(node.key)
            self.at += 1
            element = self.expr(node.value)
        else:
            element = self.expr(node.elt)
        self.region = outer
        described: list[Clause] = []
        for clause in clauses:
            first = self.at
            self.at += 1 if clause.asynchronous is None else 2
            target = self.target(clause.target)
            self.step("in")
            iterable, span = self.spanned(clause.iter)
            self.add_event("for", target, iterable, "comp", span)
            self.regions[following] = Region(self.region, "for", iterable, True, self.span(first, self.at - 1))
            self.region = following
            tests = []
            for condition in clause.ifs:
                self.step("if")
                test, span = self.spanned(condition.test)
                following += 1
                self.regions[following] = Region(self.region, "if", test, True, span)
                self.region = following
                tests.append(test)
            following += 1
            described.append(Clause(target, iterable, tuple(tests)))
        self.region = outer
        self.at += bracketed
        return Comprehension(kind, key, element, tuple(described))

    # Operators

    def _boolean(self, node: Any) -> Expr:
        operator = type(node.operator)
        operands = [node.right]
        left = node.left
        while type(left) is cst.BooleanOperation and not left.lpar and type(left.operator) is operator:
            operands.append(left.right)
            left = left.left
        outer, regions, made = self.region, len(self.regions), self._made()
        tag, holds = ("and", True) if operator is cst.And else ("or", False)
        test, span = self.spanned(left)
        found = self._operands(tag, test)
        for operand in reversed(operands):
            self.step(tag)
            self.region = self.add_region(self.region, "if", test, holds, span)
            test, span = self.spanned(operand)
            found += self._operands(tag, test)
        self.region = outer
        if self._made() == made:
            del self.regions[regions:]
        return BoolOp(tag, found)

    def _operands(self, op: str, expr: Expr) -> tuple[Expr, ...]:
        return expr.values if type(expr) is BoolOp and expr.op == op else (expr,)

    def _conditional(self, node: cst.IfExp) -> Expr:
        outer, regions, made = self.region, len(self.regions), self._made()
        self.regions += [None, None]
        self.region = regions
        body = self.expr(node.body)
        self.step("if")
        self.region = outer
        test, span = self.spanned(node.test)
        self.step("else")
        self.region = regions + 1
        other = self.expr(node.orelse)
        self.region = outer
        if self._made() == made:
            del self.regions[regions:]
        else:
            self.regions[regions] = Region(outer, "if", test, True, span)
            self.regions[regions + 1] = Region(outer, "if", test, False, span)
        return IfExp(test, body, other)

    def _made(self) -> int:
        """Return a count that grows with everything that refers to a region."""
        return len(self.calls) + len(self._new_events) + len(self.scopes)

    def _unary(self, node: cst.UnaryOperation) -> Expr:
        self.at += 1
        operand = self.expr(node.expression)
        operator = type(node.operator)
        if operator is cst.Not:
            return Not(operand)
        if operator is cst.Minus and type(operand) is Constant and type(operand.value) in (int, float):
            return Constant(-operand.value)
        return UnaryOp(_OPERATORS[operator], operand)

    def _binary(self, node: cst.BinaryOperation) -> Expr:
        left = self.expr(node.left)
        self.at += 1
        return BinOp(_OPERATORS[type(node.operator)], left, self.expr(node.right))

    def _comparison(self, node: cst.Comparison) -> Expr:
        left = self.expr(node.left)
        found: list[tuple[str, Expr]] = []
        for part in node.comparisons:
            operator = _OPERATORS[type(part.operator)]
            self.at += 2 if " " in operator else 1
            found.append((operator, self.expr(part.comparator)))
        return Compare(left, tuple(found))

    def _await(self, node: cst.Await) -> Expr:
        self.step("await")
        return Await(self.expr(node.expression))

    def _yield(self, node: cst.Yield) -> Expr:
        self.step("yield")
        value: Optional[Expr] = None
        span = None
        if isinstance(node.value, cst.From):
            self.step("from")
            inner, span = self.spanned(node.value.item)
            value = Starred(inner)
        elif node.value is not None:
            value, span = self.spanned(node.value)
        self.scopes[self.scope].is_generator = True
        self.add_event("yield", None, value, None, span)
        return Yield(value)

    def _walrus(self, node: cst.NamedExpr) -> Expr:
        name: str = cst.ensure_type(node.target, cst.Name).value
        target = self.target(node.target)
        self.step(":=")
        value, span = self.spanned(node.value)
        self.add_event("assign", target, value, None, span)
        return Walrus(name, value)

    # Lambdas and parameters

    def _lambda(self, node: cst.Lambda) -> Expr:
        first = self.at
        number = self.open_scope("lambda", "<lambda>")
        self.step("lambda")
        scope = self.scopes[number]
        scope.params = self.parameters(node.params)
        self.at += 1
        around = self.scope, self.region
        self.scope, self.region = number, 0
        value, span = self.spanned(node.body)
        self.add_event("return", None, value, None, span, span)
        self.scope, self.region = around
        scope.span = scope.header = self.span(first, self.at - 1)
        return LambdaRef(number)

    def parameters(self, node: cst.Parameters) -> list[Param]:
        found = [self._parameter(param, "positional") for param in node.posonly_params]
        if found:
            self.step("/")
            if isinstance(node.posonly_ind, cst.ParamSlash) and node.posonly_ind.comma is not ABSENT:
                self.at += 1
        found += [self._parameter(param, "normal") for param in node.params]
        star = node.star_arg
        if isinstance(star, cst.Param):
            found.append(self._parameter(star, "var"))
        elif isinstance(star, cst.ParamStar):
            self.at += 2
        found += [self._parameter(param, "keyword") for param in node.kwonly_params]
        if node.star_kwarg is not None:
            found.append(self._parameter(node.star_kwarg, "kw"))
        return found

    def _parameter(self, node: cst.Param, kind: str) -> Param:
        first = self.at
        if kind in ("var", "kw"):
            self.at += 1
        self.step(node.name.value)
        annotation = self.annotation(node.annotation) if node.annotation is not None else None
        default: Optional[Expr] = None
        if node.default is not None:
            self.step("=")
            default = self.expr(node.default)
        span = self.span(first, self.at - 1)
        if node.comma is not ABSENT:
            self.at += 1
        return Param(intern(node.name.value), kind, default, annotation, span)


_METHODS: dict[str, Callable[[Any, Any], Expr]] = {
    "Name": Expressions.name,
    "Integer": Expressions.integer,
    "Float": Expressions.float,
    "Imaginary": Expressions.imaginary,
    "Ellipsis": Expressions.ellipsis,
    "SimpleString": Expressions.string,
    "ConcatenatedString": Expressions.concatenated,
    "FormattedString": Expressions.fstring,
    "TemplatedString": Expressions.fstring,
    "Attribute": Expressions._attribute,
    "Subscript": Expressions._subscript,
    "Call": Expressions._call,
    "Tuple": Expressions._tuple,
    "List": Expressions._list,
    "Set": Expressions._set,
    "StarredElement": Expressions._starred,
    "Dict": Expressions._dict,
    "ListComp": Expressions._comprehension,
    "SetComp": Expressions._comprehension,
    "DictComp": Expressions._comprehension,
    "GeneratorExp": Expressions._comprehension,
    "BooleanOperation": Expressions._boolean,
    "IfExp": Expressions._conditional,
    "UnaryOperation": Expressions._unary,
    "BinaryOperation": Expressions._binary,
    "Comparison": Expressions._comparison,
    "Await": Expressions._await,
    "Yield": Expressions._yield,
    "NamedExpr": Expressions._walrus,
    "Lambda": Expressions._lambda,
}
Expressions.handlers = {getattr(cst, name): method for name, method in _METHODS.items() if hasattr(cst, name)}
