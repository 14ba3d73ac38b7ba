"""Which files import which, and which of them belong to one program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from dllint.facts.nodes import BinOp, Constant, FString
from dllint.facts.schema import Expr
from dllint.linking.conditions import main_guards
from dllint.linking.expressions import attributes_read, summands, written_out
from dllint.linking.source import SourceFile
from dllint.modules import ModuleIndex

_IMPORTING = ("import_module", "__import__")
_HOLE = "\0"
"""Stands for the part of a name that a run fills in."""
_SCANNING = ("iter_modules", "walk_packages", "load_module")


class ImportGraph:
    """The import statements of all files, at module level or inside functions."""

    def __init__(self, files: Mapping[str, SourceFile], index: ModuleIndex) -> None:
        self._files = files
        self._index = index
        self._imports: dict[str, list[str]] = {}
        self._importing: dict[str, list[str]] | None = None
        self._roots: dict[str, frozenset[str]] | None = None
        self._programs: dict[str, bool] = {}
        self._aparts: dict[tuple[str, str], bool] = {}
        self._loading_by_name: set[str] | None = None
        self._loaded: dict[frozenset[str], frozenset[str]] = {}

    def imports(self, path: str) -> list[str]:
        """Return the files of the project that a file imports, anywhere in it."""
        found = self._imports.get(path)
        if found is None:
            reached: dict[str, None] = {}
            file = self._files.get(path)
            for _, _, (module, name, alias, level) in file.imports() if file is not None else ():
                reached.update(dict.fromkeys(self._index.resolve(path, module, level)))
                if name and name != "*":
                    inner = f"{module}.{name}" if module else name
                    reached.update(dict.fromkeys(self._index.resolve(path, inner, level)))
                elif name:
                    reached.update(dict.fromkeys(self._starred(path, module, level)))
                inside = self._index.inside_packages(path, module) if not level and name != "*" else ()
                if inside and file is not None:
                    read = file.derived(attributes_read, alias or module) if name is None else [name]
                    defining = (one for one in inside if any(self._defines(one, part) for part in read))
                    reached.update(dict.fromkeys(defining))
            for name, rest in self._named(file) if file is not None else ():
                # `import_module(f"models.{kind}.net")` can import any such module of the package.
                modules = self._index.beginning(path, name, rest.count(".")) if name.endswith(".") else {}
                ending = rest.rpartition(_HOLE)[2]
                fitting = (paths for found, paths in modules.items() if found.endswith(ending))
                reached.update(dict.fromkeys(one for paths in fitting for one in paths))
                plain = name.lstrip(".")
                reached.update(dict.fromkeys(self._index.resolve(path, plain.rstrip("."), len(name) - len(plain))))
            for name in file.derived(written_out) if file is not None and self._loads_by_name else ():
                # `make(class_name="data.rows.Rows")`: the class, or the module itself. `"train.txt"` is a file.
                module, _, last = name.rpartition(".")
                around = self._index.resolve(path, module)
                held = around if around and self._defines(around[-1], last) else []
                reached.update(dict.fromkeys(self._index.resolve(path, name) or held))
            if file is not None and file.derived(imports_by_text):
                reached.update(dict.fromkeys(self._named_like_their_module))
            found = self._imports[path] = list(reached)
        return found

    @cached_property
    def packages(self) -> frozenset[str]:
        """The top-level packages that any file imports, and the names imported from them."""
        return frozenset(name for file in self._files.values() for name in file.imported_packages())

    def _starred(self, path: str, module: str, level: int) -> Iterator[str]:
        """Yield the modules of a package that `from package import *` may import: any, if it has an `__all__`."""
        package = self._index.resolve(path, module, level)[-1:]
        file = self._files.get(package[0]) if package and package[0].endswith("__init__.py") else None
        if file is not None and "__all__" in file.bindings(0):
            inside = self._index.beginning(file.path, f"{self._index.module_name(file.path)}.")
            yield from (one for paths in inside.values() for one in paths)

    @cached_property
    def _loads_by_name(self) -> bool:
        """Whether the project imports modules by name anywhere."""
        return any(file.facts.called.get(name) for file in self._files.values() for name in _IMPORTING)

    @cached_property
    def _named_like_their_module(self) -> list[str]:
        """The files that define what they are named after."""
        return [one for one in self._files if self._defines(one, os.path.basename(one).removesuffix(".py"))]

    def _defines(self, path: str, name: str) -> bool:
        """Whether a module binds a name at its top level, or may get it by a star import."""
        file = self._files.get(path)
        return file is not None and (name in (bound := file.bindings(0)) or "*" in bound)

    @staticmethod
    def _named(file: SourceFile) -> Iterator[tuple[str, str]]:
        """Yield the modules that calls import by a literal name, or by a name with a literal beginning: "models.", and
        what follows it."""
        for function in _IMPORTING:
            for index in file.facts.called.get(function, ()):
                args = file.calls[index].args
                name = args[0].value if args and args[0].keyword is None else None
                if isinstance(name, (FString, BinOp)):
                    parts = name.values if isinstance(name, FString) else list(summands(name))
                    texts = [_text(part) for part in parts]
                    package, dot, begun = texts[0].rpartition(".")
                    if dot and _HOLE not in package:
                        yield f"{package}.", "".join((begun, *texts[1:]))
                elif isinstance(name, Constant) and isinstance(name.value, str):
                    yield name.value, ""

    def import_closure(self, paths: Iterable[str]) -> set[str]:
        """Return the files and all that they import, directly or not."""
        closed: set[str] = set()
        todo = list(paths)
        while todo:
            path = todo.pop()
            if path not in closed:
                closed.add(path)
                todo += [imported for imported in self.imports(path) if imported not in closed]
        return closed

    def roots(self, path: str) -> frozenset[str]:
        """Return the programs that import a file, directly or not, and the files that nothing imports (itself if it is
        one)."""
        if self._roots is None:
            self._roots = self._find_roots()
        found = self._roots.get(path)
        if found is None:
            found = self._roots[path] = frozenset({path})
        return found

    def _importers(self) -> dict[str, list[str]]:
        """Return the files that import each file."""
        if self._importing is None:
            self._importing = {}
            for other in self._files:
                for imported in self.imports(other):
                    if imported != other:
                        self._importing.setdefault(imported, []).append(other)
        return self._importing

    def _find_roots(self) -> dict[str, frozenset[str]]:
        """Return the roots of all files: those of its importers, and the file itself if it is a root.

        Files that import one another share their roots, and are found by Tarjan's algorithm, importers first.
        """
        importing = self._importers()
        found: dict[str, frozenset[str]] = {}
        number: dict[str, int] = {}
        lowest: dict[str, int] = {}
        stack: list[str] = []
        for start in (*self._files, *importing):
            if start in number:
                continue
            number[start] = lowest[start] = len(number)
            stack.append(start)
            ways = [(start, iter(importing.get(start, ())))]
            while ways:
                here, others = ways[-1]
                other = next(others, None)
                if other is None:
                    ways.pop()
                    if ways:
                        lowest[ways[-1][0]] = min(lowest[ways[-1][0]], lowest[here])
                    if lowest[here] == number[here]:
                        ring = [stack.pop()]
                        while ring[-1] != here:
                            ring.append(stack.pop())
                        self._close(ring, importing, found)
                elif other not in number:
                    number[other] = lowest[other] = len(number)
                    stack.append(other)
                    ways.append((other, iter(importing.get(other, ()))))
                elif other not in found:
                    lowest[here] = min(lowest[here], number[other])
        return found

    def _close(self, ring: list[str], importing: dict[str, list[str]], found: dict[str, frozenset[str]]) -> None:
        """Set the roots of files that import one another, once those of all their importers are known."""
        given = {found[other] for path in ring for other in importing.get(path, ()) if other in found}
        own = {path for path in ring if path not in importing or self.is_program(path)}
        roots = frozenset(own).union(*given) if own or len(given) != 1 else given.pop()
        for path in ring:
            found[path] = roots

    def loaded_with(self, path: str) -> frozenset[str]:
        """Return the files that the programs with this file can load; all files if one of them imports by name."""
        roots = self.roots(path)
        found = self._loaded.get(roots)
        if found is None:
            by_name = any(map(self.imports_by_name, roots))
            found = self._loaded[roots] = frozenset(self._files if by_name else self.import_closure(roots))
        return found

    def together(self, paths: Iterable[str], beside: Iterable[str]) -> bool:
        """Whether one program can load both the files that lead to a place, and the others: not if two of them belong
        only to different programs.

        A file that nothing imports may be loaded by name. It is separate from a program only if that program imports
        nothing by name, or if the file is a test or a script outside of packages.
        """
        return not any(self._apart(one, other) for one in paths for other in beside)

    def runs_with(self, script: str, paths: Iterable[str]) -> bool:
        """Whether all these files can be loaded where the top level of a script runs: by the script itself, by a
        program that imports it, or by name."""
        loaded = self.import_closure((script, *self.roots(script)))
        return all(path in loaded or (self.imports_by_name(script) and not self.is_program(path)) for path in paths)

    def _apart(self, one: str, other: str) -> bool:
        key = (one, other)
        found = self._aparts.get(key)
        if found is None:
            mine, theirs = self.roots(one), self.roots(other)
            by_name = other in theirs and not self._is_run(other) and any(map(self.imports_by_name, mine))
            certain = bool(mine and theirs) and all(map(self.is_program, mine | theirs))
            found = self._aparts[key] = certain and not by_name and not mine & theirs
        return found

    def runs_without(self, path: str, others: Iterable[str]) -> bool:
        """Whether a file belongs only to tests, notebooks, and scripts outside of packages that import nothing by name,
        and none of them imports one of the others. So no program loads all of these files."""
        roots = self.roots(path)
        alone = not self._scans and all(self._is_run(root) and not self.imports_by_name(root) for root in roots)
        return alone and any(not roots & self.roots(other) for other in others)

    def is_program(self, path: str) -> bool:
        """Whether a file is run by itself: a notebook, or a file with a `__main__` guard or the name of a test."""
        found = self._programs.get(path)
        if found is None:
            file = self._files.get(path)
            found = self._programs[path] = file is not None and (
                file.is_notebook or self.is_test(path) or bool(main_guards(file))
            )
        return found

    def _is_run(self, path: str) -> bool:
        """Whether a file exists to be run: a notebook, a test, or a program outside of packages."""
        return self.is_test(path) or (self.is_program(path) and not self._index.is_in_package(path))

    def leaves_out(self, path: str, other: str) -> bool:
        """Whether the programs with a file never load another one: nothing imports that one, it is no program itself,
        and they import nothing by name. A decorator in it, which would register a class, then never runs."""
        if other == path or other in self._importers() or self.is_program(other):
            return False
        by_name = self._scans or any(map(self.imports_by_name, self.roots(path) - {other}))
        return not by_name and any(map(self.is_program, self.roots(path)))

    @cached_property
    def _scans(self) -> bool:
        """Whether the project has code that imports all modules of a package."""
        return any(file.facts.called.get(name) for file in self._files.values() for name in _SCANNING)

    def is_test(self, path: str) -> bool:
        """Whether a file has the name of a pytest or unittest test, and nothing imports it: `dataset_video_test.py` may
        contain a dataset."""
        name = path.rsplit("/", 1)[-1]
        named = name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
        return named and path not in self._importers()

    def imports_by_name(self, path: str) -> bool:
        """Whether a file, or one that it imports, imports modules by name."""
        if self._loading_by_name is None:
            importing = self._importers()
            named = (*_IMPORTING, "instantiate")
            todo = [path for path, file in self._files.items() if any(file.facts.called.get(name) for name in named)]
            self._loading_by_name = set()
            while todo:
                here = todo.pop()
                if here not in self._loading_by_name:
                    self._loading_by_name.add(here)
                    todo += importing.get(here, ())
        return path in self._loading_by_name


def _text(expr: Expr) -> str:
    """The text of a constant, or `_HOLE` for one that a run fills in."""
    return expr.value if isinstance(expr, Constant) and isinstance(expr.value, str) else _HOLE


def imports_by_text(file: SourceFile) -> bool:
    """Whether a file imports what modules define under their own names: `exec("from " + name + " import " + name)`."""
    for index in file.facts.called.get("exec", ()):
        args = file.calls[index].args
        text = args[0].value if args else None
        parts = list(text.values) if isinstance(text, FString) else summands(text) if text is not None else []
        if len(parts) == 4 and parts[::2] == [Constant("from "), Constant(" import ")] and parts[1] == parts[3]:
            return True
    return False
