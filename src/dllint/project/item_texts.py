"""Items that workers read as texts: by the name of what they give them to, or of what holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Constant, Dict, List, Name, Subscript, Tuple
from dllint.facts.schema import Expr
from dllint.inference.values import Class, Const, Instance, Site
from dllint.libraries.builtin_functions import OF_STRING, PARTING, SPLITTING
from dllint.linking.source import last_name

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.item_code import By, ItemCode
    from dllint.project.item_run import ItemRun

_OF_TEXTS = re.compile(
    r"^(?!.*(?:label|target|class|image|img|load|read|open)).*(?:tok|encod|text|smiles|sentence|word|phone|caption|prompt)",
    re.IGNORECASE,
)
"""Names of functions that are given strings."""

_SURELY_OF_TEXTS = re.compile(
    r"^(?!.*(?:image|img|audio|wav|video|path|file|load|read|open)).*"
    r"(?:tokeni|(?<!con)text|smiles|sentence|caption|prompt|phoneme|^encode$)",
    re.IGNORECASE,
)
"""Names of functions that are given strings, and neither numbers nor the name of a file."""

_TEXT = re.compile(
    r"(?:^|_)(?:text|caption|sentence|transcript|transcription|prompt|question|utterance|description|review"
    r"|comment|tweet|smiles|wkt|instruction|passage)s?(?:_?[ab12])?$",
    re.IGNORECASE,
)
"""Names of columns, fields and variables that hold strings of natural language, or notations as long."""
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where the next word of `reviewText` begins."""


def speaks_of_text(name: str) -> bool:
    """Whether a column, field or variable of a name holds texts."""
    return _TEXT.search(_WORD.sub("_", name)) is not None


def taken_as_text(code: ItemCode, value: Instance, attr: str, holder: Class | None = None, by: By = "index") -> bool:
    """Whether workers treat `self.attr[index]` as a string: by its methods, or as what a function is given whose
    name speaks of texts."""
    for run, items in code.items(value, attr, holder, by):
        names = code.named_items(run, items)
        for index in run.file.calls_of(run.scope):
            call = run.file.calls[index]

            def meant(expr: Expr, items: list[Expr] = items, names: set[str] = names) -> bool:
                return expr in items or (isinstance(expr, Name) and expr.id in names)

            if isinstance(call.func, Attribute) and meant(call.func.value):
                if call.func.attr in OF_STRING | SPLITTING | PARTING:
                    return True
            elif any(meant(argument.value) for argument in call.args) and _OF_TEXTS.search(str(last_name(call.func))):
                return True
    return False


def named_as_text(code: ItemCode, value: Instance, attr: str, holder: Class | None = None, by: By = "index") -> bool:
    """Whether workers read `self.attr[index]`, or a field of it, under a name that speaks of a text, or give it to a
    function with such a name."""
    own = speaks_of_text(attr)
    world = code.world
    known = {id(run): _Parts(world, run, items) for run, items in code.items(value, attr, holder, by)}
    for run in code.all_runs(value) if known else ():
        given: list[Expr] = [
            Name(name)
            for name, (caller, expr) in run.handed.items()
            if (parts := known.get(id(caller))) is not None and parts.is_part(expr)
        ]
        if given and id(run) not in known:
            known[id(run)] = _Parts(world, run, given)
        found = known.get(id(run))
        if found is not None and (own or found.are_named()):
            return True
    return False


class _Parts:
    """The items of an attribute in one function, and their fields, read by nothing but their keys."""

    def __init__(self, world: World, run: ItemRun, items: list[Expr]) -> None:
        self.world = world
        self.run = run
        self.items = items
        self.names: set[str] = set()
        for _ in range(2):
            for event in run.events:
                if event.kind == "assign" and event.target is not None and event.value is not None:
                    targets = event.target.elements if isinstance(event.target, (Tuple, List)) else (event.target,)
                    if self.is_part(event.value):
                        self.names.update(one.id for one in targets if isinstance(one, Name))

    def is_part(self, expr: Expr) -> bool:
        while expr not in self.items:
            # Which field a variable names may differ from one dataset of the class to the next.
            if isinstance(expr, Attribute) or (
                isinstance(expr, Subscript) and (not isinstance(expr.index, Name) or self._string(expr.index))
            ):
                expr = expr.value
            elif isinstance(expr, CallRef):
                call = self.run.file.calls[expr.index]
                if call.func != Name("str") or len(call.args) != 1:
                    return False
                expr = call.args[0].value
            else:
                return isinstance(expr, Name) and expr.id in self.names
        return True

    def are_named(self) -> bool:
        """Whether a key, a variable or a function that they are read by, bound to or given to speaks of a text."""
        if any(self._is_text(expr) for expr in self.run.expressions if self.is_part(expr)):
            return True
        for index in self.run.file.calls_of(self.run.scope):
            call = self.run.file.calls[index]
            given = any(self.is_part(argument.value) for argument in call.args)
            if given and _SURELY_OF_TEXTS.search(str(last_name(call.func))):
                return True
        return any(speaks_of_text(name) and self.is_part(expr) for name, expr in _held_under(self.run))

    def _is_text(self, expr: Expr) -> bool:
        """Whether one of the keys that an item is read by speaks of a text: `rows[index]["text"]`,
        `table["text"][index]`, `table.loc[index, "text"]`."""
        while isinstance(expr, (Subscript, Attribute)):
            keys: tuple[str, ...] = (expr.attr,) if isinstance(expr, Attribute) else ()
            if isinstance(expr, Subscript):
                parts = expr.index.elements if isinstance(expr.index, Tuple) else (expr.index,)
                keys = tuple(self._string(part) for part in parts)
            if any(map(speaks_of_text, keys)):
                return True
            expr = expr.value
        return False

    def _string(self, key: Expr) -> str:
        """The one string that a key is known to be, its own or that of a setting, `row[self.text_column]`; else ""."""
        if isinstance(key, Constant):
            return key.value if isinstance(key.value, str) else ""
        if not isinstance(key, (Name, Attribute)):
            return ""
        site = Site(self.run.file, self.run.scope, 0, (0, 0), self.run.run.frame)
        found = {one.value if isinstance(one, Const) else None for one in self.world.values.evaluate(key, site)}
        only = found.pop() if len(found) == 1 else None
        return only if isinstance(only, str) else ""


def _held_under(run: ItemRun) -> Iterator[tuple[str, Expr]]:
    """What a function puts into dicts under a name, or binds to one."""
    for expr in run.expressions:
        for key, entry in expr.items if isinstance(expr, Dict) else ():
            if isinstance(key, Constant) and isinstance(key.value, str):
                yield key.value, entry
    for event in run.events:
        if event.kind == "assign" and event.value is not None:
            target = event.target
            for one in target.elements if isinstance(target, (Tuple, List)) else (target,):
                if isinstance(one, Name):
                    yield one.id, event.value
            if isinstance(target, Subscript) and isinstance(target.index, Constant):
                yield str(target.index.value), event.value
