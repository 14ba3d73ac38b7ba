"""How many findings are true, by rule and by severity, from a table of findings that a person has read.

    python benchmarks/precision.py READINGS.tsv CHECKOUTS [--repositories TEXT …] [--limit SECONDS] [--json]

READINGS.tsv has the columns repo, path, line, code, verdict (true, arguable or false) and reason; CHECKOUTS holds one
folder a repository, `owner+name` or `owner/name`. Each repository of the table is checked as a whole. Findings that the
table does not have are unread, and listed. Needs only the standard library and an installed dllint.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import accuracy

VERDICTS = ("true", "arguable", "false")
UNREAD = "unread"
UNREADABLE = "DLL001"
"""A file that does not parse: nothing to have an opinion of."""


@dataclass(frozen=True)
class Reading:
    """What a person made of a finding."""

    repository: str
    path: str
    line: int
    code: str
    verdict: str
    reason: str


def read(path: Path) -> list[Reading]:
    """The rows of the table.

    Raises:
        ValueError: a row cannot be understood; the message names it.
    """
    with path.open(encoding="utf-8-sig", newline="") as stream:
        found = []
        for number, row in enumerate(csv.DictReader(stream, delimiter="\t"), start=2):
            try:
                if row["verdict"] not in VERDICTS:
                    raise ValueError(f"unknown verdict {row['verdict']!r}")
                place = row["repo"], row["path"], int(row["line"])
                found.append(Reading(*place, row["code"], row["verdict"], row["reason"] or ""))
            except (KeyError, TypeError, ValueError) as problem:
                raise ValueError(f"{path}, row {number}: {problem}") from problem
    return found


def verdict_on(finding: accuracy.Found, repository: str, readings: list[Reading]) -> str:
    """What was made of a finding; the nearest reading counts, at most `accuracy.NEAR` lines away."""
    path, line = finding.places[0]
    near = [
        (abs(one.line - line), one.verdict)
        for one in readings
        if (one.repository, one.path, one.code) == (repository, path, finding.code)
    ]
    distance, verdict = min(near, default=(accuracy.NEAR + 1, UNREAD))
    return verdict if distance <= accuracy.NEAR else UNREAD


def main() -> int:
    parser = argparse.ArgumentParser(description="Precision of dllint on repositories whose findings were read.")
    parser.add_argument("readings", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--repositories", nargs="+", default=[], metavar="TEXT", help="only those with such a name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="time that a check may take")
    options = parser.parse_args()
    try:
        readings = read(options.readings)
    except (OSError, ValueError) as problem:
        print(f"precision: {problem}", file=sys.stderr)
        return 2
    counts: dict[tuple[str, str], Counter[str]] = {}
    unread, problems = [], []
    for repository in dict.fromkeys(one.repository for one in readings):
        if options.repositories and not any(text in repository for text in options.repositories):
            continue
        folder = accuracy.checkout_of(options.checkouts, repository)
        if folder is None:
            problems.append(f"not checked out: {repository}")
            continue
        result = accuracy.check(repository, folder, [], options.limit)
        if result.crash:
            problems.append(f"crash in {repository}: {result.crash}")
        for finding in result.findings:
            if finding.code != UNREADABLE:
                verdict = verdict_on(finding, repository, readings)
                for kind in (("rule", finding.code), ("severity", finding.severity), ("", "total")):
                    counts.setdefault(kind, Counter())[verdict] += 1
                if verdict == UNREAD:
                    unread.append(f"{finding.code}  {repository}/{finding.places[0][0]}:{finding.places[0][1]}")
    if options.json:
        table = {name: dict(counted) for (_, name), counted in counts.items()}
        print(json.dumps({"findings": table, "unread": unread, "problems": problems}, indent=2))
    else:
        columns = (*VERDICTS, UNREAD)
        print(f"{'':9}", *(f"{name:>9}" for name in columns))
        for (_, name), counted in sorted(counts.items(), key=lambda pair: (pair[0][0] or "~", pair[0][1])):
            print(f"{name:9}", *(f"{counted[column]:9}" for column in columns))
        print(*(f"unread  {one}" for one in unread), *problems, sep="\n")
    return 2 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
