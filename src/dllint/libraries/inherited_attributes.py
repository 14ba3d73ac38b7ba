"""Attributes that an external class sets from what its constructor is given.

Lightning: `save_hyperparameters()` puts the arguments of `__init__` into `self.hparams`
(lightning/pytorch/core/mixins/hparams_mixin.py). Others keep an argument under its name, as `Trainer` of transformers
does with `train_dataset`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from dllint.facts.nodes import Constant, Dict, Expr, Name
from dllint.inference.arguments import Passed
from dllint.inference.constructors import reaching
from dllint.inference.interface import Engine
from dllint.inference.makings import objects_of
from dllint.inference.unions import union
from dllint.inference.values import (
    UNKNOWN,
    Actual,
    Class,
    Const,
    External,
    Instance,
    Mapping,
    Site,
    Values,
    Written,
    const,
)
from dllint.libraries.index import argument_kept, default_kept

HYPERPARAMETERS = ("hparams", "hparams_initial")
SAVING = "save_hyperparameters"


class InheritedAttributes:
    """Answers for objects of external classes, and of the project's classes with such bases."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._written: dict[tuple[Site, int], Dict] = {}

    def find(self, value: Instance, name: str) -> Values:
        """Return the values of an attribute that no code of the project sets; empty if they are unknown."""
        if isinstance(value.of, External):
            held = value.call >= 0 and argument_kept(value.of.name, name) is not None
            return self._kept(value, value.of.name, name) if held else ()
        if name in HYPERPARAMETERS:
            return union(self._saved(value, owner) for owner in self._line(value.of))
        base = next(
            (one for one in self.world.hierarchy.externals(value.of) if argument_kept(one, name) is not None), ""
        )
        if not base:
            return ()
        made = (value,) if value.call >= 0 else objects_of(self.world, value.of)
        return union(self._kept(one, base, name) for one in made)

    def _line(self, cls: Class) -> Iterator[Class]:
        return (one for one in self.world.hierarchy.line(cls) if isinstance(one, Class))

    # Lightning

    def _saved(self, value: Instance, owner: Class) -> Values:
        """Return what the constructor of a class puts into the hyperparameters."""
        init = self.world.hierarchy.own_methods(owner).get("__init__")
        for index in owner.file.facts.called.get(SAVING, ()) if init is not None else ():
            call = owner.file.calls[index]
            if call.scope == init:
                frame = self.world.stores.init_frame(value, owner)
                site = Site(owner.file, init, call.region, call.span.start, frame)
                return self._hyperparameters(index, site)
        return ()

    def _hyperparameters(self, index: int, site: Site) -> Values:
        arguments = [one for one in site.file.calls[index].args if one.keyword is None]
        given = [self.world.values.evaluate(one.value, site) for one in arguments]
        names = [
            one.value for values in given for one in values if isinstance(one, Const) and isinstance(one.value, str)
        ]
        if given and not names:
            return given[0] if len(given) == 1 else ()
        key = (site, index)
        if key not in self._written:
            left_out = set(self._left_out(index, site))
            items: list[tuple[Expr | None, Expr]] = []
            for param in site.file.scopes[site.scope].params[1:]:
                read = cast(Expr, Passed(Actual(Name(param.name), site, None)))
                if param.kind == "kw" and not names:
                    items.append((None, Name(param.name)))
                elif param.kind != "var" and param.name not in left_out and (not names or param.name in names):
                    items.append((Constant(param.name), read))
            self._written[key] = Dict(tuple(items))
        return (Mapping(Written(self._written[key], site)),)

    def _left_out(self, index: int, site: Site) -> Iterator[str]:
        for argument in site.file.calls[index].args:
            if argument.keyword == "ignore":
                for value in self.world.values.evaluate(argument.value, site):
                    for one in self.world.mappings.flattened(value):
                        if isinstance(one, Const) and isinstance(one.value, str):
                            yield one.value

    # Arguments kept under their names

    def _kept(self, value: Instance, base: str, name: str) -> Values:
        """Return the argument that the constructor of the external base is given."""
        assert value.file is not None
        making = (value.file, value.call, value.frame)
        found = reaching(self.world, value.of, self.world.made_with(value), making, lambda one: one == External(base))
        position = argument_kept(base, name)
        if found is None or position is None:
            return ()
        given = found.actuals.keywords.get(name)
        if given is None and 0 <= position < len(found.actuals.positional):
            given = found.actuals.positional[position]
        if given is not None:
            return self.world.values.passed(given)
        default = tuple(map(const, default_kept(base, name)))
        if not found.actuals.mappings:
            return default
        unpacked = self.world.mappings.from_unpacked(found.actuals, name)
        return union([unpacked.values, default if unpacked.absent or UNKNOWN in unpacked.values else ()])
