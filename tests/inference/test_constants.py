"""Equal constants are one object, without confusing those that Python counts as equal."""

from __future__ import annotations

import math

from dllint.inference.values import Const, const


def test_equal_constants_are_one_object() -> None:
    assert const(8) is const(8)
    assert const("train") is const("tr" + "ain")
    assert const(None) is const(None)


def test_constants_of_different_types_differ() -> None:
    found = {const(1), const(True), const(1.0), const("1")}
    assert len(found) == 4
    assert [type(one.value) for one in (const(1), const(True), const(1.0))] == [int, bool, float]


def test_the_sign_of_zero_stays() -> None:
    assert math.copysign(1, const(0.0).value) == 1
    assert math.copysign(1, const(-0.0).value) == -1
    assert const(0.0) == const(-0.0)


def test_long_texts_are_equal_without_being_kept() -> None:
    text = "x" * 1000
    one, other = const(text), const("x" * 500 + "x" * 500)
    assert one == other
    assert len({one, other}) == 1
    assert isinstance(one, Const)
    assert one != const(text + "y")
