"""The vocabulary of facts: the contents of a file, as plain data.

**Expressions** (E below) are the nodes of `nodes`.

A string literal in several adjacent pieces is one Constant. A template string is Opaque. Of a string that is a whole
statement, as a docstring is, only the place is kept: its Constant is "".

**Scopes** are the module (index 0), functions, classes and lambdas, in source order. A comprehension is not
a scope: its targets are assigned in the enclosing scope (by a "for" event), which also contains its calls.

**Events** are the statements of a scope in source order. `target`, `value` and `detail` by kind:

    kind       target        value               detail
    "assign"   E             E or None           None, Operator("+") for `+=`, an Annotation
    "for"      E             the iterable        None, "async", or "comp" (in a comprehension)
    "with"     E or None     the context         None or "async"
    "except"   Name(x)       the type or None    None
    "return" "yield" "raise" "expr" "assert" None, E or None, None   (each yield has an event of its own)
    "delete"   E             None                None
    "import"   None          None                an ImportedName, one event per alias
    "def" "class" None       None                the index of the new scope
    "global"   None          None                the list of names (the same for "nonlocal")

`a = b = v` is two events. Events inside `if`, `for`, `try` … belong to the same scope and refer to their **region**.
A lambda's body is one "return" event of the lambda's scope. A walrus has an "assign" event of its own.

**Regions** are the blocks that contain an event or a call; `parent` links them up to 0, the body of the scope itself:

    "if"       expr is the test, `holds` whether it is true here. The code after a branch that always leaves
               (return, raise, continue, break, sys.exit) is in a region of the same test with the opposite outcome.
               The branches of a conditional expression and the right operands of `and` and `or` have such regions
               too, if they contain calls.
    "while"    expr is the test
    "for"      expr is the iterable; also for a comprehension's element and tests
    "with"     expr is the context; one region per item
    "try" "handler" "tryelse" "finally"    expr of a handler is its type
    "loopelse"
    "unreached"  the rest of a block after a statement that always leaves it: return, raise, continue, break, sys.exit,
               `assert False`, a `while True` without break. Not after `exit()`, which may be the project's own
    "case"     expr is the subject of the `match`. Inside it there is an "if" region for a pattern of constants, with
               the test `subject == value`, and one for the patterns of constants above that did not match

**Calls** are numbered throughout the file. A call comes before the calls in its arguments, and after those in its
callee. Decorators and bases are evaluated in the scope around the definition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from dllint.facts.node_json import from_plain
from dllint.facts.nodes import Expr as Expr
from dllint.facts.nodes import Name
from dllint.span import Span

FACTS_VERSION = 11
"""Increased whenever the extracted facts or their encoding change."""
MORE_CASES = "__and_more_cases__"
"""Among the names that a scope reads: a `match` of it has more failed patterns than its later cases record."""


class Argument(NamedTuple):
    """One argument of a call or class statement.

    Attributes:
        keyword: None for a positional argument, "*" and "**" for unpacked ones.
        span: covers the whole argument (`num_workers=4`).
        value_span: covers its value.
    """

    keyword: Optional[str]
    value: Expr
    span: Span
    value_span: Span


class Call(NamedTuple):
    """A call expression.

    Attributes:
        span: from the start of the callee to the closing parenthesis.
        statement: the span of the simple statement that contains it, or of the header of the compound statement.
    """

    func: Expr
    args: list[Argument]
    span: Span
    scope: int
    region: int
    statement: Span


class Region(NamedTuple):
    parent: int
    kind: str
    expr: Optional[Expr]
    holds: bool
    span: Span


class ImportedName(NamedTuple):
    """`import a.b as c` ("a.b", None, "c", 0), `from ..m import n` ("m", "n", None, 2), `from . import *`
    ("", "*", None, 1)."""

    module: str
    name: Optional[str]
    alias: Optional[str]
    level: int


class Operator(NamedTuple):
    """The operator of an augmented assignment, without the equals sign."""

    op: str


class Annotation(NamedTuple):
    """The type of an annotated assignment: the expression after the colon."""

    expr: Expr


class Event(NamedTuple):
    """A statement.

    Attributes:
        span: the whole simple statement, or the header of a compound one (`with …:`).
        value_span: the span of `value`, if there is one.
    """

    kind: str
    span: Span
    region: int
    target: Optional[Expr]
    value: Optional[Expr]
    detail: Union[str, int, list[str], ImportedName, Operator, Annotation, None]
    value_span: Optional[Span]


class Param(NamedTuple):
    """A parameter.

    `kind` is "positional" (before `/`), "normal", "var" (`*args`), "keyword" (after `*`) or "kw" (`**kwargs`).
    """

    name: str
    kind: str
    default: Optional[Expr]
    annotation: Optional[Expr]
    span: Span


class Decorator(NamedTuple):
    expr: Expr
    span: Span


@dataclass
class Scope:
    """A module, function, class or lambda.

    Attributes:
        kind: "module", "function", "class" or "lambda".
        name: "<module>", the name, or "<lambda>".
        parent: index of the enclosing scope; -1 for the module.
        region: region of the definition in the parent.
        span: from the first decorator (or `def`/`class`/`lambda`) to the end of the body.
        header: from `def`/`async def`/`class`/`lambda` to the end of the name (a lambda: the whole expression).
        bases: arguments of a class statement (including `metaclass=`).
        end: of a function: the region in which control reaches the end of its body; -1 if it never does.
        returns: the annotation of what a function returns.
    """

    kind: str
    name: str
    parent: int
    region: int
    span: Span
    header: Span
    decorators: list[Decorator] = field(default_factory=list)
    params: list[Param] = field(default_factory=list)
    bases: list[Argument] = field(default_factory=list)
    is_async: bool = False
    is_generator: bool = False
    end: int = -1
    returns: Optional[Expr] = None
    events: list[Event] = field(default_factory=list)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Decode cached events on first access (see `keep_events`): most functions of a project are never
            examined."""
            if name != "events":
                raise AttributeError(name)
            self.events = [_event(one) for one in self.__dict__.pop("_kept_events")]
            return self.events

    def keep_events(self, written: list[Any]) -> None:
        """Store events as written by a cache; they are decoded when read."""
        self.__dict__["_kept_events"] = written
        del self.events

    def events_of(self, *kinds: str) -> list[Event]:
        """Return the events of these kinds; cached events of other kinds are not decoded."""
        kept = self.__dict__.get("_kept_events")
        if kept is None:
            return [event for event in self.events if event.kind in kinds]
        return [_read(kept, at) for at, one in enumerate(kept) if one[0] in kinds]

    def storing(self) -> list[Event]:
        """Return the events with a target that is not a plain name."""
        kept = self.__dict__.get("_kept_events")
        if kept is None:
            return [event for event in self.events if event.target is not None and type(event.target) is not Name]
        return [_read(kept, at) for at, one in enumerate(kept) if one[3] is not None and not _is_name(one[3])]


