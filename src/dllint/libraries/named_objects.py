"""Resolves dotted names that a program reads from its configuration: `data.rows.Rows`.

If the name is unknown, the world is closed: it can only be one of the names written in the project's configuration
files, or a definition that has the attribute name being looked up.
"""

from __future__ import annotations

from dllint.inference import limits
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import (
    CHOSEN,
    UNKNOWN,
    Class,
    Const,
    External,
    Function,
    Module,
    Site,
    Value,
    Values,
)
from dllint.libraries.configuration_files import ConfigurationFiles
from dllint.libraries.dynamic_lookup import first_argument
from dllint.libraries.index import is_dataset_base
from dllint.linking.source import SourceFile

LOCATING = frozenset(
    {"pydoc.locate", "pkgutil.resolve_name", *(f"hydra.utils.get_{kind}" for kind in ("class", "method", "object"))}
)
"""Functions that return the object with a dotted name (docs.python.org, "pydoc", "pkgutil"; hydra 1.3, `utils.py`)."""
_LOADING = ("__getitem__", "__iter__", "train_dataloader", "val_dataloader")
"""Methods of classes that a loader reads from, or that build loaders for a trainer."""


class NamedObjects:
    """The project's definitions by dotted name."""

    def __init__(self, world: Engine, files: ConfigurationFiles) -> None:
        self.world = world
        self.files = files
        self._configured: Values | None = None
        self._by_name: dict[str, Values] = {}
        self._by_key: dict[str, Values | None] = {}

    def named(self, file: SourceFile, name: str) -> Values:
        """Return the value of a dotted name, resolved as an import in the file would be."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            path = self.world.imports.find(file, ".".join(parts[:end]), 0)
            if path is not None:
                found: Values = (Module(path),)
                for part in parts[end:]:
                    found = union(self.world.values.attribute(value, part) for value in found)
                return found
        return (External(name),)

    def located(self, world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
        """Return the value of `pydoc.locate("data.rows.Rows")`; `pkgutil.resolve_name` also accepts
        `data.rows:Rows`."""
        found: list[Values] = []
        for value in first_argument(world, file, index, site) or ():
            if isinstance(value, Const) and isinstance(value.value, str):
                found.append(self.named(file, value.value.replace(":", ".")))
            else:
                found.append((UNKNOWN,))
        return union(found) or None

    def configured(self, keys: tuple[str, ...] = ()) -> Values:
        """Return the classes for data loading that configuration files name: an unknown name may be any of them. If
        they name none, the project's datasets if these are few. The last value, `CHOSEN`, marks the choice as open.

        `keys` are those under which the program reads the name, the outermost first, as far as they are known.
        """
        named = self.files.named_by(*keys[-2:]) if len(keys) > 1 else frozenset[str]()
        if named:
            found = union(self._classes(name) for name in limits.NAMED.first(sorted(named)))
            return (*found, CHOSEN) if found else ()
        if self._configured is None:
            self._configured = ()
            found = union(map(self._classes, sorted(self.files.names())))
            chosen = limits.NAMED.first(list(found)) if found else self._datasets()
            self._configured = (*chosen, CHOSEN) if chosen else ()
        return self._configured

    def _classes(self, name: str) -> Values:
        """Return the classes for data loading that a dotted name names."""
        module, _, last = name.rpartition(".")
        paths = self.world.index.resolve("", module, 0)[-1:]
        values = (value for path in paths for value in self.world.imports.member(path, last))
        return tuple(value for value in values if isinstance(value, Class) and self._loads(value))

    def targets(self, file: SourceFile, key: str) -> Values | None:
        """Return what configuration files name as the target of an entry of this name, and `CHOSEN`, which marks the
        choice as open: empty if their entries of this name have no target; `None` if there is no such entry."""
        if key not in self._by_key:
            names = sorted(self.files.named_by(key))
            found = union(self.named(file, name) for name in limits.NAMED.first(names))
            self._by_key[key] = (*found, CHOSEN) if found else () if self.files.have_key(key) else None
        return self._by_key[key]

    def defined(self, name: str) -> Values:
        """Return the classes and functions of this name at the top level of any module of the project; the last value,
        `CHOSEN`, marks the choice as open. Empty if there are none, or too many."""
        found = self._by_name.get(name)
        if found is None:
            self._by_name[name] = ()
            definitions = [
                Class(file, index) if scope.kind == "class" else Function(file, index)
                for file, index in self.world.defined(name)
                for scope in (file.scopes[index],)
                if scope.parent == 0
            ]
            if definitions and not limits.MEMBERS.exceeded(len(definitions)):
                self._by_name[name] = (*definitions, CHOSEN)
            found = self._by_name[name]
        return found

    def _datasets(self) -> list[Value]:
        """Return the dataset classes without subclasses; empty if there are many."""
        found: list[Value] = [
            cls
            for cls in self.world.classes()
            if cls.file.scopes[cls.scope].parent == 0 and self._is_dataset(cls)
            if not self.world.hierarchy.subclasses(cls)
        ]
        return [] if limits.MEMBERS.exceeded(len(found)) else found

    def _is_dataset(self, cls: Class) -> bool:
        return any(map(is_dataset_base, self.world.hierarchy.externals(cls)))

    def _loads(self, cls: Class) -> bool:
        if any(name.endswith("DataModule") for name in self.world.hierarchy.externals(cls)):
            return True
        return self._is_dataset(cls) or any(self.world.hierarchy.method(cls, name) is not None for name in _LOADING)
