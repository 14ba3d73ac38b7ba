"""Options of loaders that are about workers, beside worker counts that are, or can be, 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Constant
from dllint.facts.schema import Expr
from dllint.finding import Place
from dllint.inference.values import (
    Class,
    Const,
    Data,
    External,
    Frame,
    Function,
    Instance,
    Keywords,
    Mapping,
    Parsed,
    Site,
    Unknown,
    Value,
)
from dllint.libraries.torch import WORKER_OPTIONS, canonical
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader

if TYPE_CHECKING:
    from dllint.project.model import Project

MOST_ACTIVATIONS = 12
"""Callers of the function around a loader that are told apart."""
DEEPEST = 10
_CAUGHT = frozenset({"ValueError", "AssertionError", "Exception", "BaseException"})
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress"})


@dataclass(frozen=True)
class Clash:
    """Options that need workers where there are, or can be, none.

    Attributes:
        options: their names in torch.
        sure: whether the count is written as 0, and not only a default that users replace.
        origin: where the 0 comes from, in words, with its place.
        frame: the activation of the function around the loader in which this is so.
        caller: the call that makes the activation; None for any.
    """

    options: tuple[str, ...]
    sure: bool
    origin: str
    place: Place | None
    caller: Place | None


class WorkerOptions:
    """Answers about one project's loaders."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world

    def clash(self, loader: Loader) -> Clash | None:
        """The worst clash of a loader's arguments over the known callers of the function around it."""
        file, call = loader.file, loader.file.calls[loader.call]
        if self._expected_to_fail(file, call.region):
            return None
        found: list[Clash] = []
        for frame, caller in self._activations(loader):
            clash = self._in(loader, frame, caller)
            if clash is not None:
                found.append(clash)
        return min(found, key=lambda clash: not clash.sure) if found else None

    def ignored(self, loader: Loader) -> bool:
        """Whether a loader is given a `worker_init_fn` and the program itself says that it has no workers."""
        call = loader.file.calls[loader.call]
        if written(loader, "worker_init_fn") is None or self._guarded(loader):
            return False
        frames = [frame for frame, _ in self._activations(loader)]
        if not frames or any(loader.workers(frame).kind != "none" for frame in frames):
            return False
        given = [loader.argument("worker_init_fn", frame) for frame in frames]
        if any(one.absent or not one.values for one in given) or any(
            isinstance(value, (Const, Unknown)) for one in given for value in one.values
        ):
            return False
        count = written(loader, "num_workers")
        if count is None:
            return not any(argument.keyword in ("*", "**") for argument in call.args)
        return all(
            self._origin(count, self.world.call_site(loader.file, loader.call, one), DEEPEST) is None for one in frames
        )

    def _activations(self, loader: Loader) -> Iterator[tuple[Frame | None, Place | None]]:
        scope = loader.file.calls[loader.call].scope
        callers = self.world.calls.callers(Function(loader.file, scope)) if scope > 0 else []
        known = [caller for caller in callers if caller.call >= 0 and caller.frame.actuals is not None]
        if not known or len(known) > MOST_ACTIVATIONS:
            yield None, None
            return
        for caller in known:
            call = caller.file.calls[caller.call]
            if not self.world.impossible(self.world.call_site(caller.file, caller.call, None)):
                yield caller.frame, Place(caller.file.path, call.span, "called from here")

    def _in(self, loader: Loader, frame: Frame | None, caller: Place | None) -> Clash | None:
        found = loader.argument("num_workers", frame)
        zeros = _holds_zero(found.values)
        workers = loader.workers(frame)
        if workers.kind == "opaque" or not (zeros or workers.kind == "none"):
            return None
        options = tuple(option for option in WORKER_OPTIONS if self._given(loader, option, frame))
        if not options or self._guarded(loader):
            return None
        if not zeros:
            return Clash(options, True, "", None, caller)
        count = written(loader, "num_workers")
        site = self.world.call_site(loader.file, loader.call, frame)
        if count is None:
            unpacked = self._of_unpacked(loader, site)
            if unpacked is not None:
                return Clash(options, False, unpacked[0], unpacked[1], caller)
            return Clash(options, workers.kind == "none", "`num_workers` on some ways", None, caller)
        origin = self._origin(count, site, DEEPEST)
        if origin is not None:
            return Clash(options, False, origin[0], origin[1], caller)
        if workers.kind != "none":
            # Some way leads to 0 that is not a default: it is named by the expression alone.
            return Clash(options, False, f"`{render(count, loader.file)}` on some ways", None, caller)
        return Clash(options, True, "", None, caller)

    def _given(self, loader: Loader, option: str, frame: Frame | None) -> bool:
        """Whether an option is surely on."""
        found = loader.argument(option, frame)
        return not found.absent and bool(found.values) and all(self._is_on(option, value) for value in found.values)

    @staticmethod
    def _is_on(option: str, value: Value) -> bool:
        if isinstance(value, Const):
            if option == "prefetch_factor":
                return value.value is not None
            return bool(value.value)
        return option == "multiprocessing_context" and (
            isinstance(value, External) and canonical(value.name).startswith("multiprocessing")
        )

    # Guards

    def _guarded(self, loader: Loader) -> bool:
        """Whether the loader is made only under a condition on the number of workers."""
        file, call = loader.file, loader.file.calls[loader.call]
        count = written(loader, "num_workers")
        if count is None:
            return False
        words = leaves(count, file)
        for index in file.regions(call.region):
            region = file.facts.regions[index]
            tested = region.expr if region.kind in ("if", "while", "case") else None
            if tested is not None and words & leaves(tested, file):
                return True
        return any(
            event.kind == "assert" and event.value is not None and words & leaves(event.value, file)
            for event in file.scopes[call.scope].events
        )

    def _expected_to_fail(self, file: SourceFile, region: int) -> bool:
        """Whether an exception here is caught, or what a test waits for."""
        for index in file.regions(region):
            entry = file.facts.regions[index]
            context = entry.expr if entry.kind == "with" else None
            if context is not None and context[0] == "call" and last_name(file.calls[context[1]].func) in _EXPECTING:
                return True
            if entry.kind == "try":
                for other in file.facts.regions:
                    if other.kind == "handler" and other.parent == entry.parent and other.span > entry.span:
                        if other.expr is None or _CAUGHT & leaves(other.expr, file):
                            return True
                        break
        return False

    # Where a 0 comes from

    def _of_unpacked(self, loader: Loader, site: Site) -> tuple[str, Place | None] | None:
        """The default that the 0 of an unpacked mapping is; None where the program itself says 0."""
        key = loader.api.names.get("num_workers", "num_workers")
        for argument in loader.file.calls[loader.call].args:
            found = self._of_entry(argument.value, site, key, DEEPEST) if argument.keyword == "**" else None
            if found is not None:
                return found
        return None

    def _of_entry(self, expr: Expr, site: Site, key: str, left: int) -> tuple[str, Place | None] | None:
        """The default that the 0 under a key of a mapping is."""
        if left <= 0:
            return None
        for change in self.world.mappings.changes(site.file, render(expr, site.file, 200)):
            written_key = change.key.value if isinstance(change.key, Constant) else change.key
            if change.scope == site.scope and written_key == key and change.value is not None:
                found = self._zero_origin(
                    change.value, Site(site.file, change.scope, change.region, change.at, site.frame), left - 1
                )
                if found is not None:
                    return found
        for value in self.world.values.evaluate(expr, site):
            found = self._of_entry_in(value, key, left - 1)
            if found is not None:
                return found
        return None

    def _of_entry_in(self, value: Value, key: str, left: int) -> tuple[str, Place | None] | None:
        if isinstance(value, (Data, Parsed)):
            held = self.world.mappings.in_value(value, key)
            return self._of_key(value, key) if held is not None and _holds_zero(held.values) else None
        if isinstance(value, Keywords) and value.frame is not None and value.frame.actuals is not None:
            actual = value.frame.actuals.keywords.get(key)
            if actual is not None:
                return self._zero_origin(actual.expr, actual.site, left) if actual.expr and actual.site else None
            merged = ((one.expr, one.site) for one in value.frame.actuals.mappings)
            origins = (self._of_entry(expr, site, key, left) for expr, site in merged if expr and site)
            return next((one for one in origins if one is not None), None)
        if not isinstance(value, Mapping):
            return None
        expr, site = value.written.expr, value.written.site
        if expr[0] == "dict":
            entries = [(one[1] if one is not None and one[0] == "const" else one, entry) for one, entry in expr[1]]
        elif expr[0] == "call":
            given = site.file.calls[expr[1]].args
            entries = [(None if one.keyword in (None, "**") else one.keyword, one.value) for one in given]
        else:
            entries = []
        for name, entry in entries:
            found = (
                self._of_entry(entry, site, key, left)
                if name is None
                else self._zero_origin(entry, site, left)
                if name == key
                else None
            )
            if found is not None:
                return found
        return None

    def _of_key(self, value: Data | Parsed, key: str) -> tuple[str, Place | None] | None:
        if isinstance(value, Parsed):
            return self._of_option(value, key)
        return f"`{key}` in {self.project.shown(value.path)}", None

    def _origin(self, expr: Expr, site: Site, left: int) -> tuple[str, Place | None] | None:
        """The default that an expression's 0 is: of an option, a parameter or a configuration entry. None where the
        program itself says 0."""
        if left <= 0:
            return None
        tag = expr[0]
        if tag == "name":
            return self._of_name(expr[1], site, left)
        if tag in ("attr", "item"):
            return self._of_member(expr, site, left)
        if tag == "ifexp":
            parts = expr[2:4]
        elif tag in ("and", "or"):
            parts = expr[1]
        elif tag == "call" and site.file.calls[expr[1]].func[0] == "name":
            parts = [argument.value for argument in site.file.calls[expr[1]].args]
        elif tag == "binop":
            parts = expr[2:4]
        else:
            return None
        for part in parts:
            found = self._zero_origin(part, site, left - 1)
            if found is not None:
                return found
        return None

    def _zero_origin(self, expr: Expr, site: Site, left: int) -> tuple[str, Place | None] | None:
        """The origin of an expression that can be 0; None where it cannot."""
        return self._origin(expr, site, left) if _holds_zero(self.world.values.evaluate(expr, site)) else None

    def _of_name(self, name: str, site: Site, left: int) -> tuple[str, Place | None] | None:
        for binding, where in self.world.symbols.lookup(name, site):
            if binding.kind == "param":
                found = self._of_parameter(name, where, left)
                if found is not None:
                    return found
            elif binding.kind == "value" and binding.expr is not None:
                found = self._zero_origin(binding.expr, where, left - 1)
                if found is not None:
                    return found
        return None

    def _of_parameter(self, name: str, where: Site, left: int) -> tuple[str, Place | None] | None:
        function = Function(where.file, where.scope)
        frames = [where.frame] if where.frame is not None and where.frame.actuals is not None else []
        frames = frames or [caller.frame for caller in self.world.calls.callers(function)]
        params = where.file.scopes[where.scope].params
        defaulted = not frames
        for frame in frames:
            if frame is None or frame.actuals is None:
                continue
            bound = self.world.parameters.bound(function, name, frame)
            defaulted = defaulted or bound.case == "default"
            actual = bound.actual if bound.case == "actual" else None
            if actual is not None and actual.expr is not None and actual.site is not None:
                found = self._zero_origin(actual.expr, actual.site, left - 1)
                if found is not None:
                    return found
        for param in params if defaulted else ():
            if param.name == name and param.default is not None:
                shown = self.project.where(where.file, param.span)
                place = Place(where.file.path, param.span, "its default is 0")
                return f"the default of `{name}` at {shown}", place
        return None

    def _of_member(self, expr: Expr, site: Site, left: int) -> tuple[str, Place | None] | None:
        key = expr[2] if expr[0] == "attr" else expr[2][1] if expr[2][0] == "const" else None
        if not isinstance(key, str):
            return None
        for base in self.world.values.evaluate(expr[1], site):
            found: tuple[str, Place | None] | None = None
            if isinstance(base, (Data, Parsed)):
                found = self._of_key(base, key)
            elif isinstance(base, Instance):
                found = self._of_attribute(base, key, left)
            if found is not None:
                return found
        return None

    def _of_option(self, value: Parsed, key: str) -> tuple[str, Place] | None:
        for file, index in self.world.knowledge.options(value, key):
            call = file.calls[index]
            for argument in call.args:
                site = self.world.call_site(file, index, None)
                if argument.keyword == "default" and _holds_zero(self.world.values.evaluate(argument.value, site)):
                    place = Place(file.path, call.span, "its default is 0")
                    return f"the default of `--{key}` at {self.project.where(file, call.span)}", place
        return None

    def _of_attribute(self, value: Instance, key: str, left: int) -> tuple[str, Place | None] | None:
        if isinstance(value.of, External):
            return None
        for owner in self.world.hierarchy.line(value.of):
            for store in self.world.stores.own_stores(owner).get(key, ()) if isinstance(owner, Class) else ():
                if store.value is not None and isinstance(owner, Class):
                    found = self._origin(store.value, self.world.stores.store_site(value, owner, store), left - 1)
                    if found is not None:
                        return found
        return None


