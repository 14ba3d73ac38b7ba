"""Joins the findings of a check with the verdicts of an earlier run, for `dllint check --with-run run.json`.

Findings are matched by code and place. Paths are compared relative to the directory of the run and to that of the
check, so that a run in another checkout works too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dllint.finding import VERDICTS, Finding, Verdict
from dllint.linter import Report
from dllint.reading import REPORT_BYTES, CannotRead, read
from dllint.run_report import RUN_VERSION
from dllint.setting_values import ConfigError
from dllint.span import Span


@dataclass(frozen=True)
class Said:
    """The verdict of a run on one finding."""

    verdict: Verdict
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class _Run:
    """The verdicts of a run by code, absolute path and place; `directory` is where the run was started."""

    directory: str
    said: Mapping[tuple[str, str, Span], Said]


def with_run(report: Report, path: str) -> Report:
    """Return the report with the verdicts from the run report at `path`.

    Raises:
        ConfigError: the file cannot be read, is not the JSON report of a run, or has another version.
    """
    run = _read(path)
    elsewhere = {(code, os.path.relpath(at, run.directory), span): one for (code, at, span), one in run.said.items()}

    def told(finding: Finding) -> Finding:
        inside = os.path.relpath(finding.path)
        said = run.said.get((finding.code, finding.path, finding.span)) or elsewhere.get(
            (finding.code, inside, finding.span)
        )
        return finding if said is None else replace(finding, verdict=said.verdict, evidence=said.evidence)

    return replace(report, findings=tuple(told(finding) for finding in report.findings))


def _read(path: str) -> _Run:
    try:
        content = json.loads(read(path, REPORT_BYTES).decode("utf-8"))
    except CannotRead as error:
        raise ConfigError(f"--with-run: {path}: {error.reason}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"--with-run: {path} is no JSON ({error}); `dllint run --output-format json` writes it"
        ) from None
    if not isinstance(content, dict) or not {"version", "directory", "findings"} <= content.keys():
        raise ConfigError(f"--with-run: {path} is no report of `dllint run --output-format json`")
    if content["version"] != RUN_VERSION:
        raise ConfigError(
            f"--with-run: {path} has version {content['version']!r}, and this dllint reads version {RUN_VERSION}: "
            "run the program again"
        )
    try:
        return _Run(os.fspath(content["directory"]), dict(_findings(content["findings"])))
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"--with-run: {path} holds a finding that is not as `dllint run` writes it: {type(error).__name__}: {error}"
        ) from None


def _findings(listed: list[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str, Span], Said]]:
    for one in listed:
        start, end = one["location"], one["end_location"]
        span = Span(int(start["row"]), int(start["column"]), int(end["row"]), int(end["column"]))
        verdict = one["verdict"]
        if verdict not in VERDICTS:
            raise ValueError(f"no verdict {verdict!r}")
        yield (str(one["code"]), str(one["filename"]), span), Said(verdict, tuple(map(str, one["evidence"])))
