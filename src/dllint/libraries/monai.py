"""MONAI 1.4 (docs.monai.io; `monai/utils/misc.py`)."""

from dllint.libraries.facets import SEEDS_ALL, Library, LoaderApi

LIBRARY = Library(
    aliases={"monai.data.dataloader.DataLoader": "monai.data.DataLoader"},
    loaders={
        "monai.data.DataLoader": LoaderApi(("dataset", "num_workers")),
        "monai.data.ThreadDataLoader": LoaderApi(("dataset", "buffer_size", "buffer_timeout", "repeats")),
    },
    datasets=frozenset({"monai.data.Dataset"}),
    # set_determinism(seed=NP_MAX, …)
    seeders={"monai.utils.set_determinism": SEEDS_ALL},
)
