"""detectron2 0.6.

`detectron2/engine/launch.py`: processes start by `torch.multiprocessing.start_processes`, by default with spawn.
`detectron2/data/build.py`: the builders take a configuration, whose `DATALOADER.NUM_WORKERS` is 4 by default, or
`dataset=` and `num_workers=0`; `MapDataset` calls the mapper in workers. Those of a training loader begin with
`detectron2.utils.env.seed_all_rng`.
"""

from dllint.libraries.facets import LauncherApi, Library, LoaderApi

_BUILDERS = ("build_detection_train_loader", "build_detection_test_loader")
_TRAIN, _TEST = (f"detectron2.data.{name}" for name in _BUILDERS)
_DETECTION = LoaderApi((), wraps="detectron2.data.MapDataset", configured=4)

# detectron2/data/transforms/augmentation.py: an augmentation returns a transform, and the input applies it.
_APPLIED = ("apply_image", "apply_box", "apply_coords", "apply_segmentation", "apply_polygons")
_CALLED = {"__call__": ("get_transform", *(f"get_transform().{name}" for name in _APPLIED), *_APPLIED)}

LIBRARY = Library(
    runs_methods=dict.fromkeys(
        ("detectron2.data.transforms.", "detectron2.data.transforms.augmentation.", "fvcore.transforms.transform."),
        _CALLED,
    ),
    aliases={
        "detectron2.engine.launch.launch": "detectron2.engine.launch",
        **{f"detectron2.data.build.{name}": f"detectron2.data.{name}" for name in _BUILDERS},
    },
    # detectron2/data/common.py: the mapper is pickled by cloudpickle
    pickles_by_value=frozenset({"detectron2.data.MapDataset"}),
    loaders={_TRAIN: _DETECTION._replace(seeds=True), _TEST: _DETECTION},
    launchers={
        "detectron2.engine.launch": LauncherApi(
            "main_func",
            ("main_func", "num_gpus_per_machine", "num_machines", "machine_rank", "dist_url", "args"),
            kwargs="",
            method="spawn",
        )
    },
)
