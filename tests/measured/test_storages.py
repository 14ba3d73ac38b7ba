"""Storages counted without moving them, against what pickling for a worker really takes."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("strategy", ["file_descriptor", "file_system"])
def test_counted_as_they_are_pickled(program: Any, strategy: str) -> None:
    """Descriptors, maps, shared memory, and descriptors that go to the child; of every form of dataset."""
    told = program("forms.py", strategy)
    assert len(told) >= 27
    assert {name: form["counted"] for name, form in told.items()} == {name: form["real"] for name, form in told.items()}


def test_length_of_the_pickle(program: Any) -> None:
    """Within 100 bytes, and 20 more for each storage or array."""
    told = program("forms.py", "file_descriptor")
    wrong = {
        name: (form["pickled"], form["pickled_counted"])
        for name, form in told.items()
        if abs(form["pickled"] - form["pickled_counted"]) > 100 + 20 * max(form["storages"], 10)
    }
    assert wrong == {}


def test_without_a_trace(program: Any) -> None:
    told = program("costs.py")
    # What pickling makes itself is gone before a worker takes it.
    assert (told["concatenated"], told["generator"], told["kept"]) == (1, 1, 0)
    # The user's __getstate__ runs in a fork: its effects stay there.
    assert (told["closing"], told["file"]) == ("Storages", True)
    assert told["refused"] in ("_pickle.PicklingError", "AttributeError")
    assert told["slow"] == {"exception": "", "text": "no answer within 1 s"}
    assert (told["large"], told["large_shared"]) == (4 << 20, False)
    assert told["left"] == [0, 0, 0]
