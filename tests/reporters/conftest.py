from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dllint.finding import Finding, Fix, Place, SetArgument
from dllint.linter import Report
from dllint.reporters import Style, render
from dllint.reporters.statistics import statistics
from dllint.span import Span

TRAIN = "import loaders\n\nif __name__ == '__main__':\n    mp.spawn(main, nprocs=2)\n"
LOADERS = "import torch\n\n\ndef build(ds):\n    return DataLoader(ds, num_workers=4)\n\n\n\nx = 1\n"

Render = Callable[..., str]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def finding(directory: Path) -> Finding:
    path = str(directory / "loaders.py")
    span = Span(5, 12, 5, 41)
    return Finding(
        "DLL101",
        path,
        span,
        severity="warning",
        name="loader-inherits-start-method",
        text="The 4 workers of this DataLoader start by spawn",
        help="Keep the dataset small",
        url="https://example.org/DLL101",
        start_methods=("spawn",),
        trace=(
            Place(str(directory / "train.py"), Span(4, 5, 4, 29), "mp.spawn starts main"),
            Place(str(directory / "train.py"), Span(1, 1, 1, 15), "main calls build"),
        ),
        related=(Place(path, Span(1, 1, 1, 13), "the dataset"),),
        fixes=(Fix("Start by fork", "unsafe", (SetArgument(path, span, "multiprocessing_context", '"fork"'),)),),
    )


@pytest.fixture
def shown(directory: Path) -> Render:
    """Renders findings; `sources` are by file name, `loaders.py` and `train.py` if not given."""

    def shown(name: str, *findings: Finding, sources: dict[str, str] | None = None, **style: Any) -> str:
        texts = {"loaders.py": LOADERS, "train.py": TRAIN} if sources is None else sources
        by_path = {str(directory / name): text for name, text in texts.items()}
        report = Report(findings, files_checked=len(by_path), sources=by_path)
        report = replace(report, files_skipped=style.pop("skipped", 0))
        write = statistics if style.pop("statistics", False) else render
        return write(name, report, Style(directory=str(directory), **style))

    return shown


@pytest.fixture
def plain(directory: Path) -> Callable[..., Finding]:
    """A finding with nothing but a place."""

    def plain(span: Span, name: str = "a.py", severity: Any = "warning", **others: Any) -> Finding:
        given = {"code": "DLL201", "name": "lambda-in-dataset", "text": "A lambda", **others}
        return Finding(path=str(directory / name), span=span, severity=severity, **given)

    return plain
