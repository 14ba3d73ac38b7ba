"""Rule pages: the Markdown files that define each rule's name, messages, options and examples.

A page is called `DLL101-loader-inherits-start-method.md` and contains, from top to bottom:

    # DLL101 loader-inherits-start-method
    ```toml
    code, name, severity, fix, since, summary, apis, [preview], [about_datasets]
    [messages]  key = "template with {placeholders}"
    [help]      key = "template"; the message's own key, or "main" for all others
    [[options]] name, type, default, doc
    [run]       text = "the message if only a run saw it", subject, place, alike = ["DLL106"],
                processes = ["messages about processes"]; each is optional
    [[run.errors]] text = "a pattern", cause = "a clause", also = ["DLL106"]
    ```
    ## What it does
    ## Why it is bad
    ## Examples
    ### Bad: a few words          each example has files: the path in backticks alone on a line, then a fence;
    ### Good: a few words         `# DLL101` (or `# DLL101 DLL301`) at the end of a line marks an expected finding
    ## Fixed                      if `fix` is safe or unsafe: under a bad example's title, its files after the fix
    ## Limits
    ## See also

A rule that is `about_datasets` also looks at datasets which no loader is seen to read (`project.assumed_datasets`).
`apis` lists pieces of source text that the rule is about; every good example contains one, so that it is a near miss.
`run` is for `dllint run`; `RunSection` and `ErrorText` in `page` document its keys.

Only the TOML block is parsed when pages are loaded; the rest is parsed on demand.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from dllint.catalog.head import parse
from dllint.catalog.page import CatalogError, Example, Mark, Option, RulePage

__all__ = ["CatalogError", "Example", "Mark", "Option", "RulePage", "load", "pages", "parse"]


@lru_cache(maxsize=1)
def pages() -> tuple[RulePage, ...]:
    """Return all pages, sorted by code: those of the installed package, or of the repository that it runs from.

    Raises:
        CatalogError: as for `load`.
    """
    # `importlib.resources` would take longer to import than it takes to read all pages.
    package = Path(__file__).parents[1]
    folder = package / "rule_pages"
    return load(folder if folder.is_dir() else package.parents[1] / "rules")


def load(folder: Path) -> tuple[RulePage, ...]:
    """Return the pages in a folder, sorted by code; files whose names do not begin with `DLL` are ignored.

    Raises:
        CatalogError: a page is malformed, two pages have the same code, or there is no page.
    """
    found: dict[str, RulePage] = {}
    for path in sorted(folder.glob("DLL*")):
        page = parse(path.read_text(encoding="utf-8"), str(path))
        if page.code in found:
            raise CatalogError(page.path, 1, f"{page.code} is also the code of {found[page.code].path}")
        found[page.code] = page
    if not found:
        raise CatalogError(str(folder), 1, "there are no rule pages here")
    return tuple(found.values())
