"""Loader options that need workers, with worker counts that are, or can be, 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    BoolOp,
    CallRef,
    Compare,
    Constant,
    IfExp,
    List,
    Name,
    Not,
    Subscript,
    Tuple,
    UnaryOp,
)
from dllint.facts.schema import Expr
from dllint.finding import Place
from dllint.inference import limits
from dllint.inference.origins import Given, Origins
from dllint.inference.values import Actual, Const, External, Frame, Function, Site, Unknown, Value
from dllint.libraries.index import canonical
from dllint.libraries.torch import WORKER_OPTIONS
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile, last_name
from dllint.project.loaders import Loader, written
from dllint.rules.data.expected_zero import expects_none

if TYPE_CHECKING:
    from dllint.project.model import Project

_DEFAULTS = frozenset({"option", "parameter", "entry"})
"""Kinds of sources that users rather than the program's author control."""
_CAUGHT = frozenset({"ValueError", "AssertionError", "Exception", "BaseException"})
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress"})


@dataclass(frozen=True)
class Clash:
    """Options that need workers while there are, or can be, none.

    Attributes:
        options: their names in torch.
        sure: whether the count is provably 0, rather than a default that users replace.
        origin: where the 0 comes from, as text; if `chosen`, the command-line flag.
        place: the place of the origin; None if there is none to show.
        caller: the call of the enclosing function for which this is so; None for any.
        chosen: whether the count is 0 only if a user asks for it, while the default works.
    """

    options: tuple[str, ...]
    sure: bool
    origin: str
    place: Place | None
    caller: Place | None
    chosen: bool = False


