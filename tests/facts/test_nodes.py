"""Expression nodes: equality, what they are made of, and the way through JSON."""

from __future__ import annotations

import json

import pytest

from dllint.facts.cache import decode, encode
from dllint.facts.extract import extract
from dllint.facts.extract.cutting import cut
from dllint.facts.node_json import from_plain, plain
from dllint.facts.nodes import Attribute, BoolOp, Constant, Expr, List, Name, Opaque, Tuple

A, B = Name("a"), Name("b")
EXPRESSIONS = [
    *("None", "1.5", "b'xy'", "a", "a.b", "a[b]", "a[b:, ::1]", "f(a)", "lambda: a", "[a, *b]", "(a,)", "{a}"),
    *("{a: b, **c}", "a if b else c", "a and b or c", "not a", "-a", "a + b", "a < b <= c", "f'{a}-'", "..."),
    *("[a for a in b if c]", "{a: b for a, b in c}", "(a for b in c for a in b)", "(a := b)"),
]


def value(code: str) -> Expr:
    found = extract(f"x = {code}\n").scopes[0].events[-1].value
    assert found is not None
    return found


@pytest.mark.parametrize("code", EXPRESSIONS)
def test_through_json_and_back(code: str) -> None:
    expr = value(code)
    again = from_plain(json.loads(json.dumps(plain(expr))))
    assert again == expr
    assert hash(again) == hash(expr)


@pytest.mark.parametrize("code", EXPRESSIONS)
def test_children_are_nodes(code: str) -> None:
    for child in value(code).children():
        assert child.children() is not None


def test_nodes_of_different_classes_differ() -> None:
    assert List((A,)) != Tuple((A,))
    assert BoolOp("and", (A, B)) != BoolOp("or", (A, B))
    assert Name("a") != Constant("a")
    assert Name("a") != ["name", "a"]
    assert len({Name("a"), Name("a"), Name("b")}) == 2


def test_a_node_shows_its_fields() -> None:
    assert repr(Attribute(A, "b")) == "Attribute(Name('a'), 'b')"


def test_children_stand_in_the_order_of_the_text() -> None:
    assert value("{a: b, **c}").children() == (A, B, Name("c"))
    assert value("a if b else c").children() == (B, A, Name("c"))
    assert value("[a for b in c if d]").children() == (A, B, Name("c"), Name("d"))


def test_what_nests_too_deeply_is_cut() -> None:
    expr = value("a.b.c.d")
    cut(expr, 2)
    assert expr == Attribute(Attribute(Opaque(), "c"), "d")


def test_events_of_a_cache_entry_are_read_when_they_are_asked_for() -> None:
    facts = extract("def f():\n    x: int = [a]\n")
    kept = decode(encode(facts, b""), b"")
    assert "events" not in vars(kept.scopes[1])
    assert kept.scopes[1].events == facts.scopes[1].events
    assert kept.scopes[1].events is kept.scopes[1].events
