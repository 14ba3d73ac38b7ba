"""The return values of the external functions that the analysis models."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Dict, Element, Entered
from dllint.facts.schema import Expr
from dllint.inference import enumerations
from dllint.inference.folding import is_member
from dllint.inference.interface import Engine, Handler
from dllint.inference.isinstance_tests import tells_nothing
from dllint.inference.narrowing import is_instance, listed_classes
from dllint.inference.unions import union
from dllint.inference.values import (
    UNKNOWN,
    Class,
    Const,
    Display,
    External,
    Instance,
    Mapping,
    Parsed,
    Partial,
    Site,
    Super,
    Value,
    Values,
    Written,
    const,
)
from dllint.libraries import dynamic_lookup as by_name
from dllint.libraries.contexts import package_of
from dllint.libraries.dynamic_lookup import first_argument
from dllint.libraries.evaluated_names import evaluated
from dllint.libraries.formatted_texts import formatted
from dllint.libraries.iterables import empty_set, next_element, read_up_as_sequence
from dllint.libraries.numbers import converted, extreme, length, reduced, summed
from dllint.linking.assignments import whose_dict

if TYPE_CHECKING:
    from dllint.linking.source import SourceFile

BUILTINS = frozenset(dir(builtins))
DICT_CLASSES = frozenset(
    {
        "dict",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.UserDict",
        "easydict.EasyDict",
        "addict.Dict",
        "argparse.Namespace",
        "types.SimpleNamespace",
        "munch.Munch",
        "box.Box",
        "omegaconf.OmegaConf.create",
        "yacs.config.CfgNode",
        "fvcore.common.config.CfgNode",
        "ml_collections.ConfigDict",
        "transformers.PretrainedConfig",
    }
)
SAME_ITEMS = frozenset({"torch.utils.data.random_split"})
"""Functions that return a sequence; the analysis treats each of its items as the sequence itself."""


def _mapping(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    return (Mapping(Written(CallRef(index), site)),)


def _created(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the value of `OmegaConf.create(content)`; an empty configuration without content."""
    if not file.calls[index].args:
        return _mapping(world, file, index, site)
    return first_argument(world, file, index, site)


