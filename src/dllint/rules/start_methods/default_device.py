"""Calls that set the device of new tensors, and the loaders of the programs that make such a call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.schema import Expr
from dllint.inference.values import Const, External, Function, Site
from dllint.linking.conditions import path_atoms, under_main_guard
from dllint.linking.contradictions import contradict
from dllint.linking.source import SourceFile
from dllint.rules.start_methods.cuda import Cuda
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project import Project

_TENSORS = "torch.cuda."


@dataclass(frozen=True)
class Setting:
    """A call that sets the device of new tensors. `cuda` is False for any other or an unknown device."""

    file: SourceFile
    call: int
    cuda: bool

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span

    def may_follow(self, other: Setting) -> bool:
        """Whether a run may make both calls: they are no branches of one function that exclude each other."""
        call, before = self.file.calls[self.call], other.file.calls[other.call]
        if (self.file.path, call.scope) != (other.file.path, before.scope):
            return True
        paths = [path_atoms(self.file, call.scope, one.region) for one in (call, before)]
        return not contradict(*paths)

    @property
    def unconditional(self) -> bool:
        """Whether the call stands under no condition but a main guard."""
        regions = [
            index for index in self.file.regions(self.file.calls[self.call].region) if not _is_guard(self.file, index)
        ]
        return all(self.file.facts.regions[index].kind == "with" for index in regions)


class DefaultDevice:
    """The default device of a program, which a call sets."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.settings = list(self._settings())

    def cuda_at(self, file: SourceFile, index: int) -> Setting | None:
        """The call that sets CUDA in the program of a call; None if another call there sets something else."""
        if not any(setting.cuda for setting in self.settings):
            return None
        scope = file.calls[index].scope
        tops = {file.path} if scope == 0 else set(self.project.programs.above(file, scope))
        around = self.project.import_graph.import_closure({file.path, *tops})
        here = [setting for setting in self.settings if setting.file.path in around]
        others = [setting for setting in here if not setting.cuda]
        found = (setting for setting in here if setting.cuda and not any(one.may_follow(setting) for one in others))
        return next((setting for setting in found if self._runs_with(file, scope, setting, tops)), None)

    def _settings(self) -> Iterator[Setting]:
        for name in ("set_default_device", "set_default_tensor_type"):
            for file, index, _ in self.project.external_calls(name, "torch."):
                given = file.calls[index].args
                site = self.project.world.call_site(file, index, None)
                plain = len(given) == 1 and given[0].keyword not in ("*", "**")
                yield Setting(file, index, plain and self._is_cuda(given[0].value, site))

    def _is_cuda(self, expr: Expr, site: Site) -> bool:
        values = self.project.world.values.evaluate(expr, site)
        types = [
            value.name if isinstance(value, External) else str(value.value)
            for value in values
            if isinstance(value, (External, Const))
        ]
        tensors = len(types) == len(values) > 0 and all(name.startswith(_TENSORS) for name in types)
        return tensors or self.project.ask(Cuda).is_cuda(expr, site)

    def _runs_with(self, file: SourceFile, scope: int, setting: Setting, tops: set[str]) -> bool:
        """Whether a program that reaches a function also reaches the setting."""
        call = setting.file.calls[setting.call]
        if call.scope > 0:
            callers = self.project.world.calls.callers(Function(setting.file, call.scope))
            around = {
                (caller.file.path, caller.file.calls[caller.call].scope) for caller in callers if caller.call >= 0
            }
            if (file.path, scope) in {*around, (setting.file.path, call.scope)}:
                return True
            return bool(
                tops & set(self.project.programs.above(setting.file, call.scope))
            ) and self.project.programs.run_together((setting.file, call.scope), (file, scope))
        return not under_main_guard(setting.file, call.region) or setting.file.path in tops


def _is_guard(file: SourceFile, region: int) -> bool:
    return under_main_guard(file, region) and not under_main_guard(file, file.facts.regions[region].parent)
