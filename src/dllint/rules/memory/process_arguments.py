"""Large arguments of processes that are not forked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Dict, List, Name, Tuple
from dllint.facts.schema import Expr
from dllint.inference import limits
from dllint.inference.origins import Origins, Step
from dllint.inference.values import Class, Const, Display, External, Instance, Mapping, Site, Values
from dllint.libraries.contents import contents
from dllint.libraries.index import LAUNCHERS, POOLS, READERS, canonical
from dllint.linking.conditions import render
from dllint.linking.source import SourceFile
from dllint.project.arrays import Array
from dllint.project.launches import Launch
from dllint.rules.memory.kept_objects import many_objects
from dllint.span import Span

if TYPE_CHECKING:
    from dllint.project.model import Project


@dataclass(frozen=True)
class LargeArgument:
    """An argument that is pickled when a process starts.

    Attributes:
        kind: "list" (from `tolist`), "array", "dataset" (which keeps an array), "records" (an object of a library that
            keeps a file's) or "dataset_records" (a dataset with such an object).
        what: the argument as written, or "Rows.data".
        size: bytes of the array; None if unknown.
        processes: how many processes receive it; None if unknown.
        made: the array, with the place that creates it; None for a list and for records.
    """

    kind: str
    what: str
    size: int | None
    processes: int | None
    file: SourceFile
    span: Span
    statement: Span
    made: Array | None


class ProcessArguments:
    """Finds the large arguments that are pickled to processes, in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world
        self.origins = Origins(project.world)

    def large(self, launch: Launch) -> Iterator[LargeArgument]:
        """The lists, arrays and datasets among the arguments of a launch."""
        api = LAUNCHERS.get(launch.api)
        if api is None:
            return
        yield from self._initial(launch)
        if api.args == "*":
            # It is one of many tasks: an argument of unknown size counts as small.
            for task in self.world.actuals(launch.file, launch.call, launch.frame).positional[1:]:
                if task.expr is not None and task.site is not None:
                    found = self._judged(launch, task.expr, task.site, task.span, 1)
                    yield from (one for one in found if one.size is not None)
        if api.args in ("*", "each", "unpacked", "zip"):
            return
        actuals = self.world.actuals(launch.file, launch.call, launch.frame)
        processes = self._processes(launch)
        for name in (api.args, api.kwargs):
            actual = actuals.keywords.get(name)
            if actual is None and name in api.params and api.params.index(name) < len(actuals.positional):
                actual = actuals.positional[api.params.index(name)]
            if actual is None or actual.expr is None or actual.site is None:
                continue
            for value in self.world.values.evaluate(actual.expr, actual.site):
                if isinstance(value, (Display, Mapping)) and isinstance(value.written.expr, (Tuple, List, Dict)):
                    made, site = value.written.expr, value.written.site
                    for expr in [part for _, part in made.items] if isinstance(made, Dict) else made.elements:
                        yield from self._judged(launch, expr, site, actual.span, processes)

    def _initial(self, launch: Launch) -> Iterator[LargeArgument]:
        """The large ones among the `initargs` of the pool that a task is submitted to: each of its processes
        receives them."""
        func = launch.file.calls[launch.call].func
        if not isinstance(func, Attribute) or (made_by := POOLS.get(launch.api.partition("()")[0])) is None:
            return
        site = self.world.call_site(launch.file, launch.call, launch.frame)
        for pool in self.world.values.evaluate(func.value, site):
            if not isinstance(pool, Instance) or pool.file is None or pool.call < 0:
                continue
            actuals = self.world.actuals(pool.file, pool.call, pool.frame)
            given = actuals.keywords.get("initargs")
            if given is None and made_by.initargs_at < len(actuals.positional):
                given = actuals.positional[made_by.initargs_at]
            if given is None or given.expr is None or given.site is None:
                continue
            made = replace(launch, file=pool.file, call=pool.call)
            for value in self.world.values.evaluate(given.expr, given.site):
                if isinstance(value, Display) and isinstance(value.written.expr, (Tuple, List)):
                    for expr in value.written.expr.elements:
                        yield from self._judged(made, expr, value.written.site, given.span, None)

    def _processes(self, launch: Launch) -> int | None:
        if "spawn" not in launch.api and "start_processes" not in launch.api:
            return 1
        values = self.project.evaluate_argument(launch.file, launch.call, 2, "nprocs", launch.frame)
        if values is None:
            return 1
        counts = [value.value for value in values if isinstance(value, Const) and isinstance(value.value, int)]
        return counts[0] if len(counts) == len(values) == 1 else None

    def _judged(
        self, launch: Launch, expr: Expr, site: Site, span: Span | None, processes: int | None
    ) -> Iterator[LargeArgument]:
        call = launch.file.calls[launch.call]
        own = site.file.calls[expr.index].span if isinstance(expr, CallRef) else None
        file = site.file if own is not None else launch.file
        place = own or span or call.span
        text = render(expr, site.file, 40)
        listed = self._listed(expr, site, 0)
        if listed is not None:
            size = listed[0].size if listed[0] is not None else None
            yield LargeArgument("list", text, size, processes, file, place, call.statement, None)
            return
        for value in self.world.values.evaluate(expr, site):
            array = self.project.arrays.array(value)
            if array is not None and array.library == "numpy":
                yield LargeArgument("array", text, array.size, processes, file, place, call.statement, array)
                return
        for value in self._objects(self.world.values.evaluate(expr, site), 0):
            if self._keeps_records(value):
                yield LargeArgument("records", text, None, processes, file, place, call.statement, None)
                return
            if isinstance(value.of, Class) and value.call >= 0:
                found = list(self._kept(value)) if self.project.datasets.is_dataset(value.of) else []
                if found:
                    # Records are large for sure, an array may be small.
                    what, array = next((one for one in found if one[1] is None), found[0])
                    size = array.size if array is not None else None
                    kind = "dataset" if array is not None else "dataset_records"
                    yield LargeArgument(kind, what, size, processes, file, place, call.statement, array)
                    return

    def _objects(self, values: Values, depth: int) -> Iterator[Instance]:
        """The objects among the values, in lists and dicts of them, and in objects of libraries that keep what their
        constructor receives: `[Subset(rows, part) for part in parts]`."""
        for value in values:
            for one in self.world.mappings.flattened(value):
                if isinstance(one, Instance):
                    yield one
                    if isinstance(one.of, External) and not limits.COUNTING_DEPTH.reached(depth):
                        yield from self._objects(contents(self.world, one).values, depth + 1)

    def _kept(self, value: Instance) -> Iterator[tuple[str, Array | None]]:
        """The NumPy arrays that a dataset keeps and pickles and, without an array, the records that it has read or that
        an object of a library keeps."""
        assert isinstance(value.of, Class)
        dropped = self.project.datasets.dropped(value)
        init_code = self.project.datasets.construction.of(value)
        for keeping, held in many_objects(self.project, value):
            # A table is an array here, and what has no source may be little.
            if held.reading is not None and not held.table and not keeping.dropped:
                yield f"{value.of.name}.{keeping.path}", None
        for kept in self.project.datasets.kept(value):
            if kept.attr in dropped or (kept.file.path, kept.scope) not in init_code:
                continue
            array = self.project.arrays.kept(kept.values, kept.store.value, kept.site)
            if array is not None and array.library == "numpy":
                yield f"{value.of.name}.{kept.attr}", array
            elif any(isinstance(one, Instance) and self._keeps_records(one) for one in kept.values):
                yield f"{value.of.name}.{kept.attr}", None

    def _keeps_records(self, value: Instance) -> bool:
        """Whether an object of a library keeps the records of a whole file, such as `COCO("annotations.json")`."""
        name = canonical(value.of.name) if isinstance(value.of, External) else ""
        # Functions that read a table return it; only classes keep it.
        if READERS.get(name) != "table" or not name.rpartition(".")[2][:1].isupper():
            return False
        made = self.world.made_with(value)
        return bool(made.positional or made.keywords)

    def _listed(self, expr: Expr, site: Site, depth: int) -> tuple[Array | None] | None:
        """The array behind a list from `tolist`, in a tuple, with None if that array is unknown; None if the
        expression is no such list."""
        if limits.COUNTING_DEPTH.reached(depth):
            return None
        if isinstance(expr, CallRef):
            func = site.file.calls[expr.index].func
            if not isinstance(func, Attribute) or func.attr != "tolist":
                return None
            arrays = [self.project.arrays.array(value) for value in self.world.values.evaluate(func.value, site)]
            return (arrays[0] if len(arrays) == 1 else None,)
        if isinstance(expr, Name):
            given = list(islice(self.origins.gives(expr, site), 2))
            one = given[0] if len(given) == 1 else None
            return self._listed(one.expr, one.site, depth + 1) if isinstance(one, Step) else None
        return None
