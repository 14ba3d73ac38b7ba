"""Path conditions: the conditions under which a statement runs, and which statements exclude each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dllint.facts.nodes import (
    Attribute,
    BinOp,
    BoolOp,
    CallRef,
    Compare,
    Constant,
    Dict,
    Getter,
    IfExp,
    LambdaRef,
    List,
    Name,
    Not,
    Set,
    Slice,
    Starred,
    Subscript,
    Tuple,
    UnaryOp,
)
from dllint.facts.schema import Event, Expr, Region
from dllint.linking.expressions import walk
from dllint.linking.reads import RegionRef
from dllint.linking.source import SourceFile, last_name

_MOST_VALUES = 32
"""Constants up to which a test that compares with several of them is taken apart."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CHANGING = frozenset({"exists", "isfile", "isdir", "is_file", "is_dir", "empty", "is_set", "is_alive"})
"""Last names of tests whose outcome commonly changes between two statements: files, queues, events."""


class Atom(NamedTuple):
    """A condition.

    Attributes:
        text: the condition as written, without a leading `self.`.
        equals: the constant of an equality test; "" if it is none. For several, all of them in one text.
        holds: whether the condition is true or false.
        scope: the path and the scope that contain it.
        among: the constants, if there are several, one of which it equals: `mode in ("train", "val")`.
    """

    text: str
    equals: str
    holds: bool
    scope: tuple[str, int]
    among: frozenset[str] = frozenset()

    @property
    def values(self) -> frozenset[str]:
        """The constants of an equality test."""
        return self.among or frozenset({self.equals} if self.equals else ())


def render(expr: Expr | None, file: SourceFile, limit: int = 60) -> str:
    """The source form of an expression, shortened to about `limit` characters."""
    text = _render(expr, file, 6)
    return text if len(text) <= limit else text[: limit - 1] + "…"


_BINDING = {
    **dict.fromkeys(("or",), 1),
    **dict.fromkeys(("and",), 2),
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    **dict.fromkeys(("*", "/", "//", "%", "@"), 10),
    "**": 12,
}
"""How strongly operators bind (docs.python.org, "Expressions", "Operator precedence"): the higher, the stronger."""


def _strength(expr: Expr | None) -> int:
    match expr:
        case LambdaRef() | IfExp():
            return 0
        case BoolOp(op) | BinOp(op):
            return _BINDING[op]
        case Not():
            return 3
        case Compare():
            return 4
        case UnaryOp():
            return 11
    return 20


def _inner(expr: Expr, file: SourceFile, depth: int, least: int) -> str:
    """An operand, in parentheses if it binds more weakly than `least`."""
    text = _render(expr, file, depth)
    return f"({text})" if _strength(expr) < least and depth else text


