"""Composer (docs.mosaicml.com, "Trainer"): the trainer, or its methods, take the loaders as arguments."""

from dllint.libraries.facets import Library
from dllint.libraries.hook_facets import Epochs, Hooks

LIBRARY = Library(
    aliases={"composer.trainer.Trainer": "composer.Trainer"},
    hooks={
        "composer.Trainer": Hooks(
            ("fit", "eval", "predict"),
            (),
            iterates=True,
            holds=("train_dataloader", "eval_dataloader"),
            epochs={"fit": Epochs("max_duration", single=(1, "1ep"))},
        )
    },
)
