"""Lists whose elements come from other lists, `list(chain(*lists))`, `random.sample(rows, size)`, and lists of what a
function returns for each element, `pool.map(parse, names)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.facts.nodes import Attribute, CallRef, Comprehension, Constant, Element, List, Starred, Tuple
from dllint.facts.schema import Call, Expr
from dllint.inference import limits
from dllint.inference.origins import Origins, Step
from dllint.inference.values import Display, External, Function, Instance, Partial, Site, Value
from dllint.libraries.index import GOES_INSIDE, HANDING_ON, ITERATES, canonical
from dllint.linking.source import last_name
from dllint.project.counting import iterations, whole_number

if TYPE_CHECKING:
    from dllint.inference.engine import World
    from dllint.project.datasets import Datasets

_SAME = frozenset({"same", "some"})
_ALSO = frozenset({"collections.deque", "sum", "numpy.array", "numpy.asarray"})
"""Functions that put the elements of their first argument into a new container, under a condition each."""
_VIEWS = frozenset({"items", "values"})
"""Methods of a dict that give its entries, and what it has under its keys."""
_SIZED = {"random.sample": ("k", 1), "random.choices": ("k", 2), "itertools.islice": ("", 1)}
"""Functions that take a certain number of elements → the keyword and the position of that number."""
_MAPS = frozenset({"map", "itertools.starmap", "tqdm.contrib.tmap"})
_OF_POOLS = frozenset({"map", "imap", "imap_unordered", "starmap"})
_PARALLEL = frozenset({"process_map", "thread_map"})
"""Functions, methods of pools of processes or threads, and last names of functions of tqdm that call a function for
each element."""


def lists_behind(world: World, value: Value, depth: int = 0) -> list[Value]:
    """The containers whose elements a value consists of: those from which a call takes them, or the value alone."""
    if limits.COUNTING_DEPTH.reached(depth):
        return [value]
    found = [one for expr, site in _sources(world, value) for one in world.values.evaluate(expr, site)]
    return [inner for one in found for inner in lists_behind(world, one, depth + 1)] or [value]


def _sources(world: World, value: Value) -> list[tuple[Expr, Site]]:
    if isinstance(value, Display):
        # `[*first, *second]`
        expr, site = value.written.expr, value.written.site
        parts = expr.elements if isinstance(expr, (List, Tuple)) else ()
        starred = [(one.value, site) for one in parts if isinstance(one, Starred)]
        return starred if len(starred) == len(parts) else []
    if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is None or value.call < 0:
        return []
    name, call = canonical(value.of.name), value.file.calls[value.call]
    site = world.call_site(value.file, value.call, value.frame)
    given = [one for one in call.args if one.keyword in (None, "*")]
    viewed = viewed_dict(world, value)
    if viewed is not None:
        return [viewed]
    if name in _ALSO:
        if not _keeps_objects(name, call):
            return []
        given = given[:1]
    elif (
        name not in HANDING_ON
        or (name not in GOES_INSIDE and ITERATES[name.rpartition(".")[2]][1] not in _SAME)
        or _is_bounded(world, name, call, site)
    ):
        return []
    else:
        given = given[HANDING_ON[name]]
    inside = name in GOES_INSIDE or name == "sum"
    return [(Element(one.value) if inside or one.keyword == "*" else one.value, site) for one in given]


def viewed_dict(world: World, value: Value) -> tuple[Expr, Site] | None:
    """The dict whose entries, or whose values, a value consists of: `list(users.items())`."""
    if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is None or value.call < 0:
        return None
    func = value.file.calls[value.call].func
    if not isinstance(func, Attribute) or func.attr not in _VIEWS or not value.of.name.endswith(f"().{func.attr}"):
        return None
    return func.value, world.call_site(value.file, value.call, value.frame)


def _keeps_objects(name: str, call: Call) -> bool:
    """Whether a call puts the objects that it is given into a container: `numpy.array` only with `dtype=object`,
    `sum(lists, [])` only with a list to start from."""
    if name == "sum":
        return len(call.args) == 2
    if name == "collections.deque":
        return len(call.args) == 1
    kinds = (one.value for one in call.args if one.keyword == "dtype")
    return any(last_name(kind) in ("object", "object_") or kind == Constant("O") for kind in kinds)


def _is_bounded(world: World, name: str, call: Call, site: Site) -> bool:
    """Whether a call takes a number of elements that the source tells."""
    keyword, position = _SIZED.get(name, ("", -1))
    plain = [one.value for one in call.args if one.keyword is None]
    sizes = [one.value for one in call.args if keyword and one.keyword == keyword]
    sizes += plain[position : position + 1] if position > 0 else []
    return any(whole_number(world, one, site) is not None for one in sizes)


class Mapped:
    """Finds what a function returns for each element of something whose size only a run tells."""

    def __init__(self, datasets: Datasets) -> None:
        self.datasets = datasets
        self.world = datasets.world
        self.origins = Origins(datasets.world)

    def results(self, value: Value) -> list[tuple[Expr, Site]]:
        """The expressions that a function returns which a call such as `map` calls for each element, or the tuples
        that `zip` makes; empty for any other value."""
        if not isinstance(value, Instance) or not isinstance(value.of, External) or value.file is None:
            return []
        name = canonical(value.of.name)
        if value.call < 0 or not (name == "zip" or _maps(name)):
            return []
        args = [one.value for one in value.file.calls[value.call].args if one.keyword is None]
        site = self.world.call_site(value.file, value.call, value.frame)
        if name == "zip":
            counted = any(iterations(self.datasets, one, site) is not None for one in args)
            return [(Tuple(tuple(map(Element, args))), site)] if len(args) > 1 and not counted else []
        if len(args) < 2 or iterations(self.datasets, args[1], site) is not None:
            return []
        return list(self._returned(args[0], site))

    def _returned(self, func: Expr, site: Site) -> Iterator[tuple[Expr, Site]]:
        for one in self.world.values.evaluate(func, site):
            plainly = one.plain if isinstance(one, Partial) else one
            for step in self.origins.returned(plainly, None) if isinstance(plainly, Function) else ():
                if isinstance(step, Step):
                    yield step.expr, step.site


def _maps(name: str) -> bool:
    last = name.rpartition(".")[2]
    of_pool = last in _OF_POOLS and any(part in name for part in ("Pool().", "Executor().", "Parallel()."))
    return name in _MAPS or of_pool or last in _PARALLEL


def delayed_function(func: CallRef, tasks: Expr, site: Site) -> tuple[Expr, Site] | None:
    """The function that joblib runs for each task, `Parallel(n_jobs=4)(delayed(read)(path) for path in paths)`, and
    where it is named; None for another call."""
    calls = site.file.calls
    task = tasks.element if isinstance(tasks, Comprehension) else None
    if last_name(calls[func.index].func) != "Parallel" or not isinstance(task, CallRef):
        return None
    delayed = calls[task.index].func
    made = calls[delayed.index] if isinstance(delayed, CallRef) else None
    if made is None or last_name(made.func) != "delayed" or len(made.args) != 1:
        return None
    return made.args[0].value, site