def _render(expr: Expr | None, file: SourceFile, depth: int) -> str:
    if expr is None:
        return ""
    if depth == 0:
        return "…"
    match expr:
        case Constant(value):
            return repr(value)
        case Name(name):
            return name
        case Attribute(value, attr) | Getter(value, attr):
            return f"{_inner(value, file, depth, 20)}.{attr}"
        case Subscript(value, index):
            inside = _render(index, file, depth - 1)
            if isinstance(index, Tuple) and len(index.elements) > 1 and depth > 1:
                # `table[:, 0]`
                inside = inside[1:-1]
            return f"{_inner(value, file, depth, 20)}[{inside}]"
        case CallRef(number):
            call = file.calls[number]
            pieces = []
            for argument in call.args:
                text = _render(argument.value, file, depth - 1)
                marker = argument.keyword
                pieces.append(
                    text if marker is None else marker + text if marker in ("*", "**") else f"{marker}={text}"
                )
            return f"{_inner(call.func, file, depth, 20)}({', '.join(pieces)})"
        case LambdaRef(number):
            scope = file.scopes[number]
            body = scope.events[0].value if scope.events else None
            params = ", ".join(("*" * {"var": 1, "kw": 2}.get(p.kind, 0)) + p.name for p in scope.params)
            return f"lambda{' ' * bool(params)}{params}: {_render(body, file, depth - 1)}"
        case List(elements) | Tuple(elements) | Set(elements):
            opening, closing = "[]" if isinstance(expr, List) else "()" if isinstance(expr, Tuple) else "{}"
            comma = "," * (isinstance(expr, Tuple) and len(elements) == 1)
            return opening + ", ".join(_render(item, file, depth - 1) for item in elements) + comma + closing
        case Compare(left, comparisons):
            others = "".join(f" {op} {_inner(one, file, depth, 5)}" for op, one in comparisons)
            return _inner(left, file, depth, 5) + others
        case BoolOp(op, values):
            return f" {op} ".join(_inner(part, file, depth - 1, _BINDING[op] + 1) for part in values)
        case Not(operand):
            return f"not {_inner(operand, file, depth, 3)}"
        case UnaryOp(op, operand):
            return f"{op}{_inner(operand, file, depth, 11)}"
        case BinOp(op, left, right):
            strength, from_right = _BINDING[op], op == "**"
            first = _inner(left, file, depth - 1, strength + from_right)
            return f"{first} {op} {_inner(right, file, depth - 1, strength + (not from_right))}"
        case IfExp():
            test, chosen, other = (_render(part, file, depth - 1) for part in expr.children())
            return f"{chosen} if {test} else {other}"
        case Starred(value):
            return "*" + _render(value, file, depth)
        case Dict(items):
            pairs = (
                f"**{_render(value, file, depth - 1)}"
                if key is None
                else f"{_render(key, file, depth - 1)}: {_render(value, file, depth - 1)}"
                for key, value in items
            )
            return "{" + ", ".join(pairs) + "}"
        case Slice(lower, upper):
            return f"{_render(lower, file, depth - 1)}:{_render(upper, file, depth - 1)}"
    return "…"


def repeatable(expr: Expr, file: SourceFile) -> bool:
    """Whether an expression can be evaluated again with the same result: names, attributes and entries, `int`, `len`,
    `max` and `min` of them, and conditional expressions between them."""
    match expr:
        case Name() | Constant():
            return True
        case Attribute(value):
            return repeatable(value, file)
        case Subscript(value, index):
            return repeatable(value, file) and isinstance(index, (Constant, Name))
        case CallRef(number):
            call = file.calls[number]
            named = isinstance(call.func, Name) and call.func.id in ("int", "len", "max", "min")
            return named and all(one.keyword is None and repeatable(one.value, file) for one in call.args)
        case Compare(left, comparisons):
            return repeatable(left, file) and all(repeatable(right, file) for _, right in comparisons)
        case Not(operand):
            return not isinstance(operand, IfExp) and repeatable(operand, file)
        case IfExp():
            return all(not isinstance(part, IfExp) and repeatable(part, file) for part in expr.children())
    return False


def atoms(expr: Expr, holds: bool, file: SourceFile, scope: int) -> Iterator[Atom]:
    """Yield the conditions implied by a test being true (or false): its parts, and the test itself."""
    if isinstance(expr, Not):
        yield from atoms(expr.operand, not holds, file, scope)
    elif isinstance(expr, BoolOp) and holds == (expr.op == "and"):
        for part in expr.values:
            yield from atoms(part, holds, file, scope)
        yield Atom(_plain(expr, file), "", holds, (file.path, scope))
        yield from _one_of(expr, holds, file, scope)
    elif isinstance(expr, Compare) and len(expr.comparisons) == 1:
        op, right = expr.comparisons[0]
        left = expr.left
        if op in ("==", "!=", "is", "is not") and isinstance(left, Constant):
            left, right = right, left
        if op in ("==", "!=", "is", "is not") and isinstance(right, Constant):
            positive = op in ("==", "is")
            if right.value is True or right.value is False:
                yield from atoms(left, holds == (positive == right.value), file, scope)
            else:
                yield Atom(_plain(left, file), repr(right.value), holds == positive, (file.path, scope))
        elif op == ">" and right == Constant(0):
            yield Atom(_plain(left, file), "0", not holds, (file.path, scope))
        elif op in ("in", "not in"):
            inside = holds == (op == "in")
            yield Atom(_plain(Compare(left, (("in", right),)), file), "", inside, (file.path, scope))
            yield from _one_of(expr, holds, file, scope)
        else:
            yield Atom(_plain(expr, file), "", holds, (file.path, scope))
    else:
        yield Atom(_plain(expr, file), "", holds, (file.path, scope))
        if isinstance(expr, BoolOp):
            yield from _one_of(expr, holds, file, scope)


