"""skorch (skorch.readthedocs.io, "NeuralNet"): `iterator_train__num_workers` is an argument of the DataLoader."""

from dllint.libraries.facets import Library, LoaderApi
from dllint.libraries.torch import DATA_LOADER
from dllint.screen import Words

_TRAINING = LoaderApi(
    (),
    dataset="",
    names={name: f"iterator_train__{name}" for name in DATA_LOADER.params},
    # net.py: `fit(X, y)` and `partial_fit(X, y)` call `get_dataset`, which returns a dataset as it is.
    fed_by={"fit": "X", "partial_fit": "X", "fit_loop": "X"},
)
_NETS = ("NeuralNet", "NeuralNetClassifier", "NeuralNetBinaryClassifier", "NeuralNetRegressor")

LIBRARY = Library(
    aliases={
        f"skorch.{module}.{name}": f"skorch.{name}" for module in ("net", "classifier", "regressor") for name in _NETS
    },
    loaders={f"skorch.{name}": _TRAINING for name in _NETS},
    words=Words(loading=(b"iterator_train__",)),
)
