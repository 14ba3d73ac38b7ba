"""What README.md and the pages under docs/ show is what happens.

A fence says what its test does. `console`: the command is run, and its output compared. `python`: checked, and its
findings must be the `# DLL###` marks in it. `toml`: read as settings. `sh`: every command and option exists.
A comment on the line before a fence says more:

    <!-- run -->            the program is run, and succeeds; a console command runs in a shell, and numbers may differ
    <!-- fails: TEXT -->    the program is run, and ends with TEXT
    <!-- prints -->         what the program before printed
    <!-- network -->        the commands need a network, and are not run
    <!-- demo -->, <!-- test -->    the set-up commands of README.md

`python tests/test_readme.py` writes outputs, the table of rules and the picture of the terminal anew; it needs torch.
"""

from __future__ import annotations

import csv
import html
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
import yaml
from typer.main import get_group

from dllint import config, linter, registry
from dllint.cli.application import app
from dllint.config import Settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
ELSEWHERE = ("api.md", "editors.md")
"""Pages whose blocks tests of their own read, in test_api.py and test_action.py."""
DOCUMENTS = [README, *(page for page in PAGES if page.name not in ELSEWHERE)]
FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```(?P<language>[a-z]+)(?P<info>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
TABLE = re.compile(r"^<!-- rules -->\n(?P<table>.*?)^<!-- end of rules -->$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"  # (DLL\d{3}(?: DLL\d{3})*)$")
OF_THE_PROGRAM = re.compile(r" (?:\S+\.py|--|-m)(?: |$)")
"""Where the command line of `dllint run` begins to be that of the program."""
COMMANDS = frozenset(get_group(app).commands)
TORCH_PYTHON = os.environ.get("DLLINT_TORCH_PYTHON", "")
PATIENCE = 240
"""Seconds that a program may take: each takes some five by itself, and many times that on a machine with other work."""


class Fence(NamedTuple):
    """A fenced block of a document; `mark` is the comment before it, `info` what follows the language."""

    document: Path
    mark: str
    language: str
    info: str
    body: str

    @property
    def command(self) -> str:
        return self.body.partition("\n")[0].removeprefix("$ ")

    @property
    def output(self) -> str:
        return self.body.partition("\n")[2]


def fence(document: Path, match: re.Match[str]) -> Fence:
    return Fence(document, match["mark"] or "", match["language"], match["info"], match["body"])


FENCES = [
    fence(document, match) for document in DOCUMENTS for match in FENCE.finditer(document.read_text(encoding="utf-8"))
]


def fences(*languages: str) -> list[pytest.param]:
    """The fences of some languages, as parameters of a test."""
    found = [one for one in FENCES if one.language in languages]
    return [pytest.param(one, id=f"{one.document.stem}-{number}") for number, one in enumerate(found)]


def script(name: str) -> ModuleType:
    """A script of docs/, as a module."""
    specification = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


build, terminal = script("build"), script("terminal")


def setup_command(name: str) -> str:
    return next(one.body.strip() for one in FENCES if one.document == README and one.mark == name)


def environment() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def printed(one: Fence) -> str:
    """What a console command prints in the repository's root, stdout first; it must not fail."""
    program, *arguments = one.command.split()
    assert program == "dllint"
    if one.mark == "run":
        return printed_by_shell(one.command, TORCH_PYTHON or sys.executable)
    if "|" in one.command:
        return printed_by_shell(one.command, sys.executable)
    cache = [] if arguments[0] not in ("check", "trace") else ["--no-cache"]
    done = subprocess.run(
        [sys.executable, "-m", "dllint", *arguments, *cache],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def printed_by_shell(command: str, python: str) -> str:
    """What a shell prints for a command line with pipes in it, the interpreter without its directory."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            ["bash", "-c", f'dllint() {{ "{python}" -m dllint "$@"; }}; {command}'],
            cwd=ROOT,
            env={**environment(), "PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": cache},
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=True,
        )
    return done.stdout.replace(python, "python")


def without_numbers(text: str) -> str:
    return re.sub(r"\d[\d.,]*", "0", text)


def rules_table() -> str:
    rows = ["| rule | severity | fix | what |", "|---|---|---|---|"]
    for page in build.rule_pages():
        link = f"[{page.code} {page.name}](rules/{build.file_name(page)})"
        rows.append(f"| {link} | {page.severity} | {build.fix_of(page)} | {page.summary} |")
    return "\n".join(rows) + "\n"


def option_names(command: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z-]*", build.help_of(command, 200)))


def prose(document: Path) -> str:
    """A document without the commands of set-ups."""
    text = document.read_text(encoding="utf-8")
    return FENCE.sub(lambda match: "" if match["mark"] in ("demo", "test", "network") else match[0], text)


def options_of(line: str, command: str) -> list[str]:
    own = OF_THE_PROGRAM.split(line)[0] if command == "run" else line
    return re.findall(r"--[a-z][a-z-]*", re.split(r"  #|\|", own)[0])


def used_options() -> Iterator[tuple[str, str, str]]:
    for document in DOCUMENTS:
        text = prose(document)
        for command, rest in re.findall(r"\bdllint ([a-z]+)((?:(?!&&|`|\n).)*)", text):
            for option in options_of(rest, command) if command in COMMANDS else ():
                yield document.name, command, option
        # compared.md names options of other tools too; test_compared.py tells which are which.
        for option in re.findall(r"`(--[a-z][a-z-]*)[^`]*`", text) if document.name != "compared.md" else ():
            yield document.name, "any", option


