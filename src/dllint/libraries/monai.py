"""MONAI 1.4 (docs.monai.io; `monai/utils/misc.py`)."""

from dllint.libraries.facets import SEEDS_ALL, Library, LoaderApi, OwnDraws

LIBRARY = Library(
    aliases={"monai.data.dataloader.DataLoader": "monai.data.DataLoader"},
    loaders={
        "monai.data.DataLoader": LoaderApi(("dataset", "num_workers")),
        "monai.data.ThreadDataLoader": LoaderApi(("dataset", "buffer_size", "buffer_timeout", "repeats")),
    },
    datasets=frozenset({"monai.data.Dataset"}),
    # set_determinism(seed=NP_MAX, …)
    seeders={"monai.utils.set_determinism": SEEDS_ALL},
    # Randomizable.R, a numpy.random.RandomState; monai.data.DataLoader seeds it by monai.data.worker_init_fn. With
    # torch's DataLoader and 2 forked workers 4 of 8 draws were distinct, the same 4 in each epoch (1.6.1).
    own_draws=(
        OwnDraws(
            "MONAI",
            "monai.transforms.",
            "monai",
            frozenset({"set_random_state", "set_rnd"}),
            beginnings=("Rand",),
            methods_of_start=("fork",),
            loaders="monai.",
            generator="R",
        ),
    ),
)
