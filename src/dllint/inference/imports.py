"""The values that import statements bind, through re-exports and star imports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dllint.facts.nodes import Attribute, BinOp, Constant, List, Name, Tuple
from dllint.facts.schema import Event, Expr, ImportedName
from dllint.inference.answers import Table
from dllint.inference.entries import Change
from dllint.inference.interface import Engine
from dllint.inference.unions import union
from dllint.inference.values import UNKNOWN, Const, Display, External, Module, Pattern, Site, Values
from dllint.linking.bindings import Binding
from dllint.linking.expressions import attributes_read
from dllint.linking.source import SourceFile

_ALL = "__all__"


_END = (1 << 30, 0)
"""After the last line of any file."""


class Imports:
    """Resolves modules and their members."""

    def __init__(self, world: Engine) -> None:
        self.world = world
        self._members: Table[Values] = {}
        self._importers: dict[str, dict[str, Event]] | None = None
        self._listed: Table[frozenset[object] | None] = {}
        self._star: dict[tuple[str, str, tuple[int, int]], Values | None] = {}
        self._outside: dict[str, list[str]] = {}

    def imported(self, file: SourceFile, binding: Binding, name: str) -> Values:
        """Return the value that an import statement binds to `name`."""
        assert binding.event is not None and isinstance(binding.event.detail, ImportedName)
        module, member, alias, level = binding.event.detail
        if member is None:
            target = module if alias else module.split(".")[0]
            path = self.find(file, target, 0)
            if path is not None:
                return (Module(path),)
            if not alias and "." in module and self.find(file, module, 0) is not None:
                return (Module(f"<namespace>{target}"),)
            return self._inside_packages(file, target, name) or (External(target),)
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
            return self._inside_package(file, module, member) or (External(full),)
        return (UNKNOWN,)

    def _inside_package(self, file: SourceFile, module: str, member: str) -> Values:
        """Return the value of a name of the project that is imported from a module inside a package, as if the
        package's folder were on `sys.path`; empty if none defines the name."""
        for path in self.world.index.inside_packages(file.path, module):
            found = self.member(path, member)
            if found and UNKNOWN not in found:
                return found
        return ()

    def _inside_packages(self, file: SourceFile, module: str, name: str) -> Values:
        """Return the module of the project that `import module` means if a package's folder is on `sys.path`: one that
        has every attribute by which the file reads it. Empty if none has."""
        modules = self.world.index.inside_packages(file.path, module)
        read = file.derived(attributes_read, name) if modules else []
        for path in modules:
            if read and all(self.member(path, one) or self.submodule(path, one) for one in read):
                return (Module(path),)
        return ()

    def find(self, file: SourceFile, module: str, level: int) -> str | None:
        """Return the file of a module as `file` would import it; None if it is not part of the project."""
        found = self.world.index.resolve(file.path, module, level)
        return found[-1] if found else None

    def member(self, path: str, name: str) -> Values:
        """Return the values of `name` in the module at `path`; empty if it has no such name."""
        return self.world.memory.remember(self._members, (path, name), lambda: self._member(path, name), ())

    def _member(self, path: str, name: str) -> Values:
        file = self.world.files.get(path)
        if file is None:
            return ()
        if self.world.symbols.binds(file, name):
            # Others import what the module's last statements leave: `class Rows(Rows)` replaces an import.
            return self.world.values.name(name, Site(file, 0, 0, _END, None))
        return self.star(file, name) or ()

    def names(self, path: str) -> list[str]:
        """Return the names of a module's members, including those of its star imports from the project's modules."""
        found: dict[str, None] = {}
        todo, seen = [path], {path}
        while todo:
            file = self.world.files.get(todo.pop())
            for name, bindings in file.bindings(0).items() if file is not None else ():
                if name != "*":
                    found[name] = None
                    continue
                for binding in bindings:
                    assert file is not None and binding.event is not None
                    detail = binding.event.detail
                    inner = self.find(file, detail.module, detail.level) if isinstance(detail, ImportedName) else None
                    if inner is not None and inner not in seen:
                        seen.add(inner)
                        todo.append(inner)
                        found.update(dict.fromkeys(self.starred_modules(inner)))
        return list(found)

    def importers(self, file: SourceFile) -> list[tuple[SourceFile, Event]]:
        """Return the files that import a file at import time, each with the import statement."""
        if self._importers is None:
            self._importers = {}
            for other in self.world.files.values():
                for scope, event, imported in other.imports():
                    if scope == 0:
                        for path in self.reached(other, imported):
                            if path != other.path:
                                self._importers.setdefault(path, {}).setdefault(other.path, event)
        return [(self.world.files[path], event) for path, event in self._importers.get(file.path, {}).items()]

    def imported_by(self, file: SourceFile) -> set[str]:
        """The files that the import statements of a file name."""
        return {path for _, _, imported in file.imports() for path in self.reached(file, imported)}

    def reached(self, file: SourceFile, imported: ImportedName) -> set[str]:
        """Return the files of the project that an import statement names: a module, and a module inside it."""
        module, name, _, level = imported
        reached = self.find(file, module, level)
        if reached is None and name:
            return set()
        inner = self.find(file, f"{module}.{name}", level) if name and name != "*" else None
        return {path for path in (reached, inner) if path is not None}

    def fitting(self, file: SourceFile, name: Pattern) -> list[Module]:
        """Return the modules whose name matches a pattern of a known beginning and end."""
        found = self.world.index.beginning(file.path, name.prefix, (name.inner + name.suffix).count("."))
        return [Module(files[-1]) for module, files in found.items() if name.fits(module)]

    def submodule(self, path: str, name: str) -> Values:
        """Return the module `name` inside the package at `path`; empty if there is none."""
        found = self.world.index.resolve(path, name, 1) if path.endswith("__init__.py") else []
        return (Module(found[-1]),) if found else ()

    def star(self, file: SourceFile, name: str, after: tuple[int, int] = (0, 0)) -> Values | None:
        """Return the value that the file's star imports bind to `name`, only those after a place if given; None if none
        of them can bind it."""
        stars = file.bindings(0).get("*")
        if not stars or name.startswith("__"):
            return None
        key = (file.path, name, after)
        if key in self._star:
            return self._star[key]
        self._star[key] = None
        found: Values | None = None
        for binding in reversed(stars):
            assert binding.event is not None and isinstance(binding.event.detail, ImportedName)
            if binding.event.span.start < after:
                break
            module, _, _, level = binding.event.detail
            path = self.find(file, module, level)
            if path is not None:
                values = self.member(path, name) if self._exports(path, name) else ()
                values = values or (self.submodule(path, name) if name in self.starred_modules(path) else ())
                if values:
                    found = values
                    break
            elif level == 0 and self.world.knowledge.exports(module, name):
                found = (External(f"{module}.{name}"),)
                break
        self._star[key] = found
        return found

    def from_outside(self, file: SourceFile, name: str) -> Values:
        """Return the value of a name that nothing in the project binds for the file: that of the only module outside
        the project whose names its star imports bring, directly or through others; empty if there is none, or
        several."""
        if name.startswith("_"):
            return ()
        found = self._outside.get(file.path)
        if found is None:
            found = self._outside[file.path] = self._starred_outside(file)
        return (External(f"{found[0]}.{name}"),) if len(found) == 1 and found[0] else ()

    def _starred_outside(self, file: SourceFile) -> list[str]:
        """Return the modules outside the project that star imports bring, with "" for what is not known."""
        found: dict[str, None] = {}
        todo = [file]
        for one in todo:
            for binding in one.bindings(0).get("*", ()):
                assert binding.event is not None and isinstance(binding.event.detail, ImportedName)
                module, _, _, level = binding.event.detail
                path = self.find(one, module, level)
                other = self.world.files.get(path) if path is not None else None
                if other is None:
                    found["" if level or path is not None else module] = None
                elif other not in todo:
                    todo.append(other)
        return [*found]

    def or_starred(self, name: str, values: Values, found: Sequence[tuple[Binding, Site]], site: Site) -> Values:
        """Return the values of a module's name, or those of a star import that follows its bindings and may rebind
        it."""
        last = max(((where.at, where.scope) for _, where in found if where.file is site.file), default=((0, 0), 1))
        stars = [one.event for one in site.file.bindings(0)["*"] if one.event is not None]
        between = [one for one in stars if last[0] < one.span.start]
        if site.scope == 0 and site.at != (0, 0):
            between = [one for one in between if one.span.start < site.at]
        starred = self.star(site.file, name, after=last[0]) if between and not last[1] else None
        if starred is None:
            return values
        return union([values, starred]) if any(one.region for one in between) else starred

    def _exports(self, path: str, name: str) -> bool:
        """Whether a star import of a project module binds a name that it has: listed in `__all__`, or without an
        underscore."""
        listed = self.world.memory.remember(self._listed, path, lambda: self._in_all(path), None)
        return not name.startswith("_") if listed is None else name in listed

    def starred_modules(self, path: str) -> list[str]:
        """Return the modules inside a package that `from package import *` imports: those that its `__all__` lists; all
        of them if what it lists is unknown, as where it lists the files of the directory."""
        file = self.world.files.get(path)
        if file is None or not path.endswith("__init__.py") or _ALL not in file.bindings(0):
            return []
        listed = self.world.memory.remember(self._listed, path, lambda: self._in_all(path), None)
        prefix = f"{self.world.index.module_name(path)}."
        inside = [one[len(prefix) :] for one in self.world.index.beginning(path, prefix)]
        return inside if listed is None else [one for one in inside if one in listed]

    def _in_all(self, path: str) -> frozenset[object] | None:
        """Return the names in the `__all__` of a module; None if it has none, or if not all are known."""
        file = self.world.files.get(path)
        bound = file.bindings(0).get(_ALL) if file is not None else None
        event = bound[-1].event if bound else None
        if file is None or bound is None or event is None or path in self._lists_changed_outside:
            return None
        # What the module itself says is enough as a rule; a question about changes goes through the whole program.
        changes = [one for one in self.world.mappings.changes_in(file) if one.base == Name(_ALL)]
        written = _written(bound, changes)
        if written is not None:
            return written
        if any(one.scope or not any(_start(one.at, binding) for binding in bound) for one in changes):
            return None
        end = Site(file, 0, 0, (event.span.end_line + 1, 0), None)
        values = self.world.values.name(_ALL, end)
        slots = self.world.mappings.slots(values[0]) if len(values) == 1 and isinstance(values[0], Display) else None
        parts = [self.world.values.evaluate(expr, site) for expr, site in slots or ()]
        names = frozenset(one.value for part in parts if len(part) == 1 for one in part if isinstance(one, Const))
        return names if slots is not None and len(names) == len(parts) else None

    @cached_property
    def _lists_changed_outside(self) -> frozenset[str]:
        """The modules whose `__all__` other files change: `models.__all__.append(name)`."""
        stores = self.world.symbols.module_stores
        return frozenset(
            path
            for file in dict.fromkeys(file for file, _ in self.world.loaded(_ALL))
            for change in self.world.mappings.changes_in(file)
            if isinstance(change.base, Attribute) and change.base.attr == _ALL
            if (path := stores.module(file, change.scope, change.base.value)) is not None
        )


def _written(bound: list[Binding], changes: list[Change]) -> frozenset[object] | None:
    """The names that a module puts into its `__all__`, where each statement that does is always run and lists them."""
    given: list[Expr | None] = []
    for binding in bound:
        expr = binding.expr
        added = isinstance(expr, BinOp) and expr.op == "+" and expr.left == Name(_ALL) and given
        given.append(expr.right if isinstance(expr, BinOp) and added else expr)
        if binding.event is None or binding.event.region or (not added and len(given) > 1):
            return None
    for change in changes:
        if change.scope or change.region or change.kind not in ("add", "extend"):
            return None
        given.append(List((change.value,)) if change.kind == "add" and change.value is not None else change.value)
    parts = [one for expr in given for one in (expr.elements if isinstance(expr, (List, Tuple)) else (None,))]
    names = frozenset(one.value for one in parts if isinstance(one, Constant))
    return names if all(isinstance(one, Constant) for one in parts) else None


def _start(at: tuple[int, int], binding: Binding) -> bool:
    """Whether a binding begins at a place."""
    return binding.event is not None and binding.event.span.start == at
