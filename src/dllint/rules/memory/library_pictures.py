"""Datasets of libraries that keep all their pictures in one array, which workers without fork get copies of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dllint.evidence.thresholds import MIB
from dllint.finding import Finding
from dllint.inference.values import Class, Const, External, Instance, Value
from dllint.libraries.index import HELD_PICTURES, canonical
from dllint.project.array_sizes import mib
from dllint.project.loaders import Loader
from dllint.rules.causes import Use

if TYPE_CHECKING:
    from dllint.project.model import Project


class Pictures(NamedTuple):
    """A dataset of a library, and the bytes of the array that it keeps."""

    made: Instance
    name: str
    size: int


def copied_pictures(project: Project, options: Mapping[str, Any], code: str) -> Iterator[Use]:
    """The copies that the workers of each loader get, where the project chooses a start method without fork."""
    for loader in project.loaders:
        regimes = [one for one in project.regimes(loader) if one.shown and one.method != "fork"]
        for regime in regimes[:1]:
            for one in dict.fromkeys(_held(project, loader)):
                assert one.made.file is not None
                if one.size * (regime.workers.count or 1) < options["copies-mib"] * MIB:
                    continue
                call = one.made.file.calls[one.made.call]
                values = {"kept": one.name, "method": regime.described, "size": mib(one.size), "remedy": "pictures"}
                if regime.workers.count:
                    values["total"] = mib(one.size * regime.workers.count)
                    values["workers"] = regime.workers.described
                finding = Finding(
                    code,
                    one.made.file.path,
                    call.span,
                    "pictures" if regime.workers.count else "pictures_each",
                    values,
                    severity=regime.weighed("warning"),
                    start_methods=(regime.method,),
                    trace=project.chain(regime.arrival),
                    statement=call.statement,
                )
                yield Use(finding, project.loader_place(loader), one.size)


def _held(project: Project, loader: Loader) -> Iterator[Pictures]:
    values = [*project.served(loader), *(piece.value for _, piece in project.dataset_pieces(loader))]
    for value in values:
        for one in project.world.mappings.flattened(value):
            name = _class_of(project, one)
            sizes = HELD_PICTURES.get(name)
            if sizes is not None and isinstance(one, Instance) and one.file is not None and one.call >= 0:
                yield Pictures(one, name.rpartition(".")[2], sizes[_split(project, one, sizes)])


def _class_of(project: Project, value: Value) -> str:
    """The full name of a library's class, also for a class of the project that takes over its constructor."""
    of = value.of if isinstance(value, Instance) else None
    if isinstance(of, Class):
        outside = project.world.hierarchy.externals(of)
        return canonical(outside[0]) if outside and project.world.hierarchy.method(of, "__init__") is None else ""
    return canonical(of.name) if isinstance(of, External) else ""


def _split(project: Project, value: Instance, sizes: Mapping[str, int]) -> str:
    """The split that a dataset is made for, its second argument; the first one where it is not known."""
    actuals = project.world.made_with(value)
    given = actuals.keywords.get("split") or actuals.keywords.get("train")
    given = given or (actuals.positional[1] if len(actuals.positional) > 1 else None)
    for one in project.world.values.passed(given) if given is not None else ():
        if isinstance(one, Const):
            named = one.value if isinstance(one.value, str) else "train" if one.value else "test"
            if named in sizes:
                return named
    return next(iter(sizes))
