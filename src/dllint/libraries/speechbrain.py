"""speechbrain 1.0 (`dataio/dataloader.py`): its loaders are torch's, with a `collate_fn` and a state of their own."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER

_MODULE = "speechbrain.dataio.dataloader"

LIBRARY = Library(
    loaders={
        f"{_MODULE}.SaveableDataLoader": DATA_LOADER,
        # `make_dataloader(dataset, looped_nominal_epoch=None, **loader_kwargs)`
        f"{_MODULE}.make_dataloader": DATA_LOADER._replace(params=("dataset", "looped_nominal_epoch")),
    },
)
