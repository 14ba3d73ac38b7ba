"""What holds after every fix, over the bad examples of all pages, the projects in fixtures/ and generated programs.

The file parses, a second run changes nothing, the mended finding is gone, and neither a rule nor
`ruff check --select E,F,I` finds anything that it did not find before.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from dllint import linter
from dllint.catalog import Example, pages
from dllint.config import Settings
from dllint.finding import Finding
from dllint.fixes.passes import FixRun, fix_until_stable

BAD = [
    pytest.param(example, id=f"{page.code} {example.title}")
    for page in pages()
    if page.fix in ("safe", "unsafe")
    for example in page.examples
    if example.bad
]


def check(files: Mapping[str, str]) -> tuple[Finding, ...]:
    return linter.check_sources(
        {path: text for path, text in files.items() if path.endswith(".py")}, Settings(root="")
    ).findings


def fix(files: Mapping[str, str], unsafe: bool) -> FixRun:
    return fix_until_stable(lambda texts: check({**files, **texts}), files.__getitem__, unsafe)


def counted(findings: tuple[Finding, ...]) -> Counter[tuple[str, str]]:
    return Counter((one.code, one.path) for one in findings)


def ruff(files: Mapping[str, str], folder: Path) -> Counter[tuple[str, str]]:
    """How often each rule of ruff finds something in each file."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "E,F,I", "--line-length"]
    done = subprocess.run(
        [*command, "160", "--output-format", "json", "."], cwd=folder, capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    return Counter(
        (one["code"] or "syntax", Path(one["filename"]).relative_to(folder.resolve()).as_posix()) for one in found
    )


def assert_trusted(files: Mapping[str, str], folder: Path) -> None:
    before = check(files)
    for unsafe in (False, True):
        run = fix(files, unsafe)
        after = {**files, **{path: new for path, (_, new) in run.texts.items()}}
        for path, (_, new) in run.texts.items():
            ast.parse(new, path)
        assert run.stable
        assert fix(after, unsafe).texts == {}
        assert counted(check(after)) <= counted(before)
        mended = counted(tuple(one.finding for one in run.applied))
        assert counted(before) - counted(check(after)) >= mended - Counter(
            {key: count - 1 for key, count in mended.items() if count > 1}
        )
        if run.texts:
            new = ruff(after, folder / f"after{unsafe}") - ruff(files, folder / f"before{unsafe}")
            assert not new, (new, after)


@pytest.mark.parametrize("example", BAD)
def test_fixes_of_the_pages_examples(example: Example, tmp_path: Path) -> None:
    assert_trusted(example.files, tmp_path)


PROJECTS = sorted(path for path in (Path(__file__).parents[2] / "fixtures").iterdir() if path.is_dir())


@pytest.mark.slow
@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_fixes_of_whole_projects(project: Path, tmp_path: Path) -> None:
    sources = {path.relative_to(project).as_posix(): path for path in sorted(project.rglob("*.py"))}
    assert_trusted({name: path.read_bytes().decode() for name, path in sources.items()}, tmp_path)


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
    with tempfile.TemporaryDirectory() as folder:
        assert_trusted({"train.py": text}, Path(folder))
