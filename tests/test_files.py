"""Given these paths and bytes, these files and texts."""

from __future__ import annotations

import codecs
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dllint.config import Settings
from dllint.files import CannotRead, Undecodable, decode, detect_encoding, discover, read


def make(root: Path, *names: str, **contents: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents.get(name, ""))


def found(root: Path, *paths: str, settings: Settings | None = None, **flags: bool) -> list[str]:
    """The files under `root`, or the given paths in it, relative to it."""
    settings = replace(settings or Settings(), root=str(root))
    given = [str(root / path) for path in paths] or [str(root)]
    return [os.path.relpath(path, root) for path in discover(given, settings, **flags).files]


def ignore(directory: Path, *patterns: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / ".gitignore").write_text("\n".join(patterns))


def test_python_files_and_notebooks_of_a_directory_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a.py", "a/c.pyi", "d.txt", "e.pyc", "f.ipynb", "py", ".ipynb_checkpoints/f.ipynb")
    assert found(tmp_path) == ["a.py", "a/z.py", "b.py", "f.ipynb"]


def test_a_named_file_is_always_taken(tmp_path: Path) -> None:
    make(tmp_path, "script", "build/x.py", "a.pyi")
    ignore(tmp_path, "*")
    assert found(tmp_path, "script", "build/x.py", "a.pyi") == ["a.pyi", "build/x.py", "script"]


def test_each_file_once(tmp_path: Path) -> None:
    make(tmp_path, "a/b.py")
    (tmp_path / "c.py").symlink_to(tmp_path / "a/b.py")
    assert found(tmp_path, ".", "a", "a/b.py", "a/../a/b.py", "c.py") == ["a/b.py"]


@pytest.mark.parametrize(
    "name", [".git", ".venv", "venv", "build", "dist", "node_modules", "site-packages", "__pycache__"]
)
def test_directories_that_are_left_out(name: str, tmp_path: Path) -> None:
    make(tmp_path, f"{name}/a.py", f"sub/{name}/a.py", "b.py")
    assert found(tmp_path) == ["b.py"]
    assert found(tmp_path, name) == [f"{name}/a.py"]
    assert found(tmp_path, name, force_exclude=True) == []


def test_exclude_replaces_the_usual_and_extend_exclude_adds(tmp_path: Path) -> None:
    make(tmp_path, "build/a.py", "gen/b.py", "src/gen/c.py", "src/d_pb2.py", "src/e.py")
    excluding = Settings(exclude=("gen",))
    assert found(tmp_path, settings=excluding) == ["build/a.py", "src/d_pb2.py", "src/e.py"]
    extending = Settings(extend_exclude=("/gen", "*_pb2.py"))
    assert found(tmp_path, settings=extending) == ["src/e.py", "src/gen/c.py"]


def test_excludes_are_relative_to_the_configuration(tmp_path: Path) -> None:
    make(tmp_path, "src/gen/a.py", "src/b.py")
    settings = Settings(extend_exclude=("src/gen",), origin=str(tmp_path / "pyproject.toml"))
    assert found(tmp_path, "src", settings=settings) == ["src/b.py"]


def test_force_exclude_holds_for_named_files(tmp_path: Path) -> None:
    make(tmp_path, "gen/deep/a.py", "b.py")
    settings = Settings(extend_exclude=("gen",))
    assert found(tmp_path, "gen/deep/a.py", "b.py", settings=settings) == ["b.py", "gen/deep/a.py"]
    assert found(tmp_path, "gen/deep/a.py", "b.py", settings=settings, force_exclude=True) == ["b.py"]


def track(repository: Path, *names: str) -> None:
    """Make it a repository that tracks these files."""
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    subprocess.run(["git", "-C", str(repository), "add", "-f", "--", *names], check=True)


def test_gitignore(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "a.py", "data/b.py", "sub/c.py", "sub/data.py", "out/keep.py", "out/drop.py")
    ignore(tmp_path, "# comment", "data/", "/out/*", "!keep.py", "")
    assert found(tmp_path) == ["a.py", "out/keep.py", "sub/c.py", "sub/data.py"]
    assert found(tmp_path, respect_gitignore=False) == [
        *("a.py", "data/b.py", "out/drop.py", "out/keep.py", "sub/c.py", "sub/data.py"),
    ]


def test_an_inner_gitignore_overrules_an_outer_one(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "x.py", "sub/x.py", "sub/y.py")
    ignore(tmp_path, "x.py")
    ignore(tmp_path / "sub", "!x.py", "y.py")
    assert found(tmp_path) == ["sub/x.py"]


def test_gitignore_above_counts_within_the_repository(tmp_path: Path) -> None:
    make(tmp_path, "repo/src/gen/a.py", "repo/src/b.py", "repo/src/c.py", "repo/.git/HEAD")
    ignore(tmp_path / "repo", "gen")
    ignore(tmp_path, "b.py")
    (tmp_path / "repo/.git/info").mkdir()
    (tmp_path / "repo/.git/info/exclude").write_text("c.py\n")
    assert found(tmp_path / "repo", "src") == ["src/b.py"]


def test_an_ignored_directory_that_is_named_is_looked_at(tmp_path: Path) -> None:
    make(tmp_path, "gen/a.py", ".git/HEAD")
    ignore(tmp_path, "gen/")
    assert found(tmp_path) == []
    assert found(tmp_path, "gen") == ["gen/a.py"]


def test_gitignore_means_nothing_outside_of_a_repository(tmp_path: Path) -> None:
    make(tmp_path, "pkg/data/a.py", "b.py")
    ignore(tmp_path, "data")
    assert found(tmp_path) == ["b.py", "pkg/data/a.py"]


