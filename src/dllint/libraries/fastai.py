"""fastai 2.7 (docs.fast.ai, "DataLoaders", "Data block") and 1.0 (`fastai/basic_data.py`): factories of loaders.

By default they start one worker per processor, at most 16 (`fastcore.basics.defaults.cpus`).
"""

from dllint.libraries.facets import Library, LoaderApi
from dllint.libraries.hook_facets import Hooks
from dllint.screen import Words

_FACTORIES = {
    "ImageDataLoaders": (
        *("from_folder", "from_path_func", "from_name_func", "from_path_re", "from_name_re"),
        *("from_df", "from_csv", "from_lists"),
    ),
    "SegmentationDataLoaders": ("from_label_func",),
    "TextDataLoaders": ("from_folder", "from_df", "from_csv"),
    "TabularDataLoaders": ("from_df", "from_csv"),
    "CollabDataLoaders": ("from_df", "from_csv"),
}
_LEARNERS = ("Learner", "vision_learner", "cnn_learner", "unet_learner", "text_classifier_learner", "tabular_learner")
_MODULES = ("vision", "text", "tabular", "collab", "data", "medical")
_BUNCHES = ("DataBunch", "ImageDataBunch", "TextDataBunch")
_OF_BUNCH = ("train_ds", "valid_ds", "test_ds", "path", "bs", "val_bs", "num_workers")
"""The classes of fastai 1 that hold loaders, and the parameters of `create` (`DataBunch.create`)."""
_ENTRIES = ("fit", "fit_one_cycle", "fine_tune", "fit_flat_cos", "lr_find", "get_preds", "validate")


def _factory(name: str) -> LoaderApi:
    return LoaderApi((), wraps=name, configured=16)


LIBRARY = Library(
    renamed={
        **{f"fastai.{module}.all.": "fastai." for module in _MODULES},
        **{f"fastai.{module}.": "fastai." for module in ("basics", "basic_data", "vision.data", "text.data")},
        **{f"fastai.{module}.": "fastai." for module in ("vision", "text", "tabular", "basic_train")},
    },
    exports=frozenset({"fastai.DataBlock", *(f"fastai.{name}" for name in (*_FACTORIES, *_LEARNERS, *_BUNCHES))}),
    # fastai/data/block.py: the loaders that a block builds hold its functions
    pipelines=frozenset({"fastai.DataBlock"}),
    keeps_arguments=frozenset(f"fastai.{name}.{factory}" for name, all_ in _FACTORIES.items() for factory in all_),
    loaders={
        f"fastai.{name}.create": LoaderApi(_OF_BUNCH, dataset="train_ds", names={"batch_size": "bs"})
        for name in _BUNCHES
    }
    | {
        f"fastai.{name}": _factory(f"fastai.{name}")
        for name in (
            "DataBlock().dataloaders",
            *(f"{name}.{factory}" for name, factories in _FACTORIES.items() for factory in factories),
        )
    },
    hooks={f"fastai.{name}": Hooks(_ENTRIES, (), iterates=True, holds=("dls",), params=("dls",)) for name in _LEARNERS},
    words=Words(loading=(b"DataLoaders", b"dataloaders(", b"DataBunch")),
)
