"""Finds data loading hazards in PyTorch training programs before they run.

bytes → facts → project → rules → findings → fixes and reports

files       which files to read, and their contents          registry    the rules, joined with their pages
screen      which of them can matter, by their bytes         linter      all of this, from paths to a report
facts       what one file says, as plain data, cached        suppressions, config, catalog
linking     files and names together                         fixes       declarative edits to new texts
inference   values, where they come from, callers            reporters   a report as text, JSON, …
libraries   what is known of torch, NumPy and others         tracing     what `dllint trace` shows
project     start methods, loaders, datasets, workers        probe, observation, runtime
rules       small queries over the project                   commands, cli
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from dllint.linter import Report

__version__ = "0.1.0"
__all__ = ["__version__", "check"]


def check(paths: Sequence[str]) -> Report:
    """Check files, notebooks and directories with the settings of the nearest pyproject.toml.

    Returns:
        The findings, sorted by file and place; for notebooks, by cell. `docs/api.md` lists the names that are stable.

    Raises:
        dllint.config.ConfigError: the configuration is invalid.
    """
    from dllint import config, linter, registry, reporters

    options = {rule.code: rule.options({}) for rule in registry.rules()}
    found = linter.check(paths, config.load(paths, options=options, names=registry.names()))
    return reporters.by_cell(found)
