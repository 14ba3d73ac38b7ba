"""Iterable datasets whose iterators never end, so that a loader starts its workers for one epoch only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.facts.nodes import Constant
from dllint.inference.values import Class, Function
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.project.model import Project

_MAY_LEAVE = frozenset({"if", "try", "handler", "case"})
"""Regions in which a `break` may stand that a loop sometimes reaches."""


def never_ends(project: Project, loader: Loader) -> bool:
    """Whether each dataset of a loader yields items without end: `while True: yield self.sample()` in its
    `__iter__`."""
    datasets = project.dataset_objects(loader)
    methods = [
        project.world.hierarchy.method(one.of, "__iter__") if isinstance(one.of, Class) else None for one in datasets
    ]
    return bool(methods) and all(method is not None and _is_endless(method) for method in methods)


def _is_endless(method: Function) -> bool:
    file, scope = method.file, method.file.scopes[method.scope]
    if any(event.kind == "return" for event in scope.events):
        return False
    regions = file.facts.regions
    loops = {
        one
        for event in scope.events_of("yield")
        for one in file.regions(event.region)
        if regions[one].kind == "while" and _is_true(regions[one].expr)
    }
    return any(
        not any(region.kind in _MAY_LEAVE and file.encloses(loop, number) for number, region in enumerate(regions))
        for loop in loops
    )


def _is_true(test: object) -> bool:
    return isinstance(test, Constant) and bool(test.value)
