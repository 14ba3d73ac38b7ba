"""How many labelled hazards a check finds, and how many labelled lookalikes it flags.

    python benchmarks/accuracy.py LABELS.tsv CHECKOUTS [--families DLL101 DLL2xx] [--json]

LABELS.tsv has the columns rules, repo, path, line, verdict (hazard or lookalike-clean) and reason; CHECKOUTS holds one
folder a repository, `owner+name` or `owner/name`. Needs only the standard library and an installed dllint.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NEAR = 3
"""Lines between a label and a place that still count as the same."""


@dataclass(frozen=True)
class Label:
    """A labelled line. `codes` are the patterns of the family's rule codes."""

    family: str
    codes: tuple[str, ...]
    repository: str
    path: str
    line: int
    hazard: bool
    reason: str

    def covers(self, code: str) -> bool:
        return any(re.fullmatch(pattern, code) for pattern in self.codes)


@dataclass(frozen=True)
class Found:
    """A finding: its code, its places as (path, first line), the primary one first, and its severity."""

    code: str
    places: tuple[tuple[str, int], ...]
    severity: str = ""


@dataclass
class Check:
    """One run of dllint over a repository. Times in seconds; `lines` counts the lines of its Python files."""

    repository: str
    findings: list[Found] = field(default_factory=list)
    exit: int = 0
    crash: str = ""
    wall: float = 0.0
    processor: float = 0.0
    lines: int = 0


@dataclass(frozen=True)
class Judged:
    label: Label
    primary: bool
    related: bool
    nearest: str


def code_patterns(rules: str) -> tuple[str, ...]:
    """`DLL2xx` → any DLL2 code, `DLL401-404` → four codes; several are separated by blanks or commas.

    >>> code_patterns("DLL401-403 DLL2xx")
    ('DLL401', 'DLL402', 'DLL403', 'DLL2\\\\d\\\\d')
    """
    patterns: list[str] = []
    for word in re.split(r"[\s,]+", rules.strip()):
        span = re.fullmatch(r"DLL(\d{3})-(?:DLL)?(\d{3})", word)
        if span:
            patterns += [f"DLL{number:03}" for number in range(int(span[1]), int(span[2]) + 1)]
        elif re.fullmatch(r"DLL\d[\dx]{0,2}", word):
            patterns.append("DLL" + word[3:].ljust(3, "x").replace("x", r"\d"))
        else:
            raise ValueError(f"not a rule code, family or range: {word!r}")
    return tuple(patterns)


def all_codes() -> Iterator[str]:
    """Every code there could be."""
    return (f"DLL{number:03}" for number in range(1000))


def read_labels(path: Path) -> list[Label]:
    """The rows of the table; raises ValueError, naming the row, for one that cannot be understood."""
    labels = []
    with path.open(encoding="utf-8-sig", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream, delimiter="\t"), start=2):
            try:
                verdict = row["verdict"]
                if verdict not in ("hazard", "lookalike-clean"):
                    raise ValueError(f"unknown verdict {verdict!r}")
                labels.append(
                    Label(
                        family=row["rules"],
                        codes=code_patterns(row["rules"]),
                        repository=row["repo"],
                        path=row["path"],
                        line=int(row["line"]),
                        hazard=verdict == "hazard",
                        reason=row["reason"] or "",
                    )
                )
            except (KeyError, TypeError, ValueError) as problem:
                raise ValueError(f"{path}, row {number}: {problem}") from problem
    return labels


def checkout_of(checkouts: Path, repository: str) -> Path | None:
    owner, _, name = repository.partition("/")
    for folder in (checkouts / f"{owner}+{name}", checkouts / owner / name):
        if folder.is_dir():
            return folder
    return None


def line_count(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py") if path.is_file())


def parse_findings(document: list[dict[str, Any]], folder: Path) -> Iterator[Found]:
    """The findings of `--output-format json`, with their paths relative to the repository."""

    def place(entry: dict[str, Any]) -> tuple[str, int]:
        return os.path.relpath(folder / entry["filename"], folder).replace(os.sep, "/"), int(entry["location"]["row"])

    for entry in document:
        places = (place(entry), *(place(other) for other in entry["related"]))
        yield Found(entry["code"], places, entry["severity"] or "")


def check(repository: str, folder: Path, arguments: list[str], limit: float) -> Check:
    """Runs `dllint check` on the whole repository, without a cache; a run past `limit` seconds counts as a crash."""
    result = Check(repository, lines=line_count(folder))
    command = [
        sys.executable,
        "-m",
        "dllint",
        "check",
        "--no-cache",
        "--jobs",
        "1",
        "--output-format",
        "json",
        *arguments,
        ".",
    ]
    before, start = os.times(), time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    )
    try:
        findings, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        findings, errors = "", f"still running after {limit:.0f} seconds"
    after = os.times()
    result.wall = time.perf_counter() - start
    result.processor = after.children_user + after.children_system - before.children_user - before.children_system
    result.exit = process.returncode
    try:
        result.findings = list(parse_findings(json.loads(findings), folder.resolve()))
    except (ValueError, KeyError, TypeError) as problem:
        result.crash = errors.strip() or f"unreadable output: {problem}"
    broken = any(sign in errors for sign in ("Traceback (most recent call last)", "internal error"))
    if broken or process.returncode not in (0, 1, 2):
        result.crash = errors.strip() or f"exit code {process.returncode}"
    return result