# Blocks


def test_every_fence_is_of_a_kind_that_is_tested() -> None:
    tested = {"console", "python", "sh", "toml", "yaml"}
    others = [one for one in FENCES if one.language not in tested and one.mark != "prints"]
    assert {(one.document.name, one.language) for one in others} <= {("how-it-works.md", "text")}
    assert {one.mark for one in FENCES if not one.mark.startswith("fails: ")} <= {
        "", "run", "prints", "network", "demo", "test", "pre-commit", "workflow", "rules",
    }  # fmt: skip


def test_fences_are_all_found() -> None:
    for document in DOCUMENTS:
        lines = document.read_text(encoding="utf-8").splitlines()
        assert sum(line.startswith("```") for line in lines) == 2 * sum(one.document == document for one in FENCES)


@pytest.mark.parametrize("one", [one for one in fences("console") if one.values[0].mark != "run"])
def test_shown_output_is_what_the_command_prints(one: Fence) -> None:
    assert printed(one) == one.output


@pytest.mark.slow
@pytest.mark.skipif(not TORCH_PYTHON, reason="DLLINT_TORCH_PYTHON names no interpreter")
@pytest.mark.parametrize("one", [one for one in fences("console") if one.values[0].mark == "run"])
def test_shown_output_of_a_run_is_what_it_prints(one: Fence) -> None:
    assert without_numbers(printed(one)) == without_numbers(one.output)


