"""docs/compared.md: what users of ruff know is there, or the page says why it is not."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from typer.main import get_group

from dllint.cli.application import app
from dllint.reporters import Format

PAGE = (Path(__file__).parent.parent / "docs" / "compared.md").read_text(encoding="utf-8")
GAPS = PAGE.partition("## What ruff has and dllint has not")[2]
MISSING = set(re.findall(r"`([^`]+)`", " ".join(row.split("|")[1] for row in GAPS.splitlines() if row.startswith("|"))))
# `ruff check --help` and `ruff help` of ruff 0.17.6, without its log levels.
OPTIONS = [
    "--fix",
    "--unsafe-fixes",
    "--show-fixes",
    "--diff",
    "--watch",
    "--fix-only",
    "--ignore-noqa",
    "--output-format",
    "--output-file",
    "--target-version",
    "--preview",
    "--extension",
    "--statistics",
    "--add-noqa",
    "--add-ignore",
    "--show-files",
    "--show-settings",
    "--select",
    "--ignore",
    "--extend-select",
    "--per-file-ignores",
    "--extend-per-file-ignores",
    "--fixable",
    "--unfixable",
    "--extend-fixable",
    "--exclude",
    "--extend-exclude",
    "--respect-gitignore",
    "--force-exclude",
    "--no-cache",
    "--cache-dir",
    "--stdin-filename",
    "--exit-zero",
    "--exit-non-zero-on-fix",
    "--verbose",
    "--quiet",
    "--silent",
    "--config",
    "--isolated",
    "--color",
]
COMMANDS = ["check", "rule", "config", "linter", "clean", "format", "server", "analyze", "version"]
FORMATS = [
    "concise",
    "full",
    "json",
    "json-lines",
    "junit",
    "grouped",
    "github",
    "gitlab",
    "pylint",
    "rdjson",
    "azure",
    "sarif",
]
SAME = {"full": "text", "json-lines": "jsonl"}


@cache
def commands() -> dict[str, set[str]]:
    """The commands with their options."""
    group = get_group(app)
    return {
        name: {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
        for name, command in group.commands.items()
    }


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_ruff(option: str) -> None:
    assert (option in commands()["check"]) != (option in MISSING)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_ruff(command: str) -> None:
    assert (command in commands()) != (f"ruff {command}" in MISSING)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_of_ruff(name: str) -> None:
    assert (SAME.get(name, name) in get_args(Format)) != (name in MISSING)


def test_what_the_page_says_of_dllint() -> None:
    known = {option for options in commands().values() for option in options} | {"--enable", "--help"}
    ours = [line.split("|")[2] for line in PAGE.partition("## What ruff")[0].splitlines() if line.startswith("|")]
    assert set(re.findall(r"--[a-z-]+", " ".join(ours))) - {"---"} <= known
    for row in GAPS.splitlines():
        for option in re.findall(r"`(--[a-z-]+)", row.split("|")[2] if row.count("|") > 2 else ""):
            assert option in known, option
