"""The calls of frameworks' trainers that iterate the same loader in every epoch: `trainer.fit(model, loader)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute
from dllint.facts.schema import Param
from dllint.inference.entries import Found
from dllint.inference.values import Actuals, Const, Instance, const
from dllint.libraries.hook_facets import Epochs
from dllint.libraries.hooks import constructed_with
from dllint.libraries.index import HOOKS
from dllint.linking.source import SourceFile
from dllint.project.framework_loaders import Trainer, trainers
from dllint.project.loaders import Loader
from dllint.project.process_starts import Starting
from dllint.project.trainers import options_of
from dllint.span import WHOLE_FILE, Span

if TYPE_CHECKING:
    from dllint.project.model import Project

_NO_END = (const(-1), const(0))
"""The values of a number of steps that do not end the run."""
_ENTRIES = sorted({entry for hooks in HOOKS.values() for entry in hooks.epochs})


@dataclass(frozen=True)
class EpochsCall:
    """A call that runs the epochs of a loader."""

    file: SourceFile
    call: int

    @property
    def span(self) -> Span:
        return self.file.calls[self.call].span


class FrameworkEpochs:
    """Finds the calls of trainers that run the epochs of the loaders of one project."""

    def __init__(self, project: Project) -> None:
        self.world = project.world
        self.starting = project.ask(Starting)

    def of(self, loader: Loader) -> Iterable[EpochsCall]:
        """The calls that iterate a loader in several epochs without building it again between them."""
        return self._calls.get((loader.file.path, loader.call), ())

    @cached_property
    def _calls(self) -> dict[tuple[str, int], list[EpochsCall]]:
        found: dict[tuple[str, int], list[EpochsCall]] = {}
        for name in _ENTRIES:
            for file, index in self.world.called(name):
                site = self.world.call_site(file, index, None)
                methods = list(trainers(self.world, file.calls[index].func, site))
                if any(self._repeats(file, index, one) for one in methods) and not self.world.unreached(site):
                    for loader in self.starting.consumed(file, index, None):
                        found.setdefault((loader.file.path, loader.call), []).append(EpochsCall(file, index))
        return found

    def _repeats(self, file: SourceFile, index: int, method: Trainer) -> bool:
        """Whether a call of a trainer's method may run several epochs with the same loaders."""
        epochs = method.hooks.epochs.get(method.entry)
        if epochs is None:
            return False
        called = self.world.actuals(file, index, None)
        return any(self._repeated(epochs, called, made) for made in self._constructed(file, index, method, epochs))

    def _constructed(self, file: SourceFile, index: int, method: Trainer, epochs: Epochs) -> Iterator[Actuals]:
        """The arguments that the constructors of the trainers got, or those of their options."""
        func = file.calls[index].func
        if isinstance(func, Attribute):
            for value in self.world.values.evaluate(func.value, self.world.call_site(file, index, None)):
                if epochs.of_options:
                    options = options_of(self.world, value)
                    yield from (self.world.made_with(one) for one in options if isinstance(one, Instance))
                else:
                    yield constructed_with(self.world, method.owner, value) or Actuals()

    def _repeated(self, epochs: Epochs, called: Actuals, made: Actuals) -> bool:
        if not all(self._is_off(self._given(made, name)) for name in epochs.renewing):
            return False
        ends = (self._given(made, name) for name in epochs.instead)
        if not all(one.absent or all(value in _NO_END for value in one.values) for one in ends):
            return False
        found = [self._given(called, epochs.number, epochs.params), self._given(made, epochs.number)]
        given = [value for one in found for value in one.values]
        if not any(one.named for one in found):
            return epochs.default
        return not all(isinstance(one, Const) and one.value in epochs.single for one in given)

    def _given(self, actuals: Actuals, name: str, positional: tuple[str, ...] = ()) -> Found:
        params = [Param(one, "normal", None, None, WHOLE_FILE) for one in positional]
        if name not in positional:
            params.append(Param(name, "keyword", None, None, WHOLE_FILE))
        return self.world.parameters.given(actuals, params, name, 0)

    @staticmethod
    def _is_off(found: Found) -> bool:
        """Whether an option is not given, or off; options of a command line that no one names count as off."""
        return not found.named or all(isinstance(one, Const) and not one.value for one in found.values)
