"""The calls that start processes or set the start method, described for a trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dllint.finding import Place
from dllint.inference.values import External, Instance
from dllint.libraries.index import LAUNCHERS, canonical
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.launches import Launch
from dllint.span import Span
from dllint.tracing.statements import shares_lines


@dataclass(frozen=True)
class LaunchTrace:
    """A call that starts processes, or sets the start method. `runs` names the functions that run under `methods`;
    `note` says what could not be followed."""

    call: str
    place: Place
    function: str
    methods: tuple[str, ...]
    runs: tuple[str, ...] = ()
    note: str = ""


def launches(project: Project, file: SourceFile, statement: Span | None) -> Iterator[LaunchTrace]:
    """Yield the launches and settings of the start method in a statement, or in the whole file."""
    by_call: dict[int, list[Launch]] = {}
    for launch in project.launches.all():
        if launch.file is file:
            by_call.setdefault(launch.call, []).append(launch)
    found: dict[int, LaunchTrace] = {}
    for index, group in by_call.items():
        names = [target.function.file.qualified_name(target.function.scope) for one in group for target in one.targets]
        methods = dict.fromkeys(method for one in group for method in one.methods)
        found[index] = _launch(project, file, index, tuple(methods), tuple(dict.fromkeys(names)))
    for setting in project.methods.set_calls():
        if setting.file is file:
            note = "" if setting.methods else "it sets an unknown start method"
            runs = ("the rest of the program",)
            found[setting.call] = _launch(project, file, setting.call, setting.methods, runs, note)
    for where, index in unfollowed(project):
        if where is file and index not in found:
            found[index] = _launch(project, file, index, (), (), "what it starts is unknown")
    for index, one in sorted(found.items()):
        if statement is None or shares_lines(statement, file.calls[index].span):
            yield one


def _launch(
    project: Project,
    file: SourceFile,
    index: int,
    methods: tuple[str, ...],
    runs: tuple[str, ...],
    note: str = "",
) -> LaunchTrace:
    call = file.calls[index]
    text = render(call.func, file)
    return LaunchTrace(text, Place(file.path, call.span, text), file.qualified_name(call.scope), methods, runs, note)


def unfollowed(project: Project) -> list[tuple[SourceFile, int]]:
    """Return the calls of launchers whose target is unknown."""
    known = {(launch.file.path, launch.call) for launch in project.launches.all()}
    found = []
    for name in sorted({one.rsplit(".", 1)[-1] for one in LAUNCHERS if not one.endswith("()")}):
        for file, index in project.world.called(name):
            if (file.path, index) in known:
                continue
            site = project.world.call_site(file, index, None)
            for value in project.world.values.evaluate(file.calls[index].func, site):
                of = value.of if isinstance(value, Instance) else value
                if isinstance(of, External) and canonical(of.name) in LAUNCHERS:
                    found.append((file, index))
                    break
    return found
