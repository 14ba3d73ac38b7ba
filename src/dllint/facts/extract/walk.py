"""The base of the walk over a syntax tree: matches nodes with tokens, and collects the facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import intern
from typing import Any, ClassVar, Optional

import libcst as cst

from dllint.facts.extract.quoted_annotations import unquoted
from dllint.facts.extract.tokens import Tokens
from dllint.facts.nodes import Attribute, List, Name, Starred, Tuple
from dllint.facts.schema import Argument, Call, Event, Expr, Region, Scope
from dllint.span import Span

ABSENT = cst.MaybeSentinel.DEFAULT
_WITH_PARENTHESES = (cst.Tuple, cst.GeneratorExp)
"""Their innermost parentheses are part of them, as in Python's own positions."""


class OutOfStep(Exception):
    """The tokens and the tree disagree."""


class Walk:
    """Visits nodes in source order and consumes their tokens, so that every node gets its position.

    Attributes:
        handlers: the method that walks each kind of expression, without its parentheses.
        at: the next token.
        scope, region: the current ones.
        breaks: how many `break`s leave the current loop.
        ended: whether control never gets past the last statement of the current block.
        calls: each entry is (scope, region) until the statement ends, then a `Call`.
        inside: the span of the current f-string, which is a single token.
    """

    handlers: ClassVar[dict[type, Callable[[Any, Any], Expr]]] = {}

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.texts: Sequence[str] = tokens.texts
        self.at = 0
        self.scope = 0
        self.region = 0
        self.breaks = 0
        self.ended = False
        self.scopes: list[Scope] = []
        self.calls: list[Any] = []
        self.regions: list[Any] = [Region(0, "", None, True, Span(1, 1, 1, 1))]
        self.called: dict[str, list[int]] = {}
        self.loaded: dict[str, dict[int, None]] = {}
        self._new_calls: list[tuple[int, Expr, list[Argument], Span]] = []
        self._new_events: list[tuple[int, str, Optional[Span], int, Any, Any, Any, Optional[Span]]] = []
        self.inside: Optional[Span] = None

    def span(self, first: int, last: int) -> Span:
        return self.inside or self.tokens.span(first, last)

    def step(self, text: str) -> None:
        """Consume one token, which must be `text`.

        Raises:
            OutOfStep: it is another one.
        """
        if self.texts[self.at] != text and not self.inside:
            raise OutOfStep(text)
        self.at += 1

    def read(self, name: str) -> None:
        known = self.loaded.get(name)
        if known is None:
            self.loaded[name] = {self.scope: None}
        else:
            known[self.scope] = None

    def open_scope(self, kind: str, name: str) -> int:
        """Add a scope, whose spans are filled in later. Returns its index."""
        nowhere = Span(1, 1, 1, 1)
        self.scopes.append(Scope(kind, name, self.scope, self.region, nowhere, nowhere))
        return len(self.scopes) - 1

    def add_region(self, parent: int, kind: str, expr: Optional[Expr], holds: bool, span: Span) -> int:
        self.regions.append(Region(parent, kind, expr, holds, span))
        return len(self.regions) - 1

    def begin_unreached(self) -> None:
        """Put the rest of the block into a region that never runs."""
        self.region = self.add_region(self.region, "unreached", None, True, self.tokens.span(self.at, self.at))
        self.ended = False

    def add_event(
        self, kind: str, target: Any, value: Any, detail: Any, value_span: Optional[Span], span: Optional[Span] = None
    ) -> None:
        """Record an event of the current statement; `span` if it differs from the statement's."""
        self._new_events.append((self.scope, kind, span, self.region, target, value, detail, value_span))

    def end_statement(self, span: Span) -> None:
        """Assign the statement's span to the calls and events recorded since the last statement."""
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
        """Walk an expression with its parentheses."""
        opened = node.lpar
        if opened:
            self.at += len(opened)
            result = self.handlers[type(node)](self, node)
            self.at += len(node.rpar)
            return result
        return self.handlers[type(node)](self, node)

    def spanned(self, node: Any) -> tuple[Expr, Span]:
        """Walk an expression. Returns it with its span, excluding parentheses that are not part of it."""
        first = self.at
        result = self.expr(node)
        opened = len(node.lpar)
        if opened and type(node) in _WITH_PARENTHESES:
            opened -= 1
        return result, self.span(first + opened, self.at - 1 - opened)

    def target(self, node: Any) -> Expr:
        """Walk the target of an assignment or deletion, which does not count as reading its last name."""
        kind = type(node)
        opened = len(node.lpar)
        self.at += opened
        result: Expr
        if kind is cst.Name:
            self.step(node.value)
            result = Name(intern(node.value))
        elif kind is cst.Attribute:
            result = Attribute(self.expr(node.value), intern(node.attr.value))
            self.at += 1
            self.step(node.attr.value)
        elif kind is cst.Tuple:
            result = Tuple(self._targets(node.elements))
        elif kind is cst.List:
            self.at += 1
            result = List(self._targets(node.elements))
            self.at += 1
        elif kind is cst.StarredElement:
            self.at += 1
            result = Starred(self.target(node.value))
        else:
            result = self.handlers[kind](self, node)
        self.at += opened
        return result

    def _targets(self, elements: Sequence[Any]) -> tuple[Expr, ...]:
        found = []
        for element in elements:
            found.append(self.target(element.value if type(element) is cst.Element else element))
            if element.comma is not ABSENT:
                self.at += 1
        return tuple(found)

    def annotation(self, node: Any) -> Expr:
        """Walk `: E` or `-> E`; names in an annotation do not count as read by the program."""
        read, self.loaded = self.loaded, {}
        self.at += 1
        result = self.expr(node.annotation)
        self.loaded = read
        return unquoted(result)
