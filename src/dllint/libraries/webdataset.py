"""webdataset 1.0 (`compat.py`, `pipeline.py`, `filters.py`, `shardlists.py`)."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER

_STAGES = (
    *("associate", "batched", "decode", "detshuffle", "extract_keys", "info", "map", "map_dict", "map_tuple"),
    *("rename", "rename_keys", "rsample", "select", "shuffle", "slice", "tarfile_to_samples", "to_tuple", "xdecode"),
)
"""Functions that create a pipeline stage, which retains their arguments."""

LIBRARY = Library(
    aliases={
        "webdataset.loader.WebLoader": "webdataset.WebLoader",
        "webdataset.compat.WebDataset": "webdataset.WebDataset",
        "webdataset.pipeline.DataPipeline": "webdataset.DataPipeline",
    },
    loaders={"webdataset.WebLoader": DATA_LOADER},
    pipelines=frozenset({"webdataset.WebDataset", "webdataset.DataPipeline"}),
    keeps_arguments=frozenset(
        f"{module}.{stage}" for module in ("webdataset", "webdataset.filters") for stage in _STAGES
    ),
    worker_info=frozenset({"split_by_worker"}),
)
