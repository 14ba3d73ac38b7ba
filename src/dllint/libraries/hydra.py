"""hydra and similar libraries: the configuration of a program, and the objects that it describes."""

from __future__ import annotations

import os
import re

from dllint.facts.nodes import Attribute, CallRef, Constant, Expr, Name, Subscript
from dllint.inference import limits
from dllint.inference.interface import Engine, Handler
from dllint.inference.unions import union
from dllint.inference.values import (
    CHOSEN,
    UNKNOWN,
    Actuals,
    Class,
    Const,
    Data,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Module,
    Partial,
    Site,
    Unknown,
    Value,
    Values,
)
from dllint.inference.values.configuration import COMPOSED
from dllint.libraries.configuration_files import TARGET
from dllint.libraries.named_objects import NamedObjects
from dllint.libraries.torch import DATA_LOADER
from dllint.linking.source import SourceFile, last_name
from dllint.reading import is_file, walk

INSTANTIATING = frozenset({"hydra.utils.instantiate", "hydra.utils.call", "detectron2.config.instantiate"})
LAST_NAMES = frozenset(name.rpartition(".")[2] for name in INSTANTIATING)
LAZY_CALL = "detectron2.config.LazyCall"
_OF_CONFIG = re.compile(r"([a-z]\w*?)_(?:conf|config|cfg)", re.IGNORECASE)
_COMPOSING = ("hydra.compose", "omegaconf.OmegaConf.load", "omegaconf.OmegaConf.merge")
_NO_DATA = frozenset(DATA_LOADER.params) - {"dataset"}
"""Entries named as these arguments of a loader describe no dataset."""


