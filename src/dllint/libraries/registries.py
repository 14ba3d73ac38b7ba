"""Registries: `@REGISTRY.register()` adds a class, `REGISTRY.get(name)` and `REGISTRY.build(cfg)` look it up."""

from __future__ import annotations

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Expr
from dllint.inference.interface import Engine
from dllint.inference.values import (
    Actuals,
    Class,
    Const,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Site,
    Value,
    Values,
)
from dllint.linking.source import SourceFile, last_name

REGISTRIES = "registries"
"""The premise of answers computed while the registries were being filled."""
LOOKUPS = frozenset({"get", "__getitem__"})
BUILDERS = frozenset({"build", "create"})
REGISTERING = ("register", "register_module")
"""Methods that add a class or function to a registry by a plain call (fvcore 0.1, mmengine 0.10)."""
FROM_CONFIG = "build_from_cfg"
"""`build_from_cfg(cfg, registry, default_args=None)` of mmcv 1.7 and mmengine 0.10; many projects keep a copy of it."""
BUILDING = BUILDERS | {FROM_CONFIG}


class Registries:
    """Objects whose `register…` methods decorate definitions of the project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._entries: dict[Value, dict[Value, None]] | None = None
        self._filled = False

    def entries(self, registry: Value) -> Values:
        """Return the classes and functions in a registry; empty if the value is not a registry."""
        if self._entries is None:
            self._entries = {}
            for file in self.world.files.values():
                for index, scope in enumerate(file.raw.scopes):
                    for decorator in scope.decorators:
                        func = decorator.expr
                        if isinstance(func, CallRef):
                            func = file.calls[func.index].func
                        if (
                            not isinstance(func, Attribute)
                            or not func.attr.startswith("register")
                            or not isinstance(func.value, (Name, Attribute))
                        ):
                            continue
                        site = Site(file, max(scope.parent, 0), scope.region, (0, 0), None)
                        for value in self.world.values.evaluate(func.value, site):
                            if _may_register(value):
                                defined = Class(file, index) if scope.kind == "class" else Function(file, index)
                                self._entries.setdefault(value, {})[defined] = None
            self._add_called()
            self._filled = True
        if not self._filled:
            self.world.memory.rest_on(REGISTRIES)
        return tuple(self._entries.get(registry, ()))

    def _add_called(self) -> None:
        """Add what a plain call registers, `REGISTRY.register(Rows)`, to registries whose class is external."""
        assert self._entries is not None
        for name in REGISTERING:
            for file, index in self.world.called(name):
                call = file.calls[index]
                if not isinstance(call.func, Attribute) or index in file.decorating:
                    continue
                site = self.world.call_site(file, index, None)
                given = [one.value for one in call.args if isinstance(one.value, (Name, Attribute))]
                registries = self.world.values.evaluate(call.func.value, site) if given else ()
                for registry in registries:
                    if not _may_register(registry) or (isinstance(registry, Instance) and _is_own(registry)):
                        continue
                    for value in (one for expr in given for one in self.world.values.evaluate(expr, site)):
                        if isinstance(value, (Class, Function)):
                            self._entries.setdefault(registry, {})[value] = None

    def looked_up(self, index: int, here: Site) -> Values:
        """Return the possible results of `REGISTRY.get(name)`."""
        func = here.file.callee(index)
        if not isinstance(func, Attribute) or func.attr not in LOOKUPS:
            return ()
        found = [self.entries(value) for value in self.world.values.evaluate(func.value, here)]
        return tuple(dict.fromkeys(entry for entries in found for entry in entries))

    def built(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """Return the classes and functions that a call may select by its configuration and call."""
        registry = _registry(file, index) if last_name(file.callee(index)) in BUILDING else None
        if registry is None:
            return ()
        site = self.world.call_site(file, index, frame)
        values = self.world.values.evaluate(registry, site)
        found = dict.fromkeys(entry for value in values if _may_register(value) for entry in self.entries(value))
        named = self._named(file, index, site) if len(found) > 1 else set()
        chosen = [one for one in found if isinstance(one, (Class, Function)) and one.name in named]
        # Others may be registered under a name that is not their own.
        return tuple(chosen if len({one.name for one in chosen}) == len(named) > 0 else found)

    def _named(self, file: SourceFile, index: int, site: Site) -> set[str]:
        """Return the names under `type` in the dicts that a call builds from; empty if one is not known."""
        args = file.calls[index].args
        given = self.world.values.evaluate(args[0].value, site) if args and args[0].keyword in (None, "cfg") else ()
        named: set[str] = set()
        for value in given:
            found = self.world.mappings.in_value(value, "type") if isinstance(value, Mapping) else None
            if found is None or not found.values:
                return set()
            for one in found.values:
                if not isinstance(one, Const) or not isinstance(one.value, str):
                    return set()
                named.add(one.value)
        return named


def _may_register(value: Value) -> bool:
    """Whether a value can be a registry: an object that the project makes, or a name of a library's module, such as
    `mmengine.registry.DATASETS`."""
    if isinstance(value, External):
        return value.name.rpartition(".")[2].isupper()
    return isinstance(value, Instance) and value.call >= 0


def _is_own(value: Instance) -> bool:
    return not isinstance(value.of, External)


def configured(actuals: Actuals, file: SourceFile, index: int) -> Actuals:
    """Return the arguments of the class selected by a configuration: the entries of the configuration."""
    name = last_name(file.calls[index].func)
    mappings = [*actuals.mappings, *actuals.positional[:1]]
    keywords = dict(actuals.keywords)
    if name == FROM_CONFIG:
        mappings += actuals.positional[2:3]
        mappings += [keywords.pop(key) for key in ("cfg", "default_args") if key in keywords]
        keywords.pop("registry", None)
    return Actuals([], keywords, [], mappings)


def _registry(file: SourceFile, index: int) -> Expr | None:
    """Return the registry expression that a call selects from."""
    call = file.calls[index]
    name = last_name(call.func)
    found: Expr | None = None
    if name in BUILDERS and isinstance(call.func, Attribute):
        found = call.func.value
    elif name == FROM_CONFIG:
        plain = [argument.value for argument in call.args if argument.keyword is None]
        named = [argument.value for argument in call.args if argument.keyword == "registry"]
        found = plain[1] if len(plain) > 1 else next(iter(named), None)
    return found if isinstance(found, (Name, Attribute)) else None
