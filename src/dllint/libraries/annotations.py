"""Development kits that keep the annotations of a data set as Python objects: pycocotools 2.0, its variants xtcocotools
1.14 and crowdposetools, lvis 0.5, nuscenes-devkit 1.1, lyft_dataset_sdk 0.0.8 (their sources)."""

from dllint.libraries.facets import Library

_COCO = ("anns", "imgs", "dataset", "imgToAnns")
_LVIS = ("anns", "imgs", "dataset", "img_ann_map")
_NUSCENES = (
    *("sample", "sample_data", "sample_annotation", "instance", "scene", "ego_pose", "calibrated_sensor"),
    *("category", "attribute", "visibility", "sensor", "log", "map"),
)
_KITS = {
    "pycocotools.coco.COCO": _COCO,
    "lvis.LVIS": _LVIS,
    "nuscenes.nuscenes.NuScenes": _NUSCENES,
    "nuscenes.prediction.helper.PredictHelper": ("inst_sample_to_ann",),
    "lyft_dataset_sdk.lyftdataset.LyftDataset": _NUSCENES,
}
"""Classes that read a file whole, each with the attributes that hold a list or dict of records."""
_LISTING = {"pycocotools.coco.COCO": ("loadAnns", "loadImgs"), "lvis.LVIS": ("load_anns", "load_imgs")}
"""Methods that return a new list of the same records."""

KITS = frozenset(_KITS)
HELD = frozenset(f"{kit}().{part}" for kit, parts in _KITS.items() for part in parts)
"""Attributes whose value is a list or dict of records, by name."""
NUMBERED = frozenset(f"{kit}().{part}" for kit in _LISTING for part in _KITS[kit] if part != "dataset")
"""Those that are dicts, with numbers as their keys."""

LIBRARY = Library(
    readers={
        **dict.fromkeys(_KITS, "table"),
        **dict.fromkeys(HELD, "records"),
        **{f"{kit}().{method}": "records" for kit, methods in _LISTING.items() for method in methods},
    },
    aliases={
        "xtcocotools.coco.COCO": "pycocotools.coco.COCO",
        "crowdposetools.coco.COCO": "pycocotools.coco.COCO",
        "lvis.lvis.LVIS": "lvis.LVIS",
        "nuscenes.NuScenes": "nuscenes.nuscenes.NuScenes",
        "nuscenes.prediction.PredictHelper": "nuscenes.prediction.helper.PredictHelper",
        "lyft_dataset_sdk.LyftDataset": "lyft_dataset_sdk.lyftdataset.LyftDataset",
    },
)
