"""Who calls whom, on demand in both directions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from dllint.facts.nodes import Attribute, CallRef, Defined, LambdaRef, Name
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.callbacks import Passing
from dllint.inference.edges import NOTHING, Caller, Given, Target, Targets
from dllint.inference.interface import Engine
from dllint.inference.methods_by_name import Namesakes
from dllint.inference.packed_arguments import add_handed
from dllint.inference.values import (
    NONE,
    Actual,
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
from dllint.span import Span

MOST_CANDIDATES = 400
"""Calls of one name that are looked into for callers of one function."""
MOST_NAMES = 60
"""Names under which one function is looked for, as aliases lead to them."""
CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
_ANY_CLASS = ("cls", "__class__", *CONSTRUCTORS)
"""Names by which constructors of all classes are called."""


CallsByFunction = dict[tuple[str, int], list[Caller]]
"""Callers by the function that they can run."""
DynamicCalls = dict[tuple[str, int], list[tuple[SourceFile, int]]]
"""Calls by the function that they can run."""


class CallGraph:
    """Edges between functions, each with its call site."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._callers: dict[Hashable, tuple[list[Caller], int | None] | None] = {}
        self._targets: dict[Hashable, tuple[Targets, int | None] | None] = {}
        self._constructions: dict[tuple[str, object], list[tuple[SourceFile, int]]] | None = None
        self._dynamic: dict[Hashable, tuple[DynamicCalls, int | None] | None] = {}
        self._indexing = False
        self._named: dict[Hashable, tuple[CallsByFunction, int | None] | None] = {}
        self._scanned: set[str] = set()
        self._calls_on_self: dict[tuple[str, int], dict[str, list[tuple[SourceFile, int]]]] = {}
        self._by_getattr: list[tuple[SourceFile, int]] | None = None
        self._passing = Passing(world)
        self._namesakes = Namesakes(world)

    # Forward

    def callees(self, file: SourceFile, index: int, frame: Frame | None) -> Values:
        """The values that the callee of a call can have. A method of an unknown object is looked up by its name
        where the project defines it hardly anywhere else, also where an attribute keeps it under another."""
        call = file.calls[index]
        site = self.world.call_site(file, index, frame)
        values = self.world.values.evaluate(call.func, site)
        if not isinstance(call.func, Attribute) or not any(isinstance(value, Unknown) for value in values):
            return values
        names = (call.func.attr, *self.world.stored_under(call.func.attr))
        found = [method for name in names for method in self._namesakes.find(name, len(call.args))]
        return (*values, *found) if found and not self._known(call.func, site) else values

    def _known(self, method: Attribute, site: Site) -> bool:
        """Whether it is known what a method is called on: an attribute that is None at first is what it is set to later
        on, when the method is called."""
        bases = [base for base in self.world.values.evaluate(method.value, site) if base != NONE]
        return bool(bases) and not any(
            isinstance(value, Unknown)
            for base in bases
            for value in self.world.values.attribute(base, method.attr, site)
        )

    def targets(self, file: SourceFile, index: int, frame: Frame | None = None) -> Targets:
        """The functions of the project that a call runs in the same process."""
        key = (file.path, index, frame)
        return self.world.memory.remember(self._targets, key, lambda: self._find_targets(file, index, frame), NOTHING)

    def _find_targets(self, file: SourceFile, index: int, frame: Frame | None) -> Targets:
        collected: dict[tuple[object, ...], Target] = {}
        for value in self.callees(file, index, frame):
            for target in self.run_by(value, Given(file, index, frame)):
                collected.setdefault((target.function.key, target.frame), target)
        return Targets(collected.values())

    def run_by(self, value: Value, given: Given) -> Iterator[Target]:
        """The functions that calling `value` runs."""
        hierarchy = self.world.hierarchy
        if isinstance(value, Function):
            yield from self.applied(value, given)
            for wrapper in self._wrappers(value):
                yield self._target(wrapper, given)
        elif isinstance(value, Class):
            instance = Instance(value, given.file, given.call, given.frame)
            for name in ("__init__", "__post_init__", "__new__"):
                method = hierarchy.method(value, name)
                if method is not None:
                    yield self._target(method.bound_to(instance if name != "__new__" else value), given)
        elif isinstance(value, Instance) and isinstance(value.of, Class):
            names = ("__call__", "forward") if self._is_module(value.of) else ("__call__",)
            for name in names:
                method = hierarchy.method(value.of, name)
                if method is not None:
                    yield self._target(method.bound_to(value), given)
        elif isinstance(value, Partial):
            late = given.actuals or self.world.actuals(given.file, given.call, given.frame)
            actuals = self.world.made_with(value).then(late)
            yield from self.run_by(value.plain, given._replace(actuals=actuals, key=("partial", value, *given.key)))
        elif isinstance(value, (External, Instance)):
            file, index, frame = given.file, given.call, given.frame
            yield from self._called_back(value, file, index, frame)
            if isinstance(value, External):
                for method, receiver in self.world.knowledge.called_hooks(value.name, file, index, frame):
                    yield Target(method, self.world.receiver_frame(receiver))

    def _target(self, function: Function, given: Given) -> Target:
        """The activation of a function that a call makes."""
        file, index, frame, actuals, key = given
        if actuals is None:
            return Target(function, self.world.frame(file, index, frame, function))
        return Target(function, self.world.intern((*key, file.path, index, frame, function), actuals, function, frame))

    def applied(self, function: Function, given: Given) -> Iterator[Target]:
        """The activations of a function: of a method that is taken from its class, `Base.__init__(self, rows)`, one for
        each object that the first argument can be."""
        actuals = given.actuals or self.world.actuals(given.file, given.call, given.frame)
        owner = function.file.method_of(function.scope)
        if function.receiver is not None or owner is None or not actuals.positional:
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

    def _wrappers(self, function: Function) -> Iterator[Function]:
        """The functions that decorators of the project put in the place of a function."""
        scope = function.file.scopes[function.scope]
        if not scope.decorators:
            return
        site = Site(function.file, max(scope.parent, 0), scope.region, (scope.span.line, scope.span.column), None)
        for decorator in scope.decorators:
            for value in self.world.values.evaluate(decorator.expr, site):
                if isinstance(value, Function) and not value.file.scopes[value.scope].is_generator:
                    frame = self._decorating(value, function.file, function.scope, site, decorator.span)
                    for given in self.world.values.returned(value, frame):
                        if isinstance(given, Function) and given.key != function.key:
                            yield given

    def _decorating(self, decorator: Function, file: SourceFile, scope: int, site: Site, span: Span) -> Frame:
        """The activation of a decorator that is applied to the definition `scope`."""
        defined: Expr = Defined(scope)
        actuals = Actuals([Actual(defined, site, span)])
        return self.world.intern(("decorator", file.path, scope, decorator), actuals, decorator, None)

    def _is_module(self, cls: Class) -> bool:
        return self.world.knowledge.calls_forward(self.world.hierarchy.externals(cls))

    def _called_back(self, value: Value, file: SourceFile, index: int, frame: Frame | None) -> Iterator[Target]:
        """Functions of the project handed to a call of something from outside, which calls them here and now
        (a thread's target, `map`, `fire.Fire`, a trainer's callback) or hands over what a container calls."""
        of = value.of if isinstance(value, Instance) else value
        if not isinstance(of, External):
            return
        name = self.world.knowledge.canonical(of.name)
        if isinstance(value, Instance):
            yield from self._contained(value)
            return
        if not self.world.knowledge.calls_back(name):
            return
        site = self.world.call_site(file, index, frame)
        for argument in file.calls[index].args:
            if argument.keyword in ("*", "**") or not isinstance(argument.value, (Name, Attribute, LambdaRef)):
                continue
            if isinstance(argument.value, Name) and not self.world.may_be_function(argument.value.id):
                continue
            for one in self.world.values.evaluate(argument.value, site):
                if isinstance(one, Function):
                    yield Target(one, self._back_frame(name, one, file, index, frame))

    def _back_frame(self, caller: str, function: Function, file: SourceFile, index: int, frame: Frame | None) -> Frame:
        """The activation of a function that something from outside calls back: a thread says with which arguments."""
        given = self.world.actuals(file, index, frame)
        if caller != "threading.Thread" or given.stars or given.mappings:
            return self.world.intern(("back", function, frame), None, function, frame)
        listed = (given.keywords.get(name) for name in ("args", "kwargs"))
        actuals = add_handed(self.world, Actuals(), *listed)
        return self.world.intern(("back", file.path, index, function, frame), actuals, function, frame)

    def _contained(self, value: Instance, depth: int = 0) -> Iterator[Target]:
        """What calling a composed transform from outside the project calls in turn."""
        if value.file is None or value.call < 0 or depth > 3:
            return
        for held in self.world.knowledge.held_by(value):
            if isinstance(held, Function):
                yield Target(held, self.world.intern(("held", held), None, held, None))
            elif isinstance(held, Instance) and isinstance(held.of, Class):
                for name in ("__call__", "forward", "apply"):
                    method = self.world.hierarchy.method(held.of, name)
                    if method is not None:
                        bound = Function(method.file, method.scope, held)
                        yield Target(bound, self.world.intern(("held", bound), None, bound, None))
            elif isinstance(held, Instance):
                yield from self._contained(held, depth + 1)

    # Backward

    def callers(self, function: Function) -> list[Caller]:
        """The calls and launches that can run the function."""
        outer = self.world.memory.narrow()
        try:
            return self.world.memory.remember(self._callers, function.key, lambda: self._find_callers(function), [])
        finally:
            self.world.memory.widen(outer)

    def _find_callers(self, function: Function) -> list[Caller]:
        collected: dict[tuple[object, ...], Caller] = {}
        names = [*self._names_of(function), *self.world.knowledge.hook_callers(function.name)]
        heirs = dict(self._heirs(function, names))
        makes = function.name in CONSTRUCTORS and function.file.method_of(function.scope) is not None
        for name in names if not makes else [name for name in names if name not in _ANY_CLASS]:
            for caller in self._calls_by_name(name, function):
                if (caller.file, caller.call) not in heirs:
                    collected.setdefault((caller.file.path, caller.call), caller)
        for (file, index), frame in (*heirs.items(), *((call, None) for call in self._other_calls(function, names))):
            if (file.path, index) not in collected:
                for target in self.targets(file, index, frame):
                    if target.function.key == function.key:
                        collected[file.path, index] = Caller(file, index, target.frame)
                        break
        for caller in self.world.processes.launched(function):
            collected.setdefault((caller.file.path, caller.call, caller.frame), caller)
        for caller in self._decorated_with(function):
            collected.setdefault((caller.file.path, caller.call, "decorator"), caller)
        return list(collected.values())

    def _calls_by_name(self, name: str, function: Function) -> Iterable[Caller]:
        """The calls whose callee's last name is `name` that can run a function. All calls of a name are looked into
        once; a question about one on the way there looks into them for itself."""
        memory = self.world.memory
        if name not in self._scanned:
            found = memory.remember(self._named, name, lambda: self._scan(name), {})
            return found.get(function.key, ())
        return self._among(self.world.called(name)[:MOST_CANDIDATES], function.key)

    def _among(self, calls: Iterable[tuple[SourceFile, int]], key: tuple[str, int]) -> Iterator[Caller]:
        for file, index in calls:
            targets = self.targets(file, index)
            if key in targets.keys:
                yield next(Caller(file, index, one.frame) for one in targets if one.function.key == key)

    def _scan(self, name: str) -> dict[tuple[str, int], list[Caller]]:
        found: dict[tuple[str, int], dict[tuple[str, int], Caller]] = {}
        self._scanned.add(name)
        try:
            for file, index in self.world.called(name)[:MOST_CANDIDATES]:
                for target in self.targets(file, index):
                    callers = found.setdefault(target.function.key, {})
                    callers.setdefault((file.path, index), Caller(file, index, target.frame))
        finally:
            self._scanned.discard(name)
        return {key: list(callers.values()) for key, callers in found.items()}

    def _heirs(self, function: Function, names: list[str]) -> Iterator[tuple[tuple[SourceFile, int], Frame]]:
        """The calls `self.method()` in base classes of a method's class, each with the activation in which it calls the
        method: one on an object of that class, which holds nothing of what other classes below the base keep."""
        owner = function.file.method_of(function.scope)
        if owner is None:
            return
        cls = Class(function.file, owner)
        for base in self.world.hierarchy.line(cls)[1:]:
            if isinstance(base, Class):
                calls = self._own_calls(base)
                for call in (call for name in names for call in calls.get(name, ())):
                    yield call, self.world.receiver_frame(Instance(cls))

    def _own_calls(self, cls: Class) -> dict[str, list[tuple[SourceFile, int]]]:
        """The calls `self.method()` that stand directly in the methods of a class, by the method's name."""
        found = self._calls_on_self.get(cls.key)
        if found is None:
            found = self._calls_on_self[cls.key] = {}
            for method in cls.file.children.get(cls.scope, ()):
                scope = cls.file.scopes[method]
                if scope.params and self.world.hierarchy.receiver_kind(Function(cls.file, method)) == "self":
                    for index in cls.file.calls_of(method):
                        func = cls.file.calls[index].func
                        if isinstance(func, Attribute) and func.value == Name(scope.params[0].name):
                            found.setdefault(func.attr, []).append((cls.file, index))
        return found

    def _names_of(self, function: Function) -> dict[str, None]:
        """The last names under which the function may be called, its own first."""
        name = function.name
        names = {name: None}
        owner = function.file.method_of(function.scope)
        if name in CONSTRUCTORS and owner is not None:
            cls = Class(function.file, owner)
            names = dict.fromkeys([name, cls.name, "cls", "__class__"])
            names.update((below.name, None) for below in self.world.hierarchy.subclasses(cls))
        around = function.file.scopes[function.scope].parent
        if around > 0 and function.file.scopes[around].kind == "function":
            makers = (function.file.scopes[around].name, function.file.scopes[function.file.scopes[around].parent].name)
            names.update((file.scopes[scope].name, None) for file, scope in self.world.decorated(dict.fromkeys(makers)))
        todo = list(names)
        while todo and len(names) < MOST_NAMES:
            for alias in self.world.aliases(todo.pop()):
                if alias not in names:
                    names[alias] = None
                    todo.append(alias)
        return names

    def _other_calls(self, function: Function, names: list[str]) -> Iterator[tuple[SourceFile, int]]:
        """The calls that may run the function, though not by a name of its own."""
        owner = function.file.method_of(function.scope) if function.name in CONSTRUCTORS else None
        if owner is not None:
            yield from self._constructing(Class(function.file, owner), names)
        yield from self._passing.calls_with(function)
        yield from self._dynamic_calls().get(function.key, ())

    def _dynamic_calls(self) -> DynamicCalls:
        """All calls whose callee has no name that says what it may be (what `getattr` gave, an item of a table, the
        result of another call), looked into at once. What is asked about callers on the way there is not told of
        them."""
        memory = self.world.memory
        if self._indexing:
            memory.cut_short()
            return {}
        outer = memory.room
        memory.widen(limits.RESOLVING_LEVELS.most)
        self._indexing = True
        try:
            return memory.remember(self._dynamic, "calls", self._index_dynamic_calls, {})
        finally:
            self._indexing = False
            memory.widen(outer)

    def _index_dynamic_calls(self) -> DynamicCalls:
        found: dict[tuple[str, int], dict[tuple[str, int], tuple[SourceFile, int]]] = {}
        for file, index in (*self.looked_up(), *self.world.called("")):
            for key in self.targets(file, index).keys:
                found.setdefault(key, {})[file.path, index] = (file, index)
        return {key: list(calls.values()) for key, calls in found.items()}

    def _constructing(self, owner: Class, names: list[str]) -> Iterator[tuple[SourceFile, int]]:
        """The calls `super().__init__(…)`, `Base.__init__(…)` and `cls(…)` that may run the constructor of `owner`:
        written in the class or one below, or in no class, or naming the class."""
        if self._constructions is None:
            self._constructions = {}
            for name in _ANY_CLASS:
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
        """Calls of what `getattr` or `eval` gave: `getattr(module, name)(…)`, or through a variable."""
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

    def _decorated_with(self, function: Function) -> Iterator[Caller]:
        """Definitions that the function decorates: it is called with what they define."""
        parent = function.file.scopes[function.scope].parent
        names = {function.name}
        if parent > 0 and function.file.scopes[parent].kind == "function":
            names.add(function.file.scopes[parent].name)
        for file, scope in self.world.decorated(names):
            entry = file.scopes[scope]
            site = Site(file, max(entry.parent, 0), entry.region, (entry.span.line, entry.span.column), None)
            for decorator in entry.decorators:
                for value in self.world.values.evaluate(decorator.expr, site):
                    if isinstance(value, Function) and value.key == function.key:
                        yield Caller(file, -1, self._decorating(value, file, scope, site, decorator.span))
