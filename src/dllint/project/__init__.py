"""Links the facts of all files: names, values, calls, launches, loaders and datasets. All that rules query."""

from dllint.project.model import Project, Regime

__all__ = ["Project", "Regime"]