def test_what_git_tracks_is_not_ignored(tmp_path: Path) -> None:
    make(
        tmp_path, "pkg/data/a.py", "pkg/data/deep/b.py", "pkg/data/new.py", "data/c.py", "gen_a.py", "gen_b.py", "d.py"
    )
    make(tmp_path, "pkg/data/node_modules/e.py", "pkg/data_more/f.py")
    ignore(tmp_path, "data*", "gen_*.py")
    track(tmp_path, "pkg/data/a.py", "pkg/data/deep", "pkg/data/node_modules", "gen_a.py")
    (tmp_path / "pkg/data/deep/gone.py").symlink_to(tmp_path / "nowhere")
    tracked = ["gen_a.py", "pkg/data/a.py", "pkg/data/deep/b.py"]
    assert found(tmp_path) == ["d.py", *tracked]
    assert found(tmp_path, "pkg") == tracked[1:]
    assert found(tmp_path, settings=Settings(extend_exclude=("deep",))) == ["d.py", *tracked[:2]]


def test_a_hook_of_another_repository_hides_no_tracked_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "here/data/a.py", "other/b.py")
    ignore(tmp_path / "here", "data/")
    track(tmp_path / "here", "data/a.py")
    track(tmp_path / "other", "b.py")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    assert found(tmp_path / "here") == ["data/a.py"]


def test_a_repository_within_another_has_rules_of_its_own(tmp_path: Path) -> None:
    make(tmp_path, "outer/a.py", "outer/sub/a.py", "outer/sub/b.py", "outer/sub/.git/HEAD", "outer/.git/HEAD")
    ignore(tmp_path / "outer", "a.py")
    ignore(tmp_path / "outer/sub", "b.py")
    assert found(tmp_path / "outer") == ["sub/a.py"]


def test_a_broken_pattern_spoils_nothing(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "a.py", "b.py")
    (tmp_path / ".gitignore").write_bytes(b"!\n\xff\xfe\na.py\n")
    assert found(tmp_path) == ["b.py"]


def test_loops_of_links_end(tmp_path: Path) -> None:
    make(tmp_path, "a/b.py")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    (tmp_path / "nowhere.py").symlink_to(tmp_path / "gone.py")
    result = discover([str(tmp_path)], Settings())
    assert [os.path.relpath(path, tmp_path) for path in result.files] == ["a/b.py"]
    assert result.problems == []


def test_what_is_not_there_is_a_problem(tmp_path: Path) -> None:
    result = discover([str(tmp_path / "no"), str(tmp_path)], Settings())
    assert result.problems == [f"{tmp_path / 'no'}: no such file or directory"]
    assert result.warnings == [f"{tmp_path}: no Python files in this directory"]


def test_a_directory_that_cannot_be_listed_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.py", "locked/b.py")
    scandir = os.scandir

    def guarded(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    result = discover([str(tmp_path)], Settings())
    assert [os.path.basename(path) for path in result.files] == ["a.py"]
    assert result.problems == [f"{tmp_path / 'locked'}: cannot list this directory: permission denied"]


def test_reading(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x\r\n")
    assert read(str(tmp_path / "a.py")) == b"x\r\n"


@pytest.mark.parametrize(
    ("name", "reason"), [("gone.py", "no such file"), (".", "is a directory"), ("a\0b", "not a valid path")]
)
def test_why_a_file_cannot_be_read(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRead) as caught:
        read(f"{tmp_path}/{name}")
    assert caught.value.reason == reason


def test_a_forbidden_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(CannotRead, match="permission denied"):
        read("a.py")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\r\n", "x = 1\r\n"),
        ("é".encode(), "é"),
        (codecs.BOM_UTF8 + b"x", "x"),
        (codecs.BOM_UTF8 + b"# coding: utf-8\n", "# coding: utf-8\n"),
        (b"# -*- coding: latin-1 -*-\n\xe9", "# -*- coding: latin-1 -*-\né"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\x80",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n€",
        ),
        (b"\n# coding=latin-1\n\xe9", "\n# coding=latin-1\né"),
        (b"x = 1\n# coding: nonsense\n", "x = 1\n# coding: nonsense\n"),
        (b"\n\n# coding: nonsense\n", "\n\n# coding: nonsense\n"),
        (b"x = 'coding: nonsense'\n", "x = 'coding: nonsense'\n"),
        ("# coding: future_fstrings\né".encode(), "# coding: future_fstrings\né"),
        (b"# -*- coding: Future-FStrings -*-\n", "# -*- coding: Future-FStrings -*-\n"),
        (b"", ""),
    ],
)
def test_decoding(data: bytes, text: str) -> None:
    assert decode(data) == text
    assert text.encode(detect_encoding(data)) == data


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"x = 1\ny = '\xff'\n", "invalid UTF-8: byte 0xff", 2),
        (b"x\r\ny\rz\n\xc3", "invalid UTF-8: byte 0xc3", 4),
        (b"# coding: nonsense\n", "unknown encoding: nonsense", 1),
        (b"# coding: future_fstrings\n\xff", "invalid UTF-8: byte 0xff", 2),
        (b"#\n# coding: ascii\n\n\xe9", "invalid ascii: byte 0xe9", 4),
        (b"a\nb\0c", "null byte in the source", 2),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "declared as latin-1, but the byte-order mark is UTF-8's", 1),
        ("x = 1".encode("utf-16"), "UTF-16, which Python does not read as source", 1),
        (b"# coding: rot13\n", "not decodable as rot13", 1),
        (b"# coding: undefined\n", "not decodable as undefined", 1),
    ],
)
def test_what_cannot_be_decoded(data: bytes, message: str, line: int) -> None:
    with pytest.raises(Undecodable) as caught:
        decode(data)
    assert (caught.value.message, caught.value.line) == (message, line)