def written(loader: Loader, option: str) -> Expr | None:
    """The expression that the loader's own call gives for an option; None where it comes another way."""
    name = loader.api.names.get(option, option)
    arguments = loader.file.calls[loader.call].args
    for argument in arguments:
        if argument.keyword == name:
            return argument.value
    position = loader.api.params.index(name) if name in loader.api.params else -1
    plain = [argument for argument in arguments if argument.keyword is None]
    return plain[position].value if loader.cls is None and 0 <= position < len(plain) else None


def _holds_zero(values: tuple[Value, ...]) -> bool:
    return any(isinstance(value, Const) and value.value == 0 and value.kind == "int" for value in values)


def leaves(expr: Expr, file: SourceFile) -> set[str]:
    """The names, attribute names and text keys of an expression, without the objects that attributes are read from."""
    tag = expr[0]
    if tag == "name":
        return {expr[1]}
    if tag == "attr":
        return {expr[2]}
    if tag == "item":
        return {str(expr[2][1])} if expr[2][0] == "const" else set()
    if tag == "call":
        return set().union(*(leaves(argument.value, file) for argument in file.calls[expr[1]].args))
    if tag == "compare":
        return leaves(expr[1], file).union(*(leaves(right, file) for _, right in expr[2]))
    if tag in ("and", "or", "tuple", "list"):
        return set().union(*(leaves(part, file) for part in expr[1]))
    if tag in ("not", "binop", "unary", "ifexp"):
        return set().union(*(leaves(part, file) for part in expr.children()))
    return set()