def _one_of(expr: Expr, holds: bool, file: SourceFile, scope: int) -> Iterator[Atom]:
    """Yield the condition that something equals one of several constants, or none of them, if a test implies it: `mode
    in ("a", "b")`, or `mode == "a" or mode == "b"`."""
    for inside in (True, False):
        found = _compared(expr, holds == inside)
        if found is not None and len(found[1]) <= _MOST_VALUES:
            among = frozenset(found[1])
            yield Atom(_plain(found[0], file), " or ".join(sorted(among)), inside, (file.path, scope), among)


def _compared(expr: Expr, holds: bool) -> tuple[Expr, list[str]] | None:
    """What a test compares, and the constants one of which it then equals; None if the test says something else."""
    if isinstance(expr, Not):
        return _compared(expr.operand, not holds)
    if isinstance(expr, BoolOp):
        parts = [_compared(part, holds) for part in expr.values[:_MOST_VALUES]] if holds == (expr.op == "or") else []
        known = [part for part in parts if part is not None]
        if len(known) < len(expr.values) or any(left != known[0][0] for left, _ in known):
            return None
        return known[0][0], [value for _, values in known for value in values]
    if not isinstance(expr, Compare) or len(expr.comparisons) != 1:
        return None
    op, right = expr.comparisons[0]
    if op == ("in" if holds else "not in"):
        values = _constants(right)
        return (expr.left, values) if values else None
    equal = op in (("==", "is") if holds else ("!=", "is not"))
    if equal and isinstance(right, Constant) and not isinstance(right.value, bool):
        return expr.left, [repr(right.value)]
    return None


def _constants(expr: Expr) -> list[str]:
    """The elements of a list, tuple or set of a few constants; empty for anything else."""
    parts = expr.elements if isinstance(expr, (List, Tuple, Set)) else ()
    found = [repr(one.value) for one in parts if isinstance(one, Constant) and not isinstance(one.value, bool)]
    return found if len(found) == len(parts) <= _MOST_VALUES else []


def _plain(expr: Expr, file: SourceFile) -> str:
    return _render(expr, file, 6).removeprefix("self.")


def path_atoms(file: SourceFile, scope: int, region: int) -> list[Atom]:
    """Return the conditions in force in a region of a scope."""
    found: list[Atom] = []
    for index in file.regions(region):
        entry = file.facts.regions[index]
        if entry.kind in ("if", "while") and entry.expr is not None:
            found.extend(atoms(entry.expr, entry.holds, file, scope))
    return found


def may_change(text: str, file: SourceFile, scope: int, passed: Callable[[Event], bool]) -> bool:
    """Whether one of the scope's statements for which `passed` is true may change what a condition reads."""
    names = set(_IDENTIFIER.findall(text))
    if not names.isdisjoint(_CHANGING):
        return True
    setting = file.named(events_setting, scope)
    return any(passed(event) for name in names for event in setting.get(name, ()))


def events_setting(file: SourceFile, scope: int) -> dict[str, list[Event]]:
    """Return the statements of a scope that change something, by the names and attributes that they set. `self.x = x`
    changes neither what `x` is nor what `self.x` is from then on."""
    found: dict[str, list[Event]] | None = file.setting.get(scope)
    if found is None:
        found = file.setting[scope] = {}
        tested: dict[str, tuple[int, int]] | None = None
        for event in file.scopes[scope].events:
            if isinstance(event.target, Attribute) and event.value == Name(event.target.attr):
                tested = _attributes_tested(file, scope) if tested is None else tested
                if event.span.start <= tested.get(event.target.attr, event.span.start):
                    continue
            for name in dict.fromkeys(_set_names(event.target)) if event.target is not None else ():
                found.setdefault(name, []).append(event)
    return found


