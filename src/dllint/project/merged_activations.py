"""Worker counts of loaders that are made below more calls than the interpreter keeps apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import CallRef
from dllint.inference import limits
from dllint.inference.values import Frame, Instance, Site
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.inference.engine import World


def may_work(world: World, loader: Loader, site: Site) -> bool:
    """Whether a loader can have workers at a place where the calls that lead to its construction were merged with
    others: not if each of those that are written on the way from the place sets none."""
    if site.scope == loader.site.scope and site.file is loader.file:
        return True
    # A short call stack may say more than a deep one, whose last calls were merged in their turn.
    for start in _callers(world, site):
        for here in dict.fromkeys((start, start._replace(frame=None))):
            frames = list(_making(world, loader, here, set()))
            if frames and all(loader.workers(one).kind == "none" for one in frames):
                return False
    return True


def _callers(world: World, site: Site) -> Iterator[Site]:
    """A place, and the calls of its activation up the call stack, as far as that is kept: a loader may be given."""
    yield site
    frame = site.frame
    while frame is not None and frame.call is not None:
        path, index = frame.call
        frame = frame.parent
        yield world.call_site(world.files[path], index, frame)


def _making(world: World, loader: Loader, site: Site, seen: set[tuple[str, int]]) -> Iterator[Frame]:
    """The activations that construct a loader and return it to a place, however deep the call stack is."""
    file, scope = site.file, site.scope
    if (file.path, scope) in seen or limits.RETURNING_LOADERS.reached(len(seen)):
        return
    seen.add((file.path, scope))
    made = (loader.file, loader.call)
    for index in file.calls_of(scope):
        values = world.values.evaluate(CallRef(index), world.call_site(file, index, site.frame))
        if not any(isinstance(one, Instance) and (one.file, one.call) == made for one in values):
            continue
        for target in world.calls.targets(file, index, site.frame):
            function = target.function
            below = world.kept_apart(file, index, site.frame, target)
            if function.key == (loader.file.path, loader.site.scope):
                yield below
            else:
                yield from _making(world, loader, Site(function.file, function.scope, 0, (0, 0), below), seen)
