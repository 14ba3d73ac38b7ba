"""Programs: which modules belong together at run time, and what they set in the environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dllint.facts.nodes import Constant, Expr
from dllint.project.abstract import Class, Const, External, Frame, Function, Instance, Site
from dllint.project.conditions import main_guards, under_main_guard
from dllint.project.source import SourceFile
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.world import World


@dataclass(frozen=True)
class EnvironmentSetting:
    """`os.environ[NAME] = value` or one of its like. `name_span` is where the name is written, as a string."""

    file: SourceFile
    scope: int
    region: int
    span: Span
    statement: Span
    name: str
    value: str | None

    @property
    def at_import(self) -> bool:
        return self.scope == 0 and not under_main_guard(self.file, self.region)


class Programs:
    """Import closure, callers up to the module level, environment variables."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._imports: dict[str, list[str]] = {}
        self._settings: list[EnvironmentSetting] | None = None
        self._above: dict[tuple[str, int], list[str]] = {}
        self._importing: dict[str, list[str]] | None = None
        self._roots: dict[str, frozenset[str]] | None = None
        self._programs: dict[str, bool] = {}
        self._aparts: dict[tuple[str, str], bool] = {}
        self._loading_by_name: set[str] | None = None

    def imports(self, path: str) -> list[str]:
        """Files of the project that a file imports, anywhere in it."""
        found = self._imports.get(path)
        if found is None:
            reached: dict[str, None] = {}
            file = self.world.files.get(path)
            for _, event in file.imports() if file is not None else ():
                module, name, _, level = event.detail
                reached.update(dict.fromkeys(self.world.index.resolve(path, module, level)))
                if name and name != "*":
                    inner = f"{module}.{name}" if module else name
                    reached.update(dict.fromkeys(self.world.index.resolve(path, inner, level)))
            found = self._imports[path] = list(reached)
        return found

    def import_closure(self, paths: Iterable[str]) -> set[str]:
        """The files and all that they import, directly or not."""
        closed: set[str] = set()
        todo = list(paths)
        while todo:
            path = todo.pop()
            if path not in closed:
                closed.add(path)
                todo += [imported for imported in self.imports(path) if imported not in closed]
        return closed

    def roots(self, path: str) -> frozenset[str]:
        """The programs that import a file, directly or not, and files that nothing imports (itself where it is one)."""
        if self._roots is None:
            self._roots = self._find_roots()
        found = self._roots.get(path)
        if found is None:
            found = self._roots[path] = frozenset({path})
        return found

    def _importers(self) -> dict[str, list[str]]:
        """The files that import each file."""
        if self._importing is None:
            self._importing = {}
            for other in self.world.files:
                for imported in self.imports(other):
                    if imported != other:
                        self._importing.setdefault(imported, []).append(other)
        return self._importing

    def _find_roots(self) -> dict[str, frozenset[str]]:
        """The roots of all files at once: those of its importers, and the file itself where it is one. Files that
        import one another have the same, and are found by Tarjan's algorithm, importers first."""
        importing = self._importers()
        found: dict[str, frozenset[str]] = {}
        number: dict[str, int] = {}
        lowest: dict[str, int] = {}
        stack: list[str] = []
        for start in (*self.world.files, *importing):
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
        """The roots of files that import one another, those of all that import them being found."""
        given = {found[other] for path in ring for other in importing.get(path, ()) if other in found}
        own = {path for path in ring if path not in importing or self._is_program(path)}
        roots = frozenset(own).union(*given) if own or len(given) != 1 else given.pop()
        for path in ring:
            found[path] = roots

    def together(self, paths: Iterable[str], beside: Iterable[str]) -> bool:
        """Whether one program can hold the files that lead to a place, and others beside them: not where two of them
        belong to different programs only.

        A file that nothing imports may be loaded by its name, so it is apart from a program only where that imports
        nothing by name, or where it is a test.
        """
        return not any(self._apart(one, other) for one in paths for other in beside)

    def _apart(self, one: str, other: str) -> bool:
        key = (one, other)
        found = self._aparts.get(key)
        if found is None:
            mine, theirs = self.roots(one), self.roots(other)
            by_name = other in theirs and not _is_test(other) and any(map(self.imports_by_name, mine))
            certain = bool(mine and theirs) and all(map(self._is_program, mine | theirs))
            found = self._aparts[key] = certain and not by_name and not mine & theirs
        return found

    def _is_program(self, path: str) -> bool:
        """Whether a file is run by itself: it has a `__main__` guard, or the name of a test."""
        found = self._programs.get(path)
        if found is None:
            file = self.world.files.get(path)
            found = self._programs[path] = file is not None and (_is_test(path) or bool(main_guards(file)))
        return found

    def imports_by_name(self, path: str) -> bool:
        """Whether a file, or one that it imports, imports modules by their names."""
        if self._loading_by_name is None:
            importing = self._importers()
            todo = [file.path for name in ("import_module", "__import__") for file, _ in self.world.called(name)]
            self._loading_by_name = set()
            while todo:
                here = todo.pop()
                if here not in self._loading_by_name:
                    self._loading_by_name.add(here)
                    todo += importing.get(here, ())
        return path in self._loading_by_name

    @staticmethod
    def behind(value: Instance) -> set[str]:
        """The files that an object comes from: those of its class and construction, and of the calls that lead there
        as far as its activation remembers them."""
        found = {file.path for file in (value.file, value.of.file if isinstance(value.of, Class) else None) if file}
        frame: Frame | None = value.frame
        while frame is not None:
            actuals = frame.actuals
            for actual in (*actuals.positional, *actuals.keywords.values()) if actuals is not None else ():
                if actual.site is not None:
                    found.add(actual.site.file.path)
            frame = frame.parent
        return found

    def above(self, file: SourceFile, scope: int) -> list[str]:
        """Files whose module level leads to a function through calls (launches among them)."""
        found = self._above.get((file.path, scope))
        if found is not None:
            return found
        tops: dict[str, None] = {}
        seen: set[tuple[str, int]] = set()
        todo = [(file, scope)]
        while todo and len(seen) < 300:
            where, inner = todo.pop()
            if (where.path, inner) in seen:
                continue
            seen.add((where.path, inner))
            if inner <= 0:
                tops[where.path] = None
                continue
            callers = self.world.calls.callers(Function(where, inner)) if where.scopes[inner].kind == "function" else []
            todo.extend((caller.file, caller.file.calls[caller.call].scope) for caller in callers if caller.call >= 0)
            if where.scopes[inner].kind in ("lambda", "class"):
                todo.append((where, where.scopes[inner].parent))
        found = self._above[(file.path, scope)] = list(tops)
        return found

    def environment(self) -> list[EnvironmentSetting]:
        """All settings of environment variables by a name that is written out."""
        if self._settings is None:
            self._settings = [*self._stored(), *self._called()]
        return self._settings

    def _stored(self) -> Iterator[EnvironmentSetting]:
        for file in self.world.files.values():
            if "os" not in file.imported_packages():
                continue
            for scope in range(len(file.scopes)):
                for store in file.stores(scope):
                    if isinstance(store.key, str):
                        continue
                    event = store.event
                    site = Site(file, scope, event.region, (event.span.line, event.span.column), None)
                    if not self._is_environ(store.base, site):
                        continue
                    for key in self.world.values.evaluate(store.key, site):
                        if isinstance(key, Const) and isinstance(key.value, str):
                            value = self._constant(store.value, site)
                            yield EnvironmentSetting(
                                file, scope, event.region, event.span, event.span, key.value, value
                            )

    def _called(self) -> Iterator[EnvironmentSetting]:
        for name in ("setdefault", "putenv", "update"):
            for file, index in self.world.called(name):
                call = file.calls[index]
                site = self.world.call_site(file, index, None)
                if call.func[0] == "attr" and name != "putenv" and not self._is_environ(call.func[1], site):
                    continue
                if name == "putenv" and self.world.values.evaluate(call.func, site) != (External("os.putenv"),):
                    continue
                for key, value in self._pairs(file, index, name):
                    names = self.world.values.evaluate(key, site)
                    if len(names) == 1 and isinstance(names[0], Const) and isinstance(names[0].value, str):
                        yield EnvironmentSetting(
                            file,
                            call.scope,
                            call.region,
                            call.span,
                            call.statement,
                            names[0].value,
                            self._constant(value, site),
                        )

    @staticmethod
    def _pairs(file: SourceFile, index: int, name: str) -> Iterator[tuple[Expr, Expr]]:
        args = file.calls[index].args
        if name == "update":
            for argument in args:
                if argument.keyword is None and argument.value[0] == "dict":
                    for key, value in argument.value[1]:
                        if key is not None:
                            yield key, value
                elif argument.keyword not in (None, "*", "**"):
                    yield Constant(argument.keyword), argument.value
        elif len(args) >= 2 and args[0].keyword is None:
            yield args[0].value, args[1].value

    def _is_environ(self, expr: Expr, site: Site) -> bool:
        if expr[0] not in ("name", "attr") or expr[-1] not in ("environ", *self.world.aliases("environ")):
            return False
        return External("os.environ") in self.world.values.evaluate(expr, site)

    def _constant(self, expr: Expr | None, site: Site) -> str | None:
        values = self.world.values.evaluate(expr, site)
        if len(values) == 1 and isinstance(values[0], Const):
            return str(values[0].value)
        return None


def _is_test(path: str) -> bool:
    """Whether a file is named as pytest and unittest find tests."""
    name = path.rsplit("/", 1)[-1]
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
