"""The expression half of the extractor: libcst expressions to the nested lists that `schema` describes.

The walk takes one token after the other as it goes, which gives every node its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Optional

import libcst as cst

from dllint.facts.schema import Argument, Call, Event, Expr, Param, Region, Scope
from dllint.facts.tokens import Tokens
from dllint.span import Span

ABSENT = cst.MaybeSentinel.DEFAULT
_CONSTANTS = {"True": True, "False": False, "None": None}
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
_ESCAPE = re.compile(r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": ""} | dict(
    zip("abfv", "\a\b\f\v", strict=True)
)
_LONGEST_INTEGER = 4096
"""Bits beyond which a number is not worth keeping (and Python would not write it down)."""


class OutOfStep(Exception):
    """The tokens and the tree disagree."""


class _AnyToken(Sequence[str]):
    """Stands for the tokens inside an f-string, which is one token itself."""

    def __getitem__(self, index: Any) -> Any:
        return None

    def __len__(self) -> int:
        return 0


class Expressions:
    """Walks expressions in source order. `at` is the next token, `scope` and `region` are those in force."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.texts: Sequence[str] = tokens.texts
        self.at = 0
        self.scope = 0
        self.region = 0
        self.scopes: list[Scope] = []
        self.calls: list[Any] = []
        self.regions: list[Any] = [Region(0, "", None, True, Span(1, 1, 1, 1))]
        self.called: dict[str, list[int]] = {}
        self.loaded: dict[str, dict[int, None]] = {}
        self._new_calls: list[tuple[int, Expr, list[Argument], Span]] = []
        self._new_events: list[tuple[int, str, Optional[Span], int, Any, Any, Any, Optional[Span]]] = []
        self._inside: Optional[Span] = None

    def span(self, first: int, last: int) -> Span:
        return self._inside or self.tokens.span(first, last)

    def step(self, text: str) -> None:
        """Takes one token that must be `text`."""
        if self.texts[self.at] != text and not self._inside:
            raise OutOfStep(text)
        self.at += 1

    def read(self, name: str) -> None:
        known = self.loaded.get(name)
        if known is None:
            self.loaded[name] = {self.scope: None}
        else:
            known[self.scope] = None

    def add_region(self, parent: int, kind: str, expr: Optional[Expr], holds: bool, span: Span) -> int:
        self.regions.append(Region(parent, kind, expr, holds, span))
        return len(self.regions) - 1

    def add_event(
        self, kind: str, target: Any, value: Any, detail: Any, value_span: Optional[Span], span: Optional[Span] = None
    ) -> None:
        """Notes an event of the statement that is being walked; `span` if it is not the statement's."""
        self._new_events.append((self.scope, kind, span, self.region, target, value, detail, value_span))

    def end_statement(self, span: Span) -> None:
        """Gives the calls and events since the last statement the span of theirs."""
        if self._new_calls:
            calls = self.calls
            for number, func, args, own in self._new_calls:
                scope, region = calls[number]
                calls[number] = Call(func, args, own, scope, region, span)
            self._new_calls.clear()
        for number, kind, place, region, target, value, detail, value_span in self._new_events:
            self.scopes[number].events.append(Event(kind, place or span, region, target, value, detail, value_span))
        self._new_events.clear()

    # Expressions in general

    def expr(self, node: Any) -> Expr:
        """Walks an expression with the parentheses around it."""
        opened = node.lpar
        if opened:
            self.at += len(opened)
            result = HANDLERS[type(node)](self, node)
            self.at += len(node.rpar)
            return result
        return HANDLERS[type(node)](self, node)

    def spanned(self, node: Any) -> tuple[Expr, Span]:
        """Walks an expression and gives its span without the parentheses around it, where they are no part of it."""
        first = self.at
        result = self.expr(node)
        opened = len(node.lpar)
        if opened and type(node) in _WITH_PARENTHESES:
            opened -= 1
        return result, self.span(first + opened, self.at - 1 - opened)

    def target(self, node: Any) -> Expr:
        """Walks what is assigned to or deleted: its last name is not read."""
        kind = type(node)
        opened = len(node.lpar)
        self.at += opened
        result: Expr
        if kind is cst.Name:
            self.step(node.value)
            result = ["name", node.value]
        elif kind is cst.Attribute:
            result = ["attr", self.expr(node.value), node.attr.value]
            self.at += 1
            self.step(node.attr.value)
        elif kind is cst.Tuple:
            result = ["tuple", self._targets(node.elements)]
        elif kind is cst.List:
            self.at += 1
            result = ["list", self._targets(node.elements)]
            self.at += 1
        elif kind is cst.StarredElement:
            self.at += 1
            result = ["star", self.target(node.value)]
        else:
            result = HANDLERS[kind](self, node)
        self.at += opened
        return result

    def _targets(self, elements: Sequence[Any]) -> list[Expr]:
        found = []
        for element in elements:
            found.append(self.target(element.value if type(element) is cst.Element else element))
            if element.comma is not ABSENT:
                self.at += 1
        return found

    def annotation(self, node: Any) -> Expr:
        """Walks `: E` or `-> E`; what an annotation names is not read by the program."""
        read, self.loaded = self.loaded, {}
        self.at += 1
        result = self.expr(node.annotation)
        self.loaded = read
        return result

    # Names and constants

    def _name(self, node: cst.Name) -> Expr:
        name = node.value
        if self.texts[self.at] != name and not self._inside:
            raise OutOfStep(name)
        self.at += 1
        if name in _CONSTANTS:
            return ["const", _CONSTANTS[name]]
        known = self.loaded.get(name)
        if known is None:
            self.loaded[name] = {self.scope: None}
        else:
            known[self.scope] = None
        return ["name", name]

    def _integer(self, node: cst.Integer) -> Expr:
        self.step(node.value)
        try:
            value = int(node.value, 0)
        except ValueError:
            return ["unknown"]
        return ["const", value] if value.bit_length() <= _LONGEST_INTEGER else ["unknown"]

    def _float(self, node: cst.Float) -> Expr:
        self.step(node.value)
        return ["const", float(node.value.replace("_", ""))]

    def _imaginary(self, node: cst.Imaginary) -> Expr:
        self.step(node.value)
        return ["unknown"]

    def _ellipsis(self, node: cst.Ellipsis) -> Expr:
        self.step("...")
        return ["unknown"]

    def _string(self, node: cst.SimpleString) -> Expr:
        text = node.value
        self.step(text)
        head = text[:2].lower()
        if text[0] in "'\"":
            prefix = ""
        else:
            prefix = head if head[1] not in "'\"" else head[0]
            text = text[len(prefix) :]
        size = 3 if text[:3] in ("'''", '"""') and len(text) > 5 else 1
        value = text[size:-size]
        if size == 3 and "\r" in value:
            value = value.replace("\r\n", "\n").replace("\r", "\n")
        if "\\" in value and "r" not in prefix:
            value = _unescape(value, "b" in prefix)
        return ["bytes", len(value)] if "b" in prefix else ["const", value]

    def _concatenated(self, node: Any) -> Expr:
        pieces: list[Expr] = []
        while type(node) is cst.ConcatenatedString:
            pieces.append(self.expr(node.left))
            node = node.right
        pieces.append(self.expr(node))
        kinds = {piece[0] for piece in pieces}
        if "unknown" in kinds:
            return ["unknown"]
        if kinds == {"const"}:
            return ["const", "".join(piece[1] for piece in pieces)]
        if kinds == {"bytes"}:
            return ["bytes", sum(piece[1] for piece in pieces)]
        merged: list[Expr] = []
        for piece in pieces:
            merged += piece[1] if piece[0] == "fstring" else [piece]
        return ["fstring", merged]

    def _fstring(self, node: Any) -> Expr:
        at, inside, texts = self.at, self._inside, self.texts
        self._inside = inside or self.tokens.span(at, at)
        self.texts = _AnyToken()
        pieces = self._fstring_parts(node.parts, "r" in node.start.lower())
        self.at, self._inside, self.texts = at + 1, inside, texts
        return ["fstring", pieces] if type(node) is cst.FormattedString else ["unknown"]

    def _fstring_parts(self, parts: Sequence[Any], raw: bool) -> list[Expr]:
        pieces: list[Expr] = []
        for part in parts:
            text = getattr(part, "value", None)
            if isinstance(text, str):
                text = text.replace("{{", "{").replace("}}", "}")
                pieces.append(["const", text if raw or "\\" not in text else _unescape(text, False)])
            else:
                pieces.append(self.expr(part.expression))
                if part.format_spec:
                    pieces += [piece for piece in self._fstring_parts(part.format_spec, raw) if piece[0] != "const"]
        return pieces

    # Access and calls

    def _attribute(self, node: cst.Attribute) -> Expr:
        value = self.expr(node.value)
        name = node.attr.value
        self.at += 1
        self.step(name)
        self.read(name)
        return ["attr", value, name]

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
                    items.append(["star", self.expr(item.value)])
                    several = True
                else:
                    items.append(self.expr(item.value))
            else:
                items.append(self._slice(item))
            if element.comma is not ABSENT:
                self.at += 1
                several = True
        self.at += 1
        return ["item", value, ["tuple", items] if several else items[0]]

    def _slice(self, node: Any) -> Expr:
        lower = self.expr(node.lower) if node.lower is not None else None
        self.at += 1
        upper = self.expr(node.upper) if node.upper is not None else None
        if node.second_colon is not ABSENT:
            self.at += 1
        step = self.expr(node.step) if node.step is not None else None
        return ["slice", lower, upper, step]

    def _call(self, node: cst.Call) -> Expr:
        first = self.at
        callee = node.func
        func = self.target(callee) if type(callee) in _NAMED else self.expr(callee)
        number = len(self.calls)
        self.calls.append((self.scope, self.region))
        name = func[-1] if type(callee) in _NAMED else ""
        known = self.called.get(name)
        if known is None:
            self.called[name] = [number]
        else:
            known.append(number)
        self.at += 1
        args = [self.argument(argument) for argument in node.args]
        self.step(")")
        self._new_calls.append((number, func, args, self.span(first, self.at - 1)))
        return ["call", number]

    def argument(self, node: cst.Arg) -> Argument:
        first = self.at
        keyword: Optional[str] = None
        if node.star:
            keyword = node.star
            self.at += 1
        elif node.keyword is not None:
            keyword = node.keyword.value
            self.step(keyword)
            self.at += 1
        value, value_span = self.spanned(node.value)
        plain = keyword is None and not node.value.lpar
        span = value_span if plain else self.span(first, self.at - 1)
        if node.comma is not ABSENT:
            self.at += 1
        return Argument(keyword, value, span, value_span)

    # Displays and comprehensions

    def _elements(self, elements: Sequence[Any]) -> list[Expr]:
        found = []
        for element in elements:
            found.append(self.expr(element.value if type(element) is cst.Element else element))
            if element.comma is not ABSENT:
                self.at += 1
        return found

    def _tuple(self, node: cst.Tuple) -> Expr:
        return ["tuple", self._elements(node.elements)]

    def _list(self, node: cst.List) -> Expr:
        self.at += 1
        found = self._elements(node.elements)
        self.step("]")
        return ["list", found]

    def _set(self, node: cst.Set) -> Expr:
        self.at += 1
        found = self._elements(node.elements)
        self.step("}")
        return ["set", found]

    def _starred(self, node: cst.StarredElement) -> Expr:
        self.at += 1
        return ["star", self.expr(node.value)]

    def _dict(self, node: cst.Dict) -> Expr:
        self.at += 1
        items: list[list[Optional[Expr]]] = []
        for element in node.elements:
            key = None
            if type(element) is cst.DictElement:
                key = self.expr(element.key)
            self.at += 1
            items.append([key, self.expr(element.value)])
            if element.comma is not ABSENT:
                self.at += 1
        self.step("}")
        return ["dict", items]

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
        if kind == "dict":
            result = [self.expr(node.key)]
            self.at += 1
            result.append(self.expr(node.value))
        else:
            result = [self.expr(node.elt)]
        self.region = outer
        described: list[Any] = []
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
            described.append([target, iterable, tests])
        self.region = outer
        self.at += bracketed
        return ["comp", kind, result, described]

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
        found = test[1] if test[0] == tag else [test]
        for operand in reversed(operands):
            self.step(tag)
            self.region = self.add_region(self.region, "if", test, holds, span)
            test, span = self.spanned(operand)
            found = found + (test[1] if test[0] == tag else [test])
        self.region = outer
        if self._made() == made:
            del self.regions[regions:]
        return [tag, found]

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
        return ["ifexp", test, body, other]

    def _made(self) -> int:
        """Grows with everything that names a region."""
        return len(self.calls) + len(self._new_events) + len(self.scopes)

    def _unary(self, node: cst.UnaryOperation) -> Expr:
        self.at += 1
        operand = self.expr(node.expression)
        operator = type(node.operator)
        if operator is cst.Not:
            return ["not", operand]
        if operator is cst.Minus and operand[0] == "const" and type(operand[1]) in (int, float):
            return ["const", -operand[1]]
        return ["unary", _OPERATORS[operator], operand]

    def _binary(self, node: cst.BinaryOperation) -> Expr:
        left = self.expr(node.left)
        self.at += 1
        return ["binop", _OPERATORS[type(node.operator)], left, self.expr(node.right)]

    def _comparison(self, node: cst.Comparison) -> Expr:
        left = self.expr(node.left)
        found: list[list[Any]] = []
        for part in node.comparisons:
            operator = _OPERATORS[type(part.operator)]
            self.at += 2 if " " in operator else 1
            found.append([operator, self.expr(part.comparator)])
        return ["compare", left, found]

    def _await(self, node: cst.Await) -> Expr:
        self.step("await")
        return ["await", self.expr(node.expression)]

    def _yield(self, node: cst.Yield) -> Expr:
        self.step("yield")
        value: Optional[Expr] = None
        span = None
        if isinstance(node.value, cst.From):
            self.step("from")
            inner, span = self.spanned(node.value.item)
            value = ["star", inner]
        elif node.value is not None:
            value, span = self.spanned(node.value)
        self.scopes[self.scope].is_generator = True
        self.add_event("yield", None, value, None, span)
        return ["yield", value]

    def _walrus(self, node: cst.NamedExpr) -> Expr:
        target = self.target(node.target)
        self.step(":=")
        value, span = self.spanned(node.value)
        self.add_event("assign", target, value, None, span)
        return ["walrus", target[1], value]

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
        return ["lambda", number]

    def open_scope(self, kind: str, name: str) -> int:
        """Adds a scope; its spans are filled in when they are known."""
        nowhere = Span(1, 1, 1, 1)
        self.scopes.append(Scope(kind, name, self.scope, self.region, nowhere, nowhere))
        return len(self.scopes) - 1

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
        return Param(node.name.value, kind, default, annotation, span)


