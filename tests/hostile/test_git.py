"""No git process runs: ignore patterns and the index are read by our own rules, and give what git gives."""

from __future__ import annotations

import os
import random
import re
import subprocess
import time
from pathlib import Path

import pytest
from tests.pace import slowness

from dllint.config import Settings
from dllint.files import Discovery, discover
from dllint.gitignore import Patterns, lines_of


def git(repository: Path, *arguments: str, **others: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **others}
    command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments]
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
    return done.stdout


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def look(root: Path) -> Discovery:
    return discover([str(root)], Settings(root=str(root)))


def names(root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in look(root).files]


def planted(root: Path) -> Path:
    """A repository whose configuration has git run a command as soon as it lacks an object."""
    write(root, "a.py", "data/b.py")
    (root / ".gitignore").write_text("data/\n")
    git(root, "init", "-q")
    git(root, "add", "-f", ".")
    git(root, "commit", "-qm", "x")
    mark = root.parent / "PWNED"
    for key, value in {
        "extensions.partialClone": "origin",
        "core.repositoryformatversion": "1",
        "remote.origin.url": "ext::sh -c touch% PWNED",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"touch {mark}; false",
        "core.fsmonitor": f"touch {mark}",
        "core.sshCommand": f"touch {mark}",
        "core.sparseCheckout": "true",
        "core.sparseCheckoutCone": "true",
        "index.sparse": "true",
    }.items():
        git(root, "config", key, value)
    return mark