def _is_name(target: Any) -> bool:
    """Whether a target, encoded or decoded, is a plain name."""
    return type(target) is Name or (type(target) is list and target[0] == "name")


def _read(kept: list[Any], at: int) -> Event:
    """Decode one of the cached events, and store the result in the list."""
    kept[at] = event = _event(kept[at])
    return event


def _event(written: Any) -> Event:
    if type(written) is Event:
        return written
    kind, span, region, target, value, detail, value_span = written
    return Event(
        kind,
        Span(*span),
        region,
        None if target is None else from_plain(target),
        None if value is None else from_plain(value),
        _detail(kind, detail),
        value_span and Span(*value_span),
    )


def _detail(kind: str, written: Any) -> Any:
    if kind == "import":
        return ImportedName(*written)
    if kind == "assign" and written is not None:
        (part,) = written
        return Operator(part) if isinstance(part, str) else Annotation(from_plain(part))
    return written


@dataclass
class FileFacts:
    """The facts of one file.

    Attributes:
        scopes: `scopes[0]` is the module.
        regions: `regions[0]` is a placeholder for "no region".
        called: the last name of each callee (`b` for `a.b()`, `f` for `f()`) → indices of the calls. A callee that is
            itself a call or subscript has no name and is listed under "".
        loaded: names and attribute names that are read without being called → indices of the scopes that read them (a
            function passed on, a class bound to a variable, a decorator without a call).
        aliases: pairs of last names: the second may be bound to the object that the first names.
        lines: number of lines.
    """

    scopes: list[Scope]
    calls: list[Call]
    regions: list[Region]
    called: dict[str, list[int]]
    loaded: dict[str, list[int]]
    aliases: list[tuple[str, str]]
    lines: int
