"""ignite 0.5 (docs.pytorch.org/ignite, "Engine", "Parallel"; `ignite/engine/__init__.py`,
`ignite/distributed/launcher.py`)."""

from dllint.libraries.facets import LauncherApi, Library
from dllint.libraries.hook_facets import Epochs, Hooks

_ENGINES = ("Engine", "create_supervised_trainer", "create_supervised_evaluator")

LIBRARY = Library(
    aliases={
        "ignite.engine.engine.Engine": "ignite.engine.Engine",
        "ignite.distributed.launcher.Parallel": "ignite.distributed.Parallel",
        "ignite.distributed.utils.spawn": "ignite.distributed.spawn",
    },
    # Engine.run(data, max_epochs=None, epoch_length=None)
    hooks={
        f"ignite.engine.{name}": Hooks(
            ("run",),
            (),
            iterates=True,
            epochs={"run": Epochs("max_epochs", default=False, params=("data", "max_epochs"))},
        )
        for name in _ENGINES
    },
    # `distributed/comp_models/native.py`: `torch.multiprocessing.start_processes(…, start_method="spawn")`
    launchers={
        "ignite.distributed.Parallel().run": LauncherApi(
            "func", ("func",), args="*", method="fresh", fallback="spawn", lead=1, started_by="nproc_per_node"
        ),
        "ignite.distributed.spawn": LauncherApi(
            "fn",
            ("backend", "fn", "args", "kwargs_dict"),
            kwargs="kwargs_dict",
            method="=start_method",
            fallback="spawn",
            lead=1,
        ),
    },
)
