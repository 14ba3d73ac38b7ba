"""GitLab's code quality report (docs.gitlab.com, "Code Quality", "Code Quality report format")."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dllint.reporters import Style
from dllint.reporters.cells import cell_words, file_span
from dllint.reporters.fingerprints import fingerprints
from dllint.reporters.source import file_path

if TYPE_CHECKING:
    from dllint.linter import Report

SEVERITY = {"error": "critical", "warning": "major", "info": "info"}


def render(report: Report, style: Style) -> str:
    issues = [
        {
            "type": "issue",
            "check_name": finding.code,
            "description": f"{finding.code} {finding.name}: {cell_words(finding)}{finding.text}",
            "categories": ["Bug Risk"],
            "severity": SEVERITY[finding.severity or "warning"],
            "fingerprint": fingerprint,
            "location": {
                "path": file_path(finding.path, style.directory),
                "lines": {"begin": (span := file_span(report, finding)).line, "end": span.end_line},
            },
        }
        for finding, fingerprint in zip(
            report.findings, fingerprints(report.findings, report, style.directory), strict=True
        )
    ]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"
