"""Configurations of mmengine and mmcv: dicts whose entry `type` names a registered class, and the loaders among
them."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, Constant, Expr, List, Name, Tuple
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Mapping,
    Site,
    Value,
    Values,
)
from dllint.libraries.openmmlab import CONFIGURED, CONFIGURED_DATA
from dllint.linking.source import SourceFile, last_name

LOADERS = ("train_dataloader", "val_dataloader", "test_dataloader")
"""The entries of a configuration, and parameters of the runner, from which it builds loaders."""
DATA = "data"
"""The entry of a configuration for mmcv 1 with a dataset per phase and the number of workers."""
REGISTERING = "register_module"
RUNNER = "Runner"


class Configurations:
    """The objects that mmengine builds from configurations of the project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._registered: dict[str, dict[Value, None]] | None = None
        self._settings: dict[str, frozenset[object]] = {}

    def loaders(self) -> Iterator[tuple[SourceFile, int, str]]:
        """Yield the calls of `dict` from which a loader of the project's classes is built, each with its pseudo-API.

        Those that name no class besides those of others with workers are left out: a project may have hundreds.
        """
        if not self._classes():
            return
        found = 0
        covered: set[Value] = set()
        for file, index, name in dict.fromkeys((*self._of_modules(), *self._of_runners())):
            entry = "dataset" if name == CONFIGURED else "train"
            given = [one.value for one in file.calls[index].args if one.keyword == entry]
            site = self.world.call_site(file, index, None)
            classes = set(self._inside(given[0], site)) if given else set[Value]()
            if classes <= covered:
                continue
            if limits.CONFIGURED_LOADERS.reached(found):
                return
            found += 1
            if not any(_is_worker_count(one.keyword) and one.value == Constant(0) for one in file.calls[index].args):
                covered |= classes
            yield file, index, name

    def described(self, values: Values) -> Values:
        """Return the values, with each dict that names a registered class of the project replaced by an object of it,
        and each of a library's class by one of that."""
        if not self._classes() or not any(isinstance(one, Mapping) for one in values):
            return values
        return union(self._objects(one) or (one,) for one in values)

    def parts(self, value: Value, depth: int = 0) -> Values:
        """Return the value itself, or the contents of a container, with described objects in the place of dicts."""
        if not isinstance(value, (Display, Mapping)) or not self._classes() or limits.CONTAINER_DEPTH.exceeded(depth):
            return self.world.mappings.flattened(value)
        if objects := self._objects(value):
            return objects
        if isinstance(value, Mapping) or value.kind == "generator":
            return self.world.mappings.flattened(value)
        return union(self.parts(one, depth + 1) for one in self.world.mappings.elements(value))

    def setting(self, key: str) -> frozenset[object]:
        """Return the constants that calls of `dict` in the project give under a key."""
        found = self._settings.get(key)
        if found is None:
            given = (
                value
                for file, index in self.world.called("dict")
                for one in file.calls[index].args
                if one.keyword == key
                for value in self.world.values.evaluate(one.value, self.world.call_site(file, index, None))
            )
            found = self._settings[key] = frozenset(one.value if isinstance(one, Const) else None for one in given)
        return found

    def _of_modules(self) -> Iterator[tuple[SourceFile, int, str]]:
        """Yield the loaders that variables of a configuration module are bound to."""
        for file in self.world.files.values():
            if "dict" in file.facts.called:
                for name in (*LOADERS, DATA):
                    for binding in file.bindings(0).get(name, ()):
                        if isinstance(binding.expr, CallRef) and _is_dict(file, binding.expr.index):
                            yield file, binding.expr.index, CONFIGURED_DATA if name == DATA else CONFIGURED

    def _of_runners(self) -> Iterator[tuple[SourceFile, int, str]]:
        """Yield the loaders that a program describes where it constructs the runner."""
        for file, index in self.world.called(RUNNER):
            site = self.world.call_site(file, index, None)
            given = [one.value for one in file.calls[index].args if one.keyword in LOADERS]
            callees = self.world.values.evaluate(file.calls[index].func, site) if given else ()
            if any(isinstance(one, External) and one.name.startswith("mmengine.") for one in callees):
                for value in union(self.world.values.evaluate(one, site) for one in given):
                    if (made := _dict_call(value)) is not None:
                        yield *made, CONFIGURED

    def _objects(self, value: Value) -> Values:
        made = _dict_call(value)
        if made is None or not isinstance(value, Mapping):
            return ()
        found = self.world.mappings.in_value(value, "type")
        of: dict[Value, None] = {}
        for one in found.values if found is not None else ():
            if isinstance(one, Const) and isinstance(one.value, str):
                name = one.value.rpartition(".")[2]
                of.update(self._classes().get(name) or {External(f"mmengine.registry.{name}"): None})
            elif isinstance(one, (Class, External, Function)):
                of[one] = None
        frame = value.written.site.frame
        return tuple(Instance(one, *made, frame) if isinstance(one, (Class, External)) else one for one in of)

    def _inside(self, expr: Expr, site: Site) -> Iterator[Value]:
        """Yield the classes of the project that a description names, its own and those of descriptions inside it."""
        todo, seen = list(self.world.values.evaluate(expr, site)), set[Value]()
        while todo:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            for one in self._objects(value) or (value,):
                if isinstance(one, Instance) and isinstance(one.of, Class):
                    yield one.of
            if isinstance(value, Mapping):
                todo += self.world.mappings.all_values(value)
            elif isinstance(value, Display):
                todo += self.world.mappings.elements(value)

    def _classes(self) -> dict[str, dict[Value, None]]:
        """The classes and functions of the project by the name under which a registry has them."""
        if self._registered is None:
            self._registered = {}
            for file, index in self.world.decorated((REGISTERING,)):
                scope = file.scopes[index]
                defined = Class(file, index) if scope.kind == "class" else Function(file, index)
                for decorator in scope.decorators:
                    call = file.calls[decorator.expr.index] if isinstance(decorator.expr, CallRef) else None
                    if call is not None and isinstance(call.func, Attribute) and last_name(call.func) == REGISTERING:
                        given = [one.value for one in call.args if one.keyword in (None, "name")]
                        for name in _texts(given[0]) if given else (scope.name,):
                            self._registered.setdefault(name, {})[defined] = None
        return self._registered


def _is_worker_count(keyword: str | None) -> bool:
    return keyword in ("num_workers", "workers_per_gpu")


def _texts(expr: Expr) -> Iterator[str]:
    for part in expr.elements if isinstance(expr, (List, Tuple)) else (expr,):
        if isinstance(part, Constant) and isinstance(part.value, str):
            yield part.value


def _is_dict(file: SourceFile, index: int) -> bool:
    return file.calls[index].func == Name("dict")


def _dict_call(value: Value) -> tuple[SourceFile, int] | None:
    """Return the call of `dict` that creates a value; None for other values."""
    if not isinstance(value, Mapping) or value.made is not None or not isinstance(value.written.expr, CallRef):
        return None
    file, index = value.written.site.file, value.written.expr.index
    return (file, index) if _is_dict(file, index) else None
