"""Objects that pickle rejects: handles, locks, generators, classes created at run time."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import BinOp, CallRef, Constant, Name
from dllint.facts.schema import Expr
from dllint.finding import Place
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
from dllint.libraries.index import FILE_MODES, REFUSALS, RUN_TIME_CLASSES, UNPICKLABLE_FUNCTIONS, canonical
from dllint.libraries.loguru import LOGGER, METHOD
from dllint.libraries.numpy import NPZ
from dllint.libraries.pickling import (
    CACHED,
    GENERATOR,
    MODULE,
    RUN_TIME_CLASS,
    WRAPPED_BY_CLASS,
    Refusal,
    named,
    opened,
)
from dllint.libraries.standard_library import CACHES
from dllint.libraries.torch import LOADER_ITERATOR, NON_LEAF, SCRIPT_FUNCTION, SCRIPTING
from dllint.linking.source import SourceFile, last_name
from dllint.project.arrivals import Hop
from dllint.project.attribute_contents import contents_of, iterates_loader
from dllint.project.handles import Handles
from dllint.project.kept_values import Kept, Piece
from dllint.project.loaders import Loader
from dllint.project.parent_use import ParentTouches
from dllint.project.regimes import Regime
from dllint.rules.pickling.recursive_getattr import RECURSION, recursive_getattr
from dllint.rules.pickling.sent_to_workers import Sent
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project

PICKLING_METHODS = ("__getstate__", "__reduce__", "__reduce_ex__")


@dataclass(frozen=True)
class Refused(Sent):
    """An object that pickle rejects. `touch` is the call in the parent that opens it, if a method does so lazily;
    `handle` is where the handle is opened that it reads through, as a cursor does."""

    refusal: Refusal
    touch: Hop | None = None
    handle: tuple[str, Span] | None = None

    @property
    def kind(self) -> str:
        return self.refusal.what

    @property
    def through(self) -> tuple[str, Span] | None:
        return self.handle

    @property
    def hops(self) -> tuple[Hop, ...]:
        return (self.touch,) if self.touch is not None else super().hops

    @property
    def place(self) -> Place:
        return Place(self.file.path, self.span, f"{self.refusal.what} cannot be pickled")


class ImportedModules:
    """The modules from outside that the project imports by `import package.module`, and the packages around them."""

    def __init__(self, project: Project) -> None:
        imported = (
            entry.module
            for file in project.world.files.values()
            for _, _, entry in file.imports()
            if entry.name is None and not entry.level
        )
        self.names = frozenset(
            ".".join(parts[:end])
            for parts in {tuple(name.split(".")) for name in imported}
            for end in range(1, len(parts) + 1)
        )


def refused_by_pickle(project: Project, loader: Loader, regime: Regime) -> Iterator[Refused]:
    """The objects in the datasets and callables of a loader that its workers cannot receive."""
    seen: set[tuple[str, Span]] = set()
    pieces = list(sent_pieces(project, loader))
    chosen = _of_a_chosen_context(piece.value for _, piece in pieces)
    for holder, piece in pieces:
        refusal = refusal_of(project, piece.value, regime.source == "explicit")
        if refusal is not None and refusal.forked_context and piece.value in chosen:
            continue
        file, span, statement = place_of(piece) if refusal is not None else (None, None, None)
        if refusal is None or file is None or span is None or (file.path, span) in seen:
            continue
        if not _made_by_worker(project, loader, piece):
            seen.add((file.path, span))
            handle = _handle_of(project, piece.value)
            yield Refused("DLL203", file, span, statement, holder, piece.kept, refusal, handle=handle)
    yield from _unpickled_endlessly(project, loader, pieces)
    for one in _opened_lazily(project, loader, regime):
        if (one.file.path, one.span) not in seen:
            seen.add((one.file.path, one.span))
            yield one
    for value in project.dataset_objects(loader):
        assert isinstance(value.of, Class)
        dropped = project.datasets.dropped(value)
        for kept in project.datasets.kept(value):
            if kept.attr in dropped or not _there(project, loader, kept):
                continue
            refusal = _written_refusal(project, kept)
            if refusal is not None and (kept.file.path, kept.span) not in seen:
                seen.add((kept.file.path, kept.span))
                holder = f"{value.of.name}.{kept.attr}"
                statement = kept.store.event.span
                yield Refused("DLL203", kept.file, kept.span, statement, holder, kept, refusal)
            for content in contents_of(project.world, kept):
                if isinstance(content.expr, CallRef) and iterates_loader(project.world, content):
                    file, call = content.site.file, content.site.file.calls[content.expr.index]
                    if (file.path, call.span) not in seen:
                        seen.add((file.path, call.span))
                        holder = f"{value.of.name}.{kept.attr}"
                        yield Refused("DLL203", file, call.span, call.statement, holder, kept, LOADER_ITERATOR)


def _handle_of(project: Project, value: Value) -> tuple[str, Span] | None:
    """Where the handle is opened that an object reads through: the connection of a cursor."""
    whole = project.ask(Handles).whole(value) if isinstance(value, Instance) else value
    if whole == value or not isinstance(whole, Instance) or whole.file is None or whole.call < 0:
        return None
    return whole.file.path, whole.file.calls[whole.call].span


def _unpickled_endlessly(project: Project, loader: Loader, pieces: list[tuple[str, Piece]]) -> Iterator[Refused]:
    """The classes whose objects no worker can unpickle: of the datasets, and of what they and the callables hold."""
    values = (*project.dataset_objects(loader), *(piece.value for _, piece in pieces))
    classes = (value.of for value in values if isinstance(value, Instance) and isinstance(value.of, Class))
    for cls in dict.fromkeys(classes):
        method = recursive_getattr(project, cls)
        if method is not None:
            scope = method.file.scopes[method.scope]
            yield Refused("DLL203", method.file, scope.header, scope.header, cls.name, None, RECURSION)


def _opened_lazily(project: Project, loader: Loader, regime: Regime) -> Iterator[Refused]:
    """The unpicklable values set by methods of the datasets, and of objects inside them, that the parent calls before
    the workers start."""
    for value in project.dataset_objects(loader):
        touches = ParentTouches(project, loader, value)
        for holder in (value, *_objects_inside(project, value)):
            yield from _set_lazily(project, holder, regime, touches)


def _objects_inside(project: Project, value: Instance) -> Iterator[Instance]:
    """The project's objects inside a dataset, one per class: they share their methods."""
    seen = {value.of}
    for piece in project.datasets.pieces(value):
        one = piece.value
        if not piece.initial or piece.given or not isinstance(one, Instance) or not isinstance(one.of, Class):
            continue
        # Datasets inside are queried on their own.
        if one.of not in seen and one.call >= 0 and not project.datasets.derives(one.of):
            seen.add(one.of)
            yield one


