"""Datasets that no loader of the project is seen to read, each with a loader whose dataset is not fully known.

A library's training code makes a loader for whatever dataset its user passes, and a configuration may name any class of
a package. Then the project defines the datasets, and no call in it shows which of them the loader gets. What is wrong
with such a dataset is told as info, and says what it assumes.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef
from dllint.inference import limits
from dllint.inference.values import CHOSEN, UNKNOWN, Class, Display, External, Instance, Unknown, Value
from dllint.libraries.contents import held_by
from dllint.libraries.index import WRAPPERS, canonical
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader, written

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.datasets import Datasets

_BY_INDEX = ("__getitem__", "__getitems__")


def assumed_loaders(world: World, datasets: Datasets, loaders: Sequence[Loader]) -> Iterator[Loader]:
    """Yield those of a project's loaders that may read datasets which none is seen to read, with these as their
    datasets."""
    open_loaders = [loader for loader in loaders if _is_open(loader)]
    if not open_loaders:
        return
    paired: dict[tuple[str, int], list[Instance]] = {}
    for cls in limits.ASSUMED_DATASETS.first(list(_unread(world, datasets, loaders))):
        fitting = [loader for loader in open_loaders if _fits(world, loader, cls)]
        if fitting:
            nearest = min(fitting, key=lambda loader: _distance(loader.file.path, cls.file.path))
            if _has_a_nearer_namesake(world, nearest, cls):
                continue
            paired.setdefault((nearest.file.path, nearest.call), []).append(Instance(cls))
    for loader in open_loaders:
        assumed = paired.get((loader.file.path, loader.call))
        if assumed is not None:
            yield replace(loader, assumed=tuple(assumed))


def _is_open(loader: Loader) -> bool:
    """Whether callers may pass a loader with workers datasets that the analysis does not know."""
    return (
        any(_may_be_any(loader.world, value, 0) or _base(loader.world, value) for value in loader.datasets())
        and bool(loader.api.dataset)
        and not loader.world.import_graph.is_test(loader.file.path)
        and not _is_made_here(loader)
        and loader.workers().possible
    )


def _is_made_here(loader: Loader) -> bool:
    """Whether the loader's dataset argument is a list, or another value of a builtin type, made in the call itself."""
    expr = written(loader, loader.api.dataset)
    if not isinstance(expr, CallRef):
        return False
    called = loader.world.values.evaluate(loader.file.calls[expr.index].func, loader.site)
    return any(isinstance(value, External) and hasattr(builtins, value.name) for value in called)


def _may_be_any(world: World, value: Value, depth: int) -> bool:
    """Whether nothing tells which dataset a value is, or wraps: it is unknown, or an attribute of a library's
    object."""
    if isinstance(value, Instance) and isinstance(value.of, External) and canonical(value.of.name) in WRAPPERS:
        inside = held_by(world, value) if not limits.EXTERNAL_DEPTH.exceeded(depth) else ()
        return not inside or any(_may_be_any(world, one, depth + 1) for one in inside)
    if isinstance(value, Display):
        return any(one == UNKNOWN for one in world.mappings.flattened(value))
    # `CHOSEN` is unknown among classes that are known.
    return (isinstance(value, Unknown) and value != CHOSEN) or (isinstance(value, External) and "()." in value.name)


def _base(world: World, value: Value) -> Class | None:
    """The class of an object that may also be of a subclass: a parameter annotated with it. None for others."""
    cls = value.of if isinstance(value, Instance) and value.call < 0 else None
    return cls if isinstance(cls, Class) and world.hierarchy.subclasses(cls) else None


def _unread(world: World, datasets: Datasets, loaders: Sequence[Loader]) -> Iterator[Class]:
    """Yield the classes of datasets that no loader is seen to read: those without subclasses."""
    hierarchy = world.hierarchy
    read = {
        base
        for loader in loaders
        for one in datasets.expand(loader.datasets())
        if isinstance(one.of, Class)
        for base in hierarchy.line(one.of)
    }
    for cls in world.classes():
        if (
            cls not in read
            and (datasets.derives(cls) or datasets.wraps(cls) or _is_named_as_one(world, cls))
            and not hierarchy.subclasses(cls)
            and not world.import_graph.is_test(cls.file.path)
            and any(hierarchy.method(cls, name) is not None for name in (*_BY_INDEX, "__iter__"))
        ):
            yield cls


def _is_named_as_one(world: World, cls: Class) -> bool:
    """Whether a class, or one that it inherits from, is named as a dataset and has what a loader asks of one."""
    line = [one for one in world.hierarchy.line(cls) if isinstance(one, Class)]
    return any("dataset" in one.name.lower() for one in line) and all(
        world.hierarchy.method(cls, name) is not None for name in ("__getitem__", "__len__")
    )


def _fits(world: World, loader: Loader, cls: Class) -> bool:
    """Whether one program can contain both, and the loader's options suit the dataset."""
    if not world.import_graph.together((loader.file.path,), (cls.file.path,)) or _makes(world, loader.file, cls):
        return False
    values = loader.datasets()
    line = world.hierarchy.line(cls)
    # An annotation excludes the datasets that do not inherit from its class.
    if not any(_may_be_any(world, value, 0) or _base(world, value) in line for value in values):
        return False
    given = written(loader, loader.api.dataset)
    func = loader.file.calls[given.index].func if isinstance(given, CallRef) else None
    if isinstance(func, Attribute) and world.hierarchy.method(cls, func.attr) is not None:
        # `rows.tensors()` is not the dataset itself.
        return False
    by_index = any(world.hierarchy.method(cls, name) is not None for name in _BY_INDEX)
    # Samplers and shuffling need indices.
    return by_index or all(loader.argument(name).absent for name in ("sampler", "batch_sampler", "shuffle"))


def _makes(world: World, file: SourceFile, cls: Class) -> bool:
    """Whether a file constructs objects of a class: then the analysis has seen where they go."""
    return any(
        where is file and cls in world.values.evaluate(file.calls[index].func, world.call_site(file, index, None))
        for where, index in world.called(cls.name)
    )


def _has_a_nearer_namesake(world: World, loader: Loader, cls: Class) -> bool:
    """Whether a class of the same name lies nearer to a loader. Then the loader belongs to another of the programs that
    lie side by side in a repository, with modules of the same names."""
    here = loader.file.path
    far = _distance(here, cls.file.path)
    return any(other.name == cls.name and _distance(here, other.file.path) < far for other in world.classes())


def _distance(one: str, other: str) -> int:
    """How many directories lie between two files."""
    return os.path.relpath(os.path.dirname(one), os.path.dirname(other)).count(os.sep)
