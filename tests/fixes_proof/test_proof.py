"""Every fix of the catalogue, proven by running: the example fails or costs as its page says, and with the fix it runs
and prints the same.

The summary of the tests shows a matrix: rule, example, variant, and what was run.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from dllint import linter
from dllint.catalog import Example, pages
from dllint.config import Settings
from dllint.finding import Finding
from dllint.fixes.passes import fix_until_stable

from .subjects import NOT_RUN, SUBJECTS, Subject
from .variants import VARIANTS, DoesNotApply, Source

HERE = Path(__file__).parent
PAGE = "as the page has it"
VARIANTS_PROVEN = 10
"""In how many variants, beside the page's own text, each example is fixed and compared at least."""


class Ran(NamedTuple):
    status: int
    lines: list[str]
    cost: int | None
    err: str


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    # Looked for only: importing torch takes seconds, and this process does not need it.
    for name in ("torch", "cv2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if sys.platform != "linux":
        pytest.skip("measures by /proc, and compares with fork")
    environment = {
        # Unbuffered, a `print` of two values is four writes, and those of two workers mix.
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith("OPENCV_") and name != "PYTHONUNBUFFERED"
        },
        "DLLINT_PROOF_ADDRESS": str(tmp_path_factory.mktemp("server") / "address"),
        "PYTHONPATH": str(HERE / "support"),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, str(HERE / "runner.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def run(runner: subprocess.Popen[str], tmp_path: Path) -> Run:
    """Runs a program in a directory of its own."""
    count = iter(range(10**6))

    def run(subject: Subject, files: Mapping[str, str], method: str = "forkserver", threads: bool = False) -> Ran:
        folder = tmp_path / str(next(count))
        contents = {**{name: text.encode() for name, text in files.items()}, **subject.data}
        for name, content in {**contents, "prove.py": subject.driver.encode()}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        default = subject.default if method == "forkserver" else method
        job = {"directory": str(folder), "entry": subject.entry, "method": method, "default": default}
        assert runner.stdin is not None and runner.stdout is not None
        runner.stdin.write(json.dumps({**job, "threads": threads, "arguments": subject.arguments}) + "\n")
        runner.stdin.flush()
        answer = json.loads(runner.stdout.readline())
        lines = answer["out"].splitlines()
        costs = [int(line.split()[1]) for line in lines if line.startswith("cost ")]
        shown = sorted(line for line in lines if not line.startswith("cost "))
        return Ran(answer["status"], shown, costs[0] if costs else None, answer["err"])

    return run


def example_of(subject: Subject) -> Example:
    page = next(page for page in pages() if page.code == subject.code)
    return next(one for one in page.examples if one.title == subject.title)


def shrunk(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def findings(files: Mapping[str, str], code: str) -> list[Finding]:
    report = linter.check_sources(
        {name: text for name, text in files.items() if name.endswith(".py")}, Settings(root="")
    )
    return [one for one in report.findings if one.code == code]


class Prover:
    """Proves the fix of one example in all its variants.

    Attributes:
        rows: the lines of the matrix: the variant, and what was run.
    """

    def __init__(self, subject: Subject, run: Run) -> None:
        self.subject = subject
        self.run = run
        self.files = {
            name: re.sub(r"num_workers=4\b", "num_workers=2", shrunk(text, subject.smaller))
            for name, text in example_of(subject).files.items()
        }
        self.finding = findings(self.files, subject.code)[0]
        self.rows: list[tuple[str, str]] = []
        self.proven: set[str] = set()
        self.page: Ran | None = None

    def prove(self, variant: str) -> bool:
        """Whether the variant has a fix; then it is proven."""
        subject, path = self.subject, self.finding.path
        try:
            if variant in subject.inapplicable:
                raise DoesNotApply(subject.inapplicable[variant])
            text = VARIANTS[variant](Source(self.files[path], self.finding.span))
        except DoesNotApply as reason:
            self.rows.append((variant, f"not applicable: {reason}"))
            return False
        compile(text.removeprefix("\ufeff"), path, "exec")
        before = {**self.files, path: text}
        found = findings(before, subject.code)
        if variant in subject.silent:
            assert not found, f"{variant}: found now"
            self.rows.append((variant, f"not found: {subject.silent[variant]}"))
            return False
        assert found, f"{variant}: nothing is found in\n{text}"
        fixed = fix_until_stable(
            lambda texts: findings({**before, **texts}, subject.code), before.__getitem__, unsafe=True
        )
        if variant in subject.unfixed:
            assert not fixed.applied, f"{variant}: fixed now"
            self.rows.append((variant, f"found, without a fix: {subject.unfixed[variant]}"))
            return False
        assert fixed.applied, f"{variant}: no fix for\n{text}"
        after = {**before, **{name: new for name, (_, new) in fixed.texts.items()}}
        self.rows.append((variant, self.compare(variant, before, after)))
        return True

    def compare(self, variant: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
        """Run both programs, unless they are the ones of another variant to the compiler."""
        trees = repr(
            [ast.dump(ast.parse(text.removeprefix("\ufeff"))) for one in (before, after) for text in one.values()]
        )
        if trees in self.proven:
            return "the same syntax trees, before and after the fix, as another variant that was run"
        subject = self.subject
        shown = after[self.finding.path]
        old = self.run(subject, before)
        new = self.run(subject, after)
        assert new.status == 0, f"{variant}: fails after the fix:\n{shown}\n{new.err}"
        assert new.lines or subject.equal, f"{variant}: prints nothing:\n{shown}"
        told = []
        if subject.fails:
            failure = re.search(subject.fails, old.err)
            assert failure, f"{variant}: does not fail so:\n{before[self.finding.path]}\n{old.err}"
            told.append(f"fails: {failure[0]}")
        else:
            assert old.status == 0, f"{variant}: fails:\n{old.err}"
        if new.cost is not None:
            assert old.cost is not None and old.cost > new.cost, (
                f"{variant}: costs {old.cost}, then {new.cost}:\n{shown}"
            )
            told.append(f"{old.cost} -> {new.cost} {subject.costs}")
        elif not subject.fails:
            told.append(f"costs {subject.costs}")
        if subject.equal:
            told.append(f"results differ: {subject.equal}")
        else:
            reference, how = self.reference(before, old, new)
            assert reference.status == 0, f"{variant}: does not run for comparison:\n{reference.err}"
            assert reference.lines == new.lines, f"{variant}: {reference.lines} before, {new.lines} after:\n{shown}"
            told.append(f"{len(new.lines)} lines equal{how}")
        if subject.spawned and variant == PAGE:
            assert re.search(subject.fails, self.run(subject, before, method="spawn").err)
            assert self.run(subject, after, method="spawn")[:2] == new[:2]
            told.append("the same by spawn itself")
        self.proven.add(trees)
        return "; ".join(told)

    def reference(self, before: Mapping[str, str], old: Ran, new: Ran) -> tuple[Ran, str]:
        """What the program prints where the defect does not matter.

        A variant does the same as the page's program. So the run of that one serves for all that print what it prints.
        """
        working = self.subject.working
        if not working:
            return old, ""
        how = {"fork": "a forked run", "threads": "a run by threads"}
        told = how[working] if isinstance(working, str) else f"a run with `{working[0][1]}`"
        if self.page is not None and self.page.lines == new.lines:
            return self.page, f" to {told} of the page's text"
        if working == "fork":
            ran = self.run(self.subject, before, method="fork")
        elif working == "threads":
            ran = self.run(self.subject, before, threads=True)
        else:
            assert not isinstance(working, str)
            texts = dict(before)
            for pattern, new_text in working:
                texts = {name: re.sub(pattern, new_text, text) for name, text in texts.items()}
            assert texts != before
            ran = self.run(self.subject, texts)
        if self.page is None:
            self.page = ran
        return ran, f" to {told}"


@pytest.mark.slow
@pytest.mark.parametrize("subject", [pytest.param(one, id=f"{one.code} {one.title}") for one in SUBJECTS])
def test_a_fix_is_proven_by_running(subject: Subject, run: Run, record_property: Callable[[str, object], None]) -> None:
    prover = Prover(subject, run)
    failed = []
    proven = 0
    for variant in VARIANTS:
        try:
            proven += prover.prove(variant)
        except AssertionError as error:
            failed.append(str(error))
    for row in prover.rows:
        record_property("proof", (subject.code, subject.title, *row))
    assert not failed, "\n\n".join(failed)
    assert proven > VARIANTS_PROVEN, "fewer variants than that can be fixed"


def test_every_rule_with_a_fix_is_in_the_table() -> None:
    promised = {page.code for page in pages() if page.fix != "none"}
    assert {one.code for one in SUBJECTS} | set(NOT_RUN) == promised
    assert not {one.code for one in SUBJECTS} & set(NOT_RUN)
    shown = {(page.code, title) for page in pages() for title in page.fixed if page.code not in NOT_RUN}
    assert shown <= {(one.code, one.title) for one in SUBJECTS}
