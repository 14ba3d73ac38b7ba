"""timm 1.0 (`timm/data/loader.py`: `create_loader` makes a DataLoader, within a prefetcher where it is told so)."""

from dllint.libraries.facets import Library, LoaderApi

LIBRARY = Library(
    aliases={"timm.data.loader.create_loader": "timm.data.create_loader"},
    loaders={"timm.data.create_loader": LoaderApi(("dataset", "input_size", "batch_size", "is_training"))},
)
