"""One JSON object per finding, each on one line, as in the `json` format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dllint.reporters import Style
from dllint.reporters.json import finding_object

if TYPE_CHECKING:
    from dllint.linter import Report


def render(report: Report, style: Style) -> str:
    objects = (finding_object(one, report) for one in report.findings)
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects)
