"""Modules whose top level other code runs: by the first import of them, or by `runpy`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.facts.schema import ImportedName
from dllint.inference.values import Actual, Const, External
from dllint.libraries.index import canonical
from dllint.linking.conditions import Atom
from dllint.linking.source import SourceFile
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.inference.engine import World

_RUNNING = {"runpy.run_path": "path_name", "runpy.run_module": "mod_name"}


class ModuleRun(NamedTuple):
    """A module whose top level runs at a statement; `as_main` if its name is `__main__` then."""

    module: SourceFile
    statement: Span
    text: str
    as_main: bool

    @property
    def condition(self) -> Atom:
        """Whether the main guards of the module are passed."""
        return Atom("__name__", "'__main__'", self.as_main, (self.module.path, 0))


def modules_run(world: World, file: SourceFile, scope: int, after: tuple[int, int]) -> Iterator[ModuleRun]:
    """Yield the modules that the statements of a scope after a position run."""
    for event in file.scopes[scope].events_of("import"):
        if not isinstance(event.detail, ImportedName) or (event.span.line, event.span.column) <= after:
            continue
        for path in sorted(world.imports.reached(file, event.detail)):
            module = world.files[path]
            if module is not file and _is_first(world, file, scope, event.span, module):
                yield ModuleRun(module, event.span, f"imports {os.path.basename(path)}, which runs", False)
    for name in _RUNNING:
        for other, index in world.called(name.rpartition(".")[2]):
            statement = file.calls[index].statement if other is file else None
            if statement is None or file.calls[index].scope != scope:
                continue
            if (statement.line, statement.column) > after:
                yield from _by_runpy(world, file, index)


def _is_first(world: World, file: SourceFile, scope: int, statement: Span, module: SourceFile) -> bool:
    """Whether a program that runs an import has not imported the module before: nothing else that it imports does."""
    graph = world.import_graph
    inside, around = graph.import_closure([module.path]), graph.import_closure([file.path, *graph.roots(file.path)])
    return all(
        other.path in inside or other.path not in around or (other is file and scope == 0 and event.span == statement)
        for other, event in world.imports.importers(module)
    )


def _by_runpy(world: World, file: SourceFile, index: int) -> Iterator[ModuleRun]:
    site = world.call_site(file, index, None)
    callees = world.values.evaluate(file.calls[index].func, site)
    names = [canonical(one.name) for one in callees if isinstance(one, External)]
    keyword = next((_RUNNING[one] for one in names if one in _RUNNING), None)
    if keyword is None:
        return
    actuals = world.actuals(file, index, None)
    named, given = actuals.keywords.get("run_name"), actuals.keywords.get(keyword)
    given = given or (actuals.positional[0] if actuals.positional else None)
    named = named or (actuals.positional[2] if len(actuals.positional) > 2 else None)
    as_main, text = _text(world, named) == "__main__", _text(world, given)
    path = _named(world, text) if keyword == "path_name" else world.imports.find(file, text, 0)
    if path is not None and path != file.path:
        call = file.calls[index]
        yield ModuleRun(world.files[path], call.statement, f"runs {os.path.basename(path)}", as_main)


def _text(world: World, given: Actual | None) -> str:
    """The text that an argument is; "" if it is not one text."""
    values = world.values.evaluate(given.expr, given.site) if given is not None and given.site is not None else ()
    one = values[0] if len(values) == 1 else None
    return one.value if isinstance(one, Const) and isinstance(one.value, str) else ""


def _named(world: World, text: str) -> str | None:
    """The file that a path names. A relative path counts from the working directory, which is not known, so its end
    decides."""
    name = os.path.normpath(text).lstrip("./") if text.endswith(".py") else ""
    fitting = [path for path in world.files if name and f"/{path}".endswith(f"/{name}")]
    return fitting[0] if len(fitting) == 1 else None
