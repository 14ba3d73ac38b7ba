"""What `dllint clean` does."""

from __future__ import annotations

from collections.abc import Sequence

from dllint import config, linter
from dllint.commands.exits import CLEAN
from dllint.facts import cache


def run(paths: Sequence[str], cache_dir: str | None) -> int:
    """Remove the cache that a check of these paths uses: the one that all projects share, unless `cache-dir` is set."""
    settings = config.load(paths, overrides={"cache-dir": cache_dir} if cache_dir else {})
    removed = cache.remove(linter.cache_directory(settings))
    print(f"Removed {removed}" if removed else "There is no cache.")
    return CLEAN
