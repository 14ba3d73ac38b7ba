"""Settings: `[tool.dllint]` of the nearest pyproject.toml that has it, validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PYTHONS = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))
PLATFORMS = ("linux", "macos", "windows")


@dataclass(frozen=True)
class Targets:
    """The interpreters and platforms that the checked program is meant for."""

    pythons: tuple[tuple[int, int], ...] = PYTHONS
    platforms: tuple[str, ...] = ("linux",)

    def default_start_methods(self) -> dict[str, str]:
        """The start methods that are a default somewhere in the targets, each with the words for where.

        fork on Linux up to 3.13, forkserver on Linux from 3.14 (docs.python.org, multiprocessing,
        "Contexts and start methods"), spawn on macOS and Windows.
        """
        found: dict[str, str] = {}
        if "linux" in self.platforms:
            if min(self.pythons) < (3, 14):
                found["fork"] = "Linux up to Python 3.13"
            if max(self.pythons) >= (3, 14):
                found["forkserver"] = "Linux from Python 3.14"
        others = [name for name in ("macos", "windows") if name in self.platforms]
        if others:
            found["spawn"] = " and ".join({"macos": "macOS", "windows": "Windows"}[name] for name in others)
        return found


@dataclass(frozen=True)
class Settings:
    """What the user asked for. Paths are absolute; `rules` holds the option tables of single rules."""

    root: str = "."
    targets: Targets = Targets()
    select: tuple[str, ...] = ("DLL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    extend_exclude: tuple[str, ...] = ()
    preview: bool = False
    loaders: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    launchers: tuple[str, ...] = ()
    mmap_stores: tuple[str, ...] = ()
    cache_dir: str | None = None
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
