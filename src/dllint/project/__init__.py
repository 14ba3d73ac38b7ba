"""Links the facts of all files: names, values, calls, launches, loaders and datasets. The only thing that rules query."""

from dllint.project.model import Project, Regime

__all__ = ["Project", "Regime"]
