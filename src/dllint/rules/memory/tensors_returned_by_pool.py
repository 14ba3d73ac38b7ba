"""DLL308: a pool returns tensors, each of which keeps a file descriptor open in the process that collects them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dllint.evidence.thresholds import FAR, NEAR
from dllint.facts.nodes import CallRef
from dllint.finding import Finding, Place
from dllint.inference.values import Const, Display, Function, Unknown, Value
from dllint.libraries.index import AROUND_ITERABLES
from dllint.libraries.torch.tensors import OPEN_FILES
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project import Project
from dllint.project.launches import Launch
from dllint.rules.causes import Causes

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL308"
COLLECTING = ("map", "starmap", "map_async", "starmap_async")
"""Methods of a pool that return all results at once."""
ONE_BY_ONE = ("imap", "imap_unordered")
"""Methods that return an iterator of results. `list(…)` around the call keeps all of them."""
_KEEPING = frozenset({"list", "tuple", "sorted"})


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    if shares_by_files(project):
        return
    causes: Causes[tuple[Launch, Function]] = Causes()
    for launch in project.launches.all():
        pool, _, method = launch.api.rpartition("().")
        collected = method in COLLECTING or (method in ONE_BY_ONE and _listed(launch.file, launch.call))
        if not pool.endswith(".Pool") or not collected or _few(project, launch):
            continue
        for target in launch.targets:
            values = project.world.values.returned(target.function, target.frame)
            if _tensors(project, values):
                causes.add((launch, target.function), (launch.file.path, launch.call))
    for (launch, function), *_ in causes:
        call = launch.file.calls[launch.call]
        yield Finding(
            CODE,
            launch.file.path,
            call.span,
            "main",
            {"call": render(call.func, launch.file), "function": function.file.scopes[function.scope].name},
            related=(
                Place(
                    function.file.path, function.file.scopes[function.scope].header, "this returns a tensor per call"
                ),
            ),
            statement=call.statement,
        )


def _listed(file: SourceFile, index: int) -> bool:
    """Whether the result of a call is collected into a list, also through a wrapper such as a progress bar."""
    wanted = CallRef(index)
    for around in file.calls_of(file.calls[index].scope):
        call = file.calls[around]
        if not any(argument.value == wanted for argument in call.args):
            continue
        last = last_name(call.func)
        if last in _KEEPING or (last in AROUND_ITERABLES and _listed(file, around)):
            return True
    return False


def _tensors(project: Project, values: tuple[Value, ...]) -> bool:
    """Whether each result provably holds a tensor. A part of a tensor sends the whole storage.

    A list without a known element is passed over: many functions take one object or a list, and return the same.
    """
    elements = project.world.mappings.elements
    made = [
        value
        for value in values
        if not isinstance(value, Const)
        and not (isinstance(value, Display) and all(isinstance(one, Unknown) for one in elements(value)))
    ]
    return bool(made) and all(project.tensors.holds(value) for value in made)


def _few(project: Project, launch: Launch) -> bool:
    """Whether the pool provably has few tasks."""
    given = project.evaluate_argument(launch.file, launch.call, 1, "iterable", launch.frame)
    length = project.world.mappings.length(given) if given else None
    return length is not None and length < OPEN_FILES // 2


def shares_by_files(project: Project) -> bool:
    """Whether any program of the project lets tensors be shared without file descriptors."""
    for file, index, _ in project.external_calls("set_sharing_strategy", "torch.multiprocessing"):
        values = project.evaluate_argument(file, index, 0, "new_strategy")
        if not values or any(not isinstance(one, Const) or one.value != "file_descriptor" for one in values):
            return True
    return False


def judge(case: Case) -> Judgement:
    """Did a pool run out of descriptors?"""
    for end in case.seen.died_at(case.finding):
        if any(sign in f"{end.exception}: {end.text}" for sign in ("ancdata", "Too many open files")):
            return case.confirmed(f"{end.exception}: {end.text}")
    open_files = [
        sample.fds
        for pid in case.seen.executed_in(case.finding)
        for sample in case.seen.samples_of(pid)
        if sample.fds is not None
    ]
    if not open_files:
        return case.inconclusive("the run did not count the descriptors of the process that uses the pool")
    both = f"the process had up to {max(open_files):,} file descriptors open, and {OPEN_FILES:,} are the usual limit"
    if max(open_files) >= NEAR * OPEN_FILES:
        return case.confirmed(both)
    return case.refuted(both) if max(open_files) < FAR * OPEN_FILES else case.inconclusive(both)
