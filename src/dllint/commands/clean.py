"""Implementation of `dllint clean`."""

from __future__ import annotations

from collections.abc import Sequence

from dllint import cache_directory, config, linter
from dllint.commands.exits import CLEAN


def run(paths: Sequence[str], cache_dir: str | None) -> int:
    """Remove the cache that a check of these paths uses: the shared one, unless `cache-dir` is set."""
    settings = config.load(paths, overrides={"cache-dir": cache_dir} if cache_dir else {})
    removed = cache_directory.remove(linter.cache_directory(settings))
    print(f"Removed {removed}" if removed else "There is no cache.")
    return CLEAN
