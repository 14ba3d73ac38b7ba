"""Whether what a run recorded is at the place of a finding."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dllint.evidence.definitions import class_names, classes_around, function_at, same_file
from dllint.finding import Finding
from dllint.observation import Site
from dllint.span import Span


def is_at(site: Site | None, path: str, span: Span) -> bool:
    """Whether a recorded call is at a place: by its columns, or by its line if it has none."""
    if site is None or not same_file(site.path, path):
        return False
    return site.span == span if site.span is not None else site.line == span.line


def touches(site: Site | None, finding: Finding) -> bool:
    """Whether a recorded place lies on the lines of the finding."""
    if site is None or not same_file(site.path, finding.path):
        return False
    whole = finding.statement or finding.span
    return min(whole.line, finding.span.line) <= site.line <= max(whole.end_line, finding.span.end_line)


def is_module(path: str, names: Iterable[str]) -> bool:
    """Whether a path can be one of the modules, by its end: "…/pkg/data.py" may be `data` and `pkg.data`."""
    words = os.path.splitext(path)[0].split(os.sep)
    if words[-1] in ("__init__", "__main__"):
        words.pop()
    whole = "." + ".".join(words)
    return any(name and whole.endswith(f".{name}") for name in names)


def of_another_class(dataset: str, finding: Finding) -> bool:
    """Whether the class of a dataset is another one in the same file than the one that contains the finding.

    One call often creates the loaders of several datasets. Subclasses of the class, and classes that mention it, such
    as wrappers, are not counted as other classes.
    """
    holding = set(classes_around(finding.path, finding.span))
    name = dataset.rpartition(".")[2]
    bodies = class_names(finding.path)
    if not holding or name not in bodies or name in holding:
        return False
    seen, waiting = set[str](), [name]
    while waiting:
        one = waiting.pop()
        if one in holding:
            return False
        if one not in seen:
            seen.add(one)
            waiting += bodies.get(one, ())
    return True


def follows(site: Site | None, finding: Finding) -> bool:
    """Whether a recorded call follows the finding's place in the same function, or both are at the top level."""
    if site is None or not same_file(site.path, finding.path) or site.line < finding.span.line:
        return False
    return function_at(finding.path, site.line) == function_at(finding.path, finding.span.line)