def _merged(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the value of `OmegaConf.merge(defaults, given)`, whose later arguments win at every level."""
    args = file.calls[index].args
    if not args or any(one.keyword is not None for one in args):
        return None
    return (Mapping(Written(CallRef(index), site), layered=True),)


def _partial(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    functions = first_argument(world, file, index, site)
    if functions is None:
        return None
    return tuple(UNKNOWN if value == UNKNOWN else Partial(value, file, index, site.frame) for value in functions)


def _type(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `type("Mine", (Rows,), {})` gives: a class that stands for its bases, and that pickle does not find."""
    args = file.calls[index].args
    if len(args) != 3 or any(one.keyword for one in args) or _overrides(args[2].value):
        return None
    bases = [one for one in world.values.evaluate(Element(args[1].value), site) if isinstance(one, Class)]
    return (Instance(External("type"), file, index, site.frame), *bases) if bases else None


def _overrides(body: Expr) -> bool:
    """Whether the dict of a class that `type` makes may have attributes of the bases."""
    if not isinstance(body, Dict):
        return True
    return any(not (isinstance(key, Constant) and str(key.value).startswith("__")) for key, _ in body.items)


def _get(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    call = file.calls[index]
    if not isinstance(call.func, Attribute) or not call.args or call.args[0].keyword:
        return None
    default = world.values.evaluate(call.args[1].value, site) if len(call.args) > 1 else (const(None),)
    groups: list[Value] = []
    holder = whose_dict(call.func.value, site.file.facts)
    if holder is not None:
        owners = world.values.evaluate(holder, site)
        for key in world.values.evaluate(call.args[0].value, site):
            named: Values = ()
            if isinstance(key, Const) and isinstance(key.value, str):
                named = union(world.values.attribute(one, key.value) for one in owners)
            groups += tuple(one for one in named if one != UNKNOWN) or (*default, UNKNOWN)
        return tuple(dict.fromkeys(groups)) or None
    for key in enumerations.plain(world, world.values.evaluate(call.args[0].value, site)):
        if isinstance(key, Const) or is_member(key):
            found = world.mappings.lookup(call.func.value, site, key.value if isinstance(key, Const) else key)
            if found is not None:
                groups += found.values
                if found.absent:
                    groups += default
                continue
        for value in world.values.evaluate(call.func.value, site):
            groups += world.mappings.item(value, key)
        groups += default
    return tuple(dict.fromkeys(groups)) or None


def _environment(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """The default of `os.environ.get(name, default)`, which the environment may replace."""
    args = file.calls[index].args
    if len(args) < 2 or any(argument.keyword for argument in args):
        return None
    return tuple(dict.fromkeys((*world.values.evaluate(args[1].value, site), UNKNOWN)))


def _option(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """The default of `typer.Option(default, …)`, which the command line may replace."""
    return tuple(dict.fromkeys((*(first_argument(world, file, index, site) or ()), UNKNOWN)))


def _copy(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return a copy of the first argument, or of the receiver of a method call without arguments."""
    func, made = file.calls[index].func, Written(CallRef(index), site)
    if not file.calls[index].args and isinstance(func, Attribute):
        values: Values | None = world.values.evaluate(func.value, site)
    else:
        values = first_argument(world, file, index, site)
    if values is None:
        return None
    return tuple(
        value.made_by(value.kind, made)
        if isinstance(value, Display)
        else replace(value, made=made)
        if isinstance(value, Mapping)
        else value
        for value in values
    )


def _entered(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    args = file.calls[index].args
    return world.values.evaluate(Entered(args[0].value), site) if args and not args[0].keyword else None


def receiver(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the receiver of a method call; None if the call is not a method call."""
    func = file.calls[index].func
    return world.values.evaluate(func.value, site) if isinstance(func, Attribute) else None


def _super(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    scope = site.scope
    while scope > 0 and file.method_of(scope) is None:
        scope = file.scopes[scope].parent
    owner = file.method_of(scope)
    if owner is None:
        return None
    receiver = site.frame.receiver if site.frame is not None else None
    return (Super(Class(file, owner), receiver, site.frame),)


def _of_metaclass(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the classes that a metaclass creates, for `super().__new__(…)` in its `__new__`."""
    owner = file.method_of(site.scope)
    return (world.hierarchy.created_by(Class(file, owner)) or None) if owner is not None else None


def _context(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    call = file.calls[index]
    modules = dict.fromkeys(module for module, _ in _called_contexts(world, file, index, site))
    methods = [""]
    if call.args:
        values = world.values.evaluate(call.args[0].value, site)
        methods = [
            ("" if one.value is None else f"[{one.value}]") if isinstance(one, Const) else "[?]" for one in values
        ]
    return tuple(External(module + method) for module in modules for method in dict.fromkeys(methods))


def _named_context(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    named = [(module, _CONTEXT_CLASSES.get(name)) for module, name in _called_contexts(world, file, index, site)]
    return tuple(External(f"{module}[{method}]") for module, method in named if method is not None) or None


def _called_contexts(world: Engine, file: SourceFile, index: int, site: Site) -> Iterator[tuple[str, str]]:
    """The functions and classes that a call of a context may call, each as its package and its last name."""
    for value in world.values.evaluate(file.calls[index].func, site):
        if isinstance(value, External):
            yield package_of(value.name) or "multiprocessing", value.name.rpartition(".")[2]


_RETURNING_SELF = (
    *("to", "cpu", "cuda", "float", "double", "half", "bfloat16", "type", "to_empty"),
    *("train", "eval", "requires_grad_", "share_memory", "apply"),
)
"""Methods of `torch.nn.Module` that return the module (their documentation)."""
_CONTEXT_CLASSES = {"ForkContext": "fork", "SpawnContext": "spawn", "ForkServerContext": "forkserver"}


def _parse(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    call = file.calls[index]
    if not isinstance(call.func, Attribute):
        return None
    parsers = world.values.evaluate(call.func.value, site)
    return tuple(Parsed(parser, file, index, site.frame) for parser in parsers)


def _cast(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `cast(Dataset, rows)` gives: its second argument, untouched (typing.py). If nothing is known of that, the
    first tells its class."""
    args = file.calls[index].args
    if len(args) != 2 or any(one.keyword for one in args):
        return None
    values = world.values.evaluate(args[1].value, site)
    known = values not in ((UNKNOWN,), ()) and not all(map(tells_nothing, values))
    return values if known else world.hierarchy.annotated(args[0].value, site) or values


def _chosen(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """The functions and objects among the elements that `random.choice(operations)` selects from."""
    args = file.calls[index].args
    return _objects_in(world, args[0].value, site) if args and args[0].keyword in (None, "seq", "a") else None


def _popped(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """The functions and objects among the elements that `operations.pop()` removes and returns."""
    func = file.calls[index].func
    found = _objects_in(world, func.value, site) if isinstance(func, Attribute) else None
    return found if found != (UNKNOWN,) else None


def _objects_in(world: Engine, sequence: Expr, site: Site) -> Values | None:
    # Numbers and texts among them stay unknown: a draw from them is no value to rely on.
    elements = world.values.evaluate(Element(sequence), site)
    found = [one for one in elements if not isinstance(one, Const)]
    return (*found, UNKNOWN) if len(found) < len(elements) and UNKNOWN not in found else tuple(found) or None


def _isinstance(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    call = file.calls[index]
    if len(call.args) != 2 or any(argument.keyword for argument in call.args):
        return None
    wanted = listed_classes(world, call.args[1].value, site)
    kinds: dict[object, Value] = {}
    for value in world.values.evaluate(call.args[0].value, site):
        # Objects of one class give one answer.
        kinds.setdefault((value.of, value.call < 0) if isinstance(value, Instance) else value, value)
    found = (is_instance(world, value, wanted) for value in kinds.values())
    return tuple(dict.fromkeys(UNKNOWN if one is None else const(one) for one in found)) or None


RESULTS: dict[str, Handler] = {
    "isinstance": _isinstance,
    "dict": _mapping,
    "collections.OrderedDict": _mapping,
    "easydict.EasyDict": _mapping,
    "addict.Dict": _mapping,
    "argparse.Namespace": _mapping,
    "types.SimpleNamespace": _mapping,
    "munch.Munch": _mapping,
    # munch/__init__.py: the dicts inside are converted too; attributes of a dict are looked up here in any case
    **dict.fromkeys(("munch.munchify", "munch.Munch.fromDict"), first_argument),
    "box.Box": _mapping,
    "ml_collections.ConfigDict": _mapping,
    "yacs.config.CfgNode": _mapping,
    "fvcore.common.config.CfgNode": _mapping,
    "omegaconf.OmegaConf.create": _created,
    "omegaconf.OmegaConf.merge": _merged,
    # omegaconf/omegaconf.py: the plain dict of the same entries
    **dict.fromkeys(("omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.to_object"), first_argument),
    "functools.partial": _partial,
    "functools.wraps()": first_argument,
    "functools.update_wrapper": first_argument,
    "staticmethod": first_argument,
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    "vars": first_argument,
    "int": converted,
    "float": converted,
    "str": converted,
    "bool": converted,
    "abs": converted,
    "round": converted,
    "min": extreme,
    "max": extreme,
    **dict.fromkeys(("random.choice", "numpy.random.choice", "random.Random().choice"), _chosen),
    "list().pop": _popped,
    "sum": summed,
    "len": length,
    "functools.reduce": reduced,
    "type": _type,
    **dict.fromkeys(("getattr", "object.__getattribute__"), by_name.attribute),
    "eval": evaluated,
    "dict().get": _get,
    "dict().pop": _get,
    "dict().setdefault": _get,
    "dict().clone": _copy,
    "dict().copy": _copy,
    "list().copy": _copy,
    "torch.Generator().manual_seed": receiver,
    **{f"torch.nn.Module().{name}": receiver for name in _RETURNING_SELF},
    "contextlib.ExitStack().enter_context": _entered,
    "os.environ.get": _environment,
    "os.getenv": _environment,
    "typer.Option": _option,
    "typer.Argument": _option,
    "typing.cast": _cast,
    "typing_extensions.cast": _cast,
    "super": _super,
    "type.__new__": _of_metaclass,
    "abc.ABCMeta.__new__": _of_metaclass,
    "importlib.import_module": by_name.module,
    "__import__": by_name.module,
    "imp.load_source": by_name.module_at,
    "importlib.util.module_from_spec": by_name.module_of_spec,
    "importlib.machinery.SourceFileLoader().load_module": by_name.module_of_loader,
    "multiprocessing.get_context": _context,
    **{f"multiprocessing.context.{name}": _named_context for name in _CONTEXT_CLASSES},
    "argparse.ArgumentParser().parse_args": _parse,
    "argparse.ArgumentParser().parse_known_args": _parse,
    "list": read_up_as_sequence,
    "set": empty_set,
    "tuple": read_up_as_sequence,
    "sorted": read_up_as_sequence,
    "reversed": read_up_as_sequence,
    "iter": read_up_as_sequence,
    "next": next_element,
    "str().format": formatted,
    # deepspeed/__init__.py and lightning 1.x: the parser that was given, with more options
    "deepspeed.add_config_arguments": first_argument,
    "lightning.pytorch.Trainer.add_argparse_args": first_argument,
}
