"""Hooks of the project that a framework calls in each epoch: `before_train_epoch(self, runner)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Name
from dllint.facts.schema import Expr
from dllint.inference.origins import Origins, Step
from dllint.inference.values import Class, External, Site, Unknown
from dllint.libraries.hook_facets import EachEpoch
from dllint.libraries.index import EACH_EPOCH, canonical
from dllint.linking.source import SourceFile
from dllint.project.loaders import Loader
from dllint.rules.data.framework_epochs import FrameworkEpochs

if TYPE_CHECKING:
    from dllint.project.model import Project


class EpochHooks:
    """Finds what hooks run in each epoch, and the loaders that frameworks hand to them, in one project."""

    def __init__(self, project: Project) -> None:
        self.world = project.world
        self.origins = Origins(project.world)
        self._framework = project.ask(FrameworkEpochs)
        self._declared: dict[tuple[str, int], EachEpoch | None] = {}
        self._run: dict[tuple[str, int], frozenset[str]] = {}

    def run(self, site: Site, loader: Loader) -> bool:
        """Whether a place is in a method that a framework calls in each epoch of a loader, or in one that such a method
        calls on its own object."""
        hooks = self._of(site.file, site.scope)
        if hooks is None or site.file.scopes[site.scope].name not in self._methods(site.file, site.scope, hooks):
            return False
        return self._repeats(hooks, loader)

    def gets(self, expr: Expr, site: Site, loader: Loader) -> bool:
        """Whether an expression in a class with such hooks is a loader as the framework hands it to them:
        `runner.train_dataloader`, or a name or an attribute that this is assigned to."""
        hooks = self._of(site.file, site.scope)
        if hooks is None or not _is_named(loader, hooks.entry) or not self._repeats(hooks, loader):
            return False
        steps = ((one.expr, one.site) for one in self.origins_of(expr, site))
        return any(self._is_handed(one, where, hooks) for one, where in ((expr, site), *steps))

    def origins_of(self, expr: Expr, site: Site) -> Iterator[Step]:
        """The expressions that a name or an attribute is assigned in a class with such hooks."""
        if isinstance(expr, (Name, Attribute)) and self._of(site.file, site.scope) is not None:
            yield from (one for one in self.origins.expressions(expr, site) if one.expr != expr)

    def _is_handed(self, expr: Expr, site: Site, hooks: EachEpoch) -> bool:
        """Whether an expression is an attribute of this name of an object that is none of the project's."""
        if not isinstance(expr, Attribute) or expr.attr != hooks.loader:
            return False
        return all(isinstance(one, (Unknown, External)) for one in self.world.values.evaluate(expr, site))

    def _repeats(self, hooks: EachEpoch, loader: Loader) -> bool:
        """Whether a framework iterates a loader in several epochs without building it again."""
        if hooks.apis:
            return isinstance(loader.callee, External) and loader.callee.name in hooks.apis
        return any(True for _ in self._framework.of(loader))

    def _of(self, file: SourceFile, scope: int) -> EachEpoch | None:
        """The hooks of the class whose method a function is."""
        owner = file.method_of(scope)
        if owner is None:
            return None
        if (file.path, owner) not in self._declared:
            bases = self.world.hierarchy.externals(Class(file, owner))
            declared = (EACH_EPOCH.get(canonical(base)) for base in bases)
            self._declared[file.path, owner] = next((one for one in declared if one is not None), None)
        return self._declared[file.path, owner]

    def _methods(self, file: SourceFile, scope: int, hooks: EachEpoch) -> frozenset[str]:
        """The names of the methods of a class that its hooks run in each epoch."""
        owner = file.method_of(scope)
        assert owner is not None
        found = self._run.get((file.path, owner))
        if found is None:
            names = dict.fromkeys(hooks.methods)
            todo = list(names)
            for name in todo:
                method = self.world.hierarchy.method(Class(file, owner), name)
                called = _own_calls(method.file, method.scope) if method is not None else ()
                todo += (one for one in called if one not in names)
                names.update(dict.fromkeys(todo))
            found = self._run[file.path, owner] = frozenset(names)
        return found


def _own_calls(file: SourceFile, scope: int) -> Iterator[str]:
    """The names of the methods that a method calls on its own object."""
    params = file.scopes[scope].params
    for index in file.calls_of(scope):
        func = file.calls[index].func
        if params and isinstance(func, Attribute) and func.value == Name(params[0].name):
            yield func.attr


def _is_named(loader: Loader, name: str) -> bool:
    """Whether a function of this name makes a loader, or a variable or an argument of the name is the loader."""
    file, made = loader.file, CallRef(loader.call)
    if not name or file.scopes[file.calls[loader.call].scope].name == name:
        return True
    if any(one.expr == made for one in file.bindings(0).get(name, ())):
        return True
    return any(one.keyword == name and one.value == made for call in file.calls for one in call.args)
