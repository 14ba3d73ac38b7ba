"""torchio 0.20 (`transforms/transform.py`): a transform's `__call__` applies it to a subject. Its loader is torch's,
with a `collate_fn` of its own (`data/loader.py`: `SubjectsLoader(dataset, collate_fn=None, **kwargs)`)."""

from dllint.libraries.facets import Library
from dllint.libraries.torch import DATA_LOADER

_CALLED = {"__call__": ("apply_transform",)}

LIBRARY = Library(
    aliases={
        "torchio.data.SubjectsLoader": "torchio.SubjectsLoader",
        "torchio.data.loader.SubjectsLoader": "torchio.SubjectsLoader",
    },
    loaders={"torchio.SubjectsLoader": DATA_LOADER._replace(params=("dataset", "collate_fn"))},
    datasets=frozenset({"torchio.SubjectsDataset", "torchio.data.SubjectsDataset"}),
    # data/dataset.py: `self._transform = transform`
    keeps_as_given=frozenset({"torchio.SubjectsDataset", "torchio.data.SubjectsDataset"}),
    runs_methods=dict.fromkeys(("torchio.", "torchio.transforms.", "torchio.transforms.transform."), _CALLED),
)