def judge(label: Label, findings: list[Found]) -> Judged:
    """Whether a finding of the label's family has its primary or a related place within NEAR lines of it."""

    def touches(place: tuple[str, int]) -> bool:
        return place[0] == label.path and abs(place[1] - label.line) <= NEAR

    family = [finding for finding in findings if label.covers(finding.code)]
    in_file = [(abs(f.places[0][1] - label.line), f) for f in family if f.places[0][0] == label.path]
    nearest = min(in_file, key=lambda pair: pair[0])[1] if in_file else None
    return Judged(
        label,
        primary=any(touches(finding.places[0]) for finding in family),
        related=any(touches(place) for finding in family for place in finding.places[1:]),
        nearest=f"{nearest.code} at line {nearest.places[0][1]}" if nearest else "",
    )


def percentage(part: int, whole: int) -> str:
    return f"{part}/{whole}" + (f" {100 * part / whole:.0f} %" if whole else "")


def summary(judged: list[Judged]) -> dict[str, int]:
    hazards = [row for row in judged if row.label.hazard]
    lookalikes = [row for row in judged if not row.label.hazard]
    return {
        "hazards": len(hazards),
        "found": sum(row.primary or row.related for row in hazards),
        "lookalikes": len(lookalikes),
        "flagged": sum(row.primary for row in lookalikes),
        "touched": sum(row.related and not row.primary for row in lookalikes),
    }


def print_report(judged: list[Judged], checks: list[Check], missing: Counter[str]) -> None:
    families = list(dict.fromkeys(row.label.family for row in judged))
    width = max([len(family) for family in families] + [5])
    print(f"{'family':{width}}  {'hazards found':>16}  {'lookalikes flagged':>18}  touched by a related place")
    for family in [*families, "total"]:
        counts = summary([row for row in judged if family in ("total", row.label.family)])
        print(
            f"{family:{width}}  {percentage(counts['found'], counts['hazards']):>16}"
            f"  {percentage(counts['flagged'], counts['lookalikes']):>18}  {counts['touched']}"
        )
    for title, rows in (
        ("Missed hazards", [row for row in judged if row.label.hazard and not (row.primary or row.related)]),
        ("Flagged lookalikes", [row for row in judged if not row.label.hazard and row.primary]),
    ):
        print(f"\n{title}: {len(rows)}")
        for row in rows:
            label = row.label
            nearest = f" [nearest: {row.nearest}]" if row.nearest else ""
            print(f"  {label.family}  {label.repository}/{label.path}:{label.line}{nearest}\n      {label.reason}")
    print(f"\n{'repository':45} {'lines':>8} {'wall s':>7} {'cpu s':>7} exit  findings")
    for result in checks:
        codes = Counter(finding.code for finding in result.findings)
        listed = " ".join(f"{code}:{count}" for code, count in sorted(codes.items()))
        times = f"{result.wall:7.2f} {result.processor:7.2f}"
        print(f"{result.repository:45} {result.lines:8} {times} {result.exit:4}  {listed}")
    for result in checks:
        if result.crash:
            print(f"\nCRASH in {result.repository}, exit code {result.exit}:\n{result.crash}")
    for repository, count in missing.items():
        print(f"\nNot checked out: {repository} ({count} labels left out)")


def as_json(judged: list[Judged], checks: list[Check], missing: Counter[str]) -> str:
    families = dict.fromkeys(row.label.family for row in judged)
    return json.dumps(
        {
            "total": summary(judged),
            "families": {name: summary([row for row in judged if row.label.family == name]) for name in families},
            "labels": [
                {
                    "family": row.label.family,
                    "repository": row.label.repository,
                    "path": row.label.path,
                    "line": row.label.line,
                    "hazard": row.label.hazard,
                    "primary": row.primary,
                    "related": row.related,
                    "nearest": row.nearest,
                    "reason": row.label.reason,
                }
                for row in judged
            ],
            "repositories": [
                {
                    "repository": result.repository,
                    "lines": result.lines,
                    "wall_s": round(result.wall, 3),
                    "processor_s": round(result.processor, 3),
                    "exit": result.exit,
                    "crash": result.crash,
                    "findings": dict(Counter(finding.code for finding in result.findings)),
                }
                for result in checks
            ],
            "not_checked_out": dict(missing),
        },
        indent=2,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Accuracy of dllint on labelled repositories.")
    parser.add_argument("labels", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument(
        "--families", nargs="+", default=[], metavar="CODE", help="only labels of these codes or families"
    )
    parser.add_argument("--repositories", nargs="+", default=[], metavar="TEXT", help="only those with such a name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--preview", action="store_true", help="check with preview rules too")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="time that a check may take")
    options = parser.parse_args()
    try:
        labels = read_labels(options.labels)
        wanted = [pattern for family in options.families for pattern in code_patterns(family)]
    except (OSError, ValueError) as problem:
        print(f"accuracy: {problem}", file=sys.stderr)
        return 2
    wanted_codes = {code for code in all_codes() if any(re.fullmatch(pattern, code) for pattern in wanted)}
    labels = [
        label
        for label in labels
        if (not wanted or any(label.covers(code) for code in wanted_codes))
        and (not options.repositories or any(text in label.repository for text in options.repositories))
    ]

    judged: list[Judged] = []
    checks: list[Check] = []
    missing: Counter[str] = Counter()
    for repository in dict.fromkeys(label.repository for label in labels):
        rows = [label for label in labels if label.repository == repository]
        folder = checkout_of(options.checkouts, repository)
        if folder is None:
            missing[repository] = len(rows)
            continue
        checks.append(check(repository, folder, ["--preview"] if options.preview else [], options.limit))
        judged += [judge(label, checks[-1].findings) for label in rows]

    print(as_json(judged, checks, missing)) if options.json else print_report(judged, checks, missing)
    return 2 if missing or any(result.crash for result in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
