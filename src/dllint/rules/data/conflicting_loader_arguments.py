"""DLL609: a DataLoader gets arguments that exclude each other, so its constructor raises ValueError."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Constant
from dllint.finding import Edit, Finding, Fix, Place, RemoveArgument
from dllint.inference.entries import Found
from dllint.inference.values import Const, Display, External, Frame, Instance, Value
from dllint.libraries.index import ITERABLE_BASES, canonical
from dllint.project import Project
from dllint.project.loaders import Loader
from dllint.rules.data.worker_options import WorkerOptions

if TYPE_CHECKING:
    from dllint.evidence.judgement import Case, Judgement

CODE = "DLL609"


def _is_none(value: object) -> bool:
    return value is None


def _is_not_one(value: object) -> bool:
    return value != 1


_BATCHING: dict[str, Callable[[object], bool]] = {"batch_size": _is_not_one, "shuffle": bool, "drop_last": bool}
"""The arguments besides `sampler` that exclude `batch_sampler`, with a test of whether a value counts as given
(torch/utils/data/dataloader.py)."""

_SOMETIMES = {"shuffle": "shuffle_sometimes", "batch_sampler": "batch_sampler_sometimes"}


@dataclass(frozen=True)
class Conflict:
    """Arguments that exclude each other: the constructor accepts only one of them.

    Attributes:
        kind: the message: "shuffle", "batch_sampler", "drop_last" or "iterable".
        excluded: the arguments to remove.
        sure: whether every path to the loader passes them all, or only some paths.
        dataset: the class of the iterable dataset.
    """

    kind: str
    excluded: tuple[str, ...]
    sure: bool = True
    dataset: str = ""


def check(project: Project, options: Mapping[str, Any]) -> Iterator[Finding]:
    calls = WorkerOptions(project)
    for loader in project.loaders:
        call = loader.file.calls[loader.call]
        # Loaders of other packages may use these arguments in another sense.
        if loader.api.names or loader.api.dataset != "dataset" or loader.api.copied:
            continue
        if calls.expected_to_fail(loader.file, call.region):
            continue
        found = [
            (conflict, caller)
            for frame, caller in calls.activations(loader)
            if not project.world.impossible(project.world.call_site(loader.file, loader.call, frame))
            and (conflict := _conflict(project, loader, frame)) is not None
        ]
        if found:
            conflict, caller = min(found, key=lambda one: not one[0].sure)
            always = caller is None or conflict == _conflict(project, loader, None)
            yield _finding(loader, conflict, caller, always)


def _conflict(project: Project, loader: Loader, frame: Frame | None) -> Conflict | None:
    sampler, batch_sampler = (_given(loader.argument(name, frame)) for name in ("sampler", "batch_sampler"))
    shuffle = _always(loader.argument("shuffle", frame), bool)
    names = {_iterable(project, value) for value in loader.datasets(frame)}
    if names and "" not in names:
        states = {"shuffle": shuffle, "sampler": sampler == "always", "batch_sampler": batch_sampler == "always"}
        excluded = tuple(name for name, given in states.items() if given)
        return Conflict("iterable", excluded, dataset="` or `".join(sorted(names))) if excluded else None
    possible = ("always",) if _conditional(loader) else ("always", "sometimes")
    if shuffle and sampler in possible:
        return Conflict("shuffle", ("shuffle",), sampler == "always")
    if batch_sampler in possible:
        beside = tuple(name for name, differs in _BATCHING.items() if _always(loader.argument(name, frame), differs))
        beside += ("sampler",) if sampler == "always" else ()
        return Conflict("batch_sampler", beside, batch_sampler == "always") if beside else None
    if _always(loader.argument("batch_size", frame), _is_none) and _always(loader.argument("drop_last", frame), bool):
        return Conflict("drop_last", ("drop_last",))
    return None


def _conditional(loader: Loader) -> bool:
    """Whether the call is in a conditional branch, whose condition may concern an argument that only some paths
    pass."""
    file = loader.file
    regions = file.regions(file.calls[loader.call].region)
    return any(file.facts.regions[index].kind in ("if", "case", "handler") for index in regions)


def _given(found: Found) -> str:
    """Whether a sampler is given: "always", "sometimes" or "never". An unknown value counts as not given."""
    given = [value for value in found.values if _is_object(value)]
    missing = [value for value in found.values if isinstance(value, Const) and value.value is None]
    if not given or len(given) + len(missing) < len(found.values):
        return "never"
    return "sometimes" if missing or found.absent else "always"


def _is_object(value: Value) -> bool:
    """Whether a value is provably not None: a list or an object of a class. The result of an external function may
    be None."""
    if isinstance(value, Instance) and isinstance(value.of, External):
        return "()" not in value.of.name and value.of.name.rpartition(".")[2][:1].isupper()
    return isinstance(value, (Instance, Display))


def _always(found: Found, test: Callable[[object], bool]) -> bool:
    """Whether an argument is provably given, and all its values are constants that pass a test."""
    return (
        not found.absent
        and bool(found.values)
        and all(isinstance(value, Const) and test(value.value) for value in found.values)
    )


def _iterable(project: Project, value: Value) -> str:
    """The class name of a dataset that the loader iterates without passing indices; "" for any other value."""
    if not isinstance(value, Instance):
        return ""
    if isinstance(value.of, External):
        return "ChainDataset" if canonical(value.of.name) == "torch.utils.data.ChainDataset" else ""
    bases = {canonical(name) for name in project.world.hierarchy.externals(value.of)}
    piped = any(name.rpartition(".")[2] == "IterDataPipe" for name in bases)
    return value.of.name if bases & ITERABLE_BASES and not piped else ""


def _finding(loader: Loader, conflict: Conflict, caller: Place | None, always: bool) -> Finding:
    """The finding; `always` tells whether the arguments exclude each other for every caller."""
    names = "` and `".join(conflict.excluded)
    message = conflict.kind if conflict.sure else _SOMETIMES[conflict.kind]
    arguments = loader.file.calls[loader.call].args
    written = {one.keyword for one in arguments if caller is None or isinstance(one.value, Constant)}
    fixes: tuple[Fix, ...] = ()
    if conflict.sure and always and set(conflict.excluded) <= written:
        edits: tuple[Edit, ...] = tuple(
            RemoveArgument(loader.file.path, loader.span, name) for name in conflict.excluded
        )
        fixes = (Fix(f"Remove `{names}`", "unsafe", edits),)
    return Finding(
        CODE,
        loader.file.path,
        loader.span,
        message,
        {"name": loader.name, "excluded": names, "dataset": conflict.dataset},
        severity="error" if conflict.sure else "warning",
        related=(caller,) if caller is not None else (),
        fixes=fixes,
        statement=loader.file.calls[loader.call].statement,
    )


def judge(case: Case) -> Judgement:
    """Did the constructor reject the arguments?"""
    for run in case.runs:
        if run.loader.error:
            return case.confirmed(f"the constructor raised {run.loader.error}")
    if case.died_here is not None:
        return case.confirmed(case.died_here)
    if not case.runs:
        return case.not_reached("this loader was never built")
    return case.refuted("it was built without an error")