def _attributes_tested(file: SourceFile, scope: int) -> dict[str, tuple[int, int]]:
    """Return the attributes that tests in a scope read, with the position of the first test of each."""
    inside = [event.region for event in file.scopes[scope].events]
    inside += [file.calls[index].region for index in file.calls_of(scope)]
    found: dict[str, tuple[int, int]] = {}
    for index in {region for one in set(inside) for region in file.regions(one)}:
        entry = file.facts.regions[index]
        for part in walk(entry.expr, file) if entry.expr is not None else ():
            if isinstance(part, Attribute):
                found[part.attr] = min(found.get(part.attr, entry.span.start), entry.span.start)
    return found


def _set_names(target: Expr) -> Iterator[str]:
    """Yield the names and attributes that an assignment sets."""
    if isinstance(target, (Tuple, List)):
        for element in target.elements:
            yield from _set_names(element)
    elif isinstance(target, (Starred, Subscript)):
        yield from _set_names(target.value)
    elif isinstance(target, (Name, Attribute)):
        yield last_name(target)


def in_other_halves(file: SourceFile, left: int, right: int) -> bool:
    """Whether two regions are in the two branches of one `if`, whatever its test."""
    halves = {
        (entry.parent, entry.expr): entry.holds
        for entry in (file.facts.regions[index] for index in file.regions(left))
        if entry.kind == "if"
    }
    return any(
        entry.kind == "if" and halves.get((entry.parent, entry.expr), entry.holds) is not entry.holds
        for entry in (file.facts.regions[index] for index in file.regions(right))
    )


def main_guards(file: SourceFile) -> frozenset[int]:
    """Return the outermost regions that run only if the file is the main program."""
    if file.main_guards is None:
        file.main_guards = frozenset(region.number for region in file.derived(guarding))
    return file.main_guards


def guarding(file: SourceFile) -> list[RegionRef]:
    """Return the regions of `main_guards`."""
    return [
        RegionRef(index)
        for index, entry in enumerate(file.facts.regions)
        if entry.kind in ("if", "while")
        and entry.expr is not None
        and _asks(entry.expr, Name("__name__"))
        and any(
            atom.text == "__name__" and atom.equals == "'__main__'" and atom.holds
            for atom in atoms(entry.expr, entry.holds, file, 0)
        )
    ]


def _asks(test: Expr, wanted: Expr) -> bool:
    """Whether a test, or a part of it, compares the expression `wanted`."""
    if isinstance(test, Compare):
        return test.left == wanted or any(right == wanted for _, right in test.comparisons)
    if isinstance(test, BoolOp):
        return any(_asks(part, wanted) for part in test.values)
    return isinstance(test, Not) and _asks(test.operand, wanted)


def under_main_guard(file: SourceFile, region: int) -> bool:
    """Whether a module-level region runs only if the file is the main program.

    A whole notebook does: the module `__main__` of its kernel has no file and no `__spec__`, so a process that is not
    forked gets a `__main__` without the definitions in the cells (CPython, `multiprocessing/spawn.py`,
    `get_preparation_data`; measured with ipykernel 7.4 on Python 3.11).
    """
    if file.is_notebook:
        return True
    guards = main_guards(file)
    return bool(guards) and any(index in guards for index in file.regions(region))


def tested_at(entry: Region, at: tuple[int, int]) -> tuple[int, int]:
    """Return the position where a test around the statement at `at` is evaluated. A test inside the statement itself
    (`x = x or …`) is evaluated before the assignment."""
    start = entry.span.start
    return start if at == (0, 0) else min(start, at)
