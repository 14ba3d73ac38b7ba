"""What docs/build.py makes of the pages: whole, searchable by error text, and nothing kept twice."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from typer.main import get_group

from dllint.cli.application import app
from dllint.reporters import Format

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent


def load_script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


build = load_script()


def test_the_pages_of_the_site_are_whole(tmp_path: Path) -> None:
    build.write_pages(tmp_path / "site")
    pages = tmp_path / "site" / "pages"
    assert {page.name for page in (pages / "rules").glob("DLL*.md")} == {
        page.name for page in (ROOT / "rules").glob("DLL*.md")
    }
    texts = {page.relative_to(pages).as_posix(): page.read_text(encoding="utf-8") for page in pages.rglob("*.md")}
    assert [name for name, text in texts.items() if "<!-- generated" in text] == []
    assert [name for name in texts if name.startswith("rules/DLL") and "```toml\ncode = " in texts[name]] == []
    for key in build.KEYS:
        assert f"### {key}\n" in texts["configuration.md"]
    assert [name for name in get_group(app).commands if f"## dllint {name}\n" not in texts["commands.md"]] == []
    assert [name for name in get_args(Format) if f"| `{name}` |" not in texts["editors-and-ci.md"]] == []
    settings = tomllib.loads((tmp_path / "site" / "zensical.toml").read_text(encoding="utf-8"))
    assert "DLL303-many-tensors-in-dataset.md" in str(settings["project"]["nav"])


@pytest.mark.parametrize(
    "text",
    ["too many fds", "received 0 items of ancdata", "Cannot re-initialize CUDA", "bus error", "Too many open files"],
)
def test_error_messages_can_be_searched_for(text: str) -> None:
    assert text.lower() in build.filled((ROOT / "docs" / "errors.md").read_text(encoding="utf-8")).lower()


def test_a_placeholder_without_a_text_is_refused() -> None:
    with pytest.raises(build.BuildError, match="nothing is generated under the name 'weather'"):
        build.filled("<!-- generated: weather -->")


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"too many fds|received \d+ items", ["too many fds", "received 0 items"]),
        (r"no attribute '(?:Empty|Full)'", ["no attribute 'Empty'", "no attribute 'Full'"]),
        (r"__m(?:p_)?main__", ["__mp_main__"]),
        (r"stack\(\): with out=...", ["stack(): with out=..."]),
    ],
)
def test_readable_texts_of_patterns(pattern: str, texts: list[str]) -> None:
    assert build.examples_of(build.ErrorText(pattern, "a cause")) == texts


def test_a_pattern_without_a_readable_text_is_refused() -> None:
    with pytest.raises(build.BuildError, match="no readable text"):
        build.examples_of(build.ErrorText(r"a{3}", "a cause"))
