"""Names that say which context an object of multiprocessing comes of."""

from __future__ import annotations

import pytest

from dllint.libraries import contexts


@pytest.mark.parametrize(
    ("name", "method", "plain"),
    [
        ("multiprocessing[spawn].Process", "spawn", "multiprocessing.Process"),
        ("torch.multiprocessing[fork].Pool().map", "fork", "multiprocessing.Pool().map"),
        ("multiprocessing[?]", "?", "multiprocessing"),
        ("multiprocessing.Process", None, "multiprocessing.Process"),
        ("h5py.File[]", None, "h5py.File[]"),
    ],
)
def test_the_method_and_the_name_without_it(name: str, method: str | None, plain: str) -> None:
    assert contexts.method_of(name) == method
    assert contexts.plain(name) == plain


def test_a_method_that_is_not_known_is_none_of_the_methods() -> None:
    assert contexts.known_method_of("multiprocessing[?].Pool") is None
    assert contexts.known_method_of("multiprocessing[forkserver].Pool") == "forkserver"
