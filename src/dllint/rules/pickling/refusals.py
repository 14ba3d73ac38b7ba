"""Why pickle rejects an object: what libraries refuse, classes created at run time, gradients."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, CallRef, Name
from dllint.facts.schema import Expr
from dllint.inference.values import (
    Class,
    Const,
    Display,
    External,
    Function,
    Instance,
    Module,
    Partial,
    Pattern,
    Site,
    Value,
)
from dllint.libraries import contexts
from dllint.libraries.builtin_functions import CLASS_MAKERS
from dllint.libraries.dynamic_lookup import IMPORTING
from dllint.libraries.index import FILE_MODES, REFUSALS, RUN_TIME_CLASSES, UNPICKLABLE_FUNCTIONS, canonical
from dllint.libraries.loguru import LOGGER, METHOD
from dllint.libraries.numpy import NPZ
from dllint.libraries.pickling import (
    CACHED,
    GENERATOR,
    INNER_MODULES,
    MODULE,
    RUN_TIME_CLASS,
    WRAPPED_BY_CLASS,
    Refusal,
    named,
    opened,
)
from dllint.libraries.standard_library import CACHES
from dllint.libraries.torch import NON_LEAF, SCRIPT_FUNCTION, SCRIPTING
from dllint.linking.source import SourceFile, last_name
from dllint.project.kept_values import Kept

if TYPE_CHECKING:
    from dllint.project.model import Project

PICKLING_METHODS = ("__getstate__", "__reduce__", "__reduce_ex__")


class ImportedModules:
    """The modules from outside that the project imports by `import package.module` or `import_module("package")`, and
    the packages around them, and modules that their package imports itself."""

    def __init__(self, project: Project) -> None:
        imported = {
            entry.module
            for file in project.world.files.values()
            for _, _, entry in file.imports()
            if entry.name is None and not entry.level
        }
        for name in IMPORTING:
            for file, index in project.world.called(name.rpartition(".")[2]):
                for value in project.evaluate_argument(file, index, 0, "name", None) or ():
                    if isinstance(value, Const) and isinstance(value.value, str):
                        imported.add(value.value)
        inside = (tuple(name.split(".")) for name in imported)
        self.names = INNER_MODULES | {".".join(parts[:end]) for parts in inside for end in range(1, len(parts) + 1)}


def refusal_of(project: Project, value: Value, explicit: bool) -> Refusal | None:
    """The reason why pickle rejects a value that is sent to processes; None if it does not.

    `explicit`: the processes start by a method that is set only where they are started, so that no multiprocessing
    object uses it by default.
    """
    if isinstance(value, Display):
        return GENERATOR if value.kind == "generator" else None
    if isinstance(value, Module):
        return MODULE
    if isinstance(value, Function):
        return WRAPPED_BY_CLASS if _wrapped_by_class(project, value) else None
    if isinstance(value, External):
        row = UNPICKLABLE_FUNCTIONS.get(canonical(value.name))
        if row in (LOGGER, METHOD) and not _has_sinks(project):
            return None
        return MODULE if row is None and value.name in project.ask(ImportedModules).names else row
    if not isinstance(value, Instance) or value.call < 0 or value.file is None:
        return None
    if isinstance(value.of, Class):
        if any(project.world.hierarchy.method(value.of, name) is not None for name in PICKLING_METHODS):
            return None
        rows = (REFUSALS.get(canonical(name)) for name in project.world.hierarchy.externals(value.of))
        return next((row for row in rows if row is not None and not row.forked_context), None)
    context = contexts.method_of(value.of.name)
    name = canonical(value.of.name)
    if name in project.settings.unpicklable or value.of.name in project.settings.unpicklable:
        return named(name)
    if name in IMPORTING:
        return MODULE
    if name in FILE_MODES:
        return _opened(project, name, value)
    if name in CACHES:
        given = project.evaluate_argument(value.file, value.call, 0, "user_function", value.frame)
        functions = [one for one in given or () if isinstance(one, Function)]
        return CACHED if functions and not _bound_as(value, {one.name for one in functions}) else None
    if name in RUN_TIME_CLASSES or (name in CLASS_MAKERS and len(value.file.calls[value.call].args) > 1):
        return _made_at_run_time(project, value)
    if name == "numpy.load":
        return NPZ if _suffix(project, value).endswith(".npz") else None
    if name in SCRIPTING:
        given = project.evaluate_argument(value.file, value.call, 0, "obj", value.frame)
        return SCRIPT_FUNCTION if given and all(isinstance(one, Function) for one in given) else REFUSALS[name]
    row = REFUSALS.get(name)
    if row in (LOGGER, METHOD) and not _has_sinks(project):
        return None
    if row is not None and row.forked_context and not _forked(project, context, explicit):
        return None
    if row is not None and row.lock and not _is_locked(project, value):
        return None
    if row is not None and row.remedy == "view" and name.startswith("dict()") and project.world.called("Manager"):
        return None
    return row


def _has_sinks(project: Project) -> bool:
    """Whether loguru's logger may write to a stream or a file: it prints until its sinks are removed."""
    if not any(project.external_calls("remove", "loguru.")):
        return True
    added = [
        project.evaluate_argument(file, call, 0, "sink") or ()
        for file, call, _ in project.external_calls("add", "loguru.")
    ]
    return any(not sinks or not all(isinstance(one, (Function, Partial)) for one in sinks) for sinks in added)


