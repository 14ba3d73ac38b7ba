"""Module attributes set by other modules: `settings.DEBUG = True` after `import settings`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from dllint.facts.nodes import Attribute, Constant, Expr, Name, Subscript
from dllint.facts.schema import ImportedName
from dllint.inference.values import Site
from dllint.linking.bindings import Binding
from dllint.linking.derivations import stores_elsewhere
from dllint.linking.source import SourceFile
from dllint.modules import ModuleIndex

_MODULES = Attribute(Name("sys"), "modules")
_ITSELF = Subscript(_MODULES, Name("__name__"))
"""The expression by which a module refers to itself."""


class ModuleStores:
    """Finds assignments to attributes of modules, through the import statements that bind the modules' names."""

    def __init__(self, files: dict[str, SourceFile], index: ModuleIndex) -> None:
        self.files = files
        self.index = index

    def of(self, file: SourceFile, name: str) -> list[tuple[Binding, Site]]:
        """Return the assignments to `name` in the module `file` from elsewhere, each with its site."""
        return self._stores.get(name, {}).get(file.path, [])

    def modules(self, name: str) -> Iterable[str]:
        """Return the paths of the modules in which other code sets `name`."""
        return self._stores.get(name, {})

    def names(self) -> Iterable[str]:
        """Return the names that other code sets in some module."""
        return self._stores

    @cached_property
    def _stores(self) -> dict[str, dict[str, list[tuple[Binding, Site]]]]:
        """The assignments by name and by path of the module."""
        found: dict[str, dict[str, list[tuple[Binding, Site]]]] = {}
        for file in self.files.values():
            self._collect(file, found)
        return found

    def _collect(self, file: SourceFile, found: dict[str, dict[str, list[tuple[Binding, Site]]]]) -> None:
        imported = _imported(file)
        for scope, stores in file.each(stores_elsewhere):
            for store in stores:
                path = self._module(file, scope, store.base, imported) if isinstance(store.key, str) else None
                if path is not None:
                    event = store.event
                    site = Site(file, scope, event.region, event.span.start, None)
                    binding = Binding("value", event, store.value, -1)
                    found.setdefault(str(store.key), {}).setdefault(path, []).append((binding, site))

    def module(self, file: SourceFile, scope: int, base: Expr) -> str | None:
        """The file of the module that an expression names by import statements alone."""
        return self._module(file, scope, base, _imported(file))

    def _module(self, file: SourceFile, scope: int, base: Expr, imported: dict[str, ImportedName]) -> str | None:
        if isinstance(base, Subscript):
            named = base.index.value if base.value == _MODULES and isinstance(base.index, Constant) else None
            found = self.index.resolve(file.path, named, 0) if isinstance(named, str) else []
            return file.path if base == _ITSELF else found[-1] if found else None
        names: list[str] = []
        while isinstance(base, Attribute):
            names.append(base.attr)
            base = base.value
        detail = imported.get(base.id) if isinstance(base, Name) else None
        if detail is None or not isinstance(base, Name) or self._hidden(file, scope, base.id):
            return None
        module, member, alias, level = detail
        if member is None and not alias:
            module = module.split(".")[0]
        dotted = ".".join(part for part in (module, member, *reversed(names)) if part)
        found = self.index.resolve(file.path, dotted, level)
        return found[-1] if found else None

    @staticmethod
    def _hidden(file: SourceFile, scope: int, name: str) -> bool:
        """Whether a binding other than an import statement hides a name at a place."""
        while scope >= 0:
            found = file.bindings(scope).get(name)
            if found:
                return any(binding.kind != "import" for binding in found)
            scope = file.scopes[scope].parent
        return False


def _imported(file: SourceFile) -> dict[str, ImportedName]:
    """What the import statements of a file bind, by the name that they bind it to."""
    return {_bound(detail): detail for _, _, detail in file.imports()}


def _bound(detail: ImportedName) -> str:
    module, member, alias, _ = detail
    return str(alias or member or module.split(".")[0])
