"""What an expression can stand for, on demand.

Flow-insensitive across functions, flow-sensitive for the names of one function, and sensitive to the calling
context as far as frames are given: a parameter is read from the call of its frame, or from all known calls
where there is none. A recursive question is cut off with no values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from dllint.facts.schema import Expr
from dllint.inference import iteration as iterating
from dllint.inference.arguments import Actual, Actuals, bind
from dllint.inference.folding import OPERATORS, binary, truth, unary
from dllint.inference.narrowing import called_before, not_functions, of_tested_classes, tests_callable
from dllint.inference.symbols import Meaning
from dllint.inference.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    Display,
    External,
    Frame,
    Function,
    Instance,
    Keywords,
    Mapping,
    Partial,
    Pattern,
    Site,
    Unknown,
    Value,
    Values,
    Written,
    const,
)
from dllint.libraries import builtins as known
from dllint.libraries import registries
from dllint.libraries.click import from_command_line
from dllint.libraries.index import NEW_STORAGE, RUN_TIME_CLASSES, canonical
from dllint.linking.source import Binding, last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World

LIMIT = 24
"""Values of one expression that are told apart; beyond, the rest is Unknown."""
MOST_CLASSES = 100
"""Classes of objects among the values of one expression."""
MOST_ITEMS = 40
"""Values that are told apart among the items of one container."""
DEEPEST_QUESTION = 80


def union(groups: Iterable[Values], most: int = LIMIT) -> Values:
    """All values of several possibilities, each once, in order, and about `most` of them."""
    first: Values = ()
    found: dict[Value, None] = {}
    for group in groups:
        if not found:
            if not first or group is first:
                first = group
                continue
            found.update(dict.fromkeys(first))
        found.update(dict.fromkeys(group))
    if not found:
        return first
    return (*_varied(found, most), UNKNOWN) if len(found) > most else tuple(found)


def summands(expr: Expr) -> list[Expr]:
    """The lists that an expression puts together with `+`, or the expression itself."""
    if expr[0] == "binop" and expr[1] == "+":
        return [*summands(expr[2]), *summands(expr[3])]
    return [expr]


def _varied(values: Iterable[Value], most: int) -> list[Value]:
    """The values that are told apart where there are many: one object of each class, then others in order. Objects of
    different classes come from a registry or a family of subclasses, and none may crowd out another."""
    first: dict[object, Value] = {}
    others: list[Value] = []
    for value in values:
        if isinstance(value, Instance) and value.of not in first and len(first) < MOST_CLASSES:
            first[value.of] = value
        else:
            others.append(value)
    return [*first.values(), *others[: max(0, most - len(first))]]


class Evaluator:
    """Evaluates expressions over a linked project. Results are kept."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._names: dict[Hashable, tuple[Values, int | None] | None] = {}
        self._calls: dict[Hashable, tuple[Values, int | None] | None] = {}
        self._attributes: dict[Hashable, tuple[Values, int | None] | None] = {}
        self._unions: dict[int, Expr] = {}
        self._rests: dict[tuple[object, ...], Values] = {}
        self._depth = 0
        self._table: dict[str, Callable[[Expr, Site], Values]] = {
            "const": lambda expr, site: (const(expr[1]),),
            "name": self._name,
            "attr": self._attr,
            "item": self._item,
            "call": lambda expr, site: self.call(expr[1], site),
            "lambda": lambda expr, site: (Function(site.file, expr[1], None, site.frame),),
            "list": self._display,
            "tuple": self._display,
            "set": self._display,
            "comp": self._display,
            "dict": lambda expr, site: (Mapping(Written(expr, site)),),
            "ifexp": self._conditional,
            "and": self._boolean,
            "or": self._boolean,
            "not": self._not,
            "unary": lambda expr, site: unary(expr[1], self.evaluate(expr[2], site)),
            "binop": self._binop,
            "compare": self._compare,
            "fstring": self._fstring,
            "element": self._element,
            "entered": self._entered,
            "defined": lambda expr, site: self.definition(site, expr[1]),
            "walrus": lambda expr, site: self.evaluate(expr[2], site),
            "getter": self._getter,
            "await": lambda expr, site: self.evaluate(expr[1], site),
        }

    def evaluate(self, expr: Expr | None, site: Site) -> Values:
        """The values that `expr` can have at `site`; Unknown among them where something is not known."""
        if expr is None:
            return (UNKNOWN,)
        handler = self._table.get(expr[0])
        if handler is None:
            return (UNKNOWN,)
        if self._depth > DEEPEST_QUESTION:
            return (UNKNOWN,)
        self._depth += 1
        try:
            return handler(expr, site)
        finally:
            self._depth -= 1

    # Names

    def _name(self, expr: Expr, site: Site) -> Values:
        name = expr[1]
        meaning = self.world.symbols.meaning(name, site)
        key = (meaning, site.frame is not None if meaning.fixed else site.frame)
        return self.world.memory.remember(self._names, key, lambda: self._meant(name, meaning, site), ())

    def name(self, name: str, site: Site) -> Values:
        return self._meant(name, self.world.symbols.meaning(name, site), site)

    def _meant(self, name: str, meaning: Meaning, site: Site) -> Values:
        found = meaning.within(site.frame)
        if not found:
            starred = self.world.imports.star(site.file, name)
            if starred is not None:
                return starred
            return (External(name),) if name in known.BUILTINS else (UNKNOWN,)
        if len(found) > 1 and site.frame is not None:
            found = [one for one in found if not (one[1].region and self.world.impossible(one[1]))] or found
        if len(found) == 1:
            values = self.binding(name, *found[0])
        else:
            values = union(self.binding(name, binding, where) for binding, where in found)
        if site.region and len(values) > 1:
            values = of_tested_classes(self.world, name, site, values)
        return not_functions(values) if site.file.asks_callable and called_before(["name", name], site) else values

    def binding(self, name: str, binding: Binding, site: Site) -> Values:
        """The values that one binding gives its name."""
        kind = binding.kind
        if kind == "param":
            return self.parameter(Function(site.file, site.scope), name, site.frame)
        if kind == "value":
            return self.owned(self.evaluate(binding.expr, site), binding.expr, site, (site.scope, name))
        if kind == "def":
            return self.definition(site, binding.number)
        if kind == "import":
            return self.world.imports.imported(site.file, binding, name)
        return (UNKNOWN,)

    def owned(self, values: Values, expr: Expr | None, site: Site, owner: tuple[int, str]) -> Values:
        """The values with the display or mapping that `expr` itself writes marked as held by the variable `owner`."""
        if expr is None or expr[0] not in ("dict", "list", "call", "comp", "tuple", "set"):
            return values
        own = Written(expr, site)
        return tuple(
            replace(value, owner=owner)
            if isinstance(value, (Mapping, Display)) and value.owner is None and value.written == own
            else value
            for value in values
        )

    def definition(self, site: Site, index: int) -> Values:
        scope = site.file.scopes[index]
        if scope.kind == "class":
            return (Class(site.file, index),)
        return (Function(site.file, index, None, site.frame),)

    def parameter(self, function: Function, name: str, frame: Frame | None) -> Values:
        """What a parameter can be: in the call of `frame`, or in all calls that are known."""
        scope = function.file.scopes[function.scope]
        receiver = self.world.hierarchy.receiver_kind(function)
        if (
            receiver
            and scope.params
            and scope.params[0].name == name
            and scope.params[0].kind in ("normal", "positional")
        ):
            if frame is not None and frame.receiver is not None:
                return (frame.receiver,)
            cls = Class(function.file, scope.parent)
            return self.world.hierarchy.called_on(function, cls) if receiver == "class" else (Instance(cls),)
        commanded = from_command_line(self.world, function, name)
        if commanded is not None:
            return commanded
        if frame is not None and frame.actuals is not None:
            return self._or_annotated(function, name, self._from_actuals(function, name, frame.actuals, frame))
        if not self.world.memory.enter():
            return union([self._default(function, name), (UNKNOWN,)])
        try:
            groups = [
                self._from_actuals(function, name, caller.frame.actuals, caller.frame)
                for caller in self.world.calls.callers(function)
                if caller.frame.actuals is not None
            ]
        finally:
            self.world.memory.leave()
        if groups:
            given = tuple(value for value in union(groups) if not self._foreign(value, function))
            return self._or_annotated(function, name, given)
        return self.world.hierarchy.annotation(function, name) or union([self._default(function, name), (UNKNOWN,)])

    def actuals_of(self, function: Function, name: str, frame: Frame | None) -> Iterator[Actual | None]:
        """The arguments that a parameter, not the receiver, is given in the call of `frame`, or in all that are known;
        None for what is not given as one."""
        params = function.file.scopes[function.scope].params
        skip = 1 if self.world.hierarchy.receiver_kind(function) else 0
        if params[:skip] and params[0].name == name:
            return
        if frame is not None and frame.actuals is not None:
            known = [frame.actuals]
        elif self.world.memory.enter():
            try:
                callers = self.world.calls.callers(function)
            finally:
                self.world.memory.leave()
            known = [caller.frame.actuals for caller in callers if caller.frame.actuals is not None]
        else:
            known = []
        for actuals in known:
            yield bind(actuals, params, name, skip).actual

    def _foreign(self, value: Value, function: Function) -> bool:
        """Whether an object is made in a file that no program holds together with the function's: a method of a common
        base class that both call hands on the one's objects to the other only on paper."""
        if not isinstance(value, Instance) or value.file is None or value.file is function.file:
            return False
        return not self.world.import_graph.together((function.file.path,), (value.file.path,))

    def _or_annotated(self, function: Function, name: str, found: Values) -> Values:
        """The values, with an object of the class that the parameter is annotated with where one is not known."""
        if UNKNOWN not in found:
            return found
        annotated = self.world.hierarchy.annotation(function, name)
        return union([tuple(value for value in found if value != UNKNOWN), annotated]) if annotated else found

    def _default(self, function: Function, name: str) -> Values:
        for param in function.file.scopes[function.scope].params:
            if param.name == name:
                if param.kind == "kw":
                    return (Keywords(function, None),)
                if param.default is None:
                    return ()
                scope = function.file.scopes[function.scope]
                return self.evaluate(
                    param.default, Site(function.file, max(scope.parent, 0), scope.region, (0, 0), None)
                )
        return ()

    def _from_actuals(self, function: Function, name: str, actuals: Actuals, frame: Frame) -> Values:
        params = function.file.scopes[function.scope].params
        skip = 1 if self.world.hierarchy.receiver_kind(function) else 0
        bound = bind(actuals, params, name, skip)
        if bound.case == "actual" and bound.actual is not None:
            if bound.actual.expr is None or bound.actual.site is None:
                return (UNKNOWN,)
            return self.evaluate(bound.actual.expr, bound.actual.site)
        if bound.case == "rest":
            kind = next(param.kind for param in params if param.name == name)
            return (Keywords(function, frame),) if kind == "kw" else self._rest(function, actuals, bound.offset, frame)
        if bound.case == "star":
            return self._from_star(bound.actual, bound.offset)
        if bound.case == "keywords":
            found = self.world.mappings.from_unpacked(actuals, name)
            if found.absent:
                return union([found.values, self._default(function, name)])
            return found.values
        return self._default(function, name)

    def _rest(self, function: Function, actuals: Actuals, offset: int, frame: Frame) -> Values:
        """What a `*args` parameter holds: the positional arguments from `offset` on."""
        key = (function.key, frame)
        if key not in self._rests:
            left = actuals.positional[offset:]
            sites = [actual.site for actual in (*left, *actuals.stars) if actual.site is not None]
            parts: list[Expr] = [["unknown"] if actual.expr is None else actual.expr for actual in left]
            parts += [["star", ["unknown"] if actual.expr is None else actual.expr] for actual in actuals.stars]
            if not sites:
                self._rests[key] = (UNKNOWN,)
            else:
                self._rests[key] = (Display("tuple", Written(["tuple", parts], sites[0])),)
        return self._rests[key]

    def _from_star(self, actual: Actual | None, offset: int) -> Values:
        if actual is None or actual.expr is None or actual.site is None:
            return (UNKNOWN,)
        return union(self.item_of(value, const(offset)) for value in self.evaluate(actual.expr, actual.site))

    # Attributes

    def _attr(self, expr: Expr, site: Site) -> Values:
        stored = self.world.objects.reassigned(expr, site)
        if stored is None:
            stored = self.world.objects.handed_over(expr, site)
        if stored is not None:
            return stored
        bases = self.evaluate(expr[1], site)
        if len(bases) == 1:
            found = self.attribute(bases[0], expr[2], site)
        else:
            found = union(self.attribute(value, expr[2], site) for value in bases)
        return not_functions(found) if site.file.asks_callable and called_before(expr, site) else found

    def attribute(self, value: Value, name: str, site: Site | None = None) -> Values:
        """The values of `value.name`."""
        if isinstance(value, External):
            return (External(f"{value.name}.{name}"),)
        if isinstance(value, Unknown):
            return (UNKNOWN,)
        key = (value, name)
        return self.world.memory.remember(self._attributes, key, lambda: self.world.objects.attribute(value, name), ())

    def _getter(self, expr: Expr, site: Site) -> Values:
        """The function of the property that an attribute is, on each object that it can be read from."""
        found: dict[Value, None] = {}
        for value in self.evaluate(expr[1], site):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                for method in self.world.hierarchy.meant(value, expr[2]):
                    if self.world.hierarchy.is_property(method):
                        found[Function(method.file, method.scope, value)] = None
        return tuple(found)

    # Items

    def _item(self, expr: Expr, site: Site) -> Values:
        if expr[2][0] == "slice" or (expr[2][0] == "tuple" and any(part[0] == "slice" for part in expr[2][1])):
            return tuple(self._sliced(value) for value in self.evaluate(expr[1], site))
        if expr[1][0] in ("element", "item") and expr[2][0] == "const":
            given = iterating.part(self.world, expr[1], expr[2][1], site)
            if given is not None:
                return given
        keys = self.evaluate(expr[2], site)
        if len(keys) == 1 and isinstance(keys[0], Const):
            found = self.world.mappings.lookup(expr[1], site, keys[0].value)
            if found is not None:
                return found.values
        bases = self.evaluate(expr[1], site)
        registered = union(self.world.registries.entries(value) for value in bases if isinstance(value, Instance))
        return registered or union(self.item_of(value, key) for value in bases for key in keys)

    def _sliced(self, value: Value) -> Value:
        """A slice: of a display the display itself; of a store from outside what reading it gives."""
        if isinstance(value, Instance) and isinstance(value.of, External):
            return Instance(External(f"{value.of.name}[:]"), value.file, value.call, value.frame)
        return value if isinstance(value, (Display, Unknown, Const)) else UNKNOWN

    def item_of(self, value: Value, key: Value) -> Values:
        """The values of `value[key]`; with a key that is not known, of any item."""
        return self.world.mappings.item(value, key)

    def _element(self, expr: Expr, site: Site) -> Values:
        given = iterating.iterated(self.world, expr[1], site) if expr[1][0] == "call" else None
        if given is not None:
            return given
        return union(self.element_of(value) for part in summands(expr[1]) for value in self.evaluate(part, site))

    def element_of(self, value: Value) -> Values:
        """The values that iterating `value` gives."""
        return self.world.mappings.elements(value)

    def _entered(self, expr: Expr, site: Site) -> Values:
        groups: list[Values] = []
        for value in self.evaluate(expr[1], site):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                method = self.world.hierarchy.method(value.of, "__enter__")
                if method is not None:
                    groups.append(self.returned(method, self.world.receiver_frame(value)))
                    continue
            groups.append((value,))
        return union(groups)

    # Calls

    def call(self, index: int, site: Site) -> Values:
        """The values that a call can give."""
        key = (site.file.path, index, site.frame)
        return self.world.memory.remember(self._calls, key, lambda: self._call(index, site), ())

    def _call(self, index: int, site: Site) -> Values:
        here = self.world.call_site(site.file, index, site.frame)
        registered = self._registered(index, here)
        if registered:
            return registered
        callees = self.world.calls.callees(site.file, index, site.frame)
        if len(callees) == 1:
            return self.result(callees[0], index, here)
        return union(self.result(value, index, here) for value in callees)

    def _registered(self, index: int, here: Site) -> Values:
        """What `REGISTRY.get(name)` gives, or `REGISTRY.build(config)` makes."""
        func = here.file.calls[index].func
        if func[0] == "attr" and func[2] in registries.LOOKUPS:
            return union(self.world.registries.entries(value) for value in self.evaluate(func[1], here))
        if last_name(func) not in registries.BUILDING:
            return ()
        found = self.world.registries.built(here.file, index, here.frame)
        return union(self.result(value, index, here) for value in found)

    def result(self, callee: Value, index: int, here: Site) -> Values:
        """What calling `callee` in the call `index` gives."""
        if isinstance(callee, Class):
            if self.world.mappings.dict_like(callee):
                return (Mapping(Written(["call", index], here)),)
            return (Instance(callee, here.file, index, self.world.remembered(here.frame)),)
        if isinstance(callee, Function):
            scope = callee.file.scopes[callee.scope]
            if scope.is_generator and not scope.is_async and not scope.decorators:
                return (Instance(External("types.GeneratorType"), here.file, index, self.world.remembered(here.frame)),)
            frame = self.world.frame(here.file, index, here.frame, callee)
            return self.returned(callee, frame)
        if isinstance(callee, External):
            handler = known.RESULTS.get(canonical(callee.name))
            if handler is not None:
                special = handler(self.world, here.file, index, here)
                if special is not None:
                    return special
            return (Instance(callee, here.file, index, self.world.remembered(here.frame)),)
        if isinstance(callee, Partial):
            return self.result(callee.function, index, here)
        if isinstance(callee, Instance) and isinstance(callee.of, Class):
            method = self.world.hierarchy.method(callee.of, "__call__")
            if method is not None:
                bound = Function(method.file, method.scope, callee)
                return self.returned(bound, self.world.frame(here.file, index, here.frame, bound))
        if isinstance(callee, Instance) and isinstance(callee.of, External):
            if callee.of.name in RUN_TIME_CLASSES:
                # What pickle says of an object of such a class it says of the class.
                return (callee,)
            if callee.of.name == "functools.lru_cache":
                of = External("functools.lru_cache()")
                return (Instance(of, here.file, index, self.world.remembered(here.frame)),)
            called = f"{canonical(callee.of.name)}()"
            if called in NEW_STORAGE:
                return (Instance(External(called), here.file, index, self.world.remembered(here.frame)),)
        return (UNKNOWN,)

    def returned(self, function: Function, frame: Frame | None) -> Values:
        """What a function gives back."""
        scope = function.file.scopes[function.scope]
        if scope.is_generator:
            return (UNKNOWN,)
        key = ("return", function.key, frame)
        return self.world.memory.remember(self._calls, key, lambda: self._returned(function, frame), ())

    def _returned(self, function: Function, frame: Frame | None) -> Values:
        groups: list[Values] = []
        for event in function.file.scopes[function.scope].events:
            if event.kind == "return":
                site = Site(function.file, function.scope, event.region, (event.span.line, event.span.column), frame)
                if frame is None or not self.world.impossible(site):
                    groups.append((NONE,) if event.value is None else self.evaluate(event.value, site))
        return union(groups) if groups else (NONE,)

    # Operators

    def _display(self, expr: Expr, site: Site) -> Values:
        if expr[0] == "comp" and expr[1] == "dict":
            return (Mapping(Written(expr, site)),)
        return (Display(expr[1] if expr[0] == "comp" else expr[0], Written(expr, site)),)

    def _conditional(self, expr: Expr, site: Site) -> Values:
        decided = truth(self.evaluate(expr[1], site))
        if decided is not None:
            return self.evaluate(expr[2] if decided else expr[3], site)
        chosen, other = self.evaluate(expr[2], site), self.evaluate(expr[3], site)
        return union([chosen, not_functions(other) if tests_callable(expr[1], site.file) == expr[3] else other])

    def _boolean(self, expr: Expr, site: Site) -> Values:
        groups: list[Values] = []
        stops = expr[0] == "or"
        for part in expr[1]:
            values = self.evaluate(part, site)
            decided = truth(values)
            if decided is stops:
                groups.append(values)
                break
            if decided is None or part is expr[1][-1]:
                groups.append(
                    values
                    if part is expr[1][-1]
                    else tuple(value for value in values if truth((value,)) is not (not stops))
                )
        return union(groups)

    def _not(self, expr: Expr, site: Site) -> Values:
        decided = truth(self.evaluate(expr[1], site))
        return (UNKNOWN,) if decided is None else (const(not decided),)

    def _binop(self, expr: Expr, site: Site) -> Values:
        lefts, rights = self.evaluate(expr[2], site), self.evaluate(expr[3], site)
        if expr[1] == "|" and any(isinstance(value, (Mapping, Keywords)) for value in (*lefts, *rights)):
            merged = self._unions.setdefault(id(expr), ["dict", [[None, expr[2]], [None, expr[3]]]])
            return (Mapping(Written(merged, site)),)
        return binary(expr[1], lefts, rights)

    def _compare(self, expr: Expr, site: Site) -> Values:
        if len(expr[2]) != 1:
            return (UNKNOWN,)
        op, right = expr[2][0]
        if op not in OPERATORS:
            return (UNKNOWN,)
        return binary(op, self.evaluate(expr[1], site), self.evaluate(right, site))

    def _fstring(self, expr: Expr, site: Site) -> Values:
        prefix, inner, suffix, complete = "", "", "", True
        for piece in expr[1]:
            values = self.evaluate(piece, site)
            if len(values) == 1 and isinstance(values[0], Const):
                text = str(values[0].value)
                prefix, suffix = (prefix + text, "") if complete else (prefix, suffix + text)
            else:
                complete, inner, suffix = False, inner + suffix, ""
        return (const(prefix),) if complete else (Pattern(prefix, suffix, inner),)
