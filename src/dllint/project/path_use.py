"""Items that workers use as paths: which calls are given the path of a file, and which only show a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, BinOp, CallRef, Constant, Name, Slice, Subscript
from dllint.facts.schema import Call, Expr
from dllint.inference.values import Class, External, Function, Instance, Value
from dllint.libraries.index import PATH_CONSUMERS, READERS, canonical
from dllint.libraries.io import PATH_FUNCTIONS
from dllint.libraries.records import HANDLE, form
from dllint.linking.expressions import walk, without_calls
from dllint.linking.source import SourceFile, last_name
from dllint.project.item_expressions import may_join_paths

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.item_code import By, ItemCode
    from dllint.project.item_run import ItemRun


_PATH = re.compile(r"(?:^|_)(?:path|filepath|filename|fname|file_?name)$", re.IGNORECASE)
"""Names of variables and keys that hold paths."""

_OF_OTHERS = frozenset({"get", "read", "format"})
"""Names among them that other functions have as well."""

COUNTING = frozenset({"range", "arange", "linspace", "islice"})
"""Last names of functions that are given numbers and no paths."""

_BETWEEN_WORDS = frozenset({", ", "; ", ". "})
"""What stands between words and sentences, and not between the parts of a path, beside white space alone."""

_SHOWING = frozenset({"print", "debug", "info", "warning", "warn", "error", "critical", "exception"})
"""Last names of functions that show a text to a person."""


def shows(file: SourceFile, index: int) -> bool:
    """Whether a call shows what it is given in a message, a warning or an error: a text made for it is no path."""
    last = last_name(file.calls[index].func)
    return last is not None and (last in _SHOWING or last.endswith(("Error", "Exception", "Warning")))


def takes_path(world: World, file: SourceFile, index: int) -> bool:
    """Whether a call is given a path, or a part of one; `file.read(size)` of an open file is given a number."""
    call = file.calls[index]
    last = last_name(call.func)
    if last not in PATH_CONSUMERS | PATH_FUNCTIONS or _joins_words(call) or _has_default(call):
        return False
    if last not in _OF_OTHERS or not isinstance(call.func, Attribute):
        return True
    site = world.call_site(file, index, None)
    own = [value for value in world.values.evaluate(call.func, site) if isinstance(value, Function)]
    if own:
        return any(_asks_for_path(value) for value in own)
    if last == "get" and any(map(_gets_entry, world.values.evaluate(call.func, site))):
        return False
    return last != "read" or not any(map(_is_open_file, world.values.evaluate(call.func.value, site)))


def _joins_words(call: Call) -> bool:
    """Whether a call joins words to a text: `" ".join(words)`. The parts of a path have other characters between
    them."""
    func = call.func
    if not isinstance(func, Attribute) or func.attr != "join" or not isinstance(func.value, Constant):
        return False
    between = func.value.value
    return isinstance(between, str) and (between.isspace() or between in _BETWEEN_WORDS)


def _has_default(call: Call) -> bool:
    """Whether a call looks a key up, and says what it returns without one: `numbers.get(word, 0)`."""
    given = [one.value for one in call.args if one.keyword is None][1:2]
    # A file client is given the name of a store: `client.get(path, "images")`.
    return last_name(call.func) == "get" and any(
        isinstance(one, Constant) and not isinstance(one.value, str) for one in given
    )


def _asks_for_path(function: Function) -> bool:
    """Whether the first parameter of a method is named like a path: `get(self, filepath)`."""
    params = function.file.scopes[function.scope].params[1:2]
    return any("path" in one.name or "file" in one.name for one in params)


def _gets_entry(value: Value) -> bool:
    """Whether a method reads what a store has under a key: `transaction.get(key)` of lmdb."""
    return isinstance(value, External) and canonical(value.name) in READERS


def _is_open_file(value: Value) -> bool:
    if not isinstance(value, Instance) or not isinstance(value.of, External):
        return False
    found = form(canonical(value.of.name))
    return found is not None and found[0] == HANDLE


def used_as_path(code: ItemCode, value: Instance, attr: str, holder: Class | None = None, by: By = "index") -> bool:
    """Whether workers build a path from `self.attr[index]` or from a part of it, or call it one."""
    for run, items in code.items(value, attr, holder, by):
        names = code.named_items(run, items)
        if any(_PATH.search(name) for name in names) or any(
            isinstance(expr, Subscript)
            and isinstance(expr.index, Constant)
            and _PATH.search(str(expr.index.value))
            and (expr.value in items or (isinstance(expr.value, Name) and expr.value.id in names))
            for expr in run.expressions
        ):
            return True

        def meant(expr: Expr, run: ItemRun = run, items: list[Expr] = items, names: set[str] = names) -> bool:
            return any(part in items or (isinstance(part, Name) and part.id in names) for part in walk(expr, run.file))

        if _parses(code, run, meant):
            continue
        numbers = _numbers(run)
        for expr in run.written(one for one in run.file.calls_of(run.scope) if not shows(run.file, one)):
            if expr in numbers:
                continue
            if isinstance(expr, CallRef):
                call = run.file.calls[expr.index]
                joined = any(meant(argument.value) for argument in call.args) and takes_path(
                    code.world, run.file, expr.index
                )
            elif isinstance(expr, BinOp):
                joined = may_join_paths(expr) and (meant(expr.left) or meant(expr.right))
            else:
                joined = may_join_paths(expr) and meant(expr)
            if joined:
                return True
    return False


def _parses(code: ItemCode, run: ItemRun, meant: Callable[[Expr], bool]) -> bool:
    """Whether a function parses its items: `json.loads(line)`. One of the fields may be a path, the text is none."""
    names = {"loads", *code.world.aliases("loads")}
    for index in run.file.calls_of(run.scope):
        call = run.file.calls[index]
        if last_name(call.func) in names and call.args and meant(call.args[0].value):
            site = code.world.call_site(run.file, index, None)
            functions = code.world.values.evaluate(call.func, site)
            if any(isinstance(one, External) and canonical(one.name) in READERS for one in functions):
                return True
    return False


def _numbers(run: ItemRun) -> list[Expr]:
    """The sums in the bounds of slices and ranges, which make no path: `frames[start:start + size]`."""
    bounds: list[Expr] = [expr for expr in run.expressions if isinstance(expr, Slice)]
    for index in run.file.calls_of(run.scope):
        call = run.file.calls[index]
        bounds += (one.value for one in call.args if last_name(call.func) in COUNTING)
    return [part for one in bounds for part in without_calls(one) if isinstance(part, BinOp)]
