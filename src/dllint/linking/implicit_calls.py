"""Calls written without parentheses: reading a property, entering a `with` block, iterating in a `for` loop, decorating
a function or class, creating the members of an enumeration, mapping a function over elements.

They are added to a file's calls, so that all analyses of calls include them. A property is called through the
expression Getter(base, name).
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dllint.facts.nodes import Attribute, CallRef, Defined, Element, Getter, Name, Starred, Subscript, Tuple
from dllint.facts.schema import Argument, Call, Expr
from dllint.linking.source import SourceFile, last_name
from dllint.span import Span

KEEPING_PROPERTIES = frozenset({"cached_property", "lazy_property", "lazyproperty"})
"""Decorators of properties that their objects keep in an attribute of the same name once they are read."""
PROPERTY_DECORATORS = KEEPING_PROPERTIES | {"property"}
_KINDS = PROPERTY_DECORATORS | {"staticmethod", "classmethod", "setter", "getter", "deleter"}
"""Decorators that define the kind of a method."""
MOST_READERS = 60
"""The most functions that read a name; one read in more (`shape`, `device`) is too common to identify a class."""
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_BUILTINS = frozenset(dir(builtins))
Iterates = Mapping[str, tuple[slice, str]]
"""Functions that iterate arguments, by their last names → the slice of positional arguments, and the kind of
elements."""


class Common(NamedTuple):
    """What the implicit calls of a file depend on in all files.

    Attributes:
        defined: the names of the properties that contain a call.
        properties: those of them that few functions read.
        protocols: the methods of protocols that some class has.
        enumerations: the names of the classes of enumerations.
    """

    defined: Collection[str]
    properties: Collection[str]
    protocols: Collection[str]
    enumerations: Collection[str]


def common_to(files: Sequence[SourceFile]) -> Common:
    """Return what the implicit calls of each file depend on in all of them."""
    readers = dict.fromkeys(properties_of(files), 0)
    for file in files:
        for name in readers.keys() & file.facts.loaded.keys():
            readers[name] += len(file.facts.loaded[name])
    properties = {name for name, count in readers.items() if count <= MOST_READERS}
    methods = {scope.name for file in files for scope in file.scopes if scope.kind == "function" and scope.parent > 0}
    return Common(readers.keys(), properties, methods & {"__enter__", "__iter__"}, _enumerations(files))


def add_implicit_calls(
    files: Iterable[SourceFile], common: Common, iterates: Iterates
) -> dict[str, list[tuple[SourceFile, int]]]:
    """Add the implicit calls to the files. Returns them by the name of the method that they call."""
    files = tuple(files)
    properties, protocols = {*common.properties}, {*common.protocols}
    found: dict[str, list[tuple[SourceFile, int]]] = {}
    for file in files:
        for name, call in (*_reads(file, properties), *_protocols(file, protocols, iterates)):
            found.setdefault(name, []).append((file, file.add_call(call)))
        for index, call in _mapped(file):
            file.mapped[index] = made = file.add_call(call)
            found.setdefault(last_name(call.func) or "", []).append((file, made))
        for call, index in _decorate(file):
            if name := last_name(call.func):
                found.setdefault(name, []).append((file, index))
    names = {*common.enumerations}
    for file, scope, bases in _with_bases(files):
        for name, call in _members(file, scope) if bases & names else ():
            index = file.members[scope, name] = file.add_call(call)
            file.member_names[index] = name
            found.setdefault(file.scopes[scope].name, []).append((file, index))
    return found


def _with_bases(files: Iterable[SourceFile]) -> list[tuple[SourceFile, int, set[str]]]:
    """Return the classes with bases, each with their last names."""
    return [
        (file, index, {last_name(base.value) for base in scope.bases if base.keyword is None})
        for file in files
        for index, scope in enumerate(file.scopes)
        if scope.kind == "class" and scope.bases
    ]


def _enumerations(files: Iterable[SourceFile]) -> set[str]:
    """Return the names of the classes of enumerations, by the names of their bases."""
    classes = _with_bases(files)
    names = set(_ENUMERATIONS)
    size = 0
    while size < len(names):
        size = len(names)
        names.update(file.scopes[index].name for file, index, bases in classes if bases & names)
    return names


def _members(file: SourceFile, scope: int) -> Iterator[tuple[str, Call]]:
    """Yield the members of an enumeration, each with the call that creates it: `TRAIN = "train"` is `Mode("train")`."""
    for event in file.scopes[scope].events_of("assign"):
        if event.value is None or not isinstance(event.target, Name):
            continue
        name, span = event.target.id, event.value_span or event.span
        if not name.startswith("_"):
            values = event.value.elements if isinstance(event.value, Tuple) else (event.value,)
            args = [Argument(None, value, span, span) for value in values]
            yield name, Call(Name(file.scopes[scope].name), args, span, scope, event.region, event.span)


def properties_of(files: Iterable[SourceFile]) -> set[str]:
    """Return the names of the properties that contain a call."""
    found: set[str] = set()
    for file in files:
        for index, scope in enumerate(file.scopes):
            for decorator in scope.decorators:
                if last_name(decorator.expr) in PROPERTY_DECORATORS and file.calls_of(index):
                    found.add(scope.name)
    return found


def _reads(file: SourceFile, properties: set[str]) -> Iterator[tuple[str, Call]]:
    read = properties & file.facts.loaded.keys()
    wanted: dict[int, set[str]] = {}
    for name in read:
        for scope in file.facts.loaded[name]:
            wanted.setdefault(scope, set()).add(name)
    found: dict[tuple[str, int], dict[tuple[int, int], Call]] = {}
    for scope, names in wanted.items():
        for expr, span, region, statement in expressions(file, scope):
            for base, name in _attributes(expr, names):
                call = Call(Getter(base, name), [], span, scope, region, statement)
                found.setdefault((name, scope), {}).setdefault(span.start, call)
    for place in sorted(found):
        yield from ((place[0], call) for call in found[place].values())


def expressions(file: SourceFile, scope: int) -> Iterator[tuple[Expr, Span, int, Span]]:
    """Yield the expressions that a scope evaluates, parts of calls separately, each with its span, region and
    statement. The tests of `if` and `while` are among them."""
    for event in file.scopes[scope].events:
        if event.value is not None:
            yield event.value, event.value_span or event.span, event.region, event.span
    for test in file.branch_tests.get(scope, ()):
        assert test.expr is not None
        yield test.expr, test.span, test.parent, test.span
    for index in file.calls_of(scope):
        call = file.calls[index]
        if not isinstance(call.func, Getter):
            yield call.func, call.span, call.region, call.statement
            for argument in call.args:
                yield argument.value, argument.value_span, call.region, call.statement


def _attributes(expr: Expr, names: set[str]) -> list[tuple[Expr, str]]:
    """Return each read of an attribute with one of the names in an expression, except inside calls: its base and its
    name."""
    found: list[tuple[Expr, str]] = []
    todo = [expr]
    while todo:
        part = todo.pop()
        if type(part) is Attribute and part.attr in names:
            found.append((part.value, part.attr))
        todo += reversed(part.children())
    return found


def _protocols(file: SourceFile, methods: set[str], iterates: Iterates) -> Iterator[tuple[str, Call]]:
    protocols = (("with", "__enter__"), ("for", "__iter__"), ("yield", "__iter__"))
    kinds = {kind: name for kind, name in protocols if name in methods}
    for number, scope in enumerate(file.scopes if kinds else ()):
        for event in scope.events_of(*kinds):
            through = event.value.value if isinstance(event.value, Starred) else event.value
            if through is None or (event.kind == "yield" and through is event.value):
                continue
            method = kinds[event.kind]
            for value in (through,) if event.kind == "with" else _iterated(through, file, iterates):
                if isinstance(value, (Name, Attribute, CallRef, Subscript)):
                    span = event.value_span or event.span
                    yield method, Call(Attribute(value, method), [], span, number, event.region, event.span)


def _decorate(file: SourceFile) -> Iterator[tuple[Call, int]]:
    """Add the calls of decorators to a file: the lowest receives the definition, each other one the result of the one
    below."""
    for scope, entry in enumerate(file.scopes):
        given: Expr = Defined(scope)
        for decorator in reversed(entry.decorators):
            if last_name(decorator.expr) not in _KINDS:
                argument = Argument(None, given, decorator.span, decorator.span)
                call = Call(decorator.expr, [argument], decorator.span, entry.parent, entry.region, decorator.span)
                index = file.decorations[scope] = file.add_call(call)
                file.decorating.add(index)
                if isinstance(decorator.expr, CallRef):
                    file.making_decorators.add(decorator.expr.index)
                given = CallRef(index)
                yield call, index


def _mapped(file: SourceFile) -> list[tuple[int, Call]]:
    """Return the calls of `map`, each with the call of its function for an element: `Rows(path)` for `map(Rows,
    paths)`."""
    found: list[tuple[int, Call]] = []
    for index in file.facts.called.get("map", ()):
        call = file.calls[index]
        plain = [one for one in call.args if one.keyword is None]
        if call.func == Name("map") and len(plain) > 1 and len(plain) == len(call.args):
            args = [one._replace(value=Element(one.value)) for one in plain[1:]]
            found.append((index, call._replace(func=plain[0].value, args=args)))
    return found


def _iterated(expr: Expr, file: SourceFile, iterates: Iterates) -> Iterator[Expr]:
    """Yield the innermost iterables of an expression: `x` for `enumerate(tqdm(x))`."""
    inner = gone_through(file.calls[expr.index], iterates) if isinstance(expr, CallRef) else []
    if not inner:
        yield expr
    for one in inner:
        yield from _iterated(one, file, iterates)


def gone_through(call: Call, iterates: Iterates) -> list[Expr]:
    """Return the arguments that a call iterates: `rows` for `enumerate(rows)`; empty for any other call."""
    name = last_name(call.func)
    row = iterates.get(name) if isinstance(call.func, Name) or name not in _BUILTINS else None
    if row is None or any(argument.keyword == "*" for argument in call.args):
        return []
    plain = [argument.value for argument in call.args if argument.keyword is None]
    return (plain or [argument.value for argument in call.args if argument.keyword == "iterable"])[row[0]]


def decorated(file: SourceFile, call: int) -> int:
    """Return the definition that a decorator's call applies to."""
    given = file.calls[call].args[0].value
    while isinstance(given, CallRef):
        given = file.calls[given.index].args[0].value
    assert isinstance(given, Defined)
    return given.scope
