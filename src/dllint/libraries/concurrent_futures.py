"""concurrent.futures (docs.python.org, "concurrent.futures"; CPython, Lib/concurrent/futures/process.py)."""

from __future__ import annotations

from dllint.facts.nodes import Attribute
from dllint.inference.edges import Given
from dllint.inference.interface import Engine, Handler
from dllint.inference.unions import union
from dllint.inference.values import Actuals, External, Instance, Partial, Site, Value, Values
from dllint.libraries.facets import FIRST, Iterates, LauncherApi, Library, PoolApi
from dllint.libraries.pickling import LOCK, Refusal, instance
from dllint.linking.source import SourceFile
from dllint.screen import Words

_PROCESSES = "concurrent.futures.ProcessPoolExecutor"
_THREADS = "concurrent.futures.ThreadPoolExecutor"

LIBRARY = Library(
    launchers={
        _PROCESSES: LauncherApi(
            "initializer",
            ("max_workers", "mp_context", "initializer", "initargs"),
            args="initargs",
            method="=mp_context",
            optional=True,
        ),
        f"{_PROCESSES}().submit": LauncherApi("fn", ("fn",), args="*", method="executor"),
        f"{_PROCESSES}().map": LauncherApi("fn", ("fn",), args="zip", method="executor"),
    },
    pools={_PROCESSES: PoolApi("mp_context", context_at=1, initargs_at=3)},
    thread_executors=frozenset({_THREADS, "concurrent.futures.thread.ThreadPoolExecutor"}),
    refusals={
        _THREADS: Refusal("a thread pool", instance("_queue.SimpleQueue"), "pool"),
        _PROCESSES: Refusal("a process pool", LOCK, "pool"),
    },
    # The order differs, but the elements are the same.
    iterates={"concurrent.futures.as_completed": Iterates(FIRST, "same")},
    words=Words(nearby=(b"Executor",)),
)


def _result(world: Engine, file: SourceFile, index: int, site: Site) -> Values | None:
    """Return the result of a future: that of the submitted function called with the submitted arguments."""
    func = file.calls[index].func
    groups: list[Values] = []
    for future in world.values.evaluate(func.value, site) if isinstance(func, Attribute) else ():
        if not isinstance(future, Instance) or not isinstance(future.of, External) or future.file is None:
            return None
        given = world.actuals(future.file, future.call, future.frame).positional
        if not given or given[0].starred:
            return None
        groups += (_called(world, one, future, Given(file, index, site.frame)) for one in world.values.passed(given[0]))
    return union(groups) or None


def _called(world: Engine, function: Value, future: Instance, asked: Given) -> Values:
    assert future.file is not None
    submitted = Partial(function, future.file, future.call, future.frame)
    return world.values.result(submitted, asked._replace(actuals=Actuals()))


RESULTS: dict[str, Handler] = {f"{executor}().submit().result": _result for executor in (_PROCESSES, _THREADS)}
