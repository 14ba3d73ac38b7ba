"""What README.md shows is what happens. `python tests/test_readme.py` writes outputs and the table of rules anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_group

from dllint import config, registry
from dllint.cli.application import app

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
CONSOLE = re.compile(r"^```console\n\$ (?P<command>[^\n]*)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- rules -->\n(?P<table>.*?)^<!-- end of rules -->$", re.MULTILINE | re.DOTALL)
SETUP = re.compile(r"^<!-- (?P<name>demo|test) -->\n```sh\n(?P<command>[^\n]*)\n```$", re.MULTILINE)
OF_THE_PROGRAM = re.compile(r" (?:\S+\.py|--|-m)(?: |$)")
"""Where the command line of `dllint run` begins to be that of the program."""
COMMANDS = frozenset(get_group(app).commands)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def setup_command(name: str) -> str:
    return next(match["command"] for match in SETUP.finditer(TEXT) if match["name"] == name)


def printed(command: str) -> str:
    """What a command prints in the repository's root, stdout first; it must not fail."""
    program, *arguments = command.split()
    assert program == "dllint"
    done = subprocess.run(
        [sys.executable, "-m", "dllint", *arguments, "--no-cache"],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def rules_table() -> str:
    rows = ["| rule | severity | fix | what |", "|---|---|---|---|"]
    for page in sorted((rule.page for rule in registry.rules()), key=lambda page: page.code):
        source = next((ROOT / "rules").glob(f"{page.code}-*.md")).name
        link = f"[{page.code} {page.name}](rules/{source})"
        rows.append(f"| {link} | {page.severity} | {page.fix if page.fix != 'none' else '–'} | {page.summary} |")
    return "\n".join(rows) + "\n"


def option_names(command: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-m", "dllint", command, "--help"],
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return set(re.findall(r"--[a-z][a-z-]*", done.stdout))


@pytest.mark.parametrize("match", list(CONSOLE.finditer(TEXT)), ids=lambda match: match["command"])
def test_shown_output_is_what_the_command_prints(match: re.Match[str]) -> None:
    assert printed(match["command"]) == match["output"]


def test_the_first_screen_shows_a_finding() -> None:
    first = "\n".join(TEXT.splitlines()[:40])
    assert "$ dllint check fixtures/forkserver-supervisor\nfixtures/forkserver-supervisor/loading.py: " in first
    assert "\nDLL101 " in first
    assert "= via" in first


def test_the_rules_are_those_of_the_pages() -> None:
    match = TABLE.search(TEXT)
    assert match
    assert match["table"] == rules_table()


def test_the_configuration_is_valid_and_shows_every_key(tmp_path: Path) -> None:
    (block,) = blocks("toml")
    path = tmp_path / "pyproject.toml"
    path.write_text(block, encoding="utf-8")
    options = {rule.code: rule.options({}) for rule in registry.rules()}
    settings = config.load([str(tmp_path)], options=options)
    assert settings.origin == str(path)
    assert settings.rules == {"DLL301": {"copies-mib": 64}}
    explained = subprocess.run(
        [sys.executable, "-m", "dllint", "config"], capture_output=True, encoding="utf-8", check=True
    )
    assert set(tomllib.loads(block)["tool"]["dllint"]) == {line.split()[0] for line in explained.stdout.splitlines()}


def used_options() -> Iterator[tuple[str, str]]:
    prose = re.sub(r"<!-- (demo|test) -->\n```sh\n.*?```", "", TEXT, flags=re.DOTALL)
    shown = re.findall(r"\bdllint ([a-z]+)((?:(?!&&|`|\n).)*)", prose)
    for command, rest in shown:
        if command in COMMANDS:
            own = OF_THE_PROGRAM.split(rest)[0] if command == "run" else rest
            for option in re.findall(r"--[a-z][a-z-]*", own.split("  #")[0]):
                yield command, option
    for option in re.findall(r"`(--[a-z][a-z-]*)[^`]*`", prose):
        yield "check or run", option


def test_every_option_that_is_named_exists() -> None:
    used = set(used_options())
    assert len(used) > 10
    known = {command: option_names(command) for command in {command for command, _ in used} & COMMANDS}
    known["check or run"] = known["check"] | known["run"]
    assert {(command, option) for command, option in used if option not in known[command]} == set()


def test_every_command_that_is_named_exists() -> None:
    in_blocks = re.findall(r"^dllint ([a-z]+)", "\n".join(blocks("sh")), re.MULTILINE)
    named = {*in_blocks, *re.findall(r"(?:`|\$ )dllint ([a-z]+)", TEXT)}
    assert "check" in named
    assert named <= COMMANDS


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_continuous_integration_runs_the_test_command_as_shown() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert setup_command("test") in [line.strip() for line in lines]


@pytest.mark.slow
def test_the_demo_command_sets_everything_up(checkout: Path) -> None:
    """In a copy of the repository without anything that was built or installed."""
    match = next(CONSOLE.finditer(TEXT))
    done = subprocess.run(
        ["bash", "-c", setup_command("demo")],
        cwd=checkout,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, match["output"]), done.stderr


def written_anew() -> str:
    text = CONSOLE.sub(lambda match: f"```console\n$ {match['command']}\n{printed(match['command'])}```", TEXT)
    return TABLE.sub(lambda _: f"<!-- rules -->\n{rules_table()}<!-- end of rules -->", text)


if __name__ == "__main__":
    README.write_text(written_anew(), encoding="utf-8")