def test_no_command_of_a_repository_runs(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    mark = planted(root)
    for path in sorted((root / ".git/objects").rglob("*")):
        if path.is_file():
            path.unlink()
    assert names(root) == ["a.py", "data/b.py"]
    assert not mark.exists()


def test_no_process_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a process was started")

    write(tmp_path, "data/b.py")
    (tmp_path / ".gitignore").write_text("data/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "data")
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)
    assert names(tmp_path) == ["data/b.py"]


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("format", ["sha1", "sha256"])
def test_tracked_files_are_found_in_every_version_of_the_index(tmp_path: Path, version: str, format: str) -> None:
    kept = [f"data/{'x' * length}.py" for length in range(1, 20)] + ["data/deep/é.py", "data/new.py"]
    write(tmp_path, *kept, "data/untracked.py", "a.py")
    (tmp_path / ".gitignore").write_text("data/\n")
    git(tmp_path, "init", "-q", f"--object-format={format}")
    if not (tmp_path / ".git").exists():
        pytest.skip("this git does not know the format")
    git(tmp_path, "config", "index.version", version)
    git(tmp_path, "add", "-f", *kept[:-1])
    git(tmp_path, "add", "-f", "-N", kept[-1])
    git(tmp_path, "update-index", "--index-version", version)
    assert names(tmp_path) == sorted(["a.py", *kept])


def test_a_worktree_and_a_submodule_have_their_index_elsewhere(tmp_path: Path) -> None:
    main = tmp_path / "main"
    write(main, "data/a.py")
    (main / ".gitignore").write_text("data/\n")
    git(main, "init", "-q")
    git(main, "add", "-f", ".")
    git(main, "commit", "-qm", "x")
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert names(tmp_path / "linked") == ["data/a.py"]


@pytest.mark.parametrize(
    "index",
    [b"", b"DIRC", b"DIRC\0\0\0\2\xff\xff\xff\xff" + b"\0" * 100, b"DIRC\0\0\0\x09\0\0\0\0" + b"\0" * 20, b"x" * 5000],
    ids=["empty", "cut", "many", "version", "text"],
)
def test_an_index_that_cannot_be_read_is_told(tmp_path: Path, index: bytes) -> None:
    write(tmp_path, "data/a.py", ".git/HEAD", "b.py")
    (tmp_path / ".git/index").write_bytes(index)
    assert look(tmp_path).problems == []
    (tmp_path / ".gitignore").write_text("data/\n")
    found = look(tmp_path)
    assert [os.path.basename(path) for path in found.files] == ["b.py"]
    (problem,) = found.problems
    assert "cannot read `.git/index`" in problem


def test_a_split_index_is_told(tmp_path: Path) -> None:
    write(tmp_path, "data/a.py")
    (tmp_path / ".gitignore").write_text("data/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", ".")
    git(tmp_path, "update-index", "--split-index")
    assert any("cannot read `.git/index`" in problem for problem in look(tmp_path).problems)


def test_an_index_that_names_files_elsewhere_leads_nowhere(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.py", "inside/b.py")
    root = tmp_path / "inside"
    (root / "data").mkdir()
    write(root, "data/sub/a.py")
    (root / ".gitignore").write_text("data/\n")
    git(root, "init", "-q")
    git(root, "add", "-f", ".")
    (root / "data/sub/a.py").unlink()
    (root / "data/sub").rmdir()
    (root / "data/sub").symlink_to(tmp_path / "outside")
    assert names(root) == ["b.py"]


SLOW = {
    "stars": "*a*a*a*a*a*a*a*ab",
    "many stars": "*a" * 400 + "b",
    "question marks": "*?" * 400 + "b",
    "directories": "**/a/" * 150 + "b",
    "mixed": "**/*a*a/" * 100 + "b",
    "classes": "*[!b]" * 150 + "b",
    "long": "a" * 200_000,
    "brackets": "[" * 900,
}


@pytest.mark.parametrize("name", SLOW)
def test_every_pattern_takes_linear_time(name: str) -> None:
    patterns = Patterns([SLOW[name], "/x/" + SLOW[name]])
    started = time.process_time()
    for path in ("a" * 255, "/".join(["a"] * 1000), "/".join(["a" * 200] * 20), "x/" + "a" * 255):
        assert patterns.verdict(path, False) is None
    assert time.process_time() - started < 1 * slowness()


def test_many_patterns_are_cut_and_told(tmp_path: Path) -> None:
    write(tmp_path, ".git/HEAD", "a.py")
    (tmp_path / ".gitignore").write_text("".join(f"x*y{number}?\n" for number in range(20_000)))
    started = time.process_time()
    found = look(tmp_path)
    assert time.process_time() - started < 5 * slowness()
    assert len(found.files) == 1
    assert "18000 patterns are not used" in found.warnings[0]


ATOMS = [
    *(
        "a",
        "b",
        "ab",
        "*",
        "?",
        "**",
        "/",
        "/",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[]a]",
        "[",
        "\\a",
        "\\*",
        "!",
        ".",
        " ",
    ),
    *("#", "[[:alpha:]]", "[b-a]", "\\", "**/", "/**", "/**/"),
]
PATHS = [
    *(
        "a",
        "b",
        "ab",
        "a/a",
        "a/b",
        "b/a",
        "ab/a",
        "a/ab",
        "a/b/a",
        "b/a/b",
        "a/a/b/b",
        "ab/ab/ab",
        "c",
        "c/a",
        "a b",
        "*",
    ),
    *("!a", "#a", "a/b/c/a", "]", "b/]", "[", "a*", "aab", "abab", "b/aab/a", "a/.a", ".b", "\\a"),
]


@pytest.mark.parametrize("seed", range(4))
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    git(tmp_path, "init", "-q")
    for _ in range(40):
        lines = ["".join(chance.choices(ATOMS, k=chance.randint(1, 5))) for _ in range(chance.randint(1, 3))]
        # What two stars that are no directory of their own mean is said to be as one, and differs in corners.
        lines = [line for line in lines if not re.search(r"//|\\/|[^/]\*\*|\*\*[^/]", line)]
        data = "\n".join(lines).encode()
        (tmp_path / ".gitignore").write_bytes(data)
        patterns = Patterns(lines_of(data))
        asked = "".join(f"{path}\0" for path in PATHS)
        command = ["git", "check-ignore", "-z", "--stdin", "--no-index"]
        said = set(
            subprocess.run(command, cwd=tmp_path, input=asked, capture_output=True, text=True).stdout.split("\0")
        )
        ours = {path for path in PATHS if patterns.covers(path)}
        assert ours == said - {""}, lines
