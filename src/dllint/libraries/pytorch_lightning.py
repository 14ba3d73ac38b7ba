"""Lightning 2.5 under each of its packages (lightning.ai/docs, "Trainer", "Strategy registry";
`fabric/utilities/seed.py`)."""

from dllint.libraries.facets import FIRST, SEEDS_ALL, Epochs, Hooks, Iterates, LauncherApi, Library
from dllint.screen import Words

SPAWNING_STRATEGIES = {
    "ddp_spawn": "spawn",
    "ddp_spawn_find_unused_parameters_true": "spawn",
    "ddp_spawn_find_unused_parameters_false": "spawn",
    "ddp_fork": "fork",
    "ddp_notebook": "fork",
}
"""Strategy → the start method of the processes that run hooks."""

_TRAINER = Hooks(
    ("fit", "validate", "test", "predict"),
    ("setup", "prepare_data", "train_dataloader", "val_dataloader", "test_dataloader", "predict_dataloader"),
    iterates=True,
    loads={
        "fit": ("train_dataloader", "val_dataloader"),
        "validate": ("val_dataloader",),
        "test": ("test_dataloader",),
        "predict": ("predict_dataloader",),
    },
    # `trainer/trainer.py`: 1,000 epochs unless told otherwise, and no limit to them where steps or time are limited
    epochs={
        "fit": Epochs("max_epochs", renewing=("reload_dataloaders_every_n_epochs", "reload_dataloaders_every_epoch"))
    },
)

_SETUP = ("prepare_data", "setup")
"""The hooks that the trainer calls before those that make loaders (`trainer/connectors/data_connector.py`)."""
_FABRICS = tuple(f"{package}.Fabric()" for package in ("lightning", "lightning.fabric", "lightning_fabric"))

LIBRARY = Library(
    renamed={"pytorch_lightning.": "lightning.pytorch."},
    hooks=dict.fromkeys(
        ("lightning.pytorch.Trainer", "lightning.Trainer", "lightning.pytorch.trainer.Trainer"), _TRAINER
    ),
    runs_before_loading={
        f"{package}{module}": _SETUP
        for package in ("lightning.", "lightning.pytorch.", "lightning.pytorch.core.")
        for module in (
            *("LightningDataModule", "LightningModule", "datamodule.LightningDataModule"),
            *("module.LightningModule", "lightning.LightningModule"),
        )
    },
    # fabric/fabric.py: the loader is wrapped, with the same dataset and workers
    gives_arguments=frozenset(f"{fabric}.setup_dataloaders" for fabric in _FABRICS),
    # fabric/fabric.py: the function receives the Fabric first; its strategy may run it in the current process.
    launchers={
        f"{fabric}.launch": LauncherApi("function", ("function",), args="*", method="fresh", lead=1)
        for fabric in _FABRICS
    },
    # seed_everything(seed=None, workers=False)
    seeders={
        f"{package}.seed_everything": SEEDS_ALL
        for package in ("lightning", "lightning.pytorch", "lightning.fabric", "pytorch_lightning")
    },
    # utilities/combined_loader.py: a loader, or a list or dict of them
    iterates={
        f"{package}.utilities.{module}CombinedLoader": Iterates(FIRST, "other", inside=True)
        for package in ("lightning.pytorch", "pytorch_lightning")
        for module in ("", "combined_loader.")
    },
    words=Words(launching=(b"ddp_fork", b"ddp_notebook"), loading=(b"DataModule",), nearby=(b"seed_everything",)),
)
