"""litdata 0.2.76 (`litdata/streaming/dataloader.py`): its DataLoader takes the dataset first and all options by name.

Its datasets split their items between workers themselves."""

from dllint.libraries.facets import Library, LoaderApi

LIBRARY = Library(
    aliases={
        "litdata.streaming.StreamingDataLoader": "litdata.StreamingDataLoader",
        "litdata.streaming.dataloader.StreamingDataLoader": "litdata.StreamingDataLoader",
        "litdata.streaming.StreamingDataset": "litdata.StreamingDataset",
        "litdata.streaming.dataset.StreamingDataset": "litdata.StreamingDataset",
    },
    loaders={"litdata.StreamingDataLoader": LoaderApi(("dataset",))},
    datasets=frozenset({"litdata.StreamingDataset"}),
)
