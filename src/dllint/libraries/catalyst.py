"""Catalyst (catalyst-team.github.io, "Runner"): loaders are an argument of its methods, by their names."""

from dllint.libraries.facets import Hooks, Library

LIBRARY = Library(
    hooks={
        f"catalyst.dl.{name}": Hooks(("train", "evaluate_loader", "predict_loader"), ("get_loaders",), iterates=True)
        for name in ("Runner", "SupervisedRunner")
    },
)
