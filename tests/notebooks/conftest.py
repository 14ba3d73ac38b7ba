from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Path]


@pytest.fixture
def notebook(tmp_path: Path) -> Make:
    """Writes a notebook of code cells, and prose where a cell begins with "#md"."""

    def make(*sources: str, name: str = "train.ipynb", lists: bool = True, **metadata: Any) -> Path:
        (tmp_path / ".git").mkdir(exist_ok=True)
        cells: list[dict[str, Any]] = []
        for number, source in enumerate(sources):
            cell: dict[str, Any] = {"cell_type": "markdown" if source.startswith("#md") else "code"}
            cell |= {"id": f"c{number}", "metadata": {"tags": ["é", number]}}
            if cell["cell_type"] == "code":
                cell |= {"execution_count": number, "outputs": [{"output_type": "stream", "text": [f"{number}\n"]}]}
            cell["source"] = source.splitlines(True) if lists else source
            cells.append(cell)
        document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        path = tmp_path / name
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path

    return make
