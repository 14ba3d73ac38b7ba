"""The consequences of an inherited start method for a dataset, and the rules that report them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.finding import Place
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    External,
    Function,
    Instance,
    Parsed,
    Pattern,
    Value,
)
from dllint.libraries.index import DATASET_BASES, canonical
from dllint.libraries.torch.tensors import DESCRIPTORS_IN_A_MESSAGE, OPEN_FILES
from dllint.project.handles import Handles
from dllint.project.loaders import Loader
from dllint.project.regimes import Regime
from dllint.rules.pickling.local_objects import LocalObjects
from dllint.rules.pickling.unpicklable_values import refused_by_pickle

if TYPE_CHECKING:
    from dllint.project.model import Project


class Consequence(NamedTuple):
    """A consequence of not forking. `breaks`: the workers do not start; otherwise each receives a copy. `code` is
    the rule that reports the place."""

    code: str
    place: Place
    breaks: bool


def consequences(project: Project, loader: Loader, regime: Regime) -> Iterator[Consequence]:
    """The consequences for the dataset if the workers are not forked, the worst first.

    Only objects of programs in which the start method is in force count.
    """
    for one in project.ask(LocalObjects).of(loader):
        if regime in project.regimes(loader, one.files, one.holder):
            yield Consequence(one.code, one.place, True)
    for refused in refused_by_pickle(project, loader, regime):
        if regime in project.regimes(loader, refused.files, refused.holder):
            yield Consequence(refused.code, refused.place, True)
    most = DESCRIPTORS_IN_A_MESSAGE if regime.method == "forkserver" else OPEN_FILES
    for value in project.dataset_objects(loader):
        assert isinstance(value.of, Class)
        if regime not in project.regimes(loader, project.programs.behind(value), value.of.name):
            continue
        for many in project.tensors.many(value):
            if many.count is not None and many.count > most:
                words = f"{many.count} separate tensors"
                place = Place(many.kept.file.path, many.kept.span, words)
                yield Consequence("DLL303", place, True)
    for copied in project.ask(Handles).copied(loader):
        beside = {copied.kept.file.path} if copied.kept is not None else set()
        if copied.value.file is not None and regime in project.regimes(loader, beside, copied.label):
            place = Place(copied.value.file.path, copied.call.span, f"pickling copies {copied.opener.what} in full")
            yield Consequence("DLL404", place, False)


def sends_little(project: Project, loader: Loader) -> bool:
    """Whether a loader provably sends little to each worker: its datasets keep only numbers, paths and settings."""
    values = loader.datasets()
    return bool(values) and all(_is_small(project, value, 3) for value in values)


def _is_small(project: Project, value: Value, depth: int) -> bool:
    if isinstance(value, (Const, Pattern, Function, Class, Parsed)):
        return not (isinstance(value, Function) and value.receiver is not None)
    if not isinstance(value, Instance) or not depth:
        return False
    if isinstance(value.of, External):
        return value.of.name in _SMALL
    outside = {canonical(name) for name in project.world.hierarchy.externals(value.of)}
    if outside - DATASET_BASES - {"object", "abc.ABC", "typing.Generic"}:
        return False
    dropped = project.datasets.dropped(value)
    kept = [one for one in project.datasets.kept(value) if one.initial and one.attr not in dropped]
    return all(_is_small(project, part, depth - 1) for one in kept for part in one.values or (UNKNOWN,))


_SMALL = frozenset({"pathlib.Path", "os.PathLike", "torch.device", "torch.Size"})
