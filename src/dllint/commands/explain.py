"""Implementation of `dllint rule` and `dllint config`: print the page of a rule or the description of a setting."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from dllint import config, registry
from dllint.catalog import Option, RulePage
from dllint.config import Settings
from dllint.setting_values import ConfigError

KEYS: Mapping[str, tuple[str, str, str]] = {
    "target-python": (
        "from `requires-python`, else 3.10 to 3.14",
        '">=3.10,<3.14"',
        (
            "The Python versions that the program runs on. On Linux, forkserver is the default from 3.14 on. What "
            "fails only there is info for a project that pins a torch below 2.9, which has no builds for 3.14."
        ),
    ),
    "target-platform": (
        '"linux"',
        '["linux", "macos"]',
        "The platforms that the program runs on. On macOS and Windows, spawn is the default.",
    ),
    "select": (
        '["DLL"]',
        '["DLL1", "DLL201"]',
        "The rules to check, by code, prefix or name. The longest prefix wins.",
    ),
    "ignore": ("[]", '["DLL403"]', "The rules not to check."),
    "extend-select": ("[]", '["DLL403"]', "Rules to check in addition to `select`."),
    "extend-safe-fixes": ("[]", '["DLL101"]', "Rules whose unsafe fixes `--fix` applies too."),
    "extend-unsafe-fixes": ("[]", '["DLL501"]', "Rules whose safe fixes need `--unsafe-fixes`."),
    "per-file-ignores": ("{}", '{ "tests/**" = ["DLL3"] }', "Rules not to check in the files that match a pattern."),
    "lower-severity": (
        '["tests/", "test/", "test_*.py", "*_test.py", "examples/", "tutorials/", "docs/"]',
        "[]",
        (
            "Files (patterns as in .gitignore) whose findings get the next lower severity, and whose fixes are only "
            "shown; so do findings that only a launcher in these files brings about."
        ),
    ),
    "exclude": (
        "version control, virtual environments, caches, builds",
        '["third_party"]',
        "Files and directories not to check, by patterns as in .gitignore; replaces the default.",
    ),
    "extend-exclude": ("[]", '["generated/**"]', "Patterns in addition to `exclude`."),
    "preview": ("false", "true", "Also check the rules that are in preview."),
    "loaders": ("[]", '["mypackage.FastLoader"]', "Your own classes and functions that make a DataLoader."),
    "datasets": ("[]", '["mypackage.BaseData"]', "Your own base classes of datasets."),
    "launchers": (
        "[]",
        '["mypackage.launch"]',
        "Your own functions that start processes, as `torch.multiprocessing.spawn` does.",
    ),
    "mmap-stores": ("[]", '["mypackage.open_store"]', "Your own functions that open a memory-mapped store."),
    "openers": (
        "[]",
        '["mypackage.Reader"]',
        "Your own functions that open a handle which forked processes must not share.",
    ),
    "unpicklable": ("[]", '["mypackage.Client"]', "Your own classes and functions whose objects cannot be pickled."),
    "cuda-calls": (
        "[]",
        '["mypackage.warm_up"]',
        "Your own functions that initialize CUDA.",
    ),
    "copying-calls": (
        "[]",
        '["mypackage.own"]',
        "Your own functions and methods that copy a tensor.",
    ),
    "cache-dir": (
        "`$XDG_CACHE_HOME/dllint` or the usual place of the platform",
        '".dllint_cache"',
        "The directory of the cache of parsed files, inside the project.",
    ),
    "rules": ("{}", "{ DLL301 = { copies-mib = 64 } }", "Options of single rules; `dllint rule RULE` lists them."),
}
"""Each key of [tool.dllint]: its default, an example and its meaning."""


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
    """Return the settings in force, one `name = value` per line."""
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
    texts = map(_readable, pages)
    if not sys.stdout.isatty():
        print("\n".join(texts), end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    for text in texts:
        console.print(Markdown(text))


def _readable(page: RulePage) -> str:
    """Return a page as plain Markdown: its TOML block becomes a sentence and a list of options."""
    fix = {"none": "no automatic fix"}.get(page.fix, f"{page.fix} fix")
    preview = ", in preview" if page.preview else ""
    text = f"# {page.code} {page.name}\n\n{page.severity.capitalize()}, {fix}{preview}. {page.summary}\n\n{page.body}"
    if page.options:
        text += "\n## Options\n\n" + "\n".join(map(_option_line, page.options)) + "\n"
    return text


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
