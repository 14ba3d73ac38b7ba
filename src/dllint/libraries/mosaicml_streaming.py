"""streaming of MosaicML 0.13 (`streaming/base/dataloader.py`): its DataLoader has the arguments of torch's.

Its datasets split their items between workers themselves."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER

LIBRARY = Library(
    aliases={
        "streaming.base.StreamingDataLoader": "streaming.StreamingDataLoader",
        "streaming.base.StreamingDataset": "streaming.StreamingDataset",
        "streaming.base.dataset.StreamingDataset": "streaming.StreamingDataset",
    },
    loaders={"streaming.StreamingDataLoader": DATA_LOADER},
    datasets=frozenset({"streaming.StreamingDataset"}),
)
