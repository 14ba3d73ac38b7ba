"""The rules: each page together with the module that finds what the page describes.

The module of a rule is named like its page, with underscores, and lies in the package of its family:
`dllint.rules.start_methods.loader_inherits_start_method`. It has

    def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]

where `options` has a value for every option that the page declares, and, for `dllint run`, optionally

    def judge(case: Case) -> Judgement
    def concerns(run: LoaderRun) -> bool

which `dllint.evidence` explains. DLL0xx have no module: what they report is found before there is a project. A module
is imported when its rule first runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from dllint import config
from dllint.catalog import RulePage, pages

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement
    from dllint.evidence.loader_runs import LoaderRun
    from dllint.finding import Finding
    from dllint.project import Project

    Check = Callable[[Project, Mapping[str, Any]], Iterable[Finding]]
    Judge = Callable[[Case], Judgement]
    Concerns = Callable[[LoaderRun], bool]

_SELECTOR = re.compile(r"DLL\d{0,3}\Z")


class RegistryError(RuntimeError):
    """Pages and rule modules do not match: a bug in dllint itself, reported in one line."""


@dataclass(frozen=True)
class Rule:
    page: RulePage

    @property
    def code(self) -> str:
        return self.page.code

    @property
    def module(self) -> str | None:
        """Full name of the rule's module; `None` for the rules about the check itself."""
        if self.code.startswith("DLL0"):
            return None
        name = self.page.name.replace("-", "_")
        return _modules().get(name, f"dllint.rules.{name}")

    @cached_property
    def check(self) -> Check | None:
        """The function that yields the rule's findings; `None` for the rules about the check itself.

        Raises:
            RegistryError: the page has no module, or the module no `check`.
        """
        check: Check | None = self._function("check")
        if check is None and self.module is not None:
            raise RegistryError(f"{self.code}: {self.module} has no function `check`")
        return check

    @cached_property
    def judge(self) -> Judge | None:
        """The function that judges a finding by a run; `None` if runs show nothing about the rule.

        Raises:
            RegistryError: the page has no module.
        """
        judge: Judge | None = self._function("judge")
        return judge

    @cached_property
    def concerns(self) -> Concerns | None:
        """The function that tells whether a loader run shows signs of the hazard; `None` if a run alone never finds it.

        Raises:
            RegistryError: the page has no module.
        """
        concerns: Concerns | None = self._function("concerns")
        return concerns

    def _function(self, name: str) -> Any:
        if self.module is None:
            return None
        if find_spec(self.module) is None:
            raise RegistryError(f"{self.code}: the page {self.page.path} has no module {self.module}")
        return getattr(import_module(self.module), name, None)

    @cached_property
    def alike(self) -> frozenset[str]:
        """The code, and the codes of the rules that a run cannot distinguish from this one."""
        others = (rule.code for rule in rules() if self.code in rule.page.run.alike)
        return frozenset({self.code, *self.page.run.alike, *others})

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the page's options, with the user's (already validated) values over the defaults."""
        return {option.name: given.get(option.name, option.default) for option in self.page.options}


@lru_cache(maxsize=1)
def _modules() -> dict[str, str]:
    """Return the full names of the modules in the family packages by their last name, without importing any."""
    import dllint.rules

    found: dict[str, str] = {}
    for folder in map(Path, dllint.rules.__path__):
        for family in sorted(path for path in folder.iterdir() if path.is_dir()):
            found.update(
                (module.name, f"dllint.rules.{family.name}.{module.name}") for module in iter_modules([str(family)])
            )
    return found


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Return all rules, sorted by code.

    Raises:
        CatalogError: a page is malformed.
    """
    return tuple(Rule(page) for page in pages())


@lru_cache(maxsize=1)
def _by_code() -> dict[str, Rule]:
    return {rule.code: rule for rule in rules()}


@lru_cache(maxsize=1)
def names() -> dict[str, str]:
    """Return the codes of the rules by name."""
    return {rule.page.name: rule.code for rule in rules()}


def find(code_or_name: str) -> Rule | None:
    """Return the rule with this code ("DLL101") or name ("loader-inherits-start-method"); `None` if there is none."""
    return _by_code().get(code_or_name) or next((rule for rule in rules() if rule.page.name == code_or_name), None)


def expand(selector: str) -> tuple[str, ...]:
    """Return the codes for a selector: "DLL201" one rule, "DLL2" a family, "DLL" all, "lambda-in-dataset" one by name.

    Empty if there is no such rule.
    """
    if _SELECTOR.match(selector):
        return tuple(code for code in _by_code() if code.startswith(selector))
    rule = find(selector)
    return (rule.code,) if rule else ()


def nearest(code: str) -> str | None:
    """Return the code or name closest to user input; `None` if none is close."""
    return config.nearest_code(code, [*_by_code(), *(rule.page.name for rule in rules())])


def unpaired() -> list[str]:
    """Return the mismatches, one per line: pages without a module, modules without a page.

    A module with a function `check` belongs to a rule; the others are shared by the rules of their family.
    """
    have = {name for name in _modules().values() if _has_check(name)}
    want = {rule.module: rule for rule in rules() if rule.module is not None}
    return [
        *(f"{want[name].page.path}: no module {name}" for name in sorted(want.keys() - have)),
        *(
            f"{name}: no page DLL…-{name.rpartition('.')[2].replace('_', '-')}.md"
            for name in sorted(have - want.keys())
        ),
    ]


def _has_check(module: str) -> bool:
    spec = find_spec(module)
    return spec is not None and spec.origin is not None and "\ndef check(" in Path(spec.origin).read_text("utf-8")
