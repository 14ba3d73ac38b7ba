"""The tables that are derived from all libraries."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dllint.libraries import index
from dllint.libraries.facets import Library


def test_every_library_is_declared_by_type() -> None:
    assert all(isinstance(one, Library) for one in index.LIBRARIES)


@pytest.mark.parametrize("facet", Library._fields)
def test_no_name_is_declared_by_two_libraries(facet: str) -> None:
    tables = [getattr(one, facet) for one in index.LIBRARIES]
    names = [name for table in tables if isinstance(table, Mapping) for name in table]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("facet", Library._fields)
def test_every_facet_is_used(facet: str) -> None:
    assert any(getattr(one, facet) for one in index.LIBRARIES)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
        ("torch.multiprocessing.Process", "multiprocessing.Process"),
        ("torch.multiprocessing", "multiprocessing"),
        ("torch.multiprocessing.spawn", "torch.multiprocessing.spawn"),
        ("multiprocess.context.Process().start", "multiprocessing.Process().start"),
        ("multiprocessing[spawn].Pool().map", "multiprocessing.Pool().map"),
        ("pytorch_lightning.Trainer().fit", "lightning.pytorch.Trainer().fit"),
        ("somewhere.Process", "somewhere.Process"),
    ],
)
def test_canonical_names(name: str, canonical: str) -> None:
    assert index.canonical(name) == canonical


def test_star_imports() -> None:
    assert index.exports("torch.multiprocessing", "spawn")
    assert index.exports("torch.multiprocessing", "Process")
    assert index.exports("torch.utils.data", "DataLoader")
    assert not index.exports("torch.utils.data", "Process")
    assert not index.exports("numpy", "memmap")


def test_an_opened_file_stands_in_all_tables_by_one_declaration() -> None:
    assert index.OPENERS["gzip.open"][0].harm == "error"
    assert index.FILE_MODES["gzip.open"].default == "rb"
    assert index.READERS["gzip.open"] == "handle"


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        *[("launching", word) for word in (b"spawn", b"Pool(", b"ProcessPool", b"TorchTrainer", b"Trainer(")],
        *[("loading", word) for word in (b"DataLoader", b"Dataset", b"NeighborLoader", b"num_workers", b"flashy")],
        *[("in_workers", word) for word in (b"cv2", b"default_rng", b".Generator(", b"import Generator")],
        *[("nearby", word) for word in (b"lambda", b"pyarrow", b"Lock(")],
    ],
)
def test_words_of_the_byte_screen(kind: str, word: bytes) -> None:
    assert word in getattr(index.WORDS, kind)


@pytest.mark.parametrize("kind", ["launching", "loading", "in_workers", "nearby"])
def test_no_word_holds_another_one(kind: str) -> None:
    words = getattr(index.WORDS, kind)
    assert not [(one, other) for one in words for other in words if one != other and one in other]
