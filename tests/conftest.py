"""What the tests find on the machine that they run on, and what several of them share."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# The runs of test_fixtures.py take any interpreter with torch; this one serves where it has it and none is named.
if importlib.util.find_spec("torch"):
    os.environ.setdefault("DLLINT_TORCH_PYTHON", sys.executable)


@pytest.fixture(scope="session")
def outside_git() -> dict[str, str]:
    """The environment without what a git hook puts there: it would turn every git command to the wrong repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


@pytest.fixture(scope="session", autouse=True)
def strangers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two projects beside the directories of the tests, which therefore are none of one project: a check does not look
    for imports in what hundreds of other tests have written."""
    for name in ("stranger", "other_stranger"):
        directory = tmp_path_factory.getbasetemp() / name
        directory.mkdir(exist_ok=True)
        (directory / "pyproject.toml").touch()


@pytest.fixture(scope="session")
def commit_all(outside_git: dict[str, str]) -> Callable[[Path], None]:
    """Puts all that a directory holds under version control, whatever git is configured to do elsewhere."""

    def commit(directory: Path) -> None:
        who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        steps = (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "--no-verify", "-m", "All"])
        for arguments in steps:
            subprocess.run(["git", *arguments], cwd=directory, env=outside_git, check=True)

    return commit


@pytest.fixture(scope="session")
def checkout(
    tmp_path_factory: pytest.TempPathFactory, outside_git: dict[str, str], commit_all: Callable[[Path], None]
) -> Path:
    """A git repository with the sources as they are now, one commit, and nothing that was built or installed."""
    copy = tmp_path_factory.mktemp("dllint") / "checkout"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        env=outside_git,
        capture_output=True,
        check=True,
    )
    for name in map(os.fsdecode, filter(None, listed.stdout.split(b"\0"))):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    commit_all(copy)
    return copy


def pytest_configure(config: pytest.Config) -> None:
    """Where xdist hands out whole files, they go in the order of collection, not by how many tests each holds."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three workers for two processors: the programs that slow tests start wait for each other half of the time."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(2, processors * 3 // 2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files with the most slow tests start first: one that is begun late keeps all but one processor waiting."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])
