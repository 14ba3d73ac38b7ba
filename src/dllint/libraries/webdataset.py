"""webdataset 1.0 (`compat.py`, `pipeline.py`, `filters.py`, `shardlists.py`)."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER

_STAGES = (
    *("associate", "batched", "decode", "detshuffle", "extract_keys", "info", "map", "map_dict", "map_tuple"),
    *("rename", "rename_keys", "rsample", "select", "shuffle", "slice", "tarfile_to_samples", "to_tuple", "xdecode"),
)
"""Functions that create a pipeline stage, which retains their arguments."""

_FLUID = frozenset(
    {
        *(
            "append",
            "batched",
            "compose",
            "decode",
            "extract_keys",
            "listed",
            "log_keys",
            "map",
            "map_dict",
            "map_tuple",
        ),
        *(
            "rename",
            "rename_keys",
            "repeat",
            "rsample",
            "select",
            "shuffle",
            "slice",
            "to_tuple",
            "unbatched",
            "unlisted",
        ),
        *("with_epoch", "with_length", "xdecode"),
    }
)
"""Methods of a `WebLoader`, which is a pipeline around the loader, that return it with one more stage."""

LIBRARY = Library(
    aliases={
        "webdataset.loader.WebLoader": "webdataset.WebLoader",
        "webdataset.compat.WebDataset": "webdataset.WebDataset",
        "webdataset.pipeline.DataPipeline": "webdataset.DataPipeline",
    },
    loaders={"webdataset.WebLoader": DATA_LOADER},
    returns_itself={"webdataset.WebLoader": _FLUID},
    # filters.py: `batched` stacks the tensors of its samples, and functions may return others
    makes_batches={"webdataset.WebLoader": frozenset({"batched", "map", "map_dict", "map_tuple", "decode"})},
    pipelines=frozenset({"webdataset.WebDataset", "webdataset.DataPipeline"}),
    keeps_arguments=frozenset(
        f"{module}.{stage}" for module in ("webdataset", "webdataset.filters") for stage in _STAGES
    ),
    worker_info=frozenset({"split_by_worker"}),
)