@pytest.mark.parametrize("one", fences("python"))
def test_findings_in_a_program_are_those_that_it_marks(one: Fence, tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text(one.body, encoding="utf-8")
    report = linter.check([str(tmp_path)], Settings(root=str(tmp_path)), linter.Execution(jobs=1, cache=False))
    assert not report.incomplete, report.problems
    marks = [
        (number, code)
        for number, line in enumerate(one.body.splitlines(), 1)
        if (mark := MARK.search(line))
        for code in mark[1].split()
    ]
    assert [(finding.span.line, finding.code) for finding in report.findings] == marks


def programs() -> list[pytest.param]:
    """Each program that is run, with what it prints: of the next fence where that says so."""
    found = []
    for number, one in enumerate(FENCES):
        if one.language == "python" and (one.mark == "run" or one.mark.startswith("fails: ")):
            after = FENCES[number + 1] if number + 1 < len(FENCES) else one
            found.append(
                pytest.param(one, after.body if after.mark == "prints" else None, id=f"{one.document.stem}-{number}")
            )
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("one", "output"), programs())
def test_a_program_ends_as_it_is_said_to(one: Fence, output: str | None, tmp_path: Path) -> None:
    if "torch" in one.body and not TORCH_PYTHON:
        pytest.skip("DLLINT_TORCH_PYTHON names no interpreter")
    (tmp_path / "shown.py").write_text(one.body, encoding="utf-8")
    done = subprocess.run(
        [TORCH_PYTHON or sys.executable, "shown.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    if one.mark == "run":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0
        assert one.mark.removeprefix("fails: ") in done.stderr
    if output is not None:
        assert done.stdout == output


def test_programs_are_run() -> None:
    assert len(programs()) >= 4


@pytest.mark.parametrize("one", fences("toml"))
def test_settings_are_valid(one: Fence, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(one.body, encoding="utf-8")
    options = {rule.code: rule.options({}) for rule in registry.rules()}
    assert config.load([str(tmp_path)], options=options).origin == str(path)


def test_the_configuration_shows_every_key() -> None:
    (block,) = [one.body for one in FENCES if one.document.name == "configuration.md"]
    explained = subprocess.run(
        [sys.executable, "-m", "dllint", "config"], capture_output=True, encoding="utf-8", check=True
    )
    assert set(tomllib.loads(block)["tool"]["dllint"]) == {line.split()[0] for line in explained.stdout.splitlines()}


@pytest.mark.parametrize("one", fences("sh"))
def test_shell_blocks_are_commands_of_dllint(one: Fence) -> None:
    if one.mark in ("demo", "test", "network"):
        return
    for line in one.body.splitlines():
        assert line.startswith("dllint "), line
        assert line.split()[1] in COMMANDS, line


@pytest.mark.parametrize("one", fences("yaml"))
def test_settings_of_other_tools_parse(one: Fence) -> None:
    document = yaml.safe_load(one.body)
    if one.mark == "pre-commit":
        known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
        assert {hook["id"] for repository in document["repos"] for hook in repository["hooks"]} <= known
    else:
        assert one.mark == "workflow"
        steps = [step for job in document["jobs"].values() for step in job["steps"]]
        assert any(step.get("run", "").startswith("dllint check") for step in steps)


def test_every_option_that_is_named_exists() -> None:
    used = set(used_options())
    assert len(used) > 10
    known = {command: option_names(command) for command in COMMANDS}
    known["any"] = set().union(*known.values())
    assert {one for one in used if one[2] not in known[one[1]]} == set()


def test_every_command_that_is_named_exists() -> None:
    named = {name for document in DOCUMENTS for name in re.findall(r"(?:`|\$ )dllint ([a-z]+)", prose(document))}
    assert "check" in named
    assert named <= COMMANDS


# README


def test_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200


def test_the_first_screen_shows_a_finding() -> None:
    assert "](docs/terminal.svg)" in "\n".join(README.read_text(encoding="utf-8").splitlines()[:15])


def test_the_picture_shows_what_a_terminal_shows() -> None:
    svg = terminal.PICTURE.read_text(encoding="utf-8")
    texts = re.findall(r"<text [^>]*clip-path[^>]*>(.*?)</text>", svg, re.DOTALL)
    shown = html.unescape("".join(texts)).replace("\xa0", " ")
    output = re.sub(r"\x1b(?:\[[\d;]*m|\]8;[^\x07\x1b]*(?:\x07|\x1b\\))", "", terminal.terminal_output())
    assert "".join(shown.split()) == "".join(f"$ {terminal.COMMAND}\n{output}".split())
    assert "DLL101" in shown
    assert "url(" not in svg.replace("url(#", "")


def test_the_rules_are_those_of_the_pages() -> None:
    match = TABLE.search(README.read_text(encoding="utf-8"))
    assert match
    assert match["table"] == rules_table()


def test_error_messages_lead_to_their_rules() -> None:
    """Each text in README's table of errors is one that the first rule named beside it explains."""
    rows = re.findall(r"^\| `([^|]+)` \| ([^|]*) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    errors = [(text, re.findall(r"DLL\d{3}", rules)) for text, rules in rows if "DLL" in rules]
    assert len(errors) >= 5
    pages = {page.code: page for page in build.rule_pages()}
    for text, codes in errors:
        patterns = [one.text for one in pages[codes[0]].run.errors]
        assert any(re.search(pattern, text) for pattern in patterns) or text in pages[codes[0]].text, text


def test_continuous_integration_runs_the_test_command_as_shown() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert setup_command("test") in [line.strip() for line in lines]


@pytest.mark.slow
def test_the_demo_command_sets_everything_up(checkout: Path) -> None:
    """In a copy of the repository without anything that was built or installed."""
    done = subprocess.run(
        ["bash", "-c", setup_command("demo")],
        cwd=checkout,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    shown = printed(Fence(README, "", "console", "", f"$ {terminal.COMMAND}\n"))
    assert (done.returncode, done.stdout) == (1, shown), done.stderr


def test_figures_are_of_the_labels_that_are_kept() -> None:
    accuracy = build.measured()["accuracy"]
    first_sight = {"labels-unseen.tsv": accuracy[1], "labels-closed.tsv": accuracy[3], "labels-fresh.tsv": accuracy[5]}
    first_sight["labels-sixth.tsv"] = accuracy[6]
    first_sight["labels-seventh.tsv"] = accuracy[7]
    first_sight["labels-eighth.tsv"] = accuracy[8]
    first_sight["labels-ninth.tsv"] = accuracy[9]
    first_sight["labels-tenth.tsv"] = accuracy[10]
    first_sight["labels-eleventh.tsv"] = accuracy[11]
    first_sight["labels-twelfth.tsv"] = accuracy[12]
    first_sight["labels-thirteenth.tsv"] = accuracy[13]
    first_sight["labels-fourteenth.tsv"] = accuracy[14]
    first_sight["labels-fifteenth.tsv"] = accuracy[15]
    first_sight["labels-sixteenth.tsv"] = accuracy[16]
    first_sight["labels-seventeenth.tsv"] = accuracy[17]
    first_sight["labels-eighteenth.tsv"] = accuracy[18]
    first_sight["labels-nineteenth.tsv"] = accuracy[19]
    first_sight["labels-twentieth.tsv"] = accuracy[20]
    first_sight["labels-twenty-first.tsv"] = accuracy[21]
    first_sight["labels-twenty-second.tsv"] = accuracy[22]
    first_sight["labels-twenty-third.tsv"] = accuracy[23]
    first_sight["labels-twenty-fourth.tsv"] = accuracy[24]
    first_sight["labels-twenty-fifth.tsv"] = accuracy[25]
    first_sight["labels-twenty-sixth.tsv"] = accuracy[26]
    first_sight["labels-twenty-seventh.tsv"] = accuracy[27]
    first_sight["labels-twenty-eighth.tsv"] = accuracy[28]
    first_sight["labels-twenty-ninth.tsv"] = accuracy[29]
    first_sight["labels-thirtieth.tsv"] = accuracy[30]
    first_sight["labels-thirty-first.tsv"] = accuracy[31]
    first_sight["labels-thirty-second.tsv"] = accuracy[32]
    first_sight["labels-thirty-third.tsv"] = accuracy[33]
    first_sight["labels-thirty-fourth.tsv"] = accuracy[34]
    first_sight["labels-thirty-fifth.tsv"] = accuracy[35]
    first_sight["labels-thirty-sixth.tsv"] = accuracy[36]
    first_sight["labels-thirty-seventh.tsv"] = accuracy[37]
    first_sight["labels-thirty-eighth.tsv"] = accuracy[38]
    first_sight["labels-thirty-ninth.tsv"] = accuracy[39]
    first_sight["labels-fortieth.tsv"] = accuracy[40]
    first_sight["labels-forty-first.tsv"] = accuracy[41]
    first_sight["labels-forty-second.tsv"] = accuracy[42]
    first_sight["labels-forty-third.tsv"] = accuracy[43]
    first_sight["labels-forty-fourth.tsv"] = accuracy[44]
    first_sight["labels-forty-fifth.tsv"] = accuracy[45]
    first_sight["labels-forty-sixth.tsv"] = accuracy[46]
    first_sight["labels-forty-seventh.tsv"] = accuracy[47]
    first_sight["labels-forty-eighth.tsv"] = accuracy[48]
    first_sight["labels-forty-ninth.tsv"] = accuracy[49]
    first_sight["labels-fiftieth.tsv"] = accuracy[50]
    first_sight["labels-fifty-first.tsv"] = accuracy[51]
    first_sight["labels-fifty-second.tsv"] = accuracy[52]
    first_sight["labels-fifty-third.tsv"] = accuracy[53]
    first_sight["labels-fifty-fourth.tsv"] = accuracy[54]
    first_sight["labels-fifty-fifth.tsv"] = accuracy[55]
    first_sight["labels-fifty-sixth.tsv"] = accuracy[56]
    first_sight["labels-fifty-seventh.tsv"] = accuracy[57]
    first_sight["labels-fifty-eighth.tsv"] = accuracy[58]
    first_sight["labels-fifty-ninth.tsv"] = accuracy[59]
    first_sight["labels-sixtieth.tsv"] = accuracy[60]
    first_sight["labels-sixty-first.tsv"] = accuracy[61]
    first_sight["labels-sixty-second.tsv"] = accuracy[62]
    first_sight["labels-sixty-third.tsv"] = accuracy[63]
    first_sight["labels-sixty-fourth.tsv"] = accuracy[64]
    first_sight["labels-sixty-fifth.tsv"] = accuracy[65]
    first_sight["labels-sixty-sixth.tsv"] = accuracy[66]
    first_sight["labels-sixty-seventh.tsv"] = accuracy[67]
    first_sight["labels-sixty-eighth.tsv"] = accuracy[68]
    first_sight["labels-sixty-ninth.tsv"] = accuracy[69]
    first_sight["labels-seventieth.tsv"] = accuracy[70]
    first_sight["labels-seventy-first.tsv"] = accuracy[71]
    first_sight["labels-seventy-second.tsv"] = accuracy[72]
    first_sight["labels-seventy-third.tsv"] = accuracy[73]
    first_sight["labels-seventy-fourth.tsv"] = accuracy[74]
    first_sight["labels-seventy-fifth.tsv"] = accuracy[75]
    near_copy = "d2l-ai/d2l-zh"
    for name, figures in first_sight.items():
        with (ROOT / "benchmarks" / name).open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        verdicts = [row["verdict"] for row in rows if row["repo"] != near_copy]
        assert figures["hazards"] == verdicts.count("hazard")
        assert figures["lookalikes"] == verdicts.count("lookalike-clean")
    parts = ("found", "hazards", "flagged", "lookalikes")
    found, hazards, flagged, lookalikes = (sum(one[part] for one in first_sight.values()) for part in parts)
    readme = README.read_text(encoding="utf-8")
    assert f"{found} of {hazards} hazards found" in readme
    assert f"{flagged} of {lookalikes} lookalikes flagged" in readme


# Links


@pytest.mark.parametrize("document", [*sorted(ROOT.glob("*.md")), *PAGES], ids=lambda document: document.name)
def test_links_lead_somewhere(document: Path) -> None:
    """A page of docs/ may also lead to a rule page, which the build puts beside it."""
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        places = [document.parent / target, ROOT / "rules" / Path(target).name]
        assert target.startswith("https://") or any(place.exists() for place in places), target


def written_anew(document: Path) -> str:
    def shown(match: re.Match[str]) -> str:
        one = fence(document, match)
        if one.language != "console":
            return match[0]
        mark = f"<!-- {one.mark} -->\n" if one.mark else ""
        output = printed(one)
        # The numbers of a run are never the same twice.
        same = one.mark == "run" and without_numbers(output) == without_numbers(one.output)
        return match[0] if same else f"{mark}```console\n$ {one.command}\n{output}```"

    text = FENCE.sub(shown, document.read_text(encoding="utf-8"))
    return TABLE.sub(lambda _: f"<!-- rules -->\n{rules_table()}<!-- end of rules -->", text)


if __name__ == "__main__":
    for one_document in DOCUMENTS:
        one_document.write_text(written_anew(one_document), encoding="utf-8")
    terminal.PICTURE.write_text(terminal.picture(terminal.terminal_output()), encoding="utf-8")
