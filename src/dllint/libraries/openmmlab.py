"""mmcv and mmengine 0.10, and the packages built on them (mmdet 3, mmseg 1, mmpose 1, mmpretrain 1, mmaction2 1), or on
mmcv 1.7 (mmdet 2.28, mmseg 0.30).

`mmengine/runner/runner.py`: the runner builds its loaders from dicts, after `setup_env` has called
`set_multi_processing`: every program runs with the start method fork, except on Windows, and with OpenCV's threads off.
`tools/train.py` of mmdet 2.28 and mmseg 0.30 calls `setup_multi_processes`, which does the same.
"""

from dllint.libraries.facets import Library, LoaderApi
from dllint.libraries.hook_facets import EachEpoch
from dllint.screen import Words

CONFIGURED = "mmengine.runner.Runner(train_dataloader)"
CONFIGURED_DATA = "mmcv.runner(data)"
"""The pseudo-APIs that stand for a dict from which a DataLoader is built: by mmengine's runner, and by the
`build_dataloader` of packages for mmcv 1 from the entry `data`."""
_OF_DATASETS = {
    # mmengine/dataset/base_dataset.py: `full_init` runs in the constructor unless `lazy_init=True`.
    "__init__": ("full_init", "load_data_list", "parse_data_info", "filter_data", "load_annotations"),
    "__getitem__": ("prepare_data", "get_data_info", "prepare_train_img", "prepare_train_data"),
}
# mmcv/transforms/base.py
_OF_TRANSFORMS = {"__call__": ("transform",)}
_DATASETS = (
    *("mmengine.dataset.", "mmdet.datasets.", "mmseg.datasets.", "mmpretrain.datasets.", "mmaction.datasets."),
    *("mmpose.datasets.", "mmpose.datasets.datasets.", "mmpose.datasets.datasets.base.", "mmdet3d.datasets."),
    *("mmrotate.datasets.", "mmocr.datasets.", "mmagic.datasets.", "mmtrack.datasets.", "mmcls.datasets."),
)
_TRANSFORMS = (
    *("mmcv.transforms.", "mmcv.", "mmcv.transforms.base.", "mmdet.datasets.transforms."),
    *("mmseg.datasets.transforms.", "mmpose.datasets.transforms.", "mmpretrain.datasets.transforms."),
    *("mmaction.datasets.transforms.", "mmdet3d.datasets.transforms.", "mmocr.datasets.transforms."),
    *("mmrotate.datasets.transforms.", "mmagic.datasets.transforms."),
)

# mmcv/image/geometric.py and photometric.py (1.7): functions around `cv2.resize`, `cv2.warpAffine`, `cv2.LUT` and
# `cv2.cvtColor`
_OF_OPENCV = (
    *("imresize", "imresize_like", "imresize_to_multiple", "imrescale", "imrotate", "imshear", "imtranslate"),
    *("imnormalize", "lut_transform", "clahe", "adjust_color", "adjust_sharpness", "adjust_hue"),
    *("bgr2gray", "rgb2gray", "gray2bgr", "gray2rgb", "bgr2hsv", "hsv2bgr", "bgr2hls", "hls2bgr", "bgr2rgb", "rgb2bgr"),
)

_EACH_EPOCH = ("before_train_epoch", "after_train_epoch", "before_val_epoch", "after_val_epoch")

# mmdet/datasets/builder.py (2.28), mmseg/datasets/builder.py (0.30): a DataLoader of the dataset that is passed. Its
# workers seed NumPy if there is a seed.
_BUILDER = LoaderApi(
    ("dataset", "samples_per_gpu", "workers_per_gpu", "num_gpus", "dist", "shuffle", "seed"),
    names={"batch_size": "samples_per_gpu", "num_workers": "workers_per_gpu"},
    seeds=True,
)
_BUILDING = ("mmdet", "mmdet3d", "mmseg", "mmcls", "mmaction", "mmpose", "mmocr", "mmrotate", "mmtrack")

LIBRARY = Library(
    opencv_functions=frozenset(f"mmcv.{module}{name}" for module in ("", "image.") for name in _OF_OPENCV),
    # mmcv/utils/parrots_wrapper.py: both are torch's unless the package parrots is installed.
    aliases={
        **{f"{one}.datasets.builder.build_dataloader": f"{one}.datasets.build_dataloader" for one in _BUILDING},
        **{
            f"mmcv.utils.{module}{name}": "torch.utils.data.DataLoader"
            for module in ("", "parrots_wrapper.")
            for name in ("DataLoader", "PoolDataLoader")
        },
    },
    datasets=frozenset({"mmengine.dataset.BaseDataset"}),
    loaders={
        **dict.fromkeys((f"{package}.datasets.build_dataloader" for package in _BUILDING), _BUILDER),
        CONFIGURED: LoaderApi(("dataset",), forks="mp_start_method"),
        CONFIGURED_DATA: LoaderApi(
            ("train",),
            "train",
            names={"num_workers": "workers_per_gpu"},
            forks="mp_start_method",
            set_up_by="setup_multi_processes",
        ),
    },
    runs_methods={
        **dict.fromkeys(_DATASETS, _OF_DATASETS),
        **dict.fromkeys(_TRANSFORMS, _OF_TRANSFORMS),
    },
    # mmengine/runner/loops.py: `EpochBasedTrainLoop` builds its loader once.
    each_epoch={
        **dict.fromkeys(
            ("mmengine.hooks.Hook", "mmengine.hooks.hook.Hook"),
            EachEpoch(_EACH_EPOCH, "train_dataloader", "train_dataloader", frozenset({CONFIGURED})),
        ),
        # mmcv/runner/epoch_based_runner.py (1.7): `train` sets the attribute to the loader that it iterates.
        **dict.fromkeys(
            ("mmcv.runner.Hook", "mmcv.runner.hooks.Hook", "mmcv.runner.hooks.hook.Hook"),
            EachEpoch(("before_epoch", "after_epoch", *_EACH_EPOCH), "data_loader", "", frozenset({CONFIGURED_DATA})),
        ),
    },
    readers=dict.fromkeys(("mmcv.load", "mmengine.load", "mmengine.fileio.load"), "opaque"),
    # mmcv/runner/dist_utils.py (1.7) and mmengine/dist/utils.py: spawn, if no method is set yet. Newer training
    # scripts set another one by force.
    sets_start_method=dict.fromkeys(
        (
            *("mmcv.runner.init_dist", "mmcv.runner.dist_utils.init_dist"),
            *("mmengine.dist.init_dist", "mmengine.dist.utils.init_dist"),
        ),
        "spawn",
    ),
    replaces_start_method=frozenset({"setup_multi_processes", "set_multi_processing"}),
    # returns the rank and the world size
    rank_functions=frozenset({"get_dist_info"}),
    words=Words(
        loading=(
            *(b"_dataloader = dict(", b"_dataloader=dict(", b"workers_per_gpu="),
            *(b"Config.fromfile(", b"setup_multi_processes("),
            *(b"DATASETS.register_module", b"TRANSFORMS.register_module", b"PIPELINES.register_module"),
        ),
        in_workers=(b"mmcv",),
        launching=(b"init_dist",),
    ),
)
