"""Catalyst (catalyst-team.github.io, "Runner"): its methods take the loaders as an argument, a dict by name."""

from dllint.libraries.facets import Library
from dllint.libraries.hook_facets import Epochs, Hooks

LIBRARY = Library(
    hooks={
        f"catalyst.dl.{name}": Hooks(
            ("train", "evaluate_loader", "predict_loader"),
            ("get_loaders",),
            iterates=True,
            epochs={"train": Epochs("num_epochs", default=False)},
        )
        for name in ("Runner", "SupervisedRunner")
    },
)