def _opened(project: Project, name: str, value: Instance) -> Refusal:
    assert value.file is not None
    opener = FILE_MODES[name]
    given = project.evaluate_argument(value.file, value.call, opener.position, "mode", value.frame) or ()
    modes = [one.value for one in given if isinstance(one, Const) and isinstance(one.value, str)]
    buffering = project.evaluate_argument(value.file, value.call, opener.position + 1, "buffering", value.frame)
    unbuffered = bool(buffering) and all(isinstance(one, Const) and one.value == 0 for one in buffering or ())
    return opened(opener, modes[0] if modes else opener.default, unbuffered)


def _suffix(project: Project, value: Instance) -> str:
    """The known end of the path that is passed to an opener."""
    assert value.file is not None
    for one in project.evaluate_argument(value.file, value.call, 0, "file", value.frame) or ():
        if isinstance(one, Const) and isinstance(one.value, str):
            return one.value
        if isinstance(one, Pattern):
            return one.suffix
    return ""


def _forked(project: Project, context: str | None, explicit: bool) -> bool:
    """Whether a multiprocessing object is from a fork context while the workers start by another method.

    An object of the default context is, if only the loader sets another method, on targets whose default is fork.
    """
    if context is not None:
        return context == "fork"
    if not explicit or project.world.called("set_start_method"):
        return False
    return "fork" in project.targets.default_start_methods()


def _is_locked(project: Project, value: Instance) -> bool:
    """Whether `multiprocessing.Value` or `Array` adds a lock: by default, and with `lock=True`."""
    assert value.file is not None
    given = project.evaluate_argument(value.file, value.call, -1, "lock", value.frame)
    return given is None or (bool(given) and all(isinstance(one, Const) and one.value is True for one in given))


def of_a_chosen_context(values: Iterable[Value]) -> set[Value]:
    """Multiprocessing objects of a context that the program selects: the selection may apply to the loader too."""
    made: dict[Hashable, dict[Value, str | None]] = {}
    for value in values:
        if isinstance(value, Instance) and value.file is not None and isinstance(value.of, External):
            way = value.file.path, value.call, value.frame
            made.setdefault(way, {})[value] = contexts.method_of(value.of.name)
    return {value for one in made.values() if len(set(one.values())) > 1 for value in one}


def _made_at_run_time(project: Project, value: Instance) -> Refusal | None:
    """The refusal of a class from `namedtuple(…)` and similar, unless pickle finds the class by its name in the
    module."""
    assert value.file is not None
    file, call = value.file, value.file.calls[value.call]
    if call.scope == 0:
        given = project.evaluate_argument(file, value.call, 0, "typename", value.frame) or ()
        names = {one.value for one in given if isinstance(one, Const)}
        if len(names) != 1 or _bound_as(value, names) is not False:
            return None
    if any(_registers(file, index) for index in file.calls_of(call.scope)):
        return None
    return RUN_TIME_CLASS


def _registers(file: SourceFile, index: int) -> bool:
    """Whether a call defines names of a module at run time: `globals()`, `setattr(sys.modules[__name__], …)`."""
    call = file.calls[index]
    if call.func == Name("globals") or call.func == Name("vars"):
        return True
    return call.func == Name("setattr") and bool(call.args) and not isinstance(call.args[0].value, Name)


def _bound_as(value: Instance, names: Collection[object]) -> bool | None:
    """Whether a module variable bound to the call's result has one of the names; None if no variable is bound to it."""
    assert value.file is not None
    bound = {
        name
        for name, bindings in value.file.bindings(0).items()
        if any(binding.expr == CallRef(value.call) for binding in bindings)
    }
    return bool(bound & set(names)) if bound else None


def _wrapped_by_class(project: Project, function: Function) -> bool:
    """Whether a class of the project, used as a decorator, replaces the function by an object of its own."""
    file, entry = function.file, function.file.scopes[function.scope]
    if entry.parent != 0 or len(entry.decorators) != 1:
        return False
    site = Site(file, 0, entry.region, entry.header.start, None)
    found = project.world.values.evaluate(entry.decorators[0].expr, site)
    return bool(found) and all(
        isinstance(one, Class)
        and not any(project.world.hierarchy.method(one, name) is not None for name in (*PICKLING_METHODS, "__new__"))
        for one in found
    )


def written_refusal(project: Project, kept: Kept) -> Refusal | None:
    """The refusal of a value that only the assigned expression reveals: a tensor computed with gradients."""
    expr = kept.store.value
    if expr is None or kept.store.key != kept.attr:
        return None
    return NON_LEAF if needs_gradient(project, expr, kept.site) else None


def needs_gradient(project: Project, expr: Expr, site: Site) -> bool:
    """Whether an expression computes with a tensor that requires gradients: `torch.zeros(3, requires_grad=True) *
    2`."""
    if not isinstance(expr, BinOp) or _without_gradients(site):
        return False
    sides = expr.children()
    for side in sides:
        if isinstance(side, BinOp) and needs_gradient(project, side, site):
            return True
        for value in project.world.values.evaluate(side, site):
            if isinstance(value, Instance) and isinstance(value.of, External) and value.file is not None:
                if value.of.name == "torch.nn.Parameter":
                    return True
                given = (
                    project.evaluate_argument(value.file, value.call, -1, "requires_grad", value.frame)
                    if value.of.name.startswith("torch.") and "()" not in value.of.name
                    else None
                )
                if given and all(isinstance(one, Const) and one.value is True for one in given):
                    return True
    return False


def _without_gradients(site: Site) -> bool:
    """Whether a place is inside `with torch.no_grad()` or similar."""
    entries = (site.file.facts.regions[index] for index in site.file.regions(site.region))
    contexts = (entry.expr for entry in entries if entry.kind == "with" and entry.expr is not None)
    return any(
        isinstance(expr, CallRef) and last_name(site.file.calls[expr.index].func) in ("no_grad", "inference_mode")
        for expr in contexts
    )
