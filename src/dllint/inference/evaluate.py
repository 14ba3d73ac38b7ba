"""The evaluator: the set of abstract values of an expression, computed on demand.

Flow-insensitive across functions, flow-sensitive for the names within one function, and context-sensitive as far as
frames are known: a parameter is read from the call of its frame, or without a frame from all known calls. A recursive
query has no values at the point of recursion, and results computed from it are unknown.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from dllint.facts.nodes import (
    Attribute,
    Await,
    BinOp,
    BoolOp,
    CallRef,
    Compare,
    Comprehension,
    Constant,
    Defined,
    Dict,
    Element,
    Entered,
    FString,
    Getter,
    IfExp,
    LambdaRef,
    List,
    Name,
    Not,
    Set,
    Subscript,
    Tuple,
    UnaryOp,
    Walrus,
)
from dllint.facts.schema import Annotation, Expr
from dllint.inference import enumerations, generators, limits, slicing
from dllint.inference import iteration as iterating
from dllint.inference.answers import Table
from dllint.inference.arguments import Held, Passed
from dllint.inference.compositions import last_stage
from dllint.inference.decorations import decorated_method, defined, kept, unaltered
from dllint.inference.edges import Given
from dllint.inference.entries import LOOKING_UP, METHODS
from dllint.inference.folding import is_member, unary
from dllint.inference.interface import Engine
from dllint.inference.isinstance_tests import tells_nothing, told_by_tests
from dllint.inference.narrowing import called_before, not_functions, of_tests, passes, replaced_by_test
from dllint.inference.new_objects import made_by
from dllint.inference.operators import Operators
from dllint.inference.symbols import Meaning
from dllint.inference.unions import union
from dllint.inference.values import (
    NONE,
    UNKNOWN,
    Actual,
    Class,
    Const,
    Display,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Parsed,
    Partial,
    Site,
    Unknown,
    Value,
    Values,
    Written,
    constant,
)
from dllint.linking.assignments import whose_dict
from dllint.linking.bindings import Binding
from dllint.linking.expressions import summands


class Evaluator:
    """Evaluates expressions over a linked project. Results are memoized."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._names: Table[Values] = {}
        self._calls: Table[Values] = {}
        self._attributes: Table[Values] = {}
        self.operators = Operators(world)
        self.truth = self.operators.truth
        self.compared = self.operators.compared
        self._depth = 0
        self._table: dict[type[Expr] | type[Held] | type[Passed], Callable[[Any, Site], Values]] = {
            Constant: lambda expr, site: (constant(expr.value),),
            Name: self._name,
            Attribute: self._attr,
            Subscript: self._item,
            CallRef: lambda expr, site: self.call(expr.index, site),
            LambdaRef: lambda expr, site: (Function(site.file, expr.scope, None, site.frame),),
            List: self._display,
            Tuple: self._display,
            Set: self._display,
            Comprehension: self._comprehension,
            Dict: lambda expr, site: (Mapping(Written(expr, site)),),
            IfExp: self.operators.conditional,
            BoolOp: self.operators.boolean,
            Not: self.operators.negation,
            UnaryOp: lambda expr, site: unary(expr.op, self.evaluate(expr.operand, site)),
            BinOp: self.operators.binop,
            Compare: self.operators.compare,
            FString: self.operators.fstring,
            Element: self._element,
            Entered: self._entered,
            Defined: lambda expr, site: (defined(site, expr.scope),),
            Held: lambda expr, site: (expr.value,),
            Walrus: lambda expr, site: self.evaluate(expr.value, site),
            Getter: self._getter,
            Passed: lambda expr, site: self.passed(expr.actual),
            Await: lambda expr, site: self.evaluate(expr.value, site),
        }

    def evaluate(self, expr: Expr | None, site: Site) -> Values:
        """Return the possible values of `expr` at `site`, including Unknown if any is unknown."""
        if expr is None:
            return (UNKNOWN,)
        handler = self._table.get(type(expr))
        if handler is None:
            return (UNKNOWN,)
        if self.world.memory.exhausted:
            return (UNKNOWN,)
        if self._depth > limits.QUESTION_DEPTH.most:
            limits.QUESTION_DEPTH.met()
            self.world.memory.ask_anew()
            return (UNKNOWN,)
        self._depth += 1
        try:
            return handler(expr, site)
        finally:
            self._depth -= 1

    def passed(self, actual: Actual) -> Values:
        """Return the values of an argument at its call site."""
        if actual.expr is None or actual.site is None:
            return (UNKNOWN,)
        return self.evaluate(actual.expr, actual.site)

    # Names

    def _name(self, expr: Name, site: Site) -> Values:
        name = expr.id
        meaning = self.world.symbols.meaning(name, site)
        key = (meaning, site.frame is not None if meaning.fixed else site.frame)
        known = self._names.get(key)
        if known is not None and known.final:
            return known.value
        return self.world.memory.remember(self._names, key, lambda: self._meant(name, meaning, site), ())

    def name(self, name: str, site: Site) -> Values:
        return self._meant(name, self.world.symbols.meaning(name, site), site)

    def _meant(self, name: str, meaning: Meaning, site: Site) -> Values:
        found = meaning.within(site.frame)
        if not found:
            starred = self.world.imports.star(site.file, name)
            if starred is not None:
                return starred
            if name == "__file__":
                return (constant(os.path.join(self.world.settings.root, site.file.path)),)
            if name in self.world.knowledge.builtins:
                return (External(name),)
            return self.world.imports.from_outside(site.file, name) or (UNKNOWN,)
        if len(found) > 1 and site.frame is not None:
            found = [one for one in found if not (one[1].region and self.world.impossible(one[1]))] or found
        if len(found) == 1:
            values = self.binding(name, *found[0])
        else:
            own = meaning.own == len(found) and not meaning.closures
            values = union(self._surviving(name, *one, site) if own else self.binding(name, *one) for one in found)
        if "*" in site.file.bindings(0):
            values = self.world.imports.or_starred(name, values, found, site)
        if site.region and len(values) > 1:
            values = of_tests(self.world, Name(name), site, values)
        if len(values) == 1 and (values[0] == UNKNOWN or tells_nothing(values[0])) and site.file.asks_class:
            values = told_by_tests(self.world, name, site) or values
        return not_functions(values) if site.file.asks_callable and called_before(Name(name), site) else values

    def _surviving(self, name: str, binding: Binding, where: Site, site: Site) -> Values:
        """Return the values that one of several bindings contributes to its name, minus those replaced by a later
        binding."""
        values = self.binding(name, binding, where)
        for test, holds in replaced_by_test(binding, name, site):
            values = tuple(value for value in values if passes(self.world, value, Name(name), test, holds, site))
        return values

    def binding(self, name: str, binding: Binding, site: Site) -> Values:
        """Return the values that one binding assigns to its name."""
        kind = binding.kind
        if kind == "param":
            return self.world.parameters.values(Function(site.file, site.scope), name, site.frame)
        if kind == "value":
            values = self.owned(self.evaluate(binding.expr, site), binding.expr, site, (site.scope, name))
            detail = binding.event.detail if values == (UNKNOWN,) and binding.event is not None else None
            return (isinstance(detail, Annotation) and self.world.hierarchy.annotated(detail.expr, site)) or values
        if kind == "def":
            return self.definition(site, binding.number)
        if kind == "import":
            return self.world.imports.imported(site.file, binding, name)
        return (UNKNOWN,)

    def owned(self, values: Values, expr: Expr | None, site: Site, owner: tuple[int, str]) -> Values:
        """Return the values; the display or mapping that `expr` itself creates is marked as owned by the variable
        `owner`."""
        if expr is None or not isinstance(expr, (Dict, List, CallRef, Comprehension, Tuple, Set)):
            return values
        own = Written(expr, site)
        return tuple(
            replace(value, owner=owner)
            if isinstance(value, (Mapping, Display)) and value.owner is None and value.written == own
            else value
            for value in values
        )

    def definition(self, site: Site, index: int) -> Values:
        """Return the value of a definition's name, with its decorators applied."""
        call = site.file.decorations.get(index)
        return (defined(site, index),) if call is None else self.call(call, site)

    def method(self, function: Function, receiver: Value | None) -> Values:
        """Return the value of a method on an object, or on its class, with its decorators applied."""
        return decorated_method(self.world, function, receiver)

    # Attributes

    def _attr(self, expr: Attribute, site: Site) -> Values:
        if expr.attr in LOOKING_UP and whose_dict(expr.value, site.file.facts) is not None:
            # The dict of an object's attributes, and no method of its class.
            return (External(f"dict().{expr.attr}"),)
        if type(expr.value) is Name and expr.value.id in self.world.knowledge.namespaces:
            meant = self.world.knowledge.in_namespace(expr.value.id, expr.attr, site)
            if meant is not None:
                return meant
        bases = self.evaluate(expr.value, site)
        namespace = bool(bases) and all(isinstance(base, (Mapping, Parsed, Unknown)) for base in bases)
        stored = None if namespace else self.world.objects.reassigned(expr, site)
        if stored is None:
            stored = self.world.objects.handed_over(expr, site)
        if stored is not None:
            return stored
        if namespace and expr.attr not in METHODS:
            held = self.world.mappings.lookup(expr.value, site, expr.attr)
            return (held.values if held is not None else ()) or (UNKNOWN,)
        if len(bases) == 1:
            found = self.attribute(bases[0], expr.attr, site)
        else:
            found = union(self.attribute(value, expr.attr, site) for value in bases)
        return not_functions(found) if site.file.asks_callable and called_before(expr, site) else found

    def attribute(self, value: Value, name: str, site: Site | None = None) -> Values:
        """Return the values of `value.name`."""
        if isinstance(value, External):
            return self.world.knowledge.member(value, name) or (External(f"{value.name}.{name}"),)
        if isinstance(value, Unknown):
            return (value,)
        key = (value, name)
        known = self._attributes.get(key)
        if known is not None and known.final:
            return known.value
        return self.world.memory.remember(self._attributes, key, lambda: self.world.objects.attribute(value, name), ())

    def _getter(self, expr: Getter, site: Site) -> Values:
        """Return the getter functions of the property that an attribute access reads, one per possible receiver."""
        found: dict[Value, None] = {}
        for value in self.evaluate(expr.value, site):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                for method in self.world.hierarchy.meant(value, expr.attr):
                    if self.world.hierarchy.is_property(method):
                        found[Function(method.file, method.scope, value)] = None
        return tuple(found)

    # Containers

    def _display(self, expr: List | Tuple | Set, site: Site) -> Values:
        kind = "list" if isinstance(expr, List) else "tuple" if isinstance(expr, Tuple) else "set"
        return (Display(kind, Written(expr, site)),)

    def _comprehension(self, expr: Comprehension, site: Site) -> Values:
        if expr.kind == "dict":
            return (Mapping(Written(expr, site)),)
        return (Display(expr.kind, Written(expr, site)),)

    def _item(self, expr: Subscript, site: Site) -> Values:
        base, index = expr.value, expr.index
        if slicing.is_slice(index):
            return union((slicing.sliced(self.world, value, expr, site),) for value in self.evaluate(base, site))
        if isinstance(base, (Element, Subscript)) and isinstance(index, Constant):
            given = iterating.part(self.world, base, index.value, site)
            if given is not None:
                return given
        if isinstance(index, Constant) and isinstance(index.value, int):
            transposed = iterating.column(expr, site)
            if transposed is not None:
                return transposed
        attributes = self.world.knowledge.in_dictionary(base, index, site)
        if attributes is not None:
            return attributes
        keys = enumerations.plain(self.world, self.evaluate(index, site))
        if len(keys) == 1 and (isinstance(keys[0], Const) or is_member(keys[0])):
            key = keys[0].value if isinstance(keys[0], Const) else keys[0]
            found = self.world.mappings.lookup(base, site, key)
            if found is not None:
                return found.values
        bases = self.evaluate(base, site)
        registered = union(self.world.knowledge.entries(value) for value in bases if isinstance(value, Instance))
        dicts = tuple(one for one in bases if self.world.mappings.values_of(one) is not None) if registered else bases
        items = union(self.item_of(value, key) for value in dicts for key in self._keys_for(value, keys))
        if not registered:
            return items
        return union([registered, tuple(one for one in items if not isinstance(one, Unknown))])

    def _keys_for(self, value: Value, keys: Values) -> Values:
        """Return the keys that may index an object: for a table, a key that may be a string is a column name."""
        if isinstance(value, Instance) and isinstance(value.of, External):
            texts = tuple(key for key in keys if isinstance(key, Const) and isinstance(key.value, str))
            if texts and self.world.knowledge.is_table(value.of.name):
                return texts
        return self.world.mappings.keys_apart(value, keys) if len(keys) > 1 else keys

    def item_of(self, value: Value, key: Value) -> Values:
        """Return the values of `value[key]`; of any item if the key is unknown. `cls[type]` is the class itself."""
        if isinstance(value, Class):
            return enumerations.found_by_name(value, key) or (value,)
        if isinstance(value, External) and self._takes_types(value, key):
            return (value,)
        if isinstance(value, Instance) and iterating.selects(self.world, value):
            return self.element_of(value)
        return self.world.mappings.item(value, key)

    def _takes_types(self, value: External, key: Value) -> bool:
        """Whether `value[key]` is an external class with a type argument: `DataLoader[Batch]`."""
        if self.world.knowledge.passes_on(value.name):
            return True
        last = value.name.rpartition(".")[2]
        named = last[:1].isupper() and not last.isupper()
        return named and isinstance(key, (Class, External))

    def _element(self, expr: Element, site: Site) -> Values:
        given = iterating.iterated(self.world, expr.value, site) if isinstance(expr.value, CallRef) else None
        if given is not None:
            return given
        return union(self.element_of(value) for part in summands(expr.value) for value in self.evaluate(part, site))

    def element_of(self, value: Value) -> Values:
        """Return the elements that iterating `value` yields."""
        if isinstance(value, Class):
            return tuple(enumerations.members(value)) or (UNKNOWN,)
        return self.world.mappings.elements(value)

    def _entered(self, expr: Entered, site: Site) -> Values:
        groups: list[Values] = []
        for value in self.evaluate(expr.value, site):
            if isinstance(value, Instance) and isinstance(value.of, Class):
                method = self.world.hierarchy.method(value.of, "__enter__")
                if method is not None:
                    groups.append(self.returned(method, self.world.receiver_frame(value)))
                    continue
            # A generator can be entered only where a decorator made it a context manager.
            groups.append(
                self.element_of(value) if isinstance(value, Instance) and value.of == generators.GENERATOR else (value,)
            )
        return union(groups)

    # Calls

    def call(self, index: int, site: Site) -> Values:
        """Return the possible results of a call."""
        key = (site.file.path, index, site.frame)
        known = self._calls.get(key)
        if known is not None and known.final:
            return known.value
        return self.world.memory.remember(self._calls, key, lambda: self._call(index, site), ())

    def _call(self, index: int, site: Site) -> Values:
        here = self.world.call_site(site.file, index, site.frame)
        given = Given(here.file, index, here.frame)
        knowledge = self.world.knowledge
        registered = knowledge.looked_up(index, here)
        if not registered:
            built = knowledge.built(here.file, index, here.frame)
            registered = union(self.result(value, given) for value in built)
        if registered:
            return registered
        callees = self.world.calls.callees(site.file, index, site.frame)
        if index in site.file.decorating:
            return kept(self.world, union(self.result(value, given) for value in unaltered(callees)), index, here)
        if len(callees) == 1:
            return self.result(callees[0], given)
        return union(self.result(value, given) for value in callees)

    def result(self, callee: Value, given: Given, by: Partial | None = None) -> Values:
        """Return the result of calling `callee`, through the partial `by` if given."""
        file, index, caller, actuals, _ = given
        knowledge, frame = self.world.knowledge, self.world.remembered(caller)
        here = self.world.call_site(file, index, caller)
        if isinstance(callee, Class):
            if self.world.mappings.dict_like(callee):
                return (Mapping(Written(CallRef(index), here)),)
            late = actuals or self.world.actuals(file, index, caller)
            if late.positional and index not in file.member_names and enumerations.members(callee):
                return enumerations.found_by_value(self.world, callee, self.passed(late.positional[0]))
            maker = self.world.hierarchy.method(callee, "__new__")
            made = Instance(callee, file, index, frame, by)
            return (made,) if maker is None else made_by(self.world, maker.bound_to(callee), given, made)
        if isinstance(callee, Function):
            scope = callee.file.scopes[callee.scope]
            if generators.makes_generator(scope):
                return (Instance(generators.GENERATOR, file, index, frame),)
            return union(self.returned(one.function, one.frame) for one in self.world.calls.applied(callee, given))
        if isinstance(callee, External):
            handler = knowledge.handler(callee.name) if actuals is None else None
            special = handler(self.world, file, index, here) if handler is not None else None
            return (Instance(callee, file, index, frame, by),) if special is None else special
        if isinstance(callee, Partial):
            late = actuals or self.world.actuals(file, index, caller)
            merged = self.world.made_with(callee).then(late)
            return self.result(callee.plain, Given(file, index, caller, merged, ("partial", callee)), callee)
        if isinstance(callee, Instance) and isinstance(callee.of, Class):
            method = self.world.hierarchy.method(callee.of, "__call__")
            return (UNKNOWN,) if method is None else self.result(method.bound_to(callee), given)
        if isinstance(callee, Instance) and isinstance(callee.of, External):
            if callee.of.name in knowledge.run_time_classes:
                # Pickle reports the same error for an object of such a class as for the class.
                return self.world.named_tuples.made(callee, given._replace(frame=frame)) or (callee,)
            if callee.of.name == "functools.lru_cache":
                return (Instance(External("functools.lru_cache()"), file, index, frame),)
            called = f"{knowledge.canonical(callee.of.name)}()"
            if called in knowledge.new_storage:
                return (Instance(External(called), file, index, frame),)
            handler = knowledge.handler(called) if actuals is None else None
            if handler is not None:
                return handler(self.world, file, index, here) or (UNKNOWN,)
            stages = [one for one in last_stage(self.world, callee) if isinstance(one, Instance) and one != callee]
            return union(self.result(one, given) for one in stages if isinstance(one.of, External)) or (UNKNOWN,)
        return (UNKNOWN,)

    def returned(self, function: Function, frame: Frame | None) -> Values:
        """Return the possible return values of a function."""
        scope = function.file.scopes[function.scope]
        if scope.is_generator:
            return (UNKNOWN,)
        key = ("return", function.key, frame)
        return self.world.memory.remember(self._calls, key, lambda: self._returned(function, frame), ())

    def yielded(self, function: Function, frame: Frame | None) -> Values:
        """Return the values that a generator function yields."""
        key = ("yield", function.key, frame)
        return self.world.memory.remember(self._calls, key, lambda: generators.yielded(self.world, function, frame), ())

    def _returned(self, function: Function, frame: Frame | None) -> Values:
        groups: list[Values] = []
        entry = function.file.scopes[function.scope]
        for event in entry.events_of("return"):
            site = Site(function.file, function.scope, event.region, event.span.start, frame)
            if frame is None or not self.world.impossible(site):
                groups.append((NONE,) if event.value is None else self.evaluate(event.value, site))
        if entry.end >= 0:
            end = (entry.span.end_line, entry.span.end_column)
            if frame is None or not self.world.impossible(Site(function.file, function.scope, entry.end, end, frame)):
                groups.append((NONE,))
        found = union(groups)
        if entry.returns is None or any(one not in (UNKNOWN, NONE) for one in found):
            return found
        return self._promised(function, found) or found

    def _promised(self, function: Function, found: Values) -> Values:
        """Return what the annotation of a function says of its result, where the body tells nothing; empty where the
        body returns None, or other methods replace it."""
        entry = function.file.scopes[function.scope]
        if UNKNOWN not in found and entry.events_of("return"):
            return ()
        owner = function.file.method_of(function.scope)
        if UNKNOWN not in found and owner is not None:
            below = self.world.hierarchy.overrides(Class(function.file, owner), function.name)
            if any(one.key != function.key for one in below):
                return ()
        site = Site(function.file, max(entry.parent, 0), entry.region, (0, 0), None)
        return self.world.hierarchy.annotated(cast(Expr, entry.returns), site)