class WorkerOptions:
    """Finds the options without workers of all loaders of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.origins = Origins(project.world)

    def clash(self, loader: Loader) -> Clash | None:
        """The worst clash of a loader's arguments over the known callers of the enclosing function; None if there is
        none."""
        file, call = loader.file, loader.file.calls[loader.call]
        if self.expected_to_fail(file, call.region):
            return None
        found: list[Clash] = []
        for frame, caller in self.activations(loader):
            clash = self._in(loader, frame, caller)
            if clash is not None:
                found.append(clash)
        return min(found, key=lambda clash: (not clash.sure, clash.chosen)) if found else None

    def ignored(self, loader: Loader) -> bool:
        """Whether a loader gets a `worker_init_fn` although the program itself sets zero workers."""
        call = loader.file.calls[loader.call]
        if written(loader, "worker_init_fn") is None or self._guarded(loader, None):
            return False
        frames = [frame for frame, _ in self.activations(loader)]
        if not frames or any(loader.asked(frame).kind != "none" for frame in frames):
            return False
        given = [loader.argument("worker_init_fn", frame) for frame in frames]
        if any(one.absent or not one.values for one in given) or any(
            isinstance(value, (Const, Unknown)) for one in given for value in one.values
        ):
            return False
        count = written(loader, "num_workers")
        if count is None:
            return not any(argument.keyword in ("*", "**") for argument in call.args)
        return all(self._default(loader, count, frame) is None for frame in frames)

    def activations(self, loader: Loader) -> Iterator[tuple[Frame | None, Place | None]]:
        """The activations of the function that makes a loader, each with the call that creates it; (None, None) for
        any."""
        scope = loader.file.calls[loader.call].scope
        callers = self.world.calls.callers(Function(loader.file, scope)) if scope > 0 else []
        known = [caller for caller in callers if caller.call >= 0 and caller.frame.actuals is not None]
        if not known or limits.OPTION_CALLERS.exceeded(len(known)):
            yield None, None
            return
        for caller in known:
            call = caller.file.calls[caller.call]
            if not self.world.impossible(self.world.call_site(caller.file, caller.call, None)):
                yield caller.frame, Place(caller.file.path, call.span, "called from here")

    def _in(self, loader: Loader, frame: Frame | None, caller: Place | None) -> Clash | None:
        found = loader.argument("num_workers", frame)
        zeros = _holds_zero(found.values)
        workers = loader.asked(frame)
        if workers.kind == "opaque" or (workers.kind == "some" and workers.count is not None):
            return None
        options = tuple(option for option in WORKER_OPTIONS if self._given(loader, option, frame))
        if self._guarded(loader, frame):
            return None
        count = written(loader, "num_workers")
        if not zeros and workers.kind != "none":
            chosen = self._if_chosen(loader, frame, options, caller) if options else None
            return chosen or self._if_expected(loader, count, frame, options, caller)
        # Where both are left to the user, their defaults alone clash.
        known = bool(options)
        if not known and zeros:
            options = tuple(one for one in WORKER_OPTIONS if self._on_by_default(loader, one, frame))
        if not options:
            return None
        if not zeros:
            return Clash(options, True, "", None, caller)
        # A class attribute is the program's own choice, and a default where something else may fill the field.
        default = self._default(loader, count, frame, _DEFAULTS if workers.kind == "none" else _DEFAULTS | {"class"})
        if default is not None:
            return self._by_default(default, options, caller)
        if not known:
            return None
        if count is None:
            return Clash(options, workers.kind == "none", "on some paths", None, caller)
        if workers.kind != "none":
            # Some path leads to a 0 that is no default: only the expression itself can be named.
            return Clash(options, False, f"`{render(count, loader.file)}` on some paths", None, caller)
        return Clash(options, True, "", None, caller)

    def _given(self, loader: Loader, option: str, frame: Frame | None) -> bool:
        """Whether an option is provably on."""
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

    def _on_by_default(self, loader: Loader, option: str, frame: Frame | None) -> bool:
        """Whether an option is on by default, independently of the worker count."""
        found, given = loader.argument(option, frame), self._given_as(loader, option, frame)
        known = [value for value in found.values if isinstance(value, Const)]
        if found.absent or not given or not known or not all(self._is_on(option, value) for value in known):
            return False
        words = set().union(*(leaves(count, site.file) for count, site in self._counts(loader, frame)))
        for expr, site in given:
            # `persistent = count > 0` before the call depends on the count as much as in it.
            steps = self.origins.expressions(expr, site) if isinstance(expr, Name) else ()
            if any(leaves(one, site.file) & words for one in (expr, *(step.expr for step in steps))):
                return False
        return True

    # Guards

    def _counts(self, loader: Loader, frame: Frame | None) -> list[tuple[Expr, Site]]:
        """The expressions of the worker count, as the call writes it or the mappings that it unpacks."""
        return self._given_as(loader, "num_workers", frame)

    def _given_as(self, loader: Loader, name: str, frame: Frame | None) -> list[tuple[Expr, Site]]:
        """The expressions of an argument, as the call writes it or the mappings that it unpacks."""
        site = self.world.call_site(loader.file, loader.call, frame)
        expr = written(loader, name)
        if expr is not None:
            return [(expr, site)]
        unpacked = self._unpacked(loader, site, name)
        return [(one.expr, one.site) for mapping, key in unpacked for one in self.origins.entry(mapping, key)]

    @staticmethod
    def _unpacked(loader: Loader, site: Site, name: str = "num_workers") -> Iterator[tuple[Actual, str]]:
        """The mappings that the call unpacks, each with the key of an argument."""
        key = loader.api.names.get(name, name)
        unpacked = (one for one in loader.file.calls[loader.call].args if one.keyword == "**")
        return ((Actual(one.value, site, one.span), key) for one in unpacked)

    def _guarded(self, loader: Loader, frame: Frame | None) -> bool:
        """Whether the loader is made only under a condition on the worker count."""
        file, call = loader.file, loader.file.calls[loader.call]
        words = set().union(*(leaves(count, where.file) for count, where in self._counts(loader, frame)))
        words |= {key for _, key in self._unpacked(loader, loader.site)}
        for index in file.regions(call.region):
            region = file.facts.regions[index]
            tested = region.expr if region.kind in ("if", "while", "case") else None
            if tested is not None and words & leaves(tested, file):
                return True
        return any(
            event.kind == "assert" and event.value is not None and words & leaves(event.value, file)
            for event in file.scopes[call.scope].events
        )

    def expected_to_fail(self, file: SourceFile, region: int) -> bool:
        """Whether an exception here is caught, or expected by a test."""
        for index in file.regions(region):
            entry = file.facts.regions[index]
            context = entry.expr if entry.kind == "with" else None
            if isinstance(context, CallRef) and last_name(file.calls[context.index].func) in _EXPECTING:
                return True
            if entry.kind == "try":
                for other in file.facts.regions:
                    if other.kind == "handler" and other.parent == entry.parent and other.span > entry.span:
                        if other.expr is None or _CAUGHT & leaves(other.expr, file):
                            return True
                        break
        return False

    # Where a 0 comes from

    def _default(
        self, loader: Loader, count: Expr | None, frame: Frame | None, kinds: frozenset[str] = _DEFAULTS
    ) -> Given | None:
        """The default that the 0 comes from: of an option, a parameter or a configuration entry. None if the program
        itself sets 0."""
        site = self.world.call_site(loader.file, loader.call, frame)
        if count is not None:
            found = self.origins.of(count, site, _holds_zero)
        else:
            unpacked = self._unpacked(loader, site)
            found = [one for mapping, key in unpacked for one in self.origins.of_actual(mapping, key, _holds_zero)]
        return next((one.given for one in found if one.given is not None and one.given.kind in kinds), None)

    def _if_chosen(
        self, loader: Loader, frame: Frame | None, options: tuple[str, ...], caller: Place | None
    ) -> Clash | None:
        """The clash of a command-line option that defaults to a number of workers but may be set to 0.

        None if its file, the loader's file, or the one that names it as an entry tests the option.
        """
        counts = self._counts(loader, frame)
        if len(counts) != 1:
            return None
        count, site = counts[0]
        # Any other expression than a name may keep the number above 0: `max(1, args.workers)`.
        if not isinstance(count, (Name, Attribute, Subscript)):
            return None
        if not any(isinstance(value, Unknown) for value in self.world.values.evaluate(count, site)):
            return None
        given = [one.given for one in self.origins.of(count, site, _holds_positive)]
        if len(given) != 1 or given[0] is None or given[0].kind != "option":
            return None
        flag, path = given[0].names[0], given[0].path
        words = {flag.lstrip("-").replace("-", "_"), *leaves(count, site.file)}
        for file in {loader.file, site.file, self.world.files[path]}:
            tests = [region.expr for region in file.facts.regions if region.kind in ("if", "while")]
            tests += [event.value for scope in file.scopes for event in scope.events_of("assert")]
            if any(test is not None and words & leaves(test, file) for test in tests):
                return None
        return Clash(options, False, flag, Place(path, given[0].span, "its default is above 0"), caller, True)

    def _if_expected(
        self, loader: Loader, count: Expr | None, frame: Frame | None, options: tuple[str, ...], caller: Place | None
    ) -> Clash | None:
        """The clash of an unknown worker count that the program itself compares with 0."""
        if count is None or not any(isinstance(one, Unknown) for one in loader.argument("num_workers", frame).values):
            return None
        options = options or tuple(one for one in WORKER_OPTIONS if self._on_by_default(loader, one, frame))
        test = expects_none(self.project, loader, count) if options else None
        if test is None:
            return None
        origin = f"as the program expects at {self.project.line_shown(test.path, test.span)}"
        return Clash(options, False, origin, test, caller)

    def _by_default(self, given: Given, options: tuple[str, ...], caller: Place | None) -> Clash:
        shown = self.project.shown(given.path)
        if given.kind == "entry":
            key = given.names[0].rpartition(".")[2]
            return Clash(options, False, f"`{key}` in {shown}", None, caller)
        place = Place(given.path, given.span, "its default is 0")
        shown = self.project.line_shown(given.path, given.span)
        name = ".".join(given.names) if given.kind == "class" else given.names[0]
        return Clash(options, False, f"the default of `{name}` at {shown}", place, caller)


def _holds_zero(values: tuple[Value, ...]) -> bool:
    return any(isinstance(value, Const) and value.value == 0 and value.kind == "int" for value in values)


def _holds_positive(values: tuple[Value, ...]) -> bool:
    return any(isinstance(value, Const) and value.kind == "int" and value.value > 0 for value in values)


def leaves(expr: Expr, file: SourceFile) -> set[str]:
    """The names, attribute names and string keys in an expression, without the objects that attributes are read
    from."""
    match expr:
        case Name(name) | Attribute(_, name):
            return {name}
        case Subscript(_, Constant(key)):
            return {str(key)}
        case CallRef(index):
            return set().union(*(leaves(argument.value, file) for argument in file.calls[index].args))
        case Compare() | BoolOp() | Tuple() | List() | Not() | BinOp() | UnaryOp() | IfExp():
            return set().union(*(leaves(part, file) for part in expr.children()))
    return set()
