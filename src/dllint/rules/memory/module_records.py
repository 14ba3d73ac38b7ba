"""Records that a module reads when it is imported, and that workers look up by item: `ROWS = json.load(file)` beside a
dataset whose `__getitem__` reads `ROWS[index]["text"]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from dllint.facts.nodes import Attribute, Constant, Name, Subscript
from dllint.facts.schema import Event, Expr
from dllint.inference.values import Display, Instance, Mapping, Module, Site
from dllint.libraries.records import OPAQUE, RECORDS, ROWS
from dllint.linking.conditions import under_main_guard
from dllint.linking.source import SourceFile
from dllint.project import Project
from dllint.project.class_keys import is_beside_constants, is_of_class
from dllint.project.item_run import ItemRun
from dllint.rules.memory.objects_from_files import Records
from dllint.rules.memory.readings import Reading

_END = (sys.maxsize, 0)
"""Behind the last statement of a module."""


class ModuleRecords(NamedTuple):
    """Records in a variable of a module, with the assignment and what reads them."""

    file: SourceFile
    name: str
    event: Event
    reading: Reading


class RecordsOfModules:
    """Finds the variables of modules in which workers look up records by item."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.records = project.ask(Records)
        self._read: dict[int, list[ModuleRecords]] = {}

    def read_by(self, value: Instance) -> list[ModuleRecords]:
        """The variables with records that reading an item of a dataset looks into. Datasets that run the same functions
        share the answer."""
        kind = self.project.item_code.kind(value)
        found = self._read.get(kind)
        if found is None:
            runs = self.project.item_code.all_runs(value)
            several = (one for run in runs for one in self._looked_into(value, run))
            found = self._read[kind] = list({(one.file.path, one.name): one for one in several}.values())
        return found

    def _looked_into(self, value: Instance, run: ItemRun) -> Iterator[ModuleRecords]:
        variables: dict[Expr, list[Expr]] = {}
        for one in run.picking:
            variable = _variable(run, one.container)
            if variable is not None and not is_of_class(run, one.expr) and not is_beside_constants(run, one.expr):
                variables.setdefault(variable, []).append(one.expr)
        code = self.project.item_code
        for variable, items in variables.items():
            # Only records have named fields: what else a file holds may be paths, or a number per item.
            using = ((run, items), *code.handed_on(value, run, items))
            if any(code.reads_fields(reader, found) for reader, found in using):
                yield from self._read_at(variable, Site(run.file, run.scope, 0, (0, 0), run.run.frame))

    def _read_at(self, variable: Expr, site: Site) -> Iterator[ModuleRecords]:
        """The assignments at the top level of modules that give a variable records from a file."""
        for file, name in self._modules(variable, site):
            for binding, where in self.world.symbols.lookup(name, Site(file, 0, 0, _END, None)):
                event, value = binding.event, binding.expr
                # Started workers do not run what the main program alone does, and would not find the name.
                if value is None or event is None or where.scope or under_main_guard(file, event.region):
                    continue
                reading = self._reading(value, where)
                if reading is not None and reading.kind in (RECORDS, ROWS, OPAQUE):
                    yield ModuleRecords(file, name, event, reading)

    def _modules(self, variable: Expr, site: Site) -> Iterator[tuple[SourceFile, str]]:
        """The modules that may assign a variable, each with its name there."""
        todo: list[tuple[SourceFile, str]] = []
        if isinstance(variable, Name):
            todo.append((site.file, variable.id))
        elif isinstance(variable, Attribute):
            values = self.world.values.evaluate(variable.value, site)
            paths = (one.path for one in values if isinstance(one, Module))
            todo += ((self.world.files[path], variable.attr) for path in paths if path in self.world.files)
        for file, name in todo:
            yield file, name
            for scope, _, imported in file.imports():
                if scope or (imported.alias or imported.name) not in ("*", name):
                    continue
                there = self.world.files.get(self.world.imports.find(file, imported.module, imported.level) or "")
                its_name = imported.name if imported.name and imported.name != "*" else name
                if there is not None and (there, its_name) not in todo:
                    todo.append((there, its_name))

    def _reading(self, expr: Expr, site: Site) -> Reading | None:
        traced = self.records.trace(expr, site)
        if traced is not None:
            return traced
        for one in self.world.values.evaluate(expr, site):
            held = self.records.collection(one) if isinstance(one, (Display, Mapping)) else None
            if held is not None and held.reading is not None:
                return held.reading
        return None


def _variable(run: ItemRun, container: Expr) -> Expr | None:
    """The variable of a module, `ROWS` or `settings.ROWS`, whose entries a function looks up, perhaps under a key that
    is written there, `ROWS["train"]`; None for any other container."""
    while isinstance(container, Subscript) and isinstance(container.index, Constant):
        container = container.value
    base = container.value if isinstance(container, Attribute) else container
    if not isinstance(base, Name) or base.id == run.receiver:
        return None
    scope = run.scope
    while scope > 0:
        if base.id in run.file.bindings(scope):
            return None
        scope = run.file.scopes[scope].parent
    if isinstance(container, Name):
        return container
    # An attribute of an object is none of a module.
    bound = run.file.bindings(0).get(base.id, ())
    return container if bound and all(one.kind == "import" for one in bound) else None
