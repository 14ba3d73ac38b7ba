"""Find results that a program could overwrite: checkpoint files in the directories that it uses."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dllint.probe import saving

SUFFIXES = (*saving.SUFFIXES, ".keras", ".h5", ".joblib", ".gguf")
NAMES = ("pytorch_model.bin", "adapter_model.bin", "optimizer.bin", "trainer_state.json")
_DEEP = 4
_MOST = 20_000
_SKIPPED = (".git", ".venv", "venv", "node_modules", "__pycache__", "site-packages")


def good_file(directories: Iterable[str]) -> str:
    """Return a checkpoint in one of the directories, at most four levels deep; "" if none is found."""
    left = _MOST
    for directory in dict.fromkeys(map(os.path.abspath, directories)):
        depth = directory.count(os.sep)
        for place, inner, files in os.walk(directory):
            for name in files:
                if name.lower().endswith(SUFFIXES) or name in NAMES:
                    return os.path.join(place, name)
            left -= len(files) + len(inner)
            if left < 0:
                return ""
            inner[:] = [one for one in inner if one not in _SKIPPED] if place.count(os.sep) - depth < _DEEP else []
    return ""
