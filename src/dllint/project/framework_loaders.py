"""The loaders that a framework's trainer builds, is given, or obtains from hooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dllint.facts.nodes import Attribute
from dllint.facts.schema import Expr
from dllint.inference.values import External, Instance, Site, Value
from dllint.libraries.hook_facets import Hooks
from dllint.libraries.hooks import argument, called_hooks
from dllint.libraries.index import HOOKS, canonical
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.project.trainers import options_of

if TYPE_CHECKING:
    from dllint.inference.engine import World

TRAINING = frozenset(entry for hooks in HOOKS.values() if hooks.iterates for entry in hooks.entries)
"""The names of the methods that iterate loaders."""


class Finder(Protocol):
    """Finds the loaders among values, and those that iterating an expression iterates."""

    world: World

    def among(self, values: Iterable[Value]) -> Iterator[Loader]: ...

    def iterated(self, expr: Expr, site: Site) -> Iterator[Loader]: ...

    def held(self, expr: Expr, site: Site) -> Iterator[Value]: ...


class Trainer(NamedTuple):
    """A framework's method that a call may run, as the value of its callee, and the class that it belongs to."""

    method: External
    owner: str
    hooks: Hooks

    @property
    def entry(self) -> str:
        return self.method.name.rpartition(".")[2]


def trainers(world: World, func: Expr, site: Site) -> Iterator[Trainer]:
    """The methods that iterate loaders among those that an expression may be: `Trainer().fit`."""
    if not isinstance(func, Attribute) or func.attr not in TRAINING:
        return
    for value in world.values.evaluate(func, site):
        if isinstance(value, External):
            owner, _, entry = canonical(value.name).rpartition("().")
            hooks = HOOKS.get(owner)
            if hooks is not None and hooks.iterates and entry in hooks.entries:
                yield Trainer(value, owner, hooks)


def read(finder: Finder, file: SourceFile, index: int, site: Site) -> Iterator[Loader]:
    """The loaders that a trainer builds, or obtains from hooks, and iterates in a call: `Trainer(…).fit(model)`."""
    func = file.calls[index].func
    world = finder.world
    if not isinstance(func, Attribute):
        return
    for one in trainers(world, func, site):
        loading = one.hooks.loads.get(one.entry, ())
        for hook, activation in called_hooks(world, one.method.name, file, index, site.frame):
            if hook.file.scopes[hook.scope].name in loading:
                made = world.values.returned(hook, activation)
                yield from finder.among(inner for given in made for inner in world.mappings.flattened(given))
        for trainer in world.values.evaluate(func.value, site):
            yield from finder.among(options_of(world, trainer))
            yield from _handed(finder, trainer)


def _handed(finder: Finder, trainer: Value) -> Iterator[Loader]:
    """The loaders that are passed to the constructor of a trainer."""
    if not isinstance(trainer, Instance) or not isinstance(trainer.of, External) or trainer.call < 0:
        return
    hooks = HOOKS.get(canonical(trainer.of.name))
    actuals = finder.world.made_with(trainer)
    for name in hooks.holds if hooks is not None else ():
        given = argument(hooks, actuals, name) if hooks is not None else None
        if given is not None and given.expr is not None and given.site is not None:
            yield from finder.iterated(given.expr, given.site)
            yield from finder.among(finder.held(given.expr, given.site))
