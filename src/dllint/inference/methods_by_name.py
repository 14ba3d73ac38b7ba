"""Calls of methods on unknown objects, resolved by the method's name."""

from __future__ import annotations

import re
from contextlib import suppress

from dllint import reading
from dllint.facts.nodes import Attribute, Element, Entered, Name, Subscript
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.values import NONE, Class, External, Function, Instance, Site, Value
from dllint.linking.source import SourceFile

COMMON_NAMES = frozenset(
    [
        "get",
        "set",
        "add",
        "update",
        "run",
        "load",
        "save",
        "close",
        "open",
        "read",
        "write",
        "reset",
        "start",
        "stop",
        "init",
        "items",
        "keys",
        "values",
        "append",
        "copy",
        "format",
        "join",
        "split",
        "log",
        "call",
        "apply",
        "process",
        "pop",
        "insert",
        "extend",
        "index",
        "count",
        "sort",
        "size",
        "shape",
        "dim",
        "to",
        "cpu",
        "cuda",
        "eval",
        "train",
        "test",
        "forward",
        "backward",
        "step",
        "zero_grad",
        "state_dict",
        "load_state_dict",
        "parameters",
        "modules",
        "children",
        "register",
        "build",
        "send",
        "recv",
        "put",
        "wait",
        "release",
        "acquire",
        "clear",
        "next",
        "item",
        "mean",
        "sum",
        "max",
        "min",
        "print",
        "info",
        "debug",
        "warning",
        "error",
        "parse",
        "encode",
        "decode",
        "transform",
        "preprocess",
        "from_pretrained",
        "save_pretrained",
        "from_config",
        "fit",
        "predict",
        "compute",
        "result",
        "map",
        "filter",
        "reduce",
        "submit",
        "shutdown",
        "name",
        "type",
        "id",
        "text",
        "data",
        "size_",
        "flush",
        "seek",
        "tell",
        "exists",
    ]
)
"""Method names that too many classes have to identify one of them."""


_FUNCTION = re.compile(rb"\bdef[ \t]+([\w\x80-\xff]+)")


def is_part_from_outside(world: Engine, expr: Expr, site: Site, depth: int = 0) -> bool:
    """Whether an expression is surely an item, an attribute or an element of what a function of another package made:
    its methods are none of the project's."""
    if isinstance(expr, (Subscript, Element, Entered, Attribute)):
        made = [value for value in world.values.evaluate(expr.value, site) if value != NONE]
        if made and all(_is_made_outside(world, value) for value in made):
            return True
        return not limits.EXTERNAL_DEPTH.exceeded(depth) and is_part_from_outside(world, expr.value, site, depth + 1)
    if not isinstance(expr, Name) or limits.EXTERNAL_DEPTH.exceeded(depth):
        return False
    found = world.symbols.lookup(expr.id, site)
    return bool(found) and all(
        binding.kind == "value"
        and binding.expr is not None
        and is_part_from_outside(world, binding.expr, where, depth + 1)
        for binding, where in found
    )


def _is_made_outside(world: Engine, value: Value) -> bool:
    """Whether another package made an object, which holds none of the project's."""
    if not isinstance(value, Instance) or not isinstance(value.of, External) or value.call < 0:
        return False
    name = world.knowledge.canonical(value.of.name)
    return not (world.knowledge.hands_out(name) or world.knowledge.held_by(value))


class Namesakes:
    def __init__(self, world: Engine) -> None:
        self.world = world
        self._methods: dict[str, list[tuple[SourceFile, int]]] | None = None
        self._found: dict[tuple[str, int], list[Function]] = {}
        self._unread: dict[str, set[str]] = {}
        self._searched: set[str] = set()
        self._defining: dict[str, set[str]] = {}

    def find(self, file: SourceFile, name: str, arguments: int) -> list[Function]:
        """The methods of the project that a call in `file` may run, if their name is rare enough to identify them: in
        the files that were read, and in those that `file` imports and that were found not to matter."""
        if name in COMMON_NAMES or name.startswith("__") or len(name) < 5:
            return []
        found = self._found.get((name, arguments))
        if found is None:
            found = self._found[name, arguments] = self._find(name, arguments)
        if found and self._is_defined_unread(file, name):
            return []
        together = self.world.import_graph.together
        return [method for method in found if together([file.path], [method.file.path])]

    def _is_defined_unread(self, file: SourceFile, name: str) -> bool:
        """Whether a file that was not read, and that `file` imports, defines a function of that name."""
        unread = self._unread.get(file.path)
        if unread is None:
            unread = self._unread[file.path] = self.world.imports.imported_by(file) - self.world.files.keys()
            for path in unread - self._searched:
                self._searched.add(path)
                with suppress(reading.CannotRead):
                    for defined in set(_FUNCTION.findall(reading.read(path, reading.SOURCE_BYTES, cut=True))):
                        self._defining.setdefault(defined.decode("utf-8", "replace"), set()).add(path)
        return not unread.isdisjoint(self._defining.get(name, ()))

    def _find(self, name: str, arguments: int) -> list[Function]:
        if self._methods is None:
            self._methods = {}
            for file in self.world.files.values():
                for scope, entry in enumerate(file.raw.scopes):
                    if entry.kind == "function" and file.method_of(scope) is not None:
                        self._methods.setdefault(entry.name, []).append((file, scope))
        self.world.reads.defined.add(name)
        found = [Function(*one) for one in self._methods.get(name, ())]
        if limits.NAMESAKES.exceeded(len(found)):
            roots = {self._root(function) for function in found}
            if len(roots) > 1:
                return []
        bound = []
        for function in found:
            owner = function.file.method_of(function.scope)
            assert owner is not None
            most = sum(1 for param in function.file.scopes[function.scope].params if param.kind != "kw")
            if arguments < max(most, 1) or any(
                p.kind in ("var", "kw") for p in function.file.scopes[function.scope].params
            ):
                bound.append(Function(function.file, function.scope, Instance(Class(function.file, owner))))
        return bound

    def _root(self, function: Function) -> tuple[str, int]:
        owner = function.file.method_of(function.scope)
        assert owner is not None
        line = [value for value in self.world.hierarchy.line(Class(function.file, owner)) if isinstance(value, Class)]
        return line[-1].key
