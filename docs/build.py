"""Builds the documentation site into build/docs/site: `python docs/build.py`.

The pages of this directory are copied, each `<!-- generated: NAME -->` in them is replaced by the text of a function
below, and every rule page becomes a page of its own. A broken link or anchor makes the build fail. `--pages-only` stops
before the site generator.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from typer.main import get_group
from typer.testing import CliRunner

from dllint import registry
from dllint.catalog import Option, RulePage
from dllint.catalog.page import ErrorText
from dllint.cli.application import app
from dllint.commands.explain import KEYS
from dllint.reporters import Format

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = Path(__file__).parent
ROOT = DOCS.parent
TARGET = ROOT / "build" / "docs"
PLACEHOLDER = re.compile(r"^<!-- generated: ([a-z-]+) -->$", re.MULTILINE)
FAMILIES = {
    "DLL0": "The check itself",
    "DLL1": "Start methods and launching",
    "DLL2": "What cannot be pickled to workers",
    "DLL3": "Memory and descriptors",
    "DLL4": "Stores and handles",
    "DLL5": "Threads in workers",
    "DLL6": "What workers do to data",
}
WIDTH_OF_HELP = 84
"""Columns: what a code block of the site shows without a scroll bar on a desktop."""


class BuildError(Exception):
    """The site cannot be built. The message is one line."""


def rule_pages() -> list[RulePage]:
    return sorted((rule.page for rule in registry.rules()), key=lambda page: page.code)


def file_name(page: RulePage) -> str:
    return f"{page.code}-{page.name}.md"


def settings() -> str:
    """A section per key of `[tool.dllint]`, from what `dllint config KEY` says."""
    return "\n\n".join(
        f"### {key}\n\n{meaning}\n\nDefault: {as_code(default)}\n\n```toml\n[tool.dllint]\n{key} = {example}\n```"
        for key, (default, example, meaning) in KEYS.items()
    )


def as_code(default: str) -> str:
    """A default as it stands in TOML becomes code; a default in words stays as it is."""
    return f"`{default}`" if default[0] in '"[{' or default in ("true", "false") else default


def rule_options() -> str:
    """The options that rule pages declare, by rule."""
    rows = ["| rule | option | default | meaning |", "|---|---|---|---|"]
    for page in rule_pages():
        for option in page.options:
            link = f"[{page.code}](rules/{file_name(page)})"
            rows.append(f"| {link} | `{option.name}` | `{json.dumps(option.default)}` | {option.doc} |")
    return "\n".join(rows)


def commands() -> str:
    """All commands in a table, and what `--help` prints of each."""
    group = get_group(app).commands
    rows = ["| command | what it does |", "|---|---|"]
    rows += [f"| [`dllint {name}`](#dllint-{name}) | {str(command.help).strip()} |" for name, command in group.items()]
    helps = [f"## dllint {name}\n\n```text\n{help_of(name, WIDTH_OF_HELP)}\n```" for name in group]
    return "\n\n".join(["\n".join(rows), *helps])


def formats() -> str:
    """The formats of a report, by what their modules say of themselves."""
    rows = ["| format | what it is |", "|---|---|"]
    for name in get_args(Format):
        about = str(import_module(f"dllint.reporters.{name}").__doc__).partition("\n\n")[0]
        rows.append(f"| `{name}` | {' '.join(about.split())} |")
    return "\n".join(rows)


def help_of(command: str, columns: int) -> str:
    """The help of a command on a terminal without colours.

    Raises:
        BuildError: there is no such command.
    """
    environment = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
    done = CliRunner().invoke(app, [command, "--help"], env=environment, prog_name="dllint")
    if done.exit_code:
        raise BuildError(f"dllint {command} --help: exit code {done.exit_code}")
    return "\n".join(line.rstrip() for line in done.output.strip().splitlines())


def rules_by_family() -> str:
    """Tables of all rules."""
    parts = []
    for prefix, title in FAMILIES.items():
        rows = ["| rule | severity | fix | what it finds |", "|---|---|---|---|"]
        for page in rule_pages():
            if page.code.startswith(prefix):
                link = f"[{page.code} {page.name}]({file_name(page)})"
                rows.append(f"| {link} | {page.severity} | {fix_of(page)} | {page.summary} |")
        parts.append(f"## {title}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def fix_of(page: RulePage) -> str:
    return "–" if page.fix == "none" else page.fix


def error_messages() -> str:
    """The texts that programs end in, with the rules that explain them."""
    rows = ["| error text | rules | what happened |", "|---|---|---|"]
    for page in rule_pages():
        for error in page.run.errors:
            codes = [page.code, *error.also]
            links = ", ".join(f"[{one.code}](rules/{file_name(one)})" for one in rule_pages() if one.code in codes)
            texts = "<br>".join(f"`{text}`" for text in examples_of(error))
            rows.append(f"| {texts} | {links} | {error.cause[0].upper()}{error.cause[1:]} |")
    return "\n".join(rows)


def examples_of(error: ErrorText) -> list[str]:
    """A text for each alternative of the pattern, as a program would show it.

    Raises:
        BuildError: the pattern is of a form that this does not know; it must find each of its texts.
    """
    texts = [readable(piece) for piece in alternatives(error.text)]
    for text in texts:
        if not re.search(error.text, text, re.DOTALL):
            raise BuildError(f"no readable text for the pattern {error.text!r}: it does not find {text!r}")
    return texts


def alternatives(pattern: str) -> Iterator[str]:
    """The texts without `|` and groups that a pattern stands for; what is optional is there."""
    depth = start = 0
    for match in re.finditer(r"\\.|[()|]", pattern):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "|" and depth == 0:
            yield from alternatives(pattern[start : match.start()])
            start = match.end()
    last = pattern[start:]
    inside = re.search(r"(?<!\\)\((?:\?:)?((?:\\.|[^()\\])*)\)\??", last)
    if inside is None:
        yield last
        return
    for choice in inside[1].split("|"):
        yield from alternatives(last[: inside.start()] + choice + last[inside.end() :])


def readable(piece: str) -> str:
    """A text that a regular expression without alternatives finds."""
    for form, text in (
        (r"\d+ bytes", "4096 bytes"),
        (r"\d+", "0"),
        (r"\w+", "Rows"),
        (r"\s+", " "),
        (".*", " … "),
        (r"\.\.\.", "..."),
    ):
        piece = piece.replace(form, text)
    piece = re.sub(r"(\w|:)\?", r"\1", piece)
    piece = re.sub(r"\[(\w)\w+\]", r"\1", piece)
    return re.sub(r"\\(.)", r"\1", piece)


def measured() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((ROOT / "benchmarks" / "figures.toml").read_text(encoding="utf-8"))


def figures() -> str:
    """What was measured of the accuracy, from benchmarks/figures.toml."""
    rows = ["| labelled code | hazards found | lookalikes flagged |", "|---|---|---|"]
    for one in measured()["accuracy"]:
        found = f"{one['found']} of {one['hazards']}"
        rows.append(f"| {one['code']} | {found} | {one['flagged']} of {one['lookalikes']} |")
    return "\n".join(rows)


def speed() -> str:
    """Processor time of a check, from benchmarks/figures.toml."""
    rows = ["| project | lines of Python | first check | checked again |", "|---|---|---|---|"]
    rows += [
        f"| {one['project']} | {one['lines']:,} | {one['cold']:.1f} s | {one['warm']:.1f} s |"
        for one in measured()["speed"]
    ]
    return "\n".join(rows)


def unseen_repositories() -> str:
    """The repositories that were labelled before the tool saw them, with their labels."""
    with (ROOT / "benchmarks" / "labels-unseen.tsv").open(encoding="utf-8", newline="") as lines:
        labels = Counter((row["repo"], row["verdict"]) for row in csv.DictReader(lines, delimiter="\t"))
    rows = ["| repository | lines of Python | hazards | lookalikes |", "|---|---|---|---|"]
    with (ROOT / "benchmarks" / "unseen-repositories.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["status"] == "open":
                name = row["repository"]
                counts = f"{labels[name, 'hazard']} | {labels[name, 'lookalike-clean']}"
                rows.append(f"| [{name}](https://github.com/{name}) | {int(row['lines']):,} | {counts} |")
    return "\n".join(rows)


GENERATED: dict[str, Callable[[], str]] = {
    "settings": settings,
    "rule-options": rule_options,
    "commands": commands,
    "formats": formats,
    "rules": rules_by_family,
    "error-messages": error_messages,
    "figures": figures,
    "speed": speed,
    "unseen-repositories": unseen_repositories,
}


def filled(text: str) -> str:
    """A page with its generated parts.

    Raises:
        BuildError: a placeholder names nothing that can be generated.
    """

    def generated(match: re.Match[str]) -> str:
        if match[1] not in GENERATED:
            raise BuildError(f"nothing is generated under the name {match[1]!r}; known: {', '.join(GENERATED)}")
        return GENERATED[match[1]]()

    return PLACEHOLDER.sub(generated, text)


def rule_page(page: RulePage) -> str:
    """The page of a rule without its TOML block, and with what that block says in words."""
    fix = {"none": "no fix", "suggestion": "a suggestion, no automatic fix"}.get(page.fix, f"{page.fix} fix")
    facts = [f"**{page.severity}**", fix, f"since {page.since}", *(["in preview"] if page.preview else [])]
    parts = [f"# {page.code} {page.name}", page.summary, " · ".join(facts)]
    if texts := [f"- `{text}`" for error in errors_of(page) for text in examples_of(error)]:
        parts.append('!!! failure "Programs end in this with"\n\n' + "\n".join(f"    {text}" for text in texts))
    parts.append(page.body.strip())
    if page.options:
        options = "\n".join(map(option_line, page.options))
        parts.append(f"## Options\n\nIn `[tool.dllint.rules.{page.code}]`:\n\n{options}")
    return "\n\n".join(parts) + "\n"


def errors_of(page: RulePage) -> list[ErrorText]:
    """The errors that a rule's hazard ends in: its own, then those of other rules that name it."""
    others = [error for one in rule_pages() for error in one.run.errors if page.code in error.also]
    return [*page.run.errors, *others]