def _set_lazily(project: Project, value: Instance, regime: Regime, touches: ParentTouches) -> Iterator[Refused]:
    assert isinstance(value.of, Class)
    initial = project.datasets.construction.of(value)
    for owner in project.world.hierarchy.line(value.of):
        if not isinstance(owner, Class):
            continue
        for attr, stores in project.world.stores.own_stores(owner).items():
            for store in stores:
                method = owner.file.path, store.scope
                if method in initial or store.value is None or isinstance(store.value, Constant):
                    continue
                site = project.world.stores.store_site(value, owner, store)
                values = project.world.values.evaluate(store.value, site)
                refusal = next(
                    (row for one in values if (row := refusal_of(project, one, regime.source == "explicit"))), None
                )
                # What the method itself releases again is not there when workers start.
                if refusal is None or project.datasets.releases.of(value.of, owner, store) == "surely":
                    continue
                hop = touches.of({method})
                if hop is None or attr in project.datasets.dropped(value):
                    continue
                event = store.event
                span = event.value_span or event.span
                yield Refused("DLL203", owner.file, span, event.span, f"{value.of.name}.{attr}", None, refusal, hop)


def sent_pieces(project: Project, loader: Loader) -> Iterator[tuple[str, Piece]]:
    """The pieces that the datasets and callables of a loader hold when its workers start, each with its path:
    "Rows.file"."""
    for name, piece in (*project.dataset_pieces(loader), *project.callable_pieces(loader)):
        if not piece.given and piece.initial and _there(project, loader, piece.kept):
            yield f"{name}.{piece.path}" if piece.path else name, piece


def _there(project: Project, loader: Loader, kept: Kept | None) -> bool:
    """Whether the attribute is set before the workers start."""
    if kept is None:
        return True
    early = kept.owner is not None or kept.at_once or not project.runs_in_worker(loader, kept.file, kept.scope)
    return kept.initial and early


def _made_by_worker(project: Project, loader: Loader, piece: Piece) -> bool:
    """Whether the object, an element of a list or dict that grows later, is created only by worker code."""
    value, kept = piece.value, piece.kept
    if not isinstance(value, Instance) or value.file is None or kept is None or value in kept.values:
        return False
    scope = value.file.calls[value.call].scope
    initial = project.datasets.construction.of_class(kept.owner) if kept.owner is not None else {}
    return (value.file.path, scope) not in initial and project.runs_in_worker(loader, value.file, scope)


def place_of(piece: Piece) -> tuple[SourceFile | None, Span | None, Span | None]:
    """Where the object is created, or else where it is kept; all None if unknown."""
    value = piece.value
    if isinstance(value, Instance) and value.file is not None and value.call >= 0:
        call = value.file.calls[value.call]
        return value.file, call.span, call.statement
    if piece.kept is not None:
        return piece.kept.file, piece.kept.span, piece.kept.store.event.span
    return None, None, None


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


def _of_a_chosen_context(values: Iterable[Value]) -> set[Value]:
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


def _written_refusal(project: Project, kept: Kept) -> Refusal | None:
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
