"""mmcv and mmengine 0.10 (`mmengine.fileio.load`, `mmengine/dist/utils.py`)."""

from dllint.libraries.facets import Library

LIBRARY = Library(
    readers=dict.fromkeys(("mmcv.load", "mmengine.load", "mmengine.fileio.load"), "opaque"),
    # gives the rank and the world size
    rank_functions=frozenset({"get_dist_info"}),
)
