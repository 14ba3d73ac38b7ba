"""The APIs that construct DataLoaders, and their parameters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Name
from dllint.facts.schema import Expr, Param
from dllint.inference.entries import Found
from dllint.inference.values import UNKNOWN, Actual, Actuals, Class, External, Parsed, Partial, Site, Value
from dllint.libraries.facets import LoaderApi
from dllint.libraries.index import LOADERS, canonical
from dllint.linking.assignments import whose_dict
from dllint.span import WHOLE_FILE

if TYPE_CHECKING:
    from dllint.inference.engine import World

_OF_TORCH = "torch.utils.data.DataLoader"
_COPIED = frozenset({"dataset", "batch_size", "sampler", "num_workers", "collate_fn"})
"""The parameters by which a copy of torch's DataLoader is known."""


def loader_api(world: World, value: Value) -> tuple[LoaderApi, str] | None:
    """The loader API that calling `value` constructs, and the name to show; None if calling it makes no DataLoader."""
    if isinstance(value, External):
        api = LOADERS.get(canonical(value.name))
        if api is None and value.name in world.settings.loaders:
            api = LOADERS[_OF_TORCH]
        return (api, value.name.rsplit(".", 1)[-1]) if api is not None else None
    if isinstance(value, Class):
        for name in world.hierarchy.externals(value):
            found = loader_api(world, External(name))
            if found is not None and (found[0].dataset or found[0].trainers or found[0].fed_by):
                return found[0], value.name
        qualified = f"{world.index.module_name(value.file.path)}.{value.name}"
        if qualified in world.settings.loaders or value.name in world.settings.loaders:
            return LOADERS[_OF_TORCH], value.name
        own = _with_own_workers(world, value)
        return (own, value.name) if own is not None else None
    if isinstance(value, Partial):
        return loader_api(world, value.function)
    return None


def _with_own_workers(world: World, cls: Class) -> LoaderApi | None:
    """The API of a class that is derived from no DataLoader, has its parameters, and starts the workers itself, as the
    copies of torch's first versions do; None for other classes."""
    init = world.hierarchy.method(cls, "__init__")
    if init is None or "Process" not in init.file.facts.called:
        return None
    if not set(world.hierarchy.externals(cls)) <= {"object"}:
        return None
    params = tuple(one.name for one in init.file.scopes[init.scope].params[1:] if one.kind == "normal")
    return LOADERS[_OF_TORCH]._replace(params=params, copied=True) if set(params) >= _COPIED else None


def given_argument(world: World, api: LoaderApi, actuals: Actuals, name: str) -> Found:
    """The values that a loader's constructor receives for a parameter."""
    rest = [one for one in actuals.rest if not _captured_only_by_keyword(world, one)]
    written = Actuals(actuals.positional, actuals.keywords, rest, actuals.mappings, actuals.under)
    found = world.parameters.given(written, _params(api.params, name), name, 0)
    return found if found.values or found.absent else Found((UNKNOWN,), False)


@cache
def _params(positional: tuple[str, ...], name: str) -> list[Param]:
    """The parameters of a loader's constructor, with the one of that name."""
    params = [Param(one, "normal", None, None, WHOLE_FILE) for one in positional]
    return params if name in positional else [*params, Param(name, "keyword", None, None, WHOLE_FILE)]


def _captured_only_by_keyword(world: World, star: Actual) -> bool:
    """Whether `star` is a subclass's `*args` passed on with unknown contents: in practice everything but the dataset
    is passed by keyword."""
    return star.starred and isinstance(star.expr, Name) and world.values.passed(star) == (UNKNOWN,)


def stays_text(world: World, expr: Expr, site: Site) -> bool:
    """Whether an expression is a command line option without a type, which nothing converts: `args.workers`. What a
    command line gives it is a text, and a DataLoader that compares it with a number raises TypeError."""
    if not isinstance(expr, Attribute) or _may_be_set(world, expr.attr):
        return False
    parsed = world.values.evaluate(expr.value, site)
    options = [
        {argument.keyword for argument in file.calls[index].args}
        for one in parsed
        if isinstance(one, Parsed)
        for file, index in world.knowledge.options(one, expr.attr)
    ]
    typed = {"type", "action", "choices", "nargs", "const"}
    return bool(options) and all(isinstance(one, Parsed) for one in parsed) and not any(map(typed.__and__, options))


def _may_be_set(world: World, dest: str) -> bool:
    """Whether a program may set an option by other means than its command line."""
    if next(iter(world.stores.outside_stores(dest)), None) is not None or any(True for _ in world.called("setattr")):
        return True
    for file, index in world.called("set_defaults"):
        if any(one.keyword in (dest, "*", "**") for one in file.calls[index].args):
            return True
    for file, index in world.called("update"):
        func = file.calls[index].func
        if isinstance(func, Attribute) and whose_dict(func.value, file.facts) is not None:
            return True
    return False