def option_line(option: Option) -> str:
    return f"- `{option.name} = {json.dumps(option.default)}`: {option.doc}"


def navigation(text: str) -> str:
    """The settings of the site, with the rule pages by family."""
    families = []
    for prefix, title in FAMILIES.items():
        pages = ", ".join(
            f'{{ "{page.code} {page.name}" = "rules/{file_name(page)}" }}'
            for page in rule_pages()
            if page.code.startswith(prefix)
        )
        families.append(f'{{ "{title}" = [{pages}] }}')
    return text.replace('"<rules>"', ", ".join(families))


def write_pages(target: Path) -> None:
    """Write all pages, pictures and the settings of the site into an empty directory.

    Raises:
        BuildError: a page asks for a text that nothing generates.
    """
    pages = target / "pages"
    shutil.rmtree(target, ignore_errors=True)
    (pages / "rules").mkdir(parents=True)
    for source in sorted(DOCS.rglob("*")):
        place = pages / source.relative_to(DOCS)
        if source.suffix == ".md":
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(filled(source.read_text(encoding="utf-8")), encoding="utf-8")
        elif source.suffix in (".svg", ".css"):
            shutil.copy(source, place)
    for page in rule_pages():
        (pages / "rules" / file_name(page)).write_text(rule_page(page), encoding="utf-8")
    settings_file = (DOCS / "zensical.toml").read_text(encoding="utf-8")
    (target / "zensical.toml").write_text(navigation(settings_file), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--pages-only", action="store_true", help="Write the pages, and do not build the site.")
    options = parser.parse_args()
    try:
        write_pages(TARGET)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.pages_only:
        return 0
    generator = Path(sysconfig.get_path("scripts")) / "zensical"
    if not generator.exists():
        print("error: zensical is not installed: pip install -e '.[docs]'", file=sys.stderr)
        return 2
    return subprocess.run([str(generator), "build", "--strict", "--clean"], cwd=TARGET, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
