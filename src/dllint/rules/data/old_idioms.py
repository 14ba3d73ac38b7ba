"""Code that fails with newer versions of torch, and so tells which version a program needs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, Constant, Name, Subscript
from dllint.facts.schema import Expr
from dllint.linking.conditions import render
from dllint.linking.expressions import walk
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.rules.data.declared_versions import Old
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


class OldIdioms:
    """Finds reads of a loss as `loss.data[0]`, where `loss.backward()` shows that it is a single number.

    torch 0.4 made it a tensor without dimensions, with a warning, and later versions raise "invalid index of a 0-dim
    tensor" (aten/src/ATen/native/TensorShape.cpp, `select`; measured with 2.13).
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    def torch(self, loader: Loader) -> Old | None:
        """The newest torch on which the programs with a loader can train, if their code tells."""
        here = (loader.file.path,)
        for file, expr, span in self._found:
            if self.project.import_graph.together(here, (file.path,)):
                where = self.project.where(file, span)
                return Old(f"torch 0.4, the newest that runs `{render(expr, file)}` at {where},", True)
        return None

    @cached_property
    def _found(self) -> list[tuple[SourceFile, Expr, Span]]:
        world = self.project.world
        found: list[tuple[SourceFile, Expr, Span]] = []
        for file, index in world.called("backward"):
            call = file.calls[index]
            if not isinstance(call.func, Attribute) or any(one.keyword is None for one in call.args):
                continue
            loss = call.func.value
            if isinstance(loss, (Name, Attribute)) and not _is_read_anew(file, loss):
                read = Subscript(Attribute(loss, "data"), Constant(0))
                spans = (span for expr, span in _expressions(file, call.scope) if read in walk(expr, file))
                found += [(file, read, span) for span in spans][:1]
        return found


def _is_read_anew(file: SourceFile, loss: Expr) -> bool:
    """Whether a file also reads the number as newer versions need it: `loss.item()`."""
    return any(file.calls[index].func == Attribute(loss, "item") for index in file.facts.called.get("item", ()))


def _expressions(file: SourceFile, scope: int) -> list[tuple[Expr, Span]]:
    given = [(one.value, file.calls[index].span) for index in file.calls_of(scope) for one in file.calls[index].args]
    kept = [(event.value, event.span) for event in file.scopes[scope].events if event.value is not None]
    return sorted([*given, *kept], key=lambda one: one[1])
