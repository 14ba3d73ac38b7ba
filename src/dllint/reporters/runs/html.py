"""The report of a run as one page that opens offline: findings first, then what the processes did over time.

The charts are drawn by plotly.js (MIT), taken from the `plotly` package. It is embedded compressed, 2 MB instead of 5;
browsers decompress it themselves (DecompressionStream, supported everywhere since 2023). Only the charts need it:
findings, limits and tables are plain HTML.
"""

from __future__ import annotations

import base64
import functools
import gzip
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from dllint.finding import VERDICTS, Finding
from dllint.linter import Report
from dllint.reporters import Style
from dllint.reporters.edits import changed_lines
from dllint.reporters.frame import Paint, frame
from dllint.reporters.runs.text import by_verdict, ending_line
from dllint.reporters.source import shown_path, split_lines
from dllint.run_report import LoaderReport, ProcessReport, RunReport, Sample

MOST_POINTS = 2000
"""Maximum number of a loader's batches in its chart; of more, every second, third, … one is shown."""
MEASURES = ("uss", "pss", "rss")
"""Unique, proportional and resident set size: memory that only this process uses, its share, and all that it maps."""


IN_BYTES = (
    *(f"cgroup.{name}" for name in ("limit", "current", "anonymous", "shared", "file")),
    *("shm_total", "shm_free", "memory_total", "memory_available", "address_space", "slurm.memory"),
)
"""Limits measured in bytes."""


LIMITS = {
    "nofile_soft": "open files per process (ulimit -n)",
    "nofile_hard": "open files per process, at most",
    "max_map_count": "memory maps per process (vm.max_map_count)",
    "scm_max_fd": "file descriptors per message (SCM_MAX_FD)",
    "shm_total": "/dev/shm",
    "shm_free": "/dev/shm, free",
    "memory_total": "memory",
    "memory_available": "memory, available",
    "address_space": "address space per process (ulimit -v)",
    "processes": "processes and threads per user (ulimit -u)",
    "cores": "cores",
    "cores_allowed": "cores that the program may use",
    "cpu_quota": "cores' worth of time (control group)",
    "python": "Python",
    "torch": "PyTorch",
}
"""Names of the limits on the page."""
MOST_WRITTEN = 200
"""Maximum number of written files that are listed."""


_CODE = re.compile(r"`([^`]+)`")


class CannotDraw(RuntimeError):
    """A package needed for the page is missing. The message is one line."""


def require() -> None:
    """Check, before a long run, that the page can be created.

    Raises:
        CannotDraw: plotly or Jinja2 is missing.
    """
    try:
        import jinja2  # noqa: F401
        import plotly  # noqa: F401
    except ImportError as error:
        raise CannotDraw(
            f"--report needs the package {error.name}: pip install 'dllint[runtime]', or leave the option out"
        ) from None


def render(report: RunReport, style: Style) -> str:
    """Render the page.

    Raises:
        CannotDraw: plotly or Jinja2 is missing.
    """
    require()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dllint.reporters.runs", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["mib"] = mib
    environment.filters["marked"] = marked
    counts = Counter(finding.verdict or "not reached" for finding in report.findings)
    page: str = environment.get_template("page.html").render(
        report=report,
        command=shlex.join(report.command),
        ending=ending_line(report.exit),
        counts=[(verdict, counts[verdict]) for verdict in VERDICTS if counts[verdict]],
        findings=[_finding(finding, report, style) for finding in by_verdict(report.findings)],
        loaders=[_loader(loader, style) for loader in report.loaders],
        processes=[_process(process, style) for process in report.processes],
        limits=[(limit_name(name), value) for name, value in _rows(report.environment)],
        written=[(shown_path(one.path, style.directory), one) for one in report.written[:MOST_WRITTEN]],
        charts=chart_data(report, style),
        script=_packed_plotly(),
    )
    return page


@functools.lru_cache(maxsize=1)
def _packed_plotly() -> str:
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()


def marked(text: str) -> str:
    """Convert a sentence to HTML; text between backticks becomes code."""
    from markupsafe import Markup, escape

    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def limit_name(name: str) -> str:
    """Return the readable name of a limit: "cgroup.limit" becomes "control group: limit"."""
    group, _, inner = name.rpartition(".")
    whole = {"cgroup": "control group", "slurm": "SLURM", "environment": ""}.get(group, group)
    if group == "environment":
        return inner
    return LIMITS.get(name) or (f"{whole}: " if whole else "") + inner.replace("_", " ")


def mib(size: float | None) -> str:
    """Format bytes as MiB."""
    return "" if size is None else f"{size / (1 << 20):,.1f} MiB"


