"""Functions that workers would have to unpickle: lambdas and local functions held by datasets or given to loaders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Dict, List, Name
from dllint.finding import Place
from dllint.inference.values import Class, Function, Partial, Value
from dllint.libraries.contents import bound_by
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.datasets import Kept
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World


@dataclass(frozen=True)
class Unpicklable:
    """A lambda, or a local function or class, that would have to be pickled.

    `holder` says where it ends up: "Faces.transform". `role` is "dataset" where it is the class of the dataset itself.
    `sure` is False where it may be that it only comes to a loader without workers.
    """

    code: str
    file: SourceFile
    scope: int
    holder: str
    kept: Kept | None
    role: str = ""
    sure: bool = True

    @property
    def is_lambda(self) -> bool:
        return self.file.scopes[self.scope].kind == "lambda"

    @property
    def span(self) -> Span:
        return self.file.scopes[self.scope].header

    @property
    def place(self) -> Place:
        kind = self.file.scopes[self.scope].kind
        what = "the lambda" if self.is_lambda else f"the {kind}"
        return Place(self.file.path, self.span, f"{what} that cannot be pickled")

    @property
    def files(self) -> set[str]:
        """The files in which it is defined and kept."""
        return {self.file.path} | ({self.kept.file.path} if self.kept is not None else set())

    @property
    def words(self) -> str:
        """ "This lambda", "The local class `Squares`"."""
        entry = self.file.scopes[self.scope]
        return "This lambda" if self.is_lambda else f"The local {entry.kind} `{entry.name}`"


def functions_in(world: World, value: Value, depth: int = 0) -> Iterator[Function]:
    """The functions that pickling a callable pickles, those that a partial binds among them."""
    if isinstance(value, Function):
        yield value
    elif isinstance(value, Partial) and depth < 4:
        for inner in (value.function, *bound_by(world, value)):
            yield from functions_in(world, inner, depth + 1)


def is_lambda(function: Function) -> bool:
    return function.file.scopes[function.scope].kind == "lambda"


def is_local(function: Function | Class) -> bool:
    """Whether a function or class is defined inside a function (in a method, too; a method itself is not)."""
    scope = function.file.scopes[function.scope].parent
    while scope > 0:
        if function.file.scopes[scope].kind in ("function", "lambda"):
            return True
        scope = function.file.scopes[scope].parent
    return False


def captured(file: SourceFile, scope: int) -> set[str]:
    """Names that a function reads from the functions around it, and from a class body, which a moved function loses."""
    own = set(file.bindings(scope))
    found: set[str] = set()
    for event in file.scopes[scope].events:
        for expr in (event.value, event.target):
            if expr is not None:
                found |= {one[1] for one in walk(expr, file) if one[0] == "name"}
    for child in file.children.get(scope, ()):
        found |= captured(file, child)
    found -= own
    around: set[str] = set()
    outer = file.scopes[scope].parent
    while outer > 0:
        around |= set(file.bindings(outer))
        outer = file.scopes[outer].parent
    return found & around


def factory(file: SourceFile, scope: int) -> str | None:
    """What `defaultdict` can take in a lambda's place: `int` for `lambda: 0`, `list` for `lambda: []`."""
    entry = file.scopes[scope]
    if entry.params or not entry.events or entry.events[0].value is None:
        return None
    body = entry.events[0].value
    if body[0] == "const":
        if isinstance(body[1], bool):
            return None if body[1] else "bool"
        if body[1] == 0 and isinstance(body[1], int):
            return "int"
        if body[1] == 0.0 and isinstance(body[1], float):
            return "float"
        return "str" if body[1] == "" else None
    if body == List(()):
        return "list"
    if body == Dict(()):
        return "dict"
    if body[0] == "call":
        call = file.calls[body[1]]
        if call.func in (Name("set"), Name("list"), Name("dict"), Name("int")) and not call.args:
            return str(call.func[1])
        if call.func[-1] == "defaultdict" and len(call.args) == 1 and call.args[0].value[0] == "name":
            inner = call.args[0].value[1]
            if inner in ("int", "float", "list", "dict", "set", "str"):
                return f"partial(defaultdict, {inner})"
    return None
