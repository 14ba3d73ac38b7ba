"""DLL305: a large list, array or dataset is pickled to each process that is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.thresholds import MIB
from dllint.finding import Finding, Place
from dllint.project import Project
from dllint.project.array_sizes import mib
from dllint.project.process_starts import Starting
from dllint.rules.causes import Causes
from dllint.rules.memory.process_arguments import LargeArgument, ProcessArguments

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL305"
_RECORDS = {"records": "array_file", "dataset_records": "dataset_file"}
"""The message keys for objects that keep the records of a whole file."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    causes: Causes[Finding] = Causes()
    for launch in project.launches.all():
        methods = [one for one in project.ask(Starting).methods(launch) if one.name != "fork" and one.shown]
        for argument in project.ask(ProcessArguments).large(launch) if methods else ():
            message = _message(options, argument)
            if message is None:
                continue
            values = {"what": argument.what, "method": methods[0].name}
            if argument.size is not None:
                values["size"] = mib(argument.size)
            launching = launch.file.calls[launch.call].span
            related = [Place(launch.file.path, launching, f"this starts the process by {methods[0].name}")]
            if argument.made is not None and argument.made.span != argument.span:
                related.append(Place(argument.made.file.path, argument.made.span, "made here"))
            finding = Finding(
                CODE,
                argument.file.path,
                argument.span,
                message,
                values,
                start_methods=tuple(dict.fromkeys(one.name for one in methods)),
                related=tuple(related),
                statement=argument.statement,
            )
            causes.add(finding, (argument.file.path, argument.span))
    yield from (found[0] for found in causes)


def _message(options: Mapping[str, Any], argument: LargeArgument) -> str | None:
    """The message key for the argument; None if it is, or may be, small."""
    if argument.kind == "list":
        small = argument.size is not None and argument.size < MIB
        return None if small else "list"
    if argument.kind in _RECORDS:
        return _RECORDS[argument.kind]
    if argument.size is None:
        from_file = argument.made is not None and argument.made.source == "file"
        whole = "dataset_file" if argument.kind == "dataset" else "array_file"
        return whole if from_file else None
    if argument.size * (argument.processes or 1) < options["copies-mib"] * MIB:
        return None
    return argument.kind


def judge(case: Case) -> Judgement:
    """How was the process started, and how long did that take?"""
    launched = case.seen.launched_at(case.finding)
    if not launched:
        return case.inconclusive("the run started no process from there")
    if all(one.method == "fork" for one in launched):
        return case.refuted("the process was forked, so nothing is sent")
    slowest = max(launched, key=lambda one: one.seconds or 0.0)
    took = f"; sending it all took {slowest.seconds:.2f} s" if slowest.seconds else ""
    return case.inconclusive(f"the process started by {slowest.method}{took}; the run did not measure what it received")