def chart_data(report: RunReport, style: Style) -> dict[str, Any]:
    """Return the data of the charts: the samples of each process and the waits of each loader."""
    return {
        "processes": [
            {
                "name": one[0].name,
                "process": [f"process {process.pid}" for process, _ in samples],
                "at": [round(sample.at_s, 3) for _, sample in samples],
                **{measure: [_in_mib(getattr(sample, measure)) for _, sample in samples] for measure in MEASURES},
                "threads": [sample.threads for _, sample in samples],
                "descriptors": [sample.descriptors for _, sample in samples],
            }
            for one in _successions(report.processes)
            for samples in [list(_one_after_another(one))]
        ],
        "loaders": [
            {
                "name": _where(loader.site.path, loader.site.span.line, style),
                "at": [round(one.at_s, 4) for one in waits],
                "wait": [round(one.wait_s * 1000, 3) for one in waits],
                "step": [None if one.step_s is None else round(one.step_s * 1000, 3) for one in waits],
            }
            for loader in report.loaders
            if (waits := loader.waits[:: 1 + len(loader.waits) // MOST_POINTS])
        ],
    }


def _successions(processes: Iterable[ProcessReport]) -> list[list[ProcessReport]]:
    """Group processes of the same name that ran one after another, such as a loader's workers in successive epochs."""
    found: list[list[ProcessReport]] = []
    for process in sorted((one for one in processes if one.samples), key=lambda one: one.samples[0].at_s):
        for line in found:
            if line[-1].name == process.name and line[-1].samples[-1].at_s <= process.samples[0].at_s:
                line.append(process)
                break
        else:
            found.append([process])
    return found


def _one_after_another(processes: list[ProcessReport]) -> Iterator[tuple[ProcessReport, Sample]]:
    """Yield the samples of successive processes, with a gap between processes."""
    for number, process in enumerate(processes):
        if number:
            yield process, Sample(process.samples[0].at_s)
        yield from ((process, sample) for sample in process.samples)


def _in_mib(size: int | None) -> float | None:
    return None if size is None else round(size / (1 << 20), 2)


def _where(path: str, line: int, style: Style) -> str:
    return f"{shown_path(path, style.directory)}:{line}"


def _finding(finding: Finding, report: RunReport, style: Style) -> dict[str, Any]:
    source = report.sources.get(finding.path)
    return {
        "one": finding,
        "slug": (finding.verdict or "not reached").replace(" ", "-"),
        "where": f"{_where(finding.path, finding.span.line, style)}:{finding.span.column}",
        "frame": "\n".join(frame([] if source is None else split_lines(source), finding.span, Paint(False))),
        "trace": [(_where(hop.path, hop.span.line, style), hop.message) for hop in finding.trace],
        "related": [(_where(place.path, place.span.line, style), place.message) for place in finding.related],
        "fixes": list(_fixes(finding, report, style)),
    }


def _fixes(finding: Finding, report: RunReport, style: Style) -> Iterator[tuple[str, str]]:
    """Yield the fixes of a finding: the title of each, and the changed lines of the first."""
    whole = Report((finding,), sources=report.sources)
    for number, fix in enumerate(one for one in finding.fixes if one.edits):
        kind = "" if fix.applicability == "safe" else f" ({fix.applicability})"
        changes = changed_lines(fix, whole) if number == 0 else []
        shown = (f"{shown_path(path, style.directory)}\n" + "\n".join(lines) for path, lines in changes)
        yield f"{fix.title}{kind}", "\n".join(shown)


def _loader(loader: LoaderReport, style: Style) -> dict[str, Any]:
    return {
        "one": loader,
        "where": f"{_where(loader.site.path, loader.site.span.line, style)}:{loader.site.span.column}",
        "arguments": ", ".join(f"{name}={value}" for name, value in loader.arguments.items()),
    }


def _process(process: ProcessReport, style: Style) -> dict[str, Any]:
    last = next((sample for sample in reversed(process.samples) if sample.rss is not None), None)
    return {
        "one": process,
        "where": _where(process.site.path, process.site.span.line, style) if process.site else "",
        "last": last,
    }


def _rows(environment: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Flatten nested values to rows with dotted names."""
    for name, value in environment.items():
        if isinstance(value, dict):
            yield from _rows(value, f"{prefix}{name}.")
        elif isinstance(value, (list, tuple)):
            yield f"{prefix}{name}", _listed(value)
        elif f"{prefix}{name}" in IN_BYTES and isinstance(value, int):
            yield f"{prefix}{name}", mib(value)
        else:
            yield f"{prefix}{name}", "" if value is None else str(value)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))
