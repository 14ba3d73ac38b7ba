"""Lightning 2.5 under each of its packages (lightning.ai/docs, "Trainer", "Strategy registry";
`fabric/utilities/seed.py`)."""

from dllint.libraries.facets import FIRST, SEEDS_ALL, Iterates, LauncherApi, Library
from dllint.libraries.hook_facets import EachEpoch, Epochs, Hooks
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
_MODULES = tuple(
    f"{package}{module}"
    for package in ("lightning.", "lightning.pytorch.", "lightning.pytorch.core.")
    for module in ("LightningModule", "module.LightningModule", "lightning.LightningModule")
)
_DATA_MODULES = tuple(
    f"{package}{module}"
    for package in ("lightning.", "lightning.pytorch.", "lightning.pytorch.core.")
    for module in ("LightningDataModule", "datamodule.LightningDataModule")
)
_CALLBACKS = tuple(
    f"{package}{module}"
    for package in ("lightning.", "lightning.pytorch.")
    for module in ("Callback", "callbacks.Callback", "callbacks.callback.Callback", "callbacks.base.Callback")
)
_EACH_EPOCH = EachEpoch(
    (
        *("on_train_epoch_start", "on_train_epoch_end", "on_validation_epoch_start", "on_validation_epoch_end"),
        # before 2.0
        *("on_epoch_start", "on_epoch_end", "training_epoch_end", "validation_epoch_end"),
    ),
    "train_dataloader",
    "train_dataloader",
)
_FABRICS = tuple(f"{package}.Fabric()" for package in ("lightning", "lightning.fabric", "lightning_fabric"))

LIBRARY = Library(
    renamed={"pytorch_lightning.": "lightning.pytorch."},
    hooks=dict.fromkeys(
        ("lightning.pytorch.Trainer", "lightning.Trainer", "lightning.pytorch.trainer.Trainer"), _TRAINER
    ),
    runs_before_loading=dict.fromkeys((*_MODULES, *_DATA_MODULES), _SETUP),
    each_epoch=dict.fromkeys((*_MODULES, *_CALLBACKS), _EACH_EPOCH),
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
