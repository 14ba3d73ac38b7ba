"""pytorch-forecasting 1.8 (`data/timeseries/_timeseries.py`: `to_dataloader` passes its keywords to DataLoader)."""

from dllint.libraries.facets import Library, LoaderApi

_DATASET = "pytorch_forecasting.TimeSeriesDataSet"
_PLACES = ("pytorch_forecasting.data", "pytorch_forecasting.data.timeseries")

LIBRARY = Library(
    aliases={
        **{f"{place}.TimeSeriesDataSet": _DATASET for place in _PLACES},
        # They return another object of the class.
        **{
            f"{place}.{method}": _DATASET
            for place in (_DATASET, *(f"{one}.TimeSeriesDataSet" for one in _PLACES))
            for method in ("from_dataset", "from_parameters")
        },
    },
    loaders={f"{_DATASET}().to_dataloader": LoaderApi(("train", "batch_size", "batch_sampler"), dataset="")},
    datasets=frozenset({_DATASET}),
)
