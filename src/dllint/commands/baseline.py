"""Baselines: known findings, which are not reported again. A finding is identified by code, file and source line.

Line numbers are not compared, so that a baseline stays valid after edits elsewhere in the file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace

from dllint.commands.output import write
from dllint.finding import Finding
from dllint.linter import Report
from dllint.reading import REPORT_BYTES, CannotRead, read
from dllint.reporters.source import shown_path, split_lines
from dllint.setting_values import ConfigError

VERSION = 1
ALWAYS_REPORTED = "DLL001"


def without_known(report: Report, path: str) -> Report:
    """Return the report without the findings that the baseline lists.

    Raises:
        ConfigError: the baseline is missing, unreadable, or not a baseline.
    """
    directory = os.path.dirname(os.path.abspath(path))
    known = _read(path)
    kept, listed = [], []
    for finding in report.findings:
        key = _key(finding, report, directory)
        if known[key] > 0:
            known[key] -= 1
            listed.append(finding)
        else:
            kept.append(finding)
    return replace(report, findings=tuple(kept), known=tuple(listed))


def _key(finding: Finding, report: Report, directory: str) -> tuple[str, str, str]:
    lines = split_lines(report.sources.get(finding.path, ""))
    line = lines[finding.span.line - 1].strip() if finding.span.line <= len(lines) else ""
    return finding.code, shown_path(finding.path, directory).replace(os.sep, "/"), line


def write_baseline(report: Report, path: str) -> None:
    """Write the findings of the report to a file, replacing its content.

    Raises:
        ConfigError: the file cannot be written.
    """
    directory = os.path.dirname(os.path.abspath(path))
    counts = Counter(_key(one, report, directory) for one in report.findings if one.code != ALWAYS_REPORTED)
    findings = [
        {"code": code, "filename": name, "source": source, "count": count}
        for (code, name, source), count in sorted(counts.items())
    ]
    write(
        json.dumps({"version": VERSION, "findings": findings}, indent=2, ensure_ascii=False) + "\n",
        "--write-baseline",
        path,
    )


def _read(path: str) -> Counter[tuple[str, str, str]]:
    try:
        document = json.loads(read(path, REPORT_BYTES).decode("utf-8"))
        if document["version"] != VERSION:
            raise ConfigError(f"--baseline: {path} has version {document['version']}, not {VERSION}")
        return Counter(
            {
                (str(one["code"]), str(one["filename"]), str(one["source"])): int(one["count"])
                for one in document["findings"]
            }
        )
    except CannotRead as error:
        if not os.path.lexists(path):
            raise ConfigError(f"--baseline: {path} does not exist (`--write-baseline {path}` writes it)") from None
        raise ConfigError(f"--baseline: {path} cannot be read: {error.reason}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"--baseline: {path} is no baseline") from None