class Instantiation:
    """Objects that a configuration describes by `_target_`, or by a `LazyCall`."""

    def __init__(self, world: Engine, names: NamedObjects) -> None:
        self.world = world
        self.names = names

    def built(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """Return the classes and functions that `instantiate(config)` calls; empty if the call is not one of those."""
        config = self._config(file, index)
        if config is None:
            return (UNKNOWN,) if self.instantiates(file, index) else ()
        values = self.world.values.evaluate(config, self.world.call_site(file, index, frame)) or (UNKNOWN,)
        return union(self._target(value, file, _key(config)) or (UNKNOWN,) for value in values)

    def configured(self, actuals: Actuals, file: SourceFile, index: int) -> Actuals:
        """Return the arguments of the instantiated class: the entries of the configuration, overridden by those of the
        call."""
        keywords = dict(actuals.keywords)
        described = [*actuals.positional[:1], *([keywords.pop("config")] if "config" in keywords else [])]
        mappings = [one._replace(described=True) for one in described]
        return Actuals(actuals.positional[1:], keywords, actuals.rest, [*mappings, *actuals.mappings], actuals.under)

    def instantiates(self, file: SourceFile, index: int) -> bool:
        """Whether a call instantiates objects that a configuration describes."""
        func = file.callee(index)
        if last_name(func) not in LAST_NAMES:
            return False
        callees = self.world.values.evaluate(func, self.world.call_site(file, index, None))
        return any(isinstance(one, External) and one.name in INSTANTIATING for one in callees)

    def objects(self, values: Values, file: SourceFile) -> Values:
        """Return the values of an entry, with each description of an object replaced by the object."""
        found: list[Values] = []
        for value in values:
            described = self._target(value, file) if isinstance(value, (Data, Mapping, Partial)) else ()
            made = tuple(
                Instance(one) if isinstance(one, Class) else one if one == CHOSEN else UNKNOWN for one in described
            )
            found.append(made or (value,))
        return union(found)

    def _config(self, file: SourceFile, index: int) -> Expr | None:
        """Return the configuration that a call instantiates; None if it instantiates none, or names none."""
        if not self.instantiates(file, index):
            return None
        given = (one.value for one in file.calls[index].args if one.keyword in (None, "config"))
        return next(given, None)

    def _target(self, value: Value, file: SourceFile, key: str = "") -> Values:
        """Return the classes and functions that one configuration names as its target. If it is unknown, any that the
        configuration files name under its key can be meant."""
        if isinstance(value, Partial):
            return (value.plain,)
        if isinstance(value, (Data, Mapping)):
            found = self.world.mappings.in_value(value, TARGET)
            names = found.values if found is not None else ()
            known = [one.value for one in names if isinstance(one, Const) and isinstance(one.value, str)]
            if known:
                return union([*(self.names.named(file, name) for name in known), (CHOSEN,) if CHOSEN in names else ()])
            return tuple(one for one in names if isinstance(one, (Class, Function)))
        if not isinstance(value, Unknown) and not _is_composed(value):
            return ()
        named = self.names.targets(file, key) if key else None
        if named is None and key not in _NO_DATA:
            named = self.names.configured()
        return named or (UNKNOWN,)


def _is_composed(value: Value) -> bool:
    """Whether a value is, or is part of, what hydra puts together when the program runs: `compose(name).trainer`."""
    of = value.of if isinstance(value, Instance) else value
    return isinstance(of, External) and of.name.startswith(_COMPOSING)


def _key(config: Expr) -> str:
    """Return the name of the entry that an expression reads: `dataset` in `config[phase].dataset`, in
    `config["dataset"][0]`, and by the name of the variable in `dataset_config`."""
    match config:
        case Name(variable) if (named := _OF_CONFIG.fullmatch(variable)) is not None:
            return named[1]
        case Attribute(attr=attr):
            return attr
        case Subscript(index=Constant(value=str() as key)):
            return key
        case Subscript(value=value):
            return _key(value)
    return ""


def lazy_call(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the value of `LazyCall(Rows)(root="rows")`: a call that happens later, modelled as a partial."""
    func = file.calls[index].func
    args = file.calls[func.index].args if isinstance(func, CallRef) else ()
    if len(args) != 1 or args[0].keyword:
        return None
    return tuple(Partial(value, file, index, site.frame) for value in world.values.evaluate(args[0].value, site))


def lazy_config(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the module that `LazyConfig.load(path)` loads; if the path is unknown, every module that uses
    `LazyCall`."""
    args = file.calls[index].args
    found: dict[Value, None] = {}
    for value in world.values.evaluate(args[0].value, site) if args and args[0].keyword is None else ():
        if isinstance(value, Const) and isinstance(value.value, str):
            name = value.value.removesuffix(".py").replace("/", ".").lstrip(".")
            path = world.imports.find(file, name, 0)
            found.update({Module(path): None} if path is not None else {})
        else:
            lazy = {
                one.path: None for name in ("LazyCall", *world.aliases("LazyCall")) for one, _ in world.called(name)
            }
            found.update((Module(path), None) for path in limits.LAZY_CONFIGS.first(sorted(lazy)))
            found[CHOSEN] = None
    return tuple(found) or None


RESULTS: dict[str, Handler] = {
    f"{LAZY_CALL}()": lazy_call,
    "detectron2.config.LazyConfig.load": lazy_config,
}


def from_command_line(world: Engine, function: Function, name: str) -> Values | None:
    """Return the configuration that `@hydra.main(config_path=…, config_name=…)` passes as the first parameter. None if
    the function has no such decorator, or if the directory of the configuration is unknown."""
    file, scope = function.file, function.file.scopes[function.scope]
    if not scope.decorators or not scope.params or scope.params[0].name != name:
        return None
    site = Site(file, max(scope.parent, 0), scope.region, scope.span.start, None)
    for decorator in scope.decorators:
        call = file.calls[decorator.expr.index] if isinstance(decorator.expr, CallRef) else None
        if call is None:
            continue
        names = [one.name for one in world.values.evaluate(call.func, site) if isinstance(one, External)]
        if not any(world.knowledge.canonical(name) == "hydra.main" for name in names):
            continue
        given = dict(
            zip(("config_path", "config_name"), (one for one in call.args if one.keyword is None), strict=False)
        )
        given.update({one.keyword: one for one in call.args if one.keyword is not None})
        path, main = (
            next((one.value for one in world.values.evaluate(given[key].value, site) if isinstance(one, Const)), None)
            if key in given
            else None
            for key in ("config_path", "config_name")
        )
        if not isinstance(path, str):
            return None
        directory = os.path.normpath(os.path.join(world.settings.root, os.path.dirname(file.path), path))
        if isinstance(main, str):
            main = main if main.endswith((".yaml", ".yml")) else f"{main}.yaml"
            if is_file(os.path.join(directory, main)):
                return (Data(f"{COMPOSED}{directory}//{main}", ()),)
        if not isinstance(main, str) or not any(world.called("ConfigStore")):
            # `--config-name`, an expression, or a name that is there to be replaced: any file at the top of the
            # directory
            _, _, names = next(walk(directory), ("", [], []))
            found = any(name.endswith((".yaml", ".yml")) for name in names)
            return (Data(f"{COMPOSED}{directory}//", ()),) if found else None
        return None
    return None
