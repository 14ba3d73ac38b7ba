"""litdata 0.2.76 (`litdata/streaming/dataloader.py`): its DataLoader takes the dataset first and all options by name.

Its datasets split their items between workers themselves. `optimize` and `map` call a function for each input in
processes, which start by spawn unless `start_method` says otherwise, or in a notebook by fork
(`litdata/processing/data_processor.py`, `DataProcessor.__init__`)."""

from dllint.libraries.facets import LauncherApi, Library, LoaderApi

_EACH_INPUT = LauncherApi("fn", ("fn", "inputs", "output_dir"), args="each", method="=start_method", fallback="spawn")

LIBRARY = Library(
    aliases={
        "litdata.streaming.StreamingDataLoader": "litdata.StreamingDataLoader",
        "litdata.streaming.dataloader.StreamingDataLoader": "litdata.StreamingDataLoader",
        "litdata.streaming.StreamingDataset": "litdata.StreamingDataset",
        "litdata.streaming.dataset.StreamingDataset": "litdata.StreamingDataset",
        **{
            f"litdata.{module}.{name}": f"litdata.{name}"
            for module in ("processing", "processing.functions")
            for name in ("optimize", "map")
        },
    },
    loaders={"litdata.StreamingDataLoader": LoaderApi(("dataset",))},
    launchers={"litdata.optimize": _EACH_INPUT, "litdata.map": _EACH_INPUT},
    datasets=frozenset({"litdata.StreamingDataset"}),
)
