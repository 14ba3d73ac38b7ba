"""mmcv and mmengine 0.10 (`mmengine.fileio.load`, `mmengine/dist/utils.py`)."""

from dllint.libraries.facets import Library

LIBRARY = Library(
    datasets=frozenset({"mmengine.dataset.BaseDataset"}),
    # mmengine/dataset/base_dataset.py: `full_init` runs in the constructor unless `lazy_init=True`.
    runs_methods={
        "mmengine.dataset.BaseDataset": {
            "__init__": ("full_init", "load_data_list", "filter_data"),
            "__getitem__": ("prepare_data",),
        }
    },
    readers=dict.fromkeys(("mmcv.load", "mmengine.load", "mmengine.fileio.load"), "opaque"),
    # returns the rank and the world size
    rank_functions=frozenset({"get_dist_info"}),
)
