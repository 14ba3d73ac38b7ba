"""The order of findings for people: by file, the worst first, and a cause before its consequence."""

from __future__ import annotations

from collections.abc import Sequence

from dllint.finding import SEVERITIES, Finding


def by_file(findings: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    """Return the findings of each file by place; files with errors first, and causes before consequences."""
    files: dict[str, list[Finding]] = {}
    for finding in findings:
        files.setdefault(finding.path, []).append(finding)
    places = {(one.path, one.span.line): one for one in findings}

    def follows(finding: Finding) -> bool:
        """Whether another finding is the cause of this one: one of its related places is reported itself."""
        causes = (places.get((place.path, place.span.line)) for place in finding.related)
        return any(one is not None and one.path != finding.path and one.code != finding.code for one in causes)

    def rank(path: str) -> tuple[int, bool, str]:
        worst = max(SEVERITIES.index(one.severity or "warning") for one in files[path])
        return -worst, all(map(follows, files[path])), path

    return [(path, files[path]) for path in sorted(files, key=rank)]
