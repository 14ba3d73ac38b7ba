"""Given this pyproject.toml, these settings or this error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dllint.config import Settings, Targets, load
from dllint.setting_values import PYTHONS, ConfigError

OPTIONS = {"DLL101": {}, "DLL201": {}, "DLL301": {"copies-mib": 256, "ratio": 0.5, "names": ["a"], "strict": False}}


def settings(directory: Path, toml: str, **others: Any) -> Settings:
    (directory / "pyproject.toml").write_text(toml, encoding="utf-8")
    return load([str(directory)], options=OPTIONS, **others)


def error(directory: Path, toml: str) -> str:
    with pytest.raises(ConfigError) as caught:
        settings(directory, toml)
    text = str(caught.value)
    assert "\n" not in text
    assert "pyproject.toml: " in text
    return text.partition("pyproject.toml: ")[2]


def test_every_key_reaches_its_setting(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        """
        [tool.dllint]
        target-python = "3.11"
        target-platform = ["linux", "macos"]
        select = ["DLL1"]
        ignore = ["DLL101"]
        extend-select = ["DLL201"]
        exclude = ["build"]
        extend-exclude = ["gen"]
        preview = true
        loaders = ["a.Loader"]
        datasets = ["a.Data"]
        launchers = ["a.launch"]
        mmap-stores = ["a.open"]
        openers = ["a.Reader"]
        unpicklable = ["a.Client"]
        cuda-calls = ["a.warm_up"]
        copying-calls = ["a.own"]
        cache-dir = "kept"
        [tool.dllint.per-file-ignores]
        "tests/*" = ["DLL2"]
        [tool.dllint.rules.DLL301]
        copies-mib = 64
        ratio = 1
        names = ["b"]
        strict = true
        """,
    )
    assert found == Settings(
        root=str(tmp_path),
        targets=Targets(pythons=((3, 11),), platforms=("linux", "macos")),
        select=("DLL1",),
        ignore=("DLL101",),
        extend_select=("DLL201",),
        per_file_ignores={"tests/*": ("DLL2",)},
        exclude=("build",),
        extend_exclude=("gen",),
        preview=True,
        loaders=("a.Loader",),
        datasets=("a.Data",),
        launchers=("a.launch",),
        mmap_stores=("a.open",),
        openers=("a.Reader",),
        unpicklable=("a.Client",),
        cuda_calls=("a.warm_up",),
        copying_calls=("a.own",),
        cache_dir=str(tmp_path / "kept"),
        rules={"DLL301": {"copies-mib": 64, "ratio": 1, "names": ["b"], "strict": True}},
        origin=str(tmp_path / "pyproject.toml"),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('selct = ["DLL1"]', 'unknown setting "selct", did you mean "select"?'),
        ("mmap_stores = []", 'unknown setting "mmap_stores", did you mean "mmap-stores"?'),
        ("zzz = 1", 'unknown setting "zzz"'),
        ('select = "DLL1"', "select must be a list of strings, not a string"),
        ("select = [1]", "select must be a list of strings, not a list"),
        ('select = ["DLL109"]', 'select: there is no rule "DLL109", did you mean "DLL101"?'),
        ('ignore = ["E501"]', 'ignore: there is no rule "E501" (`dllint rule --all` lists them)'),
        ('preview = "yes"', "preview must be true or false, not a string"),
        ("cache-dir = 3", "cache-dir must be a string, not a whole number"),
        ('target-platform = "linus"', 'target-platform: there is no platform "linus", only linux, macos, windows'),
        ("target-platform = []", "target-platform names no platform"),
        ("target-python = 3.11", "target-python must be a string, not a number"),
        (
            'target-python = "py311"',
            'target-python: "py311" is no version like "3.11" and no specifier like ">=3.10,<3.15"',
        ),
        ('target-python = ">=4"', 'target-python: ">=4" allows no Python from 3.6 to 3.14'),
        ('per-file-ignores = ["DLL1"]', "per-file-ignores must be a table of lists, not a list"),
        (
            'per-file-ignores = {"a" = ["DLL7"]}',
            'per-file-ignores: there is no rule "DLL7" (`dllint rule --all` lists them)',
        ),
        ('per-file-ignores = {"a" = "DLL1"}', 'per-file-ignores "a" must be a list of strings, not a string'),
        ("rules = 1", "rules must be a table, not a whole number"),
        ("rules = {DLL302 = {}}", 'rules: there is no rule "DLL302", did you mean "DLL301"?'),
        ("rules = {DLL301 = 1}", "rules.DLL301 must be a table, not a whole number"),
        ("rules = {DLL301 = {copy-mib = 1}}", 'rules.DLL301: unknown option "copy-mib", did you mean "copies-mib"?'),
        ('rules = {DLL301 = {copies-mib = "1"}}', "rules.DLL301: copies-mib must be a whole number, not a string"),
        ("rules = {DLL301 = {copies-mib = true}}", "rules.DLL301: copies-mib must be a whole number, not a boolean"),
    ],
)
def test_what_has_no_meaning_is_an_error_in_one_line(tmp_path: Path, line: str, message: str) -> None:
    assert error(tmp_path, f"[tool.dllint]\n{line}\n") == message


def test_broken_toml_is_an_error_in_one_line(tmp_path: Path) -> None:
    assert error(tmp_path, "[tool.dllint\n").startswith("is not valid TOML: ")
    (tmp_path / "pyproject.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load([str(tmp_path)])


def test_a_table_in_the_place_of_a_value_is_an_error(tmp_path: Path) -> None:
    assert error(tmp_path, "tool = 1\n") == "[tool] must be a table"
    assert error(tmp_path, "[tool]\ndllint = 1\n") == "[dllint] must be a table"


def test_a_broken_file_that_is_not_used_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[broken")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert settings(inner, "[tool.dllint]\npreview = true\n").preview
    assert load([str(tmp_path)], isolated=True) == Settings(root=str(tmp_path))
    other = tmp_path / "other.toml"
    other.write_text("preview = true")
    assert load([str(tmp_path)], config=str(other)).preview


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.dllint]\nselect = ["DLL1"]\n')
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.black]\n[project]\nrequires-python = ">=3.14"\n')
    found = load([str(inner / "file.py")], options=OPTIONS)
    assert (found.select, found.origin) == (("DLL1",), str(tmp_path / "pyproject.toml"))
    assert found.root == str(tmp_path / "a")


@pytest.mark.parametrize(
    ("requires", "pythons"),
    [
        (">=3.10", PYTHONS),
        (">=3.8", PYTHONS),
        (">=3.12", ((3, 12), (3, 13), (3, 14))),
        (">=3.10,<3.12", ((3, 10), (3, 11))),
        (">=3.10.4,!=3.12.*", ((3, 10), (3, 11), (3, 13), (3, 14))),
        ("~=3.13", ((3, 13), (3, 14))),
        ("==3.11.*", ((3, 11),)),
        (">=3.6,<3.9", ((3, 6), (3, 7), (3, 8))),
        (">=2.7", PYTHONS),
        ("<3", PYTHONS),
        ("any", PYTHONS),
    ],
)
def test_the_target_is_what_the_project_requires(
    tmp_path: Path, requires: str, pythons: tuple[tuple[int, int], ...]
) -> None:
    project = f'[project]\nrequires-python = "{requires}"\n'
    assert settings(tmp_path, project).targets.pythons == pythons
    assert settings(tmp_path, project + "[tool.dllint]\n").targets.pythons == pythons


@pytest.mark.parametrize(
    ("constraint", "pythons"),
    [
        (">=3.9,<3.13", ((3, 10), (3, 11), (3, 12))),
        ("^3.9", PYTHONS),
        ("^3.13", ((3, 13), (3, 14))),
        ("~3.11", ((3, 11),)),
        ("~3.11.4", ((3, 11),)),
        ("3.12", ((3, 12),)),
        ("3.12.*", ((3, 12),)),
        ("~=3.13", ((3, 13), (3, 14))),
        ("^3.8, !=3.14.*", ((3, 10), (3, 11), (3, 12), (3, 13))),
        ("*", PYTHONS),
        ("^3.9 || ^3.11", PYTHONS),
    ],
)
def test_the_target_is_what_poetry_asks_for(
    tmp_path: Path, constraint: str, pythons: tuple[tuple[int, int], ...]
) -> None:
    project = f'[tool.poetry.dependencies]\npython = "{constraint}"\n'
    assert settings(tmp_path, project).targets.pythons == pythons
    assert settings(tmp_path, '[project]\nrequires-python = ">=3.14"\n' + project).targets.pythons == ((3, 14),)


def test_a_target_that_is_set_counts_more_than_what_the_project_requires(tmp_path: Path) -> None:
    toml = '[project]\nrequires-python = ">=3.10"\n[tool.dllint]\ntarget-python = "3.12"\n'
    assert settings(tmp_path, toml).targets.pythons == ((3, 12),)
    assert settings(tmp_path, toml, overrides={"target-python": "3.13"}).targets.pythons == ((3, 13),)


def test_the_command_line_replaces_select_and_adds_to_the_rest(tmp_path: Path) -> None:
    toml = '[tool.dllint]\nselect = ["DLL1"]\nignore = ["DLL2"]\n[tool.dllint.per-file-ignores]\n"a" = ["DLL1"]\n'
    added = settings(tmp_path, toml, overrides={"ignore": ["DLL3"], "per-file-ignores": {"b": ["DLL2"]}})
    assert (added.select, added.ignore) == (("DLL1",), ("DLL2", "DLL3"))
    assert added.per_file_ignores == {"a": ("DLL1",), "b": ("DLL2",)}
    replaced = settings(tmp_path, toml, overrides={"select": ["ALL"]})
    assert (replaced.select, replaced.ignore) == (("DLL",), ())


def test_a_wrong_value_on_the_command_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'^command line: select: there is no rule "DLL9" \(`'):
        settings(tmp_path, "", overrides={"select": ["DLL9"]})


def test_a_named_file_may_hold_the_keys_at_its_top(tmp_path: Path) -> None:
    (tmp_path / "dllint.toml").write_text("preview = true")
    (tmp_path / "table.toml").write_text("[tool.dllint]\npreview = true")
    for name in ("dllint.toml", "table.toml"):
        assert load([str(tmp_path)], config=str(tmp_path / name)).preview
    with pytest.raises(ConfigError, match=r"missing\.toml: cannot be read: no such file"):
        load([str(tmp_path)], config=str(tmp_path / "missing.toml"))


@pytest.mark.parametrize(
    ("select", "ignore", "on", "off"),
    [
        (["DLL"], ["DLL2"], ["DLL101"], ["DLL201"]),
        (["DLL201"], ["DLL2"], ["DLL201"], ["DLL204", "DLL101"]),
        (["DLL2"], ["DLL201"], ["DLL204"], ["DLL201"]),
        (["DLL2"], ["DLL2"], [], ["DLL201"]),
    ],
)
def test_the_longest_prefix_decides(select: list[str], ignore: list[str], on: list[str], off: list[str]) -> None:
    found = Settings(select=tuple(select), ignore=tuple(ignore))
    assert [code for code in (*on, *off) if found.selects(code)] == on


def test_preview_rules_are_off_unless_named_in_full() -> None:
    assert not Settings().selects("DLL101", preview=True)
    assert not Settings(select=("DLL1",)).selects("DLL101", preview=True)
    assert Settings(preview=True).selects("DLL101", preview=True)
    assert Settings(extend_select=("DLL101",)).selects("DLL101", preview=True)


def test_default_start_methods_follow_the_targets() -> None:
    assert Targets().default_start_methods() == {
        "fork": "Linux up to Python 3.13",
        "forkserver": "Linux from Python 3.14",
    }
    assert Targets(((3, 12),), ("macos", "windows")).default_start_methods() == {"spawn": "macOS and Windows"}