def _unescape(text: str, in_bytes: bool) -> str:
    def plain(match: re.Match[str]) -> str:
        escape = match[1]
        if escape in _PLAIN_ESCAPES:
            return _PLAIN_ESCAPES[escape]
        if escape[0] in "01234567":
            return chr(int(escape, 8) & 255) if in_bytes else chr(int(escape, 8))
        if escape[0] == "x" and len(escape) == 3:
            return chr(int(escape[1:], 16))
        if not in_bytes:
            try:
                if len(escape) in (5, 9):
                    return chr(int(escape[1:], 16))
                if escape.startswith("N{"):
                    return unicodedata.lookup(escape[2:-1])
            except (ValueError, KeyError):
                return "\ufffd"
        return match[0]

    return _ESCAPE.sub(plain, text)


_NAMED = (cst.Name, cst.Attribute)
_WITH_PARENTHESES = (cst.Tuple, cst.GeneratorExp)
"""Their innermost parentheses belong to them, as in Python's own positions."""
_COMPREHENSIONS: dict[type, str] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}
_METHODS: dict[str, Callable[[Any, Any], Expr]] = {
    "Name": Expressions._name,
    "Integer": Expressions._integer,
    "Float": Expressions._float,
    "Imaginary": Expressions._imaginary,
    "Ellipsis": Expressions._ellipsis,
    "SimpleString": Expressions._string,
    "ConcatenatedString": Expressions._concatenated,
    "FormattedString": Expressions._fstring,
    "TemplatedString": Expressions._fstring,
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
HANDLERS: dict[type, Callable[[Any, Any], Expr]] = {
    getattr(cst, name): method for name, method in _METHODS.items() if hasattr(cst, name)
}
