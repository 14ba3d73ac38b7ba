"""Given these files, that import means this file."""

from __future__ import annotations

import pytest

from dllint.modules import ModuleIndex


@pytest.mark.parametrize(
    ("paths", "importer", "module", "level", "expected"),
    [
        (["a.py", "b.py"], "a.py", "b", 0, ["b.py"]),
        (
            ["p/train.py", "p/lib/__init__.py", "p/lib/data.py"],
            "p/train.py",
            "lib.data",
            0,
            ["p/lib/__init__.py", "p/lib/data.py"],
        ),
        (["p/train.py", "p/lib/data.py"], "p/train.py", "lib.data", 0, ["p/lib/data.py"]),
        (["p/train.py", "p/lib/data.py"], "p/train.py", "lib", 0, []),
        (["p/lib/__init__.py", "p/lib/data.py"], "p/lib/__init__.py", "data", 1, ["p/lib/data.py"]),
        (["p/a/__init__.py", "p/a/x.py", "p/b/y.py"], "p/a/x.py", "b.y", 2, ["p/b/y.py"]),
        (["p/a/__init__.py", "p/a/x.py"], "p/a/x.py", "", 1, ["p/a/__init__.py"]),
        (
            ["src/pkg/__init__.py", "src/pkg/m.py", "tests/t.py"],
            "tests/t.py",
            "pkg.m",
            0,
            ["src/pkg/__init__.py", "src/pkg/m.py"],
        ),
        (["/w/tools/train.py", "/w/pcdet/__init__.py"], "/w/tools/train.py", "pcdet", 0, ["/w/pcdet/__init__.py"]),
        (["/x.py", "/y.py"], "/x.py", "y", 0, ["/y.py"]),
        (["a.py", "a/__init__.py", "b.py"], "b.py", "a", 0, ["a/__init__.py"]),
        (
            ["/w/__init__.py", "/w/data/__init__.py", "/w/data/sub/__init__.py", "/w/data/sub/build.py"],
            "/w/data/sub/build.py",
            "data",
            0,
            ["/w/data/__init__.py"],
        ),
        (["/w/__init__.py", "/w/data/__init__.py", "/w/lib/__init__.py", "/w/lib/a.py"], "/w/lib/a.py", "data", 0, []),
    ],
)
def test_resolves(paths: list[str], importer: str, module: str, level: int, expected: list[str]) -> None:
    assert ModuleIndex(paths).resolve(importer, module, level) == expected


def test_the_importers_own_folder_comes_before_a_namesake_elsewhere() -> None:
    index = ModuleIndex(["one/main.py", "one/utils.py", "two/main.py", "two/utils.py", "two/sub/main.py"])
    assert index.resolve("one/main.py", "utils") == ["one/utils.py"]
    assert index.resolve("two/main.py", "utils") == ["two/utils.py"]
    assert index.resolve("two/sub/main.py", "utils") == ["two/utils.py"]


def test_a_folder_around_the_importer_comes_before_a_namesake_elsewhere_even_where_it_is_a_package() -> None:
    index = ModuleIndex(["one/base/data.py", "two/__init__.py", "two/base/data.py", "two/models/net.py"])
    assert index.resolve("two/models/net.py", "base.data") == ["two/base/data.py"]


def test_a_package_resolves_from_the_root_before_its_own_folder() -> None:
    index = ModuleIndex(["pkg/__init__.py", "pkg/run.py", "pkg/data.py", "data.py"])
    assert index.resolve("pkg/run.py", "data") == ["data.py"]
    assert index.resolve("pkg/run.py", "pkg.data") == ["pkg/__init__.py", "pkg/data.py"]


def test_a_script_in_a_package_finds_its_neighbours() -> None:
    index = ModuleIndex(["tools/__init__.py", "tools/train.py", "tools/options.py"])
    assert index.resolve("tools/train.py", "options") == ["tools/options.py"]


def test_an_attribute_is_no_module() -> None:
    index = ModuleIndex(["a.py", "b.py"])
    assert index.resolve("a.py", "b.Thing") == []
    assert index.resolve("a.py", "numpy") == []


def test_standard_and_installed_packages_are_not_taken_for_project_files() -> None:
    index = ModuleIndex(["lib/logging.py", "lib/torch.py", "main.py", "pkg/__init__.py", "pkg/copy.py", "pkg/x.py"])
    assert index.resolve("main.py", "logging") == []
    assert index.resolve("main.py", "torch") == []
    assert index.resolve("pkg/x.py", "copy") == []
    assert index.resolve("pkg/x.py", "copy", 1) == ["pkg/copy.py"]


def test_a_module_is_not_its_own_namesake() -> None:
    assert ModuleIndex(["wandb.py", "sub/wandb.py"]).resolve("sub/wandb.py", "wandb") == ["sub/wandb.py"]
    assert ModuleIndex(["pkg/__init__.py", "pkg/wandb.py"]).resolve("pkg/wandb.py", "wandb") == []


def test_dots_beyond_the_top_find_nothing() -> None:
    assert ModuleIndex(["a.py", "b.py"]).resolve("a.py", "b", 5) in ([], ["b.py"])


def test_module_names() -> None:
    index = ModuleIndex(["p/pkg/__init__.py", "p/pkg/sub/__init__.py", "p/pkg/sub/m.py", "p/run.py"])
    assert index.module_name("p/pkg/sub/m.py") == "pkg.sub.m"
    assert index.module_name("p/pkg/__init__.py") == "pkg"
    assert index.module_name("p/run.py") == "run"


def test_backslashes_separate_too() -> None:
    assert ModuleIndex(["p\\a.py", "p\\b.py"]).resolve("p\\a.py", "b") == ["p\\b.py"]


def test_a_module_in_a_package_may_be_meant_where_the_folder_of_the_package_is_on_the_path() -> None:
    inside = ["/w/__init__.py", "/w/data.py", "/w/lib/__init__.py", "/w/lib/data.py", "/w/lib/b.py"]
    index = ModuleIndex([*inside, "/w/runs/a/train.py"])
    assert index.resolve("/w/runs/a/train.py", "data") == []
    assert index.inside_packages("/w/runs/a/train.py", "data") == ["/w/data.py", "/w/lib/data.py"]
    assert index.inside_packages("/w/lib/b.py", "data") == []  # its neighbour is found without
    assert index.inside_packages("/w/runs/a/train.py", "lib.data") == []
    assert index.inside_packages("/w/runs/a/train.py", "torch") == []
