"""The return values of the external functions that the analysis models."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace
from string import Formatter
from typing import TYPE_CHECKING, Any

from dllint.facts.nodes import Attribute, CallRef, Constant, Dict, Element, Entered, List, Name, Starred, Tuple
from dllint.facts.schema import Expr
from dllint.inference import enumerations
from dllint.inference.folding import is_member
from dllint.inference.generators import GENERATOR
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
    Function,
    Instance,
    Mapping,
    Parsed,
    Partial,
    Pattern,
    Site,
    Super,
    Value,
    Values,
    Written,
    const,
    constant,
)
from dllint.libraries import dynamic_lookup as by_name
from dllint.libraries.dynamic_lookup import first_argument
from dllint.libraries.evaluated_names import evaluated
from dllint.libraries.index import canonical, refuses
from dllint.linking.assignments import whose_dict
from dllint.linking.source import last_name

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


def _partial(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    functions = first_argument(world, file, index, site)
    if functions is None:
        return None
    return tuple(UNKNOWN if value == UNKNOWN else Partial(value, file, index, site.frame) for value in functions)


_NUMBERS: dict[str, Callable[[Any], object]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "abs": abs,
    "round": round,
}


def _number(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    call = file.calls[index]
    values = first_argument(world, file, index, site)
    convert = _NUMBERS.get(call.func.id) if isinstance(call.func, Name) else None
    if values is None or convert is None:
        return None
    found: list[Value] = []
    for value in values:
        if isinstance(value, Const) and value.value is not None:
            try:
                found.append(constant(convert(value.value)))
            except (TypeError, ValueError, OverflowError):
                found.append(UNKNOWN)
        elif isinstance(value, Pattern) and convert is str:
            found.append(value)
        else:
            found.append(UNKNOWN)
    return tuple(dict.fromkeys(found))


def _extreme(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `min(a, b)` and `max([a, b])` give: the one value, or what a count that is never negative leaves over."""
    call = file.calls[index]
    if call.func not in (Name("min"), Name("max")) or any(one.keyword for one in call.args):
        return None
    written = [one.value for one in call.args]
    if len(written) == 1 and isinstance(written[0], (List, Tuple)):
        written = list(written[0].elements)
    if len(written) < 2 or any(isinstance(one, Starred) for one in written):
        return None
    choose = min if call.func == Name("min") else max
    operands = [world.values.evaluate(one, site) for one in written]
    if all(len(values) == 1 and isinstance(values[0], Const) for values in operands):
        try:
            return (const(choose(values[0].value for values in operands if isinstance(values[0], Const))),)
        except TypeError:
            return None
    if choose is min and any(values == (const(0),) for values in operands):
        counted = all(_is_count(file, *one) for one in zip(written, operands, strict=True))
        return (const(0),) if counted else (const(0), UNKNOWN)
    least = [one.value for values in operands for one in values if len(values) == 1 and isinstance(one, Const)]
    if choose is max and any(isinstance(one, int) and one > 0 for one in least):
        # A number of workers, at least one: the other operand may be smaller.
        return (const(max(one for one in least if isinstance(one, (int, float)))), UNKNOWN)
    return (UNKNOWN,)


