"""Which files of the project a file imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.config import Settings
from dllint.facts.extract import extract
from dllint.project import Project

LOADING = "import importlib\nimportlib.import_module(input())\n"


@pytest.mark.parametrize(
    ("code", "imported"),
    [
        (LOADING + "make(name='rows.Rows')", ["rows.py"]),
        (LOADING + "make(name='rows')", []),
        (LOADING + "open('rows.txt')", []),
        ("make(name='rows.Rows')", []),
        ("for name in ('rows',):\n    exec('from ' + name + ' import ' + name)", ["data/Hands.py"]),
        ("exec('from rows import ' + name)", []),
    ],
)
def test_names_in_texts(code: str, imported: list[str], tmp_path: Path) -> None:
    texts = {"main.py": code, "rows.py": "class Rows:\n    pass", "data/Hands.py": "class Hands:\n    pass"}
    files = {path: extract(text) for path, text in texts.items()}
    graph = Project.load(files, Settings(root=str(tmp_path))).world.import_graph

    assert graph.imports("main.py") == imported


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("f'app.{kind}.train'", ["app/first/train.py", "app/second/train.py"]),
        ("'app.' + kind + '.train'", ["app/first/train.py", "app/second/train.py"]),
        ("f'app.{kind}'", ["app/main.py"]),
        ("f'app.first.{kind}'", ["app/first/options.py", "app/first/train.py"]),
        ("f'app.{kind}.eval'", []),
        ("f'{kind}.train'", []),
    ],
)
def test_modules_whose_names_a_run_completes(name: str, imported: list[str], tmp_path: Path) -> None:
    paths = ("app/main.py", "app/first/train.py", "app/first/options.py", "app/second/train.py")
    texts = {"main.py": f"import importlib\nimportlib.import_module({name})\n", **dict.fromkeys(paths, "rows = 1")}
    files = {path: extract(text) for path, text in texts.items()}
    graph = Project.load(files, Settings(root=str(tmp_path))).world.import_graph

    assert sorted(graph.imports("main.py")) == imported
