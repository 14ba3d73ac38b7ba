"""Lookups by a name in a string: `getattr`, `eval` of a dotted name, `import_module`, modules by their files."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import (
    UNKNOWN,
    Actuals,
    Const,
    External,
    Function,
    Instance,
    Module,
    Pattern,
    Site,
    Value,
    Values,
)
from dllint.linking.assignments import whose_dict

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile


_PARTS = ("split", "rsplit", "partition", "rpartition", "strip", "replace")
"""Methods of a text whose results are parts of it."""
IMPORTING = frozenset({"importlib.import_module", "__import__"})
_MODULES = Attribute(Name("sys"), "modules")


def first_argument(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    args = file.calls[index].args
    if not args or args[0].keyword in ("*", "**"):
        return None
    return world.values.evaluate(args[0].value, site)


def attribute(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    args = file.calls[index].args
    if len(args) < 2 or any(argument.keyword for argument in args):
        return None
    bases = world.values.evaluate(args[0].value, site)
    groups = [*members(world, bases, world.values.evaluate(args[1].value, site), (args[1].value, site))]
    if len(args) > 2:
        groups += world.values.evaluate(args[2].value, site)
    return tuple(dict.fromkeys(groups))


def members(world: Engine, bases: Values, keys: Values, named: tuple[Expr, Site] | None = None) -> Values:
    """Return the attributes of objects, modules or classes by computed names, as in `getattr(base, key)`. `named` is
    the expression of the name."""
    groups: list[Value] = []
    for key in keys:
        for base in bases:
            if isinstance(key, Const) and isinstance(key.value, str):
                groups += world.values.attribute(base, key.value)
            elif isinstance(key, Pattern) and len(key.prefix) + len(key.suffix) >= 3:
                groups += world.members_like(base, key) or (UNKNOWN,)
            else:
                groups += _any_class(world, base, named) or _any_module(world, base) or (UNKNOWN,)
    return tuple(dict.fromkeys(groups))


def _any_module(world: Engine, base: Value) -> Values:
    """Return all modules of a package if they are few: an unknown name can select any of them."""
    if not isinstance(base, Module) or not base.path.endswith("__init__.py"):
        return ()
    prefix = f"{world.index.module_name(base.path)}."
    found = world.index.beginning(base.path, prefix)
    if limits.MEMBERS.exceeded(len(found)):
        return ()
    return tuple(Module(paths[-1]) for paths in found.values())


def in_dictionary(world: Engine, base: Expr, index: Expr, site: Site) -> Values | None:
    """Return an entry of `vars(x)`, `x.__dict__` or `globals()`, which is an attribute of the object or module, or the
    module itself for `sys.modules[__name__]`; None for an entry of anything else."""
    if base == _MODULES and index == Name("__name__"):
        return (Module(site.file.path),)
    holder = whose_dict(base, site.file.facts)
    if holder is not None:
        return members(world, world.values.evaluate(holder, site), world.values.evaluate(index, site))
    call = site.file.calls[base.index] if isinstance(base, CallRef) else None
    if call is None or call.func != Name("globals") or call.args or "globals" in site.file.bindings(0):
        return None
    return members(world, (Module(site.file.path),), world.values.evaluate(index, site))


def _any_class(world: Engine, base: Value, named: tuple[Expr, Site] | None) -> Values:
    """Return the classes that an unknown name can select from a module of the project; if the module is unknown too,
    the classes that the project's configuration files name."""
    if isinstance(base, Instance) and isinstance(base.of, External) and base.of.name in IMPORTING:
        return world.knowledge.configured_classes(entries_read(world, *named) if named is not None else ())
    return world.classes_of(base) if isinstance(base, Module) else ()


