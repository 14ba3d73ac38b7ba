"""DLL309: a process puts a tensor into a queue and ends, and the tensor can no longer be taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.wording import said
from dllint.facts.nodes import Attribute
from dllint.facts.schema import Call
from dllint.finding import Finding
from dllint.inference.values import Const, External, Instance
from dllint.libraries.index import canonical
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.arrivals import Hop
from dllint.project.launches import Launch
from dllint.project.same_process import Reached, reach
from dllint.rules.causes import Causes
from dllint.rules.memory.tensors_returned_by_pool import shares_by_files

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL309"
_QUEUES = frozenset(f"multiprocessing.{name}" for name in ("Queue", "JoinableQueue", "SimpleQueue"))
_PUTTING = ("put", "put_nowait")
_WAITING = frozenset({"wait", "recv", "sleep", "acquire", "barrier", "synchronize", "input", "pause"})
"""Last names of calls that can keep a process alive until another one says so."""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    if not any(project.world.called(name) for name in _PUTTING) or shares_by_files(project):
        return
    causes: Causes[tuple[Launch, Reached, int]] = Causes()
    for launch in project.launches.all():
        if not launch.api.endswith("Process") or "fresh" in launch.methods:
            continue
        starts = [Reached(one.function.file, one.function.scope, one.frame) for one in launch.targets]
        runs = list(reach(project.world, starts))
        for run in runs:
            for index in _puts(project, run):
                if not any(_may_wait(one, index if one is run else None) for one in runs):
                    causes.add((launch, run, index), (run.file.path, index))
    for (launch, run, index), *_ in causes:
        call = run.file.calls[index]
        start = launch.file.calls[launch.call]
        yield Finding(
            CODE,
            run.file.path,
            call.span,
            "main",
            {
                "queue": render(call.func.value, run.file) if isinstance(call.func, Attribute) else "",
                "place": project.where(launch.file, start.span),
            },
            trace=project.trace((Hop(launch.file, start.span, "this process puts it"), *run.hops())),
            statement=call.statement,
        )


def _puts(project: Project, run: Reached) -> Iterator[int]:
    """The calls of a function that put what surely is or holds a tensor into a queue of processes."""
    world = project.world
    for index in run.file.calls_of(run.scope):
        call = run.file.calls[index]
        if not isinstance(call.func, Attribute) or call.func.attr not in _PUTTING or not call.args:
            continue
        site = world.call_site(run.file, index, run.frame)
        values = [one for one in world.values.evaluate(call.args[0].value, site) if not isinstance(one, Const)]
        if not values or not all(project.tensors.holds(one) for one in values) or world.impossible(site):
            continue
        queues = world.values.evaluate(call.func.value, site)
        if queues and all(_is_queue(project, one) for one in queues):
            yield index


def _is_queue(project: Project, value: object) -> bool:
    return isinstance(value, Instance) and isinstance(value.of, External) and canonical(value.of.name) in _QUEUES


def _may_wait(run: Reached, put: int | None) -> bool:
    """Whether a function may stay until another process lets it go: it waits, takes from a queue, or never ends.

    In the function of the call `put`, what comes before that call, and not in a loop around it, has ended by then.
    """
    file = run.file
    calls = [file.calls[index] for index in file.calls_of(run.scope)]
    if any(file.facts.regions[index].kind == "while" for call in calls for index in file.regions(call.region)):
        return True
    return any(_waits(call) and (put is None or _may_follow(file, call, file.calls[put])) for call in calls)


def _waits(call: Call) -> bool:
    name = last_name(call.func)
    # `", ".join(names)` takes an argument, and waiting for a process or a queue takes none.
    return name in _WAITING or (name in ("join", "get") and not call.args)


def _may_follow(file: SourceFile, call: Call, put: Call) -> bool:
    """Whether a call may run after another one of the same function."""
    around = {index for index in file.regions(put.region) if file.facts.regions[index].kind == "for"}
    return call.span > put.span or not around.isdisjoint(file.regions(call.region))


def judge(case: Case) -> Judgement:
    """Did a reader of a queue fail because the writer was gone?"""
    for end in case.seen.ends:
        # The name of the file that is missing is not said here: it is a socket of the process that has ended.
        gone = end.exception == "FileNotFoundError" and end.text.endswith("No such file or directory")
        if gone or end.exception == "ConnectionRefusedError":
            return case.confirmed(said(end.exception, end.text))
    return case.inconclusive("the run did not record what was taken from the queue")