def _sum(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `sum(datasets)` gives: something with the parts of each, as `__add__` of datasets makes it."""
    plain = [one.value for one in file.calls[index].args if one.keyword is None]
    return _joined(world, plain[0], site) if len(plain) == 1 else None


def _reduced(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """What `reduce(add, datasets)` gives, in the same way."""
    args = file.calls[index].args
    return _joined(world, args[1].value, site) if len(args) == 2 and not any(one.keyword for one in args) else None


def _joined(world: Engine, several: Expr, site: Site) -> Values | None:
    parts = world.values.evaluate(Element(several), site)
    objects = [part for part in parts if isinstance(part, Instance) and isinstance(part.of, Class)]
    return tuple(dict.fromkeys(objects)) or None


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


def _length(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """The length of objects whose class says it: what `__len__` returns, if it is a number."""
    found: list[Value] = []
    for value in first_argument(world, file, index, site) or ():
        if not isinstance(value, Instance) or not isinstance(value.of, Class):
            return None
        method = world.hierarchy.method(value.of, "__len__")
        if method is None:
            return None
        found += world.values.returned(method, world.receiver_frame(value))
    return tuple(dict.fromkeys(found)) if found and all(isinstance(one, Const) for one in found) else None


def _is_count(file: SourceFile, expr: Expr, values: Values) -> bool:
    """Whether an expression is never negative: a length, a number of processors, or numbers that are known."""
    if isinstance(expr, CallRef) and last_name(file.calls[expr.index].func) in ("len", "cpu_count"):
        return True
    return bool(values) and all(
        isinstance(one, Const) and isinstance(one.value, (int, float)) and one.value >= 0 for one in values
    )


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
    if not call.args:
        return (External("multiprocessing"),)
    found: list[Value] = []
    for value in world.values.evaluate(call.args[0].value, site):
        if isinstance(value, Const):
            found.append(External("multiprocessing" if value.value is None else f"multiprocessing[{value.value}]"))
        else:
            found.append(External("multiprocessing[?]"))
    return tuple(dict.fromkeys(found))


def _named_context(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    found = [value.name for value in world.values.evaluate(file.calls[index].func, site) if isinstance(value, External)]
    methods = [_CONTEXT_CLASSES.get(name.rsplit(".", 1)[-1]) for name in found]
    return tuple(External(f"multiprocessing[{method}]") for method in methods if method is not None) or None


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


def _sequence(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    func = file.calls[index].func
    if not file.calls[index].args and isinstance(func, Name) and func.id in ("list", "tuple"):
        return (Display(func.id, Written(CallRef(index), site)),)
    values = first_argument(world, file, index, site)
    if values is None:
        return None
    if func == Name("iter"):
        return tuple(value if isinstance(value, (Display, Instance)) else UNKNOWN for value in values)
    kind = "tuple" if func == Name("tuple") else "list"
    through = file.calls[index].args[0].value
    if isinstance(through, CallRef) and not all(
        isinstance(value, Display) or (isinstance(value, Instance) and value.of == GENERATOR) for value in values
    ):
        # Of what comes from outside, the call alone tells what it is.
        elements = world.values.evaluate(Element(through), site)
        if elements and all(map(_is_own, elements)):
            return (Display(kind, Written(List((Starred(through),)), site)),)
    return tuple(dict.fromkeys(_read_up(value, kind, Written(CallRef(index), site)) for value in values))


def _is_own(value: Value) -> bool:
    """Whether a value is a class or function of the project, an object of such a class, or a constant."""
    of = value.of if isinstance(value, Instance) else value
    return isinstance(of, (Class, Function, Const))


def _empty(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the set that `set()` creates and other statements fill; None for `set(items)`, whose order is unknown."""
    call = file.calls[index]
    return (Display("set", Written(CallRef(index), site)),) if not call.args else None


def _read_up(value: Value, kind: str, made: Written) -> Value:
    """Return a new sequence of the elements of an iterable, or the object itself where its elements are unknown."""
    if isinstance(value, Display):
        return value.made_by(kind, made)
    if isinstance(value, Instance) and value.of == GENERATOR:
        return Display(kind, made)
    if isinstance(value, Instance) and not (isinstance(value.of, External) and refuses(canonical(value.of.name))):
        return value
    return UNKNOWN


def _next(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    args = file.calls[index].args
    if not args or args[0].keyword is not None:
        return None
    through = args[0].value
    while isinstance(through, CallRef) and file.calls[through.index].func == Name("iter"):
        given = file.calls[through.index].args
        if len(given) != 1 or given[0].keyword is not None:
            break
        through = given[0].value
    return world.values.evaluate(Element(through), site)


def _format(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Evaluate `"pkg.{}.{}".format(kind, name)`: to a constant, or to the text before the first and after the last
    field."""
    call = file.calls[index]
    if not isinstance(call.func, Attribute):
        return None
    given = [world.values.evaluate(argument.value, site) for argument in call.args if argument.keyword is None]
    plain = [values[0].value for values in given if len(values) == 1 and isinstance(values[0], Const)]
    texts = world.values.evaluate(call.func.value, site)
    return tuple(dict.fromkeys(_filled(text, plain, len(call.args)) for text in texts)) or None


def _filled(text: Value, plain: list[Any], count: int) -> Value:
    """Fill the fields of a format string if all `count` arguments are constants and each field takes one; else return a
    pattern of its fixed text."""
    if not isinstance(text, Const) or not isinstance(text.value, str):
        return UNKNOWN
    try:
        pieces = list(Formatter().parse(text.value))
    except ValueError:
        return UNKNOWN
    fields = [number for number, piece in enumerate(pieces) if piece[1] is not None]
    if not fields:
        return const("".join(piece[0] for piece in pieces))
    if len(plain) == count == len(fields) and all(pieces[number][1:] == ("", "", None) for number in fields):
        return constant(text.value.format(*plain))
    inner = "".join(piece[0] for piece in pieces[1 : fields[-1] + 1])
    return Pattern(pieces[0][0], "".join(piece[0] for piece in pieces[fields[-1] + 1 :]), inner)


def _join(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    pieces: list[str] = []
    for argument in file.calls[index].args:
        values = world.values.evaluate(argument.value, site) if argument.keyword is None else ()
        if len(values) != 1 or not isinstance(values[0], Const) or not isinstance(values[0].value, str):
            return None
        pieces.append(values[0].value)
    return (constant("/".join(pieces)),) if pieces else None


def _isinstance(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    call = file.calls[index]
    if len(call.args) != 2 or any(argument.keyword for argument in call.args):
        return None
    wanted = listed_classes(world, call.args[1].value, site)
    found = (is_instance(world, value, wanted) for value in world.values.evaluate(call.args[0].value, site))
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
    "functools.partial": _partial,
    "functools.wraps()": first_argument,
    "functools.update_wrapper": first_argument,
    "staticmethod": first_argument,
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    "vars": first_argument,
    "int": _number,
    "float": _number,
    "str": _number,
    "bool": _number,
    "abs": _number,
    "round": _number,
    "min": _extreme,
    "max": _extreme,
    **dict.fromkeys(("random.choice", "numpy.random.choice", "random.Random().choice"), _chosen),
    "list().pop": _popped,
    "sum": _sum,
    "len": _length,
    "functools.reduce": _reduced,
    "type": _type,
    "getattr": by_name.attribute,
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
    "list": _sequence,
    "set": _empty,
    "tuple": _sequence,
    "sorted": _sequence,
    "reversed": _sequence,
    "iter": _sequence,
    "next": _next,
    "os.path.join": _join,
    "str().format": _format,
    # deepspeed/__init__.py and lightning 1.x: the parser that was given, with more options
    "deepspeed.add_config_arguments": first_argument,
    "lightning.pytorch.Trainer.add_argparse_args": first_argument,
}
