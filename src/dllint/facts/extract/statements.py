"""Walks compound statements: their regions and scopes, and the branches that never reach the code below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import libcst as cst

from dllint.facts.extract.simple_statements import SimpleStatements
from dllint.facts.extract.walk import ABSENT, OutOfStep
from dllint.facts.nodes import Attribute, BoolOp, Compare, Constant, Name, Opaque
from dllint.facts.schema import MORE_CASES, Decorator, Expr, Region
from dllint.span import Span

_DEEPEST = 100
"""The most regions inside one another that branches which leave give the code below them."""
_MOST_FAILED = 40
"""The most constants of the patterns above that did not match, and the most parts of a subject, that a `case` records:
each case repeats them, so their number would grow with the square of the cases."""
_PATTERNS = (
    *(cst.MatchPattern, cst.MatchOrElement, cst.MatchKeywordElement),
    *(cst.MatchSequenceElement, cst.MatchMappingElement, cst.MatchStar),
)


class Statements(SimpleStatements):
    """Walks statements. Each method returns whether control never reaches the next statement."""

    def module(self, node: cst.Module) -> None:
        self.open_scope("module", "<module>")
        self.scopes[0].parent = -1
        self.statements(node.body)
        count = len(self.texts)
        if self.at != count:
            raise OutOfStep("the end")
        if count:
            self.scopes[0].span = self.span(0, count - 1)

    def statements(self, nodes: Sequence[Any]) -> bool:
        leaves = False
        for node in nodes:
            if self.ended:
                self.begin_unreached()
            if type(node) is cst.SimpleStatementLine:
                leaves |= self.simple(node.body)
            else:
                endless = _COMPOUND[type(node)](self, node)
                leaves |= endless
                # A context manager may swallow the exception that would leave its body, so only a loop counts here.
                self.ended = endless and type(node) is cst.While
        return leaves

    def suite(self, node: Any, region: int) -> bool:
        """Walk the body of a compound statement in `region`."""
        outer, self.region = self.region, region
        leaves = self.body(node)
        self.region, self.ended = outer, False
        return leaves

    def body(self, node: Any) -> bool:
        return self.simple(node.body) if type(node) is cst.SimpleStatementSuite else self.statements(node.body)

    def header(self, first: int) -> Span:
        """End the header that began with the token `first`, at its colon."""
        self.step(":")
        span = self.tokens.span(first, self.at - 1)
        self.end_statement(span)
        return span

    # Definitions

    def _decorators(self, nodes: Sequence[cst.Decorator]) -> list[Decorator]:
        found = []
        for node in nodes:
            first = self.at
            self.step("@")
            expr = self.expr(node.decorator)
            found.append(Decorator(expr, self.tokens.span(first, self.at - 1)))
            self.end_statement(found[-1].span)
        return found

    def _define(self, node: Any) -> bool:
        """Walk a function or class."""
        first = self.at
        kind, word = ("class", "class") if type(node) is cst.ClassDef else ("function", "def")
        number = self.open_scope(kind, node.name.value)
        scope = self.scopes[number]
        scope.decorators = self._decorators(node.decorators)
        begin = self.at
        if word == "def" and node.asynchronous is not None:
            self.step("async")
            scope.is_async = True
        self.step(word)
        self.step(node.name.value)
        scope.header = self.tokens.span(begin, self.at - 1)
        self._type_parameters(node.type_parameters)
        if word == "def":
            self.step("(")
            scope.params = self.parameters(node.params)
            self.step(")")
            if node.returns is not None:
                scope.returns = self.annotation(node.returns)
        elif self.texts[self.at] == "(":
            self.at += 1
            scope.bases = [self.argument(argument) for argument in (*node.bases, *node.keywords)]
            self.step(")")
        self.add_event(word, None, None, number, None)
        self.header(begin)
        around, self.scope = self.scope, number
        outer, self.region = self.region, 0
        if not self.body(node.body) and word == "def":
            scope.end = self.region
        self.region, self.ended = outer, False
        self.scope = around
        scope.span = self.tokens.span(first, self.at - 1)
        return False

    # Control flow

    def _if(self, node: cst.If) -> bool:
        first = self.at
        self.at += 1
        test = self.expr(node.test)
        header = self.header(first)
        outer = self.region
        yes = self.add_region(outer, "if", test, True, header)
        leaves = self.suite(node.body, yes)
        if node.orelse is None:
            if leaves and not self._is_deep(outer):
                self.region = self.add_region(outer, "if", test, False, header)
            return False
        no = self.add_region(outer, "if", test, False, header)
        after = no
        if type(node.orelse) is cst.If:
            self.region = no
            other_leaves = self._if(node.orelse)
            after = self.region
        else:
            other_leaves = self._otherwise(node.orelse, no)
        self.region = outer
        if leaves is not other_leaves and not self._is_deep(outer):
            self.region = after if leaves else yes
        return leaves and other_leaves

    def _is_deep(self, region: int) -> bool:
        """Whether so many regions are around a place that another branch that leaves adds none for the code below it:
        each question about a place goes through all of them."""
        depth = 0
        while region and depth < _DEEPEST:
            region = self.regions[region].parent
            depth += 1
        return depth == _DEEPEST

    def _otherwise(self, node: Any, region: int) -> bool:
        self.at += 1
        self.step(":")
        return self.suite(node.body, region)

    def _branch(self, node: Any, kind: str) -> bool:
        """Walk an `else` or `finally` in a region of its own."""
        if node is None:
            return False
        span = self.tokens.span(self.at, self.at + 1)
        return self._otherwise(node, self.add_region(self.region, kind, None, True, span))

    def _for(self, node: cst.For) -> bool:
        first = self.at
        self.at += 1 if node.asynchronous is None else 2
        target = self.target(node.target)
        self.step("in")
        iterable, span = self.spanned(node.iter)
        self.add_event("for", target, iterable, None if node.asynchronous is None else "async", span)
        header = self.header(first)
        around = self.breaks
        self.suite(node.body, self.add_region(self.region, "for", iterable, True, header))
        self.breaks = around
        self._branch(node.orelse, "loopelse")
        return False

    def _while(self, node: cst.While) -> bool:
        first = self.at
        self.step("while")
        test = self.expr(node.test)
        header = self.header(first)
        around, self.breaks = self.breaks, 0
        self.suite(node.body, self.add_region(self.region, "while", test, True, header))
        endless = isinstance(test, Constant) and bool(test.value) and not self.breaks
        self.breaks = around
        self._branch(node.orelse, "loopelse")
        return endless

    def _with(self, node: cst.With) -> bool:
        first = self.at
        outer = self.region
        self.at += 1 if node.asynchronous is None else 2
        bracketed = isinstance(node.lpar, cst.LeftParen)
        self.at += bracketed
        for item in node.items:
            begin = self.at
            value, span = self.spanned(item.item)
            target = None
            if item.asname is not None:
                self.step("as")
                target = self.target(item.asname.name)
            self.add_event("with", target, value, None if node.asynchronous is None else "async", span)
            self.region = self.add_region(self.region, "with", value, True, self.tokens.span(begin, self.at - 1))
            if item.comma is not ABSENT:
                self.at += 1
        self.at += bracketed
        self.header(first)
        leaves = self.suite(node.body, self.region)
        self.region = outer
        return leaves and not any(_swallows(item.item) for item in node.items)

    def _try(self, node: Any) -> bool:
        first = self.at
        self.step("try")
        header = self.header(first)
        leaves = self.suite(node.body, self.add_region(self.region, "try", None, True, header))
        handled = True
        for handler in node.handlers:
            handled &= self._handler(handler, type(node) is cst.TryStar)
        leaves |= self._branch(node.orelse, "tryelse")
        return self._branch(node.finalbody, "finally") or (leaves and handled)

    def _handler(self, node: Any, starred: bool) -> bool:
        first = self.at
        self.step("except")
        self.at += starred
        expr: Optional[Expr] = None
        span = None
        if node.type is not None:
            expr, span = self.spanned(node.type)
        outer, region = self.region, len(self.regions)
        self.regions.append(None)
        if node.name is not None:
            self.step("as")
            self.region = region
            self.add_event("except", self.target(node.name.name), expr, None, span)
            self.region = outer
        self.regions[region] = self.regions[0]._replace(
            parent=outer, kind="handler", expr=expr, span=self.header(first)
        )
        return self.suite(node.body, region)

    def _match(self, node: cst.Match) -> bool:
        first = self.at
        self.step("match")
        subject = self.expr(node.subject)
        self.header(first)
        outer = self.region
        leaves, irrefutable = True, False
        failed, constants = list[Expr](), 0
        simple = _is_short(subject)
        subject = subject if simple else Opaque()
        for case in node.cases:
            first = self.at
            self.step("case")
            region = len(self.regions)
            self.regions.append(None)
            self.region = region
            self._pattern(case.pattern)
            test = _test(subject, case.pattern) if simple else None
            # One constant excludes all others by itself.
            before = [one for one in failed if not _is_constant(one)] if _is_constant(test) else failed
            tests = [(one, holds) for one, holds in ((_either(before), False), (test, True)) if one is not None]
            depth = 0
            while depth or self.texts[self.at] not in ("if", ":"):
                depth += (self.texts[self.at] in "([{") - (self.texts[self.at] in ")]}")
                self.at += 1
            here = self.tokens.span(first, self.at - 1)
            for one, holds in tests:
                self.region = self.add_region(self.region, "if", one, holds, here)
            if test is not None and case.guard is None:
                constants += len(test.values) if isinstance(test, BoolOp) else 1
                if constants <= _MOST_FAILED:
                    failed.append(test)
            if case.guard is not None:
                self.step("if")
                guard, span = self.spanned(case.guard)
                self.region = self.add_region(self.region, "if", guard, True, span)
            span = self.header(first)
            self.regions[region] = Region(outer, "case", subject, True, span)
            leaves &= self.suite(case.body, self.region)
            irrefutable |= isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None and not case.guard
            self.region = outer
        if not simple or constants > _MOST_FAILED:
            self.read(MORE_CASES)
        return leaves and irrefutable

    def _pattern(self, node: Any) -> None:
        """Record the names that a pattern binds and reads, without consuming its tokens."""
        for child in node.children:
            if isinstance(child, _PATTERNS):
                self._pattern(child)
            elif isinstance(node, (cst.MatchValue, cst.MatchClass)):
                while isinstance(child, cst.Attribute):
                    self.read(child.attr.value)
                    child = child.value
                if isinstance(child, cst.Name):
                    self.read(child.value)
        if isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
            self.add_event("assign", Name(node.name.value), Opaque(), None, None)
        elif isinstance(node, cst.MatchMapping) and node.rest is not None:
            self.add_event("assign", Name(node.rest.value), Opaque(), None, None)


def _test(subject: Expr, pattern: Any) -> Optional[Expr]:
    """Return the test that a pattern of constants is, `subject == 1`; None for any other pattern."""
    if isinstance(pattern, cst.MatchOr):
        parts = [_test(subject, one.pattern) for one in pattern.patterns]
        return _either([one for one in parts if one is not None]) if None not in parts else None
    if isinstance(pattern, (cst.MatchValue, cst.MatchSingleton)):
        value = _value(pattern.value)
        op = "==" if isinstance(pattern, cst.MatchValue) else "is"
        return Compare(subject, ((op, value),)) if value is not None else None
    return None


def _is_short(subject: Expr) -> bool:
    """Whether an expression has few parts."""
    waiting, seen = [subject], 0
    while waiting and seen <= _MOST_FAILED:
        waiting += waiting.pop().children()
        seen += 1
    return not waiting


def _is_constant(test: Optional[Expr]) -> bool:
    """Whether a test compares with a single constant."""
    return isinstance(test, Compare) and isinstance(test.comparisons[0][1], Constant)


def _either(tests: list[Expr]) -> Optional[Expr]:
    """Return the test that one of several holds; None for none."""
    return BoolOp("or", tuple(tests)) if len(tests) > 1 else tests[0] if tests else None


def _value(node: Any) -> Optional[Expr]:
    """Return the constant or the dotted name of a pattern; None if it is neither."""
    if isinstance(node, cst.Name):
        return Constant(_SINGLETONS[node.value]) if node.value in _SINGLETONS else Name(node.value)
    if isinstance(node, cst.Attribute):
        base = _value(node.value)
        return Attribute(base, node.attr.value) if base is not None else None
    if isinstance(node, (cst.SimpleString, cst.Integer, cst.Float)):
        value = node.evaluated_value
        return Constant(value) if isinstance(value, (str, int, float)) else None
    return None


_SINGLETONS = {"None": None, "True": True, "False": False}


def _swallows(context: Any) -> bool:
    """Whether a context manager is there to end the exceptions that would leave its body."""
    func = context.func if type(context) is cst.Call else None
    last = func.attr if type(func) is cst.Attribute else func
    return type(last) is cst.Name and last.value in _SWALLOWING


_SWALLOWING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
"""Last names of the context managers of `contextlib`, pytest and unittest that swallow exceptions."""
_COMPOUND: dict[type, Callable[[Any, Any], bool]] = {
    cst.FunctionDef: Statements._define,
    cst.ClassDef: Statements._define,
    cst.If: Statements._if,
    cst.For: Statements._for,
    cst.While: Statements._while,
    cst.With: Statements._with,
    cst.Try: Statements._try,
    cst.TryStar: Statements._try,
    cst.Match: Statements._match,
}
