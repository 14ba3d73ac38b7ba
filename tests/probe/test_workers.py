"""What the probe takes from the arguments of torch's worker loop."""

from __future__ import annotations

from dllint.probe.workers import dataset_of


def test_the_dataset_of_each_torch() -> None:
    dataset = [1, 2, 3]
    assert dataset_of({"dataset_kind": 0, "dataset": dataset}) is dataset
    holder = [dataset]
    assert dataset_of({"dataset_kind": 0, "dataset_holder": holder}) is dataset
    assert holder == [dataset]
