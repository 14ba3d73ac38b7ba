"""The expressions whose values an object's attribute contains: what is assigned to it, and what its list or dict is
filled with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Dict, List, Name, Set, Tuple
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.values import Class, Display, Instance, Mapping, Site
from dllint.project.kept_values import Kept
from dllint.project.loader_apis import loader_api

if TYPE_CHECKING:
    from dllint.inference.engine import World


class Content(NamedTuple):
    """An expression and the site where it is evaluated. `inside`: its value is an element of the attribute's
    container."""

    expr: Expr
    site: Site
    inside: bool


def contents_of(world: World, kept: Kept) -> Iterator[Content]:
    """The expressions that an assignment stores in an attribute, one container deep, and those that fill the
    container later."""
    if kept.store.value is None or kept.store.key != kept.attr:
        return
    yield from _elements(Content(kept.store.value, kept.site, False))
    for value in kept.values:
        if not isinstance(value, (Display, Mapping)):
            continue
        for change, site in limits.CHANGES.first(list(world.mappings.fillings(value))):
            if change.value is not None and change.kind in ("set", "default", "add"):
                yield Content(change.value, site, True)
            elif change.value is not None:
                yield from (one for one in _elements(Content(change.value, site, False)) if one.inside)


def _elements(whole: Content) -> Iterator[Content]:
    expr, site, _ = whole
    yield whole
    if isinstance(expr, (List, Tuple, Set)):
        yield from (Content(part, site, True) for part in expr.elements)
    elif isinstance(expr, Dict):
        yield from (Content(part, site, True) for key, part in expr.items if key is not None)
    elif isinstance(expr, Comprehension) and expr.kind != "generator":
        yield Content(expr.element, site, True)


def iterates_loader(world: World, content: Content) -> bool:
    """Whether an expression starts to iterate a DataLoader (`iter(loader)`), whose iterator refuses to be pickled
    (torch/utils/data/dataloader.py, `_BaseDataLoaderIter.__getstate__`)."""
    expr, site, _ = content
    call = site.file.calls[expr.index] if isinstance(expr, CallRef) else None
    if call is None or not isinstance(expr, CallRef):
        return False
    iterated: Expr
    if call.func == Name("iter") and len(call.args) == 1:
        iterated = call.args[0].value
    elif isinstance(call.func, Attribute) and call.func.attr == "__iter__" and not call.args:
        iterated = call.func.value
    else:
        return False
    values = world.values.evaluate(iterated, world.call_site(site.file, expr.index, site.frame))
    known = [value for value in values if isinstance(value, Instance)]
    return bool(known) and all(_is_loader(world, value) for value in known)


def _is_loader(world: World, value: Instance) -> bool:
    if isinstance(value.of, Class) and world.hierarchy.method(value.of, "__iter__") is not None:
        return False
    found = loader_api(world, value.of)
    # What the functions of a library give may hold several loaders.
    called = value.of.name.rpartition(".")[2]
    return found is not None and bool(found[0].dataset) and called[:1].isupper()
