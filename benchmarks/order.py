"""Whether findings depend on the order of questions: `python benchmarks/order.py TREE [TREE ...] [--alone]`.

Links each tree once. From there it runs the rules in order, in reverse order, in two orders by chance and, with
`--alone`, each rule alone, every time in a process of its own. Each rule must find the same every time. Prints a line
for every finding that does not, and a summary. Exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from dllint import config, linter, registry
from dllint.linter.frames import FRAMES
from dllint.project.model import Project
from dllint.registry import Rule

Found = dict[str, set[str]]
"""Findings as JSON, by the code of their rule."""


def found_in_order(project: Project, rules: Iterable[Rule]) -> Found:
    """What rules find that run in this order, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reading)
            found = {}
            for rule in rules:
                told = _told(project, rule)
                found[rule.code] = sorted(told)
            with os.fdopen(writing, "w") as pipe:
                json.dump(found, pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return {code: set(told) for code, told in json.loads(text).items()}


def _told(project: Project, rule: Rule) -> set[str]:
    assert rule.check is not None
    options = rule.options(project.settings.rules.get(rule.code, {}))
    return {json.dumps(asdict(one), default=str, sort_keys=True) for one in rule.check(project, options)}


def orders(rules: list[Rule], alone: bool) -> Mapping[str, list[Rule]]:
    """The orders to compare with the usual one, by name."""
    found = {"reversed": rules[::-1]}
    for seed in (1, 2):
        found[f"by chance, {seed}"] = random.Random(seed).sample(rules, len(rules))
    return {**found, **{f"{rule.code} alone": [rule] for rule in rules if alone}}


def differences(project: Project, alone: bool) -> list[str]:
    """A line for each finding that another order finds or loses."""
    rules = [rule for rule in registry.rules() if rule.check is not None]
    usual = found_in_order(project, rules)
    lines = []
    for name, order in orders(rules, alone).items():
        for code, told in found_in_order(project, order).items():
            for sign, some in (("-", usual[code] - told), ("+", told - usual[code])):
                lines += [f"{name}: {sign} {_shown(one)}" for one in sorted(some)]
    return lines


def _shown(told: str) -> str:
    finding = json.loads(told)
    span = finding["span"]
    line = span["line"] if isinstance(span, dict) else span[0]
    return f"{finding['code']} {finding['path']}:{line} {finding['message']} {finding['values']}"[:400]


def linked(tree: str) -> Project:
    """The project of a tree, as a check links it before any rule asks."""
    found: list[Project] = []
    settings = replace(config.load([tree]), select=(linter.UNREADABLE,))
    linter.check([tree], settings, linter.Execution(jobs=1, visit=found.append))
    return found[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--alone", action="store_true")
    given = parser.parse_args()
    sys.setrecursionlimit(FRAMES)
    total = 0
    for tree in given.trees:
        lines = differences(linked(tree), given.alone)
        total += len(lines)
        print(f"{Path(tree).resolve().name}: {len(lines)} differences", *lines, sep="\n  ", flush=True)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
