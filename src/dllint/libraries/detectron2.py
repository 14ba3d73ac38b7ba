"""detectron2 0.6 (`detectron2/engine/launch.py`: processes start by `torch.multiprocessing.start_processes`, which
spawns them unless it is told otherwise)."""

from dllint.libraries.facets import LauncherApi, Library

LIBRARY = Library(
    aliases={"detectron2.engine.launch.launch": "detectron2.engine.launch"},
    launchers={
        "detectron2.engine.launch": LauncherApi(
            "main_func",
            ("main_func", "num_gpus_per_machine", "num_machines", "machine_rank", "dist_url", "args"),
            kwargs="",
            method="spawn",
        )
    },
)
