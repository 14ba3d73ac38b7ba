"""Pebble 5.2.3 (`pebble/pool/process.py`, `ProcessPool`; measured with CPython 3.11: a lambda that is scheduled raises
`AttributeError: Can't pickle local object` under fork, spawn and forkserver)."""

from dllint.libraries.facets import LauncherApi, Library, PoolApi

_POOL = "pebble.ProcessPool"

LIBRARY = Library(
    aliases={"pebble.pool.ProcessPool": _POOL, "pebble.pool.process.ProcessPool": _POOL},
    launchers={
        _POOL: LauncherApi(
            "initializer",
            ("max_workers", "max_tasks", "initializer", "initargs", "context"),
            args="initargs",
            method="=context",
            optional=True,
        ),
        f"{_POOL}().schedule": LauncherApi("function", ("function", "args", "kwargs", "timeout"), method="executor"),
        f"{_POOL}().submit": LauncherApi("function", ("function", "timeout"), args="*", method="executor"),
        f"{_POOL}().map": LauncherApi("function", ("function",), args="zip", method="executor"),
    },
    pools={_POOL: PoolApi("context", context_at=4, initargs_at=3)},
)
