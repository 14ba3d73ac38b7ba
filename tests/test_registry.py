"""Pages and rule modules, joined."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint import catalog, registry
from dllint.evidence import failures
from dllint.registry import RegistryError, Rule


def page(code: str, name: str, options: str = "") -> catalog.RulePage:
    head = f"""# {code} {name}

```toml
code = "{code}"
name = "{name}"
severity = "warning"
fix = "none"
since = "0.1.0"
summary = "A sentence."
apis = ["x"]
[messages]
main = "A message"
[help]
main = "A remedy"
{options}
```
"""
    return catalog.parse(head, f"{code}-{name}.md")


@pytest.fixture
def two_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A catalogue of two made-up pages in the place of the real one."""
    made_up = (page("DLL002", "about-the-check"), page("DLL950", "no-such-module"))
    monkeypatch.setattr(registry, "pages", lambda: made_up)
    registry.rules.cache_clear()
    registry._by_code.cache_clear()
    registry._modules.cache_clear()
    yield
    registry.rules.cache_clear()
    registry._by_code.cache_clear()
    registry._modules.cache_clear()


def test_pages_and_modules_belong_together() -> None:
    assert registry.unpaired() == []


def test_every_rule_can_be_called() -> None:
    for rule in registry.rules():
        assert (rule.check is None) == rule.code.startswith("DLL0"), rule.code


def test_rules_that_a_run_cannot_distinguish_name_one_another() -> None:
    alike = {rule.code: rule.alike for rule in registry.rules()}

    assert alike["DLL501"] == alike["DLL502"] == alike["DLL503"] == {"DLL501", "DLL502", "DLL503"}
    assert alike["DLL102"] == {"DLL102"}
    assert set().union(*alike.values()) == alike.keys()


def test_error_texts_are_patterns_of_known_rules() -> None:
    known = {rule.code for rule in registry.rules()}
    assert failures.signatures()
    assert all(set(sign.codes) <= known for sign in failures.signatures())


def test_a_page_without_a_module_is_named(two_rules: None) -> None:
    missing = "DLL950-no-such-module.md: no module dllint.rules.no_such_module"
    assert [line for line in registry.unpaired() if "no_such_module" in line] == [missing]


def test_a_module_without_a_page_is_named(two_rules: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import dllint.rules.data

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "orphan_rule.py").write_text("\ndef check(project, options): ...\n")
    (tmp_path / "data" / "question.py").write_text("\ndef asked(project): ...\n")
    monkeypatch.setattr(dllint.rules, "__path__", [str(tmp_path)])
    monkeypatch.setattr(dllint.rules.data, "__path__", [str(tmp_path / "data")])

    assert [line for line in registry.unpaired() if "question" in line] == []
    assert "dllint.rules.data.orphan_rule: no page DLL…-orphan-rule.md" in registry.unpaired()


def test_running_a_rule_without_a_module_is_one_line(two_rules: None) -> None:
    rule = registry.find("DLL950")
    assert rule is not None

    with pytest.raises(RegistryError, match=r"DLL950: the page \S+ has no module dllint.rules.no_such_module"):
        _ = rule.check


def test_a_module_without_check_is_one_line(two_rules: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import dllint.rules

    (tmp_path / "no_such_module.py").write_text("")
    monkeypatch.setattr(dllint.rules, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "dllint.rules.no_such_module", raising=False)
    rule = registry.find("DLL950")
    assert rule is not None

    with pytest.raises(RegistryError, match="has no function `check`"):
        _ = rule.check
    monkeypatch.delitem(sys.modules, "dllint.rules.no_such_module")


def test_a_rule_about_the_check_has_no_module(two_rules: None) -> None:
    rule = registry.find("about-the-check")
    assert rule is not None
    assert (rule.code, rule.module, rule.check) == ("DLL002", None, None)


def test_modules_are_imported_when_a_rule_runs() -> None:
    program = """
import sys
from dllint import registry
rule = registry.find("DLL101")
print([name for name in sys.modules if name.startswith("dllint.rules.")])
rule.check
print([rule.code for rule in registry.rules() if rule.module in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (run.stdout.splitlines(), run.stderr) == (["[]", "['DLL101']"], "")


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("DLL", ["DLL001", "DLL101", "DLL201", "DLL502"]),
        ("DLL5", ["DLL501", "DLL502"]),
        ("DLL50", ["DLL501", "DLL502"]),
        ("DLL501", ["DLL501"]),
        ("lambda-in-dataset", ["DLL201"]),
    ],
)
def test_selectors(selector: str, codes: list[str]) -> None:
    assert set(codes) <= set(registry.expand(selector))
    assert all(code.startswith(selector) for code in registry.expand(selector)) or selector == "lambda-in-dataset"


@pytest.mark.parametrize("selector", ["DLL999", "DLL1011", "", "E5", "lambda"])
def test_a_selector_of_nothing(selector: str) -> None:
    assert registry.expand(selector) == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("DLL1O1", "DLL101"),
        ("dll501", "DLL501"),
        ("lambda-in-datasets", "lambda-in-dataset"),
        ("numpy", None),
    ],
)
def test_the_nearest_rule(written: str, meant: str | None) -> None:
    assert registry.nearest(written) == meant


def test_options_are_the_defaults_with_the_given_over_them() -> None:
    option = '[[options]]\nname = "most"\ntype = "integer"\ndefault = 3\ndoc = "How many."'
    rule = Rule(page("DLL950", "socket-in-dataset", option))

    assert rule.options({}) == {"most": 3}
    assert rule.options({"most": 5}) == {"most": 5}
