"""What a repository plants where the cache is kept is neither believed nor written through."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from dllint.facts.cache import FACTS_VERSION
from dllint.facts.extract import extract

Run = Callable[..., CompletedProcess[bytes]]

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


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    return victim


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


def test_a_link_in_the_place_of_gitignore_truncates_nothing(project: Path, victim: Path, check: Run) -> None:
    (project / ".dllint_cache").mkdir()
    (project / ".dllint_cache/.gitignore").symlink_to(victim)
    done = check(project)
    assert done.returncode == 2
    assert b"cannot be the cache: it is not empty and no cache of dllint" in done.stderr
    assert victim.read_text() == "precious"


def test_dangling_links_create_nothing(project: Path, tmp_path: Path, check: Run) -> None:
    (project / ".dllint_cache").mkdir()
    for name in (TAG, ".gitignore"):
        (project / ".dllint_cache" / name).symlink_to(tmp_path / f"made {name}")
    assert check(project).returncode == 2
    assert not list(tmp_path.glob("made*"))


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


def test_a_planted_entry_makes_no_false_clean(project: Path, check: Run) -> None:
    planted = marked(project / ".dllint_cache")
    from dllint.facts.cache import to_json

    payload = zlib.compress(json.dumps(to_json(extract("x = 1\n"))).encode())
    entry_of(HAZARD, planted).write_bytes(blake2b(payload, digest_size=16).digest() + payload)
    assert check(project).returncode == 1


@pytest.mark.parametrize("kind", ["bomb", "pipe", "zero", "link"])
def test_a_planted_entry_costs_nothing(project: Path, kind: str, check: Run) -> None:
    entry = entry_of(HAZARD, marked(project / ".dllint_cache"))
    if kind == "bomb":
        payload = zlib.compress(b"[" + b"[[]]," * (20 << 20) + b"[]]", 9)
        entry.write_bytes(blake2b(payload, digest_size=16).digest() + payload)
    elif kind == "pipe":
        os.mkfifo(entry)
    else:
        entry.symlink_to("/dev/zero" if kind == "zero" else entry)
    assert check(project).returncode == 1


def test_cleaning_removes_only_what_is_the_caches(project: Path, dllint: Run) -> None:
    marked(project / ".dllint_cache")
    (project / ".dllint_cache/.gitignore").write_text("of the project\n")
    assert dllint(project, "clean").returncode == 0
    assert (project / ".dllint_cache/.gitignore").read_text() == "of the project\n"