def module(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the modules that `import_module(name)` can return; an instance of the function stands for an unknown
    module."""
    found: list[Value] = []
    anyone = _any_imported(file, index, site)
    for value in first_argument(world, file, index, site) or ():
        if isinstance(value, Const) and isinstance(value.value, str):
            name = _absolute(world, file, index, site, value.value)
            path = world.imports.find(file, name, 0) if name is not None else None
            found.append(
                Module(path) if path is not None else External(value.value) if value.value == name else UNKNOWN
            )
        elif isinstance(value, Pattern):
            prefix = _absolute(world, file, index, site, value.prefix)
            fitting = world.imports.fitting(file, replace(value, prefix=prefix)) if prefix is not None else []
            found += fitting or [anyone]
        else:
            found.append(anyone)
    return tuple(dict.fromkeys(found)) or None


def _absolute(world: Engine, file: SourceFile, index: int, site: Site, name: str) -> str | None:
    """Return the whole name of a module that `import_module(name, package)` names, or of the beginning of its name;
    None if the package is not known."""
    plain = name.lstrip(".")
    up = len(name) - len(plain) - 1
    if up < 0:
        return name
    given = world.actuals(file, index, site.frame)
    actual = given.keywords.get("package") or (given.positional[1] if len(given.positional) > 1 else None)
    package = _package(world, file, actual.expr, actual.site) if actual and actual.expr and actual.site else None
    parts = package.split(".") if package else []
    return ".".join((*parts[: len(parts) - up], plain)) if len(parts) > up else None


def _package(world: Engine, file: SourceFile, expr: Expr, site: Site) -> str | None:
    own = world.index.module_name(file.path)
    if expr == Name("__name__"):
        return own
    if expr == Name("__package__"):
        return own if file.path.endswith("__init__.py") else own.rpartition(".")[0]
    values = world.values.evaluate(expr, site)
    only = values[0] if len(values) == 1 else None
    return only.value if isinstance(only, Const) and isinstance(only.value, str) else None


def _any_imported(file: SourceFile, index: int, site: Site) -> Instance:
    return Instance(External("importlib.import_module"), file, index, site.frame)


_SPEC = "importlib.util.spec_from_file_location"


def module_of_spec(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the modules that `module_from_spec(spec_from_file_location(name, path))` can return."""
    found: list[Value] = []
    for value in first_argument(world, file, index, site) or ():
        if isinstance(value, Instance) and isinstance(value.of, External) and value.of.name == _SPEC:
            made = world.made_with(value)
            found += _at(world, made, "location") or _called(world, file, made) or (_any_imported(file, index, site),)
    return tuple(dict.fromkeys(found)) or None


def module_at(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the modules that `imp.load_source(name, path)` can return."""
    actuals = world.actuals(file, index, site.frame)
    return _at(world, actuals, "pathname") or _called(world, file, actuals) or (_any_imported(file, index, site),)


def module_of_loader(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the modules that `SourceFileLoader(name, path).load_module()` can return."""
    func = file.calls[index].func
    found: list[Value] = []
    for value in world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ():
        if isinstance(value, Instance):
            made = world.made_with(value)
            found += _at(world, made, "path") or _called(world, file, made)
    return tuple(dict.fromkeys(found)) or (_any_imported(file, index, site),)


def _at(world: Engine, actuals: Actuals, keyword: str) -> Values:
    """Return the modules of the project whose file the second argument of a call names; empty if it may be any.

    A relative path counts from the working directory, which is not known, so its end decides.
    """
    given = actuals.keywords.get(keyword) or (actuals.positional[1] if len(actuals.positional) > 1 else None)
    if given is None or given.expr is None or given.site is None:
        return ()
    found: list[Value] = []
    for value in world.values.evaluate(given.expr, given.site):
        # Of a name that is put together, only whole parts after a hole are known.
        text = value.value if isinstance(value, Const) else None
        if isinstance(value, Pattern):
            text = value.suffix.partition("/")[2]
        name = os.path.normpath(text).lstrip("./") if isinstance(text, str) and text.endswith(".py") else ""
        fitting = [Module(path) for path in world.files if name and f"/{path}".endswith(f"/{name}")]
        if len(fitting) != 1:
            return ()
        found += fitting
    return tuple(dict.fromkeys(found))


def _called(world: Engine, file: SourceFile, actuals: Actuals) -> Values:
    """Return the modules of the project that the first argument of a call names, if its file may be any: a module that
    a setting replaces has the same name."""
    given = actuals.keywords.get("name") or actuals.keywords.get("fullname")
    given = given or (actuals.positional[0] if actuals.positional else None)
    if given is None or given.expr is None or given.site is None:
        return ()
    named = [one.value for one in world.values.evaluate(given.expr, given.site) if isinstance(one, Const)]
    paths = [world.imports.find(file, one, 0) for one in named if isinstance(one, str) and "." in one]
    return tuple(dict.fromkeys(Module(path) for path in paths if path is not None))


def entries_read(world: Engine, expr: Expr, site: Site) -> tuple[str, ...]:
    """Return the keys of the entries through which a program reads a text, the outermost first: "data", "target" for
    the parts of `config["target"].rsplit(".", 1)` in a function that is given `options.data`."""
    keys: list[str] = []
    for _ in range(limits.ENTRIES_READ.most):
        match expr:
            case Attribute(inner, key) | Subscript(inner, Constant(str() as key)):
                expr = inner
                keys.append(key)
            case Subscript(inner, Constant()):
                expr = inner
            case CallRef(index):
                call = site.file.calls[index]
                if not isinstance(call.func, Attribute) or call.func.attr not in (*_PARTS, "get"):
                    break
                asked = call.args[0].value if call.func.attr == "get" and call.args else None
                keys += [asked.value] if isinstance(asked, Constant) and isinstance(asked.value, str) else []
                expr = call.func.value
            case Name(name):
                found = _bound(world, name, site)
                if found is None:
                    break
                expr, site = found
            case _:
                break
    return tuple(reversed(keys))


def _bound(world: Engine, name: str, site: Site) -> tuple[Expr, Site] | None:
    """Return the one expression that a name is bound to: what is assigned, or the argument of the call; None if there
    are several, or if it is something else."""
    found = world.symbols.lookup(name, site)
    if len(found) != 1:
        return None
    binding, where = found[0]
    if binding.kind == "value" and binding.expr is not None:
        return binding.expr, where
    if binding.kind != "param" or where.frame is None:
        return None
    actual = world.parameters.bound(Function(where.file, where.scope), name, where.frame).actual
    return (actual.expr, actual.site) if actual is not None and actual.expr and actual.site else None
