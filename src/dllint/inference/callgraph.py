"""The call graph, built on demand in both directions: callees of a call, callers of a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.inference import limits
from dllint.inference.answers import Table
from dllint.inference.arguments import made_up, takes
from dllint.inference.callbacks import Passing
from dllint.inference.called_back import called_back, contained
from dllint.inference.edges import NOTHING, Caller, Given, Target, Targets
from dllint.inference.interface import Engine
from dllint.inference.library_calls import passed_on
from dllint.inference.methods_by_name import Namesakes, is_part_from_outside
from dllint.inference.names import ANY_CLASS, CONSTRUCTORS, names_of
from dllint.inference.packed_arguments import laid_out
from dllint.inference.values import (
    CHOSEN,
    NONE,
    Actuals,
    Class,
    External,
    Frame,
    Function,
    Instance,
    Partial,
    Site,
    Unknown,
    Value,
    Values,
)
from dllint.linking.source import SourceFile, last_name

CallsByFunction = dict[tuple[str, int], list[Caller]]
"""Function → the callers that can run it."""
DynamicCalls = dict[tuple[str, int], list[tuple[SourceFile, int]]]
"""Function → the calls that can run it."""


class CallGraph:
    """The edges between functions, each with its call site."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._callers: Table[list[Caller]] = {}
        self._targets: Table[Targets] = {}
        self._constructions: dict[tuple[str, object], list[tuple[SourceFile, int]]] | None = None
        self._dynamic: Table[DynamicCalls] = {}
        self._indexing = False
        self._named: Table[CallsByFunction] = {}
        self._scanned: set[str] = set()
        self._calls_on_self: dict[tuple[str, int], dict[str, list[tuple[SourceFile, int]]]] = {}
        self._later: Table[bool] = {}
        self._tested: Table[bool] = {}
        self._by_getattr: list[tuple[SourceFile, int]] | None = None
        self._passing = Passing(world)
        self._namesakes = Namesakes(world)

    # Forward

    def callees(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """Return the possible values of a call's callee, including methods guessed by name."""
        known, guessed = self._resolved(file, index, frame)
        return (*known, *guessed)

    def _resolved(self, file: SourceFile, index: int, frame: Frame | None) -> tuple[Values, list[Function]]:
        """Return the possible values of a call's callee, and guessed methods: if the receiver is unknown, methods found
        by name alone, provided the project defines few of that name. Names under which an attribute stores the method
        count, too."""
        func = file.callee(index)
        site = self.world.call_site(file, index, frame)
        values = self.world.values.evaluate(func, site)
        if CHOSEN in values:
            actuals = self.world.actuals(file, index, frame)
            values = tuple(value for value in values if self._takes(value, actuals))
        if not isinstance(func, Attribute) or not any(isinstance(value, Unknown) for value in values):
            return values, []
        names = (func.attr, *self.world.stored_under(func.attr))
        count = len(file.calls[index].args)
        found = [method for name in names for method in self._namesakes.find(file, name, count)]
        known = not found or self._known(func, site) or is_part_from_outside(self.world, func.value, site)
        return values, [] if known else found

    def _takes(self, value: Value, actuals: Actuals) -> bool:
        """Whether a callable selected by an unknown name accepts these arguments, as far as known."""
        function = self.world.hierarchy.method(value, "__init__") if isinstance(value, Class) else value
        if not isinstance(function, Function) or function.file.scopes[function.scope].decorators:
            return True
        skip = 1 if function.receiver is not None or self.world.hierarchy.receiver_kind(function) else 0
        return takes(function.file.scopes[function.scope].params, actuals, skip)

    def _known(self, method: Attribute, site: Site) -> bool:
        """Whether the receiver of a method is known. None is ignored: an attribute that is None at first has been set
        by the time its method is called. So is `CHOSEN`: the receiver is one of the classes beside it, or an object of
        one."""
        bases = [base for base in self.world.values.evaluate(method.value, site) if base not in (NONE, CHOSEN)]
        return bool(bases) and not any(
            isinstance(value, Unknown)
            for base in bases
            for value in self.world.values.attribute(base, method.attr, site)
        )

    def targets(self, file: SourceFile, index: int, frame: Frame | None = None) -> Targets:
        """Return the functions of the project that a call runs in the same process."""
        key = (file.path, index, frame)
        known = self._targets.get(key)
        if known is not None and known.final:
            return known.value
        return self.world.memory.remember(self._targets, key, lambda: self._find_targets(file, index, frame), NOTHING)

    def _find_targets(self, file: SourceFile, index: int, frame: Frame | None) -> Targets:
        collected: dict[tuple[object, ...], Target] = {}
        known, guessed = self._resolved(file, index, frame)
        for values, by_name in ((known, CHOSEN in known), (guessed, True)):
            for value in values:
                for target in self.run_by(value, Given(file, index, frame)):
                    collected.setdefault(
                        (target.function.key, target.frame), target._replace(guessed=target.guessed or by_name)
                    )
        if last_name(file.callee(index)) in self.world.knowledge.instantiating:
            built = self.world.knowledge.built(file, index, frame)
            chosen = CHOSEN in built or len(built) > 1
            for value in built:
                for target in self.run_by(value, Given(file, index, frame)):
                    collected[target.function.key, target.frame] = target._replace(guessed=chosen)
        return Targets(collected.values())

    def run_by(self, value: Value, given: Given) -> Iterator[Target]:
        """Yield the functions that calling `value` runs."""
        hierarchy = self.world.hierarchy
        if isinstance(value, Function):
            yield from self.applied(value, given)
        elif isinstance(value, Class):
            instance = Instance(value, given.file, given.call, given.frame)
            for name in CONSTRUCTORS:
                for method in hierarchy.methods(value, name):
                    yield from self._method(method, instance if name != "__new__" else value, given)
        elif isinstance(value, Instance) and isinstance(value.of, Class):
            is_module = self.world.knowledge.calls_forward(hierarchy.externals(value.of))
            names = ("__call__", "forward") if is_module else ("__call__",)
            found = {name: called for name in names if (called := hierarchy.method(value.of, name)) is not None}
            for name, called in found.items():
                if called.name == name or self._takes(called.bound_to(value), self._actuals(given)):
                    yield from self._method(called, value, given)
            yield from passed_on(self.world, value) if found else contained(self.world, value)
        elif isinstance(value, Partial):
            actuals = self.world.made_with(value).then(self._actuals(given))
            yield from self.run_by(value.plain, given._replace(actuals=actuals, key=("partial", value, *given.key)))
        elif isinstance(value, (External, Instance)) and given.call >= 0:
            file, index, frame = given.file, given.call, given.frame
            yield from called_back(self.world, value, file, index, frame)
            if isinstance(value, External):
                for method, activation in self.world.knowledge.called_hooks(value.name, file, index, frame):
                    receiver = activation.receiver
                    chosen = isinstance(receiver, Instance) and self.world.chosen_by_name(receiver)
                    yield Target(method, activation, chosen)

    def _target(self, function: Function, given: Given) -> Target:
        """Return the activation of a function that a call creates."""
        file, index, frame, actuals, key = given
        if function.receiver is not None and not self.world.hierarchy.receiver_kind(function):
            # A decorator's wrapper receives the object as its first argument.
            frame = self.world.remembered(frame)
            actuals = Actuals([made_up(function.receiver, self.world.call_site(file, index, frame))]).then(
                actuals or self.world.actuals(file, index, frame)
            )
            key = ("wrapper", *key)
        if actuals is None:
            return Target(function, self.world.frame(file, index, frame, function))
        return Target(function, self.world.intern((*key, file.path, index, frame, function), actuals, function, frame))

    def _actuals(self, given: Given) -> Actuals:
        return given.actuals or self.world.actuals(given.file, given.call, given.frame)

    def applied(self, function: Function, given: Given) -> Iterator[Target]:
        """Yield the activations of a function. For a method called through its class, `Base.__init__(self, rows)`: one
        per possible value of the first argument."""
        owner = function.file.method_of(function.scope)
        if function.receiver is not None or owner is None:
            yield self._target(function, given)
            return
        actuals = self._actuals(given)
        if not actuals.positional:
            actuals = laid_out(self.world, actuals)
        if not actuals.positional:
            yield self._target(function, given)
            return
        first = actuals.positional[0]
        if self.world.hierarchy.receiver_kind(function) != "self" or first.expr is None or first.site is None:
            yield self._target(function, given)
            return
        cls = Class(function.file, owner)
        values = self.world.values.evaluate(first.expr, first.site)
        known = [one for one in values if isinstance(one, Instance) and isinstance(one.of, Class)]
        rest = given._replace(actuals=actuals.without_first(), key=("unbound", *given.key))
        for one in known or [Instance(cls)]:
            yield self._target(function.bound_to(one), rest)

    def _method(self, method: Function, receiver: Value, given: Given) -> Iterator[Target]:
        """Yield the functions run by an implicit call of a method, such as `__init__`."""
        for value in self.world.values.method(method, receiver):
            if isinstance(value, Function):
                yield self._target(value, given)
            else:
                yield from self.run_by(value, given)

    def called_later(self, function: Function) -> bool:
        """Whether the function is passed to an external loader, which calls it later with arguments of its own."""

        def find() -> bool:
            return any(
                isinstance(value, External) and self.world.knowledge.passes_on(value.name)
                for file, index, frame in self._passing.given(function, None)
                for value in self.callees(file, index, frame)
            )

        return self.world.memory.remember(self._later, function.key, find, False)

    def parameters_given(self, name: str) -> Iterator[str]:
        """Yield the names of the parameters that calls bind by position to what has this last name."""
        return self._passing.parameters_given(name)

    # Backward

    def only_tested(self, function: Function) -> bool:
        """Whether all known calls of a public function are those of tests: users of the package call it with arguments
        of their own."""
        is_test = self.world.import_graph.is_test
        if not _is_public(function) or is_test(function.file.path):
            return False

        def find() -> bool:
            callers = self.callers(Function(function.file, function.scope))
            return bool(callers) and all(is_test(one.file.path) for one in callers)

        return self.world.memory.remember(self._tested, function.key, find, False)

    def callers(self, function: Function) -> list[Caller]:
        """Return the calls and launches that can run the function. For a decorator's wrapper whose decorated definition
        is known, only those of that definition."""
        closure = self.world.decorating(function.frame)
        key = (*function.key, closure)
        known = self._callers.get(key)
        if known is not None and known.final:
            return known.value
        outer = self.world.memory.narrow()
        try:
            return self.world.memory.remember(self._callers, key, lambda: self._find_callers(function, closure), [])
        finally:
            self.world.memory.widen(outer)

    def _find_callers(self, function: Function, closure: Frame | None) -> list[Caller]:
        collected: dict[tuple[object, ...], Caller] = {}
        names = [*names_of(self.world, function, closure), *self.world.knowledge.hook_callers(function.name)]
        heirs = dict(self._heirs(function, names))
        makes = function.name in CONSTRUCTORS and function.file.method_of(function.scope) is not None
        for name in names if not makes else [name for name in names if name not in ANY_CLASS]:
            for caller in self._calls_by_name(name, function):
                if (caller.file, caller.call) not in heirs:
                    collected.setdefault((caller.file.path, caller.call, caller.frame.closure), caller)
        heard = (*((*call, frame) for call, frame in heirs.items()), *self._other_calls(function, names, closure))
        seen: set[tuple[str, int, Frame | None]] = set()
        for file, index, frame in heard:
            # One call can be found many times: under each name that a parameter stores the function under.
            if (file.path, index, frame) in seen:
                continue
            seen.add((file.path, index, frame))
            targets = self.targets(file, index, frame)
            for target in targets if function.key in targets.keys else ():
                if target.function.key == function.key:
                    key = (file.path, index, target.frame.closure)
                    collected.setdefault(key, Caller(file, index, target.frame, target.guessed))
        for caller in self.world.processes.launched(function):
            collected.setdefault((caller.file.path, caller.call, caller.frame), caller)
        if closure is None:
            return list(collected.values())
        return [caller for caller in collected.values() if caller.frame.closure in (None, closure)]

    def _calls_by_name(self, name: str, function: Function) -> Iterable[Caller]:
        """Yield the calls with this last name that can run a function.

        All calls of a name are resolved once. A query that arises while that scan is in progress resolves the calls for
        itself.
        """
        memory = self.world.memory
        if name not in self._scanned:
            found = memory.remember(self._named, name, lambda: self._scan(name), {})
            return found.get(function.key, ())
        return self._among(limits.CANDIDATE_CALLS.first(self.world.called(name)), function.key)

    def _among(self, calls: Iterable[tuple[SourceFile, int]], key: tuple[str, int]) -> Iterator[Caller]:
        for file, index in calls:
            targets = self.targets(file, index)
            if key in targets.keys:
                yield next(Caller(file, index, one.frame, one.guessed) for one in targets if one.function.key == key)

    def _scan(self, name: str) -> dict[tuple[str, int], list[Caller]]:
        found: dict[tuple[str, int], dict[tuple[str, int, Frame | None], Caller]] = {}
        self._scanned.add(name)
        try:
            for file, index in limits.CANDIDATE_CALLS.first(self.world.called(name)):
                for target in self.targets(file, index):
                    callers = found.setdefault(target.function.key, {})
                    caller = Caller(file, index, target.frame, target.guessed)
                    callers.setdefault((file.path, index, target.frame.closure), caller)
        finally:
            self._scanned.discard(name)
        return {key: list(callers.values()) for key, callers in found.items()}

    def _heirs(self, function: Function, names: list[str]) -> Iterator[tuple[tuple[SourceFile, int], Frame]]:
        """Yield the calls `self.method()` and `super().method()` in other classes that an object with the method may
        inherit from, each with its activation. The receiver is an object of the class that joins them, so that
        attributes of sibling classes are excluded."""
        owner = function.file.method_of(function.scope)
        if owner is None:
            return
        cls = Class(function.file, owner)
        for joined in (cls, *limits.OVERRIDES.first(self.world.hierarchy.subclasses(cls))):
            line = self.world.hierarchy.line(joined)
            passed = self.world.hierarchy.line(cls)[1:] if joined != cls else ()
            for base in line:
                if isinstance(base, Class) and base != cls and base not in passed:
                    calls = self._own_calls(base)
                    for call in (call for name in names for call in calls.get(name, ())):
                        yield call, self.world.receiver_frame(Instance(joined))

    def _own_calls(self, cls: Class) -> dict[str, list[tuple[SourceFile, int]]]:
        """Return, by name, the calls `self.method()` and `super().method()` directly in the methods of a class."""
        found = self._calls_on_self.get(cls.key)
        if found is None:
            found = self._calls_on_self[cls.key] = {}
            for method in cls.file.children.get(cls.scope, ()):
                scope = cls.file.scopes[method]
                if scope.params and self.world.hierarchy.receiver_kind(Function(cls.file, method)) == "self":
                    for name, call in cls.file.derived(calls_on, method, scope.params[0].name):
                        found.setdefault(name, []).append((cls.file, call.index))
        return found

    def _other_calls(
        self, function: Function, names: list[str], closure: Frame | None
    ) -> Iterator[tuple[SourceFile, int, Frame | None]]:
        """Yield the calls that may run the function under another name, each with its activation if known."""
        owner = function.file.method_of(function.scope) if function.name in CONSTRUCTORS else None
        if owner is not None:
            for file, index in self._constructing(Class(function.file, owner), names):
                yield file, index, None
        yield from self._passing.calls_with(function, closure)
        for file, index in self._made_decorators(function):
            yield file, index, None
        for file, index in self._dynamic_calls().get(function.key, ()):
            yield file, index, None

    def _made_decorators(self, function: Function) -> Iterator[tuple[SourceFile, int]]:
        """Yield the decorator calls whose callee is itself the result of a call, as in `@repeat(3)`, that may run the
        function."""
        file, names, scope = function.file, {function.name: None}, function.scope
        for _ in range(2):
            scope = max(file.scopes[scope].parent, 0)
            names[file.scopes[scope].name] = None
        for one, defined in self.world.decorated(names):
            for call in one.applied(defined):
                if isinstance(one.calls[call].func, CallRef):
                    yield one, call

    def _dynamic_calls(self) -> DynamicCalls:
        """Return all calls whose callee has no telling name: the result of `getattr` or of another call, or an item of
        a table.

        They are resolved together. Callers queried meanwhile do not include them.
        """
        memory = self.world.memory
        if self._indexing:
            memory.cut_short()
            return {}
        outer = memory.room
        memory.widen(limits.RESOLVING_LEVELS.most)
        self._indexing = True
        try:
            with memory.apart(limits.QUESTIONS):
                return memory.remember(self._dynamic, "calls", self._index_dynamic_calls, {})
        finally:
            self._indexing = False
            memory.widen(outer)

    def _index_dynamic_calls(self) -> DynamicCalls:
        found: dict[tuple[str, int], dict[tuple[str, int], tuple[SourceFile, int]]] = {}
        named = (call for name in sorted(self.world.knowledge.instantiating) for call in self.world.called(name))
        for file, index in (*self.looked_up(), *self.world.called(""), *named):
            with self.world.memory.share(limits.DYNAMIC_QUESTIONS):
                targets = self.targets(file, index)
            for key in targets.keys:
                found.setdefault(key, {})[file.path, index] = (file, index)
        return {key: list(calls.values()) for key, calls in found.items()}

    def _constructing(self, owner: Class, names: list[str]) -> Iterator[tuple[SourceFile, int]]:
        """Yield the calls `super().__init__(…)`, `Base.__init__(…)` and `cls(…)` that may run the constructor of
        `owner`: those inside the class or a subclass, outside any class, or naming the class."""
        if self._constructions is None:
            self._constructions = {}
            for name in ANY_CLASS:
                for file, index in self.world.called(name):
                    func = file.calls[index].func
                    around = file.enclosing_class(file.calls[index].scope)
                    place = (file.path, around) if around is not None else ("", None)
                    self._constructions.setdefault(place, []).append((file, index))
                    if isinstance(func, Attribute) and isinstance(func.value, (Name, Attribute)):
                        self._constructions.setdefault(("named", last_name(func.value)), []).append((file, index))
            self._constructions.setdefault(("", None), []).sort(key=lambda one: one[0].path)
        for cls in (owner, *self.world.hierarchy.subclasses(owner)):
            yield from self._constructions.get(cls.key, ())
        for name in names:
            yield from self._constructions.get(("named", name), ())
        yield from self._constructions.get(("", None), ())

    def looked_up(self) -> list[tuple[SourceFile, int]]:
        """Return the calls whose callee came from `getattr` or `eval`: `getattr(module, name)(…)`, directly or through
        a variable."""
        if self._by_getattr is None:
            self._by_getattr = []
            gettings: dict[tuple[str, int], list[int]] = {}
            for file, index in (*self.world.called("getattr"), *self.world.called("eval")):
                gettings.setdefault((file.path, file.calls[index].scope), []).append(index)
            for (path, scope), indices in gettings.items():
                file = self.world.files[path]
                kept: dict[int, set[str]] = {}
                for event in file.scopes[scope].events:
                    value, target = event.value, event.target
                    if event.kind == "assign" and isinstance(value, CallRef) and isinstance(target, Name):
                        kept.setdefault(value.index, set()).add(target.id)
                for index in indices:
                    variables = kept.get(index, ())
                    for other in file.calls_of(scope):
                        func = file.calls[other].func
                        if func == CallRef(index) or (isinstance(func, Name) and func.id in variables):
                            self._by_getattr.append((file, other))
        return self._by_getattr


def calls_on(file: SourceFile, method: int, receiver: str) -> list[tuple[str, CallRef]]:
    """Return the calls `self.name()` and `super().name()` directly in a method, by name."""
    found: list[tuple[str, CallRef]] = []
    for index in file.calls_of(method):
        func = file.calls[index].func
        if isinstance(func, Attribute):
            base = func.value
            if base == Name(receiver) or (isinstance(base, CallRef) and file.calls[base.index].func == Name("super")):
                found.append((func.attr, CallRef(index)))
    return found


def _is_public(function: Function) -> bool:
    """Whether the name of a function, or of the class that it constructs objects of, has no leading underscore."""
    file, owner = function.file, function.file.method_of(function.scope)
    names = [function.name] if function.name not in CONSTRUCTORS else []
    names += [file.scopes[owner].name] if owner is not None else []
    return file.scopes[function.scope].parent in (0, owner) and not any(name.startswith("_") for name in names)
