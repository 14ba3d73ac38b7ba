"""submitit 1.5 (`submitit/core/core.py`): a job is a new interpreter that unpickles the function by cloudpickle."""

from dllint.libraries.facets import LauncherApi, Library

_EXECUTORS = ("AutoExecutor", "SlurmExecutor", "LocalExecutor")

LIBRARY = Library(
    launchers={
        f"submitit.{name}().submit": LauncherApi("fn", ("fn",), args="*", method="fresh") for name in _EXECUTORS
    },
)
