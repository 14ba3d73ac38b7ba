"""What a repository plants where the cache is kept is neither believed nor written through."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from dllint.facts.cache import FACTS_VERSION

Run = Callable[..., Any]

HAZARD = (
    "from torch.utils.data import DataLoader\n"
    "DataLoader([], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
)
TAG = "CACHEDIR.TAG"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(HAZARD)
    (project / "pyproject.toml").write_text('[tool.dllint]\ncache-dir = ".dllint_cache"\n')
    return project


def entry_of(text: str, directory: Path) -> Path:
    import dllint as package

    digest = blake2b(f"{FACTS_VERSION} {package.__version__}\n".encode() + text.encode(), digest_size=20).hexdigest()
    (directory / digest[:2]).mkdir(parents=True, exist_ok=True)
    return directory / digest[:2] / (digest[2:] + ".facts")


def marked(directory: Path) -> Path:
    """A planted directory that looks like a cache."""
    from dllint.cache_directory import _TAG_TEXT

    directory.mkdir()
    (directory / TAG).write_text(_TAG_TEXT)
    return directory


def test_links_in_a_directory_that_looks_like_a_cache_are_not_written_through(
    project: Path, tmp_path: Path, check: Run
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    planted = marked(project / ".dllint_cache")
    (planted / entry_of(HAZARD, tmp_path / "names").parent.name).symlink_to(outside)
    assert check(project).returncode == 1
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("where", ["link", "link/inside", "../elsewhere", "/tmp/elsewhere-of-dllint", "~/elsewhere"])
def test_a_project_has_no_cache_outside_of_it(project: Path, tmp_path: Path, where: str, check: Run) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "link").symlink_to(outside)
    (project / "pyproject.toml").write_text(f'[tool.dllint]\ncache-dir = "{where}"\n')
    done = check(project, HOME=str(tmp_path))
    assert done.returncode == 2
    assert b"cache-dir must lie inside of the project" in done.stderr
    assert list(outside.iterdir()) == [] and not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("named", [".", "src"])
@pytest.mark.parametrize("by", ["option", "file"])
def test_a_directory_of_something_else_keeps_its_gitignore(project: Path, named: str, by: str, check: Run) -> None:
    (project / "src").mkdir(exist_ok=True)
    for directory in (project, project / "src"):
        (directory / ".gitignore").write_text("secret.py\n")
    (project / "pyproject.toml").write_text(f'[tool.dllint]\ncache-dir = "{named}"\n' if by == "file" else "")
    done = check(project, *(("--cache-dir", named) if by == "option" else ()))
    assert done.returncode == 2
    assert b"it is not empty and no cache of dllint" in done.stderr
    for directory in (project, project / "src"):
        assert (directory / ".gitignore").read_text() == "secret.py\n"
        assert not (directory / TAG).exists()


def test_an_empty_name_is_no_directory(project: Path, check: Run) -> None:
    (project / "pyproject.toml").write_text('[tool.dllint]\ncache-dir = ""\n')
    assert b"cache-dir must name a directory" in check(project).stderr
    (project / "pyproject.toml").write_text("")
    assert b"cache-dir must name a directory" in check(project, "--cache-dir", "").stderr
    assert not (project / ".gitignore").exists()


def test_an_empty_directory_becomes_a_cache(project: Path, check: Run) -> None:
    (project / ".dllint_cache").mkdir()
    assert check(project).returncode == 1
    assert (project / ".dllint_cache" / TAG).is_file()
    assert check(project).returncode == 1


def test_an_entry_that_links_to_itself_costs_nothing(project: Path, check: Run) -> None:
    entry = entry_of(HAZARD, marked(project / ".dllint_cache"))
    entry.symlink_to(entry)
    assert check(project).returncode == 1


def test_cleaning_removes_only_what_is_the_caches(project: Path, dllint: Run) -> None:
    marked(project / ".dllint_cache")
    (project / ".dllint_cache/.gitignore").write_text("of the project\n")
    assert dllint(project, "clean").returncode == 0
    assert (project / ".dllint_cache/.gitignore").read_text() == "of the project\n"
