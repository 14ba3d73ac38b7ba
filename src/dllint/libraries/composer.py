"""Composer (docs.mosaicml.com, "Trainer"): loaders are arguments of the trainer, or of its methods."""

from dllint.libraries.facets import Hooks, Library

LIBRARY = Library(
    aliases={"composer.trainer.Trainer": "composer.Trainer"},
    hooks={
        "composer.Trainer": Hooks(
            ("fit", "eval", "predict"), (), iterates=True, holds=("train_dataloader", "eval_dataloader")
        )
    },
)
