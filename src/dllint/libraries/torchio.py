"""torchio 0.20 (`transforms/transform.py`): a transform's `__call__` applies it to a subject."""

from dllint.libraries.facets import Library

_CALLED = {"__call__": ("apply_transform",)}

LIBRARY = Library(
    runs_methods=dict.fromkeys(("torchio.", "torchio.transforms.", "torchio.transforms.transform."), _CALLED),
)
