"""`dllint rule` and `dllint config`: what the pages and the settings say about themselves."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from dllint import config, registry
from dllint.catalog import Option, RulePage
from dllint.config import ConfigError, Settings

KEYS: Mapping[str, tuple[str, str, str]] = {
    "target-python": (
        "from `requires-python`, else 3.10 to 3.14",
        '">=3.10,<3.14"',
        "The Python versions that the program is meant for. From 3.14 on, Linux starts processes by forkserver.",
    ),
    "target-platform": (
        '"linux"',
        '["linux", "macos"]',
        "The platforms that the program is meant for. macOS and Windows start processes by spawn.",
    ),
    "select": (
        '["DLL"]',
        '["DLL1", "DLL201"]',
        "Codes or prefixes of the rules to check for. The longest prefix wins.",
    ),
    "ignore": ("[]", '["DLL403"]', "Codes or prefixes of the rules to leave out."),
    "extend-select": ("[]", '["DLL403"]', "Codes or prefixes to check for beside `select`."),
    "extend-safe-fixes": ("[]", '["DLL101"]', "Codes or prefixes of rules whose unsafe fixes `--fix` applies too."),
    "extend-unsafe-fixes": ("[]", '["DLL501"]', "Codes or prefixes of rules whose safe fixes need `--unsafe-fixes`."),
    "per-file-ignores": ("{}", '{ "tests/**" = ["DLL3"] }', "Rules to leave out in the files that match a pattern."),
    "lower-severity": (
        '["tests/", "test/", "test_*.py", "*_test.py", "examples/", "tutorials/"]',
        "[]",
        "Patterns, as in .gitignore, of files whose findings weigh one severity less: tests and examples of a library.",
    ),
    "exclude": (
        "version control, virtual environments, caches, builds",
        '["third_party"]',
        "Patterns, as in .gitignore, of files and directories to leave out; replaces the default.",
    ),
    "extend-exclude": ("[]", '["generated/**"]', "Patterns to leave out beside `exclude`."),
    "preview": ("false", "true", "Check for rules in preview too."),
    "loaders": ("[]", '["mypackage.FastLoader"]', "Further classes and functions that make a DataLoader."),
    "datasets": ("[]", '["mypackage.BaseData"]', "Further base classes of datasets."),
    "launchers": (
        "[]",
        '["mypackage.launch"]',
        "Further functions that start processes, as `torch.multiprocessing.spawn` does.",
    ),
    "mmap-stores": ("[]", '["mypackage.open_store"]', "Further functions that open a memory-mapped store."),
    "openers": ("[]", '["mypackage.Reader"]', "Further functions that open what forked processes must not share."),
    "unpicklable": ("[]", '["mypackage.Client"]', "Further classes and functions whose objects cannot be pickled."),
    "cuda-calls": (
        "[]",
        '["mypackage.warm_up"]',
        "Further functions that initialise CUDA where they are called.",
    ),
    "copying-calls": (
        "[]",
        '["mypackage.own"]',
        "Further functions and methods that copy a tensor.",
    ),
    "cache-dir": (
        "`$XDG_CACHE_HOME/dllint` or the usual place of the platform",
        '".dllint_cache"',
        "Where facts about files are kept between runs, inside of the project.",
    ),
    "rules": ("{}", "{ DLL301 = { copies-mib = 64 } }", "Options of single rules, as `dllint rule CODE` lists them."),
}
"""Each key of [tool.dllint]: its default, an example and what it says."""


def rule(code: str | None, *, every: bool, as_json: bool) -> int:
    """Print the page of one rule, or of all.

    Raises:
        ConfigError: there is no such rule.
    """
    if every == (code is not None):
        raise ConfigError("name one rule, as in `dllint rule DLL101`, or give --all")
    pages = [one.page for one in registry.rules()]
    if code is not None:
        found = registry.find(code.upper() if code.upper().startswith("DLL") else code)
        if found is None:
            near = registry.nearest(code)
            raise ConfigError(f'there is no rule "{code}"' + (f', did you mean "{near}"?' if near else ""))
        pages = [found.page]
    if as_json:
        objects = [_page_object(page) for page in pages]
        print(json.dumps(objects if every else objects[0], indent=2, ensure_ascii=False))
    else:
        _print_pages(pages)
    return 0


def setting(key: str | None) -> int:
    """List the keys of [tool.dllint], or explain one.

    Raises:
        ConfigError: there is no such key.
    """
    if key is None:
        width = max(map(len, KEYS))
        for name, (default, _, _) in KEYS.items():
            print(f"{name:<{width}}  {default}")
        return 0
    if key not in KEYS:
        raise ConfigError(f'there is no setting "{key}"{config.hint(key, KEYS)}')
    default, example, meaning = KEYS[key]
    print(f"{meaning}\n\nDefault: {default}\nExample: [tool.dllint]\n         {key} = {example}")
    return 0


def settings_table(settings: Settings) -> str:
    """The settings in force, one `name = value` a line."""
    rows: dict[str, Any] = {}
    for one in fields(settings):
        value = getattr(settings, one.name)
        if one.name == "targets":
            rows["target-python"] = [f"{major}.{minor}" for major, minor in value.pythons]
            rows["target-platform"] = value.platforms
        else:
            rows[one.name.replace("_", "-")] = value
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in rows.items())


def _print_pages(pages: Iterable[RulePage]) -> None:
    if not sys.stdout.isatty():
        print("\n".join(page.text for page in pages), end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    for page in pages:
        fix = {"none": "no fix"}.get(page.fix, f"{page.fix} fix")
        preview = ", in preview" if page.preview else ""
        console.print(
            Markdown(f"# {page.code} {page.name}\n\n{page.severity}, {fix}{preview}. {page.summary}\n\n{page.body}")
        )
        if page.options:
            console.print(Markdown("## Options\n\n" + "\n".join(map(_option_line, page.options))))


def _option_line(option: Option) -> str:
    return f"- `{option.name} = {json.dumps(option.default)}`: {option.doc}"


def _page_object(page: RulePage) -> dict[str, Any]:
    return {
        "code": page.code,
        "name": page.name,
        "severity": page.severity,
        "fix": page.fix,
        "preview": page.preview,
        "since": page.since,
        "summary": page.summary,
        "messages": dict(page.messages),
        "options": [asdict(one) for one in page.options],
        "explanation": page.body,
    }
