"""timm 1.0 (`timm/data/loader.py`: `create_loader` builds a DataLoader, by default inside a prefetcher)."""

from dllint.libraries.facets import Library, LoaderApi

LIBRARY = Library(
    aliases={"timm.data.loader.create_loader": "timm.data.create_loader"},
    loaders={"timm.data.create_loader": LoaderApi(("dataset", "input_size", "batch_size", "is_training"))},
)
