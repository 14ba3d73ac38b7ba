"""Checks of small projects, as a user runs them: `findings` gives places, `marks` what `# DLL101` announces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dllint import config, linter, registry
from dllint.finding import Finding

Files = Mapping[str, str]
Places = set[tuple[str, int, str]]

MARK = re.compile(r"[ \t]*# (DLL\d{3}(?: DLL\d{3})*)$", re.MULTILINE)
OPTIONS = {rule.code: rule.options({}) for rule in registry.rules()}


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., tuple[Finding, ...]]:
    """The findings of a real check of the files, which are written without their marks; paths are relative."""

    def check(files: Files, **settings: Any) -> tuple[Finding, ...]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(MARK.sub("", text), encoding="utf-8")
        overrides = {key.replace("_", "-"): value for key, value in settings.items()}
        isolated = "pyproject.toml" not in files
        loaded = config.load([str(tmp_path)], isolated=isolated, overrides=overrides, options=OPTIONS)
        report = linter.check([str(tmp_path)], loaded, linter.Execution(jobs=1, cache=False))
        assert report.problems == ()
        assert not report.incomplete
        return report.findings

    return check


@pytest.fixture
def relative(tmp_path: Path) -> Callable[[str], str]:
    return lambda path: (tmp_path / path).relative_to(tmp_path).as_posix()


@pytest.fixture
def findings(told: Callable[..., tuple[Finding, ...]], relative: Callable[[str], str]) -> Callable[..., Places]:
    """The places of the findings: path, line and code."""

    def check(files: Files, **settings: Any) -> Places:
        return {(relative(one.path), one.span.line, one.code) for one in told(files, **settings)}

    return check


@pytest.fixture
def marks() -> Callable[[Files], Places]:
    """What the comments at the ends of lines announce."""

    def read(files: Files) -> Places:
        return {
            (name, number, code)
            for name, text in files.items()
            for number, line in enumerate(text.splitlines(), 1)
            if (mark := MARK.search(line))
            for code in mark[1].split()
        }

    return read


def in_one_file(code: str, found: Files, silent: Files, head: str = "") -> tuple[Any, Any]:
    """Two tests of a rule: below `head`, the first texts have the findings that they mark, and the others have none."""

    @pytest.mark.parametrize("text", found.values(), ids=found)
    def test_found(text: str, findings: Callable[..., Places], marks: Callable[[Files], Places]) -> None:
        files = {"train.py": head + text}

        assert findings(files, select=[code]) == marks(files) != set()

    @pytest.mark.parametrize("text", silent.values(), ids=silent)
    def test_silent(text: str, findings: Callable[..., Places]) -> None:
        assert findings({"train.py": head + text}, select=[code]) == set()

    return test_found, test_silent
