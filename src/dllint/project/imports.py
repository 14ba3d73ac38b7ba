"""What import statements bind, through re-exports and star imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint import torch_api
from dllint.project.abstract import UNKNOWN, External, Module, Site, Values
from dllint.project.source import Binding, SourceFile

if TYPE_CHECKING:
    from dllint.project.world import World


class Imports:
    """Resolution of modules and of their members."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._members: dict[tuple[str, str], Values | None] = {}
        self._star: dict[tuple[str, str], Values | None] = {}

    def imported(self, file: SourceFile, binding: Binding, name: str) -> Values:
        """What an import statement binds to `name`."""
        assert binding.event is not None
        module, member, alias, level = binding.event.detail
        if member is None:
            target = module if alias else module.split(".")[0]
            path = self.find(file, target, 0)
            if path is not None:
                return (Module(path),)
            if not alias and "." in module and self.find(file, module, 0) is not None:
                return (Module(f"<namespace>{target}"),)
            return (External(target),)
        if member == "*":
            return ()
        return self.from_import(file, module, level, member)

    def from_import(self, file: SourceFile, module: str, level: int, member: str) -> Values:
        path = self.find(file, module, level)
        if path is not None:
            found = self.member(path, member)
            if found:
                return found
        full = f"{module}.{member}" if module else member
        submodule = self.find(file, full, level)
        if submodule is not None:
            return (Module(submodule),)
        if path is None and level == 0:
            return (External(full),)
        return (UNKNOWN,)

    def find(self, file: SourceFile, module: str, level: int) -> str | None:
        """The file of a module as `file` would import it."""
        found = self.world.index.resolve(file.path, module, level)
        return found[-1] if found else None

    def member(self, path: str, name: str) -> Values:
        """What `name` is in the module at `path`; nothing where it has no such name."""
        key = (path, name)
        if key in self._members:
            return self._members[key] or ()
        self._members[key] = None
        file = self.world.files.get(path)
        result: Values = ()
        if file is None:
            result = ()
        elif name in file.bindings(0) or file.global_bindings(name):
            result = self.world.values.name(name, Site(file, 0, 0, (0, 0), None))
        else:
            result = self.star(file, name) or ()
        self._members[key] = result
        return result

    def submodule(self, path: str, name: str) -> Values:
        """The module `name` inside the package at `path`."""
        found = self.world.index.resolve(path, name, 1) if path.endswith("__init__.py") else []
        return (Module(found[-1]),) if found else ()

    def star(self, file: SourceFile, name: str) -> Values | None:
        """What `name` is by the file's star imports; None where none of them can give it."""
        stars = file.bindings(0).get("*")
        if not stars or name.startswith("__"):
            return None
        key = (file.path, name)
        if key in self._star:
            return self._star[key]
        self._star[key] = None
        found: Values | None = None
        for binding in reversed(stars):
            assert binding.event is not None
            module, _, _, level = binding.event.detail
            path = self.find(file, module, level)
            if path is not None:
                values = self.member(path, name)
                if values:
                    found = values
                    break
            elif level == 0 and torch_api.exports(module, name):
                found = (External(f"{module}.{name}"),)
                break
        self._star[key] = found
        return found
