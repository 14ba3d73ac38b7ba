"""The concepts of data loading: launches, start methods, loaders, datasets, worker code. Rules query this package."""

from dllint.project.model import Project, Regime

__all__ = ["Project", "Regime"]
