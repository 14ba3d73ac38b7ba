"""accelerate 1.5 (huggingface.co/docs, "Launchers"; `utils/random.py`)."""

from dllint.libraries.facets import SEEDS_ALL, LauncherApi, Library, LoaderApi

_FORKING = LauncherApi("function", ("function", "args", "num_processes"), method="fork")

LIBRARY = Library(
    aliases={
        "accelerate.launchers.notebook_launcher": "accelerate.notebook_launcher",
        "accelerate.launchers.debug_launcher": "accelerate.debug_launcher",
        "accelerate.accelerator.Accelerator": "accelerate.Accelerator",
        "accelerate.data_loader.skip_first_batches": "accelerate.skip_first_batches",
    },
    # data_loader.py: `skip_first_batches(dataloader, num_batches=0)` makes a loader of the same dataset that leaves out
    # the first batches
    gives_argument=frozenset({"accelerate.skip_first_batches", "accelerate.Accelerator().skip_first_batches"}),
    # accelerator.py: the loader is a DataLoaderShard of the same dataset and workers
    gives_arguments=frozenset({"accelerate.Accelerator().prepare", "accelerate.Accelerator().prepare_data_loader"}),
    loaders={"accelerate.data_loader.DataLoaderShard": LoaderApi(("dataset",))},
    launchers={"accelerate.notebook_launcher": _FORKING, "accelerate.debug_launcher": _FORKING},
    # set_seed(seed, device_specific=False, deterministic=False)
    seeders={"accelerate.utils.set_seed": SEEDS_ALL},
)
