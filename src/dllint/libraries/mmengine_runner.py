"""Configurations of mmengine and mmcv: dicts whose entry `type` names a registered class, and the loaders among
them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from dllint.facts.nodes import Attribute, CallRef, Constant, Expr, List, Name, Tuple
from dllint.inference import limits
from dllint.inference.answers import Table
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    Actuals,
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
BASES = "_base_"
"""The variable of a configuration module that names the files from which it inherits."""
DELETING = "_delete_"
"""The entry by which a dict replaces the inherited one, instead of being merged with it."""
REGISTERING = "register_module"
RUNNER = "Runner"


class Configurations:
    """The objects that mmengine builds from configurations of the project."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._registered: dict[str, dict[Value, None]] | None = None
        self._settings: dict[str, frozenset[object]] = {}
        self._parts: Table[Values] = {}
        self._bases: dict[tuple[str, int], tuple[SourceFile, int]] | None = None

    def loaders(self) -> Iterator[tuple[SourceFile, int, str]]:
        """Yield the calls of `dict` from which a loader of the project's classes is built, each with its pseudo-API.

        Those that name no class besides those of others with workers are left out: a project may have hundreds.
        """
        if not self._classes():
            return
        found = 0
        covered: set[Value] = set()
        for file, index, name in dict.fromkeys((*self._of_modules(), *self._of_runners())):
            keywords = self.world.actuals(file, index, None).keywords
            given = keywords.get("dataset" if name == CONFIGURED else "train")
            classes = set[Value]()
            if given is not None and given.expr is not None and given.site is not None:
                classes.update(self._inside(given.expr, given.site))
            if classes <= covered:
                continue
            if limits.CONFIGURED_LOADERS.reached(found):
                return
            found += 1
            if any(_is_worker_count(key) and one.expr != Constant(0) for key, one in keywords.items()):
                covered |= classes
            yield file, index, name

    def described(self, values: Values) -> Values:
        """Return the values, with each dict that names a registered class of the project replaced by an object of it,
        and each of a library's class by one of that."""
        if not self._classes() or not any(isinstance(one, Mapping) for one in values):
            return values
        return union(self._objects(one) or (one,) for one in values)

    def parts(self, value: Value) -> Values:
        """Return the value itself, or the contents of a container, with described objects in the place of dicts."""
        if not isinstance(value, (Display, Mapping)) or not self._classes():
            return self.world.mappings.flattened(value)
        return self.world.memory.remember(self._parts, value, lambda: self._find_parts(value), ())

    def _find_parts(self, value: Value) -> Values:
        groups: list[Values] = []
        seen: set[Value] = {value}
        level: list[Value] = [value]
        depth = 0
        while level:
            inner: dict[Value, None] = {}
            for one in level:
                if objects := self._objects(one):
                    groups.append(objects)
                elif (
                    isinstance(one, Display) and one.kind != "generator" and not limits.CONTAINER_DEPTH.exceeded(depth)
                ):
                    inner.update(dict.fromkeys(self.world.mappings.elements(one)))
                else:
                    groups.append(self.world.mappings.flattened(one))
            level = [one for one in inner if one not in seen]
            seen.update(level)
            depth += 1
        return union(groups)

    def inherited(self, actuals: Actuals, file: SourceFile, index: int) -> Actuals:
        """Return the arguments of a call of `dict`, with those that it leaves to the entry of the same name in a base
        configuration."""
        if self._bases is None:
            self._bases = {}
            for one in self.world.files.values():
                if BASES in one.bindings(0):
                    _pair(self.world, one, self._bases)
        base = self._bases.get((file.path, index))
        if base is None:
            return actuals
        keywords = {**self.world.actuals(*base, None).keywords, **actuals.keywords}
        return Actuals(actuals.positional, keywords, actuals.rest, actuals.mappings, actuals.under)

    def setting(self, key: str) -> frozenset[object]:
        """Return the constants that calls of `dict` in the project give under a key. What another configuration has
        under it, as a converter of configurations passes on (`cfg.mp_start_method`), adds none."""
        found = self._settings.get(key)
        if found is None:
            given = (
                value
                for file, index in self.world.called("dict")
                for one in file.calls[index].args
                if one.keyword == key and not (isinstance(one.value, Attribute) and one.value.attr == key)
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


def _pair(world: Engine, file: SourceFile, pairs: dict[tuple[str, int], tuple[SourceFile, int]]) -> None:
    """Add, for each call of `dict` that a configuration binds to a variable, and for those inside it, the one in its
    bases with which mmengine merges it (`config/config.py`, `_merge_a_into_b`)."""
    for name, bindings in file.bindings(0).items():
        call = bindings[-1].expr
        inherited = _bound(world, file, name, {file.path}) if isinstance(call, CallRef) else None
        if isinstance(call, CallRef) and inherited is not None:
            _pair_calls(file, call.index, inherited, pairs)


def _pair_calls(
    file: SourceFile,
    index: int,
    base: tuple[SourceFile, int],
    pairs: dict[tuple[str, int], tuple[SourceFile, int]],
) -> None:
    args = file.calls[index].args
    replaces = any(one.keyword == DELETING and one.value == Constant(True) for one in args)
    if replaces or not _is_dict(file, index) or (file.path, index) in pairs:
        return
    pairs[file.path, index] = base
    inner = {one.keyword: one.value for one in base[0].calls[base[1]].args}
    for one in args:
        below = inner.get(one.keyword)
        if isinstance(one.value, CallRef) and isinstance(below, CallRef) and _is_dict(base[0], below.index):
            _pair_calls(file, one.value.index, (base[0], below.index), pairs)


def _bound(world: Engine, file: SourceFile, name: str, seen: set[str]) -> tuple[SourceFile, int] | None:
    """Return the call of `dict` that a name has in the bases of a configuration, at any depth."""
    base = _binding_base(world, file, name, seen)
    call = base.bindings(0)[name][-1].expr if base is not None else None
    if base is None or not isinstance(call, CallRef) or not _is_dict(base, call.index):
        return None
    return base, call.index


def _binding_base(world: Engine, file: SourceFile, name: str, seen: set[str]) -> SourceFile | None:
    """Return the base of a configuration, at any depth, that binds a name."""
    for path in _base_paths(file):
        base = world.files.get(path)
        if base is None or path in seen:
            continue
        if name in base.bindings(0):
            return base
        if (found := _binding_base(world, base, name, {*seen, path})) is not None:
            return found
    return None


def of_base(world: Engine, name: str, attr: str, site: Site) -> Values | None:
    """Return what a variable has in the bases of a configuration, for `_base_.train_pipeline` (mmengine's
    documentation, "Config", "Reference the variables from base"); None for any other attribute."""
    if name != BASES or site.scope:
        return None
    found = _binding_base(world, site.file, attr, {site.file.path})
    return world.values.evaluate(Name(attr), Site(found, 0, 0, (0, 0), None)) if found is not None else None


def _base_paths(file: SourceFile) -> Iterator[str]:
    """Yield the paths of the configurations that `_base_ = ["../base/data.py"]` names."""
    for binding in file.bindings(0).get(BASES, ()):
        for text in _texts(binding.expr) if binding.expr is not None else ():
            yield posixpath.normpath(posixpath.join(posixpath.dirname(file.path), text))


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
