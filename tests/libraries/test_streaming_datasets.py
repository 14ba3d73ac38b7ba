"""Loaders and datasets that stream from storage: litdata, and MosaicML's streaming."""

from __future__ import annotations

import pytest

from dllint import linter
from dllint.config import Settings

PROGRAM = """\
from {package} import {names}

class Rows(StreamingDataset):
    def __init__(self, path):
        super().__init__(path)
        self.scale = lambda x: x

    def __getitem__(self, index):
        return self.scale(super().__getitem__(index))

    def __iter__(self):
        yield from super().__iter__()

def main(path):
    for batch in StreamingDataLoader(Rows(path), batch_size=2, num_workers=4, multiprocessing_context="spawn"):
        print(batch)
"""
NAMES = "StreamingDataLoader, StreamingDataset"


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("litdata", NAMES),
        ("litdata.streaming", NAMES),
        ("streaming", NAMES),
        ("streaming.base", NAMES),
    ],
)
def test_the_lambda_cannot_be_pickled_and_the_items_are_split(package: str, names: str) -> None:
    report = linter.check_sources({"train.py": PROGRAM.format(package=package, names=names)}, Settings(root=""))

    assert [(one.code, one.span.line, one.severity) for one in report.findings] == [("DLL201", 6, "error")]
