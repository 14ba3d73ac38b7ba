"""What holds after every fix, over the bad examples of all pages, the projects in fixtures/, programs that are made of
these by mutations, and generated ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from dllint.catalog import Example, pages

from .mutations import MUTATIONS, mutated
from .properties import assert_trusted

BAD = [
    pytest.param(example, id=f"{page.code} {example.title}")
    for page in pages()
    if page.fix in ("safe", "unsafe")
    for example in page.examples
    if example.bad
]


@pytest.mark.parametrize("example", BAD)
def test_fixes_of_the_pages_examples(example: Example) -> None:
    assert_trusted(example.files)


PROJECTS = sorted(path for path in (Path(__file__).parents[2] / "fixtures").iterdir() if path.is_dir())


@pytest.mark.slow
@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_fixes_of_whole_projects(project: Path) -> None:
    sources = {path.relative_to(project).as_posix(): path for path in sorted(project.rglob("*.py"))}
    assert_trusted({name: path.read_bytes().decode() for name, path in sources.items()})


LAMBDAS = st.sampled_from(
    ["lambda rows: rows", "lambda rows, k=1: rows", "lambda rows: (rows, scale)", "lambda *rows: len(rows)", "named"]
)
COUNTS = st.sampled_from(["2", "0", "workers", "args.workers"])
OPTIONS = st.lists(
    st.sampled_from(
        [
            "persistent_workers=True",
            "prefetch_factor=4",
            "prefetch_factor=ahead",
            "timeout=3",
            "multiprocessing_context='spawn'",
            "worker_init_fn=start",
            "pin_memory=True",
        ]
    ),
    unique_by=lambda option: option.partition("=")[0],
    max_size=4,
)
SEEDS = st.sampled_from(["7", "worker_id", "7 + worker_id", "torch.initial_seed() % 2**32"])
LAUNCHES = st.sampled_from(["main(2)", "mp.spawn(main, nprocs=2)", "mp.Process(target=main, args=(0,)).start()"])
HEADS = st.lists(
    st.sampled_from(["import os", "import cv2", "import numpy as np", "import queue as q"]), unique=True, max_size=4
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    heads = draw(HEADS)
    standard = [line for line in heads if line in ("import os", "import queue as q")]
    others = [line for line in heads if line not in standard] + ["import torch", "import torch.multiprocessing as mp"]
    options = "".join(f", {one}" for one in draw(OPTIONS))
    collate = draw(LAMBDAS)
    guard = draw(st.booleans())
    launch = draw(LAUNCHES)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    indent = draw(st.sampled_from(["    ", "\t"]))
    lines = [
        *sorted(standard),
        *([""] if standard else []),
        *sorted(others),
        "from torch.utils.data import DataLoader, Dataset",
        "",
        f"scale = {draw(st.integers(0, 3))}",
        "",
        "",
        "def named(rows):",
        f"{indent}return rows",
        "",
        "",
        "def start(worker_id):",
        f"{indent}torch.manual_seed({draw(SEEDS)})",
        "",
        "",
        "class Rows(Dataset):",
        f"{indent}def __init__(self):",
        f"{indent * 2}self.scale = {draw(LAMBDAS)}  # kept",
        "",
        f"{indent}def __getitem__(self, index):",
        f"{indent * 2}return self.scale(index)",
        "",
        "",
        f"def main(rank, workers={draw(st.sampled_from(['0', '2']))}, ahead=2, args=None):",
        f"{indent}loader = DataLoader(Rows(), num_workers={draw(COUNTS)}, collate_fn={collate}{options})",
        f"{indent}for rows in loader:",
        f"{indent * 2}print(rows)",
        "",
        "",
        *(["if __name__ == '__main__':", f"{indent}{launch}"] if guard else [launch]),
        "",
    ]
    return end.join(lines)


@seed(20)
@settings(
    max_examples=int(os.environ.get("EXAMPLES", "12")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(programs())
def test_fixes_of_generated_programs(text: str) -> None:
    assert_trusted({"train.py": text})


REAL = [
    *((f"{page.code} {example.title}", example.files) for page in pages() for example in page.examples if example.bad),
    *(
        (project.name, {path.relative_to(project).as_posix(): path.read_text() for path in project.rglob("*.py")})
        for project in PROJECTS
    ),
]
"""Sources that people wrote: the bad examples of all pages, and the projects of fixtures."""


@seed(14)
@settings(
    max_examples=int(os.environ.get("EXAMPLES", "30")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
@given(
    st.sampled_from(REAL),
    st.lists(st.sampled_from(sorted(MUTATIONS)), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_fixes_of_mutated_sources(source: tuple[str, dict[str, str]], names: list[str], chance: Random) -> None:
    _, files = source
    assert_trusted(
        {path: mutated(text, names, chance) if path.endswith(".py") else text for path, text in files.items()}
    )
