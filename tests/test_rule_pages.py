"""Every example of every rule page: given these files, exactly the findings that the marks announce."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import dllint
from dllint import config, linter, registry
from dllint.catalog import Example, RulePage, pages
from dllint.finding import Finding
from dllint.fixes.passes import fix_until_stable

PAGES = [pytest.param(page, id=page.code) for page in pages()]
EXAMPLES = [
    pytest.param(page, example, id=f"{page.code} {'bad' if example.bad else 'good'}: {example.title}")
    for page in pages()
    for example in page.examples
]
FIXED = [pytest.param(page, title, id=f"{page.code} {title}") for page in pages() for title in page.fixed]
OPTIONS = {rule.code: rule.options({}) for rule in registry.rules()}


def write(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def check(folder: Path, page: RulePage, texts: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """What a real check of the folder finds; `texts` stand in for files on disk."""
    settings = config.load(
        [str(folder)],
        isolated=not (folder / "pyproject.toml").exists(),
        overrides={"preview": page.preview},
        options=OPTIONS,
    )
    unsaved = {path: text.encode() for path, text in (texts or {}).items()}
    report = linter.check([str(folder)], settings, linter.Execution(jobs=1, cache=False, unsaved=unsaved))
    assert report.problems == ()
    return report.findings


def relative(path: str, folder: Path) -> str:
    return (folder / path).relative_to(folder).as_posix()


def difference(example: Example, found: list[tuple[str, int, str]], texts: Mapping[tuple[str, int, str], str]) -> str:
    """One line for each finding that is missing or too many, with the source line it is about."""
    lines = [f"{'bad' if example.bad else 'good'} example {example.title!r}:"]
    for sign, places in (("missing", set(example.marks) - set(found)), ("too many", set(found) - set(example.marks))):
        for path, line, code in sorted(places):
            source = example.files.get(path, "").splitlines()
            shown = source[line - 1].strip() if 0 < line <= len(source) else "(no such line)"
            lines.append(f"  {sign}: {path}:{line} {code} | {shown}  {texts.get((path, line, code), '')}".rstrip())
    lines += [f"  twice: {':'.join(map(str, place))}" for place in sorted(set(found)) if found.count(place) > 1]
    return "\n".join(lines)


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_findings_equal_the_marks(page: RulePage, example: Example, tmp_path: Path) -> None:
    write(example.files, tmp_path)

    findings = check(tmp_path, page)

    found = [(relative(one.path, tmp_path), one.span.line, one.code) for one in findings]
    texts = {place: one.text for place, one in zip(found, findings, strict=True)}
    assert sorted(found) == [tuple(mark) for mark in example.marks], difference(example, found, texts)


@pytest.mark.parametrize(("page", "example"), [param for param in EXAMPLES if param.values[1].bad])
def test_findings_are_told_in_the_words_of_their_page(page: RulePage, example: Example, tmp_path: Path) -> None:
    write(example.files, tmp_path)

    for finding in check(tmp_path, page):
        rule = registry.find(finding.code)
        assert rule is not None
        assert finding.text == rule.page.render(finding.message, finding.values)
        assert finding.help == rule.page.remedy(finding.message, finding.values)
        assert not re.search(r"[{}]|(?<!=)(?<!else )\bNone\b|<[a-z.]+ object", finding.text + finding.help), (
            finding.text
        )


@pytest.mark.parametrize(("page", "title"), FIXED)
def test_the_fix_gives_the_text_that_the_page_shows(page: RulePage, title: str, tmp_path: Path) -> None:
    example = next(one for one in page.examples if one.title == title)
    write(example.files, tmp_path)

    def own_findings(texts: Mapping[str, str]) -> list[Finding]:
        return [one for one in check(tmp_path, page, texts) if one.code == page.code]

    def read(path: str) -> str:
        return (tmp_path / path).read_text(encoding="utf-8")

    run = fix_until_stable(own_findings, read, unsafe=page.fix == "unsafe")

    assert {relative(path, tmp_path): new for path, (_, new) in run.texts.items()} == page.fixed[title]
    assert run.stable
    assert run.findings == ()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_three_bad_and_three_good_examples(page: RulePage) -> None:
    assert sum(example.bad for example in page.examples) >= 3
    assert sum(not example.bad for example in page.examples) >= 3


@pytest.mark.parametrize("page", PAGES)
def test_a_bad_example_spans_files(page: RulePage) -> None:
    assert any(example.bad and sum(name.endswith(".py") for name in example.files) > 1 for example in page.examples)


@pytest.mark.parametrize("page", PAGES)
def test_good_examples_are_near_misses(page: RulePage) -> None:
    for example in page.examples:
        if not example.bad:
            assert any(api in text for api in page.apis for text in example.files.values()), example.title


@pytest.mark.parametrize("page", PAGES)
def test_example_code_is_python_and_formatted_for_reading(page: RulePage) -> None:
    for example in page.examples:
        for name, text in example.files.items():
            broken = any(mark.path == name and mark.code == "DLL001" for mark in example.marks)
            newer = "except*" in text
            if name.endswith(".py") and not broken and not newer:
                compile(text, f"{page.code} {example.title}: {name}", "exec")
            assert max(map(len, text.splitlines())) <= 120, f"{example.title}: {name}"


@pytest.mark.parametrize("page", PAGES)
def test_every_message_is_given_by_some_code(page: RulePage) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(dllint.__file__).parent.rglob("*.py"))
    assert [key for key in page.messages if key != "main" and f'"{key}"' not in sources] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_to_other_pages_lead_somewhere(page: RulePage) -> None:
    for target in re.findall(r"\]\((?!https://)([^)]+)\)", page.body):
        assert (Path(page.path).parent / target).is_file(), target
